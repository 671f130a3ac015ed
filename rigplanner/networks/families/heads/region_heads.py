"""Heads of region detectors beside boxes and masks, and region detectors on one map instead of a
pyramid, on the tape: keypoints, stuff, C4 and DC5 as detectron2 trains them."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.families.vision.pyramid import (
    Doubled,
    ResidualBackbone,
    ResidualUnit,
    Unit,
    activated,
    enlarged,
    pixel_loss,
    relu_in_place,
)
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor

KEYPOINTS, STUFF = 17, 54
"""Points of a person, and classes of stuff, in COCO."""
POINT_WIDTH, STUFF_WIDTH = 512, 128
"""Channels of the two heads (He et al. 2017; Kirillov et al. 2019)."""


class KeypointHead:
    """Eight convolutions over pooled regions, four times the size, a softmax over the places of
    each point."""

    def __init__(self, net: Net, width: int) -> None:
        self.net = net
        self.layers = [
            Unit(net, POINT_WIDTH if at else width, POINT_WIDTH, 3, bias=True) for at in range(8)
        ]
        self.last = Doubled(net, POINT_WIDTH, KEYPOINTS, 4)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        for layer in self.layers:
            x = layer(x)
        x = self.last(x)
        scores = enlarged(tape, x, (2 * x.shape[2], 2 * x.shape[3]))
        if not self.net.setting.training:
            return scores
        return class_loss(
            self.net, scores.view(scores.shape[0] * KEYPOINTS, scores.shape[2] * scores.shape[3])
        )


class StuffHead:
    """The levels of the pyramid brought to the finest by convolutions with group norms, summed,
    scored at the image's size."""

    def __init__(self, net: Net, width: int) -> None:
        self.net = net
        self.rows = [
            [self._step(STUFF_WIDTH if at else width) for at in range(max(1, level))]
            for level in range(4)
        ]
        self.scores = Unit(net, STUFF_WIDTH, STUFF, 1, bias=True, relu=False)

    def _step(self, inputs: int) -> tuple[Unit, Tensor, Tensor]:
        net = self.net
        return (
            Unit(net, inputs, STUFF_WIDTH, 3, relu=False),
            net.parameter(STUFF_WIDTH),
            net.parameter(STUFF_WIDTH),
        )

    def __call__(self, levels: list[Tensor], sides: tuple[int, int]) -> Tensor:
        tape = self.net.tape
        whole: Tensor | None = None
        for level, (row, x) in enumerate(zip(self.rows, levels, strict=True)):
            for conv, *pair in row:
                x = relu_in_place(tape, group_norm(tape, conv(x), pair[0], pair[1]))
                x = enlarged(tape, x, (2 * x.shape[2], 2 * x.shape[3])) if level else x
            whole = x if whole is None else ops.add(tape, whole, x)
        assert whole is not None
        scores = enlarged(tape, self.scores(whole), sides)
        return pixel_loss(self.net, scores) if self.net.setting.training else scores


class LastStage:
    """C4: the last stage of the backbone over every pooled region."""

    def __init__(self, net: Net, part_config: dict[str, Any], norm: str) -> None:
        outputs = part_config["hidden_sizes"][-1]
        self.width, self.side, self.blocks = outputs, 7, []
        for at in range(part_config["depths"][-1]):
            self.blocks.append(
                ResidualUnit(
                    net, part_config, outputs if at else outputs // 2, outputs, 1 if at else 2, norm
                )
            )

    def __call__(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def stages_of(net: Net, part_config: dict[str, Any], norm: str, last: bool) -> ResidualBackbone:
    """The backbone up to its fourth stage, or with the last one dilated."""
    if last:
        return ResidualBackbone(net, {**part_config, "output_stride": 16}, norm)
    return ResidualBackbone(
        net,
        {
            **part_config,
            "depths": part_config["depths"][:-1],
            "hidden_sizes": part_config["hidden_sizes"][:-1],
        },
        norm,
    )


class OneMask:
    """The mask head of C4: twice the size, one mask per class."""

    def __init__(self, net: Net, inputs: int, classes: int) -> None:
        self.net, self.doubled = net, Doubled(net, inputs, 256)
        self.scores = Unit(net, 256, classes, 1, bias=True, relu=False)

    def __call__(self, x: Tensor) -> Tensor:
        tape, scores = self.net.tape, self.scores(activated(self.net, self.doubled(x)))
        if not self.net.setting.training:
            return scores
        one = ops.cut(tape, scores, (scores.shape[0], *scores.shape[2:]))
        return ops.reduce_to(tape, ops.keeping_input(tape, ops.copy(tape, one)), ())
