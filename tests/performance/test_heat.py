"""Heat of cards side by side: who loses, and that space mends it."""

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.data import data_path
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.limits.heat import CLOSE, speed_in_heat
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload

SAMPLES = data_path("resources") / "samples"


def standing(cooling: str, apart: int, cards: int = 2) -> Machine:
    """A machine of cards of two slots, `apart` slots from one to the next."""
    machine = assemble(read_rig(SAMPLES / "dual-rtx-3090.rig"), shipped_catalog())
    node, use = machine.gpus[0], machine.slots[0]
    gpu = msgspec.structs.replace(node.gpu, cooling=cooling, slots=2.0)
    nodes = tuple(
        msgspec.structs.replace(node, index=i, gpu=gpu, place=f"slot{i}") for i in range(cards)
    )
    slots = tuple(
        msgspec.structs.replace(
            use,
            slot=msgspec.structs.replace(use.slot, id=f"slot{i}", position=1 + i * apart),
            riser=None,
        )
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


def without_bridge() -> Machine:
    rig = read_rig(SAMPLES / "dual-rtx-3090.rig")
    return assemble(
        replace(rig, items=tuple(item for item in rig.items if item.uid != "bridge")),
        shipped_catalog(),
    )


def speed(
    machine: Machine | None, model: str, batch: int, power_limit_w: float | None = None
) -> SpeedEstimate:
    work = Workload(model=model, task="train", batch_per_gpu=batch, seq_len=128)
    gpu = find_gpu("RTX 3090")
    return predict_speed(
        work, gpu, 2, 1, "pcie", shipped_zoo(), machine, power_limit_w=power_limit_w
    )


def test_heat_slows_the_work_of_gpus_and_not_their_exchange() -> None:
    machine = without_bridge()
    apart = replace(machine, gpus=tuple(replace(node, place=None) for node in machine.gpus))
    share, bounds = {}, {}
    for model, batch in (("bert-large-uncased", 2), ("resnet-50", 128)):
        hot, cool = speed(machine, model, batch), speed(apart, model, batch)
        share[model], bounds[model] = hot.value / cool.value, (hot.bound, cool.bound)
        waits = hot.exchange_share
        assert waits is not None
        assert hot.value / cool.value == pytest.approx(
            1 / ((1 - waits) / CLOSE["open"][0] + waits), rel=1e-6
        )
        assert hot.low / cool.low > CLOSE["open"][1]
    assert share["bert-large-uncased"] > 0.94 > 0.84 > share["resnet-50"] > CLOSE["open"][0]
    assert bounds == {"bert-large-uncased": ("link", "link"), "resnet-50": ("heat", "bandwidth")}


def test_a_power_limit_slows_the_work_of_gpus_and_not_their_exchange() -> None:
    for model, batch, bound in (("bert-large-uncased", 2, "link"), ("resnet-50", 128, "power")):
        free, capped = speed(None, model, batch), speed(None, model, batch, 180.0)
        assert (capped.bound, capped.value < free.value) == (bound, True)
    kept = [
        speed(None, "bert-large-uncased", batch, 180.0).value
        / speed(None, "bert-large-uncased", batch).value
        for batch in (2, 512)
    ]
    assert kept[0] > kept[1] + 0.1
