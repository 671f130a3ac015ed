"""How many times one device is as fast as another, by measurements of the same people that differ
in the device alone."""

from collections.abc import Callable, Iterator
from functools import cache
from statistics import median

from msgspec import Struct

from rigplanner.catalog.gpus import gpus_by_name
from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path, shipped_files
from rigplanner.performance.answer import TIME_METRICS
from rigplanner.performance.host.steps import cpu_file
from rigplanner.performance.measured import Measured, read_measured, shipped_measured

Conditions = tuple[object, ...]
"""All that two measurements share which are compared: network, task, format, batch, lengths, size
of pictures, number of devices, what the source says else, unit, source."""
USUAL_PIXELS = 224


class Ratio(Struct, frozen=True, kw_only=True):
    """One pair: the speed of the first over that of the second, what both ran on how many GPUs (1
    where the sides name their own numbers), and who measured."""

    model: str
    task: str
    precision: str
    batch: float | None
    count: int
    source: str
    times: float


class Ratios(Struct, frozen=True):
    """All pairs, smallest ratio first."""

    pairs: tuple[Ratio, ...]

    @property
    def low(self) -> float:
        return self.pairs[0].times

    @property
    def high(self) -> float:
        return self.pairs[-1].times

    @property
    def median(self) -> float:
        return median(pair.times for pair in self.pairs)


class Side(Struct, frozen=True, kw_only=True):
    """What one side of a comparison is: GPUs by the ids of the boards that do the same work, or
    CPUs by their part; how many (of GPUs None: as many as the other side has); a stack, "" for
    any."""

    gpus: frozenset[str] = frozenset()
    cpu: str = ""
    count: int | None = None
    stack: str = ""


class Shared(Struct, frozen=True):
    """What the two sides do not share beside the device: numbers of GPUs that were named, stacks
    that differ; `bare`: CPUs are compared, of whose rows less is said."""

    counted: bool
    stacks: bool
    bare: bool


@cache
def apart_measured() -> tuple[Measured, ...]:
    """Return the rows that no prediction leans on: further lines of tables of which others do."""
    files = shipped_files(data_path("catalog") / "benchmarks", "apart-")
    return tuple(row for path in files for row in read_measured(path))


def ratios(
    one: Side, other: Side, wanted: Callable[[Ratio], bool] = lambda _: True
) -> Ratios | None:
    """Return the pairs of two sides in which all is equal but the device, and the stack where the
    sides name two; None where nobody measured both."""
    shared = Shared(
        counted=bool(one.count or other.count),
        stacks=bool(one.stack and other.stack and one.stack != other.stack),
        bare=bool(one.cpu or other.cpu),
    )
    second = dict(_rates(other, shared))
    made = [
        _ratio(job, rate / second[job])
        for job, rate in dict(_rates(one, shared)).items()
        if job in second
    ]
    made = sorted((pair for pair in made if wanted(pair)), key=lambda pair: pair.times)
    return Ratios(tuple(made)) if made else None


def boards_of(gpu: GPU, alike: Callable[[GPU, GPU], bool]) -> frozenset[str]:
    """Return the ids of the boards that `alike` says do the same work as a GPU."""
    return frozenset({gpu.id, *(each.id for each in gpus_by_name().values() if alike(gpu, each))})


def _ratio(shared: Conditions, times: float) -> Ratio:
    model, task, precision, batch, _, count, *_, source = shared
    return Ratio(
        model=str(model),
        task=str(task),
        precision=str(precision),
        batch=float(batch) if isinstance(batch, (int, float)) else None,
        count=int(str(count)),
        source=str(source),
        times=times,
    )


def _rates(side: Side, shared: Shared) -> Iterator[tuple[Conditions, float]]:
    """What was measured of a side, in work a second, by its conditions; later rows count."""
    if side.cpu:
        yield from _of_cpus(side, shared)
        return
    for row in (*shipped_measured(), *apart_measured()):
        work = row.workload
        if row.gpu not in side.gpus or (side.stack and work.stack != side.stack):
            continue
        if shared.counted and row.count != (side.count or 1):
            continue
        unit, rate = _rate(row)
        stack = "" if shared.stacks else work.stack
        count = 1 if shared.counted or shared.bare else row.count
        plain = (work.model, work.task, work.precision, work.batch_per_gpu, stack, count)
        if shared.bare:
            if unit == "samples" and work.image_size in (None, USUAL_PIXELS):
                yield (*plain, row.source), rate
            continue
        further = (work.seq_len, work.image_size, work.input_tokens, work.output_tokens)
        said = tuple(sorted((key, repr(value)) for key, value in work.variant.items()))
        yield (*plain, *map(repr, further), row.nodes, said, unit, row.source), rate


def _rate(row: Measured) -> tuple[str, float]:
    """Unit and rate of a row: pictures and samples a second where a batch's time tells them."""
    batch = row.workload.batch_per_gpu
    if row.metric == "ms_per_batch" and batch:
        return "samples", 1e3 * batch * row.count / row.value
    if row.metric in TIME_METRICS:
        return row.metric, 1 / row.value
    return ("samples" if row.metric in ("images/s", "samples/s") else row.metric), row.value


def _of_cpus(side: Side, shared: Shared) -> Iterator[tuple[Conditions, float]]:
    known = cpu_file()
    for row in known.rows:
        host = known.hosts[row.host]
        if (host.part, host.sockets) != (side.cpu, side.count or 1):
            continue
        if side.stack and row.stack != side.stack:
            continue
        stack = "" if shared.stacks else row.stack
        source = known.sources[row.source].title
        yield (row.model, row.task, "fp32", row.batch, stack, 1, source), row.samples_s
