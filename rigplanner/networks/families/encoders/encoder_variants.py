"""Encoders beside BERT on the tape: those that turn positions, convolve, or squeeze their
layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import Rope, activate, attend
from rigplanner.networks.families.decoders.decoder import Decoder
from rigplanner.networks.families.decoders.decoder_forms import decoder_form
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.encoders.encoder import EncoderBlock, EncoderForm, class_loss
from rigplanner.networks.families.encoders.sliding_window import sliding_block
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm, checkpointed
from rigplanner.networks.tracer.products import added_in_place, cat, conv1d, dense, matmul, unfolded
from rigplanner.networks.tracer.strided import Array, array
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new, record


class RoformerBlock(EncoderBlock):
    """Queries and keys turned as pairs of neighbours, whose halves are put side by side again
    (RoFormer)."""

    def _turned(self, query: Tensor, key: Tensor, rope: Rope) -> tuple[Tensor, Tensor]:
        tape = self.net.tape
        tables = [array(tape, ops.copy(tape, side)) for side in rope]
        return self._pairs(query, tables), self._pairs(key, tables)

    def _pairs(self, x: Tensor, tables: list[Array]) -> Tensor:
        whole = array(self.net.tape, x)
        half = whole.shape[-1] // 2
        turned = cat([-whole.cut(-1, half), whole.cut(-1, half)], -1)
        return whole * tables[0] + turned * tables[1]


def convbert_width(config: dict[str, Any]) -> tuple[int, int]:
    """How many heads attend, and the width of them all: half of the states' (transformers,
    ConvBertSelfAttention)."""
    heads = max(1, config["num_attention_heads"] // config["head_ratio"])
    return heads, heads * (config["hidden_size"] // heads // 2)


class ConvBertBlock(EncoderBlock):
    """Half of the states attend, the other half are convolved with kernels that the tokens make
    (ConvBERT)."""

    def __init__(self, net: Net, form: EncoderForm, config: dict[str, Any]) -> None:
        super().__init__(net, form)
        self.kernel, hidden, (self.heads, inner) = (
            config["conv_kernel_size"],
            form.hidden,
            convbert_width(config),
        )
        self.deep, self.point = (
            net.parameter(hidden, 1, self.kernel),
            net.parameter(inner, hidden, 1),
        )
        self.beside = net.parameter(inner, 1)
        self.kernels = net.linear("conv_kernel_layer", inner, self.heads * self.kernel, True)
        self.windows = net.linear("conv_out_layer", hidden, inner, True)

    def _attend(
        self, x: Tensor, bias: Tensor | None, rope: Rope | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form, states = self.net.tape, self.form, array(self.net.tape, x)
        heads = (*x.shape[:2], self.heads, form.inner // self.heads)
        key, value = dense(self.key, states), dense(self.value, states)
        mixed = conv1d(states.transpose(1, 2), self.deep, None, self.kernel // 2)
        mixed = conv1d(mixed, self.point, None, 0)
        mixed = added_in_place(mixed, self.beside).transpose(1, 2)
        query = dense(self.query, states)
        convolved = self._convolved(mixed * query, states, heads)
        query, key, value = (side.reshape(*heads).transpose(1, 2) for side in (query, key, value))
        scores = -matmul(query, key.transpose(-1, -2))
        scores = scores + new(tape, (x.shape[0], 1, 1, x.shape[1]), scores.dtype)
        weights = scores.softmax()
        weights = array(
            tape, ops.dropout(tape, weights, form.attention_dropout, self.net.setting.training)
        )
        context = matmul(weights, value).permute(0, 2, 1, 3).contiguous()
        whole = cat([context, convolved], 2)
        return whole.reshape(*x.shape), None

    def _convolved(self, mixed: Array, states: Array, heads: tuple[int, ...]) -> Array:
        batch, inner, kernel = heads[0], self.form.inner, self.kernel
        kernels = dense(self.kernels, mixed).reshape(-1, kernel, 1)
        kernels = kernels.transpose(1, 2).softmax().transpose(1, 2)
        windows = dense(self.windows, states)
        windows = windows.transpose(1, 2).contiguous()
        windows = unfolded(windows, kernel)
        windows = windows.transpose(1, 2).reshape(batch, -1, inner, kernel)
        windows = windows.reshape(-1, heads[3], kernel)
        return matmul(windows, kernels).reshape(*heads)


class AdaptedBlock(EncoderBlock):
    """The feed-forward layer is followed by a narrow one of the text's language, one of several
    that are there (X-MOD)."""

    def __init__(self, net: Net, form: EncoderForm, config: dict[str, Any]) -> None:
        super().__init__(net, form)
        self.config, hidden, inner = (
            config,
            form.hidden,
            form.hidden // config["adapter_reduction_factor"],
        )
        self.own_norm = Norm(net, "layer", hidden) if config["adapter_layer_norm"] else None
        self.adapters = [
            (net.linear("dense1", hidden, inner, True), net.linear("dense2", inner, hidden, True))
            for _ in config["languages"]
        ]

    def __call__(
        self, x: Tensor, bias: Tensor | None = None, rope: Rope | None = None
    ) -> tuple[Tensor, Tensor | None]:
        tape, early = self.net.tape, self.config["pre_norm"]
        attended, _ = self._attend(self.first_norm(x) if early else x, bias, rope)
        residual = ops.add(tape, self.net.drop(self.out(attended), self.form.dropout), x)
        residual = residual if early else self.first_norm(residual)
        fed = self.down(
            activate(tape, self.up(self.last_norm(residual) if early else residual), self.form.act)
        )
        made = self._adapted(ops.add(tape, self.net.drop(fed, self.form.dropout), residual))
        return (made if early else self.last_norm(made)), None

    def _adapted(self, x: Tensor) -> Tensor:
        tape, before = self.net.tape, self.config["ln_before_adapter"]
        plain, norm = (
            x,
            self.own_norm or (self.last_norm if self.config["adapter_reuse_layer_norm"] else None),
        )
        x = norm(x) if norm else x
        residual, whole = (x if before else plain), new(tape, x.shape, x.dtype)
        down, up = self.adapters[0]
        _place = new(tape, (x.size // x.shape[-1],), I64)
        rows = self._picked(x)
        made = up(activate(tape, down(rows), self.form.act))
        filled = record(
            tape,
            Tensor(x.shape, x.dtype, whole.storage),
            (made,),
            lambda grad: (new(tape, made.shape, grad.dtype),),
        )
        return ops.add_in_place(tape, self.net.drop(filled, self.form.dropout), residual)

    def _picked(self, x: Tensor) -> Tensor:
        """The tokens of a language: a copy, whose gradient is written into zeros."""
        tape, shape = self.net.tape, x.shape
        return record(
            tape, new(tape, shape, x.dtype), (x,), lambda grad: (new(tape, shape, grad.dtype),)
        )


class FourierBlock(EncoderBlock):
    """The real part of a Fourier transform over tokens and width in the place of attention
    (FNet)."""

    def __init__(self, net: Net, form: EncoderForm) -> None:
        self.net, self.form, hidden = net, form, form.hidden
        self.first_norm, self.last_norm = Norm(net, "layer", hidden), Norm(net, "layer", hidden)
        self.up, self.down = (
            net.linear("dense", hidden, form.ffn, True),
            net.linear("dense", form.ffn, hidden, True),
        )

    def __call__(
        self, x: Tensor, bias: Tensor | None = None, rope: Rope | None = None
    ) -> tuple[Tensor, Tensor | None]:
        tape = self.net.tape
        mixed = self._transformed(x)
        mixed = self._joined(mixed, x, self.first_norm)
        fed = self.net.drop(
            self.down(activate(tape, self.up(mixed), self.form.act)), self.form.dropout
        )
        return self._joined(fed, mixed, self.last_norm), None

    def _transformed(self, x: Tensor) -> Tensor:
        """torch.fft.fftn(x).real: the complex result stays while its real part does; so goes its
        gradient."""
        tape, shape = self.net.tape, x.shape

        def pull(grad: Tensor) -> tuple[Tensor]:
            _complex = new(tape, (2, *shape), F32)
            back = new(tape, (2, *shape), F32)
            return (Tensor(shape, F32, back.storage),)

        raised = ops.cast(tape, x, F32)
        return record(
            tape, Tensor(shape, F32, new(tape, (2, *shape), F32).storage), (raised,), pull
        )


class Bidirectional(Decoder):
    """The layers of a decoder without a causal mask, and a head over all tokens (EuroBERT)."""

    maskless = True


class TurnedBert(Decoder):
    """Layers that turn positions and normalise after each sum; types of tokens, and the head of
    BERT (NomicBERT, GTE, Jina v3)."""

    maskless = True

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        form, hidden = decoder_form(config, config["model_type"]), config["hidden_size"]
        share = float(config.get("hidden_dropout_prob") or 0.0)
        traits = structs.replace(
            form.traits,
            dropout=share,
            embedding_dropout=share,
            inner_dropout=share if form.traits.down_bias else 0.0,
            attention_dropout=float(config.get("attention_probs_dropout_prob") or 0.0),
        )
        super().__init__(net, structs.replace(form, traits=traits))
        self.types = (
            net.parameter(config["type_vocab_size"], hidden)
            if config.get("type_vocab_size")
            else None
        )
        self.transform, self.head_norm = (
            net.linear("dense", hidden, hidden, True),
            Norm(net, "layer", hidden),
        )
        if config["model_type"] == "jina_embeddings_v3" and not form.tied:
            net.parameter(form.vocab, frozen=True)
        self.act = ACTS.get(config["hidden_act"], "silu")

    def embedded(self, x: Tensor) -> Tensor:
        """The tokens with their types."""
        if self.types is None:
            return x
        return ops.add(self.net.tape, x, ops.embedding(self.net.tape, self.types, x.shape[:2]))

    def scored(self, logits: Tensor) -> Tensor:
        """The loss over all tokens."""
        return class_loss(self.net, logits)

    def hidden(self) -> Tensor:
        """The states as the head's table takes them."""
        return self.head_norm(activate(self.net.tape, self.transform(super().hidden()), self.act))


