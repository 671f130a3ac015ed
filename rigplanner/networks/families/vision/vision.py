"""Vision transformers on the tape."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import activate, attend, softmax_wide
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.decoders.moe import gather
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, I64, Tape, Tensor, new

DINO = {"dinov2", "dinov2_with_registers"}
SECOND_NAMES = {"clip_vision_model", "siglip_vision_model"}


class RelativeBias:
    """A bias per head and pair of patches, from a table of relative positions that is resized each
    time (BEiT)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.heads = net, config["num_attention_heads"]
        side = edge(config["image_size"]) // config["patch_size"]
        self.rows, self.side = (2 * side - 1) ** 2, net.setting.length // config["patch_size"]
        self.table = net.parameter(self.rows + 3, self.heads)

    def __call__(self) -> Tensor:
        tape, tokens = self.net.tape, self.side**2 + 1
        sized = ops.resized(
            tape,
            ops.cut(tape, self.table, (self.rows, self.heads)),
            ((2 * self.side - 1) ** 2, self.heads),
        )
        whole = ops.cat(tape, (sized, ops.cut(tape, self.table, (3, self.heads))), 0)
        pairs = gather(tape, whole, (tokens**2, self.heads))
        return ops.copy(tape, pairs).view(1, self.heads, tokens, tokens)


def dropped_path(tape: Tape, x: Tensor, rate: float, trains: bool) -> Tensor:
    """Stochastic depth: whole samples are dropped, the others scaled."""
    if not rate or not trains:
        return x
    return ops.mul(
        tape, ops.sub_self(tape, x), new(tape, (x.shape[0], *(1 for _ in x.shape[1:])), x.dtype)
    )


class VitBlock:
    """Norm, attention, residual; norm, feed-forward, residual; `scaled` multiplies both results by
    a vector (DINOv2, BEiT)."""

    def __init__(self, net: Net, config: dict[str, Any], tokens: int, at: int) -> None:
        self.net, self.heads, self.tokens = net, config["num_attention_heads"], tokens
        hidden, self.family = config["hidden_size"], config["model_type"]
        self.hidden, self.act = hidden, ACTS.get(config.get("hidden_act") or "gelu", "gelu")
        self.share = float(config.get("hidden_dropout_prob") or 0.0)
        self.attention_share = float(
            config.get("attention_probs_dropout_prob") or config.get("attention_dropout") or 0.0
        )
        rate = float(config.get("drop_path_rate") or 0.0)
        self.path = (
            rate if self.family in DINO else rate * at / max(config["num_hidden_layers"] - 1, 1)
        )
        self.first_norm, self.last_norm = Norm(net, "layer", hidden), Norm(net, "layer", hidden)
        second = self.family in SECOND_NAMES
        names = (
            ("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2")
            if second
            else ("query", "key", "value", *["dense"] * 3)
        )
        bias = config.get("qkv_bias", True)
        self.query, self.value = (
            net.linear(names[0], hidden, hidden, bias),
            net.linear(names[2], hidden, hidden, bias),
        )
        self.key = net.linear(names[1], hidden, hidden, bias and self.family != "beit")
        self.out = net.linear(names[3], hidden, hidden, True)
        ffn = config.get("intermediate_size") or int(config["mlp_ratio"] * hidden)
        self.gated = bool(config.get("use_swiglu_ffn"))
        ffn = (int(ffn * 2 / 3) + 7) // 8 * 8 if self.gated else ffn
        self.up, self.down = (
            net.linear(names[4], hidden, ffn, True),
            net.linear(names[5], ffn, hidden, True),
        )
        self.gate = net.linear("gate_proj", hidden, ffn, True) if self.gated else None
        scaled = self.family in DINO or (
            self.family == "beit" and (config.get("layer_scale_init_value") or 0) > 0
        )
        self.scales = (net.parameter(hidden), net.parameter(hidden)) if scaled else (None, None)
        self.bias = RelativeBias(net, config) if config.get("use_relative_position_bias") else None
        self.holds_attended = config.get("written_as") == "data2vec-vision"

    def __call__(self, x: Tensor, *shared: Tensor) -> Tensor:
        tape = self.net.tape
        mask = self.bias() if self.bias is not None else None
        if shared:
            mask = shared[0] if mask is None else ops.add(tape, mask, shared[0])
        residual = x
        attended = self._attend(self.first_norm(x), mask)
        finished = self._finished(attended, 0)
        x = ops.add(tape, finished, residual)
        if not self.holds_attended:
            del attended, finished
        residual = x
        x = self._feed(self.last_norm(x))
        return ops.add(tape, self._finished(x, 1), residual)

    def _feed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.gate is not None:
            return self.down(ops.mul(tape, ops.keeping_input(tape, self.gate(x)), self.up(x)))
        return self.down(activate(tape, self.up(x), self.act))

    def _finished(self, x: Tensor, at: int) -> Tensor:
        tape, trains, scale = self.net.tape, self.net.setting.training, self.scales[at]
        x = ops.dropout(tape, x, 0.0 if self.family in DINO else self.share, trains)
        x = (
            ops.sub_self(tape, x)
            if scale is None and self.family == "beit"
            else x
            if scale is None
            else ops.mul(tape, x, scale)
        )
        return dropped_path(tape, x, self.path, trains)

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        tape, setting = self.net.tape, self.net.setting
        shape = (setting.batch, self.heads, self.tokens, self.hidden // self.heads)
        query, key, value = (
            self.query(x).view(*shape),
            self.key(x).view(*shape),
            self.value(x).view(*shape),
        )
        if not setting.eager:
            return self.out(
                attend(self.net, query, key, value, mask, self.attention_share).view(*x.shape)
            )
        weights = ops.sub_self(tape, self._scores(query, key))
        weights = weights if mask is None else ops.add(tape, weights, mask)
        if self.family in DINO:
            raised = F32 if tape.autocast and tape.semantics.float_norms else weights.dtype
            weights = ops.keeping_result(tape, ops.cast(tape, weights, raised))
        else:
            weights = ops.cast(tape, softmax_wide(tape, weights), query.dtype)
        weights = ops.dropout(tape, weights, self.attention_share, setting.training)
        result = ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), shape))
        return self.out(result.view(*x.shape))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        tape, square = self.net.tape, (*query.shape[:3], self.tokens)
        return ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), square)


