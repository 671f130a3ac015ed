"""`rigplanner new`: a rig from words."""

import argparse
import sys
from pathlib import Path

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.user_catalog import newest_rates
from rigplanner.cli.captured import add_fact_arguments, facts_named, say_unmatched
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.machine.this_machine import recognise
from rigplanner.report.language import tr
from rigplanner.rig.choices import with_choice
from rigplanner.rig.edits import set_exchange, set_notes
from rigplanner.rig.files import RigFault, write_rig
from rigplanner.rig.from_words import read_wish, rig_from_wishes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("words", nargs="*", metavar="WORDS", help='one part each, for example "2x RTX 3090"')
    add_fact_arguments(parser)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.rig")
    parser.add_argument(
        "--set", dest="choices", action="append", default=[], metavar="NAME=VALUE",
        help="a setting: country=DE, volts=230, cap=280, raid0=yes, ups=2, numa=4, p2p=yes, driver=580, bios:PLACE=CHOICE",
    )  # fmt: skip
    parser.add_argument("--name", help="name of the rig (else the file's name)")


def run(args: argparse.Namespace) -> int:
    """Write the rig and say what each wish became; what a machine says of itself comes before the words."""
    catalog = open_catalog()
    facts = facts_named(args)
    if not args.words and not facts:
        raise InputFault("name parts in words, or a machine to read with --this-machine, --query, --hwloc or --lspci.")
    found = recognise(facts, catalog, args.name or args.output.stem)
    say_unmatched("new", found.unmatched)
    absent = "\n".join(tr("Not in the catalog: {fact}", fact=f"{f.count} x {f.name} {f.detail}".strip()) for f in found.unmatched)
    index = PartIndex(catalog.parts.values())
    wishes = [read_wish(text, index) for text in args.words]
    missing = [wish.text for wish in wishes if not wish.parts]
    if missing:
        raise InputFault(
            f"no part in the catalog matches {', '.join(map(repr, missing))}; try fewer words or 'rigplanner catalog list'."
        )
    try:
        rig = set_exchange(rig_from_wishes(args.name or args.output.stem, wishes, set_notes(found.rig, absent)), newest_rates())
        for choice in args.choices:
            rig = with_choice(rig, catalog, choice)
        write_rig(rig, args.output, catalog)
    except (RigFault, ValueError) as fault:
        raise InputFault(str(fault)) from fault
    for item in found.rig.items:
        print(f"{item.quantity} x {catalog.parts[item.part].name}" + (f"   ({item.note})" if item.note else ""))
    for wish in wishes:
        others = ", ".join(part.name for part in wish.parts[1:4])
        print(f"{wish.quantity} x {wish.parts[0].name}" + (f"   (also: {others})" if others else ""))
    print(f"Written: {args.output}", file=sys.stderr)
    return FINE
