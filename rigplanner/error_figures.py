"""How far predictions lie from measurements: the figures of a group, as shares of 1 (0.04 is 4
%)."""

import statistics
from collections.abc import Sequence

from msgspec import Struct


class Errors(Struct, frozen=True, kw_only=True):
    """Errors of one group of `cases`, of which `covered` were predicted. `median`, `mean` and `p90`
    (90th percentile) are of the absolute relative error, `bias` is the median signed one, `inside`
    the share of measurements within the stated 80 % interval; None where nothing was predicted, or
    no interval stated."""

    group: str
    cases: int
    covered: int
    median: float | None = None
    mean: float | None = None
    p90: float | None = None
    bias: float | None = None
    inside: float | None = None


def errors_of(group: str, cases: int, signed: Sequence[float], inside: Sequence[bool]) -> Errors:
    """Return the errors of a group by its relative errors (predicted / measured - 1) and by which
    intervals held."""
    if not signed:
        return Errors(group=group, cases=cases, covered=0)
    sizes = sorted(map(abs, signed))
    return Errors(
        group=group,
        cases=cases,
        covered=len(sizes),
        median=statistics.median(sizes),
        mean=statistics.fmean(sizes),
        p90=sizes[int(0.9 * len(sizes))],
        bias=statistics.median(signed),
        inside=sum(inside) / len(inside) if inside else None,
    )
