"""Layers whose state goes from token to token in a loop: the gated linear recurrence of
RecurrentGemma, and RWKV.

A trace on the CPU sees the loop that transformers writes, which keeps some states of every token; a
GPU is taken to have a kernel that keeps its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rigplanner.networks.families.decoders.attention import Attention, Rope, activate
from rigplanner.networks.families.decoders.decoder import Decoder, next_token_loss
from rigplanner.networks.families.decoders.decoder_forms import decoder_form
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed, entering
from rigplanner.networks.tracer.products import conv1d, dense, matmul
from rigplanner.networks.tracer.strided import Array, array, empty, recorded
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Grads, Tensor, new


def looped(inputs: Sequence[Array], states: int) -> Array:
    """A loop over tokens that keeps so many float `states` of each, and one more where an input is
    raised to float. Going back, every token's gradient is written into zeros of the whole and
    added."""
    first, tape = inputs[0], inputs[0].tape
    shape, raised = first.shape, first.dtype != F32
    loops = tape.recording and tape.semantics.explicit_mask
    kept = [new(tape, (states + raised, *shape), F32)] if loops else []

    def pull(grad: Array) -> Grads:
        made = [empty(tape, shape, one.dtype) for one in inputs]
        _moving = [empty(tape, shape, grad.dtype) for _ in range(3)]
        kept.clear()
        return made

    return recorded(empty(tape, shape, first.dtype), inputs, pull, keeps=tuple(inputs))


class Recurrence:
    """Two branches, one activated, one convolved and put through a gated linear recurrence
    (Griffin, arXiv 2402.19427)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, self.width = (
            net,
            config["hidden_size"],
            config.get("lru_width") or config["hidden_size"],
        )
        self.heads, self.kernel = config["num_attention_heads"], config["conv1d_width"]
        self.beside, self.into = (
            net.linear(name, hidden, self.width, True) for name in ("linear_y", "linear_x")
        )
        self.out = net.linear("linear_out", self.width, hidden, True)
        self.filter, self.side = (
            net.parameter(self.width, 1, self.kernel),
            net.parameter(self.width),
        )
        part = self.width // self.heads
        self.decay = net.parameter(self.width)
        self.gates = [
            (net.parameter(self.heads, part, part), net.parameter(self.heads, part))
            for _ in range(2)
        ]

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, states = self.net.tape, array(self.net.tape, x)
        gate = array(tape, activate(tape, dense(self.beside, states), "gelu"))
        branch = dense(self.into, states).transpose(1, 2)
        branch = conv1d(branch, self.filter, self.side, self.kernel - 1).cut(2, x.shape[1])
        branch = self._turned(branch.transpose(1, 2))
        mixed = branch * gate
        return dense(self.out, mixed), None

    def _turned(self, x: Array) -> Array:
        tape, shape = self.net.tape, x.shape
        parts = x.reshape(shape[0] * shape[1], self.heads, -1).permute(1, 0, 2)
        let_in, forget = (
            matmul(parts, array(tape, weight)).transpose(0, 1).reshape(*shape).of_result()
            for weight, _ in self.gates
        )
        rate = array(tape, self.decay).of_input()
        logs = -forget * rate
        forget = logs.of_result()
        square = (-logs).of_result()
        gated = x * let_in
        kept = -square
        root = kept.of_input(beside=2)
        root = root * new(tape, (1, shape[1], 1), BOOL)
        root = root + 0.0
        normed = gated * root.to(x.dtype)
        forget = forget * new(tape, (1, shape[1], 1), BOOL)
        return looped([normed, forget], 1)


