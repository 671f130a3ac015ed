"""A speed that is told with a spread, below a limit that none passes."""

import math
from statistics import NormalDist

from rigplanner.performance.constants import EIGHTY_PERCENT

_NORMAL = NormalDist()
FAR, FARTHEST = 3.5, -4.0
"""Deviations above the mean beyond which a limit takes nothing away, and how far below it a limit
is heeded."""


SHARPNESS = 10.0
"""Exponent that joins a speed and its limit: 1 % is lost at four fifths of it, 7 % where they are
the same, whatever the spread (6 to 16 fit left-out rows alike)."""


def below(mean: float, half_width: float, most: float) -> tuple[float, float, float]:
    """Return the middle, 10th and 90th percentile of a speed of about `mean` (its 80 % interval
    would be `half_width` either way in logarithms) that does not exceed `most`: the percentiles are
    those of the truncated normal distribution; the middle is the same however wide it is."""
    deviation = half_width / EIGHTY_PERCENT
    room = math.log(most / mean) / deviation if most < math.inf and deviation else math.inf
    least, other = sorted((mean, most))
    middle = least * (1 + (least / other) ** SHARPNESS) ** (-1 / SHARPNESS)
    if room > FAR:
        return middle, middle * math.exp(-half_width), middle * math.exp(half_width)
    limit = max(room, FARTHEST)
    share = _NORMAL.cdf(limit)
    low, high = (
        most * math.exp(deviation * (_NORMAL.inv_cdf(part * share) - limit)) for part in (0.1, 0.9)
    )
    return middle, min(low, middle), max(high, middle)
