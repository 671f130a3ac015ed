"""Encoder-decoder language models on the tape: BART and its variants (mBART, Pegasus, Marian,
Blenderbot, PLBart, M2M-100), and their decoders alone (TrOCR has no other)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from rigplanner.errors import WorkloadFault
from rigplanner.networks.families.decoders.attention import activate, attend
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.products import bmm
from rigplanner.networks.tracer.strided import Array, array
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Tensor, new


class BartVariant(Struct, frozen=True):
    """What sets a family apart. `early`: norms stand before the parts; `first_norm` and `last_norm`
    of a stack; `positions`: learned, frozen (sines in a table that does not train) or buffer (sines
    beside the parameters), `offset` rows longer than asked; `tokens_first`: the decoder norms the
    tokens before positions are added; `bias`: one is added to the logits; `scaled`: the embedding
    is multiplied by a number, even if that is one; `recast`: what goes into the second product of
    the feed-forward layer is cast to the type of its weight."""

    early: bool = False
    first_norm: bool = False
    last_norm: bool = False
    positions: str = "learned"
    offset: int = 0
    tokens_first: bool = False
    bias: bool = True
    scaled: bool = True
    recast: bool = False


SEAMLESS = BartVariant(
    early=True, last_norm=True, positions="buffer", offset=2, bias=False, recast=True
)
BART_VARIANTS = {
    "bart": BartVariant(first_norm=True, offset=2),
    "plbart": BartVariant(first_norm=True, offset=2),
    "mvp": BartVariant(first_norm=True, offset=2),
    "mbart": BartVariant(early=True, first_norm=True, last_norm=True, offset=2),
    "pegasus": BartVariant(early=True, last_norm=True, positions="frozen"),
    "marian": BartVariant(positions="frozen"),
    "blenderbot": BartVariant(early=True, last_norm=True),
    "blenderbot-small": BartVariant(first_norm=True, tokens_first=True),
    "trocr": BartVariant(offset=2),
    **dict.fromkeys(("seamless_m4t", "seamless_m4t_v2"), SEAMLESS),
    "pegasus_x": BartVariant(early=True, last_norm=True, bias=False),
    "fsmt": BartVariant(offset=2, bias=False),
    "led": BartVariant(first_norm=True, scaled=False),
    "m2m_100": BartVariant(early=True, last_norm=True, positions="buffer", offset=2, bias=False),
}
SPREAD_POSITIONS = {"bart", "plbart", "mbart", "mvp", "fsmt"}
"""Families whose encoder looks positions up once for every sample."""


class BartAttention:
    """Attention of BART, self or cross."""

    biased = True

    def __init__(
        self, net: Net, hidden: int, heads: int, share: float, decodes: bool = False, width: int = 0
    ) -> None:
        self.net, self.heads, self.hidden, self.share = net, heads, hidden, share
        self.caches = decodes and not net.setting.training and net.tape.semantics.caches
        self.key, self.value = (
            net.linear(name, width or hidden, hidden, self.biased) for name in ("k_proj", "v_proj")
        )
        self.query, self.out = (
            net.linear(name, hidden, hidden, self.biased) for name in ("q_proj", "out_proj")
        )

    def __call__(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        setting, source = self.net.setting, x if memory is None else memory
        shape = (setting.batch, self.heads, setting.length, self.hidden // self.heads)
        seen = (*shape[:2], source.shape[1], shape[3])
        query, key, value = (
            self.query(x).view(*shape),
            self.key(source).view(*seen),
            self.value(source).view(*seen),
        )
        if self.caches:
            key, value = ops.copy(self.net.tape, key), ops.copy(self.net.tape, value)
            self.net.held += [key, value]
        if setting.eager:
            return self.out(self._eager(query, key, value, mask).view(*x.shape))
        return self.out(attend(self.net, query, key, value, mask, self.share).view(*x.shape))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        tape = self.net.tape
        square = (*query.shape[:3], key.shape[2])
        return ops.bmm(
            tape, ops.packed(tape, query), key if self.caches else ops.packed(tape, key), square
        )

    def _eager(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        tape = self.net.tape
        weights = ops.sub_self(tape, self._scores(query, key))
        weights = weights if mask is None else ops.add(tape, weights, mask)
        raised = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, weights, raised))
        weights = ops.dropout(tape, weights, self.share, self.net.setting.training)
        value = value if self.caches else ops.packed(tape, value)
        return ops.unpacked(tape, ops.bmm(tape, weights, value, query.shape))


class MergedAttention(BartAttention):
    """The same as it was first written: heads are merged with the samples before the products, and
    there is no fused way."""

    def __call__(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        tape, source = self.net.tape, x if memory is None else memory
        batch, length, seen = x.shape[0], x.shape[1], source.shape[1]
        query, key, value = (
            self._merged(ops.sub_self(tape, self.query(x))),
            self.key(source),
            self.value(source),
        )
        key, value = (
            self._cached(side) if self.caches else self._merged(side) for side in (key, value)
        )
        weights = bmm(query, key.transpose(1, 2))
        if mask is not None:
            weights = (weights.reshape(batch, self.heads, length, seen) + mask).reshape(
                batch * self.heads, length, seen
            )
        raised = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = weights.to(raised).softmax()
        kept = array(tape, ops.dropout(tape, weights, self.share, self.net.setting.training))
        result = bmm(kept, value).reshape(batch, self.heads, length, -1)
        return self.out(result.transpose(1, 2).reshape(batch, length, self.hidden))

    def _cached(self, x: Tensor) -> Array:
        stored = ops.copy(self.net.tape, x)
        self.net.held.append(stored)
        return array(
            self.net.tape,
            stored.view(x.shape[0] * self.heads, x.shape[1], self.hidden // self.heads),
        )

    def _merged(self, x: Tensor) -> Array:
        split = array(self.net.tape, x).reshape(
            x.shape[0], x.shape[1], self.heads, self.hidden // self.heads
        )
        return split.transpose(1, 2).reshape(
            x.shape[0] * self.heads, x.shape[1], self.hidden // self.heads
        )


class BartBlock:
    """One layer of a stack."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        side: str,
        early: bool,
        alone: bool = False,
        attends: type[BartAttention] = BartAttention,
    ) -> None:
        hidden, self.net, self.share, self.early = config["d_model"], net, config["dropout"], early
        heads, ffn, share = (
            config[f"{side}_attention_heads"],
            config[f"{side}_ffn_dim"],
            config["attention_dropout"],
        )
        attends = MergedAttention if config["model_type"] == "trocr" else attends
        self.attention: Callable[[Tensor, Tensor | None, Tensor | None], Tensor]
        self.attention = attends(net, hidden, heads, share, side == "decoder" and not alone)
        self.norms = [Norm(net, "layer", hidden)]
        self.cross = None
        if alone:
            with net.unreached():
                BartAttention(
                    net, hidden, heads, share, width=config.get("cross_attention_hidden_size") or 0
                )
                Norm(net, "layer", hidden)
        elif side == "decoder":
            self.cross = attends(
                net, hidden, heads, share, True, config.get("cross_attention_hidden_size") or 0
            )
            self.norms.append(Norm(net, "layer", hidden))
        self.up, self.down = (
            net.linear("fc1", hidden, ffn, True),
            net.linear("fc2", ffn, hidden, True),
        )
        self.norms.append(Norm(net, "layer", hidden))
        self.recast = BART_VARIANTS[config["model_type"]].recast
        self.act, self.inner_share = (
            ACTS.get(config["activation_function"], "gelu"),
            config.get("activation_dropout") or 0.0,
        )

    def __call__(self, x: Tensor, *memory: Tensor, mask: Tensor | None) -> Tensor:
        x = self._part(x, self.norms[0], lambda y: self.attention(y, None, mask))
        if self.cross is not None:
            cross = self.cross
            x = self._part(x, self.norms[1], lambda y: cross(y, memory[0], None))
        return self._part(x, self.norms[-1], self._feed)

    def _feed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = activate(tape, self.up(x), self.act)
        x = ops.dropout(tape, x, self.inner_share, self.net.setting.training)
        return self.down(ops.cast(tape, x, self.down.weight.dtype) if self.recast else x)

    def _part(self, x: Tensor, norm: Norm, work: Any) -> Tensor:
        tape, residual = self.net.tape, x
        x = work(norm(x) if self.early else x)
        x = ops.dropout(tape, x, self.share, self.net.setting.training)
        x = ops.add(tape, residual, x)
        return x if self.early else norm(x)


