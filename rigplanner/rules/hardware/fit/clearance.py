"""What a CPU cooler reaches over: memory under its front fan, the first slot beside it."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Chassis, Cooler, MemoryKit, Slot, System
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.core.registry import rule


class OverMemory(Struct, frozen=True):
    """A cooler whose front fan stands over memory, the kit, and the case around them."""

    name: str
    cooler: Cooler
    kit_name: str
    kit: MemoryKit
    chassis: Chassis | System | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.kit_name)


def over_memory(context: Context) -> Iterator[OverMemory]:
    """The rig's cooler, where its maker tells the room below its fan, with each model of memory of
    known height: the fan can be left off, so no verdict waits for either."""
    own = [(name, cooler) for name, cooler in context.coolers if not is_built_in(name)]
    case = context.enclosure[1] if context.enclosure else None
    seen: set[str] = set()
    for name, cooler in own[:1]:
        for kit_name, kit in context.memory:
            known = cooler.memory_room_mm is not None and kit.height_mm is not None
            if known and kit.id not in seen:
                seen.add(kit.id)
                yield OverMemory(name, cooler, kit_name, kit, case)


@rule(
    "CLG006",
    "Memory is too high for the cooler's front fan",
    "info",
    over=over_memory,
    reason=(
        "The front fan of a large cooler stands over the memory slots. Over higher modules it is"
        " clipped on higher by the difference, which adds to the cooler's height, or left off."
    ),
    source="be quiet!, room above memory of its coolers (bequiet.com/de/insidebequiet/26)",
)
def memory_below_fan(context: Context, case: OverMemory) -> Iterator[Finding]:
    """Compare the modules with the room below the fan in mm, and the fan that is moved up with the
    room in the case. A remark always: the fan can be left off."""
    lift = (case.kit.height_mm or 0.0) - (case.cooler.memory_room_mm or 0.0)
    if lift <= 0:
        return
    space = case.chassis.enclosure if case.chassis is not None else None
    room = space.cooler_height_mm if space is not None else None
    raised = None if case.cooler.height_mm is None else case.cooler.height_mm + lift
    beyond = raised is not None and room is not None and room < raised
    yield memory_below_fan.finding(
        case,
        needed=case.kit.height_mm,
        actual=case.cooler.memory_room_mm,
        unit="mm",
        variant="beyond" if beyond else "",
        lift=lift,
        raised=raised,
        room=room,
    )


class OverSlot(Struct, frozen=True):
    """A wide cooler and the card in the column next to the CPU."""

    name: str
    cooler: Cooler
    card_name: str
    card: GPU
    slot: Slot

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.card_name)


def beside_first_slot(context: Context) -> Iterator[OverSlot]:
    """The rig's air cooler with a card that stands in the first column of the board."""
    own = [(name, cooler) for name, cooler in context.coolers if not is_built_in(name)]
    for card in context.cased_cards:
        held = card.held
        first = held is not None and held.riser is None and held.slot.position == 1
        if held is not None and first and own:
            yield OverSlot(own[0][0], own[0][1], card.name, card.card, held.slot)


FREE_REACH_MM = 68.0
"""Reach of a cooler that leaves a card in the first column alone (be quiet! Dark Rock Pro 4,
136 mm wide: TechPowerUp); the clips of one of 70 mm (Noctua NH-D14) touched such a card."""


@rule(
    "CLG007",
    "Cooler reaches the card in the first slot",
    "info",
    over=beside_first_slot,
    reason=(
        "Between the middle of the CPU and a card in the first column of a board lie about 75 to"
        " 85 mm. Fins or clips of a wide cooler touch the card's back, which may short it: turn the"
        " cooler, take a narrower one or the next slot."
    ),
    source=(
        "Tom's Hardware: System Builder Marathon, an NH-D14 beside a card; TechPowerUp: be quiet!"
        " Dark Rock Pro 4"
    ),
)
def first_slot(context: Context, case: OverSlot) -> Iterator[Finding]:
    """Compare the reach with that of coolers that leave such a card alone, in mm."""
    reach = case.cooler.reach_mm
    if reach is not None and reach > FREE_REACH_MM:
        yield first_slot.finding(
            case, needed=reach, actual=FREE_REACH_MM, unit="mm", place=case.slot.id
        )
