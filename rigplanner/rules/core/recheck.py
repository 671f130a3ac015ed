"""Does a job still fit the GPUs after an edit: asked of the memory model before a fix is
offered."""

from typing import Any

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rig.workload import Workload
from rigplanner.rules.core.context import Context, JobFacts


def fits_after(context: Context, job: JobFacts, gpus: int | None = None, **fields: Any) -> bool:
    """Say whether a job is not expected to be too large for a GPU with some fields changed, or on
    another number of GPUs; one that it does not fit as it is counts no more."""
    if context.estimate is None or not context.advise:
        return True
    count = len(context.machine.gpu_parts)
    work = replace(job.workload, **fields)
    models = {node.gpu.id: node.gpu for node in context.machine.gpu_parts}.values()
    return all(
        _fits(context, work, gpu, gpus or count) or not _fits(context, job.workload, gpu, count)
        for gpu in models
    )


def _fits(context: Context, work: Workload, gpu: GPU, count: int) -> bool:
    have = usable_gib(gpu)
    need = context.estimate(work, gpu, count) if context.estimate is not None else None
    return not isinstance(need, MemoryEstimate) or have is None or need.low_gib <= have
