"""Each kind of question that people ask in public can be put by fields of the form."""

from typing import Any

import msgspec
import pytest

from rigplanner.desktop.workloads.fields import TIPS, concerned, edited, stacks_for, value_of
from rigplanner.planning.what_if import TEXT_KINDS
from rigplanner.rig.workload import Parallelism, Speculative, Workload

LLM: dict[str, Any] = {"task": "inference", "input_tokens": 1000, "output_tokens": 500}
TUNED: dict[str, Any] = {"seq_len": 512, "batch_per_gpu": 2}
# what is asked, kind of network, fields of the form, what the workload holds besides the like-named
QUESTIONS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    (
        "experts in RAM",
        "moe",
        {**LLM, "stack": "ktransformers", "experts": "all"},
        {"cpu_moe": True},
    ),
    ("some experts", "moe", {**LLM, "stack": "llama.cpp", "n_cpu_moe": 26, "seq_len": 38000}, {}),
    (
        "tensors by name",
        "moe",
        {**LLM, "override_tensors": "exps=CPU"},
        {"override_tensors": ["exps=CPU"]},
    ),
    ("layers on the card", "llm", {**LLM, "stack": "ollama", "gpu_layers": 20}, {}),
    (
        "cache in RAM",
        "llm",
        {**LLM, "cache_place": "ram", "kv_precision": "q8_0"},
        {"kv_on_host": True},
    ),
    (
        "long prompts in larger pieces",
        "llm",
        {**LLM, "ubatch": 2048},
        {"variant": {"ubatch": 2048}},
    ),
    ("a Mac", "llm", {**LLM, "stack": "mlx", "precision": "int4", "quant": "mlx"}, {}),
    ("two cards by rows", "llm", {**LLM, "stack": "llama.cpp", "split": "row"}, {}),
    ("weights over the link", "llm", {**LLM, "stack": "vllm", "cpu_offload_gb": 20.0}, {}),
    (
        "drafts of which so many are kept",
        "llm",
        {**LLM, "draft": "mtp", "draft_tokens": 2, "accepted": 0.9},
        {"speculative": Speculative(method="mtp", tokens=2, accepted=0.9)},
    ),
    ("users at once", "llm", {**LLM, "task": "serve", "users": 32, "samples": "unequal"}, {}),
    ("requests a second", "llm", {**LLM, "task": "serve", "request_rate": 5.0}, {}),
    ("users within a target", "llm", {**LLM, "task": "serve", "target_tokens_s": 20.0}, {}),
    (
        "the longest context",
        "llm",
        {"task": "serve", "memory_utilization": 0.9, "seq_len": 20000},
        {},
    ),
    ("an old release", "llm", {**LLM, "stack": "vllm", "framework_text": "vllm 0.6"}, {}),
    ("two cards share layers", "llm", {**LLM, "tensor": 2}, {"parallelism": Parallelism(tensor=2)}),
    (
        "states sharded and in RAM",
        "llm",
        {
            "task": "train_qlora",
            **TUNED,
            "zero": 3,
            "offload": "all",
            "optimizer": "paged_adamw_8bit",
        },
        {"parallelism": Parallelism(zero=3, offload="all")},
    ),
    (
        "adapters on named layers",
        "llm",
        {"task": "train_lora", **TUNED, "lora_rank": 16, "lora_targets": "q_proj, v_proj"},
        {"lora_targets": ["q_proj", "v_proj"]},
    ),
    (
        "hours of a training",
        "llm",
        {"task": "train_full", **TUNED, "epochs": 3.0, "dataset_samples": 52000},
        {},
    ),
    (
        "rewards",
        "llm",
        {"task": "grpo", "output_tokens": 512, "generations": 8, "engine_place": "shared"},
        {"variant": {"generations": 8, "colocated": True}},
    ),
    (
        "adapters that draw",
        "diffusion_transformer",
        {"task": "train_lora", "stack": "kohya", "image_size": 512},
        {},
    ),
    (
        "a film",
        "diffusion_transformer",
        {"task": "inference", "stack": "comfyui", "frames": 81, "steps": 20, "guidance": 1.0},
        {"variant": {"steps": 20, "guidance": 1.0}},
    ),
    (
        "speech",
        "asr",
        {"task": "inference", "stack": "faster-whisper", "batch_per_gpu": 35, "beams": 5},
        {"variant": {"beams": 5}},
    ),
    ("pictures in prompts", "vlm", {**LLM, "images": 2, "image_size": 1024}, {}),
    ("prompts that begin alike", "llm", {**LLM, "task": "serve", "prefix_tokens": 800}, {}),
    (
        "prompts of a benchmark",
        "llm",
        {"task": "serve", "prompt_set": "sharegpt"},
        {"dataset": "sharegpt"},
    ),
    ("a first word in time", "llm", {**LLM, "task": "serve", "target_first_token_ms": 500.0}, {}),
    (
        "stages on several cards",
        "llm",
        {**LLM, "stack": "vllm", "tensor": 2, "pipeline": 2},
        {"parallelism": Parallelism(tensor=2, pipeline=2)},
    ),
    ("a part of a card", "llm", {**LLM, "mig": "3g.40gb"}, {}),
    (
        "an engine without graphs",
        "llm",
        {**LLM, "stack": "vllm", "framework_text": "vllm 0.9 --enforce-eager"},
        {},
    ),
    ("a file of known size", "moe", {**LLM, "stack": "ik_llama.cpp", "weights_gib": 238.7}, {}),
    (
        "small batches that add up",
        "llm",
        {"task": "train_lora", **TUNED, "gradient_accumulation": 8},
        {},
    ),
    ("a training of so many tokens", "llm", {"task": "train", **TUNED, "train_tokens": 1e9}, {}),
    (
        "less memory for more time",
        "llm",
        {"task": "train_full", **TUNED, "gradient_checkpointing": "full", "attention": "sdpa"},
        {},
    ),
    (
        "texts of unequal length",
        "llm",
        {"task": "train_lora", **TUNED, "samples": "unequal"},
        {},
    ),
    (
        "pictures from a slow drive",
        "cnn",
        {
            "task": "train",
            "dataset_gb": 150.0,
            "dataset_samples": 1281167,
            "dataset_format": "files",
            "dataset_place": "network",
            "dataset_decoding": "cpu",
        },
        {},
    ),
    (
        "channels last",
        "cnn",
        {"task": "train", "layout": "NHWC"},
        {"variant": {"layout": "NHWC"}},
    ),
    (
        "gradients that come late",
        "cnn",
        {"task": "train", "sync": "stale", "staleness": 4},
        {"parallelism": Parallelism(sync="stale", staleness=4)},
    ),
    (
        "a film on end",
        "diffusion_transformer",
        {"task": "inference", "stack": "comfyui", "image_size": 720, "height": 1280, "frames": 81},
        {"image_size": [1280, 720]},
    ),
    (
        "a smaller model drafts",
        "llm",
        {**LLM, "stack": "vllm", "draft": "draft", "draft_tokens": 4},
        {"speculative": Speculative(method="draft", tokens=4)},
    ),
]


@pytest.mark.parametrize(
    ("kind", "fields", "held"), [row[1:] for row in QUESTIONS], ids=[row[0] for row in QUESTIONS]
)
def test_a_kind_of_question_is_asked_by_fields_that_are_there(
    kind: str, fields: dict[str, Any], held: dict[str, Any]
) -> None:
    work = Workload(model="any", task="inference")
    for field, value in fields.items():
        work = msgspec.structs.replace(work, **edited(work, field, value))
    text = kind in TEXT_KINDS
    shown = concerned(work, text, kind)
    for field, value in fields.items():
        assert value_of(work, field) == value
        assert shown.get(field, True) and TIPS[field]
    for name, value in held.items():
        assert getattr(work, name) == value
    stack = fields.get("stack")
    assert stack is None or stack in stacks_for(work, text, kind)
