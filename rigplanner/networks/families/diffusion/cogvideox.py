"""CogVideoX's denoising transformer on the tape: frames and text modulated apart, attention and
feed-forward layer over both."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.diffusion.joint_transformer import (
    OWN,
    Feed,
    Pair,
    checkpointed_pair,
    modulated,
    turned,
)
from rigplanner.networks.families.diffusion.latent_unet import LATENT, MOST, squared_error
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import F32, Tensor, new, record

FRAMES_PER_LATENT = 4
"""Frames of the clip per latent frame after the first (AutoencoderKLCogVideoX)."""


class SharedNorm:
    """One norm for both streams, each scaled, shifted and later gated by pieces of the embedded
    time."""

    def __init__(self, net: Net, time: int, width: int) -> None:
        self.net, self.linear, self.norm = (
            net,
            net.linear("linear", time, 6 * width, True),
            Norm(net, "layer", width),
        )

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        tape, width = self.net.tape, x.shape[2]
        conditioning = self.linear(ops.keeping_input(tape, time))
        parts = [
            part.view(x.shape[0], 1, width) for part in ops.split(tape, conditioning, (width,) * 6)
        ]
        first = modulated(self.net, self.norm(x), parts[1], parts[0])
        return first, modulated(self.net, self.norm(y), parts[4], parts[3]), parts[2], parts[5]


class FrameBlock:
    """Attention over text and frames, then a feed-forward layer over both."""

    def __init__(self, net: Net, width: int, heads: int, time: int) -> None:
        self.net, self.heads = net, heads
        self.first = SharedNorm(net, time, width)
        self.layers = [net.linear(name, width, width, True) for name in OWN]
        self.norms = [Norm(net, "layer", width // heads), Norm(net, "layer", width // heads)]
        self.last, self.feed = SharedNorm(net, time, width), Feed(net, width, 4 * width)
        self.tables: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> Pair:
        tape, sizes = self.net.tape, (y.shape[1], x.shape[1])
        normed, text, gate, text_gate = self.first(x, y, time)
        seen = self._attend(ops.cat(tape, (text, normed), 1), sizes[0])
        text_seen, image_seen = ops.split_rows(tape, seen, sizes)
        x = ops.add(tape, x, ops.mul(tape, gate, image_seen))
        y = ops.add(tape, y, ops.mul(tape, text_gate, text_seen))
        normed, text, gate, text_gate = self.last(x, y, time)
        fed = self.feed(ops.cat(tape, (text, normed), 1))
        image, words = (
            ops.cut(tape, fed, (fed.shape[0], size, fed.shape[2])) for size in reversed(sizes)
        )
        return ops.add(tape, x, ops.mul(tape, gate, image)), ops.add(
            tape, y, ops.mul(tape, text_gate, words)
        )

    def _attend(self, both: Tensor, words: int) -> Tensor:
        tape, shape = (
            self.net.tape,
            (both.shape[0], self.heads, both.shape[1], both.shape[2] // self.heads),
        )
        query, key, value = (layer(both).view(*shape) for layer in self.layers[:3])
        query, key = self.norms[0](query), self.norms[1](key)
        if self.tables is not None:
            query, key = self._placed(query, words), self._placed(key, words)
        rows = attend(self.net, query, key, value, None, 0.0)
        rows = ops.copy(tape, rows) if tape.semantics.explicit_mask else rows
        return self.layers[3](rows.view(*both.shape))

    def _placed(self, x: Tensor, words: int) -> Tensor:
        """The frames' part rotated, written back where it lay."""
        tape, short = self.net.tape, (*x.shape[:2], x.shape[2] - words, x.shape[3])
        made = turned(self.net, ops.cut(tape, x, short), self.tables)
        source = x.shape
        return record(
            tape,
            Tensor(source, x.dtype, x.storage),
            (x, made),
            lambda grad: (new(tape, source, grad.dtype), grad),
        )


