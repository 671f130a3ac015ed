"""Decoders of several streams of states that every layer joins and parts again (hyper-connections,
arXiv 2409.19606): HY-V4."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import Rope
from rigplanner.networks.families.decoders.decoder import Attends, Decoder, Feed
from rigplanner.networks.families.decoders.decoder_forms import expert_form
from rigplanner.networks.families.decoders.eager_scores import below_greatest
from rigplanner.networks.families.decoders.indexed_attention import (
    IndexedAttention,
    Indexer,
    picking,
)
from rigplanner.networks.families.decoders.moe import feeding
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, reciprocal_root
from rigplanner.networks.tracer.tape import F32, Tensor


class Joined:
    """Streams joined by weights that all of them tell, in float, and the weights by which a result
    is parted again (`parts`)."""

    def __init__(self, net: Net, hidden: int, streams: int, parts: bool) -> None:
        self.net, self.streams, self.parts = net, streams, parts
        told = streams * (2 if parts else 1)
        self.weight = net.parameter(told, streams * hidden, dtype=F32)
        self.base, self.scale = (
            net.parameter(told, dtype=F32),
            net.parameter(2 if parts else 1, dtype=F32),
        )

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        tape = self.net.tape
        autocast, tape.autocast = tape.autocast, None
        flat = ops.cast(tape, x.view(*x.shape[:2], x.shape[2] * x.shape[3]), F32)
        mixed = ops.linear(tape, flat, self.weight)
        root = reciprocal_root(tape, ops.shift(tape, ops.mean_last(tape, ops.square(tape, flat))))
        mixed = ops.mul(tape, mixed, root)
        sides = ops.split(tape, mixed, (self.streams, self.streams)) if self.parts else [mixed]
        odds = [self._odds(side) for side in sides]
        joined = ops.mul(tape, odds[0].view(*odds[0].shape, 1), x)
        joined = ops.reduce_to(tape, joined, (*x.shape[:2], x.shape[3]), spreads=False)
        tape.autocast = autocast
        return ops.cast(tape, joined, x.dtype), odds[1] if self.parts else None

    def _odds(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        sides = (1, self.scale), (x.shape[-1], self.base)
        scale, base = (
            Tensor((width,), F32, side.storage, None, side.trains) for width, side in sides
        )
        return ops.shift(
            tape, ops.keeping_result(tape, ops.add(tape, ops.mul(tape, x, scale), base))
        )


class StreamBlock:
    """One layer: streams are joined for attention and for the feed-forward layer, whose results are
    added to each of them."""

    def __init__(
        self,
        net: Net,
        form: Form,
        feed: Feed,
        at: int,
        attends: Callable[[Net, Form, int], Attends],
        streams: int,
    ) -> None:
        self.net = net
        self.attention, self.mlp = attends(net, form, at), feed(net, form, at)
        self.norms = [Norm(net, form.traits.norm, form.hidden) for _ in range(2)]
        self.joined = [Joined(net, form.hidden, streams, True) for _ in range(2)]
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        streams = x
        x, parts = self.joined[0](streams)
        x, _weights = self.attention(self.norms[0](x), rope, mask)
        streams = self._parted(x, parts, streams)
        del _weights
        x, parts = self.joined[1](streams)
        x = self.mlp(self.norms[1](x))
        return self._parted(x, parts, streams)

    def _parted(self, x: Tensor, parts: Tensor | None, streams: Tensor) -> Tensor:
        tape = self.net.tape
        assert parts is not None
        wide = ops.cast(tape, x, F32)
        spread = ops.mul(tape, parts.view(*parts.shape, 1), wide.view(*x.shape[:2], 1, x.shape[2]))
        del wide
        return ops.cast(tape, ops.add(tape, spread, ops.cast(tape, streams, F32)), streams.dtype)


class StreamDecoder(Decoder):
    """A decoder whose embedded tokens are copied to streams, which are joined at the end."""

    streams = 1
    joined: Joined

    def before(self, x: Tensor) -> Tensor:
        return ops.resized(self.net.tape, x, (*x.shape[:2], self.streams, x.shape[2]))

    def after(self, x: Tensor) -> Tensor:
        return self.joined(x)[0]


class GatedPicks(IndexedAttention):
    """Attention whose result is gated value by value, with a sink for every head."""

    def __init__(self, net: Net, form: Form, indexer: Indexer | None, shared: list[Tensor]) -> None:
        super().__init__(net, form, indexer, shared)
        self.beside = net.linear("gate_proj", form.hidden, form.heads * self.latent.value)
        self.sinks = net.parameter(form.heads)

    def _asked(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.gate = self.beside(x)
        return super()._asked(x)

    def _weighed(self, result: Tensor, x: Tensor) -> Tensor:
        tape, gate = self.net.tape, self.gate
        self.gate = None
        assert gate is not None
        return ops.mul(tape, result, ops.keeping_result(tape, gate))

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form = self.net.tape, self.form
        square = (*query.shape[:3], query.shape[2])
        weights = ops.sub_self(tape, self._scores(query, key, True, square))
        weights = weights if mask is None else ops.add(tape, weights, mask)
        weights = below_greatest(tape, weights, self.sinks)
        weights = ops.dropout(
            tape, weights, form.traits.attention_dropout, self.net.setting.training
        )
        result = ops.bmm(tape, weights, ops.packed(tape, value), (*query.shape[:3], value.shape[3]))
        return ops.unpacked(tape, result), weights


def hy_v4(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, HYV4Config)."""
    form, feed, attends = (
        structs.replace(form, always_masked=True),
        feeding(expert_form(config)),
        picking(config, GatedPicks),
    )
    streams = config["hc_mult"]

    def made(net: Net) -> Decoder:
        decoder = StreamDecoder(
            net, form, feed, attends(net), partial(StreamBlock, streams=streams)
        )
        decoder.streams, decoder.joined = streams, Joined(net, form.hidden, streams, False)
        return decoder

    return made
