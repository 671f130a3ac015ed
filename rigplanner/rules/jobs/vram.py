"""GPU memory: does each job fit each GPU."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Part
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.displays import taken_of
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.memory.mig import partition_of
from rigplanner.memory.on_host import estimate_on_host
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rig.edits import Edit
from rigplanner.rig.workload import Workload, changed
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, swap
from rigplanner.rules.core.moves import adds_errors
from rigplanner.rules.core.registry import rule

TIGHT = 0.95
"""Share of a GPU's memory above which a job's expected need leaves no room for fragmentation."""


MOST_TRIALS = 4
BESIDE = (
    "CLG001",
    "NVL001",
    "NVL002",
    "NVL004",
    "NVL005",
    "PWR002",
    "PWR005",
    "PWR006",
    "PWR012",
    "PWR015",
    "SLT001",
    "SPC001",
    "SPC002",
    "SPC003",
    "SW002",
    "SW003",
    "SW013",
    "SW006",
    "SW007",
    "SW008",
    "SW012",
    "SW014",
    "SW015",
    "SW016",
    "SW020",
    "SW021",
    "SW022",
)
"""What another GPU can break."""


class Fit(Struct, frozen=True):
    """A job and the GPUs of one model with the greatest need among them."""

    name: str
    job: JobFacts
    card: GPU
    need: MemoryEstimate | None
    fault: str | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.job.name, self.name)


def fits(context: Context) -> Iterator[Fit]:
    """One case per job and GPU model."""
    gpus = context.machine.gpu_parts
    for job in context.jobs:
        seen: dict[str, Fit] = {}
        for number, node in enumerate(gpus):
            need = job.memory[number] if number < len(job.memory) else None
            known = seen.get(node.gpu.id)
            if known is None or _lacks(need, node.gpu) > _lacks(known.need, known.card):
                seen[node.gpu.id] = Fit(
                    node.piece, job, part_seen(job.workload, node.gpu), need, job.fault
                )
        yield from seen.values()


def _lacks(need: MemoryEstimate | None, gpu: GPU) -> float:
    """By how many GiB a need is above a card's room; cards without a need lack least."""
    return need.device_gib - (usable_gib(gpu) or 0.0) if need is not None else float("-inf")


def _room_of(gpu: GPU, case: Fit) -> float:
    """The room of a card that stands in for the case's, whose monitors it drives then."""
    return (usable_gib(gpu) or 0.0) - taken_of(case.card)


@rule(
    "VRM001",
    "Job does not fit the GPU's memory",
    "error",
    over=fits,
    needs=("card.memory_gib",),
    reason="A job whose need lies above the GPU's memory stops with 'out of memory'.",
    source="The memory model; its interval holds 80 % of measured cases",
)
def memory_fit(context: Context, case: Fit) -> Iterator[Finding]:
    """Compare the interval of the need with the GPU's memory, in GiB: an error when even its low
    end is above."""
    have = usable_gib(case.card) or 0.0
    if case.need is None:
        yield memory_fit.unknown(case, f"{case.job.name}:memory", fault=case.fault)
    elif case.need.low_gib > have:
        yield memory_fit.finding(
            case,
            needed=round(case.need.device_gib, 2),
            actual=have,
            unit="GiB",
            fixes=_ways(context, case),
            low_gib=round(case.need.low_gib, 2),
            high_gib=round(case.need.high_gib, 2),
        )


@rule(
    "VRM002",
    "Job is tight in the GPU's memory",
    "warning",
    over=fits,
    needs=("card.memory_gib",),
    reason=(
        "The need may lie above the GPU's memory: it depends on allocator, driver and input"
        " lengths."
    ),
    source="The memory model; its interval holds 80 % of measured cases",
)
def memory_tight(context: Context, case: Fit) -> Iterator[Finding]:
    """A warning when the interval reaches above the GPU's memory, or the expected need above 95 %
    of it, in GiB; what leaves a part in RAM was made to fill the card."""
    have, need = usable_gib(case.card) or 0.0, case.need
    if need is None:
        return
    full = need.device_gib > have * TIGHT and not need.host_gib
    if need.low_gib <= have and (need.high_gib > have or full):
        yield memory_tight.finding(
            case,
            needed=round(need.device_gib, 2),
            actual=have,
            unit="GiB",
            fixes=_ways(context, case),
            low_gib=round(need.low_gib, 2),
            high_gib=round(need.high_gib, 2),
        )


