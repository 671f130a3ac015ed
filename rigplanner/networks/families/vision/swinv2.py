"""Swin Transformer v2 on the tape: cosine attention within windows, bias of positions by a small
network, norms after."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.families.vision.hierarchical import drop_path, drop_rates, roll
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, Grads, Tape, Tensor, like, new, record

BIAS_UNITS = 512
"""Width of the network that gives the bias of a pair of positions (Liu et al. 2022, arXiv
2111.09883)."""


def normalized(tape: Tape, x: Tensor) -> Tensor:
    """F.normalize: keeps its input and the length of each row; autocast takes the length in float,
    so the result is float."""
    source, dtype = x, F32 if tape.autocast and tape.semantics.float_norms else x.dtype
    wide = ops.cast(tape, x, dtype)
    rows = [new(tape, (*x.shape[:-1], 1), dtype), new(tape, (*x.shape[:-1], 1), dtype)]
    kept = [source, wide]

    def pull(grad: Tensor) -> Grads:
        made = like(tape, grad)
        through = like(tape, kept[0], dtype)
        del through
        kept.clear()
        rows.clear()
        return (made,)

    del wide
    return record(tape, new(tape, x.shape, dtype), (source,), pull)


class Swin2Block:
    """Attention within windows, shifted in every other block, norm, residual; feed-forward layer,
    norm, residual."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        width: int,
        heads: int,
        side: int,
        shifted: bool,
        rate: float,
    ) -> None:
        self.net, self.heads, self.side, self.rate = net, heads, side, rate
        self.window = min(config["window_size"], side)
        self.shifted = shifted and side > self.window
        bias = config.get("qkv_bias", True)
        self.scale = net.parameter(heads, 1, 1)
        self.wide, self.narrow = (
            net.linear("cpb_mlp_0", 2, BIAS_UNITS, True),
            net.linear("cpb_mlp_2", BIAS_UNITS, heads),
        )
        net.buffer((2 * self.window - 1) ** 2 * 2, dtype=net.setting.dtype)
        net.buffer(self.window**4, dtype="i64")
        self.query, self.key = (
            net.linear("query", width, width, bias),
            net.linear("key", width, width),
        )
        self.value, self.out = (
            net.linear("value", width, width, bias),
            net.linear("dense", width, width, True),
        )
        self.first_norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", width)
        inner = int(config["mlp_ratio"] * width)
        self.up, self.down = (
            net.linear("dense", width, inner, True),
            net.linear("dense", inner, width, True),
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape, net = self.net.tape, self.net
        attended, _held = self._windows(x)
        x = ops.add(tape, x, drop_path(net, self.first_norm(attended), self.rate))
        fed = self.down(ops.keeping_input(tape, self.up(x)))
        return ops.add(tape, x, drop_path(net, self.last_norm(fed), self.rate))

    def _windows(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The attended map, and what the block's variables hold to its end."""
        tape, shape = self.net.tape, x.shape
        high = -(-self.side // self.window) * self.window
        padded = record(
            tape,
            new(tape, (shape[0], high * high, shape[2]), x.dtype),
            (x,),
            lambda grad: (new(tape, shape, grad.dtype),),
        )
        rolled = roll(tape, padded) if self.shifted else padded
        windows = ops.copy(tape, rolled)
        area, width = self.window**2, shape[2]
        count = windows.size // (area * width)
        windows = windows.view(count, area, width)
        result = self.out(self._attend(windows, count, area, width))
        joined = ops.copy(tape, result)
        whole = roll(tape, joined) if self.shifted else joined
        held = [rolled, windows, result, joined]
        whole = whole.view(shape[0], high * high, width)
        return whole if high == self.side else ops.copy(tape, ops.cut(tape, whole, shape)), held

    def _attend(self, windows: Tensor, count: int, area: int, width: int) -> Tensor:
        tape, heads = self.net.tape, (count, self.heads, area, width // self.heads)
        mask = new(tape, (count, 1, area, area), windows.dtype) if self.shifted else None
        query, key, value = (
            layer(windows).view(*heads) for layer in (self.query, self.key, self.value)
        )
        first, second = normalized(tape, query), normalized(tape, key)
        scores = ops.bmm(
            tape, ops.packed(tape, first), ops.packed(tape, second), (count, self.heads, area, area)
        )
        del first, second
        scores = ops.mul(tape, scores, ops.keeping_result(tape, ops.shift(tape, self.scale)))
        scores = ops.add(tape, scores, self._bias(area))
        if mask is not None:
            scores = ops.add(tape, ops.add(tape, scores, mask), mask)
        weights = ops.keeping_result(tape, scores)
        del scores, mask
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), heads))
        return result.view(count, area, width)

    def _bias(self, area: int) -> Tensor:
        tape = self.net.tape
        table = new(tape, ((2 * self.window - 1) ** 2, 2), self.net.setting.dtype)
        made = self.narrow(ops.keeping_result(tape, self.wide(table)))
        source, dtype = made.shape, made.dtype
        picked = record(
            tape,
            new(tape, (area, area, self.heads), dtype),
            (made,),
            lambda grad: (new(tape, source, dtype),),
        )
        bias = ops.keeping_result(tape, ops.copy(tape, picked))
        return ops.sub_self(tape, bias).view(1, self.heads, area, area)


class Swin2Stage:
    """Blocks of one resolution and the merge after them: four neighbours joined, reduced to twice
    the width, normalised."""

    def __init__(self, net: Net, blocks: list[Swin2Block], width: int, merges: bool) -> None:
        self.net, self.blocks = net, blocks
        self.reduction = net.linear("reduction", 4 * width, 2 * width) if merges else None
        self.norm = Norm(net, "layer", 2 * width) if merges else None

    def __call__(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        if self.reduction is None or self.norm is None:
            return x
        quarter = (x.shape[0], x.shape[1] // 4, x.shape[2])
        return self.norm(
            self.reduction(
                ops.cat(self.net.tape, [ops.cut(self.net.tape, x, quarter) for _ in range(4)])
            )
        )


class Swin2:
    """Swin Transformer v2 (Liu et al. 2022)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, width, side = net, config["embed_dim"], net.setting.length // config["patch_size"]
        self.stem = bare_conv(
            net, 3, width, config["patch_size"], stride=config["patch_size"], padding=0
        )
        self.stem_norm = Norm(net, "layer", width)
        rates, self.stages = iter(drop_rates(config)), []
        for stage, depth in enumerate(config["depths"]):
            merges = stage + 1 < len(config["depths"])
            heads = config["num_heads"][stage]
            blocks = [
                Swin2Block(net, config, width, heads, side, at % 2 == 1, next(rates))
                for at in range(depth)
            ]
            self.stages.append(Swin2Stage(net, blocks, width, merges))
            if merges:
                width, side = 2 * width, side // 2
        self.norm, self.head = (
            Norm(net, "layer", width),
            net.linear("classifier", width, net.classes, True),
        )

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self.stem(image)
        x = embedded = self.stem_norm(x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1]))
        for stage in self.stages:
            x = checkpointed(net, stage, x)
        x = self.norm(x)
        scores = self.head(ops.reduce_to(tape, x, (x.shape[0], x.shape[2])))
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores
