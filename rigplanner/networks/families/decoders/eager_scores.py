"""Attention that older decoders write out themselves, and what their local variables keep alive
meanwhile."""

from __future__ import annotations

from rigplanner.networks.families.decoders.attention import Attention, Rope, repeat_heads, rotate
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.products import cat
from rigplanner.networks.tracer.strided import array
from rigplanner.networks.tracer.tape import BOOL, F32, Tape, Tensor, like, new, record


class FloatScores(Attention):
    """Query and key are raised to float (GPT-J, GPT-Neo); they and their originals live until the
    result is there. Every layer has a table of its own: the angles of all positions, or which
    positions see which."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        if form.traits.rope:
            net.buffer(form.positions, int(form.head_dim * form.traits.rope))
        else:
            net.buffer(form.positions, form.positions, dtype=BOOL)

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        raised = [ops.cast(tape, side, F32) for side in (query, key)]
        shape = (setting.batch, form.heads, setting.length, setting.length)
        weights = ops.sub_self(tape, self._product(raised[0], raised[1], shape))
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        softened = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, weights, softened))
        weights = ops.dropout(
            tape,
            ops.cast(tape, weights, value.dtype),
            form.traits.attention_dropout,
            setting.training,
        )
        result = ops.bmm(tape, weights, ops.packed(tape, value), query.shape)
        return ops.unpacked(tape, result), weights

    def _product(self, query: Tensor, key: Tensor, shape: tuple[int, ...]) -> Tensor:
        tape = self.net.tape
        left, right = ops.packed(tape, query), ops.packed(tape, key)
        return ops.bmm(tape, left, right, shape)


class BiasedScores(Attention):
    """A bias per head and key enters the product (BLOOM, baddbmm); the product itself lives as long
    as the layer attends."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        left, right, carried = (ops.packed(tape, side) for side in (query, key, value))
        scores = ops.bmm(
            tape, left, right, (setting.batch, form.heads, setting.length, setting.length)
        )
        weights = scores if mask is None else ops.add(tape, scores, mask)
        odds = ops.cast(tape, ops.keeping_result(tape, ops.cast(tape, weights, F32)), query.dtype)
        odds = ops.dropout(tape, odds, form.traits.attention_dropout, setting.training)
        return ops.unpacked(tape, ops.bmm(tape, odds, carried, query.shape)), odds


class FilledScores(Attention):
    """A float bias per head and key is added to the scores, and hidden positions are filled
    (MPT)."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        shape = (setting.batch, form.heads, setting.length, setting.length)
        bias = new(tape, (form.heads, 1, setting.length), F32)
        weights = ops.sub_self(tape, self._scores(query, key, False, shape))
        scores = weights = ops.add(tape, weights, bias)
        scores = weights = ops.sub_self(tape, scores)
        weights = ops.cast(
            tape, ops.keeping_result(tape, ops.cast(tape, weights, F32)), value.dtype
        )
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))
        del scores
        return result, weights


def below_greatest(tape: Tape, scores: Tensor, sinks: Tensor | None) -> Tensor:
    """Scores less the greatest of each row, weighed in their own type; a sink is one more column,
    which is cut off again."""
    shape = scores.shape
    if sinks is not None:
        scores = ops.cat(tape, (scores, Tensor((*shape[:-1], 1), sinks.dtype, sinks.storage)))
    weights = ops.keeping_result(tape, ops.shift(tape, scores))
    return weights if sinks is None else ops.cut(tape, weights, shape)


class FromZeros(Attention):
    """The product is added to a tensor of zeros (GPT-NeoX Japanese), which lives as long as the
    layer attends."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        shape = (setting.batch, form.heads, setting.length, setting.length)
        _zeros = new(tape, shape, query.dtype)
        scores = ops.bmm(tape, query, key, shape)
        scores = scores if mask is None else ops.add(tape, scores, mask)
        weights = self._softmax(scores, F32) if tape.autocast else ops.keeping_result(tape, scores)
        weights = ops.cast(
            tape,
            ops.dropout(tape, weights, form.traits.attention_dropout, setting.training),
            value.dtype,
        )
        result = ops.bmm(tape, weights, ops.packed(tape, value), query.shape)
        return ops.unpacked(tape, result), weights


