"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may
share (stack, network, silicon, machine, batch, link) and has a variance in squared log units.
Variances and distances lie in `catalog/benchmarks/speed_model.json`, fitted to rows whose whole
GPU, source, stack or network was left out (how: `tools/fit_speed_model.py`). Method:
Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26, algorithm 2.1) on
the nearest rows only.

Rows are met by what they share with a job by name: those of the same words, silicon and year lie in
one spot. Kept are the sums of variances by what two points share, and the covariances of pairs of
measured rows, which meet again and again."""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter, eq, itemgetter, mul

from msgspec import Struct

from rigplanner.performance.constants import SpeedModel

TERMS: dict[str, tuple[tuple[str, ...], str]] = {
    "family": (("family",), ""),
    "family_kind": (("family", "kind", "task"), ""),
    "cell": (("stack", "model", "precision", "task"), ""),
    "silicon_task": (("task", "precision", "maker"), "w"),
    "silicon_cell": (("stack", "model", "precision", "task"), "n"),
    "row": (("stack", "model", "precision", "task", "silicon"), "bc"),
    "tokens": (("stack", "model"), "t"),
    "release": (("stack", "release"), ""),
    "year_stack": (("stack",), "y"),
    "year_model": (("stack", "model"), "y"),
    "scale_stack": (("stack", "lane"), "m"),
}
"""Term of the covariance -> what two rows must share, and the factors that it falls with: distance
of (w)ide and (n)arrow silicon, (b)atch, (c)ount, (t)okens, (y)ear of the stack; (m): it grows with
the logarithm of the smaller count, 0 on one GPU. Silicon and lane are no words: they are compared
where the distances are, in `covariance` and `covariances`."""
WORDS = ("stack", "family", "model", "kind", "task", "precision", "release", "maker")
BY_STACK = WORDS.index("model"), WORDS.index("release")
"""Words that no term knows but together with the stack."""
FACTORS = ("", "w", "n", "bc", "t", "y", "m")
NO_BATCH = -100.0
"""Stands for the logarithm of a batch that nobody named: as far from every real one as can be, and
equal to itself."""
NOBODY = math.nan
"""A word shared with nobody: equal to nothing, itself included."""
_words = attrgetter(*WORDS)


class Point(Struct, frozen=True, cache_hash=True, dict=True):
    """Where a row lies: what it shares with others by name, and its coordinates. `release` is the
    version of the stack, empty where unknown (and then shared with nobody); `data` says whether
    samples were real or synthetic. `maker` made the GPU, whose coordinates `silicon` holds; `lane`
    is the class of link of several GPUs, `year` that of the stack's release; `batch` is the log of
    the batch per GPU or `NO_BATCH`; `count` the log2 of the GPUs; `tokens` and `written` are logs
    too."""

    stack: str
    family: str
    model: str
    kind: str
    task: str
    precision: str
    lane: str
    release: str
    maker: str
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
        return tuple([word or NOBODY for word in _words(self)])


class Corrected(Struct, frozen=True):
    """Mean and standard deviation of the log correction, and the weight of each row used, in their
    order."""

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


Words = tuple[object, ...]
Sums = tuple[float, ...]
"""Variances that two points share, summed by factor in the order of `FACTORS`."""
Head = tuple[float, float, float, float]
"""What two points share whatever their sizes are, and what falls with the distance of batches,
falls with that of tokens, and grows with the number of GPUs."""
Spot = tuple[int, float, list[int]]
"""Rows of the same words: their chip, their year and their numbers."""
KEPT_SILICON = 1_000
NO_CHIP = -1
"""Stands for the chip of rows whose silicon does not matter."""


class Pool(Struct, frozen=True):
    """Rows that a job may lean on: what those of each setting share with it, and their spots; the
    chips and years among them."""

    settings: list[tuple[Sums, list[Spot]]]
    chips: set[int]
    years: set[float]


class Field:
    """The covariance of points under one set of constants, among them the measured `rows`, known by
    their numbers, and found by their words in `settings`."""

    def __init__(self, model: SpeedModel, rows: Iterable[Point]) -> None:
        v, d = model.variances, model.distances
        self.rows, self.noise, self._per_year = tuple(rows), v["noise"], d["year"]
        self._per_size = d["count"], d["batch"], d["tokens"], d["written"]
        self._stretch = tuple(
            tuple(map(math.sqrt, weights)) for weights in (model.wide, model.narrow)
        )
        self._terms = [
            ([WORDS.index(key) for key in keys if key in WORDS], FACTORS.index(factor), v[name])
            for name, (keys, factor) in TERMS.items()
        ]
        self._sums: dict[tuple[bool, ...], Sums] = {}
        self._pairs: list[dict[int, float]] = [{} for _ in self.rows]
        self._heard = {(row.stack, row.words[n]) for row in self.rows for n in BY_STACK}
        chips, spots = (
            dict[tuple[float, ...], int](),
            dict[Words, dict[tuple[int, float], list[int]]](),
        )
        for number, row in enumerate(self.rows):
            chip = chips.setdefault(row.silicon, len(chips))
            spots.setdefault(row.words, {}).setdefault((chip, row.year), []).append(number)
        self.settings = {
            words: [(*place, numbers) for place, numbers in of.items()]
            for words, of in spots.items()
        }
        self._chips = [self._stretched(silicon) for silicon in chips]
        self._alike: dict[tuple[float, ...], dict[int, tuple[float, float, bool]]] = {}
        self._constant = sum(
            v[name] for name, (_, factor) in TERMS.items() if factor != "m" and name != "release"
        )
        self._per_count = sum(v[name] for name, (_, factor) in TERMS.items() if factor == "m")
        self._released = v["release"]

    def _shared(self, words: Words, others: Words) -> Sums:
        """The sums of the variances of all terms whose words are among those that two points
        share."""
        equal = tuple(map(eq, words, others))
        known = self._sums.get(equal)
        if known is None:
            sums = [0.0] * len(FACTORS)
            for needed, factor, variance in self._terms:
                if all(equal[word] for word in needed):
                    sums[factor] += variance
            known = self._sums[equal] = tuple(sums)
        return known

    def _stretched(self, silicon: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
        """Where silicon lies when the wide and the narrow distance are plain ones."""
        return tuple([tuple(map(mul, stretch, silicon)) for stretch in self._stretch])

    def words_told(self, job: Point) -> Words:
        """Return the words of a job; a network or release of which its stack has no row it shares
        with nobody."""
        stack, *words = job.words
        return stack, *[
            word if n not in BY_STACK or (stack, word) in self._heard else NOBODY
            for n, word in enumerate(words, 1)
        ]

    def pool(self, words: Words, settings: Iterable[tuple[Words, list[Spot]]]) -> Pool:
        """Return the rows of these settings for jobs of these words: those that share as much are
        one setting, and one spot where silicon does not matter."""
        shared: dict[Sums, dict[tuple[int, float], list[int]]] = {}
        for others, spots in settings:
            sums = self._shared(words, others)
            known, by_chip = shared.setdefault(sums, {}), any(sums[1:4])
            for chip, year, numbers in spots:
                known.setdefault((chip if by_chip else NO_CHIP, year), []).extend(numbers)
        met = {place for spots in shared.values() for place in spots}
        found = [
            (sums, [(*place, numbers) for place, numbers in spots.items()])
            for sums, spots in shared.items()
        ]
        return Pool(found, {chip for chip, _ in met} - {NO_CHIP}, {year for _, year in met})

    def nearest(self, job: Point, pool: Pool, most: int) -> tuple[tuple[int, ...], list[Head]]:
        """Return the numbers of the `most` rows of a pool of the largest covariance with a job, and
        what it shares with them. They are chosen as if they had its batch, length and one GPU, so
        that all jobs of a cell lean on the same ones."""
        likeness, per_year, job_year = (
            self._likeness(job.silicon, pool.chips),
            self._per_year,
            job.year,
        )
        fresh = {year: math.exp(-per_year * (job_year - year) ** 2) for year in pool.years}
        ranked = list[tuple[float, Sums, int, float, list[int]]]()
        for sums, spots in pool.settings:
            still, by_wide, by_narrow, by_batch, by_tokens, by_year, _ = sums
            still += by_tokens
            ranked += [
                (
                    still
                    + by_wide * (like := likeness[chip])[0]
                    + by_narrow * like[1]
                    + by_batch * like[2]
                    + by_year * fresh[year],
                    sums,
                    chip,
                    year,
                    numbers,
                )
                for chip, year, numbers in spots
            ]
        ranked.sort(key=itemgetter(0), reverse=True)
        chosen, heads = list[int](), list[Head]()
        for share, sums, chip, _, numbers in ranked:
            taken, by_batch = numbers[: most - len(chosen)], sums[3] * likeness[chip][2]
            chosen += taken
            heads += [(share - by_batch - sums[4], by_batch, sums[4], sums[6])] * len(taken)
            if len(chosen) == most:
                break
        return tuple(chosen), heads

    def _likeness(
        self, silicon: tuple[float, ...], chips: set[int]
    ) -> dict[int, tuple[float, float, bool]]:
        """How alike silicon is to that of rows, 0 to 1, by the wide and by the narrow distance, and
        whether it is the same."""
        if len(self._alike) >= KEPT_SILICON:
            self._alike.clear()
        found = self._alike.setdefault(silicon, {NO_CHIP: (0.0, 0.0, False)})
        if missing := chips - found.keys():
            dist, exp, known = math.dist, math.exp, self._chips
            wide, narrow = place = self._stretched(silicon)
            for n in missing:
                far = known[n]
                found[n] = (
                    1 / (1 + dist(wide, far[0]) ** 2),
                    exp(-0.5 * dist(narrow, far[1]) ** 2),
                    place == far,
                )
        return found

    def covariances(self, a: Point, points: Iterable[Point], heads: Iterable[Head]) -> list[float]:
        """Return the covariance of one point with each of many, without the noise of a
        measurement."""
        exp, (per_count, per_batch, per_token, per_written) = math.exp, self._per_size
        count, batch, tokens, written, lane = a.count, a.batch, a.tokens, a.written, a.lane
        found = []
        for b, (total, by_batch, by_tokens, by_count) in zip(points, heads, strict=True):
            if by_batch:
                total += by_batch * exp(
                    -per_count * (count - b.count) ** 2 - per_batch * (batch - b.batch) ** 2
                )
            if by_tokens:
                total += by_tokens * exp(
                    -per_token * (tokens - b.tokens) ** 2 - per_written * (written - b.written) ** 2
                )
            if by_count and count and lane == b.lane:
                total += by_count * min(count, b.count)
            found.append(total)
        return found

    def covariance(self, a: Point, b: Point) -> float:
        """Return the covariance of two rows, without the noise of a measurement."""
        s, year = self._shared(a.words, b.words), self._per_year * (a.year - b.year) ** 2
        (wide, narrow), others = self._stretched(a.silicon), self._stretched(b.silicon)
        like = (
            1 / (1 + math.dist(wide, others[0]) ** 2),
            math.exp(-0.5 * math.dist(narrow, others[1]) ** 2),
        )
        head = s[0] + s[1] * like[0] + s[2] * like[1] + s[5] * math.exp(-year)
        return self.covariances(a, (b,), ((head, s[3] * (a.silicon == b.silicon), s[4], s[6]),))[0]

    def known_covariances(self, number: int, others: Sequence[int]) -> list[float]:
        """Return the covariances of a row with others, by their numbers."""
        known = self._pairs[number]
        for other in others:
            if other not in known:
                known[other] = self._pairs[other][number] = self.covariance(
                    self.rows[number], self.rows[other]
                )
        return [known[other] for other in others]

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return (
            self._constant
            + self._per_count * point.count
            + (self._released if point.release else 0.0)
        )


Triangle = list[list[float]]
"""Rows of a lower triangular matrix, each with the inverse of its diagonal at its end."""


def solved(lower: Triangle, values: Iterable[float]) -> list[float]:
    """Return the solution of a triangular system."""
    found = list[float]()
    for line, value in zip(lower, values, strict=True):
        found.append((value - sum(map(mul, line, found))) * line[-1])
    return found


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the Cholesky factor of their covariance with
    noise on its diagonal, the same turned about (its transpose from the last row to the first), and
    what the inverse of the covariance makes of their residuals."""

    points: tuple[Point, ...]
    lower: Triangle
    turned: Triangle
    answer: list[float]

    def mean(self, field: Field, point: Point, heads: Sequence[Head]) -> float:
        """Return the mean of the correction of a point that shares `heads` with the rows."""
        return float(sum(map(mul, field.covariances(point, self.points, heads), self.answer)))

    def correct(self, field: Field, point: Point, heads: Sequence[Head], own: float) -> Corrected:
        """Return the correction of a point that shares `heads` with the rows; `own` is the variance
        that no row can share, noise of a measurement included."""
        near = field.covariances(point, self.points, heads)
        half = solved(self.lower, near)
        spread = field.prior(point) + own - sum(map(mul, half, half))
        weights = solved(self.turned, reversed(half))[::-1]
        return Corrected(
            sum(map(mul, near, self.answer)), math.sqrt(max(spread, own)), tuple(weights)
        )


def neighbours(field: Field, numbers: Sequence[int], residuals: Sequence[float]) -> Neighbours:
    """Return rows of a field as neighbours."""
    lower: Triangle = []
    for place, number in enumerate(numbers):
        *near, variance = field.known_covariances(number, numbers[: place + 1])
        line = solved(lower, near)
        spread = max(variance + field.noise - sum(map(mul, line, line)), field.noise / 4)
        lower.append([*line, 1 / math.sqrt(spread)])
    turned = [[row[n] for row in lower[:n:-1]] + [lower[n][n]] for n in reversed(range(len(lower)))]
    answer = solved(turned, reversed(solved(lower, residuals)))[::-1]
    return Neighbours(tuple([field.rows[number] for number in numbers]), lower, turned, answer)
