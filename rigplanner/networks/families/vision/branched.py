"""Image classifiers of branching convolutions on the tape: TextNet and PP-HGNet v2 as transformers
writes them."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import Classifier, Conv, Layer
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tape, Tensor, like, new, record


class BatchNorm:
    """A batch norm with its running figures."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.sides = net, (net.parameter(width), net.parameter(width))
        net.buffer(2, width)

    def __call__(self, x: Tensor) -> Tensor:
        return ops.batch_norm(self.net.tape, x, *self.sides, self.net.setting.training)


class Branches:
    """A convolution beside its vertical, its horizontal and its plain branch, each with batch norm;
    their sum, ReLU."""

    def __init__(
        self, net: Net, inputs: int, outputs: int, kernel: tuple[int, int], stride: int
    ) -> None:
        self.net, self.stride = net, stride
        high, wide = kernel
        shapes = [
            (high, wide),
            *([(high, 1)] if wide != 1 else []),
            *([(1, wide)] if high != 1 else []),
        ]
        self.paths = [
            (net.parameter(outputs, inputs, *shape), BatchNorm(net, outputs)) for shape in shapes
        ]
        self.plain = BatchNorm(net, inputs) if inputs == outputs and stride == 1 else None

    def __call__(self, x: Tensor) -> Tensor:
        tape, total = self.net.tape, None
        held: list[Tensor] = []
        for weight, norm in self.paths:
            around = ((weight.shape[2] - 1) // 2, (weight.shape[3] - 1) // 2)
            made = ops.convolution(tape, x, weight, None, self.stride, around)
            made = norm(made)
            if total is not None:
                held.append(made)
            total = made if total is None else ops.add(tape, total, made)
            del made
        if self.plain is not None:
            same = self.plain(x)
            total = ops.add(tape, total, same) if total is not None else same
        assert total is not None
        return ops.keeping_result(tape, total)


class TextNet:
    """TextNet (Chen et al. 2021, arXiv 2111.02394): reparameterised convolutions, a mean over four
    quarters."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, sizes = net, config["hidden_sizes"]
        self.stem = Conv(
            net,
            config["stem_num_channels"],
            config["stem_out_channels"],
            config["stem_kernel_size"],
            stride=config["stem_stride"],
            act=config["stem_act_func"] or "",
        )
        self.blocks: list[Branches] = []
        for stage, (kernels, strides) in enumerate(
            zip(config["conv_layer_kernel_sizes"], config["conv_layer_strides"], strict=True)
        ):
            inputs = sizes[stage]
            for kernel, stride in zip(kernels, strides, strict=True):
                self.blocks.append(Branches(net, inputs, sizes[stage + 1], tuple(kernel), stride))
                inputs = sizes[stage + 1]
        self.ends = [
            sum(len(kernels) for kernels in config["conv_layer_kernel_sizes"][: at + 1])
            for at in range(len(sizes) - 1)
        ]
        self.head = net.linear("fc", sizes[-1], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self.stem(image)
        maps = [x]
        for at, block in enumerate(self.blocks, 1):
            x = block(x)
            if at in self.ends:
                maps.append(x)
        maps = [x]
        quarters = adaptive_mean(tape, x, 2)
        scores = self.head(ops.reduce_to(tape, quarters, x.shape[:2]))
        del image, maps
        return class_loss(net, scores) if net.setting.training else scores


def adaptive_mean(tape: Tape, x: Tensor, side: int) -> Tensor:
    """adaptive_avg_pool2d to `side` by `side`: keeps its input."""
    kept = x
    tape.saves()
    return record(
        tape, new(tape, (*x.shape[:2], side, side), x.dtype), (x,), lambda grad: (like(tape, kept),)
    )


class Affine:
    """Scale and shift by one learned value each."""

    def __init__(self, net: Net) -> None:
        self.net, self.scale, self.bias = net, net.parameter(1), net.parameter(1)

    def __call__(self, x: Tensor) -> Tensor:
        return ops.add(self.net.tape, ops.mul(self.net.tape, self.scale, x), self.bias)


class ConvLayer:
    """Convolution, batch norm, ReLU, and the affine layer where the network learns one."""

    def __init__(
        self,
        net: Net,
        inputs: int,
        outputs: int,
        kernel: int,
        affine: bool,
        *,
        stride: int = 1,
        groups: int = 1,
        act: str = "relu",
    ) -> None:
        self.conv = Conv(
            net,
            inputs,
            outputs,
            kernel,
            stride=stride,
            groups=groups,
            act=act,
            padding=(kernel - 1) // 2,
        )
        self.affine = Affine(net) if affine and act else None

    def __call__(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return x if self.affine is None else self.affine(x)


class Aggregation:
    """Layers in a row; all their results joined and brought to the width of the stage."""

    def __init__(
        self, net: Net, config: dict[str, Any], stage: int, inputs: int, residual: bool
    ) -> None:
        self.net, self.residual, affine = net, residual, bool(config["use_learnable_affine_block"])
        middle, outputs = config["stage_mid_channels"][stage], config["stage_out_channels"][stage]
        kernel, count = config["stage_kernel_size"][stage], config["stage_numb_of_layers"][stage]
        self.layers: list[list[ConvLayer]] = []
        for at in range(count):
            source = inputs if at == 0 else middle
            if config["stage_light_block"][stage]:
                self.layers.append(
                    [
                        ConvLayer(net, source, middle, 1, affine, act=""),
                        ConvLayer(net, middle, middle, kernel, affine, groups=middle),
                    ]
                )
            else:
                self.layers.append([ConvLayer(net, source, middle, kernel, affine)])
        self.squeeze = ConvLayer(net, inputs + count * middle, outputs // 2, 1, affine)
        self.excite = ConvLayer(net, outputs // 2, outputs, 1, affine)

    def __call__(self, x: Tensor) -> Tensor:
        given, found = x, [x]
        for layers in self.layers:
            for layer in layers:
                x = layer(x)
            found.append(x)
        joined = ops.cat(self.net.tape, found, 1)
        x = self.excite(self.squeeze(joined))
        del joined
        return ops.add(self.net.tape, x, given) if self.residual else x


class Stem:
    """Two branches after the first convolution: pooled, and convolved twice."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, affine = net, bool(config["use_learnable_affine_block"])
        first, middle, last = config["stem_channels"]
        strides = config["stem_strides"]
        self.first = ConvLayer(net, first, middle, 3, affine, stride=strides[0])
        self.narrow = ConvLayer(net, middle, middle // 2, 2, affine, stride=strides[1])
        self.widen = ConvLayer(net, middle // 2, middle, 2, affine, stride=strides[2])
        self.joint = ConvLayer(net, 2 * middle, middle, 3, affine, stride=strides[3])
        self.last = ConvLayer(net, middle, last, 1, affine, stride=strides[4])

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = self.first(x)
        x = ops.pad(tape, x, 1, 1)
        side = self.narrow(x)
        side = ops.pad(tape, side, 1, 1)
        side = self.widen(side)
        pooled = ops.max_pool(tape, x, 2, 1, 0)
        x = ops.cat(tape, (pooled, side), 1)
        x = self.joint(x)
        return self.last(x)


class Stage:
    """Layers one after the other; what entered lives until the last is done."""

    def __init__(self, layers: list[Layer]) -> None:
        self.layers = layers

    def __call__(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.layers:
            y = layer(y)
        return y


def hgnet_v2(net: Net, config: dict[str, Any]) -> Classifier:
    """PP-HGNet v2 (PaddleClas), the backbone of RT-DETR and D-FINE."""
    stem: list[Layer] = [Stem(net, config)]
    stages: list[Layer] = []
    for stage, inputs in enumerate(config["stage_in_channels"]):
        blocks: list[Layer] = []
        if config["stage_downsample"][stage]:
            stride = config["stage_downsample_strides"][stage]
            blocks.append(Conv(net, inputs, inputs, 3, stride=stride, groups=inputs, act=""))
        for at in range(config["stage_num_blocks"][stage]):
            source = inputs if at == 0 else config["stage_out_channels"][stage]
            blocks.append(Aggregation(net, config, stage, source, at > 0))
        stages.append(Stage(blocks))
    return Classifier(net, stem, stages, config["hidden_sizes"][-1])
