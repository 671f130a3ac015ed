"""How right the speed model is where even the multipliers of its physics have not seen the GPUs or
sources that it is judged on.

python -m tools.speed_refitted FOLDS -o catalog/benchmarks/refitted.json

FOLDS is the folder that `tools.fit_speed_model --folds` wrote: the multipliers of physics fitted
without a third of the GPUs, or of the sources. Each row is predicted with those of its own fold,
and without the rows of its own GPU (or source). Widths of intervals are not those that ship, which
have seen every row, but fitted by fold too: half-widths of each level of novelty times the 80 %
quantile of the misses over half-widths in the other folds (split conformal prediction: Vovk et al.
2005; Lei et al. 2018, arXiv 1604.04173). `rigplanner validate` prints the table that is written
here."""

import argparse
import json
import math
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.error_figures import errors_of

LEAST_GROUP, LEAST_LEVEL, COVERED = 5, 30, 0.8
"""Rows of a stack that are shown, rows of a level of novelty that widths are fitted to, and the
share of rows that an interval holds."""
FOLDS = 3
"""Parts into which the GPUs and the sources are dealt."""


def fold_of(key: str) -> int:
    """Return the fold of a GPU or source, the same on every machine."""
    return zlib.crc32(key.encode()) % FOLDS


def dealt_by(scheme: str, row: Any) -> str:
    """Return the GPU (its id) or the source of a measured row."""
    from rigplanner.catalog.gpus import find_gpu

    return str(find_gpu(row.gpu).id if scheme == "GPU" else row.source)


def fit_of(folder: Path, scheme: str, fold: int) -> Path:
    """Return the file of the multipliers that were fitted without a fold."""
    return folder / f"{scheme.casefold()}-{fold}.json"


def use_multipliers(path: Path) -> None:
    """Predict with the multipliers of a file from here on; to be called before anything of the
    speed model is imported."""
    from rigplanner.performance import constants

    fitted = msgspec.json.decode(path.read_bytes(), type=constants.SpeedModel)
    mixed = msgspec.structs.replace(constants.speed_model(), physics=fitted.physics)
    constants.speed_model = lambda: mixed  # type: ignore[assignment]


def judge_fold(model: Path, scheme: str, fold: int) -> None:
    """Print predictions of the rows of one fold under the multipliers of a file, as JSON lines: id,
    prediction, low and high."""
    use_multipliers(model)
    from rigplanner.performance.accuracy import judge
    from rigplanner.performance.measured import shipped_measured

    rows = [row for row in shipped_measured() if fold_of(dealt_by(scheme, row)) == fold]
    for item in judge(rows, scheme):  # type: ignore[arg-type]
        told = [item.predicted, item.low, item.high]
        print(json.dumps([item.row.id, told, item.evidence, item.missed]))


class Left(Struct, frozen=True):
    """Prediction, low and high of a left-out row, its fold, its level of novelty, and its miss over
    half the width of its interval."""

    told: tuple[float, float, float]
    fold: int
    evidence: str
    missed: float


def widened(rows: dict[str, Left]) -> dict[str, tuple[float, float, float]]:
    """Return predictions with half-widths of each level of novelty such that four of five rows of
    the other folds lie within."""
    levels: dict[str, list[Left]] = defaultdict(list)
    for row in rows.values():
        levels[row.evidence].append(row)
    found = dict[str, tuple[float, float, float]]()
    for name, row in rows.items():
        middle, low, high = row.told
        others = [other.missed for other in levels[row.evidence] if other.fold != row.fold]
        by = quantile(others, COVERED) if len(others) >= LEAST_LEVEL else 1.0
        found[name] = middle, middle * (low / middle) ** by, middle * (high / middle) ** by
    return found


def quantile(values: list[float], share: float) -> float:
    """Return the least value that so large a share of n + 1 values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered), math.ceil(share * (len(ordered) + 1))) - 1]


def refitted(scheme: str, folder: Path) -> dict[str, tuple[float, float, float]]:
    """Return prediction, low and high of each row, constants and widths fitted without its fold."""
    found = dict[str, Left]()
    for fold in range(FOLDS):
        command = [
            sys.executable,
            "-m",
            "tools.speed_refitted",
            "--judge",
            scheme,
            str(fold),
            str(fit_of(folder, scheme, fold)),
        ]
        lines = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name, told, evidence, missed in map(json.loads, lines):
            found[name] = Left(tuple(told), fold, evidence, missed)
    return widened(found)


def summary(values: dict[str, tuple[float, float, float]], scheme: str) -> list[dict[str, Any]]:
    """Return the errors in all and by stack."""
    from rigplanner.performance.measured import shipped_measured

    groups: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in shipped_measured():
        if row.id in values:
            predicted, low, high = values[row.id]
            for name in ("all", row.workload.stack or "-"):
                groups[name].append((predicted / row.value - 1, low <= row.value <= high))
    rows = []
    for name, members in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        found = errors_of(
            name, len(members), [error for error, _ in members], [inside for _, inside in members]
        )
        if found.covered >= LEAST_GROUP:
            rows.append(
                {
                    "scheme": scheme,
                    "group": name,
                    "rows": found.covered,
                    "median": found.median,
                    "mean": found.mean,
                    "p90": found.p90,
                    "inside": found.inside,
                }
            )
    return rows


def main() -> None:
    """Judge and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", nargs=2, metavar=("SCHEME", "FOLD"), help=argparse.SUPPRESS)
    parser.add_argument("folds", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.judge:
        judge_fold(args.folds, args.judge[0], int(args.judge[1]))
        return
    rows = [
        row for scheme in ("GPU", "source") for row in summary(refitted(scheme, args.folds), scheme)
    ]
    rounded = [
        {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    args.output.write_text(
        "[\n" + ",\n".join(json.dumps(row) for row in rounded) + "\n]\n", "utf-8"
    )


if __name__ == "__main__":
    main()
