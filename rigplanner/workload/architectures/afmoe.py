"""AFMoE (Arcee Trinity) on the tape: a gate beside the attention, rotation in windowed layers only, experts that share a bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rigplanner.workload.architectures.attention import Attention, Rope
from rigplanner.workload.architectures.decoder import Decoder, Mlp
from rigplanner.workload.architectures.moe import ExpertForm, Experts
from rigplanner.workload.architectures.traits import Form
from rigplanner.workload.tape.net import Net
from rigplanner.workload.tape.tape import Tensor


class AfmoeAttention(Attention):
    """Self-attention whose result is gated by a projection of its own; layers that attend to everything are not rotated."""

    def __init__(self, net: Net, form: Form, turns: bool) -> None:
        super().__init__(net, form)
        self.turns = turns
        self.beside = net.linear("gate_proj", form.hidden, form.heads * form.head_dim)

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return super().__call__(x, rope if self.turns else None, mask)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        made = super()._project(x)
        self.gate = self.beside(x)
        return made


def afmoe(config: dict[str, Any], form: Form, experts: ExpertForm) -> Callable[[Net], Decoder]:
    """The network of a configuration (transformers, AfmoeConfig)."""
    kinds = config["layer_types"]

    def attends(net: Net, form: Form, at: int) -> AfmoeAttention:
        return AfmoeAttention(net, form, kinds[at] == "sliding_attention")

    def feed(net: Net, form: Form, at: int) -> Mlp | Experts:
        if experts.dense(at):
            return Mlp(net, form)
        net.parameter(experts.experts, frozen=True)
        return Experts(net, form, experts)

    return lambda net: Decoder(net, form, feed, attends)
