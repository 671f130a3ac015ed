"""SwiftFormer on the tape: convolutions, and attention whose queries are summed to one."""

from __future__ import annotations

from functools import partial
from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import Conv, bare_conv
from rigplanner.networks.families.vision.hierarchical import drop_path
from rigplanner.networks.families.vision.swinv2 import normalized
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, checkpointed
from rigplanner.networks.tracer.tape import Tensor


class ConvPart:
    """A depthwise convolution with batch norm, two of one pixel, scaled; and the residual."""

    def __init__(self, net: Net, width: int, inner: int, share: float) -> None:
        self.net, self.share = net, share
        self.deep = Conv(net, width, width, 3, groups=width, bias=True, act="")
        self.up = Conv(net, width, inner, 1, bias=True, norm=False, act="gelu")
        self.down = bare_conv(net, inner, width, 1)
        self.scale = net.parameter(width, 1, 1)

    def __call__(self, x: Tensor) -> Tensor:
        tape, given = self.net.tape, x
        x = self.deep(x)
        x = self.up(x)
        x = self.down(x)
        scaled = ops.mul(tape, self.scale, x)
        return ops.add(
            tape, given, ops.dropout(tape, scaled, self.share, self.net.setting.training)
        )


class AdditiveAttention:
    """Queries weighted and summed over all positions, times keys (Shaker et al. 2023, arXiv
    2303.15446)."""

    def __init__(self, net: Net, width: int) -> None:
        self.net = net
        self.query, self.key = (
            net.linear("to_query", width, width, True),
            net.linear("to_key", width, width, True),
        )
        self.weight = Linear(net, net.parameter(1, width), None)
        self.proj, self.final = (
            net.linear("proj", width, width, True),
            net.linear("final", width, width, True),
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        query, key = (
            layer(ops.copy(tape, ops.cast_low(tape, x))) for layer in (self.query, self.key)
        )
        query = normalized(tape, query)
        key = normalized(tape, key)
        scores = self.weight(query)
        scaled = ops.keeping_result(tape, ops.sub_self(tape, scores))
        weighted = ops.mul(tape, scaled, query)
        summed = ops.reduce_to(tape, weighted, (x.shape[0], 1, x.shape[2]), spreads=False)
        del weighted
        everywhere = ops.resized(tape, summed, x.shape)
        y = ops.add(tape, self.proj(ops.mul(tape, everywhere, key)), query)
        return self.final(y)


class SwiftBlock:
    """The block at the end of a stage: local representation, additive attention, feed-forward layer
    of convolutions."""

    def __init__(self, net: Net, config: dict[str, Any], width: int, rate: float) -> None:
        self.net, self.rate, inner = net, rate, int(width * config["mlp_ratio"])
        self.share, self.act = config["drop_mlp_rate"], ACTS.get(config["hidden_act"], "gelu")
        self.local, self.attention = ConvPart(net, width, width, 0.0), AdditiveAttention(net, width)
        self.sides = net.parameter(width), net.parameter(width)
        net.buffer(2, width)
        self.up = bare_conv(net, width, inner, 1)
        self.down = bare_conv(net, inner, width, 1)
        self.scales = (
            (net.parameter(width, 1, 1), net.parameter(width, 1, 1))
            if config["use_layer_scale"]
            else None
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape, (batch, width, side, _) = self.net.tape, x.shape
        x = self.local(x)
        attended = self.attention(x.view(batch, side * side, width)).view(*x.shape)
        x = ops.add(tape, x, drop_path(self.net, self._scaled(attended, 0), self.rate))
        return ops.add(tape, x, drop_path(self.net, self._scaled(self._feed(x), 1), self.rate))

    def _scaled(self, x: Tensor, at: int) -> Tensor:
        return x if self.scales is None else ops.mul(self.net.tape, self.scales[at], x)

    def _feed(self, x: Tensor) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        x = ops.batch_norm(tape, x, *self.sides, trains)
        x = self.up(x)
        x = activate(tape, x, self.act)
        x = self.down(ops.dropout(tape, x, self.share, trains))
        return ops.dropout(tape, x, self.share, trains)


class SwiftFormer:
    """SwiftFormer with its two classifiers, whose mean is taken."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, widths, depths = net, config["embed_dims"], config["depths"]
        self.stem = [
            Conv(net, 3, widths[0] // 2, 3, stride=2, bias=True),
            Conv(net, widths[0] // 2, widths[0], 3, stride=2, bias=True),
        ]
        self.stages: list[list[Any]] = []
        made = 0
        for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
            rate = config["drop_path_rate"] * (made + depth - 1) / max(1, sum(depths) - 1)
            blocks: list[Any] = [
                ConvPart(
                    net, width, int(config["mlp_ratio"] * width), config["drop_conv_encoder_rate"]
                )
                for _ in range(depth - 1)
            ]
            self.stages.append([*blocks, SwiftBlock(net, config, width, rate)])
            made += depth
            if stage + 1 < len(depths) and (
                config["downsamples"][stage] or width != widths[stage + 1]
            ):
                self.stages.append(
                    [
                        Conv(
                            net,
                            width,
                            widths[stage + 1],
                            config["down_patch_size"],
                            stride=config["down_stride"],
                            padding=config["down_pad"],
                            bias=True,
                            act="",
                        )
                    ]
                )
        self.sides = net.parameter(widths[-1]), net.parameter(widths[-1])
        net.buffer(2, widths[-1])
        self.heads = [
            net.linear(name, widths[-1], net.classes, True) for name in ("head", "dist_head")
        ]

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self.stem[0](image)
        x = embedded = self.stem[1](x)

        def run(y: Tensor, blocks: list[Any]) -> Tensor:
            for block in blocks:
                y = block(y)
            return y

        for blocks in self.stages:
            stage = partial(run, blocks=blocks)
            x = stage(x) if isinstance(blocks[0], Conv) else checkpointed(net, stage, x)
        x = ops.batch_norm(tape, x, *self.sides, net.setting.training)
        pooled = ops.reduce_to(tape, x, x.shape[:2])
        scores = ops.sub_self(tape, ops.add(tape, self.heads[0](pooled), self.heads[1](pooled)))
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores
