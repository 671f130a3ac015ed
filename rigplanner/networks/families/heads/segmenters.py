"""Segmenters on residual networks, branches or windows on the tape as MMSegmentation trains them;
here are FCN, PSPNet, DeepLab v3, v3+ and UPerNet, the heads with attention and pooled contexts in
modules of their own."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.heads.context_heads import (
    Around,
    ContextHead,
    CrossHead,
    DualHead,
    InterlacedHead,
    ObjectHead,
    PartedHead,
    PyramidAttentionHead,
)
from rigplanner.networks.families.heads.fast_segmenters import FastSegmenter
from rigplanner.networks.families.heads.pooled_heads import (
    AdaptiveHead,
    BasisHead,
    CodeHead,
    FilterHead,
    MaskedHead,
    PointHead,
    SumHead,
)
from rigplanner.networks.families.vision.hrnet import HighResolution, MobileBackbone
from rigplanner.networks.families.vision.pyramid import (
    ResidualBackbone,
    Unit,
    enlarged,
    picture,
    pixel_loss,
)
from rigplanner.networks.families.vision.windows import ConvNextBackbone, WindowBackbone
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor

WIDTH, SIDE_WIDTH = 512, 256
"""Channels of the head, and of the second one on the third stage that training has, where the
configuration (`head_width`, `side_width`) names none (configs/_base_/models of MMSegmentation;
those on ResNet-18 have 128 and 64)."""
POOLED_SIDES = (1, 2, 3, 6)
"""Sides of PSPNet's pooled maps (Zhao et al. 2017)."""
DILATED = 3
"""Dilated branches of DeepLab v3 beside the plain and the pooled one (Chen et al. 2017, arXiv
1706.05587)."""
FINE_WIDTH = 48
"""Channels that the finer map of DeepLab v3+ is reduced to."""
DROPPED = 0.1


class PlainHead:
    """FCN: two convolutions, joined with their input, and one more."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.layers = [
            Unit(net, inputs, width, 3, norm="trained"),
            Unit(net, width, width, 3, norm="trained"),
        ]
        self.joint = Unit(net, inputs + width, width, 3, norm="trained")

    def __call__(self, maps: list[Tensor]) -> Tensor:
        x = maps[-1]
        y = self.layers[1](self.layers[0](x))
        return self.joint(ops.cat(self.net.tape, (x, y), 1))


class PooledHead:
    """PSPNet: the map beside means of its parts, brought back to its size."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.layers = [Unit(net, inputs, width, 1, norm="trained") for _ in POOLED_SIDES]
        self.joint = Unit(net, inputs + width * len(POOLED_SIDES), width, 3, norm="trained")

    def __call__(self, maps: list[Tensor]) -> Tensor:
        x = maps[-1]
        tape, sides = self.net.tape, (x.shape[2], x.shape[3])
        parts = [x]
        for layer, side in zip(self.layers, POOLED_SIDES, strict=True):
            small = layer(ops.reduce_to(tape, x, (*x.shape[:2], side, side)))
            parts.append(enlarged(tape, small, sides))
        return self.joint(ops.cat(tape, parts, 1))


class DilatedHead:
    """DeepLab v3: a pooled, a plain and dilated branches, joined."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.pooled = Unit(net, inputs, width, 1, norm="trained")
        self.layers: list[Any] = [Unit(net, inputs, width, 1, norm="trained")]
        self.layers += [self._branch(inputs, width) for _ in range(DILATED)]
        self.joint = Unit(net, width * (DILATED + 2), width, 3, norm="trained")

    def _branch(self, inputs: int, width: int) -> Any:
        return Unit(self.net, inputs, width, 3, norm="trained", dilation=12)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, x = self.net.tape, maps[-1]
        whole = self.pooled(ops.reduce_to(tape, x, (*x.shape[:2], 1, 1)))
        parts = [
            enlarged(tape, whole, (x.shape[2], x.shape[3])),
            *(layer(x) for layer in self.layers),
        ]
        return self.joint(ops.cat(tape, parts, 1))


class Separable:
    """A depthwise convolution and one of a pixel, each with norm and ReLU."""

    def __init__(self, net: Net, inputs: int, outputs: int) -> None:
        self.deep = Unit(net, inputs, inputs, 3, groups=inputs, norm="trained")
        self.point = Unit(net, inputs, outputs, 1, norm="trained")

    def __call__(self, x: Tensor) -> Tensor:
        return self.point(self.deep(x))


class FineHead(DilatedHead):
    """DeepLab v3+ (Chen et al. 2018, arXiv 1802.02611): separable branches, and a finer map joined
    to their result."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        super().__init__(net, widths, width)
        self.fine = Unit(net, widths[0], FINE_WIDTH, 1, norm="trained")
        self.last = [Separable(net, width + FINE_WIDTH, width), Separable(net, width, width)]

    def _branch(self, inputs: int, width: int) -> Any:
        return Separable(self.net, inputs, width)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, first = self.net.tape, maps[0]
        y = enlarged(tape, super().__call__(maps), (first.shape[2], first.shape[3]))
        y = ops.cat(tape, (y, self.fine(first)), 1)
        return self.last[1](self.last[0](y))