class Bart:
    """Encoder, decoder and head: of one table, or of one each beside a table that is left
    unused."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, self.variant = (
            net,
            config,
            config["d_model"],
            BART_VARIANTS[config["model_type"]],
        )
        self.table = net.parameter(config["vocab_size"], hidden)
        apart = not config.get("tie_word_embeddings", True)
        self.tables = [
            net.parameter(*self.table.shape) if apart and at else self.table for at in range(2)
        ]
        if apart:
            net.parameter(*self.table.shape, frozen=True)
        self.positions = [self._positions(at) for at in range(2)]
        self.encoder = [self._block("encoder", at) for at in range(config["encoder_layers"])]
        self.decoder = [self._block("decoder", at) for at in range(config["decoder_layers"])]
        self.first_norms = (
            [Norm(net, "layer", hidden) for _ in range(2)] if self.variant.first_norm else []
        )
        self.last_norms = (
            [Norm(net, "layer", hidden) for _ in range(2)] if self.variant.last_norm else []
        )
        self.head = Linear(net, net.parameter(*self.table.shape) if apart else self.table, None)
        self.bias = None
        if self.variant.bias:
            net.buffer(config["vocab_size"], dtype=net.setting.dtype)
            self.bias = net.held[-1]

    def _block(self, side: str, at: int) -> BartBlock:
        return BartBlock(self.net, self.config, side, self.variant.early)

    def _positions(self, at: int) -> Tensor | None:
        net, rows = (
            self.net,
            (self.config.get("max_position_embeddings") or self.config["max_target_positions"])
            + self.variant.offset,
        )
        if self.variant.positions == "buffer":
            net.buffer(rows, self.config["d_model"], dtype=net.setting.dtype)
            return net.held[-1]
        return net.parameter(
            rows, self.config["d_model"], frozen=self.variant.positions == "frozen"
        )

    def _embedded(self, at: int) -> tuple[Tensor, list[Tensor]]:
        """What the first layer gets, and what lives as long as the stack runs."""
        net, tape, variant = self.net, self.net.tape, self.variant
        shape = (net.setting.batch, net.setting.length)
        spread = variant.positions == "buffer" or (
            at == 0 and self.config["model_type"] in SPREAD_POSITIONS
        )
        tokens = ops.embedding(tape, self.tables[at], shape)
        tokens = entering(net, ops.sub_self(tape, tokens) if variant.scaled else tokens)
        table = self.positions[at]
        assert table is not None
        placed = ops.embedding(tape, table, (shape[0] if spread else 1, shape[1]))
        early = variant.tokens_first and at == 1
        tokens = self.first_norms[at](tokens) if early else tokens
        x = ops.add(tape, tokens, placed)
        if self.first_norms and not early:
            x = self.first_norms[at](x)
        return ops.dropout(tape, x, self.config["dropout"], net.setting.training), [tokens, placed]

    def _stack(
        self, blocks: list[BartBlock], at: int, mask: Tensor | None, *memory: Tensor
    ) -> Tensor:
        x, held = self._embedded(at)
        for block in blocks:
            x = checkpointed(self.net, partial(block, mask=mask), x, *memory)
        x = self.last_norms[at](x) if self.last_norms else x
        held.clear()
        return x

    def loss(self) -> Tensor:
        """The loss over all target tokens; without training, the scores."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        _ids = (
            net.given(setting.batch, setting.length, dtype=I64),
            new(tape, (setting.batch, setting.length), I64),
        )
        memory = self._stack(self.encoder, 0, None)
        _ones = new(tape, (setting.batch, setting.length), F32)
        x = self._stack(self.decoder, 1, self._mask(), memory)
        scores = self.head(x)
        if self.bias is not None:
            scores = ops.add(tape, scores, self.bias)
        return class_loss(net, scores) if setting.training else scores

    def _mask(self) -> Tensor | None:
        tape, setting = self.net.tape, self.net.setting
        shape = (setting.batch, 1, setting.length, setting.length)
        if setting.eager:
            return new(tape, shape, setting.dtype)
        return new(tape, shape, BOOL) if tape.semantics.explicit_mask else None


