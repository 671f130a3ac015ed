"""The convolutions that DPT and Depth Anything put on the maps of a vision transformer, on the
tape."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.vision.convnets import Conv
from rigplanner.networks.families.vision.pyramid import enlarged
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor

GROWTH = (4.0, 2.0, 1.0, 0.5)
"""Sides of the reassembled maps per side of the tower's (Ranftl et al. 2021, arXiv 2103.13413)."""


def _plain(net: Net, inputs: int, outputs: int, kernel: int, bias: bool = True) -> Conv:
    return Conv(net, inputs, outputs, kernel, bias=bias, norm=False, act="")


class Fusion:
    """Two residual units around a sum, twice the size, a projection."""

    def __init__(self, net: Net, width: int, sums: bool) -> None:
        self.net = net
        self.units = [
            [_plain(net, width, width, 3), _plain(net, width, width, 3)]
            for _ in range(2 if sums else 1)
        ]
        if not sums:
            for _ in range(2):
                _plain(net, width, width, 3)
        self.out = _plain(net, width, width, 1)

    def __call__(self, x: Tensor, beside: Tensor | None, side: int) -> Tensor:
        tape = self.net.tape
        if beside is not None:
            x = ops.add(tape, x, self._unit(beside, 0))
        x = self._unit(x, len(self.units) - 1)
        return self.out(enlarged(tape, x, (side, side)))

    def _unit(self, x: Tensor, at: int) -> Tensor:
        y = x
        for layer in self.units[at]:
            y = layer(ops.keeping_result(self.net.tape, y))
        return ops.add(self.net.tape, y, x)


class DenseNeck:
    """Four maps of the tower brought to four sizes, fused from the coarsest, and a head at the size
    of the image."""

    def __init__(self, net: Net, part_config: dict[str, Any]) -> None:
        self.net, self.patch, self.tower, fused = (
            net,
            part_config["patch"],
            part_config["tower"],
            part_config["fused"],
        )
        self.into = [_plain(net, self.tower, width, 1) for width in part_config["widths"]]
        for width, growth in zip(part_config["widths"], GROWTH, strict=False):
            edge = int(growth) if growth > 1 else 3
            if growth != 1:
                net.parameter(width, width, edge, edge)
        self.even = [_plain(net, width, fused, 3, bias=False) for width in part_config["widths"]]
        self.fusions = [Fusion(net, fused, at > 0) for at in range(len(part_config["widths"]))]
        half = max(1, fused // 2)
        self.head = [
            _plain(net, fused, half, 3),
            _plain(net, half, part_config["head"], 3),
            _plain(net, part_config["head"], 1, 1),
        ]

    def loss(self) -> Tensor:
        """The mean of the map at the image's size, or that map."""
        net, tape = self.net, self.net.tape
        side = max(2, net.setting.length // self.patch)
        maps = []
        for into, even, growth in zip(self.into, self.even, GROWTH, strict=False):
            rows = net.given(net.setting.batch, self.tower, side, side, dtype=net.setting.dtype)
            y = into(rows)
            sized = max(1, int(side * growth))
            maps.append(even(y if growth == 1 else enlarged(tape, y, (sized, sized))))
        x: Tensor | None = None
        for at, fusion in enumerate(self.fusions):
            beside = maps[-1 - at]
            grown = maps[-2 - at].shape[2] if at + 1 < len(maps) else 2 * beside.shape[2]
            x = fusion(beside if x is None else x, None if x is None else beside, grown)
        assert x is not None
        y = enlarged(tape, self.head[0](x), (net.setting.length, net.setting.length))
        y = ops.keeping_result(tape, self.head[1](y))
        y = ops.keeping_result(tape, self.head[2](y))
        return ops.reduce_to(tape, y, ()) if net.setting.training else y
