"""Where a finding is to be seen: the tab, and what is chosen there."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import kind_of
from rigplanner.rules.assess import Assessment
from rigplanner.rules.core.finding import Finding


class Sight(Struct, frozen=True):
    """A tab with the subject that is pointed at there; of the catalog also the kind of part and the
    item."""

    tab: str
    subject: str
    kind: str = ""
    uid: str = ""


def sight_of(finding: Finding, assessment: Assessment) -> Sight | None:
    """Return where a finding is to be seen: a slot, port or card in the picture of the machine, a
    job among the workloads, any other part (with its plugs and measures) in the catalog; None for a
    finding on nothing in particular."""
    machine = assessment.machine
    places = {use.slot.id for use in machine.slots} | {use.port.id for use in machine.drives}
    standing = {use.piece for use in machine.slots if use.piece}
    standing |= {piece for use in machine.drives for piece in use.pieces}
    for subject in finding.subjects:
        if subject.startswith("workload."):
            return Sight("Workloads", subject)
        if subject in standing or subject in places:
            return Sight("Machine", subject)
    pieces = {piece.name: piece for piece in machine.pieces}
    for subject in finding.subjects:
        piece = pieces.get(subject) or pieces.get(subject.partition("/")[0])
        if piece is not None:
            return Sight("Parts", subject, kind_of(piece.part), piece.uid)
    return None