class MobileBert:
    """Thin layers between wide states: bottlenecks before and after, several feed-forward layers
    (MobileBERT)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, inner = (
            net,
            config,
            config["hidden_size"],
            config["embedding_size"],
        )
        vocab = config["vocab_size"]
        self.table, self.places = (
            net.parameter(vocab, inner),
            net.parameter(config["max_position_embeddings"], hidden),
        )
        self.types = net.parameter(config["type_vocab_size"], hidden)
        self.trigrams = bool(config.get("trigram_input", True))
        wide = inner * (3 if self.trigrams else 1)
        self.widen = net.linear("embedding_transformation", wide, hidden, True)
        self.norm = norm_of(net, config, hidden)
        self.blocks = [MobileBlock(net, config) for _ in range(config["num_hidden_layers"])]
        self.transform, self.head_norm = (
            net.linear("dense", hidden, hidden, True),
            Norm(net, "layer", hidden),
        )
        self.rest = net.parameter(hidden - inner, vocab)
        self.side = net.parameter(vocab)

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape, config = self.net, self.net.tape, self.config
        shape = (net.setting.batch, net.setting.length)
        _ids = net.given(*shape, dtype=I64)
        tokens = array(tape, ops.embedding(tape, self.table, shape))
        if self.trigrams:
            tokens = cat(
                [
                    tokens.cut(1, shape[1] - 1).padded(1, 1),
                    tokens,
                    tokens.cut(1, shape[1] - 1).padded(1, 1),
                ],
                2,
            )
        x: Tensor = self.widen(tokens)
        x = ops.add(
            tape,
            ops.add(tape, x, ops.embedding(tape, self.places, (1, shape[1]))),
            ops.embedding(tape, self.types, shape),
        )
        x = ops.dropout(tape, self.norm(x), config["hidden_dropout_prob"], net.setting.training)
        for block in self.blocks:
            x = checkpointed(net, block, x)
        x = self.head_norm(
            activate(tape, self.transform(x), ACTS.get(config["hidden_act"], "relu"))
        )
        whole = cat([array(tape, self.table).transpose(0, 1), array(tape, self.rest)], 0)
        scores = ops.linear(tape, x, whole.transpose(0, 1))
        scores = ops.add_in_place(tape, scores, self.side)
        return class_loss(net, scores) if net.setting.training else scores


class PlainNorm:
    """A scale and a shift (MobileBERT, NoNorm)."""

    def __init__(self, net: Net, width: int) -> None:
        self.net, self.bias, self.weight = net, net.parameter(width), net.parameter(width)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        return ops.add(tape, ops.mul(tape, x, self.weight), self.bias)


def norm_of(net: Net, config: dict[str, Any], width: int) -> Callable[[Tensor], Tensor]:
    """The normalisation of MobileBERT's layers."""
    return (
        PlainNorm(net, width)
        if config.get("normalization_type", "no_norm") == "no_norm"
        else Norm(net, "layer", width)
    )


