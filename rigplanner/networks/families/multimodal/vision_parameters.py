"""Parameters of the part of a multimodal model that sees, and of what joins it to the language
model, from its configuration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from rigplanner.networks.config.config import VISION_PARTS, defaults, pick
from rigplanner.networks.families.audio.audio_encoder import WITHIN

MOST_SIDE, MOST_LAYERS = 200_000, 2_000
GATED = {"pixtral"}
"""Towers whose feed-forward layer has a gate though the activation's name does not tell
(transformers 5.23)."""
UNPLACED = {"pixtral", "qwen2_vl_vision", "qwen2_vl", "qwen2_5_vl_vision", "qwen2_5_vl"}
"""Towers that rotate instead of adding learned positions."""
SWAPPED = {"glm4v_vision", "glm4v_moe_vision"}
"""Towers whose feed-forward layer has the width of the result, while `intermediate_size` is that of
what joins them to the text."""
PICTURE_PARTS = ("vision_config", "visual", "vit_config", "eva_config")
WIDTHS, DEPTHS = (
    ("embed_dim", "hidden_size", "width", "d_model"),
    ("num_hidden_layers", "depth", "layers", "num_layers"),
)
TWOFOLD = {"davit", "florence_vision"}
"""Towers of stages whose every block attends once to places and once to channels."""


def tower_of(config: dict[str, Any]) -> dict[str, Any] | None:
    """The configuration of the part that sees, with what transformers takes for fields that are
    left out; None without one."""
    kind = config.get("model_type")
    tower_config = next(
        (
            config[name]
            for name in PICTURE_PARTS
            if isinstance(config.get(name), dict) and config[name]
        ),
        None,
    )
    if tower_config is None or kind in VISION_PARTS or kind in WITHIN:
        return None
    usual = defaults().get(str(tower_config.get("model_type"))) or {}
    return {**usual, **tower_config}


def tower_params(config: dict[str, Any], text_hidden: int) -> float:
    """Parameters of tower and projector of a configuration; 0 where there is none, or its sizes are
    not told. Biases and norms included; towers with experts or a perceiver are not."""
    tower_config = tower_of(config)
    if tower_config is None:
        return 0.0
    if isinstance(tower_config.get("depths"), list):
        return _stages(config, tower_config, text_hidden)
    width = _whole(tower_config, *WIDTHS, most=MOST_SIDE)
    layers = _whole(tower_config, *DEPTHS, most=MOST_LAYERS) + _whole(
        tower_config, "num_global_layers", most=MOST_LAYERS
    )
    ratio = (
        tower_config["mlp_ratio"] if isinstance(tower_config.get("mlp_ratio"), int | float) else 4
    )
    ffn = _whole(
        tower_config, "intermediate_size", "inner_hidden_size", most=10 * MOST_SIDE
    ) or int(ratio * width)
    ffn = (
        _whole(tower_config, "out_hidden_size", most=MOST_SIDE) or ffn
        if str(tower_config.get("model_type")) in SWAPPED
        else ffn
    )
    patch = _whole(tower_config, "patch_size", most=1_024)
    if not (width and layers and patch):
        return 0.0
    kind = str(tower_config.get("model_type"))
    matrices = 3 if kind in GATED or tower_config.get("hidden_act") == "silu" else 2
    layer = 4.0 * width**2 + matrices * width * ffn + ffn + 9 * width
    side = _whole(tower_config, "image_size", most=65_536)
    places = _whole(tower_config, "num_position_embeddings", most=10_000_000) or (
        0 if kind in UNPLACED else (side // patch) ** 2
    )
    stem = (
        3.0 * patch**2 * (_whole(tower_config, "temporal_patch_size", most=64) or 1) * width
        + places * width
    )
    head = (
        layer
        if tower_config.get("vision_use_head", kind == "siglip_vision_model")
        and kind == "siglip_vision_model"
        else 0.0
    )
    return layers * layer + stem + head + _projector(config, tower_config, width, text_hidden)


def _stages(config: dict[str, Any], tower_config: dict[str, Any], text_hidden: int) -> float:
    """A tower of stages: layers of transformers of growing width, and the convolutions between
    them."""
    widths, depths = (
        pick(tower_config, "dim_embed", "embed_dim", "hidden_sizes", "dims"),
        tower_config["depths"],
    )
    if isinstance(widths, int):
        widths = [widths * 2**at for at in range(len(depths))]
    sizes = [*(widths if isinstance(widths, list) else ()), *depths]
    if len(sizes) != 2 * len(depths) or not all(
        type(one) is int and 0 < one <= 20_000 for one in sizes
    ):
        return 0.0
    twice = 2 if str(tower_config.get("model_type")) in TWOFOLD else 1
    layers: float = sum(
        twice * depth * (12.0 * width**2 + 13 * width)
        for width, depth in zip(widths, depths, strict=True)
    )
    joins: float = sum(9.0 * before * after for before, after in pairwise(widths))
    return layers + joins + _projector(config, tower_config, widths[-1], text_hidden)


def _whole(tower_config: dict[str, Any], *names: str, most: int) -> int:
    value = pick(tower_config, *names)
    value = value[0] if isinstance(value, list) and value else value
    return (
        int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most
        else 0
    )


def _two_layers(
    config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int
) -> float:
    """Two linear layers with an activation between (LLaVA)."""
    return float(width * text + text * text + 2 * text)


def _one_layer(
    config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int
) -> float:
    return float(width * text)


def _merged(config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int) -> float:
    """Neighbours joined, two linear layers; once more for every level that enters the language
    model (Qwen's vision models)."""
    joined = width * (_whole(tower_config, "spatial_merge_size", most=16) or 2) ** 2
    out = _whole(tower_config, "out_hidden_size", most=MOST_SIDE) or (
        text
        if not tower_config.get("embed_dim")
        else _whole(tower_config, "hidden_size", most=MOST_SIDE)
    )
    deep = tower_config.get("deepstack_visual_indexes")
    return float(joined * joined + joined * out) * (
        1 + (len(deep) if isinstance(deep, list) else 0)
    )


def _shuffled(config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int) -> float:
    """Pixels shuffled into channels, two linear layers (InternVL)."""
    ratio = config.get("downsample_ratio")
    joined = width * round(1 / ratio**2) if isinstance(ratio, float) and ratio > 0.1 else 4 * width
    return float(joined * text + text * text)


def _scaled(config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int) -> float:
    """Pixels shuffled into channels, one linear layer (Idefics 3, SmolVLM)."""
    return float(width * (_whole(config, "scale_factor", most=16) or 2) ** 2 * text)


def _reduced(config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int) -> float:
    """Neighbours joined and reduced, two linear layers (Mistral 3)."""
    joined = width * (_whole(config, "spatial_merge_size", most=16) or 2) ** 2
    return float(joined * width + width * text + text * text)


def _gated_merger(
    config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int
) -> float:
    """Neighbours joined by a convolution, a linear layer, a gated feed-forward layer (GLM-4V)."""
    out = _whole(tower_config, "out_hidden_size", most=MOST_SIDE) or text
    inner = _whole(tower_config, "intermediate_size", most=10 * MOST_SIDE)
    return float(
        width * (_whole(tower_config, "spatial_merge_size", most=16) or 2) ** 2 * out
        + out * out
        + 3 * out * inner
    )


def _cross(config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int) -> float:
    """One linear layer from the joined levels (Llama 3.2 Vision)."""
    return float((_whole(tower_config, "vision_output_dim", most=MOST_SIDE) or width) * text)


PROJECTORS: dict[str, Callable[[dict[str, Any], dict[str, Any], int, int], float]] = {
    **dict.fromkeys(("paligemma", "gemma3", "gemma4", "gemma3n"), _one_layer),
    "mllama": _cross,
    "mistral3": _reduced,
    **dict.fromkeys(
        ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), _merged
    ),
    **dict.fromkeys(("glm4v", "glm4v_moe", "glm46v"), _gated_merger),
    **dict.fromkeys(("idefics3", "smolvlm"), _scaled),
    "internvl": _shuffled,
}
"""What joins image and text, by model_type; two linear layers for the others."""


def _projector(
    config: dict[str, Any], tower_config: dict[str, Any], width: int, text: int
) -> float:
    return PROJECTORS.get(str(config.get("model_type")), _two_layers)(
        config, tower_config, width, text
    )
