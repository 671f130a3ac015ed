"""Every lever moves the estimate the way it must, for any sizes."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Parallelism, Workload

ZOO = shipped_zoo()
CARD = shipped_catalog().get("nvidia.datacenter.h100-sxm5-80gb")
DENSE = {
    "model_type": "qwen3",
    "hidden_size": 512,
    "intermediate_size": 1536,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "vocab_size": 8000,
}
EXPERTS = {
    "model_type": "qwen3_moe",
    "hidden_size": 512,
    "moe_intermediate_size": 256,
    "intermediate_size": 1536,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "num_experts": 16,
    "num_experts_per_tok": 2,
    "vocab_size": 8000,
}
TRAIN = {
    "config": DENSE,
    "task": "train_full",
    "precision": "bf16",
    "optimizer": "adamw",
    "stack": "pytorch-hf",
}
LORA = {**TRAIN, "task": "train_lora", "lora_rank": 8}
SERVE = {
    "config": DENSE,
    "task": "inference",
    "precision": "bf16",
    "output_tokens": 64,
    "stack": "pytorch-hf",
}
GGUF = {
    "config": DENSE,
    "task": "inference",
    "precision": "q4_k_m",
    "output_tokens": 64,
    "stack": "llama.cpp",
}

batches, lengths = st.integers(1, 64), st.integers(16, 4096)


def need(fields: dict[str, Any], count: int = 1, **more: Any) -> MemoryEstimate:
    assert isinstance(CARD, GPU)
    return estimate_memory(Workload(**{**fields, **more}), CARD, count, ZOO, explained=False)


@settings(deadline=None, max_examples=40)
@given(batch=batches, length=lengths, more=st.integers(1, 16))
@pytest.mark.parametrize(
    "fields",
    [TRAIN, LORA, {**TRAIN, "gradient_checkpointing": "full"}, {**TRAIN, "config": EXPERTS}],
)
def test_training_grows_with_batch_and_length(
    fields: dict[str, Any], batch: int, length: int, more: int
) -> None:
    base = need(fields, batch_per_gpu=batch, seq_len=length).device_gib
    assert need(fields, batch_per_gpu=batch + more, seq_len=length).device_gib >= base
    assert need(fields, batch_per_gpu=batch, seq_len=length + more).device_gib >= base


@settings(deadline=None, max_examples=40)
@given(batch=batches, length=lengths, more=st.integers(1, 512))
@pytest.mark.parametrize("fields", [SERVE, GGUF, {**SERVE, "task": "serve", "stack": "vllm"}])
def test_inference_grows_with_batch_prompt_and_output(
    fields: dict[str, Any], batch: int, length: int, more: int
) -> None:
    base = need(fields, batch_per_gpu=batch, input_tokens=length).tensors_gib
    assert need(fields, batch_per_gpu=batch + more, input_tokens=length).tensors_gib >= base
    assert need(fields, batch_per_gpu=batch, input_tokens=length + more).tensors_gib >= base
    assert (
        need(fields, batch_per_gpu=batch, input_tokens=length, output_tokens=64 + more).tensors_gib
        >= base
    )


LIGHTER: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    ("full checkpointing", TRAIN, {}, {"gradient_checkpointing": "full"}, "device_gib"),
    (
        "selective checkpointing",
        {**TRAIN, "attention": "eager"},
        {},
        {"gradient_checkpointing": "selective"},
        "device_gib",
    ),
    ("fused attention", TRAIN, {"attention": "eager"}, {"attention": "sdpa"}, "device_gib"),
    ("fused loss", TRAIN, {}, {"flags": ["fused_loss"]}, "device_gib"),
    ("chunked loss", TRAIN, {}, {"flags": ["chunked_cross_entropy"]}, "device_gib"),
    ("compiled loss", TRAIN, {}, {"flags": ["compiled_loss"]}, "device_gib"),
    ("activation offload", TRAIN, {}, {"flags": ["activation_offload"]}, "device_gib"),
    ("step in the backward pass", TRAIN, {}, {"flags": ["optimizer_in_backward"]}, "device_gib"),
    ("fused step", TRAIN, {}, {"optimizer": "adamw_fused"}, "device_gib"),
    ("no accumulation", TRAIN, {"gradient_accumulation": 4}, {}, "device_gib"),
    ("16 bits", TRAIN, {"precision": "fp32"}, {"precision": "bf16"}, "device_gib"),
    ("fp16 as bf16", TRAIN, {"precision": "amp_fp16"}, {"precision": "fp16"}, "device_gib"),
    ("LoRA", TRAIN, {}, {"task": "train_lora", "lora_rank": 8}, "device_gib"),
    ("smaller rank", LORA, {"lora_rank": 64}, {"lora_rank": 8}, "device_gib"),
    ("no magnitudes", LORA, {"task": "train_dora"}, {}, "device_gib"),
    ("quantised base", LORA, {}, {"task": "train_qlora", "precision": "nf4"}, "parts.weights_gib"),
    ("int8 base", LORA, {}, {"task": "train_qlora", "precision": "int8"}, "parts.weights_gib"),
    ("8-bit weights", SERVE, {}, {"precision": "int8"}, "parts.weights_gib"),
    ("fp8 weights", SERVE, {}, {"precision": "fp8"}, "parts.weights_gib"),
    ("4-bit weights", SERVE, {"precision": "int8"}, {"precision": "int4"}, "parts.weights_gib"),
    ("q4 below q8", GGUF, {"precision": "q8_0"}, {}, "parts.weights_gib"),
    ("q2 below q4", GGUF, {}, {"precision": "q2_k"}, "parts.weights_gib"),
    ("8-bit cache", SERVE, {}, {"kv_precision": "fp8"}, "parts.kv_cache_gib"),
    ("4-bit cache", GGUF, {"kv_precision": "q8_0"}, {"kv_precision": "q4_0"}, "parts.kv_cache_gib"),
    ("layers on the host", GGUF, {}, {"gpu_layers": 3}, "device_gib"),
    (
        "optimizer on the host",
        TRAIN,
        {},
        {"parallelism": Parallelism(offload="optimizer")},
        "device_gib",
    ),
    (
        "all on the host",
        TRAIN,
        {},
        {"parallelism": Parallelism(zero=3, offload="all")},
        "device_gib",
    ),
    (
        "all on drives",
        TRAIN,
        {},
        {"parallelism": Parallelism(zero=3, offload="nvme")},
        "device_gib",
    ),
    ("weights on the host", SERVE, {}, {"parallelism": Parallelism(offload="all")}, "device_gib"),
]


@settings(deadline=None, max_examples=25)
@given(batch=batches, length=lengths)
@pytest.mark.parametrize(
    ("base", "heavy", "light", "figure"),
    [row[1:] for row in LIGHTER],
    ids=[row[0] for row in LIGHTER],
)
def test_a_lever_never_adds(
    base: dict[str, Any],
    heavy: dict[str, Any],
    light: dict[str, Any],
    figure: str,
    batch: int,
    length: int,
) -> None:
    sizes = {
        "batch_per_gpu": batch,
        "seq_len": length,
        "input_tokens": length if base["task"] == "inference" else None,
    }
    assert _figure(need(base, **sizes, **light), figure) <= _figure(
        need(base, **sizes, **heavy), figure
    ) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("base", "heavy", "light", "figure"),
    [row[1:] for row in LIGHTER],
    ids=[row[0] for row in LIGHTER],
)
def test_a_lever_saves_where_it_counts(
    base: dict[str, Any], heavy: dict[str, Any], light: dict[str, Any], figure: str
) -> None:
    sizes = {
        "batch_per_gpu": 8,
        "seq_len": 2048,
        "input_tokens": 2048 if base["task"] == "inference" else None,
    }
    if "optimizer" in light or light.get("flags") == ["optimizer_in_backward"]:
        sizes |= {"batch_per_gpu": 1, "seq_len": 16}
    assert _figure(need(base, **sizes, **light), figure) < _figure(
        need(base, **sizes, **heavy), figure
    )


def _figure(estimate: MemoryEstimate, path: str) -> float:
    value: Any = estimate
    for name in path.split("."):
        value = getattr(value, name)
    return float(value)


STATES = ("sgd", "adafactor", "lion_8bit", "galore", "adamw_8bit", "lion", "adamw_fused")


@settings(deadline=None, max_examples=15)
@given(batch=st.integers(1, 8), length=st.integers(16, 512), fp32=st.booleans())
def test_optimizers_by_their_states(batch: int, length: int, fp32: bool) -> None:
    word = "fp32" if fp32 else "bf16"
    sizes = [
        need(
            TRAIN, optimizer=name, precision=word, batch_per_gpu=batch, seq_len=length
        ).parts.optimizer_gib
        for name in STATES
    ]
    if fp32:
        assert sizes == sorted(sizes)
    assert sizes[0] == 0 and max(sizes) == sizes[-1]


@settings(deadline=None, max_examples=20)
@given(batch=batches, length=lengths, stage=st.integers(0, 2), cards=st.sampled_from([2, 4, 8, 64]))
def test_each_stage_and_each_card_divides_more(
    batch: int, length: int, stage: int, cards: int
) -> None:
    sizes = {"batch_per_gpu": batch, "seq_len": length, "stack": "pytorch"}
    parts = [
        need(TRAIN, cards, **sizes, parallelism=Parallelism(zero=zero)).parts
        for zero in (stage, stage + 1)
    ]
    states = [part.weights_gib + part.gradients_gib + part.optimizer_gib for part in parts]
    assert states[1] <= states[0]
    wider = need(TRAIN, 2 * cards, **sizes, parallelism=Parallelism(zero=stage + 1)).parts
    assert wider.weights_gib + wider.optimizer_gib <= parts[1].weights_gib + parts[1].optimizer_gib


@settings(deadline=None, max_examples=20)
@given(batch=st.integers(1, 8), length=st.integers(256, 4096), degree=st.sampled_from([2, 4]))
@pytest.mark.parametrize("kind", ["tensor", "pipeline", "context"])
def test_a_degree_divides(kind: str, batch: int, length: int, degree: int) -> None:
    sizes = {"batch_per_gpu": batch, "seq_len": length}
    alone = need(TRAIN, **sizes).tensors_gib
    divided = need(TRAIN, degree, **sizes, parallelism=Parallelism(**{kind: degree}, data=1))
    assert divided.tensors_gib - divided.detail_gib["communication"] <= alone
    many = {"batch_per_gpu": 16, "seq_len": 4096}
    shared = need(
        TRAIN, degree, **many, parallelism=Parallelism(**{kind: degree}, data=1)
    ).tensors_gib
    assert shared < 0.8 * need(TRAIN, **many).tensors_gib


@settings(deadline=None, max_examples=20)
@given(batch=st.integers(1, 8), length=st.integers(16, 2048), degree=st.sampled_from([2, 4, 8]))
def test_sequence_and_expert_parallel_divide(batch: int, length: int, degree: int) -> None:
    sizes = {"batch_per_gpu": batch, "seq_len": length}
    whole, shared = (
        need(
            TRAIN,
            degree,
            **sizes,
            parallelism=Parallelism(tensor=degree, data=1, sequence=sequence),
        ).parts.activations_gib
        for sequence in (False, True)
    )
    assert shared <= whole * 1.3
    experts = {**TRAIN, "config": EXPERTS}
    plain, parallel = (
        need(experts, degree, **sizes, parallelism=Parallelism(data=degree, expert=expert)).parts
        for expert in (1, degree)
    )
    assert parallel.weights_gib < plain.weights_gib and parallel.optimizer_gib < plain.optimizer_gib


@settings(deadline=None, max_examples=20)
@given(edge=st.integers(4, 24), more=st.integers(1, 8), batch=st.integers(1, 64))
@pytest.mark.parametrize(
    "model", ["resnet50", "vit_base_patch16_224", "efficientnet_b0", "swin_tiny_patch4_window7_224"]
)
def test_images_grow(model: str, edge: int, more: int, batch: int) -> None:
    fields = {"model": model, "task": "train_full", "precision": "amp_fp16", "batch_per_gpu": batch}
    small = need(fields, image_size=32 * edge).tensors_gib
    assert need(fields, image_size=32 * (edge + more)).tensors_gib >= small
    assert (
        need({**fields, "batch_per_gpu": batch + more}, image_size=32 * edge).tensors_gib >= small
    )


def test_longest_sequences_stay_numbers() -> None:
    found = need(TRAIN, batch_per_gpu=64, seq_len=1_000_000)
    assert msgspec.json.decode(msgspec.json.encode(found))["device_gib"] > 1000
