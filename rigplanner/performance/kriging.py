"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted by `tools/fit_speed_model.py` on rows whose whole GPU, generation, source, stack or network was left out.
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.
"""

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from rigplanner.performance.constants import SpeedModel

TERMS: dict[str, tuple[tuple[str, ...], str]] = {
    "offset": ((), ""), "stack": (("stack",), ""), "family": (("family",), ""), "model": (("model",), ""), "task": (("task",), ""),
    "kind": (("kind",), ""), "family_kind": (("family", "kind"), ""), "stack_kind": (("stack", "kind"), ""),
    "stack_model": (("stack", "model"), ""), "cell": (("stack", "model", "precision", "task"), ""),
    "stack_precision": (("stack", "precision", "task"), ""), "metric": (("stack", "model", "metric"), ""),
    "silicon_all": ((), "w"), "silicon_task": (("task", "precision"), "w"), "silicon_stack": (("stack", "precision"), "w"),
    "silicon_kind": (("stack", "precision", "kind", "task"), "w"), "silicon_model": (("stack", "model"), "w"),
    "silicon_cell": (("stack", "model", "precision", "task"), "n"), "row": (("stack", "model", "precision", "task", "gpu"), "bc"),
    "row_batch": (("stack", "model", "precision", "task", "gpu"), "b"), "machine": (("source", "gpu", "count"), ""),
    "machine_stack": (("stack", "gpu", "link"), "c"), "tokens": (("stack", "model"), "t"), "source": (("source",), ""),
    "release": (("stack", "release"), ""), "release_model": (("stack", "model", "release"), ""),
    "year_stack": (("stack",), "y"), "year_model": (("stack", "model"), "y"),
    "scale": (("lane",), "m"), "scale_stack": (("stack", "lane"), "m"), "scale_model": (("stack", "model", "lane"), "m"),
    "data": (("stack", "data"), ""), "scale_data": (("stack", "data"), "m"), "scale_model_data": (("stack", "model", "data"), "m"),
    "scale_gpu": (("stack", "gpu", "link"), "m"), "scale_cell": (("stack", "model", "precision", "gpu", "link"), "m"),
}  # fmt: skip
"""Term of the covariance -> what two rows must share, and the factors that it falls with: distance of (w)ide and (n)arrow silicon,
(b)atch, (c)ount, (t)okens, (y)ear of the stack; (m): it grows with the logarithm of the smaller count, 0 on one GPU."""
WORDS = (
    "stack",
    "family",
    "model",
    "kind",
    "task",
    "precision",
    "metric",
    "gpu",
    "link",
    "lane",
    "source",
    "release",
    "data",
    "count",
)
MODEL, GPU = WORDS.index("model"), WORDS.index("gpu")
ENOUGH = 3
"""Times as many rows of the same network or GPU as are wanted, above which no others are looked at."""
NUMBERS = ("batch", "count", "tokens", "written", "year")
FACTORS = ("", "w", "n", "bc", "b", "c", "t", "y", "m")
UNSHARED = ("noise", "source", "machine", "release", "release_model")
"""Variances that a job does not share with a row, or only where its release is told."""
NO_BATCH = -100.0
"""Stands for the logarithm of a batch that nobody named: as far from every real one as can be, and equal to itself."""


class Point(Struct, frozen=True, cache_hash=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `release` is the version of the stack and `source`
    who measured, both empty where unknown (and then shared with nobody); `data` says whether samples were real or synthetic.
    `silicon` holds the coordinates of the GPU; `lane` is the class of link of several GPUs, `year` that of the stack's release;
    `batch` is the log of the batch per GPU or `NO_BATCH`; `count` the log2 of the GPUs; `tokens` and `written` are logs too."""

    stack: str
    family: str
    model: str
    kind: str
    task: str
    precision: str
    metric: str
    gpu: str
    link: str
    lane: str
    source: str
    release: str
    data: str
    silicon: tuple[float, ...]
    count: float
    tokens: float
    written: float
    year: float
    batch: float


class Columns(Struct):
    """Points by column: numbers of their words, coordinates, and coordinates of their silicon, one line each."""

    words: Any
    numbers: Any
    silicon: Any

    def chosen(self, index: Any) -> "Columns":
        """Return the points at these places; an index of two dimensions gives them those."""
        return Columns(self.words[:, index], self.numbers[:, index], self.silicon[:, index])


class Corrected(Struct, frozen=True):
    """Mean and standard deviation of the log correction, and the weight of each row used, in their order."""

    mean: float
    deviation: float
    weights: tuple[float, ...]

    @property
    def factor(self) -> float:
        """What the modelled speed is multiplied with."""
        return math.exp(self.mean)

    def scaled(self, scatter: float) -> "Corrected":
        """Return the correction of jobs whose residuals are `scatter` times as large."""
        return Corrected(scatter * self.mean, scatter * self.deviation, self.weights)


