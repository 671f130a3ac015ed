"""What one GPU needs for a workload: live tensors, what the allocator hands out and holds, what
nvidia-smi shows."""

from __future__ import annotations

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate, MemoryParts
from rigplanner.memory.diffusion import diffuse
from rigplanner.memory.drafts import with_drafts
from rigplanner.memory.explain import Figures, Span, steps_of
from rigplanner.memory.inference import infer, pool
from rigplanner.memory.mig import partition_of
from rigplanner.memory.nearness import evidence_of, spread
from rigplanner.memory.preference import (
    beside_engine,
    check_network,
    engine_gib,
    with_copies,
)
from rigplanner.memory.published_figures import figured
from rigplanner.memory.recommenders import looked_up
from rigplanner.memory.training import Demand, train
from rigplanner.memory.unequal import EXPANDABLE, Scattered, growing, scattered
from rigplanner.memory.usable_memory import unified, usable_gib
from rigplanner.memory.without_network import estimate_plain
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.host_placement import HostPlacement
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import RECOMMENDER, Network, resolve
from rigplanner.workload.preference import is_preference, taken_apart
from rigplanner.workload.resolved import Resolved, resolved
from rigplanner.workload.stacks import (
    MemoryStack,
    Spare,
    group_of,
    interval,
    known_gib,
    memory_stack,
)
from rigplanner.workload.without_network import DOUBLE, plain_job

NCCL_GIB = 0.3
"""Buffers of one communicator beside the framework's memory (vLLM's logs at two and more GPUs: 0.4
to 0.45 GiB more than at one)."""
RELATIVE_SPREAD = 1.5
"""A network traced as a relative of its family has an interval this much wider."""
LEAST = 0.2
"""Of what an interval stretches, the least that its lower end is."""
SPARSE_FROM = 704
"""Tokens up to which BigBird attends to everything; beyond, its blocks are counted as if it did,
which is the more."""
IN_ONE_MEMORY = HostPlacement()
"""Where CPU and GPU share their memory, what is left to the CPU takes as much of it."""
STAND_IN_MISS = 0.5
"""The interval of a network of unknown layers, each way, at least (misses of traced relatives
before they had traces of their own reach 41 %)."""


def estimate_memory(
    workload: Workload, gpu: GPU | None, count: int, zoo: Zoo, *, explained: bool = True
) -> MemoryEstimate:
    """Return the memory of the fullest of `count` GPUs in GiB, with the 80 % interval of what the
    device shows; `explained` with the steps it came from.

    Without a GPU and without a stack the answer is the operators' alone, on the CPU. Raises
    WorkloadFault naming the field that is unknown, absurd or missing."""
    if not 1 <= count <= 1_000_000:
        raise WorkloadFault(f"hardware.count: expected 1 to 1000000 GPUs, found {count}.")
    if workload.mig is not None and gpu is not None:
        gpu = partition_of(workload, gpu)
    if plain := plain_job(workload):
        return estimate_plain(plain, workload, count)
    if workload.precision in DOUBLE:
        single = msgspec.structs.replace(workload, precision="fp32")
        return _doubled(estimate_memory(single, gpu, count, zoo, explained=explained))
    made = resolved(workload, zoo)
    if is_preference(made.workload):
        return _of_preference(made, gpu, count, zoo, explained)
    network = resolve(made.workload, zoo)
    job = read_job(made.workload, network, count, gpu is not None)
    if gpu is not None and unified(gpu):
        job = msgspec.structs.replace(job, placement=IN_ONE_MEMORY)
    if made.assumed:
        job = msgspec.structs.replace(job, assumed={**made.assumed, **job.assumed})
    stack = memory_stack(job.stack)
    demand, reservation = demand_of(network, job, stack, gpu)
    demand = with_drafts(demand, made.workload, network, job, zoo)
    room = None if gpu is None else usable_gib(gpu)
    return answered(network, job, stack, demand, reservation, count, explained, room)


DOUBLED_WITHIN = 0.1
"""Share either way within which what a job in FP64 adds to one in FP32 lies: no row measures it
(estimate)."""


