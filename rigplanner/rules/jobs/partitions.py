"""MIG: do the partitions that jobs ask for go together on the cards there are."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.memory.mig import geometry_of
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.recheck import fits_after
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.tables import version

FIRST_NCCL = (2, 32)
"""The first NCCL whose guide tells how to use instances."""


class Shared(Struct, frozen=True):
    """The cards of one model and the partitions that jobs ask of them."""

    name: str
    card: GPU
    cards: int
    jobs: tuple[str, ...]
    profiles: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, *self.jobs)


def shared(context: Context) -> Iterator[Shared]:
    """One case per GPU model where a job asks for a partition."""
    asking = [job for job in context.jobs if job.workload.mig is not None]
    if not asking:
        return
    seen: dict[str, tuple[str, GPU, int]] = {}
    for node in context.machine.gpu_parts:
        piece, gpu, count = seen.get(node.gpu.id, (node.piece, node.gpu, 0))
        seen[node.gpu.id] = (piece, gpu, count + 1)
    for piece, gpu, count in seen.values():
        profiles = tuple(job.workload.mig or "" for job in asking)
        yield Shared(piece, gpu, count, tuple(job.name for job in asking), profiles)


@rule(
    "MIG001",
    "Partitions do not go together",
    "error",
    over=shared,
    reason="An instance begins at certain memory slices only, and no two share one.",
    source="NVIDIA Multi-Instance GPU User Guide, placements",
)
def together(context: Context, case: Shared) -> Iterator[Finding]:
    """Place the partitions that all jobs ask for on the cards of each model, largest first; every
    placement on a card is tried."""
    if geometry_of(case.card) is None:
        if case.card.chip_maker == "NVIDIA" and case.card.mig_slices:
            yield together.unknown(case, f"{case.card.id}:mig_slices")
        else:
            yield together.finding(case, actual=case.card.name, variant="none")
        return
    try:
        left = _left(case)
    except WorkloadFault:
        yield together.finding(case, actual=", ".join(case.profiles), variant="name")
        return
    if left:
        yield together.finding(
            case,
            needed=", ".join(case.profiles),
            actual=float(case.cards),
            unit="",
            left=", ".join(left),
        )


class Spanning(Named, frozen=True):
    """A job that is split over several ranks, each on a partition."""

    job: JobFacts
    ranks: int


def spanning(context: Context) -> Iterator[Spanning]:
    """Jobs on partitions whose degrees of parallelism make several ranks."""
    for job in context.jobs:
        plan = job.workload.parallelism
        if job.workload.mig is not None and plan is not None:
            ranks = plan.tensor * plan.pipeline * plan.context * (plan.data or 1)
            if ranks > 1:
                yield Spanning(job.name, job, ranks)


@rule(
    "MIG002",
    "Job is split over partitions",
    "error",
    over=spanning,
    reason=(
        "A process sees one instance only, and instances have no peer access: CUDA's frameworks and"
        " NCCL refuse ranks on instances. From NCCL 2.32 they exchange through host memory, as an"
        " experiment."
    ),
    source=(
        "NVIDIA/nccl issues 431 and 1716; vLLM issue 7211; pytorch/pytorch issue 130181; NCCL 2.32"
        " user guide"
    ),
)
def across(context: Context, case: Spanning) -> Iterator[Finding]:
    """A warning where the rig names an NCCL that takes ranks on instances."""
    named = context.rig.settings.software.get("nccl")
    takes = named is not None and version(named) >= FIRST_NCCL
    fixes: tuple[Fix, ...] = ()
    if fits_after(context, case.job, parallelism=None):
        fixes = (
            fix(
                context,
                "one-partition",
                Edit("change_workload", {"index": case.job.index, "parallelism": None}),
            ),
        )
    yield across.finding(
        case,
        "warning" if takes else "error",
        needed=case.ranks,
        actual=1,
        fixes=fixes,
        mig=case.job.workload.mig,
    )


def _left(case: Shared) -> list[str]:
    """The partitions that find no place, filling one card after the other."""
    from rigplanner.memory.capacity.packing import layout

    cards: list[list[str]] = [[] for _ in range(case.cards)]
    left = []
    for name in sorted(
        case.profiles, key=lambda name: -int(name.partition("g.")[0]) if name[:1].isdigit() else 0
    ):
        home = next((held for held in cards if layout(case.card, [*held, name]) is not None), None)
        if home is None:
            left.append(name)
        else:
            home.append(name)
    return left
