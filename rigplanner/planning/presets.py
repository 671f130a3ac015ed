"""Starting points of a workload by the kind of its model: what people usually want of it, in
settings that they then change."""

from typing import Any

from msgspec import Struct

from rigplanner.machine.model import Machine


class Preset(Struct, frozen=True):
    """A code for the words, and the fields of the workload that it sets."""

    code: str
    fields: dict[str, Any]


CLEARED: dict[str, Any] = {
    "optimizer": None,
    "gradient_checkpointing": None,
    "lora_rank": None,
    "kv_precision": None,
    "quant": None,
    "seq_len": None,
    "input_tokens": None,
    "output_tokens": None,
}
"""Fields that belong to a task and do not survive another preset."""
WRITES: dict[str, Any] = {
    "task": "inference",
    "input_tokens": 1024,
    "output_tokens": 256,
    "attention": "flash",
}
LEARNS: dict[str, Any] = {"seq_len": 2048, "attention": "flash"}
TEXT = (
    Preset(
        "qlora",
        {
            "task": "train_qlora",
            "precision": "nf4",
            "batch_per_gpu": 1,
            "lora_rank": 16,
            "gradient_checkpointing": "full",
            **LEARNS,
        },
    ),
    Preset(
        "lora",
        {
            "task": "train_lora",
            "precision": "bf16",
            "batch_per_gpu": 1,
            "lora_rank": 16,
            "gradient_checkpointing": "full",
            **LEARNS,
        },
    ),
    Preset(
        "full",
        {
            "task": "train_full",
            "precision": "bf16",
            "batch_per_gpu": 1,
            "gradient_checkpointing": "full",
            **LEARNS,
        },
    ),
    Preset("chat", {"precision": "bf16", "batch_per_gpu": 1, **WRITES}),
    Preset("chat_4_bit", {"precision": "int4", "quant": "awq", "batch_per_gpu": 1, **WRITES}),
    Preset("serve", {"precision": "bf16", "batch_per_gpu": 32, **WRITES, "task": "serve"}),
)
ENCODER = (
    Preset(
        "fine_tune",
        {"task": "train_full", "precision": "bf16", "batch_per_gpu": 16, "seq_len": 512},
    ),
    Preset("read", {"task": "inference", "precision": "fp16", "batch_per_gpu": 32, "seq_len": 512}),
)
IMAGE = (
    Preset("train_images", {"task": "train", "precision": "amp", "batch_per_gpu": 64}),
    Preset("train_images_fp32", {"task": "train", "precision": "fp32", "batch_per_gpu": 64}),
    Preset("see", {"task": "inference", "precision": "fp16", "batch_per_gpu": 64}),
)
PICTURES = (Preset("draw", {"task": "inference", "precision": "fp16", "batch_per_gpu": 1}),)
OTHER = (
    Preset("learn", {"task": "train", "precision": "amp", "batch_per_gpu": 32}),
    Preset("answer", {"task": "inference", "precision": "fp16", "batch_per_gpu": 32}),
)
WRITING_KINDS, READING_KINDS, SEEING_KINDS = (
    ("llm", "moe", "vlm"),
    ("encoder", "encoder_decoder"),
    ("cnn", "vit", "detector", "segmenter"),
)


def presets(kind: str | None) -> tuple[Preset, ...]:
    """Return the starting points for a kind of model, the first being the usual one; None stands
    for a configuration."""
    if kind is None or kind in WRITING_KINDS:
        return TEXT
    if kind in READING_KINDS:
        return ENCODER
    if kind.startswith("diffusion"):
        return PICTURES
    return IMAGE if kind in SEEING_KINDS else OTHER


INSTEAD = {
    ("attention", "flash"): ("flash-attention-2", "sdpa"),
    ("precision", "bf16"): ("bf16", "fp16"),
}
"""A setting that some cards cannot serve: what it asks of them, and what stands in its place there.
"""


def preset_fields(preset: Preset, machine: Machine | None) -> dict[str, Any]:
    """Return the fields that a preset sets on a workload that may come from another one, as the
    machine's cards serve them."""
    from rigplanner.rules.software.kernels import lacks

    cards = [node.gpu for node in machine.gpus] if machine else []
    fields = {**CLEARED, **preset.fields}
    for (field, value), (feature, instead) in INSTEAD.items():
        if fields.get(field) == value and any(
            card.compute_capability and lacks(card, feature) for card in cards
        ):
            fields[field] = instead
    return fields
