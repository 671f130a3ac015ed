"""Set the widths of the speed model's intervals so that four of five left-out rows of every stack lie within them.

    python -m tools.calibrate_speed_intervals

Run it after tools/fit_speed_model.py. Rows are predicted without themselves, without their GPU and without their source; the
factor of a stack is the quantile of their errors over the half-widths that the covariance gives, drawn to that of all stacks by as
many rows as `FEW_ROWS`.
"""

import json
import math
import statistics
from collections import defaultdict
from pathlib import Path

import msgspec

from rigplanner.data import data_path
from rigplanner.performance.accuracy import Judged, Scheme, judge
from rigplanner.performance.constants import speed_model
from rigplanner.performance.measured import shipped_measured
from rigplanner.performance.stacks import find_stack

JUDGED: tuple[Scheme, ...] = ("row", "GPU", "source")
COVERED = 0.8
FEW_ROWS = 10


def score(item: Judged) -> float | None:
    """Return the error of a row over the half-width of its interval before widening; None for stacks known by their kin."""
    stack = item.row.workload.stack or ""
    if item.predicted <= item.low or find_stack(stack).kin:
        return None
    widened = speed_model().widened(stack)
    return widened * abs(math.log(item.row.value / item.predicted)) / math.log(item.predicted / item.low)


def quantile(scores: list[float]) -> float:
    """Return the quantile that `COVERED` of the scores do not pass."""
    return statistics.quantiles(scores, n=20, method="inclusive")[round(20 * COVERED) - 1] if len(scores) > 1 else scores[0]


def widths() -> dict[str, float]:
    """Return the factor of each stack, "" for all others."""
    scores: dict[str, list[float]] = defaultdict(list)
    for scheme in JUDGED:
        for item in judge(shipped_measured(), scheme):
            found = score(item)
            if found is not None and item.row.workload.task != "collective":
                scores[item.row.workload.stack or ""].append(found)
                scores[""].append(found)
    every = math.log(quantile(scores[""]))
    made = {"": round(math.exp(every), 3)}
    for stack, own in sorted(scores.items()):
        share = len(own) / (len(own) + FEW_ROWS * len(JUDGED))
        made.setdefault(stack, round(math.exp(share * math.log(quantile(own)) + (1 - share) * every), 3))
    return made


def main() -> None:
    """Calibrate and write."""
    path = Path(data_path("catalog")) / "benchmarks" / "speed_model.json"
    calibrated = msgspec.structs.replace(speed_model(), widening=widths())
    path.write_text(json.dumps(msgspec.to_builtins(calibrated), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
