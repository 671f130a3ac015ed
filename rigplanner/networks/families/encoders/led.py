"""LED on the tape: BART whose encoder attends within a window that slides over the tokens."""

from __future__ import annotations

from msgspec import structs

from rigplanner.networks.families.encoders.bart import (
    Bart,
    BartAttention,
    BartBlock,
    MergedAttention,
)
from rigplanner.networks.families.encoders.sliding_window import idle_linears, slid, windows
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import Tensor, new


class SlidingAttention:
    """Attention of the encoder's tokens to each other."""

    def __init__(self, net: Net, hidden: int, heads: int, share: float, window: int) -> None:
        self.net, self.heads, self.share, self.window = net, heads, share, window
        self.query, self.key, self.value = (
            net.linear(name, hidden, hidden, True) for name in ("query", "key", "value")
        )
        idle_linears(net, hidden)
        self.out = net.linear("output", hidden, hidden, True)

    def __call__(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        return self.out(
            slid(
                self.net, (self.query, self.key, self.value), x, self.heads, self.window, self.share
            )
        )


class NoAttention(BartAttention):
    """The place of an attention that is made beside the layer."""

    def __init__(
        self, net: Net, hidden: int, heads: int, share: float, decodes: bool = False, width: int = 0
    ) -> None:
        self.net = net


class Led(Bart):
    """Longformer encoder-decoder; the tokens of its encoder are filled up to whole windows."""

    def _block(self, side: str, at: int) -> BartBlock:
        config, net = self.config, self.net
        if side == "decoder":
            return BartBlock(net, config, side, False, attends=MergedAttention)
        block = BartBlock(net, config, side, False, attends=NoAttention)
        window, heads = (
            windows(config, config["encoder_layers"])[at],
            config["encoder_attention_heads"],
        )
        block.attention = SlidingAttention(
            net, config["d_model"], heads, config["attention_dropout"], window
        )
        return block

    def _positions(self, at: int) -> Tensor:
        return self.net.parameter(
            self.config[f"max_{('encoder', 'decoder')[at]}_position_embeddings"],
            self.config["d_model"],
        )

    def _stack(
        self, blocks: list[BartBlock], at: int, mask: Tensor | None, *memory: Tensor
    ) -> Tensor:
        if at == 1:
            return super()._stack(blocks, at, mask, *memory)
        net, given, several = (
            self.net,
            self.net.setting,
            max(windows(self.config, self.config["encoder_layers"])),
        )
        net.setting = structs.replace(given, length=-(-given.length // several) * several)
        _seen = new(net.tape, (given.batch, 1, net.setting.length, net.setting.length), given.dtype)
        states, net.setting = super()._stack(blocks, at, mask), given
        shape = (given.batch, given.length, states.shape[2])
        return (
            states
            if states.shape == shape
            else ops.copy(net.tape, ops.cut(net.tape, states, shape))
        )

    def _mask(self) -> Tensor:
        shape = (self.net.setting.batch, 1, self.net.setting.length, self.net.setting.length)
        return new(self.net.tape, shape, self.net.setting.dtype)
