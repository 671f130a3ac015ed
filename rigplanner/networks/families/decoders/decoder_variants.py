"""Decoders that differ from the shared block in one piece: layers that text passes by, kinds of
heads by layer, a last bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.config.config import defaults
from rigplanner.networks.families.decoders.attention import Attention, Rope, qk_norm, repeat_heads
from rigplanner.networks.families.decoders.decoder import Block, Decoder, Feed, Mlp, attention_of
from rigplanner.networks.families.decoders.decoder_forms import expert_form
from rigplanner.networks.families.decoders.delta import ApartDelta
from rigplanner.networks.families.decoders.eager_scores import FromZeros, below_greatest
from rigplanner.networks.families.decoders.moe import LoopedExperts, feeding
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.tape import Tensor


class PassedBy:
    """A layer that looks at pictures: text without any passes it by."""

    def __init__(self, net: Net, form: Form) -> None:
        with net.unreached():
            self.attention, self.mlp = Attention(net, form), Mlp(net, form)
            self.norms = [Norm(net, "rms", form.hidden) for _ in range(2)]
            self.heads = [
                qk_norm(
                    net,
                    structs.replace(form, traits=structs.replace(form.traits, qk_norm="head")),
                    1,
                )
                for _ in "qk"
            ]
            self.gates = [net.parameter(1) for _ in range(2)]


def mllama(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The text part of Llama 3.2 Vision (transformers, MllamaTextConfig), without a picture."""
    looks = config.get("cross_attention_layers") or ()
    form = structs.replace(form, spare_rows=8)

    def block(net: Net, form: Form, feed: Feed, at: int, attends: Any) -> PassedBy | Block:
        return PassedBy(net, form) if at in looks else Block(net, form, feed, at, attends)

    def made(net: Net) -> Decoder:
        decoder = Decoder(net, form, block=block)
        decoder.blocks = [one for one in decoder.blocks if not isinstance(one, PassedBy)]
        return decoder

    return made


def olmo_hybrid(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, OlmoHybridConfig): norms stand before layers
    that follow the delta rule, and after those that attend."""
    delta = form.delta
    early = structs.replace(form, traits=structs.replace(form.traits, block="pre"))

    def attends(net: Net, form: Form, at: int) -> Any:
        return (
            ApartDelta(net, form.hidden, delta)
            if delta is not None and at in delta.layers
            else Attention(net, form)
        )

    def block(net: Net, form: Form, feed: Feed, at: int, attends: Any) -> Block:
        return Block(
            net, early if delta is not None and at in delta.layers else form, feed, at, attends
        )

    return lambda net: Decoder(net, form, attends=attends, block=block)


def phi4_multimodal(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The language model of a configuration (transformers, Phi4MultimodalConfig); the parts that
    see and hear are there, and text without a picture or a sound does not reach them."""
    told = {
        name: {
            **(defaults().get(f"phi4_multimodal_{name}") or {}),
            **(config.get(f"{name}_config") or {}),
        }
        for name in ("vision", "audio")
    }
    beside = _seeing(told["vision"], form.hidden) + _hearing(told["audio"], form.hidden)

    def made(net: Net) -> Decoder:
        with net.unreached():
            net.parameter(beside)
        return Decoder(net, form)

    return made


