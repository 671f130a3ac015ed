"""Denoising transformers of two streams that came after Flux: Qwen-Image and FLUX.2, from the
config.json of their diffusers component."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.diffusion.joint_transformer import (
    ADDED,
    OWN,
    WAVES,
    HeadNorm,
    JointBlock,
    JointTransformer,
    Modulated,
    Pair,
    checkpointed_pair,
    joined_attention,
    modulated,
)
from rigplanner.networks.families.diffusion.latent_unet import LATENT, MOST, squared_error
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, Tensor, like, new, record

TEXT_TOKENS = 512
"""Positions of the prompt where a configuration does not tell."""


PLACES = 4096
"""Positions before and after the middle that Qwen-Image tabulates its rotation for."""


def turned_whole(net: Net, x: Tensor) -> Tensor:
    """Pairs of neighbours as complex numbers in float, times those of the positions."""
    tape = net.tape
    wide = ops.cast(tape, x, F32)
    made = record(tape, like(tape, wide), (wide,), lambda grad: (like(tape, grad),))
    return ops.cast(tape, made, x.dtype)


class QwenBlock(JointBlock):
    """Both streams modulated, each rotated by its own positions, attention over both, feed-forward
    layers."""

    def _attended(self, x: Tensor, y: Tensor) -> Pair:
        tape = self.net.tape
        own, added = self.own(x), self.added(y)
        for stream in (own, added):
            for at in (0, 1):
                stream[at] = turned_whole(self.net, stream[at])
        dtype = own[0].dtype
        rows = ops.cast(tape, joined_attention(self.net, [added, own], None), dtype)
        text, image = ops.split_rows(tape, rows, (y.shape[1], x.shape[1]))
        assert self.own.out is not None and self.added.out is not None
        seen = self.own.out(ops.copy(tape, image))
        return seen, self.added.out(ops.copy(tape, text))


class QwenImage(JointTransformer):
    """QwenImageTransformer2DModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.turns = net, config, False
        heads, self.head = config["num_attention_heads"], config["attention_head_dim"]
        self.width, self.channels, self.text = (
            heads * self.head,
            config["in_channels"],
            config["joint_attention_dim"],
        )
        self.conditioning = [
            (
                net.linear("linear_1", WAVES, self.width, True),
                net.linear("linear_2", self.width, self.width, True),
            )
        ]
        self.text_norm = HeadNorm(net, self.text, False)
        self.into = net.linear("img_in", self.channels, self.width, True)
        self.words = net.linear("txt_in", self.text, self.width, True)
        self.blocks = [
            QwenBlock(net, self.width, heads, "rms", False, False)
            for _ in range(config["num_layers"])
        ]
        self._idle()
        self.last = Modulated(net, self.width, 2)
        values = (config.get("patch_size") or 2) ** 2 * (config.get("out_channels") or 16)
        self.out = net.linear("proj_out", self.width, values, True)

    def _idle(self) -> None:
        """What the last block makes of the prompt is thrown away: weights that make it get no
        gradient and no state."""
        last = self.blocks[-1]
        for layer in (last.added.out, last.text_feed.up, last.text_feed.down):
            for weight in (layer.weight, layer.bias):
                if weight.trains and self.net.setting.training:
                    self.net.trained_tensors.remove(weight.storage.bytes)

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        count, tokens = latent_tokens(net), self.config.get("text_tokens") or TEXT_TOKENS
        latents = net.given(setting.batch, count, self.channels, dtype=setting.dtype)
        words = net.given(setting.batch, tokens, self.text, dtype=setting.dtype)
        x = self.into(latents)
        y = self.words(self.text_norm(words))
        time = self._timed()
        net.held += [
            new(tape, (places, self.head), F32) for places in (count, tokens, PLACES, PLACES)
        ]
        for block in self.blocks:
            x, text = checkpointed_pair(net, block, x, y, time)
            y = text if text is not None else y
        x, _ = self.last(x, time)
        x = self.out(x)
        return squared_error(net, x) if setting.training else x


