"""What a picture becomes for a language model that sees: pieces of so many pixels, and positions in
the sequence.

Sizes follow the image processors of transformers 5.23; a processor that is set otherwise
(`max_pixels`, `do_image_splitting`) is described by the size of the image that it makes."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, sqrt
from typing import Any

from msgspec import Struct

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import defaults

MOST_PLACES = 16_384
QWEN = {
    **dict.fromkeys(("qwen2_vl", "qwen2_5_vl"), 28**2 * MOST_PLACES),
    **dict.fromkeys(("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), 32**2 * MOST_PLACES),
}
"""Most pixels of an image, as the published processors are set."""
QWEN_LEAST = 4
"""Positions of the smallest image."""
INTERN_PIECES = 12
"""Most pieces that an image is cut into, beside the whole of it."""
IDEFICS_EDGES = 4
"""Pieces along the longer edge of an image, to which every image is resized."""


class Seen(Struct, frozen=True, kw_only=True):
    """One picture: `pieces` of `height` x `width` pixels, `features` that replace as many embedded
    tokens, and all `tokens` that it takes of the sequence, marks around it included."""

    pieces: int
    height: int
    width: int
    features: int
    tokens: int


def vision_config(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of the part that sees, with what transformers takes for fields that are
    left out."""
    told = config.get("vision_config") or {}
    kind = VISION_KINDS[config["model_type"]]
    named = told.get("model_type") if told.get("model_type") in defaults() else kind
    return {**(defaults().get(str(named)) or {}), **told, "model_type": named}


TOWERS = {"llava": ("clip_vision_model", "siglip_vision_model")}
"""Kinds of towers that a model is known to see with, where there are several."""
VISION_KINDS = {
    "qwen2_vl": "qwen2_vl_vision",
    "qwen2_5_vl": "qwen2_5_vl_vision",
    "qwen3_vl": "qwen3_vl_vision",
    "qwen3_vl_moe": "qwen3_vl_moe_vision",
    "qwen3_5": "qwen3_5_vision",
    "qwen3_5_moe": "qwen3_5_moe_vision",
    "llava": "clip_vision_model",
    "llava_next": "clip_vision_model",
    "paligemma": "siglip_vision_model",
    "gemma3": "siglip_vision_model",
    "internvl": "internvl_vision",
    "idefics3": "idefics3_vision",
    "smolvlm": "smolvlm_vision",
    "mistral3": "pixtral",
}
"""Parts that see where a configuration leaves their kind out."""


def sees(config: dict[str, Any]) -> bool:
    """Whether a configuration is of a language model whose way of reading images is known."""
    kind, told = config.get("model_type"), config.get("vision_config")
    if not isinstance(kind, str) or kind not in READERS or not isinstance(told, dict) or not told:
        return False
    tower = told.get("model_type")
    return not told.get("use_qk_norm") and (
        tower is None or tower == kind or tower in TOWERS.get(kind, (VISION_KINDS[kind],))
    )


