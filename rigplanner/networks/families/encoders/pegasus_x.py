"""PEGASUS-X on the tape: PEGASUS whose encoder attends within blocks and to a few tokens of its own
(Phang et al. 2022)."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.bart import Bart, BartAttention, BartBlock
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.products import cat, einsum
from rigplanner.networks.tracer.strided import Array, array, empty
from rigplanner.networks.tracer.tape import Tensor, new

Pair = tuple[Tensor, Tensor]


class PlainAttention(BartAttention):
    """Attention of the decoder, whose products have no bias."""

    biased = False


class GlobalLocalLayer:
    """Blocks attend to themselves and to the global tokens, these to everything; both pass the same
    feed-forward layer. Every other layer shifts its blocks by half of one."""

    def __init__(self, net: Net, config: dict[str, Any], staggers: bool) -> None:
        self.net, self.config, self.staggers, hidden = net, config, staggers, config["d_model"]
        self.heads, self.size, self.share = (
            config["encoder_attention_heads"],
            config["block_size"],
            config["attention_dropout"],
        )
        self.key, self.value, self.query, self.out = (
            net.linear(name, hidden, hidden) for name in ("k_proj", "v_proj", "q_proj", "out_proj")
        )
        self.norms = [Norm(net, "layer", hidden) for _ in range(3)]
        ffn = config["encoder_ffn_dim"]
        self.up, self.down = (
            net.linear("fc1", hidden, ffn, True),
            net.linear("fc2", ffn, hidden, True),
        )

    def __call__(self, x: Tensor, far: Tensor) -> Pair:
        tape, residuals = self.net.tape, (x, far)
        near, wide = array(tape, self.norms[0](x)), self.norms[1](far)
        if self.staggers:
            near = near.padded(1, self.size)
        attended, wide = self._attend(near, wide)
        if self.staggers:
            attended = array(tape, attended).cut(1, x.shape[1])
        x = ops.add(tape, residuals[0], self.net.drop(attended, self.config["dropout"]))
        far = ops.add(tape, residuals[1], self.net.drop(wide, self.config["dropout"]))
        x = ops.add(tape, x, self._fed(self.norms[2](x)))
        return x, ops.add(tape, far, self._fed(self.norms[2](far)))

    def _fed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = activate(tape, self.up(x), ACTS.get(self.config["activation_function"], "gelu"))
        x = ops.dropout(tape, x, self.config["activation_dropout"], self.net.setting.training)
        return self.net.drop(self.down(x), self.config["dropout"])

    def _shaped(self, x: Tensor) -> Array:
        split = array(self.net.tape, x).reshape(
            x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads
        )
        return split.transpose(1, 2).contiguous()

    def _weights(self, scores: Array, mask: Array) -> Array:
        tape = self.net.tape
        scores = scores + mask
        scores = scores.float() if tape.autocast and tape.semantics.float_norms else scores
        return array(
            tape, ops.dropout(tape, scores.softmax(), self.share, self.net.setting.training)
        )

    def _attend(self, x: Tensor, far: Tensor) -> Pair:
        tape, (batch, length, hidden), many = self.net.tape, x.shape, far.shape[1]
        query = self._shaped(ops.sub_self(tape, self.query(x)))
        key, value = self._shaped(self.key(x)), self._shaped(self.value(x))
        asked = self._shaped(ops.sub_self(tape, self.query(far)))
        known, given = self._shaped(self.key(far)), self._shaped(self.value(far))
        wide = self._global(asked, cat([known, key], 2), cat([given, value], 2))
        count = length // self.size
        query, key, value = (
            side.reshape(*side.shape[:2], count, self.size, side.shape[3])
            for side in (query, key, value)
        )
        scores = cat(
            [einsum("bhnkf,bhgf->bhnkg", query, known), einsum("bhnkf,bhnxf->bhnkx", query, key)],
            -1,
        )
        weights = self._weights(
            scores, empty(tape, (batch, 1, count, 1, many + self.size), self.net.setting.dtype)
        )
        del scores
        near = einsum("bhnkg,bhgf->bhnkf", weights.cut(-1, many), given)
        near = near + einsum("bhnkx,bhnxf->bhnkf", weights.cut(-1, self.size), value)
        wide = wide.transpose(1, 2).contiguous().reshape(batch, many, hidden)
        near = near.permute(0, 2, 3, 1, 4).contiguous().reshape(batch, length, hidden)
        return self.out(near), self.out(wide)

    def _global(self, query: Array, key: Array, value: Array) -> Array:
        scores = einsum("bhgf,bhxf->bhgx", query, key)
        weights = self._weights(
            scores,
            empty(self.net.tape, (scores.shape[0], 1, 1, scores.shape[3]), self.net.setting.dtype),
        )
        return einsum("bhgx,bhxf->bhgf", weights, value)


class PegasusX(Bart):
    """Encoder of blocks, decoder of PEGASUS, head."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        super().__init__(net, {**config, "encoder_layers": 0})
        self.far = net.parameter(config["num_global_tokens"], config["d_model"])
        staggered = config.get("stagger_local_blocks", True)
        self.near = [
            GlobalLocalLayer(net, config, bool(staggered) and at % 2 == 1)
            for at in range(config["encoder_layers"])
        ]

    def _block(self, side: str, at: int) -> BartBlock:
        return BartBlock(self.net, self.config, side, True, attends=PlainAttention)

    def _positions(self, at: int) -> Tensor | None:
        return None

    def _embedded(self, at: int) -> tuple[Tensor, list[Tensor]]:
        net, tape = self.net, self.net.tape
        shape = (net.setting.batch, net.setting.length)
        tokens = entering(net, ops.sub_self(tape, ops.embedding(tape, self.table, shape)))
        placed = new(tape, (1, shape[1], tokens.shape[2]), tokens.dtype)
        x = ops.add(tape, tokens, placed)
        return ops.dropout(tape, x, self.config["dropout"], net.setting.training), [tokens, placed]

    def _stack(
        self, blocks: list[BartBlock], at: int, mask: Tensor | None, *memory: Tensor
    ) -> Tensor:
        if at == 1:
            return super()._stack(blocks, at, mask, *memory)
        tape = self.net.tape
        x, held = self._embedded(0)
        length, size = x.shape[1], self.config["block_size"]
        x = array(tape, x).padded(1, -length % size) if length % size else x
        far = ops.embedding(tape, self.far, (x.shape[0], self.far.shape[0]))
        for layer in self.near:
            x, far = self._layered(layer, x, far)
        x = array(tape, x).cut(1, length) if x.shape[1] != length else x
        x = self.last_norms[0](x)
        held.clear()
        return x

    def _layered(self, layer: GlobalLocalLayer, x: Tensor, far: Tensor) -> Pair:
        """A layer; one that is run again gives both its results as one tensor."""
        net, tape = self.net, self.net.tape
        if not (net.setting.checkpointing and net.setting.training):
            return layer(x, far)
        joined = checkpointed(net, lambda y, z: ops.cat(tape, layer(y, z), 1), x, far)
        sides = ops.split_rows(tape, joined, (x.shape[1], far.shape[1]))
        return sides[0], sides[1]
