"""`rigplanner export`: a rig as Markdown, BBCode, CSV or JSON."""

import argparse
from datetime import date
from pathlib import Path

from rigplanner.cli.faults import FINE
from rigplanner.cli.reading import open_assessment
from rigplanner.report.export import FORMATS, export
from rigplanner.report.quote import quote_content


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("rig", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), default="markdown")


def run(args: argparse.Namespace) -> int:
    """Print the rig."""
    assessment, catalog = open_assessment(args.rig)
    print(export(quote_content(assessment, catalog, date.today()), args.format), end="")
    return FINE
