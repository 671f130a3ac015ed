"""Image networks without a trace of their own, made of parts that have one: a backbone or tower,
transformer layers over its map or over queries, a text encoder. The estimate is of their family,
and says so."""

from __future__ import annotations

from copy import copy
from math import sqrt
from typing import Any

import msgspec

from rigplanner.networks.config.config import defaults, pick
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.dense_neck import DenseNeck
from rigplanner.networks.families.vision.vision import VitBlock, edge
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, checkpointed
from rigplanner.networks.tracer.tape import Tensor

MOST_LAYERS, MOST_WIDTH, MOST_TOKENS = 1_000, 100_000, 1_000_000
LIKE = {
    "rt_detr_resnet": "resnet",
    "timm_backbone": "resnet",
    "timm_wrapper": "resnet",
    "maskformer-swin": "swin",
    "bit": "resnet",
    "rf_detr_dinov2": "dinov2",
    "siglip2_vision_model": "siglip_vision_model",
    "dinov3_convnext": "convnext",
    "donut-swin": "swin",
    "hgnet_v2": "hgnet_v2",
    "pp_lcnet": "mobilenet_v1",
    "hiera": "swin",
    **dict.fromkeys(
        (
            "chinese_clip_vision_model",
            "altclip_vision_model",
            "clipseg_vision_model",
            "owlvit_vision_model",
            "owlv2_vision_model",
            "blip_vision_model",
            "mlcd_vision_model",
        ),
        "clip_vision_model",
    ),
}
"""Parts that see by the kind of network whose layers they share, or nearly."""
PASSED = (
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "qkv_bias",
    "drop_path_rate",
)
"""Fields of unknown towers that the layers of ViT have too."""
DIVIDED = 17 / 12
"""Layers of ViT that one of attention over time and space apart is worth: a second attention and a
projection (TimeSformer)."""
LAYER_TYPES = ("basic", "bottleneck", "x", "y")
PARTS = ("backbone_config", "vision_config")
STRIDE, FINE_STRIDE, FINE_LEVELS = 32, 8, 4 / 3
"""Pixels per token of a map's last stage, of the first of several levels, and how many tokens all
levels have of the first's."""
WIDEST_TEXT = 1280
"""Width of the widest text encoder beside a tower (OpenCLIP's bigG); wider ones are language
models."""
PROMPT, QUERIES, DETECTED_EDGE = 77, 300, 640


