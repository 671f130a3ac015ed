"""Heat of cards side by side: who loses, and that space mends it."""

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.data import data_path
from rigplanner.machine.assemble import assemble
from rigplanner.machine.machine import Machine
from rigplanner.performance.heat import CLOSE, speed_in_heat
from rigplanner.rig.files import read_rig

SAMPLES = data_path("resources") / "samples"


def standing(cooling: str, apart: int, cards: int = 2) -> Machine:
    """A machine of cards of two slots, `apart` slots from one to the next."""
    machine = assemble(read_rig(SAMPLES / "dual-rtx-3090.rig"), shipped_catalog())
    node, use = machine.gpus[0], machine.slots[0]
    gpu = msgspec.structs.replace(node.gpu, cooling=cooling, slots=2.0)
    nodes = tuple(msgspec.structs.replace(node, index=i, gpu=gpu, place=f"slot{i}") for i in range(cards))
    slots = tuple(
        msgspec.structs.replace(use, slot=msgspec.structs.replace(use.slot, id=f"slot{i}", position=1 + i * apart), riser=None)
        for i in range(cards)
    )
    return msgspec.structs.replace(machine, gpus=nodes, slots=slots)


@pytest.mark.parametrize("cooling", ["open", "blower"])
def test_cards_side_by_side_lose_and_space_mends_it(cooling: str) -> None:
    close = speed_in_heat(standing(cooling, 2, 4))
    assert close and (close.value, close.low, close.high) == CLOSE[cooling]
    assert speed_in_heat(standing(cooling, 3, 4)) is None


def test_open_cards_lose_more_than_blowers() -> None:
    opened, blown = (speed_in_heat(standing(cooling, 2)) for cooling in ("open", "blower"))
    assert opened and blown and opened.value < blown.value and opened.low < blown.low


@pytest.mark.parametrize("cooling", ["liquid", "passive"])
def test_cards_without_own_fans_are_not_judged(cooling: str) -> None:
    assert speed_in_heat(standing(cooling, 2)) is None


def test_one_card_has_no_neighbour() -> None:
    assert speed_in_heat(standing("open", 2, 1)) is None
