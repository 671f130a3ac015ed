"""Denoising transformers of two streams on the tape, image and text: Stable Diffusion 3 and Flux,
from the config.json of their diffusers component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.diffusion.latent_unet import LATENT, MOST, squared_error
from rigplanner.networks.families.vision.convnets import bare_conv
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, reciprocal_root
from rigplanner.networks.tracer.tape import F32, Grads, Tensor, backward, new, record

WAVES = 256
"""Values that a time is spread to before it is embedded."""

Pair = tuple[Tensor, Tensor | None]


def checkpointed_pair(
    net: Net, block: Callable[..., Pair], x: Tensor, y: Tensor, time: Tensor
) -> Pair:
    """A block of two streams of which only the inputs are kept; the backward pass runs it again."""
    tape = net.tape
    if not (net.setting.checkpointing and net.setting.training):
        return block(x, y, time)
    recording, tape.recording = tape.recording, False
    first, second = block(x, y, time)
    tape.recording = recording
    kept = [x, y, time]
    slots: list[Tensor] = []

    def pull(grad: Tensor) -> Grads:
        leaves = [
            Tensor(item.shape, item.dtype, item.storage, None, item.needs_grad) for item in kept
        ]
        before, tape.casts, off, tape.autocast = tape.casts, {}, tape.autocast, tape.low
        grads = {piece.shape: piece for piece in (*slots, grad)}
        slots.clear()
        tape.saves()
        again = [
            item
            for item in block(*leaves)
            if item is not None and item.node is not None and item.shape in grads
        ]
        tape.stop_at_last_saved()
        tape.casts, tape.autocast = before, off
        parts = [grads.get(item.shape) for item in again]
        root = record(tape, Tensor((), F32, ops.NOWHERE), again, lambda _: parts)
        grads.clear()
        again.clear()
        if root.node is not None:
            backward(tape, root.node, root)
        made = [leaf.grad for leaf in leaves]
        tape.gradient_bytes -= sum(item.storage.bytes for item in made if item is not None)
        return made

    trained = (
        Tensor((1,), x.dtype, x.storage, None, True) if not x.needs_grad and net.trained else x
    )
    record(tape, first, (trained, y, time), pull, joins=True)
    if first.node is not None:
        first.node.slots = slots
    if second is not None:
        second.node = first.node
    return first, second


class Modulated:
    """A bare layer norm scaled and shifted by pieces of the embedded time; the pieces that remain
    are for its caller."""

    def __init__(self, net: Net, width: int, pieces: int) -> None:
        self.net, self.pieces = net, pieces
        self.linear, self.norm = (
            net.linear("linear", width, pieces * width, True),
            Norm(net, "layer_none", width),
        )

    def __call__(self, x: Tensor, time: Tensor) -> tuple[Tensor, list[Tensor]]:
        tape, width = self.net.tape, x.shape[2]
        conditioning = self.linear(ops.keeping_input(tape, time))
        pieces = [
            part.view(x.shape[0], 1, width)
            for part in ops.split(tape, conditioning, (width,) * self.pieces)
        ]
        return modulated(self.net, self.norm(x), pieces[1], pieces[0]), pieces[2:]


def modulated(net: Net, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """x * (1 + scale) + shift"""
    y = ops.mul(net.tape, x, ops.shift(net.tape, scale))
    return ops.add(net.tape, y, shift)


class HeadNorm:
    """A root-mean-square norm of every head: torch.nn.RMSNorm (`native`), fused on a GPU, or as
    diffusers writes it."""

    def __init__(self, net: Net, width: int, native: bool) -> None:
        self.net, self.weight, self.native = net, net.parameter(width), native

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.native and not tape.semantics.explicit_mask:
            return ops.layer_norm(tape, x, self.weight, None)
        wide = ops.cast(tape, x, F32)
        root = reciprocal_root(tape, ops.shift(tape, ops.mean_last(tape, ops.square(tape, wide))))
        if self.native:
            return ops.cast(tape, ops.mul(tape, ops.mul(tape, wide, root), self.weight), x.dtype)
        y = ops.mul(tape, x, root)
        return ops.mul(tape, ops.cast(tape, y, self.weight.dtype), self.weight)


class Stream:
    """Projections of one stream to query, key and value, with norms of the heads where the network
    has them, and back."""

    def __init__(
        self,
        net: Net,
        width: int,
        heads: int,
        norm: str,
        names: tuple[str, str, str, str],
        out: bool = True,
    ) -> None:
        self.net, self.heads = net, heads
        self.layers = [net.linear(name, width, width, True) for name in names[:3]]
        self.norms = (
            [HeadNorm(net, width // heads, norm == "native") for _ in range(2)] if norm else []
        )
        self.out = net.linear(names[3], width, width, True) if out else None

    def __call__(self, x: Tensor) -> list[Tensor]:
        """Query, key and value of every head."""
        made = [layer(x) for layer in self.layers]
        shape = (x.shape[0], self.heads, x.shape[1], x.shape[2] // self.heads)
        parts = [part.view(*shape) for part in made]
        del made
        for at, norm in enumerate(self.norms):
            parts[at] = norm(parts[at])
        return parts


OWN = ("to_q", "to_k", "to_v", "to_out.0")
ADDED = ("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out")


def turned(net: Net, x: Tensor, tables: tuple[Tensor, Tensor] | None) -> Tensor:
    """Neighbours rotated as pairs, in float (apply_rotary_emb)."""
    if tables is None:
        return x
    tape, half = net.tape, (*x.shape[:-1], x.shape[-1] // 2)
    real, other = (Tensor(half, x.dtype, x.storage, x.node) for _ in range(2))
    source = x.shape
    if x.needs_grad and tape.recording:
        both = record(
            tape,
            Tensor(half, x.dtype, x.storage),
            (x,),
            lambda grad: (new(tape, source, grad.dtype),),
            joins=True,
        )
        real.node = other.node = both.node
    pairs = ops.cat(tape, (ops.sub_self(tape, other), real))
    del real, other
    first = ops.mul(tape, ops.cast(tape, x, F32), tables[0])
    wide = ops.add(tape, first, ops.mul(tape, ops.cast(tape, pairs, F32), tables[1]))
    del first
    return ops.cast(tape, wide, x.dtype)


def joined_attention(
    net: Net, streams: list[list[Tensor]], tables: tuple[Tensor, Tensor] | None
) -> Tensor:
    """Attention over the tokens of all streams, as rows."""
    tape = net.tape
    query, key, value = (
        ops.cat(tape, [parts[at] for parts in streams], 2) if len(streams) > 1 else streams[0][at]
        for at in range(3)
    )
    streams.clear()
    query = turned(net, query, tables)
    key = turned(net, key, tables)
    y = attend(net, query, key, value, None, 0.0)
    return y.view(y.shape[0], y.shape[2], y.shape[1] * y.shape[3])


class Feed:
    """Two linear layers and GELU."""

    def __init__(self, net: Net, width: int, inner: int) -> None:
        self.net = net
        self.up, self.down = (
            net.linear("ff.net.0.proj", width, inner, True),
            net.linear("ff.net.2", inner, width, True),
        )

    def __call__(self, x: Tensor) -> Tensor:
        return self.down(ops.keeping_input(self.net.tape, self.up(x)))


class JointBlock:
    """Both streams modulated, attention over both, feed-forward layers; the last block of Stable
    Diffusion 3 drops the text."""

    def __init__(self, net: Net, width: int, heads: int, norm: str, last: bool, dual: bool) -> None:
        self.net, self.last = net, last
        self.first, self.text_first = (
            Modulated(net, width, 9 if dual else 6),
            Modulated(net, width, 2 if last else 6),
        )
        self.own = Stream(net, width, heads, norm, OWN)
        self.added = Stream(net, width, heads, norm, ADDED, out=not last)
        self.second = Stream(net, width, heads, norm, OWN) if dual else None
        self.norm, self.feed = Norm(net, "layer_none", width), Feed(net, width, 4 * width)
        self.text_norm = None if last else Norm(net, "layer_none", width)
        self.text_feed = None if last else Feed(net, width, 4 * width)
        self.tables: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> Pair:
        tape = self.net.tape
        normed, conditioning = self.first(x, time)
        again = (
            modulated(self.net, self.first.norm(x), conditioning[5], conditioning[4])
            if self.second is not None
            else None
        )
        text, text_told = self.text_first(y, time)
        seen, text_seen = self._attended(normed, text)
        x = ops.add(tape, x, ops.mul(tape, conditioning[0], seen))
        if self.second is not None and again is not None and self.second.out is not None:
            seen = self.second.out(joined_attention(self.net, [self.second(again)], None))
            x = ops.add(tape, x, ops.mul(tape, conditioning[6], seen))
        x = self._fed(x, conditioning, self.norm, self.feed)
        if text_seen is None or self.text_norm is None or self.text_feed is None:
            return x, None
        y = ops.add(tape, y, ops.mul(tape, text_told[0], text_seen))
        return x, self._fed(y, text_told, self.text_norm, self.text_feed)

    def _attended(self, x: Tensor, y: Tensor) -> Pair:
        tape = self.net.tape
        rows = joined_attention(self.net, [self.own(x), self.added(y)], self.tables)
        image, text = ops.split_rows(tape, rows, (x.shape[1], y.shape[1]))
        assert self.own.out is not None
        beside = None if self.added.out is None else self.added.out(ops.copy(tape, text))
        return self.own.out(ops.copy(tape, image)), beside

    def _fed(self, x: Tensor, conditioning: list[Tensor], norm: Norm, feed: Feed) -> Tensor:
        normed = modulated(self.net, norm(x), conditioning[2], conditioning[1])
        return ops.add(self.net.tape, x, ops.mul(self.net.tape, conditioning[3], feed(normed)))


class SingleBlock:
    """One stream of both kinds of tokens, attention and feed-forward layer side by side (Flux)."""

    def __init__(self, net: Net, width: int, heads: int, norm: str = "native") -> None:
        self.net, self.norm = net, Modulated(net, width, 3)
        self.up, self.out = (
            net.linear("proj_mlp", width, 4 * width, True),
            net.linear("proj_out", 5 * width, width, True),
        )
        self.own = Stream(net, width, heads, norm, OWN, out=False)
        self.tables: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor, y: Tensor, time: Tensor) -> Pair:
        tape, sizes = self.net.tape, (y.shape[1], x.shape[1])
        both = ops.cat(tape, (y, x), 1)
        normed, conditioning = self.norm(both, time)
        fed = ops.keeping_input(tape, self.up(normed))
        seen = joined_attention(self.net, [self.own(normed)], self.tables)
        wide = ops.cat(tape, (seen, fed), 2)
        whole = ops.add(tape, both, ops.mul(tape, conditioning[0], self.out(wide)))
        text, image = (
            ops.cut(tape, whole, (whole.shape[0], size, whole.shape[2])) for size in sizes
        )
        return image, text


class JointTransformer:
    """SD3Transformer2DModel and FluxTransformer2DModel of diffusers."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.turns = net, config, config["model_type"] == "flux_transformer"
        heads = config["num_attention_heads"]
        width, self.patch = (
            heads * config["attention_head_dim"],
            config.get("patch_size") or (1 if self.turns else 2),
        )
        self.width, self.head = width, config["attention_head_dim"]
        self.channels, self.text = config["in_channels"], config["joint_attention_dim"]
        pooled, self.pooled = config["pooled_projection_dim"], config["pooled_projection_dim"]
        if self.turns:
            self.into: Any = net.linear("x_embedder", self.channels, width, True)
        else:
            self.into = bare_conv(
                net, self.channels, width, self.patch, stride=self.patch, padding=0
            )
            net.buffer((config.get("pos_embed_max_size") or 96) ** 2, width)
        kinds = [WAVES, WAVES, pooled] if config.get("guidance_embeds") else [WAVES, pooled]
        self.conditioning = [
            (net.linear("linear_1", size, width, True), net.linear("linear_2", width, width, True))
            for size in kinds
        ]
        self.words = net.linear("context_embedder", self.text, width, True)
        norm, count = "native" if self.turns else config.get("qk_norm") or "", config["num_layers"]
        dual = config.get("dual_attention_layers") or ()
        self.blocks: list[Any] = [
            JointBlock(net, width, heads, norm, not self.turns and at + 1 == count, at in dual)
            for at in range(count)
        ]
        single = config.get("num_single_layers") or 0
        if single > MOST:
            raise ValueError(
                f"num_single_layers: expected at most {MOST}, found {str(single)[:20]}"
            )
        self.blocks += [SingleBlock(net, width, heads) for _ in range(single)]
        self.last = Modulated(net, width, 2)
        self.out = net.linear(
            "proj_out", width, self.patch**2 * (config.get("out_channels") or self.channels), True
        )

    def loss(self) -> Tensor:
        """The squared error of the flow; without training, the flow."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        high, wide = (side // LATENT for side in setting.sides or (setting.length, setting.length))
        tokens = self.config.get("text_tokens") or (512 if self.turns else 333)
        shape = (high * wide // 4, self.channels) if self.turns else (self.channels, high, wide)
        latents = net.given(setting.batch, *shape, dtype=setting.dtype)
        words = net.given(setting.batch, tokens, self.text, dtype=setting.dtype)
        x = self._embedded(latents)
        time = self._timed()
        y = self.words(words)
        tables = None
        if self.turns:
            size = (x.shape[1] + tokens, self.head)
            tables = new(tape, size, F32), new(tape, size, F32)
        for block in self.blocks:
            block.tables = tables
            x, text = checkpointed_pair(net, block, x, y, time)
            y = text if text is not None else y
        x, _ = self.last(x, time)
        x = self.out(x)
        if not self.turns:
            x = ops.copy(tape, x)
        return squared_error(net, x) if setting.training else x

    def _embedded(self, latents: Tensor) -> Tensor:
        tape = self.net.tape
        if self.turns:
            made: Tensor = self.into(latents)
            return made
        x = self.into(latents)
        rows = (x.shape[0], x.shape[2] * x.shape[3], x.shape[1])
        placed = new(tape, (1, *rows[1:]), F32)
        x = ops.cast(tape, ops.add(tape, x.view(*rows), placed), x.dtype)
        return ops.copy(tape, x)

    def _timed(self) -> Tensor:
        """The embedded time, guidance and pooled prompt, summed."""
        tape, total = self.net.tape, None
        for first, second in self.conditioning:
            wave = new(
                tape, (self.net.setting.batch, first.weight.shape[1]), self.net.setting.dtype
            )
            part = second(ops.keeping_input(tape, first(wave)))
            total = part if total is None else ops.add(tape, total, part)
        assert total is not None
        return total
