"""Read the catalog: every family file once, into frozen structs."""

import csv
import gzip
import os
import re
import zlib
from functools import cache
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct, msgpack
from msgspec.structs import force_setattr, replace

from rigplanner.catalog.binary import keep_struct, place, read_struct, signature
from rigplanner.catalog.layer import NO_LAYERS, Layers
from rigplanner.catalog.schema.parts import AnyPart, Doubt, Price
from rigplanner.data import PACKED, data_path
from rigplanner.decoding import JsonFault, beyond_sense, convert, read_json, read_tree
from rigplanner.evidence import Source, Trust
from rigplanner.garbage import collector_paused, spare_what_was_read
from rigplanner.whole_file import read_within

LARGEST_FILE_BYTES = 256 * 2**20
PRICE_TABLE = "prices.csv"
"""The prices of the shipped parts, a row each: they change faster than the parts do."""
ID = re.compile(r"[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){2,}")
"""The form of an id: vendor.family.variant."""


PART_AT = re.compile(r"\$\.parts\[(\d+)\]")


class CatalogFault(Exception):
    """A catalog file cannot be used; the text says which file, which field, what was expected."""


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One catalog file: parts that belong together, and the sources they share."""

    family: str
    sources: dict[str, Source]
    parts: tuple[AnyPart, ...]


class Catalog(Struct, frozen=True):
    """All parts by id and all sources by key. `renamed` maps ids of the past to today's;
    `community` holds what was imported from other people's databases, apart."""

    parts: dict[str, AnyPart]
    sources: dict[str, Source]
    renamed: dict[str, str] = {}
    version: str = ""
    community: Layers = NO_LAYERS

    def get(self, part_id: str) -> AnyPart | None:
        """Return the part with this id (also by a former id), own or imported, or None."""
        part_id = self.renamed.get(part_id, part_id)
        return self.parts.get(part_id) or self.community.get(part_id)

    def of_kind(self, kind: str) -> list[AnyPart]:
        """Return all own parts of one kind word in catalog order."""
        return [part for part in self.parts.values() if part.__struct_config__.tag == kind]


PART_FOLDERS = (
    "gpu", "cpu", "motherboard", "memory", "storage", "psu", "chassis", "cooler",
    "bridge", "riser", "nic", "system", "accessory",
)  # fmt: skip


def read_foreign_family(path: Path) -> Family:
    """Decode a family file of which nobody knows who wrote it: as `read_family`, and no figure may
    be beyond sense."""
    family = read_family(path)
    try:
        strange = beyond_sense(read_tree(read_within(path, LARGEST_FILE_BYTES)))
    except (OSError, JsonFault) as fault:
        raise CatalogFault(f"{path}: {fault}") from fault
    if strange:
        raise CatalogFault(f"{path}: {strange}.")
    return family


def read_family(path: Path) -> Family:
    """Decode one family file; raise CatalogFault with the path, the part and the field when it is
    not one."""
    try:
        content = read_within(path, LARGEST_FILE_BYTES)
        if path.suffix == PACKED:
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as fault:
        told = fault.strerror if isinstance(fault, OSError) else None
        raise CatalogFault(f"{path}: cannot be read ({told or fault}).") from fault
    try:
        with collector_paused():
            return read_json(content, Family)
    except JsonFault as fault:
        told = _trust_at(content, str(fault)) or f"{_part_at(content, str(fault))}{fault}"
        raise CatalogFault(f"{path}: {told}") from fault


def _part_at(content: bytes, fault: str) -> str:
    """Return the id of the part that a fault of decoding points at, "" when it points at none or
    the part has none."""
    found = PART_AT.search(fault)
    try:
        part = read_json(content, dict[str, Any])["parts"][int(found[1])] if found else None
    except (JsonFault, LookupError, TypeError):
        return ""
    return f"{part['id']}: " if isinstance(part, dict) and isinstance(part.get("id"), str) else ""


def _trust_at(content: bytes, fault: str) -> str:
    """Return which source has a trust that is none, and the words there are; "" for another fault:
    a decoder names neither the key nor the words."""
    if not fault.endswith(".trust`"):
        return ""
    words = get_args(Trust)
    try:
        sources = read_json(content, dict[str, Any])["sources"].items()
    except (JsonFault, LookupError, AttributeError):
        return ""
    for key, source in sources:
        trust = source.get("trust") if isinstance(source, dict) else None
        if trust not in words:
            return f"sources, {key}: trust is one of {', '.join(words)}, not {trust!r}."
    return ""


