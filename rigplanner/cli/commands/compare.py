"""`rigplanner compare`: rigs side by side."""

import argparse
from datetime import date
from functools import partial
from pathlib import Path

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment, open_catalog
from rigplanner.cli.terminal import width
from rigplanner.cli.written import written
from rigplanner.plain_text import without_steering
from rigplanner.planning.compare import compare
from rigplanner.planning.renting import hires_for
from rigplanner.report.comparison.changes import with_changes
from rigplanner.report.comparison.content import comparison, names_apart
from rigplanner.report.comparison.text_table import table
from rigplanner.report.comparison.writers import FORMATS
from rigplanner.report.forms import PDF, WORKBOOK
from rigplanner.rig.variants import states
from rigplanner.rules.assess import Assessment, assess


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rigs", nargs="+", type=Path, metavar="RIG")
    parser.add_argument("--format", choices=(*FORMATS, PDF, WORKBOOK), default="table")
    parser.add_argument(
        "--baseline", type=int, default=1, help="number of the rig that differences refer to"
    )
    parser.add_argument("--only-differences", action="store_true")
    parser.add_argument("-o", "--output", type=Path, help="file to write (needed for pdf and xlsx)")


def _assessed(paths: list[Path]) -> tuple[list[Assessment], list[str]]:
    """Return each rig with the variants that it keeps, and the name of the file of each."""
    assessments: list[Assessment] = []
    files: list[str] = []
    today = date.today().isoformat()
    for path in paths:
        own, catalog = open_assessment(path)
        kept = [assess(state, catalog, today) for state in states(own.rig)[1:]]
        assessments += [own, *kept]
        files += [path.name] * (1 + len(kept))
    return assessments, files


def run(args: argparse.Namespace) -> int:
    """Print or write the comparison."""
    assessments, files = _assessed(args.rigs)
    if len(assessments) < 2:
        raise InputFault("name at least two rigs to compare, or one that keeps variants.")
    if not 1 <= args.baseline <= len(assessments):
        raise InputFault(f"--baseline lies between 1 and {len(assessments)}, not {args.baseline}.")
    names = names_apart([a.rig.name for a in assessments], files)
    hires = partial(hires_for, catalog=open_catalog(), cloud=shipped_cloud())
    rows = compare(assessments, args.baseline - 1, hires)
    made = comparison(names, rows, args.only_differences)
    made = with_changes(made, rows, args.baseline - 1)
    if args.format in (PDF, WORKBOOK) and args.output is None:
        raise InputFault(f"--format {args.format} needs -o FILE.{args.format}.")
    if args.format == WORKBOOK:
        from rigplanner.report.comparison.workbook import comparison_workbook

        content = comparison_workbook(names, made.compared)
    elif args.format == "pdf":
        from rigplanner.report.comparison.pdf import comparison_pdf

        content = comparison_pdf(made)
    elif args.format == "table" and args.output is None:
        print(without_steering(table(made, width())), end="")
        return FINE
    else:
        content = FORMATS[args.format](made).encode()
    if args.output is None:
        print(content.decode(), end="")
        return FINE
    written(args.output, content)
    return FINE
