"""Set the widths of the speed model's intervals so that four of five left-out rows of every stack lie within them.

    python -m tools.calibrate_speed_intervals

Run it after tools/fit_speed_model.py. Rows are predicted without themselves, without their GPU and without their source. Half a
width is the kriging error times the factor of a stack, joined with a floor that no row takes away (what the physics of the stack
misses however near the rows are); both are the pair of a grid that comes nearest to four of five under each of the three, drawn to
the pair of all stacks.
"""

import itertools
import json
import math
from collections import defaultdict
from pathlib import Path

import msgspec

from rigplanner.data import data_path
from rigplanner.performance.accuracy import Judged, Scheme, judge
from rigplanner.performance.constants import SpeedModel, speed_model
from rigplanner.performance.measured import shipped_measured
from rigplanner.performance.stacks import find_stack

JUDGED: tuple[Scheme, ...] = ("row", "GPU", "source")
COVERED = 0.8
FACTORS = [0.6 * 1.06**i for i in range(26)]
FLOORS = [0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.36]
DRAWN = 2.0
"""Rows that the pair of all stacks counts for where a stack has its own."""

Errors = dict[Scheme, list[tuple[float, float]]]


def error_and_width(item: Judged) -> tuple[float, float]:
    """Return the error of a row and half of its interval before factor and floor, in log units."""
    model, stack = speed_model(), item.row.workload.stack or ""
    half = math.log(item.predicted / item.low)
    floor = math.hypot(model.floor.get(stack, 0.0), math.log(find_stack(stack).spread))
    return abs(math.log(item.row.value / item.predicted)), math.sqrt(max(0.0, half**2 - floor**2)) / model.widened(stack)


def collected() -> dict[str, Errors]:
    """Return errors and widths by stack and scheme, "" for all stacks together."""
    found: dict[str, Errors] = defaultdict(lambda: defaultdict(list))
    for scheme in JUDGED:
        for item in judge(shipped_measured(), scheme):
            stack = item.row.workload.stack or ""
            if item.row.workload.task != "collective" and not find_stack(stack).kin and item.low < item.predicted:
                pair = error_and_width(item)
                found[stack][scheme].append(pair)
                found[""][scheme].append(pair)
    return found


def missed(errors: Errors, factor: float, floor: float) -> float:
    """Return the squared distance from `COVERED` over the schemes."""
    shares = [sum(error <= math.hypot(factor * half, floor) for error, half in pairs) / len(pairs) for pairs in errors.values()]
    return sum((share - COVERED) ** 2 for share in shares)


def best(errors: Errors, usual: tuple[float, float] | None) -> tuple[float, float]:
    """Return the pair of factor and floor that comes nearest; `usual` draws it towards itself."""
    rows = len(next(iter(errors.values())))

    def cost(pair: tuple[float, float]) -> float:
        away = 0.0 if usual is None else math.log(pair[0] / usual[0]) ** 2 + 4 * (pair[1] - usual[1]) ** 2
        return missed(errors, *pair) + DRAWN / rows * away

    return min(itertools.product(FACTORS, FLOORS), key=cost)


def calibrated() -> SpeedModel:
    """Return the shipped constants with new widths."""
    found = collected()
    usual = best(found[""], None)
    pairs = {stack: usual if not stack else best(errors, usual) for stack, errors in sorted(found.items())}
    factors = {stack: round(factor, 3) for stack, (factor, _) in pairs.items()}
    floors = {stack: floor for stack, (_, floor) in pairs.items() if floor and stack}
    return msgspec.structs.replace(speed_model(), widening=factors, floor=floors)


def main() -> None:
    """Calibrate and write."""
    path = Path(data_path("catalog")) / "benchmarks" / "speed_model.json"
    path.write_text(json.dumps(msgspec.to_builtins(calibrated()), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
