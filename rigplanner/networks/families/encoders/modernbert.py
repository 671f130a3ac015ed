"""ModernBERT on the tape, encoder and decoder: it normalises first, rotates positions in float, and
looks far in every third layer only."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import (
    Rope,
    activate,
    attend,
    rope_tables,
    rotate,
    softmax_wide,
)
from rigplanner.networks.families.decoders.decoder import next_token_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import BOOL, F32, I64, Tensor, new

EVERY = 3
"""One layer in three attends to everything (Warner et al. 2024, arXiv 2412.13663)."""


def _norm(net: Net, config: dict[str, Any]) -> Norm:
    return Norm(net, "layer" if config.get("norm_bias") else "layer_plain", config["hidden_size"])


def causal(config: dict[str, Any]) -> bool:
    """Whether it is the decoder."""
    return bool(config["model_type"] == "modernbert-decoder")


class ModernBlock:
    """Norm, attention, residual; norm, gated feed-forward layer, residual. The first layer has no
    norm before its attention."""

    def __init__(self, net: Net, config: dict[str, Any], first: bool) -> None:
        self.net, self.config, hidden, ffn = (
            net,
            config,
            config["hidden_size"],
            config["intermediate_size"],
        )
        self.heads, self.share = (
            config["num_attention_heads"],
            config.get("attention_dropout") or 0.0,
        )
        bias, fed = bool(config.get("attention_bias")), bool(config.get("mlp_bias"))
        self.first_norm = None if first else _norm(net, config)
        self.apart = (
            [net.linear(name, hidden, hidden, bias) for name in ("q_proj", "k_proj", "v_proj")]
            if causal(config)
            else []
        )
        self.joint = None if self.apart else net.linear("Wqkv", hidden, 3 * hidden, bias)
        self.out = net.linear("Wo", hidden, hidden, bias)
        self.last_norm, self.ffn = _norm(net, config), ffn
        self.up, self.down = (
            net.linear("Wi", hidden, 2 * ffn, fed),
            net.linear("Wo", ffn, hidden, fed),
        )

    def __call__(self, x: Tensor, rope: Rope, mask: Tensor | None) -> Tensor:
        tape, training = self.net.tape, self.net.setting.training
        attended, weights = self._attend(
            x if self.first_norm is None else self.first_norm(x), rope, mask
        )
        x = ops.add(tape, x, ops.dropout(tape, attended, self.share, training))
        if not self.apart:
            del attended, weights
        return ops.add(tape, x, self._feed(self.last_norm(x)))

    def _feed(self, x: Tensor) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        source, gate = ops.split(tape, self.up(x), (self.ffn, self.ffn))
        product = ops.mul(tape, activate(tape, source, "gelu"), gate)
        return self.down(
            ops.dropout(tape, product, self.config.get("mlp_dropout") or 0.0, setting.training)
        )

    def _attend(self, x: Tensor, rope: Rope, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        tape, setting, hidden = self.net.tape, self.net.setting, x.shape[-1]
        shape = (setting.batch, self.heads, setting.length, hidden // self.heads)
        pieces = (
            [side(x) for side in self.apart]
            if self.joint is None
            else ops.split(tape, self.joint(x), (hidden,) * 3)
        )
        query, key, value = (piece.view(*shape) for piece in pieces)
        query, key = self._turned(query, rope), self._turned(key, rope)
        if not setting.eager:
            return self.out(
                attend(self.net, query, key, value, mask, self.share).view(*x.shape)
            ), None
        square = (*shape[:2], setting.length, setting.length)
        weights = ops.sub_self(
            tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)
        )
        if mask is not None:
            weights = ops.add(tape, weights, mask)
        weights = ops.cast(tape, softmax_wide(tape, weights), query.dtype)
        weights = ops.dropout(tape, weights, self.share, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape))
        return self.out(result.view(*x.shape)), weights

    def _turned(self, x: Tensor, rope: Rope) -> Tensor:
        tape = self.net.tape
        return ops.cast(tape, rotate(tape, ops.cast(tape, x, F32), rope), x.dtype)


class ModernBert:
    """Embedding, blocks, and the head that names masked tokens."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden = net, config, config["hidden_size"]
        self.table, self.norm = net.parameter(config["vocab_size"], hidden), _norm(net, config)
        self.blocks = [
            ModernBlock(net, config, at == 0) for at in range(config["num_hidden_layers"])
        ]
        self.last_norm = _norm(net, config)
        self.transform, self.head_norm = (
            net.linear("dense", hidden, hidden, bool(config.get("classifier_bias"))),
            _norm(net, config),
        )
        tied = config.get("tie_word_embeddings", True)
        table = self.table if tied else net.parameter(config["vocab_size"], config["hidden_size"])
        self.head = Linear(
            net,
            table,
            net.parameter(config["vocab_size"]) if config.get("decoder_bias", True) else None,
        )

    def hidden(self) -> Tensor:
        """The states after the last norm."""
        net, tape, setting, config = self.net, self.net.tape, self.net.setting, self.config
        embedded = ops.embedding(tape, self.table, (setting.batch, setting.length))
        x = ops.dropout(
            tape, self.norm(embedded), config.get("embedding_dropout") or 0.0, setting.training
        )
        near = self._near(x.dtype)
        everything = self._near(x.dtype) if causal(config) else None
        width = config["hidden_size"] // config["num_attention_heads"]
        samples = setting.batch if causal(config) else 1
        ropes = [rope_tables(net, width, x.dtype, samples) for _ in range(2)]
        for at, block in enumerate(self.blocks):
            far = at % (config.get("global_attn_every_n_layers") or EVERY) == 0
            mask, rope = everything if far else near, ropes[0 if far else 1]
            x = checkpointed(
                net, lambda y, block=block, rope=rope, mask=mask: block(y, rope, mask), x
            )
        x = self.last_norm(x)
        del embedded
        return x

    def _near(self, dtype: str) -> Tensor:
        setting, tape = self.net.setting, self.net.tape
        return new(
            tape,
            (setting.batch, 1, setting.length, setting.length),
            dtype if setting.eager else BOOL,
        )

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if self.net.setting.headless:
            return states
        scores = self.head(self.head_norm(activate(tape, self.transform(states), "gelu")))
        return next_token_loss(tape, scores) if net.setting.training else scores
