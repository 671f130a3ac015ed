"""What a plan promises of the machine that will be delivered, in the terms in which it can be
seen."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.asbuilt.seen import PcieLink
from rigplanner.catalog.schema.parts import MemoryKit, Motherboard, NetworkCard, System
from rigplanner.machine.graph import graph_of, islands
from rigplanner.machine.model import GpuNode, Machine
from rigplanner.machine.nodes import gpu_node
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.copies import copy_rates
from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.rules.assess import Assessment

T = TypeVar("T")

HOST_SPREAD = (0.8, 1.1)
"""Host copies against the calibrated rate of the link: what pinned copies of nvbandwidth reach on
hosts of one generation differs by about a fifth (the same spread as peer copies)."""
DRIVE_LEAST = 0.8
"""Share of a drive's promised sequential rate below which a test with large blocks is too slow."""


class PromisedCard(Struct, frozen=True, kw_only=True):
    """A GPU, drive or network card: its name, the piece that it is, the place planned for it and
    the link there. `nvlinks` counts the NVLinks that shall be up; `cap_w` is the planned limit of
    power, the card's own where none is planned, `base_mhz` the clock that its maker guarantees;
    `bytes` and `read_gbs` are a drive's, `gbps` the sum of a network card's ports."""

    name: str
    piece: str = ""
    part: str = ""
    index: int | None = None
    place: str = ""
    riser: bool = False
    generation: int | None = None
    width: int | None = None
    nvlinks: int | None = None
    cap_w: float | None = None
    capped: bool = False
    memory_gib: float | None = None
    numa: int | None = None
    base_mhz: float | None = None
    bytes: float | None = None
    read_gbs: float | None = None
    gbps: float | None = None

    @property
    def link(self) -> PcieLink:
        """The planned link."""
        return PcieLink(self.generation, self.width)


class PromisedRate(Struct, frozen=True, kw_only=True):
    """A predicted figure with its interval; `gpus` as in `SeenRate`. `job` is the number of the
    rig's workload that it predicts, `program` what measures it."""

    metric: str
    value: float
    low: float
    high: float
    unit: str
    gpus: tuple[int, ...] = ()
    job: int | None = None
    program: str = ""


class Promise(Struct, frozen=True, kw_only=True):
    """All that is promised; None and empty are not promised. `gpus` are those that jobs run on,
    `displays` those that only drive the monitors, `ports` are network ports by rate, `peer` says
    that GPUs shall reach each other directly."""

    name: str = ""
    board: str = ""
    system: str = ""
    cpu: str = ""
    sockets: int | None = None
    cores: int | None = None
    gpus: tuple[PromisedCard, ...] = ()
    displays: tuple[PromisedCard, ...] = ()
    drives: tuple[PromisedCard, ...] = ()
    nics: tuple[PromisedCard, ...] = ()
    ports: tuple[PromisedCard, ...] = ()
    matrix: tuple[tuple[str, ...], ...] = ()
    modules: int | None = None
    memory_gib: float | None = None
    memory_mts: int | None = None
    memory_least_mts: int | None = None
    memory_type: str = ""
    channels: int | None = None
    ecc: bool | None = None
    rates: tuple[PromisedRate, ...] = ()
    software: dict[str, str] = {}
    peer: bool = False


def promise_of(assessment: Assessment) -> Promise:
    """Return what a rig promises; of several computers that only a network joins, what each does:
    they are accepted one by one."""
    machine, rig = one_node(assessment.machine), assessment.rig
    count = _node_count(assessment.machine)
    boards = [piece.part for piece in machine.pieces if isinstance(piece.part, Motherboard)]
    systems = [piece.part for piece in machine.pieces if isinstance(piece.part, System)]
    cpu = machine.cpus[0].cpu if machine.cpus else None
    kits = [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]
    modules = sum(kit.modules for kit in kits) // count
    memory_gib = sum(kit.modules * kit.module_gib for kit in kits) / count
    cells = machine.matrix[: len(machine.gpus)]
    return Promise(
        name=rig.name,
        board=boards[0].name if boards and not systems else "",
        system=systems[0].name if systems else "",
        cpu=cpu.name if cpu else "",
        sockets=len(machine.cpus) or None,
        cores=cpu.cores if cpu else None,
        gpus=tuple([_gpu(machine, node) for node in machine.gpus]),
        displays=tuple(replace(_gpu(machine, node), index=None) for node in machine.displays),
        drives=tuple(_drives(machine)),
        nics=tuple(_nics(machine)),
        ports=tuple(_ports(machine)),
        matrix=tuple([row[: len(machine.gpus)] for row in cells]) if len(cells) > 1 else (),
        modules=modules or None,
        memory_gib=memory_gib or None,
        memory_mts=_memory_mts(kits),
        memory_least_mts=_memory_least(machine, kits, modules),
        memory_type=kits[0].type if kits else "",
        channels=min(_all_channels(machine), modules) or None,
        ecc=_ecc(kits),
        rates=tuple(_rates(machine, assessment)),
        software=rig.settings.software,
        peer=any(cell == "OK" for row in machine.p2p for cell in row),
    )


