"""Heads of segmenters that gather context by attention over the map, on the tape: as their papers
and MMSegmentation have them."""

from __future__ import annotations

from math import prod
from typing import Any

from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.families.vision.pyramid import Unit, relu_in_place
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Tensor, like, record

KEY_SIDES = (1, 3, 6, 8)
"""Sides of the pooled maps that ANN attends to (Zhu et al. 2019, arXiv 1908.07678)."""
GROUPS = 8
"""Places of a group of ISANet in either direction (Huang et al. 2019, arXiv 1907.12273)."""
CROSSINGS = 2
"""How often CCNet attends along rows and columns (Huang et al. 2019, arXiv 1811.11721)."""


def conv(net: Net, inputs: int, outputs: int) -> Unit:
    """A convolution of one pixel with a bias alone."""
    return Unit(net, inputs, outputs, 1, bias=True, relu=False)


def normed(net: Net, inputs: int, outputs: int, kernel: int = 1, relu: bool = True) -> Unit:
    return Unit(net, inputs, outputs, kernel, norm="trained", relu=relu)


def soft(net: Net, x: Tensor) -> Tensor:
    """A softmax, which autocast takes in float: keeps its result, in old releases its input too,
    and multiplies its gradient by its result beside what it gives back (softmax_backward_cuda)."""
    tape = net.tape
    x = ops.cast(tape, x, F32) if tape.autocast else x
    result = like(tape, x)
    kept = [
        Tensor(result.shape, result.dtype, result.storage),
        *([x] if net.setting.keeps_scores else []),
    ]

    def pull(grad: Tensor) -> tuple[Tensor]:
        product = like(tape, kept[0])
        made = like(tape, kept[0])
        del product
        kept.clear()
        return (made,)

    tape.saves()
    return record(tape, result, (x,), pull)


def places(x: Tensor) -> int:
    return x.shape[2] * x.shape[3]


def squeezed(x: Tensor) -> Tensor:
    """The map as one row of places a channel."""
    return x.view(*x.shape[:2], prod(x.shape[2:]))


class Around:
    """The row that non-local heads share: a convolution, the block, a convolution, and one over
    their result beside the input."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.first = normed(net, inputs, width, 3)
        self.block: Any = self._block(width)
        self.second = normed(net, width, width, 3)
        self.joint = normed(net, inputs + width, width, 3)

    def _block(self, width: int) -> Any:
        return Far(self.net, width)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        x = maps[-1]
        y = self.second(self.block(self.first(x)))
        return self.joint(ops.cat(self.net.tape, (x, y), 1))


class Far:
    """A non-local block (Wang et al. 2018, arXiv 1711.07971) at half the width; `parted` as Yin et
    al. 2020 (arXiv 2006.06668): whitened pairs, and one weight a place beside them."""

    def __init__(self, net: Net, width: int, parted: bool = False) -> None:
        self.net, self.inner, self.parted = net, width // 2, parted
        self.value, self.query, self.key = (conv(net, width, self.inner) for _ in range(3))
        self.out = normed(net, self.inner, width, relu=False)
        self.mask = conv(net, width, 1) if parted else None

    def __call__(self, x: Tensor) -> Tensor:
        tape, count, inner = self.net.tape, places(x), self.inner
        value, query, key = (
            layer(x).view(x.shape[0], inner, count) for layer in (self.value, self.query, self.key)
        )
        if self.mask is not None:
            query, key = (ops.scaled_in_place(tape, y) for y in (query, key))
        pairs = ops.bmm(tape, query.view(x.shape[0], count, inner), key, (x.shape[0], count, count))
        for _ in range(2 if self.parted else 1):
            pairs = ops.scaled_in_place(tape, pairs)
        pairs = soft(self.net, pairs)
        found = ops.copy(tape, ops.bmm(tape, pairs, value, (x.shape[0], count, inner)))
        made = ops.add(tape, x, self.out(found.view(x.shape[0], inner, *x.shape[2:])))
        if self.mask is None:
            return made
        alone = soft(self.net, self.mask(x).view(x.shape[0], 1, count))
        one = ops.bmm(tape, alone, value, (x.shape[0], 1, inner)).view(x.shape[0], inner, 1, 1)
        return ops.add(tape, made, self.out(one))


class PartedHead(Around):
    """DNLNet: whitened pairs and single places."""

    def _block(self, width: int) -> Any:
        return Far(self.net, width, parted=True)


class Whole:
    """A global context block (Cao et al. 2019, arXiv 1904.11492): one weight a place, added to all
    through a bottleneck of 1/4."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.mask, inner = net, conv(net, width, 1), width // 4
        self.down, self.up = conv(net, width, inner), conv(net, inner, width)
        self.sides = net.parameter(inner), net.parameter(inner)

    def __call__(self, x: Tensor) -> Tensor:
        tape, batch, width = self.net.tape, x.shape[0], x.shape[1]
        weights = soft(self.net, self.mask(x).view(batch, 1, places(x)))
        context = ops.bmm(tape, squeezed(x), weights, (batch, width, 1)).view(batch, width, 1, 1)
        inner = relu_in_place(tape, group_norm(tape, self.down(context), *self.sides))
        return ops.add(tape, x, self.up(inner))


