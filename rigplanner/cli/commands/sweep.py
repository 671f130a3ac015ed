"""`rigplanner sweep`: cards, counts, works, lengths and batches into one table."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU
from rigplanner.cli.asked import works_asked
from rigplanner.cli.commands.rank import MOST_COUNT, counts_of
from rigplanner.cli.faults import FINE, INTERRUPTED, InputFault
from rigplanner.cli.reading import open_catalog
from rigplanner.errors import WorkloadFault
from rigplanner.planning.map.cards import cards
from rigplanner.planning.map.nearest import like
from rigplanner.planning.map.sweep import Cell, cells, sweep
from rigplanner.report.map import landscape

MOST_CELLS = 500_000
LONGEST, LARGEST_BATCH = 10_000_000, 100_000
TOLD_EVERY_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "works", nargs="+", metavar="WORK", help="a model with fields, 'llama-3.1-8b task=serve'"
    )
    parser.add_argument(
        "--cards", action="append", default=[], metavar="NAME", help="a card; may be given again"
    )
    parser.add_argument("--only", metavar="WORDS", help="all cards whose name holds these")
    parser.add_argument("--count", default="1", help="numbers of cards, as 1,2,4 (default: 1)")
    parser.add_argument("--lengths", help="tokens of a sequence or a prompt, as 1024,4096")
    parser.add_argument("--batches", help="batches of each GPU, as 1,8,32")
    parser.add_argument(
        "--workers", type=int, help="processes (default: one a core of this computer)"
    )
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv")
    parser.add_argument("-o", "--output", type=Path, help="file to write (csv: else printed)")


def run(args: argparse.Namespace) -> int:
    """Write the table. Ctrl-C ends it with what is done, and 130."""
    if args.workers is not None and not 1 <= args.workers <= 1024:
        raise InputFault(f"--workers: expected 1 to 1024, found {args.workers}.")
    if args.format == "parquet":
        _check_parquet(args.output)
    asked = _cells(args)
    workers = args.workers or os.cpu_count() or 1
    done: list[dict[str, Any]] = []
    rows = sweep(asked, workers)
    try:
        for record in _told(rows, len(asked)):
            done += [record]
        ended = FINE
    except KeyboardInterrupt:
        rows.close()  # type: ignore[attr-defined]
        print(f"Stopped after {len(done)} of {len(asked)}; these are written.", file=sys.stderr)
        ended = INTERRUPTED
    _write(args, done)
    return ended


def _check_parquet(output: Path | None) -> None:
    """Raises InputFault where no file is named or nothing can write Parquet."""
    if output is None:
        raise InputFault("--format parquet: name the file with -o FILE.parquet.")
    if not landscape.writes_parquet():
        raise InputFault(
            "--format parquet: pyarrow is not installed, and pandas writes Parquet by it alone; pip"
            " install 'rigplanner[parquet]', or take --format csv."
        )


def _cells(args: argparse.Namespace) -> list[Cell]:
    works = [(work.text, work.workload) for work in works_asked(args.works)]
    lengths = counts_of(args.lengths, "--lengths", LONGEST) if args.lengths else []
    batches = counts_of(args.batches, "--batches", LARGEST_BATCH) if args.batches else []
    counts = counts_of(args.count, "--count", MOST_COUNT)
    gpus = _gpus(args)
    many = len(works) * len(gpus) * len(counts) * max(1, len(lengths)) * max(1, len(batches))
    if many > MOST_CELLS:
        raise InputFault(
            f"{many} combinations are more than {MOST_CELLS}; name fewer cards, lengths or"
            " batches, or sweep in parts."
        )
    return cells(works, gpus, counts, lengths, batches)


def _gpus(args: argparse.Namespace) -> list[GPU]:
    """The cards that were named. Raises InputFault for one that nothing knows."""
    try:
        named = [find_gpu(name) for name in args.cards]
    except WorkloadFault as fault:
        raise InputFault(f"--cards: {fault}") from fault
    if args.only is None and named:
        return named
    found = [card.gpu for card in cards(open_catalog(), args.only or "")]
    if not found:
        near = like(args.only or "", cards(open_catalog(), ""))
        meant = f" Nearest: {', '.join(near)}." if near else ""
        raise InputFault(f"--only: no card is called {args.only!r}.{meant}")
    return list({gpu.id: gpu for gpu in (*named, *found)}.values())


def _told(rows: Iterator[dict[str, Any]], total: int) -> Iterator[dict[str, Any]]:
    """The records, with progress on a terminal."""
    shows, at = sys.stderr.isatty(), time.monotonic()
    for done, record in enumerate(rows, 1):
        if shows and (time.monotonic() - at > TOLD_EVERY_S or done == total):
            at = time.monotonic()
            end = "\n" if done == total else ""
            print(f"\r{done} of {total}, Ctrl-C stops", end=end, file=sys.stderr, flush=True)
        yield record


def _write(args: argparse.Namespace, done: Sequence[dict[str, Any]]) -> None:
    from rigplanner.cli.written import written

    if args.output is None:
        print(landscape.csv_text(done), end="")
    elif args.format == "csv":
        written(args.output, landscape.csv_text(done).encode())
    else:
        written(args.output, landscape.parquet(done))
