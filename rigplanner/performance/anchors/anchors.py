"""Where a job lies among the measured rows, and how a row is cited."""

import math
from functools import lru_cache

from rigplanner.performance.anchors.points import NO_BATCH, Placed, Point
from rigplanner.performance.answer import Anchor
from rigplanner.performance.job import Job
from rigplanner.performance.measured import year_of
from rigplanner.performance.silicon import Silicon

PRECISION_CLASS = {
    "amp_fp16": "half",
    "fp16": "half",
    "f16": "half",
    "bf16": "half",
    "mixed": "half",
    "amp": "half",
    "amp_bf16": "half",
}
REMEMBERED = 4_000
"""GPUs whose coordinates are kept."""


@lru_cache(REMEMBERED)
def silicon_coordinates(s: Silicon) -> tuple[float, ...]:
    """Return the coordinates of a GPU in which efficiencies vary smoothly: era, half-precision and
    FP32 arithmetic per byte, bandwidth, memory, power per arithmetic, kind of memory, cache; each
    divided by its usual spread."""
    band = math.log(s.bandwidth_gbs)
    return (
        s.era / 2.0,
        (math.log(s.half) - band) / 0.7,
        (math.log(s.fp32) - band) / 0.7,
        band / 0.8,
        math.log(s.memory_gib) / 0.9,
        (math.log(s.tdp_w) - 0.6 * math.log(s.half)) / 0.5,
        float(s.fast_memory),
        math.log(s.l2_mib) / 1.2,
    )


def place(job: Job) -> Point:
    """Return the point of a job."""
    precision = PRECISION_CLASS.get(job.precision, job.precision)
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        precision = "int8"
    return Point(
        stack=job.stack.slug,
        family=job.stack.family,
        model=job.shape.slug,
        kind=job.shape.kind,
        task=job.task,
        precision=precision,
        lane=job.lane if job.count > 1 else "none",
        release=job.release,
        maker=job.silicon.vendor,
        data=str(job.variant.get("data", "synthetic")),
        silicon=silicon_coordinates(job.silicon),
        count=math.log2(job.count),
        tokens=math.log(max(1, job.shape.tokens)),
        written=math.log(max(1, job.output_tokens)),
        year=year_of(job.stack.slug, job.release),
        batch=math.log(job.batch) if job.batch_given else NO_BATCH,
    )


def cite(item: Placed, weight: float) -> Anchor:
    """Return the anchor to show for a row used with this kriging weight."""
    row = item.row
    return Anchor(
        id=row.id,
        gpu=row.gpu,
        model=row.workload.model or "",
        stack=row.workload.stack or "",
        value=row.value,
        metric=row.metric,
        weight=weight,
        source=row.source,
        count=row.count,
        precision=row.workload.precision,
        batch_per_gpu=row.workload.batch_per_gpu,
    )
