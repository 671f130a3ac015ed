"""T5Gemma on the tape: an encoder and a decoder of Gemma 2's layers, of sizes of their own, the
latter attending to the former."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from rigplanner.networks.config.config import defaults
from rigplanner.networks.families.decoders.attention import Attention, Rope, repeat_heads
from rigplanner.networks.families.decoders.decoder import Block, Decoder, Feed
from rigplanner.networks.families.decoders.decoder_forms import decoder_form
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new


def side_form(config: dict[str, Any], side: str) -> Form:
    """The sizes of the encoder or the decoder; its head is the table of its tokens unless the
    configuration unties them."""
    tied = config.get("tie_word_embeddings", True) or side == "encoder"
    whole = {
        **defaults()["t5gemma"],
        **(config.get(side) or {}),
        "model_type": "gemma2",
        "tie_word_embeddings": tied,
    }
    form = decoder_form(whole, "gemma2")
    dropout = float(config.get("dropout_rate") or whole.get("dropout_rate") or 0.0)
    return structs.replace(
        form, traits=structs.replace(form.traits, two_masks=True, dropout=dropout)
    )


class CachingAttention(Attention):
    """Attention that caches keys and values unless it trains."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        if self.net.setting.training or not self.net.tape.semantics.caches:
            return super()._eager(query, key, value, mask)
        tape, heads = self.net.tape, self.form.heads
        key, value = ops.copy(tape, key), ops.copy(tape, value)
        self.net.held += [key, value]
        keys, values = repeat_heads(tape, key, heads), repeat_heads(tape, value, heads)
        square = (*query.shape[:3], key.shape[2])
        weights = ops.sub_self(tape, ops.bmm(tape, ops.packed(tape, query), keys, square))
        if self.form.traits.capped_attention:
            weights = ops.sub_self(tape, weights)
            weights = ops.sub_self(tape, weights)
            weights = ops.sub_self(tape, weights)
        weights = weights if mask is None else ops.add(tape, weights, mask)
        weights = self._softmax(weights, query.dtype)
        return ops.unpacked(tape, ops.bmm(tape, weights, values, query.shape)), weights


class CrossAttention(CachingAttention):
    """Attention of the decoder's tokens to the encoder's states, of a width of their own."""

    def __init__(self, net: Net, form: Form, source: int) -> None:
        self.net, self.form, self.sinks, bias = net, form, None, form.traits.qkv_bias
        wide, narrow = form.heads * form.head_dim, form.kv_heads * form.head_dim
        self.query = net.linear("q_proj", form.hidden, wide, bias)
        self.key, self.value = (
            net.linear(name, source, narrow, bias) for name in ("k_proj", "v_proj")
        )
        self.out = net.linear("o_proj", wide, form.hidden, form.traits.out_bias)

    def attended(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """What the tokens take from `memory`, and the weights."""
        form = self.form
        query = self._heads(self.query(x), form.heads)
        result, weights = self._eager(
            query,
            self._heads(self.key(memory), form.kv_heads),
            self._heads(self.value(memory), form.kv_heads),
            None,
        )
        return self.out(result.view(x.shape[0], x.shape[1], form.heads * form.head_dim)), weights


class CrossBlock(Block):
    """A layer of Gemma 2 that attends to the encoder's states before its feed-forward layer."""

    def __init__(self, net: Net, form: Form, feed: Feed, at: int, source: int) -> None:
        super().__init__(net, form, feed, at, lambda net, form, _: CachingAttention(net, form))
        self.cross = CrossAttention(net, form, source)
        self.cross_norms = [Norm(net, form.traits.norm, form.hidden) for _ in range(2)]

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None, *memory: Tensor
    ) -> Tensor:
        tape, residual = self.net.tape, x
        x, _weights = self._attend(self.norms[0](x), rope, mask)
        x = self.norms[1](x)
        x = residual = ops.add(tape, residual, self.net.drop(x, self.form.traits.dropout))
        x, _weights = self.cross.attended(self.cross_norms[0](x), memory[0])
        x = self.cross_norms[1](x)
        x = residual = ops.add(tape, residual, self.net.drop(x, self.form.traits.dropout))
        x = self.norms[3](self.mlp(self.norms[2](x)))
        return ops.add(tape, residual, self.net.drop(x, self.form.traits.dropout))


class CrossDecoder(Decoder):
    """A decoder whose layers take in the encoder's states besides."""

    def __init__(self, net: Net, form: Form, source: int) -> None:
        def block(net: Net, form: Form, feed: Feed, at: int, attends: Any) -> CrossBlock:
            return CrossBlock(net, form, feed, at, source)

        super().__init__(net, form, block=block)
        self.memory: Tensor | None = None

    def beside(self, x: Tensor) -> tuple[Tensor, ...]:
        """The encoder's states."""
        assert self.memory is not None
        return (self.memory,)

    def scored(self, logits: Tensor) -> Tensor:
        """The loss over all target tokens."""
        self.memory = None
        return super().scored(logits)


class T5Gemma:
    """Encoder, decoder, head; the loss of the target tokens."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, encoder = net, side_form(config, "encoder")
        self.encoder = Decoder(net, encoder)
        self.decoder = CrossDecoder(net, side_form(config, "decoder"), encoder.hidden)

    def loss(self) -> Tensor:
        """The loss over all target tokens; without training, the scores."""
        net = self.net
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        _seen = new(net.tape, (net.setting.batch, net.setting.length), F32)
        self.decoder.memory = self.encoder.hidden()
        return self.decoder.loss()
