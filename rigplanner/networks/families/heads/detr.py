"""DETR on the tape (Carion et al. 2020, arXiv 2005.12872): a residual backbone whose norms never
train, an encoder over its last map, and a decoder over queries, as transformers builds them."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.decoders.attention import attend
from rigplanner.networks.families.vision.pyramid import ResidualBackbone
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import BOOL, F32, Tensor, new

DEPTHS = {
    "resnet18": [2, 2, 2, 2],
    "resnet34": [3, 4, 6, 3],
    "resnet50": [3, 4, 6, 3],
    "resnet101": [3, 4, 23, 3],
    "resnet152": [3, 8, 36, 3],
}
"""Backbones of timm by name."""
BASIC = {"resnet18", "resnet34"}
"""Of them those with two convolutions in a layer."""
WHOLE = 4
"""Stages of a residual network: transformers 5.23 freezes all of its own in DETR, and nothing of
timm's, as neither has the names that it looks for."""
LABELS = 91
"""Classes of COCO as the published weights number them."""


class Attention:
    """Attention whose queries and keys are moved by their positions."""

    def __init__(self, net: Net, config: dict[str, Any], heads: int) -> None:
        self.net, self.heads, width = net, heads, config["d_model"]
        self.share = float(config.get("attention_dropout") or 0.0)
        self.key, self.value, self.query, self.out = (
            net.linear(name, width, width, True)
            for name in ("k_proj", "v_proj", "q_proj", "o_proj")
        )

    def __call__(
        self,
        x: Tensor,
        places: Tensor,
        source: Tensor | None = None,
        source_places: Tensor | None = None,
    ) -> Tensor:
        tape = self.net.tape
        asked = ops.add(tape, x, places)
        keys = (
            asked
            if source is None or source_places is None
            else ops.add(tape, source, source_places)
        )
        values = x if source is None else source
        shape = (x.shape[0], self.heads, x.shape[1], x.shape[2] // self.heads)
        other = (*shape[:2], values.shape[1], shape[3])
        query, key, value = (
            self.query(asked).view(*shape),
            self.key(keys).view(*other),
            self.value(values).view(*other),
        )
        if self.net.setting.eager:
            return self.out(self._eager(query, key, value).view(*x.shape))
        return self.out(attend(self.net, query, key, value, None, self.share).view(*x.shape))

    def _eager(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        tape, shape = self.net.tape, (*query.shape[:3], key.shape[2])
        scores = ops.sub_self(
            tape, ops.bmm(tape, ops.packed(tape, query), ops.packed(tape, key), shape)
        )
        raised = F32 if tape.autocast and tape.semantics.float_norms else scores.dtype
        weights = ops.keeping_result(tape, ops.cast(tape, scores, raised))
        weights = ops.dropout(tape, weights, self.share, self.net.setting.training)
        return ops.unpacked(tape, ops.bmm(tape, weights, ops.packed(tape, value), query.shape))


class Layer:
    """Attention to itself, to the map where it decodes, and a feed-forward layer; norms behind the
    sums."""

    def __init__(self, net: Net, config: dict[str, Any], side: str) -> None:
        self.net, width, self.decodes = net, config["d_model"], side == "decoder"
        heads, ffn = config[f"{side}_attention_heads"], config[f"{side}_ffn_dim"]
        self.own = Attention(net, config, heads)
        self.cross = Attention(net, config, heads) if self.decodes else None
        self.norms = [Norm(net, "layer", width) for _ in range(3 if self.decodes else 2)]
        self.up, self.down = (
            net.linear("fc1", width, ffn, True),
            net.linear("fc2", ffn, width, True),
        )
        self.dropped, self.inner = (
            float(config.get("dropout") or 0.0),
            float(config.get("activation_dropout") or 0.0),
        )

    def __call__(
        self,
        x: Tensor,
        places: Tensor,
        source: Tensor | None = None,
        source_places: Tensor | None = None,
    ) -> Tensor:
        tape = self.net.tape
        x = self.norms[0](ops.add(tape, x, self.net.drop(self.own(x, places), self.dropped)))
        if self.cross is not None:
            x = self.norms[1](
                ops.add(
                    tape,
                    x,
                    self.net.drop(self.cross(x, places, source, source_places), self.dropped),
                )
            )
        fed = self.net.drop(ops.keeping_result(tape, self.up(x)), self.inner)
        x = self.norms[-1](ops.add(tape, x, self.net.drop(self.down(fed), self.dropped)))
        if self.net.setting.training and not self.decodes:
            _finite = new(tape, x.shape, BOOL)
        return x


class Detr:
    """The network and its classes and boxes."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.config, width = net, config, config["d_model"]
        self.backbone = ResidualBackbone(net, _backbone(config["backbone_config"]), "scaled")
        self.project, self.project_bias = (
            net.parameter(width, self.backbone.widths[-1], 1, 1),
            net.parameter(width),
        )
        self.queries = net.parameter(config["num_queries"], width)
        self.encoder = [Layer(net, config, "encoder") for _ in range(config["encoder_layers"])]
        self.decoder = [Layer(net, config, "decoder") for _ in range(config["decoder_layers"])]
        self.norm = Norm(net, "layer", width)
        labels = config.get("num_labels") or len(config.get("id2label") or ()) or LABELS
        self.names = net.linear("class_labels_classifier", width, labels + 1, True)
        self.boxes = [net.linear("bbox", width, width if at < 2 else 4, True) for at in range(3)]

    def loss(self) -> Tensor:
        """A sum of classes and boxes in training, without what pairs them with labels; else the
        classes."""
        net, tape, setting, width = (
            self.net,
            self.net.tape,
            self.net.setting,
            self.config["d_model"],
        )
        high, wide = setting.sides or (setting.length, setting.length)
        image, batch = net.given(setting.batch, 3, high, wide, dtype=setting.dtype), setting.batch
        mask = new(tape, (batch, high, wide), F32)
        maps = self.backbone(image)
        x = ops.convolution(tape, maps[-1], self.project, self.project_bias, 1, 0)
        count = x.shape[2] * x.shape[3]
        x = x.view(batch, count, width)
        places = new(tape, (batch, count, width), setting.dtype)
        memory = ops.dropout(tape, x, float(self.config.get("dropout") or 0.0), setting.training)
        for layer in self.encoder:
            memory = checkpointed(net, lambda y, layer=layer: layer(y, places), memory)
        asked = ops.resized(tape, self.queries, (batch, *self.queries.shape))
        y = new(tape, asked.shape, asked.dtype)
        for layer in self.decoder:
            y = checkpointed(
                net,
                lambda y, asked, memory, layer=layer: layer(y, asked, memory, places),
                y,
                asked,
                memory,
            )
        y = self.norm(y)
        names, boxes = self.names(y), y
        for at, linear in enumerate(self.boxes):
            boxes = (
                linear(boxes)
                if at == len(self.boxes) - 1
                else ops.keeping_result(tape, linear(boxes))
            )
        boxes = ops.keeping_result(tape, boxes)
        del mask
        if not setting.training:
            return names
        sums = (
            ops.reduce_to(tape, ops.cast(tape, part, F32), (), spreads=False)
            for part in (names, boxes)
        )
        return ops.add(tape, *sums)


def residual(config: dict[str, Any]) -> bool:
    """Whether the backbone is one whose layers are traced."""
    backbone = config.get("backbone_config") or {}
    return (
        backbone.get("model_type") == "resnet"
        or str(backbone.get("backbone") or "resnet50") in DEPTHS
    )


def _backbone(backbone: dict[str, Any]) -> dict[str, Any]:
    """A residual network and how much of it never trains; raises ValueError for another."""
    if backbone.get("model_type") == "resnet":
        return {**full_config(backbone), "frozen_stages": WHOLE}
    name = str(backbone.get("backbone") or "resnet50")
    if name not in DEPTHS or backbone.get("model_type") not in ("timm_backbone", None):
        raise ValueError(f"backbone_config: expected a residual network, found {name[:40]}")
    widths = {"layer_type": "basic", "hidden_sizes": [64, 128, 256, 512]} if name in BASIC else {}
    return {
        **full_config({"model_type": "resnet", "depths": DEPTHS[name], **widths}),
        "frozen_stages": -1,
    }
