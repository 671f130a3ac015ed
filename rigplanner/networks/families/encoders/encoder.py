"""BERT and its variants on the tape: encoders that normalise after the residual, with a head for
masked words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, structs

from rigplanner.networks.families.decoders.attention import (
    Rope,
    activate,
    attend,
    rope_tables,
    rotate_wide,
)
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new


class EncoderForm(Struct, frozen=True, kw_only=True):
    """Sizes of an encoder. `token_types` 0 means no such table; `embedding` differs from `hidden`
    where they are joined by a linear layer; `names` are those of query, key, value, out, and the
    two of the feed-forward layer.

    `tied`: the head is the table of the tokens; `head_act`: its activation; `head_width`: that of a
    table of its own (0: that of the embedding). `early`: norms stand before the parts, and one at
    the end. `spare_bias`: an untied head has one bias more than it uses. `masked`: written
    attention always adds a mask; `eager_only`: there is no other; `holds_weights`: those of a layer
    live while the next one runs. `buckets`: relative positions in the scores (MPNet). `rotary`:
    queries and keys are turned (ESM-2). `first_dropout`, `last_dropout`: what attention and the
    feed-forward layer give is dropped. `inner`: the width of query, key and value (0: that of the
    states). `fixed_places`: rows of a table of angles that counts as a parameter and never trains.
    `square_mask`: a mask of all pairs lives with the states (ConvBERT). `holds_narrow`: what the
    embedding gives before it is brought to the width of the states lives as long (RemBERT).
    `projects`: a linear layer follows the embedding although it is as wide as the states (FNet).
    `pools`: a pooler that the head does not use, and two tables that number positions and types
    (BigBird, FNet). `more_types`: sizes of tables of types that are added besides (TAPAS).
    `plain_head`: nothing stands between the states and the names of the tokens (BERT for
    generation). `drawn`: tables of shape and sound, joined to the embedding and brought back to its
    width (RoCBERT). `entities`: how many there are and their width; the part that reads them is
    there and idle (LUKE), as are three more queries a layer where attention is `entity_aware`.
    `boxes`: places on a page of which there are tables for across, down, height and width
    (LayoutLM). `float_loss`: the scores are raised to float (causal language models). `poolers`:
    those that work and whose result the head does not use. `spare_entities`: the head of entities
    has a table of its own. `counts_places`: every sample's tokens are numbered by themselves, so
    that padding is passed over (RoBERTa). `float_softmax`: written attention weighs in float
    (LayoutLM). `several`: tokens are filled up to a multiple of it. `shadowed`: a tensor of whole
    numbers lies beside every weight of the layers and tables (I-BERT)."""

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
    tied: bool = True
    head_act: str = "gelu"
    head_width: int = 0
    spare_bias: bool = True
    early: bool = False
    embedding_norm: bool = True
    first_dropout: bool = True
    last_dropout: bool = True
    masked: bool = False
    eager_only: bool = False
    holds_weights: bool = False
    buckets: int = 0
    rotary: bool = False
    token_dropout: bool = False
    contacts: bool = False
    inner: int = 0
    fixed_places: int = 0
    square_mask: bool = False
    holds_narrow: bool = False
    projects: bool = False
    pools: bool = False
    more_types: tuple[int, ...] = ()
    plain_head: bool = False
    drawn: tuple[tuple[int, int], ...] = ()
    entities: tuple[int, int] | None = None
    entity_aware: bool = False
    boxes: int = 0
    float_loss: bool = False
    poolers: int = 0
    spare_entities: bool = False
    counts_places: bool = False
    float_softmax: bool = False
    several: int = 1
    shadowed: bool = False
    names: tuple[str, str, str, str, str, str] = (
        "query",
        "key",
        "value",
        "dense",
        "dense",
        "dense",
    )


class EncoderBlock:
    """Self-attention and feed-forward layer, each followed by dropout, residual and norm."""

    def __init__(self, net: Net, form: EncoderForm) -> None:
        self.net, self.form, hidden = net, form, form.hidden
        inner = form.inner or hidden
        self.query, self.key, self.value = (
            net.linear(name, hidden, inner, True) for name in form.names[:3]
        )
        self.out = net.linear(form.names[3], hidden, hidden, True)
        self.first_norm = Norm(net, "layer", hidden)
        self.up = net.linear(form.names[4], hidden, form.ffn, True)
        self.down = net.linear(form.names[5], form.ffn, hidden, True)
        self.last_norm = Norm(net, "layer", hidden)

    def __call__(
        self, x: Tensor, bias: Tensor | None = None, rope: Rope | None = None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        attended, weights = self._attend(self.first_norm(x) if form.early else x, bias, rope)
        weights = weights if form.holds_weights else None
        attended = self.out(attended)
        if form.first_dropout:
            attended = self.net.drop(attended, self.form.dropout)
        attended = self._joined(attended, x, self.first_norm)
        fed = self.last_norm(attended) if form.early else attended
        inner = activate(tape, self.up(fed), form.act)
        fed = self.down(inner)
        if form.last_dropout:
            fed = self.net.drop(fed, self.form.dropout)
        return self._joined(fed, attended, self.last_norm), weights

    def _joined(self, x: Tensor, residual: Tensor, norm: Norm) -> Tensor:
        whole = ops.add(self.net.tape, x, residual)
        return whole if self.form.early else norm(whole)

    def _heads(self, x: Tensor) -> Tensor:
        setting, form = self.net.setting, self.form
        return x.view(setting.batch, form.heads, setting.length, form.hidden // form.heads)

    def _attend(
        self, x: Tensor, bias: Tensor | None, rope: Rope | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, setting, form = self.net.tape, self.net.setting, self.form
        query, key, value = (
            self._heads(self.query(x)),
            self._heads(self.key(x)),
            self._heads(self.value(x)),
        )
        query = ops.sub_self(tape, query) if form.contacts else query
        if rope is not None:
            query, key = self._turned(query, key, rope)
        if not (setting.eager or form.eager_only):
            return attend(self.net, query, key, value, None, form.attention_dropout).view(
                *x.shape
            ), None
        weights = ops.sub_self(tape, self._scores(query, key))
        if bias is not None:
            weights = ops.add_in_place(tape, weights, bias)
        if form.masked:
            weights = ops.add(
                tape, weights, new(tape, (setting.batch, 1, 1, setting.length), setting.dtype)
            )
        _scores = weights if form.masked else None
        low = weights.dtype
        raised = (
            F32 if form.float_softmax or (tape.autocast and tape.semantics.float_norms) else low
        )
        weights = ops.keeping_result(tape, ops.cast(tape, weights, raised))
        weights = ops.cast(tape, weights, low) if form.float_softmax else weights
        weights = ops.dropout(tape, weights, form.attention_dropout, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))
        return result.view(*x.shape), weights

    def _turned(self, query: Tensor, key: Tensor, rope: Rope) -> tuple[Tensor, Tensor]:
        return rotate_wide(self.net.tape, query, key, rope)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        square = (setting.batch, self.form.heads, setting.length, setting.length)
        return ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)


class Encoder:
    """Embeddings, blocks, and the head that names masked tokens."""

    def __init__(
        self,
        net: Net,
        form: EncoderForm,
        block: Callable[[Net, EncoderForm], EncoderBlock] = EncoderBlock,
    ) -> None:
        self.net, self.form = net, form
        self._make_tables()
        wider = form.projects or form.embedding != form.hidden
        self.widen = (
            net.linear("embeddings_project", form.embedding, form.hidden, True) if wider else None
        )
        shared = block(net, form) if form.shared_layers else None
        self.blocks = [shared or block(net, form) for _ in range(form.layers)]
        self.last_norm = Norm(net, "layer", form.hidden) if form.early else None
        self.relative = net.parameter(form.buckets, form.heads) if form.buckets else None
        self._hold_unused()
        with net.unreached():
            self.poolers = [
                net.linear("dense", form.hidden, form.hidden, True) for _ in range(form.poolers)
            ]
        if form.entities:
            self._entities(form.entities)
        self._make_head()

    def _make_tables(self) -> None:
        """Tables that tokens are looked up in: words, places, types, boxes, drawn letters."""
        net, form = self.net, self.form
        self.table = net.parameter(form.vocab, form.embedding)
        self.positions = net.parameter(form.positions, form.embedding) if form.positions else None
        if form.fixed_places:
            net.parameter(form.fixed_places, form.hidden // form.heads, frozen=True)
        self.types = net.parameter(form.token_types, form.embedding) if form.token_types else None
        self.more_types = [net.parameter(size, form.embedding) for size in form.more_types]
        self.boxes = (
            [net.parameter(form.boxes, form.embedding) for _ in range(4)] if form.boxes else []
        )
        self.drawn = [net.parameter(*sides) for sides in form.drawn]
        joint = form.embedding + sum(width for _, width in form.drawn)
        self.map = (
            net.linear("map_inputs_layer", joint, form.embedding, True) if form.drawn else None
        )
        self.norm = Norm(net, "layer", form.embedding) if form.embedding_norm else None

    def _hold_unused(self) -> None:
        """What the class holds and no pass of this head uses; it takes memory all the same."""
        net, form = self.net, self.form
        if form.contacts:
            net.parameter(1, form.layers * form.heads, frozen=True)
            net.parameter(1, frozen=True)
        if form.pools:
            net.parameter(form.hidden, form.hidden, frozen=True)
            net.parameter(form.hidden, frozen=True)
            for _ in range(2):
                net.buffer(form.positions, dtype=I64)
        for weight in list(net.held) if form.shadowed else []:
            net.buffer(*weight.shape, dtype=weight.dtype)

    def _make_head(self) -> None:
        """The head that tells masked words; its matrix is the table itself where they are tied."""
        net, form = self.net, self.form
        width = form.head_width or form.embedding
        self.transform = None if form.plain_head else net.linear("dense", form.hidden, width, True)
        self.head_norm = None if form.plain_head else Norm(net, "layer", width)
        self.side = net.parameter(form.vocab)
        if not form.tied and form.spare_bias:
            net.parameter(form.vocab, frozen=True)
        self.head = Linear(
            net,
            self.table if form.tied else net.parameter(form.vocab, width),
            None if form.contacts else self.side,
        )

    def _entities(self, sides: tuple[int, int]) -> None:
        """The tables, norms and head of entities, which a text without them leaves idle."""
        net, form, (many, width) = self.net, self.form, sides
        with net.unreached():
            for rows, inner in (
                (many, width),
                (form.positions, form.hidden),
                (form.token_types, form.hidden),
            ):
                net.parameter(rows, inner)
            if width != form.hidden:
                net.linear("entity_embedding_dense", width, form.hidden)
            Norm(net, "layer", form.hidden)
            net.linear("dense", form.hidden, width, True)
            Norm(net, "layer", width)
            net.parameter(many)
            if form.spare_entities:
                net.parameter(many, width)
            for _ in range(1 + 3 * form.layers * form.entity_aware):
                net.linear("idle", form.hidden, form.hidden, True)

    def _embedded(self) -> Tensor:
        x = self._narrow()
        return x if self.widen is None else self.widen(x)

    def _narrow(self) -> Tensor:
        net, tape, form = self.net, self.net.tape, self.form
        shape = (net.setting.batch, net.setting.length)
        x = entering(net, ops.embedding(tape, self.table, shape))
        if self.map is not None:
            return self._drawn(x)
        if self.boxes:
            return self._boxed(x)
        if form.token_dropout:
            x = ops.sub_self(tape, x)
            x = ops.cast(
                tape, ops.sub_self(tape, ops.cast(tape, ops.sub_self(tape, x), F32)), x.dtype
            )
        held = [x]
        if self.types is not None:
            held.append(ops.embedding(tape, self.types, shape))
            x = ops.add(tape, x, held[-1])
        if self.positions is not None:
            held.append(
                ops.embedding(tape, self.positions, shape if form.counts_places else (1, shape[1]))
            )
            x = ops.add(tape, x, held[-1])
        for table in self.more_types:
            x = ops.add_in_place(tape, x, ops.embedding(tape, table, shape))
        if self.norm is not None:
            x = self.norm(x)
        if not form.contacts:
            x = ops.dropout(tape, x, form.dropout, net.setting.training)
        held.clear()
        return x

    def _boxed(self, tokens: Tensor) -> Tensor:
        """Tokens, places in the text and on the page, and types, all looked up before they are
        added."""
        tape, shape = self.net.tape, tokens.shape[:2]
        assert self.types is not None and self.positions is not None and self.norm is not None
        looked = [
            (self.positions, (1, shape[1])),
            *((self.boxes[at], shape) for at in (0, 1, 0, 1, 2, 3)),
            (self.types, shape),
        ]
        held, x = [ops.embedding(tape, table, sides) for table, sides in looked], tokens
        for place in held:
            x = ops.add(tape, x, place)
        x = self.norm(x)
        held.clear()
        return ops.dropout(tape, x, self.form.dropout, self.net.setting.training)

    def _drawn(self, tokens: Tensor) -> Tensor:
        """Tokens joined with their shape and sound, brought back to their width; types and places
        are added where it lies."""
        tape, shape = self.net.tape, tokens.shape[:2]
        assert (
            self.map is not None
            and self.types is not None
            and self.positions is not None
            and self.norm is not None
        )
        x, held = ops.copy(tape, tokens), []
        for table in self.drawn:
            held.append(ops.embedding(tape, table, shape))
            x = ops.cat(tape, (x, held[-1]))
        x = self.map(x)
        held += [
            ops.embedding(tape, self.types, shape),
            ops.embedding(tape, self.positions, (1, shape[1])),
        ]
        x = ops.add_in_place(tape, ops.add_in_place(tape, x, held[-2]), held[-1])
        x = self.norm(x)
        held.clear()
        return ops.dropout(tape, x, self.form.dropout, self.net.setting.training)

    def _bias(self) -> Tensor | None:
        """The scores' bias by relative position, spread over the batch."""
        tape, setting, form = self.net.tape, self.net.setting, self.form
        if self.relative is None:
            return None
        values = ops.embedding(tape, self.relative, (setting.length, setting.length)).view(
            1, form.heads, setting.length, setting.length
        )
        return ops.resized(
            tape, values, (setting.batch, form.heads, setting.length, setting.length)
        )

    def hidden(self) -> Tensor:
        """The states after the last block."""
        net, given, several = self.net, self.net.setting, self.form.several
        net.setting = structs.replace(given, length=-(-given.length // several) * several)
        states, net.setting = self._states(), given
        shape = (*states.shape[:1], given.length, states.shape[2])
        return (
            states
            if states.shape == shape
            else ops.copy(net.tape, ops.cut(net.tape, states, shape))
        )

    def _states(self) -> Tensor:
        net, form = self.net, self.form
        embedded = self._narrow()
        x = embedded if self.widen is None else self.widen(embedded)
        embedded = embedded if form.holds_narrow else x
        square = (net.setting.batch, 1, net.setting.length, net.setting.length)
        mask = new(net.tape, square, embedded.dtype) if form.square_mask else None
        bias = self._bias()
        rope = rope_tables(net, form.hidden // form.heads, x.dtype) if form.rotary else None
        weights: list[Tensor | None] = [None]
        first = True

        def run(y: Tensor, *others: Tensor, block: EncoderBlock, mask: Tensor | None) -> Tensor:
            y, seen = block(y, others[0] if others else None, rope)
            if first:
                weights.append(seen)
            return y

        for block in self.blocks:
            x = checkpointed(
                net, partial(run, block=block, mask=mask), x, *([] if bias is None else [bias])
            )
            del weights[:-1]
        first = False
        weights.clear()
        x = x if self.last_norm is None else self.last_norm(x)
        del embedded
        return x

    def _named(self, states: Tensor) -> Tensor:
        """What the table of the head takes."""
        if self.transform is None or self.head_norm is None:
            return states
        return self.head_norm(activate(self.net.tape, self.transform(states), self.form.head_act))

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if net.setting.headless:
            return states
        _pooled = [
            ops.keeping_result(
                tape, pool(ops.cut(tape, states, (states.shape[0], states.shape[2])))
            )
            for pool in self.poolers
        ]
        scores = self.head(self._named(states))
        if self.form.contacts:
            scores = ops.add(tape, scores, self.side)
        if not net.setting.training:
            return scores
        return class_loss(net, ops.cast(tape, scores, F32) if self.form.float_loss else scores)


def class_loss(net: Net, scores: Tensor) -> Tensor:
    """F.cross_entropy over rows; autocast raises it to float."""
    tape = net.tape
    wide = ops.cast(tape, scores, F32) if tape.autocast else scores
    return ops.cross_entropy(tape, wide.view(wide.size // wide.shape[-1], wide.shape[-1]))


def drawn_tables(config: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    """Tables of shape and sound of a Chinese character, as many and as wide as the configuration
    says (RoCBERT)."""
    if not config.get("concat_input", True):
        return ()
    told = (("shape", "enable_shape"), ("pronunciation", "enable_pronunciation"))
    return tuple(
        (config[f"{name}_vocab_size"], config[f"{name}_embed_dim"])
        for name, switch in told
        if config.get(switch, True)
    )
