"""`rigplanner rank`: every card against some work: does it fit, how fast, for how much."""

import argparse
from datetime import date
from pathlib import Path
from typing import Any

from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.asked import model_asked, with_fields
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.cli.written import written
from rigplanner.errors import WorkloadFault
from rigplanner.planning.map.cards import cards
from rigplanner.planning.map.rank import Row, ranked, rows
from rigplanner.report.map import picture, table
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve

MOST_COUNT = 64
FORMATS = ("text", "csv", "json", "svg", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "works",
        nargs="+",
        metavar="WORK",
        help="a model with fields, 'llama-3.1-8b task=train_qlora'; weight=2 counts it twice",
    )
    parser.add_argument("--count", default="1", help="numbers of cards, as 1,2,4 (default: 1)")
    parser.add_argument("--only", default="", metavar="WORDS", help="cards whose name holds these")
    parser.add_argument("--budget", type=float, help="leave out what costs more, or has no price")
    parser.add_argument("--currency", default="USD")
    parser.add_argument("--sort", choices=("speed", "money", "watt", "memory"), default="speed")
    parser.add_argument("--most", type=int, default=25, help="rows shown (default: 25)")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("-o", "--output", type=Path, help="file to write")


def run(args: argparse.Namespace) -> int:
    """Print the ranking; 1 when nothing runs the work."""
    counts = _counts(args.count)
    if args.budget is not None and not 0 < args.budget < 1e9:
        raise InputFault(f"--budget: expected an amount above 0, found {args.budget:g}.")
    if args.most < 1:
        raise InputFault(f"--most: expected at least 1, found {args.most}.")
    asked = [_work(text) for text in args.works]
    currency = args.currency.upper()
    found = cards(open_catalog(), args.only, currency, newest_rates())
    if not found:
        raise InputFault(f"--only: no card is called {args.only!r}.")
    if args.budget is not None and not any(card.cost for card in found):
        raise InputFault(f"--budget: none of these cards has a price that counts in {currency}.")
    made = list(rows([work for work, _ in asked], found, counts, shipped_zoo()))
    if args.budget is not None:
        made = [row for row in made if row.cost is not None and row.cost <= args.budget]
    best = ranked(made, [weight for _, weight in asked], args.sort)
    names = list(args.works)
    content = _content(args, best, names, currency)
    if args.output is None:
        print(content, end="")
    else:
        written(args.output, content.encode())
    return FINE if any(row.score is not None for row in best) else FINDINGS


def _content(args: argparse.Namespace, best: list[Row], names: list[str], currency: str) -> str:
    if args.format == "csv":
        return table.csv_text(best, names, currency)
    if args.format == "json":
        return table.json_text(best, names, currency)
    lines = table.text(best, names, currency, args.most)
    if args.format == "text":
        return "\n".join(lines) + "\n"
    speed = next((row.answers[0].speed for row in best if row.score is not None), None)
    unit = speed.metric if speed and len(names) == 1 else "share of the fastest"
    note = f"RigPlanner, {date.today().isoformat()}; bars: prediction, whiskers: 80 % interval"
    drawn = picture.bars_svg(best, "; ".join(names), unit, note, args.most)
    if args.format == "svg":
        return drawn
    return picture.page_html(drawn, "; ".join(names), lines)


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        counts = []
    if not counts or not all(1 <= count <= MOST_COUNT for count in counts):
        raise InputFault(f"--count: expected numbers from 1 to {MOST_COUNT}, as 1,2,4.")
    return counts


def _work(text: str) -> tuple[Workload, float]:
    """One workload and its weight. Raises InputFault for what nothing knows."""
    words = text.split()
    weight = 1.0
    given = []
    for word in words:
        if word.startswith("weight="):
            weight = _weight(word)
        elif "=" in word:
            given.append(word)
    model = " ".join(word for word in words if "=" not in word)
    if not model:
        raise InputFault(f"expected a model, for example 'llama-3.1-8b task=serve', not {text!r}.")
    fields: dict[str, Any] = model_asked(model)
    work = with_fields(model, fields, given)
    try:
        resolve(work, shipped_zoo())
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault
    return work, weight


def _weight(word: str) -> float:
    try:
        weight = float(word.partition("=")[2])
    except ValueError:
        weight = 0.0
    if not 0 < weight <= 1e6:
        raise InputFault(f"{word}: a weight is a number above 0.")
    return weight
