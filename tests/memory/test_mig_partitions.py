"""Partitions of a GPU: placements as the driver gives them, packings against brute force, honest
numbers."""

from itertools import product
from typing import Any

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.capacity import packing
from rigplanner.memory.capacity.packing import fits_slices, layout, pack
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.mig import (
    _file,
    geometry,
    geometry_of,
    part_of,
    partition_of,
    profile_named,
    slices,
)
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload

BERT = {"model": "bert-base-uncased", "task": "train_full", "precision": "amp_bf16", "seq_len": 128}
CHAT = {
    "model": "llama-3.1-8b",
    "task": "inference",
    "precision": "bf16",
    "input_tokens": 2048,
    "output_tokens": 256,
}


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def card(part: str) -> GPU:
    found = shipped_catalog().get(part)
    assert isinstance(found, GPU)
    return found


A100 = "nvidia.datacenter.a100-sxm4-40gb"
CARDS = [gpu for entry in _file().geometries for gpu in entry.gpus]


@pytest.mark.parametrize("part", CARDS)
def test_profiles_of_every_card_lie_on_it(part: str) -> None:
    gpu = card(part)
    made = geometry(gpu)
    assert made.source in _file().sources and (
        made.listing is None or made.listing in _file().sources
    )
    for profile, offered in zip(made.profiles, slices(gpu), strict=True):
        assert all(
            start >= 0 and start + profile.memory <= made.memory_slices for start in profile.starts
        )
        assert 0 < offered.memory_gib <= (gpu.memory_gib or 0) * profile.memory / made.memory_slices
        assert 0 < offered.compute_share <= 1
        assert profile.name.startswith(f"{profile.compute}g.")


def test_every_card_of_the_catalog_that_partitions_has_them_or_says_so() -> None:
    known = set(CARDS)
    unknown = {
        gpu.id
        for gpu in shipped_catalog().of_kind("gpu")
        if isinstance(gpu, GPU) and gpu.mig_slices and gpu.id not in known
    }
    assert unknown == {
        "nvidia.datacenter.gb300",
        "nvidia.datacenter.gb300-station-252gb",
        "nvidia.datacenter.gh200-144gb",
    }


@pytest.mark.parametrize(
    ("names", "goes"),
    [
        (["1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"], True),
        (["2g.10gb", *["1g.5gb"] * 5], True),
        (["3g.20gb", "3g.20gb"], True),
        (["4g.20gb", "3g.20gb"], True),
        (["1g.5gb"] * 7, True),
        (["1g.10gb"] * 4, True),
        (["1g.5gb"] * 8, False),
        (["4g.20gb", "4g.20gb"], False),
        (["3g.20gb", "3g.20gb", "1g.5gb"], False),
        (["1g.5gb+me", "1g.5gb+me"], False),
        (["7g.40gb", "1g.5gb"], False),
    ],
)
def test_layouts_of_an_a100_are_those_of_the_guide(names: list[str], goes: bool) -> None:
    assert (layout(card(A100), names) is not None) is goes


def test_search_places_as_many_as_brute_force() -> None:
    made = geometry(card(A100))
    plain = [profile for profile in made.profiles if not profile.most]
    by_name = {profile.name: profile for profile in plain}
    for names in product(["1g.5gb", "2g.10gb", "3g.20gb", "1g.10gb"], repeat=4):
        wanted = [by_name[name] for name in names]
        best = 0
        for chosen in product(*[(None, *profile.starts) for profile in wanted]):
            masks = [
                ((1 << profile.memory) - 1) << start
                for profile, start in zip(wanted, chosen, strict=True)
                if start is not None
            ]
            if sum(masks) == _union(masks):
                best = max(best, len(masks))
        assert len(packing._search(tuple((profile,) for profile in wanted))) == best


def _union(masks: list[int]) -> int:
    joined = 0
    for mask in masks:
        joined |= mask
    return joined


def test_a_packing_overlaps_nowhere_and_counts_what_is_lost(zoo: Zoo) -> None:
    gpu = card(A100)
    chat = Workload(**{**CHAT, "model": "qwen3-8b"})
    jobs: list[tuple[str, Workload]] = [
        ("chat", chat),
        *[(f"bert {n}", Workload(**BERT)) for n in range(4)],
    ]
    found = pack(jobs, gpu, zoo)
    taken = [
        at for place in found.placements for at in range(place.start, place.start + place.size)
    ]
    assert len(taken) == len(set(taken))
    assert len(found.placements) == 5 and not found.left_out
    assert found.idle_memory_gib == pytest.approx(40 - 19.5 - 4 * 4.75)
    assert found.idle_sms == 108 - 42 - 4 * 14
    assert found.free_slices == () and found.room_for is None
    assert all(place.need_gib <= place.memory_gib for place in found.placements)
    many = pack([*jobs, ("bert 4", Workload(**BERT)), ("bert 5", Workload(**BERT))], gpu, zoo)
    assert many.left_out == ("chat",) and len(many.placements) == 6


def test_a_job_on_a_partition_sees_its_memory(zoo: Zoo) -> None:
    gpu = card(A100)
    fits = {fit.slice.name: fit.fits for fit in fits_slices(Workload(**CHAT), gpu, zoo)}
    assert fits["1g.10gb"] is False and fits["7g.40gb"] is True
    serve = {"model": "qwen3-1.7b", "task": "serve", "precision": "bf16"}
    whole = estimate_memory(Workload(**serve), gpu, 1, zoo)
    part = estimate_memory(Workload(**serve, mig="3g.20gb"), gpu, 1, zoo)
    assert part.reserved_gib == pytest.approx(
        0.9 * 0.985 * 19.5
    ) and whole.reserved_gib == pytest.approx(0.9 * 0.985 * 40)


def test_a_partition_is_a_smaller_gpu_without_links() -> None:
    gpu = card(A100)
    part = part_of(gpu, profile_named(gpu, "MIG 3g.20gb"))
    assert part.memory_gib == 19.5 and part.sms == 42 and part.has_nvlink is False
    assert part.bandwidth_gbs == pytest.approx((gpu.bandwidth_gbs or 0) / 2)
    assert part.dense_tflops.bf16 == pytest.approx((gpu.dense_tflops.bf16 or 0) * 42 / 108)
    assert partition_of(Workload(), gpu) is gpu


def test_a_card_without_partitions_and_an_unknown_name_are_named(zoo: Zoo) -> None:
    plain = card("nvidia.geforce.rtx-4090")
    assert geometry_of(plain) is None
    with pytest.raises(WorkloadFault, match="no MIG partitions"):
        fits_slices(Workload(**CHAT), plain, zoo)
    with pytest.raises(WorkloadFault, match=r"expected one of 1g\.5gb"):
        layout(card(A100), ["5g.30gb"])
    with pytest.raises(WorkloadFault, match="at most 64"):
        pack([("job", Workload(**BERT))] * 65, card(A100), zoo)


def test_memory_without_a_listing_is_marked() -> None:
    by_name: dict[str, Any] = {
        one.name: one for one in slices(card("nvidia.datacenter.b200-sxm6-180gb"))
    }
    assert not by_name["3g.90gb"].listed and by_name["3g.90gb"].memory_gib < 90


def test_the_speed_of_a_partition_is_said_to_be_unknown(zoo: Zoo) -> None:
    with pytest.raises(WorkloadFault, match="no measured speed of a partition"):
        predict_speed(Workload(**CHAT, mig="3g.20gb"), card(A100), 1, 1, "none", zoo)
