"""The denoising U-Net of Stable Diffusion 1, 2 and XL on the tape, from the config.json of its
diffusers component."""

from __future__ import annotations

from functools import partial
from typing import Any

from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.vision.convnets import Conv, bare_conv
from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.families.vision.pyramid import enlarged
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import Tape, Tensor, new, record

LATENT = 8
"""Pixels of the image per side of a latent value (AutoencoderKL of Stable Diffusion)."""
TEXT_TOKENS = 77
"""Length of a prompt for CLIP's text encoder."""


MOST = 1_000
"""Layers or heads of a level beyond which a field is a mistake."""


class GroupNorm:
    """Group norm, and SiLU where asked."""

    def __init__(self, net: Net, width: int, smooth: bool) -> None:
        self.net, self.sides, self.smooth = (
            net,
            (net.parameter(width), net.parameter(width)),
            smooth,
        )

    def __call__(self, x: Tensor) -> Tensor:
        x = group_norm(self.net.tape, x, *self.sides)
        return ops.keeping_input(self.net.tape, x) if self.smooth else x


def plain(net: Net, inputs: int, outputs: int, kernel: int, stride: int = 1) -> Conv:
    """A convolution with bias and nothing after it."""
    return bare_conv(net, inputs, outputs, kernel, stride=stride)


class TimedResidual:
    """Norm, convolution, the time added, norm, convolution, and the sum with the input."""

    def __init__(self, net: Net, inputs: int, outputs: int, time: int) -> None:
        self.net = net
        self.first_norm, self.first = GroupNorm(net, inputs, True), plain(net, inputs, outputs, 3)
        self.time = net.linear("time_emb_proj", time, outputs, True) if time else None
        self.last_norm, self.last = GroupNorm(net, outputs, True), plain(net, outputs, outputs, 3)
        self.shortcut = plain(net, inputs, outputs, 1) if inputs != outputs else None

    def __call__(self, x: Tensor, *time: Tensor) -> Tensor:
        tape = self.net.tape
        y = self.first(self.first_norm(x))
        if self.time is not None:
            added = self.time(ops.keeping_input(tape, time[0]))
            y = ops.add(tape, y, added.view(*added.shape, 1, 1))
        y = self.last_norm(y)
        y = self.last(y)
        x = x if self.shortcut is None else self.shortcut(x)
        return ops.sub_self(tape, ops.add(tape, x, y))


