"""Language models that see: the part that sees, what joins it to the text, and the decoder over
text and features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.families.decoders.decoder import Decoder
from rigplanner.networks.families.decoders.moe import gather
from rigplanner.networks.families.multimodal.qwen_vision import QwenTower
from rigplanner.networks.families.multimodal.vision_tower import (
    RowTower,
    Tower,
    TwoLayers,
    absorbed,
    pooled,
    seeing,
    shuffled,
)
from rigplanner.networks.image_tokens import QWEN, seen_of, vision_config
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import BOOL, I64, Grads, Tape, Tensor, new, record

Eyes = Callable[[], tuple[Tensor, list[Tensor], tuple[Tensor, ...]]]
"""Runs the part that sees: features in the width of the text, those that enter later layers, and
what lives on."""


def scattered(tape: Tape, x: Tensor, features: Tensor, kept: tuple[Tensor, ...] = ()) -> Tensor:
    """masked_scatter: features in the place of some embedded tokens; on a CUDA device every place
    is numbered first. `kept`: what layers of a tower that never trains were given, which their
    checkpoints hold to the end."""
    mask = new(tape, (*x.shape[:2], 1), BOOL)
    if not tape.semantics.explicit_mask:
        _numbers = new(tape, x.shape, BOOL), new(tape, x.shape, I64)
        del _numbers
    whole, some = x.shape, features.shape

    def pull(grad: Tensor) -> Grads:
        _kept = mask, kept
        first = new(tape, whole, grad.dtype)
        return first, new(tape, some, grad.dtype)

    return record(tape, new(tape, whole, x.dtype), (x, features), pull)


class Multimodal:
    """A decoder whose embedded tokens are partly features of images."""

    def __init__(self, net: Net, text: Callable[[Net], Any], config: dict[str, Any]) -> None:
        self.net, self.decoder = net, text(net)
        if not isinstance(self.decoder, Decoder):
            raise ValueError(f"the text part of {config['model_type']} takes no images")
        self.blocks = self.decoder.blocks
        self.tower, self.eyes = _eyes(net, config, self.decoder.form.hidden)
        self.plain = self.decoder.embedded
        self.waiting: list[Tensor] = []
        self.decoder.embedded = self._embedded  # type: ignore[method-assign]
        self.decoder.between = self._between  # type: ignore[method-assign]

    def _embedded(self, x: Tensor) -> Tensor:
        features, levels, held = self.eyes()
        self.held = (*held, features, *levels)
        kept = tuple(self.tower.entered)
        self.tower.entered.clear()
        self.waiting = [ops.copy(self.net.tape, level) for level in levels]
        return scattered(self.net.tape, self.plain(x), features, kept)

    def _between(self, x: Tensor, at: int) -> Tensor:
        if at >= len(self.waiting):
            return x
        return entered(self.net.tape, x, self.waiting[at])

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the logits."""
        made: Tensor = self.decoder.loss()
        self.held, self.waiting = (), []
        return made


def _eyes(net: Net, config: dict[str, Any], text: int) -> tuple[Tower | RowTower | QwenTower, Eyes]:
    setting, tower_config = net.setting, vision_config(config)
    seen = seen_of(config, setting.sides or (1, 1))
    adapted = bool(setting.lora_rank)
    frozen = adapted or setting.frozen_tower
    part = seeing(net, setting.batch * setting.images * seen.pieces, frozen)
    if config["model_type"] in QWEN:
        projecting = seeing(net, part.setting.batch, adapted)
        part.values, projecting.values = net.values, 0
        tower = QwenTower(part, tower_config, seen, text, projecting, adapted)
        net.values, net.trained = (
            part.values + projecting.values,
            part.trained + projecting.trained - net.trained,
        )
        return tower, tower
    plain = (
        RowTower(part, tower_config, seen, adapted)
        if config["model_type"] == "mistral3"
        else Tower(part, tower_config, seen, _unused(config), adapted)
    )
    absorbed(net, part)
    joined = _joiner(net, config, tower_config, text)

    def eyes() -> tuple[Tensor, list[Tensor], tuple[Tensor, ...]]:
        tape = net.tape
        recording, tape.recording = (
            tape.recording,
            tape.recording and (not frozen or (adapted and setting.checkpointing)),
        )
        features, held = plain()
        tape.recording = recording
        return joined(features), [], held

    return plain, eyes


def _unused(config: dict[str, Any]) -> int:
    """Layers of the tower after the one whose states are taken."""
    if not config["model_type"].startswith("llava"):
        return 0
    taken = config.get("vision_feature_layer", -2)
    return -1 - taken if isinstance(taken, int) and taken < 0 else 0


