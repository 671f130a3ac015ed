"""Tensors that know how they lie: strides decide where eager PyTorch copies before a product or a
reshape.

What a layer written in plain PyTorch (a scan over states, an einsum, a kernel's reference path)
keeps alive depends on layouts that no one writes down. Here they are computed: results of
elementwise operators lie as TensorIterator lays them, a reshape copies where computeStride finds no
view, einsum and matmul bring their operands into the form of a batched product (PyTorch 2.13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rigplanner.networks.tracer.layout import filled, laid_strides, packed_strides, viewed_strides
from rigplanner.networks.tracer.ops import spread, wider
from rigplanner.networks.tracer.tape import (
    BOOL,
    F32,
    Grads,
    Shape,
    Storage,
    Tape,
    Tensor,
    new,
    record,
)


class Array(Tensor):
    """A tensor with strides, on a tape."""

    __slots__ = ("strides", "tape")

    def __init__(
        self, tape: Tape, shape: Shape, strides: Shape, dtype: str, storage: Storage
    ) -> None:
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
            return recorded(
                joined(self.tape, self, other), (self, other), lambda grad: (grad, grad)
            )
        return recorded(self.like(), (self,), lambda grad: (grad,))

    __radd__ = __add__

    def __neg__(self) -> Array:
        return recorded(self.like(), (self,), lambda grad: (grad.like(),))

    def __sub__(self, other: Tensor | float) -> Array:
        if isinstance(other, Tensor):
            return recorded(
                joined(self.tape, self, other), (self, other), lambda grad: (grad, grad.like())
            )
        return self + other

    def __mul__(self, other: Tensor | float) -> Array:
        if not isinstance(other, Tensor):
            return -self
        tape, a, b = self.tape, self, other
        kept_a, kept_b = (a if b.needs_grad else None), (b if a.needs_grad else None)

        def pull(grad: Array) -> Grads:
            second = None if kept_a is None else joined(tape, grad, kept_a)
            return (None if kept_b is None else joined(tape, grad, kept_b)), second

        return recorded(joined(tape, a, b), (a, b), pull, keeps=True)

    __rmul__ = __mul__

    def __truediv__(self, other: Tensor | float) -> Array:
        if not isinstance(other, Tensor):
            return -self
        tape, b, asks = self.tape, other, self.needs_grad
        kept = self if other.needs_grad else None

        def pull(grad: Array) -> Grads:
            second = None
            if kept is not None:
                minus, share = grad.like(), joined(tape, kept, b)
                share = joined(tape, share, b)
                second = joined(tape, minus, share)
                del minus, share
            return (joined(tape, grad, b) if asks else None), second

        return recorded(joined(tape, self, other), (self, other), pull, keeps=True)

    def to(self, dtype: str) -> Array:
        """A cast; the tensor itself where it has the type already."""
        if self.dtype == dtype:
            return self
        source = self.dtype
        return recorded(self.like(dtype), (self,), lambda grad: (grad.like(source),))

    def float(self) -> Array:
        """A cast to float."""
        return self.to(F32)

    def of_input(self, beside: int = 0) -> Array:
        """A function whose gradient needs its input (SiLU, GELU, softplus, log), with so many
        tensors `beside` the gradient."""
        kept = self

        def pull(grad: Array) -> Grads:
            _beside = [grad.like() for _ in range(beside)]
            return (joined(kept.tape, grad, kept),)

        return recorded(self.like(), (self,), pull, keeps=True)

    def of_result(self, beside: int = 0) -> Array:
        """A function whose gradient needs its result (exp, sigmoid, tanh, ReLU, square root),
        likewise."""
        result = self.like()
        kept = seen(result, result.shape, result.strides)

        def pull(grad: Array) -> Grads:
            _beside = [grad.like() for _ in range(beside)]
            return (grad.like(),)

        return recorded(result, (self,), pull, keeps=(kept,))

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
        return recorded(
            result, (self,), lambda grad: (empty(tape, shape, grad.dtype),), keeps=(kept,)
        )

    def sum(self, *axes: int, keeps: bool = True) -> Array:
        """The sum over some axes; its gradient is spread without a copy."""
        full = self.shape
        return self._reduced(axes, keeps, lambda grad: (spread_over(grad, full),))

    def mean(self, *axes: int) -> Array:
        """The mean over some axes, which stay."""
        tape, full = self.tape, self.shape
        return self._reduced(axes, True, lambda grad: (empty(tape, full, grad.dtype),))

    def deviation(self) -> Array:
        """The standard deviation over the last axis, which stays: its gradient is that of the mean
        square."""
        kept = self

        def pull(grad: Array) -> Grads:
            centred = kept.like()
            made = kept.like()
            del centred
            return (made,)

        return recorded(
            empty(self.tape, (*self.shape[:-1], 1), self.dtype), (self,), pull, keeps=True
        )

    def tiled(self, times: int) -> Array:
        """x.repeat over a new first axis; the gradient is summed."""
        wide = empty(self.tape, (times, *self.shape), self.dtype)
        return recorded(wide, (self,), lambda grad: (grad,))

    def _reduced(self, axes: Sequence[int], keeps: bool, pull: Callable[[Array], Grads]) -> Array:
        gone = {axis % len(self.shape) for axis in axes}
        shape = tuple(1 if at in gone else side for at, side in enumerate(self.shape))
        result = recorded(empty(self.tape, shape, self.dtype), (self,), pull)
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

        return recorded(empty(self.tape, self.shape, self.dtype), (self,), pull)

    def masked(self, mask: Tensor) -> Array:
        """masked_fill: keeps the mask."""
        tape, shape = self.tape, self.shape
        result = empty(tape, spread(shape, mask.shape), self.dtype)
        return recorded(
            result, (self,), lambda grad: (empty(tape, grad.shape, grad.dtype),), keeps=(mask,)
        )

    def clamped(self) -> Array:
        """clamp: keeps its input, and compares it again."""
        kept = self

        def pull(grad: Array) -> Grads:
            _bounds = [kept.like(BOOL), kept.like(BOOL)]
            return (grad.like(),)

        return recorded(self.like(), (self,), pull, keeps=True)

    def padded(self, axis: int, more: int) -> Array:
        """F.pad by zeros at the end of an axis: a copy even when nothing is added, which then lies
        as before."""
        tape, shape = self.tape, self.shape
        if not more:
            return recorded(self.like(), (self,), lambda grad: (grad.like(),))
        wide = tuple(
            side + more if at == axis % len(shape) else side for at, side in enumerate(shape)
        )
        return recorded(
            empty(tape, wide, self.dtype), (self,), lambda grad: (empty(tape, shape, grad.dtype),)
        )

    def permute(self, *order: int) -> Array:
        """The axes in another order."""
        order = tuple(at % len(self.shape) for at in order)
        back = tuple(order.index(at) for at in range(len(order)))
        return recorded(permuted(self, order), (self,), lambda grad: (permuted(grad, back),))

    def transpose(self, a: int, b: int) -> Array:
        """Two axes exchanged."""
        order = list(range(len(self.shape)))
        a, b = a % len(order), b % len(order)
        order[a], order[b] = b, a
        return self.permute(*order)

    def reshape(self, *shape: int) -> Array:
        """Another shape: a view where the strides allow it, else a copy."""
        shape = filled(shape, self.size)
        return (
            view_of(self, shape)
            if viewed_strides(self.shape, self.strides, shape) is not None
            else view_of(self.copy(), shape)
        )

    def wide_rows(self) -> Array:
        """A cast to float that lies contiguous; the tensor itself where it is float already."""
        if self.dtype == F32:
            return self
        tape, shape, source = self.tape, self.shape, self.dtype
        return recorded(empty(tape, shape, F32), (self,), lambda grad: (grad.like(source),))

    def copy(self) -> Array:
        """clone to a contiguous tensor."""
        return recorded(empty(self.tape, self.shape, self.dtype), (self,), lambda grad: (grad,))

    def contiguous(self) -> Array:
        """The tensor itself if it lies contiguous, else a copy."""
        return self if lies_packed(self) else self.copy()

    def expand(self, *shape: int) -> Array:
        """Sides of one spread without a copy; the gradient is summed."""
        return recorded(spread_over(self, shape), (self,), lambda grad: (grad,))

    def unsqueeze(self, axis: int) -> Array:
        """An axis of one."""
        at = axis % (len(self.shape) + 1)
        return view_of(self, (*self.shape[:at], 1, *self.shape[at:]))

    def cut(self, axis: int, size: int) -> Array:
        """A slice of an axis: a view whose gradient is written into zeros of the whole."""
        tape, full, dtype, axis = self.tape, self.shape, self.dtype, axis % len(self.shape)
        shape = tuple(size if at == axis else side for at, side in enumerate(full))
        return recorded(
            seen(self, shape, self.strides), (self,), lambda grad: (empty(tape, full, dtype),)
        )

    def pick(self, axis: int) -> Array:
        """One index of an axis, which goes: likewise."""
        tape, full, dtype, axis = self.tape, self.shape, self.dtype, axis % len(self.shape)
        strides = tuple(step for at, step in enumerate(self.strides) if at != axis)
        shape = tuple(side for at, side in enumerate(full) if at != axis)
        return recorded(
            seen(self, shape, strides), (self,), lambda grad: (empty(tape, full, dtype),)
        )

    def split(self, *sizes: int, axis: int = -1) -> list[Array]:
        """Pieces of an axis: views whose gradients are joined into one tensor."""
        axis %= len(self.shape)
        shapes = [
            tuple(size if at == axis else side for at, side in enumerate(self.shape))
            for size in sizes
        ]
        pieces = [seen(self, shape, self.strides) for shape in shapes]
        if self.tape.recording and self.needs_grad:
            tape, full, dtype = self.tape, self.shape, self.dtype
            first = record(
                tape, pieces[0], (self,), lambda grad: (empty(tape, full, dtype),), joins=True
            )
            for piece in pieces[1:]:
                piece.node = first.node
        return pieces

    def repeated(self, times: int, axis: int) -> Array:
        """repeat_interleave: spread over a new axis and copied."""
        axis %= len(self.shape)
        wide = self.unsqueeze(axis + 1)
        shape = (*self.shape[: axis + 1], times, *self.shape[axis + 1 :])
        return (
            wide.expand(*shape)
            .copy()
            .reshape(*self.shape[:axis], self.shape[axis] * times, *self.shape[axis + 1 :])
        )


def seen(x: Tensor, shape: Shape, strides: Shape) -> Array:
    """The same storage under another shape and other strides, outside the graph."""
    return Array(x.tape if isinstance(x, Array) else Tape(), shape, strides, x.dtype, x.storage)


def array(tape: Tape, x: Tensor) -> Array:
    """A tensor that lies contiguous, as an array."""
    if isinstance(x, Array):
        return x
    made = Array(tape, x.shape, packed_strides(x.shape), x.dtype, x.storage)
    if x.trains:
        return recorded(made, (x,), lambda grad: (grad,))
    made.node = x.node
    return made


def empty(tape: Tape, shape: Shape, dtype: str) -> Array:
    """A new contiguous tensor."""
    return Array(tape, shape, packed_strides(shape), dtype, new(tape, shape, dtype).storage)


def zeros(tape: Tape, *shape: int, dtype: str) -> Array:
    """A new contiguous tensor that is no function of others."""
    return empty(tape, shape, dtype)


def recorded(
    result: Array,
    inputs: Sequence[Tensor],
    pull: Callable[[Array], Grads],
    keeps: bool | tuple[Tensor, ...] = False,
) -> Array:
    """Put an operator on the tape whose gradient is an array like its result; `keeps` what the
    closure does not name."""
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
    return tuple(
        0 if side == 1 and whole != 1 else step
        for side, whole, step in zip(padded, shape, steps, strict=True)
    )


def joined(tape: Tape, a: Tensor, b: Tensor) -> Array:
    shape = spread(a.shape, b.shape)
    return _laid(tape, shape, (_aligned(a, shape), _aligned(b, shape)), wider(a, b))


def _laid(tape: Tape, shape: Shape, operands: Sequence[Shape], dtype: str) -> Array:
    return Array(tape, shape, laid_strides(shape, operands), dtype, new(tape, shape, dtype).storage)


def permuted(x: Array, order: Sequence[int]) -> Array:
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


def view_of(x: Array, shape: Shape) -> Array:
    """A view; its gradient is brought back by a reshape, which may copy."""
    strides, before = viewed_strides(x.shape, x.strides, shape), x.shape
    assert strides is not None
    return recorded(seen(x, shape, strides), (x,), lambda grad: (_brought(grad, before),))


def _brought(grad: Array, shape: Shape) -> Array:
    strides = viewed_strides(grad.shape, grad.strides, shape)
    if strides is None:
        return empty(grad.tape, shape, grad.dtype)
    return seen(grad, shape, strides)
