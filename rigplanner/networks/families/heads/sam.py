"""Segment Anything on the tape: a tower of windows whose every layer writes a bias for all pairs of
places, and the small decoder of masks for one prompt."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.decoders.attention import activate, attend
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.diffusion.latent_unet import squared_error
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.fused import fused_attention
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.products import bmm, dense, einsum
from rigplanner.networks.tracer.strided import Array, array, empty, recorded
from rigplanner.networks.tracer.tape import F32, Tensor, new, record

TOKENS = 7
"""What asks the image for a mask: the mark of quality, four of masks, and a point with its padding.
"""


def sam_config(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Tower, prompts and decoder of a configuration, with what transformers takes for fields that
    are left out."""
    parts = {
        "vision": "sam_vision_model",
        "prompt_encoder": "sam_prompt_encoder",
        "mask_decoder": "sam_mask_decoder",
    }
    return {
        name: full_config({**(config.get(f"{name}_config") or {}), "model_type": kind})
        for name, kind in parts.items()
    }


class WindowedAttention:
    """Attention among the places of a window, or of the whole image, with a bias of rows and
    columns (SamVisionAttention)."""

    def __init__(self, net: Net, part_config: dict[str, Any], side: int) -> None:
        self.net, self.heads, hidden = (
            net,
            part_config["num_attention_heads"],
            part_config["hidden_size"],
        )
        self.share = float(part_config.get("attention_dropout") or 0.0)
        self.joint = net.linear("qkv", hidden, 3 * hidden, bool(part_config.get("qkv_bias", True)))
        self.out, head = net.linear("proj", hidden, hidden, True), hidden // self.heads
        self.tables = (
            [net.parameter(2 * side - 1, head) for _ in range(2)]
            if part_config.get("use_rel_pos", True)
            else []
        )

    def __call__(self, x: Array) -> Array:
        batch, high, wide, _ = x.shape
        places, rows = high * wide, batch * self.heads
        joint = (
            dense(self.joint, x).reshape(batch, places, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )
        query, key, value = (
            side.reshape(rows, places, -1)
            for side in joint.reshape(3, rows, places, -1).split(1, 1, 1, axis=0)
        )
        bias = self._bias(query, high, wide) if self.tables else None
        ways = self._written if self.net.setting.eager else self._fused
        result = ways(batch, (query, key, value), bias)
        return dense(
            self.out,
            result.reshape(batch, self.heads, high, wide, -1)
            .permute(0, 2, 3, 1, 4)
            .reshape(*x.shape),
        )

    def _bias(self, query: Array, high: int, wide: int) -> Array:
        """For every pair of places, what the distance of their rows and of their columns adds."""
        rows, columns = (
            self._spread(table, side) for table, side in zip(self.tables, (high, wide), strict=True)
        )
        asked = query.reshape(query.shape[0], high, wide, -1)
        by_row, by_column = (
            einsum("bhwc,hkc->bhwk", asked, rows),
            einsum("bhwc,wkc->bhwk", asked, columns),
        )
        whole = by_row.unsqueeze(4) + by_column.unsqueeze(3)
        return whole.reshape(query.shape[0], high * wide, high * wide)

    def _spread(self, table: Tensor, side: int) -> Array:
        tape, shape = self.net.tape, table.shape
        made = empty(tape, (side, side, shape[1]), table.dtype)
        return recorded(made, (table,), lambda grad: (empty(tape, shape, grad.dtype),))

    def _written(self, batch: int, sides: tuple[Array, Array, Array], bias: Array | None) -> Array:
        query, key, value = sides
        weights = bmm(query * 1.0, key.transpose(1, 2))
        weights = weights if bias is None else weights + bias
        weights = weights.to(F32).softmax().to(query.dtype)
        kept = array(
            self.net.tape,
            ops.dropout(self.net.tape, weights, self.share, self.net.setting.training),
        )
        return bmm(kept, value)

    def _fused(self, batch: int, sides: tuple[Array, Array, Array], bias: Array | None) -> Array:
        tape, places = self.net.tape, sides[0].shape[1]
        query, key, value = (side.reshape(batch, self.heads, places, -1) for side in sides)
        mask = None if bias is None else bias.reshape(batch, self.heads, places, places)
        if mask is None or not tape.semantics.fused_dropout:
            return array(tape, attend(self.net, query, key, value, mask, 0.0, (True, True, True)))
        low = mask if tape.autocast is None else mask.to(tape.autocast)
        result = fused_attention(tape, query, key, value, low)
        shape = low.shape
        made = Tensor(result.shape, result.dtype, result.storage)
        return array(
            tape,
            record(tape, made, (result, low), lambda grad: (grad, new(tape, shape, grad.dtype))),
        )


class SamLayer:
    """Norm, attention in windows, sum; norm, feed-forward layer, sum."""

    def __init__(self, net: Net, part_config: dict[str, Any], at: int, side: int) -> None:
        hidden, ffn = part_config["hidden_size"], part_config["mlp_dim"]
        self.net, self.window = (
            net,
            0 if at in part_config["global_attn_indexes"] else part_config["window_size"],
        )
        self.norms = [Norm(net, "layer", hidden), Norm(net, "layer", hidden)]
        self.attention = WindowedAttention(net, part_config, self.window or side)
        self.up, self.down = (
            net.linear("lin1", hidden, ffn, True),
            net.linear("lin2", ffn, hidden, True),
        )
        self.act = ACTS.get(part_config["hidden_act"], "gelu")

    def __call__(self, x: Tensor) -> Tensor:
        tape, residual = self.net.tape, array(self.net.tape, x)
        y = array(tape, self.norms[0](residual))
        y = self._in_windows(y) if self.window else self.attention(y)
        z = residual + y
        del y
        fed = activate(tape, dense(self.up, array(tape, self.norms[1](z))), self.act)
        return z + dense(self.down, array(tape, fed))

    def _in_windows(self, x: Array) -> Array:
        tape, edge, (batch, high, wide, width) = self.net.tape, self.window, x.shape
        tall, broad = (-(-side // edge) * edge for side in (high, wide))
        padded = recorded(
            empty(tape, (batch, tall, broad, width), x.dtype),
            (x,),
            lambda grad: (empty(tape, x.shape, x.dtype),),
        )
        cut = (
            padded.reshape(batch, tall // edge, edge, broad // edge, edge, width)
            .permute(0, 1, 3, 2, 4, 5)
            .contiguous()
        )
        del padded
        y = self.attention(cut.reshape(-1, edge, edge, width))
        del cut
        y = (
            y.reshape(batch, tall // edge, broad // edge, edge, edge, width)
            .permute(0, 1, 3, 2, 4, 5)
            .contiguous()
        )
        return y.reshape(batch, tall, broad, width).cut(1, high).cut(2, wide).contiguous()


class SamAttention:
    """Attention between tokens and places, of a smaller width inside."""

    def __init__(self, net: Net, part_config: dict[str, Any], rate: int) -> None:
        self.net, self.heads, hidden = (
            net,
            part_config["num_attention_heads"],
            part_config["hidden_size"],
        )
        self.inner = hidden // rate
        self.query, self.key, self.value = (
            net.linear(name, hidden, self.inner, True) for name in ("q_proj", "k_proj", "v_proj")
        )
        self.out = net.linear("out_proj", self.inner, hidden, True)

    def __call__(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        tape, shape = self.net.tape, query.shape
        sides = [
            layer(x).view(x.shape[0], self.heads, x.shape[1], self.inner // self.heads)
            for layer, x in ((self.query, query), (self.key, key), (self.value, value))
        ]
        if not self.net.setting.eager:
            return self.out(
                attend(self.net, sides[0], sides[1], sides[2], None, 0.0).view(
                    *shape[:2], self.inner
                )
            )
        scores = ops.bmm(
            tape, sides[0], ops.packed(tape, sides[1]), (*sides[0].shape[:3], sides[1].shape[2])
        )
        weights = ops.keeping_result(tape, ops.sub_self(tape, scores))
        return self.out(
            ops.bmm(tape, weights, ops.packed(tape, sides[2]), sides[0].shape).view(
                *shape[:2], self.inner
            )
        )


class TwoWayLayer:
    """Tokens attend to themselves and to the image, the image to the tokens."""

    def __init__(self, net: Net, part_config: dict[str, Any], first: bool) -> None:
        hidden, rate = part_config["hidden_size"], part_config["attention_downsample_rate"]
        self.net, self.first, self.act = net, first, ACTS.get(part_config["hidden_act"], "relu")
        self.own, self.into, self.back = (
            SamAttention(net, part_config, 1),
            SamAttention(net, part_config, rate),
            SamAttention(net, part_config, rate),
        )
        self.norms = [Norm(net, "layer", hidden) for _ in range(4)]
        self.up, self.down = (
            net.linear("lin1", hidden, part_config["mlp_dim"], True),
            net.linear("lin2", part_config["mlp_dim"], hidden, True),
        )

    def __call__(
        self, tokens: Tensor, image: Tensor, asked: Tensor, placed: Tensor
    ) -> tuple[Tensor, Tensor]:
        tape = self.net.tape
        query = tokens if self.first else ops.add(tape, tokens, asked)
        attended = self.own(query, query, tokens)
        tokens = self.norms[0](attended if self.first else ops.add(tape, tokens, attended))
        query, key = ops.add(tape, tokens, asked), ops.add(tape, image, placed)
        tokens = self.norms[1](ops.add(tape, tokens, self.into(query, key, image)))
        tokens = self.norms[2](
            ops.add(tape, tokens, self.down(activate(tape, self.up(tokens), self.act)))
        )
        query, key = ops.add(tape, tokens, asked), ops.add(tape, image, placed)
        attended = self.back(key, query, tokens)
        return tokens, self.norms[3](ops.add(tape, image, attended))


class MaskDecoder:
    """Two-way layers, the image made four times as wide, and masks by a product of both."""

    def __init__(self, net: Net, part_config: dict[str, Any], prompts: dict[str, Any]) -> None:
        self.net, self.part_config, hidden = net, part_config, part_config["hidden_size"]
        self.masks, kept = part_config["num_multimask_outputs"] + 1, prompts["mask_input_channels"]
        small = kept // 4
        with net.unreached():
            net.parameter(
                4 * small
                + small
                + 2 * small
                + kept * small * 4
                + kept
                + 2 * kept
                + hidden * kept
                + hidden
            )
        self.marks = [net.parameter(1, hidden) for _ in range(6)]
        self.tokens = [net.parameter(1, hidden), net.parameter(self.masks, hidden)]
        self.layers = [
            TwoWayLayer(net, part_config, at == 0) for at in range(part_config["num_hidden_layers"])
        ]
        self.last, self.norm = (
            SamAttention(net, part_config, part_config["attention_downsample_rate"]),
            Norm(net, "layer", hidden),
        )
        self.widths = hidden // 4, hidden // 8
        self.grown = [
            (net.parameter(before, after, 2, 2), net.parameter(after))
            for before, after in ((hidden, self.widths[0]), self.widths)
        ]
        self.up_norm = Norm(net, "layer", self.widths[0])
        self.heads = [self._head(hidden, hidden, self.widths[1], 3) for _ in range(self.masks)]
        self.quality = self._head(
            hidden, part_config["iou_head_hidden_dim"], self.masks, part_config["iou_head_depth"]
        )

    def _head(self, inputs: int, inner: int, outputs: int, depth: int) -> list[Any]:
        widths = [inputs, *[inner] * (depth - 1), outputs]
        return [
            self.net.linear("layers", before, after, True) for before, after in pairwise(widths)
        ]

    def __call__(self, image: Tensor, placed: Tensor) -> Tensor:
        tape, (batch, hidden, high, wide) = self.net.tape, image.shape
        asked = ops.cat(tape, [new(tape, (batch, TOKENS, hidden), image.dtype)], 1)
        entered = ops.copy(tape, ops.add(tape, image, new(tape, (1, hidden, 1, 1), image.dtype)))
        x = entered.view(batch, high * wide, hidden)
        placed = ops.copy(tape, placed)
        tokens = asked
        for layer in self.layers:
            tokens, x = layer(tokens, x, asked, placed)
        query, key = ops.add(tape, tokens, asked), ops.add(tape, x, placed)
        tokens = self.norm(ops.add(tape, tokens, self.last(query, key, x)))
        del entered, query, key
        y = self._grow(ops.copy(tape, x).view(batch, hidden, high, wide), 0)
        y = self.up_norm(y.view(batch, 4 * high * wide, self.widths[0])).view(*y.shape)
        y = ops.keeping_input(tape, y)
        y = ops.keeping_input(tape, self._grow(y, 1))
        asking = new(tape, (batch, self.masks, self.widths[1]), y.dtype)
        rows = y.view(batch, self.widths[1], 16 * high * wide)
        shape = (batch, self.masks, 16 * high * wide)
        return ops.bmm(
            tape, ops.add(tape, asking, self.grown[1][1].view(1, 1, self.widths[1])), rows, shape
        )

    def _grow(self, x: Tensor, at: int) -> Tensor:
        """A transposed convolution of stride two."""
        tape, (weight, bias), shape = self.net.tape, self.grown[at], x.shape
        low = ops.cast_low(tape, x)
        made = (shape[0], self.widths[at], 2 * shape[2], 2 * shape[3])
        tape.saves()
        kept = [low]

        def pull(grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            kept.clear()
            return tuple(new(tape, side, grad.dtype) for side in (shape, weight.shape, bias.shape))  # type: ignore[return-value]

        return record(tape, new(tape, made, low.dtype), (low, weight, bias), pull)


class Sam:
    """Tower and decoder for one prompt an image."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        part_config = sam_config(config)
        self.net, self.part_config = net, part_config["vision"]
        hidden, patch, out = (
            self.part_config["hidden_size"],
            self.part_config["patch_size"],
            self.part_config["output_channels"],
        )
        trained = self.part_config["image_size"] // patch
        self.side, self.patch = net.setting.length // patch, patch
        self.kernel, self.bias = net.parameter(hidden, 3, patch, patch), net.parameter(hidden)
        self.places = (
            net.parameter(1, trained, trained, hidden)
            if self.part_config.get("use_abs_pos", True)
            else None
        )
        self.layers = [
            SamLayer(net, self.part_config, at, trained)
            for at in range(self.part_config["num_hidden_layers"])
        ]
        self.neck = [net.parameter(out, hidden, 1, 1), net.parameter(out, out, 3, 3)]
        self.norms = [Norm(net, "layer", out), Norm(net, "layer", out)]
        with net.unreached():
            net.parameter(2, part_config["prompt_encoder"]["hidden_size"] // 2)
        self.decoder = MaskDecoder(net, part_config["mask_decoder"], part_config["prompt_encoder"])

    def _seen(self) -> Tensor:
        net, tape, side = self.net, self.net.tape, self.net.setting.length
        image = net.given(net.setting.batch, 3, side, side, dtype=net.setting.dtype)
        embedded = ops.convolution(tape, image, self.kernel, self.bias, self.patch, 0)
        x: Tensor = array(tape, embedded).permute(0, 2, 3, 1)
        del embedded
        if self.places is not None:
            x = array(tape, x) + self.places
        for layer in self.layers:
            x = checkpointed(net, layer, x)
        y = array(tape, x).permute(0, 3, 1, 2)
        shape = (y.shape[0], self.neck[0].shape[0], self.side, self.side)
        for kernel, norm in zip(self.neck, self.norms, strict=True):
            plain = Tensor(y.shape, y.dtype, y.storage, y.node, y.trains)
            made = ops.convolution(tape, plain, kernel, None, 1, kernel.shape[-1] // 2)
            y = array(tape, norm(made.view(shape[0], self.side**2, shape[1])).view(*shape))
        return Tensor(y.shape, y.dtype, y.storage, y.node, y.trains)

    def loss(self) -> Tensor:
        """The squared error of the masks; without training, the masks."""
        shape = self.net.setting.batch, self.side**2, self.neck[0].shape[0]
        placed = new(self.net.tape, shape, self.net.setting.dtype)
        seen = self._seen()
        masks = self.decoder(seen, placed)
        del seen, placed
        return squared_error(self.net, masks) if self.net.setting.training else masks