def family_files(folder: Path) -> list[Path]:
    """Return the family files of a catalog's folder, kind by kind."""
    return [
        folder / name / file
        for name in PART_FOLDERS
        for file in sorted(_names(folder / name))
        if file.endswith((".json", f".json{PACKED}"))
    ]


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def read_catalog(folder: Path) -> Catalog:
    """Read all families under `folder`."""
    parts: dict[str, AnyPart] = {}
    sources: dict[str, Source] = {}
    with collector_paused():
        for path in family_files(folder):
            family = read_family(path)
            sources.update(family.sources)
            for part in family.parts:
                if part.id in parts:
                    raise CatalogFault(f"{path}: the id {part.id} is used twice.")
                parts[part.id] = part
    for part_id, prices in read_price_table(folder / PRICE_TABLE).items():
        if part_id not in parts:
            raise CatalogFault(f"{folder / PRICE_TABLE}: no part has the id {part_id}.")
        parts[part_id] = replace(parts[part_id], prices=(*parts[part_id].prices, *prices))
    renamed_file, version_file = folder / "renamed.json", folder / "VERSION"
    renamed = read_json(renamed_file.read_bytes(), dict[str, str]) if renamed_file.exists() else {}
    version = version_file.read_text("utf-8").strip() if version_file.exists() else ""
    return Catalog(parts, sources, renamed, version)


class Grounds(Struct, frozen=True):
    """What the figures of a part rest on, and what is doubted of them: the same of many parts."""

    sources: dict[str, tuple[str, ...]]
    doubts: dict[str, Doubt]


class Stored(Struct, frozen=True):
    """The shipped catalog as its binary copy holds it: parts without their grounds, each ground
    once, and which of them is each part's."""

    parts: tuple[AnyPart, ...]
    grounds: tuple[Grounds, ...]
    of_part: tuple[int, ...]
    sources: dict[str, Source]
    renamed: dict[str, str]
    version: str


def _to_store(made: Catalog) -> Stored:
    grounds: dict[bytes, Grounds] = {}
    keys = []
    for part in made.parts.values():
        ground = Grounds(part.sources, part.doubts)
        keys.append(msgpack.encode(ground))
        grounds.setdefault(keys[-1], ground)
    place = {key: n for n, key in enumerate(grounds)}
    return Stored(
        tuple(replace(part, sources={}, doubts={}) for part in made.parts.values()),
        tuple(grounds.values()),
        tuple(place[key] for key in keys),
        made.sources,
        made.renamed,
        made.version,
    )


def _from_store(stored: Stored) -> Catalog:
    for part, n in zip(stored.parts, stored.of_part, strict=True):
        ground = stored.grounds[n]
        force_setattr(part, "sources", ground.sources)
        force_setattr(part, "doubts", ground.doubts)
    parts = {part.id: part for part in stored.parts}
    return Catalog(parts, stored.sources, stored.renamed, stored.version)


def read_price_table(path: Path) -> dict[str, list[Price]]:
    """Return the prices of a table by part, the newest last; a table that is not there is empty.
    Raises CatalogFault with the line."""
    if not path.exists():
        return {}
    found: dict[str, list[Price]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        for row in rows:
            try:
                known = {key: value for key, value in row.items() if value}
                part_id = known.pop("part")
                price = convert({**known, "amount": float(row["amount"])}, Price)
            except (KeyError, TypeError, ValueError, JsonFault) as fault:
                raise CatalogFault(f"{path}: line {rows.line_num}: {fault}.") from fault
            found.setdefault(part_id, []).append(price)
    for prices in found.values():
        prices.sort(key=lambda price: price.day)
    return found


@cache
def shipped_catalog() -> Catalog:
    """Return the catalog that came with the program, read once: from a binary copy of the last
    start where nothing has changed since, else from its files."""
    folder = data_path("catalog")
    files = [*family_files(folder), *(folder / n for n in ("renamed.json", "VERSION", PRICE_TABLE))]
    try:
        key = signature(files)
    except OSError:
        return read_catalog(folder)
    copy = place("shipped")
    with collector_paused():
        stored = read_struct(copy, key, Stored)
        if stored is not None:
            spare_what_was_read()
    if stored is None:
        stored = _to_store(read_catalog(folder))
        keep_struct(copy, key, stored)
    return _from_store(stored)
