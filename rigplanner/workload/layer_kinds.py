"""Which layer of a network is of which kind, where its configuration says so in a short form (transformers 5.23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _gemma4(config: dict[str, Any]) -> dict[str, Any]:
    """Every sixth layer and the last attend to everything; experts are told by a name of their own."""
    count = int(config["num_hidden_layers"])
    kinds = config.get("layer_types") or ["full_attention" if at % 6 == 5 else "sliding_attention" for at in range(count)]
    told = config.get("enable_moe_block")
    sparse = bool(config.get("num_experts")) if told is None else bool(told)
    return {
        "layer_types": [*kinds[: count - 1], "full_attention"], "num_experts": config.get("num_experts") if sparse else None,
        "num_experts_per_tok": (config.get("top_k_experts") or config.get("num_experts_per_tok")) if sparse else None,
    }  # fmt: skip


def _llama4(config: dict[str, Any]) -> dict[str, Any]:
    """Every fourth layer is not rotated and attends to everything; experts stand in every layer or in one of a few."""
    count, every = int(config["num_hidden_layers"]), int(config.get("no_rope_layer_interval") or 4)
    turned = config.get("no_rope_layers") or [(at + 1) % every != 0 for at in range(count)]
    step = int(config.get("interleave_moe_layer_step") or 1)
    sparse = config.get("moe_layers")
    return {
        "layer_types": ["chunked_attention" if turns else "full_attention" for turns in turned],
        "moe_layers": list(range(step - 1, count, step)) if sparse is None else sparse,
        "sliding_window": config.get("attention_chunk_size"),
    }  # fmt: skip


def _afmoe(config: dict[str, Any]) -> dict[str, Any]:
    """Every fourth layer attends to everything; dense layers and shared experts are told by names of their own."""
    count, every = int(config["num_hidden_layers"]), int(config.get("global_attn_every_n_layers") or 4)
    kinds = config.get("layer_types") or ["sliding_attention" if (at + 1) % every else "full_attention" for at in range(count)]
    return {
        "layer_types": kinds, "first_k_dense_replace": config.get("num_dense_layers") or 0,
        "n_shared_experts": config.get("num_shared_experts") or 0,
    }  # fmt: skip


LAYERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"afmoe": _afmoe, "gemma4_text": _gemma4, "llama4_text": _llama4}
"""Fields by kind of network that full configurations get besides."""
