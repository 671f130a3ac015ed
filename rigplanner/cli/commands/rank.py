"""`rigplanner rank`: every card against some work: does it fit, how fast, for how much."""

import argparse
import math
from datetime import date
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.prices.exchange import convert
from rigplanner.catalog.prices.prices import is_day
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.amounts import budgets_asked
from rigplanner.cli.asked import works_asked
from rigplanner.cli.faults import FINDINGS, FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.cli.terminal import tell_columns, width
from rigplanner.cli.written import written
from rigplanner.machine.displays import display_gib
from rigplanner.planning.map.advice import advice
from rigplanner.planning.map.cards import Card, Condition, Money, cards, everything, with_monitors
from rigplanner.planning.map.money import Terms
from rigplanner.planning.map.nearest import cheapest, like, shortages
from rigplanner.planning.map.order import ranked, within
from rigplanner.planning.map.rank import Row, rows
from rigplanner.report import format as fmt
from rigplanner.report.map import advice as in_words
from rigplanner.report.map import table, want
from rigplanner.report.map.charts import CHARTS, Heading, chart
from rigplanner.rig.edits import EditFault
from rigplanner.rig.monitor_choices import counted_monitors

MOST_COUNT = 64
FORMATS = ("text", "csv", "json", "svg", "png", "html")
KINDS = ("card", "machine", "hire")


class Asked(Struct, frozen=True):
    """The arguments, checked."""

    counts: list[int]
    kinds: list[str]
    money: Money
    terms: Terms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "works",
        nargs="+",
        metavar="WORK",
        help="a model with fields, 'llama-3.1-8b task=train_qlora'; weight=2 counts it twice,"
        " min=20 asks for that speed",
    )
    parser.add_argument("--count", default="1", help="numbers of cards, as 1,2,4 (default: 1)")
    parser.add_argument("--only", default="", metavar="WORDS", help="cards whose name holds these")
    parser.add_argument(
        "--kind", default=",".join(KINDS), help="card, machine (whole), hire (default: all)"
    )
    parser.add_argument(
        "--monitors",
        default="",
        metavar="N[xSIZE]",
        help="monitors on each card, as 2x4K or 1x2560x1440: what they take of its memory",
    )
    parser.add_argument("--budget", default="", help="leave out what costs more, or has no price")
    parser.add_argument("--currency", help="default: the budget's, else USD")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--new", action="store_true", help="count prices of new parts alone")
    state.add_argument("--used", action="store_true", help="count prices of used parts alone")
    parser.add_argument(
        "--day", default="", help="the market of that day, as 2017-04-09: what was out, at prices"
        " known by then"
    )  # fmt: skip
    parser.add_argument("--kwh", type=float, metavar="PRICE", help="what a kilowatt-hour costs")
    parser.add_argument("--hours", type=float, default=8.0, help="hours of work a day (default: 8)")
    parser.add_argument(
        "--sort",
        choices=("speed", "money", "years", "watt", "slot", "memory"),
        default="speed",
        help="years: speed per cost of three years",
    )
    parser.add_argument("--most", type=int, default=25, help="rows shown (default: 25)")
    parser.add_argument(
        "--advice", action="store_true", help="say of each card its class, what it lacks, and more"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--picture", choices=CHARTS, default="bars", help="the picture of svg and png"
    )
    parser.add_argument("--theme", choices=("light", "dark"), help="colours of svg and png")
    parser.add_argument("-o", "--output", type=Path, help="file to write")


def run(args: argparse.Namespace) -> int:
    """Print the ranking; 1 when nothing runs the work."""
    budgets, args.currency = budgets_asked(args.budget, args.currency, 1)
    args.budget = budgets[0] if budgets else None
    asked = _asked(args)
    works = works_asked(args.works)
    if args.format == "png" and args.output is None:
        raise InputFault("--format png: name the file with -o FILE.png.")
    found = _found(args, asked)
    looked_at = found
    if args.advice and args.only:  # what does the same for less may have another name
        looked_at = everything(open_catalog(), shipped_cloud(), "", asked.money)
    if args.monitors:
        looked_at = with_monitors(looked_at, _monitors_gib(args.monitors))
    made = list(
        rows(
            [work.workload for work in works],
            looked_at,
            asked.counts,
            shipped_zoo(),
            [work.least for work in works],
        )
    )
    every = ranked(made, [work.weight for work in works], args.sort, asked.terms)
    named = {card.id for card in found}
    best = _within(args, asked, [row for row in every if row.id in named])
    content = _content(args, best, every, [work.text for work in works], asked.money)
    if args.output is None and args.format == "text":
        tell_columns(content.decode().rstrip("\n"))
    elif args.output is None:
        print(content.decode(), end="")
    else:
        written(args.output, content)
    return FINE if any(row.score is not None for row in best) else FINDINGS


def _monitors_gib(words: str) -> float:
    """What the monitors take of a card. Raises InputFault for words that name none."""
    try:
        monitors = counted_monitors(words)
    except EditFault as fault:
        raise InputFault(f"--{fault}") from fault
    return display_gib(monitors) if monitors is not None else 0.0


