"""DeBERTa on the tape, the first and v2 and v3: attention to content and to relative position,
every score written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.products import added_in_place, dense, matmul
from rigplanner.networks.tracer.strided import Array, array, empty, recorded
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Tape, Tensor, like, new, record


def gathered(tape: Tape, x: Tensor, columns: int) -> Tensor:
    """torch.gather on the last axis: keeps its source and the index; the gradient is scattered into
    zeros of the same shape."""
    kept = [x, new(tape, (columns, columns), I64)]
    return record(
        tape,
        new(tape, (*x.shape[:-1], columns), x.dtype),
        (x,),
        lambda grad: (like(tape, kept[0]),),
    )


def for_samples(tape: Tape, x: Tensor, samples: int) -> Tensor:
    """x.repeat(samples, 1, 1)"""
    return ops.resized(tape, x, (x.shape[0] * samples, *x.shape[1:]))


def masked(tape: Tape, x: Tensor, mask: Tensor) -> Tensor:
    """x.masked_fill(mask, value): keeps the mask."""
    kept = [mask]

    def pull(grad: Tensor) -> tuple[Tensor]:
        made = like(tape, grad)
        kept.clear()
        return (made,)

    return record(tape, like(tape, x), (x,), pull)


class Disentangled:
    """Self-attention whose scores are content to content, content to position and position to
    content."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["hidden_size"]
        self.heads, self.kinds = config["num_attention_heads"], position_kinds(config)
        self.query, self.key, self.value = (
            net.linear(name, hidden, hidden, True)
            for name in ("query_proj", "key_proj", "value_proj")
        )
        own = config.get("relative_attention") and not config.get("share_att_key")
        self.position_key = (
            net.linear("pos_key_proj", hidden, hidden, True)
            if own and "c2p" in self.kinds
            else self.key
        )
        self.position_query = (
            net.linear("pos_query_proj", hidden, hidden, True)
            if own and "p2c" in self.kinds
            else self.query
        )
        self.share, self.beside = (
            config["attention_probs_dropout_prob"],
            config["hidden_dropout_prob"],
        )

    def _heads(self, x: Tensor) -> Tensor:
        """(batch x heads, tokens, width of a head), written out."""
        batch, tokens, hidden = x.shape
        return ops.copy(self.net.tape, x).view(batch * self.heads, tokens, hidden // self.heads)

    def __call__(self, x: Tensor, mask: Tensor, places: Tensor | None) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        query, key, value = (
            self._heads(self.query(x)),
            self._heads(self.key(x)),
            self._heads(self.value(x)),
        )
        square = (setting.batch * self.heads, setting.length, setting.length)
        scores = ops.bmm(tape, query, ops.sub_self(tape, key), square)
        beside = None if places is None else self._by_place(query, key, places, square)
        if beside is not None:
            scores = ops.add(tape, scores, beside)
            del beside
        scores = masked(tape, scores, new(tape, mask.shape, BOOL))
        weights = ops.keeping_result(
            tape, scores, F32 if tape.autocast and tape.semantics.float_norms else None
        )
        weights = ops.dropout(tape, weights, self.share, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, value, query.shape))
        del scores
        return result.view(*x.shape)

    def _by_place(
        self, query: Tensor, key: Tensor, places: Tensor, square: tuple[int, int, int]
    ) -> Tensor | None:
        tape, setting = self.net.tape, self.net.setting
        places = ops.dropout(tape, places, self.beside, setting.training).view(1, *places.shape)
        span = (*square[:2], places.shape[1])
        total: Tensor | None = None
        made = [
            (kind, for_samples(tape, self._heads(project(places)), setting.batch))
            for kind, project in (("p2c", self.position_query), ("c2p", self.position_key))
            if kind in self.kinds
        ]
        for kind, wide in reversed(made):
            scores = gathered(
                tape, ops.bmm(tape, query if kind == "c2p" else key, wide, span), square[-1]
            )
            scores = ops.sub_self(tape, scores)
            total = (
                ops.shift(tape, scores) if total is None else ops.add_in_place(tape, total, scores)
            )
            del scores
        return total


