"""HunyuanVideo's denoising transformer on the tape: the prompt refined by layers of its own, two
streams, then one."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.diffusion.cogvideox import FRAMES_PER_LATENT
from rigplanner.networks.families.diffusion.joint_transformer import (
    OWN,
    WAVES,
    Feed,
    JointBlock,
    JointTransformer,
    Modulated,
    Pair,
    SingleBlock,
    Stream,
    checkpointed_pair,
    joined_attention,
    turned,
)
from rigplanner.networks.families.diffusion.latent_unet import LATENT, MOST, squared_error
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import BOOL, F32, Tensor, new

TEXT_TOKENS = 256
"""Positions of the prompt (HunyuanVideoPipeline, max_sequence_length)."""


class RefinerBlock:
    """A layer over the prompt alone, whose results are gated by the time."""

    def __init__(self, net: Net, width: int, heads: int) -> None:
        self.net, self.stream = net, Stream(net, width, heads, "", OWN)
        self.norms = Norm(net, "layer", width), Norm(net, "layer", width)
        self.feed, self.gates = (
            Feed(net, width, 4 * width),
            net.linear("linear", width, 2 * width, True),
        )

    def __call__(self, y: Tensor, time: Tensor, mask: Tensor) -> Tensor:
        tape, width = self.net.tape, y.shape[2]
        query, key, value = self.stream(self.norms[0](y))
        rows = attend(self.net, query, key, value, mask, 0.0)
        assert self.stream.out is not None
        seen = self.stream.out(rows.view(*y.shape))
        conditioning = ops.split(tape, self.gates(ops.keeping_input(tape, time)), (width, width))
        first, second = (part.view(y.shape[0], 1, width) for part in conditioning)
        y = ops.add(tape, y, ops.mul(tape, seen, first))
        return ops.add(tape, y, ops.mul(tape, self.feed(self.norms[1](y)), second))


class Refiner:
    """Layers over the prompt, with an embedding of time and mean prompt of their own."""

    def __init__(self, net: Net, text: int, width: int, heads: int, count: int) -> None:
        self.net = net
        sizes = (WAVES, text)
        self.conditioning = [
            (net.linear("linear_1", size, width, True), net.linear("linear_2", width, width, True))
            for size in sizes
        ]
        self.into = net.linear("proj_in", text, width, True)
        self.blocks = [RefinerBlock(net, width, heads) for _ in range(count)]

    def __call__(self, words: Tensor) -> Tensor:
        tape, batch, tokens = self.net.tape, words.shape[0], words.shape[1]
        time: Tensor | None = None
        for first, second in self.conditioning:
            part = second(
                ops.keeping_input(
                    tape, first(new(tape, (batch, first.weight.shape[1]), words.dtype))
                )
            )
            time = part if time is None else ops.add(tape, time, part)
        assert time is not None
        y = self.into(words)
        mask = new(tape, (batch, 1, tokens, tokens), BOOL)
        for block in self.blocks:
            y = block(y, time, mask)
        return y


class HunyuanBlock(JointBlock):
    """Two streams, of which the film's alone is rotated."""

    def _attended(self, x: Tensor, y: Tensor) -> Pair:
        tape, own, added = self.net.tape, self.own(x), self.added(y)
        own[0] = turned(self.net, own[0], self.tables)
        own[1] = turned(self.net, own[1], self.tables)
        dtype = own[0].dtype
        rows = ops.cast(tape, joined_attention(self.net, [own, added], None), dtype)
        image, text = (
            ops.cut(tape, rows, (rows.shape[0], side.shape[1], rows.shape[2])) for side in (x, y)
        )
        assert self.own.out is not None and self.added.out is not None
        seen = self.own.out(self._rows(image))
        return seen, self.added.out(self._rows(text))

    def _rows(self, x: Tensor) -> Tensor:
        return x if x.shape[0] == 1 else ops.copy(self.net.tape, x)


