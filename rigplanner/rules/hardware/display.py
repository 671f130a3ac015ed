"""Display and remote management: a way to see what the machine does; the monitors, the card that
drives them, and what that costs the others."""

from collections.abc import Iterator

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU, Motherboard, System
from rigplanner.machine.assemble import assemble
from rigplanner.machine.displays import graphics_beside, taken_of
from rigplanner.machine.model import GpuNode, Machine
from rigplanner.memory.usable_memory import visible_gib
from rigplanner.rig.document import Monitors
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.completeness import WHOLE
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, item_of
from rigplanner.rules.core.registry import rule


class Screen(Named, frozen=True):
    """A board and the outputs that a monitor could use."""

    board: Motherboard | System


def screens(context: Context) -> Iterator[Screen]:
    """The board of a rig with CPU or GPU that the owner puts together."""
    board = context.board
    whole = isinstance(board.board, System) and board.board.role in WHOLE if board else True
    if board is not None and not whole and (context.cpus or context.cards):
        yield Screen(board.name, board.board)


@rule(
    "DSP001",
    "No display output and no remote management",
    "warning",
    over=screens,
    reason="Without either nobody can set the firmware or see why the machine does not start.",
    source="Board manuals; GPU and CPU specifications",
)
def no_output(context: Context, case: Screen) -> Iterator[Finding]:
    """Look for a remote controller, a card with an output, or graphics in the CPU with an output on
    the board."""
    layout = case.board.layout
    if layout.remote_management or any(shows(card.card) for card in context.cards):
        return
    graphics = [cpu.has_graphics for _, cpu in context.cpus]
    if any(graphics) and (layout.display_outputs or _has_outputs(case.board)):
        return
    missing = [
        f"{card.card.id}:display_outputs"
        for card in context.cards
        if card.card.display_outputs is None
    ]
    missing += [
        f"{cpu.id}:has_graphics"
        for _, cpu in context.cpus
        if cpu.has_graphics is None and layout.display_outputs != 0
    ]
    if layout.remote_management is None:
        missing.append(f"{case.board.id}:remote_management")
    if any(graphics) and layout.display_outputs is None:
        missing.append(f"{case.board.id}:display_outputs")
    if missing:
        yield no_output.unknown(case, *dict.fromkeys(missing))
    else:
        yield no_output.finding(case)


OF_THE_DESK = ("AM4", "AM5", "LGA1150", "LGA1151", "LGA1155", "LGA1200", "LGA1700", "LGA1851")
"""Sockets of CPUs that have graphics, most of them."""
SMALL = ("mini-itx", "micro-atx")


def _has_outputs(board: Motherboard | System) -> bool:
    """Say whether a board of which nobody tells the outputs has one: boards with Intel's chipsets B
    and H and AMD's chipsets A are made for CPUs with graphics, and small boards for the desk too
    (every one of the shipped catalog of which it is known has an output)."""
    layout = board.layout
    intel = any(socket.startswith("LGA") for socket in layout.sockets)
    made = (layout.chipset or "").startswith(("B", "H") if intel else ("A",))
    form = (board.form_factor or "").casefold() if isinstance(board, Motherboard) else ""
    made = made or (form in SMALL and bool({*OF_THE_DESK}.intersection(layout.sockets)))
    return layout.display_outputs is None and made


def shows(card: GPU) -> bool:
    """Say whether a card has an output for a monitor: one made for games has, where nobody says
    that it has none."""
    has = card.display_outputs
    return bool(has) or (has is None and card.plays and card.form_factor == "pcie")


class Driving(Named, frozen=True):
    """The card that the monitors hang on; `taken_gib` of its memory is theirs."""

    card: GPU
    monitors: Monitors
    taken_gib: float


def drivers(context: Context) -> Iterator[Driving]:
    """The card that drives the monitors of the site."""
    monitors, machine = context.site.monitors, context.machine
    for node in (*machine.displays, *machine.gpus) if monitors is not None else ():
        if monitors is not None and taken_of(node.gpu):
            yield Driving(node.piece, node.gpu, monitors, taken_of(node.gpu))


@rule(
    "DSP002",
    "More monitors than the card has outputs",
    "warning",
    over=drivers,
    needs=("card.display_outputs",),
    reason="A monitor beyond the outputs needs a hub or a chain by DisplayPort, or another card.",
    source="GPU specifications; VESA DisplayPort 1.2, multi-stream transport",
)
def outputs(context: Context, case: Driving) -> Iterator[Finding]:
    """Compare the number of monitors with the outputs of the card that drives them."""
    have = case.card.display_outputs or 0
    if case.monitors.count > have:
        yield outputs.finding(case, needed=case.monitors.count, actual=have, unit="outputs")


