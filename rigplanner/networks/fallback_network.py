"""Which known family's layers stand in for those of an unknown network, and when none does."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.config import pick
from rigplanner.networks.families.vision.composite import WIDEST_TEXT

NEEDED = ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads")
"""Fields without which layers of Llama say nothing of an unknown network (Mamba came out at 2 to 8
times the traced bytes)."""
OWN_LAYERS = {"zamba", "reformer", "inkling_text", "inkling2_text"}
"""Networks of which Llama's layers say nothing: what they keep beside attention is the most of it
(Zamba traced: a tenth to twice what Llama's layers give), or they keep next to nothing (Reformer's
layers are reversible)."""
UNGATED_ACTS = {"gelu", "gelu_new", "gelu_fast", "relu", "relu2"}
"""Activations of feed-forward layers without a gate, as decoders write them: with one it is `silu`
or `gelu_pytorch_tanh`."""


def can_stand_in(given: dict[str, Any], config: dict[str, Any]) -> bool:
    """Whether an unknown network is told well enough for layers of another to stand in for its
    own."""
    inner = given.get("text_config") or {}
    told = inner or given
    wide = pick(told, "intermediate_size", "moe_intermediate_size")
    if (
        config["model_type"] in OWN_LAYERS
        or not (wide and all(told.get(field) for field in NEEDED))
        or config.get("conv_dim")
    ):
        return False
    return (
        not inner
        or bool(inner.get("num_key_value_heads"))
        or int(inner["hidden_size"]) > WIDEST_TEXT
    )


def stood_in(given: dict[str, Any], relative: str) -> dict[str, Any]:
    """The configuration with the layers of a relative."""
    inner = given.get("text_config")
    return {
        **given,
        **(
            {"text_config": {**inner, "model_type": relative}}
            if inner
            else {"model_type": relative}
        ),
    }


def nearest_family(config: dict[str, Any]) -> str:
    """The family whose layers stand in for unknown ones: an encoder's where tokens have types, else
    a decoder's with a gate or, where the activation is one that is used without, with two matrices.
    """
    if config.get("type_vocab_size"):
        return "bert"
    return "gpt_neox" if config.get("hidden_act") in UNGATED_ACTS else "llama"