def _doubled(found: MemoryEstimate) -> MemoryEstimate:
    """The memory of a job in FP64: twice that in FP32, but for the driver's context."""
    parts = found.parts
    more = found.device_gib - parts.context_gib
    wide = {
        name: 2 * value
        for name, value in msgspec.structs.asdict(parts).items()
        if name != "context_gib"
    }
    return msgspec.structs.replace(
        found,
        parts=msgspec.structs.replace(parts, **wide),
        tensors_gib=2 * found.tensors_gib,
        allocated_gib=2 * found.allocated_gib,
        reserved_gib=2 * found.reserved_gib,
        device_gib=found.device_gib + more,
        low_gib=found.low_gib + (1 - DOUBLED_WITHIN) * more,
        high_gib=found.high_gib + (1 + DOUBLED_WITHIN) * more,
        host_gib=2 * found.host_gib,
        nvme_gib=2 * found.nvme_gib,
    )


def _of_preference(
    made: Resolved, gpu: GPU | None, count: int, zoo: Zoo, explained: bool
) -> MemoryEstimate:
    """The memory of the fullest GPU of a training by preferences or rewards."""
    split = taken_apart(made.workload, count)
    network = resolve(split.training, zoo)
    check_network(network, split)
    job = read_job(split.training, network, split.trainers, gpu is not None)
    job = msgspec.structs.replace(job, assumed={**made.assumed, **job.assumed})
    stack = memory_stack(job.stack)
    demand = with_copies(train(network, job, stack), network, job, stack, split)
    room = None if gpu is None else usable_gib(gpu)
    told = answered(network, job, stack, demand, None, count, explained, room)
    return beside_engine(told, split, engine_gib(network, split, gpu))


def on_unknown_card(workload: Workload, count: int, zoo: Zoo) -> Workload:
    """Return the workload with the stack that it is mostly run with, for a card that the catalog
    lacks: without a card and a stack the answer would be the operators' alone."""
    stack = workload.stack or read_job(workload, resolve(workload, zoo), count, True).stack
    return msgspec.structs.replace(workload, stack=stack)


def _of_rest(sure: float, rest: float, factor: float) -> float:
    """The factor of a sum of which only the rest is unsure; 1 of nothing, as a card to which no
    layer is dealt holds."""
    return (sure + factor * rest) / (sure + rest) if sure + rest else 1.0


def demand_of(
    network: Network, job: Job, stack: MemoryStack, gpu: GPU | None
) -> tuple[Demand, float | None]:
    if network.kind in ("diffusion_unet", "diffusion_transformer"):
        return diffuse(network, job, stack), None
    if network.kind == RECOMMENDER:
        return looked_up(network, job), None
    if network.config is None:
        return figured(network, job, stack), None
    if job.task.startswith("train"):
        return train(network, job, stack), None
    if job.task == "serve" and stack.pool and gpu is not None:
        return pool(network, job, stack, gpu)
    return infer(network, job, stack, gpu), None


def _idle_gib(idle: Scattered, device_gib: float, room_gib: float | None) -> float:
    """GiB of idle blocks that the allocator holds beside what is used: all that samples told to be
    unequal leave, given back down to what is needed where the GPU ends."""
    if not idle.told:
        return 0.0
    room = idle.kept if room_gib is None else room_gib - device_gib
    return max(idle.needed, min(idle.kept, room))


def _sure_gib(network: Network, demand: Demand) -> float:
    """What a network of known layers holds at least: its weights and its cache."""
    return 0.0 if network.stand_in else (demand.weights + demand.kv_cache) / GIB


def _top(span: Span, needed: float, device: float, room_gib: float | None) -> float:
    """The upper end of the interval: of what is `needed`, and of what the device shows as far as
    the GPU goes."""
    top = span.known + span.high * (needed - span.known)
    shown = span.known + span.high * (device - span.known)
    return max(top, device, shown if room_gib is None else min(shown, room_gib))


