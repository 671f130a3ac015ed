"""Layout of maps and sparse weights are heard where they matter; what nothing hears is told."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.cli.commands.performance import answer
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.variants import LAYOUT_GAIN, SPARSE_GAIN
from rigplanner.rig.workload import Workload
from rigplanner.workload.cases import BadCase, read_case

CNN = Workload(
    model="resnet-50", task="train", stack="pytorch-eager", precision="amp_fp16", batch_per_gpu=64
)
BERT = Workload(
    model="bert-large-uncased",
    task="inference",
    stack="tensorrt",
    precision="int8",
    batch_per_gpu=64,
    seq_len=128,
)


def speed(work: Workload, gpu: str = "RTX 3090", **variant: Any) -> SpeedEstimate:
    return predict_speed(replace(work, variant=variant), find_gpu(gpu), 1, 1, "none", shipped_zoo())


@pytest.mark.parametrize(
    "variant", [{"layout": "NHWC"}, {"layout": "channels_last"}, {"channels_last": True}]
)
def test_channels_last_are_faster_where_a_stack_puts_them_first(variant: dict[str, Any]) -> None:
    plain, asked = speed(CNN), speed(CNN, **variant)
    assert asked.value == pytest.approx(plain.value * LAYOUT_GAIN)
    assert asked.high / asked.low > plain.high / plain.low
    assert "variant_ignored" not in asked.assumed


def test_channels_first_are_slower_where_a_stack_puts_them_last() -> None:
    tuned = replace(CNN, stack="pytorch-ngc")
    assert speed(tuned, channels_last=False).value == pytest.approx(
        speed(tuned).value / LAYOUT_GAIN
    )


def test_the_layout_that_a_stack_has_changes_nothing() -> None:
    for stack, layout in (("pytorch-eager", "NCHW"), ("pytorch-ngc", "NHWC")):
        work = replace(CNN, stack=stack)
        assert speed(work, layout=layout) == speed(work)


@pytest.mark.parametrize(
    "work",
    [replace(CNN, precision="fp32"), replace(CNN, model="bert-large-uncased", seq_len=128)],
)
def test_layout_says_nothing_of_shaders_and_transformers(work: Workload) -> None:
    asked = speed(work, layout="NHWC")
    assert asked.value == speed(work).value
    assert asked.assumed["variant_ignored"] == "layout"


def test_sparse_weights_quicken_the_products_of_compiled_networks() -> None:
    plain, sparse = (
        speed(BERT, "A100-SXM4-80GB", **variant) for variant in ({}, {"sparsity": "2:4"})
    )
    assert 1.1 < sparse.value / plain.value < SPARSE_GAIN
    assert sparse.high / sparse.low > plain.high / plain.low
    assert "variant_ignored" not in sparse.assumed


@pytest.mark.parametrize(
    ("gpu", "work"),
    [
        ("V100-SXM2-16GB", replace(BERT, precision="fp16")),
        ("A100-SXM4-80GB", replace(BERT, stack="pytorch-eager", precision="fp16")),
        ("A100-SXM4-80GB", CNN),
    ],
)
def test_sparsity_without_units_or_a_compiler_is_told_as_ignored(gpu: str, work: Workload) -> None:
    asked = speed(work, gpu, sparsity="2:4")
    assert asked.value == speed(work, gpu).value
    assert asked.assumed["variant_ignored"] == "sparsity"


def test_unknown_words_are_told_with_the_nearest() -> None:
    assert (
        speed(CNN, lay_out="NHWC", colour="blue").assumed["variant_ignored"]
        == "lay_out (layout?), colour"
    )
    assert "variant_ignored" not in speed(CNN, data="real").assumed


def answered(**case: Any) -> dict[str, Any]:
    read = read_case(json.dumps({"id": "a", "hardware": {"gpu": "RTX 3090"}, **case}).encode())
    assert not isinstance(read, BadCase)
    return answer(read)


def test_fields_that_nothing_hears_are_told() -> None:
    work = {"model": "resnet-50", "task": "train"}
    assert (
        answered(workload=work, batch=32, source="x", year=2020)["assumed"]["fields_ignored"]
        == "batch (batch_per_gpu?)"
    )
    assert answered(workload={**work, "zzz": 1})["assumed"]["fields_ignored"] == "zzz"
    assert (
        answered(workload=work, precision="fp32")["assumed"]["fields_ignored"]
        == "precision (workload.precision?)"
    )
    assert (
        "fields_ignored"
        not in answered(workload=work, source="x", spread=None, suspect=False)["assumed"]
    )
    assert (
        answered(**work, batch=4, seed=0)["assumed"]["fields_ignored"] == "batch (batch_per_gpu?)"
    )


def test_a_format_of_data_that_nobody_has_is_refused_with_the_known_ones() -> None:
    refused = answered(
        workload={"model": "resnet-50", "task": "train", "dataset_format": "bananas"}
    )
    assert refused["error"].startswith("dataset_format: expected one of files, packed, mapped")
    assert "error" not in answered(
        workload={"model": "resnet-50", "task": "train", "dataset_format": "webdataset"}
    )
