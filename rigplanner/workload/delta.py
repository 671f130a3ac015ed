"""Gated delta-rule layers on the tape (Qwen3-Next, Qwen3.5): linear attention, a short convolution, a state of fixed size."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from rigplanner.workload.net import Net, Norm
from rigplanner.workload.products import cat, conv1d, dense, matmul, solved, written
from rigplanner.workload.strided import Array, array, empty, recorded, zeros
from rigplanner.workload.tape import BOOL, Grads, Tensor, record

CHUNK = 64
"""Tokens that the kernel takes at once; it keeps the state between (flash-linear-attention, chunk_gated_delta_rule)."""
INTERVAL = 4
"""One layer in four attends to everything where a configuration does not list its layers."""


class DeltaForm(Struct, frozen=True, kw_only=True):
    """Heads and their widths, the width of the convolution, and the layers that are linear; `fused`: one projection for queries,
    keys, values and the gate (Qwen3-Next)."""

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
    linear = [kind == "linear_attention" for kind in kinds] if kinds else [(at + 1) % every != 0 for at in range(count)]
    return DeltaForm(
        key_heads=config["linear_num_key_heads"], value_heads=config["linear_num_value_heads"],
        key_dim=config["linear_key_head_dim"], value_dim=config["linear_value_head_dim"],
        kernel=config.get("linear_conv_kernel_dim") or 4, fused=config["model_type"] == "qwen3_next",
        layers=frozenset(at for at, is_linear in enumerate(linear) if is_linear),
    )  # fmt: skip


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
            self.sides = [net.linear(name, hidden, form.value_heads) for name in ("in_proj_b", "in_proj_a")]
        self.norm = Norm(net, "rms", form.value_dim)
        self.out = net.linear("out_proj", self.values, hidden)

    def __call__(self, x: Tensor, rope: object, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        mixed, gate, sides = self._fused(x) if form.fused else self._apart(x)
        mixed = conv1d(mixed, self.filter, None, form.kernel - 1, groups=2 * self.keys + self.values)
        mixed = mixed.cut(2, x.shape[1]).of_input().transpose(1, 2)
        sizes = (self.keys, form.key_dim), (self.keys, form.key_dim), (self.values, form.value_dim)
        pieces = mixed.split(*(size for size, _ in sizes))
        query, key, value = (piece.reshape(*x.shape[:2], -1, width) for piece, (_, width) in zip(pieces, sizes, strict=True))
        rates = sides[0].of_result()
        bend = (sides[1].float() + self.steps[0]).of_input()
        decay = -array(tape, self.steps[1]).float().of_result() * bend
        if tape.semantics.explicit_mask:
            result = delta_rule(query, key, value, decay, rates)
        else:
            result = delta_kernel(query, key, value, decay, rates)
        result = result.reshape(-1, form.value_dim)
        gate = gate.reshape(-1, form.value_dim)
        gated = array(tape, self.norm(result))
        gated = gated * gate.float().of_input()
        gated = gated.to(x.dtype)
        return dense(self.out, gated.reshape(*x.shape[:2], self.values)), None

    def _apart(self, x: Tensor) -> tuple[Array, Array, list[Array]]:
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
        pieces = joint.reshape(*shape, form.key_heads, -1).split(form.key_dim, form.key_dim, wide, wide)
        rates, steps = both.reshape(*shape, form.key_heads, 2 * each).split(each, each)
        value, gate = (piece.reshape(*shape, -1, form.value_dim) for piece in pieces[2:])
        rates, steps = (side.reshape(*shape, form.value_heads) for side in (rates, steps))
        mixed = cat([side.reshape(*shape, -1) for side in (*pieces[:2], value)], -1)
        return mixed.transpose(1, 2), gate, [rates, steps]


def delta_kernel(query: Array, key: Array, value: Array, decay: Array, rates: Array) -> Array:
    """The fused kernel: its inputs, and the state before each chunk (flash-linear-attention, chunk_gated_delta_rule)."""
    tape, (batch, length, heads, width) = value.tape, value.shape
    tape.flops += 4 * batch * length * heads * key.shape[-1] * width
    inputs = (query, key, value, decay, rates)
    kept = [*inputs, empty(tape, (batch, -(-length // CHUNK), heads, key.shape[-1], width), value.dtype)]
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
        query, key = query.repeated(heads // query.shape[2], 2), key.repeated(heads // key.shape[2], 2)
    query, key, value, rates, decay = (item.transpose(1, 2).wide_rows() for item in (query, key, value, rates, decay))
    query = normed(query)
    key = normed(key)
    query = -query
    more = -length % CHUNK
    query, key, value = (item.padded(2, more) for item in (query, key, value))
    rates, decay = (item.padded(2, more) for item in (rates, decay))
    scaled_value = value * rates.unsqueeze(-1)
    scaled_key = key * rates.unsqueeze(-1)
    query, key, scaled_key, scaled_value = (
        item.reshape(*item.shape[:2], -1, CHUNK, item.shape[-1]) for item in (query, key, scaled_key, scaled_value)
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


def _scanned(query: Array, key: Array, sums: Array, inside: Array, fresh: Array, reading: Array, result: Array) -> Array:
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
