"""What adapters of float keep of a 16-bit network, and loops of one's own of its output."""

from typing import Any

import pytest

from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Workload

GIB = 2.0**30
LAYERS, HIDDEN, VOCAB, LENGTH = 28, 1536, 151_936, 512
USUAL: dict[str, Any] = {
    "model": "qwen2.5-1.5b",
    "batch_per_gpu": 1,
    "seq_len": LENGTH,
    "optimizer": "adamw",
    "attention": "sdpa",
    "gradient_checkpointing": "none",
    "lora_rank": 32,
}
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    return shipped_zoo()


def estimate(zoo: Zoo, **fields: Any) -> MemoryEstimate:
    return estimate_memory(Workload(**{**USUAL, **fields}), None, 1, zoo)


def test_every_adapter_keeps_a_copy_of_its_input(zoo: Zoo) -> None:
    """Four of float outside autocast, four of 16 bits under it; adapters of the base's type share
    that of query, key and value and find that of the projection kept."""
    base, low, wide = (
        estimate(
            zoo, stack=stack, task="train_lora", precision="bf16", lora_targets=ATTENTION
        ).parts.activations_gib
        for stack in ("pytorch", "pytorch-hf", "peft")
    )
    value = LAYERS * HIDDEN * LENGTH / GIB
    held = 2 * LENGTH * VOCAB / GIB
    assert low - base == pytest.approx((4 * 2 - 2) * value, rel=0.05)
    assert wide - held - base == pytest.approx((4 * 4 - 2) * value, rel=0.05)


def test_adapters_and_their_gradients_are_float(zoo: Zoo) -> None:
    base, wide = (
        estimate(zoo, stack=stack, task="train_lora", precision="bf16")
        for stack in ("pytorch", "pytorch-hf")
    )
    assert wide.parts.gradients_gib == pytest.approx(2 * base.parts.gradients_gib, rel=0.01)
    assert wide.parts.weights_gib - base.parts.weights_gib == pytest.approx(
        base.parts.gradients_gib, rel=0.01
    )


@pytest.mark.parametrize(
    ("fields", "mib"),
    [
        ({"task": "train_lora", "precision": "fp16", "lora_targets": ATTENTION}, 5552),
        (
            {
                "task": "train_lora",
                "precision": "fp16",
                "lora_targets": ATTENTION,
                "attention": "eager",
            },
            5999,
        ),
        (
            {
                "task": "train_qlora",
                "precision": "nf4",
                "quant": "bnb",
                "lora_targets": ATTENTION,
                "batch_per_gpu": 2,
                "seq_len": 1024,
                "gradient_checkpointing": "full",
            },
            6823,
        ),
    ],
)
def test_a_measured_loop_is_met(zoo: Zoo, fields: dict[str, Any], mib: float) -> None:
    """github.com/Anassbzdd/fitcheck, measured on a T4 with a loop that keeps the output and has no
    autocast."""
    assert estimate(zoo, stack="peft", **fields).allocated_gib == pytest.approx(
        mib / 1024, rel=0.03
    )


def test_a_raised_base_outside_autocast_runs_in_float(zoo: Zoo) -> None:
    fields: dict[str, Any] = {"task": "train_qlora", "precision": "nf4", "quant": "bnb"}
    loop, trainer = (
        estimate(zoo, stack=stack, **fields).parts.activations_gib
        for stack in ("peft", "pytorch-hf")
    )
    assert loop > 1.4 * trainer
    assert loop > estimate(zoo, stack="peft", flags=["unraised"], **fields).parts.activations_gib


def test_a_compiled_loss_holds_logits_and_their_gradient_in_16_bits(zoo: Zoo) -> None:
    fields: dict[str, Any] = {
        "stack": "pytorch",
        "task": "train_lora",
        "precision": "bf16",
        "batch_per_gpu": 4,
    }
    plain, compiled = (
        estimate(zoo, flags=flags, **fields).parts.activations_gib
        for flags in ([], ["compiled_loss"])
    )
    assert plain - compiled == pytest.approx((12 - 4) * 4 * LENGTH * VOCAB / GIB, rel=0.1)


def test_text_encoders_stay_beside_the_denoiser_in_ai_toolkit() -> None:
    """FLUX.1-dev, rank 256, all in bf16 but T5: 38.5 GB (Ostris, August 2024)."""
    asked: dict[str, Any] = {
        "model": "flux.1-dev",
        "task": "train_lora",
        "stack": "ai-toolkit",
        "batch_per_gpu": 1,
        "image_size": 1024,
        "optimizer": "adamw_8bit",
    }

    def told(**fields: Any) -> MemoryEstimate:
        return estimate_memory(Workload(**(asked | fields)), None, 1, shipped_zoo())

    wide = told(precision="bf16", lora_rank=256)
    assert wide.low_gib < 38.5e9 / GIB < wide.high_gib
    narrow = told(precision="int8", lora_rank=16)
    apart = told(precision="int8", lora_rank=16, flags=["cache_text_embeddings"])
    encoders = 4762.3e6 + 123.1e6
    held = (narrow.parts.weights_gib - apart.parts.weights_gib) * GIB
    assert held == pytest.approx(encoders, rel=0.05)
    other = told(precision="int8", lora_rank=16, stack="kohya")
    assert other.parts.weights_gib == pytest.approx(apart.parts.weights_gib)
