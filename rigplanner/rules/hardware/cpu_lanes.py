"""Lanes of the CPU by generation: what is occupied takes no more than there are, and a slot is no
faster than its CPU."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, Motherboard, Slot, System
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.registry import rule


class Taken(Struct, frozen=True):
    """A CPU in its socket, and the lanes that occupied places take of it by generation."""

    name: str
    cpu: CPU
    board: Motherboard | System
    lanes: dict[int, int]
    places: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, *self.places)


def taken(context: Context) -> Iterator[Taken]:
    """CPUs of rigs with one board, by the places that hang on their socket without a switch."""
    if len(context.boards) != 1:
        return
    board = context.boards[0].board
    for index, (name, cpu) in enumerate(context.cpus):
        origin = f"cpu{index}"
        if board.layout.switches or not cpu.lanes:
            continue
        slots = [
            (use.slot.id, use.available_gen, use.available_width)
            for use in context.machine.slots_in_use
            if use.slot.origin == origin and use.piece is not None
        ]
        drives = [
            (use.port.id, min(use.port.gen, _slower(context, use.port.id)), use.port.width)
            for use in context.machine.drives_in_use
            if use.port.origin == origin and use.pieces and use.port.gen and use.port.kind != "sata"
        ]
        outer = {place for place, _, _ in (*slots, *drives)}
        lanes: dict[int, int] = {}
        for place, gen, width in (*slots, *drives):
            if any(place.startswith(f"{other}/") for other in outer):
                continue  # what stands on a riser uses the lanes that the riser takes
            if gen is not None and width is not None:
                lanes[gen] = lanes.get(gen, 0) + width
        if lanes:
            yield Taken(name, cpu, board, lanes, tuple(place for place, _, _ in slots))


def _slower(context: Context, port: str) -> int:
    return next((use.gen or 9 for use in context.machine.drives if use.port.id == port), 9)


@rule(
    "PCI012",
    "More lanes are in use than the CPU has",
    "unknown",
    over=taken,
    reason=(
        "A CPU has so many lanes of each generation. Where a board lists more places than they"
        " feed, some fall back or die, and which is for its manual to say."
    ),
    source="AMD TRX50 platform (48 lanes of PCIe 5.0 and 32 of 4.0); CPU makers' specifications",
)
def lanes_of_generation(context: Context, case: Taken) -> Iterator[Finding]:
    """Compare the lanes in use with those of the CPU, from the fastest generation downward; where
    they are more, the board's modes are the missing fact."""
    split = {int(gen): count for gen, count in case.cpu.lanes_by_gen.items()}
    own = split or {case.cpu.pcie_gen or 0: case.cpu.lanes or 0}
    for gen in sorted(own, reverse=True):
        have = sum(count for each, count in own.items() if each >= gen)
        used = sum(count for each, count in case.lanes.items() if each >= gen)
        if used > have:
            yield lanes_of_generation.unknown(
                case, f"{case.board.id}:lane_modes", gen=gen, used=used, have=have
            )
            return


class Older(Named, frozen=True):
    """A card in a slot of a CPU, and the newest generation that the CPU gives this slot."""

    card: GPU
    slot: Slot
    cpu_name: str
    given: int | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.slot.id, self.cpu_name)


def fed_by_cpu(context: Context) -> Iterator[Older]:
    """Cards that the owner put into slots of a CPU without a riser between."""
    for card in context.that_work(context.own_cards):
        use = card.use
        if use is None or use.slot.kind != "pcie" or use.riser or card.board is None:
            continue
        index = (use.slot.origin or "").removeprefix("cpu")
        if index.isdigit() and int(index) < len(context.cpus):
            name, cpu = context.cpus[int(index)]
            given = _given(cpu, card.board, use.slot)
            yield Older(card.name, card.card, use.slot, name, given)


def _given(cpu: CPU, board: Motherboard | System, slot: Slot) -> int | None:
    """Return the generation that a CPU gives a slot: its own, or what the board leaves CPUs of its
    class there."""
    modes = [
        mode.gens[slot.id]
        for mode in board.layout.lane_modes
        if cpu.lane_class in mode.when.cpu_class and slot.id in mode.gens
    ]
    known = [gen for gen in (cpu.pcie_gen, *modes) if gen is not None]
    return min(known, default=None)


@rule(
    "PCI013",
    "CPU gives the card's slot an older generation of PCIe",
    "info",
    over=fed_by_cpu,
    reason=(
        "A slot of the CPU is as fast as the CPU: desktop APUs and older CPUs on newer boards have"
        " PCIe 3.0 where board and card have 4.0 or 5.0, and a Threadripper that is not PRO has"
        " PCIe 5.0 for three slots. Loading models and exchange take longer."
    ),
    source="CPU makers' specifications (Ryzen 5000G and Core of the tenth generation: PCIe 3.0)",
)
def older_generation(context: Context, case: Older) -> Iterator[Finding]:
    """Compare the CPU's newest generation with what slot and card have both."""
    both = min(case.slot.gen or 0, case.card.edge_gen or 0)
    if case.given is not None and case.given < both:
        yield older_generation.finding(case, needed=f"PCIe {both}.0", actual=f"PCIe {case.given}.0")