class MobileBlock:
    """One layer of MobileBERT."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, ffn = (
            net,
            config,
            config["hidden_size"],
            config["intermediate_size"],
        )
        self.squeezes = bool(config.get("use_bottleneck", True))
        thin = config["intra_bottleneck_size"] if self.squeezes else hidden
        self.shares, self.inside = (
            bool(config["key_query_shared_bottleneck"]),
            bool(config["use_bottleneck_attention"]),
        )
        into = thin if self.squeezes else hidden
        self.query, self.key = (
            net.linear("query", into, thin, True),
            net.linear("key", into, thin, True),
        )
        self.value = net.linear("value", into if self.inside else hidden, thin, True)
        self.out, self.norm = net.linear("dense", thin, thin, True), norm_of(net, config, thin)
        self.feeds = [
            (
                net.linear("dense", thin, ffn, True),
                net.linear("dense", ffn, thin, True),
                norm_of(net, config, thin),
            )
            for _ in range(config["num_feedforward_networks"])
        ]
        self.act, self.share = ACTS.get(config["hidden_act"], "relu"), config["hidden_dropout_prob"]
        if self.squeezes:
            self.wide = net.linear("dense", thin, hidden, True), norm_of(net, config, hidden)
            self.thin = net.linear("dense", hidden, thin, True), norm_of(net, config, thin)
            if self.shares:
                self.asks = net.linear("dense", hidden, thin, True), norm_of(net, config, thin)

    def __call__(self, x: Tensor) -> Tensor:
        tape, whole = self.net.tape, x
        asked = told = x
        if self.squeezes:
            x = self.thin[1](self.thin[0](whole))
            asked, told = (x, x) if self.inside else (whole, whole)
            if self.shares and not self.inside:
                asked = self.asks[1](self.asks[0](whole))
        attended = self.out(self._attend(asked, told))
        attended = attended if self.squeezes else self.net.drop(attended, self.share)
        y = self.norm(ops.add(tape, attended, x))
        for up, down, norm in self.feeds:
            fed = activate(tape, up(y), self.act)
            fed = down(fed)
            fed = fed if self.squeezes else self.net.drop(fed, self.share)
            y = norm(ops.add(tape, fed, y))
        if not self.squeezes:
            return y
        return self.wide[1](ops.add(tape, self.net.drop(self.wide[0](y), self.share), whole))

    def _attend(self, asked: Tensor, told: Tensor) -> Tensor:
        tape, setting, heads = self.net.tape, self.net.setting, self.config["num_attention_heads"]
        query, key, value = self.query(asked), self.key(asked), self.value(told)
        shape = (setting.batch, heads, setting.length, query.shape[-1] // heads)
        whole = query.shape
        query, key, value = query.view(*shape), key.view(*shape), value.view(*shape)
        share = self.config["attention_probs_dropout_prob"]
        if not setting.eager:
            return attend(self.net, query, key, value, None, share).view(*whole)
        square = (*shape[:3], setting.length)
        scores = ops.sub_self(
            tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)
        )
        raised = F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, scores, raised))
        del scores
        weights = ops.dropout(tape, weights, share, setting.training)
        return ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape)).view(
            *whole
        )


class SqueezeBert:
    """Layers whose products are grouped convolutions of width one over states that lie channels
    first (SqueezeBERT)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, vocab = (
            net,
            config,
            config["hidden_size"],
            config["vocab_size"],
        )
        self.table, self.places = (
            net.parameter(vocab, hidden),
            net.parameter(config["max_position_embeddings"], hidden),
        )
        self.types, self.norm = (
            net.parameter(config["type_vocab_size"], hidden),
            Norm(net, "layer", hidden),
        )
        self.blocks = [SqueezeBlock(net, config) for _ in range(config["num_hidden_layers"])]
        self.transform, self.head_norm = (
            net.linear("dense", hidden, hidden, True),
            Norm(net, "layer", hidden),
        )
        self.head = Linear(
            net,
            self.table if config.get("tie_word_embeddings", True) else net.parameter(vocab, hidden),
            net.parameter(vocab),
        )
        _pooler = net.parameter(hidden, hidden, frozen=True), net.parameter(hidden, frozen=True)

    def loss(self) -> Tensor:
        """The loss over all tokens; without training, the scores."""
        net, tape, shape = (
            self.net,
            self.net.tape,
            (self.net.setting.batch, self.net.setting.length),
        )
        _ids = net.given(*shape, dtype=I64)
        embedded = ops.add(
            tape,
            ops.embedding(tape, self.table, shape),
            ops.embedding(tape, self.places, (1, shape[1])),
        )
        embedded = self.norm(ops.add(tape, embedded, ops.embedding(tape, self.types, shape)))
        first = ops.dropout(
            tape, embedded, self.config["hidden_dropout_prob"], net.setting.training
        )
        x = array(tape, first).permute(0, 2, 1)
        for block in self.blocks:
            x = array(tape, block(x))
        states = dense(self.transform, x.permute(0, 2, 1))
        del first, embedded
        scores = self.head(
            self.head_norm(activate(tape, states, ACTS.get(self.config["hidden_act"], "gelu")))
        )
        return class_loss(net, scores) if net.setting.training else scores


