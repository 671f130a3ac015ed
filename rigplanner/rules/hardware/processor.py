"""CPU and board: socket, chipset, firmware, sockets left empty."""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import CPU, Motherboard, System, year_of
from rigplanner.machine.placement.locate import numa_settings
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.bounds import Bounds, with_value
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named, Severity
from rigplanner.rules.core.fixes import fix, item_of, swap
from rigplanner.rules.core.moves import LOAD, SPACE, harmless
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.classes.boards import always_listed
from rigplanner.rules.hardware.generations import first_years, generation, listed, younger


class Seated(Struct, frozen=True):
    """A CPU the owner puts on the board."""

    name: str
    cpu: CPU
    board_name: str
    board: Motherboard | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.board_name)


def seated(context: Context) -> Iterator[Seated]:
    """Every CPU that is not soldered or built in, with the board it goes on."""
    board = context.board
    if board is None:
        return
    for name, cpu in context.cpus:
        if not is_built_in(name):
            yield Seated(name, cpu, board.name, board.board)


def models(context: Context) -> Iterator[Seated]:
    """One case per CPU model, however many there are of it."""
    seen: set[str] = set()
    for case in seated(context):
        if case.cpu.id not in seen:
            seen.add(case.cpu.id)
            yield case


def with_chipset(context: Context) -> Iterator[Seated]:
    """CPU models whose board has a chipset, or that name the chipsets they work with."""
    for case in models(context):
        if case.cpu.socket in case.board.layout.sockets and (
            case.board.layout.chipset or case.cpu.chipsets
        ):
            yield case


