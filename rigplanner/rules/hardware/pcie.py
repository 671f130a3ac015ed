"""PCIe: what width and rate each card gets, what takes it away, and what the owner must set in the
firmware."""

import math
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Motherboard, Riser, Slot, System
from rigplanner.machine.model import SlotUse
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.placement.adapters import hosts_drives
from rigplanner.rules.core.context import Context, Drive
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.fixes import swap
from rigplanner.rules.core.moves import better_moves, tries_moves
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.classes.boards import lane_bounds

MIN_GPU_GBS = 10.0
"""GB/s one way below which a GPU that could take twice as much is held back (PCIe 3.0 x8 is 7.9,
x16 15.8)."""


class Lanes(Struct, frozen=True):
    """A GPU card in a slot whose edge and link are known, unless a fact is missing."""

    name: str
    card: GPU
    use: SlotUse
    board: Motherboard | System
    link: SlotUse

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.use.slot.id)


def in_slots(context: Context) -> Iterator[Lanes]:
    """GPU cards for jobs that the owner put into PCIe slots."""
    for card in context.that_work(context.own_cards):
        if card.use is not None and card.board is not None and card.use.slot.kind == "pcie":
            yield Lanes(card.name, card.card, card.use, card.board, card.use)


def wanted_width(case: Lanes) -> int:
    """Return the lanes that the card could use in this slot at its widest."""
    return min(case.card.edge_width or 0, case.use.slot.width or 0)


@rule(
    "PCI001",
    "GPU loses lanes to a drive",
    "warning",
    over=in_slots,
    needs=("card.edge_width", "use.slot.width", "link.width"),
    bound=lane_bounds,
    reason=(
        "Some M.2 sockets share the lanes of a graphics slot; others do not. Where those are taken,"
        " the drive costs the lanes."
    ),
    source="Board manuals, lane tables",
)
def lanes_to_drive(context: Context, case: Lanes) -> Iterator[Finding]:
    """Find drives whose place narrows the GPU's slot; the fix is a place that gives the card its
    full width, and where places were tried and none does, the finding says so."""
    if (case.link.width or 0) >= wanted_width(case):
        return
    thieves = [drive for drive in context.drives if drive.port and _narrows(case, drive)]
    if thieves:
        wanted = coded_gbs(case.link.gen, wanted_width(case)) or 0.0
        fixes = better_moves(context, (drive.name for drive in thieves), case.name, wanted)
        yield lanes_to_drive.finding(
            case,
            subjects=(case.name, case.use.slot.id, *(drive.name for drive in thieves)),
            needed=wanted_width(case),
            actual=case.link.width,
            unit="lanes",
            fixes=fixes,
            variant="" if fixes or not tries_moves(context) else "stays",
            places=[drive.port.id for drive in thieves if drive.port],
        )


def _narrows(case: Lanes, drive: Drive) -> bool:
    """Say whether some lane mode narrows this slot because of the drive's port."""
    port = drive.port
    return (
        port is not None
        and drive.board is case.board
        and any(
            port.id in mode.when.used
            and mode.widths.get(case.use.slot.id, 99) <= (case.link.width or 0)
            for mode in case.board.layout.lane_modes
        )
    )


@rule(
    "PCI002",
    "GPU gets fewer lanes than card and slot have",
    "info",
    over=in_slots,
    needs=("card.edge_width", "use.slot.width", "link.width"),
    bound=lane_bounds,
    reason="Boards split the lanes of one root over slots; some CPUs and risers have fewer.",
    source="Board manuals, lane tables",
)
def lanes_shared(context: Context, case: Lanes) -> Iterator[Finding]:
    """Say that the link is narrower than slot and card allow when no drive is the cause, and what
    takes the lanes: a warning below eight, or where the CPU gives no more."""
    width = case.link.width or 0
    if width >= wanted_width(case) or any(_narrows(case, drive) for drive in context.drives):
        return
    cause, by = _narrowed_by(context, case)
    fixes = (
        better_moves(context, (*_neighbours(context, case), case.name), case.name)
        if cause in ("card", "board")
        else ()
    )
    yield lanes_shared.finding(
        case,
        "info" if width >= PAIR_LANES and cause != "cpu" else "warning",
        subjects=(*case.subjects, *by),
        by_cpu=cause == "cpu",
        needed=wanted_width(case),
        actual=width,
        unit="lanes",
        fixes=fixes,
        variant="" if cause == "card" else cause,
        by=[*by],
    )


Cause = Literal["riser", "cpu", "card", "board"]


