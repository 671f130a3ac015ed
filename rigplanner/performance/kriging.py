"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted by `tools/fit_speed_model.py` on rows whose whole GPU, generation, source, stack or network was left out.
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter, eq, mul

from msgspec import Struct

from rigplanner.performance.constants import SpeedModel

TERMS: dict[str, tuple[tuple[str, ...], str]] = {
    "family": (("family",), ""), "task": (("task",), ""), "model": (("model",), ""), "stack_model": (("stack", "model"), ""),
    "family_kind": (("family", "kind", "task"), ""), "stack_kind": (("stack", "kind", "task"), ""),
    "cell": (("stack", "model", "precision", "task"), ""),
    "silicon_task": (("task", "precision"), "w"), "silicon_stack": (("stack", "precision"), "w"),
    "silicon_model": (("stack", "model"), "w"), "silicon_cell": (("stack", "model", "precision", "task"), "n"),
    "row": (("stack", "model", "precision", "task", "gpu"), "bc"),
    "row_batch": (("stack", "model", "precision", "task", "gpu"), "b"),
    "tokens": (("stack", "model"), "t"), "release": (("stack", "release"), ""), "year_stack": (("stack",), "y"),
    "year_model": (("stack", "model"), "y"), "data": (("stack", "data"), ""),
    "scale_stack": (("stack", "lane"), "m"), "scale_gpu": (("stack", "gpu", "link"), "m"),
}  # fmt: skip
"""Term of the covariance -> what two rows must share, and the factors that it falls with: distance of (w)ide and (n)arrow silicon,
(b)atch, (c)ount, (t)okens, (y)ear of the stack; (m): it grows with the logarithm of the smaller count, 0 on one GPU."""
WORDS = ("stack", "family", "model", "task", "precision", "gpu", "link", "lane", "release", "data", "kind")
_words = attrgetter(*WORDS)
_numbers: dict[tuple[object, ...], int] = {}
_next = itertools.count()
REMEMBERED_ROWS, REMEMBERED_SILICON, REMEMBERED_WORDS = 4_000, 1_000, 1_000
"""Measured rows whose covariances with others are kept, kinds of silicon whose likeness to others is, and words of jobs whose
shares with rows are."""
FACTORS = ("", "w", "n", "bc", "b", "t", "y", "m")
NO_BATCH = -100.0
"""Stands for the logarithm of a batch that nobody named: as far from every real one as can be, and equal to itself."""


