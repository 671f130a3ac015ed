"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted on rows whose whole GPU, generation or source was left out (`rigplanner.performance.fit`).
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.performance.constants import SpeedModel

REMEMBERED = 400_000
"""Pairs of points whose covariance is kept."""


class Point(Struct, frozen=True, cache_hash=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `release` is the
    version of the stack, empty where unknown. `silicon` holds the coordinates of the GPU;
    `batch` is the log of the batch per GPU or None; `count` the log2 of the GPUs; `tokens` and `written` are logs too."""

    stack: str
    family: str
    model: str
    kind: str
    task: str
    precision: str
    metric: str
    gpu: str
    link: str
    source: str
    release: str
    silicon: tuple[float, ...]
    batch: float | None
    count: float
    tokens: float
    written: float


def without_batch(model: SpeedModel) -> SpeedModel:
    """Return constants under which the size of a batch makes no distance."""
    return replace(model, distances={**model.distances, "batch": 0.0})


class Field:
    """The covariance of points under one set of constants, with what was computed before."""

    def __init__(self, model: SpeedModel) -> None:
        self._model = model
        self._similar: dict[tuple[tuple[float, ...], tuple[float, ...]], tuple[float, float]] = {}
        self._pairs: dict[tuple[Point, Point], float] = {}

    def similarity(self, a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float]:
        """Return the wide (rational quadratic) and narrow (squared exponential) similarity of two silicons."""
        found = self._similar.get((a, b))
        if found is None:
            squares = [(x - y) ** 2 for x, y in zip(a, b, strict=True)]
            wide, narrow = sum(map(mul, self._model.wide, squares)), sum(map(mul, self._model.narrow, squares))
            found = self._similar[(a, b)] = 1 / (1 + wide), math.exp(-0.5 * narrow)
            if len(self._similar) > REMEMBERED:
                self._similar.clear()
        return found

    def covariance(self, a: Point, b: Point) -> float:
        """Return the covariance of two points, without the noise of a measurement."""
        return self.covariances(a, (b,))[0]

    def known_covariance(self, a: Point, b: Point) -> float:
        """Return the same, remembered: for pairs of measured rows, which meet again and again."""
        found = self._pairs.get((a, b))
        if found is None:
            if len(self._pairs) > REMEMBERED:
                self._pairs.clear()
            found = self._pairs[(a, b)] = self._pairs[(b, a)] = self.covariance(a, b)
        return found

    def covariances(self, target: Point, points: Iterable[Point]) -> list[float]:
        """Return the covariance of one point with each of many."""
        v, similarity, silicon = self._model.variances, self.similarity, target.silicon
        offset, family, model, task, source, machine = (v[k] for k in ("offset", "family", "model", "task", "source", "machine"))
        silicon_task, same_stack = v["silicon_task"], self._within_stack(target)
        found, similar = [], dict[str, tuple[float, float]]()
        for point in points:
            if point.gpu not in similar:
                similar[point.gpu] = similarity(silicon, point.silicon)
            wide, narrow = similar[point.gpu]
            total = offset
            if point.family == target.family:
                total += family
            if point.model == target.model:
                total += model
            if point.task == target.task:
                total += task
                if point.precision == target.precision:
                    total += silicon_task * wide
            if target.source and point.source == target.source:
                total += source + (machine if point.gpu == target.gpu and point.count == target.count else 0.0)
            found.append(total + same_stack(point, wide, narrow) if point.stack == target.stack else total)
        return found

    def _within_stack(self, a: Point) -> Callable[[Point, float, float], float]:
        v, d, exp = self._model.variances, self._model.distances, math.exp
        per_batch, per_count, per_token, per_written = d["batch"], d["count"], d["tokens"], d["written"]
        stack, machine_stack, stack_model, metric, tokens = (
            v[k] for k in ("stack", "machine_stack", "stack_model", "metric", "tokens")
        )
        release, release_model = v["release"], v["release_model"]
        stack_precision, silicon_stack, silicon_kind = v["stack_precision"], v["silicon_stack"], v["silicon_kind"]
        silicon_model, cell, silicon_cell, row, row_batch = (
            v[k] for k in ("silicon_model", "cell", "silicon_cell", "row", "row_batch")
        )

        def covariance(b: Point, wide: float, narrow: float) -> float:
            total, same_precision = stack, a.precision == b.precision
            if same_precision:
                total += stack_precision + (silicon_stack + silicon_kind if a.kind == b.kind else silicon_stack) * wide
            near = exp(-per_count * (a.count - b.count) ** 2) if a.gpu == b.gpu else 0.0
            if near and a.link == b.link:
                total += machine_stack * near
            same_release = a.release == b.release and bool(a.release)
            if same_release:
                total += release
            if a.model != b.model:
                return total
            if same_release:
                total += release_model
            total += stack_model + silicon_model * wide + (metric if a.metric == b.metric else 0.0)
            total += tokens * exp(-per_token * (a.tokens - b.tokens) ** 2 - per_written * (a.written - b.written) ** 2)
            if same_precision and a.task == b.task:
                total += cell + silicon_cell * narrow
                if near:
                    batch = _near_batch(a.batch, b.batch, per_batch)
                    total += (row * near + row_batch) * batch
            return total

        return covariance


def _near_batch(a: float | None, b: float | None, per_batch: float) -> float:
    if a is None or b is None:
        return float(a is b)
    return math.exp(-per_batch * (a - b) ** 2)


class Corrected(Struct, frozen=True):
    """Mean and standard deviation of the log correction, and the weight of each row used, in their order."""

    mean: float
    deviation: float
    weights: tuple[float, ...]

    @property
    def factor(self) -> float:
        """What the modelled speed is multiplied with."""
        return math.exp(self.mean)


def factorise(rows: Sequence[Point], field: Field, noise: float) -> list[list[float]]:
    """Return the lower triangle of the Cholesky factor of the rows' covariance with `noise` on its diagonal."""
    known, lower = field.known_covariance, list[list[float]]()
    for i, row in enumerate(rows):
        line: list[float] = []
        for j in range(i):
            above = lower[j]
            line.append((known(row, rows[j]) - sum(map(mul, line, above))) / above[j])
        pivot = known(row, row) + noise - sum(map(mul, line, line))
        line.append(math.sqrt(max(pivot, noise / 4)))
        lower.append(line)
    return lower


def krige(
    target: Point, rows: Sequence[Point], residuals: Sequence[float], lower: list[list[float]], field: Field, own: float
) -> Corrected:
    """Return the correction of `target` from the rows, their residuals and their factor; `own` is the variance of the target's
    own part that no row can share (noise of its measurement included)."""
    prior = field.covariance(target, target) + own
    if not rows:
        return Corrected(0.0, math.sqrt(prior), ())
    near = field.covariances(target, rows)
    weights = _solve(lower, near)
    spread = prior - sum(map(mul, weights, near))
    return Corrected(sum(map(mul, weights, residuals)), math.sqrt(max(spread, own)), tuple(weights))


def _solve(lower: list[list[float]], right: list[float]) -> list[float]:
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
