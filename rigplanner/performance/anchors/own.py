"""Measurements of the user, from CSV or JSON lines, as anchors beside the shipped ones."""

import csv
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.catalog.imports.user_catalog import user_folder
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.decoding import convert
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.anchors import Evidence, read_evidence, shipped_evidence
from rigplanner.performance.measured import Measured
from rigplanner.performance.metrics import METRICS
from rigplanner.rig.workload import Workload
from rigplanner.whole_file import read_within, write_whole

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
TRUE = (True, "true", "True", "yes", "1")
"""What marks a row as suspect; such rows are left out."""
KEPT = (".csv", ".jsonl")
LARGEST_FILE_BYTES = 64 * 2**20


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
    for number, line in read:
        place = f"{path.name} line {number}"
        try:
            cells = _json_cells(line, place) if isinstance(line, str) else line
            if (cells or isinstance(line, dict)) and cells.get("suspect") not in TRUE:
                rows.append(_measured(cells, place, str(path)))
        except WorkloadFault as fault:
            faults.append(str(fault))
    return rows, faults


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
    kept_evidence.cache_clear()
    return kept


@cache
def kept_evidence() -> Evidence:
    """Return the shipped evidence, with the measurements that the user keeps where there are any;
    raise WorkloadFault naming the file and line of one that cannot be read."""
    folder = own_folder()
    files = (
        sorted(path for path in folder.glob("*") if path.suffix.casefold() in KEPT)
        if folder.is_dir()
        else []
    )
    return (
        with_own([row for path in files for row in read_own(path)]) if files else shipped_evidence()
    )


def with_own(rows: Iterable[Measured]) -> Evidence:
    """Return the shipped evidence and the user's rows together."""
    shipped, own = shipped_evidence(), read_evidence(rows, shipped_zoo())
    return Evidence([*shipped.placed, *own.placed], [*shipped.paired, *own.paired])


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
        found = json.loads(line)
    except (ValueError, RecursionError) as fault:
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
    if cells["metric"] not in METRICS:
        raise WorkloadFault(
            f"{place}: metric: expected one of {', '.join(METRICS)}, found '{cells['metric']}'."
        )
    for field in NUMBERS:
        if isinstance(cells.get(field), str):
            cells[field] = int(_number(cells[field], f"{place}: {field}"))
    value = _number(cells["value"], f"{place}: value")
    if not 0 < value < 1e15:
        raise WorkloadFault(f"{place}: value: expected a number above 0, found {cells['value']}.")
    known = {key: value for key, value in cells.items() if key in Workload.__struct_fields__}
    try:
        workload = convert(known, Workload)
    except msgspec.ValidationError as fault:
        raise WorkloadFault(f"{place}: {fault}") from fault
    return Measured(
        id=str(cells.get("id", place)),
        workload=workload,
        gpu=str(cells["gpu"]),
        count=int(cells.get("count", 1)),
        nodes=int(cells.get("nodes", 1)),
        link=str(cells.get("link", "unknown")),
        metric=str(cells["metric"]),
        value=value,
        year=None,
        source=str(cells.get("source", source)),
        own=True,
    )


def _number(word: Any, place: str) -> float:
    try:
        return float(word)
    except (TypeError, ValueError) as fault:
        raise WorkloadFault(f"{place}: expected a number, found '{word}'.") from fault
