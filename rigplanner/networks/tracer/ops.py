"""The operators of eager PyTorch that transformers are made of, as bytes on a tape
(derivatives.yaml of PyTorch 2.13)."""

from __future__ import annotations

from collections.abc import Sequence

from rigplanner.networks.tracer.tape import (
    BF16,
    BOOL,
    F16,
    F32,
    Grads,
    Shape,
    Tape,
    Tensor,
    like,
    new,
    record,
)

RANK = {BOOL: 0, "i64": 1, F16: 2, BF16: 2, F32: 3}


def wider(a: Tensor, b: Tensor) -> str:
    """The type that an operator on both gives."""
    return a.dtype if RANK[a.dtype] >= RANK[b.dtype] else b.dtype


def spread(a: Shape, b: Shape) -> Shape:
    """The shape that broadcasting gives."""
    if a == b:
        return a
    short, long = (a, b) if len(a) < len(b) else (b, a)
    padded = (1,) * (len(long) - len(short)) + short
    return tuple(max(x, y) for x, y in zip(padded, long, strict=True))


def cast(tape: Tape, x: Tensor, dtype: str) -> Tensor:
    """x.to(dtype)"""
    if x.dtype == dtype:
        return x
    source = x.dtype
    return record(tape, like(tape, x, dtype), (x,), lambda grad: (like(tape, grad, source),))


def cast_low(tape: Tape, x: Tensor) -> Tensor:
    """What autocast does to the input of a matrix product: weights are cast once and kept until the
    region is left."""
    low = tape.autocast
    if low is None or x.dtype != F32:
        return x
    if not x.trains:
        return cast(tape, x, low)
    if x not in tape.casts:
        tape.casts[x] = cast(tape, x, low)
    return tape.casts[x]


