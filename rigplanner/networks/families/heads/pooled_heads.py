"""Heads of segmenters that gather context by pooled regions, code words or filters of the image, or
from a pyramid, on the tape: each as its paper and MMSegmentation define it."""

from __future__ import annotations

from rigplanner.networks.families.heads.context_heads import conv, normed, places, soft, squeezed
from rigplanner.networks.families.vision.pyramid import Pyramid, Unit, enlarged, relu_in_place
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Tape, Tensor, new, record

CODES = 32
"""Code words of EncNet (Zhang et al. 2018, arXiv 1803.08904)."""
BASES, ROUNDS = 64, 3
"""Bases of EMANet, and how often it refines them (Li et al. 2019, arXiv 1907.13426)."""
FILTER_SIDES = (1, 3, 5, 7)
"""Kernels that DMNet makes of the image (He et al. 2019)."""
CONTEXT_SIDES = (1, 2, 3, 6)
"""Sides of the pooled maps of APCNet (He et al. 2019)."""
MASK_SIDE = 97
"""Side of the mask that PSANet predicts around every place (Zhao et al. 2018; its configurations).
"""
POINTS = 2048
"""Points of an image that PointRend trains on (Kirillov et al. 2020, arXiv 1912.08193)."""


class CodeHead:
    """EncNet: distances of all places to code words weigh the channels; places, codes and channels
    meet in one tensor, twice."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, self.width = net, width
        self.first, self.projection = normed(net, widths[-1], width, 3), normed(net, width, width)
        self.codes, self.scale = net.parameter(CODES, width), net.parameter(CODES)
        self.sides = net.parameter(CODES), net.parameter(CODES)
        self.gate = net.linear("fc", width, width, True)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, x = self.net.tape, self.first(maps[-1])
        gate = ops.keeping_result(tape, self.gate(self._encoded(x)))
        return relu_in_place(
            tape, ops.add(tape, x, ops.mul(tape, x, gate.view(x.shape[0], self.width, 1, 1)))
        )

    def _encoded(self, x: Tensor) -> Tensor:
        tape, batch, count = self.net.tape, x.shape[0], places(x)
        seen = ops.copy(tape, self.projection(x)).view(batch, count, 1, self.width)
        codes = self.codes.view(1, 1, CODES, self.width)
        far = ops.reduce_to(
            tape, ops.square(tape, ops.add(tape, seen, codes)), (batch, count, CODES), spreads=False
        )
        share = soft(self.net, ops.mul(tape, far, self.scale)).view(batch, count, CODES, 1)
        parts = ops.mul(tape, share, ops.add(tape, seen, codes))
        found = ops.reduce_to(tape, parts, (batch, CODES, self.width), spreads=False)
        found = ops.batch_norm(tape, found, *self.sides, self.net.setting.training)
        return ops.reduce_to(tape, relu_in_place(tape, found), (batch, self.width))


class BasisHead:
    """EMANet: places rebuilt from bases that expectation and maximisation find without a
    gradient."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inner = net, 2 * width
        self.first = normed(net, widths[-1], inner, 3)
        before, net.freezing = net.freezing, True
        self.middle = conv(net, inner, inner)
        net.freezing = before
        net.buffer(inner, BASES)
        self.out = normed(net, inner, inner, relu=False)
        self.second = normed(net, inner, width, 3)
        self.joint = normed(net, widths[-1] + width, width, 3)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, x = self.net.tape, maps[-1]
        seen = self.first(x)
        recording, tape.recording = tape.recording, False
        made = self._rebuilt(self.middle(seen))
        tape.recording = recording
        y = relu_in_place(tape, ops.add(tape, seen, self.out(made)))
        return self.joint(ops.cat(tape, (x, self.second(y)), 1))

    def _rebuilt(self, x: Tensor) -> Tensor:
        tape, batch, width, count = self.net.tape, x.shape[0], x.shape[1], places(x)
        bases = new(tape, (batch, width, BASES), x.dtype)
        share = bases
        for _ in range(ROUNDS):
            share = soft(
                self.net, ops.bmm(tape, x.view(batch, count, width), bases, (batch, count, BASES))
            )
            bases = ops.bmm(tape, squeezed(x), ops.sub_self(tape, share), (batch, width, BASES))
        return ops.bmm(tape, bases, share.view(batch, BASES, count), (batch, width, count)).view(
            *x.shape
        )


