"""Which layer of a network is of which kind, where its configuration says so in a short form
(transformers 5.23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.config.state_layer_kinds import STATE_LAYERS, pick_first


def _gemma4(config: dict[str, Any]) -> dict[str, Any]:
    """Every sixth layer and the last attend to everything; experts are told by a name of their
    own."""
    count = int(config["num_hidden_layers"])
    kinds = config.get("layer_types") or [
        "full_attention" if at % 6 == 5 else "sliding_attention" for at in range(count)
    ]
    told = config.get("enable_moe_block")
    sparse = bool(config.get("num_experts")) if told is None else bool(told)
    return {
        "layer_types": [*kinds[: count - 1], "full_attention"],
        "num_experts": config.get("num_experts") if sparse else None,
        "num_experts_per_tok": (config.get("top_k_experts") or config.get("num_experts_per_tok"))
        if sparse
        else None,
    }


def _gemma3n(config: dict[str, Any]) -> dict[str, Any]:
    """Every fifth layer attends to everything; the first ten of a deep network keep few of their
    gates."""
    count = int(config["num_hidden_layers"])
    kinds = config.get("layer_types") or [
        "full_attention" if at % 5 == 4 else "sliding_attention" for at in range(count)
    ]
    told = config.get("activation_sparsity_pattern")
    sparse = [0.95 if at < 10 < count else 0.0 for at in range(count)] if told is None else told
    return {
        "layer_types": kinds,
        "activation_sparsity_pattern": sparse if isinstance(sparse, list) else [sparse] * count,
    }


def _llama4(config: dict[str, Any]) -> dict[str, Any]:
    """Every fourth layer is not rotated and attends to everything; experts stand in every layer or
    in one of a few."""
    count, every = int(config["num_hidden_layers"]), int(config.get("no_rope_layer_interval") or 4)
    turned = config.get("no_rope_layers") or [(at + 1) % every != 0 for at in range(count)]
    step = int(config.get("interleave_moe_layer_step") or 1)
    sparse = config.get("moe_layers")
    return {
        "layer_types": ["chunked_attention" if turns else "full_attention" for turns in turned],
        "moe_layers": list(range(step - 1, count, step)) if sparse is None else sparse,
        "sliding_window": config.get("attention_chunk_size"),
    }


def _afmoe(config: dict[str, Any]) -> dict[str, Any]:
    """Every fourth layer attends to everything; dense layers and shared experts are told by names
    of their own."""
    count, every = (
        int(config["num_hidden_layers"]),
        int(config.get("global_attn_every_n_layers") or 4),
    )
    kinds = config.get("layer_types") or [
        "sliding_attention" if (at + 1) % every else "full_attention" for at in range(count)
    ]
    return {
        "layer_types": kinds,
        "first_k_dense_replace": config.get("num_dense_layers") or 0,
        "n_shared_experts": config.get("num_shared_experts") or 0,
    }


def _ernie(config: dict[str, Any]) -> dict[str, Any]:
    """Experts by names of their own, between a first and a last layer."""
    count = int(config["num_hidden_layers"])
    first, last = int(config.get("moe_layer_start_index") or 0), config.get("moe_layer_end_index")
    last = count - 1 if last is None or last < 0 else int(last)
    return {
        "num_experts": config.get("moe_num_experts"),
        "num_experts_per_tok": config.get("moe_k"),
        "n_shared_experts": config.get("moe_num_shared_experts") or 0,
        "first_k_dense_replace": first,
        "mlp_only_layers": list(range(last + 1, count)),
    }


def _granite_shared(config: dict[str, Any]) -> dict[str, Any]:
    """The expert that every token visits is as wide as its own field says."""
    return {"shared_expert_width": config.get("shared_intermediate_size") or 0}


def _phimoe(config: dict[str, Any]) -> dict[str, Any]:
    """Its router always chooses two experts."""
    return {"num_experts_per_tok": 2}


def _falcon(config: dict[str, Any]) -> dict[str, Any]:
    """One head of keys and values for all where `multi_query` says so, whatever number stands
    beside it (FalconAttention)."""
    heads, told = (
        config.get("num_attention_heads") or config.get("n_head"),
        config.get("num_kv_heads"),
    )
    if config.get("new_decoder_architecture"):
        return {"num_kv_heads": told or heads}
    return {"num_kv_heads": 1 if config.get("multi_query", True) else told or heads}


def _aria(config: dict[str, Any]) -> dict[str, Any]:
    """Experts by names of their own, as wide as the feed-forward layer."""
    return {
        "num_experts": config["moe_num_experts"],
        "num_experts_per_tok": config["moe_topk"],
        "n_shared_experts": config.get("moe_num_shared_experts") or 0,
        "moe_intermediate_size": config["intermediate_size"],
    }


def _cohere_moe(config: dict[str, Any]) -> dict[str, Any]:
    """Shared experts by a name of their own; dense layers by kind, with a width of their own."""
    kinds, wide = config.get("mlp_layer_types") or [], config["intermediate_size"]
    return {
        "n_shared_experts": config.get("num_shared_experts") or 0,
        "moe_intermediate_size": wide,
        "intermediate_size": config.get("prefix_dense_intermediate_size") or wide,
        "mlp_only_layers": [at for at, kind in enumerate(kinds) if kind == "dense"],
    }


def _hunyuan_moe(config: dict[str, Any]) -> dict[str, Any]:
    """Experts as wide as the layer that every token visits."""
    used = config.get("moe_topk") or 1
    return {
        "num_experts_per_tok": used[0] if isinstance(used, list) else used,
        "shared_expert_width": config["intermediate_size"],
        "moe_intermediate_size": None,
    }


def _exaone_moe(config: dict[str, Any]) -> dict[str, Any]:
    """Dense layers and shared experts are told by names of their own."""
    kinds = config.get("mlp_layer_types")
    dense = [at for at, kind in enumerate(kinds) if kind == "dense"] if kinds else []
    return {
        "n_shared_experts": config.get("num_shared_experts") or 0,
        "mlp_only_layers": dense,
        "first_k_dense_replace": 0 if kinds else config.get("first_k_dense_replace") or 0,
    }


def _dense_or_sparse(config: dict[str, Any]) -> dict[str, Any]:
    """Which layers have experts is told layer by layer; shared experts by a name of their own. Two
    kinds of attention make two masks."""
    kinds = config.get("mlp_layer_types") or (["dense"] if config["model_type"] == "hy_v3" else ())
    shared = pick_first(config, "num_shared_experts", "n_shared_experts")
    return {
        "mlp_only_layers": [at for at, kind in enumerate(kinds) if kind == "dense"],
        "n_shared_experts": shared or 0,
        "first_k_dense_replace": 0,
    }


def _first_dense(config: dict[str, Any], first: int) -> dict[str, Any]:
    """Dense layers before and between layers of experts, told layer by layer or by a number, which
    is `first` unless told."""
    kinds = config.get("mlp_layer_types")
    if not kinds:
        told = config.get("first_k_dense_replace")
        return {"first_k_dense_replace": first if told is None else told}
    kinds = kinds[: int(config["num_hidden_layers"])]
    first = next((at for at, kind in enumerate(kinds) if kind != "dense"), len(kinds))
    dense = [at for at, kind in enumerate(kinds) if kind == "dense" and at > first]
    return {"first_k_dense_replace": first, "mlp_only_layers": dense, "mlp_layer_types": None}


def _axk1(config: dict[str, Any]) -> dict[str, Any]:
    """The first layer is dense unless told."""
    return _first_dense(config, 1)


def _picking(config: dict[str, Any]) -> dict[str, Any]:
    """The first three layers are dense unless told, and every layer picks tokens by itself."""
    count = int(config["num_hidden_layers"])
    kinds = list(config.get("indexer_types") or ())[:count]
    return _first_dense(config, 3) | {"indexer_types": kinds + ["full"] * (count - len(kinds))}


def _hy_v4(config: dict[str, Any]) -> dict[str, Any]:
    """The first layer is dense; one layer in four picks tokens, the others take over what it
    picked."""
    count = int(config["num_hidden_layers"])
    kinds = config.get("indexer_types") or [
        "full" if not at or (at - 1) % 4 == 0 else "shared" for at in range(count)
    ]
    return _first_dense(config, 1) | {"indexer_types": kinds, "rope_interleave": False}


def _zaya(config: dict[str, Any]) -> dict[str, Any]:
    """All layers attend, to everything or within a window, by words of their own."""
    told = config.get("layer_types") or ["hybrid"] * int(config["num_hidden_layers"])
    words = {"hybrid": "full_attention", "hybrid_sliding": "sliding_attention"}
    return {"layer_types": [words.get(kind, kind) for kind in told]}


def _mimo(config: dict[str, Any]) -> dict[str, Any]:
    """The first layer and every sixth attend to everything; the first is dense."""
    count = int(config["num_hidden_layers"])
    kinds = config.get("layer_types") or [
        "sliding_attention" if at and (at + 1) % 6 else "full_attention" for at in range(count)
    ]
    return {"layer_types": kinds, **_first_dense(config, 1)}


def _dbrx(config: dict[str, Any]) -> dict[str, Any]:
    """Sizes of attention and of experts stand in objects of their own."""
    attends, feeds = config.get("attn_config") or {}, config.get("ffn_config") or {}
    return {
        "hidden_size": config["d_model"],
        "num_attention_heads": config["n_heads"],
        "num_hidden_layers": config["n_layers"],
        "num_key_value_heads": attends.get("kv_n_heads") or config.get("num_key_value_heads") or 1,
        "moe_intermediate_size": feeds.get("ffn_hidden_size")
        or config.get("moe_intermediate_size")
        or 3584,
        "num_experts": feeds.get("moe_num_experts") or config.get("num_experts") or 4,
        "num_experts_per_tok": feeds.get("moe_top_k") or config.get("num_experts_per_tok") or 1,
        "attention_dropout": attends.get("attn_pdrop") or 0.0,
        "attn_config": None,
        "ffn_config": None,
        "clip_qkv": attends.get("clip_qkv") or config.get("clip_qkv"),
    }


def _all_look(config: dict[str, Any]) -> dict[str, Any]:
    """All layers attend to everything unless told."""
    return {
        "layer_types": config.get("layer_types")
        or ["full_attention"] * int(config["num_hidden_layers"])
    }


def _laguna(config: dict[str, Any]) -> dict[str, Any]:
    """All layers attend to everything unless told; the first is dense."""
    return _all_look(config) | _first_dense(config, 1)


def _kolibri(config: dict[str, Any]) -> dict[str, Any]:
    """Every fifth layer attends to everything."""
    count = int(config["num_hidden_layers"])
    return {
        "layer_types": config.get("layer_types")
        or ["sliding_attention" if (at + 1) % 5 else "full_attention" for at in range(count)]
    }


def _flint(config: dict[str, Any]) -> dict[str, Any]:
    """The first two layers, every fourth and the last attend to everything; the first two are
    dense."""
    count, dense = int(config["num_hidden_layers"]), config.get("mlp_only_layers")
    kinds = config.get("layer_types") or [
        "full_attention" if at < 2 or at % 4 == 1 or at == count - 1 else "sliding_attention"
        for at in range(count)
    ]
    return {"layer_types": kinds, "mlp_only_layers": [0, 1] if dense is None else dense}


def _neox_japanese(config: dict[str, Any]) -> dict[str, Any]:
    """The feed-forward layer is so many times as wide as the states."""
    return {
        "intermediate_size": int(
            config["hidden_size"] * (config.get("intermediate_multiple_size") or 4)
        )
    }


def _internlm3(config: dict[str, Any]) -> dict[str, Any]:
    """Biases by names of their own."""
    bias = bool(pick_first(config, "qkv_bias", "attention_bias"))
    return {"attention_bias": bias, "mlp_bias": bool(pick_first(config, "bias", "mlp_bias"))}


def _plain_pairs(config: dict[str, Any]) -> dict[str, Any]:
    """The halves of a head are rotated, not pairs of neighbours."""
    return {"rope_interleave": False}


def _t5gemma(config: dict[str, Any]) -> dict[str, Any]:
    """Encoder and decoder are told apart; the sizes of the whole are the decoder's."""
    encoder, decoder = (dict(config.get(side) or {}) for side in ("encoder", "decoder"))
    names = (
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "vocab_size",
    )
    told = {name: decoder[name] for name in names if decoder.get(name)}
    return told | {
        "encoder_layers": encoder.get("num_hidden_layers") or config["num_hidden_layers"]
    }


