"""MobileViT on the tape, first and second: convolutions that write small maps, and attention
between the pixels of equal place in their patches, linear in the second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rigplanner.networks.families.decoders.attention import activate
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.convnets import Conv, Inverted, bare_conv, divisible
from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, Tensor

LAYERS = (2, 4, 3)
"""Layers of attention in the three last stages (Mehta and Rastegari 2022, table 4)."""

Layer = Callable[[Tensor], Tensor]


def inverted(net: Net, config: dict[str, Any], inputs: int, outputs: int, stride: int) -> Inverted:
    """Return MobileNet v2's block with this network's activation, whose convolutions pad for
    themselves."""
    return Inverted(net, config, inputs, outputs, stride, config["hidden_act"], same=False)


class PatchLayer:
    """Attention and feed-forward layer over pixels of equal place."""

    def __init__(self, net: Net, config: dict[str, Any], width: int) -> None:
        self.net, self.heads = net, config["num_attention_heads"]
        self.share, self.attention_share = (
            config["hidden_dropout_prob"],
            config["attention_probs_dropout_prob"],
        )
        bias, inner = config.get("qkv_bias", True), int(width * config["mlp_ratio"])
        self.query, self.key, self.value = (
            net.linear(name, width, width, bias) for name in ("query", "key", "value")
        )
        self.out = net.linear("dense", width, width, True)
        self.up, self.down = (
            net.linear("dense", width, inner, True),
            net.linear("dense", inner, width, True),
        )
        self.norms = Norm(net, "layer", width), Norm(net, "layer", width)
        self.act = ACTS.get(config["hidden_act"], "gelu")

    def __call__(self, x: Tensor) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        x = ops.add(
            tape, ops.dropout(tape, self.out(self._attend(self.norms[0](x))), self.share, trains), x
        )
        fed = self.down(activate(tape, self.up(self.norms[1](x)), self.act))
        return ops.add(tape, ops.dropout(tape, fed, self.share, trains), x)

    def _attend(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        shape = (x.shape[0], self.heads, x.shape[1], x.shape[2] // self.heads)
        query, key, value = (
            self.query(x).view(*shape),
            self.key(x).view(*shape),
            self.value(x).view(*shape),
        )
        scores = ops.sub_self(tape, self._scores(query, key))
        raised = F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, scores, raised))
        weights = ops.dropout(tape, weights, self.attention_share, self.net.setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape))
        del scores
        return result.view(*x.shape)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        tape, square = self.net.tape, (*query.shape[:3], query.shape[2])
        return ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)


class PatchStage:
    """A reduction, convolutions, attention over the unfolded map, and the join with the map
    before."""

    def __init__(self, net: Net, config: dict[str, Any], at: int) -> None:
        act, kernel = config["hidden_act"], config["conv_kernel_size"]
        inputs, outputs = config["neck_hidden_sizes"][at + 2 : at + 4]
        width = config["hidden_sizes"][at]
        self.net, self.patch = net, config["patch_size"]
        self.down = inverted(net, config, inputs, outputs, 2)
        self.local = Conv(net, outputs, outputs, kernel, act=act)
        self.widen = Conv(net, outputs, width, 1, act="", norm=False)
        self.layers = [PatchLayer(net, config, width) for _ in range(LAYERS[at])]
        self.norm = Norm(net, "layer", width)
        self.narrow = Conv(net, width, outputs, 1, act=act)
        self.join = Conv(net, 2 * outputs, outputs, kernel, act=act)

    def __call__(self, x: Tensor) -> Tensor:
        tape, given = self.net.tape, x
        residual = self.down(x)
        x = self.widen(self.local(residual))
        high, whole = x.shape[2], -(-x.shape[2] // self.patch) * self.patch
        patches = self._unfolded(x, whole)
        y = patches
        for layer in self.layers:
            y = layer(y)
        patches = y = self.norm(y)
        x = ops.copy(tape, ops.copy(tape, y)).view(x.shape[0], x.shape[1], whole, whole)
        x = x if whole == high else ops.resized(tape, x, (*x.shape[:2], high, high))
        x = self.narrow(x)
        del given
        return self.join(ops.cat(tape, (residual, x), 1))

    def _unfolded(self, x: Tensor, whole: int) -> Tensor:
        tape, area = self.net.tape, self.patch**2
        x = x if whole == x.shape[2] else ops.resized(tape, x, (*x.shape[:2], whole, whole))
        return ops.copy(tape, ops.copy(tape, x)).view(
            x.shape[0] * area, whole**2 // area, x.shape[1]
        )


class MobileVit:
    """MobileViT (Mehta and Rastegari 2022) as transformers writes it."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, neck, act = net, config["neck_hidden_sizes"], config["hidden_act"]
        self.stem = Conv(net, 3, neck[0], 3, stride=2, act=act)
        self.first = [
            inverted(net, config, neck[0], neck[1], 1),
            inverted(net, config, neck[1], neck[2], 2),
        ]
        self.first += [inverted(net, config, neck[2], neck[2], 1) for _ in range(2)]
        self.stages = [PatchStage(net, config, at) for at in range(3)]
        self.last = Conv(net, neck[5], neck[6], 1, act=act)
        self.head = net.linear("classifier", neck[6], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        return staged_loss(self.net, self.stem, self.first, self.stages, self.last, self.head)


def staged_loss(
    net: Net,
    stem: Layer,
    first: Sequence[Layer],
    stages: Sequence[Layer],
    last: Layer | None,
    head: Layer,
) -> Tensor:
    """The loss of the class of an image that goes through a stem, blocks and stages; without
    training, the scores."""
    tape, side = net.tape, net.setting.length
    image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
    x = stemmed = stem(image)
    for block in first:
        x = block(x)
    for stage in stages:
        x = checkpointed(net, stage, x)
    x = last(x) if last else x
    scores = head(ops.reduce_to(tape, x, x.shape[:2]))
    del image, stemmed
    return class_loss(net, scores) if net.setting.training else scores


STAGES = (32, 64, 128, 256, 384, 512)
"""Channels of the stages at width 1 (Mehta and Rastegari 2022, arXiv 2206.02680)."""


class GroupNorm:
    """A norm over all channels of a sample."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.sides = net, (net.parameter(width), net.parameter(width))

    def __call__(self, x: Tensor) -> Tensor:
        return group_norm(self.net.tape, x, *self.sides)


class LinearAttention:
    """One score per position weighs the keys, whose sum multiplies the values."""

    def __init__(self, net: Net, width: int, share: float) -> None:
        self.net, self.width, self.share = net, width, share
        self.joint = bare_conv(net, width, 1 + 2 * width, 1)
        self.out = bare_conv(net, width, width, 1)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        joint = self.joint(x)
        query, key, value = ops.split_channels(tape, joint, (1, self.width, self.width))
        scores = ops.dropout(
            tape, ops.keeping_result(tape, query), self.share, self.net.setting.training
        )
        context = ops.mul(tape, key, scores)
        context = ops.reduce_to(tape, context, (*x.shape[:3], 1), spreads=False)
        y = ops.mul(tape, ops.keeping_result(tape, value), context)
        return self.out(y)


class LinearLayer:
    """Norm, linear attention, residual; norm, two convolutions, residual."""

    def __init__(self, net: Net, config: dict[str, Any], width: int) -> None:
        self.net, self.share = net, config["ffn_dropout"]
        inner = int(config["ffn_multiplier"] * width // 16 * 16)
        self.first_norm, self.attention = (
            GroupNorm(net, width),
            LinearAttention(net, width, config["attn_dropout"]),
        )
        self.last_norm = GroupNorm(net, width)
        self.up = Conv(net, width, inner, 1, bias=True, norm=False, act="silu")
        self.down = bare_conv(net, inner, width, 1)

    def __call__(self, x: Tensor) -> Tensor:
        tape, trains = self.net.tape, self.net.setting.training
        normed = self.first_norm(x)
        attended = self.attention(normed)
        x = ops.add(tape, attended, x)
        fed = self.last_norm(x)
        fed = self.up(fed)
        fed = self.down(ops.dropout(tape, fed, self.share, trains))
        fed = ops.dropout(tape, fed, self.share, trains)
        return ops.add(tape, fed, x)


class LinearStage:
    """A reduction, convolutions, attention over the unfolded map, folded and projected."""

    def __init__(
        self, net: Net, config: dict[str, Any], inputs: int, outputs: int, at: int
    ) -> None:
        width = divisible(config["base_attn_unit_dims"][at] * config["width_multiplier"], 8)
        self.net, self.patch = net, config["patch_size"]
        self.down = inverted(net, config, inputs, outputs, 2)
        self.local = Conv(
            net, outputs, outputs, config["conv_kernel_size"], groups=outputs, act="silu"
        )
        self.widen = Conv(net, outputs, width, 1, act="", norm=False)
        self.layers = [LinearLayer(net, config, width) for _ in range(config["n_attn_blocks"][at])]
        self.norm = GroupNorm(net, width)
        self.project = Conv(net, width, outputs, 1, act="")

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = self.down(x)
        x = self.local(x)
        x = self.widen(x)
        batch, width, side, _ = x.shape
        patches = ops.sub_self(tape, x).view(
            batch, width, self.patch**2, side * side // self.patch**2
        )
        for layer in self.layers:
            patches = layer(patches)
        patches = self.norm(patches)
        x = ops.sub_self(tape, patches).view(batch, width, side, side)
        return self.project(x)


class MobileVit2:
    """MobileViT v2 with a classifier (Mehta and Rastegari 2022)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, wide = net, config["width_multiplier"]
        first = divisible(max(16, min(64, STAGES[0] * wide)), 8, 16)
        widths = [
            first,
            divisible(STAGES[1] * wide, 16),
            *(divisible(base * wide, 8) for base in STAGES[2:]),
        ]
        self.stem = Conv(net, 3, widths[0], 3, stride=2, act="silu")
        self.first = [
            inverted(net, config, widths[0], widths[1], 1),
            inverted(net, config, widths[1], widths[2], 2),
            inverted(net, config, widths[2], widths[2], 1),
        ]
        self.stages = [
            LinearStage(net, config, widths[at + 2], widths[at + 3], at) for at in range(3)
        ]
        self.head = net.linear("classifier", widths[-1], net.classes, True)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        return staged_loss(self.net, self.stem, self.first, self.stages, None, self.head)
