"""DeBERTa v2 and v3 on the tape: attention to content and to relative position, every score written out."""

from __future__ import annotations

from typing import Any

from rigplanner.workload import ops
from rigplanner.workload.attention import activate
from rigplanner.workload.encoder import class_loss
from rigplanner.workload.net import Linear, Net, Norm, checkpointed
from rigplanner.workload.tape import BOOL, F32, I64, Tape, Tensor, like, new, record


def gathered(tape: Tape, x: Tensor, columns: int) -> Tensor:
    """torch.gather on the last axis: keeps its source and the index; the gradient is scattered into zeros of the same shape."""
    kept = [x, new(tape, (columns, columns), I64)]
    return record(tape, new(tape, (*x.shape[:-1], columns), x.dtype), (x,), lambda grad: (like(tape, kept[0]),))


def repeated(tape: Tape, x: Tensor, times: int) -> Tensor:
    """x.repeat(times, 1, 1)"""
    source = x.shape
    wide = new(tape, (source[0] * times, *source[1:]), x.dtype)
    return record(tape, wide, (x,), lambda grad: (new(tape, source, grad.dtype),))


def masked(tape: Tape, x: Tensor, mask: Tensor) -> Tensor:
    """x.masked_fill(mask, value): keeps the mask."""
    kept = [mask]

    def pull(grad: Tensor) -> tuple[Tensor]:
        made = like(tape, grad)
        kept.clear()
        return (made,)

    return record(tape, like(tape, x), (x,), pull)


class Disentangled:
    """Self-attention whose scores are content to content, content to position and position to content."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["hidden_size"]
        self.heads, self.kinds = config["num_attention_heads"], position_kinds(config)
        self.query, self.key, self.value = (
            net.linear(name, hidden, hidden, True) for name in ("query_proj", "key_proj", "value_proj")
        )
        own = config.get("relative_attention") and not config.get("share_att_key")
        self.position_key = net.linear("pos_key_proj", hidden, hidden, True) if own and "c2p" in self.kinds else self.key
        self.position_query = net.linear("pos_query_proj", hidden, hidden, True) if own and "p2c" in self.kinds else self.query
        self.share, self.beside = config["attention_probs_dropout_prob"], config["hidden_dropout_prob"]

    def _heads(self, x: Tensor) -> Tensor:
        """(batch x heads, tokens, width of a head), written out."""
        batch, tokens, hidden = x.shape
        return ops.copy(self.net.tape, x).view(batch * self.heads, tokens, hidden // self.heads)

    def __call__(self, x: Tensor, mask: Tensor, places: Tensor | None) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        query, key, value = self._heads(self.query(x)), self._heads(self.key(x)), self._heads(self.value(x))
        square = (setting.batch * self.heads, setting.length, setting.length)
        scores = ops.bmm(tape, query, ops.sub_self(tape, key), square)
        beside = None if places is None else self._by_place(query, key, places, square)
        if beside is not None:
            scores = ops.add(tape, scores, beside)
            del beside
        scores = masked(tape, scores, new(tape, mask.shape, BOOL))
        weights = ops.keeping_result(tape, scores, F32 if tape.autocast and tape.semantics.float_norms else None)
        weights = ops.dropout(tape, weights, self.share, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, value, query.shape))
        del scores
        return result.view(*x.shape)

    def _by_place(self, query: Tensor, key: Tensor, places: Tensor, square: tuple[int, int, int]) -> Tensor | None:
        tape, setting = self.net.tape, self.net.setting
        places = ops.dropout(tape, places, self.beside, setting.training).view(1, *places.shape)
        span = (*square[:2], places.shape[1])
        total: Tensor | None = None
        made = [(kind, repeated(tape, self._heads(project(places)), setting.batch)) for kind, project in
                (("p2c", self.position_query), ("c2p", self.position_key)) if kind in self.kinds]  # fmt: skip
        for kind, wide in reversed(made):
            scores = gathered(tape, ops.bmm(tape, query if kind == "c2p" else key, wide, span), square[-1])
            scores = ops.sub_self(tape, scores)
            total = ops.shift(tape, scores) if total is None else ops.add_in_place(tape, total, scores)
            del scores
        return total


def position_kinds(config: dict[str, Any]) -> tuple[str, ...]:
    """The kinds of relative score: c2p, p2c, both or none."""
    kinds = config.get("pos_att_type") or ()
    return tuple(kinds.lower().split("|")) if isinstance(kinds, str) else tuple(kinds)


class DebertaBlock:
    """Self-attention and feed-forward layer, each followed by dropout, residual and norm."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, ffn = net, config["hidden_size"], config["intermediate_size"]
        self.attention, self.share = Disentangled(net, config), config["hidden_dropout_prob"]
        self.out, self.first_norm = net.linear("dense", hidden, hidden, True), Norm(net, "layer", hidden)
        self.up, self.down = net.linear("dense", hidden, ffn, True), net.linear("dense", ffn, hidden, True)
        self.last_norm = Norm(net, "layer", hidden)

    def __call__(self, x: Tensor, mask: Tensor, places: Tensor | None) -> Tensor:
        tape = self.net.tape
        attended = self._drop(self.out(self.attention(x, mask, places)))
        attended = self.first_norm(ops.add(tape, attended, x))
        fed = self._drop(self.down(activate(tape, self.up(attended), "gelu")))
        return self.last_norm(ops.add(tape, fed, attended))

    def _drop(self, x: Tensor) -> Tensor:
        return ops.dropout(self.net.tape, x, self.share, self.net.setting.training)


