"""A GPU that has more of everything than a measured one is not slower at the same job."""

import math
from collections.abc import Iterable
from operator import attrgetter

from rigplanner.catalog.gpus import find_gpu
from rigplanner.performance.anchors.points import Placed, Point
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.silicon import Silicon, silicon_of

SAME = attrgetter("stack", "task", "precision", "lane", "count", "data", "tokens", "written")
LIKE_BATCH = 0.05
"""Logarithm of the batch within which two jobs are the same."""
KEPT = 0.98
"""What a measured row is trusted with: one machine differs from the next by 1 to 4 %, on average 2.
"""
LIKE_POWER = 0.9
LIKE_WORK = 0.05
"""Share by which the arithmetic of a sample may differ between two jobs that are the same."""


def at_least(
    samples_s: float, job: Job, point: Point, metric: str, rows: Iterable[Placed]
) -> float:
    """Return `samples_s`, or what the best measured GPU reached which this job's GPU surpasses in
    every respect: at the same job on the same number of GPUs, with software no newer."""
    if metric in TIME_METRICS:
        return samples_s
    best, same = samples_s, SAME(point)
    for item in rows:
        other = item.point
        if (
            other.model != point.model
            or other.silicon == point.silicon
            or item.row.metric != metric
            or SAME(other) != same
        ):
            continue
        if abs(other.batch - point.batch) > LIKE_BATCH or other.year > point.year:
            continue
        reached = KEPT * samples_per_second(job, item.row.value, metric)
        if (
            reached > best
            and dominates(job.silicon, silicon_of(find_gpu(item.row.gpu)))
            and _is_as_much(job, item)
        ):
            best = reached
    return best


def _is_as_much(job: Job, item: Placed) -> bool:
    """Say whether a sample of the measured row is as much work as one of the job: an image of
    another size or of other steps is another job."""
    row = item.row
    shape = read_job(row.workload, find_gpu(row.gpu), row.count, row.nodes, row.link, None).shape
    return math.isclose(shape.gflop, job.shape.gflop, rel_tol=LIKE_WORK)


def dominates(newer: Silicon, older: Silicon) -> bool:
    """Return whether one GPU has at least the arithmetic, bandwidth, memory, age and (nearly) power
    of another of its maker."""
    more = all(
        getattr(newer, rate) >= getattr(older, rate)
        for rate in ("era", "fp32", "half", "bandwidth_gbs", "memory_gib", "l2_mib")
    )
    return more and newer.vendor == older.vendor and newer.tdp_w >= LIKE_POWER * older.tdp_w
