"""Zamba2 on the tape: layers that scan, some of which first look at everything through blocks of
attention that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from rigplanner.networks.families.decoders.attention import Attention, Rope, activate
from rigplanner.networks.families.decoders.decoder import Decoder
from rigplanner.networks.families.decoders.decoder_forms import decoder_form
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.families.state_space.hybrid import second_form
from rigplanner.networks.families.state_space.mamba import Mamba2, StateForm
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Linear, Net, Norm
from rigplanner.networks.tracer.tape import Tensor

Low = tuple[Linear, Linear]
"""A narrow path beside a shared matrix."""


def _low(net: Net, inputs: int, rank: int, outputs: int) -> Low:
    return net.linear("0", inputs, rank), net.linear("1", rank, outputs)


class SharedAttention(Attention):
    """Self-attention over states and embeddings joined; every use of it may add low-rank paths of
    its own."""

    def __init__(self, net: Net, form: Form, uses: list[int], rank: int) -> None:
        super().__init__(net, form)
        wide = form.entering
        self.beside: dict[int, list[Low]] = {
            use: [_low(net, wide, rank, wide) for _ in range(3)] for use in uses if rank
        }
        self.use = 0

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        made = [self.query(x), self.key(x), self.value(x)]
        for at, (down, up) in enumerate(self.beside.get(self.use, ())):
            made[at] = ops.add(self.net.tape, made[at], up(down(x)))
        query, key, value = (self._heads(side, self.form.heads) for side in made)
        return query, key, value


class SharedBlock:
    """Attention and a gated feed-forward layer without sums; the gate has a low-rank path for every
    use."""

    def __init__(self, net: Net, form: Form, config: dict[str, Any], uses: list[int]) -> None:
        self.net, self.form, bias, rank = (
            net,
            form,
            bool(config.get("add_bias_linear")),
            config["adapter_rank"],
        )
        self.attention = SharedAttention(
            net, form, uses, rank if config.get("use_shared_attention_adapter") else 0
        )
        self.up, self.down = (
            net.linear("gate_up_proj", form.hidden, 2 * form.ffn, bias),
            net.linear("down_proj", form.ffn, form.hidden, bias),
        )
        self.beside = {use: _low(net, form.hidden, rank, 2 * form.ffn) for use in uses}
        self.norms = Norm(net, "rms", form.entering), Norm(net, "rms", form.hidden)

    def __call__(
        self, x: Tensor, first: Tensor, use: int, rope: Rope | None, mask: Tensor | None
    ) -> Tensor:
        tape, ffn = self.net.tape, self.form.ffn
        x = self.norms[0](ops.cat(tape, (x, first)))
        self.attention.use = use
        x, _weights = self.attention(x, rope, mask)
        x = self.norms[1](x)
        down, up = self.beside[use]
        wide = self.up(x)
        gate, value = ops.split(tape, ops.add(tape, wide, up(down(x))), (ffn, ffn))
        return self.down(ops.mul(tape, activate(tape, gate, self.form.traits.act), value))


class ZambaBlock:
    """A norm, a scan, and the sum with the states; a `shared` block may add to what is scanned."""

    def __init__(
        self, net: Net, form: Form, states: StateForm, shared: SharedBlock | None, use: int
    ) -> None:
        self.net, self.shared, self.use = net, shared, use
        self.linear = net.linear("linear", form.hidden, form.hidden) if shared else None
        self.mixer, self.norm = Mamba2(net, form.hidden, states), Norm(net, "rms", form.hidden)
        self.returns_weights, self.weights = False, None

    def __call__(self, x: Tensor, rope: Rope | None, mask: Tensor | None, first: Tensor) -> Tensor:
        tape, residual = self.net.tape, x
        if self.shared is not None and self.linear is not None:
            seen = self.linear(self.shared(x, first, self.use, rope, mask))
            x = ops.add(tape, x, seen)
        return ops.add(tape, residual, self.mixer(self.norm(x)))


class Zamba2(Decoder):
    """The layers see a copy of the embedded tokens besides."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        form, states = (
            decoder_form(config, "zamba2"),
            structs.replace(second_form(config), norm_place=""),
        )
        form = structs.replace(form, entering=2 * form.hidden)
        kinds, several = config["layer_types"], config.get("num_mem_blocks") or 1
        uses = [at for at, kind in enumerate(kinds) if kind == "full_attention"]
        made: list[SharedBlock] = []

        def block(net: Net, form: Form, *rest: Any) -> ZambaBlock:
            at = rest[1]
            if at not in uses:
                return ZambaBlock(net, form, states, None, at)
            use = uses.index(at)
            if use < several:
                made.append(SharedBlock(net, form, config, uses[use::several]))
            return ZambaBlock(net, form, states, made[use % several], at)

        super().__init__(net, form, block=block)

    def beside(self, x: Tensor) -> tuple[Tensor, ...]:
        """A copy of the embedded tokens."""
        return (ops.copy(self.net.tape, x),)


def zamba2(config: dict[str, Any]) -> Callable[[Net], Decoder]:
    """Zamba2 (transformers, Zamba2Config)."""
    return lambda net: Zamba2(net, config)
