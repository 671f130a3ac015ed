"""How far a rig is from its limits: the figures of the gauges."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rules.jobs.vram import part_seen

if TYPE_CHECKING:
    from rigplanner.rules.assess import Assessment, Job

Axis = Literal["price", "supply", "circuit", "lanes", "slots", "vram"]


class Limit(Struct, frozen=True, kw_only=True):
    """`used` of `limit` in `unit`; either is None when unknown, and `limit` is None when nobody set
    one (`stated` False).

    `high` is the upper end of a predicted `used`; `beside` the share of a price that stands beside
    the computer; `job` is the workload's index for VRAM."""

    axis: Axis
    used: float | None
    limit: float | None
    unit: str
    high: float | None = None
    beside: float = 0.0
    stated: bool = True
    partial: bool = False
    job: int | None = None

    @property
    def share(self) -> float | None:
        """`used` as a share of `limit`; 1.0 is the limit itself."""
        return None if self.used is None or not self.limit else self.used / self.limit

    @property
    def verdict(self) -> Literal["fits", "warning", "error", "unknown"]:
        """Over the limit: error; predicted to reach it within the interval, or nearer than 10 %:
        warning."""
        if self.share is None or self.limit is None:
            return "unknown"
        if self.share > 1:
            return "error"
        reach = self.high if self.high is not None else (self.used or 0.0) / 0.9
        return "warning" if reach > self.limit and self.axis not in ("lanes", "slots") else "fits"


def limits(assessment: "Assessment") -> tuple[Limit, ...]:
    """Return price against budget, supply load, wall circuit, CPU lanes, slots, then VRAM per
    workload."""
    machine, power, sums = assessment.machine, assessment.machine.power, assessment.totals
    places = [use for use in machine.slots if not use.disabled_by]
    filled = [use for use in places if use.piece or use.covered_by]
    return (
        Limit(
            axis="price",
            used=sums.total,
            limit=assessment.rig.budget,
            unit=sums.currency,
            beside=sums.beside if sums.total == sums.subtotal else 0.0,
            stated=assessment.rig.budget is not None,
            partial=bool(sums.unpriced or sums.foreign),
        ),
        Limit(
            axis="supply",
            used=power.sustained_w,
            limit=power.supply_w,
            unit="W",
            high=None,
            partial=bool(power.unknown),
        ),
        Limit(
            axis="circuit",
            used=power.wall_w,
            limit=power.circuit_w,
            unit="W",
            stated=assessment.rig.site.breaker_a is not None,
            partial=bool(power.unknown),
        ),
        Limit(axis="lanes", used=machine.lanes_used, limit=machine.lanes_total, unit=""),
        Limit(axis="slots", used=len(filled), limit=len(places), unit=""),
        *(_vram(assessment, job) for job in assessment.jobs),
    )


def _vram(assessment: "Assessment", job: "Job") -> Limit:
    """The GPU of a workload that is fullest."""
    seen = (
        [part_seen(job.workload, node.gpu) for node in assessment.machine.gpus]
        if job.memory
        else []
    )
    rooms = [(estimate, usable_gib(gpu)) for estimate, gpu in zip(job.memory, seen, strict=False)]
    pairs = [(estimate, room) for estimate, room in rooms if room]
    if not pairs:
        return Limit(axis="vram", used=None, limit=None, unit="GiB", job=job.index)
    estimate, capacity = max(pairs, key=lambda pair: pair[0].device_gib / (pair[1] or 1.0))
    return Limit(
        axis="vram",
        used=estimate.device_gib,
        limit=capacity,
        unit="GiB",
        high=estimate.high_gib,
        job=job.index,
    )
