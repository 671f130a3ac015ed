"""The whole catalog as open data: parts, figures, prices, sources and measured rows, with a
description that other programs read (Data Package, https://datapackage.org)."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Part, kind_of
from rigplanner.performance.measured import Measured

if TYPE_CHECKING:
    import pandas

LICENCE = "CC-BY-4.0"
LICENCE_URL = "https://creativecommons.org/licenses/by/4.0/legalcode"
NOT_FIGURES = frozenset(
    ("id", "name", "vendor", "aliases", "status", "released", "sources", "doubts", "unpublished",
     "prices", "notes")
)  # fmt: skip
Row = dict[str, Any]
Tables = dict[str, list[Row]]
Put = Callable[["pandas.DataFrame", Path], None]
"""Writes one table to one file."""
FORMATS = ("sqlite", "csv", "parquet", "json")


class MissingPackage(Exception):
    """A format needs a package that is not installed; the text names it."""


def tables(catalog: Catalog, measured: tuple[Measured, ...]) -> Tables:
    """Return the tables, each a list of rows with the same columns."""
    parts = catalog.parts.values()
    return {
        "parts": [_part(part) for part in parts],
        "figures": [row for part in parts for row in _figures(part, catalog)],
        "prices": [
            {"part": part.id, **{name: getattr(price, name) for name in price.__struct_fields__}}
            for part in parts
            for price in part.prices
        ],
        "sources": [
            {"key": key, **{name: getattr(source, name) for name in source.__struct_fields__}}
            for key, source in sorted(catalog.sources.items())
        ],
        "measured": [_measured(row) for row in measured],
    }


def _part(part: Part) -> Row:
    return {
        "id": part.id,
        "kind": kind_of(part),
        "name": part.name,
        "vendor": part.vendor,
        "status": part.status,
        "released": part.released,
        "aliases": _json(part.aliases),
        "notes": part.notes,
    }


def _figures(part: Part, catalog: Catalog) -> Iterator[Row]:
    """Yield one row a figure of a part: as JSON, as a number where it is one, and what it rests
    on."""
    rest = next((key for key, fields in part.sources.items() if "*" in fields), None)
    for field, value in _flat(part):
        keys = [
            key for key, fields in part.sources.items() if {field, field.split(".")[0]} & {*fields}
        ]
        keys = keys or ([rest] if rest else [])
        known = [catalog.sources[key] for key in keys if key in catalog.sources]
        doubt = part.doubts.get(field) or part.doubts.get(field.split(".")[0])
        number = isinstance(value, int | float) and not isinstance(value, bool)
        yield {
            "part": part.id,
            "field": field,
            "value": _json(value),
            "number": float(value) if number else None,
            "sources": " ".join(keys),
            "trust": known[0].trust if known else None,
            "recalled": all(source.recalled for source in known) if known else None,
            "doubt": doubt.state if doubt else None,
            "doubt_values": _json(doubt.values) if doubt and doubt.values else None,
        }


def _flat(part: Part) -> Iterator[tuple[str, Any]]:
    """Yield the figures of a part that are known, those of its inner structs by dotted names."""
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if field in NOT_FIGURES or value is None or value in ((), {}, ""):
            continue
        if isinstance(value, msgspec.Struct):
            for inner in value.__struct_fields__:
                held = getattr(value, inner)
                if held is not None and held not in ((), {}, ""):
                    yield f"{field}.{inner}", held
        else:
            yield field, value


def _measured(row: Measured) -> Row:
    known = {name: getattr(row, name) for name in row.__struct_fields__ if name != "workload"}
    return {**known, "workload": _json(row.workload)}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def description(made: Tables, version: str, form: str) -> Row:
    """Return the description of the data: name, version, licence, and each table's columns."""
    suffix = {"csv": ".csv", "parquet": ".parquet"}.get(form)
    return {
        "name": "rigplanner-catalog",
        "title": "The RigPlanner catalog",
        "version": version,
        "licenses": [{"name": LICENCE, "path": LICENCE_URL}],
        "resources": [
            {
                "name": name,
                **({"path": f"{name}{suffix}", "format": form} if suffix else {}),
                "schema": {"fields": [_column(column, rows) for column in rows[0]]},
            }
            for name, rows in made.items()
            if rows
        ],
    }


def _column(column: str, rows: list[Row]) -> Row:
    kinds = {type(row[column]) for row in rows} - {type(None)}
    word = (
        "boolean"
        if kinds == {bool}
        else "integer"
        if kinds == {int}
        else "number"
        if kinds and kinds <= {int, float}
        else "string"
    )
    return {"name": column, "type": word}


def write(catalog: Catalog, measured: tuple[Measured, ...], form: str, path: Path) -> list[Path]:
    """Write the catalog in a form of FORMATS: sqlite and json as one file, csv and parquet as a
    folder with datapackage.json. Returns what was written. Raises OSError, MissingPackage."""
    made = tables(catalog, measured)
    told = description(made, catalog.version, form)
    return WRITERS[form](made, told, path)


def _write_json(made: Tables, told: Row, path: Path) -> list[Path]:
    path.write_bytes(msgspec.json.encode({"datapackage": told, **made}))
    return [path]


def _write_sqlite(made: Tables, told: Row, path: Path) -> list[Path]:
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as file:
        for name, frame in _frames(made):
            frame.to_sql(name, file, index=False)
        file.execute("create table datapackage (description text)")
        file.execute("insert into datapackage values (?)", (_json(told),))
        file.execute("create index figures_of on figures (part)")
        file.commit()
    return [path]


def _write_csv(made: Tables, told: Row, path: Path) -> list[Path]:
    def put(frame: "pandas.DataFrame", to: Path) -> None:
        frame.to_csv(to, index=False, lineterminator="\n")

    return _write_folder(made, told, path, ".csv", put)


def _write_parquet(made: Tables, told: Row, path: Path) -> list[Path]:
    def put(frame: "pandas.DataFrame", to: Path) -> None:
        try:
            frame.to_parquet(to, index=False)
        except ImportError as fault:
            raise MissingPackage("pyarrow") from fault

    return _write_folder(made, told, path, ".parquet", put)


def _write_folder(
    made: Tables,
    told: Row,
    path: Path,
    suffix: str,
    put: Callable[["pandas.DataFrame", Path], None],
) -> list[Path]:
    path.mkdir(parents=True, exist_ok=True)
    written = []
    for name, frame in _frames(made):
        put(frame, path / f"{name}{suffix}")
        written.append(path / f"{name}{suffix}")
    package = path / "datapackage.json"
    package.write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
    return [*written, package]


def _frames(made: Tables) -> Iterator[tuple[str, "pandas.DataFrame"]]:
    import pandas as pd

    for name, rows in made.items():
        yield name, pd.DataFrame(rows)


WRITERS: dict[str, Callable[[Tables, Row, Path], list[Path]]] = {
    "sqlite": _write_sqlite,
    "csv": _write_csv,
    "parquet": _write_parquet,
    "json": _write_json,
}
