"""Swin and ConvNeXt as backbones of detectors and segmenters on the tape: maps of all stages, each
with a norm of its own."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from rigplanner.networks.families.vision.convnets import (
    AfterStem,
    ConvNextBlock,
    Downsample,
    bare_conv,
)
from rigplanner.networks.families.vision.hierarchical import SwinBlock, SwinMerge, drop_rates
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import Tensor


class WindowBackbone:
    """The maps of Swin's stages; images that are not square count as squares of their area."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        part_config = {
            "patch_size": 4,
            "window_size": 7,
            "mlp_ratio": 4.0,
            "drop_path_rate": 0.2,
            "embed_dim": 96,
            **config,
        }
        width, patch = part_config["embed_dim"], part_config["patch_size"]
        self.net, self.patch, sides = net, patch, net.setting.sides
        area = prod(-(-side // 32) * 32 for side in sides) if sides else net.setting.length**2
        self.side = round(sqrt(area) / 32) * 32
        self.stem = bare_conv(net, 3, width, patch, stride=patch, padding=0)
        self.stem_norm = Norm(net, "layer", width)
        rates, side, self.widths = iter(drop_rates(part_config)), self.side // patch, []
        self.stages: list[tuple[list[SwinBlock], Norm, SwinMerge | None]] = []
        for stage, depth in enumerate(part_config["depths"]):
            heads = part_config["num_heads"][stage]
            blocks = [
                SwinBlock(net, part_config, width, heads, side, at % 2 == 1, next(rates))
                for at in range(depth)
            ]
            last = stage + 1 == len(part_config["depths"])
            self.stages.append(
                (blocks, Norm(net, "layer", width), None if last else SwinMerge(net, width))
            )
            self.widths.append(width)
            width, side = 2 * width, side // 2

    def __call__(self, image: Tensor) -> list[Tensor]:
        x = self.stem(
            Tensor(
                (image.shape[0], 3, self.side, self.side), image.dtype, image.storage, image.node
            )
        )
        x = self.stem_norm(x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1]))
        maps = []
        for blocks, norm, merge in self.stages:
            for block in blocks:
                x = checkpointed(self.net, lambda y, block=block: block(y)[0], x)
            side = round(sqrt(x.shape[1]))
            seen = norm(x)
            maps.append(seen.view(x.shape[0], x.shape[2], side, side))
            x = x if merge is None else merge(x)
        return maps


class ConvNextBackbone:
    """The maps of ConvNeXt's stages."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.widths, second = (
            net,
            config["hidden_sizes"],
            config["model_type"] == "convnextv2",
        )
        self.stem: list[Any] = [
            bare_conv(net, 3, self.widths[0], 4, stride=4, padding=0),
            AfterStem(net, self.widths[0]),
        ]
        self.stages: list[list[Any]] = []
        for stage, (depth, width) in enumerate(zip(config["depths"], self.widths, strict=True)):
            first: list[Any] = [Downsample(net, self.widths[stage - 1], width)] if stage else []
            self.stages.append([*first, *(ConvNextBlock(net, width, second) for _ in range(depth))])
        self.norms = [AfterStem(net, width) for width in self.widths]

    def __call__(self, x: Tensor) -> list[Tensor]:
        for layer in self.stem:
            x = layer(x)
        maps = []
        for stage, norm in zip(self.stages, self.norms, strict=True):
            for block in stage:
                x = block(x)
            maps.append(norm(x))
        return maps