def _node_count(machine: Machine) -> int:
    return max(1, len(nodes_of(machine, tuple(range(len(machine.gpus))))))


def one_node(machine: Machine) -> Machine:
    """Return the first of several computers as a machine of its own, others whole; drives, memory
    and network cards stay with the whole machine and are shared out by number."""
    nodes = nodes_of(machine, tuple(range(len(machine.gpus))))
    if len(nodes) < 2:
        return machine
    board, here = next(iter(nodes.items()))
    gpus = [replace(machine.gpus[old], index=new) for new, old in enumerate(here)]
    names = {gpu_node(old): gpu_node(new) for new, old in enumerate(here)}
    elsewhere = {use.piece for use in machine.slots_in_use if use.board != board}
    elsewhere |= {name for use in machine.drives if use.board != board for name in use.pieces}
    gone = {gpu_node(old) for old in range(len(machine.gpus))} - set(names)
    edges = [
        replace(edge, a=names.get(edge.a, edge.a), b=names.get(edge.b, edge.b))
        for edge in machine.edges
        if not {edge.a, edge.b} & gone
    ]
    return replace(
        machine,
        gpus=tuple(gpus),
        cpus=tuple([cpu for cpu in machine.cpus if cpu.board in ("", board)]),
        nics=(),
        pieces=tuple([piece for piece in machine.pieces if piece.name not in elsewhere]),
        storage=tuple([drive for drive in machine.storage if drive.piece not in elsewhere]),
        edges=tuple(edges),
        pairs=_part(machine.pairs, here),
        p2p=_part(machine.p2p, here),
        islands=islands(graph_of(edges), len(here)),
    )


def _part(cells: tuple[tuple[T, ...], ...], here: tuple[int, ...]) -> tuple[tuple[T, ...], ...]:
    return tuple([tuple([cells[a][b] for b in here]) for a in here])


def _ecc(kits: list[MemoryKit]) -> bool | None:
    known = [kit.ecc for kit in kits]
    return None if not known or None in known else all(known)


def _memory_mts(kits: list[MemoryKit]) -> int | None:
    """Return the speed of the slowest kit: what was bought, by its own profile where it has one."""
    speeds = [kit.speed_mts for kit in kits]
    return min([speed for speed in speeds if speed is not None], default=None)


