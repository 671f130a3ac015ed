"""Wan's denoising transformer on the tape: attention over all frames, to the prompt, and a
modulated residual stream kept in float while it is summed."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.diffusion.cogvideox import FRAMES_PER_LATENT
from rigplanner.networks.families.diffusion.joint_transformer import (
    OWN,
    WAVES,
    Feed,
    HeadNorm,
    modulated,
)
from rigplanner.networks.families.diffusion.latent_unet import LATENT, MOST, squared_error
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, Tensor, new, record

TEXT_TOKENS = 512
"""Length of a prompt for its text encoder."""
PLACES = 1024
"""Positions that the rotation is tabulated for, along each side and in time."""


class WideAttention:
    """Attention whose queries and keys are normalised over all heads; `turns` rotates both in
    float."""

    def __init__(self, net: Net, width: int, heads: int) -> None:
        self.net, self.heads = net, heads
        self.layers = [net.linear(name, width, width, True) for name in OWN]
        self.norms = [HeadNorm(net, width, True), HeadNorm(net, width, True)]

    def __call__(self, x: Tensor, source: Tensor, turns: bool) -> Tensor:
        width = x.shape[2]
        query, key, value = self.layers[0](x), self.layers[1](source), self.layers[2](source)
        query, key = self.norms[0](query), self.norms[1](key)
        shape = (x.shape[0], self.heads, x.shape[1], width // self.heads)
        short = (*shape[:2], source.shape[1], shape[3])
        query, key = query.view(*shape), key.view(*short)
        query, key = (self._turned(query), self._turned(key)) if turns else (query, key)
        rows = attend(self.net, query, key, value.view(*short), None, 0.0)
        return self.layers[3](rows.view(*x.shape))

    def _turned(self, x: Tensor) -> Tensor:
        """Both halves of the pairs made in float and written into one result."""
        tape, half = self.net.tape, (*x.shape[:-1], x.shape[-1] // 2)
        source = x.shape
        made = new(tape, source, x.dtype)
        scratch = [new(tape, half, F32) for _ in range(3)]
        del scratch
        return record(tape, made, (x,), lambda grad: (new(tape, source, grad.dtype),))


class WanBlock:
    """Self-attention, attention to the prompt, feed-forward layer; the first and the last modulated
    by the time."""

    def __init__(self, net: Net, config: dict[str, Any], width: int) -> None:
        self.net, heads = net, config["num_attention_heads"]
        self.own, self.cross = WideAttention(net, width, heads), WideAttention(net, width, heads)
        self.norm = Norm(net, "layer", width) if config.get("cross_attn_norm", True) else None
        self.bare = Norm(net, "layer_none", width)
        self.feed, self.table = Feed(net, width, config["ffn_dim"]), net.parameter(1, 6, width)

    def __call__(self, x: Tensor, words: Tensor, time: Tensor) -> Tensor:
        tape, low = self.net.tape, x.dtype
        conditioning = self._conditioning(time)
        normed = self._modulated(x, conditioning[1], conditioning[0])
        seen = self.own(normed, normed, True)
        del normed
        x = ops.cast(
            tape, ops.add(tape, ops.cast(tape, x, F32), ops.mul(tape, seen, conditioning[2])), low
        )
        normed = x if self.norm is None else ops.cast(tape, self.norm(ops.cast(tape, x, F32)), low)
        x = ops.add(tape, x, self.cross(normed, words, False))
        normed = self._modulated(x, conditioning[4], conditioning[3])
        fed = self.feed(normed)
        gated = ops.mul(tape, ops.cast(tape, fed, F32), conditioning[5])
        return ops.cast(tape, ops.add(tape, ops.cast(tape, x, F32), gated), low)

    def _conditioning(self, time: Tensor) -> list[Tensor]:
        tape, width = self.net.tape, self.table.shape[2]
        whole = ops.add(tape, self.table, ops.cast(tape, time, F32)).view(time.shape[0], 6 * width)
        return [part.view(time.shape[0], 1, width) for part in ops.split(tape, whole, (width,) * 6)]

    def _modulated(self, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        normed = self.bare(ops.cast(self.net.tape, x, F32))
        return ops.cast(self.net.tape, modulated(self.net, normed, scale, shift), x.dtype)


class Wan:
    """WanTransformer3DModel of diffusers, from text."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, width, count = (
            net,
            config["num_attention_heads"] * config["attention_head_dim"],
            config["num_layers"],
        )
        if count > MOST:
            raise ValueError(f"num_layers: expected at most {MOST}, found {count}")
        self.width, self.channels, self.text = (
            width,
            config.get("in_channels") or 16,
            config.get("text_dim") or 4096,
        )
        patch = config.get("patch_size") or (1, 2, 2)
        self.patch, out = patch[-1], config.get("out_channels") or 16
        for _ in range(2):
            net.buffer(PLACES, config["attention_head_dim"])
        self.into = bare_conv(net, self.channels, width, self.patch, stride=self.patch, padding=0)
        self.time = (
            net.linear("linear_1", config.get("freq_dim") or WAVES, width, True),
            net.linear("linear_2", width, width, True),
        )
        self.pieces = net.linear("time_proj", width, 6 * width, True)
        self.words = (
            net.linear("linear_1", self.text, width, True),
            net.linear("linear_2", width, width, True),
        )
        self.blocks = [WanBlock(net, config, width) for _ in range(count)]
        self.bare, self.table = Norm(net, "layer_none", width), net.parameter(1, 2, width)
        self.out = net.linear("proj_out", width, self.patch**2 * out, True)

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        high, wide = (side // LATENT for side in setting.sides or (setting.length, setting.length))
        frames = 1 + (setting.frames - 1) // FRAMES_PER_LATENT
        latents = net.given(setting.batch, self.channels, frames, high, wide, dtype=setting.dtype)
        prompt = net.given(setting.batch, TEXT_TOKENS, self.text, dtype=setting.dtype)
        made = self.into(latents.view(setting.batch * frames, self.channels, high, wide))
        x = made.view(setting.batch, frames * made.shape[2] * made.shape[3], self.width)
        tables = new(
            tape,
            (
                2,
                x.shape[1],
                self.blocks[0].own.layers[0].weight.shape[0] // self.blocks[0].own.heads,
            ),
            F32,
        )
        time, pieces = self._timed()
        words = self.words[1](ops.keeping_input(tape, self.words[0](prompt)))
        for block in self.blocks:
            x = checkpointed(net, block, x, words, pieces)
        x = self._finished(x, time)
        del tables
        return squared_error(net, ops.copy(tape, ops.copy(tape, x))) if setting.training else x

    def _timed(self) -> tuple[Tensor, Tensor]:
        net, tape = self.net, self.net.tape
        wave = new(tape, (net.setting.batch, self.time[0].weight.shape[1]), net.setting.dtype)
        time = self.time[1](ops.keeping_input(tape, self.time[0](wave)))
        return time, self.pieces(ops.keeping_input(tape, time)).view(
            net.setting.batch, 6, self.width
        )

    def _finished(self, x: Tensor, time: Tensor) -> Tensor:
        tape, width, batch = self.net.tape, self.width, x.shape[0]
        whole = ops.add(tape, self.table, time.view(batch, 1, width)).view(batch, 2 * width)
        shift, scale = (
            part.view(batch, 1, width) for part in ops.split(tape, whole, (width, width))
        )
        normed = self.bare(ops.cast(tape, x, F32))
        return self.out(ops.cast(tape, modulated(self.net, normed, scale, shift), x.dtype))
