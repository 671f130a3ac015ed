"""Rigs named on the command line, read and assessed."""

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.find.kits import of_another_rate
from rigplanner.catalog.imports.user_catalog import full_catalog
from rigplanner.catalog.load import Catalog, CatalogFault
from rigplanner.catalog.schema.parts import GPU, MemoryKit
from rigplanner.cli.faults import InputFault
from rigplanner.cli.terminal import one_line
from rigplanner.performance.anchors.own import left_aside
from rigplanner.rig.document import Rig
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.from_text.from_words import Wish
from rigplanner.rig.from_text.parts_list import by_figures
from rigplanner.rules.assess import Assessment, assess


def open_rig(path: Path) -> Rig:
    """Return the rig in a file; raise InputFault with the reason."""
    try:
        return read_rig(path)
    except RigFault as fault:
        raise InputFault(str(fault)) from fault


def open_catalog() -> Catalog:
    """Return the catalog with the user's additions; say on stderr what was left aside. Raises
    InputFault when ours is broken."""
    try:
        full = full_catalog()
    except (CatalogFault, FileNotFoundError) as fault:
        raise InputFault(str(fault)) from fault
    say_some(full.faults)
    return full.catalog


MOST_SAID = 20


def say_some(faults: Sequence[str]) -> None:
    """Say faults on stderr, each on a line; of many only the first and their number."""
    for fault in faults[:MOST_SAID]:
        print(one_line(fault), file=sys.stderr)
    if len(faults) > MOST_SAID:
        print(f"... and {len(faults) - MOST_SAID} more", file=sys.stderr)


def say_left_aside() -> None:
    """Say on stderr which kept measurements cannot be used."""
    say_some(left_aside())


def open_assessment(path: Path) -> tuple[Assessment, Catalog]:
    """Return what is known today of the rig in a file, and the catalog it was judged with."""
    rig, catalog = open_rig(path), open_catalog()
    say_left_aside()
    return assess(rig, catalog, date.today().isoformat()), catalog


def no_part_text(words: str, index: PartIndex) -> str:
    """Say that no part is called so, and which are nearest."""
    from rigplanner.rig.from_text.from_words import near_parts

    near = ", ".join(part.name for part in near_parts(words, index))
    return f"no part in the catalog matches {words!r}" + (
        f", the nearest are {near}" if near else ""
    )


def stands_text(wish: Wish) -> str:
    """Return that a part stands for what a line of a list says, "" where it is that very one."""
    if not by_figures(wish):
        return ""
    if wish.guessed:
        return "   (a guess: the line may name another model)"
    kit = wish.parts[0]
    if isinstance(kit, GPU) and kit.vendor == kit.chip_maker:
        return f"   (no figures for this edition: taken as {kit.name})"
    other = isinstance(kit, MemoryKit) and of_another_rate(wish.text, kit)
    return f"   (stands for it: the same {'size, another rate' if other else 'figures'})"
