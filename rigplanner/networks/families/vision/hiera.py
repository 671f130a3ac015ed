"""Hiera on the tape: patches in the order of their windows, so that attending within windows and
pooling queries are reshapes."""

from __future__ import annotations

from math import prod
from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.families.vision.hierarchical import drop_path, drop_rates
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.products import dense, largest, matmul
from rigplanner.networks.tracer.strided import Array, array
from rigplanner.networks.tracer.tape import Tensor


class HieraLayer:
    """Attention within windows of tokens or to all, whose queries may be pooled, and a feed-forward
    layer."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        width: int,
        wide: int,
        heads: int,
        stride: int,
        window: int,
        rate: float,
    ) -> None:
        self.net, self.heads, self.stride, self.window, self.rate, self.wide = (
            net,
            heads,
            stride,
            window,
            rate,
            wide,
        )
        self.first_norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", wide)
        self.joint, self.out = (
            net.linear("qkv", width, 3 * wide, True),
            net.linear("proj", wide, wide, True),
        )
        inner = int(wide * config["mlp_ratio"])
        self.up, self.down = (
            net.linear("fc1", wide, inner, True),
            net.linear("fc2", inner, wide, True),
        )
        self.act = ACTS.get(config["hidden_act"], "gelu")
        self.widen = net.linear("proj", width, wide, True) if width != wide else None

    def __call__(self, x: Array) -> Array:
        tape = self.net.tape
        normed = array(tape, self.first_norm(x))
        if self.widen is not None:
            x = largest(
                dense(self.widen, normed).reshape(x.shape[0], self.stride, -1, self.wide), 1
            )
        normed = self._attended(normed)
        x = x + array(tape, drop_path(self.net, normed, self.rate))
        residual = x
        inner = activate(tape, self.up(self.last_norm(x)), self.act)
        return residual + array(tape, drop_path(self.net, self.down(inner), self.rate))

    def _attended(self, x: Array) -> Array:
        tape, heads, (batch, length, _) = self.net.tape, self.heads, x.shape
        tokens = self.stride * self.window if self.window else length
        count, width = length // tokens, self.wide // heads
        joint = (
            dense(self.joint, x)
            .reshape(batch, tokens, count, 3, heads, width)
            .permute(3, 0, 4, 2, 1, 5)
        )
        query, key, value = (side.reshape(*side.shape[1:]) for side in joint.split(1, 1, 1, axis=0))
        if self.stride > 1:
            query = largest(
                query.reshape(batch, heads, count, self.stride, tokens // self.stride, width), 3
            )
        weights = matmul(-query, key.transpose(-1, -2))
        weights = (
            weights.float() if tape.autocast and tape.semantics.float_norms else weights
        ).softmax()
        result = matmul(weights, value)
        return dense(self.out, result.transpose(1, 3).reshape(batch, -1, self.wide))


class Hiera:
    """Hiera (Ryali et al. 2023)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, width = net, config, config["embed_dim"]
        stride, area, pooled = (
            config["patch_stride"][0],
            prod(config["masked_unit_size"]),
            prod(config["query_stride"]),
        )
        self.stem = bare_conv(
            net,
            3,
            width,
            config["patch_size"][0],
            stride=stride,
            padding=config["patch_padding"][0],
        )
        size = config["image_size"]
        trained = size if isinstance(size, int) else size[0]
        self.side = trained // stride
        self.positions, rates = net.parameter(1, self.side**2, width), iter(drop_rates(config))
        self.stages: list[list[HieraLayer]] = []
        for stage, depth in enumerate(config["depths"]):
            wide, layers = int(config["embed_dim"] * config["embed_dim_multiplier"] ** stage), []
            for at in range(depth):
                near = config["masked_unit_attention"][stage] or (
                    at == 0 and config["masked_unit_attention"][max(stage - 1, 0)]
                )
                pools = at == 0 and 0 < stage <= config["num_query_pool"]
                layers.append(
                    HieraLayer(
                        net,
                        config,
                        width,
                        wide,
                        config["num_heads"][stage],
                        pooled if pools else 1,
                        area // pooled**stage if near else 0,
                        next(rates),
                    )
                )
                width = wide
            self.stages.append(layers)
        self.norm, self.head = (
            Norm(net, "layer", width),
            net.linear("classifier", width, net.classes, True),
        )

    def _unrolled(self, x: Array) -> Array:
        """Tokens of a window brought side by side, stage by stage."""
        tokens, width, (high, wide) = x.shape[1], x.shape[2], self.config["query_stride"]
        side = self.side
        x = x.reshape(x.shape[0], side, side, width)
        for _ in self.config["depths"][:-1]:
            side //= high
            x = x.reshape(x.shape[0], side, high, side, wide, width).permute(0, 2, 4, 1, 3, 5)
            x = x.reshape(x.shape[0] * high * wide, side, side, width)
        return x.reshape(-1, tokens, width)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        mapped = array(tape, self.stem(image))
        embedded = mapped.reshape(*mapped.shape[:2], -1).transpose(1, 2) + self.positions
        del mapped
        x: Tensor = self._unrolled(embedded)
        unrolled = x
        for stage in self.stages:
            x = checkpointed(net, lambda y, stage=stage: _through(stage, array(tape, y)), x)
        pooled = self.norm(ops.reduce_to(tape, x, (x.shape[0], x.shape[2])))
        scores = self.head(pooled)
        del image, embedded, unrolled
        return class_loss(net, scores) if net.setting.training else scores


def _through(layers: list[HieraLayer], x: Array) -> Array:
    for layer in layers:
        x = layer(x)
    return x