def _joiner(
    net: Net, config: dict[str, Any], tower_config: dict[str, Any], text: int
) -> Callable[[Tensor], Tensor]:
    """What brings the features of a tower to the width of the text."""
    kind, width, tape = config["model_type"], int(tower_config["hidden_size"]), net.tape
    act = str(config.get("projector_hidden_act") or "gelu")
    if kind == "llava":
        both = TwoLayers(net, width, text, act, config.get("multimodal_projector_bias", True))
        classed = tower_config["model_type"].startswith("clip")
        cuts = classed and config.get("vision_feature_select_strategy", "default") == "default"
        return lambda x: ops.copy(
            tape, both(ops.cut(tape, x, (x.shape[0], x.shape[1] - 1, width)) if cuts else x)
        )
    if kind == "llava_next":
        return _gridded(
            net,
            config,
            width,
            TwoLayers(net, width, text, act, config.get("multimodal_projector_bias", True)),
            text,
        )
    if kind == "paligemma":
        return net.linear("linear", width, text, True)
    if kind == "gemma3":
        weight, norm = net.parameter(width, text), Norm(net, "rms_one", width)
        tokens = int(config.get("mm_tokens_per_image") or 256)
        return lambda x: ops.bmm(
            tape, norm(pooled(tape, x, tokens)), weight, (x.shape[0], tokens, text)
        )
    if kind == "internvl":
        factor = round(1 / float(config.get("downsample_ratio") or 0.5))
        mixed = TwoLayers(net, width * factor**2, text, act, True, "layer")
        return lambda x: mixed(
            shuffled(tape, ops.cut(tape, x, (x.shape[0], x.shape[1] - 1, width)), factor)
        )
    if kind == "mistral3":
        return _merger(net, config, width, text, act)
    scale = int(config.get("scale_factor") or 2)
    flat = net.linear("proj", width * scale**2, text)
    return lambda x: ops.copy(tape, flat(shuffled(tape, x, scale)))


def _gridded(
    net: Net, config: dict[str, Any], width: int, both: TwoLayers, text: int
) -> Callable[[Tensor], Tensor]:
    """Two linear layers; the pieces of every picture laid side by side, a learned mark behind every
    row, the whole before them, and all pictures joined (LLaVA-NeXT)."""
    tape, seen, _mark = net.tape, seen_of(config, net.setting.sides or (1, 1)), net.parameter(text)
    cuts = config.get("vision_feature_select_strategy", "default") == "default"

    def regrouped(x: Tensor, rows: int) -> Tensor:
        source = x.shape
        return record(
            tape,
            new(tape, (rows, text), x.dtype),
            (x,),
            lambda grad: (new(tape, source, grad.dtype),),
        )

    def joined(x: Tensor) -> Tensor:
        pictures, each = x.shape[0] // seen.pieces, seen.features
        made = both(ops.cut(tape, x, (x.shape[0], x.shape[1] - 1, width)) if cuts else x)
        beside = regrouped(made, made.shape[0] * made.shape[1] * (seen.pieces - 1) // seen.pieces)
        marked = regrouped(beside, pictures * (each - made.shape[1]))
        whole = regrouped(marked, pictures * each)
        return ops.copy(tape, whole)

    return joined


def _merger(
    net: Net, config: dict[str, Any], width: int, text: int, act: str
) -> Callable[[Tensor], Tensor]:
    """Neighbours unfolded into channels and reduced, two linear layers (Mistral 3)."""
    tape, joined = net.tape, int(config.get("spatial_merge_size") or 2) ** 2
    norm, reduce = Norm(net, "rms", width), net.linear("merging_layer", width * joined, width)
    both = TwoLayers(net, width, text, act, config.get("multimodal_projector_bias", False))

    def merged(x: Tensor) -> Tensor:
        unfolded = ops.copy(tape, norm(x).view(x.shape[1] // joined, width * joined))
        made = both(reduce(ops.copy(tape, unfolded)))
        return ops.copy(tape, made)

    return merged


def entered(tape: Tape, x: Tensor, level: Tensor) -> Tensor:
    """The states with a level of the tower added at the places of the images (Qwen3-VL, DeepStack):
    a copy, of which the places are taken, summed and written back."""
    whole = ops.copy(tape, x)
    summed = ops.add(tape, gather(tape, whole, level.shape), level)
    full, some = whole.shape, level.shape

    def pull(grad: Tensor) -> Grads:
        return new(tape, full, grad.dtype), new(tape, some, grad.dtype)

    return record(tape, Tensor(full, whole.dtype, whole.storage), (whole, summed), pull)
