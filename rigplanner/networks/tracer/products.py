"""Operators on tensors that know how they lie: products, convolutions, joins, and writes into a
part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from rigplanner.networks.tracer.layout import packed_strides
from rigplanner.networks.tracer.ops import cast_low, spread, wider
from rigplanner.networks.tracer.strided import Array, array, empty, joined, permuted, recorded, seen
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Grads, Tensor


def stacked(parts: Sequence[Array]) -> Array:
    """torch.stack on a new first axis: its gradient is cut into views."""
    made = empty(parts[0].tape, (len(parts), *parts[0].shape), parts[0].dtype)
    shape = parts[0].shape
    return recorded(
        made, parts, lambda grad: [seen(grad, shape, packed_strides(shape)) for _ in parts]
    )


def added_in_place(x: Array, y: Tensor) -> Array:
    """x += y"""
    return recorded(seen(x, x.shape, x.strides), (x, y), lambda grad: (grad, grad))


def chosen(where: Tensor, a: Array, b: Array) -> Array:
    """torch.where: keeps the choice."""
    made = joined(a.tape, a, b)
    return recorded(made, (a, b), lambda grad: (grad.like(), grad.like()), keeps=(where,))


def overlapped(x: Array, chunks: int, size: int, step: int) -> Array:
    """Overlapping pieces of the tokens of (batch, tokens, width) without a copy (as_strided). Their
    gradients are added where they belong, by the place of every value."""
    tape, full, (batch, _, width) = x.tape, x.shape, x.shape
    first, row, _ = x.strides
    shape, values = (batch, chunks, size, width), x.size

    def pull(grad: Array) -> Grads:
        made = empty(tape, full, grad.dtype)
        _places = empty(tape, (values,), I64)
        _spread = empty(tape, (grad.size,), I64)
        _flat = grad.contiguous()
        return (made,)

    return recorded(seen(x, shape, (first, step * row, row, 1)), (x,), pull)


def largest(x: Array, axis: int) -> Array:
    """x.max(axis).values: keeps the place of each; its gradient is written into zeros of the
    whole."""
    tape, full, dtype = x.tape, x.shape, x.dtype
    shape = tuple(side for at, side in enumerate(full) if at != axis % len(full))
    places = empty(tape, shape, I64)
    return recorded(
        empty(tape, shape, dtype), (x,), lambda grad: (empty(tape, full, dtype),), keeps=(places,)
    )


def xielu(x: Array, above: Array, below: Array) -> Array:
    """xIELU as transformers writes it (arXiv 2411.13010): a parabola above zero, an exponential
    below."""
    up, down = above.of_input(), below.of_input() + 1.0
    positive = x.like(BOOL)
    high = up * x * x + -x
    small = x.of_input(beside=2)
    bent = small.of_result(beside=1)
    low = (bent - x) * down + -x
    del small, bent
    return chosen(positive, high, low)


def written(x: Array, part: Array) -> Array:
    """x[..., i, ...] = part: the gradient of the whole is copied, and that of the part out of it
    (CopySlices)."""
    tape, whole, slice_shape = x.tape, x.shape, part.shape

    def pull(grad: Array) -> Grads:
        return empty(tape, whole, grad.dtype), empty(tape, slice_shape, grad.dtype)

    return recorded(seen(x, x.shape, x.strides), (x, part), pull)


def solved(system: Array, right: Array) -> Array:
    """torch.linalg.solve_triangular: keeps the system and its result, which lies by columns."""
    tape, asks, turned = (
        system.tape,
        (system.needs_grad, right.needs_grad),
        (*right.shape[:-2], right.shape[-1], right.shape[-2]),
    )
    order = (*range(len(turned) - 2), len(turned) - 1, len(turned) - 2)
    result = permuted(empty(tape, turned, right.dtype), order)
    kept = seen(result, result.shape, result.strides)

    def pull(grad: Array) -> Grads:
        for_right = permuted(empty(tape, turned, grad.dtype), order)
        for_system = empty(tape, system.shape, grad.dtype) if asks[0] else None
        if for_system is not None:
            for_system = -for_system
            for_system = -for_system
        return for_system, for_right if asks[1] else None

    return recorded(result, (system, right), pull, keeps=(kept,))


def unfolded(x: Array, kernel: int) -> Array:
    """F.unfold of (batch, channels, length) by windows of odd width: every window written out."""
    tape, (batch, channels, length) = x.tape, x.shape
    result = empty(tape, (batch, channels * kernel, length), x.dtype)
    return recorded(
        result, (x,), lambda grad: (empty(tape, (batch, channels, length), grad.dtype),)
    )


def bmm(a: Array, b: Array) -> Array:
    """A batched product of three axes each."""
    tape = a.tape
    a, b = low(a), low(b)
    flops = 2 * a.size * b.shape[2]
    tape.flops += flops
    kept_a, kept_b = (a if b.needs_grad else None), (b if a.needs_grad else None)
    shapes = a.shape, b.shape

    def pull(grad: Array) -> Grads:
        second = None if kept_a is None else empty(tape, shapes[1], grad.dtype)
        first = None if kept_b is None else empty(tape, shapes[0], grad.dtype)
        tape.flops += flops * ((kept_a is not None) + (kept_b is not None))
        return first, second

    return recorded(
        empty(tape, (a.shape[0], a.shape[1], b.shape[2]), wider(a, b)), (a, b), pull, keeps=True
    )


def low(x: Array) -> Array:
    """What autocast makes of an operand."""
    cast = x.tape.autocast
    return x if cast is None or x.dtype != F32 else x.to(cast)


def matmul(a: Array, b: Tensor) -> Array:
    """torch.matmul of two tensors of three axes or more: axes before the last two are spread and
    merged."""
    tape = a.tape
    right = array(tape, cast_low(tape, b)) if not isinstance(b, Array) else low(b)
    a = low(a)
    before = spread(a.shape[:-2], right.shape[:-2])
    left = a.expand(*before, *a.shape[-2:]).reshape(prod(before), *a.shape[-2:])
    other = right.expand(*before, *right.shape[-2:]).reshape(prod(before), *right.shape[-2:])
    return bmm(left, other).reshape(*before, a.shape[-2], right.shape[-1])


def dense(layer: Callable[[Tensor], Tensor], x: Array) -> Array:
    """A linear layer over the last axis; tokens that do not lie in rows are copied before it and in
    its backward pass."""
    rows = layer(x.reshape(-1, x.shape[-1]))
    return array(x.tape, rows).reshape(*x.shape[:-1], rows.shape[-1])


def einsum(words: str, a: Array, b: Array) -> Array:
    """torch.einsum of two operands: batch axes first, then what only the left has, what is summed,
    what only the right has; the operand whose own axes come first in the result is the left one."""
    sources, target = words.split("->")
    one, two = sources.split(",")
    own = [name for name in target if (name in one) != (name in two)]
    if own and own[0] in two and own[-1] in one:
        a, b, one, two = b, a, two, one
    sides = dict(zip(one, a.shape, strict=True)) | dict(zip(two, b.shape, strict=True))
    axes = [*target, *sorted(set(one + two) - set(target))]
    both = [name for name in axes if name in one and name in two and name in target]
    lefts = [name for name in axes if name in one and name not in two]
    rights = [name for name in axes if name in two and name not in one]
    summed = [name for name in axes if name in one and name in two and name not in target]

    def size(names: list[str]) -> int:
        return prod(sides[name] for name in names)

    left = a.permute(*(one.index(name) for name in both + lefts + summed)).reshape(
        size(both), size(lefts), size(summed)
    )
    right = b.permute(*(two.index(name) for name in both + summed + rights)).reshape(
        size(both), size(summed), size(rights)
    )
    product = bmm(left, right)
    lies = both + lefts + rights
    whole = product.reshape(*(sides[name] for name in lies))
    return whole.permute(*(lies.index(name) for name in target))


def cat(parts: Sequence[Array], axis: int) -> Array:
    """torch.cat: its gradient is cut into views."""
    shape = list(parts[0].shape)
    axis %= len(shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    shapes = [part.shape for part in parts]
    dtype = F32 if any(part.dtype == F32 for part in parts) else parts[0].dtype
    made = empty(parts[0].tape, tuple(shape), dtype)
    return recorded(made, parts, lambda grad: [seen(grad, one, grad.strides) for one in shapes])


def conv1d(x: Array, weight: Tensor, bias: Tensor | None, padding: int, stride: int = 1) -> Array:
    """conv1d of (batch, channels, length): input and weight are kept whichever of them asks for a
    gradient."""
    tape = x.tape
    a, w = low(x), cast_low(tape, weight)
    b = None if bias is None else cast_low(tape, bias)
    length = (x.shape[2] + 2 * padding - weight.shape[-1]) // stride + 1
    shape = (x.shape[0], weight.shape[0], length)
    flops = 2 * prod(shape) * weight.shape[1] * weight.shape[2]
    tape.flops += flops
    asks, with_bias = (a.needs_grad, w.needs_grad), bias is not None and bias.needs_grad

    def pull(grad: Array) -> Grads:
        for_input = empty(tape, a.shape, grad.dtype) if asks[0] else None
        for_weight = empty(tape, w.shape, grad.dtype) if asks[1] else None
        tape.flops += flops * sum(asks)
        return for_input, for_weight, empty(tape, shape[1:2], grad.dtype) if with_bias else None

    inputs = [item for item in (a, w, b) if item is not None]
    return recorded(empty(tape, shape, a.dtype), inputs, pull, keeps=True)