def part_seen(workload: Workload, gpu: GPU) -> GPU:
    """The card, or the partition of it on which the job runs; the card where it has no such
    partition (MIG001 says so)."""
    try:
        return partition_of(workload, gpu)
    except WorkloadFault:
        return gpu


def has_room(need: MemoryEstimate, have_gib: float) -> bool:
    """Say whether a need fits with its whole interval and is not tight."""
    return need.high_gib <= have_gib and need.device_gib <= have_gib * TIGHT


def _ways(context: Context, case: Fit) -> tuple[Fix, ...]:
    """Offer recomputed activations, a smaller batch, or else the change of the job that costs least
    speed, then a GPU with room: each only where the memory model says that it helps."""
    need, form = case.need, case.card.form_factor
    if need is None:
        return ()

    def suits(gpu: GPU) -> bool:
        return (
            gpu.form_factor == form
            and gpu.memory_gib is not None
            and has_room(need, _room_of(gpu, case))
        )

    simple = (*_recompute(context, case), *_smaller_batch(context, case))
    return (*(simple or _leaner(context, case)), *_larger(context, case, suits))


def _larger(context: Context, case: Fit, suits: Callable[[GPU], bool]) -> tuple[Fix, ...]:
    """Offer the first of a few GPUs with room that brings no error of power, space or software with
    it."""
    passed: set[str] = set()
    for _ in range(MOST_TRIALS):
        fixes = swap(
            context,
            "larger-gpu",
            case.name,
            lambda gpu: gpu.id not in passed and suits(gpu),
            lambda gpu: (gpu.memory_gib or 0.0) * 1000 + (gpu.tdp_w or 0.0),
        )
        part = context.catalog.parts[fixes[0].values["part"]] if fixes else None
        if part is None or (
            _holds(context, case, part) and not adds_errors(context, fixes[0].edits, BESIDE)
        ):
            return fixes
        passed.add(fixes[0].values["part"])
    return ()


def _holds(context: Context, case: Fit, part: Part) -> bool:
    """Ask the memory model about the job on another GPU: kernels and partitions differ."""
    if context.estimate is None or not isinstance(part, GPU):
        return True
    need = context.estimate(case.job.workload, part, len(context.machine.gpu_parts))
    return isinstance(need, MemoryEstimate) and has_room(need, _room_of(part, case))


def _fits_with(context: Context, case: Fit, **fields: Any) -> bool:
    """Ask the memory model about the job with some fields changed."""
    if context.estimate is None or case.card.memory_gib is None:
        return False
    need = context.estimate(
        changed(case.job.workload, fields), case.card, len(context.machine.gpu_parts)
    )
    return not isinstance(need, str) and has_room(need, usable_gib(case.card) or 0.0)


def _leaner(context: Context, case: Fit) -> tuple[Fix, ...]:
    """Offer the change of the job, or the row of several, that costs least speed on these cards."""
    from rigplanner.performance.settled import settled

    count = len(context.machine.gpu_parts)
    link = "none" if count == 1 else "pcie"
    try:
        work = settled(case.job.workload, case.card, count, 1, link, shipped_zoo())
        changes = cheapest_changes(work, case.card, count, shipped_zoo())
    except WorkloadFault:
        return ()
    for change in changes:
        fields = {"stack": work.stack, **change.typed_fields()}
        if change.fits and change.count == count and _fits_with(context, case, **fields):
            edit = Edit("change_workload", {"index": case.job.index, **fields})
            return (fix(context, "change-job", edit, changes=change.code),)
    return ()