class ContextHead(Around):
    """GCNet: one context for all places."""

    def _block(self, width: int) -> Any:
        return Whole(self.net, width)


class Crossing:
    """Criss-cross attention: every place attends to its row and its column, twice with the same
    weights."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, inner = net, width // 8
        self.query, self.key, self.value = (
            conv(net, width, inner),
            conv(net, width, inner),
            conv(net, width, width),
        )
        self.scale = net.parameter(1)

    def __call__(self, x: Tensor) -> Tensor:
        for _ in range(CROSSINGS):
            x = self._once(x)
        return x

    def _once(self, x: Tensor) -> Tensor:
        tape, (batch, width, high, wide) = self.net.tape, x.shape
        query, key, value = self.query(x), self.key(x), self.value(x)
        pairs = []
        for side, other in ((high, wide), (wide, high)):
            a, b = ops.copy(tape, query), ops.copy(tape, key)
            pairs.append(
                ops.bmm(tape, a, b, (batch, other, side, side)).view(batch, high, wide, side)
            )
        pairs[0] = ops.shift(tape, pairs[0])
        weights = soft(self.net, ops.cat(tape, pairs, 3))
        del pairs
        found = []
        for side, part in zip((high, wide), ops.split(tape, weights, (high, wide)), strict=True):
            along = ops.copy(tape, part)
            found.append(
                ops.bmm(
                    tape, along, ops.copy(tape, value), (batch, high * wide * width // side, side)
                ).view(*x.shape)
            )
        y = ops.add_in_place(tape, *found)
        del found
        return ops.copy(tape, ops.add(tape, ops.mul(tape, y, self.scale), x))


class CrossHead(Around):
    """CCNet: rows and columns."""

    def _block(self, width: int) -> Any:
        return Crossing(self.net, width)


class Relation:
    """Attention of the places of one map to those of another, as several heads build it: `layers`
    convolutions with norms for keys and queries (0: one without), `pooled` keys, one projection for
    both where `shared`, and an outer one where told."""

    def __init__(
        self,
        net: Net,
        keys: int,
        queries: int,
        width: int,
        values: int,
        *,
        layers: int = 1,
        scaled: bool = True,
        shared: bool = False,
        pooled: bool = False,
        outer: int = 0,
        normed_values: bool = False,
    ) -> None:
        self.net, self.scaled, self.pooled = net, scaled, pooled
        self.key = self._projection(keys, width, layers)
        self.query = self.key if shared else self._projection(queries, width, layers)
        plain: Any = normed if normed_values else conv
        self.value = plain(net, keys, values)
        self.outer = plain(net, values, outer) if outer else None

    def _projection(self, inputs: int, width: int, layers: int) -> list[Unit]:
        if not layers:
            return [conv(self.net, inputs, width)]
        return [normed(self.net, inputs if at == 0 else width, width) for at in range(layers)]

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        tape, count = self.net.tape, places(x)
        query, key = x, y
        for layer in self.query:
            query = layer(query)
        query = ops.copy(tape, query.view(x.shape[0], count, query.shape[1]))
        for layer in self.key:
            key = layer(key)
        key, value = (self._shortened(z) for z in (key, self.value(y)))
        value = ops.copy(tape, value)
        pairs = ops.bmm(tape, query, key, (x.shape[0], count, key.shape[2]))
        pairs = soft(self.net, ops.sub_self(tape, pairs) if self.scaled else pairs)
        found = ops.copy(tape, ops.bmm(tape, pairs, value, (x.shape[0], count, value.shape[1])))
        found = found.view(x.shape[0], value.shape[1], *x.shape[2:])
        return self.outer(found) if self.outer is not None else found

    def _shortened(self, x: Tensor) -> Tensor:
        if not self.pooled:
            return squeezed(x)
        tape = self.net.tape
        return ops.cat(
            tape,
            [squeezed(ops.reduce_to(tape, x, (*x.shape[:2], side, side))) for side in KEY_SIDES],
            2,
        )


class PyramidAttentionHead:
    """ANN: the last map attends to pooled parts of the one before it, then to those of itself."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, (low, high) = net, widths[-2:]
        inner = width // 2
        self.fusing = Relation(net, low, high, inner, inner, pooled=True, outer=high)
        self.fused = normed(net, 2 * high, high, relu=False)
        self.narrow = normed(net, high, width, 3)
        self.context = Relation(
            net, width, width, inner, inner, shared=True, pooled=True, outer=width
        )
        self.joint = normed(net, 2 * width, width)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, (low, high) = self.net.tape, maps[-2:]
        prior = ops.reduce_to(
            tape, ops.sub_self(tape, self.fusing(high, low)), high.shape, spreads=False
        )
        x = self.fused(ops.cat(tape, (prior, high), 1))
        del prior
        x = self.narrow(ops.dropout(tape, x, 0.1, self.net.setting.training))
        prior = ops.reduce_to(tape, ops.sub_self(tape, self.context(x, x)), x.shape, spreads=False)
        return self.joint(ops.cat(tape, (prior, x), 1))


