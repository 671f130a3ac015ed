"""`rigplanner export`: a rig as Markdown, BBCode, plain text, CSV, web page, JSON, one line of
text, a workbook, or as the job script of a cluster's queue."""

import argparse
from datetime import date
from pathlib import Path

from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_assessment
from rigplanner.cli.terminal import tell_columns
from rigplanner.cli.written import written
from rigplanner.report.forms import WORKBOOK
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.export import FORMATS, export
from rigplanner.report.quote.job_script import QUEUES, job_script


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rig", type=Path)
    forms = sorted((*FORMATS, *QUEUES, WORKBOOK))
    parser.add_argument("--format", choices=forms, default="markdown")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file to write (needed for xlsx)"
    )


def run(args: argparse.Namespace) -> int:
    """Print or write the rig."""
    if args.format == WORKBOOK and args.output is None:
        raise InputFault("--format xlsx needs -o FILE.xlsx.")
    assessment, catalog = open_assessment(args.rig)
    if args.format in QUEUES:
        return _put(args, job_script(assessment, args.format).encode())
    quote = quote_content(assessment, catalog, date.today())
    if args.format == WORKBOOK:
        from rigplanner.report.quote.workbook import quote_workbook

        content = quote_workbook(quote)
    else:
        content = export(quote, args.format).encode()
    if args.output is None and args.format == "plain":
        tell_columns(content.decode().rstrip("\n"))
        return FINE
    return _put(args, content)


def _put(args: argparse.Namespace, content: bytes) -> int:
    """Print or write what was made."""
    if args.output is None:
        print(content.decode(), end="")
        return FINE
    written(args.output, content)
    return FINE