def add(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """a + b"""
    return record(
        tape, new(tape, spread(a.shape, b.shape), wider(a, b)), (a, b), lambda grad: (grad, grad)
    )


def sub_self(tape: Tape, a: Tensor) -> Tensor:
    """An operator like x - c, -x or x * c: a new tensor, and nothing kept."""
    return record(tape, like(tape, a), (a,), lambda grad: (like(tape, grad),))


def shift(tape: Tape, a: Tensor) -> Tensor:
    """An operator like x + c: a new tensor, and its gradient is passed on as it is."""
    return record(tape, like(tape, a), (a,), lambda grad: (grad,))


def mul(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """a * b: keeps each for the gradient of the other."""
    shape, dtype = spread(a.shape, b.shape), wider(a, b)
    kept_a, kept_b = (a if b.needs_grad else None), (b if a.needs_grad else None)

    def pull(grad: Tensor) -> Grads:
        first = None if kept_b is None else new(tape, shape, wider(grad, kept_b))
        second = None if kept_a is None else new(tape, shape, wider(grad, kept_a))
        return first, second

    tape.saves()
    return record(tape, new(tape, shape, dtype), (a, b), pull)


def keeping_input(tape: Tape, x: Tensor) -> Tensor:
    """An activation whose gradient needs its input: SiLU, GELU."""
    kept = x

    def pull(grad: Tensor) -> Grads:
        return (like(tape, kept),)

    tape.saves()
    return record(tape, like(tape, x), (x,), pull)


def erf(tape: Tape, x: Tensor) -> Tensor:
    """torch.erf: its gradient is written in five steps that all live to the end."""
    kept = x

    def pull(grad: Tensor) -> Grads:
        _steps = [like(tape, kept) for _ in range(4)]
        return (like(tape, kept),)

    tape.saves()
    return record(tape, like(tape, x), (x,), pull)


def keeping_result(tape: Tape, x: Tensor, dtype: str | None = None) -> Tensor:
    """An operator whose gradient needs its result: ReLU, tanh, sigmoid, softmax, exp."""
    result = like(tape, x, dtype)
    kept = Tensor(result.shape, result.dtype, result.storage)
    tape.saves()
    return record(tape, result, (x,), lambda grad: (like(tape, kept),))


def square(tape: Tape, x: Tensor) -> Tensor:
    """x.pow(2)"""
    kept = x

    def pull(grad: Tensor) -> Grads:
        power = like(tape, kept)
        twice = like(tape, kept)
        result = like(tape, kept)
        del power, twice
        return (result,)

    tape.saves()
    return record(tape, like(tape, x), (x,), pull)


def mean_last(tape: Tape, x: Tensor) -> Tensor:
    """x.mean(-1, keepdim=True)"""
    shape = x.shape
    return record(
        tape,
        new(tape, (*shape[:-1], 1), x.dtype),
        (x,),
        lambda grad: (new(tape, shape, grad.dtype),),
    )


def reduce_to(tape: Tape, x: Tensor, shape: Shape, spreads: bool = True) -> Tensor:
    """A mean (`spreads`: its gradient is a new tensor) or a sum (its gradient is a view) down to
    `shape`."""
    full, dtype = x.shape, x.dtype

    def pull(grad: Tensor) -> Grads:
        return (new(tape, full, dtype) if spreads else Tensor(full, grad.dtype, grad.storage),)

    return record(tape, new(tape, shape, x.dtype), (x,), pull)


def copy(tape: Tape, x: Tensor) -> Tensor:
    """x.contiguous() where x is a transposed view."""
    return record(tape, like(tape, x), (x,), lambda grad: (grad,))


def resized(tape: Tape, x: Tensor, shape: Shape) -> Tensor:
    """x.repeat, F.interpolate, some of the rows of x: a copy whose gradient has the shape of x."""
    source = x.shape
    return record(
        tape, new(tape, shape, x.dtype), (x,), lambda grad: (new(tape, source, grad.dtype),)
    )


def scaled_in_place(tape: Tape, x: Tensor) -> Tensor:
    """x *= c"""
    return record(tape, Tensor(x.shape, x.dtype, x.storage), (x,), lambda grad: (like(tape, grad),))


def cat(tape: Tape, parts: Sequence[Tensor], axis: int = -1) -> Tensor:
    """torch.cat: its gradient is cut into views."""
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    shapes = [part.shape for part in parts]
    dtype = parts[0].dtype
    for part in parts:
        dtype = dtype if RANK[dtype] >= RANK[part.dtype] else part.dtype
    return record(
        tape,
        new(tape, tuple(shape), dtype),
        parts,
        lambda grad: [Tensor(s, grad.dtype, grad.storage) for s in shapes],
    )


def cut(tape: Tape, x: Tensor, shape: Shape) -> Tensor:
    """A slice of x: a view whose gradient is written into zeros of the whole."""
    full = x.shape
    return record(
        tape, Tensor(shape, x.dtype, x.storage), (x,), lambda grad: (new(tape, full, grad.dtype),)
    )


def split(tape: Tape, x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """x.split on the last axis: views whose gradients are joined into one tensor."""
    return _split(tape, x, [Tensor((*x.shape[:-1], size), x.dtype, x.storage) for size in sizes])


def split_rows(tape: Tape, x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """x.split on the middle axis of three."""
    return _split(
        tape, x, [Tensor((x.shape[0], size, x.shape[2]), x.dtype, x.storage) for size in sizes]
    )


def split_channels(tape: Tape, x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """x.split on the channels of a map."""
    return _split(
        tape, x, [Tensor((x.shape[0], size, *x.shape[2:]), x.dtype, x.storage) for size in sizes]
    )


def _split(tape: Tape, x: Tensor, pieces: list[Tensor]) -> list[Tensor]:
    if not (tape.recording and x.needs_grad):
        return pieces
    full = x.shape
    first = record(tape, pieces[0], (x,), lambda grad: (new(tape, full, grad.dtype),), joins=True)
    for piece in pieces[1:]:
        piece.node = first.node
    return pieces


def linear(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; `weight` has shape (out, in)."""
    w = cast_low(tape, weight)
    a = cast_low(tape, x)
    b = None if bias is None else cast_low(tape, bias)
    rows = a.size // a.shape[-1]
    shape = (*a.shape[:-1], weight.shape[0])
    flops = 2 * rows * weight.shape[0] * weight.shape[1]
    tape.flops += flops
    kept_a, kept_w = (a if w.needs_grad else None), (w if a.needs_grad else None)
    x_shape, w_shape, out = a.shape, weight.shape, weight.shape[0]

    def pull(grad: Tensor) -> Grads:
        for_weight = None if kept_a is None else new(tape, w_shape, grad.dtype)
        for_input = None if kept_w is None else new(tape, x_shape, grad.dtype)
        for_bias = new(tape, (out,), grad.dtype) if bias is not None and bias.needs_grad else None
        tape.flops += flops * ((kept_a is not None) + (kept_w is not None))
        return for_input, for_weight, for_bias

    tape.saves()
    return record(tape, new(tape, shape, a.dtype), (a, w, b), pull)


def bmm(tape: Tape, a: Tensor, b: Tensor, shape: Shape) -> Tensor:
    """Batched a @ b with a result of `shape`; operands are taken as they lie (copy transposed ones
    first)."""
    a, b = cast_low(tape, a), cast_low(tape, b)
    flops = 2 * a.size * shape[-1]
    tape.flops += flops
    kept_a, kept_b = (a if b.needs_grad else None), (b if a.needs_grad else None)

    def pull(grad: Tensor) -> Grads:
        second = None if kept_a is None else like(tape, b_shape)
        first = None if kept_b is None else like(tape, a_shape)
        tape.flops += flops * ((kept_a is not None) + (kept_b is not None))
        return first, second

    a_shape, b_shape = Tensor(a.shape, a.dtype, NOWHERE), Tensor(b.shape, b.dtype, NOWHERE)
    tape.saves()
    return record(tape, new(tape, shape, wider(a, b)), (a, b), pull)


NOWHERE = new(Tape(), (0,), BOOL).storage
"""Where shapes without bytes lie."""


def layer_norm(tape: Tape, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """native_layer_norm: keeps its input, the mean and the reciprocal deviation of each row."""
    if tape.autocast and tape.semantics.float_norms:
        x = cast(tape, x, F32)
    rows = (*x.shape[:-1], 1)
    stats = [new(tape, rows, F32), new(tape, rows, F32)]
    kept, sides = x, [None if item is None else item.shape for item in (weight, bias)]

    def pull(grad: Tensor) -> Grads:
        made = [
            like(tape, kept),
            *(None if shape is None else new(tape, shape, grad.dtype) for shape in sides),
        ]
        stats.clear()
        return made

    result = like(tape, x)
    tape.saves()
    return record(tape, result, (x, weight, bias), pull)


def dropout(tape: Tape, x: Tensor, share: float, trains: bool) -> Tensor:
    """F.dropout: keeps the mask."""
    if not trains or not share:
        return x
    mask = like(tape, x, BOOL if tape.semantics.byte_dropout else x.dtype)

    def pull(grad: Tensor) -> Grads:
        return (like(tape, grad if mask.dtype == BOOL else mask),)

    result = like(tape, x)
    tape.saves()
    return record(tape, result, (x,), pull)


def embedding(tape: Tape, table: Tensor, shape: Shape) -> Tensor:
    """Rows of a table: the gradient is a dense table."""
    sides = table.shape
    tape.saves()
    return record(
        tape,
        new(tape, (*shape, sides[-1]), table.dtype),
        (table,),
        lambda grad: (new(tape, sides, grad.dtype),),
    )


def packed(tape: Tape, x: Tensor) -> Tensor:
    """A transposed operand (batch, heads, length, width) of a batched product, copied so that its
    batch sides merge; one sequence, one head and one token need no copy."""
    x = cast_low(tape, x)
    return x if 1 in x.shape[:3] else copy(tape, x)


def unpacked(tape: Tape, x: Tensor) -> Tensor:
    """The result (batch, heads, length, width) of a batched product as rows of tokens: a copy
    unless there is one head or token."""
    return x if 1 in x.shape[1:3] else copy(tape, x)


def cross_entropy(tape: Tape, logits: Tensor) -> Tensor:
    """F.cross_entropy of (rows, classes): log-softmax kept, its gradient and that of the loss one
    after the other."""
    kept = like(tape, logits)

    def pull(grad: Tensor) -> Grads:
        of_loss = like(tape, kept)
        made = like(tape, kept)
        del of_loss
        return (made,)

    return record(tape, new(tape, (), logits.dtype), (logits,), pull)


def convolution(
    tape: Tape,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int,
    padding: int | tuple[int, int],
) -> Tensor:
    """conv2d of (batch, channels, height, width) with `weight` (out, in / groups, kernel height,
    kernel width)."""
    w, a = cast_low(tape, weight), cast_low(tape, x)
    b = None if bias is None else cast_low(tape, bias)
    batch, _, height, width = a.shape
    out, per_group, *kernel = weight.shape
    around = (padding, padding) if isinstance(padding, int) else padding
    sides = tuple(
        (side + 2 * more - edge) // stride + 1
        for side, more, edge in zip((height, width), around, kernel, strict=True)
    )
    shape = (batch, out, *sides)
    flops = 2 * batch * out * sides[0] * sides[1] * per_group * kernel[0] * kernel[1]
    tape.flops += flops
    kept_a, kept_w = (a if w.needs_grad else None), (w if a.needs_grad else None)
    x_shape, w_shape = a.shape, weight.shape

    def pull(grad: Tensor) -> Grads:
        for_input = None if kept_w is None else new(tape, x_shape, grad.dtype)
        for_weight = None if kept_a is None else new(tape, w_shape, grad.dtype)
        for_bias = new(tape, (out,), grad.dtype) if bias is not None and bias.needs_grad else None
        tape.flops += flops * ((kept_a is not None) + (kept_w is not None))
        return for_input, for_weight, for_bias

    tape.saves()
    return record(tape, new(tape, shape, a.dtype), (a, w, b), pull)


def batch_norm(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor, trains: bool) -> Tensor:
    """native_batch_norm: keeps its input, and mean and deviation per channel."""
    stats = [new(tape, weight.shape, F32), new(tape, weight.shape, F32)] if trains else []
    kept, side = x, weight.shape

    def pull(grad: Tensor) -> Grads:
        made = like(tape, kept), new(tape, side, F32), new(tape, side, F32)
        stats.clear()
        return made

    result = like(tape, x)
    tape.saves()
    return record(tape, result, (x, weight, bias), pull)


def add_in_place(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """a += b"""
    return record(tape, Tensor(a.shape, a.dtype, a.storage), (a, b), lambda grad: (grad, grad))


def max_pool(tape: Tape, x: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    """max_pool2d: keeps its input and the index of each maximum (int64)."""
    sides = tuple((side + 2 * padding - kernel) // stride + 1 for side in x.shape[2:])
    shape = (*x.shape[:2], *sides)
    kept = [x, new(tape, shape, "i64")]

    def pull(grad: Tensor) -> Grads:
        made = like(tape, kept[0])
        kept.clear()
        return (made,)

    return record(tape, new(tape, shape, x.dtype), (x,), pull)


def pad(tape: Tape, x: Tensor, height: int, width: int) -> Tensor:
    """F.pad with zeros: a copy unless nothing is added."""
    if not height and not width:
        return x
    shape, full = x.shape, (*x.shape[:2], x.shape[2] + height, x.shape[3] + width)
    return record(
        tape, new(tape, full, x.dtype), (x,), lambda grad: (new(tape, shape, grad.dtype),)
    )
