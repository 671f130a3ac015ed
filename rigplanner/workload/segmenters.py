"""Segmenters on a dilated residual network on the tape: FCN, PSPNet and DeepLab v3 as MMSegmentation trains them."""

from __future__ import annotations

from typing import Any

from rigplanner.workload import ops
from rigplanner.workload.config import full_config
from rigplanner.workload.net import Net
from rigplanner.workload.pyramid import ResidualBackbone, Unit, enlarged, picture, pixel_loss
from rigplanner.workload.tape import Tensor

WIDTH, SIDE_WIDTH = 512, 256
"""Channels of the head, and of the second one on the third stage that training has (configs/_base_/models of MMSegmentation)."""
POOLED_SIDES = (1, 2, 3, 6)
"""Sides of PSPNet's pooled maps (Zhao et al. 2017)."""
DILATED = 3
"""Dilated branches of DeepLab v3 beside the plain and the pooled one (Chen et al. 2017, arXiv 1706.05587)."""
DROPPED = 0.1


class PlainHead:
    """FCN: two convolutions, joined with their input, and one more."""

    def __init__(self, net: Net, inputs: int) -> None:
        self.net = net
        self.layers = [Unit(net, inputs, WIDTH, 3, norm="trained"), Unit(net, WIDTH, WIDTH, 3, norm="trained")]
        self.joint = Unit(net, inputs + WIDTH, WIDTH, 3, norm="trained")

    def __call__(self, x: Tensor) -> Tensor:
        y = self.layers[1](self.layers[0](x))
        return self.joint(ops.cat(self.net.tape, (x, y), 1))


class PooledHead:
    """PSPNet: the map beside means of its parts, brought back to its size."""

    def __init__(self, net: Net, inputs: int) -> None:
        self.net = net
        self.layers = [Unit(net, inputs, WIDTH, 1, norm="trained") for _ in POOLED_SIDES]
        self.joint = Unit(net, inputs + WIDTH * len(POOLED_SIDES), WIDTH, 3, norm="trained")

    def __call__(self, x: Tensor) -> Tensor:
        tape, sides = self.net.tape, (x.shape[2], x.shape[3])
        parts = [x]
        for layer, side in zip(self.layers, POOLED_SIDES, strict=True):
            small = layer(ops.reduce_to(tape, x, (*x.shape[:2], side, side)))
            parts.append(enlarged(tape, small, sides))
        return self.joint(ops.cat(tape, parts, 1))


class DilatedHead:
    """DeepLab v3: a pooled, a plain and dilated branches, joined."""

    def __init__(self, net: Net, inputs: int) -> None:
        self.net = net
        self.pooled = Unit(net, inputs, WIDTH, 1, norm="trained")
        self.layers = [Unit(net, inputs, WIDTH, 1, norm="trained")]
        self.layers += [Unit(net, inputs, WIDTH, 3, norm="trained") for _ in range(DILATED)]
        self.joint = Unit(net, WIDTH * (DILATED + 2), WIDTH, 3, norm="trained")

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        whole = self.pooled(ops.reduce_to(tape, x, (*x.shape[:2], 1, 1)))
        parts = [enlarged(tape, whole, (x.shape[2], x.shape[3])), *(layer(x) for layer in self.layers)]
        return self.joint(ops.cat(tape, parts, 1))


HEADS: dict[str, type[PlainHead] | type[PooledHead] | type[DilatedHead]] = {
    "fcn": PlainHead, "pspnet": PooledHead, "deeplabv3": DilatedHead,
}  # fmt: skip


class PixelClassifier:
    """A dilated ResNet with norms over all cards, its head, and a second head on the third stage while it trains."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net = net
        told = {"output_stride": 8, "deep_stem": True, **full_config(config["backbone"])}
        self.backbone = ResidualBackbone(net, told, "trained")
        widths, classes = self.backbone.widths, config.get("num_labels") or 19
        self.head = HEADS[config["head"]](net, widths[-1])
        self.scores = Unit(net, WIDTH, classes, 1, bias=True, relu=False)
        self.side = Unit(net, widths[-2], SIDE_WIDTH, 3, norm="trained")
        self.side_scores = Unit(net, SIDE_WIDTH, classes, 1, bias=True, relu=False)

    def loss(self) -> Tensor:
        """The losses of both heads over every pixel; without training, the scores at the image's size."""
        net, tape = self.net, self.net.tape
        image = picture(net, 1)
        maps = self.backbone(image)
        sides = (image.shape[2], image.shape[3])
        if not net.setting.training:
            return enlarged(tape, self.scores(self.head(maps[-1])), sides)
        found = []
        for layers, x in (((self.head, self.scores), maps[-1]), ((self.side, self.side_scores), maps[-2])):
            y = layers[0](x)
            y = layers[1](ops.dropout(tape, y, DROPPED, True))
            found.append(pixel_loss(net, enlarged(tape, y, sides)))
        return ops.add(tape, found[0], found[1])