class HunyuanSingle(SingleBlock):
    """One stream of both kinds of tokens, which is cut and joined again around its attention."""

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> Pair:
        tape, sizes = self.net.tape, (x.shape[1], y.shape[1])
        both = ops.cat(tape, (x, y), 1)
        normed, conditioning = self.norm(both, time)
        fed = ops.keeping_input(tape, self.up(normed))
        pieces = [ops.cut(tape, normed, (both.shape[0], size, both.shape[2])) for size in sizes]
        parts = self.own(ops.cat(tape, pieces, 1))
        for at in (0, 1):
            parts[at] = self._partly(parts[at], sizes)
        dtype = parts[0].dtype
        rows = ops.cast(tape, joined_attention(self.net, [parts], None), dtype)
        seen = ops.cat(
            tape, [ops.cut(tape, rows, (both.shape[0], size, both.shape[2])) for size in sizes], 1
        )
        wide = ops.cat(tape, (seen, fed), 2)
        whole = ops.add(tape, ops.mul(tape, conditioning[0], self.out(wide)), both)
        image, text = (
            ops.cut(tape, whole, (whole.shape[0], size, whole.shape[2])) for size in sizes
        )
        return image, text

    def _partly(self, x: Tensor, sizes: tuple[int, int]) -> Tensor:
        tape = self.net.tape
        film, words = (ops.cut(tape, x, (*x.shape[:2], size, x.shape[3])) for size in sizes)
        return ops.cat(tape, (turned(self.net, film, self.tables), words), 2)


class HunyuanVideo(JointTransformer):
    """HunyuanVideoTransformer3DModel of diffusers, of the kind that makes films from a prompt."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        if config.get("image_condition_type") == "token_replace":
            raise ValueError(
                "image_condition_type: expected none or latent_concat, found token_replace"
            )
        self.net, self.config, self.turns = net, config, False
        heads, self.head = config["num_attention_heads"], config["attention_head_dim"]
        width = self.width = heads * self.head
        self.channels, self.text, single = (
            config["in_channels"],
            config["text_embed_dim"],
            config.get("num_single_layers") or 0,
        )
        if single > MOST:
            raise ValueError(
                f"num_single_layers: expected at most {MOST}, found {str(single)[:20]}"
            )
        self.patch = config.get("patch_size") or 2
        self.kernel = net.parameter(width, self.channels * self.patch**2), net.parameter(width)
        self.refiner = Refiner(net, self.text, width, heads, config.get("num_refiner_layers") or 2)
        kinds = [
            WAVES,
            config["pooled_projection_dim"],
            *([WAVES] if config.get("guidance_embeds", True) else []),
        ]
        self.conditioning = [
            (net.linear("linear_1", size, width, True), net.linear("linear_2", width, width, True))
            for size in kinds
        ]
        self.blocks = [
            HunyuanBlock(net, width, heads, "rms", False, False)
            for _ in range(config["num_layers"])
        ]
        self.blocks += [HunyuanSingle(net, width, heads, "rms") for _ in range(single)]
        self.last = Modulated(net, width, 2)
        self.out = net.linear(
            "proj_out", width, self.patch**2 * (config.get("out_channels") or self.channels), True
        )

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        high, wide = (side // LATENT for side in setting.sides or (setting.length, setting.length))
        depth = 1 + (setting.frames - 1) // FRAMES_PER_LATENT
        count, tokens = (
            depth * (high // self.patch) * (wide // self.patch),
            self.config.get("text_tokens") or TEXT_TOKENS,
        )
        latents = net.given(
            setting.batch, count, self.channels * self.patch**2, dtype=setting.dtype
        )
        words = net.given(setting.batch, tokens, self.text, dtype=setting.dtype)
        tables = new(tape, (count, self.head), F32), new(tape, (count, self.head), F32)
        time = self._timed()
        x = ops.linear(tape, latents, *self.kernel)
        y = self.refiner(words)
        for block in self.blocks:
            block.tables = tables
            x, text = checkpointed_pair(net, block, x, y, time)
            y = text if text is not None else y
        x, _ = self.last(x, time)
        x = ops.copy(tape, self.out(x))
        return squared_error(net, x) if setting.training else x
