"""Host memory: type, kind of module, slots, capacity, channels, speed, and room beside the GPUs."""

import math
from collections.abc import Callable, Iterator

from rigplanner.catalog.schema.parts import CPU, MemoryKit, Motherboard, System
from rigplanner.rig.document import Item
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.bounds import Bounds, between
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, item_of, swap
from rigplanner.rules.core.moves import LOAD, harmless
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.classes.boards import memory_gib
from rigplanner.rules.hardware.generations import generation

INTERCHANGEABLE = {"ecc-udimm": ("udimm",), "cudimm": ("udimm",)}
"""Kinds that also work where the other is listed: an ECC UDIMM runs without ECC, a CUDIMM in bypass
mode (JEDEC DDR5)."""


class Fitted(Named, frozen=True):
    """A memory kit on the board, and the CPU that drives it."""

    kit: MemoryKit
    board: Motherboard | System
    cpu: CPU | None


class Bank(Named, frozen=True):
    """All memory of a board together."""

    board: Motherboard | System
    cpu: CPU
    cpus: int
    modules: int
    gib: float
    kit: MemoryKit
    nodes: int = 1


def fitted(context: Context) -> Iterator[Fitted]:
    """One case per item of memory that the owner fits."""
    board = context.board
    if board is None:
        return
    cpu = context.cpus[0][1] if context.cpus else None
    seen: set[str] = set()
    for name, kit in context.memory:
        uid = name.rpartition(".")[0]
        if uid not in seen and not is_built_in(name):
            seen.add(uid)
            yield Fitted(name, kit, board.board, cpu)


