"""Encoder-decoder language models on the tape: T5 and its variants."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import activate, attend
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, checkpointed, reciprocal_root
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Grads, Tensor, new, record


class T5Norm:
    """Root-mean-square norm that scales its input in the input's own type."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.weight = net, net.parameter(width)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        variance = ops.mean_last(tape, ops.square(tape, ops.cast(tape, x, F32)))
        x = ops.mul(tape, x, reciprocal_root(tape, ops.shift(tape, variance)))
        return ops.mul(
            tape,
            self.weight,
            ops.cast(tape, x, self.weight.dtype) if self.weight.dtype != F32 else x,
        )


LINGERING = 2
"""The empty bias of cross attention asks for a gradient when blocks are run again: so many tensors
of its size linger for every layer but the first, held by cycles of references (traced with one to
three layers)."""


class T5Attention:
    """Attention whose scores get a bias per relative position."""

    def __init__(
        self, net: Net, config: dict[str, Any], relative: bool, decodes: bool = False
    ) -> None:
        self.caches = decodes and not net.setting.training and net.tape.semantics.caches
        self.net, self.heads, self.width, self.share = (
            net,
            config["num_heads"],
            config["d_kv"],
            config["dropout_rate"],
        )
        inner, outer = self.heads * self.width, config["d_model"]
        self.query, self.key, self.value = (net.linear(name, outer, inner) for name in "qkv")
        self.out = net.linear("o", inner, outer)
        self.table = net.parameter(32, self.heads) if relative else None

    def __call__(
        self, x: Tensor, memory: Tensor | None, bias: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        tape, setting = self.net.tape, self.net.setting
        batch, length = setting.batch, setting.length
        source = x if memory is None else memory
        shape = (batch, self.heads, length, self.width)
        query, key, value = (
            self.query(x).view(*shape),
            self.key(source).view(*shape),
            self.value(source).view(*shape),
        )
        if self.caches:
            key, value = ops.copy(tape, key), ops.copy(tape, value)
            self.net.held += [key, value]
        if bias is None:
            bias = self._bias(query.dtype)
        if not setting.eager:
            result = attend(self.net, query, key, value, self._joined(bias, mask), self.share)
            return self.out(result.view(batch, length, self.heads * self.width)), bias, None
        weights = ops.sub_self(
            tape,
            ops.bmm(
                tape, ops.packed(tape, query), self._lying(key), (batch, self.heads, length, length)
            ),
        )
        weights = ops.add(tape, weights, bias)
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = ops.keeping_result(tape, weights)
        weights = ops.dropout(tape, weights, self.share, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, self._lying(value), shape))
        return self.out(result.view(batch, length, self.heads * self.width)), bias, weights

    def _lying(self, x: Tensor) -> Tensor:
        return x if self.caches else ops.packed(self.net.tape, x)

    def _joined(self, bias: Tensor, mask: Tensor | None) -> Tensor:
        """What fused attention adds: the bias, and where a token sees nothing the least number, as
        each layer makes it anew."""
        tape, kept = self.net.tape, mask
        if kept is None:
            return bias if self.table is None else ops.copy(tape, bias)
        whole, dtype = (kept.shape[0], *bias.shape[1:]), bias.dtype

        def pull(grad: Tensor) -> Grads:
            _seen = kept
            return (new(tape, whole, dtype),)

        tape.saves()
        return ops.copy(tape, record(tape, new(tape, whole, dtype), (bias,), pull))

    def _bias(self, dtype: str) -> Tensor:
        tape, length = self.net.tape, self.net.setting.length
        if self.table is None:
            return new(tape, (1, self.heads, length, length), dtype)
        _buckets = new(tape, (length, length), I64)
        return ops.embedding(tape, self.table, (length, length)).view(1, self.heads, length, length)


