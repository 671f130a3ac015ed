"""`rigplanner compare`: rigs side by side."""

import argparse
from functools import partial
from pathlib import Path

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment, open_catalog
from rigplanner.cli.written import written
from rigplanner.planning.compare import compare
from rigplanner.planning.renting import hires_for
from rigplanner.report.comparison.content import FORMATS, comparison
from rigplanner.report.forms import PDF, WORKBOOK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rigs", nargs="+", type=Path, metavar="RIG")
    parser.add_argument("--format", choices=(*FORMATS, PDF, WORKBOOK), default="table")
    parser.add_argument(
        "--baseline", type=int, default=1, help="number of the rig that differences refer to"
    )
    parser.add_argument("--only-differences", action="store_true")
    parser.add_argument("-o", "--output", type=Path, help="file to write (needed for pdf and xlsx)")


def run(args: argparse.Namespace) -> int:
    """Print or write the comparison."""
    if len(args.rigs) < 2:
        raise InputFault("name at least two rigs to compare.")
    if not 1 <= args.baseline <= len(args.rigs):
        raise InputFault(f"--baseline lies between 1 and {len(args.rigs)}, not {args.baseline}.")
    assessments = [open_assessment(path)[0] for path in args.rigs]
    hires = partial(hires_for, catalog=open_catalog(), cloud=shipped_cloud())
    rows = compare(assessments, args.baseline - 1, hires)
    made = comparison([a.rig.name for a in assessments], rows, args.only_differences)
    if args.format in (PDF, WORKBOOK) and args.output is None:
        raise InputFault(f"--format {args.format} needs -o FILE.{args.format}.")
    if args.format == WORKBOOK:
        from rigplanner.report.comparison.workbook import comparison_workbook

        shown = [row for row in rows if row.differs or not args.only_differences]
        content = comparison_workbook([a.rig.name for a in assessments], shown)
    elif args.format == "pdf":
        from rigplanner.report.comparison.pdf import comparison_pdf

        content = comparison_pdf(made)
    else:
        content = FORMATS[args.format](made).encode()
    if args.output is None:
        print(content.decode(), end="")
        return FINE
    written(args.output, content)
    return FINE
