"""The measured rows that predictions lean on: which are nearest to a job, and what they say."""

import math
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.gpus import gpus_by_name
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.anchors import place
from rigplanner.performance.anchors.kriging import (
    NOBODY,
    Codes,
    Floats,
    Heads,
    Kernel,
    Likeness,
    Neighbours,
    equal_words,
)
from rigplanner.performance.anchors.points import WORDS, Anchored, Placed, Point
from rigplanner.performance.anchors.table import (
    Table,
    cache_file,
    keep_table,
    read_table,
    table_of,
)
from rigplanner.performance.constants import Strange, speed_model
from rigplanner.performance.job import read_job
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import modelled_samples_per_second
from rigplanner.performance.sequence_to_sequence import halves
from rigplanner.performance.silicon import generation_of

REMEMBERED, CELLS, POOLS = 500, 1_500, 128
"""GPUs and sets of neighbours that are remembered, cells (some kB each), and kinds of jobs (20 kB
each; a work against every card asks for 20)."""
FEW_ROWS = 16
"""Rows below which a question looks beyond its stack."""
STRANGER = -2
"""Code of a word that no row has."""
KEYS = (("stack",), ("family", "kind", "task"), ("family",), ())
"""What rows are found by, from the closest rows to the widest: stack, kind of job in the family,
family, anything."""
KIND, TASK, PRECISION = (WORDS.index(word) for word in ("kind", "task", "precision"))
BY_STACK = WORDS.index("model"), WORDS.index("release")
"""Words that no term knows but together with the stack."""
Allowed = Callable[[Measured], bool] | None
"""Which rows a prediction may lean on; None: all."""


class Pool(Struct, frozen=True):
    """Spots that jobs of the same words may lean on, and the sums of variances (7, spots) that
    these share with them: where each begins in the table, its chip and year; `kept` says which rows
    of the table are allowed (None: all); `strange` what no row of the stack shares with the
    jobs."""

    spots: Codes
    first: Codes
    chip: Codes
    year: Floats
    sums: Floats
    kept: Any
    strange: Strange


class Cell(Struct, frozen=True):
    """The rows that all jobs of a network, stack and GPU lean on, and what any of these jobs shares
    with them."""

    rows: tuple[Placed, ...]
    near: Neighbours
    heads: Heads
    strange: Strange


def _usual(table: Table) -> Floats:
    """By how much residuals of jobs like each row's exceed the usual."""
    words, columns, model = table.vocabulary, table.points.words.tolist(), speed_model()
    pairs = list(zip(columns[WORDS.index("family")], columns[KIND], strict=True))
    known = {(a, b): model.scattered(words[a], words[b]) for a, b in set(pairs)}
    return np.array([known[pair] for pair in pairs], np.float64)


def _first_alike(codes: Codes) -> Codes:
    """For each of some codes, the place of the first that equals it."""
    _, first, alike = np.unique(codes, return_index=True, return_inverse=True)
    found: Codes = first[alike]
    return found


def _largest(values: Floats, most: int) -> Codes:
    """The places of the `most` largest values, largest first; of equal ones the first. Only what is
    as large as the last of them is sorted."""
    among = np.arange(len(values))
    if len(values) > most:
        least = np.partition(values, len(values) - most)[len(values) - most]
        among = np.flatnonzero(values >= least)
    found: Codes = among[np.argsort(-values[among], kind="stable")][:most]
    return found