def seen_of(config: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """What a picture of `sides` (height and width in pixels) becomes for the model of a
    configuration; raises WorkloadFault for a model whose way of reading images is not known."""
    if not sees(config):
        raise WorkloadFault(
            f"images: how the architecture '{config.get('model_type')}' reads images is not known."
        )
    return READERS[config["model_type"]](config, vision_config(config), sides)


def _side(told: dict[str, Any], name: str) -> int:
    value = told[name]
    return int(value[0] if isinstance(value, list) else value)


def _merged(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """Any size in steps of merged patches (smart_resize of Qwen2-VL)."""
    patch, merge = _side(told, "patch_size"), int(told["spatial_merge_size"])
    step, most = patch * merge, QWEN[config["model_type"]]
    height, width = (max(step, round(side / step) * step) for side in sides)
    if height * width > most:
        share = sqrt(sides[0] * sides[1] / most)
        height, width = (max(step, floor(side / share / step) * step) for side in sides)
    elif height * width < QWEN_LEAST * step**2:
        share = sqrt(QWEN_LEAST * step**2 / (sides[0] * sides[1]))
        height, width = (ceil(side * share / step) * step for side in sides)
    features = height * width // step**2
    return Seen(pieces=1, height=height, width=width, features=features, tokens=features + 2)


def _fixed(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """One size, whatever the picture's (LLaVA 1.5, PaliGemma, Gemma 3)."""
    side = _side(told, "image_size")
    features = (side // _side(told, "patch_size")) ** 2
    if config["model_type"] == "gemma3":
        features = int(config.get("mm_tokens_per_image") or 256)
        return Seen(pieces=1, height=side, width=side, features=features, tokens=features + 4)
    classed = (
        told.get("model_type") == "clip_vision_model"
        and config.get("vision_feature_select_strategy") == "full"
    )
    features += classed
    return Seen(pieces=1, height=side, width=side, features=features, tokens=features)


def _tiled(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """Pieces in the grid that is nearest in shape, and the whole beside them (InternVL)."""
    side, patch = _side(told, "image_size"), _side(told, "patch_size")
    shape, area = sides[1] / sides[0], sides[0] * sides[1]
    most = range(1, INTERN_PIECES + 1)
    grids = sorted(
        ((wide, high) for wide in most for high in most if wide * high <= INTERN_PIECES),
        key=lambda one: one[0] * one[1],
    )
    best, miss = (1, 1), float("inf")
    for wide, high in grids:
        off = abs(shape - wide / high)
        if off < miss or (off == miss and area > 0.5 * side * side * wide * high):
            best, miss = (wide, high), off
    count = best[0] * best[1]
    pieces = count + (count > 1)
    each = round((side // patch * float(config.get("downsample_ratio") or 0.5)) ** 2)
    return Seen(
        pieces=pieces, height=side, width=side, features=pieces * each, tokens=pieces * each + 2
    )


def _split(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """The longer edge made four pieces long, the other whole pieces, and the whole beside them
    (Idefics 3, SmolVLM)."""
    side, patch = _side(told, "image_size"), _side(told, "patch_size")
    long = IDEFICS_EDGES * side
    height, width = (ceil(one * long / max(sides)) for one in sides)
    rows, columns = max(1, ceil(height / side)), max(1, ceil(width / side))
    pieces = rows * columns + 1
    each = (side // patch) ** 2 // int(config.get("scale_factor") or 2) ** 2
    marks = 2 * rows * columns + rows + 3
    return Seen(
        pieces=pieces, height=side, width=side, features=pieces * each, tokens=pieces * each + marks
    )


def _rows(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """Any size up to a longest edge, in steps of merged patches; a mark ends every row
    (Pixtral)."""
    step = _side(told, "patch_size") * int(config.get("spatial_merge_size") or 2)
    share = max(1.0, max(sides) / _side(told, "image_size"))
    rows, columns = (max(1, ceil(floor(side / share) / step)) for side in sides)
    return Seen(
        pieces=1,
        height=rows * step,
        width=columns * step,
        features=rows * columns,
        tokens=rows * (columns + 1),
    )


GRIDS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
"""Heights and widths that LLaVA-NeXT brings a picture to."""


def _gridded(config: dict[str, Any], told: dict[str, Any], sides: tuple[int, int]) -> Seen:
    """Pieces of that size of several which wastes least, and the whole beside them; what pads the
    picture is cut off again, and a mark ends every row (LLaVA-NeXT)."""
    side, each = _side(told, "image_size"), _side(told, "image_size") // _side(told, "patch_size")
    high, wide = max(
        (_fit(grid, sides) for grid in config.get("image_grid_pinpoints") or GRIDS),
        key=lambda one: one[:2],
    )[2]
    rows, columns = each * (high // side), each * (wide // side)
    if sides[1] / sides[0] > columns / rows:
        rows -= (rows - int(round(sides[0] * (columns / sides[1]), 7))) // 2 * 2
    else:
        columns -= (columns - int(round(sides[1] * (rows / sides[0]), 7))) // 2 * 2
    features = rows * columns + rows + each**2
    return Seen(
        pieces=1 + (high // side) * (wide // side),
        height=side,
        width=side,
        features=features,
        tokens=features,
    )


def _fit(grid: list[int], sides: tuple[int, int]) -> tuple[int, int, tuple[int, int]]:
    """Pixels of a picture that a grid keeps, and those that it wastes, negative."""
    share = min(grid[1] / sides[1], grid[0] / sides[0])
    kept = min(int(sides[1] * share) * int(sides[0] * share), sides[0] * sides[1])
    return kept, kept - grid[0] * grid[1], (grid[0], grid[1])


READERS: dict[str, Callable[[dict[str, Any], dict[str, Any], tuple[int, int]], Seen]] = {
    **dict.fromkeys(QWEN, _merged),
    **dict.fromkeys(("llava", "paligemma", "gemma3"), _fixed),
    "internvl": _tiled,
    "llava_next": _gridded,
    **dict.fromkeys(("idefics3", "smolvlm"), _split),
    "mistral3": _rows,
}
