"""Measured rows correct the model: simple kriging of the logarithm of measured over modelled speed.

The covariance of two rows is a sum of terms; each stands for something that two measurements may
share (stack, network, silicon, machine, batch, link) and has a variance in squared log units.
Variances and distances lie in `catalog/benchmarks/speed_model.json`, fitted to rows whose whole
GPU, source, stack or network was left out (how: `tools/fit_speed_model.py`). Method:
Gaussian-process regression (Rasmussen and Williams 2006, equations 2.25 and 2.26) on the nearest
rows only. With K the covariance of those rows with each other and the noise of a measurement on its
diagonal, k theirs with the job, and r their residuals:

    weights = K^-1 k        mean = r . weights        variance = prior - k . weights
"""

import math
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rigplanner.performance.anchors.points import WORDS, Corrected, Point
from rigplanner.performance.constants import SpeedModel

Floats = NDArray[np.floating[Any]]
Codes = NDArray[np.integer[Any]]

TERMS: dict[str, tuple[tuple[str, ...], str]] = {
    "family": (("family",), ""),
    "family_kind": (("family", "kind", "task"), ""),
    "cell": (("stack", "model", "precision", "task"), ""),
    "silicon_task": (("task", "precision", "maker"), "w"),
    "silicon_cell": (("stack", "model", "precision", "task"), "n"),
    "row": (("stack", "model", "precision", "task"), "b"),
    "tokens": (("stack", "model"), "t"),
    "release": (("stack", "release"), ""),
    "year_stack": (("stack",), "y"),
    "year_model": (("stack", "model"), "y"),
    "scale_stack": (("stack",), "m"),
}
"""Term of the covariance -> the words that two rows must share, and the factor that it falls with:
distance of (w)ide and (n)arrow silicon; (b)atch and count on equal silicon; (t)okens; (y)ear of the
stack; (m): it grows with the logarithm of the smaller count where the lanes are equal, 0 on one
GPU."""
FACTORS = ("", "w", "n", "b", "t", "y", "m")
SILICON = 8
"""Coordinates of a GPU."""
NOBODY = -1
"""Code of a word that is shared with nobody."""


class Columns(Struct, frozen=True):
    """n points as columns: `words` (8, n) holds codes in the order of `WORDS`, `NOBODY` where a
    word is shared with nobody; `chip` (n) is the row of `silicon` (chips, 8) in which a point
    lies; the others are (n) long and in the units of `Point`."""

    words: Codes
    lane: Codes
    chip: Codes
    silicon: Floats
    count: Floats
    tokens: Floats
    written: Floats
    year: Floats
    batch: Floats

    def taken(self, numbers: Any) -> "Columns":
        """Return some of the points, by their numbers."""
        return Columns(
            self.words[:, numbers],
            self.lane[numbers],
            self.chip[numbers],
            self.silicon,
            self.count[numbers],
            self.tokens[numbers],
            self.written[numbers],
            self.year[numbers],
            self.batch[numbers],
        )


def columns_of(points: list[Point], codes: dict[str, int]) -> Columns:
    """Return points as columns; words that `codes` lacks are added to it."""

    def code(word: str) -> int:
        return codes.setdefault(word, len(codes)) if word else NOBODY

    chips: dict[tuple[float, ...], int] = {}
    chip = [chips.setdefault(point.silicon, len(chips)) for point in points]
    figures = np.array(
        [(p.count, p.tokens, p.written, p.year, p.batch) for p in points], np.float64
    ).reshape(len(points), 5)
    return Columns(
        np.array([[code(getattr(point, word)) for point in points] for word in WORDS], np.int32),
        np.array([code(point.lane) for point in points], np.int32),
        np.array(chip, np.int32),
        np.array(list(chips), np.float64).reshape(-1, SILICON),
        *np.ascontiguousarray(figures.T),
    )


def equal_words(words: Codes, others: Codes) -> NDArray[np.uint8]:
    """Return which words (8, ...) points share with others, as the bits of a number: the first word
    is the highest bit."""
    equal: NDArray[np.uint8] = np.packbits((words == others) & (words != NOBODY), axis=0)[0]
    return equal


class Likeness(Struct, frozen=True):
    """How alike one GPU's silicon is to that of each of many, 0 to 1: by the wide and by the narrow
    distance, and whether it is the same."""

    wide: Floats
    narrow: Floats
    same: Floats


class Heads(Struct, frozen=True):
    """What a job shares with each of many rows whatever its sizes are (`always`), and what falls
    with the distance of batches, falls with that of tokens, and grows with the number of GPUs; all
    variances in squared log units."""

    always: Floats
    by_batch: Floats
    by_tokens: Floats
    by_count: Floats


class Neighbours(Struct, frozen=True):
    """The rows that the jobs of one cell lean on: the inverse of their covariance with the noise of
    a measurement on its diagonal, and what it makes of their residuals."""

    points: Columns
    inverse: Floats
    answer: Floats


