"""Configurations as repositories wrote them, brought to the names that transformers uses today:
families that were renamed, fields under older names, and the part that reads text under the names
that models with code of their own give it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.config.relatives import text_part_of

Fields = dict[str, Any]

TEXT_PARTS = ("llm_config", "language_config", "language", "text_model_config", "llm")
"""What models with code of their own call the part that reads text (InternVL, DeepSeek-VL, InfiMM).
"""
WHOLES = ("thinker_config", "vlm_config")
"""Parts that hold all of a model but what speaks, or but what ranks (Qwen-Omni, ColPali)."""
EXPERTS = (
    "num_experts",
    "n_routed_experts",
    "num_local_experts",
    "n_shared_experts",
    "num_experts_per_tok",
)

RENAMED = {
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "stablelm_epoch": "stablelm",
    "grounding-dino-text-prenet": "bert",
}
"""Families that entered transformers under another name, with the same layers."""
SYNONYMS = (
    ("hidden_size", "n_embd", "d_model", "dim", "n_embed", "model_dim"),
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    ("num_key_value_heads", "n_head_kv", "n_kv_heads", "multi_query_group_num"),
    ("intermediate_size", "n_inner", "ffn_hidden_size", "inner_hidden_size", "hidden_dim"),
    (
        "moe_intermediate_size",
        "expert_ffn_hidden_size",
        "moe_ffn_hidden_size",
        "expert_intermediate_size",
    ),
    (
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "seq_length",
        "max_sequence_length",
        "max_seq_length",
    ),
    ("hidden_act", "activation_function", "hidden_activation"),
    ("head_dim", "kv_channels"),
    ("vocab_size", "padded_vocab_size", "n_vocab"),
    ("partial_rotary_factor", "rotary_pct", "rope_pct"),
)
"""Names of one field, today's first."""


def of_today(config: Fields, usual: dict[str, Fields]) -> Fields:
    """The configuration under today's names; one that has them already is given back as it is.
    `usual`: the fields of each model_type as transformers names them."""
    kind = config.get("model_type")
    if kind is None and isinstance(config.get("ssm_cfg"), dict):
        config = {
            "tie_word_embeddings": True,
            **config,
            "model_type": _state_space(config["ssm_cfg"]),
        }
    for name in WHOLES:
        if isinstance(config.get(name), dict) and "text_config" not in config:
            config = {**config, **config[name], "model_type": kind, name: None}
    if kind == "vision-encoder-decoder" and isinstance(config.get("decoder"), dict):
        config = {"text_config": config["decoder"], **config}
    if "text_config" not in config:
        config = _parted(config)
    text = config.get("text_config")
    if isinstance(text, dict) and text:
        inner = text.get("model_type") or text_part_of(str(config.get("model_type")))
        now = of_today(
            text if text.get("model_type") or not inner else {**text, "model_type": inner}, usual
        )
        return config if now is text else {**config, "text_config": now}
    return _named(config, usual) if isinstance(config.get("model_type"), str) else config


def _state_space(told: Fields) -> str:
    return "mamba2" if told.get("layer") == "Mamba2" else "mamba"


def _parted(config: Fields) -> Fields:
    """The part that reads text under the name that it has in transformers."""
    name = next(
        (
            name
            for name in TEXT_PARTS
            if isinstance(config.get(name), dict) and config[name].get("model_type")
        ),
        None,
    )
    if name is None:
        return config
    return {
        **{key: value for key, value in config.items() if key != name},
        "text_config": config[name],
    }


def _named(config: Fields, usual: dict[str, Fields]) -> Fields:
    kind = config["model_type"]
    config = FAMILIES[kind](config) if kind in FAMILIES else config
    config = {**config, "model_type": RENAMED[kind]} if kind in RENAMED else config
    known, added = usual.get(config["model_type"]) or {}, {}
    for names in SYNONYMS:
        meant = [name for name in names if name in known] or [names[0]]
        told = [config[name] for name in names if isinstance(config.get(name), int | float | str)]
        if told and all(config.get(name) is None for name in meant):
            added[meant[0]] = told[0]
    if config.get("use_moe") is False:
        config = {name: value for name, value in config.items() if name not in EXPERTS}
    return {**config, **added} if added else config


def _chatglm(config: Fields) -> Fields:
    """ChatGLM-6B is another network than those after it: two matrices in the feed-forward layer,
    biases, a tied head."""
    if "ffn_hidden_size" in config or "intermediate_size" in config:
        return {"tie_word_embeddings": False, **config}
    return {"tie_word_embeddings": True, "hidden_act": "gelu", **config, "model_type": "chatglm_6b"}


def _falcon(config: Fields) -> Fields:
    """Falcon-40B says by the number of its key heads what a flag says since."""
    return {"new_decoder_architecture": config.get("n_head_kv") is not None, **config}


def _mpt(config: Fields) -> Fields:
    """MPT as its authors publish it may share keys among heads, which transformers' own never
    does."""
    told = config.get("attn_config")
    shared = told.get("kv_n_heads") if isinstance(told, dict) else None
    single = isinstance(told, dict) and told.get("attn_type") == "multiquery_attention"
    keys = 1 if single else shared
    return {**config, "num_key_value_heads": keys, "model_type": "mpt_grouped"} if keys else config


def _phi(config: Fields) -> Fields:
    """The first Phi name the rotated values of a head."""
    heads, hidden, turned = (config.get(name) for name in ("n_head", "n_embd", "rotary_dim"))
    if not all(isinstance(one, int) and one > 0 for one in (heads, hidden, turned)):
        return config
    return {"partial_rotary_factor": turned * heads / hidden, **config}  # type: ignore[operator]


FAMILIES: dict[str, Callable[[Fields], Fields]] = {
    "chatglm": _chatglm,
    "RefinedWeb": _falcon,
    "mpt": _mpt,
    "mixformer-sequential": _phi,
    "phi-msft": _phi,
}
"""What only one family wrote otherwise."""