def _narrowed_by(context: Context, case: Lanes) -> tuple[Cause, tuple[str, ...]]:
    """Return what narrows a slot's link, and the pieces that do: a riser of fewer lanes, a CPU that
    gives a slot no more, cards in slots that share its lanes, else the board's own wiring."""
    held = context.held_of.get(case.name)
    riser = context.pieces.get(held.riser) if held and held.riser else None
    width = case.link.width or 0
    if riser is not None and isinstance(riser.part, Riser) and riser.part.width == width:
        return "riser", (riser.name,)
    cpus = [(name, cpu) for name, cpu in context.cpus if cpu.peg_width == width]
    beside = tuple(_neighbours(context, case))
    if _narrowed_by_cpu(context, case) or (cpus and not beside):
        return "cpu", tuple(name for name, _ in cpus or context.cpus)[:1]
    return ("card", beside) if beside else ("board", ())


def _neighbours(context: Context, case: Lanes) -> list[str]:
    """Return the pieces in the places whose use narrows this slot."""
    slot = case.use.slot.id
    places = {
        place
        for mode in case.board.layout.lane_modes
        if slot in mode.widths
        for place in mode.when.used
    } - {slot}
    return [
        use.piece
        for use in context.machine.slots_in_use
        if use.slot.id in places and use.piece is not None
    ]


@rule(
    "PCI003",
    "GPU is in a slot of the chipset",
    "warning",
    over=in_slots,
    needs=("use.slot.origin",),
    bound=lane_bounds,
    reason="A chipset slot shares one narrow uplink with drives, network and USB.",
    source="Board block diagrams",
)
def chipset_slot(context: Context, case: Lanes) -> Iterator[Finding]:
    """Name GPUs behind the chipset; the fix is a place that gives the card a faster link, which no
    slot of a chipset does."""
    if case.use.slot.origin == "chipset":
        fixes = better_moves(context, (case.name,), case.name)
        yield chipset_slot.finding(case, fixes=fixes, uplink=case.board.layout.chipset_link)


PAIR_LANES = 8
"""Lanes of each of two cards that share the sixteen of a desktop CPU."""


@rule(
    "PCI004",
    "GPU's link is slow for it",
    "warning",
    over=in_slots,
    needs=("card.edge_gen", "card.edge_width", "link.gen", "link.width"),
    bound=lane_bounds,
    reason=(
        "Loading data and exchanging gradients go through this link; half its rate shows in"
        " training on several GPUs."
    ),
    source="PCI-SIG rates; scaling measurements at x8 and x16",
)
def slow_link(context: Context, case: Lanes) -> Iterator[Finding]:
    """Warn when the link gives at most half of what the card takes, and less than 10 GB/s one
    way; eight lanes of the card's own generation are how boards feed two cards (PCI002)."""
    able = coded_gbs(case.card.edge_gen, case.card.edge_width)
    actual = coded_gbs(case.link.gen, case.link.width)
    if able is None or actual is None or actual >= MIN_GPU_GBS or actual > able / 2:
        return
    beside = _neighbours(context, case)
    own_rate = case.link.gen == case.card.edge_gen and (case.link.width or 0) >= PAIR_LANES
    if own_rate and (isinstance(case.board, System) or _narrowed_by(context, case)[0] == "card"):
        return
    fixes = better_moves(context, (case.name, *beside), case.name)
    yield slow_link.finding(
        case,
        needed=round(able, 1),
        actual=round(actual, 1),
        unit="GB/s",
        fixes=fixes,
        gen=case.link.gen,
        width=case.link.width,
    )


def _narrowed_by_cpu(context: Context, case: Lanes) -> bool:
    """Say whether the class of CPU, and nothing that the owner put in, narrows the slot to this
    width."""
    classes = {cpu.lane_class for _, cpu in context.cpus}
    modes = (
        mode for mode in case.board.layout.lane_modes if mode.when.cpu_class and not mode.when.used
    )
    return any(
        classes & set(mode.when.cpu_class)
        and mode.widths.get(case.use.slot.id, 99) <= (case.link.width or 0)
        for mode in modes
    )


class Led(Struct, frozen=True):
    """A card that hangs on a riser."""

    name: str
    riser: Riser
    card_name: str
    card: GPU
    slot: Slot

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.card_name)


def risen(context: Context) -> Iterator[Led]:
    """GPU cards on risers."""
    for card in context.own_cards:
        riser = context.pieces.get(card.held.riser) if card.held and card.held.riser else None
        if riser is not None and isinstance(riser.part, Riser) and card.slot is not None:
            yield Led(riser.name, riser.part, card.name, card.card, card.slot)


