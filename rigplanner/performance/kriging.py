"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted by `tools/fit_speed_model.py` on rows whose whole GPU, generation, source, stack or network was left out.
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.
"""

import heapq
import math
from collections.abc import Iterable, Sequence
from operator import mul

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
BITS = tuple(1 << i for i in range(len(WORDS)))
REMEMBERED = 400_000
"""Pairs of points whose covariance is kept."""
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
    """The covariance of points under one set of constants, with what was computed before."""

    def __init__(self, model: SpeedModel) -> None:
        v = model.variances
        self._model, self.noise = model, v["noise"]
        self._terms = [(sum(1 << WORDS.index(key) for key in keys), FACTORS.index(factor), v[name])
                       for name, (keys, factor) in TERMS.items()]  # fmt: skip
        self._sums: dict[int, tuple[float, ...]] = {}
        self._similar: dict[tuple[tuple[float, ...], tuple[float, ...]], tuple[float, float]] = {}
        self._pairs: dict[tuple[Point, Point], float] = {}
        self._named: dict[Point, tuple[object, ...]] = {}
        self._constant = sum(v[name] for name, (_, factor) in TERMS.items() if factor != "m" and name not in UNSHARED)
        self._per_count = sum(v[name] for name, (_, factor) in TERMS.items() if factor == "m")
        self._released = v["release"] + v["release_model"]

    def _shared(self, bits: int) -> tuple[float, ...]:
        """Sums of the variances by factor, of all terms whose words are among those that two points share."""
        found = self._sums.get(bits)
        if found is None:
            sums = [0.0] * len(FACTORS)
            for needed, factor, variance in self._terms:
                if bits & needed == needed:
                    sums[factor] += variance
            found = self._sums[bits] = tuple(sums)
        return found

    def _similarity(self, a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float]:
        found = self._similar.get((a, b))
        if found is None:
            squares = [(x - y) ** 2 for x, y in zip(a, b, strict=True)]
            wide, narrow = sum(map(mul, self._model.wide, squares)), sum(map(mul, self._model.narrow, squares))
            found = self._similar[(a, b)] = 1 / (1 + wide), math.exp(-0.5 * narrow)
            if len(self._similar) > REMEMBERED:
                self._similar.clear()
        return found

    def _words(self, point: Point) -> tuple[object, ...]:
        found = self._named.get(point)
        if found is None:
            if len(self._named) > REMEMBERED:
                self._named.clear()
            found = self._named[point] = tuple(getattr(point, name) for name in WORDS)
        return found

    def covariance(self, a: Point, b: Point) -> float:
        """Return the covariance of two rows, without the noise of a measurement."""
        return self.covariances(a, (b,), told=True)[0]

    def covariances(self, a: Point, points: Iterable[Point], alike: bool = False, told: bool = False) -> list[float]:
        """Return the covariance of one point with each of many, without the noise of a measurement; `alike` as if they had the same
        batch, length and number of GPUs, `told` where `a` is a row too: empty words of a job are shared with nobody."""
        d, exp, shared, similar = self._model.distances, math.exp, self._shared, dict[str, tuple[float, float]]()
        per_year, per_count, per_batch, per_token, per_written = (d[k] for k in ("year", "count", "batch", "tokens", "written"))
        words = self._words(a) if told else tuple(word if word != "" else None for word in self._words(a))
        found = []
        for b in points:
            bits = 0
            for bit, own, other in zip(BITS, words, self._words(b), strict=True):
                if own == other:
                    bits |= bit
            s = shared(bits)
            if b.gpu not in similar:
                similar[b.gpu] = self._similarity(a.silicon, b.silicon)
            wide, narrow = similar[b.gpu]
            total = s[0] + s[1] * wide + s[2] * narrow + s[8] * (b.count if alike else min(a.count, b.count))
            if s[7]:
                total += s[7] * exp(-per_year * (a.year - b.year) ** 2)
            if alike:
                found.append(total + s[3] + s[4] + s[5] + s[6])
                continue
            if s[3] or s[5] or s[4]:
                near = exp(-per_count * (a.count - b.count) ** 2)
                total += s[5] * near + (s[3] * near + s[4]) * exp(-per_batch * (a.batch - b.batch) ** 2)
            if s[6]:
                total += s[6] * exp(-per_token * (a.tokens - b.tokens) ** 2 - per_written * (a.written - b.written) ** 2)
            found.append(total)
        return found

    def known_covariance(self, a: Point, b: Point) -> float:
        """Return the same, remembered: for pairs of measured rows, which meet again and again."""
        found = self._pairs.get((a, b))
        if found is None:
            if len(self._pairs) > REMEMBERED:
                self._pairs.clear()
            found = self._pairs[(a, b)] = self._pairs[(b, a)] = self.covariance(a, b)
        return found

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return self._constant + self._per_count * point.count + (self._released if point.release else 0.0)


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the factor of their covariance, and its answer to their residuals."""

    points: tuple[Point, ...]
    lower: list[list[float]]
    answer: list[float]

    def correct(self, field: Field, point: Point, own: float) -> Corrected:
        """Return the correction of a point; `own` is the variance that no row can share, noise of a measurement included."""
        near = field.covariances(point, self.points)
        weights = _solve(self.lower, near)
        spread = field.prior(point) + own - sum(map(mul, near, weights))
        return Corrected(sum(map(mul, near, self.answer)), math.sqrt(max(spread, own)), tuple(weights))


def nearest(field: Field, point: Point, rows: Sequence[Point], most: int) -> list[int]:
    """Return the places of the `most` rows of the largest covariance with the point. They are chosen as if they had its batch,
    length and number of GPUs, so that all jobs of a cell lean on the same ones."""
    if len(rows) <= most:
        return list(range(len(rows)))
    near = field.covariances(point, rows, alike=True)
    return heapq.nlargest(most, range(len(rows)), key=near.__getitem__)


def neighbours(field: Field, points: Sequence[Point], residuals: Sequence[float]) -> Neighbours:
    """Return rows as neighbours."""
    lower = _factorise(points, field)
    return Neighbours(tuple(points), lower, _solve(lower, residuals))


def _factorise(rows: Sequence[Point], field: Field) -> list[list[float]]:
    """The lower triangle of the Cholesky factor of the rows' covariance with noise on its diagonal."""
    known, lower = field.known_covariance, list[list[float]]()
    for i, row in enumerate(rows):
        line: list[float] = []
        for j in range(i):
            above = lower[j]
            line.append((known(row, rows[j]) - sum(map(mul, line, above))) / above[j])
        pivot = known(row, row) + field.noise - sum(map(mul, line, line))
        line.append(math.sqrt(max(pivot, field.noise / 4)))
        lower.append(line)
    return lower


def _solve(lower: list[list[float]], right: Sequence[float]) -> list[float]:
    """Solve L L' x = right for a lower triangle L."""
    solution = list[float]()
    for line, value in zip(lower, right, strict=True):
        solution.append((value - sum(map(mul, line, solution))) / line[-1])
    for i in range(len(right) - 1, -1, -1):
        line = lower[i]
        solution[i] = found = solution[i] / line[-1]
        for j in range(i):
            solution[j] -= line[j] * found
    return solution
