"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may share (stack, network, silicon,
machine, batch, link) and has a variance in squared log units. Variances and distances lie in `catalog/benchmarks/speed_model.json`,
fitted by `tools/fit_speed_model.py` on rows whose whole GPU, generation, source, stack or network was left out.
Method: Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest rows only.

Rows are met in groups: those that are alike but for network, GPU, batch and length share as much with a job as each other, so the
nearest are found among some tens of groups. Kept are the sums of variances by what two points share, and the covariances of pairs
of measured rows, which meet again and again.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter, eq, itemgetter, mul

from msgspec import Struct

from rigplanner.performance.constants import SpeedModel

TERMS: dict[str, tuple[tuple[str, ...], str]] = {
    "family": (("family",), ""), "task": (("task",), ""), "model": (("model",), ""), "stack_model": (("stack", "model"), ""),
    "family_kind": (("family", "kind", "task"), ""),
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
MODEL, CARD = WORDS.index("model"), WORDS.index("gpu")
_words = attrgetter(*WORDS)
_by_rank = itemgetter(0, 1)
_other_words = itemgetter(*(n for n in range(len(WORDS)) if n not in (MODEL, CARD)))
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


Sums = tuple[float, ...]
"""Variances that two points share, summed by factor in the order of `FACTORS`."""
Head = tuple[float, float, Sums]
"""What two points share whatever their sizes are, the same by the age of their stacks, and the sums of variances by factor."""
Group = tuple[float, Sums, int, float, list[int]]
"""Rows that share as much with a job as each other: how much if they had its batch and length, without silicon and year; the sums;
their chip and year, where these matter; and the places of the first of them in the pool."""
NO_CHIP, NO_YEAR = -1, 0.0


class Pool(Struct, frozen=True):
    """Rows that a job may lean on: their numbers in the order in which they are preferred, their groups, chips and years."""

    numbers: Sequence[int]
    groups: list[Group]
    chips: list[int]
    years: list[float]


class Field:
    """The covariance of points under one set of constants, among them the measured `rows`, known by their numbers. Of the words of
    a job only those count that some row knows."""

    def __init__(self, model: SpeedModel, rows: Iterable[Point]) -> None:
        v, d = model.variances, model.distances
        self.rows, self.noise, self._per_year = tuple(rows), v["noise"], d["year"]
        self._per_size = d["count"], d["batch"], d["tokens"], d["written"]
        self._stretch = tuple(tuple(map(math.sqrt, weights)) for weights in (model.wide, model.narrow))
        self._terms = [
            ([WORDS.index(key) for key in keys], FACTORS.index(factor), v[name]) for name, (keys, factor) in TERMS.items()
        ]
        self._sums: dict[tuple[bool, ...], Sums] = {}
        self._pairs: list[dict[int, float]] = [{} for _ in self.rows]
        self._heard = [{row.words[n] for row in self.rows} - {""} for n in range(len(WORDS))]
        chips, settings = dict[tuple[float, ...], int](), dict[object, int]()
        self._met = [
            (settings.setdefault(_other_words(row.words), len(settings)), row.model, row.gpu,
             chips.setdefault(row.silicon, len(chips)), row.year, row.count)
            for row in self.rows
        ]  # fmt: skip
        self._chips = [self._stretched(silicon) for silicon in chips]
        self._constant = sum(v[name] for name, (_, factor) in TERMS.items() if factor != "m" and name != "release")
        self._per_count = sum(v[name] for name, (_, factor) in TERMS.items() if factor == "m")
        self._released = v["release"]

    def _shared(self, words: tuple[object, ...], others: tuple[object, ...]) -> Sums:
        """The sums of the variances of all terms whose words are among those that two points share."""
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

    def words_told(self, job: Point) -> tuple[object, ...]:
        """Return the words of a job; those that it does not tell, or that no row knows, it shares with nobody."""
        return tuple([word if word in heard else None for word, heard in zip(job.words, self._heard, strict=True)])

    def pool(self, words: tuple[object, ...], numbers: Sequence[int], most: int) -> Pool:
        """Return the rows of these numbers, in groups, for jobs of these words; of each group the first `most` count."""
        model, card, met = words[MODEL], words[CARD], self._met
        kin: dict[tuple[int, bool, bool], tuple[int, float, bool, bool]] = {}
        sums: dict[Sums, int] = {}
        places: dict[tuple[int, float, int, float], list[int]] = {}
        for place, number in enumerate(numbers):
            setting, of, on, chip, year, count = met[number]
            same = setting, of == model, on == card
            known = kin.get(same)
            if known is None:
                s = self._shared(words, self.rows[number].words)
                known = kin[same] = sums.setdefault(s, len(sums)), s[7], bool(s[1] or s[2]), bool(s[6])
            rank, per_count, by_chip, by_year = known
            key = rank, per_count * count, chip if by_chip else NO_CHIP, year if by_year else NO_YEAR
            found = places.get(key)
            if found is None:
                places[key] = [place]
            elif len(found) < most:
                found.append(place)
        ranked = tuple(sums)
        groups = [
            ((s := ranked[rank])[0] + counted + s[3] + s[4] + s[5], s, chip, year, found)
            for (rank, counted, chip, year), found in places.items()
        ]
        chips, years = {group[2] for group in groups} - {NO_CHIP}, {group[3] for group in groups} - {NO_YEAR}
        return Pool(numbers, groups, list(chips), list(years))

    def nearest(self, job: Point, pool: Pool, most: int) -> tuple[tuple[int, ...], list[Head]]:
        """Return the numbers of the `most` rows of a pool of the largest covariance with a job, and what it shares with them. They
        are chosen as if they had its batch, length and number of GPUs, so that all jobs of a cell lean on the same ones."""
        likeness, per_year, job_year = self._likeness(job.silicon, pool.chips), self._per_year, job.year
        fresh = {year: math.exp(-per_year * (job_year - year) ** 2) for year in pool.years}
        fresh[NO_YEAR] = 0.0
        shared = [still + s[1] * likeness[chip][0] + s[2] * likeness[chip][1] + s[6] * fresh[year]
                  for still, s, chip, year, _ in pool.groups]  # fmt: skip
        found = list[tuple[float, int, Head]]()
        for rank in sorted(range(len(shared)), key=shared.__getitem__, reverse=True):
            least = -shared[rank]
            if len(found) >= most and least > found[-1][0]:
                break
            _, s, chip, year, places = pool.groups[rank]
            head = s[0] + s[1] * likeness[chip][0] + s[2] * likeness[chip][1], s[6] * fresh[year], s
            found += [(least, place, head) for place in places]
        found.sort(key=_by_rank)
        return tuple([pool.numbers[place] for _, place, _ in found[:most]]), [head for _, _, head in found[:most]]

    def _likeness(self, silicon: tuple[float, ...], chips: Iterable[int]) -> dict[int, tuple[float, float]]:
        """How alike silicon is to that of rows, 0 to 1, by the wide and by the narrow distance."""
        dist, exp, known = math.dist, math.exp, self._chips
        wide, narrow = self._stretched(silicon)
        found = {n: (1 / (1 + dist(wide, known[n][0]) ** 2), exp(-0.5 * dist(narrow, known[n][1]) ** 2)) for n in chips}
        found[NO_CHIP] = 0.0, 0.0
        return found

    def covariances(self, a: Point, points: Iterable[Point], heads: Iterable[Head]) -> list[float]:
        """Return the covariance of one point with each of many, without the noise of a measurement."""
        exp, (per_count, per_batch, per_token, per_written) = math.exp, self._per_size
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

    def covariance(self, a: Point, b: Point) -> float:
        """Return the covariance of two rows, without the noise of a measurement."""
        s, year = self._shared(a.words, b.words), self._per_year * (a.year - b.year) ** 2
        (wide, narrow), others = self._stretched(a.silicon), self._stretched(b.silicon)
        like = 1 / (1 + math.dist(wide, others[0]) ** 2), math.exp(-0.5 * math.dist(narrow, others[1]) ** 2)
        return self.covariances(a, (b,), ((s[0] + s[1] * like[0] + s[2] * like[1], s[6] * math.exp(-year), s),))[0]

    def known_covariances(self, number: int, others: Sequence[int]) -> list[float]:
        """Return the covariances of a row with others, by their numbers."""
        known = self._pairs[number]
        for other in others:
            if other not in known:
                known[other] = self._pairs[other][number] = self.covariance(self.rows[number], self.rows[other])
        return [known[other] for other in others]

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return self._constant + self._per_count * point.count + (self._released if point.release else 0.0)


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the inverse of their covariance with noise on its diagonal, and its product with
    their residuals."""

    points: tuple[Point, ...]
    inverse: list[list[float]]
    answer: list[float]

    def mean(self, field: Field, point: Point, heads: Sequence[Head]) -> float:
        """Return the mean of the correction of a point that shares `heads` with the rows."""
        return float(sum(map(mul, field.covariances(point, self.points, heads), self.answer)))

    def correct(self, field: Field, point: Point, heads: Sequence[Head], own: float) -> Corrected:
        """Return the correction of a point that shares `heads` with the rows; `own` is the variance that no row can share, noise of
        a measurement included."""
        near = field.covariances(point, self.points, heads)
        weights = tuple([sum(map(mul, line, near)) for line in self.inverse])
        spread = field.prior(point) + own - sum(map(mul, near, weights))
        return Corrected(sum(map(mul, near, self.answer)), math.sqrt(max(spread, own)), weights)


def neighbours(field: Field, numbers: Sequence[int], residuals: Sequence[float]) -> Neighbours:
    """Return rows of a field as neighbours."""
    inverse = list[list[float]]()
    for place, number in enumerate(numbers):
        *near, variance = field.known_covariances(number, numbers[: place + 1])
        weights = [sum(map(mul, line, near)) for line in inverse]
        spread = max(variance + field.noise - sum(map(mul, near, weights)), field.noise / 4)
        for line, weight in zip(inverse, weights, strict=True):
            share = weight / spread
            line[:] = [x + share * other for x, other in zip(line, weights, strict=True)]
            line.append(-share)
        inverse.append([*[-weight / spread for weight in weights], 1 / spread])
    points = tuple([field.rows[number] for number in numbers])
    return Neighbours(points, inverse, [sum(map(mul, line, residuals)) for line in inverse])