class FirstDisentangled:
    """The same with one projection for query, key and value, and biases of their own for query and
    value (the first DeBERTa)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, self.heads, self.kinds = (
            net,
            config["hidden_size"],
            config["num_attention_heads"],
            position_kinds(config),
        )
        self.joint = net.linear("in_proj", hidden, 3 * hidden)
        self.sides = [net.parameter(hidden) for _ in range(2)]
        placed = config.get("relative_attention")
        self.place_key = (
            net.linear("pos_proj", hidden, hidden) if placed and "c2p" in self.kinds else None
        )
        self.place_query = (
            net.linear("pos_q_proj", hidden, hidden, True)
            if placed and "p2c" in self.kinds
            else None
        )
        self.share, self.beside = (
            config["attention_probs_dropout_prob"],
            config["hidden_dropout_prob"],
        )
        most = config.get("max_relative_positions") or -1
        self.span = most if most > 0 else config["max_position_embeddings"]

    def _heads(self, x: Array) -> Array:
        return x.reshape(*x.shape[:2], self.heads, -1).permute(0, 2, 1, 3)

    def __call__(self, x: Tensor, mask: Tensor, places: Tensor | None) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        joint = self._heads(dense(self.joint, array(tape, x)))
        query, key, value = joint.split(*(joint.shape[-1] // 3,) * 3)
        query, value = (
            side + self._heads(array(tape, bias).reshape(1, 1, -1))
            for side, bias in zip((query, value), self.sides, strict=True)
        )
        query = -query
        scores = matmul(query, key.transpose(-1, -2))
        beside = None if places is None else self._by_place(query, key, places)
        scores = scores if beside is None else scores + beside
        scores = scores.masked(new(tape, mask.shape, BOOL))
        softened = scores.float() if tape.autocast and tape.semantics.float_norms else scores
        weights = array(tape, ops.dropout(tape, softened.softmax(), self.share, setting.training))
        context = matmul(weights, value).permute(0, 2, 1, 3).contiguous()
        del scores, beside
        return context.reshape(*x.shape)

    def _by_place(self, query: Array, key: Array, places: Tensor) -> Array | None:
        tape, length = self.net.tape, query.shape[2]
        places = ops.dropout(tape, places, self.beside, self.net.setting.training)
        near = array(tape, places).cut(0, 2 * min(length, self.span)).unsqueeze(0)
        total: Array | None = None
        if self.place_key is not None:
            place = self._heads(dense(self.place_key, near))
            by_key = picked(matmul(query, place.transpose(-1, -2)), length)
            total = by_key + 0.0
        if self.place_query is not None:
            place = self._heads(dense(self.place_query, near))
            place = array(tape, ops.scaled_in_place(tape, place))
            by_query = picked(matmul(key, place.transpose(-1, -2)), length).transpose(-1, -2)
            total = by_query + 0.0 if total is None else added_in_place(total, by_query)
        return total


def picked(x: Array, columns: int) -> Array:
    """torch.gather on the last axis by an index that all samples and heads share."""
    index = new(x.tape, (columns, columns), I64)
    return recorded(
        empty(x.tape, (*x.shape[:-1], columns), x.dtype),
        (x,),
        lambda grad: (x.like(),),
        keeps=(index, x),
    )


class HandNorm:
    """A layer norm written in float (the first DeBERTa)."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.weight, self.bias = net, net.parameter(width), net.parameter(width)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        wide = array(tape, ops.cast(tape, x, F32))
        mean = wide.mean(-1)
        variance = (wide - mean).squared().mean(-1)
        normed = (wide - mean) / (variance + 0.0).of_result(beside=1)
        return array(tape, self.weight) * normed.to(x.dtype) + array(tape, self.bias)


