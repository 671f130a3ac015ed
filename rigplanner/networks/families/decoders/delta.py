"""Gated delta-rule layers on the tape (Qwen3-Next, Qwen3.5, Kimi Linear): linear attention, a short
convolution, a state of fixed size."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.products import cat, conv1d, dense, matmul, solved, written
from rigplanner.networks.tracer.strided import Array, array, empty, recorded, seen, zeros
from rigplanner.networks.tracer.tape import BOOL, Grads, Tensor, record

CHUNK = 64
"""Tokens that the kernel takes at once; it keeps the state between (flash-linear-attention,
chunk_gated_delta_rule)."""
INTERVAL = 4
"""One layer in four attends to everything where a configuration does not list its layers."""


class DeltaForm(Struct, frozen=True, kw_only=True):
    """Heads and their widths, the width of the convolution, and the layers that are linear;
    `fused`: one projection for queries, keys, values and the gate (Qwen3-Next)."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    layers: frozenset[int]
    fused: bool = False


def delta_form(config: dict[str, Any]) -> DeltaForm | None:
    """The sizes of the linear layers of a configuration, or None."""
    if not config.get("linear_num_value_heads"):
        return None
    count, kinds = config["num_hidden_layers"], config.get("layer_types")
    every = config.get("full_attention_interval") or INTERVAL
    linear = (
        [kind == "linear_attention" for kind in kinds]
        if kinds
        else [(at + 1) % every != 0 for at in range(count)]
    )
    return DeltaForm(
        key_heads=config["linear_num_key_heads"],
        value_heads=config["linear_num_value_heads"],
        key_dim=config["linear_key_head_dim"],
        value_dim=config["linear_value_head_dim"],
        kernel=config.get("linear_conv_kernel_dim") or 4,
        fused=config["model_type"] == "qwen3_next",
        layers=frozenset(at for at, is_linear in enumerate(linear) if is_linear),
    )


