"""FSMT on the tape: BART with a table for each language, whose layers take tokens before samples
(Ng et al. 2019)."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.bart import BART_VARIANTS, Bart, BartAttention, BartBlock
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net
from rigplanner.networks.tracer.tape import F32, Tensor, new


class TokensFirst(BartAttention):
    """Attention whose operands lie as products take them, and whose result is copied; nothing is
    cached unless asked."""

    def __call__(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        tape, setting, source = self.net.tape, self.net.setting, x if memory is None else memory
        shape = (setting.batch, self.heads, setting.length, self.hidden // self.heads)
        query = ops.sub_self(tape, self.query(x)).view(*shape)
        key, value = self.key(source).view(*shape), self.value(source).view(*shape)
        weights = ops.bmm(tape, query, key, (*shape[:3], shape[2]))
        weights = weights if mask is None else ops.add(tape, weights, mask)
        raised = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, weights, raised))
        weights = ops.dropout(tape, weights, self.share, setting.training)
        return self.out(ops.copy(tape, ops.bmm(tape, weights, value, shape)).view(*x.shape))


class Fsmt(Bart):
    """Encoder, decoder and head of translation between two languages, which share a table where the
    configuration ties them."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.variant, hidden = (
            net,
            config,
            BART_VARIANTS["fsmt"],
            config["d_model"],
        )
        tied = config.get("tie_word_embeddings", True)
        self.table = net.parameter(config["tgt_vocab_size"], hidden)
        self.tables = [
            self.table if tied else net.parameter(config["src_vocab_size"], hidden),
            self.table,
        ]
        self.positions = [
            net.parameter(config["max_position_embeddings"] + self.variant.offset, hidden)
            for _ in range(2)
        ]
        self.encoder = [self._block("encoder", at) for at in range(config["encoder_layers"])]
        self.decoder = [self._block("decoder", at) for at in range(config["decoder_layers"])]
        self.first_norms, self.last_norms, self.bias = [], [], None
        self.head = Linear(
            net, self.table if tied else net.parameter(config["tgt_vocab_size"], hidden), None
        )

    def _block(self, side: str, at: int) -> BartBlock:
        return BartBlock(self.net, self.config, side, False, attends=TokensFirst)

    def _mask(self) -> Tensor:
        length = self.net.setting.length
        return new(self.net.tape, (1, 1, length, length), self.net.setting.dtype)
