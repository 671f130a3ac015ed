"""`rigplanner quote`: the quote of a rig as PDF."""

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import get_args

from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment
from rigplanner.cli.written import written
from rigplanner.rig.document import Form


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rig", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.pdf")
    parser.add_argument("--paper", choices=("A4", "Letter"), default="A4")
    parser.add_argument(
        "--form",
        choices=get_args(Form),
        default=None,
        help="dealer: for a customer; private: one page for yourself; internal: with cost and"
        " margin (default: as the rig says)",
    )
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
    content = quote_pdf(assessment, catalog, args.date, args.paper, args.form)
    written(args.output, content)
    if fault := logo_fault(assessment.rig.quote.seller.logo):
        print(f"rigplanner quote: {fault}", file=sys.stderr)
    return FINE