class LeveledHead:
    """UPerNet (Xiao et al. 2018, arXiv 1807.10221): pooling over the last map, a pyramid of all,
    joined at the finest."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, self.pooling = net, PooledHead(net, widths, width)
        self.lateral = [Unit(net, inputs, width, 1, norm="trained") for inputs in widths[:-1]]
        self.out = [Unit(net, width, width, 3, norm="trained") for _ in widths[:-1]]
        self.joint = Unit(net, width * len(widths), width, 3, norm="trained")

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape = self.net.tape
        levels = [
            *(layer(x) for layer, x in zip(self.lateral, maps, strict=False)),
            self.pooling(maps),
        ]
        for at in range(len(levels) - 1, 0, -1):
            below = levels[at - 1]
            levels[at - 1] = ops.add(
                tape, below, enlarged(tape, levels[at], (below.shape[2], below.shape[3]))
            )
            del below
        found = [layer(x) for layer, x in zip(self.out, levels, strict=False)] + [levels[-1]]
        del levels
        sides = (found[0].shape[2], found[0].shape[3])
        found[1:] = [enlarged(tape, x, sides) for x in found[1:]]
        return self.joint(ops.cat(tape, found, 1))


HEADS: dict[str, Any] = {
    "fcn": PlainHead,
    "pspnet": PooledHead,
    "deeplabv3": DilatedHead,
    "deeplabv3plus": FineHead,
    "upernet": LeveledHead,
    "nonlocal": Around,
    "dnlnet": PartedHead,
    "gcnet": ContextHead,
    "ccnet": CrossHead,
    "ann": PyramidAttentionHead,
    "isanet": InterlacedHead,
    "danet": DualHead,
    "ocrnet": ObjectHead,
    "encnet": CodeHead,
    "emanet": BasisHead,
    "apcnet": AdaptiveHead,
    "dmnet": FilterHead,
    "psanet": MaskedHead,
    "semantic_fpn": SumHead,
    "pointrend": SumHead,
}
LEVELED = ("upernet", "semantic_fpn", "pointrend")
"""Heads that take all stages of a backbone that is not dilated."""
HEAD_WIDTHS = {"emanet": 256, "semantic_fpn": 128, "pointrend": 128}
"""Channels of the heads that have other than `WIDTH`."""


class OnePixel:
    """FCN on HRNet: one convolution of a pixel over the joined maps."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.layer = Unit(net, width, width, 1, norm="trained")

    def __call__(self, maps: list[Tensor]) -> Tensor:
        return self.layer(maps[-1])


def backbone_of(net: Net, part_config: dict[str, Any], head: str) -> Any:
    """The backbone that a configuration tells, its norms trained."""
    if part_config["model_type"] == "swin":
        return WindowBackbone(net, part_config)
    if part_config["model_type"] in ("convnext", "convnextv2"):
        return ConvNextBackbone(net, part_config)
    if part_config["model_type"] == "hrnet":
        return HighResolution(net, part_config, "trained")
    if part_config["model_type"] == "mobilenet_v2":
        return MobileBackbone(net)
    plain = {"output_stride": 32 if head in LEVELED else 8, "deep_stem": True}
    return ResidualBackbone(net, {**plain, **part_config}, "trained")