@rule(
    "CPU001",
    "CPU does not fit the board's socket",
    "error",
    over=models,
    needs=("board.layout.sockets", "cpu.socket"),
    reason="A CPU works only in the socket it was made for.",
    source="Makers' CPU support lists",
)
def socket(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare the CPU's socket with the board's."""
    sockets = case.board.layout.sockets
    if case.cpu.socket not in sockets:
        fixes = _another(context, case, sockets)
        yield socket.finding(case, needed=sockets[0], actual=case.cpu.socket, fixes=fixes)


def _another(context: Context, case: Seated, sockets: tuple[str, ...]) -> tuple[Fix, ...]:
    """Offer a CPU for one of these sockets that loses no card or drive its place."""
    fixes = swap(
        context,
        "other-cpu",
        case.name,
        lambda cpu: cpu.socket in sockets and _replaces(cpu, case, context),
    )
    return harmless(context, fixes, "SLT001", "SLT005", "M2001", *SPACE, *LOAD)


def _replaces(cpu: CPU, case: Seated, context: Context) -> bool:
    """Say whether a CPU works with the board's chipset, in the number there is, below the coolers
    chosen and with the memory, and has the vector instructions of the one it replaces."""
    vectors = {"avx", "avx2"} & set(case.cpu.isa or ())
    gib = sum(kit.modules * kit.module_gib for _, kit in context.memory)
    most = cpu.memory.max_gib if cpu.memory else None
    count = _count(context)
    return (
        chipset_suits(cpu, case.board)
        and listed(case.board, cpu) is not False
        and vectors <= set(cpu.isa or ())
        and (count <= cpu.sockets_max or count == 1)
        and all(
            cpu.socket in cooler.sockets
            for name, cooler in context.coolers
            if not is_built_in(name)
        )
        and (most is None or most * count >= gib)
    )


def chipset_suits(cpu: CPU, board: Motherboard | System) -> bool:
    """Say whether a CPU is known to work with the board's chipset, or the board has none."""
    chipset = board.layout.chipset
    return chipset is None or chipset in cpu.chipsets


@rule(
    "CPU002",
    "Chipset does not support the CPU",
    "error",
    over=with_chipset,
    needs=("cpu.chipsets", "board.layout.chipset"),
    reason=(
        "One socket served several generations; a chipset starts only the CPUs that its firmware"
        " knows."
    ),
    source="Makers' chipset and CPU support lists",
)
def chipset(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare the board's chipset with those the CPU works with."""
    layout = case.board.layout
    if layout.chipset not in case.cpu.chipsets:
        sockets = layout.sockets
        fixes = _another(context, case, sockets)
        yield chipset.finding(
            case, needed=" / ".join(case.cpu.chipsets), actual=layout.chipset, fixes=fixes
        )


def socket_counts(context: Context) -> Iterator[Seated]:
    """The first CPU model of a board with several sockets."""
    for case in models(context):
        if len(case.board.layout.sockets) > 1 and case.cpu.socket in case.board.layout.sockets:
            yield case
            return


def _count(context: Context) -> int:
    return sum(not is_built_in(name) for name, _ in context.cpus)


@rule(
    "CPU003",
    "More CPUs than the model allows together",
    "error",
    over=seated,
    needs=("board.layout.sockets",),
    reason="Single-socket models lack the links to a second CPU.",
    source="Makers' CPU specifications",
)
def together(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare the number of CPUs with what the model and the board take."""
    count = _count(context)
    limit = min(case.cpu.sockets_max, len(case.board.layout.sockets)) * context.nodes
    found = item_of(context, case.name)
    if count > limit and case.name == next(seated(context)).name:
        fixes: tuple[Fix, ...] = ()
        modules = sum(kit.modules for name, kit in context.memory if not is_built_in(name))
        slots = (
            (case.board.layout.memory_slots or modules)
            * limit
            // max(1, len(case.board.layout.sockets))
        )
        if found and found[0].quantity > limit and modules <= slots:
            dead = ("SLT001", "SLT005", "SPC003", "M2001", "MEM004")
            fixes = (
                fix(
                    context,
                    "fewer-cpus",
                    Edit("set_quantity", {"uid": found[0].uid, "quantity": limit}),
                    count=limit,
                ),
            )
            fixes = harmless(context, fixes, *dead)
        yield together.finding(case, needed=limit, actual=count, unit="CPUs", fixes=fixes)


@rule(
    "CPU004",
    "A CPU socket is empty, so its slots are dead",
    "warning",
    over=socket_counts,
    needs=("cpu.sockets_max", "board.layout.slots"),
    reason="Slots, M.2 and memory wired to the second CPU do not work without it.",
    source="Board manuals, block diagrams",
)
def empty_socket(context: Context, case: Seated) -> Iterator[Finding]:
    """Name the slots and ports that a missing second CPU switches off."""
    layout = case.board.layout
    count = _count(context)
    if count >= len(layout.sockets):
        return
    empty = {f"cpu{n}" for n in range(count, len(layout.sockets))}
    places = [slot.id for slot in layout.slots if slot.origin in empty] + [
        port.id for port in layout.drives if port.origin in empty
    ]
    found = item_of(context, case.name)
    fixes: tuple[Fix, ...] = ()
    if found and case.cpu.sockets_max >= len(layout.sockets):
        edit = Edit("set_quantity", {"uid": found[0].uid, "quantity": len(layout.sockets)})
        fixes = harmless(
            context, (fix(context, "second-cpu", edit, part=case.cpu.id),), "PWR002", "PWR012"
        )
    yield empty_socket.finding(
        case,
        "warning" if places else "info",
        needed=len(layout.sockets),
        actual=count,
        unit="CPUs",
        places=places,
        fixes=fixes,
    )


def pairs(context: Context) -> Iterator[Seated]:
    """Every CPU beside the first one."""
    cases = list(seated(context))
    yield from cases[1:]


@rule(
    "CPU005",
    "Different CPU models on one board",
    "error",
    over=pairs,
    needs=("board.layout.sockets",),
    reason="CPUs that share a board must be the same model.",
    source="Makers' population rules",
)
def mixed(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare each further CPU with the first."""
    first = next(seated(context))
    if case.cpu.id != first.cpu.id:
        found = item_of(context, case.name)
        edits = (
            (Edit("replace_part", {"uid": found[0].uid, "part": first.cpu.id}),) if found else ()
        )
        yield mixed.finding(
            case,
            subjects=(first.name, case.name),
            needed=first.cpu.id,
            actual=case.cpu.id,
            fixes=(fix(context, "same-cpu", *edits, part=first.cpu.id),) if edits else (),
        )


def channelled(context: Context) -> Iterator[Seated]:
    """CPU models that the board's socket takes."""
    for case in models(context):
        if case.cpu.socket in case.board.layout.sockets:
            yield case


DESKTOP_CHANNELS = 2


@cache
def fewest_channels() -> dict[str | None, int]:
    """Return the fewest memory channels of a CPU for each socket, by the shipped catalog."""
    fewest: dict[str | None, int] = {}
    for cpu in shipped_catalog().of_kind("cpu"):
        if isinstance(cpu, CPU) and cpu.memory and cpu.memory.channels:
            own = cpu.memory.channels
            fewest[cpu.socket] = min(fewest.get(cpu.socket, own), own)
    return fewest


@rule(
    "CPU006",
    "Board does not wire all memory channels of the CPU",
    "warning",
    over=channelled,
    needs=("cpu.memory.channels", "board.layout.memory_channels"),
    reason=(
        "A CPU on a smaller platform loses memory channels and lanes (a Threadripper PRO on TRX50"
        " keeps 4 of 8)."
    ),
    source="AMD TRX50 and WRX90 platform descriptions",
)
def channels_wired(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare the channels of the CPU with those of the board, per socket; a remark on boards that
    wire fewer than any CPU for the socket has, which is how they are made, as long as memory
    interleaves evenly over them (1, 2, 4, 8)."""
    memory, wired = case.cpu.memory, case.board.layout.memory_channels
    if memory and memory.channels and wired is not None and wired < memory.channels:
        fewest = fewest_channels().get(case.cpu.socket, memory.channels)
        is_made_so = DESKTOP_CHANNELS < fewest > wired and wired.bit_count() == 1
        yield channels_wired.finding(
            case,
            "info" if is_made_so else None,
            needed=memory.channels,
            actual=wired,
            unit="channels",
            lanes=case.cpu.lanes,
        )


def with_generation(context: Context) -> Iterator[Seated]:
    """CPU models that fit socket and chipset, and whose name tells their generation."""
    for case in models(context):
        fits = case.cpu.socket in case.board.layout.sockets and (
            chipset_suits(case.cpu, case.board) or not case.cpu.chipsets
        )
        if fits and generation(case.cpu.name, case.cpu.socket) is not None:
            yield case


def _list_of_class(context: Context, case: Seated, missing: tuple[str, ...]) -> Bounds | None:
    """A generation that the lists of all boards of the socket and chipset name stands on one that
    was not read, too. Where no such list was read, or the board is no older than the CPU, the maker
    of the CPU names its chipsets."""
    told = generation(case.cpu.name, case.cpu.socket)
    stands = always_listed(case.board.layout, told) if told else None
    if stands is None and case.cpu.chipsets:
        stands = chipset_suits(case.cpu, case.board)
    if stands is False and case.cpu.chipsets and not younger(case.board, case.cpu):
        stands = chipset_suits(case.cpu, case.board)
    if told is None or not stands:
        return None
    good = with_value(case, "board.layout.cpu_generations", (told,))
    return Bounds(good, good)


@rule(
    "CPU009",
    "Board's maker does not list this generation of CPU",
    "error",
    over=with_generation,
    needs=("board.layout.cpu_generations",),
    bound=_list_of_class,
    reason=(
        "One socket served several generations, and without a chipset only the firmware decides:"
        " boards for EPYC 7001 do not start EPYC 7003, boards for EPYC 7002 no EPYC 7001."
    ),
    source="Board makers' CPU support lists",
)
def generations(context: Context, case: Seated) -> Iterator[Finding]:
    """Compare the CPU's generation with those that the board's maker lists; a warning where the CPU
    is younger than the board, for the list may have grown since it was read."""
    if not listed(case.board, case.cpu):
        newer = younger(case.board, case.cpu)
        yield generations.finding(
            case,
            "warning" if newer else "error",
            needed=" / ".join(case.board.layout.cpu_generations),
            actual=generation(case.cpu.name, case.cpu.socket),
            fixes=_another(context, case, case.board.layout.sockets),
        )


def with_bios(context: Context) -> Iterator[Seated]:
    """CPU models for which the board names a first BIOS version, and those that it serves though it
    is older than they are."""
    for case in models(context):
        if first_bios(case) is not None or (_served(case) and younger(case.board, case.cpu)):
            yield case


def _served(case: Seated) -> bool:
    """Say whether the board's maker lists the CPU's generation or, where no list was read, its
    socket and chipset take the CPU."""
    if case.board.layout.cpu_generations:
        return bool(listed(case.board, case.cpu))
    return (
        bool(case.cpu.chipsets)
        and case.cpu.socket in case.board.layout.sockets
        and bool(chipset_suits(case.cpu, case.board))
    )


def first_bios(case: Seated) -> str | None:
    """Return the board's first BIOS version for a CPU, by its id, else its lane class."""
    table = case.board.layout.bios_minimum
    return table.get(case.cpu.id) or table.get(case.cpu.lane_class or "")


@rule(
    "CPU007",
    "CPU needs a newer BIOS than some boards were sold with",
    "warning",
    may_err=True,
    over=with_bios,
    needs=("board.layout.sockets",),
    reason=(
        "A board with an older BIOS does not start with this CPU; some boards can be updated"
        " without one."
    ),
    source="Board makers' CPU support lists",
)
def bios(context: Context, case: Seated) -> Iterator[Finding]:
    """Silent once the rig says that its BIOS is new enough (`settings.software["bios"]`), or, where
    no version is known from which on the CPU works, which one it is, and for systems that their
    maker sells with such CPUs. A warning where the CPU is so young that shops may hold boards with
    an older one, a remark where it is not, or the maker lists it for this very board and names no
    version."""
    needed = first_bios(case)
    actual = context.rig.settings.software.get("bios")
    if actual is not None and (needed is None or version_key(actual) >= version_key(needed)):
        return
    if needed is None and isinstance(case.board, System):
        return
    if needed is None:
        of_cpu, of_board = str(case.cpu.released)[:4], str(case.board.released)[:4]
        promised = not on_shelves(case.cpu) or bool(listed(case.board, case.cpu))
        yield bios.finding(
            case,
            "info" if promised else None,
            variant="younger",
            cpu_year=of_cpu,
            board_year=of_board,
        )
        return
    severity: Severity = (
        "error" if actual is not None else "warning" if on_shelves(case.cpu) else "info"
    )
    yield bios.finding(case, severity, needed=needed, actual=actual)


SHELF_YEARS = 4
"""Years after which shops have sold the boards that were made before a CPU came out: an estimate
from how long boards are made."""


def on_shelves(cpu: CPU) -> bool:
    """Say whether a CPU is so young, by the newest of the shipped catalog, that boards made before
    it may still be sold."""
    year = year_of(cpu)
    return year is None or max(first_years().values()) - year < SHELF_YEARS


def version_key(text: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key for version words: numbers by value, letters by themselves ("1.10" after
    "1.9", "F12b" after "F12")."""
    return tuple(
        (int(word), "") if word.isdigit() else (-1, word)
        for word in re.findall(r"\d+|[a-z]+", text.casefold())
    )


class Clustered(Named, frozen=True):
    """A CPU model and the NUMA setting that the rig names for it."""

    cpu: CPU
    setting: int


def clustered(context: Context) -> Iterator[Clustered]:
    """CPU models of rigs that name a number of NUMA nodes per socket."""
    setting = context.rig.settings.numa_per_socket
    seen: set[str] = set()
    for name, cpu in context.cpus:
        if setting is not None and cpu.id not in seen:
            seen.add(cpu.id)
            yield Clustered(name, cpu, setting)


@rule(
    "CPU008",
    "Firmware has no such NUMA setting",
    "warning",
    over=clustered,
    needs=("cpu.socket",),
    reason=(
        "EPYC and Threadripper PRO split a socket into 1, 2 or 4 nodes (NPS), Xeon Scalable into 1,"
        " 2 or 4 (SNC); others have one. The machine is shown with the CPU's own nodes."
    ),
    source="AMD EPYC and Intel Xeon tuning guides",
)
def numa_setting(context: Context, case: Clustered) -> Iterator[Finding]:
    """Compare the setting with the numbers that the socket's firmware offers."""
    offered = numa_settings(case.cpu.socket or "")
    if case.setting not in offered:
        settings = replace(context.rig.settings, numa_per_socket=None)
        usual = fix(context, "own-numa", Edit("set_settings", {"settings": settings}))
        yield numa_setting.finding(
            case,
            needed=" / ".join(map(str, offered)),
            actual=case.setting,
            unit="nodes",
            fixes=(usual,),
            setting=case.setting,
        )