@rule(
    "RIS001",
    "Riser is slower than the card behind it",
    "warning",
    over=risen,
    needs=("riser.gen", "riser.width", "card.edge_gen", "card.edge_width", "slot.gen"),
    reason=(
        "The link falls to the riser's generation, and may fail until the slot is set to it in the"
        " firmware."
    ),
    source="Riser makers' specifications",
)
def riser_slow(context: Context, case: Led) -> Iterator[Finding]:
    """Compare a riser's generation and width with what card and slot could have."""
    gen = min(case.card.edge_gen or 0, case.slot.gen or 0)
    width = min(case.card.edge_width or 0, case.slot.width or 0)
    if (case.riser.gen or 0) >= gen and (case.riser.width or 0) >= width:
        return

    def suits(riser: Riser) -> bool:
        return (
            (riser.gen or 0) >= gen
            and (riser.width or 0) >= width
            and riser.output == "pcie"
            and riser.outputs == 1
        )

    fixes = swap(context, "other-riser", case.name, suits)
    yield riser_slow.finding(
        case,
        needed=gen,
        actual=case.riser.gen,
        fixes=fixes,
        width=case.riser.width,
        card_width=width,
    )


LONGEST_MM = {4: 400.0, 5: 250.0}
"""Passive riser cables of this length run at this generation in machines that their owners show;
makers of 25 cm name PCIe 5.0."""


def long_risers(context: Context) -> Iterator[Led]:
    """Cards on cables of PCIe 4.0 and newer, in slots that are as fast."""
    for case in risen(context):
        kinds = {case.riser.slot_kind, case.riser.output}
        cable = kinds == {"pcie"} and case.riser.outputs == 1
        if cable and _negotiated(case) in LONGEST_MM:
            yield case


def _negotiated(case: Led) -> int:
    return min(case.riser.gen or 0, case.card.edge_gen or 0, case.slot.gen or 0)


@rule(
    "RIS002",
    "Riser is long for its generation",
    "warning",
    over=long_risers,
    needs=("riser.length_mm",),
    reason=(
        "Each generation doubles the frequency and with it what a cable loses: long passive ones"
        " throw errors at PCIe 4.0 (AER), or the machine starts only once the slot is set to 3.0. A"
        " redriver or retimer restores the signal."
    ),
    source="mov-axbx.com, risers of WOPR (90 cm fail, 40 cm run); Level1Techs forum 190742",
)
def riser_long(context: Context, case: Led) -> Iterator[Finding]:
    """Compare the length of a cable without redriver with the longest that are known to run, in
    mm."""
    gen, length_mm = _negotiated(case), case.riser.length_mm or 0.0
    if length_mm <= LONGEST_MM[gen] or case.riser.retimer:
        return
    if case.riser.retimer is None:
        yield riser_long.unknown(case, f"{case.riser.id}:retimer")
        return

    def suits(riser: Riser) -> bool:
        runs = riser.retimer or (riser.length_mm is not None and riser.length_mm <= LONGEST_MM[gen])
        least = min(case.riser.width or 0, case.card.edge_width or 0)
        return (
            bool(runs)
            and (riser.gen or 0) >= gen
            and (riser.width or 0) >= least
            and (riser.output, riser.outputs) == ("pcie", 1)
        )

    fixes = swap(
        context,
        "other-riser",
        case.name,
        suits,
        lambda riser: abs((riser.length_mm or 0.0) - length_mm),
    )
    yield riser_long.finding(
        case, needed=LONGEST_MM[gen], actual=length_mm, unit="mm", gen=gen, fixes=fixes
    )


class Risen(Named, frozen=True):
    """An adapter in a slot that makes several places of it."""

    riser: Riser
    use: SlotUse | None
    board: Motherboard | System | None


def splitters(context: Context) -> Iterator[Risen]:
    """Adapters that need their slot split."""
    for name, riser in context.risers:
        use = context.slot_of.get(name)
        if riser.outputs > 1 and riser.switch is None and not hosts_drives(riser) and use:
            yield Risen(name, riser, use, context.board_of(use.board))


@rule(
    "PCI005",
    "Slot must be split in the firmware",
    "info",
    may_err=True,
    over=splitters,
    needs=("use.slot.bifurcation", "riser.width"),
    reason=(
        "An adapter without a switch sees only its first device until the slot's bifurcation is"
        " set."
    ),
    source="Board manuals, bifurcation tables",
)
def bifurcation(context: Context, case: Risen) -> Iterator[Finding]:
    """Name the setting; an error where the slot cannot be split that way."""
    if case.use is None:
        return
    lanes = (case.riser.width or 0) // case.riser.outputs
    wanted = "".join(f"x{lanes}" for _ in range(case.riser.outputs))
    offered = case.use.slot.bifurcation
    possible = any(wanted in mode.replace("/", "").replace("+", "") for mode in offered)
    yield bifurcation.finding(
        case,
        "info" if possible else "error",
        needed=wanted,
        actual=" / ".join(offered),
        place=case.use.slot.id,
    )


class Windows(Named, frozen=True):
    """The cards of one model and the board that must map their memory."""

    card: GPU
    count: int
    board: Motherboard | System


