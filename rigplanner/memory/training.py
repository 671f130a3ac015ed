"""Memory of a training step: the trace of one GPU's share beside the states it holds, gathered
layers, quantised bases."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.memory.host import HostNeed, training_host
from rigplanner.memory.outside_trace import dense_bytes, library_factor
from rigplanner.memory.trained_states import (
    States,
    buckets,
    doubt_bytes,
    flat_step,
    gathered,
    sharded,
    shards_of,
    staged,
    states_of,
    with_masters,
)
from rigplanner.memory.training_trace import (
    FUSED_LOSS,
    NARROW_LOSS,
    TRACED_OPTIMIZERS,
    computed_type,
    on_bitsandbytes,
    raises_rest,
    step_copies,
    step_trace,
    traced_width,
)
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import F32
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import IN_BACKWARD
from rigplanner.workload.releases import SHIFTED
from rigplanner.workload.stacks import MemoryStack


class Demand(Struct, frozen=True, kw_only=True):
    """Bytes of one GPU at the peak: `tensors` is their peak together, the parts are what they are
    made of. `buffers`: communication and dequantisation; `communication`: what of them is gathered
    and reduced over the GPUs. `apart`: what another moment takes (loading, the optimizer's step),
    in blocks too large for those that activations leave. `doubt`: what it may take besides, unless
    the release that runs it is told. `host`: what waits in the computer."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    kv_cache: float = 0.0
    buffers: float = 0.0
    communication: float = 0.0
    apart: float = 0.0
    doubt: float = 0.0
    host: HostNeed = HostNeed()

    @property
    def tensors(self) -> float:
        return (
            self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.kv_cache
            + self.buffers
        )


def train(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of one training step on the fullest GPU: its shard of the states all the time, and
    what comes and goes at the largest of three moments."""
    job, stack = with_masters(job, stack)
    step, share = step_trace(network, job, stack)
    if _as_traced(job, stack, share):
        return Demand(
            weights=step.weights,
            gradients=step.gradients,
            optimizer=step.optimizer,
            activations=step.activations,
        )
    whole = states_of(network, job, stack, step)
    held = sharded(whole, network, job)
    fetched, later = gathered(network, job, stack, whole.weights)
    gradients = held.gradients / (max(1, network.layers) if IN_BACKWARD in job.flags else 1)
    moving = max(
        _at_peak(network, job, stack, step.working * share, whole.width)
        + gradients * _there(job, stack, step, whole.width),
        _as_it_begins(network, job, stack, whole, gradients) - later,
        _in_step(job, stack, whole, gradients),
    )
    kept = 0.0 if job.offload in ("all", "nvme") else min(gradients, moving)
    communication = fetched + buckets(job, stack, whole.trained * whole.trained_width)
    demand = Demand(
        weights=held.weights,
        gradients=kept,
        optimizer=held.optimizer,
        activations=moving - kept,
        buffers=communication + _dequantised(network, job),
        communication=communication,
        apart=flat_step(network, job, stack, whole.trained / shards_of(job, 1))
        + staged(network, job, stack),
        doubt=doubt_bytes(network, job, stack),
    )
    waits = waiting_checkpoints(network, job, stack)
    return offloaded(
        demand, job, training_host(network, job, float(step.trained), held.optimizer, waits)
    )


def _as_traced(job: Job, stack: MemoryStack, share: float) -> bool:
    """Whether the step is the trace's own: one device, nothing quantised, saved apart or
    accumulated, of the operators alone."""
    alone = (
        job.data == job.tensor == job.pipeline == job.accumulation == 1
        and job.offload == "none"
        and share == 1.0
    )
    known = job.optimizer in TRACED_OPTIMIZERS and job.task != "train_qlora"
    return alone and known and not job.saves_embedding and stack.slug == "trace"


def _at_peak(network: Network, job: Job, stack: MemoryStack, traced: float, width: float) -> float:
    """Bytes of activations at the peak of the trace: what it says, `traced`, less what kernels
    spare and what waits in the host, with what libraries add and what is kept beside it, `width`
    bytes a value."""
    spared, waits = _spared(network, job, stack), waiting_checkpoints(network, job, stack)
    activations = _shared_activations(max(0.0, traced - spared - waits), network, job)
    activations = activations * library_factor(network) + dense_bytes(network, job, width)
    beside = _held_outputs(network, job, stack) + _on_last_card(network, job, stack, activations)
    return max(activations, _beside_frozen(network, job, stack) - spared - waits) + beside


def _on_last_card(network: Network, job: Job, stack: MemoryStack, activations: float) -> float:
    """Bytes of logits beyond an even share on the card that holds the head, where the layers of a
    network are dealt over cards: it is the fullest."""
    plain = stack.loss == "plain" and not job.flags & {*FUSED_LOSS, *NARROW_LOSS}
    if job.pipeline == 1 or job.accumulation > 1 or not (stack.deals_layers and plain):
        return 0.0
    logits = LOGIT_BYTES * job.batch * job.length / job.context * network.vocab
    return (1 - 1 / job.pipeline) * min(logits, activations * job.pipeline)


LOGIT_BYTES = 14.0
"""Bytes of one logit at the peak of a plain loss: in the model's type, in float, its logarithm and
its gradient (transformers' loss functions; torch.nn.functional.cross_entropy)."""


def _there(job: Job, stack: MemoryStack, step: StepTrace, width: float) -> float:
    """The share of the gradients that is there at the peak of the trace: all while they are
    accumulated."""
    traced_bytes = max(1.0, step.trained * traced_width(job, stack, width))
    return 1.0 if job.accumulation > 1 else min(1.0, step.working_gradients / traced_bytes)


def _as_it_begins(
    network: Network, job: Job, stack: MemoryStack, whole: States, gradients: float
) -> float:
    """Bytes of activations, and of gradients that are accumulated, as the backward pass begins,
    where activations are most: gradients that are sharded, off-loaded, stepped at once or
    accumulated no longer put the peak of a recomputed network at its end. 0 where all are held and
    come as they are made."""
    if (
        gradients >= whole.trained * whole.trained_width
        and job.accumulation == 1
        and SHIFTED not in job.flags
    ):
        return 0.0
    traced, share = step_trace(network, job, stack, sheds=True)
    less = _spared(network, job, stack) + waiting_checkpoints(network, job, stack)
    activations = _shared_activations(
        max(0.0, traced.working * share - less), network, job
    ) + dense_bytes(network, job, whole.width)
    shifted = 4.0 * job.batch * job.length / job.context * network.vocab * (SHIFTED in job.flags)
    activations += shifted + _held_outputs(network, job, stack)
    return activations + gradients * (job.accumulation > 1)


def _in_step(job: Job, stack: MemoryStack, whole: States, gradients: float) -> float:
    """Bytes of gradients, and of the copies that the optimizer makes of its shard at once, while it
    steps on this GPU."""
    if job.offload != "none":
        return 0.0
    return gradients + step_copies(job, stack) * whole.trained * whole.trained_width / shards_of(
        job, 1
    )


def _beside_frozen(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of activations while FSDP goes back through layers whose weights are frozen: what waits
    for a layer's parameters to be dropped keeps the gradient of its input until the pass has ended,
    beside all checkpoints. Llama 3 8B and Llama 2 70B take 774 and 3,280 kB a token there, 528 and
    1,880 on one card (fms-acceleration's benchmarks)."""
    if (
        not stack.keeps_frozen_gradients
        or not job.lora_rank
        or job.zero != 3
        or job.data == 1
        or job.checkpointing != "full"
    ):
        return 0.0
    traced, share = step_trace(network, job, msgspec.structs.replace(stack, loss="fused"))
    row = 2.0 * job.batch * job.length / job.context * network.hidden
    return _shared_activations(traced.working * share + row * network.layers, network, job)


def waiting_checkpoints(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of one GPU's checkpoints, the input of each layer, where the stack sends them to host
    memory."""
    whole = (
        stack.unknown_checkpointing if job.checkpointing == "unknown" else job.checkpointing
    ) == "full"
    if not (stack.waits_checkpoints and whole):
        return 0.0
    return 2.0 * job.batch * job.length / job.context * network.hidden * network.layers


def _spared(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of the trace that this stack does not keep."""
    return _narrow_logits(network, job, stack) + (
        _gated_in_place(network, job, stack) - _float_checkpoints(network, job, stack)
    )


def _narrow_logits(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes that logits take less where what is not quantised is kept in fp32: the head of a GPTQ
    base then writes float logits at once, without a 16-bit copy; under autocast it writes both."""
    plain = stack.loss == "plain" and not job.flags & {*FUSED_LOSS, *NARROW_LOSS}
    if not raises_rest(job, stack) or on_bitsandbytes(job) or not plain:
        return 0.0
    return 2.0 * job.batch * job.length / job.context * network.vocab


def _held_outputs(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of logits that a loop of one's own keeps while the backward pass runs, since its
    variable names the model's output; they are float beside a raised base outside autocast
    (peft/method_comparison/MetaMathQA/run.py)."""
    plain = stack.loss == "plain" and not job.flags & {*FUSED_LOSS, *NARROW_LOSS}
    if not stack.holds_outputs or not plain or network.kind not in ("llm", "moe", "vlm"):
        return 0.0
    return (
        (4.0 if computed_type(job, stack) == F32 else 2.0)
        * job.batch
        * job.length
        / job.context
        * network.vocab
    )


def _float_checkpoints(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes that the inputs of recomputed layers take more than 16 bits each: raised norms and
    embedding keep what runs between the layers in fp32 (peft.prepare_model_for_kbit_training;
    PowerLM-3b keeps 4 bytes a value there, fms-acceleration's benchmarks)."""
    if not raises_rest(job, stack) or not on_bitsandbytes(job) or not stack.autocasts:
        return 0.0
    if job.checkpointing != "full":
        return 0.0
    return 2.0 * job.batch * job.length / job.context * network.hidden * network.layers


def _gated_in_place(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes of the feed-forward part of the layer at work that kernels over its gate save: the
    activated gate, its product and the gradient of one of them (unsloth/kernels/swiglu.py,
    fast_lora.py: written over the gate, its neighbour and the gradient)."""
    if not (stack.gates_in_place and job.lora_rank):
        return 0.0
    return 3 * 2.0 * job.batch * job.length / job.context * network.ffn


def _shared_activations(activations: float, network: Network, job: Job) -> float:
    """Tensor parallelism with sequence parallelism divides activations; a pipeline stage holds its
    layers for as many micro-batches as there are stages (Korthikanti et al. 2022, arXiv
    2205.05198): those that are accumulated, or as many shares of the batch."""
    held = min(job.pipeline, job.accumulation) / job.pipeline
    if not job.sequence:
        return activations * (WITHOUT_SEQUENCE + (1 - WITHOUT_SEQUENCE) / job.tensor) * held
    copies = SEQUENCE_COPIES * (1 - 1 / job.tensor) if job.tensor > 1 else 0.0
    row = 2.0 * job.batch * job.length / job.context * network.hidden * held
    return activations / job.tensor * held + copies * row


WITHOUT_SEQUENCE = 10 / 34
"""Share of a layer's activations that every tensor rank holds whole when the sequence is not shared
(Korthikanti et al. 2022, equation 2: 10 of 34 bytes per value)."""
SEQUENCE_COPIES = 5.0
"""Hidden states of the whole sequence in the layer at work under tensor with sequence parallelism:
the gathered inputs of attention and of the feed-forward part, their outputs before the scatter, and
the gradient that comes in (DTensor keeps what it gathered; a pipeline's micro-batch is taken as the
batch divided by its stages)."""


def _dequantised(network: Network, job: Job) -> float:
    """The largest matrix of a layer, brought back to 16 bits for its product."""
    return (
        2.0 * network.hidden * max(network.ffn, network.hidden)
        if job.task == "train_qlora"
        else 0.0
    )


def offloaded(demand: Demand, job: Job, host: HostNeed) -> Demand:
    """Take from the GPU what waits in the computer: the optimizer's states, or all."""
    if job.offload in ("all", "nvme"):
        return msgspec.structs.replace(demand, optimizer=0.0, weights=0.0, gradients=0.0, host=host)
    if job.offload == "optimizer" or job.optimizer.startswith("paged"):
        return msgspec.structs.replace(demand, optimizer=0.0, host=host)
    return msgspec.structs.replace(demand, host=host)
