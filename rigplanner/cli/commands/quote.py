"""`rigplanner quote`: the quote of a rig as PDF."""

import argparse
import sys
from datetime import date
from pathlib import Path

from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment
from rigplanner.cli.written import written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rig", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.pdf")
    parser.add_argument("--paper", choices=("A4", "Letter"), default="A4")
    parser.add_argument(
        "--date",
        type=date.fromisoformat,
        default=None,
        metavar="YYYY-MM-DD",
        help="date of a quote that names none",
    )


def run(args: argparse.Namespace) -> int:
    """Write the quote."""
    from rigplanner.report.quote.logo import logo_fault
    from rigplanner.report.quote.pdf import quote_pdf

    if args.output.suffix.casefold() not in ("", ".pdf"):
        raise InputFault(f"{args.output}: a quote is a PDF; name the file FILE.pdf.")
    assessment, catalog = open_assessment(args.rig)
    content = quote_pdf(assessment, catalog, args.date, args.paper)
    written(args.output, content)
    if fault := logo_fault(assessment.rig.quote.seller.logo):
        print(f"rigplanner quote: {fault}", file=sys.stderr)
    return FINE
