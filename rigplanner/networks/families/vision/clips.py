"""Classifiers of clips that see every frame by itself, on the tape: TSN, TSM and SlowOnly on
residual networks, as MMAction2 trains them."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.pyramid import ResidualBackbone, picture_sides
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Tensor

CLASSES, DROPPED = 400, 0.5
"""Labels of Kinetics-400, and the share that the head drops."""


class Shifted:
    """TSM (Lin et al. 2019, arXiv 1811.08383): some channels of the neighbouring frames before a
    block's first convolution, a new tensor."""

    def __init__(self, net: Net, layer: Any) -> None:
        self.net, self.layer = net, layer

    def __call__(self, x: Tensor) -> Tensor:
        made: Tensor = self.layer(ops.sub_self(self.net.tape, x))
        return made


class ClipClassifier:
    """TSN (Wang et al. 2016, arXiv 1608.00859): a residual network over all frames of all clips,
    the mean of what it finds in a clip; `shifts` as TSM does. SlowOnly (Feichtenhofer et al. 2019,
    arXiv 1812.03982) is one whose last stages are inflated."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.backbone = (
            net,
            ResidualBackbone(net, full_config(config["backbone"]), "trained"),
        )
        if config.get("shifts"):
            for stage in self.backbone.stages:
                for block in stage:
                    first: Any = Shifted(net, block.layers[0])
                    block.layers[0] = first
        self.names = net.linear(
            "fc_cls", self.backbone.widths[-1], config.get("num_labels") or CLASSES, True
        )

    def loss(self) -> Tensor:
        """Cross-entropy of each clip; without training, its scores."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        dtype = F32 if setting.training else setting.dtype
        x = self.backbone(
            net.given(setting.batch * setting.frames, 3, *picture_sides(net, 1), dtype=dtype)
        )[-1]
        x = ops.reduce_to(tape, x, (setting.batch * setting.frames, x.shape[1]))
        each = ops.dropout(
            tape, ops.reduce_to(tape, x, (setting.batch, x.shape[1])), DROPPED, setting.training
        )
        scores = self.names(each)
        return class_loss(net, scores) if setting.training else scores
