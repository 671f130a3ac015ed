"""Segmenters made to be fast, on the tape: Fast-SCNN and BiSeNet, whose two paths join; every path
has a head while it trains."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.vision.hrnet import Inverted
from rigplanner.networks.families.vision.pyramid import (
    ResidualBackbone,
    Unit,
    enlarged,
    picture,
    pixel_loss,
    relu_in_place,
)
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor

NORM = "trained"
GROUPS = ((64, 64, 2), (64, 96, 2), (96, 128, 1))
"""Inputs, outputs and stride of Fast-SCNN's three groups of blocks, each of three (Poudel et al.
2019, arXiv 1902.04502)."""
POOLED_SIDES = (1, 2, 3, 6)
DROPPED = 0.1


def separable(net: Net, inputs: int, outputs: int, stride: int = 1) -> list[Unit]:
    """A depthwise convolution and one of a pixel."""
    return [
        Unit(net, inputs, inputs, 3, stride=stride, groups=inputs, norm=NORM),
        Unit(net, inputs, outputs, 1, norm=NORM),
    ]


def run(layers: list[Any], x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x


class FastScnn:
    """Three steps down to an eighth, blocks to a 32nd with pooled context, and the sum of both; the
    maps seen by the heads."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.down: list[Any] = [
            Unit(net, 3, 32, 3, stride=2, norm=NORM),
            *separable(net, 32, 48, 2),
            *separable(net, 48, 64, 2),
        ]
        self.blocks: list[Any] = []
        for inputs, outputs, stride in GROUPS:
            self.blocks += [
                Inverted(net, outputs if at else inputs, outputs, 6, 1 if at else stride, 1)
                for at in range(3)
            ]
        self.pools = [Unit(net, 128, 32, 1, norm=NORM) for _ in POOLED_SIDES]
        self.out = Unit(net, 256, 128, 1, norm=NORM)
        self.lower: list[Any] = [
            Unit(net, 128, 128, 1, norm=NORM),
            Unit(net, 128, 128, 1, norm=NORM, relu=False),
        ]
        self.higher = Unit(net, 64, 128, 1, norm=NORM, relu=False)
        self.heads = [
            [*separable(net, 128, 128), *separable(net, 128, 128)],
            [Unit(net, 128, 32, 3, norm=NORM)],
            [Unit(net, 64, 32, 3, norm=NORM)],
        ]
        self.widths = (128, 32, 32)

    def __call__(self, image: Tensor) -> list[Tensor]:
        tape, fine = self.net.tape, run(self.down, image)
        x = run(self.blocks, fine)
        sides = (x.shape[2], x.shape[3])
        parts = [x]
        for layer, side in zip(self.pools, POOLED_SIDES, strict=True):
            parts.append(
                enlarged(tape, layer(ops.reduce_to(tape, x, (*x.shape[:2], side, side))), sides)
            )
        coarse = self.out(ops.cat(tape, parts, 1))
        del parts, x
        y = run(self.lower, enlarged(tape, coarse, (fine.shape[2], fine.shape[3])))
        return [relu_in_place(tape, ops.add(tape, self.higher(fine), y)), coarse, fine]


class Refined:
    """A convolution, and the product with a gate of its mean."""

    def __init__(self, net: Net, inputs: int, outputs: int) -> None:
        self.net, self.layer = net, Unit(net, inputs, outputs, 3, norm=NORM)
        self.gate = Unit(net, outputs, outputs, 1, norm=NORM, relu=False)

    def __call__(self, x: Tensor) -> Tensor:
        tape, y = self.net.tape, self.layer(x)
        return ops.mul(
            tape,
            y,
            ops.keeping_result(tape, self.gate(ops.reduce_to(tape, y, (*y.shape[:2], 1, 1)))),
        )


class BilateralNet:
    """BiSeNet (Yu et al. 2018, arXiv 1808.00897): a path of four convolutions beside a residual
    network whose last maps are refined and brought up, joined at an eighth."""

    def __init__(self, net: Net, part_config: dict[str, Any]) -> None:
        self.net, self.backbone = net, ResidualBackbone(net, part_config, NORM)
        low, middle, high = self.backbone.widths[1:]
        first = low // 2
        self.path: list[Any] = [
            Unit(net, 3, first, 7, stride=2, norm=NORM),
            Unit(net, first, first, 3, stride=2, norm=NORM),
            Unit(net, first, first, 3, stride=2, norm=NORM),
            Unit(net, first, low, 1, norm=NORM),
        ]
        self.refined = [Refined(net, side, low) for side in (high, middle)]
        self.brought = [Unit(net, low, low, 3, norm=NORM) for _ in range(2)]
        self.whole = Unit(net, high, low, 1, norm=NORM)
        self.joint, self.gate = (
            Unit(net, 2 * low, 2 * low, 1, norm=NORM),
            Unit(net, 2 * low, 2 * low, 1, norm=NORM),
        )
        self.heads = [
            [Unit(net, 2 * low, 2 * low, 3, norm=NORM)],
            *([Unit(net, low, first, 3, norm=NORM)] for _ in range(2)),
        ]
        self.widths = (2 * low, first, first)

    def __call__(self, image: Tensor) -> list[Tensor]:
        tape = self.net.tape
        _, fine, middle, last = self.backbone(image)
        above = self.whole(ops.reduce_to(tape, last, (*last.shape[:2], 1, 1)))
        seen = []
        for refined, brought, x, below in zip(
            self.refined, self.brought, (last, middle), (middle, fine), strict=True
        ):
            y = ops.add(tape, refined(x), above)
            above = brought(enlarged(tape, y, (below.shape[2], below.shape[3])))
            del y
            seen.append(above)
        y = self.joint(ops.cat(tape, (run(self.path, image), above), 1))
        gate = ops.keeping_result(tape, self.gate(ops.reduce_to(tape, y, (*y.shape[:2], 1, 1))))
        return [ops.add(tape, ops.mul(tape, y, gate), y), seen[1], seen[0]]


class FastSegmenter:
    """A network of several paths, a head and a loss for each while it trains."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, classes = net, config.get("num_labels") or 19
        self.body: Any = (
            FastScnn(net)
            if config["head"] == "fast_scnn"
            else BilateralNet(net, full_config(config["backbone"]))
        )
        self.scores = [
            Unit(net, width, classes, 1, bias=True, relu=False) for width in self.body.widths
        ]

    def loss(self) -> Tensor:
        """The losses of all paths over every pixel; without training, the scores of the joined one
        at the image's size."""
        net, tape = self.net, self.net.tape
        image = picture(net, 1)
        sides, maps = (image.shape[2], image.shape[3]), self.body(image)
        found = []
        for head, scores, x in zip(self.body.heads, self.scores, maps, strict=True):
            y = enlarged(
                tape, scores(ops.dropout(tape, run(head, x), DROPPED, net.setting.training)), sides
            )
            if not net.setting.training:
                return y
            found.append(pixel_loss(net, y))
            del y
        return ops.add(tape, ops.add(tape, found[0], found[1]), found[2])
