"""Mixture-of-experts feed-forward layers on the tape: router, tokens sorted by expert, grouped
products, weighted sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder import Mlp
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import F32, I64, Grads, Tape, Tensor, new, record


class ExpertForm(Struct, frozen=True, kw_only=True):
    """Experts of a layer: how many, how many a token visits, their width, that of the shared expert
    (0: none), and whether a gate scales the shared one. The first `dense_layers`, those of
    `dense_at` and all but one in `every` have an ordinary feed-forward layer. `biased` experts add
    a bias (gpt-oss). `float_router`: it works on float copies of the states and of its weight.
    `low_odds`: the chosen odds are cast back to the type of the scores. `plain` experts have no
    gate but that activation. `shared_first`: the shared expert works before the router. `normed`: a
    norm stands after all of them. `clamped`: gate and input are clamped before they are multiplied.
    """

    experts: int
    used: int
    ffn: int
    shared_ffn: int = 0
    shared_gate: bool = False
    dense_layers: int = 0
    every: int = 1
    dense_at: tuple[int, ...] = ()
    biased: bool = False
    float_router: bool = False
    low_odds: bool = False
    plain: str = ""
    shared_first: bool = False
    normed: bool = False
    clamped: bool = False

    def dense(self, at: int) -> bool:
        """Whether layer `at` (from 0) has an ordinary feed-forward layer."""
        return at < self.dense_layers or at in self.dense_at or (at + 1) % self.every != 0


class Experts:
    """Routed experts and the shared one."""

    def __init__(self, net: Net, form: Form, experts: ExpertForm) -> None:
        self.net, self.form, self.experts = net, form, experts
        self.router = net.parameter(experts.experts, form.hidden)
        self.up = net.parameter(
            experts.experts, experts.ffn * (1 if experts.plain else 2), form.hidden
        )
        self.down = net.parameter(experts.experts, form.hidden, experts.ffn)
        if experts.biased:
            self.sides = [
                net.parameter(experts.experts),
                net.parameter(experts.experts, 2 * experts.ffn),
                net.parameter(experts.experts, form.hidden),
            ]
        self.shared = Mlp(net, form, experts.shared_ffn) if experts.shared_ffn else None
        self.gate = (
            net.linear("shared_expert_gate", form.hidden, 1) if experts.shared_gate else None
        )
        self.norm = Norm(net, form.traits.norm, form.hidden) if experts.normed else None

    def __call__(self, x: Tensor) -> Tensor:
        tape, shape = self.net.tape, x.shape
        beside = self.shared(x) if self.shared and self.experts.shared_first else None
        flat = x.view(shape[0] * shape[1], shape[2])
        routed = self._route(flat).view(*shape)
        if self.shared is None:
            return routed
        if beside is None:
            beside = self.shared(x)
        if self.gate is not None:
            beside = ops.mul(tape, ops.keeping_result(tape, self.gate(x)), beside)
        whole = ops.add(tape, routed, beside)
        return whole if self.norm is None else self.norm(whole)

    def _route(self, x: Tensor) -> Tensor:
        tape, form = self.net.tape, self.experts
        states, router = (
            ops.cast(tape, item, F32) if form.float_router else item for item in (x, self.router)
        )
        scores = ops.linear(tape, states, router)
        low, odds = scores.dtype, ops.keeping_result(tape, ops.cast(tape, scores, F32))
        del states, router, scores
        weighs = low if form.low_odds else F32
        return visit(
            tape, x, odds, self.up, self.down, form, weighs, self.sides[1:] if form.biased else ()
        )


class LoopedExperts:
    """Experts one after the other (DBRX), each of as many tokens as the next: a slice of all their
    weights, whose gradient is made as large as the whole, and rows of the tokens that are added
    where they belong."""

    def __init__(self, net: Net, form: Form, experts: ExpertForm) -> None:
        self.net, self.experts = net, experts
        self.router = net.linear("layer", form.hidden, experts.experts)
        self.gate, self.up, self.down = (
            net.parameter(experts.experts * experts.ffn, form.hidden) for _ in range(3)
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape, form, (batch, length, width) = self.net.tape, self.experts, x.shape
        odds = ops.keeping_result(tape, self.router(x.view(batch * length, width)))
        weights = ops.reduce_to(tape, odds, (batch * length * form.used, 1))
        flat, rows = (
            x.view(batch * length, width),
            max(1, batch * length * form.used // form.experts),
        )
        result = new(tape, flat.shape, x.dtype)
        for _ in range(form.experts):
            result = ops.add_in_place(tape, result, self._one(flat, weights, rows))
        return result.view(*x.shape)

    def _one(self, x: Tensor, weights: Tensor, rows: int) -> Tensor:
        tape, ffn, width = self.net.tape, self.experts.ffn, x.shape[1]
        into, beside = (ops.cut(tape, side, (ffn, width)) for side in (self.gate, self.up))
        back = ops.cut(tape, self.down, (width, ffn))
        picked = gather(tape, x, (rows, width))
        gate, up = ops.linear(tape, picked, into), ops.linear(tape, picked, beside)
        gate = ops.keeping_input(tape, gate)
        made = ops.linear(tape, ops.mul(tape, gate, up), back)
        return ops.mul(tape, made, gather(tape, weights, (rows, 1)))


def visit(
    tape: Tape,
    x: Tensor,
    odds: Tensor,
    into: Tensor,
    back: Tensor,
    form: ExpertForm,
    weighs: str = F32,
    sides: Sequence[Tensor] = (),
) -> Tensor:
    """Every token through its experts, whose results are added by their odds in the type `weighs`;
    `sides` are their biases."""
    tokens, width = x.shape
    pairs = tokens * form.used
    weights = ops.cast(tape, ops.reduce_to(tape, odds, (pairs, 1)), weighs)
    _order = new(tape, (2, pairs), I64)
    picked = gather(tape, x, (pairs, width))
    hidden = grouped(tape, picked, into, into.shape[1])
    if sides:
        hidden = _clamped(
            tape, ops.add(tape, hidden, gather(tape, sides[0], (pairs, into.shape[1]))), form
        )
    elif form.plain:
        hidden = activate(tape, hidden, form.plain)
    else:
        gate, up = ops.split(tape, hidden, (form.ffn, form.ffn))
        if form.clamped:
            gate, up = ops.keeping_input(tape, gate), ops.keeping_input(tape, up)
        hidden = ops.mul(tape, ops.keeping_input(tape, gate), up)
        del gate, up
    hidden = grouped(tape, hidden, back, width)
    if sides:
        hidden = ops.add(tape, hidden, gather(tape, sides[1], (pairs, width)))
    weighted = ops.mul(tape, hidden, weights)
    weighted = gather(tape, weighted, (pairs, width))
    return ops.cast(tape, ops.reduce_to(tape, weighted, (tokens, width), spreads=False), x.dtype)


def _clamped(tape: Tape, hidden: Tensor, form: ExpertForm) -> Tensor:
    """The gate of gpt-oss: every second column, both sides clamped, the gate by a scaled sigmoid
    and the other plus one."""
    half = (hidden.shape[0], form.ffn)
    gate, up = ops.cut(tape, hidden, half), ops.cut(tape, hidden, half)
    gate = ops.keeping_input(tape, gate)
    up = ops.keeping_input(tape, up)
    bent = ops.mul(tape, gate, ops.keeping_result(tape, ops.sub_self(tape, gate)))
    return ops.mul(tape, ops.shift(tape, up), bent)


def gather(tape: Tape, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """x[index]: its gradient is written into zeros, then accumulated out of place (index_put)."""
    source, dtype = x.shape, x.dtype

    def pull(grad: Tensor) -> Grads:
        _zeros = new(tape, source, dtype)
        return (new(tape, source, dtype),)

    return record(tape, new(tape, shape, dtype), (x,), pull)


def grouped(tape: Tape, x: Tensor, weight: Tensor, outputs: int) -> Tensor:
    """_grouped_mm: every row by the matrix of its expert."""
    w, a = ops.cast_low(tape, weight), ops.cast_low(tape, x)
    tape.flops += 2 * a.size * outputs
    flops, x_shape, w_shape = 2 * a.size * outputs, a.shape, weight.shape
    kept_a, kept_w = (a if w.needs_grad else None), (w if a.needs_grad else None)

    def pull(grad: Tensor) -> Grads:
        for_weight = None if kept_a is None else new(tape, w_shape, grad.dtype)
        for_input = None if kept_w is None else new(tape, x_shape, grad.dtype)
        tape.flops += flops * ((kept_a is not None) + (kept_w is not None))
        return for_input, for_weight

    tape.saves()
    return record(tape, new(tape, (a.shape[0], outputs), a.dtype), (a, w), pull)


def feeding(experts: ExpertForm | None) -> Callable[[Net, Form, int], Mlp | Experts]:
    """Return what makes the feed-forward layer of every layer: dense where the form says so, or has
    no experts."""

    def feed(net: Net, form: Form, at: int) -> Mlp | Experts:
        return (
            Mlp(net, form) if experts is None or experts.dense(at) else Experts(net, form, experts)
        )

    return feed
