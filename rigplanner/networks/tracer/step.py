"""One training or inference step on the tape: what is live at the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct

from rigplanner.errors import WorkloadFault
from rigplanner.networks.tracer.net import Net, Setting
from rigplanner.networks.tracer.tape import (
    BF16,
    CPU_TRACE,
    Semantics,
    Storage,
    Tape,
    Tensor,
    backward,
    like,
)

STATE_BYTES = {"adamw": 2, "adamw_fused": 2, "adam": 2, "sgd_momentum": 1, "sgd": 0}
"""Tensors of optimizer state per parameter, each of the parameter's type (torch.optim)."""
STEP_COPIES = {"adamw": 1, "adam": 1}
"""Temporary tensors per parameter that a foreach step makes at once: AdamW the root of the second
moment (torch.optim.adamw)."""


Trace = list[tuple[int, int]]
"""Live bytes and gradient bytes after each allocation."""


CONTRADICTIONS = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    ZeroDivisionError,
    OverflowError,
    AssertionError,
    StopIteration,
)
"""What building or tracing a network raises when fields are missing, of the wrong type or do not
fit together."""


@contextmanager
def contradictions() -> Iterator[None]:
    """Turn what a network raises for contradictory fields into a WorkloadFault."""
    try:
        yield
    except WorkloadFault:
        raise
    except KeyError as fault:
        raise WorkloadFault(f"config.{fault.args[0]}: the field is missing.") from fault
    except CONTRADICTIONS as fault:
        said = str(fault) or type(fault).__name__
        raise WorkloadFault(
            f"config: expected fields that belong together, found a contradiction ({said})."
        ) from fault


class Model(Protocol):
    """A network on the tape: its loss, or its result without training."""

    def loss(self) -> Tensor: ...


class StepTrace(Struct, frozen=True):
    """Bytes of one step: `peak` of all live tensors, and at that moment weights, gradients,
    optimizer state; the rest is activations. `working` is the peak of forward and backward pass
    alone, without weights, gradients and state, and `working_gradients` those held then.
    `forward_flops` of matrix products and convolutions; `values` parameters, of which `trained`
    train. `marks`: where in its trace the forward and the backward pass begin."""

    peak: int
    weights: int
    gradients: int
    optimizer: int
    forward_flops: int
    step_flops: int
    values: int
    trained: int
    working: int = 0
    working_gradients: int = 0
    marks: tuple[int, int] = (0, 0)

    @property
    def activations(self) -> int:
        return self.peak - self.weights - self.gradients - self.optimizer


def trace_step(
    make: Callable[[Net], Model],
    setting: Setting,
    *,
    precision: str,
    optimizer: str = "adamw",
    semantics: Semantics = CPU_TRACE,
    trace: Trace | None = None,
    tape: Tape | None = None,
) -> StepTrace:
    """Run one step of the network that `make` builds; `precision` is fp32, bf16, fp16 or amp_*.
    `trace` takes live and gradient bytes after every allocation; `tape` may be one that watches."""
    tape = tape or Tape(semantics, BF16 if precision.startswith("amp") else None)
    tape.trace = trace
    net = Net(tape, setting)
    model = make(net)
    if setting.training:
        return _trained(tape, net, model, optimizer)
    begins, weights = len(trace or ()), tape.live - net.buffer_bytes
    tape.recording = False
    model.loss()
    return StepTrace(
        peak=tape.peak,
        weights=weights,
        gradients=0,
        optimizer=0,
        forward_flops=tape.flops,
        step_flops=tape.flops,
        values=net.values,
        trained=0,
        working=tape.peak - weights,
        marks=(begins, len(trace or ())),
    )


def _trained(tape: Tape, net: Net, model: Model, optimizer: str) -> StepTrace:
    """Forward pass, backward pass and the optimizer's step of a network that is built."""
    weights, trace = tape.live, tape.trace
    begins = len(trace or ())
    state = Storage(tape, STATE_BYTES[optimizer] * sum(net.trained_tensors))
    loss = model.loss()
    forward, marks = tape.flops, (begins, len(trace or ()))
    # Autocast ends with the forward pass: its casts go unless an operator kept them.
    tape.forget_casts()
    tape.autocast = None
    node, grad = loss.node, like(tape, loss)
    if node is None:
        raise WorkloadFault(
            "lora_targets: expected names of linear layers of this network, found none of them."
        )
    # The backward pass must hold the last reference to each result, or nothing would go.
    del loss
    backward(tape, node, grad)
    held = tape.gradients_at_peak
    working = tape.peak - weights - state.bytes - held
    # A foreach step makes its copies of all parameters at once, after activations have gone.
    at_step = tape.live + STEP_COPIES.get(optimizer, 0) * sum(net.trained_tensors)
    if trace is not None:
        trace.append((at_step, tape.gradient_bytes))
    if at_step > tape.peak:
        tape.peak, tape.gradients_at_peak = at_step, tape.gradient_bytes
    return StepTrace(
        peak=tape.peak,
        weights=weights,
        gradients=tape.gradients_at_peak,
        optimizer=state.bytes,
        forward_flops=forward,
        step_flops=tape.flops,
        values=net.values,
        trained=net.trained,
        working=working,
        working_gradients=held,
        marks=marks,
    )