class VideoTransformer:
    """CogVideoXTransformer3DModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, heads = net, config["num_attention_heads"]
        self.width, self.head = heads * config["attention_head_dim"], config["attention_head_dim"]
        width, time, count = self.width, config.get("time_embed_dim") or 512, config["num_layers"]
        self.patch, self.channels = config.get("patch_size") or 2, config.get("in_channels") or 16
        self.text, self.tokens = (
            config.get("text_embed_dim") or 4096,
            config.get("max_text_seq_length") or 226,
        )
        self.turns, out = (
            bool(config.get("use_rotary_positional_embeddings")),
            config.get("out_channels") or 16,
        )
        if count > MOST:
            raise ValueError(f"num_layers: expected at most {MOST}, found {count}")
        self.into = bare_conv(net, self.channels, width, self.patch, stride=self.patch, padding=0)
        self.words = net.linear("text_proj", self.text, width, True)
        if not self.turns:
            net.buffer(1, self.tokens + self._rows(config), width)
        self.time = (
            net.linear("linear_1", width, time, True),
            net.linear("linear_2", time, time, True),
        )
        self.blocks = [FrameBlock(net, width, heads, time) for _ in range(count)]
        self.norm, self.last_norm = Norm(net, "layer", width), Norm(net, "layer", width)
        self.last = net.linear("linear", time, 2 * width, True)
        self.out = net.linear("proj_out", width, self.patch**2 * out, True)

    def _rows(self, config: dict[str, Any]) -> int:
        """Positions that a network without rotation is made for."""
        sides = (
            (config.get("sample_height") or 60)
            * (config.get("sample_width") or 90)
            // self.patch**2
        )
        return sides * (1 + ((config.get("sample_frames") or 49) - 1) // FRAMES_PER_LATENT)

    def loss(self) -> Tensor:
        """The squared error of the velocity; without training, the velocity."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        high, wide = (side // LATENT for side in setting.sides or (setting.length, setting.length))
        frames = 1 + (setting.frames - 1) // FRAMES_PER_LATENT
        latents = net.given(setting.batch, frames, self.channels, high, wide, dtype=setting.dtype)
        prompt = net.given(setting.batch, self.tokens, self.text, dtype=setting.dtype)
        wave = new(tape, (setting.batch, self.width), setting.dtype)
        time = self.time[1](ops.keeping_input(tape, self.time[0](wave)))
        both = self._embedded(latents, prompt)
        y, x = (
            ops.cut(tape, both, (both.shape[0], size, self.width))
            for size in (self.tokens, both.shape[1] - self.tokens)
        )
        tables = (
            (new(tape, (x.shape[1], self.head), F32), new(tape, (x.shape[1], self.head), F32))
            if self.turns
            else None
        )
        for block in self.blocks:
            block.tables = tables
            x, text = checkpointed_pair(net, block, x, y, time)
            y = text if text is not None else y
        x = self._finished(self.norm(x), time)
        return squared_error(net, ops.copy(tape, ops.copy(tape, x))) if setting.training else x

    def _embedded(self, latents: Tensor, prompt: Tensor) -> Tensor:
        tape, (batch, frames, channels, high, wide) = self.net.tape, latents.shape
        words = self.words(prompt)
        made = self.into(latents.view(batch * frames, channels, high, wide))
        rows = made.view(batch, frames * made.shape[2] * made.shape[3], self.width)
        both = ops.cat(tape, (words, ops.copy(tape, rows)), 1)
        if self.turns:
            return both
        return ops.add(tape, both, new(tape, (1, *both.shape[1:]), both.dtype))

    def _finished(self, x: Tensor, time: Tensor) -> Tensor:
        tape, width = self.net.tape, self.width
        conditioning = self.last(ops.keeping_input(tape, time))
        shift, scale = (
            part.view(x.shape[0], 1, width)
            for part in ops.split(tape, conditioning, (width, width))
        )
        return self.out(modulated(self.net, self.last_norm(x), scale, shift))
