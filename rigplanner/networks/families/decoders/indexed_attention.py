"""Latent attention that looks at the tokens an indexer picks (DeepSeek-V3.2, GLM-5, A.X-K2), as
transformers writes it: by a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import (
    LatentAttention,
    Rope,
    rotate,
    rotate_pairs,
)
from rigplanner.networks.families.decoders.decoder import Block, Decoder, Feed, Mlp
from rigplanner.networks.families.decoders.decoder_forms import expert_form
from rigplanner.networks.families.decoders.moe import feeding
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Tensor, new


class Indexer:
    """Scores of every token before every token by heads of its own, and the best of them. It has no
    gradient."""

    def __init__(self, net: Net, form: Form, config: dict[str, Any]) -> None:
        assert form.latent is not None
        self.net, self.turned, self.paired = (
            net,
            form.latent.turned,
            config["model_type"] == "glm_moe_dsa",
        )
        self.scaled = config["model_type"] != "hy_v4"
        self.heads, self.width, self.best = (
            config[name] for name in ("index_n_heads", "index_head_dim", "index_topk")
        )
        with net.unreached():
            self.query = net.linear("wq_b", form.latent.query_rank, self.heads * self.width)
            self.key, self.norm = (
                net.linear("wk", form.hidden, self.width),
                Norm(net, "layer", self.width),
            )
            self.weights = net.linear("weights_proj", form.hidden, self.heads)

    def __call__(self, x: Tensor, asked: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, (batch, length) = self.net.tape, x.shape[:2]
        recording, tape.recording = tape.recording, False
        query = self.query(asked).view(batch, length, self.heads, self.width)
        key = self.norm(self.key(x)).view(batch, length, 1, self.width)
        turned = [self._turned(side, rope) for side in (query, key)]
        whole = [
            ops.cat(tape, (one, self._rest(side)))
            for one, side in zip(turned, (query, key), strict=True)
        ]
        scores = self._scores(whole[0], whole[1])
        scores = ops.keeping_result(tape, scores)
        weights = ops.sub_self(tape, ops.cast(tape, self.weights(x), F32))
        picked = ops.bmm(
            tape, weights.view(batch, length, 1, self.heads), scores, (batch, length, 1, length)
        )
        picked = picked.view(batch, length, length)
        contrary = (
            new(tape, (batch, length, length), BOOL)
            if mask is not None and mask.dtype == BOOL
            else None
        )
        picked = ops.sub_self(tape, picked)
        del contrary
        best = (batch, length, min(self.best, length))
        found = new(tape, best, picked.dtype), new(tape, best, I64)
        chosen = new(tape, best, F32)
        del found
        tape.recording = recording
        return chosen

    def _turned(self, x: Tensor, rope: Rope | None) -> Tensor:
        part = ops.cut(self.net.tape, x, (*x.shape[:-1], self.turned))
        if rope is None:
            return part
        cos, sin = (
            Tensor((1, x.shape[1], 1, self.turned), side.dtype, side.storage) for side in rope
        )
        if not self.paired:
            return rotate(self.net.tape, part, (cos, sin))
        flat = part.view(x.shape[0], x.shape[2], x.shape[1], self.turned)
        return rotate_pairs(self.net.tape, flat, rope).view(*part.shape)

    def _rest(self, x: Tensor) -> Tensor:
        return ops.cut(self.net.tape, x, (*x.shape[:-1], x.shape[-1] - self.turned))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Every token's heads by all keys: the product copies the keys for every token of every
        sequence but a single one."""
        tape, (batch, length) = self.net.tape, query.shape[:2]
        query, key = ops.cast(tape, query, F32), ops.cast(tape, key, F32)
        query, key = ops.cast_low(tape, query), ops.cast_low(tape, key)
        spread = (batch, length, self.width, length)
        keys = (
            Tensor(spread, key.dtype, key.storage) if batch == 1 else new(tape, spread, key.dtype)
        )
        product = ops.bmm(tape, query, keys, (batch, length, self.heads, length))
        del keys
        return ops.sub_self(tape, product) if self.scaled else product


