"""One call from a rig to everything that is known of it: machine, memory, speed, findings,
costs."""

from collections.abc import Sequence
from functools import partial
from threading import Event, RLock
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Bridge
from rigplanner.economics.totals import Totals
from rigplanner.errors import TooLarge, WorkloadFault
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.model import Machine
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.usable_memory import usable_gib, visible_gib
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.capacity import within_memory
from rigplanner.rig.document import Rig, Site
from rigplanner.rig.workload import Workload
from rigplanner.rules.check import check
from rigplanner.rules.core.context import Context, JobFacts
from rigplanner.rules.core.finding import CheckReport
from rigplanner.rules.jobs.vram import part_seen

MOST_ADVISED = 40
"""Items of a rig beyond which no fixes are sought: each is tried on the machine, and lists of
hundreds of parts are no rigs."""
MOST_GPUS, MOST_PIECES = 1_024, 10_000
"""Of one machine: its matrix has a cell for each pair of GPUs."""
REMEMBERED = 64
MOST_DEALT = 64
"""Cards over which layers are dealt one by one."""


class Job(Struct, frozen=True, kw_only=True):
    """One workload on the rig: memory per GPU in the order of `Machine.gpus`, speed, or the fault
    that stopped either."""

    index: int
    workload: Workload
    memory: tuple[MemoryEstimate, ...] = ()
    memory_fault: str | None = None
    speed: SpeedEstimate | None = None
    speed_fault: str | None = None
    on_host: MemoryEstimate | None = None


class Assessment(Struct, frozen=True, kw_only=True):
    """Everything that the views show of one rig."""

    rig: Rig
    machine: Machine
    jobs: tuple[Job, ...]
    report: CheckReport
    totals: Totals


_first = RLock()
_tables_read = Event()


def assess(rig: Rig, catalog: Catalog, today: str = "") -> Assessment:
    """Return the assessment of a rig; pure, so equal rigs give equal answers. `today` (ISO) ends
    waivers; "" ends none. The first one of a program reads the tables that all others share: it
    goes alone, and who asks meanwhile waits for it."""
    if _tables_read.is_set():
        return _assessed(rig, catalog, today)
    with _first:
        made = _assessed(rig, catalog, today)
        _tables_read.set()
    return made


def _assessed(rig: Rig, catalog: Catalog, today: str) -> Assessment:
    machine = machine_of(rig, catalog)
    jobs = tuple(job_on(index, workload, machine) for index, workload in enumerate(rig.workloads))
    facts = tuple(facts_of(job, machine) for job in jobs)
    context = Context(
        rig=rig,
        catalog=catalog,
        machine=machine,
        jobs=facts,
        today=today,
        estimate=partial(_memory_as_timed, link_of(machine)),
        advise=len(rig.items) <= MOST_ADVISED,
    )
    return Assessment(
        rig=rig, machine=machine, jobs=jobs, report=check(context), totals=context.totals
    )


def facts_of(job: Job, machine: Machine) -> JobFacts:
    """Return what rules read of a job."""
    return JobFacts(
        name=f"workload.{job.index}",
        index=job.index,
        workload=job.workload,
        memory=job.memory,
        fault=job.memory_fault,
        speed=job.speed,
        unfed=unfed_speed(job.workload, machine) if job.speed is not None else None,
    )


def unfed_speed(
    workload: Workload, machine: Machine, remembered: bool = True
) -> SpeedEstimate | None:
    """Return the speed of a job's GPUs alone where it reads a data set."""
    if not workload.dataset_gb or not workload.dataset_samples:
        return None
    bare = replace(workload, dataset_gb=None, dataset_samples=None)
    return _speed(bare, machine, remembered)[0]


_machines: IdentityCache[tuple[Site, Machine]] = IdentityCache(REMEMBERED)
_powered: IdentityCache[Machine] = IdentityCache(REMEMBERED)
_memories: IdentityCache[MemoryEstimate | str] = IdentityCache(REMEMBERED)
_dealt: IdentityCache[tuple[MemoryEstimate, ...]] = IdentityCache(REMEMBERED)
_speeds: IdentityCache[SpeedEstimate | str] = IdentityCache(REMEMBERED)