def _memory_least(machine: Machine, kits: list[MemoryKit], modules: int) -> int | None:
    """Return the speed that the memory controller takes without overclocking, with so many modules
    on each channel: below it something is wrong, up to the kit's own it is a setting."""
    wished, channels = _memory_mts(kits), _all_channels(machine)
    tables = [node.cpu.memory.speeds_mts for node in machine.cpus if node.cpu.memory]
    if wished is None or not tables or not channels:
        return None
    deep = -(-modules // channels)
    official = [table[str(deep)] for table in tables if str(deep) in table]
    return min(wished, *official) if official else None


def _all_channels(machine: Machine) -> int:
    sizes = [node.cpu.memory.channels for node in machine.cpus if node.cpu.memory]
    return sum(size for size in sizes if size)


def _gpu(machine: Machine, node: GpuNode) -> PromisedCard:
    use = next((use for use in machine.slots_in_use if use.piece == node.piece), None)
    card = node.gpu
    links = 0
    for edge in machine.edges:
        if edge.kind in ("nvlink", "nvswitch") and gpu_node(node.index) in (edge.a, edge.b):
            links += edge.links
    return PromisedCard(
        name=card.name,
        piece=node.piece,
        part=card.id,
        index=node.index,
        place=node.place or "",
        riser=use is not None and use.riser is not None,
        generation=node.gen,
        width=node.width,
        nvlinks=links if card.nvlink is not None and links else None,
        cap_w=node.power_cap_w or card.tdp_w,
        capped=node.power_cap_w is not None,
        memory_gib=card.memory_gib,
        numa=node.numa,
        base_mhz=card.base_mhz,
    )


def _drives(machine: Machine) -> list[PromisedCard]:
    return [
        PromisedCard(
            name=node.storage.name,
            piece=node.piece,
            part=node.storage.id,
            place=node.place or "",
            generation=node.gen if node.storage.interface == "nvme" else None,
            width=node.width if node.storage.interface == "nvme" else None,
            bytes=node.storage.capacity_gb * 1e9,
            read_gbs=node.storage.read_gbs,
        )
        for node in machine.storage
    ]


def _nics(machine: Machine) -> list[PromisedCard]:
    found: list[PromisedCard] = []
    for piece in machine.pieces:
        if isinstance(piece.part, NetworkCard) and piece.part.form_factor == "pcie":
            use = next((use for use in machine.slots_in_use if use.piece == piece.name), None)
            found.append(
                PromisedCard(
                    name=piece.part.name,
                    piece=piece.name,
                    part=piece.part.id,
                    place=use.slot.id if use else "",
                    riser=use is not None and use.riser is not None,
                    generation=use.gen if use else None,
                    width=use.width if use else None,
                )
            )
    return found


def _ports(machine: Machine) -> list[PromisedCard]:
    return [
        PromisedCard(name=piece.part.name, piece=piece.name, gbps=piece.part.port_gbps)
        for piece in machine.pieces
        if isinstance(piece.part, NetworkCard) and piece.part.port_gbps
        for _ in range(piece.part.ports or 0)
    ]


def _rates(machine: Machine, assessment: Assessment) -> list[PromisedRate]:
    rates: list[PromisedRate] = []
    ring = allreduce(machine)
    if ring is not None:
        rates.append(
            PromisedRate(
                metric="allreduce-busbw",
                value=ring.value,
                low=ring.low,
                high=ring.high,
                unit="GB/s",
                program="nccl-tests",
            )
        )
    for a, row in enumerate(copy_rates(machine)):
        for b, copy in enumerate(row):
            if copy is not None and a != b:
                kind = "copy-peer" if machine.p2p[a][b] == "OK" else "copy-staged"
                rates.append(
                    PromisedRate(
                        metric=kind,
                        value=copy.value,
                        low=copy.low,
                        high=copy.high,
                        unit="GB/s",
                        gpus=(a, b),
                        program="p2pBandwidthLatencyTest",
                    )
                )
    jobs = _job_rates(assessment) if machine is assessment.machine else []
    return [*rates, *_host_rates(machine), *_drive_rates(machine), *jobs]


def _host_rates(machine: Machine) -> list[PromisedRate]:
    low, high = HOST_SPREAD
    return [
        PromisedRate(
            metric="host-to-gpu",
            value=node.host_gbs,
            low=node.host_gbs * low,
            high=node.host_gbs * high,
            unit="GB/s",
            gpus=(node.index,),
            program="nvbandwidth",
        )
        for node in machine.gpus
        if node.host_gbs
    ]


def _drive_rates(machine: Machine) -> list[PromisedRate]:
    """Return the read rate of the fastest drive: a test names no drive that a plan would know."""
    rates = [node.storage.read_gbs for node in machine.storage if node.storage.read_gbs]
    best = max(rates, default=0.0)
    return [
        PromisedRate(
            metric="drive-read",
            value=best,
            low=best * DRIVE_LEAST,
            high=best,
            unit="GB/s",
            program="fio",
        )
        for _ in range(1 if best else 0)
    ]


def _job_rates(assessment: Assessment) -> list[PromisedRate]:
    return [
        PromisedRate(
            metric=job.speed.metric,
            value=job.speed.value,
            low=job.speed.low,
            high=job.speed.high,
            unit=job.speed.metric,
            job=job.index,
            program=job.speed.stack,
        )
        for job in assessment.jobs
        if job.speed is not None
    ]
