"""`rigplanner catalog export`: the whole shipped catalog and the measured rows as open data."""

import argparse
from pathlib import Path

from rigplanner.catalog.load import shipped_catalog
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.report.open_catalog import FORMATS, MissingPackage, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the verb."""
    parser.add_argument("--format", choices=FORMATS, required=True)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="PATH",
        help="file for sqlite and json, folder for csv and parquet",
    )


def run(args: argparse.Namespace) -> int:
    """Write the catalog and name what was written."""
    from rigplanner.performance.measured import shipped_measured

    try:
        written = write(shipped_catalog(), shipped_measured(), args.format, args.output)
    except MissingPackage as fault:
        raise InputFault(
            f"--format {args.format} needs the package {fault}: pip install {fault}."
        ) from fault
    except OSError as fault:
        raise InputFault(f"{args.output}: not written ({fault.strerror or fault}).") from fault
    for path in written:
        print(path)
    return FINE
