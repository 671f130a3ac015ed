"""The measured rows placed in the space of the model: each with its point, its log residual and the
figures to cite."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.find.gpu_names import shipped_gpu_names
from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, System
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.anchors.kriging import (
    NO_BATCH,
    Corrected,
    Field,
    Head,
    Neighbours,
    Point,
    Pool,
    Spot,
    Words,
    neighbours,
)
from rigplanner.performance.answer import Anchor
from rigplanner.performance.constants import Strange, speed_model
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.measured import Measured, shipped_measured, year_of
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import modelled_samples_per_second
from rigplanner.performance.sequence_to_sequence import halves
from rigplanner.performance.silicon import Silicon, generation_of

PRECISION_CLASS = {
    "amp_fp16": "half",
    "fp16": "half",
    "f16": "half",
    "bf16": "half",
    "mixed": "half",
    "amp": "half",
    "amp_bf16": "half",
}
REMEMBERED, POOLS, SETS = 4_000, 1_000, 1_000
"""Cells kept for jobs like those that were asked for before, and what cells share: pools of rows
and sets of neighbours (some 10 kB each)."""
FEW_ROWS = 16
"""Rows below which a question looks beyond its stack."""
Allowed = Callable[[Measured], bool] | None
"""Which rows a prediction may lean on; None: all."""


class Placed(Struct, frozen=True):
    """A measured row with its point and the log of measured over modelled speed."""

    row: Measured
    point: Point
    residual: float


class Anchored(Struct, frozen=True):
    """The rows that a prediction leans on, the correction that they give, and what no row of its
    stack shares with it."""

    rows: tuple[Placed, ...]
    correction: Corrected
    strange: Strange = ""


class Cell(Struct, frozen=True):
    """The rows that all jobs of a network, stack and GPU lean on, and what any of these jobs shares
    with them."""

    rows: tuple[Placed, ...]
    near: Neighbours
    heads: list[Head]


class Evidence:
    """The placed rows, found by stack, by kind of job and by family of stacks; build it once.
    `paired` are rows of jobs that are told by their halves, whose place `predict` finds.

    Kept is what does not depend on a job's batch, length and number of GPUs: the cell of each kind
    of job on each GPU; what cells on other silicon have in common with it, the pool of rows to
    choose from; and the neighbours, by the rows that were chosen."""

    def __init__(self, placed: Iterable[Placed], paired: Iterable[Measured] = ()) -> None:
        self.placed, self.paired = tuple(placed), tuple(paired)
        self.field = Field(speed_model(), [item.point for item in self.placed])
        self._cells: dict[tuple[object, ...], Cell] = {}
        self._pools: dict[Words, Pool] = {}
        self._near: dict[tuple[int, ...], Neighbours] = {}
        self._by: dict[Words, list[Words]] = defaultdict(list)
        self._strangers: dict[tuple[str, ...], Strange] = {}
        for words in self.field.settings:
            for key in _keys(words):
                self._by[key].append(words)

    @cached_property
    def generations(self) -> set[str]:
        """The generations of GPUs that have rows."""
        return {generation_of(gpus_by_name()[item.row.gpu.casefold()]) for item in self.placed}

    def forget(self) -> None:
        """Keep nothing of the jobs that were asked for."""
        for kept in (self._cells, self._pools, self._near, self._strangers):
            kept.clear()

    def correct(self, point: Point, most: int, allowed: Allowed = None) -> Anchored:
        """Return the log correction of a point from its nearest rows that `allowed` admits, and
        those rows. They are chosen without regard to batch, length and number of GPUs, so that all
        jobs of a cell lean on the same ones."""
        cell, model = self._cell(point, most, allowed), speed_model()
        correction = cell.near.correct(self.field, point, cell.heads, model.variances["noise"])
        return Anchored(
            cell.rows,
            correction.scaled(model.scattered(point.family, point.kind)),
            self._strange(point, allowed),
        )

    def _strange(self, point: Point, allowed: Allowed) -> Strange:
        """What no admitted row of the point's stack shares with it."""
        key = (point.stack, point.kind, point.task, point.precision)
        if allowed is None and key in self._strangers:
            return self._strangers[key]
        rows = [
            self.placed[spot[2][0]].point
            for _, spots in self._admitted([point.words[:1]], allowed)
            for spot in spots[:1]
        ]
        found: Strange = ""
        if rows and not any(row.kind == point.kind and row.task == point.task for row in rows):
            found = "kind"
        elif rows and not any(row.precision == point.precision for row in rows):
            found = "precision"
        if allowed is None:
            self._strangers[key] = found
        return found

    def factor(self, point: Point, most: int, allowed: Allowed = None) -> float:
        """Return only what the modelled speed of a point is multiplied with."""
        cell = self._cell(point, most, allowed)
        mean = cell.near.mean(self.field, point, cell.heads)
        return math.exp(speed_model().scattered(point.family, point.kind) * mean)

    def _cell(self, point: Point, most: int, allowed: Allowed) -> Cell:
        if allowed is not None:
            return self._made(point, self._gathered(self.field.words_told(point), allowed), most)
        key = (point.words, point.silicon, most)
        cell = self._cells.get(key)
        if cell is None:
            if len(self._cells) >= REMEMBERED:
                self._cells.clear()
            cell = self._cells[key] = self._made(point, self._pool(point), most)
        return cell

    def _pool(self, point: Point) -> Pool:
        """Rows that a job may lean on, the same for all jobs that rows know by the same words."""
        words = self.field.words_told(point)
        pool = self._pools.get(words)
        if pool is None:
            if len(self._pools) >= POOLS:
                self._pools.clear()
            pool = self._pools[words] = self._gathered(words, None)
        return pool

    def _gathered(self, words: Words, allowed: Allowed) -> Pool:
        """Rows of the stack of these words; where those are few, also of its kind of job, its
        family; else all."""
        keys = _keys(words)
        for wide in range(1, len(keys) + 1):
            found = self._admitted(keys[:wide], allowed)
            if sum(len(numbers) for _, spots in found for _, _, numbers in spots) >= FEW_ROWS:
                break
        return self.field.pool(words, found)

    def _admitted(self, keys: Iterable[Words], allowed: Allowed) -> list[tuple[Words, list[Spot]]]:
        """The settings under these keys with their spots, without rows that are not `allowed`."""
        settings = dict.fromkeys(words for key in keys for words in self._by.get(key, ()))
        if allowed is None:
            return [(words, self.field.settings[words]) for words in settings]
        found = []
        for words in settings:
            kept = [
                (chip, year, [number for number in numbers if allowed(self.placed[number].row)])
                for chip, year, numbers in self.field.settings[words]
            ]
            if spots := [spot for spot in kept if spot[2]]:
                found.append((words, spots))
        return found

    def _made(self, point: Point, pool: Pool, most: int) -> Cell:
        """The cell of a point that leans on rows of a pool; of many cells they are the same
        ones."""
        chosen, heads = self.field.nearest(point, pool, most)
        rows = tuple([self.placed[number] for number in chosen])
        near = self._near.get(chosen)
        if near is None:
            if len(self._near) >= SETS:
                self._near.clear()
            usual = speed_model().scattered
            residuals = [item.residual / usual(item.point.family, item.point.kind) for item in rows]
            near = self._near[chosen] = neighbours(self.field, chosen, residuals)
        return Cell(rows, near, heads)


