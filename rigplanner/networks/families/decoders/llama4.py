"""Llama 4 on the tape: rotation by complex numbers, layers without rotation, experts that are each
given every token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.attention import Attention, Rope
from rigplanner.networks.families.decoders.decoder import Decoder, Mlp
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new


class Llama4Attention(Attention):
    """Self-attention whose rotated heads are normed without weights, or whose unrotated queries are
    scaled by position."""

    def __init__(self, net: Net, form: Form, turns: bool, normed: bool, tuned: bool) -> None:
        super().__init__(net, form)
        self.turns, self.tuned = turns, tuned
        self.bare = Norm(net, "rms_bare", form.head_dim) if normed and turns else None

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        query, key, value = self._project(x)
        if self.turns:
            query, key = self._turned(query), self._turned(key)
        if self.bare is not None:
            query, key = self.bare(query), self.bare(key)
        if self.tuned and not self.turns:
            scales = new(tape, (1, 1, x.shape[1], 1), F32)
            query = ops.cast(tape, ops.mul(tape, query, scales), query.dtype)
        if self.net.setting.eager:
            result, weights = self._eager(query, key, value, mask)
        else:
            result, weights = self._fused(query, key, value, mask), None
        return self.out(result.view(x.shape[0], x.shape[1], form.heads * form.head_dim)), weights

    def _turned(self, x: Tensor) -> Tensor:
        """Pairs of float values as complex numbers, times those of the positions."""
        tape = self.net.tape
        return ops.cast(tape, ops.sub_self(tape, ops.cast(tape, x, F32)), x.dtype)


class Llama4Experts:
    """Routed experts as batched products over all tokens, scaled by their scores, which are zero
    for most; and the shared one."""

    def __init__(self, net: Net, form: Form, experts: int) -> None:
        self.net, self.experts, self.ffn = net, experts, form.ffn
        self.up = net.parameter(experts, form.hidden, 2 * form.ffn)
        self.down = net.parameter(experts, form.ffn, form.hidden)
        self.router = net.linear("router", form.hidden, experts)
        self.shared = Mlp(net, form)

    def __call__(self, x: Tensor) -> Tensor:
        tape, experts = self.net.tape, self.experts
        tokens, width = x.shape[0] * x.shape[1], x.shape[2]
        flat = x.view(tokens, width)
        odds = self.router(flat)
        _best = new(tape, (tokens, 1), odds.dtype), new(tape, (tokens, 1), I64)
        scores = ops.keeping_result(tape, ops.cast(tape, ops.sub_self(tape, odds), F32))
        scores = ops.copy(tape, ops.cast(tape, scores, odds.dtype)).view(experts, tokens, 1)
        every = ops.resized(tape, flat, (experts, tokens, width))
        every = ops.mul(tape, every, scores)
        routed = self._routed(every)
        result = self.shared(flat)
        result = ops.add_in_place(
            tape, result, ops.reduce_to(tape, routed, (tokens, width), spreads=False)
        )
        return result.view(*x.shape)

    def _routed(self, every: Tensor) -> Tensor:
        tape, (experts, tokens, width) = self.net.tape, every.shape
        gate, up = ops.split(
            tape,
            ops.bmm(tape, every, self.up, (experts, tokens, 2 * self.ffn)),
            (self.ffn, self.ffn),
        )
        inner = ops.mul(tape, up, ops.keeping_input(tape, gate))
        return ops.bmm(tape, inner, self.down, (experts, tokens, width))


def llama4(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration of Llama 4's text part (transformers, Llama4TextConfig)."""
    turned, sparse = config["layer_types"], config["moe_layers"]
    normed, tuned = (
        bool(config.get("use_qk_norm", True)),
        bool(config.get("attn_temperature_tuning", True)),
    )
    experts = pick(config, "num_experts", "num_local_experts")
    wide = structs.replace(form, ffn=config["intermediate_size_mlp"])

    def attends(net: Net, form: Form, at: int) -> Llama4Attention:
        return Llama4Attention(net, form, turned[at] != "full_attention", normed, tuned)

    def feed(net: Net, form: Form, at: int) -> Mlp | Llama4Experts:
        return Llama4Experts(net, form, experts) if at in sparse else Mlp(net, wide)

    return lambda net: Decoder(net, form, feed, attends)
