"""Decoders with state-space layers on the tape: Mamba and its variants, also beside attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.config.config import pick
from rigplanner.networks.families.decoders.attention import (
    Attention,
    LatentAttention,
    Rope,
    activate,
)
from rigplanner.networks.families.decoders.decoder import Decoder, Mlp, next_token_loss
from rigplanner.networks.families.decoders.decoder_forms import decoder_form, expert_form
from rigplanner.networks.families.decoders.delta import KimiAttention
from rigplanner.networks.families.decoders.gated_attention import LateGate
from rigplanner.networks.families.decoders.moe import ExpertForm, Experts, feeding
from rigplanner.networks.families.decoders.traits import Form, Traits
from rigplanner.networks.families.state_space.mamba import Mamba, Mamba2, StateForm
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.products import conv1d, dense
from rigplanner.networks.tracer.strided import array
from rigplanner.networks.tracer.tape import F32, I64, Tensor

Mixer = Callable[[Tensor], Tensor]


class StateBlock:
    """A norm, a mixer, and the sum with the states, which may be kept in float."""

    def __init__(self, net: Net, hidden: int, mixer: Mixer, wide: bool) -> None:
        self.net, self.mixer, self.wide = net, mixer, wide
        self.norm = Norm(net, "rms", hidden)
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.norm(ops.cast(tape, x, self.net.setting.dtype))
        if self.wide:
            residual = ops.cast(tape, residual, F32)
        x = self.mixer(x)
        return ops.add(tape, residual, x)


class StateDecoder(Decoder):
    """A decoder of state-space layers only; its logits are raised to float at once."""

    maskless = True

    def hidden(self) -> Tensor:
        """The states after the last norm, as the head takes them."""
        return ops.cast(self.net.tape, super().hidden(), self.net.setting.dtype)

    def loss(self) -> Tensor:
        """The loss of the next token; without training, the logits."""
        net, tape = self.net, self.net.tape
        _ids = net.given(net.setting.batch, net.setting.length, dtype=I64)
        states = self.hidden()
        if net.setting.headless:
            return states
        logits = ops.cast(tape, self.head(states), F32)
        del states
        return next_token_loss(tape, logits) if net.setting.training else logits


def plain_form(config: dict[str, Any], traits: Traits) -> Form:
    """The sizes of a decoder without attention."""
    return Form(
        layers=pick(config, "num_hidden_layers", "n_layer"),
        hidden=config["hidden_size"],
        heads=1,
        kv_heads=1,
        head_dim=0,
        ffn=0,
        vocab=config["vocab_size"],
        tied=bool(config.get("tie_word_embeddings", True)),
        traits=traits,
    )


BARE = Traits(rope=0.0, mask_free=True)


def mamba(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Mamba, Falcon-Mamba and Mamba-2 (transformers, MambaConfig, FalconMambaConfig,
    Mamba2Config)."""
    form, states = plain_form(config, BARE), state_form(config)
    wide, make = bool(config.get("residual_in_fp32", True)), Mamba2 if states.heads else Mamba

    def block(net: Net, form: Form, *_: Any) -> StateBlock:
        return StateBlock(net, form.hidden, make(net, form.hidden, states), wide)

    return lambda net: StateDecoder(net, form, block=block)


