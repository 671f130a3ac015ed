"""The order of the items says nothing: the same parts get the same places, links and findings."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.data import data_path
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from tools.campaign.orders import mixed, shuffled, told

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))
MIXED = 40
"""Of 1,000 that `make campaign`, part "orders", tries."""


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_the_same_in_any_order(path: Path) -> None:
    rig = read_rig(path)
    rig = replace(rig, items=tuple(replace(item, places=()) for item in rig.items))
    assert told(shuffled(rig, random.Random(path.stem))) == told(rig)


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


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        ("nvidia.geforce.rtx-4090", "nvidia.geforce.rtx-3060"),
        ("nvidia.geforce.rtx-5090", "nvidia.geforce.rtx-3080-10gb"),
    ],
)
def test_the_strongest_card_takes_the_fastest_slot(strong: str, weak: str, turned: bool) -> None:
    """Also where a thick card under a thin one would leave more air, and both links add up to the
    same either way."""
    cards = [Item(uid="strong", part=strong), Item(uid="weak", part=weak)]
    board = Item(uid="board", part="msi.mag.mag-b550-tomahawk")
    cpu = Item(uid="cpu", part="amd.ryzen.9-5900x")
    risers = Item(uid="riser", part="linkup.ultra.ultra-pcie-4-0-riser-30-cm", quantity=2)
    rig = Rig(items=(board, cpu, *(cards[::-1] if turned else cards), risers))
    done = assess(rig, shipped_catalog())
    widths = {use.piece: use.width for use in done.machine.slots_in_use}
    assert (widths["strong.0"], widths["weak.0"]) == (16, 4)
