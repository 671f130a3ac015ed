"""A tape that counts bytes: tensors without data, an autograd graph without arithmetic.

A network is written as the operators that eager PyTorch runs; every operator allocates its result,
keeps for the backward pass what PyTorch's derivative formula keeps
(tools/autograd/derivatives.yaml), and the storage goes when the last reference goes. The peak of
the sum is the peak of live tensors. Nothing is computed, so a 7B model takes milliseconds."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count
from math import prod
from typing import Any

from msgspec import Struct

F32, BF16, F16, I64, BOOL = "f32", "bf16", "f16", "i64", "bool"
WIDTH = {F32: 4, BF16: 2, F16: 2, I64: 8, BOOL: 1}
"""Bytes of one value."""

Shape = tuple[int, ...]
Grads = Sequence["Tensor | None"]


class Semantics(Struct, frozen=True, kw_only=True):
    """Where eager PyTorch differs between the CPU and a CUDA device.

    `explicit_mask`: fused attention gets a materialised mask. `fused_dropout`: its kernel can drop
    weights. `byte_dropout`: the dropout mask is one byte per value, else it has the width of its
    input. `in_place_sums`: two gradients of one tensor are added in place. `float_norms`: autocast
    normalises in float. `caches`: a forward pass of an encoder-decoder keeps keys and values, as
    the library does unless told (for a GPU the cache is a part of its own)."""

    explicit_mask: bool = False
    fused_dropout: bool = True
    byte_dropout: bool = True
    in_place_sums: bool = True
    float_norms: bool = True
    caches: bool = False


CPU_TRACE = Semantics(
    explicit_mask=True,
    fused_dropout=False,
    byte_dropout=False,
    in_place_sums=False,
    float_norms=False,
    caches=True,
)
CUDA = Semantics()


class Tape:
    """Live and peak bytes, operations of matrix products, and the graph that a backward pass will
    trace."""

    def __init__(self, semantics: Semantics = CUDA, autocast: str | None = None) -> None:
        self.semantics, self.autocast, self.low = semantics, autocast, autocast
        self.live = self.peak = self.gradient_bytes = self.gradients_at_peak = 0
        self.flops = 0
        self.recording = True
        self.casts: dict[Tensor, Tensor] = {}
        self.numbers = count()
        self.trace: list[tuple[int, int]] | None = None
        self.last_saved = (0, 0, 0)
        self.shed: set[Storage] = set()

    def saves(self) -> None:
        """Note the peak so far: an operator keeps something for the backward pass. A block run
        again stops at the last of them."""
        self.last_saved = (self.peak, self.gradients_at_peak, len(self.trace or ()))

    def stop_at_last_saved(self) -> None:
        """Forget what came after the last operator that kept something (torch.utils.checkpoint,
        early stop)."""
        self.peak, self.gradients_at_peak, length = self.last_saved
        if self.trace is not None:
            del self.trace[length:]

    def forget_casts(self) -> None:
        """Drop the weights that autocast has cast and kept, as leaving the autocast region does."""
        self.casts = {}


class Storage:
    """Bytes that are live while anything refers to them."""

    __slots__ = ("bytes", "tape")

    def __init__(self, tape: Tape, size: int) -> None:
        self.tape, self.bytes = tape, 0
        live = tape.live = tape.live + size
        self.bytes = size
        if live > tape.peak:
            tape.peak, tape.gradients_at_peak = live, tape.gradient_bytes
        if tape.trace is not None:
            tape.trace.append((live, tape.gradient_bytes))

    def __del__(self) -> None:
        self.tape.live -= self.bytes


class Node:
    """One step of the backward pass: `pull` turns the gradient of the result into those of the
    inputs in `edges`.

    A node that `joins` has several results; their gradients wait side by side in `slots`. One that
    `takes` is given its gradient in a list, so that it can be the last that holds it."""

    __slots__ = ("edges", "joins", "kinds", "number", "pull", "slots", "takes")

    def __init__(
        self,
        number: int,
        edges: list[Edge],
        kinds: list[Kind],
        pull: Callable[[Any], Grads],
        joins: bool = False,
        takes: bool = False,
    ) -> None:
        self.number, self.edges, self.kinds, self.pull, self.joins, self.takes = (
            number,
            edges,
            kinds,
            pull,
            joins,
            takes,
        )
        self.slots: list[Tensor] = []


class Tensor:
    """A shape, a type and a storage. `node` is set on results that need a gradient, `trains` on
    leaves that do."""

    __slots__ = ("dtype", "grad", "node", "shape", "storage", "trains")

    def __init__(
        self,
        shape: Shape,
        dtype: str,
        storage: Storage,
        node: Node | None = None,
        trains: bool = False,
    ) -> None:
        self.shape, self.dtype, self.storage, self.node, self.trains = (
            shape,
            dtype,
            storage,
            node,
            trains,
        )
        self.grad: Tensor | None = None

    @property
    def size(self) -> int:
        """How many values it has."""
        return prod(self.shape)

    @property
    def needs_grad(self) -> bool:
        return self.trains or self.node is not None

    def beside(self, tape: Tape, dtype: str) -> Tensor:
        """Allocate a tensor of the same shape."""
        return new(tape, self.shape, dtype)

    def view(self, *shape: int) -> Tensor:
        """Return the same storage in another shape; the graph sees no difference."""
        seen = Tensor(shape, self.dtype, self.storage, self.node, False)
        if self.trains:
            seen.node = Node(-1, [self], [None], lambda grad: (grad,))
        return seen


Edge = Tensor | Node | None
Kind = tuple[Shape, str] | None


def new(tape: Tape, shape: Shape, dtype: str) -> Tensor:
    """Allocate a tensor."""
    return Tensor(shape, dtype, Storage(tape, WIDTH[dtype] * prod(shape)))


def like(tape: Tape, tensor: Tensor, dtype: str | None = None) -> Tensor:
    """Allocate a tensor of the same shape, in the same order of axes where that is known."""
    return tensor.beside(tape, dtype or tensor.dtype)


def record(
    tape: Tape,
    result: Tensor,
    inputs: Sequence[Tensor | None],
    pull: Callable[[Any], Grads],
    joins: bool = False,
    takes: bool = False,
) -> Tensor:
    """Put an operator on the tape if any input needs a gradient."""
    if not tape.recording:
        return result
    for given in inputs:
        if given is not None and (given.trains or given.node is not None):
            edges: list[Edge] = [
                None if item is None else item if item.trains else item.node for item in inputs
            ]
            kinds = [None if item is None else (item.shape, item.dtype) for item in inputs]
            result.node = Node(next(tape.numbers), edges, kinds, pull, joins, takes)
            break
    return result


def backward(tape: Tape, node: Node, grad: Tensor, unpacks: bool = False) -> None:
    """Trace the graph from `node` whose result has gradient `grad`, newest operator first, dropping
    what each has kept; leaves end with a `grad`. `unpacks`: what was kept comes out of hooks, as a
    checkpoint's does, and is gone once the operator has worked, before its gradients are fitted to
    its inputs."""
    buffers: dict[Node, Tensor] = {node: grad}
    queue = [(-node.number, id(node), node)]
    del grad
    missing = _dependencies(node)
    while queue:
        node = heapq.heappop(queue)[2]
        box = [buffers.pop(node)]
        pulled = list(node.pull(box if node.takes else box[0]))
        node.slots = []
        if unpacks:
            node.pull = _spent
        edges, node.edges = node.edges, []
        for at, kind in enumerate(node.kinds):
            whole = pulled[at]
            if kind is not None and whole is not None and edges[at] is not None:
                pulled[at] = _fit(tape, whole, kind)
        whole, node.pull = None, _spent
        box.clear()
        for at, edge in enumerate(edges):
            piece, pulled[at] = pulled[at], None
            if edge is None:
                continue
            if isinstance(edge, Tensor):
                if piece is not None:
                    _keep(tape, edge, piece)
                del piece
                continue
            if piece is not None:
                if edge.joins:
                    edge.slots.append(piece)
                buffers[edge] = (
                    _sum(tape, buffers.pop(edge), piece)
                    if edge in buffers and not edge.joins
                    else piece
                )
            del piece
            missing[edge] -= 1
            if not missing[edge] and edge in buffers:
                heapq.heappush(queue, (-edge.number, id(edge), edge))


def _spent(_: Tensor) -> Grads:
    raise RuntimeError("the graph has been traced already")


def _dependencies(root: Node) -> dict[Node, int]:
    waiting: dict[Node, int] = {root: 0}
    stack = [root]
    while stack:
        for edge in stack.pop().edges:
            if isinstance(edge, Node):
                if edge not in waiting:
                    waiting[edge] = 0
                    stack.append(edge)
                waiting[edge] += 1
    return waiting


def _fit(tape: Tape, piece: Tensor, kind: tuple[Shape, str]) -> Tensor:
    """Reduce a gradient over broadcast sides and cast it to the type of the input, as the engine
    does before handing it on."""
    shape, dtype = kind
    if piece.shape != shape and piece.size > prod(shape):
        piece = new(tape, shape, piece.dtype)
    return piece if piece.dtype == dtype else new(tape, shape, dtype)


def _sum(tape: Tape, old: Tensor, piece: Tensor) -> Tensor:
    return old if tape.semantics.in_place_sums else like(tape, old)


def _keep(tape: Tape, leaf: Tensor, piece: Tensor) -> None:
    if leaf.storage in tape.shed:
        return
    if leaf.grad is None:
        leaf.grad = Tensor(piece.shape, piece.dtype, piece.storage)
        tape.gradient_bytes += piece.storage.bytes
    elif not tape.semantics.in_place_sums:
        leaf.grad = like(tape, leaf.grad)
