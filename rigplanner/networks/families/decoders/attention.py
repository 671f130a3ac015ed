"""Self-attention of decoders on the tape, plain and latent."""

from __future__ import annotations

from collections.abc import Sequence

from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.fused import Lies, fused_attention, plain_attention
from rigplanner.networks.tracer.net import Linear, Net, Norm
from rigplanner.networks.tracer.tape import F32, WIDTH, Grads, Tape, Tensor, new, record

Rope = tuple[Tensor, Tensor]


def activate(tape: Tape, x: Tensor, act: str) -> Tensor:
    """The activation by its name in transformers; gelu_new is written in Python there and keeps its
    steps."""
    if act in ("relu", "tanh", "sigmoid"):
        return ops.keeping_result(tape, x)
    if act == "relu2":
        return ops.square(tape, ops.keeping_result(tape, x))
    if act == "gelu_new":
        half = ops.sub_self(tape, x)
        bent = ops.keeping_result(
            tape, ops.sub_self(tape, ops.add(tape, x, ops.sub_self(tape, ops.square(tape, x))))
        )
        bent = ops.shift(tape, bent)
        return ops.mul(tape, half, bent)
    if act == "quick_gelu":
        return ops.mul(tape, x, ops.keeping_result(tape, ops.sub_self(tape, x)))
    if act == "gelu_erf":
        half = ops.sub_self(tape, x)
        return ops.mul(tape, half, ops.shift(tape, ops.erf(tape, ops.sub_self(tape, x))))
    return ops.keeping_input(tape, x)


def rope_tables(net: Net, width: int, dtype: str, samples: int = 1) -> Rope:
    """cos and sin of the positions, of every sample where a model numbers them so."""
    tape, shape = net.tape, (samples, net.setting.length, width)
    return new(tape, shape, dtype), new(tape, shape, dtype)


