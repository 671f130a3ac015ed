"""Encoders of sound on the tape: wav2vec 2.0, HuBERT and UniSpeech, from samples to the loss of
CTC. The length is that of the sound in samples (16,000 a second)."""

from __future__ import annotations

from typing import Any

from rigplanner.errors import WorkloadFault
from rigplanner.networks.families.decoders.attention import activate, attend
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.products import conv1d, dense
from rigplanner.networks.tracer.strided import Array, array, empty, recorded
from rigplanner.networks.tracer.tape import F32, Grads, Tensor, new

SHORTEST = 400
"""Samples under which the convolutions of wav2vec 2.0 give no frame."""
LINGERING = 2
"""The sound asks for a gradient in training; that of the step before and its gradient linger, held
by a cycle of references."""


def share(config: dict[str, Any], name: str) -> float:
    """Return the share that a dropout of this name takes, 0 where the configuration has none."""
    return float(config.get(name) or 0.0)


class SoundConv:
    """A convolution over time with a stride, a norm in some layers, and an activation."""

    def __init__(self, net: Net, config: dict[str, Any], at: int) -> None:
        self.net, widths, bias = net, config["conv_dim"], bool(config["conv_bias"])
        into, self.width = widths[at - 1] if at else 1, widths[at]
        self.stride, kernel = config["conv_stride"][at], config["conv_kernel"][at]
        self.weight = net.parameter(self.width, into, kernel)
        self.bias = net.parameter(self.width) if bias else None
        self.kind = (
            config["feat_extract_norm"] if at == 0 or config["feat_extract_norm"] == "layer" else ""
        )
        self.norm = Norm(net, "layer", self.width) if self.kind else None

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        y = conv1d(array(tape, x), self.weight, self.bias, 0, self.stride)
        if self.norm is not None and self.kind == "group":
            y = group_normed(y, self.norm, self.width)
        elif self.norm is not None:
            y = array(tape, self.norm(y.transpose(1, 2))).transpose(1, 2)
        return y.of_input()


def group_normed(x: Array, norm: Norm, groups: int) -> Array:
    """native_group_norm: keeps its input, and mean and deviation of every group."""
    tape, shape = x.tape, x.shape
    kept = [x, empty(tape, (shape[0], groups), x.dtype), empty(tape, (shape[0], groups), x.dtype)]
    sides = [side for side in (norm.weight, norm.bias) if side is not None]

    def pull(grad: Array) -> Grads:
        made = [
            empty(tape, shape, grad.dtype),
            *(new(tape, side.shape, grad.dtype) for side in sides),
        ]
        kept.clear()
        return made

    return recorded(empty(tape, shape, x.dtype), (x, *sides), pull, keeps=True)


class PositionConv:
    """A wide grouped convolution that says where a token lies; its weight is a direction and a
    length."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, hidden = net, config["hidden_size"]
        self.kernel, groups = (
            config["num_conv_pos_embeddings"],
            config["num_conv_pos_embedding_groups"],
        )
        self.bias, self.length = net.parameter(hidden), net.parameter(1, 1, self.kernel)
        self.direction = net.parameter(hidden, hidden // groups, self.kernel)

    def __call__(self, x: Array) -> Array:
        tape = self.net.tape
        weight = self._weight()
        y = conv1d(x.transpose(1, 2), weight, self.bias, self.kernel // 2)
        y = y.cut(2, x.shape[1]) if self.kernel % 2 == 0 else y
        return array(tape, y.of_input()).transpose(1, 2)

    def _weight(self) -> Array:
        """weight_norm: keeps direction, length and the norms."""
        tape, shape, short = self.net.tape, self.direction.shape, self.length.shape
        norms = new(tape, short, F32)

        def pull(grad: Array) -> Grads:
            return empty(tape, shape, grad.dtype), empty(tape, short, grad.dtype)

        made = empty(tape, shape, self.direction.dtype)
        return recorded(made, (self.direction, self.length), pull, keeps=(norms,))


class SoundBlock:
    """Self-attention and feed-forward layer; the norms stand behind the sums, or before the layers
    (`early`)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, ffn = (
            net,
            config,
            config["hidden_size"],
            config["intermediate_size"],
        )
        self.early = bool(config["do_stable_layer_norm"])
        self.key, self.value, self.query, self.out = (
            net.linear(name, hidden, hidden, True)
            for name in ("k_proj", "v_proj", "q_proj", "out_proj")
        )
        self.norms = [Norm(net, "layer", hidden) for _ in range(2)]
        self.up = net.linear("intermediate_dense", hidden, ffn, True)
        self.down = net.linear("output_dense", ffn, hidden, True)
        self.act = ACTS.get(config["hidden_act"], "gelu")

    def __call__(self, x: Tensor, *beside: Tensor) -> Tensor:
        tape, residual = self.net.tape, x
        x = self._attend(self.norms[0](x) if self.early else x)
        x = self.net.drop(x, share(self.config, "hidden_dropout"))
        x = ops.add(tape, residual, x)
        if self.early:
            return ops.add(tape, x, self._feed(self.norms[1](x)))
        x = self.norms[0](x)
        x = ops.add(tape, x, self._feed(x))
        return self.norms[1](x)

    def _feed(self, x: Tensor) -> Tensor:
        x = self.up(x)
        x = activate(self.net.tape, x, self.act)
        x = self.net.drop(x, share(self.config, "activation_dropout"))
        x = self.down(x)
        return self.net.drop(x, share(self.config, "hidden_dropout"))

    def _attend(self, x: Tensor) -> Tensor:
        tape, setting, heads, whole = (
            self.net.tape,
            self.net.setting,
            self.config["num_attention_heads"],
            x.shape,
        )
        shape = (whole[0], heads, whole[1], whole[2] // heads)
        query, key, value = (
            self.query(x).view(*shape),
            self.key(x).view(*shape),
            self.value(x).view(*shape),
        )
        share = float(self.config.get("attention_dropout") or 0.0)
        if not setting.eager:
            return self.out(attend(self.net, query, key, value, None, share).view(*whole))
        square = (*shape[:3], whole[1])
        scores = ops.sub_self(
            tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)
        )
        raised = F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, scores, raised))
        weights = ops.dropout(tape, weights, share, setting.training)
        return self.out(
            ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape)).view(*whole)
        )


