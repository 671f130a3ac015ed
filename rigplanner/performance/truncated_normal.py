"""A speed that is told with a spread, below a limit that none passes."""

import math
from statistics import NormalDist

from rigplanner.performance.constants import EIGHTY_PERCENT

_NORMAL = NormalDist()
FAR, FARTHEST = 3.5, -4.0
"""Deviations above the mean beyond which a limit takes nothing away, and how far below it a limit
is heeded."""


def below(mean: float, half_width: float, most: float) -> tuple[float, float, float]:
    """Return median, 10th and 90th percentile of a log-normal speed about `mean` (its 80 % interval
    is `half_width` either way in logarithms), given that it does not exceed `most`: quantiles of
    the truncated normal distribution."""
    deviation = half_width / EIGHTY_PERCENT
    room = math.log(most / mean) / deviation if most < math.inf and deviation else math.inf
    if room > FAR:
        return mean, mean * math.exp(-half_width), mean * math.exp(half_width)
    limit = max(room, FARTHEST)
    share = _NORMAL.cdf(limit)
    median, low, high = (
        most * math.exp(deviation * (_NORMAL.inv_cdf(part * share) - limit))
        for part in (0.5, 0.1, 0.9)
    )
    return median, low, high
