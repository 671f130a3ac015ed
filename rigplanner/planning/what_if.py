"""What a workload could become on a rig: the largest sizes that fit, the changes that make it fit,
more GPUs, lower power caps."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.machine.model import GpuNode, Machine
from rigplanner.memory.capacity.capacity_search import Reach, reach
from rigplanner.memory.capacity.changes import BUILT_IN, Change, cheapest_changes
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import TIME_METRICS, Bound, SpeedEstimate
from rigplanner.performance.limits.host import feed_of
from rigplanner.performance.limits.input_pipeline import fed_range
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import Assessment, Job, as_timed, link_of, machine_of, memory_of

COUNTS = (1, 2, 4, 8)
"""Numbers of GPUs that a curve of scaling asks for, beside the rig's own."""
CAP_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
STARVED = 0.97
"""Share of the GPUs' own speed below which the input pipeline is what limits."""
SAMPLE_METRICS = ("images/s", "samples/s", "sequences/s")
LITTLE_GAIN = 0.1
"""Share of speed below which more GPUs are not worth their price."""
TEXT_KINDS = ("llm", "moe", "vlm", "encoder", "encoder_decoder")


class Room(Struct, frozen=True, kw_only=True):
    """The largest sizes of a workload that fit on the smallest card, None where a size does not
    apply or cannot be computed; `users` is how many a model that writes answers at once. `changes`
    need less memory, what fits first."""

    batch: Reach | None = None
    context: Reach | None = None
    users: Reach | None = None
    changes: tuple[Change, ...] = ()


class ScalePoint(Struct, frozen=True, kw_only=True):
    """Speed on `gpus` GPUs with its 80 % interval; `placed` says that the rig has room and lanes
    for so many, otherwise the speed holds for the same kind of link. `fits` is that of the memory
    (None: not known), `fault` why there is no speed."""

    gpus: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bound: Bound = "unknown"
    placed: bool = False
    fits: bool | None = None
    fault: str = ""
    steps: tuple[Step, ...] = ()


class Scaling(Struct, frozen=True, kw_only=True):
    """Speeds in `metric` by number of GPUs; from `enough` GPUs on, twice as many gain less than
    LITTLE_GAIN, since `bound`."""

    metric: str
    points: tuple[ScalePoint, ...]
    enough: int | None = None
    bound: Bound = "unknown"


class CapPoint(Struct, frozen=True, kw_only=True):
    """Speed with every GPU capped at `cap_w` watts, and what the sum of the caps is below that of
    the makers' limits."""

    cap_w: float
    value: float
    low: float
    high: float
    saved_w: float
    steps: tuple[Step, ...] = ()


def is_text(workload: Workload) -> bool:
    """Return whether a workload has a length in tokens."""
    from rigplanner.catalog.zoo import shipped_zoo

    model = shipped_zoo().get(workload.model) if workload.model else None
    kind = workload.kind or (model.kind if model else None)
    return workload.config is not None or kind in TEXT_KINDS


def room(job: Job, machine: Machine) -> Room:
    """Return the largest sizes of a workload on a machine and the single changes that need less
    memory: of the job that memory and speed are told for, with what it leaves open assumed."""
    from rigplanner.catalog.zoo import shipped_zoo

    gpu, zoo = _smallest(machine.gpus), shipped_zoo()
    if gpu is None or job.memory_fault:
        return Room()
    work = as_timed(job.workload, machine)
    count, text = len(machine.gpus), is_text(work)
    writes = text and not (work.task or "train").startswith("train")

    def found(what: str) -> Reach | None:
        try:
            return reach(what, work, gpu, count, zoo)
        except WorkloadFault:
            return None

    try:
        changes = cheapest_changes(work, gpu, count, zoo)
    except WorkloadFault:
        changes = ()
    return Room(
        batch=None if writes else found("batch"),
        context=found("context") if text else None,
        users=found("users") if writes else None,
        changes=changes,
    )


def _smallest(gpus: Sequence[GpuNode]) -> GPU | None:
    known = [node.gpu for node in gpus if node.gpu.memory_gib]
    return min(known, key=lambda gpu: gpu.memory_gib or 0.0, default=None)


def scaling(assessment: Assessment, job: Job, catalog: Catalog) -> Scaling | None:
    """Return the speed of a workload on 1, 2, 4, 8 and the rig's own number of GPUs; None without a
    predicted speed, and where a GPU is built into its computer, so that there are no more of it.

    The rig is tried with so many of its cards; what its board cannot hold is predicted as if its
    links went on. Where the model is split over all GPUs, it is split over so many as there are."""
    gpus = assessment.machine.gpus
    own = len(gpus)
    if job.speed is None or not own or any(node.gpu.form_factor == BUILT_IN for node in gpus):
        return None
    points = tuple(
        _scale_point(assessment, job, catalog, count) for count in sorted({*COUNTS, own})
    )
    enough, bound = _enough(points, job.speed.metric)
    return Scaling(metric=job.speed.metric, points=points, enough=enough, bound=bound)


