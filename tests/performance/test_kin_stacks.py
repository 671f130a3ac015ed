"""Stacks without measured rows of their own: predicted through a measured one, with a wider
interval that says so."""

import math

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.geometry.resolve import resolve_shape
from rigplanner.performance.job import read_job
from rigplanner.performance.modelled import modelled_samples_per_second
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.settled import settled
from rigplanner.performance.software.stacks import find_stack, shipped_stacks
from rigplanner.rig.workload import Workload
from rigplanner.workload.stacks import memory_stacks

KIN = {slug: stack.kin for slug, stack in shipped_stacks().items() if stack.kin}


@pytest.mark.parametrize("slug", KIN)
def test_kin_names_a_stack_that_does_the_same_tasks_and_its_source(slug: str) -> None:
    kin = KIN[slug]
    like = shipped_stacks()[kin.like]
    assert like.kin is None
    assert set(shipped_stacks()[slug].tasks) <= {*like.tasks, "train_lora"}
    assert kin.ratio > 0 and kin.spread >= 1.1 and kin.source


@pytest.mark.parametrize(
    ("slug", "model", "precision", "task"),
    [
        ("sglang", "llama-3.1-8b", "bf16", "serve"),
        ("ollama", "llama-3.1-8b", "q4_k_m", "decode"),
        ("unsloth", "llama-3.1-8b", "bf16", "train_lora"),
        ("jax", "resnet50", "amp_fp16", "train"),
    ],
)
def test_a_stack_is_its_kin_times_the_ratio_within_a_wider_interval(
    slug: str, model: str, precision: str, task: str
) -> None:
    gpu = shipped_catalog().parts["nvidia.datacenter.a100-sxm4-80gb"]
    assert isinstance(gpu, GPU)
    kin = KIN[slug]
    own, like = (
        predict_speed(
            Workload(
                model=model,
                task=task,
                precision=precision,
                batch_per_gpu=1,
                seq_len=512,
                input_tokens=512,
                output_tokens=64,
                stack=name,
            ),
            gpu,
            1,
            1,
            "none",
            shipped_zoo(),
        )
        for name in (slug, kin.like)
    )
    assert own.stack == slug
    assert own.value <= like.value * kin.ratio * 1.001
    assert math.log(own.value / own.low) > math.log(like.value / like.low)


@pytest.mark.parametrize(
    ("stack", "gpu", "link", "told"),
    [
        ("paddle", "A100 SXM4 40GB", "nvswitch", "tf32"),
        ("tensorflow", "RTX 3090", "pcie", "tf32"),
        ("paddle", "Tesla V100 SXM2 16GB", "nvlink-mesh", "fp32"),
        ("pytorch-eager", "A100 SXM4 40GB", "nvswitch", "fp32"),
    ],
)
def test_products_of_fp32_run_in_tf32_where_the_framework_says_so(
    stack: str, gpu: str, link: str, told: str
) -> None:
    """DeiT-B in fp32 on eight A100 trains 2,780 images/s in PaddlePaddle (PLSC, README of DeiT):
    3.4 times what their shaders do."""
    asked = Workload(model="deit_base_patch16_224", task="train", precision="fp32", stack=stack,
                     batch_per_gpu=128)  # fmt: skip
    found = predict_speed(asked, find_gpu(gpu), 8, 1, link, shipped_zoo())
    assert found.assumed.get("precision", "fp32") == told
    if stack == "paddle" and told == "tf32":
        assert found.low < 2780 < found.high


@pytest.mark.parametrize("name", memory_stacks())
def test_every_stack_that_memory_knows_has_a_speed(name: str) -> None:
    if name not in ("trace", "tensorflow"):
        assert find_stack(name).slug and find_stack(name, "decode").slug


def test_other_names_lead_to_the_stack_of_the_task() -> None:
    assert find_stack("pytorch-hf").slug == "hf-trainer"
    assert find_stack("PEFT", "decode").slug == "hf-transformers"
    with pytest.raises(WorkloadFault, match="nearest are vllm"):
        find_stack("vlm")