def composite_of(config: dict[str, Any], known: set[str]) -> dict[str, Any] | None:
    """The parts of a configuration, of which `known` kinds are traced; None where nothing of it is
    an image network."""
    config = {**(defaults().get(str(config.get("model_type"))) or {}), **config}
    part = next(
        (config[name] for name in PARTS if isinstance(config.get(name), dict) and config[name]),
        config,
    )
    seen = _seen(part, known)
    if seen is None or config.get("vocab_size"):
        return None
    size = (
        edge(pick(part, "image_size", default=pick(config, "image_size", default=None)) or 224)
        or 224
    )
    text = _text(config)
    text_config = config.get("text_config")
    if isinstance(text_config, dict) and (
        text is None or text["width"] > WIDEST_TEXT or text_config.get("num_key_value_heads")
    ):
        return None
    levelled = _levelled(config, part, seen)
    if levelled is not None:
        return levelled
    detects = "backbone_config" in config and not config.get("neck_hidden_sizes")
    size = DETECTED_EDGE if part is not config and detects else size
    made: dict[str, Any] = {"model_type": "picture_composite", "seen": seen, "image_size": size}
    frames, thick = (
        config.get("num_frames") or config.get("frames_per_clip"),
        config.get("tubelet_size"),
    )
    thick = thick[0] if isinstance(thick, list) and thick else thick
    if isinstance(frames, int) and frames > 1 and not isinstance(frames, bool):
        made["clips"] = max(1, frames // (thick if isinstance(thick, int) and thick > 0 else 1))
    made["neck"] = _neck(config, seen)
    made["layers"] = [layer for layer in (_encoder(config), _decoder(config), text) if layer]
    return made


def _seen(part: dict[str, Any], known: set[str]) -> dict[str, Any] | None:
    kind = str(part.get("model_type"))
    kind = LIKE.get(kind, kind)
    if kind in known:
        usual = defaults().get(kind) or {}
        same = {
            name: part[name]
            for name in usual
            if part.get(name) is not None and type(part[name]) is type(usual[name])
        }
        if same.get("layer_type") not in LAYER_TYPES:
            same.pop("layer_type", None)
        return same | {"model_type": kind}
    width, layers, heads = (
        pick(part, *names)
        for names in (
            ("hidden_size", "embed_dim"),
            ("num_hidden_layers",),
            ("num_attention_heads",),
        )
    )
    if not all(
        isinstance(one, int) and not isinstance(one, bool) and one > 0
        for one in (width, layers, heads)
    ):
        return None
    layers = (
        round(layers * DIVIDED) if part.get("attention_type") == "divided_space_time" else layers
    )
    ratio = part.get("mlp_ratio") or 4
    wide = int(ratio * width) if isinstance(ratio, int | float) else 4 * width
    return {
        "model_type": "vit",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": pick(part, "intermediate_size", default=wide),
        "patch_size": edge(part.get("patch_size") or 16),
        "image_size": edge(part.get("image_size") or 224),
        **{name: part[name] for name in PASSED if part.get(name) is not None},
    }


def _levelled(
    config: dict[str, Any], part: dict[str, Any], seen: dict[str, Any]
) -> dict[str, Any] | None:
    """UPerNet on a backbone whose segmenter is traced."""
    if (
        config.get("model_type") != "upernet"
        or part is config
        or seen["model_type"] not in ("resnet", "swin")
    ):
        return None
    classes = config.get("num_labels") or len(config.get("id2label") or ()) or 150
    return {
        "model_type": "dilated_segmenter",
        "head": "upernet",
        "num_labels": classes,
        "image_size": 512,
        "seen": {"model_type": seen["model_type"]},
        "backbone": {"deep_stem": False, **seen},
    }


def _neck(config: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any] | None:
    """The convolutions that DPT puts on the maps of a tower (Ranftl et al. 2021, arXiv
    2103.13413)."""
    widths, fused, head = (
        config.get("neck_hidden_sizes"),
        config.get("fusion_hidden_size"),
        config.get("head_hidden_size"),
    )
    if not (
        isinstance(widths, list)
        and isinstance(fused, int)
        and "hidden_size" in seen
        and 0 < fused <= MOST_WIDTH
    ):
        return None
    if not all(isinstance(width, int) and 0 < width <= MOST_WIDTH for width in widths):
        return None
    return {
        "widths": widths,
        "fused": fused,
        "head": head if isinstance(head, int) else 32,
        "tower": seen["hidden_size"],
        "patch": seen.get("patch_size") or 14,
    }


def _layer(config: dict[str, Any], side: str, tokens: str) -> dict[str, Any] | None:
    count, width = (
        config.get(f"{side}_layers"),
        pick(config, "d_model", "encoder_hidden_dim", "hidden_dim"),
    )
    if not isinstance(count, int) or not isinstance(width, int) or count <= 0:
        return None
    ffn = pick(
        config, f"{side}_ffn_dim", f"{side}_feedforward_dim", "dim_feedforward", default=4 * width
    )
    heads = pick(config, f"{side}_attention_heads", "num_attention_heads", default=8)
    return {
        "count": count,
        "width": width,
        "ffn": ffn,
        "heads": heads if width % heads == 0 else 8,
        "tokens": tokens,
    }


def _encoder(config: dict[str, Any]) -> dict[str, Any] | None:
    several = bool(config.get("num_feature_levels") and not config.get("encode_proj_layers"))
    return _layer(config, "encoder", "levels" if several else "map")


def _decoder(config: dict[str, Any]) -> dict[str, Any] | None:
    found = _layer(config, "decoder", "queries")
    return found and {
        **found,
        "count": 4 * found["count"] // 3,
        "queries": config.get("num_queries") or QUERIES,
    }


def _text(config: dict[str, Any]) -> dict[str, Any] | None:
    part_config = config.get("text_config")
    if not isinstance(part_config, dict):
        return None
    usual = defaults().get(str(part_config.get("model_type"))) or {}
    part_config = {**usual, **part_config}
    width, layers = part_config.get("hidden_size"), part_config.get("num_hidden_layers")
    if not (isinstance(width, int) and isinstance(layers, int)):
        return None
    return {
        "count": layers,
        "width": width,
        "ffn": part_config.get("intermediate_size") or 4 * width,
        "heads": part_config.get("num_attention_heads") or 8,
        "tokens": "prompt",
        "vocab": part_config.get("vocab_size") or 0,
    }


class Composite:
    """The part that sees, and rows of transformer layers beside it, each with a loss of its own.
    Layers over several levels attend to a few places each (deformable attention), so that they
    never write all scores."""

    def __init__(self, net: Net, config: dict[str, Any], seen: Any) -> None:
        self.net, self.seen, part_config = net, seen, config.get("neck")
        self.neck = DenseNeck(net, part_config) if part_config else None
        sparse = copy(net)
        sparse.setting = msgspec.structs.replace(net.setting, eager=False)
        self.rows: list[tuple[int, list[VitBlock], Linear, Tensor | None]] = []
        for part_config in config["layers"]:
            count, width, vocab = (
                part_config["count"],
                part_config["width"],
                part_config.get("vocab") or 0,
            )
            tokens = self._tokens(part_config)
            if not (
                0 < count <= MOST_LAYERS
                and 0 < width <= MOST_WIDTH
                and tokens <= MOST_TOKENS
                and 0 <= vocab <= 20_000_000
            ):
                raise ValueError(
                    f"expected layers of reasonable sizes, found {str(part_config)[:60]}"
                )
            plain = {
                "model_type": "vit",
                "hidden_size": width,
                "num_attention_heads": part_config["heads"],
                "num_hidden_layers": count,
                "intermediate_size": part_config["ffn"],
            }
            table = net.parameter(vocab, width) if vocab else None
            blocks = [VitBlock(net, plain, tokens, at) for at in range(count)]
            for block in blocks if part_config["tokens"] == "levels" else ():
                block.net = sparse
            self.rows.append(
                (tokens, blocks, net.linear("classifier", width, net.classes, True), table)
            )

    def _tokens(self, part_config: dict[str, Any]) -> int:
        side = self.net.setting.length
        if part_config["tokens"] == "prompt":
            return PROMPT
        if part_config["tokens"] == "queries":
            return int(part_config["queries"])
        fine = part_config["tokens"] == "levels"
        return max(
            1, int((side / (FINE_STRIDE if fine else STRIDE)) ** 2 * (FINE_LEVELS if fine else 1))
        )

    def loss(self) -> Tensor:
        """The sum of the parts' losses; without training, the scores of the last."""
        net = self.net
        total: Tensor = self.seen.loss()
        if self.neck is not None:
            depth = self.neck.loss()
            total = ops.add(net.tape, total, depth) if net.setting.training else depth
        for tokens, blocks, head, table in self.rows:
            shape = (net.setting.batch, tokens, blocks[0].hidden)
            x = (
                net.given(*shape, dtype=net.setting.dtype)
                if table is None
                else ops.embedding(net.tape, table, shape[:2])
            )
            for block in blocks:
                x = checkpointed(net, block, x)
            scores = head(x)
            if not net.setting.training:
                total = scores
                continue
            total = ops.add(net.tape, total, class_loss(net, scores))
        return total


def clip_edge(config: dict[str, Any], length: int) -> int:
    """The edge of one image that has as many patches as a clip."""
    patch = edge(config["seen"].get("patch_size") or 16)
    return max(patch, round(length * sqrt(config.get("clips") or 1) / patch) * patch)
