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


def _ernie(config: dict[str, Any]) -> dict[str, Any]:
    """Experts by names of their own, between a first and a last layer."""
    count = int(config["num_hidden_layers"])
    first, last = int(config.get("moe_layer_start_index") or 0), config.get("moe_layer_end_index")
    last = count - 1 if last is None or last < 0 else int(last)
    return {
        "num_experts": config.get("moe_num_experts"), "num_experts_per_tok": config.get("moe_k"),
        "n_shared_experts": config.get("moe_num_shared_experts") or 0, "first_k_dense_replace": first,
        "mlp_only_layers": list(range(last + 1, count)),
    }  # fmt: skip


def _granite_shared(config: dict[str, Any]) -> dict[str, Any]:
    """The expert that every token visits is as wide as its own field says."""
    return {"shared_expert_width": config.get("shared_intermediate_size") or 0}


def _phimoe(config: dict[str, Any]) -> dict[str, Any]:
    """Its router always chooses two experts."""
    return {"num_experts_per_tok": 2}


LAYERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "afmoe": _afmoe, "gemma4_text": _gemma4, "llama4_text": _llama4, "ernie4_5_moe": _ernie,
    "granitemoeshared": _granite_shared, "phimoe": _phimoe,
}  # fmt: skip
"""Fields by kind of network that full configurations get besides."""