def machine_of(rig: Rig, catalog: Catalog) -> Machine:
    """Return the machine of a rig. Edits of prices, names, notes, quote, workloads and software
    find the former answer; an edit of the site changes only its power tree. Raises TooLarge for
    more pieces than are judged as one machine."""
    from rigplanner.machine.assemble import assemble
    from rigplanner.machine.pieces import size_of
    from rigplanner.machine.power.power import power_tree

    chosen = tuple(
        (item.uid, item.part, item.quantity, item.places, item.power_cap_w, item.role)
        for item in rig.items
    )
    settings = rig.settings
    choices = (
        tuple(sorted(settings.bios.items())),
        settings.numa_per_socket,
        settings.peer_to_peer_driver,
        repr(rig.facts),
        repr(rig.site.monitors),
    )
    key = (id(catalog), id(rig.snapshot) if rig.snapshot else 0, chosen, choices)
    kept = (catalog, rig.snapshot)

    def make() -> tuple[Site, Machine]:
        pieces, gpus = size_of(rig, catalog)
        if pieces > MOST_PIECES or gpus > MOST_GPUS:
            raise TooLarge(
                f"{gpus} GPUs in {pieces} pieces are more than is judged as one machine"
                f" ({MOST_GPUS} GPUs in {MOST_PIECES} pieces)."
            )
        return rig.site, assemble(rig, catalog)

    site, machine = _machines.get(key, kept, make)
    if site == rig.site:
        return machine
    return _powered.get(
        (key, rig.site), kept, lambda: replace(machine, power=power_tree(rig, machine.pieces))
    )


def link_of(machine: Machine) -> str:
    """Return the link word of a case ("nvswitch", "nvlink-bridge", ...) that the machine's GPUs
    have."""
    if len(machine.gpus) < 2:
        return "none"
    kinds = {edge.kind for edge in machine.edges}
    if "nvswitch" in kinds:
        return "nvswitch"
    if "xgmi" in kinds:
        return "xgmi"
    if "nvlink" in kinds:
        return (
            "nvlink-bridge"
            if any(isinstance(piece.part, Bridge) for piece in machine.pieces)
            else "nvlink-mesh"
        )
    return "pcie"


def job_on(index: int, workload: Workload, machine: Machine) -> Job:
    """Return memory and speed of a workload on a machine."""
    memory, memory_fault = memory_on(workload, machine)
    on_host = None if machine.gpus or not machine.cpus else _on_host(workload)
    speed, speed_fault = speed_on(workload, machine, memory)
    return Job(
        index=index,
        workload=workload,
        memory=memory,
        memory_fault=memory_fault,
        speed=speed,
        speed_fault=speed_fault,
        on_host=on_host,
    )


def memory_on(
    workload: Workload, machine: Machine
) -> tuple[tuple[MemoryEstimate, ...], str | None]:
    """Return the memory that a workload needs on each GPU of a machine, or why it is not known."""
    from rigplanner.memory.capacity.host_fit import within_room

    placed = as_timed(workload, machine)
    needs, fault = _memory(placed, machine)
    if (placed.gpu_layers, placed.n_cpu_moe) != (workload.gpu_layers, workload.n_cpu_moe):
        gpus = (node.gpu for node in machine.gpus)
        needs = tuple(within_room(need, gpu) for need, gpu in zip(needs, gpus, strict=False))
    return needs, fault


def speed_on(
    workload: Workload,
    machine: Machine,
    memory: tuple[MemoryEstimate, ...],
    remembered: bool = True,
) -> tuple[SpeedEstimate | None, str | None]:
    """Return the speed of a workload on a machine within the memory that it needs there, or why it
    is not known. An answer for a machine that is looked at once need not be remembered."""
    speed, fault = _speed(workload, machine, remembered)
    if speed is not None and memory:
        seen = (part_seen(workload, node.gpu) for node in machine.gpus)
        speed = within_memory(speed, zip(memory, seen, strict=True))
    return speed, fault


def as_timed(workload: Workload, machine: Machine) -> Workload:
    """The job that the speed is told for, on the machine's GPUs."""
    if not machine.gpus:
        return workload
    gpus = [node.gpu for node in machine.gpus]
    return as_placed(_settled(workload, gpus[0], len(gpus), link_of(machine)), gpus)


def as_placed(workload: Workload, gpus: Sequence[GPU]) -> Workload:
    """Return the job as its engine places it: with the layers or experts that it leaves in RAM
    where the cards do not hold it."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.memory.capacity.host_fit import fitted

    try:
        return fitted(workload, gpus, shipped_zoo())
    except WorkloadFault:
        return workload


def _on_host(workload: Workload) -> MemoryEstimate | None:
    """What a job takes of a computer without a GPU; None where it cannot be told."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.memory.on_host import estimate_on_host

    try:
        return estimate_on_host(workload, shipped_zoo())
    except WorkloadFault:
        return None