@pytest.mark.parametrize(
    ("gpu", "precision", "slug"),
    [
        ("RTX 4090", None, "vllm"),
        ("RTX 4090", "q4_k_m", "llama.cpp"),
        ("RTX 4090", "int4", "vllm"),
        ("GTX 1080 Ti", None, "llama.cpp"),
    ],
)
def test_memory_is_asked_of_the_job_that_is_timed(
    gpu: str, precision: str | None, slug: str
) -> None:
    bare = Workload(model="llama-3.1-8b", task="decode", precision=precision)
    told = settled(bare, find_gpu(gpu), 1, 1, "none", shipped_zoo())
    assert told.stack == slug and told.precision == (
        precision or {"vllm": "bf16", "llama.cpp": "q4_k_m"}[slug]
    )
    assert settled(told, find_gpu(gpu), 1, 1, "none", shipped_zoo()) == told


def test_a_quantised_training_is_timed_with_packed_weights() -> None:
    found = settled(
        Workload(model="llama-3.1-8b", task="train_qlora"),
        find_gpu("RTX 4090"),
        1,
        1,
        "none",
        shipped_zoo(),
    )
    assert found.precision == "nf4" and found.stack == "hf-trainer"


@pytest.mark.parametrize("stack", ["vllm", "llama.cpp", "tensorrt-llm"])
def test_training_in_an_engine_that_trains_nothing_is_answered_for_the_usual_stack(
    stack: str,
) -> None:
    asked = Workload(model="llama-3.1-8b", task="train_lora", stack=stack, precision="bf16")
    told = predict_speed(asked, find_gpu("RTX 4090"), 1, 1, "none", shipped_zoo())
    assert told.stack == "hf-trainer" and told.assumed["stack"] == "hf-trainer"
    assert settled(asked, find_gpu("RTX 4090"), 1, 1, "none", shipped_zoo()).stack == "hf-trainer"


def test_a_link_that_nobody_knows_is_refused() -> None:
    with pytest.raises(WorkloadFault, match="expected one of none, pcie"):
        predict_speed(
            Workload(model="resnet-50", task="train"),
            find_gpu("RTX 4090"),
            2,
            1,
            "rope",
            shipped_zoo(),
        )


def test_a_small_encoder_waits_for_python_and_not_for_a_graph() -> None:
    def per_s(stack: str, batch: int, task: str = "inference") -> float:
        asked = Workload(
            model="distilbert",
            task=task,
            precision="fp16",
            batch_per_gpu=batch,
            seq_len=128,
            stack=stack,
        )
        return modelled_samples_per_second(
            read_job(asked, find_gpu("RTX 3090"), 1, 1, "none", shipped_zoo())
        )

    assert per_s("onnxruntime", 1) > 3 * per_s("pytorch-eager", 1), "measured 971 and 185 a second"
    assert per_s("onnxruntime", 256) < 1.3 * per_s("pytorch-eager", 256)
    assert per_s("pytorch-eager", 2) == pytest.approx(2 * per_s("pytorch-eager", 1), rel=0.05), (
        "the GPU waits"
    )
    assert per_s("pytorch-eager", 1, "train") > per_s("pytorch-eager", 1) / 4, (
        "the backward pass is called from C++"
    )


GAINS = {
    ("GTX 1080", "vgg-16"): 522.42 / 232.55,
    ("GTX 1080", "resnet-34"): 222.31 / 79.70,
    ("GTX Titan X (Maxwell)", "resnet-50"): 382.36 / 171.02,
    ("Tesla K40", "vgg-19"): 1475.02 / 1129.65,
    ("Tesla K40", "resnet-18"): 308.91 / 168.30,
}
"""How many times as fast Torch was with cuDNN 5.0 as without, training 16 images
(jcjohnson/cnn-benchmarks, README of July 2016, read 2026-11-23)."""


def test_networks_of_a_kin_are_named_as_shapes_are() -> None:
    named = {word.split()[0] for kin in KIN.values() for word in kin.networks}
    shapes = {
        resolve_shape(Workload(model=name, task="train"), shipped_zoo()).slug for name in named
    }
    assert named == shapes


@pytest.mark.parametrize(("gpu", "model"), GAINS)
def test_what_cudnn_gains_is_known_by_network(gpu: str, model: str) -> None:
    asked = {"model": model, "task": "train", "precision": "fp32", "batch_per_gpu": 16}
    fast, plain = (
        predict_speed(
            Workload(stack=stack, **asked), find_gpu(gpu), 1, 1, "none", shipped_zoo()
        ).value
        for stack in ("torch7", "torch7-nocudnn")
    )
    assert fast / plain == pytest.approx(GAINS[gpu, model], rel=0.15)
