"""Backbones and feature pyramids of detectors and segmenters on the tape: residual networks as
torchvision, MMDetection and detectron2 build them, with activations in place and norms that are
trained, only evaluated, or frozen."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, I64, Grads, Tape, Tensor, like, new, record


def relu_in_place(tape: Tape, x: Tensor) -> Tensor:
    """F.relu_: keeps its result, which lies where its input lay."""
    kept = Tensor(x.shape, x.dtype, x.storage)
    tape.saves()
    return record(tape, Tensor(x.shape, x.dtype, x.storage), (x,), lambda grad: (like(tape, kept),))


def activated(net: Net, x: Tensor) -> Tensor:
    """The ReLU of a head: in place, but in detectron2, whose release of PyTorch kept its input
    (pytorch/pytorch issue 63027)."""
    apart = net.setting.keeps_scores and net.setting.frozen_norms
    return ops.keeping_input(net.tape, x) if apart else relu_in_place(net.tape, x)


def enlarged(tape: Tape, x: Tensor, sides: tuple[int, int]) -> Tensor:
    """F.interpolate to a size: its gradient has the size of its input."""
    source = x.shape
    return record(
        tape,
        new(tape, (*x.shape[:2], *sides), x.dtype),
        (x,),
        lambda grad: (new(tape, source, grad.dtype),),
    )


WINOGRAD = 36 / 16
"""Values of cuDNN's workspace per value of input and result: its Winograd algorithm for kernels of
3 x 3 in fp32 writes both as 36 values for every tile of 4 x 4 (Lavin and Gray 2015, arXiv
1509.09308), and every kernel as 36. The tables of MMDetection and MMSegmentation are met to some
per cent with it, whatever the head."""
WINOGRAD_KERNEL = 36 / 9


def workspace(tape: Tape, x: Tensor, values: int) -> Tensor:
    """`values` that live while a convolution that gave x runs, forward and backward."""
    scratch = new(tape, (values,), F32)
    del scratch

    def pull(grad: Tensor) -> tuple[Tensor]:
        scratch = new(tape, (values,), F32)
        del scratch
        return (grad,)

    return record(tape, Tensor(x.shape, x.dtype, x.storage), (x,), pull)


def scaled(tape: Tape, x: Tensor) -> Tensor:
    """A product with floats of every channel, which never train: floats under autocast."""
    dtype = F32 if tape.autocast else x.dtype
    return record(tape, new(tape, x.shape, dtype), (x,), lambda grad: (like(tape, grad),))


class Unit:
    """A convolution and its norm: `norm` is trained, fixed (evaluated, its input kept), frozen (a
    product and a sum with what never trains), scaled (the same, in float under autocast) or empty;
    ReLU in place where asked. `dilation` widens the kernel without weights."""

    def __init__(
        self,
        net: Net,
        inputs: int,
        outputs: int,
        kernel: int,
        *,
        stride: int = 1,
        groups: int = 1,
        norm: str = "",
        relu: bool = True,
        bias: bool = False,
        dilation: int = 1,
    ) -> None:
        self.net, self.stride, self.norm, self.relu, self.dilation = (
            net,
            stride,
            norm,
            relu,
            dilation,
        )
        self.weight = net.parameter(outputs, inputs // groups, kernel, kernel)
        self.bias = net.parameter(outputs) if bias else None
        self.sides = (
            (net.parameter(outputs), net.parameter(outputs))
            if norm in ("trained", "fixed")
            else None
        )
        if norm:
            net.buffer(2 if self.sides else 4, outputs)

    def __call__(self, x: Tensor) -> Tensor:
        tape, kernel = self.net.tape, self.weight.shape[2]
        x = self._convolved(x, kernel)
        if self.sides is not None:
            wide = ops.cast(tape, x, F32) if self.net.setting.float_norms else x
            wide = ops.batch_norm(
                tape, wide, *self.sides, self.norm == "trained" and self.net.setting.training
            )
            x = ops.cast(tape, wide, x.dtype)
            del wide
        elif self.norm:
            x = ops.shift(tape, scaled(tape, x) if self.norm == "scaled" else ops.sub_self(tape, x))
        if not self.relu:
            return x
        return relu_in_place(tape, x) if self.norm else activated(self.net, x)

    def _convolved(self, x: Tensor, kernel: int) -> Tensor:
        """A dilated kernel with its padding gives the size that a plain one gives."""
        tape = self.net.tape
        made = ops.convolution(tape, x, self.weight, self.bias, self.stride, kernel // 2)
        whole = (
            kernel == 3 and self.stride == self.dilation == 1 and self.weight.shape[1] == x.shape[1]
        )
        if not whole or made.dtype != F32 or tape.semantics.explicit_mask:
            return made
        return workspace(
            tape, made, round(WINOGRAD * (x.size + made.size) + WINOGRAD_KERNEL * self.weight.size)
        )


class Doubled:
    """A transposed convolution that doubles both sides."""

    def __init__(self, net: Net, inputs: int, outputs: int, kernel: int = 2) -> None:
        self.net, self.weight, self.bias = (
            net,
            net.parameter(inputs, outputs, kernel, kernel),
            net.parameter(outputs),
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape, weight = self.net.tape, ops.cast_low(self.net.tape, self.weight)
        x = ops.cast_low(tape, x)
        kept, shape, out, kernel = x, x.shape, weight.shape[1], weight.shape[2]

        def pull(grad: Tensor) -> Grads:
            return (
                new(tape, kept.shape, grad.dtype),
                new(tape, weight.shape, grad.dtype),
                new(tape, (out,), grad.dtype),
            )

        tape.saves()
        tape.flops += 2 * kernel**2 * x.size * out
        return record(
            tape,
            new(tape, (shape[0], out, 2 * shape[2], 2 * shape[3]), x.dtype),
            (x, weight, self.bias),
            pull,
        )


class ResidualUnit:
    """Two or three convolutions and the sum with the input, projected where the shape changes; all
    ReLUs in place."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        inputs: int,
        outputs: int,
        stride: int,
        norm: str,
        dilation: int = 1,
    ) -> None:
        self.net = net
        if config.get("layer_type") == "basic":
            self.layers = [
                Unit(net, inputs, outputs, 3, stride=stride, norm=norm, dilation=dilation),
                Unit(net, outputs, outputs, 3, norm=norm, relu=False),
            ]
        else:
            groups = config.get("groups") or 1
            narrow = outputs // 4 * groups * (config.get("width_per_group") or 64) // 64
            first = stride if config.get("downsample_in_bottleneck") else 1
            self.layers = [
                Unit(
                    net,
                    inputs * (config.get("frames_seen") or 1),
                    narrow,
                    1,
                    stride=first,
                    norm=norm,
                ),
                Unit(
                    net,
                    narrow,
                    narrow,
                    3,
                    stride=stride // first,
                    groups=groups,
                    norm=norm,
                    dilation=dilation,
                ),
                Unit(net, narrow, outputs, 1, norm=norm, relu=False),
            ]
        changes = inputs != outputs or stride != 1
        self.shortcut = (
            Unit(net, inputs, outputs, 1, stride=stride, norm=norm, relu=False) if changes else None
        )

    def __call__(self, x: Tensor) -> Tensor:
        given, tape = x, self.net.tape
        for layer in self.layers:
            x = layer(x)
        given = given if self.shortcut is None else self.shortcut(given)
        return relu_in_place(tape, ops.add_in_place(tape, x, given))