class SqueezeBlock:
    """One layer of SqueezeBERT."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, hidden, ffn = (
            net,
            config,
            config["hidden_size"],
            config["intermediate_size"],
        )
        groups = [
            config[f"{name}_groups"]
            for name in ("q", "k", "v", "post_attention", "intermediate", "output")
        ]
        sides = [(hidden, hidden)] * 4 + [(hidden, ffn), (ffn, hidden)]
        self.parts = [
            (net.parameter(out, into // group, 1), net.parameter(out))
            for (into, out), group in zip(sides, groups, strict=True)
        ]
        self.norms = [Norm(net, "layer", hidden) for _ in range(2)]

    def _apply(self, at: int, x: Array) -> Array:
        return conv1d(x, *self.parts[at], 0)

    def __call__(self, x: Array) -> Array:
        attended = self._after(3, self._attend(x), x, self.norms[0])
        inner = array(self.net.tape, activate(self.net.tape, self._apply(4, attended), "gelu"))
        return self._after(5, inner, attended, self.norms[1])

    def _after(self, at: int, x: Array, residual: Array, norm: Norm) -> Array:
        tape = self.net.tape
        made = ops.dropout(
            tape, self._apply(at, x), self.config["hidden_dropout_prob"], self.net.setting.training
        )
        summed = (array(tape, made) + residual).permute(0, 2, 1)
        return array(tape, norm(summed)).permute(0, 2, 1)

    def _attend(self, x: Array) -> Array:
        tape, heads = self.net.tape, self.config["num_attention_heads"]
        batch, hidden, length = x.shape
        query, key, value = (
            self._apply(at, x).reshape(batch, heads, hidden // heads, length) for at in range(3)
        )
        scores = matmul(query.permute(0, 1, 3, 2), key)
        scores = -scores
        scores = scores + new(tape, (batch, 1, 1, length), self.net.setting.dtype)
        weights = scores.softmax()
        share = self.config["attention_probs_dropout_prob"]
        weights = array(tape, ops.dropout(tape, weights, share, self.net.setting.training))
        context = matmul(weights, value.permute(0, 1, 3, 2))
        return context.permute(0, 1, 3, 2).contiguous().reshape(batch, hidden, length)


def eurobert(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """EuroBERT (transformers, EuroBertConfig)."""
    form = decoder_form(config, "eurobert")
    return lambda net: Bidirectional(net, form)


BLOCKS: dict[str, Callable[[dict[str, Any]], Callable[[Net, EncoderForm], EncoderBlock]]] = {
    "roformer": lambda _: RoformerBlock,
    "fnet": lambda _: FourierBlock,
    "convbert": lambda config: lambda net, form: ConvBertBlock(net, form, config),
    "longformer": sliding_block,
    "xmod": lambda config: lambda net, form: AdaptedBlock(net, form, config),
}
"""Layers of encoders that are otherwise BERT's."""
WHOLE: dict[str, Callable[[dict[str, Any]], Callable[[Net], Any]]] = {
    "eurobert": eurobert,
    **dict.fromkeys(
        ("nomic_bert", "gte", "jina_embeddings_v3"),
        lambda config: lambda net: TurnedBert(net, config),
    ),
    "mobilebert": lambda config: lambda net: MobileBert(net, config),
    "squeezebert": lambda config: lambda net: SqueezeBert(net, config),
}
"""Encoders by model_type."""