def maps_all(card: GPU, count: int) -> bool:
    """Say whether a card maps its whole memory: compute cards do, AMD's where several exchange
    (ROCm; ROCm/legacy-rocm-build issue 858)."""
    return card.cooling == "passive" or (card.chip_maker == "AMD" and count > 1)


def large_windows(context: Context) -> Iterator[Windows]:
    """Compute cards and several AMD cards, which map their whole memory, and rigs of four GPUs or
    more."""
    board = context.board
    own = context.that_work(context.own_cards)
    if board is None:
        return
    seen: set[str] = set()
    for card in own:
        if card.card.id not in seen and (maps_all(card.card, len(own)) or len(own) >= 4):
            seen.add(card.card.id)
            yield Windows(card.name, card.card, len(own), board.board)


@rule(
    "PCI006",
    "Board must map memory above 4 GB",
    "error",
    over=large_windows,
    needs=("board.layout.above_4g",),
    reason=(
        "Compute cards and rigs with many GPUs ask for more address space than 32 bits hold;"
        " without the firmware's 'Above 4G decoding' the machine does not start or the driver"
        " fails."
    ),
    source="NVIDIA Tesla qualification notes; board manuals; ROCm: BAR memory overview",
)
def above_4g(context: Context, case: Windows) -> Iterator[Finding]:
    """An error where the firmware lacks the setting; a remark on older desktop boards, which come
    with it switched off, for cards that map their whole memory."""
    if case.board.layout.above_4g is False:
        yield above_4g.finding(case, count=case.count)
    elif OFF_BY_DEFAULT.intersection(case.board.layout.sockets) and maps_all(case.card, case.count):
        yield above_4g.finding(case, "info", count=case.count)


OFF_BY_DEFAULT = frozenset(
    ("LGA1150", "LGA1151", "LGA1155", "LGA1200", "LGA2011-3", "LGA2066", "AM4", "TR4")
)
"""Sockets whose boards were made before resizable BAR made 'Above 4G decoding' the usual."""


SMALL_SPACE = frozenset(("AM3", "LGA1150", "LGA1155", "LGA1156", "LGA1366"))
"""Sockets whose CPUs or firmware give PCI devices 36 or 39 bits and windows of at most 16 GiB."""
LARGEST_WINDOW_GIB = 16


def old_platforms(context: Context) -> Iterator[Windows]:
    """Compute cards on boards of these sockets."""
    for case in large_windows(context):
        if case.card.cooling == "passive" and SMALL_SPACE.intersection(case.board.layout.sockets):
            yield case


@rule(
    "PCI010",
    "Card's memory window is too large for the platform",
    "warning",
    over=old_platforms,
    needs=("card.memory_gib",),
    reason=(
        "A compute card maps its memory as one window, rounded up to a power of two: 32 GiB for 24."
        " Desktop platforms up to Haswell seldom map more than 16, with 'Above 4G decoding' too:"
        " the machine does not start, or the driver finds no room (code 12)."
    ),
    source="xCuri0/ReBarUEFI issues 45, 82, 86, 212, 354, 381 and 383",
)
def window(context: Context, case: Windows) -> Iterator[Finding]:
    """Compare the window with the largest that such platforms map."""
    wanted = 2 ** math.ceil(math.log2(case.card.memory_gib or 1))
    if wanted > LARGEST_WINDOW_GIB:
        yield window.finding(
            case, needed=float(wanted), actual=float(LARGEST_WINDOW_GIB), unit="GiB"
        )


BEFORE_RESIZING = re.compile(r"Ryzen \d ([12]\d{3}|3\d{3}G)|Threadripper [12]\d{3}")
"""AMD's CPUs before Zen 2, by name."""


def arc_cards(context: Context) -> Iterator[Windows]:
    """Intel Arc cards for jobs."""
    board = context.board
    for card in context.that_work(context.own_cards):
        if board is not None and card.card.chip_maker == "Intel":
            yield Windows(card.name, card.card, 1, board.board)


@rule(
    "PCI007",
    "Card wants a resizable BAR and the board has none",
    "warning",
    over=arc_cards,
    needs=("board.layout.resizable_bar",),
    reason=(
        "Intel names resizable BAR a requirement of Arc cards; without it they lose much of their"
        " speed. On AM4 it begins with Ryzen 3000, without that series' APUs."
    ),
    source=(
        "Intel Arc quick start guide; hothardware.com and elchapuzasinformatico.com on CPUs and"
        " boards for Arc"
    ),
)
def resizable_bar(context: Context, case: Windows) -> Iterator[Finding]:
    """A warning where the firmware lacks the setting, or the CPU is older than those for which
    makers promise it."""
    older = next((name for name, cpu in context.cpus if BEFORE_RESIZING.search(cpu.name)), None)
    if case.board.layout.resizable_bar is False:
        yield resizable_bar.finding(case)
    elif older is not None:
        yield resizable_bar.finding(case, subjects=(case.name, older), variant="cpu")
