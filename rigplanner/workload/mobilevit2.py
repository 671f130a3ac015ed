"""MobileViT v2 on the tape: linear attention between the pixels of equal place in their patches, all of it by convolutions."""

from __future__ import annotations

from typing import Any

from rigplanner.workload import ops
from rigplanner.workload.convnets import Conv
from rigplanner.workload.efficient import group_norm
from rigplanner.workload.mobilevit import Inverted, staged_loss
from rigplanner.workload.net import Net
from rigplanner.workload.tape import Tensor

STAGES = (32, 64, 128, 256, 384, 512)
"""Channels of the stages at width 1 (Mehta and Rastegari 2022, arXiv 2206.02680)."""


def divisible(value: float, by: int, least: int = 0) -> int:
    """The nearest multiple that is not more than a tenth smaller."""
    rounded = max(least or by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


class GroupNorm:
    """A norm over all channels of a sample."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.sides = net, (net.parameter(width), net.parameter(width))

    def __call__(self, x: Tensor) -> Tensor:
        return group_norm(self.net.tape, x, *self.sides)


class LinearAttention:
    """One score per position weighs the keys, whose sum multiplies the values."""

    def __init__(self, net: Net, width: int, share: float) -> None:
        self.net, self.width, self.share = net, width, share
        self.joint = Conv(net, width, 1 + 2 * width, 1, bias=True, norm=False, act="")
        self.out = Conv(net, width, width, 1, bias=True, norm=False, act="")

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        joint = self.joint(x)
        query, key, value = ops.split_channels(tape, joint, (1, self.width, self.width))
        scores = ops.dropout(tape, ops.keeping_result(tape, query), self.share, self.net.setting.training)
        context = ops.mul(tape, key, scores)
        context = ops.reduce_to(tape, context, (*x.shape[:3], 1), spreads=False)
        y = ops.mul(tape, ops.keeping_result(tape, value), context)
        return self.out(y)


class LinearLayer:
    """Norm, linear attention, residual; norm, two convolutions, residual."""

    def __init__(self, net: Net, config: dict[str, Any], width: int) -> None:
        self.net, self.share = net, config["ffn_dropout"]
        inner = int(config["ffn_multiplier"] * width // 16 * 16)
        self.first_norm, self.attention = GroupNorm(net, width), LinearAttention(net, width, config["attn_dropout"])
        self.last_norm = GroupNorm(net, width)
        self.up = Conv(net, width, inner, 1, bias=True, norm=False, act="silu")
        self.down = Conv(net, inner, width, 1, bias=True, norm=False, act="")

    def __call__(self, x: Tensor) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        normed = self.first_norm(x)
        attended = self.attention(normed)
        x = ops.add(tape, attended, x)
        fed = self.last_norm(x)
        fed = self.up(fed)
        fed = self.down(ops.dropout(tape, fed, self.share, trains))
        fed = ops.dropout(tape, fed, self.share, trains)
        return ops.add(tape, fed, x)


class LinearStage:
    """A reduction, convolutions, attention over the unfolded map, folded and projected."""

    def __init__(self, net: Net, config: dict[str, Any], inputs: int, outputs: int, at: int) -> None:
        width = divisible(config["base_attn_unit_dims"][at] * config["width_multiplier"], 8)
        self.net, self.patch = net, config["patch_size"]
        self.down = Inverted(net, config, inputs, outputs, 2)
        self.local = Conv(net, outputs, outputs, config["conv_kernel_size"], groups=outputs, act="silu")
        self.widen = Conv(net, outputs, width, 1, act="", norm=False)
        self.layers = [LinearLayer(net, config, width) for _ in range(config["n_attn_blocks"][at])]
        self.norm = GroupNorm(net, width)
        self.project = Conv(net, width, outputs, 1, act="")

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = self.down(x)
        x = self.local(x)
        x = self.widen(x)
        batch, width, side, _ = x.shape
        patches = ops.sub_self(tape, x).view(batch, width, self.patch**2, side * side // self.patch**2)
        for layer in self.layers:
            patches = layer(patches)
        patches = self.norm(patches)
        x = ops.sub_self(tape, patches).view(batch, width, side, side)
        return self.project(x)


class MobileVit2:
    """MobileViT v2 with a classifier (Mehta and Rastegari 2022)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, wide = net, config["width_multiplier"]
        first = divisible(max(16, min(64, STAGES[0] * wide)), 8, 16)
        widths = [first, divisible(STAGES[1] * wide, 16), *(divisible(base * wide, 8) for base in STAGES[2:])]
        self.stem = Conv(net, 3, widths[0], 3, stride=2, act="silu")
        self.first = [Inverted(net, config, widths[0], widths[1], 1), Inverted(net, config, widths[1], widths[2], 2),
            Inverted(net, config, widths[2], widths[2], 1)]  # fmt: skip
        self.stages = [LinearStage(net, config, widths[at + 2], widths[at + 3], at) for at in range(3)]
        self.head = net.linear("classifier", widths[-1], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        return staged_loss(self.net, self.stem, self.first, self.stages, None, self.head)
