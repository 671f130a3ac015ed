"""Trainings whose copies do not wait for each other: asynchronous, or stale-synchronous with a
bound."""

import math
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.job import Job
from rigplanner.performance.several_gpus.dealt_layers import of_dealt_layers
from rigplanner.performance.several_gpus.scaling import (
    JITTER,
    UNEVEN,
    exchange_seconds,
    replicas,
    slowest_of,
)
from rigplanner.rig.workload import Parallelism, Workload

SYNCHRONOUS, STALE, ASYNCHRONOUS = SYNCS = ("synchronous", "stale", "asynchronous")
USUAL_BOUND = 3
"""Steps that the fastest copy may be ahead where a stale-synchronous job names none (Ho et al.
2013, More effective distributed ML via a stale synchronous parallel parameter server: 2 to 4 gave
the most)."""
TRAINS = ("train", "train_full", "pretrain", "train_lora", "train_qlora")


def sync_of(workload: Workload) -> tuple[str, int]:
    """Return how the copies of a training wait for each other, and by how many steps they may be
    apart. Raises WorkloadFault for other words and bounds."""
    plan = workload.parallelism or Parallelism()
    mode = plan.sync or SYNCHRONOUS
    if mode not in SYNCS:
        raise WorkloadFault(
            f"parallelism.sync: expected one of {', '.join(SYNCS)}, found '{mode[:40]}'."
        )
    bound = USUAL_BOUND if plan.staleness is None else plan.staleness
    if not 1 <= bound <= 1000:
        raise WorkloadFault(f"parallelism.staleness: expected 1 to 1000 steps, found {bound}.")
    return mode, bound if mode == STALE else 0


def loosened(
    found: SpeedEstimate, job: Job, step_s: float, exposed_s: float, mode: str, bound: int
) -> SpeedEstimate:
    """Return the speed of a synchronous training, of `step_s` seconds a step and `exposed_s` more
    of exchange and wait, as its copies run it that wait less: the exchange hides behind the next
    step, and the wait for the slowest evens out over `bound` + 1 steps or is gone. No row measures
    it."""
    if replicas(job) == 1:
        return found
    wait_s = UNEVEN.get(job.shape.kind, JITTER) * slowest_of(replicas(job)) * step_s
    wait_s = 0.0 if mode == ASYNCHRONOUS else wait_s / math.sqrt(bound + 1)
    left_s = wait_s + max(0.0, exchange_seconds(job) - step_s)
    faster = max(1.0, (step_s + exposed_s) / (step_s + left_s))
    value = found.value * faster
    step = Step(
        "loosened",
        "synchronous x (step + exchange and wait) / (step + what is left of them)",
        {"step_s": step_s, "waited_s": exposed_s, "left_s": left_s, "mode": mode},
        value,
        found.metric,
        "",
    )
    efficiency = found.scaling_efficiency
    return replace(
        found,
        value=value,
        low=found.low,
        high=found.high * faster,
        hours=found.hours / faster if found.hours else None,
        energy_kwh=None,
        exchange_share=left_s / (step_s + left_s),
        scaling_efficiency=min(1.0, efficiency * faster) if efficiency else None,
        unmeasured=(*found.unmeasured, "task"),
        steps=(*found.steps, step),
    )


def of_unequal(
    workload: Workload, gpus: Sequence[GPU], predict: Callable[[GPU, int], SpeedEstimate]
) -> SpeedEstimate | None:
    """Return the speed of a training in data parallel on GPUs that differ: synchronous copies go
    at the pace of the slowest, and so do stale ones in the long run, as a bound evens out chance
    alone; asynchronous ones each at its own; that of a model whose layers are dealt out. None for
    equal GPUs and for other jobs. `predict` tells the speed on so many equal GPUs."""
    models = list({gpu.id: gpu for gpu in gpus}.values())
    plan = workload.parallelism or Parallelism()
    if len(models) < 2 or plan.tensor * plan.pipeline > 1:
        return None
    if workload.task not in TRAINS:
        return of_dealt_layers(workload, gpus, predict)
    mode, _ = sync_of(workload)
    told = [predict(gpu, len(gpus)) for gpu in models]
    slowest = min(told, key=lambda one: one.value)
    if mode != ASYNCHRONOUS:
        return slowest
    share = {gpu.id: one for gpu, one in zip(models, told, strict=True)}
    count = len(gpus)
    return replace(
        slowest,
        value=sum(share[gpu.id].value for gpu in gpus) / count,
        low=sum(share[gpu.id].low for gpu in gpus) / count,
        high=sum(share[gpu.id].high for gpu in gpus) / count,
        scaling_efficiency=None,
        mfu=None,
    )
