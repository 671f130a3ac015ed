"""Fit the multipliers of the speed model's physics to the measured rows, beginning at what is known
before any row is seen.

python -m tools.fit_speed_model -o speed_model.json [--folds FOLDER]

Some minutes of one core. Multipliers, normal in the logarithm about what is expected, are found by
Gauss and Newton's method under the covariances of kriging that ship, the slopes by asking the
program itself with each multiplier moved a little. Six fits, each without a third of the GPUs or of
the sources; what is written is the mean of the six.

The multipliers that ship are older, of several rounds of fits with every row in view. 291 rows that
are no anchors they miss by 21.0 % in the median and 38.5 in the mean, those written here by 21.3
and 39.5, the mean of both by 20.1 and 38.4; where the GPU of a row is left out of 5,132, by 9.3 and
15.3, 10.0 and 15.5, 9.6 and 15.1. The covariances that ship were moved by gradient descent on the
predictive likelihood and four times the absolute error of rows predicted from their nearest as the
program does it, without their GPU, source, network or stack: once for each half of these groups,
judged on the other, and the geometric mean taken. Seven further terms (of networks, tasks, silicon
of a stack or a network, data, links of a GPU) and terms of GPU and kind, silicon and kind, batch
and kind, stack and kind gained nothing on halves that they were not fitted to; nor did terms
weighted by the shares of a job's time (arithmetic, traffic, host, exchange), a bias of each source,
or robust weights (Student t) on left-out rows. A term of stack, network and task that falls with
the arithmetic of a step gains 0.3 points in the mean where a row is left out and nothing else."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance import roofline, serving
from rigplanner.performance.anchors.anchors import place
from rigplanner.performance.anchors.kriging import Kernel, columns_of
from rigplanner.performance.constants import Physics, SpeedModel, speed_model
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import modelled_samples_per_second
from rigplanner.performance.several_gpus import scaling
from tools.speed_refitted import FOLDS, dealt_by, fit_of, fold_of

Floats = np.ndarray[Any, np.dtype[np.float64]]

SPREADS = {
    "matrix": 0.3,
    "generation": 0.25,
    "exchange": 0.6,
    "kind_matrix": 0.6,
    "kind_traffic": 0.6,
    "launch": 0.7,
    "kind_launch": 0.5,
    "generation_traffic": 0.15,
    "update": 0.7,
}
"""Tables of multipliers, and the usual deviation of their logarithms from what is expected."""
SPREAD = 0.7
"""The same of single constants, on the scale that they are moved on."""
EXPECTED = {
    "generation.kepler": 0.74,
    "power_slope": 0.5,
    "power_vector": 0.3,
    "watt_rate": 0.8,
    "clock_matrix": 0.3,
    "clock_vector": 0.3,
    "youth": 0.2,
    "crowd": 0.3,
    "crowd_staged": 1.0,
    "overlap": 0.6,
    "last_bucket": 0.15,
}
"""Constants that are not 1 before any row is seen: a core of Maxwell does 1.35 times the work of
one of Kepler (NVIDIA, GeForce GTX 750 Ti white paper, 2014); clocks under load lie nearer to boost
than to base."""
HELD = {"kind_matrix.moe": 0.4, "generation.cdna3": 0.65}
"""Shares of the matrix rate that are set, not fitted. For served experts only three rows of one
machine with a slow host speak (single products of few tokens per expert reach a third to a half of
what those of dense models do); for CDNA3 one row of inference, while in training an MI300X gave 250
TFLOPS where an H100 gave 345 (GPT-2 XL in FP8) and 474 where an H200 gave 898 (Llama 3 8B, FSDP),
by issues 72 and 79 of ROCm/TransformerEngine."""
SHARES, EXPONENTS = (
    ("power_slope", "power_vector", "overlap"),
    ("watt_era", "crowd", "crowd_staged"),
)
SLOPE_STEP, MOST_MOVE, MOVED, MOVES = 1e-4, 0.7, 0.8, 8
FREEDOM = 4.0
"""Degrees of freedom of the likelihood: fewer forgive outliers more."""
UNTRUSTED = 1e-8
"""Trust in a row that a fit leaves out."""


class Knob(Struct, frozen=True):
    """A constant of the physics that is fitted: `table` is empty where it stands alone. Its setting
    is 0 at what is expected."""

    table: str
    word: str
    expected: float
    scale: Literal["log", "logit", "plain"]
    spread: float

    def value(self, setting: float) -> float:
        """Return the constant at a setting."""
        if self.scale == "plain":
            return self.expected + setting
        if self.scale == "log":
            return self.expected * math.exp(setting)
        return 1 / (1 + math.exp(-setting) * (1 - self.expected) / self.expected)


def knobs(physics: Physics) -> list[Knob]:
    """Return all constants of the physics but those that are set."""
    found = []
    for name in Physics.__struct_fields__:
        held = getattr(physics, name)
        for word in held if isinstance(held, dict) else [""]:
            full = f"{name}.{word}" if word else name
            scale: Any = "logit" if name in SHARES else "plain" if name in EXPONENTS else "log"
            if full not in HELD:
                found.append(
                    Knob(
                        name if word else "",
                        word or name,
                        EXPECTED.get(full, 1.0),
                        scale,
                        SPREADS.get(name, SPREAD),
                    )
                )
    return found


def physics_at(each: Sequence[Knob], settings: Sequence[float]) -> Physics:
    """Return the physics with each constant at its setting."""
    found: dict[str, Any] = {name: {} for name in SPREADS}
    for full, value in HELD.items():
        table, _, word = full.partition(".")
        found[table][word] = value
    for knob, setting in zip(each, settings, strict=True):
        (found[knob.table] if knob.table else found)[knob.word] = knob.value(setting)
    return Physics(**found)


class Rows:
    """The measured rows but collectives: their jobs, their log speeds, their covariance and how far
    they usually scatter."""

    def __init__(self, rows: Sequence[Measured]) -> None:
        self.rows = [row for row in rows if row.workload.task != "collective"]
        zoo, model = shipped_zoo(), speed_model()
        self.jobs: list[Job] = [
            read_job(row.workload, find_gpu(row.gpu), row.count, row.nodes, row.link, zoo)
            for row in self.rows
        ]
        self.measured = np.log(
            [
                samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)
                for job, row in zip(self.jobs, self.rows, strict=True)
            ]
        )
        points = [place(job) for job in self.jobs]
        self.usual = np.array([model.scattered(point.family, point.kind) for point in points])
        columns = columns_of(points, {})
        each = [Kernel(model).matrix(columns.taken([n]), columns)[0] for n in range(len(points))]
        self.shared, self.noise = np.stack(each), model.variances["noise"]

    def speeds(self, physics: Physics) -> Floats:
        """Return the log speeds of all rows under a physics."""
        tried, modules = (
            msgspec.structs.replace(speed_model(), physics=physics),
            (roofline, scaling, serving),
        )
        for module in modules:
            vars(module)["speed_model"] = lambda: tried
        try:
            return np.log([modelled_samples_per_second(job) for job in self.jobs])
        finally:
            for module in modules:
                vars(module)["speed_model"] = speed_model

    def slopes(self, each: Sequence[Knob], settings: Floats) -> tuple[Floats, Floats]:
        """Return the log speeds, and their slopes by each setting."""
        speeds = self.speeds(physics_at(each, settings.tolist()))
        moved = [settings + SLOPE_STEP * (np.arange(len(each)) == i) for i in range(len(each))]
        columns = [
            (self.speeds(physics_at(each, one.tolist())) - speeds) / SLOPE_STEP for one in moved
        ]
        return speeds, np.stack(columns, 1)


def improve(
    rows: Rows, each: Sequence[Knob], settings: Floats, trust: Floats, kept: Floats
) -> tuple[Floats, Floats]:
    """Return settings moved towards what is most probable by the rows that are `kept`, and the
    trust in each row: those far from what the others tell count less (Student t)."""
    speeds, slope = rows.slopes(each, settings)
    spread = np.array([knob.spread for knob in each])
    free = slope * spread / rows.usual[:, None]
    residuals = (rows.measured - speeds + slope @ settings) / rows.usual
    inverse = np.linalg.inv(rows.shared + np.diag(rows.noise / np.where(kept, trust, UNTRUSTED)))
    best = np.linalg.solve(
        free.T @ inverse @ free + np.eye(len(each)), free.T @ (inverse @ residuals)
    )
    answer = inverse @ (residuals - free @ best)
    surprise = answer**2 / inverse.diagonal()
    moved = settings + MOVED * np.clip(spread * best - settings, -MOST_MOVE, MOST_MOVE)
    return moved, np.minimum(1.0, (FREEDOM + 1) / (FREEDOM + surprise))


def fit(rows: Rows, each: Sequence[Knob], kept: Floats) -> Floats:
    """Return the settings that the rows which are `kept` tell."""
    settings, trust = np.zeros(len(each)), np.ones(len(rows.rows))
    for _ in range(MOVES):
        settings, trust = improve(rows, each, settings, trust, kept)
    return settings


def shipped(each: Sequence[Knob], settings: Floats, provenance: str) -> SpeedModel:
    """Return the constants as they are shipped: all but the physics as they are."""
    rounded = [knob.value(setting) for knob, setting in zip(each, settings.tolist(), strict=True)]
    physics = msgspec.to_builtins(physics_at(each, settings.tolist()))
    for knob, value in zip(each, rounded, strict=True):
        (physics[knob.table] if knob.table else physics)[knob.word] = float(f"{value:.4g}")
    return msgspec.structs.replace(
        speed_model(), physics=msgspec.convert(physics, Physics), provenance=provenance
    )


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folds",
        type=Path,
        help="folder for the constants of each fold, which tools/speed_refitted.py judges",
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    rows, each = Rows(shipped_measured()), knobs(speed_model().physics)
    told = (
        f"tools/fit_speed_model.py: multipliers on {len(rows.rows)} rows, the mean of fits without"
        " a third of GPUs or of sources"
    )
    found = []
    for scheme in ("GPU", "source"):
        of = np.array([fold_of(dealt_by(scheme, row)) for row in rows.rows])
        for fold in range(FOLDS):
            found.append(fit(rows, each, of != fold))
            print(scheme, fold, flush=True)
            if args.folds:
                fit_of(args.folds, scheme, fold).write_bytes(
                    msgspec.json.encode(shipped(each, found[-1], told))
                )
    whole = shipped(each, np.mean(found, 0), told)
    args.output.write_text(json.dumps(msgspec.to_builtins(whole), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
