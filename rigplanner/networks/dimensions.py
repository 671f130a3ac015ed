"""The sizes of a network that its configuration tells: layers by what they cache, heads,
experts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from rigplanner.networks.config.config import pick
from rigplanner.networks.config.relatives import traced_as
from rigplanner.networks.families.decoders.decoder_traits import traits_of
from rigplanner.networks.families.decoders.family import family_of, is_decoder
from rigplanner.networks.families.state_space.hybrid import state_values

WRITTEN = {"segformer", "swin", "t5"}
"""Networks of windows, shortened keys and relative places that attended by a fused kernel only late
(transformers 5): unless told, they write their scores, as the releases that people have do."""

TIED = {"t5", "mt5", "umt5", "longt5"}
"""Networks that write with their table of words whatever their configuration says (transformers 5:
configuration_t5.py)."""

GATED_ENCODERS = {"modernbert", "modernbert-decoder", "mt5", "umt5", "t5gemma"}
"""Encoders, and networks that have one, whose feed-forward layer is gated unless they say
otherwise (`feed_forward_proj` of the T5s)."""


@lru_cache(1024)
def writes_scores(config: bytes | None) -> bool:
    """Whether a network writes its attention scores unless told otherwise."""
    return config is not None and msgspec.json.decode(config).get("model_type") in WRITTEN


def idle_params(config: dict[str, Any]) -> float:
    """Parameters of experts that a token does not visit."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts")
    if not experts:
        return 0.0
    return expert_params(config) * (
        1 - float(config.get("num_experts_per_tok") or experts) / float(experts)
    )


