"""LTX-Video's denoising transformer on the tape: attention over all frames, to the prompt,
residuals scaled by the time."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.diffusion.joint_transformer import WAVES, Feed, modulated, turned
from rigplanner.networks.families.diffusion.latent_unet import squared_error
from rigplanner.networks.families.diffusion.wan import WideAttention
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed, reciprocal_root
from rigplanner.networks.tracer.tape import F32, Tensor, new

PIXELS, FRAMES = 32, 8
"""Pixels along an edge and frames that one latent stands for (AutoencoderKLLTXVideo)."""
TEXT_TOKENS = 128
"""Positions of the prompt (LTXPipeline, max_sequence_length)."""
PIECES = 6


def bare_norm(net: Net, x: Tensor) -> Tensor:
    """A root-mean-square norm without weights, its root in float (RMSNorm of diffusers)."""
    tape = net.tape
    root = reciprocal_root(
        tape, ops.shift(tape, ops.mean_last(tape, ops.square(tape, ops.cast(tape, x, F32))))
    )
    return ops.cast(tape, ops.mul(tape, x, root), x.dtype)


class RowAttention(WideAttention):
    """Queries and keys rotated as rows, before they are cut into heads."""

    tables: tuple[Tensor, Tensor] | None = None

    def _turned(self, x: Tensor) -> Tensor:
        return turned(self.net, x, self.tables)


class LtxBlock:
    """Self-attention, attention to the prompt, feed-forward layer; the first and the last modulated
    by the time."""

    def __init__(self, net: Net, width: int, heads: int) -> None:
        self.net, self.own, self.cross = (
            net,
            RowAttention(net, width, heads),
            RowAttention(net, width, heads),
        )
        self.feed, self.table = Feed(net, width, 4 * width), net.parameter(PIECES, width)

    def __call__(self, x: Tensor, words: Tensor, time: Tensor) -> Tensor:
        net, tape, width = self.net, self.net.tape, x.shape[2]
        table = self.table.view(1, PIECES * width)
        whole = ops.add(tape, table, time)
        conditioning = [
            part.view(x.shape[0], 1, width) for part in ops.split(tape, whole, (width,) * PIECES)
        ]
        normed = modulated(net, bare_norm(net, x), conditioning[1], conditioning[0])
        seen = self.own(normed, normed, True)
        x = ops.add(tape, x, ops.mul(tape, seen, conditioning[2]))
        x = ops.add(tape, x, self.cross(x, words, False))
        normed = modulated(net, bare_norm(net, x), conditioning[4], conditioning[3])
        return ops.add(tape, x, ops.mul(tape, self.feed(normed), conditioning[5]))


class Ltx:
    """LTXVideoTransformer3DModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, heads = net, config, config["num_attention_heads"]
        self.heads = heads
        width = self.width = heads * config["attention_head_dim"]
        if config.get("cross_attention_dim", width) != width:
            raise ValueError(
                f"cross_attention_dim: expected {width}, found"
                f" {str(config['cross_attention_dim'])[:20]}"
            )
        self.channels, self.text = config["in_channels"], config["caption_channels"]
        self.into, self.table = (
            net.linear("proj_in", self.channels, width, True),
            net.parameter(2, width),
        )
        self.conditioning = [
            net.linear("linear_1", WAVES, width, True),
            net.linear("linear_2", width, width, True),
        ]
        self.pieces = net.linear("linear", width, PIECES * width, True)
        self.words = [
            net.linear("linear_1", self.text, width, True),
            net.linear("linear_2", width, width, True),
        ]
        self.blocks = [LtxBlock(net, width, heads) for _ in range(config["num_layers"])]
        self.norm, self.out = (
            Norm(net, "layer_none", width),
            net.linear("proj_out", width, config.get("out_channels") or 128, True),
        )

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting, width = self.net, self.net.tape, self.net.setting, self.width
        high, wide = (
            max(1, side // PIXELS) for side in setting.sides or (setting.length, setting.length)
        )
        count, batch = (1 + (setting.frames - 1) // FRAMES) * high * wide, setting.batch
        latents = net.given(batch, count, self.channels, dtype=setting.dtype)
        words = net.given(
            batch, self.config.get("text_tokens") or TEXT_TOKENS, self.text, dtype=setting.dtype
        )
        size = (batch, self.heads, count, width // self.heads)
        tables = new(tape, size, F32), new(tape, size, F32)
        x = self.into(latents)
        wave = new(tape, (batch, WAVES), setting.dtype)
        embedded = self.conditioning[1](ops.keeping_input(tape, self.conditioning[0](wave)))
        time = self.pieces(ops.keeping_input(tape, embedded))
        y = self.words[1](ops.keeping_input(tape, self.words[0](words)))
        for block in self.blocks:
            block.own.tables = tables
            x = checkpointed(net, block, x, y, time)
        conditioning = ops.add(tape, self.table.view(1, 2, width), embedded.view(batch, 1, width))
        shift, scale = (ops.cut(tape, conditioning, (batch, 1, width)) for _ in range(2))
        x = self.out(modulated(net, self.norm(x), scale, shift))
        return squared_error(net, x) if setting.training else x
