"""MIG: do the partitions that jobs ask for go together on the cards there are."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.makers import chip_maker
from rigplanner.catalog.parts import GPU
from rigplanner.rules.finding import Finding
from rigplanner.rules.registry import rule
from rigplanner.rules.situation import Situation
from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.mig import geometry_of


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


def shared(situation: Situation) -> Iterator[Shared]:
    """One case per GPU model where a job asks for a partition."""
    asking = [job for job in situation.jobs if job.workload.mig is not None]
    if not asking:
        return
    seen: dict[str, tuple[str, GPU, int]] = {}
    for node in situation.machine.gpus:
        piece, gpu, count = seen.get(node.gpu.id, (node.piece, node.gpu, 0))
        seen[node.gpu.id] = (piece, gpu, count + 1)
    for piece, gpu, count in seen.values():
        profiles = tuple(job.workload.mig or "" for job in asking)
        yield Shared(piece, gpu, count, tuple(job.name for job in asking), profiles)


@rule(
    "MIG001", "Partitions do not go together", "error", over=shared,
    reason="An instance begins at certain memory slices only, and no two share one.",
    source="NVIDIA Multi-Instance GPU User Guide, placements",
)  # fmt: skip
def together(situation: Situation, case: Shared) -> Iterator[Finding]:
    """Place the partitions that all jobs ask for on the cards of each model, largest first; every placement on a card is tried."""
    if geometry_of(case.card) is None:
        if chip_maker(case.card) == "NVIDIA" and case.card.mig_slices:
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
        yield together.finding(case, needed=", ".join(case.profiles), actual=float(case.cards), unit="", left=", ".join(left))


def _left(case: Shared) -> list[str]:
    """The partitions that find no place, filling one card after the other."""
    from rigplanner.workload.packing import layout

    cards: list[list[str]] = [[] for _ in range(case.cards)]
    left = []
    for name in sorted(case.profiles, key=lambda name: -int(name.partition("g.")[0]) if name[:1].isdigit() else 0):
        home = next((held for held in cards if layout(case.card, [*held, name]) is not None), None)
        if home is None:
            left.append(name)
        else:
            home.append(name)
    return left