def _keys(words: Words) -> tuple[Words, ...]:
    """What settings are found by, from the closest kin to the widest: stack, kind of job in the
    family, family, anything."""
    stack, family, _, kind, task, *_ = words
    return (stack,), (family, kind, task), (family,), ()


@lru_cache(REMEMBERED)
def silicon_coordinates(s: Silicon) -> tuple[float, ...]:
    """Return the coordinates of a GPU in which efficiencies vary smoothly: era, half-precision and
    FP32 arithmetic per byte, bandwidth, memory, power per arithmetic, kind of memory, cache; each
    divided by its usual spread."""
    band = math.log(s.bandwidth_gbs)
    return (
        s.era / 2.0,
        (math.log(s.half) - band) / 0.7,
        (math.log(s.fp32) - band) / 0.7,
        band / 0.8,
        math.log(s.memory_gib) / 0.9,
        (math.log(s.tdp_w) - 0.6 * math.log(s.half)) / 0.5,
        float(s.fast_memory),
        math.log(s.l2_mib) / 1.2,
    )


def place(job: Job) -> Point:
    """Return the point of a job."""
    precision = PRECISION_CLASS.get(job.precision, job.precision)
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        precision = "int8"
    return Point(
        stack=job.stack.slug,
        family=job.stack.family,
        model=job.shape.slug,
        kind=job.shape.kind,
        task=job.task,
        precision=precision,
        lane=job.lane if job.count > 1 else "none",
        release=job.release,
        maker=job.silicon.vendor,
        data=str(job.variant.get("data", "synthetic")),
        silicon=silicon_coordinates(job.silicon),
        count=math.log2(job.count),
        tokens=math.log(max(1, job.shape.tokens)),
        written=math.log(max(1, job.output_tokens)),
        year=year_of(job.stack.slug, job.release),
        batch=math.log(job.batch) if job.batch_given else NO_BATCH,
    )


