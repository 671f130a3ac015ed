"""What a GPU can do in which precision, and what is refused."""

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import GPU, Rates
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance import roofline
from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.silicon import (
    USUAL_SUSTAINED,
    arithmetic_path,
    generation_of,
    matrix_tflops,
    silicon_of,
    usable_precisions,
    weight_bits,
)
from rigplanner.rig.workload import Workload
from rigplanner.workload.quant import BITS


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("K80", "kepler"),
        ("GTX Titan X (Maxwell)", "maxwell"),
        ("GTX 1080", "pascal"),
        ("V100-SXM2-16GB", "volta"),
        ("T4", "turing"),
        ("A100-SXM4-80GB", "ampere"),
        ("RTX 4090", "ada"),
        ("H100-SXM5-80GB", "hopper"),
        ("RTX 5090", "blackwell-rtx"),
        ("MI300X", "cdna3"),
    ],
)
def test_generations(name: str, generation: str) -> None:
    assert generation_of(find_gpu(name)) == generation


def test_generation_from_the_compute_capability_alone() -> None:
    bare = msgspec.structs.replace(find_gpu("RTX 4090"), architecture=None)
    assert generation_of(bare) == "ada"


def test_half_precision_falls_back_to_shaders_before_tensor_cores() -> None:
    card = find_gpu("GTX 1080")
    silicon = silicon_of(card)
    assert matrix_tflops(silicon, "amp_fp16", card.name) == silicon.fp32
    assert arithmetic_path("amp_fp16", silicon.fp32, silicon) == "vector"


@pytest.mark.parametrize(
    ("name", "precision"), [("GTX 1080", "fp8"), ("RTX 3090", "fp8"), ("H100-SXM5-80GB", "fp4")]
)
def test_arithmetic_that_the_silicon_lacks_is_refused(name: str, precision: str) -> None:
    card = find_gpu(name)
    with pytest.raises(WorkloadFault, match=f"no {precision} arithmetic"):
        matrix_tflops(silicon_of(card), precision, card.name)


def test_an_unknown_precision_lists_the_known_ones() -> None:
    with pytest.raises(WorkloadFault, match=r"the nearest of .* are fp16"):
        matrix_tflops(silicon_of(find_gpu("RTX 3090")), "fp17", "RTX 3090")


@pytest.mark.parametrize(
    "precision", [word for word in BITS if word not in ("fp8", "fp4", "mxfp8", "nvfp4", "mxfp4")]
)
def test_every_stored_format_that_memory_knows_is_timed(precision: str) -> None:
    card = find_gpu("RTX 3090")
    assert matrix_tflops(silicon_of(card), precision, card.name) > 0
    assert weight_bits(precision) == pytest.approx(BITS[precision], abs=0.51)


def test_the_missing_field_is_named() -> None:
    bare = GPU(
        id="x.y.z",
        name="X",
        vendor="X",
        form_factor="pcie",
        memory_gib=8,
        dense_tflops=Rates(fp32=1.0),
    )
    with pytest.raises(WorkloadFault, match="bandwidth_gbs"):
        silicon_of(bare)


def test_a_card_without_rates_borrows_those_of_its_chip() -> None:
    card = find_gpu("V100-SXM2-32GB")
    bare = msgspec.structs.replace(card, dense_tflops=Rates(), cores=None)
    assert silicon_of(bare).fp32 == pytest.approx(silicon_of(card).fp32, rel=0.15)
    with pytest.raises(WorkloadFault, match="fp32"):
        silicon_of(msgspec.structs.replace(bare, chip="never-built"))


def test_dies_share_the_power_of_their_board() -> None:
    card = find_gpu("K80")
    assert card.tdp_w is not None
    assert silicon_of(card).tdp_w == card.tdp_w / card.dies


def test_a_clock_is_sustained_as_far_as_base_lies_below_boost() -> None:
    card = find_gpu("T4")
    assert card.base_mhz and card.boost_mhz
    assert silicon_of(card).sustained == pytest.approx(card.base_mhz / card.boost_mhz)
    assert silicon_of(msgspec.structs.replace(card, base_mhz=None)).sustained == USUAL_SUSTAINED


def test_a_clock_that_cannot_be_sustained_lengthens_arithmetic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    physics = msgspec.structs.replace(speed_model().physics, clock_matrix=0.25, clock_vector=0.5)
    monkeypatch.setattr(
        roofline, "speed_model", lambda: msgspec.structs.replace(speed_model(), physics=physics)
    )
    gpu = find_gpu("T4")
    for precision, exponent in (("amp_fp16", 0.25), ("fp32", 0.5)):
        work = Workload(
            model="resnet-50",
            task="train",
            stack="pytorch-eager",
            precision=precision,
            batch_per_gpu=32,
        )
        job = read_job(work, gpu, 1, 1, "none", shipped_zoo())
        steady = msgspec.structs.replace(
            job, silicon=msgspec.structs.replace(job.silicon, sustained=1.0)
        )
        ratio = roofline.matrix_seconds(job, 1e12) / roofline.matrix_seconds(steady, 1e12)
        assert ratio == pytest.approx(job.silicon.sustained**-exponent)


def test_tensor_cores_of_a_card_that_lists_its_shaders_alone() -> None:
    card = find_gpu("RTX 4090")
    bare = msgspec.structs.replace(card, dense_tflops=Rates(fp32=card.dense_tflops.fp32))
    assert silicon_of(bare).half == pytest.approx(silicon_of(card).half, rel=0.01)
    old = find_gpu("GTX 1080")
    assert silicon_of(msgspec.structs.replace(old, dense_tflops=Rates(fp32=8.9))).half == 8.9


def test_weights_of_four_bits_with_their_scales() -> None:
    assert 4 < weight_bits("q4_k_m") < 5 and weight_bits("bf16") == 16


def test_rtx_blackwell_is_told_from_the_data_centre_chip() -> None:
    assert generation_of(find_gpu("RTX 5090")) == "blackwell-rtx"
    assert generation_of(find_gpu("nvidia.datacenter.b200-sxm6-180gb")) == "blackwell"


@pytest.mark.parametrize("kind", ["llama-3.1-8b", "resnet-50", "bert-large"])
def test_a_card_with_more_of_everything_is_not_slower(kind: str) -> None:
    """An RTX 5090 has more arithmetic, bandwidth and memory than an RTX 4090 of the same kind of
    multiprocessor (single images are left out: the host alone sets their speed)."""
    language = kind.startswith("llama")
    workload = Workload(
        model=kind,
        task="train_lora" if language else "train",
        precision="bf16",
        batch_per_gpu=1 if language else 16,
    )
    newer, older = (
        predict_speed(workload, find_gpu(name), 1, 1, "none", shipped_zoo()).value
        for name in ("RTX 5090", "RTX 4090")
    )
    assert newer > older


def test_units_that_do_fp4_do_eight_bits_twice_as_fast_as_half_precision_where_the_catalog_lists_neither() -> (
    None
):
    card = find_gpu("GB10")
    assert card.dense_tflops.fp8 is None
    silicon = silicon_of(card)
    assert silicon.fp8 == silicon.int8 == 2 * silicon.half
    assert "fp8" in usable_precisions(silicon) and "int8" in usable_precisions(silicon)
