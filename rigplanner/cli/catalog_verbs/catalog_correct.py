"""`rigplanner catalog correct`: a file to send that says which figure is wrong, and why."""

import argparse
from datetime import date
from pathlib import Path

from rigplanner.catalog.correction import CorrectionFault, correction, encoded
from rigplanner.catalog.find.find import index_of
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import no_part_text, open_catalog
from rigplanner.cli.written import written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("part", help="id of a part, or words that find it")
    parser.add_argument("figure", metavar="FIELD=VALUE", help="for example length_mm=334")
    parser.add_argument(
        "--evidence", required=True, help="address, document, or how it was measured"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")


def run(args: argparse.Namespace) -> int:
    """Print or write one correction."""
    catalog = open_catalog()
    index = index_of(catalog)
    part = catalog.get(args.part) or next(iter(index.find(args.part, limit=1)), None)
    field, given, value = args.figure.partition("=")
    if part is None:
        raise InputFault(f"{no_part_text(args.part, index)}.")
    if not given:
        raise InputFault(f"expected FIELD=VALUE, found {args.figure!r}.")
    try:
        made = correction(catalog, part, field, value, args.evidence, date.today().isoformat())
    except CorrectionFault as fault:
        raise InputFault(f"{fault}.") from fault
    if args.output is None:
        print(encoded(made).decode(), end="")
    else:
        written(args.output, encoded(made))
    return FINE
