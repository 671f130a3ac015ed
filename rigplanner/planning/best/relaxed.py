"""A host that holds nothing back: parts that do not exist, each field the best of all parts of the
space. What cards do in it no real host lets them exceed."""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Bridge,
    DrivePort,
    Layout,
    MemoryChannels,
    MemoryKit,
    Motherboard,
    Part,
    Slot,
    Storage,
)
from rigplanner.machine.model import Machine
from rigplanner.performance.offload import REGISTERED
from rigplanner.planning.best.score import Score
from rigplanner.planning.best.space import CardSet, Option, Space
from rigplanner.rig.document import Item

BOARD, PROCESSOR, MEMORY, DRIVE = "ideal.board", "ideal.cpu", "ideal.memory", "ideal.drive"
APART = 5
"""Columns between the slots of the board: no card stands before another's fans."""
MODULE_GIB, LANES = 4096.0, 1024
UNKNOWN_CORES = 64
SERVERS = 12
"""Channels of one socket of a server today (EPYC 9004 and 9005)."""
DRIVES = 4
FURNITURE = (
    Item(uid="memory", part=MEMORY),
    Item(uid="ssd", part=DRIVE, quantity=DRIVES),
)


class IdealHost(Struct, frozen=True, kw_only=True):
    """The parts of the host, whose board takes a number of cards as far apart as a bridge spans."""

    cpu: CPU
    memory: MemoryKit
    drive: Storage
    generation: int

    def parts(self, cards: CardSet, catalog: Catalog, own_roots: bool) -> tuple[Part, ...]:
        """Return board, processor, memory and drive for a set of cards. `own_roots`: each slot
        hangs on a host bridge of its own."""
        return (self._board(cards, catalog, own_roots), self.cpu, self.memory, self.drive)

    def _board(self, cards: CardSet, catalog: Catalog, own_roots: bool) -> Motherboard:
        bridge = catalog.get(cards.bridge) if cards.bridge else None
        pitch = (bridge.spacing_slots or APART) if isinstance(bridge, Bridge) else APART
        channels = self.memory.modules
        return _ideal_board(
            cards.count,
            pitch,
            own_roots,
            self.generation,
            (self.memory.type, self.memory.module or "udimm"),
            channels,
        )

    def items(self, furnished: bool) -> tuple[Item, ...]:
        """Return the items of the host, without cards; `furnished`: with memory and drives."""
        sitting = (Item(uid="board", part=BOARD), Item(uid="cpu", part=PROCESSOR))
        return (*sitting, *FURNITURE) if furnished else sitting


@lru_cache(256)
def _ideal_board(
    count: int,
    pitch: int,
    own_roots: bool,
    generation: int,
    memory: tuple[str, str],
    channels: int,
) -> Motherboard:
    """The board for so many cards: one and the same for all sets that ask for it, so that what
    stands where on it is worked out once."""
    memory_type, module = memory
    slots = tuple(
        Slot(
            id=f"S{n}",
            position=1 + n * pitch,
            mechanical=16,
            origin="cpu0",
            gen=generation,
            width=16,
            root=f"r{n}" if own_roots else "r0",
        )
        for n in range(count)
    )
    ports = tuple(
        DrivePort(
            id=f"M{n}",
            kind="m2",
            origin="cpu0",
            gen=generation,
            width=4,
            protocols=("nvme", "sata"),
            lengths_mm=(30, 42, 60, 80, 110),
        )
        for n in range(DRIVES)
    )
    layout = Layout(
        sockets=("ideal",),
        memory_type=memory_type,
        memory_modules=(module,),
        memory_slots=channels,
        memory_channels=channels,
        slots=slots,
        drives=ports,
        above_4g=True,
        resizable_bar=True,
    )
    return Motherboard(id=BOARD, name="Ideal board", vendor="", layout=layout)


def ideal_host(space: Space, catalog: Catalog) -> IdealHost:
    """Return the host that has the best of each field of all parts of a space."""
    cpus = [p for p in _parts(space, "cpu", catalog) if isinstance(p, CPU)]
    kits = [p for p in _parts(space, "memory", catalog) if isinstance(p, MemoryKit)]
    drives = [p for p in _parts(space, "storage", catalog) if isinstance(p, Storage)]
    boards = [p for p in _parts(space, "motherboard", catalog) if isinstance(p, Motherboard)]
    gens = [slot.gen or 5 for board in boards for slot in board.layout.slots]
    generation = max([5, *gens])
    rate = max([6400, *(kit.speed_mts or 0 for kit in kits)])
    channels = _most_channels(cpus)
    cpu = CPU(
        id=PROCESSOR,
        name="Ideal processor",
        vendor="",
        socket="ideal",
        cores=2 * max([64, *(cpu.cores or 0 for cpu in cpus)]),
        threads=4 * max([64, *(cpu.cores or 0 for cpu in cpus)]),
        boost_ghz=max([5.7, *(cpu.boost_ghz or 0.0 for cpu in cpus)]),
        lanes=LANES,
        pcie_gen=generation,
        isa=("avx2", "avx512f", "amx"),
        memory=MemoryChannels(
            channels=channels,
            types=("DDR5",),
            modules=("rdimm",),
            speeds_mts={"1": rate, "2": rate},
        ),
    )
    kit = MemoryKit(
        id=MEMORY,
        name="Ideal memory",
        vendor="",
        type="DDR5",
        module="rdimm",
        modules=channels,
        module_gib=MODULE_GIB,
        speed_mts=rate,
    )
    return IdealHost(cpu=cpu, memory=kit, drive=_ideal_drive(drives), generation=generation)


