"""Random rigs, whose facts are blanked one by one: no verdict may get better for that."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.decoding import JsonFault, convert
from rigplanner.rig.document import Rig
from tools.campaign.figures import Failure, Figures, keep

BETTER_THAN = {
    "error": ("warning", "ok"),
    "unknown": ("warning", "ok"),
    "warning": ("ok",),
    "ok": (),
}
"""Verdicts that may not come where a fact is taken away: an error whose own fact is gone is a
question."""
NO_FACT = {
    *("id", "name", "vendor", "kind", "type", "aliases", "sources", "doubts", "prices", "notes"),
    *("unpublished", "released", "status", "role", "switch", "switches", "nvlink", "fabric"),
    *("lane_class", "graphics", "rack_units", "root", "links", "units", "mig_slices"),
}
"""Fields in which None is no gap but an answer (no NVLink, no switch, no rack units), and names."""
NESTS = ("layout", "enclosure", "supply", "memory")
LISTS = ("slots", "drives")


def blanked(count: int, seed: int, kept: Path | None) -> Figures:
    """Judge `count` rigs with and without one fact of one part."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import encode_rig, read_rig
    from rigplanner.rules.assess import assess

    found, dice = Figures("blanked facts"), random.Random(seed)
    catalog = shipped_catalog()
    rigs = [read_rig(path) for path in sorted((data_path("resources") / "samples").glob("*.rig"))]
    while found.deeds < count:
        rig = edited(dice.choice(rigs), catalog, dice)
        less = with_a_gap(rig, catalog, dice)
        if less is None:
            continue
        found.deeds += 1
        without, what = less
        before = assess(rig, catalog).report.verdict()
        after = assess(without, catalog_of(catalog, without)).report.verdict()
        found.notes[before] = found.notes.get(before, 0) + 1
        if after in BETTER_THAN[before]:
            place = keep(kept, f"blanked-{seed}-{found.deeds}.rig", encode_rig(without))
            came = f"{before} became {after} without {what}"
            found.failures.append(Failure(f"rig {found.deeds} of seed {seed}", came, place))
    return found


def catalog_of(catalog: Catalog, rig: Rig) -> Catalog:
    """Return the catalog with the parts of the rig's snapshot in place of its own."""
    return Catalog(
        {**catalog.parts, **rig.snapshot}, catalog.sources, catalog.renamed, catalog.version
    )


def edited(rig: Rig, catalog: Catalog, dice: random.Random) -> Rig:
    """Put other parts of the same kinds in, or more of them: many do not fit."""
    items = list(rig.items)
    for _ in range(dice.choice((0, 1, 2, 3))):
        at = dice.randrange(len(items))
        part = catalog.parts.get(items[at].part)
        if part is None:
            continue
        same = [each.id for each in catalog.of_kind(kind_of(part))]
        quantity = min(9, items[at].quantity * dice.choice((1, 1, 2, 3)))
        items[at] = replace(items[at], part=dice.choice(same), quantity=quantity, places=())
    return replace(rig, items=tuple(items))


def with_a_gap(rig: Rig, catalog: Catalog, dice: random.Random) -> tuple[Rig, str] | None:
    """Return the rig with a snapshot in which one fact of one part is not known, and its name; None
    when that part has none to lose."""
    from rigplanner.rig.files import with_snapshot

    whole = with_snapshot(rig, catalog)
    part_id = dice.choice(sorted(whole.snapshot))
    tree: dict[str, Any] = msgspec.to_builtins(whole.snapshot[part_id])
    facts = list(_facts(tree, ""))
    if not facts:
        return None
    owner, field, name = dice.choice(facts)
    owner[field] = None
    try:
        part = convert(tree, AnyPart)
    except JsonFault:
        return None
    return replace(whole, snapshot={**whole.snapshot, part_id: part}), f"{part_id}:{name}"


def _facts(tree: dict[str, Any], path: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield what holds each fact of a part, its field, and its name."""
    for field, value in tree.items():
        if field in NESTS and isinstance(value, dict):
            yield from _facts(value, f"{path}{field}.")
        elif field in LISTS and isinstance(value, list):
            for entry in value:
                yield from _facts(entry, f"{path}{entry.get('id', field)}.")
        elif field not in NO_FACT and value not in ("", None, [], {}):
            yield tree, field, f"{path}{field}"