class InterlacedHead:
    """ISANet: attention among places far apart, then among neighbours."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inner = net, width // 2
        self.first = normed(net, widths[-1], width, 3)
        self.relations = [Relation(net, width, width, inner, width, layers=2) for _ in range(2)]
        self.outer = [normed(net, width, width) for _ in range(2)]
        self.joint = normed(net, 2 * width, width)

    def __call__(self, maps: list[Tensor]) -> Tensor:
        tape, first = self.net.tape, self.first(maps[-1])
        batch, width = first.shape[:2]
        high, wide = (-(-side // GROUPS) for side in first.shape[2:])
        x = ops.pad(tape, first, high * GROUPS - first.shape[2], wide * GROUPS - first.shape[3])
        whole = x.shape
        shapes = (
            (batch * GROUPS**2, width, high, wide),
            (batch * high * wide, width, GROUPS, GROUPS),
        )
        for relation, outer, shape in zip(self.relations, self.outer, shapes, strict=True):
            x = ops.copy(tape, x).view(*shape)
            x = outer(relation(x, x))
        x = ops.copy(tape, x).view(*whole)
        x = x if whole == first.shape else ops.cut(tape, x, first.shape)
        return self.joint(ops.cat(tape, (x, first), 1))


class DualHead:
    """DANet (Fu et al. 2019, arXiv 1809.02983): attention over places and over channels; all three
    results are scored."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net, inputs = net, widths[-1]
        self.first, self.last = (
            [normed(net, side, width, 3) for _ in range(2)] for side in (inputs, width)
        )
        self.relation = Relation(net, width, width, width // 8, width, layers=0, scaled=False)
        self.scales = [net.parameter(1) for _ in range(2)]

    def __call__(self, maps: list[Tensor]) -> list[Tensor]:
        tape, x = self.net.tape, maps[-1]
        y = self.first[0](x)
        y = ops.add(tape, ops.mul(tape, self.relation(y, y), self.scales[0]), y)
        by_place = self.last[0](y)
        y = self.first[1](x)
        by_channel = self.last[1](
            ops.add(tape, ops.mul(tape, self._over_channels(y), self.scales[1]), y)
        )
        return [ops.add(tape, by_place, by_channel), by_place, by_channel]

    def _over_channels(self, x: Tensor) -> Tensor:
        tape, seen = self.net.tape, squeezed(x)
        batch, width, count = seen.shape
        pairs = ops.bmm(tape, seen, seen.view(batch, count, width), (batch, width, width))
        weights = soft(self.net, ops.sub_self(tape, pairs))
        return ops.bmm(tape, weights, seen, (batch, width, count)).view(*x.shape)


class ObjectHead:
    """OCRNet (Yuan et al. 2020, arXiv 1909.11065): places attend to one region a class, found by
    the coarse scores."""

    def __init__(self, net: Net, widths: list[int], width: int) -> None:
        self.net = net
        self.first = normed(net, widths[-1], width, 3)
        self.relation = Relation(
            net, width, width, width // 2, width // 2, layers=2, outer=width, normed_values=True
        )
        self.joint = normed(net, 2 * width, width)

    def __call__(self, maps: list[Tensor], coarse: Tensor) -> Tensor:
        tape, x = self.net.tape, self.first(maps[-1])
        batch, width, classes = x.shape[0], x.shape[1], coarse.shape[1]
        share = soft(self.net, ops.sub_self(tape, squeezed(coarse)))
        regions = ops.copy(
            tape, ops.bmm(tape, share, x.view(batch, places(x), width), (batch, classes, width))
        )
        return self.joint(
            ops.cat(tape, (self.relation(x, regions.view(batch, width, classes, 1)), x), 1)
        )