def host_of_socket(ideal: IdealHost, cpus: list[CPU], kits: list[MemoryKit]) -> IdealHost:
    """Return a host that has the best of each field of the processors of a socket, as many as a
    board takes, and of the memory that goes with it: no board of this socket does more."""
    channels, first = _most_channels(cpus), next(iter(kits), None)
    rate = max((kit.speed_mts or 0 for kit in kits), default=0)
    kind, module = (first.type, first.module or "udimm") if first else ("DDR5", "rdimm")
    cpu = replace(
        ideal.cpu,
        memory=MemoryChannels(
            channels=channels,
            types=(kind,),
            modules=(module,),
            speeds_mts={"1": rate, "2": rate} if rate else {},
        ),
    )
    memory = replace(
        ideal.memory, type=kind, module=module, modules=channels, speed_mts=rate or None
    )
    return IdealHost(cpu=cpu, memory=memory, drive=ideal.drive, generation=ideal.generation)


def with_cores(machine: Machine, cores: int) -> Machine:
    """Return a machine whose processors have so many cores: nothing stands elsewhere for that."""
    cpus = (replace(n, cpu=replace(n.cpu, cores=cores, threads=2 * cores)) for n in machine.cpus)
    return replace(machine, cpus=tuple(cpus))


def cores_of(options: Iterable[Option], catalog: Catalog) -> list[int]:
    """Return how many cores any of some choices of processors has; of one that nobody knows as many
    as a server's."""
    parts = ((option.quantity, catalog.get(option.part)) for option in options)
    return [many * (cpu.cores or UNKNOWN_CORES) for many, cpu in parts if isinstance(cpu, CPU)]


def most_by_cores(
    cores: Iterable[int], score_of: Callable[[int], Score | str], works: int
) -> Score | str:
    """Return the highest score that a host has with any of these numbers of cores, or why it has
    none. More of them are not always better: each layer in RAM costs time that grows with them
    (`performance/host/law.py`), while they unpack faster, so that the time of a step is convex in
    them. The mean of several works may have several tops: there each number is tried."""
    counts = sorted(set(cores))
    if not counts:
        return "not-predicted"
    known: dict[int, Score | str] = {}

    def value(at: int) -> float:
        found = known.setdefault(at, score_of(counts[at]))
        return found.value if isinstance(found, Score) else -math.inf

    low, high = 0, len(counts) - 1
    if value(low) == value(high):
        return known[low]
    if works > 1:
        low, high = 0, -1
        for at in range(len(counts)):
            value(at)
    while low < high:
        middle = (low + high) // 2
        if value(middle) < value(middle + 1):
            low = middle + 1
        else:
            high = middle
    return max(known.values(), key=lambda one: one.value if isinstance(one, Score) else -math.inf)


def _most_channels(cpus: list[CPU]) -> int:
    """Channels of memory that any choice of processors has, all sockets together; of those that
    nobody knows as many as any server's."""
    told = [
        (cpu.memory.channels if cpu.memory and cpu.memory.channels else SERVERS) * cpu.sockets_max
        for cpu in cpus
    ]
    return max(told, default=SERVERS)


def _ideal_drive(drives: list[Storage]) -> Storage:
    def most(field: str, least: float) -> float:
        return max([least, *(getattr(drive, field) or 0.0 for drive in drives)])

    return Storage(
        id=DRIVE,
        name="Ideal drive",
        vendor="",
        form_factor="m2",
        interface="nvme",
        capacity_gb=1e6,
        gen=5,
        width=4,
        read_gbs=most("read_gbs", 14.0),
        write_gbs=most("write_gbs", 14.0),
        random_read_kiops=most("random_read_kiops", 3000.0),
        random_write_kiops=most("random_write_kiops", 3000.0),
        m2_length_mm=80,
    )


def _parts(space: Space, kind: str, catalog: Catalog) -> Iterable[Part]:
    ids = dict.fromkeys(option.part for option in space.options[kind])
    return (part for part_id in ids if (part := catalog.get(part_id)) is not None)


def memory_for(cpu: CPU, kits: list[MemoryKit]) -> MemoryKit:
    """Return memory as large and fast as a processor can run any of some kits: of kinds that share
    a board the one whose rate no processor bounds."""
    rate = max((kit.speed_mts or 0 for kit in kits), default=0)
    channels = (cpu.memory.channels if cpu.memory else None) or 2
    first = next(iter(kits), None)
    plain = any(kit.module not in REGISTERED for kit in kits)
    return MemoryKit(
        id=MEMORY,
        name="Ideal memory",
        vendor="",
        type=first.type if first else "DDR5",
        module="udimm" if plain or first is None else first.module,
        modules=channels,
        module_gib=MODULE_GIB,
        speed_mts=rate or None,
    )


_ALIKE = (
    "form_factor", "dies", "edge_gen", "edge_width", "memory_gib", "memory_type", "bandwidth_gbs",
    "l2_mib", "sms", "cores", "base_mhz", "boost_mhz", "dense_tflops", "unsupported", "tdp_w",
    "power_min_w", "power_max_w", "cooling", "nvlink", "p2p", "ecc", "architecture", "chip",
    "compute_capability", "chip_maker", "plays", "is_a100", "keeps_check_bits",
)  # fmt: skip


def alike(gpu: GPU) -> tuple[object, ...]:
    """Return what cards share that do any work at the same speed in the same host: all that the
    models read of a card; a card without a chip is alone."""
    named = () if gpu.chip else (gpu.id,)
    return named + tuple(repr(getattr(gpu, field)) for field in _ALIKE)
