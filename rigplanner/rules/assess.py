"""One call from a rig to everything that is known of it: machine, memory, speed, findings, costs."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.economics.totals import Totals
from rigplanner.machine.machine import Machine
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.rig.document import Rig
from rigplanner.rig.task import Workload
from rigplanner.rules.finding import CheckReport
from rigplanner.workload.answer import MemoryEstimate


class Job(Struct, frozen=True, kw_only=True):
    """One workload on the rig: memory per GPU in the order of `Machine.gpus`, speed, or the fault that stopped either."""

    index: int
    workload: Workload
    memory: tuple[MemoryEstimate, ...] = ()
    memory_fault: str | None = None
    speed: SpeedEstimate | None = None
    speed_fault: str | None = None


class Assessment(Struct, frozen=True, kw_only=True):
    """Everything that the views show of one rig."""

    rig: Rig
    machine: Machine
    jobs: tuple[Job, ...]
    report: CheckReport
    totals: Totals


def assess(rig: Rig, catalog: Catalog) -> Assessment:
    """Return the assessment of a rig; pure, so equal rigs give equal answers."""
    raise NotImplementedError