@rule(
    "DSP003",
    "Monitors need more memory than their card has",
    "warning",
    over=drivers,
    needs=("card.memory_gib",),
    reason="What does not fit the card's memory goes to the computer's: the picture stutters.",
    source="What graphics processes held in published outputs of nvidia-smi; games of 2015",
)
def pictures(context: Context, case: Driving) -> Iterator[Finding]:
    """Compare what monitors, desktop and games take with the card's memory, in GiB."""
    have = visible_gib(case.card) or 0.0
    if case.taken_gib > have:
        yield pictures.finding(
            case, needed=round(case.taken_gib, 2), actual=round(have, 2), unit="GiB"
        )


def sharing(context: Context) -> Iterator[Driving]:
    """The card that drives the monitors, where jobs run on it too."""
    return (case for case in drivers(context) if case.name not in context.shown_by)


@rule(
    "DSP004",
    "Monitors take memory of a card that computes",
    "info",
    over=sharing,
    reason="The pictures, the desktop and games lie in the memory of the card that shows them.",
    source="What graphics processes held in published outputs of nvidia-smi; games of 2015",
)
def shared(context: Context, case: Driving) -> Iterator[Finding]:
    """Tell what the monitors take, in GiB; where the CPU can show the pictures, offer that."""
    beside = graphics_beside([piece.part for piece in context.machine.pieces])
    yield shared.finding(
        case,
        needed=round(case.taken_gib, 3),
        unit="GiB",
        monitors=case.monitors.count,
        size=f"{case.monitors.width_px}x{case.monitors.height_px}",
        fixes=_to_the_cpu(context) if beside else (),
    )


def _to_the_cpu(context: Context) -> tuple[Fix, ...]:
    """Offer that no card drives the monitors, so that the CPU's graphics do."""
    items = {
        found[0].uid: found[0]
        for card in context.own_cards
        if (found := item_of(context, card.name)) is not None
    }
    if not items or any(card.built_in for card in context.cards):
        return ()
    edits = tuple(Edit("set_role", {"uid": uid, "role": "compute"}) for uid in items)
    return (fix(context, "monitors-on-cpu", *edits),)


class Shown(Named, frozen=True):
    """A card that only drives the monitors, and where it stands."""

    node: GpuNode

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.node.place) if self.node.place else (self.name,)


def shown(context: Context) -> Iterator[Shown]:
    """Cards that only drive the monitors, in their slots."""
    seen: set[str] = set()
    for node in context.machine.displays:
        if node.place is not None and node.piece not in seen:
            seen.add(node.piece)
            yield Shown(node.piece, node)


@rule(
    "DSP005",
    "What the card for the monitors takes of the others",
    "info",
    over=shown,
    reason="Slots share lanes: a card for the monitors can halve the link of one that computes.",
    source="Board manuals; the placement with and without the card",
)
def price_in_lanes(context: Context, case: Shown) -> Iterator[Finding]:
    """Compare the links of all GPUs for jobs with those they would have without the card."""
    item = item_of(context, case.name)
    if item is None:
        return
    left = item[0].quantity - 1
    kept = tuple(
        replace(one, quantity=left, places=one.places[:left]) if one.uid == item[0].uid else one
        for one in context.rig.items
        if one.uid != item[0].uid or left
    )
    without = _links(assemble(replace(context.rig, items=kept), context.catalog))
    now = _links(context.machine)
    costs = without != now
    yield price_in_lanes.finding(
        case,
        variant="costs" if costs else "",
        before=without,
        after=now,
        width=case.node.width,
    )


def _links(machine: Machine) -> str:
    """The lanes of the GPUs for jobs, as "x8/x8"."""
    return "/".join(f"x{node.width}" if node.width else "?" for node in machine.gpus)


def unseen(context: Context) -> Iterator[Screen]:
    """The board of a rig with monitors that no card drives."""
    board = context.board
    if context.site.monitors is not None and board is not None and not list(drivers(context)):
        yield Screen(board.name, board.board)


@rule(
    "DSP006",
    "Nothing drives the monitors",
    "warning",
    over=unseen,
    reason="All cards are for jobs or have no output, and CPU and board show no picture.",
    source="Board manuals; GPU and CPU specifications",
)
def nothing_drives(context: Context, case: Screen) -> Iterator[Finding]:
    """Look for graphics in the CPU with an output on the board."""
    if graphics_beside([piece.part for piece in context.machine.pieces]):
        return
    monitors = context.site.monitors
    missing = [f"{cpu.id}:has_graphics" for _, cpu in context.cpus if cpu.has_graphics is None]
    if case.board.layout.display_outputs is None:
        missing.append(f"{case.board.id}:display_outputs")
    if graphics_beside([piece.part for piece in context.machine.pieces]) is None:
        yield nothing_drives.unknown(case, *dict.fromkeys(missing))
    elif monitors is not None:
        yield nothing_drives.finding(case, needed=monitors.count, unit="monitors")