def rotate(tape: Tape, x: Tensor, rope: Rope) -> Tensor:
    """x * cos + rotate_half(x) * sin"""
    cos, sin = rope
    half = (*x.shape[:-1], x.shape[-1] // 2)
    return ops.add(tape, ops.mul(tape, x, cos), ops.mul(tape, _half_turn(tape, x, half), sin))


def _half_turn(tape: Tape, x: Tensor, half: tuple[int, ...]) -> Tensor:
    first, second = ops.cut(tape, x, half), ops.cut(tape, x, half)
    return ops.cat(tape, (ops.sub_self(tape, second), first))


def rotate_pairs(tape: Tape, x: Tensor, rope: Rope) -> Tensor:
    """Neighbours rotated as pairs: each half by the other, and both joined."""
    half, table = (*x.shape[:-1], x.shape[-1] // 2), (1, x.shape[-2], x.shape[-1] // 2)
    cos, sin = (Tensor(table, side.dtype, side.storage) for side in rope)
    even, odd = ops.cut(tape, x, half), ops.cut(tape, x, half)
    first = ops.add(tape, ops.mul(tape, even, cos), ops.mul(tape, odd, sin))
    return ops.cat(tape, (first, ops.add(tape, ops.mul(tape, odd, cos), ops.mul(tape, even, sin))))


def rotate_wide(tape: Tape, query: Tensor, key: Tensor, rope: Rope) -> tuple[Tensor, Tensor]:
    """Query and key rotated in float, each raised once for every product, and cast back when both
    are there."""

    def turned(x: Tensor) -> Tensor:
        plain = ops.mul(tape, ops.cast(tape, x, F32), rope[0])
        half = (*x.shape[:-1], x.shape[-1] // 2)
        return ops.add(
            tape, plain, ops.mul(tape, _half_turn(tape, ops.cast(tape, x, F32), half), rope[1])
        )

    wide = turned(query), turned(key)
    return ops.cast(tape, wide[0], query.dtype), ops.cast(tape, wide[1], key.dtype)


def rotate_part(
    tape: Tape, x: Tensor, rope: Rope, share: float, joins: bool, held: list[Tensor]
) -> Tensor:
    """Rotate the first `share` of the head and join the rest; what was rotated is put into
    `held`."""
    if share >= 1 and not joins:
        return rotate(tape, x, rope)
    turned = int(x.shape[-1] * share)
    head, rest = (
        ops.cut(tape, x, (*x.shape[:-1], turned)),
        ops.cut(tape, x, (*x.shape[:-1], x.shape[-1] - turned)),
    )
    held.append(rotate(tape, head, rope))
    return ops.cat(tape, (held[-1], rest))


def repeat_heads(tape: Tape, x: Tensor, heads: int) -> Tensor:
    """repeat_kv: a copy per query head unless there are as many; a view of a single one."""
    if x.shape[1] == heads:
        return x
    base, shape = x.shape, (x.shape[0], heads, *x.shape[2:])
    wide = Tensor(shape, x.dtype, x.storage) if base[1] == 1 else new(tape, shape, x.dtype)
    return record(tape, wide, (x,), lambda grad: (new(tape, base, grad.dtype),))


class HeadNorms:
    """A layer norm without bias for each head, their results joined (StableLM 2)."""

    def __init__(self, net: Net, heads: int, width: int) -> None:
        self.net, self.norms = net, [Norm(net, "layer_plain", width) for _ in range(heads)]

    def __call__(self, x: Tensor) -> Tensor:
        tape, heads = self.net.tape, len(self.norms)
        pieces = ops.split(tape, x, (x.shape[-1],) * heads) if heads > 1 else [x]
        part = (*x.shape[:-2], 1, x.shape[-1])
        return ops.cat(
            tape,
            [norm(piece.view(*part)) for norm, piece in zip(self.norms, pieces, strict=True)],
            -2,
        )


def qk_norm(net: Net, form: Form, heads: int) -> Norm | HeadNorms:
    """The norm of queries or keys of `heads` heads."""
    kind, norm = form.traits.qk_norm, form.traits.norm
    if kind == "full":
        return Norm(net, norm, heads * form.head_dim)
    if kind == "per_head" and norm == "layer":
        return HeadNorms(net, heads, form.head_dim)
    made = Norm(net, norm, form.head_dim)
    if kind == "per_head":
        made.weight = net.parameter(heads, form.head_dim)
        net.values -= form.head_dim
    return made


class Attention:
    """Self-attention with query, key and value projections."""

    joins = False

    def __init__(self, net: Net, form: Form) -> None:
        self.net, self.form, traits, names = net, form, form.traits, form.traits.names
        wide, narrow = form.heads * form.head_dim, form.kv_heads * form.head_dim
        entering = form.entering or form.hidden
        if traits.projection == "separate":
            self.query = net.linear(
                names.get("q_proj", "q_proj"),
                entering,
                wide * (2 if traits.gated_result else 1),
                traits.qkv_bias,
            )
            self.key = net.linear(names.get("k_proj", "k_proj"), entering, narrow, traits.qkv_bias)
            self.value = net.linear(
                names.get("v_proj", "v_proj"), entering, narrow, traits.qkv_bias
            )
        else:
            self.joint = net.linear(
                traits.names.get("qkv_proj", "qkv_proj"),
                form.hidden,
                wide + 2 * narrow,
                traits.qkv_bias,
            )
        self.out = net.linear(
            traits.names.get("o_proj", "o_proj"), wide, form.hidden, traits.out_bias
        )
        self.sub_norm = Norm(net, traits.norm, wide) if traits.sub_norms else None
        self.query_norm = self.key_norm = None
        self.gate: Tensor | None = None
        self.turned: list[Tensor] = []
        self.joins = traits.rope_joins or 0 < traits.rope < 1
        self.sinks = net.parameter(form.heads) if traits.sinks else None
        if traits.qk_norm != "none":
            self.query_norm = qk_norm(net, form, form.heads)
            self.key_norm = qk_norm(net, form, form.kv_heads)

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        query, key, value = self._project(x)
        gate, self.gate = self.gate, None
        unturned = (query, key) if form.traits.holds_unturned and self.joins else ()
        if rope is not None and form.traits.rope_wide:
            query, key = rotate_wide(tape, query, key, rope)
        elif rope is not None:
            query, key = self._rotated(query, rope), self._rotated(key, rope)
        if form.traits.qk_norm == "late" and self.query_norm and self.key_norm:
            query, key = self.query_norm(query), self.key_norm(key)
        if setting.eager or form.traits.capped_attention or form.traits.eager_only:
            result, weights = self._eager(query, key, value, mask)
        else:
            result, weights = self._fused(query, key, value, mask), None
        del unturned
        self.turned = []
        result = result.view(x.shape[0], x.shape[1], form.heads * form.head_dim)
        if gate is not None:
            result = ops.mul(tape, result, ops.keeping_result(tape, gate))
        result = self._weighed(result, x)
        result = result if self.sub_norm is None else self.sub_norm(result)
        return self.out(result), weights

    def _weighed(self, result: Tensor, x: Tensor) -> Tensor:
        """What attention found, weighed by what else is seen of the states `x`."""
        return result

    def _rotated(self, x: Tensor, rope: Rope) -> Tensor:
        tape, traits = self.net.tape, self.form.traits
        held: list[Tensor] = []
        turned = rotate_part(tape, x, rope, traits.rope, self.joins, held)
        self.turned += held if traits.holds_unturned else []
        return ops.cast(tape, turned, x.dtype) if traits.rope_float else turned

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tape, form = self.net.tape, self.form
        wide, narrow = form.heads * form.head_dim, form.kv_heads * form.head_dim
        if form.traits.projection == "separate":
            asked = self.query(x)
            asked = ops.sub_self(tape, asked) if form.traits.scaled_query else asked
            if form.traits.gated_result:
                asked, gate = ops.split(tape, asked, (wide, wide))
                self.gate = ops.copy(tape, gate)
            query, key, value = (
                self._normed(asked, self.query_norm),
                self._normed(self.key(x), self.key_norm),
                self.value(x),
            )
        elif form.traits.projection == "sliced":
            joint = self.joint(x)
            query, key, value = (
                ops.cut(tape, joint, (*x.shape[:-1], width)) for width in (wide, narrow, narrow)
            )
            query, key = self._normed(query, self.query_norm), self._normed(key, self.key_norm)
        elif form.traits.projection == "picked":
            joint = self.joint(x)
            query, key, value = (
                ops.cut(tape, joint, (*x.shape[:-1], width)) for width in (wide, narrow, narrow)
            )
            return self._picked(query, key, value)
        else:
            joint = self.joint(x)
            joint = ops.keeping_input(tape, joint) if form.traits.clipped else joint
            query, key, value = ops.split(tape, joint, (wide, narrow, narrow))
            del joint
        return (
            self._heads(query, form.heads),
            self._heads(key, form.kv_heads),
            self._heads(value, form.kv_heads),
        )

    def _picked(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Key and value indexed out of the joint projection; several of each are spread over all
        heads before the rotation."""
        tape, form = self.net.tape, self.form
        key, value = (self._heads(ops.copy(tape, side), form.kv_heads) for side in (key, value))
        if form.traits.broadcast_heads:
            return self._heads(query, form.heads), key, value
        query = query if form.kv_heads == 1 else ops.copy(tape, query)
        return (
            self._heads(query, form.heads),
            repeat_heads(tape, key, form.heads),
            repeat_heads(tape, value, form.heads),
        )

    def _normed(self, x: Tensor, norm: Norm | HeadNorms | None) -> Tensor:
        if norm is None or self.form.traits.qk_norm == "late":
            return x
        if self.form.traits.qk_norm == "full":
            return norm(x)
        return norm(x.view(*x.shape[:-1], x.shape[-1] // self.form.head_dim, self.form.head_dim))

    def _heads(self, x: Tensor, heads: int) -> Tensor:
        return x.view(self.net.setting.batch, heads, self.net.setting.length, self.form.head_dim)

    def _fused(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        tape, heads = self.net.tape, self.form.heads
        if (
            self.form.traits.broadcast_heads
            and key.shape[1] != heads
            and not tape.semantics.fused_dropout
        ):
            return plain_attention(tape, query, key, value, mask, 0.0)
        repeated = 1 < key.shape[1] < heads
        key, value = repeat_heads(tape, key, heads), repeat_heads(tape, value, heads)
        lies = self.joins, self.joins or repeated, repeated
        result = attend(self.net, query, key, value, mask, self.form.traits.attention_dropout, lies)
        return ops.unpacked(tape, result) if self.joins else result

    def _with_sinks(self, weights: Tensor) -> Tensor:
        """Softmax over the keys and one learned sink per head, whose column is cut off again."""
        tape, shape = self.net.tape, weights.shape
        assert self.sinks is not None
        column = Tensor((*shape[:-1], 1), self.sinks.dtype, self.sinks.storage)
        weights = ops.keeping_result(tape, ops.shift(tape, ops.cat(tape, (weights, column))))
        return ops.cut(tape, weights, shape)

    def _softmax(self, weights: Tensor, dtype: str) -> Tensor:
        tape = self.net.tape
        if self.form.traits.softmax == "states":
            return ops.keeping_result(tape, ops.cast(tape, weights, self.net.setting.dtype))
        if self.form.traits.softmax == "own":
            if tape.autocast and tape.semantics.float_norms:
                return ops.cast(tape, ops.keeping_result(tape, ops.cast(tape, weights, F32)), dtype)
            return ops.keeping_result(tape, weights)
        return ops.cast(tape, softmax_wide(tape, weights), dtype)

    def _scores(self, query: Tensor, keys: Tensor, packed: bool, shape: tuple[int, ...]) -> Tensor:
        """Query by key, each copied where it does not lie as the product takes it; a cast copies a
        key spread over the heads."""
        tape = self.net.tape
        spread = (
            keys.size * WIDTH[keys.dtype] > keys.storage.bytes
            and tape.autocast is not None
            and keys.dtype == F32
        )
        left = query if self.joins else ops.packed(tape, query)
        right = keys if packed else ops.cast_low(tape, keys) if spread else ops.packed(tape, keys)
        return ops.bmm(tape, left, right, shape)

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        keys, values = repeat_heads(tape, key, form.heads), repeat_heads(tape, value, form.heads)
        square = (setting.batch, form.heads, setting.length, setting.length)
        repeated = 1 < key.shape[1] < form.heads
        weights = ops.sub_self(tape, self._scores(query, keys, self.joins or repeated, square))
        if form.traits.capped_attention:
            weights = ops.sub_self(tape, weights)
            weights = ops.keeping_result(tape, weights)
            weights = ops.sub_self(tape, weights)
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = (
            self._with_sinks(weights)
            if self.sinks is not None
            else self._softmax(weights, query.dtype)
        )
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        values = values if repeated else ops.packed(tape, values)
        return ops.unpacked(
            tape, ops.bmm(tape, weights, values, (*query.shape[:3], value.shape[3]))
        ), weights


def attend(
    net: Net,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    share: float,
    lies: Lies = (False, False, False),
) -> Tensor:
    """scaled_dot_product_attention: the fused kernel, or the reference path where that cannot drop
    weights."""
    tape = net.tape
    if query.shape[-1] != value.shape[-1] and not tape.semantics.fused_dropout:
        return ops.copy(tape, plain_attention(tape, query, key, value, mask, 0.0, lies))
    learned = mask is not None and mask.needs_grad and tape.recording
    if (learned or (share and net.setting.training)) and not tape.semantics.fused_dropout:
        return ops.copy(
            tape,
            plain_attention(
                tape, query, key, value, mask, share if net.setting.training else 0.0, lies
            ),
        )
    return fused_attention(tape, query, key, value, mask)


def softmax_wide(tape: Tape, x: Tensor) -> Tensor:
    """softmax(dtype=float32): a float copy first, then the result that is kept."""
    return ops.keeping_result(tape, ops.cast(tape, x, F32))


LIES = (True, True, False)
"""Queries and keys are joined of two parts and lie heads first; values are cut out of a joint
projection."""


class LatentAttention(Attention):
    """Multi-head latent attention (DeepSeek-V2): query, key and value pass through low-rank
    bottlenecks."""

    joins = True
    picks = False

    def __init__(self, net: Net, form: Form) -> None:
        assert form.latent is not None
        self.net, self.form, self.latent, self.sinks = net, form, form.latent, None
        latent, heads, hidden = form.latent, form.heads, form.hidden
        wide = heads * (latent.plain + latent.turned)
        rank = latent.query_rank
        self.squeeze = net.linear("q_a_proj", hidden, rank) if rank else None
        self.query_norm = Norm(net, "rms", rank) if rank else None
        self.query = self._query_of(net, rank, wide)
        self.down = net.linear("kv_a_proj_with_mqa", hidden, latent.value_rank + latent.turned)
        self.value_norm = Norm(net, "rms", latent.value_rank)
        self.up = net.linear("kv_b_proj", latent.value_rank, heads * (latent.plain + latent.value))
        self.out = net.linear("o_proj", heads * latent.value, hidden)

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form, latent = self.net.tape, self.form, self.latent
        batch, length = x.shape[0], x.shape[1]
        asked, query = self._asked(x)
        query = query.view(batch, form.heads, length, latent.plain + latent.turned)
        seen = asked if self.picks else None
        del asked
        stored, shared = ops.split(tape, self.down(x), (latent.value_rank, latent.turned))
        narrow, shared = self.value_norm(stored), shared.view(batch, 1, length, latent.turned)
        if latent.turns and rope is not None:
            plain, turned = ops.split(tape, query, (latent.plain, latent.turned))
            turn = rotate_pairs if latent.interleaved else rotate
            turned, shared = turn(tape, turned, rope), turn(tape, shared, rope)
            query = ops.cat(tape, (plain, turned))
            del plain, turned
        key, value = self._spread(narrow, shared)
        mask, _held = self._masked(mask, x, seen, rope)
        if self.net.setting.eager or form.traits.eager_only:
            result, weights = self._eager(query, key, value, mask)
        else:
            result, weights = (
                attend(self.net, query, key, value, mask, form.traits.attention_dropout, LIES),
                None,
            )
        result = self._weighed(result.view(batch, length, form.heads * latent.value), x)
        return self.out(result), weights

    def _query_of(self, net: Net, rank: int, wide: int) -> Linear:
        return net.linear("q_b_proj" if rank else "q_proj", rank or self.form.hidden, wide)

    def _asked(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What queries are made of, and queries."""
        asked = self.query_norm(self.squeeze(x)) if self.squeeze and self.query_norm else x
        return asked, self.query(asked)

    def _masked(
        self, mask: Tensor | None, x: Tensor, asked: Tensor | None, rope: Rope | None
    ) -> tuple[Tensor | None, Sequence[Tensor]]:
        """The mask of the layer, and what lives with it."""
        return mask, ()

    def _spread(self, stored: Tensor, shared: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads from what is stored of them; the rotated part is the same
        for every head."""
        tape, latent, heads = self.net.tape, self.latent, self.form.heads
        batch, length = stored.shape[0], stored.shape[1]
        both = self.up(stored).view(batch, heads, length, latent.plain + latent.value)
        plain, value = ops.split(tape, both, (latent.plain, latent.value))
        return self._filled(plain, shared), value

    def _filled(self, plain: Tensor, shared: Tensor) -> Tensor:
        """An empty tensor into which both parts are copied; the gradient is copied once for
        each."""
        tape, dtype = self.net.tape, plain.dtype
        first, second = plain.shape, (*plain.shape[:3], shared.shape[3])
        whole = (*plain.shape[:3], plain.shape[3] + shared.shape[3])

        def pull(grad: Tensor) -> Grads:
            _copy = new(tape, whole, dtype)
            turned = new(tape, second, dtype)
            _copy = new(tape, whole, dtype)
            return new(tape, first, dtype), turned

        return record(tape, new(tape, whole, dtype), (plain, shared), pull)