class DeltaAttention:
    """Projections, convolution over time, the delta rule, a gated norm and the output."""

    def __init__(self, net: Net, hidden: int, form: DeltaForm) -> None:
        self.net, self.form = net, form
        self.keys, self.values = form.key_heads * form.key_dim, form.value_heads * form.value_dim
        self.filter = net.parameter(2 * self.keys + self.values, 1, form.kernel)
        self.steps = [net.parameter(form.value_heads) for _ in range(2)]
        if form.fused:
            self.joint = net.linear("in_proj_qkvz", hidden, 2 * self.keys + 2 * self.values)
            self.sides = [net.linear("in_proj_ba", hidden, 2 * form.value_heads)]
        else:
            self.joint = net.linear("in_proj_qkv", hidden, 2 * self.keys + self.values)
            self.gate = net.linear("in_proj_z", hidden, self.values)
            self.sides = [
                net.linear(name, hidden, form.value_heads) for name in ("in_proj_b", "in_proj_a")
            ]
        self.norm = Norm(net, "rms", form.value_dim)
        self.out = net.linear("out_proj", self.values, hidden)

    def __call__(
        self, x: Tensor, rope: object, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        mixed, gate, sides = self._fused(x) if form.fused else self._apart(x)
        mixed = conv1d(mixed, self.filter, None, form.kernel - 1)
        mixed = mixed.cut(2, x.shape[1]).of_input().transpose(1, 2)
        sizes = (self.keys, form.key_dim), (self.keys, form.key_dim), (self.values, form.value_dim)
        pieces = mixed.split(*(size for size, _ in sizes))
        query, key, value = (
            piece.reshape(*x.shape[:2], -1, width)
            for piece, (_, width) in zip(pieces, sizes, strict=True)
        )
        states = array(tape, x)
        sides = sides or [dense(side, states) for side in self.sides]
        rates = sides[0].of_result()
        rates = rates if form.fused or gate is not None else -rates
        bend = (sides[1].float() + self.steps[0]).of_input()
        decay = -array(tape, self.steps[1]).float().of_result() * bend
        if tape.semantics.explicit_mask:
            result = delta_rule(query, key, value, decay, rates)
        else:
            result = delta_kernel(query, key, value, decay, rates)
        result = result.reshape(-1, form.value_dim)
        gate = (dense(self.gate, states) if gate is None else gate).reshape(-1, form.value_dim)
        gated = array(tape, self.norm(result))
        gated = gated * gate.float().of_input()
        gated = gated.to(x.dtype)
        return dense(self.out, gated.reshape(*x.shape[:2], self.values)), None

    def _apart(self, x: Tensor) -> tuple[Array, Array | None, list[Array]]:
        states = array(self.net.tape, x)
        mixed = dense(self.joint, states).transpose(1, 2)
        gate = dense(self.gate, states).reshape(*x.shape[:2], -1, self.form.value_dim)
        return mixed, gate, [dense(side, states) for side in self.sides]

    def _fused(self, x: Tensor) -> tuple[Array, Array, list[Array]]:
        """One projection whose columns are sorted by key head."""
        form, states, shape = self.form, array(self.net.tape, x), x.shape[:2]
        each = form.value_heads // form.key_heads
        joint, both = dense(self.joint, states), dense(self.sides[0], states)
        wide = each * form.value_dim
        pieces = joint.reshape(*shape, form.key_heads, -1).split(
            form.key_dim, form.key_dim, wide, wide
        )
        rates, steps = both.reshape(*shape, form.key_heads, 2 * each).split(each, each)
        value, gate = (piece.reshape(*shape, -1, form.value_dim) for piece in pieces[2:])
        rates, steps = (side.reshape(*shape, form.value_heads) for side in (rates, steps))
        mixed = cat([side.reshape(*shape, -1) for side in (*pieces[:2], value)], -1)
        return mixed.transpose(1, 2), gate, [rates, steps]


class ApartDelta(DeltaAttention):
    """Queries, keys and values by projections of their own, joined for the convolution; the gate is
    made last (OLMo hybrid)."""

    def __init__(self, net: Net, hidden: int, form: DeltaForm) -> None:
        self.net, self.form = net, form
        self.keys, self.values = form.key_heads * form.key_dim, form.value_heads * form.value_dim
        widths = {"q_proj": self.keys, "k_proj": self.keys, "v_proj": self.values}
        self.parts = [net.linear(name, hidden, width) for name, width in widths.items()]
        self.sides = [net.linear(name, hidden, form.value_heads) for name in ("b_proj", "a_proj")]
        self.gate = net.linear("g_proj", hidden, self.values)
        self.filter = net.parameter(2 * self.keys + self.values, 1, form.kernel)
        self.steps = [net.parameter(form.value_heads) for _ in range(2)]
        self.norm, self.out = (
            Norm(net, "rms", form.value_dim),
            net.linear("o_proj", self.values, hidden),
        )

    def _apart(self, x: Tensor) -> tuple[Array, None, list[Array]]:
        states = array(self.net.tape, x)
        return cat([dense(part, states) for part in self.parts], -1).transpose(1, 2), None, []


def delta_kernel(query: Array, key: Array, value: Array, decay: Array, rates: Array) -> Array:
    """The fused kernel: its inputs, and the state before each chunk (flash-linear-attention,
    chunk_gated_delta_rule)."""
    tape, (batch, length, heads, width) = value.tape, value.shape
    tape.flops += 4 * batch * length * heads * key.shape[-1] * width
    inputs = (query, key, value, decay, rates)
    kept = [
        *inputs,
        empty(tape, (batch, -(-length // CHUNK), heads, key.shape[-1], width), value.dtype),
    ]
    shapes = [(item.shape, item.dtype) for item in inputs]

    def pull(grad: Tensor) -> Grads:
        made = [empty(tape, *shape) for shape in shapes]
        kept.clear()
        return made

    tape.saves()
    result = empty(tape, value.shape, value.dtype)
    record(tape, result, inputs, pull)
    return result


def normed(x: Array) -> Array:
    """A vector by its length."""
    return x * ((x * x).sum(-1) + 1.0).reciprocal_root()


def delta_rule(query: Array, key: Array, value: Array, decay: Array, rates: Array) -> Array:
    """The rule as transformers writes it out, chunk by chunk (torch_chunk_gated_delta_rule)."""
    low, length, heads = query.dtype, query.shape[1], value.shape[2]
    if key.shape[2] != heads:
        query, key = (
            query.repeated(heads // query.shape[2], 2),
            key.repeated(heads // key.shape[2], 2),
        )
    query, key, value, rates, decay = (
        item.transpose(1, 2).wide_rows() for item in (query, key, value, rates, decay)
    )
    query = normed(query)
    key = normed(key)
    query = -query
    more = -length % CHUNK
    query, key, value = (item.padded(2, more) for item in (query, key, value))
    rates, decay = (item.padded(2, more) for item in (rates, decay))
    scaled_value = value * rates.unsqueeze(-1)
    scaled_key = key * rates.unsqueeze(-1)
    query, key, scaled_key, scaled_value = (
        item.reshape(*item.shape[:2], -1, CHUNK, item.shape[-1])
        for item in (query, key, scaled_key, scaled_value)
    )
    decay = decay.reshape(*decay.shape[:2], -1, CHUNK)
    sums = decay.cumsum()
    pairs = sums.unsqueeze(4) - sums.unsqueeze(3)
    pairs = pairs.masked(empty(query.tape, (CHUNK, CHUNK), BOOL))
    pairs = pairs.of_result()
    system = matmul(scaled_key, key.transpose(-1, -2)) * pairs
    inside = matmul(query, key.transpose(-1, -2)) * pairs
    faded = scaled_key * sums.of_result().unsqueeze(-1)
    fresh, reading = solved(system, scaled_value), solved(system, faded)
    result = fresh.like()
    query = query * sums.of_result().unsqueeze(-1)
    key = key * (sums.cut(-1, 1) - sums).of_result().unsqueeze(-1)
    result = _scanned(query, key, sums, inside, fresh, reading, result)
    result = result.reshape(*result.shape[:2], -1, result.shape[-1]).cut(2, length)
    result = result.transpose(1, 2)
    return _low_rows(result, low)


def _low_rows(x: Array, dtype: str) -> Array:
    """A cast that lies contiguous; the tensor itself where it has the type."""
    if x.dtype == dtype:
        return x
    source = x.dtype
    return recorded(empty(x.tape, x.shape, dtype), (x,), lambda grad: (grad.like(source),))


def _scanned(
    query: Array,
    key: Array,
    sums: Array,
    inside: Array,
    fresh: Array,
    reading: Array,
    result: Array,
) -> Array:
    """The state from chunk to chunk, and what every chunk reads of it, written into `result`."""
    tape, (batch, heads, chunks, _, width) = query.tape, fresh.shape
    state = zeros(tape, batch, heads, key.shape[-1], width, dtype=fresh.dtype)
    fading = sums.pick(-1).of_result().unsqueeze(-1).unsqueeze(-1)
    for _ in range(chunks):
        changed = fresh.pick(2) - matmul(reading.pick(2), state)
        crossing = matmul(query.pick(2), state)
        result = written(result, crossing + matmul(inside.pick(2), changed))
        state = state * fading.pick(2) + matmul(key.pick(2).transpose(-1, -2), changed)
    return result


class KimiAttention:
    """Projections, convolution over time, a delta rule that forgets by channel, a gated norm and
    the output (Kimi Linear, arXiv 2510.26692)."""

    def __init__(self, net: Net, hidden: int, heads: int, width: int, kernel: int) -> None:
        self.net, self.heads, self.width, self.kernel, inner = (
            net,
            heads,
            width,
            kernel,
            heads * width,
        )
        self.joint = [net.linear(name, hidden, inner) for name in ("q_proj", "k_proj", "v_proj")]
        self.filter = net.parameter(3 * inner, 1, kernel)
        self.forget = net.linear("f_a_proj", hidden, width), net.linear("f_b_proj", width, inner)
        self.bias, self.rate = net.parameter(inner), net.parameter(1, 1, heads, 1)
        self.beta = net.linear("b_proj", hidden, heads)
        self.gate = net.linear("g_a_proj", hidden, width), net.linear("g_b_proj", width, inner)
        self.norm, self.out = net.parameter(width), net.linear("o_proj", inner, hidden)

    def __call__(
        self, x: Tensor, rope: object, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, shape = self.net.tape, (*x.shape[:2], self.heads, self.width)
        states, inner = array(tape, x), self.heads * self.width
        mixed = cat([dense(side, states) for side in self.joint], -1).transpose(1, 2)
        mixed = (
            conv1d(mixed, self.filter, None, self.kernel - 1)
            .cut(2, x.shape[1])
            .of_input()
            .to(mixed.dtype)
        )
        query, key, value = (
            side.reshape(*shape) for side in mixed.transpose(1, 2).split(inner, inner, inner)
        )
        decay = self._decay(dense(self.forget[1], dense(self.forget[0], states)), shape)
        rates = dense(self.beta, states).of_result()
        rule = kimi_rule if tape.semantics.explicit_mask else delta_kernel
        result = rule(query, key, value, decay, rates)
        gate = dense(self.gate[1], dense(self.gate[0], states)).reshape(*shape)
        wide = result.float()
        wide = wide * (wide.squared().mean(-1) + 0.0).reciprocal_root()
        wide = array(tape, self.norm).float() * wide
        wide = wide * gate.float().of_result()
        return dense(self.out, wide.to(x.dtype).reshape(*shape[:2], inner)), None

    def _decay(self, x: Array, shape: tuple[int, ...]) -> Array:
        """How much every channel forgets: a softplus written out, of which both cases are made."""
        tape = self.net.tape
        x = (x.float() + array(tape, self.bias).float().reshape(1, 1, -1)).reshape(*shape)
        rate = array(tape, self.rate).float().of_result()
        large = empty(tape, x.shape, BOOL)
        bent = (x.of_result() + 1.0).of_input()
        chosen = recorded(
            x.like(), (x, bent), lambda grad: (grad.like(), grad.like()), keeps=(large,)
        )
        return -rate * chosen


def kimi_rule(query: Array, key: Array, value: Array, decay: Array, rates: Array) -> Array:
    """The rule as transformers writes it out (chunk_kimi_delta_attention): products over all pairs
    of a chunk and all channels."""
    low, length = query.dtype, query.shape[1]
    query, key, value, rates, decay = (
        item.transpose(1, 2).copy().float() for item in (query, key, value, rates, decay)
    )
    query, key = (side / ((side * side).sum(-1) + 0.0).of_result(beside=1) for side in (query, key))
    more = -length % CHUNK
    query, key, value, decay, rates = (
        item.padded(2, more) for item in (query, key, value, decay, rates)
    )
    query = -query
    scaled_value, scaled_key = value * rates.unsqueeze(-1), key * rates.unsqueeze(-1)
    query, key, decay, scaled_key, scaled_value = (
        item.reshape(*item.shape[:2], -1, CHUNK, item.shape[-1])
        for item in (query, key, decay, scaled_key, scaled_value)
    )
    decay = decay.cumsum()
    fading = (
        (decay.unsqueeze(-2) - decay.unsqueeze(-3))
        .masked(empty(query.tape, (CHUNK, CHUNK, 1), BOOL))
        .of_result()
    )
    system = -(scaled_key.unsqueeze(-2) * key.unsqueeze(-3) * fading).sum(-1, keeps=False)
    system = _eliminated(system.masked(empty(query.tape, (CHUNK, CHUNK), BOOL))) + 0.0
    fresh, reading = matmul(system, scaled_value), matmul(system, scaled_key * decay.of_result())
    result, parts = fresh.like(), (query, key, decay, fading, fresh, reading)
    state = zeros(query.tape, *fresh.shape[:2], key.shape[-1], fresh.shape[-1], dtype=fresh.dtype)
    for _ in range(fresh.shape[2]):
        asks, keys, sums, faded, new_values, reads = (part.pick(2) for part in parts)
        crossing = matmul(asks * sums.of_result(), state)
        inside = (asks.unsqueeze(-2) * keys.unsqueeze(-3) * faded).sum(-1, keeps=False)
        inside = inside.masked(empty(query.tape, (CHUNK, CHUNK), BOOL))
        changed = new_values - matmul(reads, state)
        result = written(result, crossing + matmul(inside, changed))
        late = keys * (sums.cut(-2, 1) - sums).of_result()
        state = state * sums.cut(-2, 1).of_result().transpose(-1, -2) + matmul(
            late.transpose(-1, -2), changed
        )
    result = result.reshape(*result.shape[:2], -1, result.shape[-1]).cut(2, length)
    return result.transpose(1, 2).copy().to(low)


def _eliminated(x: Array) -> Array:
    """Row by row made a sum over the rows before, written where it lies: every row keeps itself and
    those before it."""
    tape, shape = x.tape, x.shape
    rows = x.size // (shape[-1] * shape[-2])
    kept = [empty(tape, (rows, sum(at * (at + 1) for at in range(1, shape[-2]))), x.dtype)]

    def pull(grad: Array) -> Grads:
        _moving = [grad.like() for _ in range(2)]
        kept.clear()
        return (grad.like(),)

    return recorded(seen(x, shape, x.strides), (x,), pull, keeps=True)
