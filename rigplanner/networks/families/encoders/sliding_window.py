"""Attention within a window that slides over the tokens, by overlapping chunks (Longformer,
LED)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from rigplanner.networks.families.decoders.attention import Rope
from rigplanner.networks.families.encoders.encoder import EncoderBlock, EncoderForm
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net
from rigplanner.networks.tracer.products import (
    added_in_place,
    chosen,
    dense,
    einsum,
    overlapped,
    written,
)
from rigplanner.networks.tracer.strided import Array, array, empty, recorded, seen
from rigplanner.networks.tracer.tape import BOOL, Tensor


def chunked_scores(query: Array, key: Array, reach: int) -> Array:
    """Scores of (batch, tokens, heads, width) against the `reach` tokens on either side, as columns
    (_sliding_chunks_query_key)."""
    tape, (batch, length, heads, width) = query.tape, query.shape
    chunks = length // reach - 1
    asked, known = (
        overlapped(
            side.transpose(1, 2).reshape(batch * heads, length, width), chunks, 2 * reach, reach
        )
        for side in (query, key)
    )
    scores = einsum("bcxd,bcyd->bcxy", asked, known).padded(-2, 1)
    scores = scores.reshape(batch * heads, chunks, 2 * reach, 2 * reach + 1)
    whole = empty(tape, (batch * heads, chunks + 1, reach, 2 * reach + 1), scores.dtype)
    whole = written(whole, scores.cut(2, reach).cut(3, reach + 1))
    whole = written(whole, scores.pick(1).cut(1, reach).cut(2, reach + 1))
    whole = written(whole, scores.cut(2, reach).cut(3, reach))
    whole = written(whole, scores.pick(1).cut(1, reach - 1).cut(2, reach - 1))
    whole = whole.reshape(batch, heads, length, 2 * reach + 1).transpose(2, 1)
    for _ in range(2):
        edge = whole.cut(1, reach).cut(3, reach + 1)
        kept = chosen(empty(tape, edge.shape, BOOL), empty(tape, edge.shape, edge.dtype), edge)
        whole = written(whole, kept)
    return whole


def chunked_result(weights: Array, value: Array, reach: int) -> Array:
    """What the weights take from values (batch, tokens, heads, width)
    (_sliding_chunks_matmul_attn_probs_value)."""
    batch, length, heads, width = value.shape
    chunks = length // reach
    rows = weights.transpose(1, 2).reshape(batch * heads, chunks, reach, 2 * reach + 1)
    value = value.transpose(1, 2).reshape(batch * heads, length, width).padded(1, 2 * reach)
    seen_values = overlapped(value, chunks, 3 * reach, reach)
    rows = (
        rows.padded(-1, reach + 1)
        .reshape(batch * heads, chunks, -1)
        .cut(2, reach * (3 * reach + 1))
    )
    rows = rows.reshape(batch * heads, chunks, reach, 3 * reach + 1).cut(3, 3 * reach)
    result = einsum("bcwd,bcdh->bcwh", rows, seen_values)
    return result.reshape(batch, heads, length, width).transpose(1, 2)


def slid(
    net: Net,
    layers: tuple[Linear, Linear, Linear],
    x: Tensor,
    heads: int,
    window: int,
    share: float,
) -> Array:
    """The attended states, which lie tokens first; `layers` make query, key and value."""
    tape, reach, (batch, length, hidden) = net.tape, window // 2, x.shape
    turned = array(tape, x).transpose(0, 1)
    query, key, value = (dense(layer, turned) for layer in layers)
    query = recorded(seen(query, query.shape, query.strides), (query,), lambda grad: (grad.like(),))
    query, key, value = (
        side.reshape(length, batch, heads, hidden // heads).transpose(0, 1)
        for side in (query, key, value)
    )
    scores = chunked_scores(query, key, reach)
    beyond = empty(tape, (batch, length, 1, 1), scores.dtype)
    beside = chunked_scores(empty(tape, beyond.shape, scores.dtype), beyond, reach)
    scores = added_in_place(scores, beside)
    low = scores.dtype
    weights = scores.float().softmax().masked(empty(tape, (batch, length, 1, 1), BOOL)).to(low)
    del scores
    weights = array(tape, ops.dropout(tape, weights, share, net.setting.training))
    result = chunked_result(weights, value, reach)
    return result.transpose(0, 1).reshape(length, batch, hidden).transpose(0, 1).contiguous()


class SlidingBlock(EncoderBlock):
    """A layer of BERT that attends within a window; what tokens of global attention would be asked
    with is there and idle."""

    def __init__(self, net: Net, form: EncoderForm, window: int) -> None:
        super().__init__(net, form)
        self.window = window
        idle_linears(net, form.hidden)

    def _attend(
        self, x: Tensor, bias: Tensor | None, rope: Rope | None
    ) -> tuple[Tensor, Tensor | None]:
        layers, form = (self.query, self.key, self.value), self.form
        return slid(self.net, layers, x, form.heads, self.window, form.attention_dropout), None


def windows(config: dict[str, Any], layers: int) -> list[int]:
    """The window of every layer."""
    told = config.get("attention_window") or 512
    return list(told) if isinstance(told, list) else [told] * layers


def sliding_block(config: dict[str, Any]) -> Callable[[Net, EncoderForm], EncoderBlock]:
    """Makes the layers of Longformer one after the other."""
    told = cycle(windows(config, config["num_hidden_layers"]))
    return lambda net, form: SlidingBlock(net, form, next(told))


def idle_linears(net: Net, hidden: int) -> None:
    """Query, key and value of tokens with global attention, which a text without them leaves
    idle."""
    with net.unreached():
        for name in ("query_global", "key_global", "value_global"):
            net.linear(name, hidden, hidden, True)
