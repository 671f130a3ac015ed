"""XLNet on the tape: attention to content and to relative position as einsum writes it, tokens
before samples."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.products import einsum
from rigplanner.networks.tracer.strided import Array, array, empty, recorded
from rigplanner.networks.tracer.tape import I64, Tensor, new


class XlnetBlock:
    """Relative attention and a feed-forward layer, each followed by a norm of the sum."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, self.share = net, config["d_model"], config["dropout"]
        heads, ffn = config["n_head"], config["d_inner"]
        width = hidden // heads
        self.query, self.key, self.value, self.out, self.place = (
            net.parameter(hidden, heads, width) for _ in range(5)
        )
        self.biases = [net.parameter(heads, width) for _ in range(2)]
        net.parameter(3, heads, width, frozen=True)
        self.first_norm = Norm(net, "layer", hidden)
        self.last_norm = Norm(net, "layer", hidden)
        self.up, self.down = (
            net.linear("layer_1", hidden, ffn, True),
            net.linear("layer_2", ffn, hidden, True),
        )
        self.act = ACTS.get(config.get("ff_activation") or "gelu", "gelu")

    def __call__(self, x: Tensor, places: Tensor) -> Tensor:
        tape = self.net.tape
        attended = self.net.drop(self._attend(array(tape, x), array(tape, places)), self.share)
        x = self.first_norm(ops.add(tape, attended, x))
        fed = self.net.drop(activate(tape, self.up(x), self.act), self.share)
        return self.last_norm(ops.add(tape, self.net.drop(self.down(fed), self.share), x))

    def _attend(self, x: Array, places: Array) -> Array:
        tape = self.net.tape
        query, key, value, place = (
            einsum("ibh,hnd->ibnd", side, array(tape, weight))
            for side, weight in (
                (x, self.query),
                (x, self.key),
                (x, self.value),
                (places, self.place),
            )
        )
        near = einsum("ibnd,jbnd->bnij", query + self.biases[0], key)
        far = _shifted(einsum("ibnd,jbnd->bnij", query + self.biases[1], place), x.shape[0])
        scores = -((near + far) + 0.0)
        weights = array(tape, self.net.drop(scores.softmax(), self.share))
        seen = einsum("bnij,jbnd->ibnd", weights, value)
        return einsum("ibnd,hnd->ibh", seen, array(tape, self.out))


def _shifted(x: Array, columns: int) -> Array:
    """Scores by relative position moved to those of each key: a slice of another shape, of which
    columns are chosen."""
    batch, heads, rows, wide = x.shape
    moved = (
        x.reshape(batch, heads, wide, rows).cut(2, wide - 1).reshape(batch, heads, rows, wide - 1)
    )
    tape, shape = x.tape, moved.shape
    chosen = empty(tape, (batch, heads, rows, columns), x.dtype)
    return recorded(chosen, (moved,), lambda grad: (empty(tape, shape, grad.dtype),))


class Xlnet:
    """Embedding, blocks and head."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["d_model"]
        self.table = net.parameter(config["vocab_size"], hidden)
        net.parameter(1, 1, hidden, frozen=True)
        self.blocks = [XlnetBlock(net, config) for _ in range(config["n_layer"])]
        own = (
            None
            if config.get("tie_word_embeddings", True)
            else net.parameter(config["vocab_size"], hidden)
        )
        self.head = Linear(net, own or self.table, net.parameter(config["vocab_size"]))

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape, setting, share = (
            self.net,
            self.net.tape,
            self.net.setting,
            self.config["dropout"],
        )
        batch, length, hidden = setting.batch, setting.length, self.config["d_model"]
        _ids = net.given(batch, length, dtype=I64), new(tape, (length, batch), I64)
        embedded = ops.embedding(tape, self.table, (length, batch))
        x: Tensor = ops.dropout(tape, embedded, share, setting.training)
        one = new(tape, (2 * length, 1, hidden), x.dtype)
        if setting.training:
            spread = Tensor((2 * length, batch, hidden), one.dtype, one.storage)
            places = ops.dropout(tape, spread, share, True)
        else:
            places = array(tape, one).expand(2 * length, batch, hidden)
        del one
        for block in self.blocks:
            x = checkpointed(net, lambda y, block=block: block(y, places), x)
        x = ops.dropout(tape, x, share, setting.training)
        states = array(tape, x).permute(1, 0, 2).contiguous()
        scores = self.head(states)
        del embedded
        return class_loss(net, scores) if setting.training else scores
