"""Set the widths of the speed model's intervals so that four of five left-out rows lie within them.

python -m tools.calibrate_speed_intervals FOLDS

Run it after tools/fit_speed_model.py, which wrote the folder FOLDS: each row is predicted with
multipliers fitted without its GPU or its source, and without itself, its GPU, its source, its
network or its stack among the rows. Half a width is the kriging error times a factor, joined with a
floor that no row takes away; both are, for each degree of nearness of the evidence, the pair of a
grid that comes nearest to four of five in all and in each third of the kriging errors."""

import argparse
import itertools
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.data import data_path
from rigplanner.performance.constants import EIGHTY_PERCENT, SpeedModel, speed_model
from tools.speed_refitted import FOLDS, dealt_by, fit_of, fold_of, use_multipliers

SCHEMES = {"row": "GPU", "GPU": "GPU", "source": "source", "network": "source", "stack": "source"}
"""What is left out of the rows -> what is left out of the fit of the multipliers."""
COVERED = 0.8
FACTORS = [0.5 * 1.06**i for i in range(32)]
FLOORS = [0.0, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.36]

Errors = list[tuple[float, float]]


def print_errors(model: Path, scheme: str, fold: int) -> None:
    """Print nearness, error and kriging error in log units of each row of a fold, as JSON lines."""
    use_multipliers(model)
    from rigplanner.performance import predict
    from rigplanner.performance.accuracy import judge
    from rigplanner.performance.measured import Measured, shipped_measured
    from rigplanner.performance.software.stacks import find_stack

    seen: dict[str, tuple[str, float]] = {}
    current, nearness = "", predict.nearness

    def told(point: Any, anchored: Any) -> Any:
        near = nearness(point, anchored)
        seen[current] = near, anchored.correction.deviation
        return near

    def rows() -> Iterator[Measured]:
        nonlocal current
        for row in shipped_measured():
            if fold_of(dealt_by(SCHEMES[scheme], row)) == fold:
                current = row.id
                yield row

    predict.nearness = told
    for item in judge(rows(), scheme):  # type: ignore[arg-type]
        stack = find_stack(item.row.workload.stack or "")
        if item.row.id in seen and not stack.kin and stack.spread == 1:
            near, deviation = seen[item.row.id]
            print(json.dumps([near, abs(math.log(item.row.value / item.predicted)), deviation]))


def collected(folder: Path) -> dict[str, Errors]:
    """Return errors and kriging errors by nearness."""
    found: dict[str, Errors] = defaultdict(list)
    for scheme, deal in SCHEMES.items():
        for fold in range(FOLDS):
            command = [
                sys.executable,
                "-m",
                "tools.calibrate_speed_intervals",
                "--judge",
                scheme,
                str(fold),
                str(fit_of(folder, deal, fold)),
            ]
            for line in subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.splitlines():
                near, error, deviation = json.loads(line)
                found[near].append((error, deviation))
    return found


def missed(thirds: list[Errors], factor: float, floor: float) -> float:
    """Return the squared distance from `COVERED` over the parts."""
    shares = [
        sum(
            error <= math.hypot(EIGHTY_PERCENT * factor * deviation, floor)
            for error, deviation in part
        )
        / len(part)
        for part in thirds
    ]
    return (
        sum((share - COVERED) ** 2 for share in shares) + (sum(shares) / len(shares) - COVERED) ** 2
    )


def best(errors: Errors) -> tuple[float, float]:
    """Return the pair of factor and floor that comes nearest."""
    ordered, third = sorted(errors, key=lambda pair: pair[1]), len(errors) // 3
    thirds = [ordered[:third], ordered[third : 2 * third], ordered[2 * third :]]
    return min(itertools.product(FACTORS, FLOORS), key=lambda pair: missed(thirds, *pair))


def calibrated(folder: Path) -> SpeedModel:
    """Return the shipped constants with new widths."""
    pairs = {near: best(errors) for near, errors in sorted(collected(folder).items())}
    factors = {near: round(factor, 3) for near, (factor, _) in pairs.items()}
    floors = speed_model().floor | {near: floor for near, (_, floor) in pairs.items()}
    return msgspec.structs.replace(speed_model(), widening=factors, floor=floors)


def main() -> None:
    """Calibrate and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", nargs=2, metavar=("SCHEME", "FOLD"), help=argparse.SUPPRESS)
    parser.add_argument(
        "folds", type=Path, help="folder of fits; a single one of them with --judge"
    )
    args = parser.parse_args()
    if args.judge:
        print_errors(args.folds, args.judge[0], int(args.judge[1]))
        return
    path = Path(data_path("catalog")) / "benchmarks" / "speed_model.json"
    path.write_text(
        json.dumps(msgspec.to_builtins(calibrated(args.folds)), indent=1) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