class Point(Struct, frozen=True, cache_hash=True, dict=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `release` is the version of the stack,
    empty where unknown (and then shared with nobody); `data` says whether samples were real or synthetic.
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
    release: str
    data: str
    silicon: tuple[float, ...]
    count: float
    tokens: float
    written: float
    year: float
    batch: float

    @cached_property
    def words(self) -> tuple[object, ...]:
        """What rows may share by name, in the order of `WORDS`."""
        return _words(self)

    @cached_property
    def sort(self) -> int:
        """A number for the words of a row: looked up faster than they are compared."""
        return _numbers.setdefault(self.words, next(_next))

    @cached_property
    def chip(self) -> int:
        """A number for the silicon of a row."""
        return _numbers.setdefault(self.silicon, next(_next))


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


Head = tuple[float, float, tuple[float, ...]]
"""What two points share whatever their sizes are, the same by the age of their stacks, and the sums of variances by factor."""


class Field:
    """The covariance of points under one set of constants, with what was computed before. Of the words of a job only those count
    that some of the `rows` know."""

    def __init__(self, model: SpeedModel, rows: Sequence[Point]) -> None:
        v = model.variances
        self._model, self.noise, self._per_year = model, v["noise"], model.distances["year"]
        self._terms = [
            ([WORDS.index(key) for key in keys], FACTORS.index(factor), v[name]) for name, (keys, factor) in TERMS.items()
        ]
        self._sums: dict[tuple[bool, ...], tuple[float, ...]] = {}
        self._similar: dict[tuple[float, ...], dict[int, tuple[float, float]]] = {}
        self._heard = [{row.words[n] for row in rows} - {""} for n in range(len(WORDS))]
        self._shares: dict[tuple[object, ...], dict[int, tuple[float, ...]]] = {}
        self._pairs: dict[Point, dict[Point, float]] = {}
        self._constant = sum(v[name] for name, (_, factor) in TERMS.items() if factor != "m" and name != "release")
        self._per_count = sum(v[name] for name, (_, factor) in TERMS.items() if factor == "m")
        self._released = v["release"]

    def _shared(self, equal: tuple[bool, ...]) -> tuple[float, ...]:
        """Sums of the variances by factor, of all terms whose words are among those that two points share."""
        sums = [0.0] * len(FACTORS)
        for needed, factor, variance in self._terms:
            if all(equal[word] for word in needed):
                sums[factor] += variance
        found = self._sums[equal] = tuple(sums)
        return found

    def _similarity(self, a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float]:
        squares = [(x - y) ** 2 for x, y in zip(a, b, strict=True)]
        wide, narrow = sum(map(mul, self._model.wide, squares)), sum(map(mul, self._model.narrow, squares))
        return 1 / (1 + wide), math.exp(-0.5 * narrow)

    def covariance(self, a: Point, b: Point) -> float:
        """Return the covariance of two rows, without the noise of a measurement."""
        return self.covariances(a, (b,), self._heads(a, a.words, (b,), {}, {}))[0]

    def _shares_of(self, words: tuple[object, ...]) -> dict[int, tuple[float, ...]]:
        """What is known of the sums of variances that the words of a job share with sorts of rows."""
        if len(self._shares) > REMEMBERED_WORDS:
            self._shares.clear()
        return self._shares.setdefault(words, {})

    def _similar_to(self, silicon: tuple[float, ...]) -> dict[int, tuple[float, float]]:
        """What is known of the likeness of one silicon to others."""
        if len(self._similar) > REMEMBERED_SILICON:
            self._similar.clear()
        return self._similar.setdefault(silicon, {})

    def heads(self, job: Point, points: Iterable[Point]) -> list[Head]:
        """Return what a job shares with each of many rows whatever their sizes are."""
        words = self.words_told(job)
        return self._heads(job, words, points, self._shares_of(words), self._similar_to(job.silicon))

    def _heads(
        self,
        a: Point,
        words: tuple[object, ...],
        points: Iterable[Point],
        shares: dict[int, tuple[float, ...]],
        similar: dict[int, tuple[float, float]],
    ) -> list[Head]:
        """What a point of these words shares with each of many; `shares` and `similar` keep it by sort and chip."""
        exp, per_year, year = math.exp, self._per_year, a.year
        found = []
        for b in points:
            s = shares.get(b.sort)
            if s is None:
                s = shares[b.sort] = self._sums_of(words, b.words)
            near = similar.get(b.chip)
            if near is None:
                near = similar[b.chip] = self._similarity(a.silicon, b.silicon)
            fresh = s[6] * exp(-per_year * (year - b.year) ** 2) if s[6] else 0.0
            found.append((s[0] + s[1] * near[0] + s[2] * near[1], fresh, s))
        return found

    def _sums_of(self, words: tuple[object, ...], others: tuple[object, ...]) -> tuple[float, ...]:
        equal = tuple(map(eq, words, others))
        return self._sums.get(equal) or self._shared(equal)

    def words_told(self, job: Point) -> tuple[object, ...]:
        """Return the words of a job; those that it does not tell, or that no row knows, it shares with nobody."""
        return tuple([word if word in heard else None for word, heard in zip(job.words, self._heard, strict=True)])

    def pool(self, words: tuple[object, ...], points: Sequence[Point], most: int) -> "Pool":
        """Return what a job of these words shares with rows to choose from, without those that `most` others surpass whatever the
        silicon and the year of the job are."""
        shares, found = self._shares_of(words), []
        for place, b in enumerate(points):
            s = shares.get(b.sort)
            if s is None:
                s = shares[b.sort] = self._sums_of(words, b.words)
            found.append((s[0] + s[7] * b.count + s[3] + s[4] + s[5], s[1], s[2], s[6], b.chip, b.year, place))
        least = sorted((shared[0] for shared in found), reverse=True)[:most][-1] if found else 0.0
        found = [shared for shared in found if shared[0] + shared[1] + shared[2] + shared[3] >= least]
        kept = [points[shared[-1]] for shared in found]
        return Pool(tuple({b.chip: b.silicon for b in kept}.items()), tuple({b.year for b in kept}), found)

    def nearest(self, job: Point, pool: "Pool", most: int) -> list[int]:
        """Return the places of the `most` rows of a pool of the largest covariance with a job. They are chosen as if they had its
        batch, length and number of GPUs, so that all jobs of a cell lean on the same ones."""
        similar, per_year, year = self._similar_to(job.silicon), self._per_year, job.year
        for chip, silicon in pool.chips:
            if chip not in similar:
                similar[chip] = self._similarity(job.silicon, silicon)
        fresh = {other: math.exp(-per_year * (year - other) ** 2) for other in pool.years}
        alike = [still + wide * similar[chip][0] + narrow * similar[chip][1] + lasting * fresh[then]
                 for still, wide, narrow, lasting, chip, then, _ in pool.shared]  # fmt: skip
        best = sorted(range(len(alike)), key=alike.__getitem__, reverse=True)[:most]
        return [pool.shared[number][-1] for number in best]

    def covariances(self, a: Point, points: Iterable[Point], heads: Iterable[Head]) -> list[float]:
        """Return the covariance of one point with each of many, without the noise of a measurement."""
        d, exp = self._model.distances, math.exp
        per_count, per_batch, per_token, per_written = (d[k] for k in ("count", "batch", "tokens", "written"))
        count, batch, tokens, written = a.count, a.batch, a.tokens, a.written
        found = []
        for b, (still, fresh, s) in zip(points, heads, strict=True):
            total = still + s[7] * min(count, b.count) + fresh
            if s[3] or s[4]:
                near = exp(-per_count * (count - b.count) ** 2)
                total += (s[3] * near + s[4]) * exp(-per_batch * (batch - b.batch) ** 2)
            if s[5]:
                total += s[5] * exp(-per_token * (tokens - b.tokens) ** 2 - per_written * (written - b.written) ** 2)
            found.append(total)
        return found

    def known_covariances(self, a: Point, points: Iterable[Point]) -> list[float]:
        """Return the covariance of a measured row with others, remembered: they meet again and again."""
        if a not in self._pairs and len(self._pairs) > REMEMBERED_ROWS:
            self._pairs.clear()
        pairs = self._pairs.setdefault(a, {})
        found = []
        for b in points:
            value = pairs.get(b)
            if value is None:
                value = pairs[b] = self._pairs.get(b, {}).get(a) or self.covariance(a, b)
            found.append(value)
        return found

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return self._constant + self._per_count * point.count + (self._released if point.release else 0.0)


class Pool(Struct, frozen=True):
    """Rows that a job may lean on: their chips, their years, and of each row what it shares with the job whatever the silicon is,
    what with like silicon (wide, narrow) and with stacks of like age, chip, year, and its place among all."""

    chips: tuple[tuple[int, tuple[float, ...]], ...]
    years: tuple[float, ...]
    shared: list[tuple[float, float, float, float, int, float, int]]


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the factor of their covariance, and its answer to their residuals."""

    points: tuple[Point, ...]
    lower: list[list[float]]
    answer: list[float]

    def correct(self, field: Field, point: Point, heads: Sequence[Head], own: float) -> Corrected:
        """Return the correction of a point that shares `heads` with the rows; `own` is the variance that no row can share, noise of
        a measurement included."""
        near = field.covariances(point, self.points, heads)
        weights = _solve(self.lower, near)
        spread = field.prior(point) + own - sum(map(mul, near, weights))
        return Corrected(sum(map(mul, near, self.answer)), math.sqrt(max(spread, own)), tuple(weights))


def neighbours(field: Field, points: Sequence[Point], residuals: Sequence[float]) -> Neighbours:
    """Return rows as neighbours."""
    lower = _factorise(points, field)
    return Neighbours(tuple(points), lower, _solve(lower, residuals))


def _factorise(rows: Sequence[Point], field: Field) -> list[list[float]]:
    """The lower triangle of the Cholesky factor of the rows' covariance with noise on its diagonal."""
    lower = list[list[float]]()
    for i, row in enumerate(rows):
        known, line = field.known_covariances(row, rows[: i + 1]), list[float]()
        for near, above in zip(known, lower, strict=False):
            line.append((near - sum(map(mul, line, above))) / above[-1])
        pivot = known[i] + field.noise - sum(map(mul, line, line))
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