class T5Block:
    """Self-attention, cross-attention in the decoder, feed-forward, each behind a norm."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        relative: bool,
        decodes: bool,
        attends: type[T5Attention] = T5Attention,
    ) -> None:
        self.net, self.config, self.share, outer, inner = (
            net,
            config,
            config["dropout_rate"],
            config["d_model"],
            config["d_ff"],
        )
        self.weights: list[Tensor | None] = []
        self.returns_weights = False
        told = config.get("feed_forward_proj") or config["dense_act_fn"]
        self.gated = told.startswith("gated")
        self.act = "gelu_new" if self.gated and "gelu" in told else told.removeprefix("gated-")
        self.attention, self.first_norm = (
            attends(net, config, relative, decodes),
            T5Norm(net, outer),
        )
        self.cross = (
            (T5Attention(net, config, False, True), T5Norm(net, outer)) if decodes else None
        )
        self._make_feed(outer, inner)
        self.last_norm = T5Norm(net, outer)

    def __call__(
        self,
        x: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        memory: Tensor | None,
        cross_bias: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        tape, seen = self.net.tape, None
        attended, bias, weights = self.attention(self.first_norm(x), None, bias, mask)
        self.weights = [weights] if self.returns_weights else []
        x = ops.add(tape, x, self.net.drop(attended, self.share))
        del attended
        if self.cross is not None:
            attention, norm = self.cross
            attended, seen, weights = attention(norm(x), memory, cross_bias, None)
            self.weights += [weights] if self.returns_weights else []
            x = ops.add(tape, x, self.net.drop(attended, self.share))
            del attended
        return (
            ops.add(tape, x, self.net.drop(self._feed(self.last_norm(x)), self.share)),
            bias,
            seen,
        )

    def _make_feed(self, outer: int, inner: int) -> None:
        net = self.net
        self.up = net.linear("wi_0" if self.gated else "wi", outer, inner)
        self.gate = net.linear("wi_1", outer, inner) if self.gated else None
        self.down = net.linear("wo", inner, outer)

    def _feed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        y = activate(tape, self.up(x), self.act)
        if self.gate is not None:
            y = ops.mul(tape, y, self.gate(x))
        y = self.net.drop(y, self.share)
        return self.down(ops.cast(tape, y, self.down.weight.dtype))


class T5:
    """Encoder, decoder, head; the loss of the target tokens. `near`: how the encoder attends;
    `holds_weights`: those of a layer of the decoder live while the next one runs; `lingering`:
    tensors of a bias that linger for every layer run again."""

    near: type[T5Attention] = T5Attention
    holds_weights = False
    lingering = LINGERING

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.share = net, config, config["dropout_rate"]
        outer, layers = config["d_model"], config["num_layers"]
        self.table = net.parameter(config["vocab_size"], outer)
        self.every = config["model_type"] == "umt5"
        self.encoder = [self._block(at, False) for at in range(layers)]
        self.encoder_norm = T5Norm(net, outer)
        self.decoder = [
            self._block(at, True) for at in range(config.get("num_decoder_layers") or layers)
        ]
        self.decoder_norm = T5Norm(net, outer)
        self.tied = config.get("tie_word_embeddings", True)
        self.head = Linear(net, self.table, None)

    def _block(self, at: int, decodes: bool) -> T5Block:
        relative = at == 0 or self.every
        return T5Block(
            self.net, self.config, relative, decodes, T5Attention if decodes else self.near
        )

    def _stack(
        self, blocks: list[T5Block], norm: T5Norm, mask: Tensor | None, memory: Tensor | None
    ) -> Tensor:
        net, tape = self.net, self.net.tape
        embedded = ops.embedding(tape, self.table, (net.setting.batch, net.setting.length))
        x = self.net.drop(embedded, self.share)
        shared: list[tuple[Tensor, Tensor | None]] = []
        weights: list[Tensor | None] = []
        for block in blocks:
            bias, cross = shared[0] if shared else (None, None)
            bias, cross = (None, None) if self.every else (bias, cross)

            def run(
                y: Tensor,
                *memory: Tensor,
                block: T5Block = block,
                bias: Tensor | None = bias,
                cross: Tensor | None = cross,
            ) -> Tensor:
                y, made, seen = block(y, bias, mask, memory[0] if memory else None, cross)
                if not shared:
                    shared.append((made, seen))
                return y

            block.returns_weights = self.holds_weights and memory is not None
            x = checkpointed(net, run, x, *([memory] if memory is not None else []))
            weights, block.weights, block.returns_weights = block.weights, [], False
        x = self.net.drop(norm(x), self.share)
        weights.clear()
        del embedded
        return x

    def loss(self) -> Tensor:
        """The loss over all target tokens; without training, the scores."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        _ids = net.given(setting.batch, setting.length, dtype=I64)
        memory = self._stack(self.encoder, self.encoder_norm, None, None)
        samples = setting.batch if setting.eager or tape.semantics.explicit_mask else 1
        mask = new(
            tape,
            (samples, 1, setting.length, setting.length),
            setting.dtype if setting.eager else BOOL,
        )
        if setting.checkpointing and setting.training:
            shape = (1, self.config["num_heads"], setting.length, setting.length)
            net.held += [
                new(tape, shape, setting.dtype)
                for _ in range(self.lingering * (len(self.decoder) - 1))
            ]
        x = self._stack(self.decoder, self.decoder_norm, mask, memory)
        if self.tied:
            x = ops.sub_self(tape, x)
        scores = self.head(x)
        del mask
        return class_loss(net, scores) if setting.training else scores
