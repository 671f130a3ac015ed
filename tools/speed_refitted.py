"""How right the speed model is where even its constants have not seen the GPUs or sources that it is judged on.

    python -m tools.speed_refitted -o catalog/benchmarks/refitted.json

Needs PyTorch beside RigPlanner; half an hour of one core. For each scheme the GPUs (or sources) are dealt into folds; all constants
are fitted anew to the rows outside a fold, from a start that knows no row, and the rows of the fold are predicted with
them, each also without the rows of its own GPU (or source). A control is fitted as briefly with every row in view.
`rigplanner validate` prints the table that is written here.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

FOLDS, STEPS, ROWS = 3, 60, 1000
LEAST_GROUP = 5
CONTROL = FOLDS


def key_of(scheme: str) -> Callable[[Any], str]:
    """Return what a row is dealt by."""
    return (lambda row: row.gpu) if scheme == "GPU" else (lambda row: row.source)


def fold_of(key: str) -> int:
    """Return the fold of a GPU or source, the same on every machine."""
    return zlib.crc32(key.encode()) % FOLDS


def judge_fold(model: Path, scheme: str, fold: int) -> None:
    """Print predictions of the rows of one fold under the constants of a file, as JSON lines."""
    from rigplanner.performance import constants

    fitted = msgspec.json.decode(model.read_bytes(), type=constants.SpeedModel)
    constants.speed_model = lambda: fitted  # type: ignore[assignment]
    from rigplanner.performance.accuracy import judge
    from rigplanner.performance.measured import shipped_measured

    rows = [row for row in shipped_measured() if fold in (CONTROL, fold_of(key_of(scheme)(row)))]
    for item in judge(rows, scheme):  # type: ignore[arg-type]
        print(json.dumps([item.row.id, item.predicted, item.low, item.high]))


def refitted(scheme: str, folds: Iterable[int], folder: Path) -> dict[str, list[float]]:
    """Return prediction, low and high of each row, fitted without its fold; the fold CONTROL leaves no row out of the fit. Fits
    that lie in `folder` are taken as they are."""
    found = dict[str, list[float]]()
    for fold in folds:
        path = folder / ("control.json" if fold == CONTROL else f"{scheme}-{fold}.json")
        if not path.exists():
            refit(scheme, fold, path)
        command = [sys.executable, "-m", "tools.speed_refitted", "--judge", str(path), scheme, str(fold)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        found |= {name: values for name, *values in map(json.loads, lines)}
        print(f"{scheme} fold {fold}: {len(lines)} rows", file=sys.stderr, flush=True)
    return found


def refit(scheme: str, fold: int, path: Path) -> None:
    """Write the constants that are fitted without a fold."""
    from rigplanner.performance.measured import shipped_measured
    from tools.fit_speed_model import FLAT, RATE, fit
    from tools.speed_rows import described

    kept = [row for row in shipped_measured() if fold == CONTROL or fold_of(key_of(scheme)(row)) != fold]
    path.write_bytes(msgspec.json.encode(fit(described(kept), FLAT, STEPS, ROWS, RATE, told=False)))


def summary(values: dict[str, list[float]], scheme: str) -> list[dict[str, Any]]:
    """Return the errors in all and by stack."""
    from rigplanner.performance.measured import shipped_measured

    groups: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in shipped_measured():
        if row.id in values:
            predicted, low, high = values[row.id]
            for name in ("all", row.workload.stack or "-"):
                groups[name].append((abs(predicted / row.value - 1), low <= row.value <= high))
    rows = []
    for name, members in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        errors = sorted(error for error, _ in members)
        if len(errors) >= LEAST_GROUP:
            rows.append({"scheme": scheme, "group": name, "rows": len(errors), "median": statistics.median(errors),
                         "mean": statistics.fmean(errors), "p90": errors[int(0.9 * (len(errors) - 1))],
                         "inside": statistics.fmean(inside for _, inside in members)})  # fmt: skip
    return rows


def main() -> None:
    """Fit, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs=3, metavar=("MODEL", "SCHEME", "FOLD"), help=argparse.SUPPRESS)
    parser.add_argument("--fits", type=Path, help="folder of the fits, kept from one run to the next")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.judge:
        judge_fold(Path(args.judge[0]), args.judge[1], int(args.judge[2]))
        return
    rows = []
    with tempfile.TemporaryDirectory() as passing:
        folder = args.fits or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        for scheme in ("GPU", "source"):
            control = summary(refitted(scheme, [CONTROL], folder), scheme)[0] | {"group": "all, control"}
            first, *others = summary(refitted(scheme, range(FOLDS), folder), scheme)
            rows += [first, control, *others]
    rounded = [{key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()} for row in rows]
    args.output.write_text("[\n" + ",\n".join(json.dumps(row) for row in rounded) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