class FloatSinks(Attention):
    """Query and key are raised to float, and so stay the scores and the sink of every head
    (Flint)."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        keys, values = repeat_heads(tape, key, form.heads), repeat_heads(tape, value, form.heads)
        repeated = 1 < key.shape[1] < form.heads
        shape = (setting.batch, form.heads, setting.length, setting.length)
        autocast, tape.autocast = tape.autocast, None
        weights = ops.sub_self(
            tape,
            self._scores(ops.cast(tape, query, F32), ops.cast(tape, keys, F32), repeated, shape),
        )
        tape.autocast = autocast
        weights = weights if mask is None else ops.add(tape, weights, mask)
        weights = ops.cast(tape, self._with_sinks(weights), value.dtype)
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        values = values if repeated else ops.packed(tape, values)
        return ops.unpacked(tape, ops.bmm(tape, weights, values, query.shape)), weights


class CappedBelow(Attention):
    """Scores are kept above the least number of their type by torch.max, which keeps both of its
    sides; queries, keys and values are laid out at once (XGLM)."""

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = (ops.packed(self.net.tape, side) for side in super()._project(x))
        return query, key, value

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        weights = ops.bmm(
            tape, query, key, (setting.batch, form.heads, setting.length, setting.length)
        )
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = largest(tape, weights)
        softened = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, weights, softened))
        odds = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, odds, value, query.shape))
        return result, weights


def largest(tape: Tape, x: Tensor) -> Tensor:
    """torch.max of a tensor and a number: keeps the tensor, and compares it again for its
    gradient."""
    kept = x

    def pull(grad: Tensor) -> tuple[Tensor]:
        halved = like(tape, grad)
        _compared = like(tape, kept, BOOL)
        _where = like(tape, kept, BOOL)
        return (like(tape, halved),)

    tape.saves()
    return record(tape, like(tape, x), (x,), pull)


class BlendedScores(Attention):
    """Scores times a mask of ones and zeros plus its contrary (GPT); every layer has a table of all
    positions."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        net.buffer(form.positions, form.positions, dtype=net.setting.dtype)

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        square = (setting.batch, form.heads, setting.length, setting.length)
        scores = ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)
        scores = ops.sub_self(tape, scores)
        table = new(tape, (0,), setting.dtype)
        seen = Tensor((1, 1, *square[2:]), table.dtype, table.storage)
        weights = ops.mul(tape, scores, seen)
        contrary = new(tape, seen.shape, seen.dtype)
        contrary = ops.sub_self(tape, contrary)
        weights = ops.add(tape, weights, contrary)
        del contrary
        softened = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, weights, softened))
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        return ops.unpacked(
            tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape)
        ), weights


class SunkScores(Attention):
    """The result is scaled by how far the scores of a token rise above a learned sink of its head
    (Granite with windows)."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        self.sink = net.parameter(form.heads)

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        keys, values = repeat_heads(tape, key, form.heads), repeat_heads(tape, value, form.heads)
        repeated = 1 < key.shape[1] < form.heads
        square = (setting.batch, form.heads, setting.length, setting.length)
        weights = ops.sub_self(tape, self._scores(query, keys, repeated, square))
        weights = weights if mask is None else ops.add(tape, weights, mask)
        above = ops.add(
            tape,
            _summed_exponents(tape, weights),
            Tensor((1, form.heads, 1), self.sink.dtype, self.sink.storage),
        )
        scale = ops.keeping_result(tape, ops.cast(tape, above, F32))
        weights = self._softmax(weights, query.dtype)
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        result = ops.bmm(
            tape, weights, values if repeated else ops.packed(tape, values), query.shape
        )
        result = ops.mul(
            tape, result, ops.cast(tape, scale, result.dtype).view(*query.shape[:3], 1)
        )
        return ops.unpacked(tape, result), weights


def _summed_exponents(tape: Tape, x: Tensor) -> Tensor:
    """torch.logsumexp over the last axis: keeps its input."""
    kept = x

    def pull(grad: Tensor) -> tuple[Tensor]:
        _difference = like(tape, kept)
        _exponents = like(tape, kept)
        return (like(tape, kept),)

    tape.saves()
    return record(tape, new(tape, x.shape[:-1], x.dtype), (x,), pull)


class Differential(Attention):
    """Two attentions by one set of scores to both halves of the values, the second subtracted by a
    learned share (DiffLlama)."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        self.shares = [net.parameter(form.head_dim) for _ in range(4)]

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        query, key, value = self._project(x)
        if rope is not None:
            query, key = rotate(tape, query, rope), rotate(tape, key, rope)
        halves = array(tape, value).split(*(value.shape[1] // 2,) * 2, axis=1)
        both = [ops.resized(tape, half, value.shape) for half in halves]
        run = self._eager if setting.eager else self._fused_pair
        first, weights = run(query, key, both[0], mask)
        second, _weights = run(query, key, both[1], mask)
        tokens = setting.batch, setting.length, form.heads
        whole = cat(
            [array(tape, side.view(*tokens, form.head_dim)) for side in (first, second)], -1
        )
        first, second = whole.split(form.heads // 2, form.heads // 2, axis=2)
        share = ops.keeping_result(
            tape, ops.cast(tape, ops.mul(tape, self.shares[0], self.shares[1]), F32)
        )
        _other = ops.keeping_result(
            tape, ops.cast(tape, ops.mul(tape, self.shares[2], self.shares[3]), F32)
        )
        scale = array(tape, ops.cast(tape, share, x.dtype)).cut(0, 1)
        mixed = first - scale * second
        normed = mixed if mixed.dtype == F32 else mixed.float()
        normed = normed * (normed.squared().mean(-1) + 0.0).reciprocal_root()
        mixed = -normed.to(mixed.dtype)
        return self.out(mixed.reshape(x.shape[0], x.shape[1], form.heads * form.head_dim)), weights

    def _fused_pair(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        return self._fused(query, key, value, mask), None


SCORES: dict[str, type[Attention]] = {
    "": Attention,
    "float": FloatScores,
    "biased": BiasedScores,
    "filled": FilledScores,
    "capped_below": CappedBelow,
    "blended": BlendedScores,
    "differential": Differential,
    "sunk": SunkScores,
    "float_sinks": FloatSinks,
    "from_zeros": FromZeros,
}
"""Kinds of attention by the trait `scores`."""
