"""Lightning attention on the tape (MiniMax-01, arXiv 2501.08313): blocks that attend within
themselves and to a decaying state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.networks.families.decoders.attention import Attention, Rope
from rigplanner.networks.families.decoders.decoder import Block, Decoder
from rigplanner.networks.families.decoders.decoder_forms import decoder_form, expert_form
from rigplanner.networks.families.decoders.moe import Experts
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net, Norm
from rigplanner.networks.tracer.products import cat, dense, matmul
from rigplanner.networks.tracer.strided import array, zeros
from rigplanner.networks.tracer.tape import Tensor, new


class LightningAttention:
    """One projection, blocks one after the other, a norm, a gate and the output."""

    def __init__(self, net: Net, form: Form, block: int) -> None:
        self.net, self.form, self.block, wide = net, form, block, form.heads * form.head_dim
        self.norm = Norm(net, "rms", wide)
        self.joint, self.out = (
            net.linear("qkv_proj", form.hidden, 3 * wide),
            net.linear("out_proj", wide, form.hidden),
        )
        self.gate = net.linear("output_gate", form.hidden, wide)
        for shape in ((1, 1), (block, 1), (block, 1), (block, block)):
            net.buffer(form.heads, *shape, dtype=net.setting.dtype)

    def __call__(
        self, x: Tensor, rope: Rope | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        tape, form, (batch, length, _) = self.net.tape, self.form, x.shape
        states, kind = array(tape, x), self.net.setting.dtype
        joint = dense(self.joint, states).of_input().reshape(batch, length, form.heads, -1)
        sides = [side.transpose(1, 2) for side in joint.split(*(form.head_dim,) * 3)]
        memory, seen = (
            zeros(tape, batch, form.heads, form.head_dim, form.head_dim, dtype=sides[2].dtype),
            [],
        )
        for begin in range(0, length, self.block):
            size = min(self.block, length - begin)
            query, key, value = (side.cut(2, size) for side in sides)
            fading = [
                Tensor((form.heads, size, last), kind, new(tape, (0,), kind).storage)
                for last in (1, size)
            ]
            near = matmul(matmul(query, key.transpose(-1, -2)) * fading[1], value)
            far = matmul(query * fading[0], memory)
            seen.append(far + near)
            memory = memory * new(tape, (form.heads, 1, 1), kind) + matmul(
                (key * fading[0]).transpose(-1, -2), value
            )
            del near, far
        result = cat(seen, -2).transpose(1, 2).reshape(batch, length, form.heads * form.head_dim)
        normed = array(tape, self.norm(result))
        return dense(self.out, dense(self.gate, states).of_result() * normed), memory


class MiniMaxBlock(Block):
    """What enters a layer's parts is normalised before it is kept for the sum; both sides of a sum
    are scaled."""

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> Tensor:
        tape = self.net.tape
        x = self.norms[0](x)
        attended, _weights = self._attend(x, rope, mask)
        x = ops.add(tape, ops.sub_self(tape, x), ops.sub_self(tape, attended))
        del attended
        x = self.norms[1](x)
        fed = self.mlp(x)
        return ops.add(tape, ops.sub_self(tape, x), ops.sub_self(tape, fed))


def minimax(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """MiniMax-Text-01 and M1 (transformers, MiniMaxConfig)."""
    form, experts, kinds = (
        decoder_form(config, "minimax"),
        expert_form(config),
        config["layer_types"],
    )
    assert experts is not None

    def attends(net: Net, form: Form, at: int) -> Any:
        full = kinds[at] == "full_attention"
        return (
            Attention(net, form)
            if full
            else LightningAttention(net, form, config.get("block_size") or 256)
        )

    return lambda net: Decoder(
        net, form, lambda net, form, _: Experts(net, form, experts), attends, MiniMaxBlock
    )
