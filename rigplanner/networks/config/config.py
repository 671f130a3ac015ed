"""A Hugging Face configuration, read with suspicion: every field that decides memory is checked and
brought to one set of names."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from rigplanner.data import data_path
from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.layer_kinds import LAYERS
from rigplanner.networks.config.older_configs import of_today
from rigplanner.networks.config.relatives import traced_as

MOST = {
    "hidden_size": 200_000,
    "num_hidden_layers": 2_000,
    "num_attention_heads": 4_096,
    "num_key_value_heads": 4_096,
    "head_dim": 8_192,
    "intermediate_size": 2_000_000,
    "vocab_size": 20_000_000,
    "num_experts": 65_536,
    "num_experts_per_tok": 4_096,
    "moe_intermediate_size": 2_000_000,
    "image_size": 65_536,
    "patch_size": 1_024,
    "n_embd": 200_000,
    "n_layer": 2_000,
    "n_head": 4_096,
    "d_model": 200_000,
    "d_ff": 2_000_000,
    "d_kv": 8_192,
    "num_layers": 2_000,
    "num_heads": 4_096,
    "dim": 200_000,
    "n_layers": 2_000,
    "n_heads": 4_096,
    "hidden_dim": 2_000_000,
    "ffn_dim": 2_000_000,
    "encoder_layers": 2_000,
    "decoder_layers": 2_000,
    "encoder_ffn_dim": 2_000_000,
    "decoder_ffn_dim": 2_000_000,
    "kv_lora_rank": 65_536,
    "q_lora_rank": 65_536,
    "encoder_attention_heads": 4_096,
    "decoder_attention_heads": 4_096,
    "num_local_experts": 65_536,
    "n_routed_experts": 65_536,
    "max_position_embeddings": 1_000_000_000,
    "embedding_size": 200_000,
    "embed_dim": 200_000,
    "groups_width": 65_536,
}
"""Beyond these a field is a mistake: some ten times the largest network known in 2026."""

ONE_EDGE = ("image_size", "patch_size")
"""Fields that tell two edges, or one number for both."""
MOST_ENTRIES = 512
"""Entries of a list that tells something of every layer."""
LISTS = ("depths", "hidden_sizes", "num_heads", "sr_ratios", "patch_sizes", "strides", "mlp_ratios")


VISION_PARTS = {
    "clip": "clip_vision_model",
    "siglip": "siglip_vision_model",
    "metaclip_2": "metaclip_2_vision_model",
}
"""Models of image and text whose classifier is made of the part that sees."""

SHORT = {"hidden_size_per_layer_input": 0, "enable_moe_block": None}
"""What a flat configuration under the name of the whole model leaves out where the model has none
of it."""


@cache
def defaults() -> dict[str, dict[str, Any]]:
    """What transformers takes for a field that a configuration leaves out, by model_type."""
    read: dict[str, dict[str, dict[str, Any]]] = msgspec.json.decode(
        (data_path("catalog") / "architectures" / "defaults.json").read_bytes()
    )
    return read["defaults"]


def pick(config: dict[str, Any], *names: str, default: Any = None) -> Any:
    """The first of the fields that is there."""
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return default


def full_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the language (or vision) part with defaults filled in; raise
    WorkloadFault for absurd fields."""
    config = of_today(config, defaults())
    inner = config.get("text_config")
    if inner is not None and not isinstance(inner, dict):
        raise WorkloadFault(f"config.text_config: expected an object, found {_shown(inner)}.")
    if inner:
        outer = {
            key: value for key, value in config.items() if key not in ("text_config", "model_type")
        }
        tied = {name: outer[name] for name in ("tie_word_embeddings",) if name in outer}
        config = {
            **outer,
            **inner,
            **tied,
            "model_type": inner.get("model_type") or config.get("model_type"),
        }
    kind = config.get("model_type")
    tower = VISION_PARTS.get(kind) if isinstance(kind, str) else None
    if tower is not None and inner is None:
        inside = config.get("vision_config") or {}
        if not isinstance(inside, dict):
            raise WorkloadFault(
                f"config.vision_config: expected an object, found {_shown(inside)}."
            )
        labels: dict[str, Any] = {
            name: config[name] for name in ("num_labels", "id2label") if name in config
        }
        config, kind = {**inside, **labels, "model_type": tower}, tower
    if not isinstance(kind, str) or not kind:
        raise WorkloadFault(
            "config.model_type: expected the name of an architecture such as 'llama', found"
            f" {_shown(kind)}."
        )
    relative = traced_as(kind)
    bare = relative == kind + "_text" and "hidden_size" not in config
    known = defaults().get(kind) or (defaults().get(relative) if inner or bare else None) or {}
    _check_words(config)
    _check_numbers(config, known)
    _check_against(known, config)
    filled = {**known, **config}
    inside = traced_as(kind)
    if inside in LAYERS:
        filled = {**(defaults().get(inside) or {}), **SHORT, **filled} if inside != kind else filled
        filled |= LAYERS[inside](filled)
    _check_heads(filled)
    return filled


