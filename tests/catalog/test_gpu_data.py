"""The shipped GPUs, accelerators and NVLink bridges: physics, families, names of measured cases,
bridges that fit their cards.

A disagreement with physics passes only where the data says why: a doubt of that field with a note
or both values."""

import json
from collections import Counter
from pathlib import Path

import pytest

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.lint.completeness import compared_fields, completeness
from rigplanner.catalog.load import read_family, shipped_catalog
from rigplanner.catalog.schema.parts import GPU, Bridge, Rates
from rigplanner.data import data_path
from rigplanner.evidence import Source

CATALOG = shipped_catalog()
GPUS = [part for part in CATALOG.parts.values() if isinstance(part, GPU)]
BRIDGES = [part for part in CATALOG.parts.values() if isinstance(part, Bridge)]
NVIDIA_CHIPS = [
    gpu for gpu in GPUS if gpu.compute_capability and not gpu.compute_capability.startswith("gfx")
]
RATE_NAMES = Rates.__struct_fields__

NVLINK_GBS = {1: {20.0}, 2: {25.0}, 3: {25.0, 14.0625}, 4: {25.0}, 5: {50.0}}
"""GB/s per link and direction by generation; 14.0625 is GA102 (NVIDIA architecture whitepapers)."""

CONSUMER = (
    "nvidia.geforce.rtx-2",
    "nvidia.geforce.rtx-3",
    "nvidia.geforce.rtx-4",
    "nvidia.geforce.rtx-5",
)

by_bridge = pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.id)


def explained(gpu: GPU, *fields: str) -> bool:
    return any(
        (doubt := gpu.doubts.get(field)) is not None and bool(doubt.note or doubt.values)
        for field in fields
    )


def gpu(part_id: str) -> GPU:
    found = CATALOG.get(part_id)
    assert isinstance(found, GPU), part_id
    return found


def test_there_are_enough_of_them() -> None:
    assert sum(gpu.status != "reference" for gpu in GPUS) >= 150
    assert sum(gpu.status == "reference" for gpu in GPUS) >= 15
    assert sum(gpu.form_factor == "embedded" for gpu in GPUS) >= 12


def test_what_is_sold_or_common_is_complete() -> None:
    rows = [row for row in completeness(CATALOG) if row.kind in ("gpu", "bridge")]
    assert {row.kind for row in rows} == {"gpu", "bridge"}
    assert [
        (row.field, row.without) for row in rows if row.published and row.filled < 0.95 * row.parts
    ] == []


def test_a_source_key_means_one_source() -> None:
    meanings: dict[str, set[Source]] = {}
    for path in [
        *data_path("catalog").glob("gpu/*.json"),
        *data_path("catalog").glob("bridge/*.json"),
    ]:
        for key, source in read_family(path).sources.items():
            meanings.setdefault(key, set()).add(source)
    assert [key for key, found in meanings.items() if len(found) > 1] == []