def _scale_point(assessment: Assessment, job: Job, catalog: Catalog, count: int) -> ScalePoint:
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.performance.predict import predict_speed

    assert job.speed is not None
    own = len(assessment.machine.gpus)
    gpu, work = assessment.machine.gpus[0].gpu, split_over(job.workload, own, count)
    if count == own:
        return _point(job.speed, count, True, work, gpu)
    machine = _machine_with(assessment, catalog, count)
    link = link_of(machine or assessment.machine) if count > 1 else "none"
    link = "pcie" if link == "none" and count > 1 else link
    try:
        host = machine or (assessment.machine if own > 1 else None)
        speed = predict_speed(work, gpu, count, 1, link, shipped_zoo(), host, job.speed.metric)
    except WorkloadFault as fault:
        return ScalePoint(gpus=count, fault=str(fault))
    made = _point(speed, count, machine is not None or count <= own, work, gpu)
    return made if host else _fed(made, work, assessment.machine, job.speed.metric)


def _point(speed: SpeedEstimate, count: int, placed: bool, work: Workload, gpu: GPU) -> ScalePoint:
    memory, room = memory_of(work, gpu, count), usable_gib(gpu)
    fit = None if isinstance(memory, str) or not room else memory.low_gib <= room
    return ScalePoint(
        gpus=count,
        value=speed.value,
        low=speed.low,
        high=speed.high,
        bound=speed.bound,
        placed=placed,
        fits=fit,
        steps=speed.steps,
    )


def _fed(point: ScalePoint, work: Workload, machine: Machine, metric: str) -> ScalePoint:
    """Return a point with what the rig's storage and CPUs give, for metrics that count samples."""
    feed = feed_of(work, machine) if metric in SAMPLE_METRICS else None
    if feed is None or not point.value:
        return point
    value, low, high = fed_range(feed, point.value, point.low or 0.0, point.high or 0.0)
    bound = feed.bound if value < STARVED * point.value else point.bound
    return replace(point, value=value, low=low, high=high, bound=bound)


def split_over(work: Workload, own: int, count: int) -> Workload:
    """Return a workload whose model, where it is split over all `own` GPUs, is split over
    `count`."""
    ways = work.parallelism
    if ways is None or ways.tensor == 1 or own % ways.tensor:
        return work
    tensor = count if ways.tensor == own else min(ways.tensor, count)
    return replace(work, parallelism=replace(ways, tensor=tensor, data=None))


def gpu_item(rig: Rig, machine: Machine) -> str | None:
    """Return the uid of the one item that holds all GPUs, or None when several do or a system
    brings them."""
    uids = {"" if "/" in node.piece else node.piece.rpartition(".")[0] for node in machine.gpus}
    uid = uids.pop() if len(uids) == 1 else ""
    return uid if rig.item(uid) is not None else None


def _machine_with(assessment: Assessment, catalog: Catalog, count: int) -> Machine | None:
    """Return the rig's machine with `count` of its cards, or None where they do not all find a
    place."""
    uid = gpu_item(assessment.rig, assessment.machine)
    if uid is None:
        return None
    try:
        changed = machine_of(
            apply(assessment.rig, Edit("set_quantity", {"uid": uid, "quantity": count})), catalog
        )
    except EditFault:
        return None
    return (
        changed if len(changed.gpus) == count and all(node.width for node in changed.gpus) else None
    )


def _enough(points: Sequence[ScalePoint], metric: str) -> tuple[int | None, Bound]:
    """Return the first number of GPUs that hold the workload from which the next step gains little,
    and what limits that step."""
    known = [point for point in points if point.value and point.fits is not False]
    for point, after in pairwise(known):
        gain = (
            (point.value or 1) / (after.value or 1)
            if metric in TIME_METRICS
            else (after.value or 1) / (point.value or 1)
        )
        if gain < 1 + LITTLE_GAIN:
            return point.gpus, after.bound
    return None, "unknown"


def power_caps(assessment: Assessment, job: Job, catalog: Catalog) -> tuple[CapPoint, ...]:
    """Return the speed of a workload under power caps from half of the maker's limit up; () where
    the cards' limit is not known, they are not one item of the rig, or the driver takes none of the
    caps."""
    machine = assessment.machine
    uid = gpu_item(assessment.rig, machine)
    gpu = machine.gpus[0].gpu if machine.gpus else None
    if uid is None or gpu is None or not gpu.tdp_w or job.speed is None:
        return ()
    return tuple(_capped(assessment, job, catalog, uid, gpu))


def _capped(
    assessment: Assessment, job: Job, catalog: Catalog, uid: str, gpu: GPU
) -> Iterator[CapPoint]:
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.performance.predict import predict_speed

    assert gpu.tdp_w is not None and job.speed is not None
    machine, count = assessment.machine, len(assessment.machine.gpus)
    link = link_of(machine)
    for share in CAP_SHARES:
        cap = round(gpu.tdp_w * share / 5) * 5.0 if share < 1 else gpu.tdp_w
        capped = machine_of(
            apply(assessment.rig, Edit("set_power_cap", {"uid": uid, "watts": cap})), catalog
        )
        try:
            speed = predict_speed(
                job.workload, gpu, count, 1, link, shipped_zoo(), capped, job.speed.metric
            )
        except WorkloadFault:
            continue
        yield CapPoint(
            cap_w=cap,
            value=speed.value,
            low=speed.low,
            high=speed.high,
            saved_w=count * (gpu.tdp_w - cap),
            steps=speed.steps,
        )
