"""`rigplanner formats [--gpu NAME]`: number formats, their bits and range, and what a GPU does with
each; `--generations` lists NVIDIA's generations instead."""

import argparse
import sys

from rigplanner.catalog.gpus import find_gpu
from rigplanner.cli.faults import FINE, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.errors import WorkloadFault
from rigplanner.planning.formats import formats_on
from rigplanner.planning.generations import generations
from rigplanner.report.format import columns_of, padded
from rigplanner.report.words.formats import (
    format_heads,
    format_rows,
    generation_heads,
    generation_rows,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `formats`."""
    parser.add_argument("--gpu", metavar="NAME", help="what this GPU does with each format")
    parser.add_argument(
        "--generations", action="store_true", help="NVIDIA's generations instead of the formats"
    )


def run(args: argparse.Namespace) -> int:
    """Print the table asked for; exit 2 for a GPU that is not known."""
    if args.generations:
        return _print(generation_heads(), generation_rows(generations(open_catalog())))
    if args.gpu is None:
        return _print(format_heads(None), format_rows())
    try:
        gpu = find_gpu(args.gpu)
    except WorkloadFault as fault:
        raise InputFault(f"--gpu: {str(fault).removeprefix('hardware.gpu: ')}") from fault
    return _print(format_heads(gpu.name), format_rows(formats_on(gpu)))


def _print(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> int:
    table = [heads, *rows]
    widths = [max(columns_of(line[at]) for line in table) for at in range(len(heads))]
    for line in table:
        cells = (padded(text, width) for text, width in zip(line, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    return FINE
