"""Does a job still fit the GPUs after an edit: asked of the memory model before a fix is offered."""

from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.parts import GPU
from rigplanner.rig.task import Workload
from rigplanner.rules.situation import JobFacts, Situation
from rigplanner.workload.answer import MemoryEstimate
from rigplanner.workload.room import usable_gib


def fits_after(situation: Situation, job: JobFacts, gpus: int | None = None, **fields: Any) -> bool:
    """Say whether a job is not expected to be too large for a GPU with some fields changed, or on another number of GPUs; one that
    it does not fit as it is counts no more."""
    if situation.estimate is None or not situation.advise:
        return True
    count = len(situation.machine.gpu_parts)
    work = replace(job.workload, **fields)
    models = {node.gpu.id: node.gpu for node in situation.machine.gpu_parts}.values()
    return all(_fits(situation, work, gpu, gpus or count) or not _fits(situation, job.workload, gpu, count) for gpu in models)


def _fits(situation: Situation, work: Workload, gpu: GPU, count: int) -> bool:
    have = usable_gib(gpu)
    need = situation.estimate(work, gpu, count) if situation.estimate is not None else None
    return not isinstance(need, MemoryEstimate) or have is None or need.low_gib <= have
