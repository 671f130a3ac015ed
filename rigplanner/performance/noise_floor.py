"""How far published measurements of one and the same job lie apart: no prediction can be nearer to
a measurement than they are."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

from rigplanner.performance.accuracy import Judged
from rigplanner.performance.anchors.points import Placed


def same_network(item: Placed) -> Hashable:
    """Return what rows share that measured a network with one stack and precision on one kind of
    GPU, whatever batch and number."""
    point = item.point
    return point.stack, point.model, point.task, point.precision, item.row.gpu


def same_job(item: Placed) -> Hashable:
    """Return what rows share that measured the same: network, stack, precision, GPUs, link, batch
    and lengths."""
    point = item.point
    return *same_network(item), point.lane, point.count, point.batch, point.tokens, point.written  # type: ignore[misc]


def median_of_others(placed: Iterable[Placed], alike: Callable[[Placed], Hashable]) -> list[Judged]:
    """Return each row that other sources measured too, with what they say in the place of a
    prediction: the median of their measurements, and the least and the most. The model carries them
    over to what is the row's own (batch, data, parallelism)."""
    jobs: dict[Hashable, list[Placed]] = defaultdict(list)
    for item in placed:
        jobs[alike(item)].append(item)
    told = []
    for members in jobs.values():
        for item in members:
            faster = 1 if item.row.metric.endswith("/s") else -1
            said = [
                item.row.value * math.exp(faster * (other.residual - item.residual))
                for other in members
                if other.row.source != item.row.source
            ]
            if said:
                told.append(Judged(item.row, statistics.median(said), min(said), max(said)))
    return told