class Kernel:
    """The covariance of points under one set of constants."""

    def __init__(self, model: SpeedModel) -> None:
        v, d = model.variances, model.distances
        self.noise, self.per_year = v["noise"], d["year"]
        self._per_count, self._per_batch = d["count"], d["batch"]
        self._per_token, self._per_written = d["tokens"], d["written"]
        self._stretch = np.column_stack((model.wide, model.narrow))
        self.sums = self._sums(v)
        _, first, alike = np.unique(self.sums, axis=0, return_index=True, return_inverse=True)
        self.alike: Codes = first[alike.reshape(-1)].astype(np.int32)
        of = {factor: sum(v[n] for n, term in TERMS.items() if term[1] == factor) for factor in "m"}
        self._prior_per_count, self._released = of["m"], v["release"]
        self._prior = sum(v[name] for name, term in TERMS.items() if term[1] != "m") - v["release"]

    def _sums(self, variances: dict[str, float]) -> Floats:
        """Variances that two points share, summed by factor (256, 7); the row is the number that
        `equal_words` tells."""
        equal = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(bool)
        found = np.zeros((256, len(FACTORS)))
        for name, (words, factor) in TERMS.items():
            shared = equal[:, [WORDS.index(word) for word in words]].all(axis=1)
            found[:, FACTORS.index(factor)] += np.where(shared, variances[name], 0.0)
        return found

    def likeness(self, silicon: Floats, others: Floats) -> Likeness:
        """Return how alike silicon (..., 8) is to other silicon (..., 8)."""
        apart = np.square(silicon - others)
        far = apart @ self._stretch
        return Likeness(
            1 / (1 + far[..., 0]), np.exp(-0.5 * far[..., 1]), (~apart.any(axis=-1)).astype(float)
        )

    def matrix(self, a: Columns, b: Columns) -> Floats:
        """Return the covariances (n, m) of points with others, without the noise of a
        measurement."""
        sums = self.sums[equal_words(a.words[:, :, None], b.words[:, None, :])]
        like = self.likeness(a.silicon[a.chip][:, None, :], b.silicon[b.chip][None, :, :])
        years = np.exp(-self.per_year * np.subtract.outer(a.year, b.year) ** 2)
        heads = Heads(
            sums[..., 0]
            + sums[..., 1] * like.wide
            + sums[..., 2] * like.narrow
            + sums[..., 5] * years,
            sums[..., 3] * like.same,
            sums[..., 4],
            sums[..., 6] * np.equal.outer(a.lane, b.lane),
        )
        return self.at_sizes(
            heads,
            np.subtract.outer(a.count, b.count),
            np.subtract.outer(a.batch, b.batch),
            np.subtract.outer(a.tokens, b.tokens),
            np.subtract.outer(a.written, b.written),
            np.minimum.outer(a.count, b.count),
        )

    def at_sizes(
        self,
        heads: Heads,
        count: Floats,
        batch: Floats,
        tokens: Floats,
        written: Floats,
        smaller: Floats,
    ) -> Floats:
        """Return covariances at these distances of sizes; `smaller` is the smaller count."""
        batches = np.exp(-self._per_count * count * count - self._per_batch * batch * batch)
        lengths = np.exp(-self._per_token * tokens * tokens - self._per_written * written * written)
        return (
            heads.always
            + heads.by_batch * batches
            + heads.by_tokens * lengths
            + heads.by_count * smaller
        )

    def near(self, point: Point, lane: int, rows: Columns, heads: Heads) -> Floats:
        """Return the covariances (n) of a job with rows that it shares `heads` with."""
        by_count = heads.by_count * (rows.lane == lane)
        return self.at_sizes(
            Heads(heads.always, heads.by_batch, heads.by_tokens, by_count),
            rows.count - point.count,
            rows.batch - point.batch,
            rows.tokens - point.tokens,
            rows.written - point.written,
            np.minimum(rows.count, point.count),
        )

    def prior(self, point: Point) -> float:
        """Return the variance of a point before any row is seen, without noise."""
        return (
            self._prior
            + self._prior_per_count * point.count
            + (self._released if point.release else 0.0)
        )

    def neighbours(self, rows: Columns, residuals: Floats) -> Neighbours:
        """Return rows with what their covariance makes of their residuals."""
        with_noise = self.matrix(rows, rows)
        with_noise.flat[:: len(with_noise) + 1] += self.noise
        inverse = np.linalg.inv(with_noise)
        return Neighbours(rows, inverse, inverse @ residuals)

    def corrected(self, point: Point, near: Floats, rows: Neighbours, own: float) -> Corrected:
        """Return the correction of a point of these covariances with the rows; `own` is the
        variance that no row can share, noise of a measurement included."""
        weights = rows.inverse @ near
        spread = self.prior(point) + own - float(near @ weights)
        return Corrected(
            float(near @ rows.answer), math.sqrt(max(spread, own)), tuple(weights.tolist())
        )
