"""BiT on the tape: a residual network of group norms whose convolutions standardise their weights
(Kolesnikov et al. 2020)."""

from __future__ import annotations

from typing import Any

from rigplanner.networks.families.vision.convnets import Classifier, Layer
from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.families.vision.hierarchical import drop_path, drop_rates
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, Grads, Tensor, like, new, record


def missing(side: int, kernel: int, stride: int) -> int:
    """Zeros that a side lacks for windows of `kernel` to cover it (padding as TensorFlow does)."""
    return max((-(-side // stride) - 1) * stride + kernel - side, 0)


class StandardConv:
    """A convolution without bias by weights of mean zero and variance one."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
    ) -> None:
        self.net, self.kernel, self.stride = net, kernel, stride
        told = str(config.get("global_padding") or "").upper()
        self.fills = told == "SAME" and not (stride == 1 and (kernel - 1) % 2 == 0)
        self.padding = 0 if told == "VALID" or self.fills else (stride - 1 + kernel - 1) // 2
        self.weight = net.parameter(outputs, inputs, kernel, kernel)

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.fills:
            x = ops.pad(tape, x, *(missing(side, self.kernel, self.stride) for side in x.shape[2:]))
        return ops.convolution(tape, x, self._standardised(), None, self.stride, self.padding)

    def _standardised(self) -> Tensor:
        """native_batch_norm of the weights: keeps them, and mean and deviation of each channel."""
        tape, kept = self.net.tape, self.weight
        stats = [new(tape, kept.shape[:1], F32) for _ in range(2)]

        def pull(grad: Tensor) -> Grads:
            made = like(tape, kept)
            stats.clear()
            return (made,)

        tape.saves()
        return record(tape, like(tape, kept), (kept,), pull)


class GroupNorm:
    """A norm over groups of channels, and an activation where asked."""

    def __init__(self, net: Net, width: int, acts: bool = True) -> None:
        self.net, self.weight, self.bias, self.acts = (
            net,
            net.parameter(width),
            net.parameter(width),
            acts,
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = group_norm(tape, x, self.weight, self.bias)
        return ops.keeping_result(tape, x) if self.acts else x


class BitLayer:
    """Three convolutions beside a shortcut; `early`: norms stand before the convolutions."""

    def __init__(
        self,
        net: Net,
        config: dict[str, Any],
        inputs: int,
        outputs: int,
        stride: int,
        first: bool,
        rate: float,
    ) -> None:
        self.net, self.rate, self.early = net, rate, config["layer_type"] == "preactivation"
        narrow = rounded(outputs * 0.25)
        self.shortcut: list[Layer] = (
            [StandardConv(net, config, inputs, outputs, 1, stride)] if first else []
        )
        if first and not self.early:
            self.shortcut.append(GroupNorm(net, outputs, False))
        self.convolutions = [
            StandardConv(net, config, inputs, narrow, 1),
            StandardConv(net, config, narrow, narrow, 3, stride),
            StandardConv(net, config, narrow, outputs, 1),
        ]
        widths = (inputs, narrow, narrow) if self.early else (narrow, narrow, outputs)
        self.norms = [
            GroupNorm(net, width, self.early or at < 2) for at, width in enumerate(widths)
        ]

    def __call__(self, x: Tensor) -> Tensor:
        tape, entered = self.net.tape, x
        x = before = self.norms[0](x) if self.early else x
        residual = before if self.shortcut else entered
        for layer in self.shortcut:
            residual = layer(residual)
        for at, convolution in enumerate(self.convolutions):
            x = (
                convolution(self.norms[at](x) if at else x)
                if self.early
                else self.norms[at](convolution(x))
            )
        x = drop_path(self.net, x, self.rate)
        x = ops.add(tape, x, residual)
        del before, entered
        return x if self.early else ops.keeping_result(tape, x)


class Border:
    """Zeros around a map, or on the sides that max pooling lacks, and the pooling."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.fills = net, bool(config.get("embedding_dynamic_padding"))
        self.bordered = str(config.get("global_padding") or "").upper() != "SAME"
        self.norm = (
            GroupNorm(net, config["embedding_size"])
            if config["layer_type"] != "preactivation"
            else None
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        x = ops.pad(tape, x, 2, 2) if self.bordered else x
        x = x if self.norm is None else self.norm(x)
        x = ops.pad(tape, x, *(missing(side, 3, 2) for side in x.shape[2:])) if self.fills else x
        return ops.max_pool(tape, x, 3, 2, 0)


def rounded(width: float) -> int:
    """The nearest multiple of eight that is not a tenth less (make_div)."""
    made = max(8, int(width + 4) // 8 * 8)
    return made + 8 if made < 0.9 * width else made


def bit(net: Net, config: dict[str, Any]) -> Classifier:
    """BiT (transformers, BitConfig)."""
    width, reached, rates = config["embedding_size"], 4, iter(drop_rates(config))
    stem: list[Layer] = [StandardConv(net, config, 3, width, 7, 2), Border(net, config)]
    blocks: list[Layer] = []
    for stage, (depth, size) in enumerate(
        zip(config["depths"], config["hidden_sizes"], strict=True)
    ):
        outputs, stride = (
            rounded(size * config["width_factor"]),
            1 if stage == 0 or reached >= config["output_stride"] else 2,
        )
        for at in range(depth):
            blocks.append(
                BitLayer(
                    net, config, width, outputs, stride if at == 0 else 1, at == 0, next(rates)
                )
            )
            width = outputs
        reached *= stride
    if config["layer_type"] == "preactivation":
        blocks.append(GroupNorm(net, width))
    return Classifier(net, stem, blocks, width)
