"""The parts of language models that see, of plain layers: CLIP, SigLIP (LLaVA, PaliGemma, Gemma),
InternVL, Idefics 3, Pixtral."""

from __future__ import annotations

from copy import copy
from typing import Any

import msgspec

from rigplanner.networks.families.decoders.attention import activate, rope_tables
from rigplanner.networks.families.decoders.decoder import Block, Mlp
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.decoders.traits import Form, Traits
from rigplanner.networks.families.vision.vision import VitBlock
from rigplanner.networks.image_tokens import Seen
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import BOOL, Grads, Tape, Tensor, new, record

LIKE = {
    "idefics3_vision": "siglip_vision_model",
    "smolvlm_vision": "siglip_vision_model",
    "internvl_vision": "beit",
}
"""Layers that are another's."""


def seeing(net: Net, samples: int, frozen: bool) -> Net:
    """The same network as its part that sees builds and runs: a sample is a piece of a picture, and
    no adapter is put there."""
    made = copy(net)
    made.setting = msgspec.structs.replace(net.setting, batch=samples, lora_rank=0, lora_targets=())
    made.freezing = frozen
    return made


def opened(part: Net, adapted: bool, x: Tensor) -> Tensor:
    """The embedded patches; with adapters and checkpointing they get a gradient as the embedded
    tokens do."""
    if not (adapted and part.setting.checkpointing and part.setting.training):
        return x
    return Tensor(x.shape, x.dtype, x.storage, None, True)


def absorbed(net: Net, part: Net) -> None:
    """Count what a part of a network made, which began as its copy."""
    net.values, net.trained, net.buffer_bytes = part.values, part.trained, part.buffer_bytes


