"""LongT5 on the tape: T5 whose encoder attends within blocks of neighbours, and to averages of far
ones (transient-global)."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.encoders.seq2seq import T5, T5Attention, T5Norm
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.products import added_in_place, cat, dense, einsum
from rigplanner.networks.tracer.strided import Array, array, empty
from rigplanner.networks.tracer.tape import F32, Tensor


def blocks_of(x: Array, size: int, axis: int = 1) -> Array:
    """An axis cut into blocks, filled up to whole ones."""
    side = x.shape[axis]
    x = x.padded(axis, -side % size) if side % size else x
    return x.reshape(*x.shape[:axis], x.shape[axis] // size, size, *x.shape[axis + 1 :])


def with_neighbours(x: Array) -> Array:
    """Every block joined with the one before and the one after."""
    count, wide = x.shape[1], x.padded(1, 2)
    return cat([wide.cut(1, count) for _ in range(3)], 2)


class LocalAttention(T5Attention):
    """Attention within a block and its neighbours; with a `span`, to the averages of so many tokens
    as well."""

    def __init__(
        self, net: Net, config: dict[str, Any], relative: bool, decodes: bool = False
    ) -> None:
        super().__init__(net, config, relative)
        self.size = config["local_radius"] + 1
        spans = config.get("encoder_attention_type") == "transient-global"
        self.span = config["global_block_size"] if spans else 0
        self.far_table = net.parameter(32, self.heads) if spans and relative else None
        self.far_norm = T5Norm(net, config["d_model"]) if spans else None

    def __call__(
        self, x: Tensor, memory: Tensor | None, bias: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        tape, share = self.net.tape, self.share
        states = array(tape, x)
        far = self._averages(states)
        query, key, value = (
            self._split(layer, states) for layer in (self.query, self.key, self.value)
        )
        sides = [] if far is None else [self._split(layer, far) for layer in (self.key, self.value)]
        query, key, value = (blocks_of(side, self.size) for side in (query, key, value))
        key, value = with_neighbours(key), with_neighbours(value)
        if sides:
            tiled = [
                side.unsqueeze(1).expand(side.shape[0], key.shape[1], *side.shape[1:]).copy()
                for side in sides
            ]
            key, value = cat([key, tiled[0]], 2), cat([value, tiled[1]], 2)
            del tiled
        scores = einsum("bnqhd,bnkhd->bnhqk", query, key)
        bias = self._placed(scores, x.shape[1]) if bias is None else bias
        scores = added_in_place(scores, bias)
        low = scores.dtype
        weights = scores.float().softmax().to(low)
        weights = array(tape, ops.dropout(tape, weights, share, self.net.setting.training))
        result = einsum("bnhqk,bnkhd->bnqhd", weights.to(value.dtype), value).contiguous()
        result = result.reshape(x.shape[0], -1, self.heads * self.width)
        result = result.cut(1, x.shape[1]) if result.shape[1] != x.shape[1] else result
        return dense(self.out, result), bias, weights

    def _split(self, layer: Any, x: Array) -> Array:
        return array(self.net.tape, layer(x)).reshape(x.shape[0], -1, self.heads, self.width)

    def _averages(self, x: Array) -> Array | None:
        """The normed sums of the tokens of each span."""
        if self.far_norm is None:
            return None
        tape = self.net.tape
        owners = empty(tape, (x.shape[0], x.shape[1], x.shape[1] // self.span), x.dtype)
        return array(tape, self.far_norm(einsum("bnd,bng->bgd", x, owners)))

    def _placed(self, scores: Array, length: int) -> Array:
        """The bias of near tokens with their mask, and that of the averages."""
        tape, heads, size = self.net.tape, self.heads, self.size
        near = (
            array(tape, ops.embedding(tape, self.table, (size, 3 * size)))
            if self.table is not None
            else None
        )
        bias = (
            (near or empty(tape, (size, 3 * size, heads), scores.dtype))
            .permute(2, 0, 1)
            .unsqueeze(0)
            .unsqueeze(0)
        )
        seen = empty(tape, (scores.shape[0], scores.shape[1], 1, size, 3 * size), F32)
        bias = (bias + seen).to(scores.dtype)
        if self.far_table is None:
            return bias
        batch, far = scores.shape[0], length // self.span
        whole = array(tape, ops.embedding(tape, self.far_table, (batch, length, far))).permute(
            0, 3, 1, 2
        )
        whole = empty(tape, (batch, 1, length, far), F32) + whole
        whole = blocks_of(whole, size, 2).transpose(1, 2).to(scores.dtype)
        return cat([bias, whole], -1)


class LongT5(T5):
    """LongT5 (Guo et al. 2022)."""

    near = LocalAttention
    holds_weights = True
    lingering = 0
