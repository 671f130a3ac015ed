"""The sizes of a decoder, read from a configuration: what each class of transformers makes of its
fields."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.decoder_traits import traits_of
from rigplanner.networks.families.decoders.delta import delta_form
from rigplanner.networks.families.decoders.family import family_of
from rigplanner.networks.families.decoders.moe import ExpertForm
from rigplanner.networks.families.decoders.traits import Form, LatentForm

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
    family, traits = family_of(kind), traits_of(config, kind)
    positions = pick(
        config, "n_positions", "max_position_embeddings", default=traits.learned_positions
    )
    if traits.learned_positions:
        rows = positions + family.spare_positions
        traits = structs.replace(traits, learned_positions=rows)
    return Form(
        layers=pick(config, "num_hidden_layers", "n_layer", "num_layers", "n_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=pick(config, "num_key_value_heads", "num_kv_heads", default=1 if one else heads),
        head_dim=pick(config, "head_dim", default=hidden // heads),
        ffn=ffn // 2 if family_of(config["model_type"]).both_halves else ffn,
        vocab=config["vocab_size"],
        tied=bool(pick(config, "tie_word_embeddings", default=family.tied)),
        traits=traits,
        latent=latent_form(config),
        delta=delta_form(config),
        positions=(positions or 0) + (2 if kind == "xglm" else 0),
        unturned=unturned_layers(config, kind),
    )


def unturned_layers(config: dict[str, Any], kind: str) -> tuple[int, ...]:
    """The layers whose queries and keys are not rotated."""
    kinds, turned = config.get("layer_types"), config.get("no_rope_layers")
    if (
        family_of(kind).turned_in_windows
        and isinstance(kinds, list)
        and config.get("sliding_window")
    ):
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


def expert_form(config: dict[str, Any]) -> ExpertForm | None:
    """The experts of a configuration, or None."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts")
    if not experts:
        return None
    ffn = pick(config, "moe_intermediate_size", "intermediate_size")
    routing = family_of(config["model_type"]).experts
    shared = (
        pick(config, "shared_expert_intermediate_size", "shared_expert_width")
        or (config.get("n_shared_experts") or 0) * ffn
    )
    return ExpertForm(
        experts=experts,
        used=pick(config, "num_experts_per_tok", default=2),
        ffn=ffn,
        shared_ffn=shared,
        shared_gate=bool(config.get("shared_expert_intermediate_size")) and not routing.gateless,
        dense_layers=config.get("first_k_dense_replace") or 0,
        every=config.get("decoder_sparse_step") or 1,
        dense_at=tuple(config.get("mlp_only_layers") or ()),
        biased=routing.biased,
        float_router=routing.float_router,
        low_odds=routing.low_odds,
        shared_first=routing.shared_first,
        normed=routing.normed,
        clamped=routing.clamped,
    )
