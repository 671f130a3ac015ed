"""Decoders whose attention is gated by a projection of its own: AFMoE, Laguna, LFM3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import Attention, Rope, rope_tables
from rigplanner.networks.families.decoders.decoder import Decoder, Mlp
from rigplanner.networks.families.decoders.moe import ExpertForm, Experts
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Tensor


class AfmoeAttention(Attention):
    """Self-attention whose result is gated value by value."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        self.beside = net.linear("gate_proj", form.hidden, form.heads * form.head_dim)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        made = super()._project(x)
        self.gate = self.beside(x)
        return made


class LateGate(Attention):
    """Self-attention whose result is gated when it is there, head by head or value by value: by a
    sigmoid, or `soft` by a softplus in float."""

    def __init__(self, net: Net, form: Form, by_head: bool, soft: bool) -> None:
        super().__init__(net, form)
        self.by_head, self.soft = by_head, soft
        self.beside = net.linear(
            "g_proj", form.hidden, form.heads * (1 if by_head else form.head_dim)
        )

    def _weighed(self, result: Tensor, x: Tensor) -> Tensor:
        tape, form, gate = self.net.tape, self.form, self.beside(x)
        if self.soft:
            gate = ops.cast(tape, ops.keeping_input(tape, ops.cast(tape, gate, F32)), result.dtype)
        else:
            gate = ops.keeping_result(tape, gate)
        if not self.by_head:
            return ops.mul(tape, result, gate)
        apart = result.view(*result.shape[:2], form.heads, form.head_dim)
        return ops.mul(tape, apart, gate.view(*gate.shape, 1)).view(*result.shape)


def _sparse(experts: ExpertForm) -> Callable[[Net, Form, int], Mlp | Experts]:
    """The feed-forward layers of a network with experts, beside which a bias stands that never
    trains."""

    def feed(net: Net, form: Form, at: int) -> Mlp | Experts:
        if experts.dense(at):
            return Mlp(net, form)
        net.parameter(experts.experts, frozen=True)
        return Experts(net, form, experts)

    return feed


def afmoe(config: dict[str, Any], form: Form, experts: ExpertForm) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, AfmoeConfig)."""
    return lambda net: Decoder(
        net, form, _sparse(experts), lambda net, form, _: AfmoeAttention(net, form)
    )


class TurnedByKind(LateGate):
    """Attention that rotates as much of a head as its kind of layer says, by angles of its own."""

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        own = (
            rope_tables(self.net, int(self.form.head_dim * self.form.traits.rope), x.dtype)
            if rope is not None
            else None
        )
        return super().__call__(x, own, mask)


def laguna(config: dict[str, Any], form: Form, experts: ExpertForm) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, LagunaConfig): every layer may have a number of
    heads of its own."""
    kinds, told = config["layer_types"], config.get("rope_parameters") or {}
    heads = config.get("num_attention_heads_per_layer") or [form.heads] * form.layers
    by_head = config.get("gating") in (True, "per-head")

    def attends(net: Net, form: Form, at: int) -> LateGate:
        share = (told.get(kinds[at]) or {}).get(
            "partial_rotary_factor", 0.5 if kinds[at] == "full_attention" else 1.0
        )
        own = structs.replace(
            form, heads=heads[at], traits=structs.replace(form.traits, rope=float(share))
        )
        return TurnedByKind(net, own, by_head, True)

    form = structs.replace(form, traits=structs.replace(form.traits, two_masks=len(set(kinds)) > 1))
    return lambda net: Decoder(net, form, _sparse(experts), attends)