class Deberta:
    """Embeddings, blocks, and the head that names masked tokens."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["hidden_size"]
        inner = config.get("embedding_size") or hidden
        self.table = net.parameter(config["vocab_size"], inner)
        biased = config.get("position_biased_input", True)
        self.positions = net.parameter(config["max_position_embeddings"], inner) if biased else None
        self.types = net.parameter(config["type_vocab_size"], inner) if config.get("type_vocab_size") else None
        self.widen = net.linear("embed_proj", inner, hidden) if inner != hidden else None
        self.norm, self.places, self.place_norm = Norm(net, "layer", hidden), None, None
        if config.get("relative_attention"):
            buckets = config.get("position_buckets") or -1
            most = config.get("max_relative_positions") or -1
            span = buckets if buckets > 0 else most if most > 0 else config["max_position_embeddings"]
            self.places = net.parameter(2 * span, hidden)
        if "layer_norm" in (config.get("norm_rel_ebd") or "none"):
            self.place_norm = Norm(net, "layer", hidden)
        self.blocks = [DebertaBlock(net, config) for _ in range(config["num_hidden_layers"])]
        self.transform, self.head_norm = net.linear("dense", hidden, inner, True), Norm(net, "layer", inner)
        tied, vocab = config.get("tie_word_embeddings", True), config["vocab_size"]
        self.head = Linear(net, self.table if tied else net.parameter(vocab, inner), net.parameter(vocab))
        if not tied:
            net.parameter(vocab, frozen=True)

    def _embedded(self) -> Tensor:
        net, tape, shape = self.net, self.net.tape, (self.net.setting.batch, self.net.setting.length)
        x = ops.embedding(tape, self.table, shape)
        if self.positions is not None:
            x = ops.add(tape, x, ops.embedding(tape, self.positions, (1, shape[1])))
        else:
            _zeros = like(tape, x)
        if self.types is not None:
            x = ops.add(tape, x, ops.embedding(tape, self.types, shape))
        x = self.norm(x if self.widen is None else self.widen(x))
        x = ops.mul(tape, x, new(tape, (*shape, 1), x.dtype))
        return ops.dropout(tape, x, self.config["hidden_dropout_prob"], net.setting.training)

    def hidden(self) -> Tensor:
        """The states after the last block."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        x = self._embedded()
        states = [x]
        mask = new(tape, (setting.batch, 1, setting.length, setting.length), F32)
        _distances = new(tape, (1, setting.length, setting.length), I64) if self.places is not None else None
        places = self.places if self.places is None or self.place_norm is None else self.place_norm(self.places)
        for block in self.blocks:
            if places is None:
                x = checkpointed(net, lambda y, block=block: block(y, mask, None), x)
            else:
                x = checkpointed(net, lambda y, place, block=block: block(y, mask, place), x, places)
            states.append(x)
        return x

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        scores = self.head(self.head_norm(activate(tape, self.transform(states), "gelu")))
        return class_loss(net, scores) if net.setting.training else scores