def expert_params(config: dict[str, Any]) -> float:
    """Parameters of all routed experts: three matrices each, two in Nemotron-H."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts", default=0)
    if not experts:
        return 0.0
    sparse = config.get("moe_layers")
    layers = (
        len(sparse)
        if isinstance(sparse, list)
        else config.get("num_hidden_layers", 0) - (config.get("first_k_dense_replace") or 0)
    )
    ffn = pick(config, "moe_intermediate_size", "intermediate_size") or 0
    matrices = 2.0 if config["model_type"] in ("nemotron_h", "switch_transformers") else 3.0
    width = pick(config, "moe_latent_size", "hidden_size") or 0
    return matrices * float(experts * layers * ffn * width)


def feed_forward_matrices(config: dict[str, Any]) -> int:
    """Matrices of a feed-forward layer: gate, up and down, or up and down; as the family's layers
    are built on the tape."""
    kind = traced_as(config["model_type"])
    if is_decoder(kind):
        return 2 if traits_of(config, kind).mlp == "plain" else 3
    told = config.get("feed_forward_proj")
    gated = "gated" in told if isinstance(told, str) else kind in GATED_ENCODERS
    return 3 if gated else 2


def experts_of(config: dict[str, Any], layers: int) -> dict[str, int]:
    """What a token meets in layers with experts: those it visits and those a layer holds (shared
    ones in both), their width, and the layers that have one feed-forward block of `dense_ffn`
    instead; nothing for networks without."""
    experts = pick(config, "num_experts", "num_local_experts", "n_routed_experts", default=0)
    if not experts:
        return {}
    shared = config.get("n_shared_experts") or int(
        bool(config.get("shared_expert_intermediate_size"))
    )
    ffn = pick(config, "intermediate_size", "n_inner", "ffn_dim", "hidden_dim", default=0)
    step = config.get("interleave_moe_layer_step") or 1
    return {
        "experts_held": int(experts + shared),
        "experts_used": int((config.get("num_experts_per_tok") or 1) + shared),
        "expert_ffn": int(config.get("moe_intermediate_size") or ffn),
        "dense_layers": int(
            min(layers, config.get("first_k_dense_replace") or 0) + layers * (step - 1) // step
        ),
        "dense_ffn": int(config.get("intermediate_size_mlp") or ffn),
    }


def _sharing(config: dict[str, Any]) -> int:
    """How many of the last layers take keys and values over from earlier ones, and cache none
    (Gemma 3n, Gemma 4)."""
    shared = config.get("num_kv_shared_layers")
    return shared if isinstance(shared, int) else 0


def _full_layers(config: dict[str, Any]) -> int | None:
    """How many layers attend to the whole context, where a configuration says so."""
    kinds = config.get("layer_types")
    if isinstance(kinds, list) and kinds:
        return len(
            [kind for kind in kinds[: len(kinds) - _sharing(config)] if kind == "full_attention"]
        )
    full, every = config.get("full_attention_layers"), config.get("full_attention_interval")
    if isinstance(full, int):
        return full
    layers = config.get("num_hidden_layers")
    if not (isinstance(every, int) and every > 0 and isinstance(layers, int)):
        return None
    return layers // every


def _latent_values(config: dict[str, Any]) -> int:
    """What latent attention caches of a token, and the key of an indexer where a layer has one (0:
    keys and values are cached)."""
    if not config.get("kv_lora_rank"):
        return 0
    kinds = config.get("indexer_types") or ("full",)
    share = len([kind for kind in kinds if kind == "full"]) / len(kinds)
    return int(
        config["kv_lora_rank"]
        + (config.get("qk_rope_head_dim") or 0)
        + share * (config.get("index_head_dim") or 0)
    )


def _beside_layers(config: dict[str, Any], layers: int) -> float:
    """Parameters of the tables of embeddings that go into every layer (Gemma 3n, Gemma 4:
    vocab_size_per_layer_input rows)."""
    width, rows = (
        config.get("hidden_size_per_layer_input") or 0,
        config.get("vocab_size_per_layer_input") or 0,
    )
    return float(rows) * layers * width


def _reading_layers(config: dict[str, Any]) -> int:
    """Layers of the encoder before a decoder (0: there is none)."""
    if config["model_type"] in TIED or config.get("num_decoder_layers"):
        return int(config.get("num_layers") or 0)
    return int(config.get("encoder_layers") or 0) if config.get("decoder_layers") else 0


HIDDEN = ("hidden_size", "n_embd", "d_model", "dim")
HEADS = (
    *("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "decoder_attention_heads",
)
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers")
FEED_FORWARD = (
    *("intermediate_size", "n_inner", "ffn_dim", "d_ff", "hidden_dim"),
    "encoder_ffn_dim",
)
"""What families call one size."""


def sizes_of(config: dict[str, Any], params: float) -> dict[str, Any]:
    """Return the sizes of a configuration of `params` parameters as fields of a network; of one
    that tells no heads the family alone."""
    family = config["model_type"]
    hidden, heads = pick(config, *HIDDEN, default=0), pick(config, *HEADS, default=0)
    if not isinstance(heads, int) or not isinstance(hidden, int):
        return {"family": family}
    layers, vocab = pick(config, *LAYERS, default=0), config.get("vocab_size") or 0
    ffn = pick(config, *FEED_FORWARD, default=4 * hidden)
    one = 1 if config.get("multi_query") and not config.get("new_decoder_architecture") else heads
    tied = bool(config.get("tie_word_embeddings")) or family in TIED
    tables = float(vocab) * hidden * (1 if tied else 2)
    return {
        "family": family,
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": pick(config, "num_key_value_heads", "num_kv_heads", default=one),
        "head_dim": pick(config, "head_dim", "d_kv", default=hidden // heads if heads else 0),
        "vocab": vocab,
        "tied": tied,
        "ffn": ffn // 2 if family_of(family).both_halves and isinstance(ffn, int) else ffn,
        "ffn_matrices": feed_forward_matrices(config),
        "passed_layers": layers + _reading_layers(config),
        **experts_of(config, layers),
        "embedding_params": min(params, tables + _beside_layers(config, layers)),
        "heard": (config.get("max_source_positions") or 1500) if family == "whisper" else 0,
        "latent_values": _latent_values(config),
        **_reaches(config, layers),
        "state_values": state_values(config),
        "experts": pick(config, "num_experts", "num_local_experts", "n_routed_experts", default=0),
        "expert_params": min(params, expert_params(config)),
    }


def _reaches(config: dict[str, Any], layers: int) -> dict[str, int]:
    """How many layers keep a window of tokens, and how many a state or nothing of their own instead
    of keys and values of every token."""
    full, window, sharing = (
        _full_layers(config),
        config.get("sliding_window") or 0,
        _sharing(config),
    )
    halved = config["model_type"] in ("gemma2", "gpt_oss")
    if full is None:
        return {
            "window": window if halved else 0,
            "window_layers": layers // 2 if halved and window else 0,
            "state_layers": sharing,
        }
    kinds = config.get("layer_types") or ()
    if window and not ("linear_attention" in kinds or "conv" in kinds):
        return {
            "window": window,
            "window_layers": layers - sharing - full,
            "state_layers": sharing,
        }
    near = len([kind for kind in kinds if kind == "sliding_attention"]) if window else 0
    return {"window": window, "window_layers": near, "state_layers": layers - full - near}