WORDS = ("hidden_act", "activation_function", "hidden_activation")


def _check_words(config: dict[str, Any]) -> None:
    names = config.get("architectures")
    if names is not None and not (
        isinstance(names, list) and all(isinstance(name, str) for name in names)
    ):
        raise WorkloadFault(
            f"config.architectures: expected a list of names, found {_shown(names)}."
        )
    for field in WORDS:
        if config.get(field) is not None and not isinstance(config[field], str):
            raise WorkloadFault(
                f"config.{field}: expected the name of an activation, found"
                f" {_shown(config[field])}."
            )


def _check_numbers(config: dict[str, Any], known: dict[str, Any]) -> None:
    for name in ("hidden_size", "num_hidden_layers"):
        if name in config and config[name] is None:
            raise WorkloadFault(
                f"config.{name}: expected a whole number from 1 to {MOST[name]}, found null."
            )
    for name, most in MOST.items():
        value = config.get(name)
        if (
            value is None
            or ((name in LISTS or isinstance(known.get(name), list)) and isinstance(value, list))
            or (name in ("image_size", "patch_size") and isinstance(value, list))
            or (name == "intermediate_size" and _widths(value, most))
        ):
            continue
        if name in ("n_routed_experts", "num_local_experts") and value == 0:
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or value != value
            or not 1 <= value <= most
            or int(value) != value
        ):
            raise WorkloadFault(
                f"config.{name}: expected a whole number from 1 to {most}, found {_shown(value)}."
            )
    for name in LISTS:
        value = config.get(name)
        if isinstance(value, list) and not (
            0 < len(value) <= 16
            and all(isinstance(v, int | float) and 0 < v <= 100_000 for v in value)
        ):
            raise WorkloadFault(
                f"config.{name}: expected 1 to 16 positive numbers, found {_shown(value)}."
            )


def _widths(value: Any, most: int) -> bool:
    """Whether a field tells the width of every layer (Gemma 3n)."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(type(one) is int and 1 <= one <= most for one in value)
    )


def _check_against(known: dict[str, Any], config: dict[str, Any]) -> None:
    """Compare fields with the types that transformers gives them: numbers stay numbers within
    reason, lists keep their length."""
    for name, usual in known.items():
        value = config.get(name)
        if value is None:
            continue
        if isinstance(usual, bool):
            good, expected = isinstance(value, bool), "true or false"
        elif isinstance(usual, int | float):
            listed = name in ("image_size", "patch_size", "intermediate_size", "attention_window")
            side = value[0] if listed and isinstance(value, list) and value else value
            good = (
                isinstance(side, int | float) and not isinstance(side, bool) and -1 <= side <= 1e9
            )
            expected = "a number from 0 to 1e9"
        elif isinstance(usual, list):
            good = (
                0 < len(value) <= MOST_ENTRIES
                if isinstance(value, list)
                else name in ONE_EDGE and type(value) is int
            )
            expected = f"a list such as {usual}"
        else:
            good, expected = isinstance(value, type(usual)), f"text such as {usual!r}"
        if not good:
            raise WorkloadFault(f"config.{name}: expected {expected}, found {_shown(value)}.")


def _check_heads(config: dict[str, Any]) -> None:
    hidden, heads = (
        pick(config, "hidden_size", "n_embd", "d_model", "dim"),
        pick(config, "num_attention_heads", "n_head", "n_heads"),
    )
    if not isinstance(hidden, int) or not isinstance(heads, int):
        return
    if (
        not any(config.get(field) for field in ("head_dim", "d_kv", "kv_lora_rank"))
        and hidden % heads
    ):
        raise WorkloadFault(
            f"config.num_attention_heads: expected a divisor of hidden_size {hidden}, found"
            f" {heads}."
        )
    kv_heads = config.get("num_key_value_heads") or heads
    if heads % kv_heads:
        raise WorkloadFault(
            f"config.num_key_value_heads: expected a divisor of num_attention_heads {heads}, found"
            f" {kv_heads}."
        )
    used, experts = (
        config.get("num_experts_per_tok"),
        pick(config, "num_experts", "num_local_experts", "n_routed_experts"),
    )
    if used and experts and used > experts:
        raise WorkloadFault(
            f"config.num_experts_per_tok: expected at most the {experts} experts there are, found"
            f" {used}."
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