def _recompute(context: Context, case: Fit) -> tuple[Fix, ...]:
    workload = case.job.workload
    if "train" not in (workload.task or "") or workload.gradient_checkpointing not in (
        None,
        False,
        "none",
    ):
        return ()
    if not _fits_with(context, case, gradient_checkpointing="full"):
        return ()
    edit = Edit("change_workload", {"index": case.job.index, "gradient_checkpointing": "full"})
    return (fix(context, "checkpointing", edit),)


def _smaller_batch(context: Context, case: Fit) -> tuple[Fix, ...]:
    batch = (case.job.workload.batch_per_gpu or 1) // 2
    while batch >= 1 and not _fits_with(context, case, batch_per_gpu=batch):
        batch //= 2
    if batch < 1:
        return ()
    edit = Edit("change_workload", {"index": case.job.index, "batch_per_gpu": batch})
    return (fix(context, "smaller-batch", edit, batch=batch),)


class Offload(Named, frozen=True):
    """A job that keeps part of its state in host memory: `host_gib` is the whole machine's."""

    host_gib: float
    have_gib: float | None


ANY_RAM_GIB = 4.0
"""RAM that every computer with a card for deep learning has free: what nobody told cannot be less
(judgement)."""


def offloading(context: Context) -> Iterator[Offload]:
    """Jobs that need host memory."""
    have = context.memory_gib if context.memory else None
    for job in context.jobs:
        host = max((need.host_gib for need in job.memory), default=0.0)
        if not context.machine.gpus and context.machine.cpus:
            host = _alone_gib(job.workload)
        if host > (0.0 if have is not None else ANY_RAM_GIB):
            yield Offload(job.name, host, have)


def _alone_gib(workload: Workload) -> float:
    """GiB of RAM that a language model takes where no GPU is; 0 for other jobs."""
    try:
        return estimate_on_host(workload, shipped_zoo(), explained=False).host_gib
    except WorkloadFault:
        return 0.0


@rule(
    "MEM009",
    "Offload needs more host memory than there is",
    "error",
    over=offloading,
    needs=("have_gib",),
    reason="Offloaded states of all processes live in host memory.",
    source="The memory model; DeepSpeed's memory estimators",
)
def offload(context: Context, case: Offload) -> Iterator[Finding]:
    """Compare what all processes keep in host memory with what there is, in GiB."""
    if case.have_gib is not None and case.host_gib > case.have_gib:
        yield offload.finding(
            case, needed=round(case.host_gib, 1), actual=case.have_gib, unit="GiB"
        )


class Swap(Named, frozen=True):
    """A job that keeps states on drives: `nvme_gb` is what it writes, `have_gb` what the NVMe
    drives hold."""

    nvme_gb: float
    have_gb: float | None


def swapping(context: Context) -> Iterator[Swap]:
    """Jobs that need room on drives."""
    drives = [
        drive.drive.capacity_gb for drive in context.drives if drive.drive.interface == "nvme"
    ]
    for job in context.jobs:
        need = max((need.nvme_gib for need in job.memory), default=0.0)
        if need > 0:
            yield Swap(job.name, need * 2**30 / 1e9, sum(drives) if context.drives else None)


@rule(
    "DSK008",
    "Offload needs more room on NVMe drives than there is",
    "error",
    over=swapping,
    needs=("have_gb",),
    reason="Optimizer states and parameters of all processes lie on the drives between steps.",
    source="The memory model; ZeRO-Infinity, arXiv 2104.07857",
)
def swap_room(context: Context, case: Swap) -> Iterator[Finding]:
    """Compare what all processes keep on drives with what the NVMe drives hold, in GB."""
    if case.have_gb is not None and case.nvme_gb > case.have_gb:
        yield swap_room.finding(case, needed=round(case.nvme_gb), actual=case.have_gb, unit="GB")