def position_kinds(config: dict[str, Any]) -> tuple[str, ...]:
    """The kinds of relative score: c2p, p2c, both or none."""
    kinds = config.get("pos_att_type") or ()
    return tuple(kinds.lower().split("|")) if isinstance(kinds, str) else tuple(kinds)


def norm_of(net: Net, config: dict[str, Any]) -> Callable[[Tensor], Tensor]:
    """The normalisation of layers."""
    first = config["model_type"] == "deberta"
    return (
        HandNorm(net, config["hidden_size"]) if first else Norm(net, "layer", config["hidden_size"])
    )


class DebertaBlock:
    """Self-attention and feed-forward layer, each followed by dropout, residual and norm."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, ffn = net, config["hidden_size"], config["intermediate_size"]
        attention = FirstDisentangled if config["model_type"] == "deberta" else Disentangled
        self.attention, self.share = attention(net, config), config["hidden_dropout_prob"]
        self.out, self.first_norm = net.linear("dense", hidden, hidden, True), norm_of(net, config)
        self.up, self.down = (
            net.linear("dense", hidden, ffn, True),
            net.linear("dense", ffn, hidden, True),
        )
        self.last_norm = norm_of(net, config)

    def __call__(self, x: Tensor, mask: Tensor, places: Tensor | None) -> Tensor:
        tape = self.net.tape
        attended = self.net.drop(self.out(self.attention(x, mask, places)), self.share)
        attended = self.first_norm(ops.add(tape, attended, x))
        fed = self.net.drop(self.down(activate(tape, self.up(attended), "gelu")), self.share)
        return self.last_norm(ops.add(tape, fed, attended))


class Deberta:
    """Embeddings, blocks, and the head that names masked tokens."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["hidden_size"]
        inner = config.get("embedding_size") or hidden
        self.table = net.parameter(config["vocab_size"], inner)
        biased = config.get("position_biased_input", True)
        self.positions = net.parameter(config["max_position_embeddings"], inner) if biased else None
        self.types = (
            net.parameter(config["type_vocab_size"], inner)
            if config.get("type_vocab_size")
            else None
        )
        self.widen = net.linear("embed_proj", inner, hidden) if inner != hidden else None
        self.norm, self.places, self.place_norm = norm_of(net, config), None, None
        if config.get("relative_attention"):
            buckets = config.get("position_buckets") or -1
            most = config.get("max_relative_positions") or -1
            span = (
                buckets if buckets > 0 else most if most > 0 else config["max_position_embeddings"]
            )
            self.places = net.parameter(2 * span, hidden)
        if "layer_norm" in (config.get("norm_rel_ebd") or "none"):
            self.place_norm = Norm(net, "layer", hidden)
        self.blocks = [DebertaBlock(net, config) for _ in range(config["num_hidden_layers"])]
        self.transform, self.head_norm = (
            net.linear("dense", hidden, inner, True),
            Norm(net, "layer", inner),
        )
        tied, vocab = config.get("tie_word_embeddings", True), config["vocab_size"]
        self.head = Linear(
            net, self.table if tied else net.parameter(vocab, inner), net.parameter(vocab)
        )
        if not tied:
            net.parameter(vocab, frozen=True)

    def _embedded(self) -> Tensor:
        net, tape, shape = (
            self.net,
            self.net.tape,
            (self.net.setting.batch, self.net.setting.length),
        )
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
        _distances = (
            new(tape, (1, setting.length, setting.length), I64) if self.places is not None else None
        )
        places = (
            self.places
            if self.places is None or self.place_norm is None
            else self.place_norm(self.places)
        )
        for block in self.blocks:
            if places is None:
                x = checkpointed(net, lambda y, block=block: block(y, mask, None), x)
            else:
                x = checkpointed(
                    net, lambda y, place, block=block: block(y, mask, place), x, places
                )
            states.append(x)
        return x

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if self.net.setting.headless:
            return states
        scores = self.head(self.head_norm(activate(tape, self.transform(states), "gelu")))
        return class_loss(net, scores) if net.setting.training else scores
