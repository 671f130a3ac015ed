"""`rigplanner validate`: predictions against measured cases."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.faults import BAD_INPUT, FINE, InputFault
from rigplanner.cli.reading import say_some
from rigplanner.cli.written import written
from rigplanner.decoding import JsonFault, read_json, read_tree
from rigplanner.errors import WorkloadFault
from rigplanner.memory.measured.accuracy import HELD, MeasuredLine, TracedLine
from rigplanner.performance.anchors.own import keep, read_each
from rigplanner.performance.job import read_job
from rigplanner.report.accuracy.judged import (
    bracket_table,
    held_table,
    memory_tables,
    shipped_tables,
    speed_tables,
    traced_table,
)
from rigplanner.report.accuracy.page import accuracy_page, beside
from rigplanner.report.accuracy.table import AccuracyTable, as_text
from rigplanner.whole_file import read_within

SHAPES: dict[str, type] = {"memory": MeasuredLine, "held": MeasuredLine, "traced": TracedLine}
LARGEST_FILE_BYTES = 256 * 2**20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "cases",
        nargs="*",
        type=Path,
        metavar="FILE",
        help=(
            "measured cases, JSON lines or a CSV of speeds; without any the shipped rows are judged"
        ),
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the files of speeds: their rows become anchors of your predictions",
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE.md",
        help="write what is asked and reached as Markdown, its pictures and CSV beside it",
    )


def run(args: argparse.Namespace) -> int:
    """Print the error tables; each line that is no case, or whose speed cannot be told, is named
    and left out. Exit 2 for the former."""
    faults: list[str] = []
    tables = [table for path in args.cases for table in _of_file(path, faults)]
    if not args.cases or args.write:
        tables += shipped_tables()
    say_some(faults)
    if not tables:
        raise InputFault(
            "no measured case found: a memory case has 'value_gib', a speed case 'metric' and"
            " 'value'."
        )
    print(as_text(tables), end="")
    if args.keep:
        _keep(args.cases)
    if args.write:
        folder = args.write.with_suffix("")
        try:
            folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise InputFault(f"{folder}: not made ({fault.strerror or fault}).") from fault
        written(args.write, accuracy_page(tables, folder.name).encode())
        for name, text in beside(tables).items():
            written(folder / name, text.encode())
    return BAD_INPUT if faults else FINE


def _keep(paths: Sequence[Path]) -> None:
    for path in paths:
        try:
            print(f"Kept: {keep(path)}", file=sys.stderr)
        except (WorkloadFault, OSError) as fault:
            raise InputFault(str(fault)) from fault


def _of_file(path: Path, faults: list[str]) -> list[AccuracyTable]:
    """The tables of a file; what is wrong with lines of it goes to `faults`."""
    try:
        lines = read_within(path, LARGEST_FILE_BYTES).splitlines()
    except OSError as fault:
        raise InputFault(f"{path}: cannot be read ({fault.strerror or fault}).") from fault
    try:
        return (
            _speeds(path, [], faults)
            if path.suffix.casefold() == ".csv"
            else _tables(path, lines, faults)
        )
    except WorkloadFault as fault:
        raise InputFault(str(fault)) from fault


def _speeds(path: Path, lines: list[bytes], faults: list[str]) -> list[AccuracyTable]:
    """The tables of a file of speeds, `lines` of JSON or none."""
    rows, bad = read_each(path)
    faults += bad
    untold = []
    for row in rows:
        if row.workload.task == "collective":
            continue
        try:
            read_job(row.workload, find_gpu(row.gpu), row.count, row.nodes, row.link, shipped_zoo())
        except WorkloadFault as fault:
            untold.append(f"{row.id}: {fault}")
    say_some(untold)
    return speed_tables(rows, lines, path) if rows else []


def _tables(path: Path, read: list[bytes], faults: list[str]) -> list[AccuracyTable]:
    kinds: dict[str, list[bytes]] = {}
    bad: list[str] = []
    for number, line in enumerate(read, 1):
        if line.strip():
            try:
                kind = _kind_of(line, path, number)
                if kind in SHAPES:
                    read_json(line, SHAPES[kind])
                kinds.setdefault(kind, []).append(line)
            except InputFault as fault:
                bad.append(str(fault))
            except JsonFault as fault:
                bad.append(f"{path} line {number}: {fault}.")
    if len(kinds) > 1:
        raise InputFault(
            f"{path}: holds {' and '.join(sorted(kinds))} cases; put them into two files."
        )
    if "speed" in kinds:
        return _speeds(path, kinds["speed"], faults)
    faults += bad
    for kind, lines in kinds.items():
        if kind == "memory":
            return memory_tables(lines, path.name)
        table = {"held": held_table, "traced": traced_table}.get(kind, bracket_table)
        return [table(lines, path.name)]
    return []


def _kind_of(line: bytes, path: Path, number: int) -> str:
    try:
        raw: Any = read_tree(line)
    except JsonFault as fault:
        raise InputFault(f"{path} line {number}: not JSON ({fault}).") from fault
    if isinstance(raw, dict) and "value_gib" in raw:
        return "held" if raw.get("part") in HELD else "memory"
    if isinstance(raw, dict) and "fits_batch" in raw:
        return "batch"
    spec = raw.get("spec") if isinstance(raw, dict) else None
    if isinstance(spec, dict) and isinstance(spec.get("config"), dict) and "peak_bytes" in raw:
        return "traced"
    if isinstance(raw, dict) and "metric" in raw and "value" in raw:
        return "speed"
    raise InputFault(
        f"{path} line {number}: expected a measured case with 'value_gib', or with 'metric' and"
        " 'value'."
    )