def latent_tokens(net: Net) -> int:
    """Positions of one picture: its latents by patches of two."""
    high, wide = (
        side // LATENT for side in net.setting.sides or (net.setting.length, net.setting.length)
    )
    return (high // 2) * (wide // 2)


class GatedFeed:
    """One product for gate and value, SiLU, and back."""

    def __init__(self, net: Net, width: int, inner: int) -> None:
        self.net, self.into, self.out = (
            net,
            net.linear("linear_in", width, 2 * inner),
            net.linear("linear_out", inner, width),
        )

    def __call__(self, x: Tensor) -> Tensor:
        return self.out(gated(self.net, self.into(x)))


def gated(net: Net, x: Tensor) -> Tensor:
    """The first half activated, times the second."""
    half = (*x.shape[:-1], x.shape[-1] // 2)
    return ops.mul(
        net.tape,
        ops.keeping_input(net.tape, ops.cut(net.tape, x, half)),
        ops.cut(net.tape, x, half),
    )


class Projections:
    """Query, key and value of one stream without biases, their norms, and back."""

    def __init__(self, net: Net, width: int, heads: int, names: tuple[str, str, str, str]) -> None:
        self.net, self.heads = net, heads
        self.layers: list[Linear] = [net.linear(name, width, width) for name in names]
        self.norms = [HeadNorm(net, width // heads, True) for _ in range(2)]

    def __call__(self, x: Tensor) -> list[Tensor]:
        """Query, key and value of every head."""
        return headed(self.heads, self.norms, [layer(x) for layer in self.layers[:3]])


def headed(heads: int, norms: list[HeadNorm], parts: list[Tensor]) -> list[Tensor]:
    """Query, key and value by heads, the first two normalised."""
    shape = (parts[0].shape[0], heads, parts[0].shape[1], parts[0].shape[2] // heads)
    made = [part.view(*shape) for part in parts]
    parts.clear()
    for at, norm in enumerate(norms):
        made[at] = norm(made[at])
    return made


class Flux2Block:
    """Both streams modulated by what all blocks share, attention over both, gated feed-forward
    layers."""

    def __init__(self, net: Net, width: int, heads: int, inner: int) -> None:
        self.net, self.norm = net, Norm(net, "layer_none", width)
        self.own, self.added = (
            Projections(net, width, heads, OWN),
            Projections(net, width, heads, ADDED),
        )
        self.feed, self.text_feed = GatedFeed(net, width, inner), GatedFeed(net, width, inner)
        self.tables: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> Pair:
        net, tape, width = self.net, self.net.tape, x.shape[2]
        conditioning = [
            part.view(x.shape[0], 1, width) for part in ops.split(tape, time, (width,) * SHARED)
        ]
        normed = modulated(net, self.norm(x), conditioning[1], conditioning[0])
        text = modulated(net, self.norm(y), conditioning[7], conditioning[6])
        rows = joined_attention(net, [self.added(text), self.own(normed)], self.tables)
        beside, seen = ops.split_rows(tape, rows, (y.shape[1], x.shape[1]))
        beside, seen = (
            part if x.shape[0] == 1 else ops.copy(tape, part) for part in (beside, seen)
        )
        beside = self.added.layers[3](beside)
        seen = self.own.layers[3](seen)
        x = ops.add(tape, x, ops.mul(tape, conditioning[2], seen))
        x = self._fed(x, conditioning[3:6], self.feed)
        y = ops.add(tape, y, ops.mul(tape, conditioning[8], beside))
        return x, self._fed(y, conditioning[9:12], self.text_feed)

    def _fed(self, x: Tensor, conditioning: list[Tensor], feed: GatedFeed) -> Tensor:
        normed = modulated(self.net, self.norm(x), conditioning[1], conditioning[0])
        return ops.add(self.net.tape, x, ops.mul(self.net.tape, conditioning[2], feed(normed)))


SHARED = 15
"""Vectors of modulation: six of either stream, three of the single blocks."""


class Flux2Single:
    """One stream of both kinds of tokens; one product makes query, key, value and what the
    feed-forward layer takes."""

    def __init__(self, net: Net, width: int, heads: int, inner: int) -> None:
        self.net, self.width, self.heads, self.inner, self.norm = (
            net,
            width,
            heads,
            inner,
            Norm(net, "layer_none", width),
        )
        self.joint = net.linear("to_qkv_mlp_proj", width, 3 * width + 2 * inner)
        self.norms = [HeadNorm(net, width // heads, True) for _ in range(2)]
        self.out = net.linear("to_out", width + inner, width)
        self.tables: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, time: Tensor) -> Tensor:
        net, tape, width = self.net, self.net.tape, self.width
        conditioning = [
            part.view(x.shape[0], 1, width) for part in ops.split(tape, time, (width,) * SHARED)
        ][12:]
        seen, fed = ops.split(
            tape,
            self.joint(modulated(net, self.norm(x), conditioning[1], conditioning[0])),
            (3 * width, 2 * self.inner),
        )
        parts = ops.split(tape, seen, (width, width, width))
        rows = joined_attention(net, [headed(self.heads, self.norms, parts)], self.tables)
        whole = self.out(ops.cat(tape, (rows, gated(net, fed)), 2))
        return ops.add(tape, x, ops.mul(tape, conditioning[2], whole))


class Flux2:
    """Flux2Transformer2DModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config = net, config
        heads, self.head = config["num_attention_heads"], config["attention_head_dim"]
        self.width, self.channels, self.text = (
            heads * self.head,
            config["in_channels"],
            config["joint_attention_dim"],
        )
        width, inner, single = (
            self.width,
            int(self.width * (config.get("mlp_ratio") or 3.0)),
            config.get("num_single_layers") or 0,
        )
        if single > MOST:
            raise ValueError(
                f"num_single_layers: expected at most {MOST}, found {str(single)[:20]}"
            )
        waves = config.get("timestep_guidance_channels") or WAVES
        kinds = 2 if config.get("guidance_embeds", True) else 1
        self.conditioning = [
            (net.linear("linear_1", waves, width), net.linear("linear_2", width, width))
            for _ in range(kinds)
        ]
        self.shared = [net.linear("linear", width, count * width) for count in (6, 6, 3)]
        self.into, self.words = (
            net.linear("x_embedder", self.channels, width),
            net.linear("context_embedder", self.text, width),
        )
        self.doubles = [Flux2Block(net, width, heads, inner) for _ in range(config["num_layers"])]
        self.singles = [Flux2Single(net, width, heads, inner) for _ in range(single)]
        self.last, self.last_norm = (
            net.linear("linear", width, 2 * width),
            Norm(net, "layer_none", width),
        )
        self.out = net.linear("proj_out", width, config.get("out_channels") or self.channels)

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting, width = self.net, self.net.tape, self.net.setting, self.width
        count, tokens = latent_tokens(net), self.config.get("text_tokens") or TEXT_TOKENS
        latents = net.given(setting.batch, count, self.channels, dtype=setting.dtype)
        words = net.given(setting.batch, tokens, self.text, dtype=setting.dtype)
        time, shared = self._timed()
        x, y = self.into(latents), self.words(words)
        size = (count + tokens, self.head)
        tables = new(tape, size, F32), new(tape, size, F32)
        for block in self.doubles:
            block.tables = tables
            x, text = checkpointed_pair(net, block, x, y, shared)
            assert text is not None
            y = text
        x = ops.cat(tape, (y, x), 1)
        for single in self.singles:
            single.tables = tables
            x = checkpointed(net, single, x, shared)
        x = ops.cut(tape, x, (setting.batch, count, width))
        scale, shift = ops.split(tape, self.last(ops.keeping_input(tape, time)), (width, width))
        shape = (setting.batch, 1, width)
        x = self.out(modulated(net, self.last_norm(x), scale.view(*shape), shift.view(*shape)))
        return squared_error(net, x) if setting.training else x

    def _timed(self) -> tuple[Tensor, Tensor]:
        """The embedded time and guidance, and what all blocks are modulated by."""
        net, tape = self.net, self.net.tape
        time: Tensor | None = None
        for first, second in self.conditioning:
            wave = new(tape, (net.setting.batch, first.weight.shape[1]), net.setting.dtype)
            part = second(ops.keeping_input(tape, first(wave)))
            time = part if time is None else ops.add(tape, time, part)
        assert time is not None
        return time, ops.cat(tape, [layer(ops.keeping_input(tape, time)) for layer in self.shared])
