"""Decoder-only language models on the tape: what eager transformers keeps alive, per family of architectures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from rigplanner.workload import ops
from rigplanner.workload.net import Linear, Net, Norm, checkpointed
from rigplanner.workload.tape import BOOL, F32, I64, Tape, Tensor, like, new, record


class Traits(Struct, frozen=True, kw_only=True):
    """What sets a family apart. `names` maps our names of linear layers to the family's. `block`: pre, sandwich, post, parallel (one norm), parallel_two. `projection`: separate, split, sliced.
    `rope`: the share of the head that is rotated. `mlp`: gated, gated_fused, plain. `qk_norm`: head, full or none."""

    names: dict[str, str] = {}
    norm: str = "rms"
    block: str = "pre"
    projection: str = "separate"
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: str = "none"
    rope: float = 1.0
    learned_positions: int = 0
    mlp: str = "gated"
    mlp_bias: bool = False
    act: str = "silu"
    scaled_embedding: bool = False
    scaled_residual: bool = False
    scaled_logits: bool = False
    capped_attention: bool = False
    capped_logits: bool = False
    head_bias: bool = False
    attention_dropout: float = 0.0
    dropout: float = 0.0
    embedding_dropout: float = 0.0
    embedding_norm: bool = False
    eager_only: bool = False
    latent: bool = False


class LatentForm(Struct, frozen=True, kw_only=True):
    """Multi-head latent attention: ranks of the compressed query (0: none) and of key and value together, and the parts of a head."""

    query_rank: int
    value_rank: int
    plain: int
    turned: int
    value: int


class Form(Struct, frozen=True, kw_only=True):
    """The sizes of a decoder."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    tied: bool
    traits: Traits
    latent: LatentForm | None = None


Rope = tuple[Tensor, Tensor]


def activate(tape: Tape, x: Tensor, act: str) -> Tensor:
    """The activation by its name in transformers; gelu_new is written in Python there and keeps its steps."""
    if act in ("relu", "tanh", "sigmoid"):
        return ops.keeping_result(tape, x)
    if act == "gelu_new":
        half = ops.sub_self(tape, x)
        bent = ops.keeping_result(tape, ops.sub_self(tape, ops.add(tape, x, ops.sub_self(tape, ops.square(tape, x)))))
        bent = ops.shift(tape, bent)
        return ops.mul(tape, half, bent)
    return ops.keeping_input(tape, x)


def rope_tables(net: Net, width: int, dtype: str) -> Rope:
    """cos and sin of the positions."""
    tape, shape = net.tape, (1, net.setting.length, width)
    return new(tape, shape, dtype), new(tape, shape, dtype)


