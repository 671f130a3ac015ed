"""Measured rows as the catalog ships them: compact groups of rows that share stack, model, task and
metric."""

import re
import statistics
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from rigplanner.catalog.load import CatalogFault
from rigplanner.data import data_path, read_shipped, shipped_files
from rigplanner.decoding import JsonFault, read_json
from rigplanner.evidence import Source
from rigplanner.performance.software.stacks import released
from rigplanner.rig.workload import Workload

NUMBER = re.compile(r"\d+\.\d+")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WRITTEN_MONTH = re.compile(rf"({'|'.join(MONTHS)}) (20\d\d)")
"""The month in which software without releases was taken, as rows write it: "llama.cpp (May 2024)".
"""
CONTAINER = re.compile(r"(1[6-9]|2\d)\.(0[1-9]|1[0-2])")
"""How NVIDIA numbers its containers: by year and month."""
REMEMBERED = 4_000
"""Releases of stacks whose years are kept."""
USUAL_YEAR = 2024.0
"""Year of software whose stack has no measured row that tells one."""


class Row(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One measured row as a file holds it, a list of these columns in order; `source` is a key of
    the file's sources."""

    id: str
    gpu: str
    count: int
    nodes: int
    link: str
    precision: str | None
    batch_per_gpu: int | None
    seq_len: int | None
    image_size: int | list[int] | None
    input_tokens: int | None
    output_tokens: int | None
    message_bytes: int | None
    framework: str | None
    variant: dict[str, Any] | None
    year: int | None
    source: str
    value: float


class Group(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows measured with one stack on one network."""

    stack: str
    model: str
    task: str
    metric: str
    rows: tuple[Row, ...]


class MeasuredFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of measured rows with its sources; `columns` names those of a row, for people who
    read the file."""

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
    """Return the rows of one file of the catalog; raise CatalogFault with the path, the row and
    what is wrong with it."""
    try:
        read = read_json(read_shipped(path), MeasuredFile)
    except JsonFault as fault:
        raise CatalogFault(f"{path}: {fault}") from fault
    if read.columns != Row.__struct_fields__:
        raise CatalogFault(
            f"{path}: columns: expected {', '.join(Row.__struct_fields__)}, found"
            f" {', '.join(read.columns)}."
        )
    for row in (row for group in read.groups for row in group.rows):
        if row.source not in read.sources:
            raise CatalogFault(
                f"{path}: {row.id}: source: {row.source!r} is not among the sources of the file."
            )
    return [
        _measured(group, row, read.sources[row.source])
        for group in read.groups
        for row in group.rows
    ]


def _measured(group: Group, row: Row, source: Source) -> Measured:
    workload = Workload(
        model=group.model,
        task=group.task,
        stack=group.stack,
        precision=row.precision,
        batch_per_gpu=row.batch_per_gpu,
        seq_len=row.seq_len,
        image_size=row.image_size,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        message_bytes=row.message_bytes,
        framework_text=row.framework,
        variant=row.variant or {},
    )
    return Measured(
        id=row.id,
        workload=workload,
        gpu=row.gpu,
        count=row.count,
        nodes=row.nodes,
        link=row.link,
        metric=group.metric,
        value=row.value,
        year=row.year,
        source=source.title,
    )


@cache
def shipped_measured() -> tuple[Measured, ...]:
    """Return all rows that came with the program, read once."""
    files = shipped_files(data_path("catalog") / "benchmarks", "measured-")
    return tuple(row for path in files for row in read_measured(path))


@cache
def release_years() -> dict[str, dict[str, float]]:
    """Return the year of each release of each stack, from the shipped rows; "" stands for the
    newest of a stack."""
    seen: dict[str, dict[str, list[int]]] = {}
    for row in shipped_measured():
        if row.year and row.workload.stack:
            seen.setdefault(row.workload.stack, {}).setdefault(
                release_of(row.workload.framework_text), []
            ).append(row.year)
    return {
        stack: {
            **{word: statistics.median(years) for word, years in releases.items()},
            "": max(map(max, releases.values())),
        }
        for stack, releases in seen.items()
    }


@lru_cache(REMEMBERED)
def year_of(stack: str, release: str) -> float:
    """Return the year of a release of a stack: as it says itself, as measured rows tell, else that
    in which the version of its framework came out, or the nearest version that is known ("TensorRT
    7 (tkDNN)" is one of the sevens), else the newest."""
    if written := WRITTEN_MONTH.search(release):
        return float(written.group(2)) + MONTHS.index(written.group(1)) / len(MONTHS)
    listed = released().get(stack)
    known = {**(listed.years if listed else {}), **release_years().get(stack, {})}
    if release in known:
        return known[release]
    if CONTAINER.fullmatch(release):
        return 2000 + int(release[:2]) + (int(release[3:]) - 1) / 12
    versions = {word: _version(word) for word in known if NUMBER.fullmatch(word)}
    number = (
        release
        if NUMBER.fullmatch(release)
        else _number_after(listed.framework, release)
        if listed
        else None
    )
    if versions and number:
        asked = _version(number)
        return known[min(versions, key=lambda word: abs(versions[word] - asked))]
    return known.get("", USUAL_YEAR)


def _number_after(framework: str, text: str) -> str | None:
    """The version that a text in lower case names after the name of a framework."""
    found = re.search(rf"{framework.casefold()}[ -]?v?(\d+(?:\.\d+)?)", text)
    return found.group(1) if found else None


def _version(number: str) -> float:
    """A version as a number that grows with it: 1.10 is above 1.9."""
    major, _, minor = number.partition(".")
    return int(major) + int(minor or 0) / 100


def release_of(text: str | None) -> str:
    """Return the version that a stack's description names ("PyTorch 1.13.0a0 (NGC)" -> "1.13"),
    else all of it in lower case."""
    found = NUMBER.search(text or "")
    return found.group() if found else (text or "").casefold()
