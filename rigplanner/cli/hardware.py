"""The machine that a case names: GPUs by words, or those of a rig file."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.cli.reading import open_catalog
from rigplanner.errors import TooLarge, WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.memory.capacity.changes import cheapest_changes
from rigplanner.performance.host.hosts import memory_gib
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rig.workload import Hardware, Workload

MOST_GPUS = 100_000
MOST_LISTED = 64
"""GPUs that are looked at one by one."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a case runs: `count` GPUs over `nodes` computers, one by one in `gpus`; `free_gib` on
    each where it was said; `machine` of a rig file; `power_limit_w` what a case lets each draw.
    Without `gpu`, `fault` says why, or the CPUs are `alone`. `cpus` were named without a rig."""

    gpu: GPU | None
    count: int
    nodes: int
    link: str
    machine: Machine | None = None
    fault: str = ""
    gpus: tuple[GPU, ...] = ()
    free_gib: tuple[float, ...] | None = None
    power_limit_w: float | None = None
    alone: bool = False
    cpus: tuple[CPU, ...] = ()

    @property
    def ram_gib(self) -> float | None:
        """GiB of the machine's memory modules; None where no machine or no module is known."""
        return memory_gib(self.machine) if self.machine else None

    @property
    def unequal(self) -> bool:
        """Whether the GPUs differ."""
        return len({gpu.id for gpu in self.gpus}) > 1


def place_of(hardware: Hardware) -> Place:
    """Return where a case runs. Raises WorkloadFault for a count beyond sense or a rig that cannot
    be read."""
    found = msgspec.structs.replace(_place_of(hardware), power_limit_w=hardware.power_limit_w)
    if hardware.rig or not hardware.cpu:
        return found
    cpus = cpus_named(hardware.cpu, hardware.cpus)
    alone = not hardware.gpu and not hardware.gpus
    return msgspec.structs.replace(found, cpus=cpus, alone=alone)


MOST_CPUS, MOST_NEAR = 8, 3


def cpus_named(name: str, count: int | None) -> tuple[CPU, ...]:
    """Return so many CPUs of a name. Raises WorkloadFault naming the nearest for a name that the
    catalog lacks, or for a count beyond sense."""
    several = 1 if count is None else count
    if not 1 <= several <= MOST_CPUS:
        raise WorkloadFault(f"hardware.cpus: expected 1 to {MOST_CPUS}, found {several}.")
    catalog = open_catalog()
    index = index_of(catalog)
    found = [part for part in index.find(name, "cpu", limit=1) if isinstance(part, CPU)]
    if not found:
        near = ", ".join(part.name for part in index.nearest(name, "cpu", MOST_NEAR))
        raise WorkloadFault(
            f"hardware.cpu: the catalog has no '{name}'"
            f"{'; the nearest are ' + near if near else ''}."
        )
    return (found[0],) * several


def _place_of(hardware: Hardware) -> Place:
    if hardware.rig:
        return _place_of_rig(Path(hardware.rig))
    if hardware.gpus:
        return _place_of_gpus(hardware)
    count, nodes = (1 if value is None else value for value in (hardware.count, hardware.nodes))
    for field, value in (("count", count), ("nodes", nodes)):
        if not 1 <= value <= MOST_GPUS:
            raise WorkloadFault(f"hardware.{field}: expected 1 to {MOST_GPUS}, found {value}.")
    link = hardware.link or "unknown"
    try:
        gpu = find_gpu(hardware.gpu)
        free = None if hardware.free_gib is None else tuple(hardware.free_gib)
        return Place(
            gpu=gpu,
            count=count,
            nodes=nodes,
            link=link,
            gpus=(gpu,) * count if count <= MOST_LISTED else (),
            free_gib=free,
        )
    except WorkloadFault as fault:
        return Place(gpu=None, count=count, nodes=nodes, link=link, fault=str(fault))


def _place_of_gpus(hardware: Hardware) -> Place:
    names = hardware.gpus or []
    if len(names) > MOST_LISTED:
        raise WorkloadFault(
            f"hardware.gpus: expected at most {MOST_LISTED} names, found {len(names)}."
        )
    gpus = tuple(find_gpu(name) for name in names)
    free = None if hardware.free_gib is None else tuple(hardware.free_gib)
    if free is not None and not all(0 <= gib < 1e6 for gib in free):
        raise WorkloadFault(
            f"hardware.free_gib: expected GiB from 0 to 1e6, found {str(list(free))[:60]}."
        )
    link = hardware.link or "unknown"
    return Place(
        gpu=gpus[0], count=len(gpus), nodes=hardware.nodes or 1, link=link, gpus=gpus, free_gib=free
    )


def _place_of_rig(path: Path) -> Place:
    from rigplanner.rules.assess import link_of, machine_of

    try:
        machine = machine_of(read_rig(path), open_catalog())
    except (RigFault, TooLarge) as fault:
        raise WorkloadFault(f"hardware.rig: {fault}") from fault
    if not machine.gpus:
        if not machine.cpus:
            raise WorkloadFault(f"hardware.rig: {path} has neither a GPU nor a CPU.")
        return Place(gpu=None, count=1, nodes=1, link="none", machine=machine, alone=True)
    gpus = tuple(node.gpu for node in machine.gpus)
    return Place(
        gpu=gpus[0], count=len(gpus), nodes=1, link=link_of(machine), machine=machine, gpus=gpus
    )


MOST_WAYS = 3


def ways_to_fit(work: Workload, place: Place, zoo: Zoo) -> list[dict[str, Any]]:
    """Return the first changes that make a job fit the GPUs of a place, as records."""
    assert place.gpu is not None
    changes = cheapest_changes(work, smallest(place.gpu, place), place.count, zoo)
    fitting = [change for change in changes if change.fits]
    return [msgspec.to_builtins(change) for change in fitting[:MOST_WAYS]]


def smallest(gpu: GPU, place: Place) -> GPU:
    """Return the card of a place that has least memory."""
    return min((gpu, *place.gpus), key=lambda one: one.memory_gib or 0.0)