def test_no_name_means_two_parts() -> None:
    names = Counter(
        name
        for part in (*GPUS, *BRIDGES)
        for name in {n.casefold() for n in (part.name, *part.aliases)}
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_every_gpu_of_published_measurements_is_a_name() -> None:
    """As benchmarks write them, each with a source that does (published_names.json)."""
    published = json.loads(Path(__file__).with_name("published_names.json").read_bytes())
    names = {name for gpu in GPUS for name in (gpu.id, gpu.name, *gpu.aliases)}
    assert sorted(set(published["gpus"]) - names) == []


@pytest.mark.parametrize(
    ("words", "part_id"),
    [
        ("3090", "nvidia.geforce.rtx-3090"),
        ("a6000", "nvidia.rtx.a6000"),
        ("A100", "nvidia.datacenter.a100-sxm4-80gb"),
        ("V100", "nvidia.tesla.v100-sxm2-16gb"),
        ("H100", "nvidia.datacenter.h100-sxm5-80gb"),
        ("4090", "nvidia.geforce.rtx-4090"),
        ("5090", "nvidia.geforce.rtx-5090"),
        ("titan x pascal", "nvidia.titan.x-pascal"),
        ("K80", "nvidia.tesla.k80"),
        ("mi300x", "amd.instinct.mi300x"),
    ],
)
def test_the_trade_name_finds_the_usual_variant(words: str, part_id: str) -> None:
    assert PartIndex(GPUS).find(words, "gpu", 1)[0].id == part_id


def test_only_cards_have_power_connectors() -> None:
    assert [
        gpu.id for gpu in GPUS if gpu.form_factor != "pcie" and gpu.connectors is not None
    ] == []


def test_second_pass_covers_the_cards_in_use() -> None:
    compared = [gpu.id for gpu in GPUS if compared_fields(gpu, CATALOG)]
    assert len(compared) >= 60
    for name in ("rtx-3090", "rtx-4090", "rtx-5090"):
        assert f"nvidia.geforce.{name}" in compared


def test_one_chip_is_one_architecture() -> None:
    families: dict[str, set[tuple[str | None, str | None]]] = {}
    for part in GPUS:
        if part.chip:
            families.setdefault(part.chip, set()).add((part.architecture, part.compute_capability))
    assert {
        chip: sorted(map(str, kinds)) for chip, kinds in families.items() if len(kinds) > 1
    } == {}


def test_every_sm_of_a_chip_has_as_many_cores() -> None:
    per_sm: dict[str | None, set[float]] = {}
    for part in NVIDIA_CHIPS:
        if part.cores and part.sms:
            per_sm.setdefault(part.chip, set()).add(part.cores / part.sms)
    assert {chip: sizes for chip, sizes in per_sm.items() if len(sizes) > 1} == {}


def test_a_rate_is_given_or_lacking_never_both() -> None:
    assert [
        (gpu.id, name) for gpu in GPUS for name in gpu.unsupported if name not in RATE_NAMES
    ] == []
    assert [
        (gpu.id, name)
        for gpu in GPUS
        for name in gpu.unsupported
        if getattr(gpu.dense_tflops, name) is not None
    ] == []


def test_matrix_rates_keep_their_ratios() -> None:
    wrong = []
    for part in NVIDIA_CHIPS:
        rates = part.dense_tflops
        if rates.fp16 is None:
            continue
        expected = {"bf16": 1, "tf32": 0.5, "fp8": 2, "fp16_acc16": 2 if is_halved(part) else 1}
        given = {name: rate for name in expected if (rate := getattr(rates, name)) is not None}
        wrong += [
            (part.id, n, r)
            for n, r in given.items()
            if abs(r / (rates.fp16 * expected[n]) - 1) > 0.02
        ]
    assert wrong == []


def is_halved(gpu: GPU) -> bool:
    """GeForce with tensor cores, the A10G and the L40 accumulate in FP32 at half the rate (NVIDIA
    whitepapers and data sheets)."""
    geforce = (
        "GeForce" in gpu.name and gpu.chip is not None and gpu.chip[:2] in ("TU", "GA", "AD", "GB")
    )
    return geforce or gpu.id in ("nvidia.datacenter.a10g", "nvidia.datacenter.l40")


def test_pascal_and_kepler_traps() -> None:
    for part in GPUS:
        if part.chip == "GP104" and part.dense_tflops.fp32 and part.dense_tflops.fp16_vector:
            assert part.dense_tflops.fp16_vector == pytest.approx(
                part.dense_tflops.fp32 / 64, rel=0.01
            )
    assert gpu("nvidia.titan.black").dense_tflops.fp64 == pytest.approx(1.7, rel=0.01)
    k80 = gpu("nvidia.tesla.k80")
    assert (k80.dies, k80.memory_gib, k80.tdp_w) == (2, 12, 300)
    assert k80.dense_tflops.fp32 == pytest.approx(4.37, rel=0.01)
    assert gpu("nvidia.tesla.p40").bandwidth_gbs == pytest.approx(347, rel=0.01)


def test_d1_chip_tile_and_pod() -> None:
    rates = [
        gpu(f"tesla-motors.dojo.{name}").dense_tflops.fp32
        for name in ("d1", "training-tile", "exapod")
    ]
    assert rates == [22.6, 565, 67800]


def test_nvlink_is_what_its_generation_gives() -> None:
    assert [gpu.id for gpu in GPUS if gpu.has_nvlink is not (gpu.nvlink is not None)] == []
    ports = [(gpu, gpu.nvlink) for gpu in GPUS if gpu.nvlink and gpu.nvlink.fabric == "nvlink"]
    assert [
        gpu.id for gpu, port in ports if port.link_gbs not in NVLINK_GBS[int(port.generation)]
    ] == []
    fitted = {bridge.connector for bridge in BRIDGES}
    assert [
        gpu.id for gpu, port in ports if gpu.form_factor == "pcie" and port.connector not in fitted
    ] == []


def test_no_nvlink_from_ada_on_outside_the_data_centre() -> None:
    for part in GPUS:
        if part.chip and part.chip[:3] in ("AD1", "GB2"):
            assert part.has_nvlink is False, part.id


def test_bridged_pairs_have_the_published_rate() -> None:
    both_ways = {
        "nvidia.geforce.rtx-3090": 112.5,
        "nvidia.geforce.rtx-2080-ti": 100,
        "nvidia.quadro.gp100": 160,
        "nvidia.datacenter.a100-pcie-80gb": 600,
        "nvidia.datacenter.h100-sxm5-80gb": 900,
        "nvidia.tesla.v100-sxm2-16gb": 300,
        "nvidia.datacenter.h800-sxm5-80gb": 400,
    }
    ports = {part_id: gpu(part_id).nvlink for part_id in both_ways}
    assert {
        name: 2 * port.links * port.link_gbs for name, port in ports.items() if port
    } == both_ways


@by_bridge
def test_a_bridge_names_cards_that_exist(bridge: Bridge) -> None:
    assert bridge.proven_with
    for part_id, verdict in bridge.proven_with.items():
        port = gpu(part_id).nvlink
        assert port is not None
        if verdict == "design":
            assert (port.connector, port.generation) == (bridge.connector, bridge.generation)
            assert (
                bridge.links is not None and port.links <= bridge.links * bridge.per_pair
            ) or bridge.links == port.links


def test_bridges_come_in_every_spacing() -> None:
    spacings: dict[str, set[int | None]] = {}
    for bridge in BRIDGES:
        spacings.setdefault(bridge.connector, set()).add(bridge.spacing_slots)
    assert spacings["rtx-ampere"] == {2, 3, 4}
    assert spacings["rtx-turing"] == {2, 3, 4}
    assert spacings["quadro-rtx-5000"] == {2, 3}
    assert {bridge.gpus for bridge in BRIDGES} == {2, 4}
    assert {bridge.id for bridge in BRIDGES if bridge.per_pair == 3} == {
        "nvidia.nvlink-bridge.a100-2-slot",
        "nvidia.nvlink-bridge.h100-pcie-2-slot",
        "nvidia.nvlink-bridge.h100-nvl-2-slot",
    }


def test_multi_instance_only_where_nvidia_offers_it() -> None:
    chips = {part.chip for part in GPUS if part.mig_slices}
    assert chips <= {"GA100", "GH100", "GB100", "GB110", "GB202", "GB203"}


def test_peer_access_of_geforce() -> None:
    verdicts = {
        part.id: part.p2p
        for part in GPUS
        if part.id.startswith(CONSUMER) and part.form_factor == "pcie"
    }
    assert {part_id for part_id, verdict in verdicts.items() if verdict == "nvlink-only"} == {
        "nvidia.geforce.rtx-2070-super",
        "nvidia.geforce.rtx-2080",
        "nvidia.geforce.rtx-2080-super",
        "nvidia.geforce.rtx-2080-ti",
        "nvidia.geforce.rtx-2080-ti-22gb",
        "nvidia.geforce.rtx-3090",
        "nvidia.geforce.rtx-3090-ti",
    }
    assert set(verdicts.values()) == {"nvlink-only", "no"}
