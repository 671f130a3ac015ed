"""Gated delta-rule layers on the tape (Qwen3-Next, Qwen3.5): linear attention, a short convolution, a state of fixed size."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from rigplanner.workload import ops
from rigplanner.workload.net import Net, Norm
from rigplanner.workload.tape import F32, Grads, Tape, Tensor, like, new, record

CHUNK = 64
"""Tokens that the kernel takes at once; it keeps the state between (flash-linear-attention, chunk_gated_delta_rule)."""
REFERENCE_COPIES = 17
"""Float tensors of the size of the values that the path written in PyTorch keeps, where the kernel is missing (transformers,
torch_chunk_gated_delta_rule)."""
INTERVAL = 4
"""One layer in four attends to everything where a configuration does not list its layers."""


class DeltaForm(Struct, frozen=True, kw_only=True):
    """Heads and their widths, the width of the convolution, and the layers that are linear."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    layers: frozenset[int]


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
        kernel=config.get("linear_conv_kernel_dim") or 4, layers=frozenset(at for at, is_linear in enumerate(linear) if is_linear),
    )  # fmt: skip


class DeltaAttention:
    """Projections, convolution over time, the delta rule, a gated norm and the output."""

    def __init__(self, net: Net, hidden: int, form: DeltaForm) -> None:
        self.net, self.form = net, form
        self.keys, self.values = form.key_heads * form.key_dim, form.value_heads * form.value_dim
        self.joint = net.linear("in_proj_qkv", hidden, 2 * self.keys + self.values)
        self.gate = net.linear("in_proj_z", hidden, self.values)
        self.sides = net.linear("in_proj_ba", hidden, 2 * form.value_heads)
        self.filter = net.parameter(2 * self.keys + self.values, 1, form.kernel)
        self.steps = [net.parameter(form.value_heads) for _ in range(2)]
        self.norm = Norm(net, "rms", form.value_dim)
        self.out = net.linear("out_proj", self.values, hidden)

    def __call__(self, x: Tensor, rope: object, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        mixed, gate, sides = self.joint(x), self.gate(x), self.sides(x)
        mixed = ops.keeping_input(tape, over_time(tape, mixed, self.filter))
        shape = (x.shape[0], x.shape[1], form.value_heads, form.value_dim)
        result = delta_rule(tape, mixed, sides, shape, form.key_dim)
        normed = self.norm(result)
        bright = ops.keeping_input(tape, ops.cast(tape, gate, F32)).view(*shape)
        gated = ops.cast(tape, ops.mul(tape, normed, bright), x.dtype)
        return self.out(gated.view(x.shape[0], x.shape[1], self.values)), None


def over_time(tape: Tape, x: Tensor, weight: Tensor) -> Tensor:
    """A depthwise convolution over the tokens before."""
    w, a = ops.cast_low(tape, weight), ops.cast_low(tape, x)
    tape.flops += 2 * a.size * weight.shape[-1]
    kept_a, kept_w = (a if w.needs_grad else None), (w if a.needs_grad else None)
    x_shape, w_shape = a.shape, w.shape

    def pull(grad: Tensor) -> Grads:
        for_input = None if kept_w is None else new(tape, x_shape, grad.dtype)
        return for_input, None if kept_a is None else new(tape, w_shape, grad.dtype)

    return record(tape, like(tape, a), (a, w), pull)


def delta_rule(tape: Tape, mixed: Tensor, sides: Tensor, shape: tuple[int, int, int, int], key_dim: int) -> Tensor:
    """The kernel keeps its inputs, decay and step sizes in float, and the state before each chunk; without it, many copies."""
    batch, length, heads, width = shape
    steps = [new(tape, (batch, length, heads), F32) for _ in range(2)]
    if tape.semantics.explicit_mask:
        kept = [new(tape, shape, F32) for _ in range(REFERENCE_COPIES)]
    else:
        kept = [new(tape, (batch, -(-length // CHUNK), heads, key_dim, width), mixed.dtype)]
    held, of_mixed, of_sides = [mixed], (mixed.shape, mixed.dtype), (sides.shape, sides.dtype)
    tape.flops += 4 * batch * length * heads * key_dim * width

    def pull(grad: Tensor) -> Grads:
        made = new(tape, *of_mixed), new(tape, *of_sides)
        for lists in (kept, steps, held):
            lists.clear()
        return made

    return record(tape, new(tape, shape, mixed.dtype), (mixed, sides), pull)
