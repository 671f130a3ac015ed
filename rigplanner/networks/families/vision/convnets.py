"""Convolutional image classifiers on the tape: ResNet, RegNet, ConvNeXt and MobileNet as
transformers writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import Tensor

Layer = Callable[[Tensor], Tensor]


class Conv:
    """A convolution, then batch norm and ReLU where asked; `same` pads as TensorFlow does.
    `missing`: zeros on two sides are written out before it."""

    def __init__(
        self,
        net: Net,
        inputs: int,
        outputs: int,
        kernel: int = 3,
        *,
        stride: int = 1,
        groups: int = 1,
        act: str = "relu",
        bias: bool = False,
        norm: bool = True,
        same: bool = False,
        padding: int | None = None,
        missing: int = 0,
    ) -> None:
        self.net, self.stride, self.act, self.kernel, self.same, self.missing = (
            net,
            stride,
            act,
            kernel,
            same,
            missing,
        )
        self.padding = (0 if same else kernel // 2) if padding is None else padding
        self.weight = net.parameter(outputs, inputs // groups, kernel, kernel)
        self.bias = net.parameter(outputs) if bias else None
        self.norm = (net.parameter(outputs), net.parameter(outputs)) if norm else None
        if norm:
            net.buffer(2, outputs)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.same:
            x = ops.pad(tape, x, self._missing(x.shape[2]), self._missing(x.shape[3]))
        x = ops.pad(tape, x, self.missing, self.missing)
        x = ops.convolution(tape, x, self.weight, self.bias, self.stride, self.padding)
        if self.norm is not None:
            x = ops.batch_norm(tape, x, *self.norm, self.net.setting.training)
        return (
            ops.keeping_result(tape, x)
            if self.act == "relu"
            else ops.keeping_input(tape, x)
            if self.act
            else x
        )

    def _missing(self, side: int) -> int:
        return max(
            self.kernel - (self.stride if side % self.stride == 0 else side % self.stride), 0
        )


def bare_conv(
    net: Net,
    inputs: int,
    outputs: int,
    kernel: int,
    *,
    stride: int = 1,
    padding: int | None = None,
    groups: int = 1,
) -> Conv:
    """Return a convolution with a bias and nothing after it: of patches, where `stride` is the
    kernel and `padding` 0."""
    return Conv(
        net,
        inputs,
        outputs,
        kernel,
        stride=stride,
        groups=groups,
        act="",
        bias=True,
        norm=False,
        padding=padding,
    )


class Squeeze:
    """Squeeze and excitation."""

    def __init__(self, net: Net, channels: int, reduced: int) -> None:
        self.net = net
        self.down = Conv(net, channels, reduced, 1, bias=True, norm=False)
        self.up = bare_conv(net, reduced, channels, 1)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        pooled = ops.reduce_to(tape, x, (*x.shape[:2], 1, 1))
        return ops.mul(tape, x, ops.keeping_result(tape, self.up(self.down(pooled))))


class Residual:
    """Layers, a shortcut that is projected where the shape changes, their sum in place, ReLU."""

    def __init__(self, net: Net, layers: list[Layer], shortcut: Layer | None) -> None:
        self.net, self.layers, self.shortcut = net, layers, shortcut

    def __call__(self, x: Tensor) -> Tensor:
        residual = x
        for layer in self.layers:
            x = layer(x)
        if self.shortcut is not None:
            residual = self.shortcut(residual)
        return ops.keeping_result(self.net.tape, ops.add_in_place(self.net.tape, x, residual))


def _resnet_block(
    net: Net, config: dict[str, Any], inputs: int, outputs: int, stride: int
) -> Layer:
    if config["layer_type"] == "bottleneck":
        narrow, early = outputs // 4, config.get("downsample_in_bottleneck")
        layers: list[Layer] = [
            Conv(net, inputs, narrow, 1, stride=stride if early else 1),
            Conv(net, narrow, narrow, 3, stride=1 if early else stride),
            Conv(net, narrow, outputs, 1, act=""),
        ]
    else:
        layers = [
            Conv(net, inputs, outputs, 3, stride=stride),
            Conv(net, outputs, outputs, 3, act=""),
        ]
    return Residual(
        net,
        layers,
        Conv(net, inputs, outputs, 1, stride=stride, act="")
        if inputs != outputs or stride != 1
        else None,
    )


def _regnet_block(
    net: Net, config: dict[str, Any], inputs: int, outputs: int, stride: int
) -> Layer:
    groups = max(1, outputs // config["groups_width"])
    layers: list[Layer] = [
        Conv(net, inputs, outputs, 1),
        Conv(net, outputs, outputs, 3, stride=stride, groups=groups),
    ]
    if config["layer_type"] == "y":
        layers.append(Squeeze(net, outputs, round(inputs / 4)))
    layers.append(Conv(net, outputs, outputs, 1, act=""))
    return Residual(
        net,
        layers,
        Conv(net, inputs, outputs, 1, stride=stride, act="")
        if inputs != outputs or stride != 1
        else None,
    )


def _staged(
    net: Net, config: dict[str, Any], make: Callable[..., Layer], first_stride: int
) -> list[Layer]:
    blocks, inputs = [], config["embedding_size"]
    for stage, (depth, outputs) in enumerate(
        zip(config["depths"], config["hidden_sizes"], strict=True)
    ):
        for at in range(depth):
            stride = (first_stride if stage == 0 else 2) if at == 0 else 1
            blocks.append(make(net, config, inputs, outputs, stride))
            inputs = outputs
    return blocks


class Classifier:
    """Stem, blocks, global mean, norm where the family has one, linear head."""

    def __init__(
        self,
        net: Net,
        stem: list[Layer],
        blocks: list[Layer],
        width: int,
        *,
        last_norm: bool = False,
        holds_stem: bool = True,
    ) -> None:
        self.net, self.stem, self.blocks, self.holds_stem = net, stem, blocks, holds_stem
        self.norm = Norm(net, "layer", width) if last_norm else None
        self.head = net.linear("classifier", width, net.classes, True)

    def loss(self) -> Tensor:
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self._stem(image)
        embedded = x if self.holds_stem else None
        for block in self.blocks:
            x = checkpointed(net, block, x) if self.norm is not None else block(x)
        pooled = ops.reduce_to(tape, x, x.shape[:2])
        scores = self.head(self.norm(pooled) if self.norm is not None else pooled)
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores

    def _stem(self, x: Tensor) -> Tensor:
        for layer in self.stem:
            x = layer(x)
        return x


class Pool:
    """Max pooling."""

    def __init__(self, net: Net) -> None:
        self.net = net

    def __call__(self, x: Tensor) -> Tensor:
        return ops.max_pool(self.net.tape, x, 3, 2, 1)


def resnet(net: Net, config: dict[str, Any]) -> Classifier:
    """ResNet v1.5 (He et al. 2015)."""
    stem: list[Layer] = [Conv(net, 3, config["embedding_size"], 7, stride=2), Pool(net)]
    first = 2 if config.get("downsample_in_first_stage") else 1
    return Classifier(
        net, stem, _staged(net, config, _resnet_block, first), config["hidden_sizes"][-1]
    )


def regnet(net: Net, config: dict[str, Any]) -> Classifier:
    """RegNet X and Y (Radosavovic et al. 2020)."""
    stem: list[Layer] = [Conv(net, 3, config["embedding_size"], 3, stride=2)]
    first = 2 if config.get("downsample_in_first_stage") else 1
    return Classifier(
        net, stem, _staged(net, config, _regnet_block, first), config["hidden_sizes"][-1]
    )


class ConvNextBlock:
    """Depthwise convolution, norm over channels, two linear layers; `global_norm` is the response
    norm of version 2."""

    def __init__(self, net: Net, width: int, global_norm: bool) -> None:
        self.net, self.global_norm = net, global_norm
        self.deep = bare_conv(net, width, width, 7, groups=width)
        self.norm = Norm(net, "layer", width)
        self.up = net.linear("pwconv1", width, 4 * width, True)
        self.sides = (net.parameter(4 * width), net.parameter(4 * width)) if global_norm else None
        self.down = net.linear("pwconv2", 4 * width, width, True)
        self.scale = None if global_norm else net.parameter(width)

    def __call__(self, x: Tensor) -> Tensor:
        tape, residual = self.net.tape, x
        y = self.deep(x)
        batch, width, high, wide = y.shape
        y = self.norm(y.view(batch, high, wide, width))
        y = self.up(y)
        y = ops.keeping_input(tape, y)
        if self.sides is not None:
            y = self._respond(y)
        y = self.down(y)
        if self.scale is not None:
            y = ops.mul(tape, self.scale, y)
        return ops.add(tape, residual, y.view(*residual.shape))

    def _respond(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        assert self.sides is not None
        weight, bias = self.sides
        size = ops.reduce_to(tape, x, (x.shape[0], 1, 1, x.shape[3]))
        scaled = ops.mul(tape, weight, ops.mul(tape, x, size))
        scaled = ops.add(tape, scaled, bias)
        return ops.add(tape, scaled, x)


class Downsample:
    """Norm over channels and a strided convolution."""

    def __init__(self, net: Net, inputs: int, outputs: int) -> None:
        self.norm = Norm(net, "layer", inputs)
        self.conv = bare_conv(net, inputs, outputs, 2, stride=2, padding=0)

    def __call__(self, x: Tensor) -> Tensor:
        return self.conv(
            self.norm(x.view(x.shape[0], x.shape[2], x.shape[3], x.shape[1])).view(*x.shape)
        )


def convnext(net: Net, config: dict[str, Any]) -> Classifier:
    """ConvNeXt (Liu et al. 2022) and its second version."""
    sizes, patch, second = (
        config["hidden_sizes"],
        config["patch_size"],
        config["model_type"] == "convnextv2",
    )
    stem: list[Layer] = [
        bare_conv(net, 3, sizes[0], patch, stride=patch, padding=0),
        AfterStem(net, sizes[0]),
    ]
    blocks: list[Layer] = []
    for stage, (depth, width) in enumerate(zip(config["depths"], sizes, strict=True)):
        if stage:
            blocks.append(Downsample(net, sizes[stage - 1], width))
        blocks += [ConvNextBlock(net, width, second) for _ in range(depth)]
    return Classifier(net, stem, blocks, sizes[-1], last_norm=True)


class AfterStem:
    """A layer norm over the channels of a map."""

    def __init__(self, net: Net, width: int) -> None:
        self.norm = Norm(net, "layer", width)

    def __call__(self, x: Tensor) -> Tensor:
        return self.norm(x.view(x.shape[0], x.shape[2], x.shape[3], x.shape[1])).view(*x.shape)


def divisible(value: float, by: int = 8, least: int = 0) -> int:
    """The nearest multiple that is not more than a tenth smaller, as MobileNet rounds its
    channels."""
    rounded = max(least or by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


class Inverted:
    """MobileNet v2's block: widen, depthwise, narrow, and the residual where the shape stays.
    `same`: the image is padded first."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        inputs: int,
        outputs: int,
        stride: int,
        act: str = "relu6",
        same: bool = True,
    ) -> None:
        self.net, self.adds = net, stride == 1 and inputs == outputs
        wide = divisible(round(inputs * config["expand_ratio"]))
        self.layers = [
            Conv(net, inputs, wide, 1, same=same, act=act),
            Conv(net, wide, wide, 3, stride=stride, groups=wide, same=same, act=act),
            Conv(net, wide, outputs, 1, same=same, act=""),
        ]

    def __call__(self, x: Tensor) -> Tensor:
        residual = x
        for layer in self.layers:
            x = layer(x)
        return ops.add(self.net.tape, residual, x) if self.adds else x


