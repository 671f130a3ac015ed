"""BuildCores OpenDB (one JSON file per part under a folder per category) as additional parts of
lower trust.

Names, part numbers, sizes and powers are taken; lanes are not: its `lanes` is the size of a
connector and its `gen` often a default, zero stands for unknown, and plug counts are kept only
where they can be whole. Field names: schemas/*.schema.json of buildcores/buildcores-open-db, read
2026-11-21."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from rigplanner.catalog.foreign import Import, Progress, Reason, Record, Refusal, go_on, slug
from rigplanner.catalog.imports.foreign_files import ForeignFile, foreign_files
from rigplanner.catalog.imports.foreign_shapes import SHAPES, Shape
from rigplanner.catalog.schema.parts import AnyPart
from rigplanner.evidence import Source

SOURCE_KEY = "buildcores-opendb"
URL = "https://github.com/buildcores/buildcores-open-db"
PREFIX = "opendb"


def read_opendb(place: Path, day: str, progress: Progress = go_on) -> Import:
    """Return the parts in a folder or zip of OpenDB, read on `day` (ISO); every file that gives no
    part is among the refusals.

    Raises ForeignFault when the place cannot be read, Cancelled when `progress` says so."""
    return read_files(foreign_files(place, progress), day)


def read_files(files: Iterable[ForeignFile], day: str) -> Import:
    """Return the parts in files of OpenDB, read on `day` (ISO), as `read_opendb` does."""
    parts: dict[str, AnyPart] = {}
    refused: list[Refusal] = []
    seen = 0
    for file in files:
        seen += 1
        part, faults = _read(file)
        refused += faults
        if part is None:
            continue
        if part.id in parts:
            refused.append(Refusal(file.name, "opendb_id", "duplicate", part.id))
        else:
            parts[part.id] = part
    source = Source(
        title="BuildCores OpenDB, as imported; not verified", url=URL, read=day, trust="community"
    )
    return Import(
        seen=seen, parts=tuple(parts.values()), sources={SOURCE_KEY: source}, refused=tuple(refused)
    )


def _read(file: ForeignFile) -> tuple[AnyPart | None, list[Refusal]]:
    if file.refused is not None:
        return None, _lost(file, file.refused, file.found)
    path = PurePosixPath(file.name)
    if path.suffix in (".pkl", ".pickle") or file.content[:1] == b"\x80":
        return None, _lost(file, "pickle")
    shape = SHAPES.get(path.parent.name) if path.suffix == ".json" else None
    if shape is None:
        return None, _lost(
            file, "kind", path.parent.name if path.suffix == ".json" else path.suffix
        )
    reason, data = decoded_json(file.content)
    if reason is not None:
        return None, _lost(file, reason)
    if not isinstance(data, dict):
        return None, _lost(file, "not-object", type(data).__name__)
    record = Record(file.name, data)
    return _part(record, shape, path.stem), record.refused


def _lost(file: ForeignFile, reason: Reason, found: str = "") -> list[Refusal]:
    record = Record(file.name, {})
    record.refuse("", reason, found, lost=True)
    return record.refused


def decoded_json(content: bytes) -> tuple[Reason | None, Any]:
    """Return (None, value), or the reason why the bytes are not JSON in UTF-8. Numbers beyond a
    float come as infinity or NaN, for the reader of the field to refuse."""
    try:
        return None, json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "encoding", None
    except RecursionError:
        return "nested", None
    except json.JSONDecodeError:
        return "not-json", None
    except ValueError:
        return "number", None


def _part(record: Record, shape: Shape, stem: str) -> AnyPart | None:
    name = record.needs("metadata.name", record.text("metadata.name", 200))
    fields = shape.read(record) if name is not None else None
    if name is None or fields is None:
        return None
    vendor = record.text("metadata.manufacturer") or "unknown"
    year = record.count("metadata.releaseYear", 2100)
    aliases = (*record.texts("metadata.part_numbers"), *fields.pop("aliases", ()))
    own_id = slug(record.text("opendb_id") or stem)[:8]
    variant = slug(f"{slug(name)[:64]}-{own_id}") or "part"
    make: Callable[..., AnyPart] = shape.struct
    return make(
        id=f"{PREFIX}.{shape.kind}.{variant}",
        name=name,
        vendor=vendor,
        aliases=tuple(dict.fromkeys(aliases)),
        released=str(year) if year else None,
        sources={SOURCE_KEY: ("*",)},
        **fields,
    )
