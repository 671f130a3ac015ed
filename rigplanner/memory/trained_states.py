"""What training holds all the time on one GPU: weights, gradients and the optimizer's states, whole
and as they are sharded; and what sharding and off-loading add: gathered layers, buckets of
gradients, the copies of a flat step."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.memory.training_trace import on_bitsandbytes, parameter_type, raises_rest
from rigplanner.networks.tracer.step import StepTrace
from rigplanner.networks.tracer.tape import F32
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import OPTIMIZERS
from rigplanner.workload.quant import BITS, left_whole, weight_bytes
from rigplanner.workload.releases import JOINED_EXPERTS, SPLIT_EXPERTS
from rigplanner.workload.stacks import MemoryStack, memory_stack


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


def with_masters(job: Job, stack: MemoryStack) -> tuple[Job, MemoryStack]:
    """The job as a trainer shards it: FSDP brings weights that train in bf16 to fp32 first and
    computes in bf16; ZeRO 1 and 2 are DeepSpeed's. What keeps copies of its own in fp32 runs the
    network itself in 16 bits, nothing is cast by autocast (fp16 and bf16 of DeepSpeed and Megatron
    bring the module to half)."""
    if stack.sharded_masters and job.data > 1:
        if job.zero in (1, 2):
            theirs = memory_stack("deepspeed")
            stack = msgspec.structs.replace(
                stack,
                master_fp32=theirs.master_fp32,
                fused_optimizer=theirs.fused_optimizer,
                bucket_values=theirs.bucket_values,
                flat_step=theirs.flat_step,
            )
        elif job.task == "train_full" and job.precision == "bf16" and job.zero == 3:
            return msgspec.structs.replace(job, precision="amp_bf16"), stack
    if job.task == "train_full" and job.precision in stack.widens_full:
        job = msgspec.structs.replace(job, precision=f"amp_{job.precision}")
    if stack.master_fp32 and job.precision in ("amp_fp16", "amp_bf16"):
        return msgspec.structs.replace(job, precision=job.precision.removeprefix("amp_")), stack
    return job, stack


def gathered(network: Network, job: Job, stack: MemoryStack, weights: float) -> tuple[float, float]:
    """ZeRO-3 and FSDP: two layers and the root (embedding, head; one of them where each is gathered
    by itself) whole in the compute type, and one layer's gradients, which may be brought to fp32 to
    be reduced; and of these bytes the gradients that are not there yet when the backward pass
    begins, all but the head's. Under a pipeline the stage stays whole over its micro-batches, with
    gradients in fp32 (FSDP2 without resharding). Some stacks gather all `weights` of a frozen base
    at once; what is off-loaded comes and goes layer by layer."""
    fetched = job.offload in ("all", "nvme")
    if job.lora_rank and shards_of(job, 3) > 1 and not fetched:
        if stack.gathers_all:
            return weights, 0.0
        if stack.gathers_experts and network.experts and job.task == "train_qlora":
            return weights * network.expert_params / network.params, 0.0
    if not network.layers or not (fetched or (job.zero == 3 and job.data > 1)):
        return 0.0, 0.0
    ways, compute = job.tensor * job.pipeline, 2.0 if job.precision != "fp32" else 4.0
    if job.pipeline > 1:
        return network.params / ways * (compute + 4.0), 0.0
    local = network.params - network.embedding_params - network.expert_params * (1 - 1 / job.expert)
    layer = local / network.layers / ways
    live = max(2 * layer, min(stack.live_values, local / ways) if job.offload == "none" else 0.0)
    trained = layer if not job.lora_rank else 0.02 * layer
    bits = 4.5 / 8 if job.task == "train_qlora" else compute
    reduced = 4.0 if compute == 2.0 and stack.reduces_fp32 else 0.0
    root = network.embedding_params / ways * compute * (1.0 if job.lora_rank else 2.0)
    table = (
        0.0 if job.lora_rank or network.tied else network.vocab * network.hidden / ways * compute
    )
    if stack.gathers_tables_apart and not network.tied:
        root, table = root / 2, 0.0
    return live * bits + trained * (compute + reduced) + root, trained * (compute + reduced) + min(
        table, root / 4
    )


def buckets(job: Job, stack: MemoryStack, gradients: float) -> float:
    """Bytes that gradients are copied to before they are summed over the cards: all of them by
    DistributedDataParallel unless they are views of its buckets (gradient_as_bucket_view, off by
    default); by ZeRO two buckets, one filled while the other is summed (overlap_comm, as the
    configurations that transformers and DeepSpeed's examples give), however few parameters train.
    """
    if job.data == 1 or stack.bucket_values is None or job.offload in ("all", "nvme"):
        return 0.0
    if stack.bucket_values:
        return 2.0 * OVERLAPPED * stack.bucket_values
    return gradients if job.zero == 0 else 0.0


OVERLAPPED = 2
"""Buckets of ZeRO at once."""


def flat_step(network: Network, job: Job, stack: MemoryStack, share: float) -> float:
    """ZeRO 1 and 2 before a rank steps on its `share` of the values: gradients joined in 16 bits
    and brought to fp32, and the largest matrix in fp64 for the norm
    (deepspeed/runtime/zero/stage_1_and_2.py: step, get_grad_norm_direct)."""
    if not stack.flat_step or job.offload != "none" or job.zero not in (1, 2):
        return 0.0
    return (2.0 + 4.0) * share + 8.0 * min(
        share, 0.0 if job.lora_rank else float(network.vocab * network.hidden)
    )


def staged(network: Network, job: Job, stack: MemoryStack) -> float:
    """Bytes on the card of parameters on their way from the computer: in trainers that shard
    through accelerate six figures of three teams (axolotl, ms-swift, LLaMA-Factory; 7 to 120
    billion parameters) lie 5.5 to 10 GiB above what gathers explain, those of other loops do not.
    What it is nobody says: units loaded whole, copies that wait for their stream."""
    waits = job.offload in ("all", "nvme")
    return min(stack.staged_gib * GIB, 2.0 * network.params) if waits else 0.0