class Evidence:
    """Placed rows as a table, found by what they share with a job; build it once. `measured` are
    all rows, `paired` those of jobs that are told by their halves, whose place `predict` finds.

    What does not depend on a job's batch, length and number of GPUs is remembered: its cell, the
    pool of spots that cells on other silicon have in common, and the neighbours, which many cells
    share."""

    def __init__(self, measured: Sequence[Measured], table: Table) -> None:
        self.measured, self.table, self.kernel = measured, table, Kernel(speed_model())
        self._codes = {word: code for code, word in enumerate(table.vocabulary)}
        self._find_spots()
        self._residuals = table.residual / _usual(table)
        self._cells = lru_cache(CELLS)(self._cell)
        self._alike = lru_cache(REMEMBERED)(self._likeness)
        self._pools = lru_cache(POOLS)(self._pool)
        self._sets = lru_cache(REMEMBERED)(self._neighbours)
        self._placed = cache(self._place_row)

    def _find_spots(self) -> None:
        """Find where spots and settings (spots of the same words) begin."""
        points, rows = self.table.points, len(self.table.residual)
        moved = np.any(points.words[:, 1:] != points.words[:, :-1], axis=0)
        far = moved | (points.chip[1:] != points.chip[:-1]) | (points.year[1:] != points.year[:-1])
        starts = np.concatenate(([0], np.flatnonzero(far) + 1))[:rows]
        first = np.concatenate(([True], moved))[starts]
        self._starts = starts
        self._sizes = np.diff(np.append(starts, rows))
        self._setting = np.cumsum(first) - 1
        self._settings = points.words[:, starts[first]]
        years, self._year = np.unique(points.year[starts], return_inverse=True)
        self._place = (points.chip[starts] + 1) * len(years) + self._year
        self._places = (len(points.silicon) + 1) * len(years)
        self._with_stack: dict[int, set[int]] = {}
        for stack, *words in self._settings[[0, *BY_STACK]].T.tolist():
            self._with_stack.setdefault(stack, set()).update(words)
        self._rows_of = np.bincount(
            self._setting, weights=self._sizes, minlength=self._settings.shape[1]
        )

    @cached_property
    def paired(self) -> tuple[Measured, ...]:
        """The rows that are told by their halves."""
        return tuple(self.measured[n] for n in self.table.told)

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Every placed row, in the order in which they were measured."""
        return tuple(self._placed(int(n)) for n in np.argsort(self.table.number, kind="stable"))

    @cached_property
    def generations(self) -> set[str]:
        """The generations of GPUs that have rows."""
        names = {self.measured[n].gpu.casefold() for n in self.table.number}
        return {generation_of(gpus_by_name()[name]) for name in names}

    @cached_property
    def kinds_on(self) -> set[tuple[str, str, bool]]:
        """The generations of GPUs, the kinds of nets that have rows on them, and whether they
        trained."""
        words, columns = self.table.vocabulary, self.table.points.words
        kinds, tasks = columns[KIND].tolist(), columns[TASK].tolist()
        names = [self.measured[n].gpu.casefold() for n in self.table.number.tolist()]
        made = {name: generation_of(gpus_by_name()[name]) for name in set(names)}
        told = set(zip(names, kinds, tasks, strict=True))
        return {
            (made[name], words[kind], words[task].startswith("train")) for name, kind, task in told
        }

    def forget(self) -> None:
        """Keep nothing of the jobs that were asked for."""
        for kept in (self._cells, self._pools, self._sets, self._alike):
            kept.cache_clear()

    def correct(self, point: Point, most: int, allowed: Allowed = None) -> Anchored:
        """Return the log correction of a point from its nearest rows that `allowed` admits, and
        those rows. They are chosen without regard to batch, length and number of GPUs, so that all
        jobs of a cell lean on the same ones."""
        cell, model = self._cell_of(point, most, allowed), speed_model()
        near = self.kernel.near(point, self._code(point.lane), cell.near.points, cell.heads)
        found = self.kernel.corrected(point, near, cell.near, model.variances["noise"])
        scatter = model.scattered(point.family, point.kind)
        return Anchored(cell.rows, found.scaled(scatter), cell.strange)

    def factor(self, point: Point, most: int, allowed: Allowed = None) -> float:
        """Return only what the modelled speed of a point is multiplied with."""
        cell = self._cell_of(point, most, allowed)
        near = self.kernel.near(point, self._code(point.lane), cell.near.points, cell.heads)
        mean = float(near @ cell.near.answer)
        return math.exp(speed_model().scattered(point.family, point.kind) * mean)

    def _code(self, word: str) -> int:
        return self._codes.get(word, STRANGER) if word else STRANGER

    def _heard(self, words: tuple[int, ...]) -> tuple[int, ...]:
        """The words of a job; a network or release of which its stack has no row is a stranger, so
        that all such jobs share a pool."""
        known = self._with_stack.get(words[0], ())
        return tuple(
            [
                word if n not in BY_STACK or word in known else STRANGER
                for n, word in enumerate(words)
            ]
        )

    def _place_row(self, place: int) -> Placed:
        row = self.measured[self.table.number[place]]
        return Placed(row, self.table.point(place), float(self.table.residual[place]))

    def _cell_of(self, point: Point, most: int, allowed: Allowed) -> Cell:
        words = self._heard(tuple([self._code(getattr(point, word)) for word in WORDS]))
        if allowed is None:
            return self._cells(words, point.silicon, point.year, most)
        return self._chosen(self._pool(words, allowed), point.silicon, point.year, most)

    def _cell(
        self, words: tuple[int, ...], silicon: tuple[float, ...], year: float, most: int
    ) -> Cell:
        return self._chosen(self._pools(words), silicon, year, most)

    def _pool(self, words: tuple[int, ...], allowed: Allowed = None) -> Pool:
        """Spots that jobs of these words may lean on, without rows that are not `allowed`."""
        kept, sizes, rows_of = None, self._sizes, self._rows_of
        if allowed is not None:
            kept = np.array([allowed(self.measured[n]) for n in self.table.number], bool)
            sizes = np.add.reduceat(kept.astype(np.int64), self._starts)
            rows_of = np.bincount(self._setting, weights=sizes, minlength=len(rows_of))
        of_stack = (self._settings[0] == words[0]) & (rows_of > 0)
        settings = self._gathered(words, rows_of)
        rank = np.full(len(rows_of), len(settings))
        rank[settings] = np.arange(len(settings))
        spots = np.flatnonzero((rank[self._setting] < len(settings)) & (sizes > 0))
        spots = spots[np.argsort(rank[self._setting[spots]], kind="stable")]
        told = np.array(words, np.int32)[:, None]
        equal = equal_words(told, self._settings)[self._setting[spots]]
        sums = self.kernel.sums[equal]
        ties = self._order_of_ties(spots, self.kernel.alike[equal], sums)
        spots, sums = spots[ties], np.ascontiguousarray(sums[ties].T)
        first, points = self._starts[spots], self.table.points
        strange = self._strange(words, of_stack)
        return Pool(spots, first, points.chip[first], points.year[first], sums, kept, strange)

    def _order_of_ties(self, spots: Codes, alike: Codes, sums: Floats) -> Codes:
        """The order in which spots of equal covariance are taken: those that share the same terms
        together, of these those of the same silicon (where it counts) and year."""
        terms = _first_alike(alike)
        places = np.where(sums[:, 1:4].any(axis=1), self._place[spots], self._year[spots])
        order: Codes = np.lexsort((_first_alike(terms * self._places + places), terms))
        return order

    def _gathered(self, words: tuple[int, ...], rows_of: Any) -> Codes:
        """Settings of the stack of these words; where their rows are few, then of its kind of job,
        its family; else all."""
        found = list[int]()
        for keys in KEYS:
            alike = rows_of > 0
            for key in map(WORDS.index, keys):
                alike = alike & (self._settings[key] == words[key])
            found += [n for n in np.flatnonzero(alike).tolist() if n not in found]
            if rows_of[found].sum() >= FEW_ROWS:
                break
        return np.array(found, np.int32)

    def _strange(self, words: tuple[int, ...], of_stack: Any) -> Strange:
        """What no setting of the stack shares with jobs of these words."""
        own = self._settings[:, of_stack]
        if not own.size or words[0] == NOBODY:
            return ""
        if not ((own[KIND] == words[KIND]) & (own[TASK] == words[TASK])).any():
            return "kind"
        return "" if (own[PRECISION] == words[PRECISION]).any() else "precision"

    def _chosen(self, pool: Pool, silicon: tuple[float, ...], year: float, most: int) -> Cell:
        """Return the cell of the `most` rows of a pool of the largest covariance with a job. They
        are chosen as if they had its batch, length and one GPU."""
        still, by_wide, by_narrow, by_batch, by_tokens, by_year, by_count = pool.sums
        like = self._alike(silicon)
        fresh = np.exp(-self.kernel.per_year * (year - pool.year) ** 2)
        always = (
            still
            + by_wide * like.wide[pool.chip]
            + by_narrow * like.narrow[pool.chip]
            + by_year * fresh
        )
        by_batch = by_batch * like.same[pool.chip]
        ranked = _largest(always + by_batch + by_tokens, most)
        rows, spots = list[int](), list[int]()
        for spot in ranked.tolist():
            start = int(pool.first[spot])
            of_spot = range(start, start + int(self._sizes[pool.spots[spot]]))
            if pool.kept is not None:
                of_spot = [n for n in of_spot if pool.kept[n]]  # type: ignore[assignment]
            taken = list(of_spot[: most - len(rows)])
            rows += taken
            spots += [spot] * len(taken)
            if len(rows) == most:
                break
        heads = Heads(always[spots], by_batch[spots], by_tokens[spots], by_count[spots])
        placed, near = self._sets(tuple(rows))
        return Cell(placed, near, heads, pool.strange)

    def _likeness(self, silicon: tuple[float, ...]) -> Likeness:
        return self.kernel.likeness(np.array(silicon), self.table.points.silicon)

    def _neighbours(self, rows: tuple[int, ...]) -> tuple[tuple[Placed, ...], Neighbours]:
        taken = np.array(rows, np.int32)
        near = self.kernel.neighbours(self.table.points.taken(taken), self._residuals[taken])
        return tuple(self._placed(n) for n in rows), near


def read_evidence(rows: Sequence[Measured], zoo: Any) -> Evidence:
    """Return the evidence of the rows that the model can express; collectives and rows of unknown
    GPUs are left out."""
    placed, numbers, told = [], [], []
    for number, row in enumerate(rows):
        try:
            if _told_by_halves(row, zoo):
                told.append(number)
            elif found := placed_row(row, zoo):
                placed.append(found)
                numbers.append(number)
        except WorkloadFault:
            continue
    return Evidence(rows, table_of(placed, numbers, told))


def _told_by_halves(row: Measured, zoo: Any) -> bool:
    known = row.gpu.casefold() in gpus_by_name() and row.workload.task != "collective"
    return known and halves(row.workload, row.metric, zoo) is not None


def placed_row(row: Measured, zoo: Any) -> Placed | None:
    """Return where a row lies; None for collectives and unknown GPUs. Software whose release a row
    does not tell is of the row's year."""
    gpu = gpus_by_name().get(row.gpu.casefold())
    if gpu is None or row.workload.task == "collective":
        return None
    job = read_job(row.workload, gpu, row.count, row.nodes, row.link, zoo)
    measured = samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)
    residual = math.log(measured / modelled_samples_per_second(job))
    point = place(job)
    if row.year and not job.release:
        point = replace(point, year=float(row.year))
    return Placed(row, point, residual)


@cache
def shipped_evidence() -> Evidence:
    """Return the evidence of the rows that came with the program; where it was made before, from
    the cache."""
    path, rows = cache_file(), shipped_measured()
    table = read_table(path)
    if table is not None and (not len(table.number) or int(table.number.max()) < len(rows)):
        return Evidence(rows, table)
    made = read_evidence(rows, shipped_zoo())
    keep_table(path, made.table)
    return made


def joined_evidence(shipped: Evidence, own: Evidence) -> Evidence:
    """Return the rows of both together."""
    placed = [*shipped.placed, *own.placed]
    measured = [*shipped.measured, *own.measured]
    further = len(shipped.measured)
    numbers = [
        *sorted(shipped.table.number.tolist()),
        *(further + n for n in sorted(own.table.number.tolist())),
    ]
    told = [*shipped.table.told.tolist(), *(further + n for n in own.table.told.tolist())]
    return Evidence(measured, table_of(placed, numbers, told))


def placed_evidence(placed: Sequence[Placed]) -> Evidence:
    """Return the evidence of rows whose places are known."""
    rows = [item.row for item in placed]
    return Evidence(rows, table_of(placed, range(len(placed)), ()))
