"""Words for measured ratios of two devices."""

from rigplanner.planning.map.measured_ratios import Ratios
from rigplanner.report.format import number
from rigplanner.report.language import tr, trn


def ratios_text(found: Ratios | None, one: str, other: str) -> str:
    """Return one sentence: how many times `one` is as fast as `other`, of how many pairs."""
    if found is None:
        return tr("Nobody has measured {one} and {other} alike.", one=one, other=other)
    times = number(found.median)
    if len(found.pairs) > 1:
        times = tr("{low} to {high} times, median {median}",
                   low=number(found.low), high=number(found.high), median=times)  # fmt: skip
    else:
        times = tr("{times} times", times=times)
    pairs = trn(
        "{count} pair of measurements that differ in nothing else",
        "{count} pairs of measurements that differ in nothing else",
        len(found.pairs),
    )
    return tr("{one} over {other}: {times} ({pairs}).", one=one, other=other, times=times,
              pairs=pairs)  # fmt: skip
