"""HRNet (Wang et al. 2019, arXiv 1908.07919) on the tape: branches of halved sizes that exchange
their maps; and MobileNetV2, dilated as the backbone of a segmenter."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.vision.pyramid import ResidualUnit, Unit, enlarged
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor

BASIC = {"layer_type": "basic"}
MODULES, BLOCKS = (1, 4, 3), 4
"""Modules of the last three stages and blocks of each branch; HRNet small has (1, 3, 2) and 2."""
INVERTED = (
    (1, 16, 1, 1, 1),
    (6, 24, 2, 2, 1),
    (6, 32, 3, 2, 1),
    (6, 64, 4, 1, 2),
    (6, 96, 3, 1, 2),
    (6, 160, 3, 1, 4),
    (6, 320, 1, 1, 4),
)
"""MobileNetV2 at an output stride of 8: expansion, channels, blocks, stride and dilation of each
stage (Sandler et al. 2018; strides and dilations of MMSegmentation's configurations)."""
SEEN = (1, 2, 4, 6)
"""The stages whose maps the heads see."""


class Exchange:
    """One module: blocks on every branch, then each branch gets the sum of all, brought to its
    size."""

    def __init__(self, net: Net, widths: list[int], blocks: int, norm: str) -> None:
        self.net = net
        self.branches = [
            [ResidualUnit(net, BASIC, side, side, 1, norm) for _ in range(blocks)]
            for side in widths
        ]
        self.paths = [
            [self._path(widths, source, at, norm) for source in range(len(widths))]
            for at in range(len(widths))
        ]

    def _path(self, widths: list[int], source: int, at: int, norm: str) -> list[Unit]:
        if source >= at:
            return (
                [Unit(self.net, widths[source], widths[at], 1, norm=norm, relu=False)]
                if source > at
                else []
            )
        steps = [
            Unit(self.net, widths[source], widths[source], 3, stride=2, norm=norm)
            for _ in range(at - source - 1)
        ]
        return [
            *steps,
            Unit(self.net, widths[source], widths[at], 3, stride=2, norm=norm, relu=False),
        ]

    def __call__(self, maps: list[Tensor]) -> list[Tensor]:
        tape, maps = self.net.tape, list(maps)
        for at, blocks in enumerate(self.branches):
            for block in blocks:
                maps[at] = block(maps[at])
        found = []
        for at, paths in enumerate(self.paths):
            whole: Tensor | None = None
            for source, path in enumerate(paths):
                y = maps[source]
                for layer in path:
                    y = layer(y)
                if source > at:
                    sides = (maps[at].shape[2], maps[at].shape[3])
                    y = enlarged(tape, enlarged(tape, y, sides), sides)
                whole = ops.shift(tape, y) if whole is None else ops.add(tape, whole, y)
                del y
            assert whole is not None
            found.append(ops.keeping_result(tape, whole))
            del whole
        return found


class HighResolution:
    """Four stages of one to four branches; `width` is that of the finest, `hidden_sizes` are those
    of all."""

    def __init__(self, net: Net, config: dict[str, Any], norm: str) -> None:
        first = int(config.get("width") or 18)
        self.net, self.widths, small = (
            net,
            [first << at for at in range(4)],
            bool(config.get("small")),
        )
        blocks, counts = (2, (1, 3, 2)) if small else (BLOCKS, MODULES)
        self.stem = [Unit(net, side, 64, 3, stride=2, norm=norm) for side in (3, 64)]
        self.first = [
            ResidualUnit(net, {}, 64 if at == 0 else 256, 256, 1, norm) for at in range(blocks)
        ]
        self.entry = [
            Unit(net, 256, self.widths[at], 3, stride=1 + at, norm=norm) for at in range(2)
        ]
        self.more, self.stages = [], []
        for stage, count in enumerate(counts):
            widths = self.widths[: stage + 2]
            if stage:
                self.more.append(Unit(net, widths[-2], widths[-1], 3, stride=2, norm=norm))
            self.stages.append([Exchange(net, widths, blocks, norm) for _ in range(count)])

    def __call__(self, x: Tensor) -> list[Tensor]:
        steps: list[Any] = [*self.stem, *self.first]
        for layer in steps:
            x = layer(x)
        maps = [layer(x) for layer in self.entry]
        del x
        for stage, modules in enumerate(self.stages):
            if stage:
                maps.append(self.more[stage - 1](maps[-1]))
            for module in modules:
                maps = module(maps)
        return maps


class HighPyramid:
    """HRNetV2p: all maps joined at the finest and narrowed, then pooled to five levels, a
    convolution for each."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, self.narrow = net, Unit(net, sum(widths), width, 1, bias=True, relu=False)
        self.out = [Unit(net, width, width, 3, bias=True, relu=False) for _ in range(5)]

    def __call__(self, maps: list[Tensor]) -> list[Tensor]:
        tape, sides = self.net.tape, (maps[0].shape[2], maps[0].shape[3])
        x = self.narrow(ops.cat(tape, [maps[0], *(enlarged(tape, y, sides) for y in maps[1:])], 1))
        pooled = (
            ops.reduce_to(tape, x, (*x.shape[:2], sides[0] >> at, sides[1] >> at))
            for at in range(1, len(self.out))
        )
        levels = [x, *pooled]
        return [layer(y) for layer, y in zip(self.out, levels, strict=True)]


class Inverted:
    """A block of MobileNetV2: wider, depthwise, narrower; the sum with the input where shapes
    agree."""

    def __init__(
        self, net: Net, inputs: int, outputs: int, expansion: int, stride: int, dilation: int
    ) -> None:
        self.net, inner, norm = net, inputs * expansion, "trained"
        self.layers = [Unit(net, inputs, inner, 1, norm=norm)] if expansion > 1 else []
        self.layers += [
            Unit(net, inner, inner, 3, stride=stride, groups=inner, norm=norm, dilation=dilation),
            Unit(net, inner, outputs, 1, norm=norm, relu=False),
        ]
        self.sums = stride == 1 and inputs == outputs

    def __call__(self, x: Tensor) -> Tensor:
        given = x
        for layer in self.layers:
            x = layer(x)
        return ops.add(self.net.tape, given, x) if self.sums else x


class MobileBackbone:
    """The maps of MobileNetV2 that keeps an eighth of the image's sides."""

    def __init__(self, net: Net) -> None:
        self.stem = Unit(net, 3, 32, 3, stride=2, norm="trained")
        self.stages: list[list[Inverted]] = []
        inputs = 32
        for expansion, outputs, count, stride, dilation in INVERTED:
            self.stages.append([])
            for at in range(count):
                first = at == 0
                self.stages[-1].append(
                    Inverted(
                        net,
                        inputs,
                        outputs,
                        expansion,
                        stride if first else 1,
                        dilation if first else 1,
                    )
                )
                inputs = outputs
        self.widths = [INVERTED[at][1] for at in SEEN]

    def __call__(self, x: Tensor) -> list[Tensor]:
        x, maps = self.stem(x), []
        for at, stage in enumerate(self.stages):
            for block in stage:
                x = block(x)
            if at in SEEN:
                maps.append(x)
        return maps
