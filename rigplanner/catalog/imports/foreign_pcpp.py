"""The files of pc-part-dataset (docyx/pc-part-dataset: data/json, data/jsonl, data/csv) as
additional parts of lower trust.

One file per category, named after it. Fields and units: its API.md, read 2026-11-21; prices are in
USD and as old as the file. CPUs come without socket and memory without kind of module: both stay
unknown."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rigplanner.catalog.foreign import (
    Cancelled,
    Import,
    Progress,
    Record,
    Refusal,
    csv_rows,
    go_on,
    slug,
)
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.foreign_opendb import decoded_json
from rigplanner.catalog.imports.foreign_pcpp_shapes import SHAPES, Shape
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.evidence import Source

SOURCE_KEY = "pc-part-dataset"
URL = "https://github.com/docyx/pc-part-dataset"
PREFIX = "pcpp"
PRICE_SOURCE = "PCPartPicker by way of pc-part-dataset"
LARGEST_FILE_BYTES = 64 * 2**20
MOST_ROWS = 100_000
PROGRESS_EVERY = 500
SUFFIXES = (".json", ".jsonl", ".csv")
MAKERS_OF_SEVERAL_WORDS = (
    "Western Digital",
    "be quiet!",
    "Cooler Master",
    "Fractal Design",
    "Lian Li",
    "Silicon Power",
    "Super Flower",
    "SK Hynix",
    "Thermal Grizzly",
    "Mushkin Enhanced",
)

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


def read_pc_part_dataset(place: Path, day: str, progress: Progress = go_on) -> Import:
    """Return the parts in one file, or in all files of a folder, of the data set; `day` (ISO) dates
    its prices.

    Raises ForeignFault when the place cannot be read, Cancelled when `progress` says so."""
    if not place.exists():
        raise ForeignFault(f"{place}: there is no such file or folder.")
    try:
        files = sorted(place.iterdir()) if place.is_dir() else [place]
    except OSError as fault:
        raise ForeignFault(f"{place}: cannot be read ({fault.strerror or fault}).") from fault
    parts: dict[str, AnyPart] = {}
    refused: list[Refusal] = []
    seen = 0
    for done, file in enumerate(files):
        if file.is_dir():
            continue
        for record in _records(file, refused):
            seen += 1
            if seen % PROGRESS_EVERY == 0 and not progress(done, len(files)):
                raise Cancelled
            part = _part(record, SHAPES[file.stem], day)
            refused += record.refused
            if part is not None and part.id in parts:
                refused.append(Refusal(record.file, "name", "duplicate", part.name))
            elif part is not None:
                parts[part.id] = part
    progress(len(files), len(files))
    source = Source(
        title="pc-part-dataset (PCPartPicker), as imported; not verified",
        url=URL,
        read=day,
        trust="community",
    )
    return Import(
        seen=seen, parts=tuple(parts.values()), sources={SOURCE_KEY: source}, refused=tuple(refused)
    )


def _records(file: Path, refused: list[Refusal]) -> Iterator[Record]:
    """Yield the rows of a file; what is no such file or row is refused."""
    if file.is_symlink() or not file.is_file():
        refused.append(Refusal(file.name, "", "symlink" if file.is_symlink() else "special-file"))
        return
    if file.stem not in SHAPES or file.suffix not in SUFFIXES:
        refused.append(
            Refusal(
                file.name,
                "",
                "pickle" if file.suffix in (".pkl", ".pickle") else "kind",
                file.stem[:60],
            )
        )
        return
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_FILE_BYTES + 1)
    except OSError as fault:
        refused.append(Refusal(file.name, "", "unreadable", fault.strerror or ""))
        return
    if len(content) > LARGEST_FILE_BYTES or content[:1] == b"\x80":
        refused.append(Refusal(file.name, "", "pickle" if content[:1] == b"\x80" else "too-large"))
        return
    rows = {".json": _json_rows, ".jsonl": _jsonl_rows, ".csv": _csv_rows}[file.suffix](
        file.name, content, refused
    )
    for number, row in enumerate(rows, 1):
        if number > MOST_ROWS:
            refused.append(Refusal(file.name, "", "too-many", f"more than {MOST_ROWS} rows"))
            return
        if isinstance(row, dict):
            yield Record(f"{file.name} row {number}", row)
        elif row is not None:
            refused.append(
                Refusal(f"{file.name} row {number}", "", "not-object", type(row).__name__)
            )


def _json_rows(name: str, content: bytes, refused: list[Refusal]) -> Iterator[Any]:
    reason, rows = decoded_json(content)
    if reason is None and not isinstance(rows, list):
        reason = "not-object"
    if reason is not None:
        refused.append(Refusal(name, "", reason))
        return
    yield from rows


def _jsonl_rows(name: str, content: bytes, refused: list[Refusal]) -> Iterator[Any]:
    for number, line in enumerate(content.splitlines(), 1):
        reason, row = decoded_json(line)
        if reason is not None:
            refused.append(Refusal(f"{name} row {number}", "", reason))
        yield row


def _csv_rows(name: str, content: bytes, refused: list[Refusal]) -> Iterator[Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        refused.append(Refusal(name, "", "encoding"))
        return
    for row in csv_rows(csv.DictReader(io.StringIO(text, newline="")), name, refused):
        yield {
            key: _value(cell)
            for key, cell in row.items()
            if key is not None and isinstance(cell, str)
        }


def _value(cell: str) -> Any:
    """Return what a CSV cell stands for: nothing, a number, a pair of numbers, a yes or no, or its
    text."""
    if cell == "":
        return None
    if cell.casefold() in ("true", "false"):
        return cell.casefold() == "true"
    numbers = cell.split(",")
    if len(numbers) <= 2 and all(_NUMBER.fullmatch(number) for number in numbers):
        values = [float(number) for number in numbers]
        return values if len(values) == 2 else values[0]
    return cell


def _part(record: Record, shape: Shape, day: str) -> AnyPart | None:
    name = record.needs("name", record.text("name", 200))
    fields = shape.read(record) if name is not None else None
    if name is None or fields is None:
        return None
    price = record.number("price", 1e7)
    prices = (
        (Price(amount=price, currency="USD", day=day, source=PRICE_SOURCE, region="US"),)
        if price
        else ()
    )
    said = {key: value for key, value in record.data.items() if not key.startswith("price")}
    mark = hashlib.sha256(
        json.dumps(said, sort_keys=True, default=str).encode("utf-8", "replace")
    ).hexdigest()[:8]
    make: Callable[..., AnyPart] = shape.struct
    return make(
        id=f"{PREFIX}.{shape.kind}.{slug(f'{slug(name)[:64]}-{mark}')}",
        name=name,
        vendor=next(
            (maker for maker in MAKERS_OF_SEVERAL_WORDS if name.startswith(maker)),
            name.split(" ")[0],
        ),
        prices=prices,
        sources={SOURCE_KEY: ("*",)},
        **fields,
    )