def _settled(workload: Workload, gpu: GPU, count: int, link: str) -> Workload:
    """The job that the speed is told for: memory takes the same stack and precision where none is
    named. One that its stack does not run stays as it is: the speed says why."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.performance.settled import settled

    try:
        return settled(workload, gpu, count, 1, link, shipped_zoo())
    except WorkloadFault:
        return workload


def _memory_as_timed(link: str, workload: Workload, gpu: GPU, count: int) -> MemoryEstimate | str:
    """What the memory model would say of a job on other GPUs that are linked like the machine's: of
    the fullest of them."""
    work = as_placed(_settled(workload, gpu, count, link), (gpu,) * count)
    dealt = _by_layers(work, (gpu,) * count)
    return (
        max(dealt, key=lambda need: need.device_gib)
        if isinstance(dealt, tuple)
        else dealt or memory_of(work, gpu, count)
    )


def memory_of(workload: Workload, gpu: GPU, count: int) -> MemoryEstimate | str:
    """Return what the memory model says of a workload on `count` GPUs, or why it cannot; of a GPU
    it reads the size and, for serving engines, what steps they take on it."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.memory.engines import batch_limits
    from rigplanner.memory.estimate import estimate_memory

    def make() -> MemoryEstimate | str:
        try:
            return estimate_memory(workload, gpu, count, shipped_zoo())
        except WorkloadFault as fault:
            return str(fault)

    size = (gpu.memory_gib, _room(gpu), batch_limits(gpu))
    key = (msgspec.msgpack.encode(workload), size, count, gpu.id if workload.mig else "")
    return _memories.get(key, None, make)


def _room(gpu: GPU) -> tuple[float | None, float | None]:
    """What the memory model reads of a card's memory: shown, and free for jobs."""
    return visible_gib(gpu), usable_gib(gpu)


def _split_by_layers(workload: Workload, gpus: tuple[GPU, ...]) -> tuple[MemoryEstimate, ...]:
    """What each card needs where the stack deals out layers by free memory."""
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.memory.capacity.mixed_gpus import card_plan

    key = (msgspec.msgpack.encode(workload), tuple(map(_room, gpus)))
    return _dealt.get(
        key,
        None,
        lambda: tuple(card.need for card in card_plan(workload, gpus, shipped_zoo()).cards),
    )


def _by_layers(
    workload: Workload, gpus: tuple[GPU, ...]
) -> tuple[MemoryEstimate, ...] | str | None:
    """What each card needs, or why that is not known, where the stack deals out layers; None where
    it does not."""
    from rigplanner.memory.capacity.mixed_gpus import deals_layers

    if not (1 < len(gpus) <= MOST_DEALT and all(gpu.memory_gib for gpu in gpus)):
        return None
    first = memory_of(workload, gpus[0], len(gpus))
    if isinstance(first, str) or not deals_layers(workload, first.stack):
        return None
    try:
        return _split_by_layers(workload, gpus)
    except WorkloadFault as fault:
        return str(fault)


def _memory(workload: Workload, machine: Machine) -> tuple[tuple[MemoryEstimate, ...], str | None]:
    dealt = _by_layers(workload, tuple(node.gpu for node in machine.gpus))
    if dealt is not None:
        return ((), dealt) if isinstance(dealt, str) else (dealt, None)
    answers: list[MemoryEstimate] = []
    for node in machine.gpus:
        answer = memory_of(workload, node.gpu, len(machine.gpus))
        if isinstance(answer, str):
            return (), answer
        answers.append(answer)
    return tuple(answers), None


def _speed(
    workload: Workload, machine: Machine, remembered: bool = True
) -> tuple[SpeedEstimate | None, str | None]:
    from rigplanner.catalog.zoo import shipped_zoo
    from rigplanner.performance.host.predict import beside_cpus
    from rigplanner.performance.predict import predict_speed
    from rigplanner.performance.several_gpus.staleness import of_unequal

    if not machine.gpus:
        return _speed_on_host(workload, machine), None
    gpu, count, link = machine.gpus[0].gpu, len(machine.gpus), link_of(machine)

    def on(card: GPU, many: int) -> SpeedEstimate:
        return predict_speed(workload, card, many, 1, link, shipped_zoo(), machine)

    def make() -> SpeedEstimate | str:
        try:
            found = of_unequal(workload, [node.gpu for node in machine.gpus], on) or on(gpu, count)
            return beside_cpus(workload, found, machine)
        except WorkloadFault as fault:
            return str(fault)

    key = (msgspec.msgpack.encode(workload), id(machine))
    answer: Any = _speeds.get(key, machine, make) if remembered else make()
    return (None, answer) if isinstance(answer, str) else (answer, None)


def _speed_on_host(workload: Workload, machine: Machine) -> SpeedEstimate | None:
    """The speed on a computer without a GPU; None for what it does not run."""
    from rigplanner.performance.host.predict import predict_hosted

    if not machine.cpus:
        return None
    try:
        return predict_hosted(workload, (), machine, None)
    except WorkloadFault:
        return None