def state_form(config: dict[str, Any]) -> StateForm:
    """The mixer of a configuration of Mamba, Falcon-Mamba or Mamba-2."""
    hidden, expand = config["hidden_size"], config.get("expand") or 2
    if config["model_type"] == "mamba2":
        return StateForm(
            inner=int(expand * hidden),
            state=config["state_size"],
            kernel=config["conv_kernel"],
            heads=config["num_heads"],
            head_dim=config["head_dim"],
            groups=config["n_groups"],
            chunk=config["chunk_size"],
            bias=bool(config.get("use_bias")),
            conv_bias=bool(config.get("use_conv_bias", True)),
        )
    rank = config.get("time_step_rank")
    return StateForm(
        inner=config.get("intermediate_size") or int(expand * hidden),
        state=config["state_size"],
        kernel=config["conv_kernel"],
        rank=-(-hidden // 16) if rank in (None, "auto") else rank,
        bias=bool(config.get("use_bias")),
        conv_bias=bool(config.get("use_conv_bias", True)),
        normed="rms_bare" if config["model_type"] == "falcon_mamba" else "",
    )


class Scans:
    """A state-space mixer in the place of attention."""

    def __init__(self, mixer: Mixer) -> None:
        self.mixer = mixer

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        return self.mixer(x), None


def second_form(config: dict[str, Any]) -> StateForm:
    """The mixer of Mamba-2 by the names of hybrid networks (Bamba, Granite 4, Falcon-H1,
    Nemotron-H)."""
    heads = pick(config, "mamba_n_heads", "mamba_num_heads")
    inner = config.get("mamba_d_ssm") or int(
        (config.get("mamba_expand") or 2) * config["hidden_size"]
    )
    width = pick(config, "mamba_head_dim", "mamba_d_head")
    width = inner // heads if width in (None, "auto") else width
    bias = (
        config.get("use_bias")
        if config["model_type"] == "nemotron_h"
        else config.get("mamba_proj_bias")
    )
    return StateForm(
        inner=heads * width,
        state=pick(config, "mamba_d_state", "ssm_state_size"),
        kernel=pick(config, "mamba_d_conv", "conv_kernel", default=4),
        heads=heads,
        head_dim=width,
        groups=pick(config, "mamba_n_groups", "n_groups", default=1),
        chunk=pick(config, "mamba_chunk_size", "chunk_size", default=256),
        bias=bool(bias),
        conv_bias=bool(pick(config, "mamba_conv_bias", "use_conv_bias", default=True)),
    )


def first_form(config: dict[str, Any]) -> StateForm:
    """The mixer of Mamba by the names of Jamba, whose step sizes and states are normed."""
    rank = config.get("mamba_dt_rank")
    return StateForm(
        inner=int(config["mamba_expand"] * config["hidden_size"]),
        state=config["mamba_d_state"],
        kernel=config["mamba_d_conv"],
        rank=-(-config["hidden_size"] // 16) if rank in (None, "auto") else rank,
        bias=bool(config.get("mamba_proj_bias")),
        conv_bias=bool(config.get("mamba_conv_bias", True)),
        normed="rms",
    )


LOOKING = ("full_attention", "sliding_attention")


def _attends(
    config: dict[str, Any],
    make: Callable[[Net, Form], Mixer],
    attention: Callable[[Net, Form], Any] = Attention,
) -> Callable[[Net, Form, int], Any]:
    kinds = config["layer_types"]

    def attends(net: Net, form: Form, at: int) -> Any:
        return attention(net, form) if kinds[at] in LOOKING else Scans(make(net, form))

    return attends


def _mamba2_of(states: StateForm) -> Callable[[Net, Form], Mixer]:
    return lambda net, form: Mamba2(net, form.hidden, states)


def bamba(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Bamba (transformers, BambaConfig): half of a head is rotated."""
    form = decoder_form({**config, "partial_rotary_factor": 0.5}, "bamba")
    return lambda net: Decoder(net, form, None, _attends(config, _mamba2_of(second_form(config))))


def granite_hybrid(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Granite 4 (transformers, GraniteMoeHybridConfig): experts beside a shared layer, or that
    layer alone."""
    turns = 1.0 if config.get("position_embedding_type") == "rope" else 0.0
    form = decoder_form(config, "granitemoehybrid")
    form = structs.replace(form, traits=structs.replace(form.traits, rope=turns))
    shared, experts = (
        config["shared_intermediate_size"],
        expert_form({**config, "shared_expert_width": 0}),
    )

    def feed(net: Net, form: Form, _: int) -> Any:
        if experts is None:
            return Mlp(net, form, shared)
        return Experts(net, form, structs.replace(experts, shared_ffn=shared, low_odds=True))

    return lambda net: Decoder(net, form, feed, _attends(config, _mamba2_of(second_form(config))))


def jamba(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Jamba (transformers, JambaConfig): nothing is rotated."""
    form, states, sparse = decoder_form(config, "jamba"), first_form(config), config["moe_layers"]
    experts = expert_form(config)

    def feed(net: Net, form: Form, at: int) -> Any:
        low = (
            structs.replace(experts, low_odds=True)
            if experts is not None and at in sparse
            else None
        )
        return Mlp(net, form) if low is None else Experts(net, form, low)

    return lambda net: Decoder(
        net, form, feed, _attends(config, lambda net, form: Mamba(net, form.hidden, states))
    )


class OneLayer(StateBlock):
    """A norm, one layer of any kind, and the sum with the states (Nemotron-H)."""

    def __init__(self, net: Net, form: Form, layer: Any, attends: bool) -> None:
        self.net, self.layer, self.attends = net, layer, attends
        self.norm = Norm(net, "rms_wide", form.hidden)
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        residual = x
        x = self.norm(ops.cast(self.net.tape, x, self.net.setting.dtype))
        if self.attends:
            x, _weights = self.layer(x, rope, mask)
        else:
            x = self.layer(x)
        return ops.add(self.net.tape, residual, x)


class WideLogits(StateDecoder):
    """A decoder whose logits are raised to float at once, with layers that attend."""

    maskless = False


class LatentExperts:
    """Experts that work on narrower states, to which a projection leads and from which another
    leads back, beside a dense layer that all tokens share (Nemotron 3 Super, LatentMoE)."""

    def __init__(self, net: Net, form: Form, experts: ExpertForm, latent: int, shared: int) -> None:
        self.net = net
        self.narrow = net.linear("fc1_latent_proj", form.hidden, latent)
        self.experts = Experts(net, structs.replace(form, hidden=latent), experts)
        self.widen = net.linear("fc2_latent_proj", latent, form.hidden)
        self.shared = Mlp(net, form, shared)

    def __call__(self, x: Tensor) -> Tensor:
        routed = self.widen(self.experts(self.narrow(x)))
        return ops.add(self.net.tape, routed, self.shared(x))


def nemotron_h(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Nemotron-H and Nemotron 3 (transformers, NemotronHConfig): every block is one layer: a scan,
    attention, dense or experts."""
    form, states, kinds = (
        decoder_form(config, "nemotron_h"),
        second_form(config),
        config["layer_types"],
    )
    shared = config.get("moe_shared_expert_intermediate_size") or 0
    latent = config.get("moe_latent_size")
    experts = expert_form({**config, "n_shared_experts": 0}) if "moe" in kinds else None

    def block(net: Net, form: Form, feed: Any, at: int, attends: Any) -> OneLayer:
        if kinds[at] == "full_attention":
            return OneLayer(net, form, Attention(net, form), True)
        if kinds[at] == "linear_attention":
            return OneLayer(net, form, Mamba2(net, form.hidden, states), False)
        if kinds[at] == "mlp" or experts is None:
            return OneLayer(net, form, Mlp(net, form), False)
        sparse = structs.replace(experts, plain="relu2", float_router=True, shared_ffn=shared)
        net.buffer(sparse.experts)
        if latent:
            apart = LatentExperts(net, form, structs.replace(sparse, shared_ffn=0), latent, shared)
            return OneLayer(net, form, apart, False)
        return OneLayer(net, form, Experts(net, form, sparse), False)

    return lambda net: WideLogits(net, form, block=block)


class ShortConv:
    """Three projections, two of them multiplied and convolved over time, then multiplied with the
    third (LFM2)."""

    def __init__(self, net: Net, hidden: int, kernel: int, bias: bool) -> None:
        self.net, self.hidden, self.kernel = net, hidden, kernel
        self.filter, self.bias = (
            net.parameter(hidden, 1, kernel),
            net.parameter(hidden) if bias else None,
        )
        self.into, self.out = (
            net.linear("in_proj", hidden, 3 * hidden, bias),
            net.linear("out_proj", hidden, hidden, bias),
        )

    def __call__(self, x: Tensor) -> Tensor:
        joint = dense(self.into, array(self.net.tape, x)).transpose(1, 2)
        first, gate, last = joint.split(*(self.hidden,) * 3, axis=1)
        mixed = first * last
        mixed = conv1d(mixed, self.filter, self.bias, self.kernel - 1).cut(2, x.shape[1])
        gated = gate * mixed
        gated = gated.transpose(1, 2).contiguous()
        return dense(self.out, gated)


def lfm2(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """LFM2 and LFM3 (transformers, Lfm2Config, Lfm3Config): short convolutions and some layers that
    attend."""
    form, kernel, bias = (
        decoder_form(config, config["model_type"]),
        config["conv_L_cache"],
        bool(config.get("conv_bias")),
    )
    gates = config["model_type"] == "lfm3" and config.get("use_attention_gate", True)
    attends = _attends(
        config,
        lambda net, form: ShortConv(net, form.hidden, kernel, bias),
        (lambda net, form: LateGate(net, form, by_head=True, soft=False)) if gates else Attention,
    )
    near = "sliding_attention" in config["layer_types"]
    form = structs.replace(form, traits=structs.replace(form.traits, two_masks=near))
    experts = expert_form(config)

    def feed(net: Net, form: Form, at: int) -> Any:
        if experts is None or experts.dense(at):
            return Mlp(net, form)
        if config.get("use_expert_bias", True):
            net.buffer(experts.experts)
        return Experts(net, form, structs.replace(experts, low_odds=True))

    return lambda net: Decoder(net, form, feed, attends)


class BesideBlock(StateBlock):
    """A scan and attention beside each other, each scaled by a number (Falcon-H1)."""

    def __init__(self, net: Net, form: Form, states: StateForm) -> None:
        self.net, self.mlp = net, ScaledMlp(net, form)
        self.mixer, self.attention = Mamba2(net, form.hidden, states), ScaledKeys(net, form)
        self.norms = [Norm(net, "rms", form.hidden) for _ in range(2)]
        net.buffer(
            1,
            1,
            2 * states.inner + 2 * states.groups * states.state + states.heads,
            dtype=net.setting.dtype,
        )
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape, residual = self.net.tape, x
        x = self.norms[0](x)
        scanned = self.mixer(x)
        scanned = ops.sub_self(tape, scanned)
        attended, _weights = self.attention(ops.sub_self(tape, x), rope, mask)
        attended = ops.sub_self(tape, attended)
        x = ops.add(tape, scanned, attended)
        x = residual = ops.add(tape, residual, x)
        x = self.norms[1](x)
        x = self.mlp(x)
        return ops.add(tape, residual, x)


class ScaledMlp(Mlp):
    """A gated feed-forward layer whose gate and result are scaled by numbers."""

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        y = ops.mul(
            tape, self.up(x), activate(tape, ops.sub_self(tape, self.gate(x)), self.traits.act)
        )
        return ops.sub_self(tape, self.down(y))


class ScaledKeys(Attention):
    """Self-attention whose keys are scaled by a number."""

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = super()._project(x)
        return query, ops.sub_self(self.net.tape, key), value


def falcon_h1(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Falcon-H1 (transformers, FalconH1Config)."""
    form, states = decoder_form(config, "falcon_h1"), second_form(config)
    normed = "late" if config.get("mamba_norm_before_gate", True) else "early"
    states = structs.replace(
        states, gated_norm=bool(config.get("mamba_rms_norm")), scaled=True, norm_place=normed
    )
    return lambda net: Decoder(
        net, form, block=lambda net, form, *_: BesideBlock(net, form, states)
    )


def kimi_linear(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Kimi Linear (transformers, KimiLinearConfig): a delta rule in most layers, latent attention
    without positions in the rest."""
    form, experts, kinds = (
        decoder_form(config, "kimi_linear"),
        expert_form(config),
        config["layer_types"],
    )

    def attends(net: Net, form: Form, at: int) -> Any:
        if kinds[at] == "full_attention":
            return LatentAttention(net, form)
        return KimiAttention(
            net,
            form.hidden,
            *(config[name] for name in ("linear_heads", "linear_width", "linear_kernel")),
        )

    return lambda net: Decoder(net, form, feeding(experts), attends)


def state_values(config: dict[str, Any]) -> float:
    """What layers with a state hold of one sequence, in values of 16 bits: the last inputs of the
    convolution, and a state that is kept in float (transformers, LinearAttentionLayer of its
    caches)."""
    kinds = config.get("layer_types") or ()
    scans = len([kind for kind in kinds if kind in ("linear_attention", "conv")])
    family = config["model_type"]
    if config.get("linear_num_value_heads"):
        width, depth = config["linear_key_head_dim"], config["linear_value_head_dim"]
        joint = (
            2 * config["linear_num_key_heads"] * width + config["linear_num_value_heads"] * depth
        )
        kernel = config.get("linear_conv_kernel_dim") or 4
        return float(
            scans * (joint * kernel + 2 * config["linear_num_value_heads"] * width * depth)
        )
    if family in ("lfm2", "lfm2_moe", "lfm3"):
        return float(scans * config["hidden_size"] * config["conv_L_cache"])
    if family == "recurrent_gemma":
        return float(
            scans
            * (config.get("lru_width") or config["hidden_size"])
            * (2 + config["conv1d_width"] - 1)
        )
    if family == "rwkv":
        return float(config["num_hidden_layers"] * config["hidden_size"] * RWKV_STATES)
    if family == "minimax":
        width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        return float(scans * config["num_attention_heads"] * width * width)
    if family == "kimi_linear":
        inner = config["linear_heads"] * config["linear_width"]
        return float(
            scans * (3 * inner * config["linear_kernel"] + 2 * inner * config["linear_width"])
        )
    if family not in STATES and family != "zamba2":
        return 0.0
    form = (first_form if family == "jamba" else state_form if family in PLAIN else second_form)(
        config
    )
    width = form.inner + (2 * form.groups * form.state if form.heads else 0)
    layers = config["num_hidden_layers"] if family in ("falcon_h1", "zamba2") else scans
    return float(layers * (width * form.kernel + 2 * form.inner * form.state))


RWKV_STATES = 2 + 3 * 2
"""Two rows of 16 bits and three of float that a layer of RWKV-4 keeps (transformers, RwkvModel)."""
PLAIN = ("mamba", "mamba2", "falcon_mamba")
"""Networks of state-space layers alone."""
STATES: dict[str, Callable[[dict[str, Any]], Callable[[Net], Decoder]]] = {
    "mamba": mamba,
    "mamba2": mamba,
    "falcon_mamba": mamba,
    "bamba": bamba,
    "granitemoehybrid": granite_hybrid,
    "jamba": jamba,
    "nemotron_h": nemotron_h,
    "lfm2": lfm2,
    "lfm2_moe": lfm2,
    "lfm3": lfm2,
    "falcon_h1": falcon_h1,
    "kimi_linear": kimi_linear,
}
"""Networks with state-space layers by model_type."""
