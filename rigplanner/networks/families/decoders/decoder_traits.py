"""What sets each family of decoders apart, and what the fields of a configuration change of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.traits import Traits

NEOX = {
    "qkv_proj": "query_key_value",
    "o_proj": "dense",
    "up_proj": "dense_h_to_4h",
    "down_proj": "dense_4h_to_h",
}
TRAITS: dict[str, Traits] = {
    "llama": Traits(),
    "mistral": Traits(),
    "qwen2": Traits(qkv_bias=True),
    "qwen3": Traits(qk_norm="head"),
    "gemma": Traits(norm="rms_one", act="gelu", scaled_embedding=True),
    "gemma2": Traits(
        norm="rms_one",
        act="gelu",
        scaled_embedding=True,
        block="sandwich",
        capped_attention=True,
        capped_logits=True,
        two_masks=True,
    ),
    "gemma3_text": Traits(
        norm="rms_one",
        act="gelu",
        scaled_embedding=True,
        block="sandwich",
        qk_norm="head",
        two_masks=True,
    ),
    "phi": Traits(
        holds_unturned=True,
        names={"o_proj": "dense", "up_proj": "fc1", "down_proj": "fc2"},
        norm="layer",
        block="parallel",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.5,
        head_bias=True,
    ),
    "phi3": Traits(projection="sliced", mlp="gated_fused"),
    "gpt2": Traits(
        softmax="own",
        holds_attended=True,
        names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"},
        norm="layer",
        projection="split",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.0,
        learned_positions=1024,
        dropout=0.1,
        embedding_dropout=0.1,
        attention_dropout=0.1,
    ),
    "gpt_neox": Traits(
        names=NEOX,
        norm="layer",
        block="parallel_two",
        projection="split",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
        rope=0.25,
    ),
    "opt": Traits(
        mask_free=True,
        inline_feed=True,
        scaled_query=True,
        spread_positions=True,
        names={"o_proj": "out_proj", "up_proj": "fc1", "down_proj": "fc2"},
        norm="layer",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="relu",
        rope=0.0,
        learned_positions=2050,
        dropout=0.1,
    ),
    "olmo": Traits(norm="layer_bare", rope_float=True),
    "olmo2": Traits(norm="rms_wide", rope_float=True, block="post", qk_norm="full"),
    "stablelm": Traits(
        holds_unturned=True, holds_normed=True, holds_attended=True, norm="layer", rope=0.25
    ),
    "starcoder2": Traits(
        names={"up_proj": "c_fc", "down_proj": "c_proj"},
        norm="layer",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
    ),
    "granite": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "cohere": Traits(norm="layer_mean", block="parallel", scaled_logits=True),
    "glm": Traits(qkv_bias=True, rope=0.5, mlp="gated_fused"),
    "smollm3": Traits(),
    "mixtral": Traits(),
    "qwen2_moe": Traits(qkv_bias=True),
    "qwen3_moe": Traits(qk_norm="head"),
    "gpt_oss": Traits(norm="rms_wide", qkv_bias=True, out_bias=True, sinks=True, two_masks=True),
    "deepseek_v3": Traits(latent=True),
    "falcon": Traits(
        holds_weights=True,
        holds_attended=True,
        joint_dropout=True,
        softmax="states",
        names=NEOX,
        norm="layer",
        block="parallel",
        projection="split",
        mlp="plain",
        act="gelu",
        broadcast_heads=True,
    ),
    "gptj": Traits(
        holds_weights=True,
        scores="float",
        holds_unturned=True,
        eager_only=True,
        names={"o_proj": "out_proj", "up_proj": "fc_in", "down_proj": "fc_out"},
        norm="layer",
        block="parallel",
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.25,
        head_bias=True,
    ),
    "gpt_neo": Traits(
        holds_weights=True,
        scores="float",
        names={"o_proj": "out_proj", "up_proj": "c_fc", "down_proj": "c_proj"},
        norm="layer",
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.0,
        learned_positions=2048,
        eager_only=True,
    ),
    "bloom": Traits(
        holds_weights=True,
        scores="biased",
        names=NEOX,
        norm="layer",
        projection="split",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
        rope=0.0,
        eager_only=True,
        embedding_norm=True,
    ),
    "mpt": Traits(
        holds_weights=True,
        scores="filled",
        eager_only=True,
        norm="layer_plain",
        projection="split",
        mlp="plain",
        act="gelu",
        rope=0.0,
    ),
    "gpt_bigcode": Traits(
        holds_attended=True,
        seen_square=True,
        names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"},
        norm="layer",
        projection="split",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
        rope=0.0,
        learned_positions=1024,
        dropout=0.1,
        embedding_dropout=0.1,
        attention_dropout=0.1,
    ),
    "biogpt": Traits(
        softmax="own",
        names={"o_proj": "out_proj", "up_proj": "fc1", "down_proj": "fc2"},
        norm="layer",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
        rope=0.0,
        learned_positions=1026,
        scaled_embedding=True,
        dropout=0.1,
        embedding_dropout=0.1,
        attention_dropout=0.1,
    ),
    "codegen": Traits(
        holds_weights=True,
        scores="float",
        holds_unturned=True,
        eager_only=True,
        names={"o_proj": "out_proj", "up_proj": "fc_in", "down_proj": "fc_out"},
        norm="layer",
        block="parallel",
        projection="split",
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.25,
        head_bias=True,
    ),
    "ernie4_5_moe": Traits(rope_wide=True),
    "ernie4_5": Traits(rope_wide=True),
    "granitemoeshared": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "apertus": Traits(qk_norm="head", mlp="plain", act="xielu"),
    "arcee": Traits(mlp="plain", act="relu2"),
    "seed_oss": Traits(dropout=0.1, attention_dropout=0.1),
    "hunyuan_v1_dense": Traits(qk_norm="late"),
    "exaone4": Traits(block="post", qk_norm="head"),
    "glm4": Traits(qkv_bias=True, rope=0.5, mlp="gated_fused", block="sandwich"),
    "helium": Traits(norm="rms_wide"),
    "nemotron": Traits(norm="layer", mlp="plain", act="relu2", rope=0.5),
    "olmo3": Traits(norm="rms_wide", rope_float=True, block="post", qk_norm="full", two_masks=True),
    "cohere2": Traits(norm="layer_mean", block="parallel", scaled_logits=True, two_masks=True),
    "ministral3": Traits(),
    "qwen3_next": Traits(norm="rms_one", qk_norm="head", rope=0.25, gated_result=True),
    "qwen3_5_text": Traits(norm="rms_one", qk_norm="head", rope=0.25, gated_result=True),
    "qwen3_5_moe_text": Traits(norm="rms_one", qk_norm="head", rope=0.25, gated_result=True),
    "cwm": Traits(),
    "olmoe": Traits(qk_norm="full"),
    "glm4_moe": Traits(rope=0.5),
    "dots1": Traits(qk_norm="head"),
    "phimoe": Traits(norm="layer"),
    "granitemoe": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "llama4_text": Traits(softmax="own", two_masks=True),
    "afmoe": Traits(norm="rms_wide", block="sandwich", qk_norm="head"),
    "eurobert": Traits(),
    "nomic_bert": Traits(
        norm="layer",
        block="after",
        holds_attended=True,
        softmax="own",
        embedding_norm=True,
        last_norm=False,
        head_bias=True,
    ),
    "gemma3n_text": Traits(norm="rms_wide", act="gelu", scaled_embedding=True, qk_norm="head"),
    "jais2": Traits(
        norm="layer", qkv_bias=True, out_bias=True, mlp="plain", mlp_bias=True, act="relu2"
    ),
    "hyperclovax": Traits(scaled_embedding=True, scaled_residual=True, scaled_logits=True),
    "vaultgemma": Traits(
        norm="rms_one",
        act="gelu",
        scaled_embedding=True,
        capped_attention=True,
        capped_logits=True,
        two_masks=True,
    ),
    "bitnet": Traits(act="relu2", sub_norms=True),
    "flex_olmo": Traits(norm="rms_wide", rope_float=True, block="post", qk_norm="full"),
    "exaone_moe": Traits(qk_norm="head"),
    "hunyuan_v1_moe": Traits(qk_norm="late"),
    "nanochat": Traits(
        norm="rms_bare",
        qk_norm="late",
        mlp="plain",
        act="relu2",
        embedding_norm=True,
        capped_logits=True,
    ),
    "lfm2_moe": Traits(
        qk_norm="head",
        names={"o_proj": "out_proj", "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"},
    ),
    "persimmon": Traits(
        holds_unturned=True,
        names=NEOX,
        norm="layer",
        projection="sliced",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="relu2",
        rope=0.5,
    ),
    "bamba": Traits(rope=0.5, holds_weights=True),
    "granitemoehybrid": Traits(
        scaled_embedding=True,
        scaled_residual=True,
        scaled_logits=True,
        mlp="gated_fused",
        names={"gate_up_proj": "input_linear", "down_proj": "output_linear"},
    ),
    "jamba": Traits(rope=0.0),
    "nemotron_h": Traits(norm="rms_wide", mlp="plain", act="relu2", rope=0.0),
    "lfm2": Traits(
        qk_norm="head",
        names={"o_proj": "out_proj", "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"},
    ),
    "falcon_h1": Traits(scaled_embedding=True, scaled_logits=True),
    "gemma4_text": Traits(
        norm="rms_wide", act="gelu", scaled_embedding=True, block="sandwich", qk_norm="head"
    ),
    "gte": Traits(
        norm="layer",
        block="after",
        qkv_bias=True,
        out_bias=True,
        embedding_norm=True,
        last_norm=False,
        head_bias=True,
        act="gelu",
        down_bias=True,
        holds_attended=True,
        softmax="own",
    ),
    "jina_embeddings_v3": Traits(
        norm="layer",
        block="after",
        qkv_bias=True,
        out_bias=True,
        embedding_norm=True,
        last_norm=False,
        head_bias=True,
        act="gelu",
        mlp="plain",
        mlp_bias=True,
        names={"up_proj": "fc1", "down_proj": "fc2"},
        holds_attended=True,
        softmax="own",
        seen_places=2,
    ),
    "recurrent_gemma": Traits(
        norm="rms_one",
        act="gelu",
        scaled_embedding=True,
        capped_logits=True,
        out_bias=True,
        mlp_bias=True,
        rope=0.5,
        holds_normed=True,
        capped_at_once=True,
    ),
    "zamba2": Traits(act="gelu", rope=0.0),
    "granite_swa": Traits(
        scaled_embedding=True,
        scaled_residual=True,
        scaled_logits=True,
        two_masks=True,
        eager_only=True,
        scores="sunk",
    ),
    "granitemoe_swa": Traits(
        scaled_embedding=True,
        scaled_residual=True,
        scaled_logits=True,
        two_masks=True,
        eager_only=True,
        scores="sunk",
    ),
    "aria_text": Traits(),
    "cohere2_moe": Traits(norm="layer_mean", block="parallel", scaled_logits=True, two_masks=True),
    "kimi_linear": Traits(rope=0.0),
    "minimax": Traits(),
    "diffllama": Traits(scores="differential"),
    "internlm3": Traits(),
    "ministral": Traits(two_masks=True),
    "mellum": Traits(qk_norm="head"),
    "minimax_m2": Traits(qk_norm="full"),
    "solar_open": Traits(),
    "hy_v3": Traits(qk_norm="head"),
    "youtu": Traits(),
    "minicpm3": Traits(scaled_embedding=True, scaled_residual=True, scaled_states=True),
    "xglm": Traits(
        inline_feed=True,
        names={"o_proj": "out_proj", "up_proj": "fc1", "down_proj": "fc2"},
        norm="layer",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu",
        rope=0.0,
        scaled_query=True,
        scores="capped_below",
        eager_only=True,
        fixed_positions=True,
    ),
    "openai-gpt": Traits(
        names={"qkv_proj": "c_attn", "o_proj": "c_proj", "up_proj": "c_fc", "down_proj": "c_proj"},
        norm="layer",
        block="after",
        projection="split",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="gelu_new",
        rope=0.0,
        learned_positions=512,
        last_norm=False,
        scores="blended",
        eager_only=True,
    ),
    "emu3_text_model": Traits(dropout=0.1, attention_dropout=0.1),
    "mllama_text_model": Traits(float_logits=True),
    "kolibri1": Traits(qk_norm="head", block="sandwich", two_masks=True),
    "flint": Traits(
        norm="rms_wide",
        qk_norm="head",
        sinks=True,
        scores="float_sinks",
        eager_only=True,
        two_masks=True,
    ),
    "laguna": Traits(qk_norm="head", rope_joins=True),
    "mimo_v2_flash": Traits(
        rope=0.334, rope_joins=True, softmax="own", eager_only=True, two_masks=True
    ),
    "axk1": Traits(latent=True),
    "deepseek_v32": Traits(latent=True),
    "glm_moe_dsa": Traits(latent=True),
    "gpt_neox_japanese": Traits(
        names=NEOX,
        norm="layer",
        projection="sliced",
        mlp="plain",
        act="gelu",
        rope_joins=True,
        scores="from_zeros",
        eager_only=True,
        attention_dropout=0.1,
        holds_weights=True,
    ),
    "cohere_compass_text": Traits(norm="layer_mean", block="parallel", two_masks=True),
    "axk2": Traits(latent=True),
    "dbrx": Traits(
        norm="layer_plain", projection="split", names={"qkv_proj": "Wqkv", "o_proj": "out_proj"}
    ),
    "zaya": Traits(rope=0.5, rope_joins=True),
    "olmo_hybrid": Traits(norm="rms_wide", rope_float=True, block="post", qk_norm="full"),
    "phi4_multimodal": Traits(projection="sliced", mlp="gated_fused"),
    "hy_v4": Traits(latent=True, eager_only=True),
    "lfm3": Traits(qk_norm="head", names={"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}),
    "ctrl": Traits(
        softmax="own",
        names={
            "q_proj": "Wq",
            "k_proj": "Wk",
            "v_proj": "Wv",
            "o_proj": "dense",
            "up_proj": "0",
            "down_proj": "2",
        },
        norm="layer",
        qkv_bias=True,
        out_bias=True,
        mlp="plain",
        mlp_bias=True,
        act="relu",
        rope=0.0,
        head_bias=True,
        fixed_positions=True,
        scaled_embedding=True,
        scaled_in_place=True,
        holds_normed=True,
        holds_attended=True,
    ),
}


BIAS_EVERYWHERE = {
    "llama",
    "qwen3",
    "qwen3_moe",
    "gemma",
    "gemma2",
    "gemma3_text",
    "granite",
    "cohere",
    "cohere2",
    "olmo",
    "olmo2",
    "olmo3",
    "smollm3",
    "gpt_neox",
    "gpt_oss",
    "hunyuan_v1_dense",
    "apertus",
    "arcee",
    "nemotron",
    "seed_oss",
    "olmoe",
    "exaone4",
    "ministral3",
    "dots1",
    "phimoe",
    "granitemoe",
    "granitemoeshared",
    "qwen3_next",
    "qwen3_5_text",
    "qwen3_5_moe_text",
    "llama4_text",
    "gemma4_text",
    "afmoe",
    "bamba",
    "granitemoehybrid",
    "falcon_h1",
    "jais2",
    "hyperclovax",
    "vaultgemma",
    "bitnet",
    "flex_olmo",
    "exaone_moe",
    "hunyuan_v1_moe",
    "nanochat",
    "eurobert",
    "internlm3",
    "ministral",
    "hy_v3",
    "flint",
    "laguna",
    "lfm3",
    "diffllama",
    "granite_swa",
    "mellum",
    "granitemoe_swa",
    "aria_text",
    "olmo_hybrid",
    "cohere2_moe",
    "zaya",
    "cohere_compass_text",
}
"""Families whose `attention_bias` adds a bias to query, key, value and output."""
BIAS_BEFORE = {"glm", "glm4", "helium", "glm4_moe", "solar_open"}
"""Families whose `attention_bias` adds one to query, key and value only."""
ROPE_JOINS = {
    "phi",
    "phi3",
    "gpt_neox",
    "glm",
    "glm4",
    "glm4_moe",
    "nemotron",
    "stablelm",
    "qwen3_next",
    "qwen3_5_text",
    "qwen3_5_moe_text",
    "gptj",
    "codegen",
    "bamba",
    "persimmon",
    "minimax_m2",
    "recurrent_gemma",
    "phi4_multimodal",
}
"""Families that cut the rotated part out of the head and join the rest even where there is none."""
NO_ATTENTION_DROPOUT = {"ernie4_5", "mpt", "ctrl"}
"""Families whose attention drops nothing, or by a field of another name."""
ACTS = {
    "gelu_pytorch_tanh": "gelu",
    "gelu_fast": "gelu_new",
    "swish": "silu",
    "gelu": "gelu",
    "silu": "silu",
    "relu": "relu",
    "relu2": "relu2",
    "gelu_new": "gelu_new",
    "tanh": "tanh",
    "quick_gelu": "quick_gelu",
}
"""Activations by their name in transformers, and how they are walked."""


def traits_of(config: dict[str, Any], kind: str) -> Traits:
    """The family's traits, changed where fields of the configuration say otherwise."""
    traits = TRAITS[kind]
    told: dict[str, Any] = {}
    bias = config.get("attention_bias")
    if isinstance(bias, bool) and kind in BIAS_EVERYWHERE | BIAS_BEFORE:
        told |= {"qkv_bias": bias, "out_bias": bias and kind in BIAS_EVERYWHERE}
    if isinstance(config.get("mlp_bias"), bool) and traits.mlp in ("gated", "plain"):
        told["mlp_bias"] = config["mlp_bias"]
    turned = config.get("rope_parameters")
    share = pick(config, "partial_rotary_factor", "rotary_pct") or (
        turned.get("partial_rotary_factor") if isinstance(turned, dict) else None
    )
    if traits.rope and isinstance(share, int | float) and not isinstance(share, bool):
        told["rope"] = float(share)
    if kind in ROPE_JOINS:
        told["rope_joins"] = True
    dropped = config.get("attention_dropout")
    if (
        isinstance(dropped, int | float)
        and not isinstance(dropped, bool)
        and kind not in NO_ATTENTION_DROPOUT
    ):
        told["attention_dropout"] = float(dropped)
    act = ACTS.get(
        pick(config, "hidden_act", "hidden_activation", "activation_function", default="")
    )
    if act and kind not in ("bloom", "mpt", "apertus"):
        told["act"] = act
    told |= SPECIAL[kind](config, traits) if kind in SPECIAL else {}
    return structs.replace(traits, **told)