def rotate(tape: Tape, x: Tensor, rope: Rope) -> Tensor:
    """x * cos + rotate_half(x) * sin"""
    cos, sin = rope
    half = (*x.shape[:-1], x.shape[-1] // 2)
    return ops.add(tape, ops.mul(tape, x, cos), ops.mul(tape, _half_turn(tape, x, half), sin))


def _half_turn(tape: Tape, x: Tensor, half: tuple[int, ...]) -> Tensor:
    first, second = ops.cut(tape, x, half), ops.cut(tape, x, half)
    return ops.cat(tape, (ops.sub_self(tape, second), first))


def rotate_part(tape: Tape, x: Tensor, rope: Rope, share: float) -> Tensor:
    """Rotate the first `share` of the head and join the rest."""
    if share >= 1:
        return rotate(tape, x, rope)
    turned = int(x.shape[-1] * share)
    head, rest = ops.cut(tape, x, (*x.shape[:-1], turned)), ops.cut(tape, x, (*x.shape[:-1], x.shape[-1] - turned))
    return ops.cat(tape, (rotate(tape, head, rope), rest))


def repeat_heads(tape: Tape, x: Tensor, heads: int) -> Tensor:
    """repeat_kv: a copy per query head unless there are as many."""
    if x.shape[1] == heads:
        return x
    base = x.shape
    wide = new(tape, (base[0], heads, *base[2:]), x.dtype)
    return record(tape, wide, (x,), lambda grad: (new(tape, base, grad.dtype),))


class Attention:
    """Self-attention with query, key and value projections."""

    def __init__(self, net: Net, form: Form) -> None:
        self.net, self.form, traits = net, form, form.traits
        wide, narrow = form.heads * form.head_dim, form.kv_heads * form.head_dim
        if traits.projection == "separate":
            self.query = net.linear("q_proj", form.hidden, wide, traits.qkv_bias)
            self.key = net.linear("k_proj", form.hidden, narrow, traits.qkv_bias)
            self.value = net.linear("v_proj", form.hidden, narrow, traits.qkv_bias)
        else:
            self.joint = net.linear(traits.names.get("qkv_proj", "qkv_proj"), form.hidden, wide + 2 * narrow, traits.qkv_bias)
        self.out = net.linear(traits.names.get("o_proj", "o_proj"), wide, form.hidden, traits.out_bias)
        self.query_norm = self.key_norm = None
        if traits.qk_norm != "none":
            head = traits.qk_norm == "head"
            self.query_norm = Norm(net, traits.norm, form.head_dim if head else wide)
            self.key_norm = Norm(net, traits.norm, form.head_dim if head else narrow)

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        query, key, value = self._project(x)
        if rope is not None:
            query, key = rotate_part(tape, query, rope, form.traits.rope), rotate_part(tape, key, rope, form.traits.rope)
        if setting.eager or form.traits.capped_attention or form.traits.eager_only:
            result, weights = self._eager(query, key, value, mask)
        else:
            result, weights = self._fused(query, key, value, mask), None
        return self.out(result.view(x.shape[0], x.shape[1], form.heads * form.head_dim)), weights

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tape, form = self.net.tape, self.form
        wide, narrow = form.heads * form.head_dim, form.kv_heads * form.head_dim
        if form.traits.projection == "separate":
            query, key, value = (
                self._normed(self.query(x), self.query_norm),
                self._normed(self.key(x), self.key_norm),
                self.value(x),
            )
        elif form.traits.projection == "sliced":
            joint = self.joint(x)
            query, key, value = (ops.cut(tape, joint, (*x.shape[:-1], width)) for width in (wide, narrow, narrow))
        else:
            query, key, value = ops.split(tape, self.joint(x), (wide, narrow, narrow))
        return self._heads(query, form.heads), self._heads(key, form.kv_heads), self._heads(value, form.kv_heads)

    def _normed(self, x: Tensor, norm: Norm | None) -> Tensor:
        if norm is None:
            return x
        if self.form.traits.qk_norm == "full":
            return norm(x)
        return norm(x.view(*x.shape[:-1], x.shape[-1] // self.form.head_dim, self.form.head_dim))

    def _heads(self, x: Tensor, heads: int) -> Tensor:
        return x.view(self.net.setting.batch, heads, self.net.setting.length, self.form.head_dim)

    def _fused(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        tape, heads = self.net.tape, self.form.heads
        key, value = repeat_heads(tape, key, heads), repeat_heads(tape, value, heads)
        return attend(self.net, query, key, value, mask, self.form.traits.attention_dropout)

    def _eager(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        tape, form, setting = self.net.tape, self.form, self.net.setting
        keys, values = repeat_heads(tape, key, form.heads), repeat_heads(tape, value, form.heads)
        square = (setting.batch, form.heads, setting.length, setting.length)
        weights = ops.sub_self(tape, ops.bmm(tape, ops.packed(tape, query), keys, square))
        if form.traits.capped_attention:
            weights = ops.sub_self(tape, weights)
            weights = ops.keeping_result(tape, weights)
            weights = ops.sub_self(tape, weights)
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = ops.cast(tape, softmax_wide(tape, weights), query.dtype)
        weights = ops.dropout(tape, weights, form.traits.attention_dropout, setting.training)
        result = ops.bmm(tape, weights, values if values is not value else ops.packed(tape, value), query.shape)
        result = ops.copy(tape, result)
        return result, weights


def attend(net: Net, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, share: float) -> Tensor:
    """scaled_dot_product_attention: the fused kernel, or the reference path where that cannot drop weights."""
    tape = net.tape
    if share and net.setting.training and not tape.semantics.fused_dropout:
        return ops.copy(tape, ops.plain_attention(tape, query, key, value, mask, share))
    return ops.fused_attention(tape, query, key, value, mask)


def softmax_wide(tape: Tape, x: Tensor) -> Tensor:
    """softmax(dtype=float32): a float copy first, then the result that is kept."""
    return ops.keeping_result(tape, ops.cast(tape, x, F32))


class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2): query, key and value pass through low-rank bottlenecks."""

    def __init__(self, net: Net, form: Form) -> None:
        assert form.latent is not None
        self.net, self.form, self.latent = net, form, form.latent
        latent, heads, hidden = form.latent, form.heads, form.hidden
        wide = heads * (latent.plain + latent.turned)
        rank = latent.query_rank
        self.squeeze = net.linear("q_a_proj", hidden, rank) if rank else None
        self.query_norm = Norm(net, "rms", rank) if rank else None
        self.query = net.linear("q_b_proj" if rank else "q_proj", rank or hidden, wide)
        self.down = net.linear("kv_a_proj_with_mqa", hidden, latent.value_rank + latent.turned)
        self.value_norm = Norm(net, "rms", latent.value_rank)
        self.up = net.linear("kv_b_proj", latent.value_rank, heads * (latent.plain + latent.value))
        self.out = net.linear("o_proj", heads * latent.value, hidden)

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, form, latent = self.net.tape, self.form, self.latent
        assert rope is not None
        batch, length = x.shape[0], x.shape[1]
        narrow = self.query_norm(self.squeeze(x)) if self.squeeze and self.query_norm else x
        query = self.query(narrow).view(batch, form.heads, length, latent.plain + latent.turned)
        plain, turned = ops.split(tape, query, (latent.plain, latent.turned))
        stored, shared = ops.split(tape, self.down(x), (latent.value_rank, latent.turned))
        both = self.up(self.value_norm(stored)).view(batch, form.heads, length, latent.plain + latent.value)
        key, value = ops.split(tape, both, (latent.plain, latent.value))
        turned, shared = rotate(tape, turned, rope), rotate(tape, shared.view(batch, 1, length, latent.turned), rope)
        wide = Tensor((batch, form.heads, length, latent.turned), shared.dtype, shared.storage, shared.node)
        query, key = ops.cat(tape, (plain, turned)), ops.cat(tape, (key, wide))
        result = attend(self.net, query, key, value, mask, 0.0)
        return self.out(result.view(batch, length, form.heads * latent.value)), None


class Mlp:
    """The feed-forward layer."""

    def __init__(self, net: Net, form: Form, ffn: int | None = None) -> None:
        self.net, self.traits, ffn = net, form.traits, ffn or form.ffn
        kind, bias, names = form.traits.mlp, form.traits.mlp_bias, form.traits.names
        self.ffn = ffn
        if kind == "gated":
            self.gate = net.linear("gate_proj", form.hidden, ffn, bias)
        joint = "gate_up_proj" if kind == "gated_fused" else names.get("up_proj", "up_proj")
        self.up = net.linear(joint, form.hidden, 2 * ffn if kind == "gated_fused" else ffn, bias)
        self.down = net.linear(names.get("down_proj", "down_proj"), ffn, form.hidden, bias)

    def __call__(self, x: Tensor) -> Tensor:
        tape, traits = self.net.tape, self.traits
        if traits.mlp == "gated":
            return self.down(ops.mul(tape, activate(tape, self.gate(x), traits.act), self.up(x)))
        if traits.mlp == "gated_fused":
            up = self.up(x)
            gate, up = ops.split(tape, up, (self.ffn, self.ffn))
            up = ops.mul(tape, up, activate(tape, gate, traits.act))
            return self.down(up)
        x = self.up(x)
        x = activate(tape, x, "gelu" if self.net.setting.fused_act else traits.act)
        return self.down(x)


class Block:
    """One layer."""

    def __init__(self, net: Net, form: Form, feed: Callable[[Net, Form, int], Callable[[Tensor], Tensor]], at: int = 0) -> None:
        self.net, self.form = net, form
        self.attention = LatentAttention(net, form) if form.latent else Attention(net, form)
        self.mlp = feed(net, form, at)
        norms = {"pre": 2, "post": 2, "sandwich": 4, "parallel": 1, "parallel_two": 2}[form.traits.block]
        self.norms = [Norm(net, form.traits.norm, form.hidden) for _ in range(norms)]

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        kind = self.form.traits.block
        if kind.startswith("parallel"):
            return self._parallel(x, rope, mask)
        if kind == "pre":
            return self._pre(x, rope, mask)
        return self._normed_results(x, rope, mask)

    def _drop(self, x: Tensor) -> Tensor:
        return ops.dropout(self.net.tape, x, self.form.traits.dropout, self.net.setting.training)

    def _pre(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, scaled = self.net.tape, self.form.traits.scaled_residual
        residual = x
        x = self.norms[0](x)
        x, _weights = self.attention(x, rope, mask)
        x = self._drop(x)
        x = ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)
        residual = x
        x = self.norms[1](x)
        x = self.mlp(x)
        x = self._drop(x)
        return ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)

    def _normed_results(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, norms = self.net.tape, list(self.norms)
        sandwich = self.form.traits.block == "sandwich"
        residual = x
        if sandwich:
            x = norms.pop(0)(x)
        x, _weights = self.attention(x, rope, mask)
        x = norms.pop(0)(x)
        x = ops.add(tape, residual, x)
        residual = x
        if sandwich:
            x = norms.pop(0)(x)
        x = self.mlp(x)
        x = norms.pop(0)(x)
        return ops.add(tape, residual, x)

    def _parallel(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.norms[0](residual)
        attended, _weights = self.attention(x, rope, mask)
        attended = self._drop(attended)
        if len(self.norms) > 1:
            x = self.norms[1](residual)
        fed = self._drop(self.mlp(x))
        return ops.add(tape, ops.add(tape, attended, fed), residual)


def causal_mask(net: Net, dtype: str, eager: bool = False) -> Tensor | None:
    """The mask the model makes once: byte for fused attention, float for eager; none where the kernel is causal by itself."""
    setting, tape = net.setting, net.tape
    shape = (setting.batch, 1, setting.length, setting.length)
    if setting.eager or eager:
        return new(tape, shape, dtype)
    return new(tape, shape, BOOL) if tape.semantics.explicit_mask else None


class Decoder:
    """Embedding, layers, final norm, head and loss."""

    def __init__(self, net: Net, form: Form, feed: Callable[[Net, Form, int], Callable[[Tensor], Tensor]] | None = None) -> None:
        self.net, self.form, traits = net, form, form.traits
        self.table = net.parameter(form.vocab, form.hidden)
        self.positions = net.parameter(traits.learned_positions, form.hidden) if traits.learned_positions else None
        self.first_norm = Norm(net, traits.norm, form.hidden) if traits.embedding_norm else None
        make = feed or (lambda net, form, _: Mlp(net, form))
        self.blocks = [Block(net, form, make, at) for at in range(form.layers)]
        self.norm = Norm(net, traits.norm, form.hidden)
        side = net.parameter(form.vocab) if traits.head_bias else None
        self.head = Linear(net, self.table if form.tied else net.parameter(form.vocab, form.hidden), side)

    def hidden(self) -> Tensor:
        """The states after the last norm."""
        net, form, traits = self.net, self.form, self.form.traits
        tape, shape = net.tape, (net.setting.batch, net.setting.length)
        x = embedded = ops.embedding(tape, self.table, shape)
        if self.positions is not None:
            x = ops.add(tape, x, ops.embedding(tape, self.positions, (1, shape[1])))
        if traits.scaled_embedding:
            x = ops.sub_self(tape, x)
        if self.first_norm is not None:
            x = self.first_norm(x)
        x = ops.dropout(tape, x, traits.embedding_dropout, net.setting.training)
        mask = causal_mask(net, x.dtype, traits.eager_only)
        turned = form.latent.turned if form.latent else int(form.head_dim * traits.rope)
        rope = rope_tables(net, turned, x.dtype) if traits.rope else None
        for block in self.blocks:
            x = checkpointed(net, lambda y, block=block: block(y, rope, mask), x)
        x = self.norm(x)
        del embedded
        return x

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the logits."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if net.setting.headless:
            return states
        if net.setting.loss == "fused" and net.setting.training:
            return fused_token_loss(tape, states, self.head.weight)
        logits = self.head(states)
        if self.form.traits.scaled_logits:
            logits = ops.sub_self(tape, logits)
        if self.form.traits.capped_logits:
            logits = ops.sub_self(tape, logits)
            logits = ops.keeping_result(tape, logits)
            logits = ops.sub_self(tape, logits)
        if not net.setting.training:
            return logits
        return next_token_loss(tape, logits) if net.setting.loss == "plain" else chunked_token_loss(tape, logits)


def next_token_loss(tape: Tape, logits: Tensor) -> Tensor:
    """Logits in float, then the cross-entropy over all positions."""
    wide = ops.cast(tape, logits, F32)
    return ops.cross_entropy(tape, wide.view(wide.size // wide.shape[-1], wide.shape[-1]))


def fused_token_loss(tape: Tape, states: Tensor, weight: Tensor) -> Tensor:
    """The loss straight from the states: logits are made and dropped piece by piece, gradients at once (cut cross-entropy)."""
    tape.flops += 2 * states.size * weight.shape[0]
    shape, table = states.shape, weight.shape

    def pull(grad: Tensor) -> Sequence[Tensor | None]:
        return new(tape, shape, kept.dtype), new(tape, table, kept.dtype) if weight.needs_grad else None

    kept = states
    return record(tape, new(tape, (), F32), (states, weight), pull)


def chunked_token_loss(tape: Tape, logits: Tensor, chunks: int = 8) -> Tensor:
    """The same over `chunks` pieces of the tokens, of which one at a time is raised to float and back."""
    rows, classes = logits.size // logits.shape[-1], logits.shape[-1]
    piece = (max(1, rows // chunks), classes)

    def pull(grad: Tensor) -> Sequence[Tensor]:
        made = like(tape, kept)
        _wide = [new(tape, piece, F32), new(tape, piece, F32)]
        return (made,)

    kept = logits
    _wide = [new(tape, piece, F32), new(tape, piece, F32)]
    return record(tape, new(tape, (), F32), (logits,), pull)