V2_CHANNELS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
V2_STRIDES = (2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1)
V1_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)


def mobilenet_v2(net: Net, config: dict[str, Any]) -> Classifier:
    """MobileNet v2 (Sandler et al. 2018)."""
    scale = config["depth_multiplier"]
    channels = [divisible(round(width * scale)) for width in V2_CHANNELS]
    first = divisible(round(32 * scale))
    stem: list[Layer] = [
        Conv(net, 3, first, 3, stride=2, same=True, act="relu6"),
        Conv(net, first, first, 3, groups=first, same=True, act="relu6"),
        Conv(net, first, channels[0], 1, same=True, act=""),
    ]
    blocks: list[Layer] = [
        Inverted(net, config, a, b, s)
        for a, b, s in zip(channels, channels[1:], V2_STRIDES, strict=False)
    ]
    last = 1280 if scale < 1 else divisible(round(1280 * scale))
    blocks.append(Conv(net, channels[-1], last, 1, same=True, act="relu6"))
    return Classifier(net, stem, blocks, last, holds_stem=False)


def mobilenet_v1(net: Net, config: dict[str, Any]) -> Classifier:
    """MobileNet v1 (Howard et al. 2017)."""
    scale, width = config["depth_multiplier"], 32
    outputs = max(8, int(width * scale))
    stem: list[Layer] = [Conv(net, 3, outputs, 3, stride=2, same=True, act="relu6")]
    blocks: list[Layer] = []
    for at, stride in enumerate(V1_STRIDES):
        inputs = outputs
        if stride == 2 or at == 0:
            width *= 2
            outputs = max(8, int(width * scale))
        blocks.append(
            Conv(net, inputs, inputs, 3, stride=stride, groups=inputs, same=True, act="relu6")
        )
        blocks.append(Conv(net, inputs, outputs, 1, same=True, act="relu6"))
    return Classifier(net, stem, blocks, outputs, holds_stem=False)
