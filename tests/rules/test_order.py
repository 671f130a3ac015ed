"""The order of the items says nothing: the same parts get the same places, links and findings."""

import random
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.data import data_path
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))
MIXED = 60
"""Of 1,000 random rigs and 400 mixed ones tried by hand each was the same in any order."""


def told(rig: Rig) -> tuple[Counter[object], Counter[object], Counter[object]]:
    """Return slots, ports and findings by part, not by the names of pieces."""
    done = assess(rig, shipped_catalog())
    part = {piece.name: piece.part.id for piece in done.machine.pieces}
    slots: Counter[object] = Counter(
        (use.slot.id, part.get(use.piece), part.get(use.riser or ""), use.width, use.gen)
        for use in done.machine.slots_in_use
        if use.piece
    )
    ports: Counter[object] = Counter(
        (use.port.id, tuple(sorted(part.get(name, name) for name in use.pieces)))
        for use in done.machine.drives_in_use
    )
    findings: Counter[object] = Counter(
        (f.code, f.severity, tuple(sorted(part.get(s, s) for s in f.subjects if "." in s)))
        for f in done.report.findings
    )
    return slots, ports, findings


def shuffled(rig: Rig, dice: random.Random) -> Rig:
    items = list(rig.items)
    dice.shuffle(items)
    return replace(rig, items=tuple(items))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_the_same_in_any_order(path: Path) -> None:
    rig = read_rig(path)
    rig = replace(rig, items=tuple(replace(item, places=()) for item in rig.items))
    assert told(shuffled(rig, random.Random(path.stem))) == told(rig)


def mixed(dice: random.Random) -> Rig:
    """Different cards, risers, docks and adapters on one board."""
    catalog = shipped_catalog()
    cards = [
        part.id
        for part in catalog.of_kind("gpu")
        if getattr(part, "form_factor", "") == "pcie" and part.status == "current"
    ]
    risers = [part.id for part in catalog.of_kind("riser")]
    board = dice.choice(catalog.of_kind("motherboard"))
    sockets = getattr(board, "layout").sockets  # noqa: B009
    fitting = [cpu.id for cpu in catalog.of_kind("cpu") if getattr(cpu, "socket", "") in sockets]
    picked = [
        board.id,
        *dice.choices(fitting, k=1 if fitting else 0),
        *dice.choices(cards, k=dice.choice((1, 2, 3))),
        *dice.choices(risers, k=dice.choice((1, 2, 3))),
        *dice.choices([part.id for part in catalog.of_kind("storage")], k=2),
    ]
    return Rig(items=tuple(Item(uid=f"u{n}", part=part) for n, part in enumerate(picked)))


def test_mixed_cards_risers_and_docks_are_the_same_in_any_order() -> None:
    differing = []
    for number in range(MIXED):
        dice = random.Random(f"mixed {number}")
        rig = mixed(dice)
        if told(rig) != told(shuffled(rig, dice)):
            differing.append([item.part for item in rig.items])
    assert differing == []


def test_a_dock_hangs_on_its_adapter_in_any_order() -> None:
    parts = (
        "amd.ryzen.9-9950x",
        "asus.proart.x670e-creator-wifi",
        "nvidia.geforce.rtx-4090",
        "minisforum.deg.deg1",
        "generic.adapter.m-2-to-oculink-adapter",
    )
    items = [Item(uid=part, part=part) for part in parts]
    places = set()
    for turn in range(len(items)):
        rig = Rig(items=(*items[turn:], *items[:turn]))
        done = assess(rig, shipped_catalog())
        card = next(use for use in done.machine.slots_in_use if use.piece and "4090" in use.piece)
        places.add((card.slot.id, card.width))
        assert "PCI004" in {finding.code for finding in done.report.findings}
    assert len(places) == 1
