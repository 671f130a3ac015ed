"""Pyramid Vision Transformer on the tape: patches that do not overlap, learned positions, attention
to a reduced map."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.families.vision.hierarchical import PvtBlock, drop_rates
from rigplanner.networks.families.vision.vision import edge
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import Tensor


class PvtPatches:
    """A strided convolution, norm, positions resized to the map; the last stage has a class
    token."""

    def __init__(self, net: Net, config: dict[str, Any], stage: int) -> None:
        sizes, patch, kernel = (
            config["hidden_sizes"],
            config["patch_sizes"][stage],
            config["strides"][stage],
        )
        trained = edge(config["image_size"]) // (2 ** (stage + 1) if stage else 1) // patch
        width, self.net, self.token = sizes[stage], net, None
        last = stage + 1 == len(sizes)
        self.positions = net.parameter(1, trained**2 + last, width)
        if last:
            self.token = net.parameter(1, 1, width)
        self.conv = bare_conv(
            net, sizes[stage - 1] if stage else 3, width, kernel, stride=patch, padding=0
        )
        self.norm = Norm(net, "layer", width)

    def __call__(self, x: Tensor) -> tuple[Tensor, int]:
        tape = self.net.tape
        made = self.conv(x)
        batch, width, side, _ = made.shape
        made = made.view(batch, side * side, width)
        x = self.norm(made)
        if self.token is None:
            places = ops.resized(tape, self.positions, (1, side * side, width))
            return ops.add(tape, x, places), side
        x = ops.cat(tape, (Tensor((batch, 1, width), self.token.dtype, self.token.storage), x), 1)
        rest = ops.cut(tape, self.positions, (1, self.positions.shape[1] - 1, width))
        placed = ops.cat(
            tape,
            (
                ops.cut(tape, self.positions, (1, 1, width)),
                ops.resized(tape, rest, (1, side * side, width)),
            ),
            1,
        )
        return ops.add(tape, x, placed), side


class Pvt:
    """PVT with a classifier (Wang et al. 2021, arXiv 2102.12122)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        part_config = {**config, "sr_ratios": config["sequence_reduction_ratios"]}
        self.net, rates, self.stages = net, iter(drop_rates(config)), []
        for stage, depth in enumerate(config["depths"]):
            patches = PvtPatches(net, config, stage)
            self.stages.append(
                (
                    patches,
                    [
                        PvtBlock(net, part_config, stage, next(rates), deep=False)
                        for _ in range(depth)
                    ],
                )
            )
        width = config["hidden_sizes"][-1]
        self.norm, self.head = (
            Norm(net, "layer", width),
            net.linear("classifier", width, net.classes, True),
        )

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = x = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        for at, (patches, blocks) in enumerate(self.stages, 1):
            x, side = patches(x)
            for block in blocks:
                x = block(x)
            if at < len(self.stages):
                x = ops.copy(tape, x).view(x.shape[0], x.shape[2], side, side)
        x = self.norm(x)
        scores = self.head(ops.cut(tape, x, (x.shape[0], x.shape[2])))
        del image
        return class_loss(net, scores) if net.setting.training else scores