def written_attention(tape: Tape, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scores, their softmax and the product with the values, each written (diffusers'
    AttnProcessor: baddbmm, softmax, bmm)."""
    scores = ops.bmm(
        tape, ops.packed(tape, query), ops.packed(tape, key), (*query.shape[:3], key.shape[2])
    )
    weights = ops.keeping_result(tape, scores)
    del scores
    return ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))


class TextAttention:
    """Attention of the latent positions to themselves, or to the words of the prompt."""

    def __init__(self, net: Net, width: int, heads: int, words: int = 0) -> None:
        self.net, self.heads = net, heads
        self.query = net.linear("to_q", width, width)
        self.key, self.value = (
            net.linear("to_k", words or width, width),
            net.linear("to_v", words or width, width),
        )
        self.out = net.linear("to_out.0", width, width, True)

    def __call__(self, x: Tensor, words: Tensor | None) -> Tensor:
        tape, source, width = self.net.tape, x if words is None else words, x.shape[2]
        query, key, value = self.query(x), self.key(source), self.value(source)
        shape = (x.shape[0], self.heads, x.shape[1], width // self.heads)
        short = (*shape[:2], source.shape[1], shape[3])
        heads = query.view(*shape), key.view(*short), value.view(*short)
        y = (
            written_attention(tape, *heads)
            if self.net.setting.eager
            else attend(self.net, *heads, None, 0.0)
        )
        return ops.sub_self(tape, self.out(y.view(*x.shape)))


class TextBlock:
    """Self-attention, attention to the prompt, gated feed-forward layer."""

    def __init__(self, net: Net, width: int, heads: int, words: int) -> None:
        self.net = net
        self.norms = [Norm(net, "layer", width) for _ in range(3)]
        self.own, self.cross = (
            TextAttention(net, width, heads),
            TextAttention(net, width, heads, words),
        )
        self.up, self.down = (
            net.linear("ff.net.0.proj", width, 8 * width, True),
            net.linear("ff.net.2", 4 * width, width, True),
        )

    def __call__(self, x: Tensor, *words: Tensor) -> Tensor:
        tape = self.net.tape
        normed = self.norms[0](x)
        attended = self.own(normed, None)
        x = ops.add(tape, attended, x)
        normed = self.norms[1](x)
        attended = self.cross(normed, words[0])
        x = ops.add(tape, attended, x)
        normed = self.norms[2](x)
        return ops.add(tape, self._feed(normed), x)

    def _feed(self, x: Tensor) -> Tensor:
        tape, half = self.net.tape, 4 * x.shape[2]
        side, gate = ops.split(tape, self.up(x), (half, half))
        y = ops.mul(tape, side, ops.keeping_input(tape, gate))
        del side, gate
        return self.down(y)


class SpatialTransformer:
    """The map as rows of positions, text blocks, and the map again; projected by convolutions or
    linear layers."""

    def __init__(
        self, net: Net, width: int, heads: int, words: int, depth: int, linear: bool
    ) -> None:
        self.net, self.norm, self.linear = net, GroupNorm(net, width, False), linear
        self.into = (
            net.linear("proj_in", width, width, True) if linear else plain(net, width, width, 1)
        )
        self.blocks = [TextBlock(net, width, heads, words) for _ in range(depth)]
        self.out = (
            net.linear("proj_out", width, width, True) if linear else plain(net, width, width, 1)
        )

    def __call__(self, x: Tensor, words: Tensor) -> Tensor:
        tape, shape = self.net.tape, x.shape
        rows = (shape[0], shape[2] * shape[3], shape[1])
        y = self.norm(x)
        y = (
            self.into(ops.copy(tape, ops.cast_low(tape, y).view(*rows)))
            if self.linear
            else self.into(y).view(*rows)
        )
        for block in self.blocks:
            y = checkpointed(self.net, block, y, words)
        y = ops.copy(tape, self.out(y)) if self.linear else self.out(ops.copy(tape, y).view(*shape))
        return ops.add(tape, y.view(*shape), x)


class Level:
    """Residual blocks of one resolution, each with a spatial transformer where the level attends;
    then a change of size."""

    def __init__(
        self,
        net: Net,
        widths: list[tuple[int, int]],
        time: int,
        spatial: partial[SpatialTransformer] | None,
        change: Conv | None,
    ) -> None:
        self.net, self.change = net, change
        self.spatial = [spatial() for _ in widths] if spatial is not None else []
        self.residual = [TimedResidual(net, inputs, outputs, time) for inputs, outputs in widths]

    def down(self, x: Tensor, time: Tensor, words: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The last map, and all that the way up will need."""
        found = []
        for at, block in enumerate(self.residual):
            x = checkpointed(self.net, block, x, time)
            x = self.spatial[at](x, words) if self.spatial else x
            found.append(x)
        if self.change is not None:
            x = self.change(x)
            found.append(x)
        return x, found

    def up(self, x: Tensor, kept: list[Tensor], time: Tensor, words: Tensor) -> Tensor:
        """The map after joining one kept map before every block."""
        tape = self.net.tape
        for at, block in enumerate(self.residual):
            x = ops.cat(tape, (x, kept.pop()), 1)
            x = checkpointed(self.net, block, x, time)
            x = self.spatial[at](x, words) if self.spatial else x
        if self.change is None:
            return x
        return self.change(enlarged(tape, x, (2 * x.shape[2], 2 * x.shape[3])))


def each(value: Any, count: int) -> list[Any]:
    """One value per level; raise ValueError beyond reason."""
    found = list(value) if isinstance(value, list | tuple) else [value] * count
    if len(found) != count or not all(isinstance(one, int) and 0 < one <= MOST for one in found):
        raise ValueError(f"expected {count} numbers from 1 to {MOST}, found {str(value)[:40]}")
    return found


def _two_layers(net: Net, inputs: int, outputs: int) -> tuple[Linear, Linear]:
    """The two layers that bring times and other words to a width."""
    return (
        net.linear("linear_1", inputs, outputs, True),
        net.linear("linear_2", outputs, outputs, True),
    )


class LatentUnet:
    """UNet2DConditionModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.widths = net, config["block_out_channels"]
        count, time = len(self.widths), 4 * self.widths[0]
        self.words = config["cross_attention_dim"]
        self.channels = config.get("in_channels") or 4
        self.first = plain(net, self.channels, self.widths[0], 3)
        self.time = _two_layers(net, self.widths[0], time)
        conditioning = (
            config.get("projection_class_embeddings_input_dim")
            if config.get("addition_embed_type") == "text_time"
            else 0
        )
        self.conditioning = _two_layers(net, conditioning, time) if conditioning else None
        self.depths = each(config.get("transformer_layers_per_block") or 1, count)
        self.heads = each(
            config.get("num_attention_heads") or config.get("attention_head_dim") or 8, count
        )
        self.linear = bool(config.get("use_linear_projection"))
        layers = each(config.get("layers_per_block") or 2, count)
        self.down = self._halving(layers, time, config["down_block_types"])
        last = self.widths[-1]
        self.middle = [TimedResidual(net, last, last, time), TimedResidual(net, last, last, time)]
        self.core = SpatialTransformer(
            net, last, self.heads[-1], self.words, self.depths[-1], self.linear
        )
        self.up = self._doubling(layers, time, config["up_block_types"])
        self.norm = GroupNorm(net, self.widths[0], True)
        self.last = plain(net, self.widths[0], config.get("out_channels") or 4, 3)

    def _spatial(self, at: int, kind: str) -> partial[SpatialTransformer] | None:
        """The attention of a level, where its kind of block has one."""
        if "CrossAttn" not in kind:
            return None
        return partial(
            SpatialTransformer,
            self.net,
            self.widths[at],
            self.heads[at],
            self.words,
            self.depths[at],
            self.linear,
        )

    def _halving(self, layers: list[int], time: int, kinds: list[str]) -> list[Level]:
        """Levels on the way down; all but the last end with a convolution that halves the map."""
        net, count = self.net, len(self.widths)
        levels = []
        for at, width in enumerate(self.widths):
            pairs = [
                (self.widths[max(0, at - 1)] if row == 0 else width, width)
                for row in range(layers[at])
            ]
            change = plain(net, width, width, 3, stride=2) if at + 1 < count else None
            levels.append(Level(net, pairs, time, self._spatial(at, kinds[at]), change))
        return levels

    def _doubling(self, layers: list[int], time: int, kinds: list[str]) -> list[Level]:
        """Levels on the way up: each step takes what the way down left at its size beside the map,
        one step more than there, as the level's entrance left one too."""
        levels, before = [], self.widths[-1]
        for row, at in enumerate(reversed(range(len(self.widths)))):
            width, below = self.widths[at], self.widths[max(0, at - 1)]
            skips = [width] * layers[at] + [below]
            pairs = [
                ((before if step == 0 else width) + skip, width) for step, skip in enumerate(skips)
            ]
            change = plain(self.net, width, width, 3) if at else None
            spatial = self._spatial(at, kinds[row])
            levels.append(Level(self.net, pairs, time, spatial, change))
            before = width
        return levels

    def loss(self) -> Tensor:
        """The squared error of the noise; without training, the noise."""
        net, setting = self.net, self.net.setting
        high, wide = setting.sides or (setting.length, setting.length)
        latents = net.given(
            setting.batch, self.channels, high // LATENT, wide // LATENT, dtype=setting.dtype
        )
        words = net.given(setting.batch, TEXT_TOKENS, self.words, dtype=setting.dtype)
        time = self._timed()
        x = self.first(latents)
        kept = [x]
        for level in self.down:
            x, found = level.down(x, time, words)
            kept += found
            del found
        x = checkpointed(net, self.middle[1], self.core(self.middle[0](x, time), words), time)
        for level in self.up:
            count = len(level.residual)
            taken, kept = kept[-count:], kept[:-count]
            x = level.up(x, taken, time, words)
        x = self.norm(x)
        x = self.last(x)
        return squared_error(net, x) if setting.training else x

    def _timed(self) -> Tensor:
        """The embedded time, with the sizes and the pooled prompt of SDXL."""
        net, tape = self.net, self.net.tape
        wave = new(tape, (net.setting.batch, self.widths[0]), net.setting.dtype)
        time = self.time[1](ops.keeping_input(tape, self.time[0](wave)))
        if self.conditioning is None:
            return time
        conditioning = new(
            tape, (net.setting.batch, self.conditioning[0].weight.shape[1]), net.setting.dtype
        )
        return ops.add(
            tape,
            time,
            self.conditioning[1](ops.keeping_input(tape, self.conditioning[0](conditioning))),
        )


def squared_error(net: Net, x: Tensor) -> Tensor:
    """F.mse_loss in float against a target of the same size."""
    tape: Tape = net.tape
    wide = ops.cast(tape, x, "f32")
    target = new(tape, wide.shape, wide.dtype)
    kept = [wide, target]

    def pull(grad: Tensor) -> tuple[Tensor]:
        made = new(tape, kept[0].shape, kept[0].dtype)
        kept.clear()
        return (made,)

    tape.saves()
    return record(tape, new(tape, (), wide.dtype), (wide,), pull)
