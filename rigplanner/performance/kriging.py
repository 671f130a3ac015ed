"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted on rows whose whole GPU, generation or source was left out (`rigplanner.performance.fit`).
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.
"""

import math
from collections.abc import Callable, Sequence
from operator import mul

from msgspec import Struct

from rigplanner.performance.constants import SpeedModel


class Point(Struct, frozen=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `silicon` holds the coordinates of the GPU;
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
    variant: str
    silicon: tuple[float, ...]
    batch: float | None
    count: float
    tokens: float
    written: float


Covariance = Callable[[Point, Point], float]


def silicon_similarity(model: SpeedModel) -> Callable[[Point, Point], tuple[float, float]]:
    """Return the function that gives the wide (rational quadratic) and narrow (squared exponential) similarity of two GPUs."""
    known: dict[tuple[tuple[float, ...], tuple[float, ...]], tuple[float, float]] = {}

    def similarity(a: Point, b: Point) -> tuple[float, float]:
        key = (a.silicon, b.silicon)
        found = known.get(key)
        if found is None:
            squares = [(x - y) ** 2 for x, y in zip(a.silicon, b.silicon, strict=True)]
            found = known[key] = (
                1 / (1 + sum(map(mul, model.wide, squares))),
                math.exp(-0.5 * sum(map(mul, model.narrow, squares))),
            )
            if len(known) > 50_000:
                known.clear()
        return found

    return similarity


def covariance_of(model: SpeedModel) -> Covariance:
    """Return the covariance function of two rows, without the noise of a measurement."""
    v, d, similar = model.variances, model.distances, silicon_similarity(model)

    def near_batch(a: Point, b: Point) -> float:
        if a.batch is None or b.batch is None:
            return float(a.batch is b.batch)
        return math.exp(-d["batch"] * (a.batch - b.batch) ** 2)

    def same_stack(a: Point, b: Point, wide: float, narrow: float, count: float, batch: float) -> float:
        total = v["stack"] + (v["variant"] if a.variant == b.variant else 0.0)
        same_precision, same_gpu, same_link = a.precision == b.precision, a.gpu == b.gpu, a.link == b.link
        if same_precision:
            total += v["stack_precision"] + v["silicon_stack"] * wide + (v["silicon_kind"] * wide if a.kind == b.kind else 0.0)
        if same_gpu:
            total += v["gpu_stack"] + (v["machine_stack"] * count if same_link else 0.0)
        if same_link:
            total += v["scale_stack"] * count
        if a.model == b.model:
            total += v["stack_model"] + v["silicon_model"] * wide + v["batch_model"] * batch
            total += v["scale_model"] * count if same_link else 0.0
            total += v["variant_model"] if a.variant == b.variant else 0.0
            total += v["metric"] if a.metric == b.metric else 0.0
            total += v["tokens"] * math.exp(-d["tokens"] * (a.tokens - b.tokens) ** 2 - d["written"] * (a.written - b.written) ** 2)
            if same_precision and a.task == b.task:
                total += v["cell"] + v["silicon_cell"] * narrow
                total += (v["row"] * count + v["row_batch"]) * batch if same_gpu else 0.0
        return total

    def covariance(a: Point, b: Point) -> float:
        wide, narrow = similar(a, b)
        count = math.exp(-d["count"] * (a.count - b.count) ** 2)
        batch = near_batch(a, b)
        total = v["offset"] + (v["family"] if a.family == b.family else 0.0) + (v["model"] if a.model == b.model else 0.0)
        if a.task == b.task:
            total += v["task"]
            total += v["kind_task"] + v["batch_kind"] * batch if a.kind == b.kind else 0.0
            if a.precision == b.precision:
                total += v["silicon_task"] * wide + (v["gpu_task"] if a.gpu == b.gpu else 0.0)
        if a.link == b.link:
            total += v["scale"] * count
        if a.source and a.source == b.source:
            total += v["source"] + (v["machine"] if a.gpu == b.gpu and a.count == b.count else 0.0)
        return total + same_stack(a, b, wide, narrow, count, batch) if a.stack == b.stack else total

    return covariance


class Corrected(Struct, frozen=True):
    """Mean and standard deviation of the log correction, and the weight of each row used, in their order."""

    mean: float
    deviation: float
    weights: tuple[float, ...]

    @property
    def factor(self) -> float:
        """What the modelled speed is multiplied with."""
        return math.exp(self.mean)


def krige(
    target: Point, rows: Sequence[Point], residuals: Sequence[float], covariance: Covariance, noise: float, own: float
) -> Corrected:
    """Return the correction of `target` from the rows and their residuals; `own` is the variance of the target's own part that no
    row can share (noise of its measurement included)."""
    prior = covariance(target, target) + own
    if not rows:
        return Corrected(0.0, math.sqrt(prior), ())
    near = [covariance(target, row) for row in rows]
    lower: list[list[float]] = []
    for i, row in enumerate(rows):
        line = [covariance(row, rows[j]) for j in range(i)]
        for j in range(i):
            line[j] = (line[j] - sum(map(mul, line[:j], lower[j]))) / lower[j][j]
        pivot = covariance(row, row) + noise - sum(x * x for x in line)
        lower.append([*line, math.sqrt(max(pivot, noise / 4))])
    weights = _solve(lower, near)
    mean = sum(map(mul, weights, residuals))
    spread = prior - sum(map(mul, weights, near))
    return Corrected(mean, math.sqrt(max(spread, own)), tuple(weights))


def _solve(lower: list[list[float]], right: list[float]) -> list[float]:
    """Solve L L' x = right for a lower triangle L."""
    size, forward = len(right), list[float]()
    for i, line in enumerate(lower):
        forward.append((right[i] - sum(map(mul, line[:i], forward))) / line[i])
    solution = [0.0] * size
    for i in range(size - 1, -1, -1):
        above = sum(lower[j][i] * solution[j] for j in range(i + 1, size))
        solution[i] = (forward[i] - above) / lower[i][i]
    return solution
