"""ZAYA1 on the tape: queries and keys convolved over time, states in float that are scaled before
every sum, a router whose states pass from layer to layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import Attention, Rope
from rigplanner.networks.families.decoders.decoder import Decoder
from rigplanner.networks.families.decoders.moe import ExpertForm, visit
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.products import cat, conv1d, dense
from rigplanner.networks.tracer.strided import Array, array, empty
from rigplanner.networks.tracer.tape import F32, Tensor, new


class MixedInTime(Attention):
    """Queries and keys together through two convolutions, plus what both were before; half of every
    value is that of the token before."""

    def __init__(self, net: Net, form: Form, kernels: tuple[int, int]) -> None:
        self.net, self.form, self.kernels, self.joins, self.turned = net, form, kernels, True, []
        self.gate = self.sinks = self.sub_norm = self.query_norm = self.key_norm = None
        wide, narrow, bias = (
            form.heads * form.head_dim,
            form.kv_heads * form.head_dim,
            form.traits.qkv_bias,
        )
        self.query, self.key = (
            net.linear(name, form.hidden, size, bias)
            for name, size in (("q_proj", wide), ("k_proj", narrow))
        )
        self.values = [
            net.linear(name, form.hidden, narrow // 2, bias)
            for name in ("v_proj_current", "v_proj_delayed")
        ]
        self.filters = [
            (net.parameter(wide + narrow, inside, kernel), net.parameter(wide + narrow))
            for inside, kernel in zip((1, form.head_dim), kernels, strict=True)
        ]
        self.scale = net.parameter(form.kv_heads)
        self.out = net.linear("o_proj", wide, form.hidden)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self._mixed(array(self.net.tape, x))
        query, key = self._of_length(query), self._of_length(key)
        form = self.form
        key = key * array(self.net.tape, self.scale).reshape(1, 1, -1, 1)
        return (
            self._heads(query, form.heads),
            self._heads(key, form.kv_heads),
            self._heads(value, form.kv_heads),
        )

    def _mixed(self, x: Array) -> tuple[Array, Array, Array]:
        form, shape, each = self.form, x.shape[:2], self.form.heads // self.form.kv_heads
        first, second = dense(self.query, x), dense(self.key, x)
        both = cat([first, second], -1)
        wide, narrow = (side.reshape(*shape, -1, form.head_dim) for side in (first, second))
        before = -(wide + narrow.repeated(each, 2))
        narrow = (
            before.reshape(*shape, form.kv_heads, each, form.head_dim)
            .mean(3)
            .reshape(*shape, form.kv_heads, form.head_dim)
        )
        both = both.transpose(1, 2).padded(2, sum(self.kernels) - 2)
        for weight, bias in self.filters:
            both = conv1d(both, weight, bias, 0)
        both = both.transpose(1, 2)
        size = form.heads * form.head_dim
        query = both.cut(2, size).reshape(*shape, -1, form.head_dim) + before
        key = both.cut(2, both.shape[2] - size).reshape(*shape, -1, form.head_dim) + narrow
        current, delayed = (dense(side, x) for side in self.values)
        late = cat(
            [empty(x.tape, (shape[0], 1, delayed.shape[2]), x.dtype), delayed.cut(1, shape[1] - 1)],
            1,
        )
        return query, key, cat([current, late], -1).reshape(*shape, -1, form.head_dim)

    def _of_length(self, x: Array) -> Array:
        """Every head by its length, which keeps the head."""
        length = x.squared().sum(-1).of_result()
        return x * length.of_result()


class Scaled:
    """What a layer found and the states, each shifted and scaled, and their sum."""

    def __init__(self, net: Net, hidden: int) -> None:
        self.net, self.sides = (
            net,
            [(net.parameter(hidden), net.parameter(hidden)) for _ in range(2)],
        )

    def __call__(self, x: Tensor, residual: Tensor) -> Tensor:
        tape = self.net.tape
        one, two = (
            ops.mul(tape, ops.add(tape, side, shift), scale)
            for side, (shift, scale) in zip((x, residual), self.sides, strict=True)
        )
        return ops.add(tape, one, two)


class RouterOfLayers:
    """Experts chosen by narrow states of the router's own, to which those of the layer before are
    added."""

    def __init__(self, net: Net, form: Form, experts: ExpertForm, width: int, first: bool) -> None:
        self.net, self.experts, self.first = net, experts, first
        self.narrow = net.linear("down_proj", form.hidden, width, True)
        self.scale = None if first else net.parameter(width)
        self.norm = Norm(net, "rms", width)
        self.inner = [net.linear(name, width, width, True) for name in ("fc1", "fc2")]
        self.told = net.linear("out_proj", width, experts.experts + 1)
        net.buffer(experts.experts + 1)
        self.up = net.parameter(experts.experts, 2 * experts.ffn, form.hidden)
        self.down = net.parameter(experts.experts, form.hidden, experts.ffn)

    def __call__(self, x: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
        tape, shape = self.net.tape, x.shape
        states = self.narrow(x)
        if self.scale is not None and before is not None:
            states = ops.add(tape, states, ops.mul(tape, before, self.scale))
        later = ops.copy(tape, states)
        told = self.norm(states)
        for layer in self.inner:
            told = ops.keeping_input(tape, layer(told))
        odds = ops.keeping_result(tape, self.told(told))
        _biased = new(tape, odds.shape, F32)
        rows = odds.view(shape[0] * shape[1], odds.shape[2])
        result = visit(
            tape,
            x.view(shape[0] * shape[1], shape[2]),
            rows,
            self.up,
            self.down,
            self.experts,
            odds.dtype,
        )
        return result.view(*shape), later


class ZayaBlock:
    """One layer; the states of the router go to the next one by `passed`, and are kept where the
    layer will be run again."""

    def __init__(
        self,
        net: Net,
        form: Form,
        experts: ExpertForm,
        config: dict[str, Any],
        at: int,
        passed: list[Tensor],
    ) -> None:
        self.net, self.passed = net, passed
        self.kept: list[Tensor] | None = None
        self.attention = MixedInTime(net, form, (config["cca_time0"], config["cca_time1"]))
        self.mlp = RouterOfLayers(net, form, experts, config["router_hidden_size"], at == 0)
        self.norms = [Norm(net, form.traits.norm, form.hidden) for _ in range(2)]
        self.scaled = [Scaled(net, form.hidden) for _ in range(2)]
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, low, residual = self.net.tape, self.net.setting.dtype, x
        x, _weights = self.attention(self.norms[0](ops.cast(tape, residual, low)), rope, mask)
        residual = self.scaled[0](x, residual)
        x = self.norms[1](ops.cast(tape, residual, low))
        again = self.kept is not None
        before = self.passed if self.kept is None else self.kept
        if self.net.setting.checkpointing and self.net.setting.training:
            self.kept = None if again else [*self.passed]
        x, later = self.mlp(x, before[0] if before else None)
        if not again:
            self.passed[:] = [later]
        return self.scaled[1](x, residual)


class ZayaDecoder(Decoder):
    """Embedded tokens are shifted, scaled and raised to float; the head takes what the last norm
    gives."""

    sides: tuple[Tensor, Tensor]

    def before(self, x: Tensor) -> Tensor:
        tape, (shift, scale) = self.net.tape, self.sides
        return ops.cast(tape, ops.mul(tape, ops.add(tape, x, shift), scale), F32)

    def after(self, x: Tensor) -> Tensor:
        return ops.cast(self.net.tape, x, self.net.setting.dtype)


def zaya(config: dict[str, Any], form: Form) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, ZayaConfig)."""
    experts = ExpertForm(experts=config["num_experts"], used=1, ffn=config["moe_intermediate_size"])
    form = structs.replace(
        form, traits=structs.replace(form.traits, head_bias=bool(config.get("lm_head_bias")))
    )

    def made(net: Net) -> Decoder:
        passed: list[Tensor] = []
        decoder = ZayaDecoder(
            net,
            form,
            block=lambda net, form, _, at, __: ZayaBlock(net, form, experts, config, at, passed),
        )
        decoder.sides = net.parameter(form.hidden), net.parameter(form.hidden)
        return decoder

    return made
