"""CvT on the tape: attention whose queries, keys and values come from convolutions."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import Conv, bare_conv
from rigplanner.networks.families.vision.vision import dropped_path
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import F32, Tensor


class CvtLayer:
    """Convolutions, projections, attention, feed-forward layer; with `token` one row stands for the
    class."""

    def __init__(
        self, net: Net, config: dict[str, Any], stage: int, rate: float, token: bool
    ) -> None:
        width, self.heads, kernel = (
            config["embed_dim"][stage],
            config["num_heads"][stage],
            config["kernel_qkv"][stage],
        )
        self.net, self.rate, self.token, self.share = net, rate, token, config["drop_rate"][stage]
        self.attention_share = config["attention_drop_rate"][stage]
        sides = [
            ("q", config["stride_q"][stage]),
            ("kv", config["stride_kv"][stage]),
            ("kv", config["stride_kv"][stage]),
        ]
        self.filters = [
            Conv(
                net,
                width,
                width,
                kernel,
                stride=stride,
                groups=width,
                act="",
                padding=config[f"padding_{side}"][stage],
            )
            for side, stride in sides
        ]
        bias, inner = config["qkv_bias"][stage], int(width * config["mlp_ratio"][stage])
        names = ("projection_query", "projection_key", "projection_value")
        self.projections = [net.linear(name, width, width, bias) for name in names]
        self.out = net.linear("dense", width, width, True)
        self.up, self.down = (
            net.linear("dense", width, inner, True),
            net.linear("dense", inner, width, True),
        )
        self.norms = Norm(net, "layer", width), Norm(net, "layer", width)

    def __call__(self, x: Tensor, side: int) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        attended = ops.dropout(
            tape, self.out(self._attend(self.norms[0](x), side)), self.share, trains
        )
        x = ops.add(tape, dropped_path(tape, attended, self.rate, trains), x)
        fed = self.down(ops.keeping_input(tape, self.up(self.norms[1](x))))
        fed = ops.add(tape, ops.dropout(tape, fed, self.share, trains), x)
        return dropped_path(tape, fed, self.rate, trains)

    def _attend(self, x: Tensor, side: int) -> Tensor:
        tape, (batch, rows, width) = self.net.tape, x.shape
        first, rest = ops.split_rows(tape, x, (1, rows - 1)) if self.token else (None, x)
        grid = Tensor((batch, width, side, side), rest.dtype, rest.storage, rest.node)
        key, query, value = (self.filters[at](grid) for at in (1, 0, 2))
        rows_of = [
            Tensor((batch, y.shape[2] * y.shape[3], width), y.dtype, y.storage, y.node)
            for y in (query, key, value)
        ]
        del grid, query, key, value
        if first is not None:
            rows_of = [ops.cat(tape, (first, rows_of.pop(0)), 1) for _ in range(3)]
        heads = self._projected(rows_of)
        shape = (*heads[0].shape[:3], heads[1].shape[2])
        scores = ops.sub_self(tape, self._scores(heads[0], heads[1], shape))
        raised = F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, scores, raised))
        weights = ops.dropout(tape, weights, self.attention_share, self.net.setting.training)
        result = ops.unpacked(
            tape, ops.bmm(tape, weights, ops.packed(tape, heads[2]), heads[0].shape)
        )
        return result.view(batch, rows, width)

    def _scores(self, query: Tensor, key: Tensor, shape: tuple[int, ...]) -> Tensor:
        return ops.bmm(
            self.net.tape, ops.packed(self.net.tape, query), ops.packed(self.net.tape, key), shape
        )

    def _projected(self, rows_of: list[Tensor]) -> list[Tensor]:
        made = []
        for layer in self.projections:
            y = layer(rows_of.pop(0))
            made.append(y.view(y.shape[0], self.heads, y.shape[1], y.shape[2] // self.heads))
        return made


class Cvt:
    """CvT (Wu et al. 2021) as transformers writes it."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.stages, inputs = net, [], 3
        for stage, width in enumerate(config["embed_dim"]):
            token = (
                net.parameter(1, 1, config["embed_dim"][-1]) if config["cls_token"][stage] else None
            )
            kernel, stride, padding = (
                config[f"patch_{word}"][stage] for word in ("sizes", "stride", "padding")
            )
            stem = bare_conv(net, inputs, width, kernel, stride=stride, padding=padding)
            depth, top = config["depth"][stage], config["drop_path_rate"][stage]
            layers = [
                CvtLayer(net, config, stage, top * at / max(1, depth - 1), token is not None)
                for at in range(depth)
            ]
            self.stages.append((stem, Norm(net, "layer", width), token, layers))
            inputs = width
        self.norm = Norm(net, "layer", inputs)
        self.head = net.linear("classifier", inputs, net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = x = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        first: Tensor | None = None
        for stem, norm, token, layers in self.stages:
            x = stem(x)
            batch, width, side, _ = x.shape
            x = norm(x.view(batch, side * side, width))
            if token is not None:
                x = ops.cat(tape, (Tensor((batch, 1, width), token.dtype, token.storage), x), 1)
            for layer in layers:
                x = layer(x, side)
            if token is not None:
                first, x = ops.split_rows(tape, x, (1, side * side))
            x = Tensor((batch, width, side, side), x.dtype, x.storage, x.node)
        x = self.norm(first if first is not None else x.view(x.shape[0], side * side, x.shape[1]))
        scores = self.head(ops.reduce_to(tape, x, (x.shape[0], x.shape[2])))
        del image
        return class_loss(net, scores) if net.setting.training else scores