def answered(
    network: Network,
    job: Job,
    stack: MemoryStack,
    demand: Demand,
    reservation: float | None,
    count: int,
    explained: bool = True,
    room_gib: float | None = None,
) -> MemoryEstimate:
    """What a demand of live tensors becomes on a GPU under a stack: allocated, reserved, seen by
    nvidia-smi, with the interval. `room_gib`: what the GPU has, beyond which blocks that lie idle
    are given back."""
    tensors = demand.tensors / GIB
    moving = (demand.activations + demand.buffers + demand.kv_cache) / GIB
    beyond = stack.spare(job.task, group_of(network.kind))
    fixed, spare = beyond.fixed_gib, _gaps_gib(job, beyond, demand)
    idle = scattered(network, job, stack, moving)
    reserved = max(tensors + fixed + spare, reservation or 0.0)
    nccl = NCCL_GIB if count > 1 and stack.slug != "trace" else 0.0
    context = stack.context_gib + nccl
    needed = reserved + context + idle.needed
    kept = _idle_gib(idle, reserved + context, room_gib)
    spare, reserved = spare + kept, reserved + kept
    figures = Figures(tensors, reserved, reserved + context)
    span = _span(network, job, stack, demand, figures, tensors - moving)
    detail = _detail(demand, fixed, reservation)
    detail |= {"fragmentation": spare, "driver": stack.context_gib, "nccl": nccl}
    return MemoryEstimate(
        parts=_parts(demand, spare + fixed, context),
        tensors_gib=tensors,
        allocated_gib=tensors + fixed,
        reserved_gib=reserved,
        device_gib=figures.device_gib,
        low_gib=max(_sure_gib(network, demand), span.known + span.low * (tensors - span.known)),
        high_gib=_top(span, needed, figures.device_gib, room_gib) + demand.doubt / GIB,
        stack=stack.slug,
        host_gib=demand.host.ram / GIB,
        nvme_gib=demand.host.nvme / GIB,
        assumed=_assumed(network, job, demand.doubt > 0),
        evidence=evidence_of(stack.slug, network.kind, job),
        detail_gib=detail,
        steps=steps_of(network, job, stack, demand, detail, figures, span) if explained else (),
    )


def _detail(demand: Demand, library_gib: float, reservation: float | None) -> dict[str, float]:
    """The buffers of a step, what libraries hold, and of a serving engine's reservation the pool of
    its cache, in GiB."""
    detail = {
        "communication": demand.communication / GIB,
        "buffers": (demand.buffers - demand.communication) / GIB,
        "library": library_gib,
    }
    if reservation is not None:
        detail["pool"] = reservation - (demand.tensors - demand.kv_cache) / GIB - library_gib
    return detail


def _gaps_gib(job: Job, beyond: Spare, demand: Demand) -> float:
    """GiB that the allocator holds beyond what it has handed out, and what another moment of the
    step takes."""
    moving = demand.activations + demand.buffers + demand.kv_cache
    held = beyond.held_gib(moving / GIB, (demand.tensors - moving) / GIB)
    return held * (EXPANDABLE if growing(job) else 1.0) + demand.apart / GIB


def _parts(demand: Demand, library_gib: float, context_gib: float) -> MemoryParts:
    """The parts of a demand in GiB, with what libraries and the allocator hold beside buffers."""
    return MemoryParts(
        weights_gib=demand.weights / GIB,
        gradients_gib=demand.gradients / GIB,
        optimizer_gib=demand.optimizer / GIB,
        activations_gib=demand.activations / GIB,
        kv_cache_gib=demand.kv_cache / GIB,
        workspace_gib=demand.buffers / GIB + library_gib,
        context_gib=context_gib,
    )


def _span(
    network: Network,
    job: Job,
    stack: MemoryStack,
    demand: Demand,
    figures: Figures,
    still_gib: float,
) -> Span:
    """The interval: that of the stack and task, wider for jobs that few sources measured and for
    networks traced as a relative; of one whose layers nobody told, all but what is sure of its
    weights may miss by half. `still_gib`: tensors that neither come nor go."""
    wide = (RELATIVE_SPREAD if network.relative else 1.0) * spread(stack.slug, network.kind, job)
    task = f"{job.task} {group_of(network.kind)}"
    low, high = interval((stack.slug, task, job.task))
    low, high = max(LEAST, 1 - (1 - low) * wide), 1 + (high - 1) * wide
    known = known_gib(stack.slug, job.task, still_gib)
    if network.stand_in:
        states = (demand.weights + demand.gradients + demand.optimizer) / GIB
        held = max(known, states) if network.weighed else known
        least, most = figures.tensors_gib - held, figures.device_gib - held
        low = min(low, _of_rest(held - known, least, 1 - STAND_IN_MISS))
        high = max(high, _of_rest(held - known, most, 1 + STAND_IN_MISS))
    return Span(low, high, known)


def _assumed(network: Network, job: Job, doubt: bool) -> dict[str, str]:
    """What nobody said, and what of the network is counted as another's; `doubt`: whether the
    release decides what experts take."""
    assumed = dict(job.assumed)
    if doubt:
        assumed["experts"] = job.precision
    if network.relative:
        assumed["architecture"] = network.relative
    if network.kind == RECOMMENDER:
        assumed["tables"] = "on the GPUs"
    if network.family == "big_bird" and job.length > SPARSE_FROM:
        assumed["attention"] = "dense"
    return assumed
