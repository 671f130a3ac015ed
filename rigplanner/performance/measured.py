"""Measured rows as the catalog ships them: compact groups of rows that share stack, model, task and metric."""

import re
import statistics
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.evidence import Source
from rigplanner.rig.task import Workload

NUMBER = re.compile(r"\d+\.\d+")
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
WRITTEN_MONTH = re.compile(rf"({'|'.join(MONTHS)}) (20\d\d)")
"""The month in which software without releases was taken, as rows write it: "llama.cpp (May 2024)"."""
USUAL_YEAR = 2024.0
"""Year of software whose stack has no measured row that tells one."""
COLUMNS = (
    "id",
    "gpu",
    "count",
    "nodes",
    "link",
    "precision",
    "batch_per_gpu",
    "seq_len",
    "image_size",
    "input_tokens",
    "output_tokens",
    "message_bytes",
    "framework",
    "variant",
    "year",
    "source",
    "value",
)


class Group(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows measured with one stack on one network: each row holds the `COLUMNS` in order, `source` being a key of the file."""

    stack: str
    model: str
    task: str
    metric: str
    rows: tuple[tuple[Any, ...], ...]


class MeasuredFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of measured rows with its sources."""

    sources: dict[str, Source]
    columns: tuple[str, ...]
    groups: tuple[Group, ...]


class Measured(Struct, frozen=True, kw_only=True):
    """One measured row: `value` in `metric` for the whole system; `source` is the text to cite."""

    id: str
    workload: Workload
    gpu: str
    count: int
    nodes: int
    link: str
    metric: str
    value: float
    year: int | None
    source: str
    own: bool = False


def read_measured(path: Path) -> list[Measured]:
    """Return the rows of one file of the catalog."""
    read = msgspec.json.decode(path.read_bytes(), type=MeasuredFile)
    return [_row(group, dict(zip(read.columns, row, strict=True)), read.sources) for group in read.groups for row in group.rows]


def _row(group: Group, cells: dict[str, Any], sources: dict[str, Source]) -> Measured:
    workload = Workload(
        model=group.model,
        task=group.task,
        stack=group.stack,
        precision=cells["precision"],
        batch_per_gpu=cells["batch_per_gpu"],
        seq_len=cells["seq_len"],
        image_size=cells["image_size"],
        input_tokens=cells["input_tokens"],
        output_tokens=cells["output_tokens"],
        message_bytes=cells["message_bytes"],
        framework_text=cells["framework"],
        variant=cells["variant"] or {},
    )
    return Measured(
        id=cells["id"],
        workload=workload,
        gpu=cells["gpu"],
        count=cells["count"],
        nodes=cells["nodes"],
        link=cells["link"],
        metric=group.metric,
        value=cells["value"],
        year=cells["year"],
        source=sources[cells["source"]].title,
    )


@cache
def shipped_measured() -> tuple[Measured, ...]:
    """Return all rows that came with the program, read once."""
    files = sorted((data_path("catalog") / "benchmarks").glob("measured-*.json"))
    return tuple(row for path in files for row in read_measured(path))


@cache
def release_years() -> dict[str, dict[str, float]]:
    """Return the year of each release of each stack, from the shipped rows; "" stands for the newest of a stack."""
    seen: dict[str, dict[str, list[int]]] = {}
    for row in shipped_measured():
        if row.year and row.workload.stack:
            seen.setdefault(row.workload.stack, {}).setdefault(release_of(row.workload.framework_text), []).append(row.year)
    return {
        stack: {**{word: statistics.median(years) for word, years in releases.items()}, "": max(map(max, releases.values()))}
        for stack, releases in seen.items()
    }


def year_of(stack: str, release: str) -> float:
    """Return the year of a release of a stack: as it says itself, as measured rows tell, else of the nearest number, else the
    newest."""
    known = release_years().get(stack, {})
    if written := WRITTEN_MONTH.search(release):
        return float(written.group(2)) + MONTHS.index(written.group(1)) / len(MONTHS)
    if release in known:
        return known[release]
    numbers = {word: float(word) for word in known if NUMBER.fullmatch(word)}
    if numbers and NUMBER.fullmatch(release):
        return known[min(numbers, key=lambda word: abs(numbers[word] - float(release)))]
    return known.get("", USUAL_YEAR)


VERSION = re.compile(r"\d+\.\d+")


def release_of(text: str | None) -> str:
    """Return the version that a stack's description names ("PyTorch 1.13.0a0 (NGC)" -> "1.13"), else all of it in lower case."""
    found = VERSION.search(text or "")
    return found.group() if found else (text or "").casefold()