def banks(context: Context) -> Iterator[Bank]:
    """The board's memory as a whole, when there is a CPU to drive it; the share of one of several
    equal computers."""
    board = context.board
    own = [(name, kit) for name, kit in context.memory if not is_built_in(name)]
    if board is None or not own or not context.cpus:
        return
    modules = sum(kit.modules for _, kit in own)
    gib = sum(kit.modules * kit.module_gib for _, kit in own)
    nodes, cpus = context.nodes, len(context.cpus)
    yield Bank(
        own[0][0],
        board.board,
        context.cpus[0][1],
        -(-cpus // nodes),
        -(-modules // nodes),
        gib / nodes,
        own[0][1],
        nodes,
    )


def suits(kit: MemoryKit, board: Motherboard | System) -> bool:
    """Say whether a kit is known to have the board's type and kind of module."""
    layout = board.layout
    return kit.type == layout.memory_type and kind_suits(kit.module, layout.memory_modules)


def kind_suits(module: str | None, accepted: tuple[str, ...]) -> bool:
    """Say whether a kind of module works where `accepted` kinds are listed."""
    return module in accepted or any(
        other in accepted for other in INTERCHANGEABLE.get(module or "", ())
    )


LARGEST_OF_8_GBIT_GIB = 32.0
"""Largest registered DDR4 module of DRAM chips of 8 Gbit (two ranks); one of 64 GiB is made of 16
Gbit."""


def dense(context: Context) -> Iterator[Fitted]:
    """Registered DDR4, and DDR4 of unknown kind, beside CPUs of the first Xeon Scalable
    generation."""
    for case in context.cases(fitted):
        first = (
            case.cpu is not None
            and generation(case.cpu.name, case.cpu.socket) == "Xeon Scalable 1st"
        )
        if first and case.kit.type == "DDR4" and case.kit.module in ("rdimm", None):
            yield case


@rule(
    "MEM010",
    "Memory chips are denser than the CPU addresses",
    "warning",
    over=dense,
    reason=(
        "The first Xeon Scalable CPUs take DRAM chips of up to 8 Gbit: registered modules of up to"
        " 32 GiB. Denser ones came with the second generation; the board then halts at start."
    ),
    source=(
        "Supermicro X11DPU manual, memory support; bios-mods.com thread 38415 (64 GB modules on a"
        " WS C621E SAGE)"
    ),
)
def density(context: Context, case: Fitted) -> Iterator[Finding]:
    """Compare the size of a registered module in GiB."""
    if case.kit.module_gib > LARGEST_OF_8_GBIT_GIB and case.kit.module is None:
        yield density.unknown(case, f"{case.kit.id}:module")
    elif case.kit.module_gib > LARGEST_OF_8_GBIT_GIB:

        def smaller(kit: MemoryKit) -> bool:
            return (
                suits(kit, case.board)
                and kit.module == "rdimm"
                and kit.module_gib == LARGEST_OF_8_GBIT_GIB
            )

        fixes = swap(context, "other-memory", case.name, smaller)
        yield density.finding(
            case, needed=LARGEST_OF_8_GBIT_GIB, actual=case.kit.module_gib, unit="GiB", fixes=fixes
        )


def limit_gib(context: Context) -> float | None:
    """Return the memory that board and CPUs can address in GiB, as far as they tell; None where
    neither does."""
    board = context.board.board.layout.memory_max_gib if context.board else None
    cpu = context.cpus[0][1].memory if context.cpus else None
    of_cpus = (
        cpu.max_gib * len(context.cpus) if cpu is not None and cpu.max_gib is not None else None
    )
    return min((limit for limit in (board, of_cpus) if limit is not None), default=None)


def _other_kit(context: Context, case: Fitted) -> tuple[Fix, ...]:
    """Replace a kit by one that the board takes, of the kind of the kits that stay, and with it
    those that cannot stay either."""
    found = item_of(context, case.name) if context.advise else None
    if found is None:
        return ()
    others = [other for other in context.cases(fitted) if other.name != case.name]
    staying = [other for other in others if suits(other.kit, case.board)]
    going = [
        entry
        for other in others
        if other not in staying and (entry := item_of(context, other.name)) is not None
    ]
    count = found[0].quantity + sum(entry[0].quantity for entry in going)
    takes_over = _takes_over(context, case, staying, count)
    larger = swap(
        context,
        "other-memory",
        case.name,
        lambda kit: takes_over(kit) and kit.module_gib >= case.kit.module_gib,
    )
    fixes = larger or swap(
        context, "other-memory", case.name, takes_over, lambda kit: -kit.module_gib
    )
    if not fixes:
        return ()
    chosen = fixes[0].values["part"]
    edits = [Edit("replace_part", {"uid": entry[0].uid, "part": chosen}) for entry in going]
    return (fix(context, "other-memory", *fixes[0].edits, *edits, part=chosen, piece=case.name),)


def _takes_over(
    context: Context, case: Fitted, staying: list[Fitted], count: int
) -> Callable[[MemoryKit], bool]:
    """Whether `count` of a kit may stand where a kit and those that go with it stood: what the
    board takes, of the kind of the kits that stay, within slots and size."""
    stays = [
        kit for name, kit in context.memory if any(_of_item(name, one.name) for one in staying)
    ]
    kinds, kept = {other.kit.module for other in staying}, sum(map(_size_gib, stays))
    now = sum(kit.modules for name, kit in context.memory if not is_built_in(name))
    slots = max(now, case.board.layout.memory_slots or 0)
    left, limit = slots - sum(kit.modules for kit in stays), limit_gib(context)

    def takes_over(kit: MemoryKit) -> bool:
        return (
            (limit is None or kept + count * _size_gib(kit) <= limit)
            and count * kit.modules <= left
            and suits(kit, case.board)
            and kit.modules == case.kit.modules
            and kinds <= {kit.module}
        )

    return takes_over


def _size_gib(kit: MemoryKit) -> float:
    return kit.modules * kit.module_gib


def _of_item(name: str, other: str) -> bool:
    return name.rpartition(".")[0] == other.rpartition(".")[0]


@rule(
    "MEM001",
    "Memory type does not fit the board",
    "error",
    over=fitted,
    needs=("board.layout.memory_type",),
    reason="DDR generations differ in notch, voltage and protocol.",
    source="JEDEC module standards; board manuals",
)
def memory_type(context: Context, case: Fitted) -> Iterator[Finding]:
    """Compare DDR generations."""
    needed = case.board.layout.memory_type
    if case.kit.type != needed:
        yield memory_type.finding(
            case, needed=needed, actual=case.kit.type, fixes=_other_kit(context, case)
        )


@rule(
    "MEM002",
    "Kind of memory module does not fit the board",
    "error",
    over=fitted,
    needs=("board.layout.memory_modules", "kit.module"),
    reason=(
        "Unbuffered and registered modules do not replace each other; SO-DIMMs have another socket."
    ),
    source="JEDEC module standards; board manuals",
)
def module_kind(context: Context, case: Fitted) -> Iterator[Finding]:
    """Compare the kind of module with the kinds that board and CPU take."""
    accepted = case.board.layout.memory_modules
    if not kind_suits(case.kit.module, accepted):
        yield module_kind.finding(
            case,
            needed=" / ".join(accepted),
            actual=case.kit.module,
            fixes=_other_kit(context, case),
        )


@rule(
    "MEM003",
    "More memory modules than slots",
    "error",
    over=banks,
    needs=("board.layout.memory_slots",),
    reason="Each module takes one slot; slots of an empty CPU socket are dead.",
    source="Board manuals",
)
def memory_slots(context: Context, case: Bank) -> Iterator[Finding]:
    """Compare modules with the slots of the occupied sockets."""
    slots = live_slots(case)
    if case.modules > slots:
        yield memory_slots.finding(
            case,
            needed=case.modules,
            actual=slots,
            unit="slots",
            fixes=_fewer(context, case, slots),
        )


def live_slots(case: Bank) -> int:
    """Return the memory slots that an installed CPU drives."""
    layout = case.board.layout
    sockets = max(1, len(layout.sockets))
    return (layout.memory_slots or 0) * min(case.cpus, sockets) // sockets


def _fewer(context: Context, case: Bank, slots: int) -> tuple[Fix, ...]:
    found = item_of(context, case.name)
    if found is None:
        return ()
    others = case.modules - found[0].quantity * case.kit.modules
    return _so_many(context, case, found[0], (slots - others) // case.kit.modules)


def _so_many(context: Context, case: Bank, item: Item, quantity: int) -> tuple[Fix, ...]:
    """Set the number of kits of an item, where one at least remains, in a rig of one computer."""
    if quantity < 1 or case.nodes > 1:
        return ()
    edit = Edit("set_quantity", {"uid": item.uid, "quantity": quantity})
    return (fix(context, "fewer-modules", edit, count=quantity * case.kit.modules),)


def _most_bounds(context: Context, case: Bank, missing: tuple[str, ...]) -> Bounds | None:
    """A board whose most is not known takes what those of its class take of so many modules."""
    gib = memory_gib(case.board.layout)
    if gib is None or missing != ("board.layout.memory_max_gib",):
        return None
    return between(case, {"board.layout.memory_max_gib": (int(gib[0]), int(gib[1]))})


@rule(
    "MEM004",
    "More memory than board or CPU can address",
    "error",
    over=banks,
    needs=("board.layout.memory_max_gib", "cpu.memory.max_gib"),
    bound=_most_bounds,
    reason="Controller and firmware stop at a maximum.",
    source="CPU specifications, board manuals",
)
def capacity(context: Context, case: Bank) -> Iterator[Finding]:
    """Compare the sum in GiB with the smaller of the two limits."""
    of_cpu = (case.cpu.memory.max_gib or 0) * case.cpus if case.cpu.memory else 0
    limit = min(case.board.layout.memory_max_gib or 0, of_cpu)
    if case.gib > limit:
        found, kit_gib = item_of(context, case.name), case.kit.modules * case.kit.module_gib
        left = limit - (case.gib - found[0].quantity * kit_gib) if found else 0.0
        fixes = _so_many(context, case, found[0], int(left // kit_gib)) if found else ()
        yield capacity.finding(case, needed=case.gib, actual=limit, unit="GiB", fixes=fixes)


HALF_ENOUGH = 2
"""Channels beyond which an evenly filled half is only told: it is how servers are sold."""
EVEN_OF_TWELVE = (6, 8, 10)
"""Modules over which EPYC of twelve channels interleaves (AMD's population guidelines for EPYC
9004, recalled)."""


def _evenly(modules: int, channels: int) -> bool:
    return (channels > HALF_ENOUGH and 2 * modules == channels) or (
        channels == 12 and modules in EVEN_OF_TWELVE
    )


@rule(
    "MEM005",
    "Memory channels are left empty",
    "warning",
    over=banks,
    needs=("cpu.memory.channels", "board.layout.memory_slots"),
    reason="Host bandwidth, and with it loading and offload, grows with the channels in use.",
    source="CPU makers' memory population rules",
)
def channels(context: Context, case: Bank) -> Iterator[Finding]:
    """Compare the modules with the channels of CPUs and board; a remark where half are
    filled, or as many as memory interleaves over."""
    memory = case.cpu.memory
    wired = case.board.layout.memory_channels
    per_cpu = (
        min(memory.channels, wired)
        if memory and memory.channels and wired
        else (memory.channels if memory else 0) or 0
    )
    needed = min(per_cpu * case.cpus, live_slots(case))
    if 0 < case.modules < needed:
        yield channels.finding(
            case,
            "info" if _evenly(case.modules, needed) else None,
            needed=needed,
            actual=case.modules,
            unit="channels",
            fixes=_all_channels(context, case, needed),
        )


def _all_channels(context: Context, case: Bank, needed: int) -> tuple[Fix, ...]:
    """More of the same kit, where the whole number of kits fills the channels and fits the
    limits."""
    found = item_of(context, case.name)
    others = case.modules - found[0].quantity * case.kit.modules if found else 0
    quantity, rest = divmod(needed - others, case.kit.modules)
    limit = limit_gib(context)
    if found is None or rest or case.nodes > 1:
        return ()
    gib = case.gib + (quantity - found[0].quantity) * case.kit.modules * case.kit.module_gib
    if limit is not None and gib > limit:
        return ()
    edit = Edit("set_quantity", {"uid": found[0].uid, "quantity": quantity})
    return harmless(context, (fix(context, "fill-channels", edit, count=needed),), *LOAD)


def mixed_kits(context: Context) -> Iterator[Fitted]:
    """Each further memory item beside the first."""
    yield from list(fitted(context))[1:]


@rule(
    "MEM007",
    "Memory kits differ",
    "warning",
    may_err=True,
    over=mixed_kits,
    needs=("kit.speed_mts",),
    reason=(
        "Mixed kits run at the slower timing and may not train at all; kinds of module never mix."
    ),
    source="Board makers' population rules",
)
def kits_differ(context: Context, case: Fitted) -> Iterator[Finding]:
    """Compare each further kit with the first in kind, size and rate."""
    first = next(fitted(context))
    mine, other = case.kit, first.kit
    same_kind = (mine.type, mine.module) == (other.type, other.module)
    if same_kind and (mine.module_gib, mine.speed_mts) == (other.module_gib, other.speed_mts):
        return
    found = item_of(context, case.name)
    gib = sum(kit.modules * kit.module_gib for _, kit in context.memory)
    more = (
        found[0].quantity * (other.modules * other.module_gib - mine.modules * mine.module_gib)
        if found
        else 0.0
    )
    room = other.modules <= mine.modules and gib + more <= max(gib, limit_gib(context) or math.inf)
    edits = (
        (Edit("replace_part", {"uid": found[0].uid, "part": other.id}),) if found and room else ()
    )
    yield kits_differ.finding(
        case,
        "warning" if same_kind else "error",
        subjects=(first.name, case.name),
        needed=other.id,
        actual=mine.id,
        fixes=(fix(context, "same-memory", *edits, part=other.id),) if edits else (),
        variant="" if same_kind else "kind",
        first=_kind(other),
        second=_kind(mine),
    )


def _kind(kit: MemoryKit) -> str:
    """Return what a kit's modules are, such as "DDR4 RDIMM"."""
    return f"{kit.type} {(kit.module or '').upper()}".strip()


class Room(Named, frozen=True):
    """Host memory beside the GPUs'."""

    gib: float | None
    gpu_gib: float | None
    largest_gib: float | None


def room(context: Context) -> Iterator[Room]:
    """Host memory of rigs whose GPUs have memory of their own."""
    nodes = [
        node
        for node in context.machine.gpu_parts
        if node.gpu.form_factor not in ("embedded", "chip", "superchip")
    ]
    if not nodes or not context.memory:
        return
    sizes = [node.gpu.memory_gib for node in nodes]
    known = [size for size in sizes if size is not None]
    complete = len(known) == len(sizes)
    yield Room(
        context.memory[0][0],
        context.memory_gib,
        sum(known) if complete else None,
        max(known) if complete else None,
    )


@rule(
    "MEM008",
    "Less host memory than GPU memory",
    "warning",
    over=room,
    needs=("gpu_gib",),
    reason=(
        "Loading checkpoints, pinned buffers and data workers want host memory of the size of the"
        " GPUs' at least."
    ),
    source="Common sizing rule of workstation builders",
)
def host_room(context: Context, case: Room) -> Iterator[Finding]:
    """Below the largest GPU a warning, below the sum of all a remark, in GiB."""
    if (
        case.gib is None
        or case.gpu_gib is None
        or case.largest_gib is None
        or case.gib >= case.gpu_gib
    ):
        return
    short = case.gib < case.largest_gib
    found = item_of(context, case.name)
    fixes: tuple[Fix, ...] = ()
    if short and found:
        kit = context.memory[0][1]
        rest_gib = (case.gib or 0.0) - found[0].quantity * kit.modules * kit.module_gib
        fixes = swap(
            context,
            "other-memory",
            case.name,
            lambda other: (
                (other.type, other.module, other.modules) == (kit.type, kit.module, kit.modules)
                and other.modules * other.module_gib * found[0].quantity >= case.gpu_gib
                and other.modules * other.module_gib * found[0].quantity + rest_gib
                <= (limit_gib(context) or math.inf)
            ),
        )
    yield host_room.finding(
        case,
        "warning" if short else "info",
        needed=case.gpu_gib,
        actual=case.gib,
        unit="GiB",
        fixes=fixes,
    )
