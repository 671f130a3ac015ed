"""`rigplanner new`: a rig from words, or another one of a rig that is there."""

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import Any

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.imports.user_catalog import newest_rates
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.asked import model_asked, with_fields
from rigplanner.cli.commands.captured import add_fact_arguments, facts_named, say_unmatched
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import no_part_text, open_catalog, open_rig, stands_text
from rigplanner.economics.totals import totals
from rigplanner.errors import WorkloadFault
from rigplanner.machine.this_machine import Recognised, recognise
from rigplanner.report.language import tr
from rigplanner.report.words.importing import list_notes
from rigplanner.report.words.rates import uncounted_text
from rigplanner.rig.choices import with_choice
from rigplanner.rig.countries import USUAL
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import add_workload, change_site, rename, set_exchange, set_notes
from rigplanner.rig.files import RigFault, write_rig
from rigplanner.rig.from_text.from_words import (
    Wish,
    counted,
    rig_from_wishes,
    untold_editions,
)
from rigplanner.rig.from_text.line_parts import pieces_of, read_wishes
from rigplanner.rig.from_text.parts_list import (
    Entry,
    read_parts_list,
    rig_from_entries,
    shared_wishes,
)
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.without_network import plain_job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help=(
            'parts, for example "2x RTX 3090" or "2x 3090 + NVLink bridge"; or a list, its lines'
            " or commas between its parts"
        ),
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=Path,
        metavar="FILE.rig",
        help="begin with this rig: words add parts to it",
    )
    add_fact_arguments(parser)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.rig")
    parser.add_argument(
        "--set",
        dest="choices",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=(
            "a setting: country=DE (with its usual outlet), volts=230, breaker=16, circuits=2,"
            " hours=8, cap=280, raid0=yes, ups=2, numa=4, p2p=yes, driver=580, bios:PLACE=CHOICE,"
            " role:GPU=display (compute, both), monitors=2x4K, desktop=usual, games=yes,"
            " fact:PART:FIELD=VALUE (what you measured);"
            " of costs and the quote: currency=EUR, budget=5000, energy=0.30, hire=3.60USD,"
            " hire-speed=6, hire-month=70USD, tokens-in=0.5USD, tokens-out=2USD,"
            " tokens-a-day=2000000, resale=30,"
            " tax=21, tax:ITEM=12, price:ITEM=499, discount=5,"
            " valid=30, customer=NAME, seller=NAME, seller.address=TEXT, number=TEXT, terms=TEXT,"
            " rate:USD=31.5"
        ),
    )
    parser.add_argument(
        "--workload",
        dest="workloads",
        action="append",
        default=[],
        metavar='"MODEL FIELD=VALUE ..."',
        help='what it shall do, for example "llama-3.1-70b task=inference precision=q4_k_m"',
    )
    parser.add_argument("--name", help="name of the rig (else the file's name)")


def run(args: argparse.Namespace) -> int:
    """Write the rig and say what each wish became; what a machine says of itself comes before the
    words."""
    catalog = open_catalog()
    facts = facts_named(args)
    if not args.words and not facts and args.start is None:
        raise InputFault(
            "name parts in words, a rig with --from, or a machine to read with --this-machine,"
            " --query, --hwloc or --lspci."
        )
    if args.start is not None and facts:
        raise InputFault(
            "--from: a rig begins with a file or with a machine that is read, not with both."
        )
    found = recognise(facts, catalog, args.name or args.output.stem)
    say_unmatched("new", found.unmatched)
    words = _unquoted(args.words, catalog)
    pasted = _pasted(words, catalog)
    wishes = _wishes(words, catalog) if pasted is None else _of_list(pasted, args.output)
    start = _started(args) if args.start is not None else set_notes(found.rig, _absent(found))
    start = start if start.exchange else set_exchange(start, newest_rates())
    try:
        rig = (
            rig_from_wishes(start.name, wishes, start)
            if pasted is None
            else _with_list(start, pasted)
        )
        for choice in args.choices:
            rig = with_choice(rig, catalog, choice)
        for text in args.workloads:
            rig = add_workload(rig, _workload(text))
        write_rig(_with_usual_outlet(rig), args.output, catalog)
    except (RigFault, ValueError) as fault:
        raise InputFault(str(fault)) from fault
    for item in found.rig.items:
        note = f"   ({item.note})" if item.note else ""
        part = catalog.get(item.part)
        print(f"{item.quantity} x {part.name if part else item.part}{note}")
    for wish in wishes:
        others = ", ".join(part.name for part in wish.parts[1:4])
        also = f"   (also: {others})" if others else ""
        aside = " ".join(untold_editions(wish))
        edition = f"   ({aside}: an edition that the catalog does not tell apart)" if aside else ""
        of_list = pasted is not None or isinstance(wish.parts[0], GPU)
        stands = stands_text(wish) if of_list else ""
        print(f"{wish.quantity} x {wish.parts[0].name}{edition}{stands or also}")
    _say_without_rate(rig, catalog)
    print(f"Written: {args.output}", file=sys.stderr)
    return FINE


def _absent(found: Recognised) -> str:
    """The notes of a rig that was read from a machine: what of it the catalog lacks."""
    return "\n".join(
        tr("Not in the catalog: {fact}", fact=f"{fact.count} x {fact.name} {fact.detail}".strip())
        for fact in found.unmatched
    )


SEVERAL = 2
"""So many commas or pluses in one text make a list of it, as several lines do."""


LONGEST_NAME, MOST_OF_ONE = 8, 64
"""Words of a part's name that nobody quoted, its number among them, and how many of it they may
mean: the x of "5950X" counts nothing."""


