"""The parts of Qwen's vision models that see: images of any size side by side in one row of
patches, merged two by two."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.decoders.attention import (
    Rope,
    activate,
    attend,
    rotate,
    softmax_wide,
)
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.decoders.moe import gather
from rigplanner.networks.families.multimodal.vision_tower import opened
from rigplanner.networks.image_tokens import Seen
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm, checkpointed
from rigplanner.networks.tracer.tape import F32, Tape, Tensor, like, new, record


def unbound(tape: Tape, joint: Tensor) -> list[Tensor]:
    """Query, key and value of one product, as views; their gradients are stacked and brought back
    into rows."""
    width = joint.shape[-1] // 3
    rows = record(
        tape,
        Tensor(joint.shape, joint.dtype, joint.storage),
        (joint,),
        lambda grad: (like(tape, grad),),
    )
    return ops.split(tape, rows, (width, width, width))


class QwenLayer:
    """Norm, attention within windows, residual; norm, feed-forward, residual."""

    def __init__(self, net: Net, tower_config: dict[str, Any], windows: int) -> None:
        self.net, self.windows = net, max(1, windows)
        self.hidden, self.heads = width_of(tower_config), int(tower_config["num_heads"])
        norm = "rms" if gated(tower_config) else "layer"
        ffn = int(tower_config.get("intermediate_size") or tower_config["mlp_ratio"] * self.hidden)
        self.first_norm, self.last_norm = Norm(net, norm, self.hidden), Norm(net, norm, self.hidden)
        self.joint, self.out = (
            net.linear("qkv", self.hidden, 3 * self.hidden, True),
            net.linear("proj", self.hidden, self.hidden, True),
        )
        self.gate = net.linear("gate_proj", self.hidden, ffn, True) if gated(tower_config) else None
        self.up, self.down = (
            net.linear("up_proj", self.hidden, ffn, True),
            net.linear("down_proj", ffn, self.hidden, True),
        )
        self.act = ACTS.get(tower_config["hidden_act"], "gelu")

    def __call__(self, x: Tensor, rope: Rope) -> Tensor:
        tape = self.net.tape
        x = ops.add(tape, x, self._attended(self.first_norm(x), rope))
        return ops.add(tape, x, self._fed(self.last_norm(x)))

    def _fed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.gate is None:
            return self.down(activate(tape, self.up(x), self.act))
        return self.down(ops.mul(tape, activate(tape, self.gate(x), self.act), self.up(x)))

    def _attended(self, x: Tensor, rope: Rope) -> Tensor:
        tape, rows = self.net.tape, x.shape[0]
        shape = (1, self.heads, rows, self.hidden // self.heads)
        query, key, value = (one.view(*shape) for one in unbound(tape, self.joint(x)))
        query, key = self._turned(query, key, rope)
        made = (
            self._eager(query, key, value)
            if self.net.setting.eager
            else attend(self.net, query, key, value, None, 0.0)
        )
        return self.out(ops.copy(tape, made).view(rows, self.hidden))

    def _turned(self, query: Tensor, key: Tensor, rope: Rope) -> tuple[Tensor, Tensor]:
        tape, dtype = self.net.tape, query.dtype
        query, key = ops.cast(tape, query, F32), ops.cast(tape, key, F32)
        turned = rotate(tape, query, rope), rotate(tape, key, rope)
        return ops.cast(tape, turned[0], dtype), ops.cast(tape, turned[1], dtype)

    def _eager(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        tape, rows = self.net.tape, query.shape[2]
        each = max(1, rows // self.windows)
        at_once = self.windows if tape.recording else 1
        shape = (at_once, self.heads, each, query.shape[3])
        tape.flops += 4 * (self.windows - at_once) * self.heads * each**2 * query.shape[3]
        parts = [Tensor(shape, one.dtype, one.storage, one.node) for one in (query, key, value)]
        scores = ops.bmm(tape, parts[0], parts[1], (*shape[:3], each))
        weights = ops.cast(tape, softmax_wide(tape, ops.sub_self(tape, scores)), query.dtype)
        del scores
        some = ops.bmm(tape, weights, parts[2], shape)
        if at_once < self.windows:
            return new(tape, query.shape, query.dtype)
        return ops.copy(tape, some).view(1, self.heads, rows, shape[3])


def width_of(tower_config: dict[str, Any]) -> int:
    """The width of the patches."""
    return int(tower_config.get("embed_dim") or tower_config["hidden_size"])


def gated(tower_config: dict[str, Any]) -> bool:
    """Whether layers have gates and root mean square norms (Qwen2.5-VL)."""
    return bool(tower_config.get("fullatt_block_indexes"))


class Merger:
    """A norm, patches joined, two linear layers; the norm is after the joining where a level enters
    the language model."""

    def __init__(
        self, net: Net, tower_config: dict[str, Any], out: int, late: bool = False
    ) -> None:
        self.net, width, merge = (
            net,
            width_of(tower_config),
            int(tower_config["spatial_merge_size"]),
        )
        self.joined, self.late = width * merge**2, late
        self.norm = Norm(
            net, "rms" if gated(tower_config) else "layer", self.joined if late else width
        )
        self.first, self.second = (
            net.linear("fc1", self.joined, self.joined, True),
            net.linear("fc2", self.joined, out, True),
        )

    def __call__(self, x: Tensor) -> Tensor:
        rows = x.size // self.joined
        x = (
            self.norm(x.view(rows, self.joined))
            if self.late
            else self.norm(x).view(rows, self.joined)
        )
        return self.second(ops.keeping_input(self.net.tape, self.first(x)))


class QwenTower:
    """Patches in one row over all images, layers, the merger; levels that enter the language model
    (Qwen3-VL)."""

    def __init__(
        self,
        net: Net,
        tower_config: dict[str, Any],
        seen: Seen,
        text: int,
        projecting: Net,
        adapted: bool,
    ) -> None:
        self.net, self.tower_config, hidden = net, tower_config, width_of(tower_config)
        self.patch, merge = int(tower_config["patch_size"]), int(tower_config["spatial_merge_size"])
        self.inputs = 3 * int(tower_config["temporal_patch_size"]) * self.patch**2
        self.rows = net.setting.batch * (seen.height // self.patch) * (seen.width // self.patch)
        self.kernel, self.levels = (
            net.parameter(hidden, self.inputs),
            tuple(tower_config.get("deepstack_visual_indexes") or ()),
        )
        self.bias = net.parameter(hidden) if tower_config.get("num_position_embeddings") else None
        places = tower_config.get("num_position_embeddings")
        self.table = net.parameter(int(places), hidden) if places else None
        whole = tower_config.get("fullatt_block_indexes")
        side = (
            max(1, int(tower_config.get("window_size") or 1) // (self.patch * merge))
            * merge
            * self.patch
        )
        near = net.setting.batch * -(-seen.height // side) * -(-seen.width // side)
        images = net.setting.batch
        self.windowed = bool(whole)
        self.blocks = [
            QwenLayer(net, tower_config, images if whole is None or at in whole else near)
            for at in range(int(tower_config["depth"]))
        ]
        out = (
            int(tower_config.get("out_hidden_size") or text)
            if not tower_config.get("embed_dim")
            else int(tower_config["hidden_size"])
        )
        self.merger = Merger(projecting, tower_config, out)
        self.deep = [Merger(projecting, tower_config, out, late=True) for _ in self.levels]
        self.frozen, self.adapted = (
            net.freezing and not (adapted and net.setting.checkpointing),
            adapted,
        )
        self.entered: list[Tensor] = []
        self.keeps = net.setting.checkpointing and net.setting.frozen_tower

    def __call__(self) -> tuple[Tensor, list[Tensor], tuple[Tensor, ...]]:
        """Features of all images, those of the levels, and what lives until the forward pass
        ends."""
        tape, net = self.net.tape, self.net
        pixels = new(tape, (self.rows, self.inputs), net.setting.dtype)
        recording, tape.recording = tape.recording, tape.recording and not self.frozen
        x = opened(net, self.adapted, ops.linear(tape, pixels, self.kernel, self.bias))
        held: list[Tensor] = [pixels]
        if self.table is not None:
            near = ops.embedding(tape, self.table, (self.rows, 4))
            weights = new(tape, (self.rows, 4, 1), F32)
            placed = ops.reduce_to(
                tape, ops.mul(tape, near, weights), (self.rows, x.shape[1]), spreads=False
            )
            del near
            placed = ops.cast(tape, placed, x.dtype)
            x = ops.add(tape, x, placed)
            held += [placed, weights]
        if self.windowed:
            x = gather(tape, x, x.shape)
        width = x.shape[1] // int(self.tower_config["num_heads"])
        rope = new(tape, (self.rows, width), F32), new(tape, (self.rows, width), F32)
        outs: list[Tensor] = []
        for at, block in enumerate(self.blocks):
            self.entered += [x] * self.keeps
            x = checkpointed(net, lambda y, block=block: block(y, rope), x)
            if at in self.levels:
                tape.recording = recording
                outs.append(self.deep[self.levels.index(at)](x))
                tape.recording = recording and not self.frozen
        tape.recording = recording
        merged = self.merger(x)
        merged = gather(tape, merged, merged.shape) if self.windowed else merged
        return merged, outs, (*held, x, merged, *outs)