class AlwaysFused(Attention):
    """Attention by the fused kernel whatever the setting says, its operands laid out first."""

    def _eager(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        result = self._fused(query, key, value, mask)
        return result, result

    def _fused(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        return super()._fused(query, key, ops.copy(self.net.tape, value), mask)


def recurrent_gemma(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """RecurrentGemma (transformers, RecurrentGemmaConfig): two layers of three recur, the third
    attends within a window."""
    form = decoder_form(
        {**config, "intermediate_size": config["intermediate_size"] // 2}, "recurrent_gemma"
    )
    kinds = config["layer_types"]

    def attends(net: Net, form: Form, at: int) -> Any:
        return (
            AlwaysFused(net, form) if kinds[at] == "sliding_attention" else Recurrence(net, config)
        )

    return lambda net: Decoder(net, form, None, attends)


class Shifted:
    """States mixed with those of the token before, by a learned share for each use."""

    def __init__(self, net: Net, hidden: int, uses: int) -> None:
        self.net, self.shares = net, [net.parameter(1, 1, hidden) for _ in range(uses)]

    def __call__(self, x: Array) -> list[Array]:
        tape = self.net.tape
        before = recorded(
            empty(tape, x.shape, x.dtype), (x,), lambda grad: (empty(tape, x.shape, grad.dtype),)
        )
        mixed = []
        for share in self.shares:
            own = array(tape, share)
            contrary = -own
            mixed.append(x * own + before * contrary)
        return mixed


class RwkvBlock:
    """Time mix and channel mix of RWKV-4 (arXiv 2305.13048)."""

    def __init__(self, net: Net, config: dict[str, Any], first: bool) -> None:
        self.net, hidden, ffn = (
            net,
            config["hidden_size"],
            config.get("intermediate_size") or 4 * config["hidden_size"],
        )
        inner = config.get("attention_hidden_size") or hidden
        self.first_norm = Norm(net, "layer", hidden) if first else None
        self.norms = [Norm(net, "layer", hidden) for _ in range(2)]
        self.rates = [net.parameter(inner) for _ in range(2)]
        self.shifts = Shifted(net, hidden, 3), Shifted(net, hidden, 2)
        self.key, self.value, self.receptance = (
            net.linear(name, hidden, inner) for name in ("key", "value", "receptance")
        )
        self.out = net.linear("output", inner, hidden)
        self.up, self.gate = (
            net.linear("key", hidden, ffn),
            net.linear("receptance", hidden, hidden),
        )
        self.down = net.linear("value", ffn, hidden)

    def __call__(self, x: Tensor) -> Tensor:
        x = x if self.first_norm is None else self.first_norm(x)
        x = ops.add(self.net.tape, x, self._over_time(self.norms[0](x)))
        return ops.add(self.net.tape, x, self._over_channels(self.norms[1](x)))

    def _over_time(self, x: Tensor) -> Tensor:
        key, value, gate = self.shifts[0](array(self.net.tape, x))
        key, value = dense(self.key, key), dense(self.value, value)
        gate = dense(self.receptance, gate).of_result()
        return dense(self.out, gate * looped([key, value], 11))

    def _over_channels(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        key, gate = self.shifts[1](array(tape, x))
        key = array(tape, activate(tape, dense(self.up, key), "relu2"))
        value = dense(self.down, key)
        gate = dense(self.gate, gate).of_result()
        return gate * value


class Rwkv:
    """Embedding, blocks, norm and head."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden, vocab = net, config["hidden_size"], config["vocab_size"]
        self.table = net.parameter(vocab, hidden)
        self.blocks = [RwkvBlock(net, config, at == 0) for at in range(config["num_hidden_layers"])]
        self.norm = Norm(net, "layer", hidden)
        self.head = Linear(
            net,
            self.table if config.get("tie_word_embeddings") else net.parameter(vocab, hidden),
            None,
        )

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the logits."""
        net, setting = self.net, self.net.setting
        _ids = net.given(setting.batch, setting.length, dtype=I64)
        x = embedded = entering(
            net, ops.embedding(net.tape, self.table, (setting.batch, setting.length))
        )
        for block in self.blocks:
            x = checkpointed(net, block, x)
        x = self.norm(x)
        logits = self.head(x)
        del embedded
        return next_token_loss(net.tape, logits) if setting.training else logits


RECURRENT: dict[str, Callable[[dict[str, Any]], Callable[[Net], Any]]] = {
    "recurrent_gemma": recurrent_gemma, "rwkv": lambda config: lambda net: Rwkv(net, config),
}  # fmt: skip
"""Networks of such layers by model_type."""
