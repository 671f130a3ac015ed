"""What training holds all the time on one GPU: weights, gradients and the optimizer's states, whole
and as they are sharded."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.memory.training_trace import on_bitsandbytes, parameter_type, raises_rest
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import F32
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import OPTIMIZERS
from rigplanner.workload.quant import BITS, left_whole, weight_bytes
from rigplanner.workload.releases import JOINED_EXPERTS, SPLIT_EXPERTS
from rigplanner.workload.stacks import MemoryStack


class States(Struct, frozen=True, kw_only=True):
    """Bytes on one GPU. Of `trained` values each takes `trained_width` bytes, those of a network
    without adapters `width`."""

    weights: float
    gradients: float
    optimizer: float
    trained: float
    trained_width: float
    width: float


def states_of(network: Network, job: Job, stack: MemoryStack, step: StepTrace) -> States:
    """The states that one tensor rank of one pipeline stage has, not yet sharded over the
    data-parallel ranks."""
    optimizer = OPTIMIZERS[job.optimizer]
    width = 4.0 if parameter_type(job) == F32 else 2.0
    ways = job.tensor * job.pipeline
    trained = step.trained / ways
    master = 4.0 if stack.master_fp32 and width == 2 else 0.0
    float_adapters = bool(job.lora_rank) and stack.adapters == "fp32"
    moments = optimizer.state_fp32 if width == 4 or master or float_adapters else optimizer.state_16
    own = 4.0 if float_adapters else width
    weights = (
        _base_bytes(network, job, stack, step, width) + untied_bytes(network, stack, width)
    ) / ways
    weights += _raised(network, job, stack) / ways + trained * (own - width)
    gradients, states = (
        trained * (4.0 if stack.gradients_fp32 else own),
        trained * (moments + master),
    )
    if job.saves_embedding:
        extra = network.embedding_params * (2 if network.tied else 1) / ways
        weights, gradients, states = weights + 2 * extra, gradients + 2 * extra, states + 8 * extra
    return States(
        weights=weights,
        gradients=gradients,
        optimizer=states,
        trained=trained,
        trained_width=own,
        width=width,
    )


def sharded(whole: States, network: Network, job: Job) -> States:
    """Of these states what one data-parallel rank holds by its stage of ZeRO; off-loaded gradients
    leave as they come."""
    experts = _expert_share(network)
    trained_experts = 0.0 if job.lora_rank else experts
    gradients = 0.0 if job.offload in ("all", "nvme") else whole.gradients
    return msgspec.structs.replace(
        whole,
        optimizer=whole.optimizer * _part(shards_of(job, 1), trained_experts, job.expert),
        gradients=gradients * _part(shards_of(job, 2), trained_experts, job.expert),
        weights=whole.weights * _part(shards_of(job, 3), experts, job.expert),
    )


def shards_of(job: Job, stage: int) -> int:
    """Over how many GPUs what a stage of ZeRO shards is divided: 1 the optimizer's states, 2
    gradients, 3 weights."""
    return job.data if job.zero >= stage else 1


def _base_bytes(
    network: Network, job: Job, stack: MemoryStack, step: StepTrace, width: float
) -> float:
    params = max(
        float(step.values), network.params + step.trained if job.lora_rank else network.params
    )
    if job.task != "train_qlora":
        return params * width
    word = job.precision if BITS.get(job.precision, 16.0) < 16 else "nf4"
    quant = "bnb_double" if stack.doubly_quantised and job.quant in (None, "bnb") else job.quant
    whole = left_whole(word, quant, network.embedding_params, network.side_params)
    if JOINED_EXPERTS in job.flags:
        whole += unsure_experts(network, job, stack)
    return weight_bytes(word, quant, network.params, whole) + step.trained * 2.0


def unsure_experts(network: Network, job: Job, stack: MemoryStack) -> float:
    """Experts below adapters that bitsandbytes quantises or leaves in 16 bits, by the release of
    transformers."""
    below = job.task == "train_qlora" and on_bitsandbytes(job) and job.precision != "mxfp4"
    return network.expert_params if below and stack.joins_experts else 0.0


def doubt_bytes(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes that experts may take beyond what is told, where no release says how they lie."""
    if job.offload in ("all", "nvme") or job.flags & {JOINED_EXPERTS, SPLIT_EXPERTS}:
        return 0.0
    experts, ways = unsure_experts(network, job, stack), job.tensor * job.pipeline
    word = job.precision if BITS.get(job.precision, 16.0) < 16 else "nf4"
    more = 2.0 * experts - weight_bytes(word, job.quant, experts, 0.0)
    return more / ways * _part(shards_of(job, 3), 1.0, job.expert)


def _raised(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes that embedding and head take more where what is not quantised is kept in fp32."""
    return 2.0 * network.embedding_params if raises_rest(job, stack) else 0.0


def untied_bytes(network: Network, stack: MemoryStack, width: float) -> float:
    """The head's own copy of a tied embedding, where the stack keeps one."""
    return network.vocab * network.hidden * width if stack.unties_head and network.tied else 0.0


def _expert_share(network: Network) -> float:
    """The share of the parameters that are experts."""
    return min(1.0, network.expert_params / network.params) if network.params else 0.0


def _part(shards: int, experts: float, degree: int) -> float:
    """The share of a state on one GPU: experts are divided by the larger of the shards and the
    expert-parallel degree."""
    if shards == degree == 1:
        return 1.0
    return (1 - experts) / shards + experts / max(shards, degree)