@cache
def gpus_by_name() -> dict[str, GPU]:
    """Return the GPUs of the shipped catalog by id, name and alias in lower case."""
    found: dict[str, GPU] = {}
    for part in shipped_catalog().of_kind("gpu"):
        if isinstance(part, GPU):
            for name in (part.id, part.name, *part.aliases):
                found.setdefault(name.casefold(), part)
    return found


@cache
def gpus_built_in() -> dict[frozenset[str], GPU]:
    """Return the GPU of each computer that is sold with just one built in, by the words of the
    computer's names."""
    catalog, found = shipped_catalog(), dict[frozenset[str], GPU]()
    for system in catalog.of_kind("system"):
        assert isinstance(system, System)
        held = [(catalog.parts.get(one.part), one.quantity) for one in system.includes]
        gpus = [(part, count) for part, count in held if isinstance(part, GPU)]
        if len(gpus) == 1 and gpus[0][1] == 1:
            for name in (system.name, *system.aliases):
                found.setdefault(frozenset(words_of(name)), gpus[0][0])
    return found


def find_gpu(name: str | None) -> GPU:
    """Return the GPU that `name` means; raise WorkloadFault naming those it may mean or the nearest
    when it means none or several, or the GPU of a machine for hire."""
    if not name:
        raise WorkloadFault("hardware.gpu: expected the name of a GPU, found none.")
    key = name.replace("\u2011", "-").casefold()
    known = gpus_by_name()
    if key in known:
        return known[key]
    meaning = shipped_gpu_names().meaning(name)
    if meaning.gpu:
        return meaning.gpu
    if built_in := gpus_built_in().get(frozenset(words_of(name))):
        return built_in
    hired = shipped_cloud().named(key)
    if hired:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' is a machine for hire ({hired.provider}), not a GPU; name its"
            f" GPU instead: {hired.count} x {hired.gpu_name}."
        )
    near = ", ".join(shipped_catalog().parts[part_id].name for part_id in meaning.near)
    if meaning.several:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' may be several GPUs; name one of them: {near}."
        )
    raise WorkloadFault(
        f"hardware.gpu: the catalog has no '{name}'{'; the nearest are ' + near if near else ''}."
    )


def read_evidence(rows: Iterable[Measured], zoo: Any) -> Evidence:
    """Return the evidence of the rows that the model can express; collectives and rows of unknown
    GPUs are left out. Software whose release a row does not tell is of the row's year."""
    placed, paired = [], []
    for row in rows:
        gpu = gpus_by_name().get(row.gpu.casefold())
        if gpu is None or row.workload.task == "collective":
            continue
        try:
            if halves(row.workload, row.metric, zoo):
                paired.append(row)
                continue
            job = read_job(row.workload, gpu, row.count, row.nodes, row.link, zoo)
            measured = samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)
            residual = math.log(measured / modelled_samples_per_second(job))
        except WorkloadFault:
            continue
        point = place(job)
        if row.year and not job.release:
            point = replace(point, year=float(row.year))
        placed.append(Placed(row, point, residual))
    return Evidence(placed, paired)


@cache
def shipped_evidence() -> Evidence:
    """Return the evidence of the rows that came with the program."""
    return read_evidence(shipped_measured(), shipped_zoo())


def cite(item: Placed, weight: float) -> Anchor:
    """Return the anchor to show for a row used with this kriging weight."""
    row = item.row
    return Anchor(
        id=row.id,
        gpu=row.gpu,
        model=row.workload.model or "",
        stack=row.workload.stack or "",
        value=row.value,
        metric=row.metric,
        weight=weight,
        source=row.source,
    )
