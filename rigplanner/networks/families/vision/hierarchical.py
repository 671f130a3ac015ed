"""Vision transformers whose resolution falls by stages, on the tape: Swin and SegFormer."""

from __future__ import annotations

from functools import partial
from typing import Any

from rigplanner.networks.families.decoders.attention import attend, softmax_wide
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import Tape, Tensor, new, record


def roll(tape: Tape, x: Tensor) -> Tensor:
    """torch.roll: a copy, and one more for its gradient."""
    return ops.sub_self(tape, x)


def drop_path(net: Net, x: Tensor, share: float) -> Tensor:
    """Stochastic depth: the result divided, then multiplied by one value per sample."""
    if not share or not net.setting.training:
        return x
    return ops.sub_self(net.tape, ops.sub_self(net.tape, x))


def drop_rates(config: dict[str, Any]) -> list[float]:
    """The rate of every layer, rising in a straight line."""
    total = sum(config["depths"])
    return [config.get("drop_path_rate", 0.0) * at / max(1, total - 1) for at in range(total)]


def eager(
    tape: Tape, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, wide: bool = True
) -> tuple[Tensor, Tensor]:
    """Eager attention with a float softmax, or (`wide` False) one of the scores' own type; operands
    are transposed views."""
    shape = (*query.shape[:-1], key.shape[-2])
    weights = ops.sub_self(
        tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), shape)
    )
    if bias is not None:
        weights = ops.add(tape, weights, bias)
    wide = wide or bool(tape.autocast and tape.semantics.float_norms)
    weights = (
        ops.cast(tape, softmax_wide(tape, weights), query.dtype)
        if wide
        else ops.keeping_result(tape, weights)
    )
    return ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape)), weights


