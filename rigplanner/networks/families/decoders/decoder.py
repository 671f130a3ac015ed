"""Decoder-only language models on the tape: what eager transformers keeps alive, per family of
architectures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rigplanner.networks.families.decoders.attention import (
    Attention,
    LatentAttention,
    Rope,
    activate,
    rope_tables,
)
from rigplanner.networks.families.decoders.delta import DeltaAttention
from rigplanner.networks.families.decoders.eager_scores import SCORES
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.products import xielu
from rigplanner.networks.tracer.strided import array
from rigplanner.networks.tracer.tape import BF16, BOOL, F32, I64, Tape, Tensor, like, new, record


class Mlp:
    """The feed-forward layer."""

    def __init__(self, net: Net, form: Form, ffn: int | None = None) -> None:
        self.net, self.traits, ffn = net, form.traits, ffn or form.ffn
        kind, bias, names = form.traits.mlp, form.traits.mlp_bias, form.traits.names
        self.ffn = ffn
        if kind == "gated":
            self.gate = net.linear(names.get("gate_proj", "gate_proj"), form.hidden, ffn, bias)
        joint = (
            names.get("gate_up_proj", "gate_up_proj")
            if kind == "gated_fused"
            else names.get("up_proj", "up_proj")
        )
        self.up = net.linear(joint, form.hidden, 2 * ffn if kind == "gated_fused" else ffn, bias)
        self.down = net.linear(
            names.get("down_proj", "down_proj"), ffn, form.hidden, bias or form.traits.down_bias
        )
        self.sub_norm = Norm(net, form.traits.norm, ffn) if form.traits.sub_norms else None
        self.bends = (
            [net.parameter(1, dtype=BF16) for _ in range(2)] if form.traits.act == "xielu" else []
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape, traits = self.net.tape, self.traits
        if traits.mlp == "gated":
            inner = ops.mul(tape, activate(tape, self.gate(x), traits.act), self.up(x))
            inner = ops.dropout(tape, inner, traits.inner_dropout, self.net.setting.training)
            return self.down(inner if self.sub_norm is None else self.sub_norm(inner))
        if traits.mlp == "gated_fused":
            up = self.up(x)
            gate, up = ops.split(tape, up, (self.ffn, self.ffn))
            up = ops.mul(tape, up, activate(tape, gate, traits.act))
            return self.down(up)
        x = self.up(x)
        if self.bends:
            return self.down(xielu(array(tape, x), *(array(tape, bend) for bend in self.bends)))
        x = activate(tape, x, "gelu" if self.net.setting.fused_act else traits.act)
        return self.down(x)

    def consuming(self, box: list[Tensor]) -> Tensor:
        """The same without a gate, of the only tensor in `box`, which is let go once the first
        product is there."""
        x = self.up(box.pop())
        x = activate(self.net.tape, x, self.traits.act)
        return self.down(x)


def attention_of(net: Net, form: Form, at: int) -> Attention | LatentAttention | DeltaAttention:
    """The attention of layer `at`."""
    if form.delta is not None and at in form.delta.layers:
        return DeltaAttention(net, form.hidden, form.delta)
    return LatentAttention(net, form) if form.latent else SCORES[form.traits.scores](net, form)


Feed = Callable[[Net, Form, int], Callable[[Tensor], Tensor]]
"""Makes the feed-forward layer of a block."""
Attends = Callable[[Tensor, Rope | None, Tensor | None], tuple[Tensor, Tensor | None]]


class Block:
    """One layer."""

    def __init__(
        self,
        net: Net,
        form: Form,
        feed: Feed,
        at: int = 0,
        attends: Callable[[Net, Form, int], Attends] = attention_of,
    ) -> None:
        self.net, self.form = net, form
        self.attention = attends(net, form, at)
        self.mlp = feed(net, form, at)
        norms = {"pre": 2, "post": 2, "after": 2, "sandwich": 4, "parallel": 1, "parallel_two": 2}[
            form.traits.block
        ]
        self.norms = [Norm(net, form.traits.norm, form.hidden) for _ in range(norms)]
        self.returns_weights = False
        self.weights: Tensor | None = None

    def _attend(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        x, weights = self.attention(x, rope, mask)
        self.weights = weights if self.returns_weights else None
        return x, weights

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        kind = self.form.traits.block
        if kind.startswith("parallel"):
            return self._parallel(x, rope, mask)
        if kind in ("pre", "after"):
            return self._pre(x, rope, mask)
        return self._normed_results(x, rope, mask)

    def _pre(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, scaled = self.net.tape, self.form.traits.scaled_residual
        late = self.form.traits.block == "after"
        residual = x
        x = x if late else self.norms[0](x)
        normed = x if self.form.traits.holds_normed else None
        x, weights = self._attend(x, rope, mask)
        x = self.net.drop(x, self.form.traits.dropout)
        attended = x if self.form.traits.holds_attended else None
        x = ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)
        x = residual = self.norms[0](x) if late else x
        x = x if late else self.norms[1](x)
        if self.form.traits.inline_feed and isinstance(self.mlp, Mlp):
            box = [x]
            del x
            x = self.mlp.consuming(box)
        else:
            x = self.mlp(x)
        x = self.net.drop(x, self.form.traits.dropout)
        x = ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)
        del normed, attended, weights
        return self.norms[1](x) if late else x

    def _normed_results(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, norms = self.net.tape, list(self.norms)
        sandwich = self.form.traits.block == "sandwich"
        residual = x
        if sandwich:
            x = norms.pop(0)(x)
        x, _weights = self._attend(x, rope, mask)
        x = norms.pop(0)(x)
        scaled = self.form.traits.scaled_residual
        x = ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)
        residual = x
        if sandwich:
            x = norms.pop(0)(x)
        x = self.mlp(x)
        x = norms.pop(0)(x)
        return ops.add(tape, residual, ops.sub_self(tape, x) if scaled else x)

    def _parallel(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.norms[0](residual)
        attended, _weights = self._attend(x, rope, mask)
        if len(self.norms) > 1:
            x = self.norms[1](residual)
        if self.form.traits.joint_dropout:
            joined = ops.add_in_place(tape, self.mlp(x), attended)
            return ops.add(tape, residual, self.net.drop(joined, self.form.traits.dropout))
        attended = self.net.drop(attended, self.form.traits.dropout)
        fed = self.net.drop(self.mlp(x), self.form.traits.dropout)
        return ops.add(tape, ops.add(tape, attended, fed), residual)


def causal_mask(net: Net, dtype: str, eager: bool = False, always: bool = False) -> Tensor | None:
    """The mask the model makes once: byte for fused attention, float for eager; none where the
    kernel is causal by itself, unless it is `always` made."""
    setting, tape = net.setting, net.tape
    shape = (setting.batch, 1, setting.length, setting.length)
    if setting.eager or eager:
        return new(tape, shape, dtype)
    return new(tape, shape, BOOL) if always or tape.semantics.explicit_mask else None


class Decoder:
    """Embedding, layers, final norm, head and loss; `maskless` where no layer attends."""

    maskless = False

    def __init__(
        self,
        net: Net,
        form: Form,
        feed: Feed | None = None,
        attends: Callable[[Net, Form, int], Attends] = attention_of,
        block: Callable[[Net, Form, Feed, int, Callable[[Net, Form, int], Attends]], Any] = Block,
    ) -> None:
        self.net, self.form, traits = net, form, form.traits
        inner = traits.embedding_width or form.hidden
        self.table = net.parameter(form.vocab + form.spare_rows, inner)
        self.widen = (
            net.linear("project_in", inner, form.hidden) if traits.embedding_width else None
        )
        self.narrow = (
            net.linear("project_out", form.hidden, inner) if traits.embedding_width else None
        )
        self.positions = (
            net.parameter(traits.learned_positions, form.hidden)
            if traits.learned_positions
            else None
        )
        if traits.fixed_positions:
            net.buffer(form.positions, form.hidden, dtype=net.setting.dtype)
        if traits.seen_square:
            net.buffer(form.positions, form.positions, dtype=BOOL)
        for _ in range(traits.seen_places):
            net.buffer(form.positions, dtype=I64)
        self.first_norm = Norm(net, traits.norm, form.hidden) if traits.embedding_norm else None
        make = feed or (lambda net, form, _: Mlp(net, form))
        self.blocks = [block(net, form, make, at, attends) for at in range(form.layers)]
        self.norm = Norm(net, traits.norm, form.hidden) if traits.last_norm else None
        side = net.parameter(form.vocab) if traits.head_bias else None
        self.head = Linear(net, self.table if form.tied else net.parameter(form.vocab, inner), side)

    def beside(self, x: Tensor) -> tuple[Tensor, ...]:
        """What the layers take in besides the states."""
        return ()

    def embedded(self, x: Tensor) -> Tensor:
        """The embedded tokens and what is added to them."""
        return x

    def before(self, x: Tensor) -> Tensor:
        """What the first layer takes in."""
        return x

    def after(self, x: Tensor) -> Tensor:
        """What the last norm takes in."""
        return x

    def between(self, x: Tensor, at: int) -> Tensor:
        """What the layer after layer `at` takes in."""
        return x

    def hidden(self) -> Tensor:
        """The states after the last norm."""
        net, form, traits = self.net, self.form, self.form.traits
        tape, training = net.tape, net.setting.training
        x, held = self._placed()
        if self.first_norm is not None:
            x = self.first_norm(x)
        x = ops.dropout(tape, x, traits.embedding_dropout, training)
        unmasked = self.maskless or (traits.mask_free and not net.setting.eager)
        mask = (
            None if unmasked else causal_mask(net, x.dtype, traits.eager_only, form.always_masked)
        )
        windowed = causal_mask(net, x.dtype, traits.eager_only) if traits.two_masks else None
        turned = form.latent.turned if form.latent else int(form.head_dim * traits.rope)
        rope = (
            rope_tables(net, turned, F32 if traits.rope_float else x.dtype) if traits.rope else None
        )
        weights, beside, x = None, self.beside(x), self.before(x)
        for at, block in enumerate(self.blocks):
            block.returns_weights = traits.holds_weights
            turns = None if at in form.unturned else rope
            x = checkpointed(
                net,
                lambda y, *more, block=block, turns=turns, _kept=windowed: block(
                    y, turns, mask, *more
                ),
                x,
                *beside,
            )
            # The library holds the weights of one layer until the next has made its own.
            weights, block.weights, block.returns_weights = block.weights, None, False
            x = self.between(x, at)
        x = self.after(x)
        x = x if self.norm is None else self.norm(x)
        del weights
        x = x if self.narrow is None else self.narrow(x)
        # Until here the library's frame holds the embedded tokens, their places and both masks.
        del held, windowed, beside
        return x

    def _placed(self) -> tuple[Tensor, list[Tensor]]:
        """The embedded tokens with their places, and what the library's frame holds of both while
        the blocks run."""
        net, traits = self.net, self.form.traits
        tape, shape = net.tape, (net.setting.batch, net.setting.length)
        embedded = self.embedded(entering(net, ops.embedding(tape, self.table, shape)))
        x = embedded = embedded if self.widen is None else self.widen(embedded)
        placed: list[Tensor] = []
        if self.positions is not None:
            rows = shape[0] if traits.spread_positions else 1
            placed = [ops.embedding(tape, self.positions, (rows, shape[1]))]
            x = ops.add(tape, x, placed[0])
        if traits.scaled_embedding:
            x = embedded = (
                ops.scaled_in_place(tape, x) if traits.scaled_in_place else ops.sub_self(tape, x)
            )
        if traits.fixed_positions and traits.scaled_in_place:
            placed = [new(tape, (1, *x.shape[1:]), x.dtype)]
            x = ops.shift(tape, ops.add(tape, x, placed[0]))
        elif traits.fixed_positions:
            x = ops.add(tape, x, new(tape, (1, *x.shape[1:]), x.dtype))
        return x, [embedded, *placed]

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the logits."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if self.form.traits.scaled_states:
            states = ops.sub_self(tape, states)
        if net.setting.headless:
            return states
        if net.setting.loss == "fused" and net.setting.training:
            return fused_token_loss(tape, states, self.head.weight)
        logits = self.head(states)
        if self.form.traits.scaled_logits:
            logits = ops.sub_self(tape, logits)
        if self.form.traits.capped_logits:
            whole = logits if self.form.traits.capped_at_once else None
            logits = ops.sub_self(tape, logits)
            logits = ops.keeping_result(tape, logits)
            logits = ops.sub_self(tape, logits)
            del whole
        if self.form.traits.float_logits:
            logits = ops.cast(tape, logits, F32)
        if not net.setting.training:
            return logits
        if net.setting.loss == "compiled":
            return compiled_token_loss(tape, logits)
        return (
            self.scored(logits) if net.setting.loss == "plain" else chunked_token_loss(tape, logits)
        )

    def scored(self, logits: Tensor) -> Tensor:
        """The loss from the logits."""
        return next_token_loss(self.net.tape, logits)


def next_token_loss(tape: Tape, logits: Tensor) -> Tensor:
    """Logits in float, then the cross-entropy over all positions."""
    wide = ops.cast(tape, logits, F32)
    return ops.cross_entropy(tape, wide.view(wide.size // wide.shape[-1], wide.shape[-1]))


def fused_token_loss(tape: Tape, states: Tensor, weight: Tensor) -> Tensor:
    """The loss straight from the states: logits are made and dropped piece by piece, gradients at
    once (cut cross-entropy)."""
    tape.flops += 2 * states.size * weight.shape[0]
    shape, table = states.shape, weight.shape

    def pull(grad: Tensor) -> Sequence[Tensor | None]:
        return new(tape, shape, kept.dtype), new(
            tape, table, kept.dtype
        ) if weight.needs_grad else None

    kept = states
    return record(tape, new(tape, (), F32), (states, weight), pull)


def compiled_token_loss(tape: Tape, logits: Tensor) -> Tensor:
    """The same by one compiled kernel each way: logits and their gradient are all there is
    (torchtitan's pull 1033)."""
    return record(tape, new(tape, (), F32), (logits,), lambda grad: (like(tape, logits),))


LOSS_CHUNKS = 8


def chunked_token_loss(tape: Tape, logits: Tensor) -> Tensor:
    """The same over pieces of the tokens, of which one at a time is raised to float and back."""
    rows, classes = logits.size // logits.shape[-1], logits.shape[-1]
    piece = (max(1, rows // LOSS_CHUNKS), classes)

    def pull(grad: Tensor) -> Sequence[Tensor]:
        made = like(tape, kept)
        _wide = [new(tape, piece, F32), new(tape, piece, F32)]
        return (made,)

    kept = logits
    _wide = [new(tape, piece, F32), new(tape, piece, F32)]
    return record(tape, new(tape, (), F32), (logits,), pull)