def _unquoted(words: list[str], catalog: Catalog) -> list[str]:
    """Words that nobody quoted as texts of one part each: a list with commas or pluses is one text;
    of bare words as many as one part has in its name stand together, so that there are fewest."""
    if any(word.endswith(",") or word in ("+", "&", "and") for word in words[:-1]):
        return [" ".join(words)]
    if len(words) < 2 or any(" " in word for word in words):
        return words
    index, ways = index_of(catalog), {0: list[str]()}
    for end in range(1, len(words) + 1):
        for start in range(max(0, end - LONGEST_NAME), end):
            run = words[start:end]
            if start not in ways or len({word.casefold() for word in run}) < len(run):
                continue
            if end in ways and len(ways[end]) <= len(ways[start]) + 1:
                continue
            count, name = counted(" ".join(run))
            if count <= MOST_OF_ONE and index.find(name, None, limit=1):
                ways[end] = [*ways[start], " ".join(run)]
    return ways.get(len(words), words)


def _pasted(words: list[str], catalog: Catalog) -> list[Entry] | None:
    """The entries of a list that was given as one text, of several lines or with commas; None for
    other words."""
    if any(shared_wishes(word, index_of(catalog)) for word in words):
        return None
    lines = [line for word in words for line in word.strip().splitlines()]
    if len(lines) == len(words):
        cut = [pieces_of(line) for line in lines]
        if not any(sum(mark in ("list", "more") for _, mark in each) >= SEVERAL for each in cut):
            return None
        lines = [piece for pieces in cut for piece, _ in pieces]
    try:
        return read_parts_list("\n".join(lines), index_of(catalog), date.today().isoformat())
    except ValueError as fault:
        raise InputFault(str(fault)) from fault


def _with_list(start: Rig, entries: list[Entry]) -> Rig:
    rig = rig_from_entries(start.name, entries, start)
    return set_notes(rig, "\n".join(filter(None, (rig.notes, *list_notes(entries)))))


def _of_list(entries: list[Entry], output: Path) -> list[Wish]:
    """The parts of a list; what it has no part for is said and stays in the rig's notes. Raises
    InputFault where it names no part at all."""
    wishes = [entry.wish for entry in entries if entry.wish.parts and entry.comes_with is None]
    if not wishes:
        raise InputFault("no line of the list names a part of the catalog.")
    lost = [entry.wish.text for entry in entries if not entry.wish.parts and not entry.comes_with]
    for text in lost:
        print(f"NO MATCH  <- {text}   (kept in the notes of {output})", file=sys.stderr)
    return wishes


def _wishes(words: list[str], catalog: Catalog) -> list[Wish]:
    """What each text asks for; earlier ones help to understand later ones. Raises InputFault for
    texts that name no part."""
    index = index_of(catalog)
    wishes: list[Wish] = []
    for text in words:
        if not any(map(str.isalnum, text)):
            raise InputFault(f"expected parts in words, found {text[:60]!r}.")
        known = [wish.parts[0] for wish in wishes if wish.parts]
        wishes += shared_wishes(text, index) or read_wishes(text, index, known=known)
    missing = [wish.text for wish in wishes if not wish.parts]
    if missing:
        raise InputFault(
            "; ".join(no_part_text(text, index) for text in missing)
            + "; try fewer words or 'rigplanner catalog list'"
            + _other_ways(catalog)
            + "."
        )
    return wishes


def _say_without_rate(rig: Rig, catalog: Catalog) -> None:
    """Say which money the rig cannot count, and what to do."""
    sums = totals(rig, catalog)
    others = sorted(
        {line.unit.currency for line in sums.lines if line.uid in sums.foreign and line.unit}
    )
    if others:
        unknown = f"Not counted: prices in {', '.join(others)}; no rate to {rig.currency} is known."
        left_out = uncounted_text(sums)
        way = "." if left_out else ", or fetch rates: 'rigplanner catalog update --rates'."
        print(
            " ".join(filter(None, (unknown, left_out, f"Say rate:{others[0]}=RATE{way}"))),
            file=sys.stderr,
        )


def _started(args: argparse.Namespace) -> Rig:
    """The rig to begin with; under another file's name it is another rig."""
    rig = open_rig(args.start)
    if args.name:
        return rename(rig, args.name)
    return rig if args.start.resolve() == args.output.resolve() else rename(rig, args.output.stem)


def _other_ways(catalog: Catalog) -> str:
    """Say what else there is for a part that the catalog lacks."""
    more = (
        "" if catalog.community else ", bring 26,000 more with 'rigplanner catalog community get'"
    )
    return f"{more}, or enter it yourself with 'rigplanner catalog enter KIND'"


def _with_usual_outlet(rig: Rig) -> Rig:
    """A country says what its usual outlet gives, as the window's choice of a country does; what
    was said stays."""
    site = rig.site
    if site.country not in USUAL or site.volts is not None or site.breaker_a is not None:
        return rig
    volts, amperes = USUAL[site.country]
    print(
        f"Taken: the usual outlet of {site.country}, {volts:g} V and {amperes:g} A; say volts= and"
        " breaker= where it differs.",
        file=sys.stderr,
    )
    return change_site(rig, volts=volts, breaker_a=amperes)


def _workload(text: str) -> Workload:
    words = text.split()
    given = [word for word in words if "=" in word]
    model = " ".join(word for word in words if "=" not in word)
    if not model:
        raise InputFault(
            f"--workload: expected a model, for example 'llama-3.1-8b task=serve', found {text!r}."
        )
    fields: dict[str, Any] = model_asked(model)
    work = with_fields(f"--workload {model}", fields, given)
    try:
        if not plain_job(work):
            resolve(work, shipped_zoo())
    except WorkloadFault as fault:
        raise InputFault(f"--workload: {fault}") from fault
    return work