class PixelClassifier:
    """A dilated ResNet with norms over all cards, its head, and a second head on the third stage
    while it trains. The maps of HRNet are joined at the finest for each head anew."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, kind = net, config["head"]
        part_config = full_config(config["backbone"])
        self.backbone, self.joins = (
            backbone_of(net, part_config, kind),
            part_config["model_type"] == "hrnet",
        )
        widths, classes = self.backbone.widths, config.get("num_labels") or 19
        width = config.get("head_width") or HEAD_WIDTHS.get(kind, WIDTH)
        side_width = config.get("side_width") or SIDE_WIDTH
        if self.joins:
            widths = [sum(widths)] * 2
            side_width, width = widths[0], width if kind == "ocrnet" else widths[0]
        self.dropped = 0.0 if self.joins or kind == "pointrend" else DROPPED
        self.head: Any = (OnePixel if self.joins and kind == "fcn" else HEADS[kind])(
            net, widths, width
        )
        self.scores = [
            Unit(net, width, classes, 1, bias=True, relu=False)
            for _ in range(3 if kind == "danet" else 1)
        ]
        self.points = PointHead(net, classes) if kind == "pointrend" else None
        self.side: Unit | None = None
        if not (kind in LEVELED[1:] or (self.joins and kind == "fcn")):
            self.side = Unit(net, widths[-2], side_width, 1 if self.joins else 3, norm="trained")
            self.side_scores = Unit(net, side_width, classes, 1, bias=True, relu=False)

    def loss(self) -> Tensor:
        """The losses of all heads over every pixel; without training, the scores at the image's
        size."""
        net, tape = self.net, self.net.tape
        image = picture(net, 1)
        maps = self.backbone(image)
        sides = (image.shape[2], image.shape[3])
        if not net.setting.training:
            return enlarged(tape, self._scored(maps)[0], sides)
        if self.points is not None:
            return self._refined(maps, sides)
        makers = [self._scored, self._coarse]
        if self.side is None:
            makers = makers[:1]
        elif isinstance(self.head, ObjectHead):
            makers = makers[::-1]
        found = [pixel_loss(net, enlarged(tape, y, sides)) for make in makers for y in make(maps)]
        total = found[0]
        for loss in found[1:]:
            total = ops.add(tape, total, loss)
        return total

    def _scored(self, maps: list[Tensor]) -> list[Tensor]:
        """The scores of the head, which for objects begins with the coarse ones, made anew."""
        if isinstance(self.head, ObjectHead):
            made: Any = self.head(self._seen(maps), self._coarse(maps)[0])
        else:
            made = self.head(self._seen(maps))
        each = made if isinstance(made, list) else [made]
        return [
            scores(self.net.drop(y, self.dropped))
            for scores, y in zip(self.scores, each, strict=True)
        ]

    def _coarse(self, maps: list[Tensor]) -> list[Tensor]:
        """The scores of the second head."""
        assert self.side is not None
        return [
            self.side_scores(
                self.net.drop(
                    self.side(self._seen(maps)[-2 if len(maps) > 1 and not self.joins else -1]),
                    self.dropped,
                )
            )
        ]

    def _seen(self, maps: list[Tensor]) -> list[Tensor]:
        if not self.joins:
            return maps
        tape, sides = self.net.tape, (maps[0].shape[2], maps[0].shape[3])
        return [ops.cat(tape, [enlarged(tape, x, sides) for x in maps], 1)]

    def _refined(self, maps: list[Tensor], sides: tuple[int, int]) -> Tensor:
        """PointRend: the loss of the coarse scores, and of those at points, for which they are made
        again."""
        tape, head = self.net.tape, self.head
        assert self.points is not None
        levels = head.pyramid(maps)
        coarse = pixel_loss(self.net, enlarged(tape, self.scores[0](head.summed(levels)), sides))
        return ops.add(tape, coarse, self.points(levels[0], self.scores[0](head.summed(levels))))


FAST = ("fast_scnn", "bisenetv1")
"""Segmenters whose body and heads are one."""


def segmenter(net: Net, config: dict[str, Any]) -> PixelClassifier | FastSegmenter:
    """The segmenter that a configuration tells."""
    return FastSegmenter(net, config) if config["head"] in FAST else PixelClassifier(net, config)