def _fsmt(config: dict[str, Any]) -> dict[str, Any]:
    """The words it writes."""
    return {"vocab_size": config["tgt_vocab_size"]}


def _switch(config: dict[str, Any]) -> dict[str, Any]:
    """A token visits one expert, in some layers of encoder and decoder."""
    sides = [(int(config["num_layers"]), config["num_sparse_encoder_layers"])]
    sides.append(
        (
            int(config.get("num_decoder_layers") or config["num_layers"]),
            config["num_sparse_decoder_layers"],
        )
    )
    steps = [(layers, layers // sparse if sparse > 0 else layers) for layers, sparse in sides]
    sparse = [
        at
        for layers, step in steps
        for at in range(layers)
        if step == 1 or (step > 0 and at % step == 1)
    ]
    return {
        "moe_layers": sparse,
        "num_experts_per_tok": 1,
        "hidden_size": config["d_model"],
        "moe_intermediate_size": config["d_ff"],
    }


LAYERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **STATE_LAYERS,
    "falcon": _falcon,
    "afmoe": _afmoe,
    "gemma4_text": _gemma4,
    "gemma3n_text": _gemma3n,
    "llama4_text": _llama4,
    "ernie4_5_moe": _ernie,
    "granitemoeshared": _granite_shared,
    "granitemoe_swa": _granite_shared,
    "aria_text": _aria,
    "cohere2_moe": _cohere_moe,
    "phimoe": _phimoe,
    "hunyuan_v1_moe": _hunyuan_moe,
    "exaone_moe": _exaone_moe,
    "mellum": _dense_or_sparse,
    "hy_v3": _dense_or_sparse,
    "internlm3": _internlm3,
    "minicpm3": _plain_pairs,
    "t5gemma": _t5gemma,
    "switch_transformers": _switch,
    "fsmt": _fsmt,
    "axk1": _axk1,
    "axk2": _axk1,
    "hy_v4": _hy_v4,
    "zaya": _zaya,
    "deepseek_v32": _picking,
    "glm_moe_dsa": _picking,
    "mimo_v2_flash": _mimo,
    "laguna": _laguna,
    "kolibri1": _kolibri,
    "cohere_compass_text": _all_look,
    "dbrx": _dbrx,
    "flint": _flint,
    "gpt_neox_japanese": _neox_japanese,
}
"""Fields by kind of network that full configurations get besides."""