class Tower:
    """Patches, layers of ViT; `unused` layers at its end and its last norm are run for nothing, and
    their weights never step."""

    def __init__(
        self, net: Net, tower_config: dict[str, Any], seen: Seen, unused: int, adapted: bool
    ) -> None:
        self.net, self.seen, self.kind = net, seen, str(tower_config["model_type"])
        self.hidden, patch = int(tower_config["hidden_size"]), tower_config["patch_size"]
        self.patch = patch if isinstance(patch, int) else patch[0]
        side = (
            tower_config["image_size"]
            if isinstance(tower_config["image_size"], int)
            else tower_config["image_size"][0]
        )
        self.side = seen.height // self.patch
        self.extra = 1 if self.kind in ("clip_vision_model", "internvl_vision") else 0
        self.tokens = self.side**2 + self.extra
        net.parameter(self.hidden) if self.extra else None
        self.kernel = net.parameter(self.hidden, 3, self.patch, self.patch)
        self.bias = net.parameter(self.hidden) if self.kind != "clip_vision_model" else None
        self.positions = net.parameter(1, (side // self.patch) ** 2 + self.extra, self.hidden)
        self.before = Norm(net, "layer", self.hidden) if self.kind == "clip_vision_model" else None
        layer = {**tower_config, "model_type": LIKE.get(self.kind, self.kind)}
        layer["qkv_bias"] = (
            tower_config.get("attention_bias", False) if self.kind == "internvl_vision" else True
        )
        self.blocks: list[VitBlock] = []
        for at in range(int(tower_config["num_hidden_layers"])):
            with idle(net, at >= tower_config["num_hidden_layers"] - unused):
                self.blocks.append(VitBlock(net, layer, self.tokens, at))
        with idle(net, unused > 0 or self.kind == "clip_vision_model"):
            bare = self.kind == "internvl_vision" and tower_config.get("use_mean_pooling", True)
            self.norm = None if bare else Norm(net, "layer", self.hidden)
        self.unused, self.adapted = unused, adapted
        self.entered: list[Tensor] = []
        self.keeps = net.setting.checkpointing and net.setting.frozen_tower

    def __call__(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The features of all pieces, and what lives until the forward pass ends."""
        net, seen, pieces = self.net, self.seen, self.net.setting.batch
        tape = net.tape
        image = new(tape, (pieces, 3, seen.height, seen.width), net.setting.dtype)
        held = [image, *self._unpadded(image)]
        x = self._embedded(held[-1])
        x = x if self.before is None else self.before(x)
        taken = first = x
        for at, block in enumerate(self.blocks):
            self.entered += [x] * self.keeps
            x = checkpointed(self.net, block, x)
            taken = x if at < len(self.blocks) - self.unused else taken
        del first
        held = [held[0], x]
        if self.kind == "clip_vision_model":
            assert self.norm is not None
            held.append(self.norm(ops.cut(tape, x, (pieces, self.hidden))))
        elif self.norm is not None:
            x = self.norm(x)
            held[1] = x
            taken = x if not self.unused else taken
        return taken, (*held, taken)

    def _unpadded(self, image: Tensor) -> list[Tensor]:
        """What a model that drops empty pieces makes of them: a mask of their pixels, and the
        pieces that are left."""
        if not self.kind.startswith(("idefics", "smol")):
            return []
        tape, (pieces, _, height, width) = self.net.tape, image.shape
        return [new(tape, (pieces, height, width), BOOL), new(tape, image.shape, image.dtype)]

    def _embedded(self, image: Tensor) -> Tensor:
        tape, pieces = self.net.tape, self.net.setting.batch
        x = ops.convolution(tape, image, self.kernel, self.bias, self.patch, 0)
        x = opened(self.net, self.adapted, x)
        x = x.view(pieces, self.side**2, self.hidden)
        if self.extra:
            token = Tensor((pieces, 1, self.hidden), x.dtype, self.positions.storage, None, False)
            x = ops.cat(tape, (token, x), 1)
        placed = self.positions
        if self.kind.startswith(("idefics", "smol")):
            placed = ops.embedding(
                tape,
                self.positions.view(self.positions.shape[1], self.hidden),
                (pieces, self.tokens),
            )
        return ops.add(tape, x, placed)


class RowTower:
    """Pixtral: patches of all images in one row, layers as those of Llama with a mask that keeps
    images apart."""

    def __init__(self, net: Net, tower_config: dict[str, Any], seen: Seen, adapted: bool) -> None:
        self.adapted = adapted
        self.seen, self.patch, self.hidden = (
            seen,
            int(tower_config["patch_size"]),
            int(tower_config["hidden_size"]),
        )
        self.images = net.setting.batch
        self.rows = self.images * (seen.height // self.patch) * (seen.width // self.patch)
        self.net = copy(net)
        self.net.setting = msgspec.structs.replace(net.setting, batch=1, length=self.rows)
        heads, act = (
            int(tower_config["num_attention_heads"]),
            ACTS.get(tower_config["hidden_act"], "gelu"),
        )
        form = Form(
            layers=int(tower_config["num_hidden_layers"]),
            hidden=self.hidden,
            heads=heads,
            kv_heads=heads,
            vocab=0,
            tied=True,
            head_dim=self.hidden // heads,
            ffn=int(tower_config["intermediate_size"]),
            traits=Traits(act=act),
        )
        self.kernel = self.net.parameter(self.hidden, 3, self.patch, self.patch)
        self.before = Norm(self.net, "rms", self.hidden)
        self.blocks = [
            Block(self.net, form, lambda net, form, _: Mlp(net, form), at)
            for at in range(form.layers)
        ]
        absorbed(net, self.net)
        self.entered: list[Tensor] = []
        self.keeps = net.setting.checkpointing and net.setting.frozen_tower
        self.head = form.head_dim

    def __call__(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The features of all images, and what lives until the forward pass ends."""
        net, seen = self.net, self.seen
        tape, dtype = net.tape, net.setting.dtype
        image = new(tape, (self.images, 3, seen.height, seen.width), dtype)
        x = opened(
            net, self.adapted, ops.convolution(tape, image, self.kernel, None, self.patch, 0)
        )
        x = ops.copy(tape, x).view(1, self.rows, self.hidden)
        x = first = self.before(x)
        rope = rope_tables(net, self.head, x.dtype)
        mask = new(tape, (1, 1, self.rows, self.rows), x.dtype)
        for block in self.blocks:
            self.entered += [x] * self.keeps
            x = checkpointed(net, lambda y, block=block: block(y, rope, mask), x)
        del first
        return x, (image, x)


class idle:  # noqa: N801
    """Weights that are made here get no gradient although they ask for one: no state of the
    optimizer is made for them."""

    def __init__(self, net: Net, on: bool) -> None:
        self.net, self.on = net, on

    def __enter__(self) -> None:
        self.before = len(self.net.trained_tensors), self.net.trained

    def __exit__(self, *_: object) -> None:
        if self.on:
            made, self.net.trained = self.before
            del self.net.trained_tensors[made:]


def shuffled(tape: Tape, x: Tensor, joined: int) -> Tensor:
    """Pixels of a map shuffled into channels, `joined` along either side, by two copies."""
    pieces, tokens, width = x.shape
    x = ops.copy(tape, ops.copy(tape, x))
    return x.view(pieces, tokens // joined**2, width * joined**2)


def pooled(tape: Tape, x: Tensor, tokens: int) -> Tensor:
    """The mean of neighbours of a map that is turned channels first before and rows first after
    (Gemma 3)."""
    pieces, _, width = x.shape
    full = x.shape
    turned = ops.copy(tape, x)
    small = new(tape, (pieces, tokens, width), x.dtype)

    def pull(grad: Tensor) -> Grads:
        _turned = new(tape, grad.shape, grad.dtype)
        return (new(tape, full, grad.dtype),)

    return record(tape, small, (turned,), pull)


class TwoLayers:
    """Two linear layers with an activation between (LLaVA), after a norm where there is one
    (InternVL)."""

    def __init__(
        self, net: Net, inputs: int, text: int, act: str, bias: bool, norm: str = ""
    ) -> None:
        self.net, self.act = net, ACTS.get(act, "gelu")
        self.norm = Norm(net, norm, inputs) if norm else None
        self.first, self.second = (
            net.linear("linear_1", inputs, text, bias),
            net.linear("linear_2", text, text, bias),
        )

    def __call__(self, x: Tensor) -> Tensor:
        x = x if self.norm is None else self.norm(x)
        x = self.first(x)
        x = activate(self.net.tape, x, self.act)
        return self.second(x)
