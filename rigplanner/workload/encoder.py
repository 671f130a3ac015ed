"""BERT and its kin on the tape: encoders that normalise after the residual, with a masked-language head."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.workload import ops
from rigplanner.workload.attention import activate, attend
from rigplanner.workload.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.workload.tape import F32, I64, Tensor


class EncoderForm(Struct, frozen=True, kw_only=True):
    """Sizes of an encoder. `token_types` 0 means no such table; `embedding` differs from `hidden` where they are joined by a linear
    layer; `names` are those of query, key, value, out, and the two of the feed-forward layer."""

    layers: int
    hidden: int
    heads: int
    ffn: int
    vocab: int
    embedding: int
    positions: int
    token_types: int
    dropout: float
    attention_dropout: float
    act: str = "gelu"
    shared_layers: bool = False
    names: tuple[str, str, str, str, str, str] = ("query", "key", "value", "dense", "dense", "dense")


class EncoderBlock:
    """Self-attention and feed-forward layer, each followed by dropout, residual and norm."""

    def __init__(self, net: Net, form: EncoderForm) -> None:
        self.net, self.form, hidden = net, form, form.hidden
        self.query, self.key, self.value, self.out = (net.linear(name, hidden, hidden, True) for name in form.names[:4])
        self.first_norm = Norm(net, "layer", hidden)
        self.up = net.linear(form.names[4], hidden, form.ffn, True)
        self.down = net.linear(form.names[5], form.ffn, hidden, True)
        self.last_norm = Norm(net, "layer", hidden)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        attended, _weights = self._attend(x)
        attended = self._drop(self.out(attended))
        attended = self.first_norm(ops.add(tape, attended, x))
        fed = activate(tape, self.up(attended), self.form.act)
        fed = self._drop(self.down(fed))
        return self.last_norm(ops.add(tape, fed, attended))

    def _drop(self, x: Tensor) -> Tensor:
        return ops.dropout(self.net.tape, x, self.form.dropout, self.net.setting.training)

    def _heads(self, x: Tensor) -> Tensor:
        setting, form = self.net.setting, self.form
        return x.view(setting.batch, form.heads, setting.length, form.hidden // form.heads)

    def _attend(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        tape, setting, form = self.net.tape, self.net.setting, self.form
        query, key, value = self._heads(self.query(x)), self._heads(self.key(x)), self._heads(self.value(x))
        if not setting.eager:
            return attend(self.net, query, key, value, None, form.attention_dropout).view(*x.shape), None
        square = (setting.batch, form.heads, setting.length, setting.length)
        weights = ops.sub_self(tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square))
        weights = ops.keeping_result(tape, weights)
        weights = ops.dropout(tape, weights, form.attention_dropout, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))
        return result.view(*x.shape), weights


class Encoder:
    """Embeddings, blocks, and the head that names masked tokens."""

    def __init__(self, net: Net, form: EncoderForm) -> None:
        self.net, self.form = net, form
        self.table = net.parameter(form.vocab, form.embedding)
        self.positions = net.parameter(form.positions, form.embedding) if form.positions else None
        self.types = net.parameter(form.token_types, form.embedding) if form.token_types else None
        self.norm = Norm(net, "layer", form.embedding)
        self.widen = net.linear("embeddings_project", form.embedding, form.hidden, True) if form.embedding != form.hidden else None
        shared = EncoderBlock(net, form) if form.shared_layers else None
        self.blocks = [shared or EncoderBlock(net, form) for _ in range(form.layers)]
        self.transform = net.linear("dense", form.hidden, form.embedding, True)
        self.head_norm = Norm(net, "layer", form.embedding)
        self.head = Linear(net, self.table, net.parameter(form.vocab))

    def hidden(self) -> Tensor:
        """The states after the last block."""
        net, tape = self.net, self.net.tape
        shape = (net.setting.batch, net.setting.length)
        x = entering(net, ops.embedding(tape, self.table, shape))
        if self.types is not None:
            x = ops.add(tape, x, ops.embedding(tape, self.types, shape))
        if self.positions is not None:
            x = ops.add(tape, x, ops.embedding(tape, self.positions, (1, shape[1])))
        x = ops.dropout(tape, self.norm(x), self.form.dropout, net.setting.training)
        if self.widen is not None:
            x = self.widen(x)
        embedded = x
        for block in self.blocks:
            x = checkpointed(net, block, x)
        del embedded
        return x

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        scores = self.head(self.head_norm(activate(tape, self.transform(states), self.form.act)))
        return class_loss(net, scores) if net.setting.training else scores


def class_loss(net: Net, scores: Tensor) -> Tensor:
    """F.cross_entropy over rows; autocast raises it to float."""
    tape = net.tape
    wide = ops.cast(tape, scores, F32) if tape.autocast else scores
    return ops.cross_entropy(tape, wide.view(wide.size // wide.shape[-1], wide.shape[-1]))
