"""The machine that a case names: GPUs by words, or those of a rig file."""

from pathlib import Path

from msgspec import Struct

from rigplanner.catalog.parts import GPU
from rigplanner.cli.reading import open_catalog
from rigplanner.machine.machine import Machine
from rigplanner.performance.anchors import find_gpu
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.task import Hardware
from rigplanner.workload.answer import WorkloadFault

MOST_GPUS = 100_000


class Place(Struct, frozen=True, kw_only=True):
    """Where a case runs: `count` GPUs over `nodes` computers; `machine` of a rig file. Without `gpu`, `fault` says why."""

    gpu: GPU | None
    count: int
    nodes: int
    link: str
    machine: Machine | None = None
    fault: str = ""


def place_of(hardware: Hardware) -> Place:
    """Return where a case runs. Raises WorkloadFault for a count beyond sense or a rig that cannot be read."""
    if hardware.rig:
        return _place_of_rig(Path(hardware.rig))
    count, nodes = (1 if value is None else value for value in (hardware.count, hardware.nodes))
    for field, value in (("count", count), ("nodes", nodes)):
        if not 1 <= value <= MOST_GPUS:
            raise WorkloadFault(f"hardware.{field}: expected 1 to {MOST_GPUS}, found {value}.")
    link = hardware.link or "unknown"
    try:
        return Place(gpu=find_gpu(hardware.gpu), count=count, nodes=nodes, link=link)
    except WorkloadFault as fault:
        return Place(gpu=None, count=count, nodes=nodes, link=link, fault=str(fault))


def _place_of_rig(path: Path) -> Place:
    from rigplanner.rules.assess import link_of, machine_of

    try:
        machine = machine_of(read_rig(path), open_catalog())
    except RigFault as fault:
        raise WorkloadFault(f"hardware.rig: {fault}") from fault
    if not machine.gpus:
        raise WorkloadFault(f"hardware.rig: {path} has no GPU.")
    return Place(gpu=machine.gpus[0].gpu, count=len(machine.gpus), nodes=1, link=link_of(machine), machine=machine)
