"""The measured rows placed in the space of the model: each with its point, its log residual and the figures to cite."""

import difflib
import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.find import PartIndex
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import Anchor
from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.kriging import Corrected, Field, Point, factorise, krige, without_batch
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.metrics import samples_per_second
from rigplanner.performance.modelled import modelled_samples_per_second
from rigplanner.workload.answer import WorkloadFault

PRECISION_CLASS = {
    "amp_fp16": "half",
    "fp16": "half",
    "f16": "half",
    "bf16": "half",
    "mixed": "half",
    "amp": "half",
    "amp_bf16": "half",
}
REMEMBERED = 20_000
"""Corrections kept for points that were asked for before."""


class Placed(Struct, frozen=True):
    """A measured row with its point and the log of measured over modelled speed."""

    row: Measured
    point: Point
    residual: float


class Anchored(Struct, frozen=True):
    """The rows that a prediction leans on, and the correction that they give."""

    rows: tuple[Placed, ...]
    correction: Corrected


class Neighbours(Struct, frozen=True):
    """The nearest rows of a cell, with the factor of their covariance."""

    rows: tuple[Placed, ...]
    points: tuple[Point, ...]
    residuals: tuple[float, ...]
    lower: list[list[float]]


class Evidence:
    """The placed rows, found by stack, by network and by GPU; build it once."""

    def __init__(self, placed: Iterable[Placed]) -> None:
        self.placed = tuple(placed)
        self.field = Field(speed_model())
        self._known: dict[tuple[Point, int], Anchored] = {}
        self._cells: dict[tuple[Point, int], Neighbours] = {}
        self._chooser = Field(without_batch(speed_model()))
        self._by: dict[tuple[str, str], list[Placed]] = defaultdict(list)
        for item in self.placed:
            point = item.point
            for key in (
                ("sm", f"{point.stack}/{point.model}"),
                ("stack", point.stack),
                ("model", point.model),
                ("family", point.family),
                ("sg", f"{point.stack}/{point.gpu}"),
                ("mg", f"{point.model}/{point.gpu}"),
            ):
                self._by[key].append(item)

    def nearest(self, point: Point, most: int, allowed: Callable[[Measured], bool] | None = None) -> list[Placed]:
        """Return the `most` rows of the largest covariance with `point`, of those that `allowed` admits."""
        found: dict[int, Placed] = {}
        for keys in (
            (("sm", f"{point.stack}/{point.model}"), ("sg", f"{point.stack}/{point.gpu}"), ("mg", f"{point.model}/{point.gpu}")),
            (("stack", point.stack), ("model", point.model)),
            (("family", point.family),),
        ):
            for key in keys:
                for item in self._by.get(key, ()):
                    if allowed is None or allowed(item.row):
                        found[id(item)] = item
            if len(found) >= most:
                break
        else:
            found.update((id(item), item) for item in self.placed if allowed is None or allowed(item.row))
        items = list(found.values())
        if len(items) <= most:
            return items
        near = self._chooser.covariances(point, [item.point for item in items])
        return [items[i] for i in heapq.nlargest(most, range(len(items)), key=near.__getitem__)]

    def correct(self, point: Point, most: int, allowed: Callable[[Measured], bool] | None = None) -> Anchored:
        """Return the log correction of a point from its nearest rows, and those rows. The rows are chosen without regard to the
        size of the batch, so all batches of a job lean on the same ones."""
        key = (point, most)
        if allowed is None and key in self._known:
            return self._known[key]
        cell = point if point.batch is None else replace(point, batch=0.0)
        neighbours = self._cells.get((cell, most)) if allowed is None else None
        if neighbours is None:
            neighbours = self._neighbours(self.nearest(cell, most, allowed))
        variances = speed_model().variances
        own = variances["noise"] + variances["machine"] + variances["source"]
        correction = krige(point, neighbours.points, neighbours.residuals, neighbours.lower, self.field, own)
        anchored = Anchored(neighbours.rows, correction)
        if allowed is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
                self._cells.clear()
            self._known[key], self._cells[(cell, most)] = anchored, neighbours
        return anchored

    def _neighbours(self, rows: list[Placed]) -> Neighbours:
        points = tuple(item.point for item in rows)
        lower = factorise(points, self.field, speed_model().variances["noise"])
        return Neighbours(tuple(rows), points, tuple(item.residual for item in rows), lower)


def silicon_coordinates(job: Job) -> tuple[float, ...]:
    """Return the coordinates of a GPU in which efficiencies vary smoothly: era, half-precision and FP32 arithmetic per byte,
    bandwidth, memory, power per arithmetic, kind of memory, cache; each divided by its usual spread."""
    s = job.silicon
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


def place(job: Job, gpu_id: str, metric: str, source: str = "") -> Point:
    """Return the point of a job."""
    precision = PRECISION_CLASS.get(job.precision, job.precision)
    if job.stack.family == "compiled-inference" and job.precision == "mixed":
        precision = "int8"
    return Point(
        job.stack.slug,
        job.stack.family,
        job.shape.slug,
        job.shape.kind,
        job.task,
        precision,
        _metric_class(metric),
        gpu_id,
        job.link,
        source,
        job.release,
        silicon_coordinates(job),
        math.log(job.batch) if job.batch_given else None,
        math.log2(job.count),
        math.log(max(1, job.shape.tokens)),
        math.log(max(1, job.output_tokens)),
    )


def _metric_class(metric: str) -> str:
    return "time_to_train" if metric == "time_to_train_min" else "speed"


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
def gpu_index() -> PartIndex:
    """Return the index of all GPUs by words."""
    return PartIndex(shipped_catalog().of_kind("gpu"))


def find_gpu(name: str | None) -> GPU:
    """Return the GPU of this id, name or alias, else the best one that has all words of `name`; raise WorkloadFault naming the
    nearest when the catalog lacks it."""
    if not name:
        raise WorkloadFault("hardware.gpu: expected the name of a GPU, found none.")
    key = name.replace("\u2011", "-").casefold()
    known = gpus_by_name()
    if key in known:
        return known[key]
    if (found := gpu_index().find(name, limit=1)) and isinstance(found[0], GPU):
        return found[0]
    near = difflib.get_close_matches(key, known, 3, 0.6)
    raise WorkloadFault(f"hardware.gpu: the catalog has no '{name}'{'; the nearest are ' + ', '.join(near) if near else ''}.")


def place_rows(rows: Iterable[Measured], zoo: Any) -> list[Placed]:
    """Return the rows that the model can express, placed; collectives and rows of unknown GPUs are left out."""
    placed = []
    for row in rows:
        gpu = gpus_by_name().get(row.gpu.casefold())
        if gpu is None or row.workload.task == "collective":
            continue
        try:
            job = read_job(row.workload, gpu, row.count, row.nodes, row.link, zoo)
            measured = samples_per_second(job, row.value, row.metric, job.shape.samples_to_train)
            residual = math.log(measured / modelled_samples_per_second(job))
        except WorkloadFault:
            continue
        placed.append(Placed(row, place(job, gpu.id, row.metric, row.source), residual))
    return placed


@cache
def shipped_evidence() -> Evidence:
    """Return the evidence of the rows that came with the program."""
    return Evidence(place_rows(shipped_measured(), shipped_zoo()))


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
