"""Stacks without measured rows of their own: predicted through a measured one, with a wider interval that says so."""

import math

import pytest

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.stacks import shipped_stacks
from rigplanner.rig.task import Workload

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
    [("sglang", "llama-3.1-8b", "bf16", "serve"), ("ollama", "llama-3.1-8b", "q4_k_m", "decode"),
     ("unsloth", "llama-3.1-8b", "bf16", "train_lora"), ("jax", "resnet50", "amp_fp16", "train")],
)  # fmt: skip
def test_a_stack_is_its_kin_times_the_ratio_within_a_wider_interval(slug: str, model: str, precision: str, task: str) -> None:
    gpu = shipped_catalog().parts["nvidia.datacenter.a100-sxm4-80gb"]
    assert isinstance(gpu, GPU)
    kin = KIN[slug]
    own, like = (
        predict_speed(
            Workload(model=model, task=task, precision=precision, batch_per_gpu=1, seq_len=512, input_tokens=512, output_tokens=64,
                     stack=name),
            gpu, 1, 1, "none", shipped_zoo(),
        )
        for name in (slug, kin.like)
    )  # fmt: skip
    assert own.stack == slug
    assert own.value <= like.value * kin.ratio * 1.001
    assert math.log(own.value / own.low) > math.log(like.value / like.low)
