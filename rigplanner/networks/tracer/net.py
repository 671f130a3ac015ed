"""The parts networks share on the tape: parameters, linear layers with LoRA, normalisations,
checkpointed blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from msgspec import Struct

from rigplanner.networks.tracer.ops import (
    add,
    cast,
    dropout,
    keeping_result,
    linear,
    mean_last,
    mul,
    shift,
    square,
    sub_self,
)
from rigplanner.networks.tracer.ops import layer_norm as fused_layer_norm
from rigplanner.networks.tracer.tape import F32, Grads, Storage, Tape, Tensor, backward, new, record


class Setting(Struct, frozen=True, kw_only=True):
    """How a step runs: `dtype` of the parameters, `attention` eager or sdpa, LoRA rank and the
    names of the layers it adapts. `loss`: plain, chunked or fused (no logits are kept). `headless`
    stops before the head; `fused_act` has one kernel for gelu_new; `dora` adapters scale every
    output by a learned magnitude. `adapters`: of the parameters' type, or of float, whose input is
    brought to `float` first, and `cast` back by autocast (peft.tuners.lora.layer,
    _cast_input_dtype). `sheds`: gradients of parameters go as soon as they are made, to other GPUs,
    to host memory, or into the step. `sides`: height and width of images that are not square;
    `frozen_norms`: the batch norms of a detector's backbone are two constants; `float_norms`: they
    are fed in float, whatever a convolution writes; `keeps_scores`: a softmax keeps its input as
    well, as PyTorch did before 1.11 (pytorch/pytorch issue 64000). `frames` of a clip; `images` of
    `sides` in every sample of a language model that sees, whose `frozen_tower` never trains."""

    batch: int
    length: int
    dtype: str = F32
    training: bool = True
    eager: bool = False
    checkpointing: bool = False
    lora_rank: int = 0
    lora_targets: tuple[str, ...] = ()
    loss: str = "plain"
    fused_act: bool = False
    headless: bool = False
    dora: bool = False
    adapters: Literal["", "float", "cast"] = ""
    sheds: bool = False
    sides: tuple[int, int] | None = None
    frozen_norms: bool = False
    float_norms: bool = False
    keeps_scores: bool = False
    frames: int = 1
    images: int = 0
    frozen_tower: bool = False


CLASSES = 2
"""Labels of a transformers classifier that is not told otherwise."""


class Net:
    """A network under construction: its tape, its setting, the `classes` of its head if it has one,
    and the bytes and values of its parameters."""

    def __init__(self, tape: Tape, setting: Setting) -> None:
        self.tape, self.setting, self.classes = tape, setting, CLASSES
        self.values = self.trained = self.buffer_bytes = 0
        self.freezing = False
        self.trained_tensors: list[int] = []
        self.held: list[Tensor] = []

    def parameter(
        self, *shape: int, dtype: str | None = None, adapter: bool = False, frozen: bool = False
    ) -> Tensor:
        """Make a parameter; with LoRA only adapters train, a `frozen` one, or one made while the
        network is `freezing`, never."""
        trains = adapter or not (frozen or self.freezing or self.setting.lora_rank)
        made = new(self.tape, shape, dtype or self.setting.dtype)
        made.trains = trains
        self.values += made.size
        if trains and self.setting.training:
            self.trained += made.size
            self.trained_tensors.append(made.storage.bytes)
            if self.setting.sheds:
                self.tape.shed.add(made.storage)
        self.held.append(made)
        return made

    @contextmanager
    def unreached(self) -> Iterator[None]:
        """Parameters made here are there, but no loss reaches them: they get neither gradient nor
        state."""
        trained, tensors = self.trained, len(self.trained_tensors)
        yield
        self.trained = trained
        del self.trained_tensors[tensors:]

    def buffer(self, *shape: int, dtype: str = F32) -> None:
        """Make a tensor that lives with the network and has no gradient; it is no parameter."""
        before = self.tape.live
        self.held.append(new(self.tape, shape, dtype))
        self.buffer_bytes += self.tape.live - before

    def given(self, *shape: int, dtype: str) -> Tensor:
        """Make an input. The tracer makes those of an inference before it counts, so they count
        only in training."""
        if self.setting.training:
            return new(self.tape, shape, dtype)
        return Tensor(shape, dtype, Storage(Tape(), 0))

    def drop(self, x: Tensor, share: float) -> Tensor:
        """Return what dropout leaves of `x` while it trains."""
        return dropout(self.tape, x, share, self.setting.training)

    def linear(self, name: str, inputs: int, outputs: int, bias: bool = False) -> Linear:
        """Make a linear layer, adapted by LoRA when its name is among the targets."""
        weight, rank = self.parameter(outputs, inputs), self.setting.lora_rank
        side = self.parameter(outputs) if bias else None
        if not rank or name not in self.setting.lora_targets:
            return Linear(self, weight, side)
        dtype = F32 if self.setting.adapters else None
        down = self.parameter(rank, inputs, dtype=dtype, adapter=True)
        return Linear(
            self, weight, side, down, self.parameter(outputs, rank, dtype=dtype, adapter=True)
        )


def entering(net: Net, x: Tensor) -> Tensor:
    """The embedded tokens; with adapters and checkpointing they get a gradient, without which
    blocks would not be run again (enable_input_require_grads). Those of the step before and their
    gradient linger, held by a cycle of references."""
    setting = net.setting
    if setting.training and setting.checkpointing and setting.lora_rank and not x.needs_grad:
        net.held += [new(net.tape, x.shape, x.dtype) for _ in range(2)]
        return Tensor(x.shape, x.dtype, x.storage, None, True)
    return x


class Linear:
    """x @ weight.T + bias, plus the low-rank path of LoRA."""

    __slots__ = ("bias", "down", "magnitude", "net", "up", "weight")

    def __init__(
        self,
        net: Net,
        weight: Tensor,
        bias: Tensor | None,
        down: Tensor | None = None,
        up: Tensor | None = None,
    ) -> None:
        self.net, self.weight, self.bias, self.down, self.up = net, weight, bias, down, up
        adapted = down is not None and net.setting.dora
        self.magnitude = net.parameter(1, weight.shape[0], adapter=True) if adapted else None

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.down is None or self.up is None:
            return linear(tape, x, self.weight, self.bias)
        base = linear(tape, x, self.weight, self.bias)
        if self.magnitude is not None:
            return self._scaled(x, base)
        own = self.net.setting.adapters
        before, tape.autocast = tape.autocast, x.dtype if own == "cast" else tape.autocast
        low = linear(tape, cast(tape, x, F32) if own else x, self.down)
        made = sub_self(tape, linear(tape, low, self.up))
        tape.autocast = before
        return cast(tape, add(tape, base, made), base.dtype) if own else add(tape, base, made)

    def _scaled(self, x: Tensor, base: Tensor) -> Tensor:
        """DoRA (peft.tuners.lora.dora): the norm of the sum of weight and adapter, made anew and
        detached, scales both paths."""
        tape = self.net.tape
        assert self.down is not None and self.up is not None and self.magnitude is not None
        recording, tape.recording = tape.recording, False
        adapter = new(tape, self.weight.shape, self.weight.dtype)
        whole = add(tape, self.weight, adapter)
        del adapter, whole
        tape.recording = recording
        scale = keeping_result(tape, self.magnitude)
        lora = linear(tape, linear(tape, x, self.down), self.up)
        return add(
            tape, mul(tape, shift(tape, scale), base), sub_self(tape, mul(tape, scale, lora))
        )


class Norm:
    """A normalisation: `kind` is one of rms, rms_wide (scaled before it is cast back), rms_one
    (Gemma: float weight plus one), rms_bare (no weight), layer, layer_plain (no bias), layer_mean,
    layer_bare (no weight, in float), layer_none (no weight), none."""

    def __init__(self, net: Net, kind: str, width: int) -> None:
        self.net, self.kind = net, kind
        self.weight = (
            net.parameter(width)
            if kind not in ("rms_bare", "layer_bare", "layer_none", "none")
            else None
        )
        self.bias = net.parameter(width) if kind == "layer" else None

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        if self.kind == "rms":
            return self._rms(x)
        if self.kind == "rms_one":
            return self._rms_one(x)
        if self.kind == "rms_wide":
            assert self.weight is not None
            return cast(
                tape, mul(tape, self.weight, self._root_normed(cast(tape, x, F32))), x.dtype
            )
        if self.kind == "rms_bare":
            return cast(tape, self._root_normed(cast(tape, x, F32)), x.dtype)
        if self.kind == "layer_bare":
            return cast(tape, fused_layer_norm(tape, cast(tape, x, F32), None, None), x.dtype)
        if self.kind == "layer_mean":
            return self._by_hand(x)
        return fused_layer_norm(tape, x, self.weight, self.bias)

    def _rms(self, x: Tensor) -> Tensor:
        tape, dtype = self.net.tape, x.dtype
        x = cast(tape, x, F32)
        variance = mean_last(tape, square(tape, x))
        x = mul(tape, x, reciprocal_root(tape, shift(tape, variance)))
        assert self.weight is not None
        return mul(tape, self.weight, cast(tape, x, dtype))

    def _rms_one(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        output = self._root_normed(cast(tape, x, F32))
        assert self.weight is not None
        output = mul(tape, output, shift(tape, cast(tape, self.weight, F32)))
        return cast(tape, output, x.dtype)

    def _root_normed(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        return mul(tape, x, reciprocal_root(tape, shift(tape, mean_last(tape, square(tape, x)))))

    def _by_hand(self, x: Tensor) -> Tensor:
        tape, dtype = self.net.tape, x.dtype
        x = cast(tape, x, F32)
        mean = mean_last(tape, x)
        variance = mean_last(tape, square(tape, add(tape, x, mean)))
        x = mul(tape, add(tape, x, mean), reciprocal_root(tape, shift(tape, variance)))
        assert self.weight is not None
        return cast(tape, mul(tape, cast(tape, self.weight, F32), x), dtype)


def reciprocal_root(tape: Tape, x: Tensor) -> Tensor:
    """torch.rsqrt: keeps its result."""
    return keeping_result(tape, x)


def checkpointed(net: Net, block: Callable[..., Tensor], x: Tensor, *others: Tensor) -> Tensor:
    """Run a block of which only the inputs are kept; the backward pass runs it again. `others` are
    further inputs with a gradient."""
    tape = net.tape
    if not (net.setting.checkpointing and net.setting.training):
        return block(x, *others)
    recording, tape.recording = tape.recording, False
    result = block(x, *others)
    tape.recording = recording
    kept = [x, *others]

    def pull(box: list[Tensor]) -> Grads:
        leaves = [
            Tensor(item.shape, item.dtype, item.storage, None, item.needs_grad) for item in kept
        ]
        before, tape.casts, off, tape.autocast = tape.casts, {}, tape.autocast, tape.low
        tape.saves()
        again = block(*leaves)
        tape.stop_at_last_saved()
        tape.casts, tape.autocast = before, off
        node = again.node
        del again
        if node is not None:
            backward(tape, node, box.pop(), unpacks=True)
        made = [leaf.grad for leaf in leaves]
        tape.gradient_bytes -= sum(grad.storage.bytes for grad in made if grad is not None)
        return made

    trained = (
        Tensor((1,), x.dtype, x.storage, None, True) if not x.needs_grad and net.trained else x
    )
    return record(tape, result, (trained, *others), pull, takes=True)