class IndexedAttention(LatentAttention):
    """Latent attention under a mask of the tokens that are picked, by an indexer of its own or by
    that of a layer before."""

    picks = True

    def __init__(self, net: Net, form: Form, indexer: Indexer | None, shared: list[Tensor]) -> None:
        super().__init__(net, form)
        self.indexer, self.shared = indexer, shared

    def _masked(
        self, mask: Tensor | None, x: Tensor, asked: Tensor | None, rope: Rope | None
    ) -> tuple[Tensor | None, Sequence[Tensor]]:
        """What the causal mask hides, and what was not picked."""
        tape = self.net.tape
        if self.indexer is not None and asked is not None:
            self.shared[:] = [self.indexer(x, asked, rope, mask)]
        picked, square = self.shared[0], (x.shape[0], 1, x.shape[1], x.shape[1])
        _ones, _indices = new(tape, square, BOOL), new(tape, picked.shape, I64)
        hidden = new(tape, square, BOOL)
        del _ones, _indices
        contrary = new(tape, square, BOOL) if mask is None or mask.dtype == BOOL else None
        made = new(tape, square, BOOL if mask is None else mask.dtype)
        del contrary
        return made, (picked, hidden)


Picks = type[IndexedAttention]


def picking(
    config: dict[str, Any], attention: Picks = IndexedAttention
) -> Callable[[Net], Callable[[Net, Form, int], Any]]:
    """Makes the attention of every layer; those without an indexer of their own share what the
    layer before picked."""
    kinds = config.get("indexer_types")

    def made(net: Net) -> Callable[[Net, Form, int], Any]:
        shared: list[Tensor] = []

        def attends(net: Net, form: Form, at: int) -> IndexedAttention:
            own = None if kinds and kinds[at] == "shared" else Indexer(net, form, config)
            return attention(net, form, own, shared)

        return attends

    return made


def indexed(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, DeepseekV32Config, GlmMoeDsaConfig)."""
    form, feed, attends = (
        structs.replace(form, always_masked=True),
        feeding(expert_form(config)),
        picking(config),
    )
    return lambda net: Decoder(net, form, feed, attends(net))


class GatedQueries(IndexedAttention):
    """Queries and a gate are made together of what was compressed, normed and not (A.X-K2)."""

    def _query_of(self, net: Net, rank: int, wide: int) -> Linear:
        return net.linear("q_gate_proj", 2 * rank, wide + self.form.heads * self.latent.value)

    def _asked(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tape, latent, heads = self.net.tape, self.latent, self.form.heads
        assert self.squeeze is not None and self.query_norm is not None
        low = self.squeeze(x)
        asked = self.query_norm(low)
        width = latent.plain + latent.turned
        both = self.query(ops.cat(tape, (asked, low))).view(
            *x.shape[:2], heads, width + latent.value
        )
        query, gate = ops.split(tape, both, (width, latent.value))
        self.gate = ops.copy(tape, gate)
        return asked, query

    def _weighed(self, result: Tensor, x: Tensor) -> Tensor:
        tape, gate = self.net.tape, self.gate
        self.gate = None
        assert gate is not None
        odds = ops.keeping_result(tape, ops.cast(tape, gate.view(*result.shape), F32))
        return ops.cast(tape, ops.mul(tape, result, odds), result.dtype)


class GatedNorm:
    """A norm whose result is weighed by two narrow layers of itself."""

    def __init__(self, net: Net, norm: Norm, hidden: int, rank: int) -> None:
        self.net, self.norm = net, norm
        self.down, self.up = net.linear("fc1", hidden, rank), net.linear("fc2", rank, hidden)

    def __call__(self, x: Tensor) -> Tensor:
        tape, y = self.net.tape, self.norm(x)
        odds = self.up(ops.keeping_input(tape, self.down(y)))
        odds = ops.keeping_result(tape, ops.cast(tape, odds, F32))
        return ops.cast(tape, ops.mul(tape, y, odds), y.dtype)


def axk2(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, AXK2Config)."""
    form, feed, attends = (
        structs.replace(form, always_masked=True),
        feeding(expert_form(config)),
        picking(config, GatedQueries),
    )
    rank = config["gated_norm_rank"]

    def block(net: Net, form: Form, feed: Feed, at: int, attends: Any) -> Block:
        made = Block(net, form, feed, at, attends)
        sides = 1 if isinstance(made.mlp, Mlp) else 2
        gated: list[Any] = [GatedNorm(net, norm, form.hidden, rank) for norm in made.norms[:sides]]
        made.norms = [*gated, *made.norms[sides:]]
        return made

    return lambda net: Decoder(net, form, feed, attends(net), block)
