"""How right the speed model is where even the multipliers of its physics have not seen the GPUs or
sources that it is judged on.

python -m tools.speed_refitted FOLDS -o catalog/benchmarks/refitted.json

FOLDS is the folder that `tools.fit_speed_model --folds` wrote: the multipliers of physics fitted
without a third of the GPUs, or of the sources. Each row is predicted with those of its own fold,
and without the rows of its own GPU (or source). Widths of intervals are those that ship.
`rigplanner validate` prints the table that is written here."""

import argparse
import json
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec

from rigplanner.error_figures import errors_of

LEAST_GROUP = 5
FOLDS = 3
"""Parts into which the GPUs and the sources are dealt."""


def fold_of(key: str) -> int:
    """Return the fold of a GPU or source, the same on every machine."""
    return zlib.crc32(key.encode()) % FOLDS


def dealt_by(scheme: str, row: Any) -> str:
    """Return the GPU (its id) or the source of a measured row."""
    from rigplanner.performance.anchors.anchors import find_gpu

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
        print(json.dumps([item.row.id, item.predicted, item.low, item.high]))


def refitted(scheme: str, folder: Path) -> dict[str, list[float]]:
    """Return prediction, low and high of each row, fitted without its fold."""
    found = dict[str, list[float]]()
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
        found |= {name: values for name, *values in map(json.loads, lines)}
    return found


def summary(values: dict[str, list[float]], scheme: str) -> list[dict[str, Any]]:
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