def _seeing(told: dict[str, Any], text: int) -> int:
    """Values of SigLIP's tower with its pooling head, marks between pieces, and two linear layers
    to the text."""
    width, ffn, patch = (
        int(told["hidden_size"]),
        int(told["intermediate_size"]),
        int(told["patch_size"]),
    )
    fed, places = 2 * width * ffn + ffn + width, (int(told["image_size"]) // patch) ** 2
    layer = 4 * (width * width + width) + fed + 4 * width
    head = 4 * (width * width + width) + fed + 3 * width
    stem = 3 * patch * patch * width + width + places * width
    return (
        int(told["num_hidden_layers"]) * layer
        + head
        + stem
        + 4 * width
        + (width + 1) * text
        + (text + 1) * text
    )


def _hearing(told: dict[str, Any], text: int) -> int:
    """Values of the Conformer, its convolutions over bands and time, a table of distances, and two
    pairs of linear layers."""
    width, ffn, inner = (
        int(told["hidden_size"]),
        int(told["intermediate_size"]),
        int(told["nemo_conv_channels"]),
    )
    out, apart = int(told["ext_pw_out_channel"]), int(told["depthwise_separable_out_channel"])
    kernel = int(told["kernel_size"])
    fed = 2 * width + (width + 1) * 2 * ffn + (ffn + 1) * width
    spread = width * int(told["depthwise_multiplier"])
    mixed = (
        2 * width
        + 2 * out
        + (width + 1) * 2 * out
        + spread * (kernel + 1)
        + (spread + 1) * apart
        + (width + 1) * out
    )
    layer = 2 * fed + 4 * (width + 1) * width + mixed + 4 * width
    stem = (
        3 * 10 * inner
        + 2 * (inner + 1) * inner
        + (inner * int(told["nemo_final_size"]) + 1) * width
    )
    table = 2 * int(told["bias_max_distance"]) * int(told["num_attention_heads"])
    return (
        int(told["num_blocks"]) * layer
        + stem
        + table
        + 2 * ((width + 1) * text + (text + 1) * text)
    )


def dbrx(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, DbrxConfig)."""
    experts = expert_form(config)
    assert experts is not None
    return lambda net: Decoder(net, form, lambda net, form, _: LoopedExperts(net, form, experts))


class LastBias(FromZeros):
    """Attention whose result gets a bias."""

    def __init__(self, net: Net, form: Form) -> None:
        super().__init__(net, form)
        self.bias = net.parameter(form.hidden)

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        result, weights = super().__call__(x, rope, mask)
        return ops.add(self.net.tape, result, self.bias), weights


def gpt_neox_japanese(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, GPTNeoXJapaneseConfig): only the last layer's
    attention has a bias."""

    def attends(net: Net, form: Form, at: int) -> Any:
        return LastBias(net, form) if at == form.layers - 1 else attention_of(net, form, at)

    return lambda net: Decoder(net, form, attends=attends)


class NarrowValues(Attention):
    """Values of another width than queries and keys, scaled at once; in layers of a window every
    head has a sink (MiMo-V2)."""

    def __init__(self, net: Net, form: Form, values: int) -> None:
        self.net, self.form, self.values, bias = net, form, values, form.traits.qkv_bias
        self.turned = []
        self.query = net.linear("q_proj", form.hidden, form.heads * form.head_dim, bias)
        self.key = net.linear("k_proj", form.hidden, form.kv_heads * form.head_dim, bias)
        self.value = net.linear("v_proj", form.hidden, form.kv_heads * values, bias)
        self.out = net.linear("o_proj", form.heads * values, form.hidden)
        self.sinks, self.joins = (net.parameter(form.heads) if form.traits.sinks else None), True

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form = self.net.tape, self.form
        query, key = self._heads(self.query(x), form.heads), self._heads(self.key(x), form.kv_heads)
        value = ops.sub_self(tape, self.value(x)).view(
            x.shape[0], form.kv_heads, x.shape[1], self.values
        )
        if rope is not None:
            query, key = self._rotated(query, rope), self._rotated(key, rope)
        keys, values = repeat_heads(tape, key, form.heads), repeat_heads(tape, value, form.heads)
        square = (x.shape[0], form.heads, x.shape[1], x.shape[1])
        scores = ops.sub_self(tape, self._scores(query, keys, True, square))
        scores = scores if mask is None else ops.add(tape, scores, mask)
        weights = below_greatest(tape, scores, self.sinks)
        weights = ops.dropout(
            tape, weights, form.traits.attention_dropout, self.net.setting.training
        )
        values = values if values is not value else ops.packed(tape, values)
        result = ops.unpacked(tape, ops.bmm(tape, weights, values, (*query.shape[:3], self.values)))
        return self.out(result.view(x.shape[0], x.shape[1], form.heads * self.values)), weights


def mimo(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, MiMoV2FlashConfig): twice the heads of keys in
    layers of a window."""
    experts, kinds, values = expert_form(config), config["layer_types"], config["v_head_dim"]

    def attends(net: Net, form: Form, at: int) -> NarrowValues:
        near = kinds[at] == "sliding_attention"
        own = structs.replace(
            form,
            kv_heads=form.kv_heads * (2 if near else 1),
            traits=structs.replace(form.traits, sinks=near),
        )
        return NarrowValues(net, own, values)

    return lambda net: Decoder(net, form, feeding(experts), attends)
