"""Gemma 3n on the tape: several streams of states that a layer predicts and corrects, and an
embedding for every layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rigplanner.networks.families.decoders.attention import Rope, activate, rope_tables
from rigplanner.networks.families.decoders.decoder import Decoder, causal_mask
from rigplanner.networks.families.decoders.gemma4 import GemmaAttention, Shared, Sides
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.products import added_in_place, dense, matmul, stacked, written
from rigplanner.networks.tracer.strided import Array, array
from rigplanner.networks.tracer.tape import Tensor


class Streams(Struct, frozen=True, kw_only=True):
    """What Gemma 3n has besides Gemma 4's: how many streams, the rank of the bypass, and by layer
    the widths of the feed-forward parts and whether most of their gates are zeroed."""

    count: int
    rank: int
    ffn: tuple[int, ...]
    sparse: tuple[bool, ...]
    corrects_scale: bool


class AltUp:
    """Predicts all streams from one another, and corrects them by what the layer made of one (arXiv
    2301.13310)."""

    def __init__(self, net: Net, hidden: int, streams: Streams) -> None:
        self.net, self.count = net, streams.count
        self.scale = net.parameter(hidden)
        self.correction = net.linear("correction_coefs", self.count, self.count)
        self.prediction = net.linear("prediction_coefs", self.count, self.count**2)
        self.router, self.norm = (
            net.linear("modality_router", hidden, self.count),
            Norm(net, "rms_wide", hidden),
        )

    def _modes(self, x: Array) -> Array:
        tape = self.net.tape
        routed = dense(self.router, -array(tape, self.norm(x)))
        return routed.float().of_result().to(x.dtype)

    def predict(self, states: Array) -> Array:
        """All streams before the layer."""
        modes = self._modes(states.pick(0))
        coefs = (
            dense(self.prediction, modes)
            .reshape(*modes.shape[:-1], self.count, self.count)
            .permute(0, 1, 3, 2)
        )
        made = matmul(states.permute(1, 2, 3, 0), coefs).permute(3, 0, 1, 2)
        made = added_in_place(made, states)
        return made.contiguous().to(states.dtype)

    def correct(self, predictions: Array, made: Array) -> Array:
        """All streams after it."""
        modes = self._modes(made)
        news = made - predictions.pick(0)
        news = news.tiled(self.count)
        coefs = (dense(self.correction, modes) + 1.0).permute(2, 0, 1).unsqueeze(-1)
        corrected = news * coefs
        return added_in_place(corrected, predictions).contiguous().to(made.dtype)


class Feed:
    """The feed-forward part; a gate may keep only what stands out of its row."""

    def __init__(self, net: Net, form: Form, ffn: int, sparse: bool) -> None:
        self.net, self.sparse, self.act = net, sparse, form.traits.act
        self.gate, self.up = (
            net.linear("gate_proj", form.hidden, ffn),
            net.linear("up_proj", form.hidden, ffn),
        )
        self.down = net.linear("down_proj", ffn, form.hidden)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        gate = self.gate(x)
        if self.sparse:
            whole = array(tape, gate)
            cutoff = whole.mean(-1) + -whole.deviation()
            gate = (whole - cutoff).of_result()
            del whole
        return self.down(ops.mul(tape, activate(tape, gate, self.act), self.up(x)))


class StreamBlock:
    """One layer."""

    def __init__(self, net: Net, form: Form, sides: Sides, streams: Streams, at: int) -> None:
        self.net, self.form, self.scaled = net, form, streams.corrects_scale
        self.attention, self.mlp = (
            GemmaAttention(net, form, sides, at),
            Feed(net, form, streams.ffn[at], streams.sparse[at]),
        )
        self.norms = [Norm(net, "rms_wide", form.hidden) for _ in range(6)]
        self.altup = AltUp(net, form.hidden, streams)
        self.left, self.right = (
            net.linear("linear_left", form.hidden, streams.rank),
            net.linear("linear_right", streams.rank, form.hidden),
        )
        self.gate = net.linear("per_layer_input_gate", form.hidden, sides.width)
        self.back = net.linear("per_layer_projection", sides.width, form.hidden)

    def __call__(
        self, states: Tensor, rope: Rope, mask: Tensor | None, own: Tensor, shared: Shared
    ) -> Tensor:
        tape, norms = self.net.tape, self.norms
        predictions = self.altup.predict(array(tape, states))
        active = predictions.pick(0)
        normed = norms[0](active)
        beside = ops.add(tape, normed, norms[4](self.right(self.left(normed))))
        attended = self.attention.attended(normed, rope, mask, shared)
        attended = norms[1](attended)
        gated = ops.add(tape, active, attended)
        both = ops.sub_self(tape, ops.add(tape, gated, beside))
        before = norms[2](both)
        fed = self.mlp(before)
        after = norms[3](fed)
        made = array(tape, ops.add(tape, both, after))
        corrected = self.altup.correct(predictions, made)
        first: Tensor = corrected.pick(0).copy()
        if self.scaled:
            first = ops.mul(tape, first, self.altup.scale)
        first = activate(tape, self.gate(first), self.form.traits.act)
        first = ops.mul(tape, first, own)
        first = norms[5](self.back(first))
        rest = corrected.cut(0, corrected.shape[0] - 1)
        return written(corrected, added_in_place(rest, first))


class Gemma3n(Decoder):
    """The text part of Gemma 3n (transformers, Gemma3nForCausalLM)."""

    def __init__(self, net: Net, form: Form, sides: Sides, streams: Streams) -> None:
        self.net, self.form, self.sides, self.streams = net, form, sides, streams
        self.table = net.parameter(form.vocab, form.hidden)
        self.layers = [StreamBlock(net, form, sides, streams, at) for at in range(form.layers)]
        self.norm = Norm(net, "rms_wide", form.hidden)
        self.head = Linear(
            net, self.table if form.tied else net.parameter(form.vocab, form.hidden), None
        )
        self.side_table = net.parameter(sides.vocab, form.layers * sides.width)
        self.side = net.linear("per_layer_model_projection", form.hidden, form.layers * sides.width)
        self.side_norm = Norm(net, "rms_wide", sides.width)
        self.spread, self.joined = (
            [net.linear(name, form.hidden, form.hidden) for _ in range(streams.count - 1)]
            for name in ("altup_projections", "altup_unembed_projections")
        )

    def hidden(self) -> Tensor:
        """The states after the last norm."""
        net, form, tape, sides = self.net, self.form, self.net.tape, self.sides
        shape = (net.setting.batch, net.setting.length)
        embedded = array(
            tape, ops.sub_self(tape, entering(net, ops.embedding(tape, self.table, shape)))
        )
        each = self._each(embedded, shape)
        masks = {kind: causal_mask(net, embedded.dtype) for kind in set(sides.kinds)}
        states: Tensor
        states, held = self._streams(embedded, [embedded] * (self.streams.count - 1), self.spread)
        ropes = {kind: rope_tables(net, form.head_dim, embedded.dtype) for kind in masks}
        shared: Shared = {}
        for block, kind in zip(self.layers, sides.kinds, strict=True):
            own = ops.cut(tape, each, (*shape, sides.width))
            states = checkpointed(
                net, lambda y, o, b=block, k=kind: b(y, ropes[k], masks[k], o, shared), states, own
            )
        last = array(tape, states)
        pieces = [last.pick(0) for _ in range(self.streams.count)]
        del held[:-1]
        whole, more = self._streams(pieces[0], pieces[1:], self.joined)
        mean = whole.mean(0).reshape(*embedded.shape)
        assert self.norm is not None
        made = self.norm(mean)
        del embedded, each, pieces, whole, held, more
        return made

    def _streams(
        self, first: Array, others: list[Array], layers: list[Linear]
    ) -> tuple[Array, list[Array]]:
        """Several streams of one size: each projected and brought to the size of the first; and
        what lives beside them."""
        target = first.squared().mean(-1).of_input()
        made, projected = [first], first
        for source, layer in zip(others, layers, strict=True):
            projected = dense(layer, source).to(first.dtype)
            size = projected.squared().mean(-1).clamped().of_result()
            made.append(projected * target / size)
        return stacked(made), [*made, projected]

    def _each(self, x: Tensor, shape: tuple[int, int]) -> Tensor:
        """The embeddings of the tokens for every layer."""
        tape, sides = self.net.tape, self.sides
        deep = (*shape, self.form.layers, sides.width)
        told = ops.sub_self(tape, ops.embedding(tape, self.side_table, shape)).view(*deep)
        made = ops.scaled_in_place(tape, self.side(x))
        normed = self.side_norm(made.view(*deep))
        return ops.sub_self(tape, ops.add(tape, normed, told))


def gemma3n(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration of Gemma 3n's text part (transformers, Gemma3nTextConfig)."""
    count, ffn = form.layers, config["intermediate_size"]
    sides = Sides(
        kinds=tuple(config["layer_types"]),
        shared=count - (config.get("num_kv_shared_layers") or 0),
        width=config["hidden_size_per_layer_input"],
        vocab=config["vocab_size_per_layer_input"],
        head_dim=form.head_dim,
        kv_heads=form.kv_heads,
        one_projection=False,
        double=False,
        experts=None,
    )
    streams = Streams(
        count=config["altup_num_inputs"],
        rank=config["laurel_rank"],
        ffn=tuple(ffn) if isinstance(ffn, list) else (ffn,) * count,
        sparse=tuple(share > 0 for share in config["activation_sparsity_pattern"]),
        corrects_scale=bool(config.get("altup_correct_scale", True)),
    )
    return lambda net: Gemma3n(net, form, sides, streams)
