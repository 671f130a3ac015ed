"""Rigs with faults, whose facts are blanked one by one: no verdict may get better for that."""

import random
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tools.campaign.figures import Failure, Figures, keep

BETTER_THAN = {"error": ("warning", "ok"), "unknown": (), "warning": (), "ok": ()}
"""Verdicts that may not come where a fact is taken away."""
KEPT_FIELDS = {"id", "name", "vendor", "kind", "type", "aliases", "sources", "prices", "released"}


def blanked(count: int, seed: int, kept: Path | None) -> Figures:
    """Judge `count` faulty rigs with and without one fact of one part."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import encode_rig, read_rig
    from rigplanner.rules.assess import assess

    found, dice = Figures("blanked facts"), random.Random(seed)
    catalog = shipped_catalog()
    rigs = [read_rig(path) for path in sorted((data_path("resources") / "samples").glob("*.rig"))]
    stayed = unknown = 0
    while found.deeds < count:
        rig = _faulty(dice.choice(rigs), catalog, dice)
        before = assess(rig, catalog).report
        less = _less(rig, catalog, dice)
        if less is None:
            continue
        found.deeds += 1
        after = assess(less, msgspec_catalog(catalog, less)).report
        errors = [each for each in before.findings if each.severity == "error"]
        there = {(each.code, each.severity) for each in after.findings}
        stayed += sum((each.code, "error") in there for each in errors)
        unknown += sum(
            (each.code, "error") not in there and (each.code, "unknown") in there for each in errors
        )
        found.notes["errors"] = found.notes.get("errors", 0) + len(errors)
        if after.verdict() in BETTER_THAN[before.verdict()]:
            place = keep(kept, f"blanked-{seed}-{found.deeds}.rig", encode_rig(less))
            came = f"{before.verdict()} became {after.verdict()}"
            found.failures.append(Failure(f"rig {found.deeds} of seed {seed}", came, place))
    found.notes |= {"stayed": stayed, "became_unknown": unknown}
    return found


def msgspec_catalog(catalog, rig):  # type: ignore[no-untyped-def]
    """Return the catalog with the parts of the rig's snapshot in place of its own."""
    from rigplanner.catalog.load import Catalog

    return Catalog(
        {**catalog.parts, **rig.snapshot}, catalog.sources, catalog.renamed, catalog.version
    )


def _faulty(rig, catalog, dice):  # type: ignore[no-untyped-def]
    """Put a part in that is likely not to fit: another of the same kind, or more of it."""
    from rigplanner.catalog.schema.parts import kind_of

    items = list(rig.items)
    for _ in range(dice.choice((1, 2, 3))):
        at = dice.randrange(len(items))
        part = catalog.parts.get(items[at].part)
        if part is None:
            continue
        same = [each.id for each in catalog.of_kind(kind_of(part))]
        quantity = min(9, items[at].quantity * dice.choice((1, 1, 2, 3)))
        items[at] = replace(items[at], part=dice.choice(same), quantity=quantity, places=())
    return replace(rig, items=tuple(items))


def _less(rig, catalog, dice):  # type: ignore[no-untyped-def]
    """Return the rig with a snapshot in which one fact of one part is not known; None when that
    part has none to lose."""
    from rigplanner.catalog.schema.parts import AnyPart
    from rigplanner.decoding import JsonFault, convert
    from rigplanner.rig.files import with_snapshot

    whole = with_snapshot(rig, catalog)
    part_id = dice.choice(sorted(whole.snapshot))
    tree: dict[str, Any] = msgspec.to_builtins(whole.snapshot[part_id])
    facts = [
        name
        for name, value in tree.items()
        if name not in KEPT_FIELDS and isinstance(value, int | float | str) and value != ""
    ]
    if not facts:
        return None
    try:
        part = convert({**tree, dice.choice(facts): None}, AnyPart)
    except JsonFault:
        return None
    return replace(whole, snapshot={**whole.snapshot, part_id: part})
