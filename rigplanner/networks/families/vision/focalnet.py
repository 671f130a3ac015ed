"""FocalNet on the tape: a map gathered at several ranges modulates each position in place of
attention."""

from __future__ import annotations

from functools import partial
from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import Conv, bare_conv
from rigplanner.networks.families.vision.hierarchical import drop_path, drop_rates
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import Tensor

RANGE_STEP = 2
"""By how much the kernel widens from one range to the next (Yang et al. 2022, arXiv 2203.11926)."""


class Modulation:
    """A joint projection into query, context and gates; depthwise convolutions one after the other;
    the gated sum of them."""

    def __init__(self, net: Net, config: dict[str, Any], stage: int, width: int) -> None:
        self.net, self.levels, window = (
            net,
            config["focal_levels"][stage],
            config["focal_windows"][stage],
        )
        self.divides, self.share = (
            bool(config["normalize_modulator"]),
            config["hidden_dropout_prob"],
        )
        self.into = net.linear("projection_in", width, 2 * width + self.levels + 1, True)
        self.context = bare_conv(net, width, width, 1)
        self.out = net.linear("projection_out", width, width, True)
        self.ranges = [
            Conv(net, width, width, window + RANGE_STEP * at, groups=width, norm=False, act="gelu")
            for at in range(self.levels)
        ]
        self.norm = (
            Norm(net, "layer", width) if config["use_post_layernorm_in_modulation"] else None
        )

    def __call__(self, x: Tensor, side: int) -> Tensor:
        tape, (batch, rows, width) = self.net.tape, x.shape
        whole = ops.copy(tape, self.into(x)).view(batch, 2 * width + self.levels + 1, side, side)
        query, context, gates = ops.split_channels(tape, whole, (width, width, self.levels + 1))
        gate = (batch, 1, side, side)
        gathered: Tensor | None = None
        for layer in self.ranges:
            context = layer(context)
            gated = ops.mul(tape, context, ops.cut(tape, gates, gate))
            gathered = (
                ops.shift(tape, gated) if gathered is None else ops.add(tape, gathered, gated)
            )
            del gated
        rows_mean = ops.reduce_to(tape, context, (batch, width, 1, side))
        everywhere = ops.keeping_input(tape, ops.reduce_to(tape, rows_mean, (batch, width, 1, 1)))
        gated = ops.mul(tape, everywhere, ops.cut(tape, gates, gate))
        gathered = gated if gathered is None else ops.add(tape, gathered, gated)
        del gated, rows_mean
        gathered = ops.sub_self(tape, gathered) if self.divides else gathered
        modulator = self.context(gathered)
        y = ops.mul(tape, query, modulator)
        y = ops.copy(tape, y).view(batch, rows, width)
        y = y if self.norm is None else self.norm(y)
        return ops.dropout(tape, self.out(y), self.share, self.net.setting.training)


class FocalBlock:
    """Modulation and feed-forward layer, each with a norm and a residual."""

    def __init__(
        self, net: Net, config: dict[str, Any], stage: int, width: int, rate: float
    ) -> None:
        self.net, self.rate, self.late = net, rate, bool(config["use_post_layernorm"])
        inner, self.act = int(width * config["mlp_ratio"]), ACTS.get(config["hidden_act"], "gelu")
        self.share = config["hidden_dropout_prob"]
        self.first_norm, self.modulation = (
            Norm(net, "layer", width),
            Modulation(net, config, stage, width),
        )
        self.last_norm = Norm(net, "layer", width)
        self.up, self.down = (
            net.linear("fc1", width, inner, True),
            net.linear("fc2", inner, width, True),
        )
        self.scales = (
            (net.parameter(width), net.parameter(width)) if config["use_layerscale"] else None
        )

    def __call__(self, x: Tensor, side: int) -> Tensor:
        tape, shortcut = self.net.tape, x
        x = self.modulation(x if self.late else self.first_norm(x), side)
        x = self.first_norm(x) if self.late else x
        x = ops.add(tape, shortcut, drop_path(self.net, self._scaled(x, 0), self.rate))
        fed = self.last_norm(self._feed(x)) if self.late else self._feed(self.last_norm(x))
        return ops.add(tape, x, drop_path(self.net, self._scaled(fed, 1), self.rate))

    def _scaled(self, x: Tensor, at: int) -> Tensor:
        return (
            ops.sub_self(self.net.tape, x)
            if self.scales is None
            else ops.mul(self.net.tape, self.scales[at], x)
        )

    def _feed(self, x: Tensor) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        y = self.up(x)
        y = activate(tape, y, self.act)
        y = self.down(ops.dropout(tape, y, self.share, trains))
        return ops.dropout(tape, y, self.share, trains)


class Patches:
    """A strided convolution; its result as rows, normalised where asked."""

    def __init__(
        self, net: Net, inputs: int, outputs: int, kernel: int, stride: int, padding: int
    ) -> None:
        self.conv = bare_conv(net, inputs, outputs, kernel, stride=stride, padding=padding)
        self.norm = Norm(net, "layer", outputs)

    def __call__(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return self.norm(x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1]))


class FocalNet:
    """FocalNet with a classifier (Yang et al. 2022) as transformers writes it."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, width, depths = net, config["embed_dim"], config["depths"]
        patch, smooth = config["patch_size"], bool(config["use_conv_embed"])
        self.share = config["hidden_dropout_prob"]
        self.stem = Patches(net, 3, width, *((7, 4, 2) if smooth else (patch, patch, 0)))
        rates = iter(drop_rates(config))
        self.stages = []
        for stage, depth in enumerate(depths):
            blocks = [FocalBlock(net, config, stage, width, next(rates)) for _ in range(depth)]
            last = stage + 1 == len(depths)
            self.stages.append(
                (
                    blocks,
                    None
                    if last
                    else Patches(net, width, 2 * width, *((3, 2, 1) if smooth else (2, 2, 0))),
                )
            )
            width = width if last else 2 * width
        self.norm, self.head = (
            Norm(net, "layer", width),
            net.linear("classifier", width, net.classes, True),
        )

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = embedded = ops.dropout(tape, self.stem(image), self.share, net.setting.training)
        before: list[Tensor] = []
        first = True

        def run(y: Tensor, blocks: list[FocalBlock], down: Patches | None) -> Tensor:
            high = int(y.shape[1] ** 0.5)
            for block in blocks:
                y = block(y, high)
            if first:
                before.append(y)
            return y if down is None else down(y.view(y.shape[0], y.shape[2], high, high))

        for blocks, down in self.stages:
            x = checkpointed(net, partial(run, blocks=blocks, down=down), x)
            del before[:-1]
        first = False
        before.clear()
        x = self.norm(x)
        scores = self.head(ops.reduce_to(tape, x, (x.shape[0], x.shape[2])))
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores
