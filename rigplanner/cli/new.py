"""`rigplanner new`: a rig from words."""

import argparse
import sys
from pathlib import Path

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.user_catalog import user_rates
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.rig.edits import set_exchange
from rigplanner.rig.files import RigFault, write_rig
from rigplanner.rig.from_words import read_wish, rig_from_wishes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("words", nargs="+", metavar="WORDS", help='one part each, for example "2x RTX 3090"')
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.rig")
    parser.add_argument("--name", help="name of the rig (else the file's name)")


def run(args: argparse.Namespace) -> int:
    """Write the rig and say what each wish became."""
    catalog = open_catalog()
    index = PartIndex(catalog.parts.values())
    wishes = [read_wish(text, index) for text in args.words]
    missing = [wish.text for wish in wishes if not wish.parts]
    if missing:
        raise InputFault(
            f"no part in the catalog matches {', '.join(map(repr, missing))}; try fewer words or 'rigplanner catalog list'."
        )
    try:
        rig = set_exchange(rig_from_wishes(args.name or args.output.stem, wishes), user_rates())
        write_rig(rig, args.output, catalog)
    except (RigFault, ValueError) as fault:
        raise InputFault(str(fault)) from fault
    for wish in wishes:
        others = ", ".join(part.name for part in wish.parts[1:4])
        print(f"{wish.quantity} x {wish.parts[0].name}" + (f"   (also: {others})" if others else ""))
    print(f"Written: {args.output}", file=sys.stderr)
    return FINE
