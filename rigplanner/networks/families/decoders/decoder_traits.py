"""What the fields of a configuration change of what sets its family of decoders apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.family import family_of
from rigplanner.networks.families.decoders.traits import Traits

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
"""Activations by their name in transformers, and how they are traced."""


def traits_of(config: dict[str, Any], kind: str) -> Traits:
    """The family's traits, changed where fields of the configuration say otherwise."""
    family = family_of(kind)
    traits = family.traits
    if traits is None:
        raise WorkloadFault(f"config.model_type: no family of decoders {kind!r} is known.")
    told: dict[str, Any] = {}
    bias = config.get("attention_bias")
    if isinstance(bias, bool) and family.attention_bias:
        told |= {"qkv_bias": bias, "out_bias": bias and family.attention_bias == "all"}
    if isinstance(config.get("mlp_bias"), bool) and traits.mlp in ("gated", "plain"):
        told["mlp_bias"] = config["mlp_bias"]
    turned = config.get("rope_parameters")
    share = pick(config, "partial_rotary_factor", "rotary_pct") or (
        turned.get("partial_rotary_factor") if isinstance(turned, dict) else None
    )
    if traits.rope and isinstance(share, int | float) and not isinstance(share, bool):
        told["rope"] = float(share)
    dropped = config.get("attention_dropout")
    if (
        isinstance(dropped, int | float)
        and not isinstance(dropped, bool)
        and family.drops_attention
    ):
        told["attention_dropout"] = float(dropped)
    act = ACTS.get(
        pick(config, "hidden_act", "hidden_activation", "activation_function", default="")
    )
    if act and family.act_of_config:
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
