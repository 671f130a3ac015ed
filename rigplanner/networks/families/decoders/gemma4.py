"""Gemma 4 on the tape: heads of two widths, keys and values shared by the last layers, an embedding
for every layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from rigplanner.networks.families.decoders.attention import (
    Attention,
    Rope,
    activate,
    rope_tables,
    rotate,
)
from rigplanner.networks.families.decoders.decoder import Decoder, Mlp, causal_mask
from rigplanner.networks.families.decoders.moe import ExpertForm, visit
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.tape import F32, Tensor

Shared = dict[str, tuple[Tensor, Tensor]]
"""Keys and values by the kind of layer that made them."""


class Sides(Struct, frozen=True, kw_only=True):
    """What Gemma 4 has besides a decoder: `kinds` of its layers, the first layer `shared` from
    which keys and values are taken over, width and vocabulary of the embeddings per layer (0:
    none), heads of layers that attend to everything, and experts."""

    kinds: tuple[str, ...]
    shared: int
    width: int
    vocab: int
    head_dim: int
    kv_heads: int
    one_projection: bool
    double: bool
    experts: ExpertForm | None


class GemmaAttention(Attention):
    """Self-attention with norms of query, key and value; late layers take over keys and values."""

    def __init__(self, net: Net, form: Form, sides: Sides, at: int) -> None:
        self.kind, self.stores = sides.kinds[at], at < sides.shared
        full = self.kind == "full_attention"
        if full:
            form = structs.replace(form, head_dim=sides.head_dim, kv_heads=sides.kv_heads)
        self.net, self.form, self.sinks, bias = net, form, None, form.traits.qkv_bias
        wide, narrow, joint = (
            form.heads * form.head_dim,
            form.kv_heads * form.head_dim,
            full and sides.one_projection,
        )
        self.query, self.query_norm = (
            net.linear("q_proj", form.hidden, wide, bias),
            Norm(net, "rms_wide", form.head_dim),
        )
        self.out = net.linear("o_proj", wide, form.hidden, form.traits.out_bias)
        if self.stores:
            self.key, self.key_norm = (
                net.linear("k_proj", form.hidden, narrow, bias),
                Norm(net, "rms_wide", form.head_dim),
            )
            self.own_value = None if joint else net.linear("v_proj", form.hidden, narrow, bias)
            self.value_norm = Norm(net, "rms_bare", form.head_dim)

    def attended(self, x: Tensor, rope: Rope, mask: Tensor | None, shared: Shared) -> Tensor:
        """The result of the layer; `shared` takes its keys and values."""
        tape, form = self.net.tape, self.form
        query = rotate(tape, self.query_norm(self._heads(self.query(x), form.heads)), rope)  # type: ignore[misc]
        if self.stores:
            key = self._heads(self.key(x), form.kv_heads)
            value = key if self.own_value is None else self._heads(self.own_value(x), form.kv_heads)
            key = rotate(tape, self.key_norm(key), rope)  # type: ignore[misc]
            shared[self.kind] = key, self.value_norm(value)
            del key, value
        key, value = shared[self.kind]
        eager = self.net.setting.eager
        result = (
            self._eager(query, key, value, mask)[0]
            if eager
            else self._fused(query, key, value, mask)
        )
        return self.out(result.view(x.shape[0], x.shape[1], form.heads * form.head_dim))


class GemmaExperts:
    """Routed experts beside the feed-forward layer: they see the states before its norm."""

    def __init__(self, net: Net, form: Form, experts: ExpertForm) -> None:
        self.net, self.experts = net, experts
        self.before = Norm(net, "rms_bare", form.hidden)
        self.router = net.linear("proj", form.hidden, experts.experts)
        self.scale, self.each = net.parameter(form.hidden), net.parameter(experts.experts)
        self.up = net.parameter(experts.experts, 2 * experts.ffn, form.hidden)
        self.down = net.parameter(experts.experts, form.hidden, experts.ffn)
        self.norms = [Norm(net, "rms_wide", form.hidden) for _ in range(3)]

    def __call__(self, fed: Tensor, x: Tensor) -> Tensor:
        tape = self.net.tape
        after, back, into = self.norms
        fed, flat = after(fed), x.view(x.shape[0] * x.shape[1], x.shape[2])
        scaled = ops.sub_self(tape, ops.mul(tape, self.before(flat), self.scale))
        odds = ops.keeping_result(tape, ops.cast(tape, self.router(scaled), F32))
        routed = visit(tape, into(flat), odds, self.up, self.down, self.experts)
        return ops.add(tape, fed, back(routed.view(*x.shape)))


class GemmaBlock:
    """One layer; its own embedding of the tokens gates a last small product."""

    def __init__(self, net: Net, form: Form, sides: Sides, at: int) -> None:
        self.net, self.form, self.sides = net, form, sides
        self.attention = GemmaAttention(net, form, sides, at)
        self.mlp = Mlp(net, form, form.ffn * (2 if sides.double and at >= sides.shared else 1))
        self.norms = [Norm(net, "rms_wide", form.hidden) for _ in range(4)]
        net.buffer(1, dtype=net.setting.dtype)
        if sides.width:
            self.gate = net.linear("per_layer_input_gate", form.hidden, sides.width)
            self.back = net.linear("per_layer_projection", sides.width, form.hidden)
            self.last = Norm(net, "rms_wide", form.hidden)
        self.experts = GemmaExperts(net, form, sides.experts) if sides.experts else None

    def __call__(
        self, x: Tensor, rope: Rope, mask: Tensor | None, own: Tensor | None, shared: Shared
    ) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.norms[0](x)
        x = self.attention.attended(x, rope, mask, shared)
        x = residual = ops.add(tape, residual, self.norms[1](x))
        x = self.norms[2](x)
        x = self.mlp(x)
        if self.experts is not None:
            x = self.experts(x, residual)
        x = self.norms[3](x)
        x = ops.add(tape, residual, x)
        if own is not None:
            residual = x
            x = activate(tape, self.gate(x), self.form.traits.act)
            x = self.back(ops.mul(tape, x, own))
            x = ops.add(tape, residual, self.last(x))
        return ops.scaled_in_place(tape, x)


class Gemma4(Decoder):
    """The text part of Gemma 4 (transformers, Gemma4ForCausalLM)."""

    def __init__(self, net: Net, form: Form, sides: Sides) -> None:
        self.net, self.form, self.sides = net, form, sides
        self.table = net.parameter(form.vocab, form.hidden)
        self.layers = [GemmaBlock(net, form, sides, at) for at in range(form.layers)]
        self.norm = Norm(net, "rms_wide", form.hidden)
        self.head = Linear(
            net, self.table if form.tied else net.parameter(form.vocab, form.hidden), None
        )
        if sides.width:
            self.side_table = net.parameter(sides.vocab, form.layers * sides.width)
            self.side = net.linear(
                "per_layer_model_projection", form.hidden, form.layers * sides.width
            )
            self.side_norm = Norm(net, "rms_wide", sides.width)

    def hidden(self) -> Tensor:
        """The states after the last norm."""
        net, form, tape, sides = self.net, self.form, self.net.tape, self.sides
        shape = (net.setting.batch, net.setting.length)
        x = embedded = ops.sub_self(tape, entering(net, ops.embedding(tape, self.table, shape)))
        each = self._each(x, shape) if sides.width else None
        masks = {kind: causal_mask(net, x.dtype) for kind in set(sides.kinds)}
        widths = {
            kind: sides.head_dim if kind == "full_attention" else form.head_dim for kind in masks
        }
        ropes = {kind: rope_tables(net, width, x.dtype) for kind, width in widths.items()}
        shared: Shared = {}
        for block, kind in zip(self.layers, sides.kinds, strict=True):
            own = [] if each is None else [ops.cut(tape, each, (*shape, sides.width))]
            x = checkpointed(
                net,
                lambda y, *o, b=block, k=kind: b(
                    y, ropes[k], masks[k], o[0] if o else None, shared
                ),
                x,
                *own,
            )
        x = self.norm(x)  # type: ignore[misc]
        del embedded
        return x

    def _each(self, x: Tensor, shape: tuple[int, int]) -> Tensor:
        """The embeddings of the tokens for every layer."""
        tape, sides = self.net.tape, self.sides
        deep = (*shape, self.form.layers, sides.width)
        told = ops.sub_self(tape, ops.embedding(tape, self.side_table, shape)).view(*deep)
        made = self.side_norm(ops.sub_self(tape, self.side(x)).view(*deep))
        return ops.sub_self(tape, ops.add(tape, made, told))


def gemma4(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration of Gemma 4's text part (transformers, Gemma4TextConfig)."""
    one, experts = bool(config.get("attention_k_eq_v")), config.get("num_experts")
    form = structs.replace(form, layers=len(config["layer_types"]))
    sides = Sides(
        kinds=tuple(config["layer_types"]),
        shared=form.layers - config.get("num_kv_shared_layers", 0),
        width=config.get("hidden_size_per_layer_input") or 0,
        vocab=config.get("vocab_size_per_layer_input") or form.vocab,
        head_dim=config.get("global_head_dim") or form.head_dim,
        kv_heads=(config.get("num_global_key_value_heads") if one else None) or form.kv_heads,
        one_projection=one,
        double=bool(config.get("use_double_wide_mlp")),
        experts=ExpertForm(
            experts=experts, used=config["num_experts_per_tok"], ffn=config["moe_intermediate_size"]
        )
        if experts
        else None,
    )
    return lambda net: Gemma4(net, form, sides)
