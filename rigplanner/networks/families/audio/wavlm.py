"""WavLM on the tape: the layers of wav2vec 2.0 with a bias for all pairs of frames, gated anew in
every layer, and attention that always writes its scores (PyTorch's multi_head_attention_forward).
"""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.audio.speech import SoundBlock, SoundEncoder
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.products import bmm, dense, low
from rigplanner.networks.tracer.strided import Array, array, recorded, seen
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new

GATES = 8
"""Values that a head's share of a frame is brought to; two halves of them are summed to two gates.
"""


class WavlmBlock(SoundBlock):
    """A layer of wav2vec 2.0 whose scores get the gated bias."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        super().__init__(net, config)
        self.heads = config["num_attention_heads"]
        self.constant = net.parameter(1, self.heads, 1, 1)
        self.gate = net.linear(
            "gru_rel_pos_linear", config["hidden_size"] // self.heads, GATES, True
        )
        self.pairs: Tensor | None = None

    def __call__(self, x: Tensor, *beside: Tensor) -> Tensor:
        self.pairs = beside[0]
        y = super().__call__(x)
        self.pairs = None
        return y

    def _attend(self, x: Tensor) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        states = array(tape, x)
        batch, frames, hidden = states.shape
        rows, width = batch * self.heads, hidden // self.heads
        gated = self._gated(states, rows)
        bias = low(gated)
        turned = states.transpose(0, 1)
        query, key, value = (
            dense(layer, turned).reshape(frames, rows, width).transpose(0, 1)
            for layer in (self.query, self.key, self.value)
        )
        made = bmm(query * 1.0, key.transpose(1, 2))
        scores = recorded(
            seen(made, made.shape, made.strides), (made, bias), lambda grad: (grad, grad)
        )
        del made, bias
        weights = scores.to(
            F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        ).softmax()
        del scores
        kept = array(
            tape,
            ops.dropout(
                tape, weights, float(self.config.get("attention_dropout") or 0.0), setting.training
            ),
        )
        result = bmm(kept, value).transpose(0, 1).contiguous().reshape(frames, batch, hidden)
        _means, _bias = kept.reshape(batch, self.heads, frames, frames).mean(1), gated
        return dense(self.out, result).transpose(0, 1)

    def _gated(self, states: Array, rows: int) -> Array:
        assert self.pairs is not None
        batch, frames, _ = states.shape
        split = states.reshape(batch, frames, self.heads, -1).permute(0, 2, 1, 3)
        told = (
            dense(self.gate, split)
            .reshape(batch, self.heads, frames, 2, GATES // 2)
            .sum(-1, keeps=False)
        )
        one, two = told.of_result().split(1, 1)
        share = one * (two * self.constant + -1.0) + 2.0
        return share.reshape(rows, frames, 1) * self.pairs


class Wavlm(SoundEncoder):
    """The encoder with one table of distances, that of its first layer."""

    block = WavlmBlock

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        super().__init__(net, config)
        self.table = net.parameter(config["num_buckets"], config["num_attention_heads"])

    def beside(self, x: Tensor) -> tuple[Tensor, ...]:
        """The bias of all pairs of frames for every head and sample."""
        tape, (batch, frames, _) = self.net.tape, x.shape
        heads = self.table.shape[1]
        if self.net.setting.training:
            self.net.held.append(new(tape, (frames, frames), I64))
        pairs = array(tape, ops.embedding(tape, self.table, (frames, frames))).permute(2, 0, 1)
        whole = pairs.unsqueeze(0).expand(batch, heads, frames, frames).copy()
        return (whole.reshape(batch * heads, frames, frames),)