class Field:
    """The covariance of points under one set of constants."""

    def __init__(self, model: SpeedModel) -> None:
        import numpy as np

        v, d = model.variances, model.distances
        self._known: tuple[dict[Any, int], ...] = tuple({} for _ in WORDS)
        self._bits = (1 << np.arange(len(WORDS))).astype(np.float32)
        shared = np.arange(1 << len(WORDS))
        self._sums = np.zeros((len(FACTORS), len(shared)))
        for name, (keys, factor) in TERMS.items():
            needed = sum(1 << WORDS.index(key) for key in keys)
            self._sums[FACTORS.index(factor), (shared & needed) == needed] += v[name]
        self._falls = -np.array([
            [d["batch"], d["count"], 0, 0, 0], [d["batch"], 0, 0, 0, 0], [0, d["count"], 0, 0, 0],
            [0, 0, d["tokens"], d["written"], 0], [0, 0, 0, 0, d["year"]],
        ])  # fmt: skip
        self._apart = np.array([model.wide, np.array(model.narrow) / 2])
        self.noise = v["noise"]
        self._constant = sum(v[name] for name, (_, factor) in TERMS.items() if factor != "m" and name not in UNSHARED)
        self._per_count = sum(v[name] for name, (_, factor) in TERMS.items() if factor == "m")
        self._released = v["release"] + v["release_model"]

    def rows(self, points: Sequence[Point]) -> Columns:
        """Return rows by column; their words get numbers."""
        import numpy as np

        words = [[known.setdefault(word, len(known)) if (word := getattr(point, name)) != "" else -1 for point in points]
                 for known, name in zip(self._known, WORDS, strict=True)]  # fmt: skip
        numbers = [[getattr(point, name) for point in points] for name in NUMBERS]
        silicon = np.array([point.silicon for point in points]).reshape(len(points), -1).T
        return Columns(np.array(words), np.array(numbers), silicon)

    def target(self, point: Point) -> Columns:
        """Return one point that is no row; words that no row has are equal to none."""
        import numpy as np

        words = [
            known.get(word, -2) if (word := getattr(point, name)) != "" else -2
            for known, name in zip(self._known, WORDS, strict=True)
        ]
        numbers = [getattr(point, name) for name in NUMBERS]
        return Columns(np.array(words)[:, None], np.array(numbers)[:, None], np.array(point.silicon)[:, None])

    def covariance(self, a: Columns, b: Columns) -> Any:
        """Return the covariance of the points of `a` with those of `b`, without the noise of a measurement."""
        import numpy as np

        alike = a.words == b.words
        shape = alike.shape[1:]
        shared = np.dot(self._bits, alike.reshape(len(WORDS), -1).astype(np.float32)).astype(np.intp)
        apart, silicon = (a.numbers - b.numbers).reshape(len(NUMBERS), -1), (a.silicon - b.silicon).reshape(len(a.silicon), -1)
        wide, narrow = np.dot(self._apart, silicon * silicon)
        factors = np.empty((len(FACTORS), len(shared)))
        factors[0] = 1.0
        np.divide(1.0, 1.0 + wide, out=factors[1])
        np.exp(-narrow, out=factors[2])
        np.exp(np.dot(self._falls, apart * apart), out=factors[3:8])
        factors[8] = np.minimum(a.numbers[1], b.numbers[1]).reshape(-1)
        factors *= self._sums[:, shared]
        return factors.sum(0).reshape(shape)

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return self._constant + self._per_count * point.count + (self._released if point.release else 0.0)


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the inverse of their covariance, and that times their residuals."""

    rows: Columns
    inverse: Any
    answer: Any

    def correct(self, field: Field, point: Point, own: float) -> Corrected:
        """Return the correction of a point; `own` is the variance that no row can share, noise of a measurement included."""
        near = field.covariance(field.target(point), self.rows)
        weights = self.inverse @ near
        spread = field.prior(point) + own - float(near @ weights)
        return Corrected(float(near @ self.answer), math.sqrt(max(spread, own)), tuple(weights.tolist()))


def neighbours(field: Field, point: Point, rows: Columns, residuals: Any, most: int) -> tuple[Any, Neighbours]:
    """Return the places of the `most` rows of the largest covariance with the point, and those rows. Rows are chosen as if they had
    the point's batch, length and number of GPUs, so that all jobs of a cell lean on the same ones."""
    import numpy as np

    target = field.target(point)
    kin = np.flatnonzero((rows.words[MODEL] == target.words[MODEL]) | (rows.words[GPU] == target.words[GPU]))
    some = rows.chosen(kin) if len(kin) >= ENOUGH * most else rows
    alike = some.numbers.copy()
    alike[:4] = np.array([point.batch, point.count, point.tokens, point.written])[:, None]
    near = field.covariance(target, Columns(some.words, alike, some.silicon))
    index = np.arange(len(near)) if len(near) <= most else np.argpartition(-near, most)[:most]
    index = index if some is rows else kin[index]
    chosen = rows.chosen(index)
    among = field.covariance(rows.chosen(index[:, None]), rows.chosen(index[None, :]))
    inverse = np.linalg.inv(among + field.noise * np.eye(len(index)))
    return index, Neighbours(chosen, inverse, inverse @ residuals[index])