class Vit:
    """Patches, class token, blocks, classifier."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, self.family, hidden = (
            net,
            config,
            config["model_type"],
            config["hidden_size"],
        )
        self.patch, self.side = config["patch_size"], net.setting.length // config["patch_size"]
        self.extra = {"deit": 2, "siglip_vision_model": 0, "ijepa": 0}.get(self.family, 1)
        count = (
            (config.get("num_register_tokens") or 4)
            if self.family == "dinov2_with_registers"
            else 0
        )
        self.tokens, trained = (
            self.side**2 + self.extra + count,
            edge(config["image_size"]) // self.patch,
        )
        self.resizes = self.side != trained
        biased = self.family != "clip_vision_model"
        self.kernel, self.bias = (
            net.parameter(hidden, 3, self.patch, self.patch),
            net.parameter(hidden) if biased else None,
        )
        self.class_token = [net.parameter(1, 1, hidden) for _ in range(self.extra)]
        placed = self.family != "beit" or config.get("use_absolute_position_embeddings")
        self.positions = net.parameter(1, trained**2 + self.extra, hidden) if placed else None
        if config.get("use_mask_token", self.family in DINO):
            net.parameter(1, hidden)
        self.registers = net.parameter(1, count, hidden) if count else None
        self.before = Norm(net, "layer", hidden) if self.family == "clip_vision_model" else None
        self.shared = (
            RelativeBias(net, config) if config.get("use_shared_relative_position_bias") else None
        )
        if self.shared is not None or config.get("use_relative_position_bias"):
            net.buffer(self.tokens**2, dtype=I64)
        self.blocks = [
            VitBlock(net, config, self.tokens, at) for at in range(config["num_hidden_layers"])
        ]
        self.norm, self.pooling = Norm(net, "layer", hidden), None
        if self.family == "siglip_vision_model" and config.get("vision_use_head", True):
            self.pooling = self._pooling(hidden, config["intermediate_size"])
        self.head = net.linear(
            "classifier", hidden * (2 if self.family in DINO else 1), net.classes, True
        )

    def _pooling(self, hidden: int, ffn: int) -> Tensor:
        """A head by attention, whose result the classifier does not use; its projection of keys and
        values."""
        for shape in ((hidden,), (hidden, hidden), (hidden, hidden), *[(hidden,)] * 6):
            self.net.parameter(*shape, frozen=True)
        for shape in ((ffn, hidden), (ffn,), (hidden, ffn), (hidden,)):
            self.net.parameter(*shape, frozen=True)
        return self.net.parameter(2 * hidden, hidden)

    def _pooled(self, x: Tensor) -> Tensor | None:
        """What that head keeps until the forward pass returns."""
        if self.pooling is None:
            return None
        both = ops.linear(self.net.tape, ops.copy(self.net.tape, x), self.pooling)
        return ops.copy(self.net.tape, both)

    def loss(self) -> Tensor:
        """The loss of the class; without training, the scores."""
        net, side = self.net, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        x = self.embed(image)
        x = x if self.before is None else self.before(x)
        embedded, shared = x, () if self.shared is None else (self.shared(),)
        for block in self.blocks:
            x = checkpointed(net, block, x, *shared)
        del embedded
        return self._classified(x)

    def _classified(self, x: Tensor) -> Tensor:
        x, _pooled = self._head_states(x)
        scores = self.head(x)
        return class_loss(self.net, scores) if self.net.setting.training else scores

    def _head_states(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """What the classifier gets, and what lives until it is done."""
        tape, flat, config = self.net.tape, (x.shape[0], x.shape[2]), self.config
        if self.family == "beit" and config.get("use_mean_pooling", True):
            return self.norm(self._mean(x, self.tokens - 1)), None
        if self.family == "clip_vision_model":
            return self._mean(x, self.tokens - 1), self.norm(ops.cut(tape, x, flat))
        x = self.norm(x)
        if self.family in DINO:
            means = self._mean(
                x, self.tokens - 1 - (0 if self.registers is None else self.registers.shape[1])
            )
            return ops.cat(tape, (ops.cut(tape, x, flat), means)), None
        if self.family in ("siglip_vision_model", "ijepa"):
            return ops.reduce_to(tape, x, flat), self._pooled(x)
        return ops.cut(tape, x, flat), None

    def _mean(self, x: Tensor, tokens: int) -> Tensor:
        tape = self.net.tape
        return ops.reduce_to(
            tape, ops.cut(tape, x, (x.shape[0], tokens, x.shape[2])), (x.shape[0], x.shape[2])
        )

    def _placed(self) -> Tensor | None:
        """The positions, resized by cubic interpolation where the image has another size than those
        trained."""
        tape, table = self.net.tape, self.positions
        if table is None or not self.resizes or self.family not in DINO | {"beit"}:
            return table
        first, rest = (
            ops.cut(tape, table, (1, rows, table.shape[2]))
            for rows in (self.extra, table.shape[1] - self.extra)
        )
        wide = ops.cast(tape, rest, F32) if self.family in DINO else rest
        sized = ops.cast(
            tape, ops.resized(tape, wide, (1, self.side**2, table.shape[2])), table.dtype
        )
        return ops.cat(tape, (first, sized), 1)

    def embed(self, image: Tensor) -> Tensor:
        """Patches with their positions."""
        tape, batch = self.net.tape, self.net.setting.batch
        x = ops.convolution(tape, image, self.kernel, self.bias, self.patch, 0)
        x = x.view(batch, x.shape[2] * x.shape[3], x.shape[1])
        if self.class_token:
            wide = [
                Tensor((batch, 1, x.shape[2]), token.dtype, token.storage)
                for token in self.class_token
            ]
            x = ops.cat(tape, (*wide, x), 1)
        placed = self._placed()
        x = x if placed is None else ops.add(tape, x, placed)
        if self.registers is not None:
            first, rest = (
                ops.cut(tape, x, (batch, 1, x.shape[2])),
                ops.cut(tape, x, (batch, x.shape[1] - 1, x.shape[2])),
            )
            spread = Tensor((batch, *self.registers.shape[1:]), x.dtype, self.registers.storage)
            x = ops.cat(tape, (first, spread, rest), 1)
        return ops.dropout(
            tape, x, float(self.config.get("hidden_dropout_prob") or 0.0), self.net.setting.training
        )


def edge(size: int | list[int]) -> int:
    """The edge of an image given as one number or two."""
    return size if isinstance(size, int) else size[0]
