"""Tensors that know how they lie: strides decide where eager PyTorch copies before a product or a reshape.

What a layer written in plain PyTorch (a scan over states, an einsum, a kernel's reference path) keeps alive depends on layouts that
no one writes down. Here they are computed: results of elementwise operators lie as TensorIterator lays them, a reshape copies
where computeStride finds no view, einsum and matmul bring their operands into the form of a batched product (PyTorch 2.13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from rigplanner.workload.ops import cast_low, spread, wider
from rigplanner.workload.tape import BOOL, F32, Grads, Shape, Storage, Tape, Tensor, new, record


def packed_strides(shape: Shape) -> Shape:
    """The strides of a contiguous tensor."""
    found, step = [], 1
    for side in reversed(shape):
        found.append(step)
        step *= side
    return tuple(reversed(found))


class Array(Tensor):
    """A tensor with strides, on a tape."""

    __slots__ = ("strides", "tape")

    def __init__(self, tape: Tape, shape: Shape, strides: Shape, dtype: str, storage: Storage) -> None:
        super().__init__(shape, dtype, storage)
        self.tape, self.strides = tape, strides

    def like(self, dtype: str | None = None) -> Array:
        """A new tensor of the same shape that lies in the same order, without gaps."""
        return _laid(self.tape, self.shape, (self.strides,), dtype or self.dtype)

    def beside(self, tape: Tape, dtype: str) -> Array:
        """A new tensor of the same shape and order."""
        return self.like(dtype)

    def __add__(self, other: Tensor | float) -> Array:
        if isinstance(other, Tensor):
            return _recorded(_joined(self.tape, self, other), (self, other), lambda grad: (grad, grad))
        return _recorded(self.like(), (self,), lambda grad: (grad,))

    __radd__ = __add__

    def __neg__(self) -> Array:
        return _recorded(self.like(), (self,), lambda grad: (grad.like(),))

    def __sub__(self, other: Tensor | float) -> Array:
        if isinstance(other, Tensor):
            return _recorded(_joined(self.tape, self, other), (self, other), lambda grad: (grad, grad.like()))
        return self + other

    def __mul__(self, other: Tensor | float) -> Array:
        if not isinstance(other, Tensor):
            return -self
        tape, a, b = self.tape, self, other
        kept_a, kept_b = (a if b.needs_grad else None), (b if a.needs_grad else None)

        def pull(grad: Array) -> Grads:
            second = None if kept_a is None else _joined(tape, grad, kept_a)
            return (None if kept_b is None else _joined(tape, grad, kept_b)), second

        return _recorded(_joined(tape, a, b), (a, b), pull, keeps=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Tensor | float) -> Array:
        if not isinstance(other, Tensor):
            return -self
        tape, b, asks = self.tape, other, self.needs_grad
        kept = self if other.needs_grad else None

        def pull(grad: Array) -> Grads:
            second = None
            if kept is not None:
                minus, share = grad.like(), _joined(tape, kept, b)
                share = _joined(tape, share, b)
                second = _joined(tape, minus, share)
                del minus, share
            return (_joined(tape, grad, b) if asks else None), second

        return _recorded(_joined(tape, self, other), (self, other), pull, keeps=True)

    def __matmul__(self, other: Tensor) -> Array:
        return matmul(self, other)

    def to(self, dtype: str) -> Array:
        """A cast; the tensor itself where it has the type already."""
        if self.dtype == dtype:
            return self
        source = self.dtype
        return _recorded(self.like(dtype), (self,), lambda grad: (grad.like(source),))

    def float(self) -> Array:
        """A cast to float."""
        return self.to(F32)

    def of_input(self, beside: int = 0) -> Array:
        """A function whose gradient needs its input (SiLU, GELU, softplus, log), with so many tensors `beside` the gradient."""
        kept = self

        def pull(grad: Array) -> Grads:
            _beside = [grad.like() for _ in range(beside)]
            return (_joined(kept.tape, grad, kept),)

        return _recorded(self.like(), (self,), pull, keeps=True)

    def of_result(self, beside: int = 0) -> Array:
        """A function whose gradient needs its result (exp, sigmoid, tanh, ReLU, square root), likewise."""
        result = self.like()
        kept = seen(result, result.shape, result.strides)

        def pull(grad: Array) -> Grads:
            _beside = [grad.like() for _ in range(beside)]
            return (grad.like(),)

        return _recorded(result, (self,), pull, keeps=(kept,))

    def reciprocal_root(self) -> Array:
        """torch.rsqrt"""
        return self.of_result(beside=2)

    def squared(self) -> Array:
        """x.pow(2)"""
        return self.of_input(beside=2)

    def softmax(self) -> Array:
        """softmax over the last axis: the result lies contiguous and is kept."""
        tape, shape = self.tape, self.shape
        result = empty(tape, shape, self.dtype)
        kept = seen(result, shape, result.strides)
        return _recorded(result, (self,), lambda grad: (empty(tape, shape, grad.dtype),), keeps=(kept,))

    def sum(self, *axes: int, keeps: bool = True) -> Array:
        """The sum over some axes; its gradient is spread without a copy."""
        full = self.shape
        return self._reduced(axes, keeps, lambda grad: (spread_over(grad, full),))

    def mean(self, *axes: int) -> Array:
        """The mean over some axes, which stay."""
        tape, full = self.tape, self.shape
        return self._reduced(axes, True, lambda grad: (empty(tape, full, grad.dtype),))

    def _reduced(self, axes: Sequence[int], keeps: bool, pull: Callable[[Array], Grads]) -> Array:
        gone = {axis % len(self.shape) for axis in axes}
        shape = tuple(1 if at in gone else side for at, side in enumerate(self.shape))
        result = _recorded(empty(self.tape, shape, self.dtype), (self,), pull)
        if keeps:
            return result
        return view_of(result, tuple(side for at, side in enumerate(self.shape) if at not in gone))

    def cumsum(self) -> Array:
        """A running sum: the gradient is turned round, summed and turned back."""

        def pull(grad: Array) -> Grads:
            turned = grad.like()
            summed = grad.like()
            back = grad.like()
            del turned, summed
            return (back,)

        return _recorded(empty(self.tape, self.shape, self.dtype), (self,), pull)

    def masked(self, mask: Tensor) -> Array:
        """masked_fill: keeps the mask."""
        tape, shape = self.tape, self.shape
        result = empty(tape, spread(shape, mask.shape), self.dtype)
        return _recorded(result, (self,), lambda grad: (empty(tape, grad.shape, grad.dtype),), keeps=(mask,))

    def clamped(self) -> Array:
        """clamp: keeps its input, and compares it again."""
        kept = self

        def pull(grad: Array) -> Grads:
            _bounds = [kept.like(BOOL), kept.like(BOOL)]
            return (grad.like(),)

        return _recorded(self.like(), (self,), pull, keeps=True)

    def padded(self, axis: int, more: int) -> Array:
        """F.pad by zeros at the end of an axis: a copy even when nothing is added."""
        tape, shape = self.tape, self.shape
        wide = tuple(side + more if at == axis % len(shape) else side for at, side in enumerate(shape))
        return _recorded(empty(tape, wide, self.dtype), (self,), lambda grad: (empty(tape, shape, grad.dtype),))

    def permute(self, *order: int) -> Array:
        """The axes in another order."""
        order = tuple(at % len(self.shape) for at in order)
        back = tuple(order.index(at) for at in range(len(order)))
        return _recorded(_permuted(self, order), (self,), lambda grad: (_permuted(grad, back),))

    def transpose(self, a: int, b: int) -> Array:
        """Two axes exchanged."""
        order = list(range(len(self.shape)))
        a, b = a % len(order), b % len(order)
        order[a], order[b] = b, a
        return self.permute(*order)

    def reshape(self, *shape: int) -> Array:
        """Another shape: a view where the strides allow it, else a copy."""
        shape = _filled(shape, self.size)
        return view_of(self, shape) if viewed_strides(self, shape) is not None else view_of(self.copy(), shape)

    def copy(self) -> Array:
        """clone to a contiguous tensor."""
        return _recorded(empty(self.tape, self.shape, self.dtype), (self,), lambda grad: (grad,))

    def contiguous(self) -> Array:
        """The tensor itself if it lies contiguous, else a copy."""
        return self if lies_packed(self) else self.copy()

    def expand(self, *shape: int) -> Array:
        """Sides of one spread without a copy; the gradient is summed."""
        return _recorded(spread_over(self, shape), (self,), lambda grad: (grad,))

    def unsqueeze(self, axis: int) -> Array:
        """An axis of one."""
        at = axis % (len(self.shape) + 1)
        return view_of(self, (*self.shape[:at], 1, *self.shape[at:]))

    def cut(self, axis: int, size: int) -> Array:
        """A slice of an axis: a view whose gradient is written into zeros of the whole."""
        tape, full, dtype, axis = self.tape, self.shape, self.dtype, axis % len(self.shape)
        shape = tuple(size if at == axis else side for at, side in enumerate(full))
        return _recorded(seen(self, shape, self.strides), (self,), lambda grad: (empty(tape, full, dtype),))

    def pick(self, axis: int) -> Array:
        """One index of an axis, which goes: likewise."""
        tape, full, dtype, axis = self.tape, self.shape, self.dtype, axis % len(self.shape)
        strides = tuple(step for at, step in enumerate(self.strides) if at != axis)
        shape = tuple(side for at, side in enumerate(full) if at != axis)
        return _recorded(seen(self, shape, strides), (self,), lambda grad: (empty(tape, full, dtype),))

    def split(self, *sizes: int, axis: int = -1) -> list[Array]:
        """Pieces of an axis: views whose gradients are joined into one tensor."""
        axis %= len(self.shape)
        shapes = [tuple(size if at == axis else side for at, side in enumerate(self.shape)) for size in sizes]
        pieces = [seen(self, shape, self.strides) for shape in shapes]
        if self.tape.recording and self.needs_grad:
            tape, full, dtype = self.tape, self.shape, self.dtype
            first = record(tape, pieces[0], (self,), lambda grad: (empty(tape, full, dtype),), joins=True)
            for piece in pieces[1:]:
                piece.node = first.node
        return pieces

    def repeated(self, times: int, axis: int) -> Array:
        """repeat_interleave: spread over a new axis and copied."""
        axis %= len(self.shape)
        wide = self.unsqueeze(axis + 1)
        shape = (*self.shape[: axis + 1], times, *self.shape[axis + 1 :])
        return wide.expand(*shape).copy().reshape(*self.shape[:axis], self.shape[axis] * times, *self.shape[axis + 1 :])


def added_in_place(x: Array, y: Tensor) -> Array:
    """x += y"""
    return _recorded(seen(x, x.shape, x.strides), (x, y), lambda grad: (grad, grad))


def unfolded(x: Array, kernel: int) -> Array:
    """F.unfold of (batch, channels, length) by windows of odd width: every window written out."""
    tape, (batch, channels, length) = x.tape, x.shape
    result = empty(tape, (batch, channels * kernel, length), x.dtype)
    return _recorded(result, (x,), lambda grad: (empty(tape, (batch, channels, length), grad.dtype),))


def seen(x: Tensor, shape: Shape, strides: Shape) -> Array:
    """The same storage under another shape and other strides, outside the graph."""
    return Array(x.tape if isinstance(x, Array) else Tape(), shape, strides, x.dtype, x.storage)


def array(tape: Tape, x: Tensor) -> Array:
    """A tensor that lies contiguous, as an array."""
    if isinstance(x, Array):
        return x
    made = Array(tape, x.shape, packed_strides(x.shape), x.dtype, x.storage)
    if x.trains:
        return _recorded(made, (x,), lambda grad: (grad,))
    made.node = x.node
    return made


def empty(tape: Tape, shape: Shape, dtype: str) -> Array:
    """A new contiguous tensor."""
    return Array(tape, shape, packed_strides(shape), dtype, new(tape, shape, dtype).storage)


def zeros(tape: Tape, *shape: int, dtype: str) -> Array:
    """A new contiguous tensor that is no function of others."""
    return empty(tape, shape, dtype)


def _recorded(
    result: Array, inputs: Sequence[Tensor], pull: Callable[[Array], Grads], keeps: bool | tuple[Tensor, ...] = False
) -> Array:
    """Put an operator on the tape whose gradient is an array like its result; `keeps` what the closure does not name."""
    tape, shape = result.tape, result.shape
    kept = keeps if isinstance(keeps, tuple) else ()
    if keeps:
        tape.saves()

    def pulled(grad: Tensor) -> Grads:
        _held = kept
        return pull(_as_array(tape, grad, shape))

    record(tape, result, inputs, pulled)
    return result


def _as_array(tape: Tape, grad: Tensor, shape: Shape) -> Array:
    if isinstance(grad, Array) and grad.shape == shape:
        return grad
    return Array(tape, shape, packed_strides(shape), grad.dtype, grad.storage)


def _strides(x: Tensor) -> Shape:
    return x.strides if isinstance(x, Array) else packed_strides(x.shape)


def _aligned(x: Tensor, shape: Shape) -> Shape:
    """Strides of an operand broadcast to `shape`."""
    padded = (1,) * (len(shape) - len(x.shape)) + x.shape
    steps = (0,) * (len(shape) - len(x.shape)) + _strides(x)
    return tuple(0 if side == 1 and whole != 1 else step for side, whole, step in zip(padded, shape, steps, strict=True))


def _joined(tape: Tape, a: Tensor, b: Tensor) -> Array:
    shape = spread(a.shape, b.shape)
    return _laid(tape, shape, (_aligned(a, shape), _aligned(b, shape)), wider(a, b))


def _laid(tape: Tape, shape: Shape, operands: Sequence[Shape], dtype: str) -> Array:
    """A new tensor whose axes lie in the order that TensorIterator takes from its operands (reorder_dimensions)."""
    order = list(range(len(shape) - 1, -1, -1))
    for at in range(1, len(order)):
        inner = at
        for outer in range(at - 1, -1, -1):
            turn = _compared(order[outer], order[inner], shape, operands)
            if turn > 0:
                order[outer], order[inner] = order[inner], order[outer]
                inner = outer
            elif turn < 0:
                break
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return Array(tape, shape, tuple(strides), dtype, new(tape, shape, dtype).storage)


def _compared(a: int, b: int, shape: Shape, operands: Sequence[Shape]) -> int:
    for strides in operands:
        if not strides[a] or not strides[b]:
            continue
        if strides[a] != strides[b]:
            return -1 if strides[a] < strides[b] else 1
        if shape[a] > shape[b]:
            return 1
    return 0


def _permuted(x: Array, order: Sequence[int]) -> Array:
    return seen(x, tuple(x.shape[at] for at in order), tuple(x.strides[at] for at in order))


def spread_over(x: Array, shape: Shape) -> Array:
    """Broadcast to `shape` without a copy and outside the graph."""
    return seen(x, shape, _aligned(x, shape))


def lies_packed(x: Array) -> bool:
    """Whether a tensor is contiguous; sides of one do not matter."""
    step = 1
    for side, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if side != 1:
            if stride != step:
                return False
            step *= side
    return True


def _filled(shape: Sequence[int], size: int) -> Shape:
    if -1 not in shape:
        return tuple(shape)
    known = prod(side for side in shape if side != -1)
    return tuple(size // known if side == -1 else side for side in shape)


def viewed_strides(x: Array, shape: Shape) -> Shape | None:
    """Strides of a view of `shape`, or None where it needs a copy (at::detail::computeStride)."""
    found = [0] * len(shape)
    at, chunk_step = len(shape) - 1, x.strides[-1] if x.strides else 1
    size = taken = 1
    for axis in range(len(x.shape) - 1, -1, -1):
        size *= x.shape[axis]
        if axis and (x.shape[axis - 1] == 1 or x.strides[axis - 1] == size * chunk_step):
            continue
        while at >= 0 and (taken < size or shape[at] == 1):
            found[at] = taken * chunk_step
            taken *= shape[at]
            at -= 1
        if taken != size:
            return None
        if axis:
            chunk_step, size, taken = x.strides[axis - 1], 1, 1
    return tuple(found) if at == -1 else None


def view_of(x: Array, shape: Shape) -> Array:
    """A view; its gradient is brought back by a reshape, which may copy."""
    strides, before = viewed_strides(x, shape), x.shape
    assert strides is not None
    return _recorded(seen(x, shape, strides), (x,), lambda grad: (_brought(grad, before),))


def _brought(grad: Array, shape: Shape) -> Array:
    strides = viewed_strides(grad, shape)
    if strides is None:
        return empty(grad.tape, shape, grad.dtype)
    return seen(grad, shape, strides)


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

    return _recorded(empty(tape, (a.shape[0], a.shape[1], b.shape[2]), wider(a, b)), (a, b), pull, keeps=True)


def low(x: Array) -> Array:
    """What autocast makes of an operand."""
    cast = x.tape.autocast
    return x if cast is None or x.dtype != F32 else x.to(cast)


def matmul(a: Array, b: Tensor) -> Array:
    """torch.matmul of two tensors of three axes or more: axes before the last two are spread and merged."""
    tape = a.tape
    right = array(tape, cast_low(tape, b)) if not isinstance(b, Array) else low(b)
    a = low(a)
    before = spread(a.shape[:-2], right.shape[:-2])
    left = a.expand(*before, *a.shape[-2:]).reshape(prod(before), *a.shape[-2:])
    other = right.expand(*before, *right.shape[-2:]).reshape(prod(before), *right.shape[-2:])
    return bmm(left, other).reshape(*before, a.shape[-2], right.shape[-1])


def dense(layer: Callable[[Tensor], Tensor], x: Array) -> Array:
    """A linear layer over the last axis; tokens that do not lie in rows are copied before it and in its backward pass."""
    rows = layer(x.reshape(-1, x.shape[-1]))
    return array(x.tape, rows).reshape(*x.shape[:-1], rows.shape[-1])


def einsum(words: str, a: Array, b: Array) -> Array:
    """torch.einsum of two operands: batch axes first, then what only the left has, what is summed, what only the right has; the
    operand whose own axes come first in the result is the left one."""
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

    left = a.permute(*(one.index(name) for name in both + lefts + summed)).reshape(size(both), size(lefts), size(summed))
    right = b.permute(*(two.index(name) for name in both + summed + rights)).reshape(size(both), size(summed), size(rights))
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
    return _recorded(made, parts, lambda grad: [seen(grad, one, grad.strides) for one in shapes])


def conv1d(x: Array, weight: Tensor, bias: Tensor | None, padding: int, stride: int = 1, groups: int = 1) -> Array:
    """conv1d of (batch, channels, length): input and weight are kept whichever of them asks for a gradient."""
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
    return _recorded(empty(tape, shape, a.dtype), inputs, pull, keeps=True)


__all__ = ["Array", "array", "cat", "conv1d", "dense", "einsum", "empty", "matmul", "zeros"]
