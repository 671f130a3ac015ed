"""The sizes of a decoder, read from a configuration: what each class of transformers makes of its
fields."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.decoder_traits import traits_of
from rigplanner.networks.families.decoders.delta import delta_form
from rigplanner.networks.families.decoders.moe import ExpertForm
from rigplanner.networks.families.decoders.traits import Form, LatentForm

TIED_BY_DEFAULT = {
    "gpt2",
    "gemma",
    "gemma2",
    "gemma3_text",
    "opt",
    "bloom",
    "cohere",
    "falcon",
    "starcoder2",
    "gpt_neo",
    "gpt_bigcode",
    "biogpt",
    "mpt",
    "cohere2",
    "gemma3n_text",
    "nomic_bert",
}


HALVED = {"qwen", "molmo"}
"""Families that list both halves of the gated feed-forward layer as its width."""


HEADS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "attention_heads")
FEED_FORWARD = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "dff")
"""What families call one size."""


def decoder_form(config: dict[str, Any], kind: str) -> Form:
    """The sizes of a decoder whose blocks are those of the family `kind`."""
    hidden, heads = pick(config, "hidden_size", "n_embd", "d_model"), pick(config, *HEADS)
    one = config.get("multi_query") and not config.get("new_decoder_architecture")
    ffn = pick(config, *FEED_FORWARD, default=4 * (hidden or 0))
    ffn = ffn[0] if isinstance(ffn, list) and ffn else ffn
    for field, value in (
        ("hidden_size", hidden),
        ("num_attention_heads", heads),
        ("vocab_size", config.get("vocab_size")),
    ):
        if not isinstance(value, int):
            raise WorkloadFault(f"config.{field}: expected a whole number, found {value!r}.")
    traits = traits_of(config, kind)
    positions = pick(
        config, "n_positions", "max_position_embeddings", default=traits.learned_positions
    )
    if traits.learned_positions:
        # OPT and BioGPT keep two rows of their table for padding.
        spare = 2 if kind in ("opt", "biogpt") else 0
        traits = structs.replace(traits, learned_positions=positions + spare)
    return Form(
        layers=pick(config, "num_hidden_layers", "n_layer", "num_layers", "n_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=pick(config, "num_key_value_heads", "num_kv_heads", default=1 if one else heads),
        head_dim=pick(config, "head_dim", default=hidden // heads),
        ffn=ffn // 2 if config["model_type"] in HALVED else ffn,
        vocab=config["vocab_size"],
        tied=bool(pick(config, "tie_word_embeddings", default=kind in TIED_BY_DEFAULT)),
        traits=traits,
        latent=latent_form(config),
        delta=delta_form(config),
        positions=(positions or 0) + (2 if kind == "xglm" else 0),
        unturned=unturned_layers(config, kind),
    )


TURNED_IN_WINDOWS = {
    "afmoe",
    "kolibri1",
    "flint",
    "exaone4",
    "exaone_moe",
    "cohere2",
    "cohere2_moe",
}
"""Families that rotate queries and keys only where a layer attends within a window."""


def unturned_layers(config: dict[str, Any], kind: str) -> tuple[int, ...]:
    """The layers whose queries and keys are not rotated."""
    kinds, turned = config.get("layer_types"), config.get("no_rope_layers")
    if kind in TURNED_IN_WINDOWS and isinstance(kinds, list) and config.get("sliding_window"):
        return tuple(at for at, one in enumerate(kinds) if one != "sliding_attention")
    angles = config.get("rope_parameters")
    if kind == "cohere_compass_text" and isinstance(kinds, list) and isinstance(angles, dict):
        return tuple(at for at, one in enumerate(kinds) if angles.get(one, angles) is None)
    if kind == "smollm3" and isinstance(turned, list):
        return tuple(at for at, turns in enumerate(turned) if not turns)
    return ()


def latent_form(config: dict[str, Any]) -> LatentForm | None:
    """The sizes of multi-head latent attention, or None."""
    if not config.get("kv_lora_rank"):
        return None
    return LatentForm(
        query_rank=config.get("q_lora_rank") or 0,
        value_rank=config["kv_lora_rank"],
        plain=pick(config, "qk_nope_head_dim", default=128),
        turned=pick(config, "qk_rope_head_dim", default=64),
        interleaved=bool(config.get("rope_interleave", True)),
        turns=config["model_type"] != "kimi_linear",
        value=pick(config, "v_head_dim", default=128),
    )


FLOAT_ROUTERS = {
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "kimi_k2",
    "dots1",
    "glm4_moe",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "mimo_v2_flash",
    "solar_open",
    "ernie4_5_moe",
    "exaone_moe",
    "hunyuan_v1_moe",
    "hy_v3",
    "kimi_linear",
    "kolibri1",
    "flint",
    "axk1",
    "axk2",
    "hy_v4",
}
"""Families whose router raises states and its own weight to float."""


LOW_ODDS = {
    "olmoe",
    "qwen2_moe",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "granitemoe",
    "gpt_oss",
    "phimoe",
    "ernie4_5_moe",
    "granitemoeshared",
    "flex_olmo",
    "mellum",
    "granitemoe_swa",
    "cohere2_moe",
    "aria_text",
    "laguna",
}
"""Families whose chosen odds are cast back to the type of the router's scores."""


SHARED_FIRST = {
    "qwen2_moe",
    "qwen3_next",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "ernie4_5_moe",
    "hunyuan_v1_moe",
    "laguna",
}
"""Families whose shared expert works before the router."""
UNGATED = {"kolibri1", "flint", "laguna"}
"""Families whose shared expert has a width of its own and no gate."""


def expert_form(config: dict[str, Any]) -> ExpertForm | None:
    """The experts of a configuration, or None."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts")
    if not experts:
        return None
    ffn = pick(config, "moe_intermediate_size", "intermediate_size")
    shared = (
        pick(config, "shared_expert_intermediate_size", "shared_expert_width")
        or (config.get("n_shared_experts") or 0) * ffn
    )
    return ExpertForm(
        experts=experts,
        used=pick(config, "num_experts_per_tok", default=2),
        ffn=ffn,
        shared_ffn=shared,
        shared_gate=bool(config.get("shared_expert_intermediate_size"))
        and config["model_type"] not in UNGATED,
        dense_layers=config.get("first_k_dense_replace") or 0,
        every=config.get("decoder_sparse_step") or 1,
        dense_at=tuple(config.get("mlp_only_layers") or ()),
        biased=config["model_type"] == "gpt_oss",
        float_router=config["model_type"] in FLOAT_ROUTERS,
        low_odds=config["model_type"] in LOW_ODDS,
        shared_first=config["model_type"] in SHARED_FIRST,
        normed=config["model_type"] == "axk1",
        clamped=config["model_type"] == "hy_v4",
    )
