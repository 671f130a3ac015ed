"""Measurements of the user, from CSV or JSON lines, as anchors beside the shipped ones."""

import csv
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from rigplanner.catalog.imports.user_catalog import user_folder
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.decoding import JsonFault, convert, read_tree
from rigplanner.errors import WorkloadFault
from rigplanner.performance.measured import Measured
from rigplanner.performance.metrics import METRICS
from rigplanner.rig.workload import Workload
from rigplanner.whole_file import read_within, write_whole

if TYPE_CHECKING:
    from rigplanner.performance.anchors.evidence import Evidence

NUMBERS = (
    "batch_per_gpu",
    "seq_len",
    "image_size",
    "input_tokens",
    "output_tokens",
    "lora_rank",
    "count",
    "nodes",
)
MOST_GPUS = 100_000
KEPT = (".csv", ".jsonl")
LARGEST_FILE_BYTES = 64 * 2**20


class _Told(Struct, frozen=True, kw_only=True):
    """What a row says beside its workload."""

    gpu: str
    metric: str
    id: str | int | None = None
    count: Annotated[int, Meta(ge=1, le=MOST_GPUS)] = 1
    nodes: Annotated[int, Meta(ge=1, le=MOST_GPUS)] = 1
    link: str = "unknown"
    source: str | None = None


def read_own(path: Path) -> list[Measured]:
    """Return the measurements of a file: `.csv` with a header, else JSON lines (flat, or cases with
    `workload` and `hardware`).

    Each needs model, gpu, metric and value; stack, precision, task, batch_per_gpu, count, link and
    the rest are optional. Raises WorkloadFault with file, line and field of the first line that is
    none."""
    rows, faults = read_each(path)
    if faults:
        raise WorkloadFault(faults[0])
    return rows


def read_each(path: Path) -> tuple[list[Measured], list[str]]:
    """Return the measurements of a file, and what is wrong with each line that is none; raise
    WorkloadFault for a file that cannot be read."""
    try:
        text = read_within(path, LARGEST_FILE_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise WorkloadFault(f"{path}: cannot be read ({fault}).") from fault
    read = _csv_rows(text) if path.suffix.casefold() == ".csv" else enumerate(text.splitlines(), 1)
    rows, faults = list[Measured](), list[str]()
    try:
        for number, line in read:
            place = f"{path.name} line {number}"
            try:
                cells = _json_cells(line, place) if isinstance(line, str) else line
                if (cells or isinstance(line, dict)) and not _is_suspect(cells):
                    rows.append(_measured(cells, place, str(path)))
            except WorkloadFault as fault:
                faults.append(str(fault))
    except csv.Error as fault:
        faults.append(f"{path.name} line {len(rows) + len(faults) + 2}: not CSV ({fault}).")
    return rows, faults


def _is_suspect(cells: dict[str, Any]) -> bool:
    told = cells.get("suspect")
    return told is True or told in ("true", "True", "yes", "1")


def own_folder() -> Path:
    """Return the folder of the measurements that the user keeps: every CSV and JSONL file in it
    becomes anchors."""
    return user_folder().parent / "measurements"


def keep(path: Path) -> Path:
    """Copy a file of measurements to the user's folder, and return where it lies; raise
    WorkloadFault when it cannot be read."""
    read_own(path)
    kept = own_folder() / path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_whole(kept, path.read_bytes())
    current_evidence.cache_clear()
    return kept


def keep_text(name: str, text: str) -> Path:
    """Keep JSON lines of measurements under a name in the user's folder, and return where they lie;
    raise WorkloadFault when a line is none, OSError when nothing can be written."""
    kept = own_folder() / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(text.splitlines(), 1):
        _measured(_json_cells(line, f"line {number}"), f"line {number}", name)
    write_whole(kept, text.encode())
    current_evidence.cache_clear()
    return kept


@cache
def current_evidence() -> "Evidence":
    """Return the shipped evidence, with the measurements that the user keeps where there are
    any."""
    from rigplanner.performance.anchors.evidence import shipped_evidence

    rows, _ = _kept()
    return with_own(rows) if rows else shipped_evidence()


def left_aside() -> tuple[str, ...]:
    """Return a sentence on each file of kept measurements that cannot be used whole, naming the
    first line that is none; its other lines count."""
    return _kept()[1]


def _kept() -> tuple[list[Measured], tuple[str, ...]]:
    folder, rows, asides = own_folder(), list[Measured](), list[str]()
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        if path.suffix.casefold() in KEPT:
            try:
                good, faults = read_each(path)
            except WorkloadFault as fault:
                good, faults = [], [str(fault)]
            rows += good
            asides += [f"Left aside: {faults[0]}"] if faults else []
    return rows, tuple(asides)


def with_own(rows: Iterable[Measured]) -> "Evidence":
    """Return the shipped evidence and the user's rows together."""
    from rigplanner.performance.anchors.evidence import (
        joined_evidence,
        read_evidence,
        shipped_evidence,
    )

    return joined_evidence(shipped_evidence(), read_evidence(list(rows), shipped_zoo()))


def _csv_rows(text: str) -> Iterable[tuple[int, dict[str, Any] | str]]:
    for number, cells in enumerate(csv.DictReader(text.splitlines()), 2):
        yield (
            number,
            {key: value for key, value in cells.items() if key and value not in (None, "")},
        )


def _json_cells(line: str, place: str) -> dict[str, Any]:
    """The cells of a line of JSON, none of a blank one."""
    if not line.strip():
        return {}
    try:
        found = read_tree(line)
    except JsonFault as fault:
        raise WorkloadFault(f"{place}: expected a JSON object, found {line[:40]!r}.") from fault
    if not isinstance(found, dict):
        raise WorkloadFault(f"{place}: expected a JSON object, found {type(found).__name__}.")
    parts = [
        part for name in ("workload", "hardware") if isinstance(part := found.pop(name, None), dict)
    ]
    return {
        key: value for part in (*parts, found) for key, value in part.items() if value is not None
    }


def _measured(cells: dict[str, Any], place: str, source: str) -> Measured:
    for field in ("model", "gpu", "metric", "value"):
        if field not in cells:
            raise WorkloadFault(f"{place}: expected {field}, found none.")
    for field in NUMBERS:
        if isinstance(cells.get(field), str):
            cells[field] = int(_number(cells[field], f"{place}: {field}"))
    value = _number(cells["value"], f"{place}: value")
    if not 0 < value < 1e15:
        raise WorkloadFault(f"{place}: value: expected a number above 0, found {value:g}.")
    known = {key: value for key, value in cells.items() if key in Workload.__struct_fields__}
    try:
        told, workload = convert(cells, _Told), convert(known, Workload)
    except JsonFault as fault:
        raise WorkloadFault(f"{place}: {fault}") from fault
    if told.metric not in METRICS:
        raise WorkloadFault(
            f"{place}: metric: expected one of {', '.join(METRICS)}, found '{told.metric[:40]}'."
        )
    return Measured(
        id=str(told.id or place),
        workload=workload,
        gpu=told.gpu,
        count=told.count,
        nodes=told.nodes,
        link=told.link,
        metric=told.metric,
        value=value,
        year=None,
        source=told.source or source,
        own=True,
    )


def _number(word: Any, place: str) -> float:
    try:
        number = float(word)
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if not math.isfinite(number):
        raise WorkloadFault(f"{place}: expected a number, found '{str(word)[:40]}'.")
    return number