class AdaptiveHead:
    """APCNet: pooled regions weighed at every place by the place and the whole."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.parts = [self._part(inputs, width, side) for side in CONTEXT_SIDES]
        self.joint = normed(net, inputs + len(CONTEXT_SIDES) * width, width, 3)

    def _part(self, inputs: int, width: int, side: int) -> list[Unit]:
        net = self.net
        narrow = [normed(net, inputs, width) for _ in range(2)]
        return [
            *narrow,
            normed(net, width, width),
            conv(net, width, side**2),
            *(normed(net, width, width) for _ in range(2)),
        ]

    def __call__(self, maps: list[Tensor]) -> Tensor:
        x = maps[-1]
        parts = [
            self._seen(x, layers, side)
            for layers, side in zip(self.parts, CONTEXT_SIDES, strict=True)
        ]
        return self.joint(ops.cat(self.net.tape, [x, *parts], 1))

    def _seen(self, x: Tensor, layers: list[Unit], side: int) -> Tensor:
        tape, (reducing, narrow, whole, affine, residual, fusing) = self.net.tape, layers
        regions = ops.reduce_to(tape, x, (*x.shape[:2], side, side))
        x = narrow(x)
        batch, width, high, wide = x.shape
        regions = ops.copy(tape, reducing(regions)).view(batch, side**2, width)
        context = enlarged(tape, whole(ops.reduce_to(tape, x, (batch, width, 1, 1))), (high, wide))
        weights = ops.copy(tape, affine(ops.add(tape, x, context)))
        del context
        weights = ops.keeping_result(tape, weights).view(batch, high * wide, side**2)
        y = ops.copy(tape, ops.bmm(tape, weights, regions, (batch, high * wide, width)))
        y = ops.add(tape, residual(y.view(*x.shape)), x)
        return fusing(ops.keeping_result(tape, y))


class FilterHead:
    """DMNet: depthwise convolutions with kernels made of the image."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.parts = [
            (conv(net, inputs, width), normed(net, inputs, width), normed(net, width, width))
            for _ in FILTER_SIDES
        ]
        self.sides = [(net.parameter(width), net.parameter(width)) for _ in FILTER_SIDES]
        self.joint = normed(net, inputs + len(FILTER_SIDES) * width, width, 3)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, x = self.net.tape, maps[-1]
        parts = [x]
        for (making, narrow, fusing), sides, side in zip(
            self.parts, self.sides, FILTER_SIDES, strict=True
        ):
            kernel = making(ops.reduce_to(tape, x, (*x.shape[:2], side, side)))
            y = narrow(x)
            shape, deep = y.shape, y.shape[0] * y.shape[1]
            y = ops.pad(tape, y.view(1, deep, *shape[2:]), side - 1, side - 1)
            y = ops.convolution(tape, y, kernel.view(deep, 1, side, side), None, 1, 0).view(*shape)
            y = ops.batch_norm(tape, y, *sides, self.net.setting.training)
            parts.append(fusing(relu_in_place(tape, y)))
            del y
        return self.joint(ops.cat(tape, parts, 1))


def masked(tape: Tape, x: Tensor, channels: int) -> Tensor:
    """PSAMask: weights by offset become weights by place; keeps nothing."""
    source = x.shape
    made = new(tape, (x.shape[0], channels, *x.shape[2:]), x.dtype)
    return record(tape, made, (x,), lambda grad: (new(tape, source, grad.dtype),))


class MaskedHead:
    """PSANet: every place collects from all and spreads to all, at half the size of the map."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.arms = [
            (
                normed(net, inputs, width),
                normed(net, width, width),
                Unit(net, width, MASK_SIDE**2, 1, relu=False),
            )
            for _ in range(2)
        ]
        self.back, self.joint = normed(net, 2 * width, inputs), normed(net, 2 * inputs, width, 3)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, x = self.net.tape, maps[-1]
        small = ((x.shape[2] - 1) // 2 + 1, (x.shape[3] - 1) // 2 + 1)
        count, found = small[0] * small[1], []
        for narrow, first, mask in self.arms:
            y = enlarged(tape, narrow(x), small)
            weights = soft(self.net, masked(tape, mask(first(y)), count))
            y = ops.bmm(tape, squeezed(y), squeezed(weights), (*y.shape[:2], count))
            found.append(ops.sub_self(tape, y).view(*y.shape[:2], *small))
            del weights, y
        y = self.back(ops.cat(tape, found, 1))
        return self.joint(ops.cat(tape, (x, enlarged(tape, y, (x.shape[2], x.shape[3]))), 1))


class SumHead:
    """Semantic FPN (Kirillov et al. 2019, arXiv 1901.02446): the levels of a pyramid, each brought
    to the finest, summed."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net = net
        self.pyramid = Pyramid(net, widths, 256, 0, True)
        self.rows = [
            [normed(net, width if at else 256, width, 3) for at in range(max(1, level))]
            for level in range(len(widths))
        ]

    def __call__(self, maps: list[Tensor]) -> Tensor:
        return self.summed(self.pyramid(maps))

    def summed(self, levels: list[Tensor]) -> Tensor:
        """The sum, of levels that the pyramid has made."""
        tape = self.net.tape
        whole = self.rows[0][0](levels[0])
        for row, x in zip(self.rows[1:], levels[1:], strict=True):
            for layer in row:
                x = layer(x)
                x = enlarged(tape, x, (2 * x.shape[2], 2 * x.shape[3]))
            whole = ops.add(tape, whole, enlarged(tape, x, (whole.shape[2], whole.shape[3])))
        return whole


class PointHead:
    """PointRend's second head: three layers over sampled points of the finest level, each joined
    with the coarse scores there."""

    def __init__(self, net: Net, classes: int) -> None:
        self.net = net
        self.layers = [Unit(net, 256 + classes, 256, 1, bias=True) for _ in range(3)]
        self.scores = conv(net, 256 + classes, classes)

    def __call__(self, fine: Tensor, coarse: Tensor) -> Tensor:
        """The loss over the points."""
        tape = self.net.tape
        x, scores = (sampled(tape, y) for y in (fine, coarse))
        for layer in self.layers:
            x = layer(ops.cat(tape, (x, scores), 1))
        made = self.scores(ops.cat(tape, (x, scores), 1))
        return ops.reduce_to(tape, ops.keeping_result(tape, made, F32), ())


def sampled(tape: Tape, x: Tensor) -> Tensor:
    """F.grid_sample at some points: keeps its input, and its gradient has the input's size."""
    kept = [x]

    def pull(grad: Tensor) -> tuple[Tensor]:
        return (new(tape, kept.pop().shape, grad.dtype),)

    return record(tape, new(tape, (*x.shape[:2], POINTS, 1), x.dtype), (x,), pull)