class SoundEncoder:
    """Convolutions over the samples, a projection, positions, layers, and a head that names
    characters."""

    block = SoundBlock

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, width = (
            net,
            config,
            config["hidden_size"],
            config["conv_dim"][-1],
        )
        self.masked = net.parameter(hidden) if self._masks() else None
        self.convs = [SoundConv(net, config, at) for at in range(len(config["conv_dim"]))]
        self.first_norm = (
            Norm(net, "layer", width) if config.get("feat_proj_layer_norm", True) else None
        )
        self.project = net.linear("projection", width, hidden, True)
        self.places, self.norm = PositionConv(net, config), Norm(net, "layer", hidden)
        self.blocks = [self.block(net, config) for _ in range(config["num_hidden_layers"])]
        self.head = Linear(
            net, net.parameter(config["vocab_size"], hidden), net.parameter(config["vocab_size"])
        )

    def _masks(self) -> bool:
        always = self.config["model_type"] == "unispeech-sat"
        return bool(
            always or self.config.get("mask_time_prob") or self.config.get("mask_feature_prob")
        )

    def beside(self, x: Tensor) -> tuple[Tensor, ...]:
        """What all layers get besides the states."""
        return ()

    def hidden(self) -> Tensor:
        """The states after the last layer."""
        net, tape, setting = self.net, self.net.tape, self.net.setting
        if setting.length < SHORTEST:
            raise WorkloadFault(
                f"seq_len: expected at least {SHORTEST} samples of sound (16,000 a second), found"
                f" {setting.length}."
            )
        sound = new(tape, (setting.batch, setting.length), setting.dtype)
        if setting.training:
            net.held += [new(tape, sound.shape, sound.dtype) for _ in range(LINGERING)]
        x: Tensor = Tensor(
            (setting.batch, 1, setting.length), sound.dtype, sound.storage, None, setting.training
        )
        for conv in self.convs:
            x = checkpointed(net, conv, x)
        features = array(tape, x).transpose(1, 2)
        normed = features if self.first_norm is None else array(tape, self.first_norm(features))
        x = self.net.drop(dense(self.project, normed), share(self.config, "feat_proj_dropout"))
        early = bool(self.config["do_stable_layer_norm"])
        x = ops.add(tape, x, self.places(array(tape, x)))
        x = self.net.drop(x if early else self.norm(x), share(self.config, "hidden_dropout"))
        beside = self.beside(x)
        for block in self.blocks:
            x = checkpointed(net, block, x, *beside)
        x = self.norm(x) if early else x
        del features, normed, sound
        return x

    def loss(self) -> Tensor:
        """The loss of CTC; without training, the scores."""
        net, tape = self.net, self.net.tape
        scores = self.head(self.net.drop(self.hidden(), share(self.config, "final_dropout")))
        if not net.setting.training:
            return scores
        odds = array(tape, ops.cast(tape, scores, F32))
        odds = odds.softmax().transpose(0, 1)
        return odds.mean(0, 1, 2).reshape()