class ResidualBackbone:
    """ResNet or ResNeXt that gives the maps of all stages. `frozen_stages`: how many, the stem
    counted as none, do not train; `output_stride` 8 keeps the resolution of the last two stages
    (dilated); `deep_stem` has three convolutions (ResNet-C); the blocks of the `inflated` stages
    begin with kernels over three frames, which weigh as three of one."""

    def __init__(self, net: Net, config: dict[str, Any], norm: str) -> None:
        self.net, self.widths, self.frozen = (
            net,
            config["hidden_sizes"],
            config.get("frozen_stages", -1),
        )
        before, net.freezing = net.freezing, self.frozen >= 0
        first = config.get("embedding_size") or 64
        if config.get("deep_stem"):
            self.stem = [
                Unit(net, 3, first // 2, 3, stride=2, norm=norm),
                Unit(net, first // 2, first // 2, 3, norm=norm),
                Unit(net, first // 2, first, 3, norm=norm),
            ]
        else:
            self.stem = [Unit(net, 3, first, 7, stride=2, norm=norm)]
        self.stages: list[list[ResidualUnit]] = []
        inputs = first
        plain = {8: 1, 16: 2}.get(config.get("output_stride") or 32, 3)
        for stage, (depth, outputs) in enumerate(zip(config["depths"], self.widths, strict=True)):
            net.freezing = before or stage < self.frozen
            strides = [2 if 0 < stage <= plain else 1] + [1] * (depth - 1)
            self.stages.append([])
            told = (
                {**config, "frames_seen": 3} if stage in (config.get("inflated") or ()) else config
            )
            for stride in strides:
                self.stages[-1].append(
                    ResidualUnit(
                        net, told, inputs, outputs, stride, norm, 1 if stage <= plain else 2
                    )
                )
                inputs = outputs
        net.freezing = before

    def __call__(self, x: Tensor) -> list[Tensor]:
        tape, recording = self.net.tape, self.net.tape.recording
        tape.recording = recording and self.frozen < 0
        for layer in self.stem:
            x = layer(x)
        x = ops.max_pool(tape, x, 3, 2, 1)
        maps = []
        for at, stage in enumerate(self.stages):
            tape.recording = recording and at >= self.frozen
            for block in stage:
                x = block(x)
            maps.append(x)
        tape.recording = recording
        return maps


class Pyramid:
    """A feature pyramid (Lin et al. 2017): lateral convolutions, sums from the top, a convolution
    for each level, and `extra` levels, pooled or convolved from the last map, or `from_input` from
    the backbone's."""

    def __init__(
        self,
        net: Net,
        widths: list[int],
        width: int,
        extra: int,
        pooled: bool,
        from_input: bool = False,
    ) -> None:
        self.net, self.pooled, self.from_input = net, pooled, from_input
        self.lateral = [Unit(net, side, width, 1, bias=True, relu=False) for side in widths]
        self.out = [Unit(net, width, width, 3, bias=True, relu=False) for _ in widths]
        sources = [
            widths[-1] if from_input and at == 0 else width for at in range(0 if pooled else extra)
        ]
        self.down = [
            Unit(net, source, width, 3, stride=2, bias=True, relu=False) for source in sources
        ]
        self.extra = extra

    def __call__(self, maps: list[Tensor]) -> list[Tensor]:
        tape = self.net.tape
        sides = [layer(x) for layer, x in zip(self.lateral, maps, strict=True)]
        for at in range(len(sides) - 1, 0, -1):
            below = sides[at - 1]
            sides[at - 1] = ops.add(
                tape, below, enlarged(tape, sides[at], (below.shape[2], below.shape[3]))
            )
            del below
        found = [layer(x) for layer, x in zip(self.out, sides, strict=True)]
        for at in range(self.extra):
            source = maps[-1] if self.from_input and at == 0 else found[-1]
            found.append(
                ops.max_pool(tape, source, 1, 2, 0) if self.pooled else self.down[at](source)
            )
        return found


def picture(net: Net, divisor: int) -> Tensor:
    """The batch of images in float, padded to a multiple of `divisor`."""
    dtype = F32 if net.setting.training else net.setting.dtype
    return net.given(net.setting.batch, 3, *picture_sides(net, divisor), dtype=dtype)


def picture_sides(net: Net, divisor: int) -> tuple[int, int]:
    """Height and width of the images, padded to a multiple of `divisor`."""
    high, wide = net.setting.sides or (net.setting.length, net.setting.length)
    return -(-high // divisor) * divisor, -(-wide // divisor) * divisor


def pixel_loss(net: Net, scores: Tensor) -> Tensor:
    """F.cross_entropy of every pixel without reduction, its labels, and the mean: the log-softmax
    is kept, and one loss a pixel."""
    tape = net.tape
    labels = new(tape, (scores.shape[0], *scores.shape[2:]), I64)
    wide = ops.cast(tape, scores, F32) if tape.autocast else scores
    kept, given = like(tape, wide), [wide] if net.setting.keeps_scores else []
    each = (wide.shape[0], *wide.shape[2:])

    def pull(grad: Tensor) -> tuple[Tensor]:
        through = like(tape, kept)
        made = like(tape, kept)
        del through
        given.clear()
        return (made,)

    tape.saves()
    losses = record(tape, new(tape, each, wide.dtype), (wide,), pull)
    del labels
    return ops.reduce_to(tape, losses, ())