class SwinBlock:
    """Attention within windows, shifted in every other block, then the feed-forward layer."""

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
        self.window, self.plain = (
            min(config["window_size"], side),
            config["model_type"] == "donut-swin",
        )
        self.shifted = shifted and side > config["window_size"]
        self.query, self.key, self.value = (
            net.linear(name, width, width, config.get("qkv_bias", True))
            for name in ("q_proj", "k_proj", "v_proj")
        )
        self.out = net.linear("o_proj", width, width, True)
        self.table = net.parameter((2 * config["window_size"] - 1) ** 2, heads)
        net.buffer(config["window_size"] ** 4, dtype="i64")
        self.first_norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", width)
        inner = int(config["mlp_ratio"] * width)
        self.up, self.down = (
            net.linear("fc1", width, inner, True),
            net.linear("fc2", inner, width, True),
        )

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """The map, and the attention weights."""
        tape, shortcut = self.net.tape, x
        attended, weights, padded, _held = self._windows(self.first_norm(x))
        x = ops.add(tape, shortcut, drop_path(self.net, attended, self.rate))
        del padded
        residual = x
        x = self.last_norm(x)
        x = self.down(ops.keeping_input(tape, self.up(x)))
        return ops.add(tape, x, residual), weights

    def _windows(self, x: Tensor) -> tuple[Tensor, Tensor | None, Tensor, list[Tensor | None]]:
        """The attended map, its weights, the padded map, and what the layer's variables hold to its
        end."""
        tape, shape = self.net.tape, x.shape
        high = -(-self.side // self.window) * self.window
        x = record(
            tape,
            new(tape, (shape[0], high * high, shape[2]), x.dtype),
            (x,),
            lambda grad: (new(tape, shape, grad.dtype),),
        )
        windows = ops.copy(tape, roll(tape, x) if self.shifted else x)
        area, width = self.window**2, shape[2]
        count = windows.size // (area * width)
        mask = new(tape, (count // shape[0], area, area), x.dtype) if self.shifted else None
        result, weights = self._attended(windows.view(count, area, width), mask)
        whole = roll(tape, ops.copy(tape, result)) if self.shifted else ops.copy(tape, result)
        if high != self.side:
            whole = ops.copy(tape, ops.cut(tape, whole, shape))
        return whole.view(*shape), weights, x, [windows, mask, result, whole]

    def _attended(self, windows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, (count, area, width) = self.net.tape, windows.shape
        heads = (count, self.heads, area, width // self.heads)
        query, key, value = (
            layer(windows).view(*heads) for layer in (self.query, self.key, self.value)
        )
        bias = ops.copy(tape, ops.embedding(tape, self.table, (area, area))).view(
            1, self.heads, area, area
        )
        if mask is not None:
            spread = (
                mask if mask.shape[0] == count else new(tape, (count, area, area), windows.dtype)
            )
            bias = ops.add(tape, bias, Tensor((count, 1, area, area), spread.dtype, spread.storage))
        if not self.net.setting.eager:
            return self.out(
                attend(self.net, query, key, value, bias, 0.0).view(count, area, width)
            ), None
        result, weights = eager(tape, query, key, value, bias, not self.plain)
        return self.out(result.view(count, area, width)), weights


class SwinMerge:
    """Four neighbours joined, normalised, reduced to twice the width."""

    def __init__(self, net: Net, width: int) -> None:
        self.net = net
        self.reduction, self.norm = (
            net.linear("reduction", 4 * width, 2 * width),
            Norm(net, "layer", 4 * width),
        )

    def __call__(self, x: Tensor) -> Tensor:
        quarter = (x.shape[0], x.shape[1] // 4, x.shape[2])
        parts = [ops.cut(self.net.tape, x, quarter) for _ in range(4)]
        return self.reduction(self.norm(ops.cat(self.net.tape, parts)))


class Swin:
    """Swin Transformer (Liu et al. 2021); Donut's has no norm at the end."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, width, side = net, config["embed_dim"], net.setting.length // config["patch_size"]
        self.stem = bare_conv(
            net, 3, width, config["patch_size"], stride=config["patch_size"], padding=0
        )
        self.stem_norm = Norm(net, "layer", width)
        rates = iter(drop_rates(config))
        self.blocks: list[SwinBlock | SwinMerge] = []
        for stage, depth in enumerate(config["depths"]):
            for at in range(depth):
                self.blocks.append(
                    SwinBlock(
                        net,
                        config,
                        width,
                        config["num_heads"][stage],
                        side,
                        at % 2 == 1,
                        next(rates),
                    )
                )
            if stage + 1 < len(config["depths"]):
                self.blocks.append(SwinMerge(net, width))
                width, side = 2 * width, side // 2
        self.plain = config["model_type"] == "donut-swin"
        self.norm = Norm(net, "none" if self.plain else "layer", width)
        self.head = net.linear("classifier", width, net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self.stem(image)
        x = embedded = self.stem_norm(x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1]))
        x = self.run_stages(x)
        scores = self.head(ops.reduce_to(tape, x, (x.shape[0], x.shape[2])))
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores

    def run_stages(self, x: Tensor) -> Tensor:
        """What all stages make of the embedded patches, and the norm at the end."""
        x = (
            self._whole_stages(x)
            if self.plain and self.net.setting.checkpointing
            else self._stages(x)
        )
        return x if self.plain else self.norm(x)

    def _whole_stages(self, x: Tensor) -> Tensor:
        """The same where a stage is run again as a whole (Donut)."""

        def run(y: Tensor, blocks: list[SwinBlock | SwinMerge]) -> Tensor:
            for block in blocks:
                y = block(y)[0] if isinstance(block, SwinBlock) else block(y)
            return y

        stage: list[SwinBlock | SwinMerge] = []
        for block in self.blocks:
            stage.append(block)
            if isinstance(block, SwinMerge) or block is self.blocks[-1]:
                x, stage = checkpointed(self.net, partial(run, blocks=stage), x), []
        return x

    def _stages(self, x: Tensor) -> Tensor:
        """Blocks and reductions; the input of a stage, and the weights of the block and of the
        stage before, live on meanwhile."""
        weights: list[Tensor | None] = []
        before: list[Tensor | None] = []
        entered, first = x, True

        def run(y: Tensor, block: SwinBlock) -> Tensor:
            y, made = block(y)
            if first:
                weights.append(made)
            return y

        for block in self.blocks:
            if isinstance(block, SwinBlock):
                x = checkpointed(self.net, partial(run, block=block), x)
                del weights[:-1]
            else:
                x = entered = block(x)
                before, weights = weights[-1:], []
        del entered, before
        first = False
        weights.clear()
        return x


class SegformerBlock:
    """Attention against a reduced sequence, then a feed-forward layer with a depthwise
    convolution."""

    def __init__(self, net: Net, config: dict[str, Any], stage: int, rate: float) -> None:
        self.net, self.rate = net, rate
        width, self.heads, ratio = (
            config["hidden_sizes"][stage],
            config["num_attention_heads"][stage],
            config["sr_ratios"][stage],
        )
        self.query, self.key, self.value, self.out = (
            net.linear(name, width, width, True)
            for name in ("q_proj", "k_proj", "v_proj", "o_proj")
        )
        self.reduce = (
            bare_conv(net, width, width, ratio, stride=ratio, padding=0) if ratio > 1 else None
        )
        self.reduce_norm = Norm(net, "layer", width) if ratio > 1 else None
        self.first_norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", width)
        inner = int(width * config["mlp_ratios"][stage])
        self.up, self.down = (
            net.linear("fc1", width, inner, True),
            net.linear("fc2", inner, width, True),
        )
        self.deep = bare_conv(net, inner, inner, 3, groups=inner)

    def __call__(self, x: Tensor) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.first_norm(x)
        x, _weights = self._attend(x)
        x = ops.add(tape, drop_path(self.net, x, self.rate), residual)
        residual = x
        x = self.last_norm(x)
        x = self._feed(x)
        return ops.add(tape, drop_path(self.net, x, self.rate), residual)

    def _attend(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        batch, length, width = x.shape
        query = self.query(x).view(batch, self.heads, length, width // self.heads)
        source = x
        if self.reduce is not None and self.reduce_norm is not None:
            side = int(length**0.5)
            made = self.reduce(x.view(batch, width, side, side))
            source = self.reduce_norm(made.view(batch, made.shape[2] * made.shape[3], width))
        short = (batch, self.heads, source.shape[1], width // self.heads)
        key, value = self.key(source).view(*short), self.value(source).view(*short)
        if not self.net.setting.eager:
            return self.out(
                attend(self.net, query, key, value, None, 0.0).view(batch, length, width)
            ), None
        result, weights = eager(self.net.tape, query, key, value, None)
        return self.out(result.view(batch, length, width)), weights

    def _feed(self, x: Tensor) -> Tensor:
        tape, side = self.net.tape, int(x.shape[1] ** 0.5)
        x = self.up(x)
        x = self.deep(x.view(x.shape[0], x.shape[2], side, side)).view(*x.shape)
        x = ops.keeping_input(tape, x)
        return self.down(x)


class Segformer:
    """SegFormer's encoder with a classifier (Xie et al. 2021)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, sizes = net, config, config["hidden_sizes"]
        rates, self.stages, at = drop_rates(config), [], 0
        for stage, depth in enumerate(config["depths"]):
            patch = bare_conv(
                net,
                3 if stage == 0 else sizes[stage - 1],
                sizes[stage],
                config["patch_sizes"][stage],
                stride=config["strides"][stage],
            )
            first, blocks = (
                Norm(net, "layer", sizes[stage]),
                [SegformerBlock(net, config, stage, rates[at + i]) for i in range(depth)],
            )
            self.stages.append((patch, first, blocks, Norm(net, "layer", sizes[stage])))
            at += depth
        self.head = net.linear("classifier", sizes[-1], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = image
        for patch, first, blocks, last in self.stages:
            x = patch(x)
            batch, width, high, wide = x.shape
            x = first(x.view(batch, high * wide, width))
            for block in blocks:
                x = checkpointed(net, block, x)
            x = ops.copy(tape, last(x)).view(batch, width, high, wide)
        scores = self.head(ops.reduce_to(tape, x, x.shape[:2]))
        del image
        return class_loss(net, scores) if net.setting.training else scores


class PvtBlock:
    """PVT's layer: attention against a reduced (or pooled) sequence, then a feed-forward layer,
    with a depthwise convolution if it is `deep` (version 2)."""

    def __init__(
        self, net: Net, config: dict[str, Any], stage: int, rate: float, deep: bool = True
    ) -> None:
        self.net, self.rate, width, bias = (
            net,
            rate,
            config["hidden_sizes"][stage],
            bool(config.get("qkv_bias", True)),
        )
        self.heads, ratio, inner = (
            config["num_attention_heads"][stage],
            config["sr_ratios"][stage],
            int(config["hidden_sizes"][stage] * config["mlp_ratios"][stage]),
        )
        self.query, self.key, self.value = (
            net.linear(name, width, width, bias) for name in ("query", "key", "value")
        )
        self.out = net.linear("proj", width, width, True)
        self.linear = bool(config.get("linear_attention"))
        kernel = 1 if self.linear else ratio
        reduces = ratio > 1 or self.linear
        self.reduce = (
            bare_conv(net, width, width, kernel, stride=kernel, padding=0) if reduces else None
        )
        self.reduce_norm = Norm(net, "layer", width) if reduces else None
        self.first_norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", width)
        self.up, self.down = (
            net.linear("dense1", width, inner, True),
            net.linear("dense2", inner, width, True),
        )
        self.deep = bare_conv(net, inner, inner, 3, groups=inner) if deep else None

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        attended = drop_path(self.net, self._attend(self.first_norm(x)), self.rate)
        x = ops.add(tape, attended, x)
        return ops.add(tape, x, drop_path(self.net, self._feed(self.last_norm(x)), self.rate))

    def _attend(self, x: Tensor) -> Tensor:
        tape, (batch, length, width) = self.net.tape, x.shape
        query, source = self.query(x).view(batch, self.heads, length, width // self.heads), x
        if self.reduce is not None and self.reduce_norm is not None:
            side = int(length**0.5)
            grid = x.view(batch, width, side, side)
            if self.linear:
                grid = ops.reduce_to(tape, grid, (batch, width, POOLED_SIDE, POOLED_SIDE))
            made = self.reduce(grid)
            source = self.reduce_norm(made.view(batch, made.shape[2] * made.shape[3], width))
            source = ops.keeping_input(tape, source) if self.linear else source
        short = (batch, self.heads, source.shape[1], width // self.heads)
        key, value = self.key(source).view(*short), self.value(source).view(*short)
        square = (batch, self.heads, length, short[2])
        weights = ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)
        weights = ops.keeping_result(tape, ops.sub_self(tape, weights))
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))
        return self.out(result.view(batch, length, width))

    def _feed(self, x: Tensor) -> Tensor:
        tape, side = self.net.tape, int(x.shape[1] ** 0.5)
        x = self.up(x)
        x = ops.keeping_result(tape, x) if self.linear else x
        x = (
            x
            if self.deep is None
            else self.deep(x.view(x.shape[0], x.shape[2], side, side)).view(*x.shape)
        )
        return self.down(ops.keeping_input(tape, x))


POOLED_SIDE = 7
"""Edge of the map that PVT v2's linear attention pools to (Wang et al. 2021, arXiv 2106.13797)."""


class PvtStage:
    """Overlapping patches, norm, blocks, norm."""

    def __init__(self, net: Net, config: dict[str, Any], stage: int, rates: list[float]) -> None:
        self.net, sizes = net, config["hidden_sizes"]
        self.patch = bare_conv(
            net,
            3 if stage == 0 else sizes[stage - 1],
            sizes[stage],
            config["patch_sizes"][stage],
            stride=config["strides"][stage],
        )
        self.first = Norm(net, "layer", sizes[stage])
        self.blocks = [PvtBlock(net, config, stage, rate) for rate in rates]
        self.last = Norm(net, "layer", sizes[stage])

    def __call__(self, x: Tensor) -> Tensor:
        x = self.patch(x)
        batch, width, high, wide = x.shape
        x = self.first(x.view(batch, high * wide, width))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class Pvt2:
    """Pyramid Vision Transformer v2 with a classifier (Wang et al. 2021)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, rates, at = net, drop_rates(config), 0
        self.stages = []
        for stage, depth in enumerate(config["depths"]):
            self.stages.append(PvtStage(net, config, stage, rates[at : at + depth]))
            at += depth
        self.head = net.linear("classifier", config["hidden_sizes"][-1], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = image
        for stage in self.stages:
            x = checkpointed(net, stage, x)
            high = int(x.shape[1] ** 0.5)
            x = ops.copy(tape, x).view(x.shape[0], x.shape[2], high, high)
        x = ops.copy(tape, x)
        scores = self.head(ops.reduce_to(tape, x, x.shape[:2]))
        del image
        return class_loss(net, scores) if net.setting.training else scores