def _falcon(config: dict[str, Any], traits: Traits) -> dict[str, Any]:
    bias, heads = (
        bool(config.get("bias")),
        bool(config.get("multi_query", True)) or bool(config.get("new_decoder_architecture")),
    )
    told: dict[str, Any] = {
        "qkv_bias": bias,
        "out_bias": bias,
        "mlp_bias": bias,
        "projection": "picked" if heads else "split",
        "dropout": float(config.get("hidden_dropout") or 0.0),
    }
    if not config.get("parallel_attn", True) and not config.get("new_decoder_architecture"):
        return told | {"block": "pre"}
    norms = config.get("num_ln_in_parallel_attn") or (
        2 if config.get("new_decoder_architecture") else 1
    )
    shared = traits.broadcast_heads and not config.get("new_decoder_architecture")
    return told | {"block": "parallel_two" if norms == 2 else "parallel", "broadcast_heads": shared}


def _stablelm(config: dict[str, Any], traits: Traits) -> dict[str, Any]:
    return {
        "qkv_bias": bool(config.get("use_qkv_bias")),
        "qk_norm": "per_head" if config.get("qk_layernorm") else "none",
        "block": "parallel" if config.get("use_parallel_residual") else "pre",
    }


def _starcoder(config: dict[str, Any], traits: Traits) -> dict[str, Any]:
    bias = bool(config.get("use_bias", True))
    return {
        "qkv_bias": bias,
        "out_bias": bias,
        "mlp_bias": bias,
        "dropout": config.get("residual_dropout") or 0.0,
        "embedding_dropout": config.get("embedding_dropout") or 0.0,
    }