def seamless(net: Net, config: dict[str, Any]) -> Bart:
    """The part of SeamlessM4T that translates text; raises WorkloadFault where a configuration asks
    for one that hears."""
    names = [str(name) for name in config.get("architectures") or ()]
    if names and not any("TextToText" in name for name in names):
        raise WorkloadFault(
            f"config.architectures: expected a class that translates text, found {names[0][:60]}."
        )
    return Bart(net, {**config, "d_model": config["hidden_size"]})


class BartAlone(Bart):
    """The decoder alone, as a causal language model: the layers that would attend to an encoder are
    there and idle."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.variant, hidden = (
            net,
            config,
            BART_VARIANTS[config["model_type"]],
            config["d_model"],
        )
        self.table = net.parameter(config["vocab_size"], hidden)
        self.tables, self.positions = [self.table] * 2, [self._positions(1)] * 2
        first = (
            self.variant.first_norm
            if config["model_type"] != "trocr"
            else config.get("layernorm_embedding", True)
        )
        self.first_norms = [Norm(net, "layer", hidden)] * 2 if first else []
        self.decoder = [
            BartBlock(net, config, "decoder", self.variant.early, True)
            for _ in range(config["decoder_layers"])
        ]
        self.last_norms = [Norm(net, "layer", hidden)] * 2 if self.variant.last_norm else []
        apart = not config.get("tie_word_embeddings", True)
        self.head = Linear(net, net.parameter(*self.table.shape) if apart else self.table, None)

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the scores."""
        setting, tape = self.net.setting, self.net.tape
        _ids = self.net.given(setting.batch, setting.length, dtype=I64)
        _ones = new(tape, (setting.batch, setting.length), F32)
        scores = self.head(self._stack(self.decoder, 1, self._mask()))
        return class_loss(self.net, scores) if setting.training else scores
