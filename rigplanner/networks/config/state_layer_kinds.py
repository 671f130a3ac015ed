"""Which layers of a network hold a state, scan or convolve, and which attend, where its
configuration says so in a short form (transformers 5.23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KINDS = {
    "mamba": "linear_attention",
    "mamba2": "linear_attention",
    "attention": "full_attention",
    "M": "linear_attention",
    "*": "full_attention",
    "-": "mlp",
    "E": "moe",
}
"""Older words for kinds of layers."""


def _named(kinds: Any) -> list[str]:
    return [KINDS.get(kind, kind) for kind in kinds]


def pick_first(config: dict[str, Any], *names: str) -> Any:
    """The first of the fields that is there."""
    return next((config[name] for name in names if config.get(name) is not None), None)


def _all_scan(config: dict[str, Any]) -> dict[str, Any]:
    """No layer attends."""
    return {"layer_types": ["linear_attention"] * int(config["num_hidden_layers"])}


def _bamba(config: dict[str, Any]) -> dict[str, Any]:
    """Some layers attend, the others scan."""
    attends = config.get("attn_layer_indices") or ()
    count = int(config["num_hidden_layers"])
    return {
        "layer_types": [
            "full_attention" if at in attends else "linear_attention" for at in range(count)
        ]
    }


def _granite_hybrid(config: dict[str, Any]) -> dict[str, Any]:
    """All layers scan where no list says otherwise; without experts a network is dense."""
    kinds = (
        config.get("layer_types")
        or config.get("layers_block_type")
        or ["mamba"] * int(config["num_hidden_layers"])
    )
    return {
        "layer_types": _named(kinds),
        "num_local_experts": config.get("num_local_experts") or None,
    }


def _nemotron_h(config: dict[str, Any]) -> dict[str, Any]:
    """A list or a pattern of letters tells the only layer of each block."""
    told = (
        config.get("layers_block_type")
        or config.get("layer_types")
        or config.get("hybrid_override_pattern")
    )
    kinds = _named(told or ("linear_attention", "moe", "full_attention", "mlp"))
    sparse = config.get("n_routed_experts") if "moe" in kinds else None
    return {
        "layer_types": kinds,
        "num_hidden_layers": len(kinds),
        "n_routed_experts": sparse,
        "moe_layers": [at for at, kind in enumerate(kinds) if kind == "moe"],
    }


def _jamba(config: dict[str, Any]) -> dict[str, Any]:
    """One layer of so many attends, one of so many has experts."""
    count, step, first = (
        int(config["num_hidden_layers"]),
        int(config["attn_layer_period"]),
        int(config["attn_layer_offset"]),
    )
    every, begin = int(config["expert_layer_period"]), int(config["expert_layer_offset"])
    sparse = (
        [at for at in range(count) if at % every == begin]
        if int(config.get("num_experts") or 1) > 1
        else []
    )
    return {
        "layer_types": [
            "full_attention" if at % step == first else "linear_attention" for at in range(count)
        ],
        "moe_layers": sparse,
        "num_experts": config["num_experts"] if sparse else None,
    }


def _lfm2(config: dict[str, Any]) -> dict[str, Any]:
    """Some layers attend, the others convolve; the width of the feed-forward layers is rounded."""
    count, attends = int(config["num_hidden_layers"]), config.get("full_attn_idxs")
    kinds = config.get("layer_types") or [
        "full_attention" if attends is None or at in attends else "conv" for at in range(count)
    ]
    ffn = int(config.get("block_ff_dim") or config["intermediate_size"])
    if config.get("block_auto_adjust_ff_dim"):
        several = int(config.get("block_multiple_of") or 256)
        ffn = int((config.get("block_ffn_dim_multiplier") or 1.0) * int(2 * ffn / 3))
        ffn = several * -(-ffn // several)
    return {
        "layer_types": kinds,
        "intermediate_size": ffn,
        "block_ff_dim": None,
        "block_auto_adjust_ff_dim": False,
        "tie_word_embeddings": bool(
            config.get("tie_embedding", config.get("tie_word_embeddings", True))
        ),
    }


def _lfm2_moe(config: dict[str, Any]) -> dict[str, Any]:
    """The first layers are dense."""
    return _lfm2(config) | {"first_k_dense_replace": config.get("num_dense_layers") or 0}


def _zamba2(config: dict[str, Any]) -> dict[str, Any]:
    """A layer that looks at everything scans too; heads of attention are as wide as states and
    embeddings together."""
    count, hidden = int(config["num_hidden_layers"]), int(config["hidden_size"])
    kinds = config.get("layers_block_type") or [
        "hybrid" if at in (config.get("hybrid_layer_ids") or ()) else "mamba" for at in range(count)
    ]
    kinds = kinds[:count]
    return {
        "layer_types": [
            "full_attention" if kind == "hybrid" else "linear_attention" for kind in kinds
        ],
        "num_hidden_layers": len(kinds),
        "head_dim": 2 * hidden // int(config["num_attention_heads"]),
        "intermediate_size": config.get("intermediate_size") or 4 * hidden,
        "mamba_n_heads": config["n_mamba_heads"],
        "mamba_head_dim": config.get("mamba_headdim"),
        "mamba_n_groups": config.get("mamba_ngroups") or 1,
        "mamba_chunk_size": config.get("chunk_size") or 256,
        "mamba_proj_bias": config.get("add_bias_linear"),
        "mamba_conv_bias": config.get("use_conv_bias", True),
    }


def _kimi_linear(config: dict[str, Any]) -> dict[str, Any]:
    """Which layers attend to everything is told in a list of its own that counts from one."""
    told, count = config.get("linear_attn_config") or {}, int(config["num_hidden_layers"])
    full = told.get("full_attn_layers")
    listed = (
        ["full_attention" if at + 1 in full else "linear_attention" for at in range(count)]
        if full
        else None
    )
    kinds = (
        config.get("layer_types")
        or listed
        or ["full_attention" if at and at % 4 == 0 else "linear_attention" for at in range(count)]
    )
    dense = config.get("mlp_layer_types")
    return {
        "layer_types": kinds,
        "num_local_experts": pick_first(config, "num_experts", "num_local_experts"),
        "num_experts_per_tok": pick_first(config, "num_experts_per_token", "num_experts_per_tok"),
        "n_shared_experts": pick_first(config, "num_shared_experts", "n_shared_experts") or 0,
        "linear_heads": told.get("num_heads") or config.get("linear_num_heads"),
        "linear_width": told.get("head_dim") or config.get("linear_head_dim"),
        "linear_kernel": told.get("short_conv_kernel_size")
        or config.get("linear_conv_kernel_dim")
        or 4,
        "mlp_only_layers": [at for at, kind in enumerate(dense) if kind == "dense"]
        if dense
        else [],
        "first_k_dense_replace": 0 if dense else pick_first(config, "first_k_dense_replace") or 1,
    }


def _minimax(config: dict[str, Any]) -> dict[str, Any]:
    """Layers attend and scan by turns; the words for them were numbers once."""
    count, told = (
        int(config["num_hidden_layers"]),
        config.get("layer_types") or config.get("attn_type_list"),
    )
    kinds = told or [at % 2 == 0 for at in range(count)]
    return {
        "layer_types": [
            kind if isinstance(kind, str) else "full_attention" if kind else "linear_attention"
            for kind in kinds
        ]
    }


def _recurrent_gemma(config: dict[str, Any]) -> dict[str, Any]:
    """Two layers of three recur, the third attends within a window."""
    count, told = (
        int(config["num_hidden_layers"]),
        config.get("block_types") or ("recurrent", "recurrent", "attention"),
    )
    kinds = [
        "sliding_attention" if told[at % len(told)] == "attention" else "linear_attention"
        for at in range(count)
    ]
    return {"layer_types": kinds, "sliding_window": config.get("attention_window_size") or 2048}


def _every_fourth(config: dict[str, Any]) -> dict[str, Any]:
    """One layer of so many attends to everything, the others follow the delta rule."""
    count, every = int(config["num_hidden_layers"]), int(config.get("full_attention_interval") or 4)
    kinds = config.get("layer_types") or [
        "linear_attention" if (at + 1) % every else "full_attention" for at in range(count)
    ]
    return {"layer_types": kinds}


def _olmo_hybrid(config: dict[str, Any]) -> dict[str, Any]:
    """Three layers of four follow the delta rule, whose keys are three quarters as wide as the
    states and values twice that."""
    count, heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
    told = config.get("layer_types") or [
        "full_attention" if at % 4 == 3 else "linear_attention" for at in range(count)
    ]
    kinds = told if "full_attention" in told else [*told[:-1], "full_attention"]
    keys = config.get("linear_num_key_heads") or heads
    width = config.get("linear_key_head_dim") or int(0.75 * config["hidden_size"] / keys)
    return {
        "layer_types": kinds,
        "linear_num_key_heads": keys,
        "linear_key_head_dim": width,
        "linear_num_value_heads": config.get("linear_num_value_heads") or heads,
        "linear_value_head_dim": config.get("linear_value_head_dim") or 2 * width,
    }


def _lfm3(config: dict[str, Any]) -> dict[str, Any]:
    """Layers convolve and attend by turns, to a window or to everything."""
    kinds = config.get("layer_types") or [
        "full_attention" if at % 4 == 2 else "sliding_attention" if at and at % 4 == 0 else "conv"
        for at in range(int(config["num_hidden_layers"]))
    ]
    return {"layer_types": kinds}


STATE_LAYERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "mamba": _all_scan,
    "mamba2": _all_scan,
    "falcon_mamba": _all_scan,
    "bamba": _bamba,
    "granitemoehybrid": _granite_hybrid,
    "nemotron_h": _nemotron_h,
    "jamba": _jamba,
    "lfm2": _lfm2,
    "lfm2_moe": _lfm2_moe,
    "zamba2": _zamba2,
    "kimi_linear": _kimi_linear,
    "minimax": _minimax,
    "recurrent_gemma": _recurrent_gemma,
    "qwen3_next": _every_fourth,
    "qwen3_5_text": _every_fourth,
    "qwen3_5_moe_text": _every_fourth,
    "olmo_hybrid": _olmo_hybrid,
    "lfm3": _lfm3,
}
"""Fields by kind of network that full configurations get besides."""
