"""Light image classifiers on the tape: EfficientNet and PoolFormer as transformers writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rigplanner.networks.families.vision.convnets import Classifier, Conv, Layer, bare_conv
from rigplanner.networks.families.vision.hierarchical import drop_path, drop_rates
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Grads, Tape, Tensor, like, new, record


def _width(config: dict[str, Any], channels: int) -> int:
    """Channels scaled by the family's width and rounded to its divisor."""
    divisor, wanted = config.get("depth_divisor") or 8, channels * config["width_coefficient"]
    rounded = max(divisor, int(wanted + divisor / 2) // divisor * divisor)
    return int(rounded + divisor if rounded < 0.9 * wanted else rounded)


class MobileBlock:
    """Widen, depthwise, squeeze and excite, narrow, and the residual with dropout where the shape
    stays."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        inputs: int,
        outputs: int,
        *,
        stride: int,
        kernel: int,
        ratio: int,
        share: float,
        adds: bool,
        adjusts: bool,
    ) -> None:
        self.net, self.share, self.adds, wide = net, share, adds, inputs * ratio
        self.widen = Conv(net, inputs, wide, 1, act="silu") if ratio != 1 else None
        missing = 0 if stride != 2 else kernel - 2 if adjusts else kernel - 1
        self.deep = Conv(
            net,
            wide,
            wide,
            kernel,
            stride=stride,
            groups=wide,
            act="silu",
            padding=0 if stride == 2 else None,
            missing=missing,
        )
        narrow = max(1, int(inputs * config["squeeze_expansion_ratio"]))
        self.squeeze = Conv(net, wide, narrow, 1, bias=True, norm=False, act="silu")
        self.excite = bare_conv(net, narrow, wide, 1)
        self.project = Conv(net, wide, outputs, 1, act="")

    def __call__(self, x: Tensor) -> Tensor:
        tape, residual = self.net.tape, x
        if self.widen is not None:
            x = self.widen(x)
        x = self.deep(x)
        pooled = ops.reduce_to(tape, x, (*x.shape[:2], 1, 1))
        x = ops.mul(tape, x, ops.keeping_result(tape, self.excite(self.squeeze(pooled))))
        x = self.project(x)
        if not self.adds:
            return x
        return ops.add(tape, ops.dropout(tape, x, self.share, self.net.setting.training), residual)


def efficientnet(net: Net, config: dict[str, Any]) -> Classifier:
    """EfficientNet (Tan and Le 2019)."""
    repeats = [
        math.ceil(config["depth_coefficient"] * count) for count in config["num_block_repeats"]
    ]
    first = _width(config, 32)
    stem: list[Layer] = [Conv(net, 3, first, 3, stride=2, act="silu", padding=0, missing=1)]
    blocks, made = [], 0
    plain = config.get("depthwise_padding") or ()
    for stage, count in enumerate(repeats):
        inputs, outputs = (
            _width(config, config["in_channels"][stage]),
            _width(config, config["out_channels"][stage]),
        )
        for at in range(count):
            stride = config["strides"][stage] if at == 0 else 1
            share = (config.get("drop_connect_rate") or 0.2) * made / sum(repeats)
            blocks.append(
                MobileBlock(
                    net,
                    config,
                    outputs if at else inputs,
                    outputs,
                    stride=stride,
                    kernel=config["kernel_sizes"][stage],
                    ratio=config["expand_ratios"][stage],
                    share=share,
                    adds=at > 0 and stride == 1,
                    adjusts=made not in plain,
                )
            )
            made += 1
    last = _width(config, 1280)
    layers: list[Layer] = [*blocks, Conv(net, outputs, last, 1, act="silu")]
    return Classifier(net, stem, layers, last)


def group_norm(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """native_group_norm: keeps its input and two values per group; autocast raises it to float."""
    wide = ops.cast(tape, x, F32) if tape.autocast and tape.semantics.float_norms else x
    kept, side = wide, weight.shape

    def pull(grad: Tensor) -> Grads:
        return like(tape, kept), new(tape, side, grad.dtype), new(tape, side, grad.dtype)

    return record(tape, like(tape, wide), (wide, weight, bias), pull)


def average_pool(tape: Tape, x: Tensor) -> Tensor:
    """avg_pool2d of stride 1: keeps its input."""
    kept = x
    return record(tape, like(tape, x), (x,), lambda grad: (like(tape, kept),))


class PoolBlock:
    """Pooling in place of attention, then two convolutions of one pixel; both results scaled by a
    vector."""

    def __init__(self, net: Net, width: int, ratio: float, rate: float) -> None:
        self.net, self.rate, inner = net, rate, int(width * ratio)
        self.up = Conv(net, width, inner, 1, bias=True, norm=False, act="gelu")
        self.down = bare_conv(net, inner, width, 1)
        self.norms = [(net.parameter(width), net.parameter(width)) for _ in range(2)]
        self.scales = [net.parameter(width, 1, 1) for _ in range(2)]

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        normed = group_norm(tape, x, *self.norms[0])
        pooled = self._pooled(normed)
        del normed
        scaled = ops.mul(tape, self.scales[0], pooled)
        x = ops.add(tape, x, drop_path(self.net, scaled, self.rate))
        normed = group_norm(tape, x, *self.norms[1])
        fed = drop_path(self.net, self.up(normed), self.rate)
        fed = drop_path(self.net, self.down(fed), self.rate)
        return ops.add(tape, x, drop_path(self.net, ops.mul(tape, self.scales[1], fed), self.rate))

    def _pooled(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        pooled = average_pool(tape, x)
        return record(tape, like(tape, pooled), (pooled, x), lambda grad: (grad, like(tape, grad)))


def poolformer(net: Net, config: dict[str, Any]) -> Classifier:
    """PoolFormer (Yu et al. 2022)."""
    sizes, rates, at = config["hidden_sizes"], drop_rates(config), 0
    blocks: list[Layer] = []
    padding: Sequence[int] = config.get("padding") or (2, 1, 1, 1)
    for stage, depth in enumerate(config["depths"]):
        inputs, kernel = 3 if stage == 0 else sizes[stage - 1], config["patch_sizes"][stage]
        blocks.append(
            bare_conv(
                net,
                inputs,
                sizes[stage],
                kernel,
                stride=config["strides"][stage],
                padding=padding[stage],
            )
        )
        for _ in range(depth):
            blocks.append(PoolBlock(net, sizes[stage], config["mlp_ratio"], rates[at]))
            at += 1
    return PoolClassifier(net, [], blocks, sizes[-1])


class PoolClassifier(Classifier):
    """The classifier of PoolFormer normalises the map before it takes the mean."""

    def __init__(self, net: Net, stem: list[Layer], blocks: list[Layer], width: int) -> None:
        super().__init__(net, stem, blocks, width, holds_stem=False)
        self.sides = net.parameter(width), net.parameter(width)
        self.blocks.append(lambda x: group_norm(net.tape, x, *self.sides))
