"""Whisper on the tape: an encoder of 30 seconds of sound, a decoder of text that attends to it."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import activate, attend, softmax_wide
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.tape import BOOL, I64, Grads, Tape, Tensor, new, record

FRAMES = 2
"""Frames of the spectrogram per position of the encoder (the second convolution has stride 2;
Radford et al. 2022)."""


def convolution_1d(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
    """conv1d of (batch, channels, frames) with `weight` (out, in, 3) and one frame of padding on
    each side."""
    w, a, b = ops.cast_low(tape, weight), ops.cast_low(tape, x), ops.cast_low(tape, bias)
    shape = (a.shape[0], weight.shape[0], (a.shape[2] - 1) // stride + 1)
    flops = 2 * shape[0] * shape[2] * w.size
    tape.flops += flops
    kept_a, kept_w = (a if w.needs_grad else None), (w if a.needs_grad else None)
    x_shape, w_shape = a.shape, w.shape

    def pull(grad: Tensor) -> Grads:
        for_input = None if kept_w is None else new(tape, x_shape, grad.dtype)
        for_weight = None if kept_a is None else new(tape, w_shape, grad.dtype)
        tape.flops += flops * ((kept_a is not None) + (kept_w is not None))
        return for_input, for_weight, new(tape, w_shape[:1], grad.dtype) if w.needs_grad else None

    return record(tape, new(tape, shape, a.dtype), (a, w, b), pull)


class Attention:
    """Attention of the text or of the sound to itself, or of the text to the sound; keys have no
    bias."""

    def __init__(self, net: Net, hidden: int, heads: int, share: float) -> None:
        self.net, self.heads, self.share = net, heads, share
        self.key = net.linear("k_proj", hidden, hidden, False)
        self.value, self.query, self.out = (
            net.linear(name, hidden, hidden, True) for name in ("v_proj", "q_proj", "out_proj")
        )

    def __call__(
        self, x: Tensor, memory: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, source = self.net.tape, x if memory is None else memory
        query = self._heads(ops.sub_self(tape, self.query(x)))
        key, value = self._heads(self.key(source)), self._heads(self.value(source))
        if not self.net.setting.eager:
            return self.out(
                ops.copy(tape, attend(self.net, query, key, value, mask, self.share)).view(*x.shape)
            ), None
        square = (*query.shape[:-1], key.shape[-2])
        weights = ops.sub_self(tape, ops.bmm(tape, query, ops.packed(tape, key), square))
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = (
            softmax_wide(tape, weights) if tape.autocast else ops.keeping_result(tape, weights)
        )
        weights = ops.dropout(
            tape, ops.cast(tape, weights, query.dtype), self.share, self.net.setting.training
        )
        return self.out(
            ops.copy(tape, ops.bmm(tape, weights, value, query.shape)).view(*x.shape)
        ), weights

    def _heads(self, x: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        return ops.copy(self.net.tape, x).view(batch, self.heads, length, hidden // self.heads)


class Block:
    """Norm, attention, residual; on the text's side the same to the sound; norm, feed-forward
    layer, residual."""

    def __init__(self, net: Net, config: dict[str, Any], side: str, alone: bool = False) -> None:
        hidden, self.net, self.share = config["d_model"], net, config.get("dropout") or 0.0
        heads, ffn, share = (
            config[f"{side}_attention_heads"],
            config[f"{side}_ffn_dim"],
            config.get("attention_dropout") or 0.0,
        )
        self.attention, self.norms = (
            Attention(net, hidden, heads, share),
            [Norm(net, "layer", hidden) for _ in range(2)],
        )
        self.cross = (
            (Attention(net, hidden, heads, share), Norm(net, "layer", hidden))
            if side == "decoder" and not alone
            else None
        )
        if alone:
            with net.unreached():
                Attention(net, hidden, heads, share)
                Norm(net, "layer", hidden)
        self.up, self.down = (
            net.linear("fc1", hidden, ffn, True),
            net.linear("fc2", ffn, hidden, True),
        )

    def __call__(self, x: Tensor, mask: Tensor | None, memory: Tensor | None) -> Tensor:
        tape = self.net.tape
        attended, _weights = self.attention(self.norms[0](x), None, mask)
        x = ops.add(tape, x, self.net.drop(attended, self.share))
        del attended
        if self.cross is not None:
            attention, norm = self.cross
            attended, _weights = attention(norm(x), memory, None)
            x = ops.add(tape, x, self.net.drop(attended, self.share))
            del attended
        fed = self.net.drop(
            self.down(activate(tape, self.up(self.norms[1](x)), "gelu")), self.share
        )
        return ops.add(tape, x, fed)


class Whisper:
    """Two convolutions, the encoder's layers, the decoder's, and a head tied to the embedding."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["d_model"]
        bands = config.get("num_mel_bins") or 80
        self.places = config.get("max_source_positions") or 1500
        self.convolutions = [
            (net.parameter(hidden, bands, 3), net.parameter(hidden), 1),
            (net.parameter(hidden, hidden, 3), net.parameter(hidden), 2),
        ]
        self.heard = net.parameter(self.places, hidden, frozen=True)
        self.encoder = [Block(net, config, "encoder") for _ in range(config["encoder_layers"])]
        self.table, self.written = (
            net.parameter(config["vocab_size"], hidden),
            net.parameter(config.get("max_target_positions") or 448, hidden),
        )
        self.decoder = [Block(net, config, "decoder") for _ in range(config["decoder_layers"])]
        self.norms = [Norm(net, "layer", hidden) for _ in range(2)]
        self.head = Linear(net, self.table, None)

    def _memory(self) -> Tensor:
        net, tape, setting = self.net, self.net.tape, self.net.setting
        x = net.given(
            setting.batch,
            self.convolutions[0][0].shape[1],
            FRAMES * self.places,
            dtype=setting.dtype,
        )
        for weight, bias, stride in self.convolutions:
            x = ops.keeping_input(tape, convolution_1d(tape, x, weight, bias, stride))
        seen = x.view(setting.batch, self.places, x.shape[1])
        del x
        x = ops.add(tape, seen, ops.embedding(tape, self.heard, (self.places,)))
        for block in self.encoder:
            x = checkpointed(net, lambda y, block=block: block(y, None, None), x)
        return self.norms[0](x)

    def loss(self) -> Tensor:
        """The loss over all target tokens; without training, the scores."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        _ids = net.given(setting.batch, setting.length, dtype=I64)
        memory, shape = self._memory(), (setting.batch, setting.length)
        x = ops.add(
            tape,
            ops.embedding(tape, self.table, shape),
            ops.embedding(tape, self.written, (1, shape[1])),
        )
        mask = self._mask(x.dtype)
        for block in self.decoder:
            x = checkpointed(net, lambda y, seen, block=block: block(y, mask, seen), x, memory)
        scores = self.head(self.norms[1](x))
        return class_loss(net, scores) if setting.training else scores

    def _mask(self, dtype: str) -> Tensor | None:
        setting, tape = self.net.setting, self.net.tape
        shape = (setting.batch, 1, setting.length, setting.length)
        if setting.eager:
            return new(tape, shape, dtype)
        return new(tape, shape, BOOL) if tape.semantics.explicit_mask else None


class WhisperAlone(Whisper):
    """The decoder alone, as a causal language model (the drafting model of Distil-Whisper)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["d_model"]
        self.table = net.parameter(config["vocab_size"], hidden)
        self.written = net.parameter(config.get("max_target_positions") or 448, hidden)
        self.decoder = [
            Block(net, config, "decoder", True) for _ in range(config["decoder_layers"])
        ]
        self.norm = Norm(net, "layer", hidden)
        self.head = Linear(
            net,
            self.table
            if config.get("tie_word_embeddings", True)
            else net.parameter(*self.table.shape),
            None,
        )

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the scores."""
        net, tape, shape = (
            self.net,
            self.net.tape,
            (self.net.setting.batch, self.net.setting.length),
        )
        _ids = net.given(*shape, dtype=I64)
        tokens = entering(net, ops.embedding(tape, self.table, shape))
        placed = ops.embedding(tape, self.written, shape)
        x = ops.add(tape, tokens, placed)
        mask = self._mask(x.dtype)
        for block in self.decoder:
            x = checkpointed(net, lambda y, block=block: block(y, mask, None), x)
        scores = self.head(self.norm(x))
        del tokens, placed
        return class_loss(net, scores) if net.setting.training else scores
