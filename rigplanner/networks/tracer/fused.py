"""scaled_dot_product_attention on the tape: the fused kernel, and the path the CPU takes when
weights are dropped."""

from __future__ import annotations

from rigplanner.networks.tracer.ops import (
    NOWHERE,
    add,
    bmm,
    cast,
    cast_low,
    dropout,
    keeping_result,
    packed,
    sub_self,
)
from rigplanner.networks.tracer.tape import BOOL, F32, Grads, Shape, Tape, Tensor, like, new, record


def fused_attention(tape: Tape, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """scaled_dot_product_attention by the flash kernel: keeps q, k, v, its result and one value per
    row."""
    q, k, v = cast_low(tape, q), cast_low(tape, k), cast_low(tape, v)
    low = mask if mask is None or mask.dtype != BOOL else new(tape, mask.shape, q.dtype)
    result, rows = new(tape, (*q.shape[:-1], v.shape[-1]), q.dtype), new(tape, q.shape[:-1], F32)
    kept = [q, k, v, low, rows, Tensor(result.shape, result.dtype, result.storage)]
    sides = [Tensor(item.shape, item.dtype, NOWHERE) for item in (q, k, v)]

    def pull(grad: Tensor) -> Grads:
        made = [like(tape, side) for side in sides]
        kept.clear()
        return made

    tape.saves()
    return record(tape, result, (q, k, v), pull)


Lies = tuple[bool, bool, bool]
"""Whether query, key and value lie heads first already, so that a batched product takes them
without a copy."""


def plain_attention(
    tape: Tape,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    share: float,
    lies: Lies = (False, False, False),
) -> Tensor:
    """scaled_dot_product_attention by its reference path, which the CPU takes when weights are
    dropped: float copies, all weights and the dropout mask are kept
    (_scaled_dot_product_attention_math)."""
    q, k, v = cast_low(tape, q), cast_low(tape, k), cast_low(tape, v)
    low, autocast, tape.autocast = q.dtype, tape.autocast, None
    bias = mask if mask is None or mask.dtype != BOOL else new(tape, mask.shape, low)
    wide_q, wide_k, wide_v = cast(tape, q, F32), cast(tape, k, F32), cast(tape, v, F32)
    shape = (*q.shape[:-1], k.shape[-2])
    scaled_q = sub_self(tape, wide_q)
    weights = _scaled_product(tape, scaled_q, wide_k, lies, shape)
    if bias is not None:
        weights = add(tape, weights, bias)
    weights = keeping_result(tape, weights)
    weights = dropout(tape, weights, share, tape.recording)
    _returned = cast(tape, weights, low)
    result = cast(
        tape,
        bmm(
            tape,
            weights,
            wide_v if lies[2] else widened(tape, wide_v, q.shape[1]),
            (*q.shape[:-1], v.shape[-1]),
        ),
        low,
    )
    tape.autocast = autocast
    return result


def _scaled_product(tape: Tape, q: Tensor, k: Tensor, lies: Lies, shape: Shape) -> Tensor:
    scaled = sub_self(tape, k)
    left = q if lies[0] else packed(tape, q)
    return bmm(tape, left, scaled if lies[1] else widened(tape, scaled, q.shape[1]), shape)


def widened(tape: Tape, x: Tensor, heads: int) -> Tensor:
    """The operand of a batched product copied for every head."""
    if x.shape[1] == heads:
        return packed(tape, x)
    base = x.shape
    return record(
        tape,
        new(tape, (base[0], heads, *base[2:]), x.dtype),
        (x,),
        lambda grad: (new(tape, base, grad.dtype),),
    )
