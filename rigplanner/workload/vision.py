"""Vision transformers on the tape."""

from __future__ import annotations

from typing import Any

from rigplanner.workload import ops
from rigplanner.workload.attention import activate, softmax_wide
from rigplanner.workload.convnets import CLASSES
from rigplanner.workload.encoder import class_loss
from rigplanner.workload.net import Net, Norm, checkpointed
from rigplanner.workload.tape import Tensor


class VitBlock:
    """Norm, attention, residual; norm, feed-forward, residual; `scaled` multiplies both results by a vector (DINOv2, BEiT)."""

    def __init__(self, net: Net, config: dict[str, Any], tokens: int) -> None:
        self.net, self.heads, self.tokens = net, config["num_attention_heads"], tokens
        hidden, family = config["hidden_size"], config["model_type"]
        ffn = config.get("intermediate_size") or int(config["mlp_ratio"] * hidden)
        self.hidden, self.narrow = hidden, family == "dinov2"
        bias = config.get("qkv_bias", True)
        self.first_norm, self.last_norm = Norm(net, "layer", hidden), Norm(net, "layer", hidden)
        self.query, self.key = (
            net.linear("query", hidden, hidden, bias),
            net.linear("key", hidden, hidden, bias and family != "beit"),
        )
        self.value, self.out = net.linear("value", hidden, hidden, bias), net.linear("dense", hidden, hidden, True)
        self.up, self.down = net.linear("dense", hidden, ffn, True), net.linear("dense", ffn, hidden, True)
        scaled = family in ("beit", "dinov2")
        self.scales = (net.parameter(hidden), net.parameter(hidden)) if scaled else (None, None)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        residual = x
        x = self.first_norm(x)
        x, _weights = self._attend(x)
        x = ops.add(tape, self._scaled(x, 0), residual)
        residual = x
        x = self.last_norm(x)
        x = self.down(activate(tape, self.up(x), "gelu"))
        return ops.add(tape, self._scaled(x, 1), residual)

    def _scaled(self, x: Tensor, at: int) -> Tensor:
        scale = self.scales[at]
        return x if scale is None else ops.mul(self.net.tape, x, scale)

    def _attend(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        tape, batch = self.net.tape, self.net.setting.batch
        shape = (batch, self.heads, self.tokens, self.hidden // self.heads)
        query, key, value = self.query(x).view(*shape), self.key(x).view(*shape), self.value(x).view(*shape)
        if not self.net.setting.eager:
            return self.out(ops.fused_attention(tape, query, key, value, None).view(*x.shape)), None
        square = (batch, self.heads, self.tokens, self.tokens)
        weights = ops.sub_self(tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square))
        weights = ops.keeping_result(tape, weights) if self.narrow else ops.cast(tape, softmax_wide(tape, weights), query.dtype)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape))
        return self.out(result.view(*x.shape)), weights


class Vit:
    """Patches, class token, blocks, classifier."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.family, hidden, self.patch = net, config["model_type"], config["hidden_size"], config["patch_size"]
        self.side = net.setting.length // self.patch
        extra = 2 if self.family == "deit" else 1
        count = (config.get("num_register_tokens") or 4) if self.family == "dinov2_with_registers" else 0
        self.family = "dinov2" if count else self.family
        config = {**config, "model_type": self.family}
        self.tokens = self.side**2 + extra + count
        trained_side = _edge(config["image_size"]) // self.patch
        self.kernel, self.bias = net.parameter(hidden, 3, self.patch, self.patch), net.parameter(hidden)
        self.class_token = [net.parameter(1, 1, hidden) for _ in range(extra)]
        self.positions = net.parameter(1, trained_side**2 + extra, hidden) if self.family != "beit" else None
        if self.family == "dinov2":
            net.parameter(1, hidden)
        self.registers = net.parameter(1, count, hidden) if count else None
        self.blocks = [VitBlock(net, config, self.tokens) for _ in range(config["num_hidden_layers"])]
        self.norm = Norm(net, "layer", hidden)
        self.head = net.linear("classifier", hidden * (2 if self.family == "dinov2" else 1), CLASSES, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self._embed(image)
        embedded = x
        for block in self.blocks:
            x = checkpointed(net, block, x)
        x = self.norm(x)
        if self.family == "dinov2":
            means = ops.reduce_to(tape, ops.cut(tape, x, (x.shape[0], self.tokens - 1, x.shape[2])), (x.shape[0], x.shape[2]))
            scores = self.head(ops.cat(tape, (ops.cut(tape, x, (x.shape[0], x.shape[2])), means)))
        elif self.family == "beit":
            scores = self.head(
                ops.reduce_to(tape, ops.cut(tape, x, (x.shape[0], self.tokens - 1, x.shape[2])), (x.shape[0], x.shape[2]))
            )
        else:
            scores = self.head(ops.cut(tape, x, (x.shape[0], x.shape[2])))
        del image, embedded
        return class_loss(net, scores) if net.setting.training else scores

    def _embed(self, image: Tensor) -> Tensor:
        tape, batch = self.net.tape, self.net.setting.batch
        x = ops.convolution(tape, image, self.kernel, self.bias, self.patch, 0)
        x = x.view(batch, x.shape[2] * x.shape[3], x.shape[1])
        token = self.class_token[0]
        wide = [Tensor((batch, 1, x.shape[2]), token.dtype, token.storage) for _ in self.class_token]
        x = ops.cat(tape, (*wide, x), 1)
        x = x if self.positions is None else ops.add(tape, x, self.positions)
        if self.registers is None:
            return x
        first, rest = ops.cut(tape, x, (batch, 1, x.shape[2])), ops.cut(tape, x, (batch, x.shape[1] - 1, x.shape[2]))
        spread = Tensor((batch, *self.registers.shape[1:]), x.dtype, self.registers.storage)
        return ops.cat(tape, (first, spread, rest), 1)


def _edge(size: int | list[int]) -> int:
    return size if isinstance(size, int) else size[0]
