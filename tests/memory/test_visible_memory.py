"""What a driver shows of a card's memory, and what follows from it."""

from typing import Any

import msgspec
import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.levers import room_gib
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import (
    on_module,
    process_gib,
    shared_limit,
    unified,
    usable_gib,
    visible_gib,
)
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import memory_of

SERVED: dict[str, Any] = {
    "model": "qwen2.5-7b",
    "task": "serve",
    "precision": "bf16",
    "stack": "vllm",
}


def card(part: str) -> GPU:
    found = shipped_catalog().get(part)
    assert isinstance(found, GPU)
    return found


@pytest.mark.parametrize(
    ("part", "shown_mib"),
    [
        ("nvidia.datacenter.l4", 23034),
        ("nvidia.datacenter.l40s", 46068),
        ("nvidia.tesla.t4", 15360),
        ("nvidia.tesla.p40", 22919),
        ("nvidia.quadro.rtx-8000-passive", 45556),
        ("nvidia.rtx.a6000", 49140),
        ("nvidia.geforce.rtx-4090", 24564),
        ("nvidia.datacenter.a100-sxm4-80gb", 81920),
    ],
)
def test_check_bits_take_a_sixteenth_of_servers_cards(part: str, shown_mib: int) -> None:
    """nvidia-smi's total of each card as it is shipped."""
    assert visible_gib(card(part)) == pytest.approx(shown_mib / 1024, rel=0.013)


def test_unknown_memory_stays_unknown() -> None:
    bare = msgspec.structs.replace(card("nvidia.datacenter.l4"), memory_gib=None)
    assert visible_gib(bare) is process_gib(bare) is usable_gib(bare) is None


def test_room_and_pools_are_of_what_is_shown() -> None:
    l40s = card("nvidia.datacenter.l40s")
    assert room_gib(l40s) == usable_gib(l40s) == pytest.approx(44.7, abs=0.01)
    told = estimate_memory(Workload(**SERVED), l40s, 1, shipped_zoo())
    assert told.reserved_gib == pytest.approx(0.9 * 44.4, rel=0.01)


def test_cards_of_equal_memory_do_not_share_an_answer_that_differs() -> None:
    """An H100 takes larger steps than an A100 in vLLM, a card without ECC a larger pool than one
    with it."""
    equal = ("a100-sxm4-80gb", "h100-sxm5-80gb")
    for pair in (
        tuple(f"nvidia.datacenter.{part}" for part in equal),
        ("nvidia.datacenter.l40s", "nvidia.rtx.a6000"),
    ):
        first, second = (memory_of(Workload(**SERVED), card(part), 1) for part in pair)
        assert isinstance(first, MemoryEstimate) and isinstance(second, MemoryEstimate)
        assert first.parts != second.parts or first.reserved_gib != second.reserved_gib


def test_caffe2_holds_workspaces_for_every_operator() -> None:
    """Mask R-CNN on 600 x 1000 pixels: 8,836 MiB a card (Detectron, issue 31), not among the
    figures of its model zoo."""
    work: dict[str, Any] = {
        "model": "mask-rcnn-r50-fpn",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "sgd_momentum",
        "batch_per_gpu": 2,
        "image_size": [600, 1000],
    }
    old, new = (
        estimate_memory(
            Workload(stack=stack, **work), card("nvidia.geforce.gtx-1080-ti"), 4, shipped_zoo()
        )
        for stack in ("caffe2", "detectron2")
    )
    assert (
        old.device_gib == pytest.approx(8836 / 1024, rel=0.2)
        and new.device_gib < old.device_gib - 3
    )


def test_a_gpu_shares_memory_where_it_has_none_of_its_own() -> None:
    for part in shipped_catalog().of_kind("gpu"):
        own = (part.memory_type or "").startswith(("GDDR", "HBM"))
        assert not (own and unified(part)), part.id
        assert (shared_limit(part) is not None) == (unified(part) and part.memory_gib is not None)
    for shared in ("apple.", "nvidia.jetson.", "nvidia.gb10."):
        found = [part for part in shipped_catalog().of_kind("gpu") if part.id.startswith(shared)]
        assert found and all(unified(part) for part in found)
    laptop = card("nvidia.geforce.rtx-4090-laptop")
    assert usable_gib(laptop) == pytest.approx(15.7), "all but what the driver keeps"


def test_a_laptop_has_no_system_image_of_its_own() -> None:
    assert not on_module(card("nvidia.geforce.rtx-4090-laptop"))
    assert on_module(card("nvidia.jetson.agx-orin-64gb"))