def _asked(args: argparse.Namespace) -> Asked:
    """Check what needs no catalog. Raises InputFault for values out of range."""
    if args.most < 1:
        raise InputFault(f"--most: expected at least 1, found {args.most}.")
    if args.kwh is not None and not (math.isfinite(args.kwh) and 0 <= args.kwh <= 1e6):
        raise InputFault(f"--kwh: expected the price of a kilowatt-hour, found {args.kwh:g}.")
    if not 0 < args.hours <= 24:
        raise InputFault(f"--hours: expected hours a day up to 24, found {args.hours:g}.")
    kinds = [word.strip() for word in args.kind.split(",")]
    if not kinds or not set(kinds) <= set(KINDS):
        raise InputFault(f"--kind: expected {', '.join(KINDS)}, found {args.kind!r}.")
    if args.day and not (is_day(args.day) and args.day <= date.today().isoformat()):
        raise InputFault(f"--day: expected a day up to today, as 2017-04-09, found {args.day!r}.")
    currency, rates = args.currency, newest_rates()
    if convert(1.0, "USD", currency, rates) is None:
        known = ", ".join(sorted({"EUR", *rates.rates}))
        raise InputFault(f"--currency: no rate leads from USD to {currency}; there are {known}.")
    state: Condition = "new" if args.new else "used" if args.used else "any"
    return Asked(
        counts=counts_of(args.count, "--count", MOST_COUNT),
        kinds=kinds,
        money=Money(
            currency=currency,
            rates=rates,
            condition=state,
            day=args.day,
            today=date.today().isoformat(),
        ),
        terms=Terms(args.kwh, args.hours),
    )


def counts_of(text: str, option: str, most: int) -> list[int]:
    """Return whole numbers as 1,2,4. Raises InputFault for others."""
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        counts = []
    if not counts or not all(1 <= count <= most for count in counts):
        raise InputFault(f"{option}: expected numbers from 1 to {most}, as 1,2,4.")
    return counts


def _found(args: argparse.Namespace, asked: Asked) -> list[Card]:
    """What the words name, of every kind: cards are compared with machines for hire. Raises
    InputFault with the nearest names where there is none."""
    catalog, money = open_catalog(), asked.money
    found = everything(catalog, shipped_cloud(), args.only, money)
    if not found:
        near = like(args.only, cards(catalog, "", money))
        if money.day and everything(catalog, shipped_cloud(), args.only, replace(money, day="")):
            raise InputFault(f"--day: nothing of that name was out on {fmt.day(money.day)}.")
        meant = f" Nearest: {', '.join(near)}." if near else ""
        raise InputFault(f"--only: no card is called {args.only!r}.{meant}")
    if args.budget is not None and not any(card.cost for card in found if card.kind != "hire"):
        raise InputFault(
            f"--budget: none of these cards has a price that counts in {money.currency}"
            f"{f' as {money.condition}' if money.condition != 'any' else ''}. Enter prices with"
            " `rigplanner catalog import`, take another --currency, or leave out --budget."
        )
    return found


def _within(args: argparse.Namespace, asked: Asked, best: list[Row]) -> list[Row]:
    """The rows of the kinds asked for that the budget pays. Raises InputFault with the cheapest
    where it pays none."""
    best = [row for row in best if row.kind in asked.kinds]
    if not best:
        raise InputFault(
            f"--kind: no {args.kind} of {args.count} GPUs is called {args.only!r}; leave out --kind"
            " or name other numbers with --count."
        )
    paid = within(best, args.budget, args.sort)
    if not paid and (nearest := cheapest(best)) is not None:
        told = fmt.money(nearest.cost, asked.money.currency, whole=True)
        raise InputFault(
            f"--budget: nothing costs so little; the cheapest is {nearest.count} x {nearest.name}"
            f" for {told}."
        )
    return paid


def _advice(args: argparse.Namespace, best: list[Row], every: list[Row], money: Money) -> list[str]:
    """What is to be said of the rows that are shown, among all that were looked at."""
    catalog = open_catalog()
    shown = [row for row in best if row.score is not None][: args.most]
    found = (advice(row, every, catalog, money) for row in shown)
    return ["", *(" ".join(in_words.lines(each, money.currency)) for each in found if each)]


def _content(
    args: argparse.Namespace, best: list[Row], every: list[Row], names: list[str], money: Money
) -> bytes:
    currency = money.currency
    if args.format == "csv":
        return table.csv_text(best, names, currency).encode()
    if args.format == "json":
        return table.json_text(best, names, currency).encode()
    room = width() if args.output is None and args.format == "text" else None
    lines = table.text(best, names, currency, args.most, args.sort, room)
    if args.budget is not None:
        lines += table.unpriced(every)
    lines += want.told(shortages(best), names)
    if money.day:
        lines.append(table.market(money.day))
    if args.advice:
        lines += _advice(args, best, every, money)
    if args.format == "text":
        return ("\n".join(lines) + "\n").encode()
    from rigplanner.report.map import picture

    heading = Heading("; ".join(names), table.note(date.today().isoformat(), money.day), currency)
    if args.format == "html":
        scenes = [chart(kind, best, heading, args.sort, most=args.most) for kind in CHARTS]
        return picture.page_html(scenes, heading.work, lines).encode()
    if args.format == "svg":
        drawn = chart(args.picture, best, heading, args.sort, most=args.most)
        return picture.svg(drawn, args.theme or "").encode()
    measure = picture.font_width
    drawn = chart(args.picture, best, heading, args.sort, measure=measure, most=args.most)
    return picture.png(drawn, args.theme or "light")