def _gpt2(config: dict[str, Any], traits: Traits) -> dict[str, Any]:
    shares = {
        "dropout": "resid_pdrop",
        "embedding_dropout": "embd_pdrop",
        "attention_dropout": "attn_pdrop",
    }
    return {
        ours: float(config[theirs])
        for ours, theirs in shares.items()
        if isinstance(config.get(theirs), int | float)
    }


def _rotary_share(config: dict[str, Any]) -> float:
    """GPT-J rotates so many values of a head."""
    head = pick(config, "hidden_size", "n_embd") / pick(config, "num_attention_heads", "n_head")
    return float((config.get("rotary_dim") or head) / head)


def _opt(config: dict[str, Any], traits: Traits) -> dict[str, Any]:
    narrow = config.get("word_embed_proj_dim") or 0
    early = bool(config.get("do_layer_norm_before", True))
    return {
        "block": "pre" if early else "after",
        "last_norm": early,
        "dropout": float(config.get("dropout", 0.1)),
        "embedding_width": narrow if narrow != config.get("hidden_size") else 0,
    }


SPECIAL: dict[str, Callable[[dict[str, Any], Traits], dict[str, Any]]] = {
    "falcon": _falcon,
    "stablelm": _stablelm,
    "starcoder2": _starcoder,
    "gpt2": _gpt2,
    "gpt_bigcode": _gpt2,
    "opt": _opt,
    "gpt_neox": lambda config, traits: {
        "block": "parallel_two" if config.get("use_parallel_residual", True) else "pre",
        "dropout": float(config.get("hidden_dropout") or 0.0),
        "embedding_dropout": float(config.get("hidden_dropout") or 0.0),
    },
    "seed_oss": lambda config, traits: {
        "dropout": float(config.get("residual_dropout") or 0.0),
        "attention_dropout": float(config.get("attention_dropout") or 0.0),
        "out_bias": bool(config.get("attention_out_bias")),
    },
    "codegen": lambda config, traits: _gpt2(config, traits) | {"rope": _rotary_share(config)},
    "biogpt": lambda config, traits: {
        **dict.fromkeys(
            ("dropout", "embedding_dropout"), float(config.get("hidden_dropout_prob") or 0.0)
        ),
        "attention_dropout": float(config.get("attention_probs_dropout_prob") or 0.0),
    },
    "ernie4_5_moe": lambda config, traits: {
        key: bool(config.get("use_bias")) for key in ("qkv_bias", "out_bias", "mlp_bias")
    },
    "ernie4_5": lambda config, traits: {
        key: bool(config.get("use_bias")) for key in ("qkv_bias", "out_bias", "mlp_bias")
    },
    "gptj": lambda config, traits: _gpt2(config, traits) | {"rope": _rotary_share(config)},
    "gpt_neo": lambda config, traits: {
        "attention_dropout": float(config.get("attention_dropout") or 0.0),
        "dropout": float(config.get("resid_dropout") or 0.0),
        "embedding_dropout": float(config.get("embed_dropout") or 0.0),
    },
    "phi": lambda config, traits: (
        _gpt2(config, traits) | {"qk_norm": "head" if config.get("qk_layernorm") else "none"}
    ),
    "cohere_compass_text": lambda config, traits: {
        "scaled_logits": config.get("logit_scale") is not None
    },
    "dbrx": lambda config, traits: {
        "dropout": float(config.get("resid_pdrop") or 0.0),
        "clipped": config.get("clip_qkv") is not None,
    },
    "olmo_hybrid": lambda config, traits: {
        "rope": 1.0 if (config.get("rope_parameters") or {}).get("rope_theta") else 0.0
    },
    "phi4_multimodal": lambda config, traits: {"dropout": float(config.get("resid_pdrop") or 0.0)},
    "phi3": lambda config, traits: {"dropout": float(config.get("resid_pdrop") or 0.0)},
    "bloom": lambda config, traits: {"dropout": float(config.get("hidden_dropout") or 0.0)},
    "glm4_moe": lambda config, traits: {"qk_norm": "head" if config.get("use_qk_norm") else "none"},
    "afmoe": lambda config, traits: {"scaled_embedding": bool(config.get("mup_enabled"))},
    "gemma3n_text": lambda config, traits: {
        "capped_logits": bool(config.get("final_logit_softcapping"))
    },
    "gemma4_text": lambda config, traits: {
        "capped_logits": bool(config.get("final_logit_softcapping"))
    },
    "hyperclovax": lambda config, traits: {
        "block": "sandwich" if config.get("use_post_norm") else "pre"
    },
    "persimmon": lambda config, traits: {
        "qk_norm": "head" if config.get("qk_layernorm", True) else "none",
        "dropout": float(config.get("hidden_dropout") or 0.0),
    },
    "nanochat": lambda config, traits: {
        "capped_logits": bool(config.get("final_logit_softcapping"))
    },
    "zamba2": lambda config, traits: {"rope": 1.0 if config.get("use_mem_rope") else 0.0},
    "xglm": lambda config, traits: (
        dict.fromkeys(("dropout", "embedding_dropout"), float(config.get("dropout") or 0.0))
        | {
            "scaled_embedding": bool(config.get("scale_embedding", True)),
        }
    ),
    "openai-gpt": _gpt2,
    "ctrl": lambda config, traits: {**_gpt2(config, traits), "attention_dropout": 0.0},
    "emu3_text_model": lambda config, traits: {
        "dropout": float(config.get("attention_dropout") or 0.0)
    },
    "mllama_text_model": lambda config, traits: {
        "attention_dropout": float(config.get("dropout") or 0.0)
    },
    "gpt_neox_japanese": lambda config, traits: {
        "dropout": float(config.get("hidden_dropout") or 0.0)
    },
    "lfm3": lambda config, traits: {
        "block": "sandwich" if config.get("use_sandwich_norm", True) else "pre"
    },
    "cohere": lambda config, traits: {"qk_norm": "per_head"} if config.get("use_qk_norm") else {},
}
"""What some families make of fields of their own."""
