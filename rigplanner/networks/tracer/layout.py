"""How tensors lie: strides as PyTorch computes them, from shapes and strides alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rigplanner.networks.tracer.tape import Shape


def packed_strides(shape: Shape) -> Shape:
    """The strides of a contiguous tensor."""
    found, step = [], 1
    for side in reversed(shape):
        found.append(step)
        step *= side
    return tuple(reversed(found))


def laid_strides(shape: Shape, operands: Sequence[Shape]) -> Shape:
    """Strides of the result of an elementwise operator, whose axes lie in the order that
    TensorIterator takes from its operands (reorder_dimensions)."""
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
    return tuple(strides)


def _compared(a: int, b: int, shape: Shape, operands: Sequence[Shape]) -> int:
    for strides in operands:
        if not strides[a] or not strides[b]:
            continue
        if strides[a] != strides[b]:
            return -1 if strides[a] < strides[b] else 1
        if shape[a] > shape[b]:
            return 1
    return 0


def filled(shape: Sequence[int], size: int) -> Shape:
    if -1 not in shape:
        return tuple(shape)
    known = prod(side for side in shape if side != -1)
    return tuple(size // known if side == -1 else side for side in shape)


def viewed_strides(lies: Shape, steps: Shape, shape: Shape) -> Shape | None:
    """Strides of a view of `shape` of a tensor that lies so, or None where it needs a copy
    (at::detail::computeStride)."""
    found = [0] * len(shape)
    at, chunk_step = len(shape) - 1, steps[-1] if steps else 1
    size = taken = 1
    for axis in range(len(lies) - 1, -1, -1):
        size *= lies[axis]
        if axis and (lies[axis - 1] == 1 or steps[axis - 1] == size * chunk_step):
            continue
        while at >= 0 and (taken < size or shape[at] == 1):
            found[at] = taken * chunk_step
            taken *= shape[at]
            at -= 1
        if taken != size:
            return None
        if axis:
            chunk_step, size, taken = steps[axis - 1], 1, 1
    return tuple(found) if at == -1 else None
