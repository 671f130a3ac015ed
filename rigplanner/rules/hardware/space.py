"""Space: length, height and thickness of cards, board in millimetres, supply, cooler, radiator."""

import math
from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import (
    GPU,
    Chassis,
    Cooler,
    Enclosure,
    Motherboard,
    PowerSupply,
    Slot,
    System,
)
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.bounds import Bounds, between, with_value
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.core.fixes import fix, item_of, move, swap
from rigplanner.rules.core.moves import lands
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware import class_bounds
from rigplanner.rules.hardware.class_bounds import (
    STANDARD_HEIGHT_MM,
    card_height_mm,
    card_room_mm,
    slot_columns,
    supply_length_mm,
    supply_room_mm,
)
from rigplanner.rules.hardware.classes.cards import card_slots
from rigplanner.rules.hardware.classes.cases import counted
from rigplanner.rules.hardware.fit.radiators import DEPTH_MM, radiators_mm, room_in, takes
from rigplanner.rules.hardware.fit.rooms import (
    board_fits,
    board_room,
    board_sides,
    holds,
    last_column,
)
from rigplanner.rules.hardware.slots import free_slots

CASE = "Case and card makers' dimensions"
FULL_LENGTH_MM = 312.0
"""Length of a full-length card (PCI-SIG CEM). Makers of systems write "full length" for their
slots: a class of cards that go in, not the room there is (a Precision 5820 takes an RTX 3090 Ti of
313 mm: codcompass.com, ianlpaterson.com)."""


class CardInCase(Struct, frozen=True):
    """A GPU card and the case around it."""

    name: str
    card: GPU
    slot: Slot | None
    board: Motherboard | System | None
    case_name: str
    chassis: Chassis | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.case_name)


def cards_in_case(context: Context) -> Iterator[CardInCase]:
    """Cards that the owner fits into a case."""
    found = context.enclosure
    if found is None:
        return
    for card in context.cased_cards:
        if card.card.form_factor == "pcie":
            yield CardInCase(card.name, card.card, card.slot, card.board, found[0], found[1])


def _open_above(context: Context, case: CardInCase, missing: tuple[str, ...]) -> Bounds | None:
    """Nothing stops a card in an open frame."""
    if not _is_open(case.chassis):
        return None
    free = with_value(case, "card.length_mm", 0.0)
    return Bounds(free, free)


def _space(chassis: Chassis | System) -> Enclosure:
    return chassis.enclosure or Enclosure()


@rule(
    "SPC001",
    "GPU is longer than the case allows",
    "error",
    over=cards_in_case,
    needs=("card.length_mm", "chassis.enclosure.gpu_length_mm"),
    bound=_open_above,
    reason="The card would run into the case's front.",
    source=CASE,
)
def gpu_length(context: Context, case: CardInCase) -> Iterator[Finding]:
    """Compare card and case in mm, then the card with what the case leaves beside a radiator, where
    that may matter."""
    space = _space(case.chassis)
    needed, limit = case.card.length_mm or 0, space.gpu_length_mm or 0
    if needed <= limit and (needed <= limit - DEPTH_MM or not radiators_mm(context)):
        return
    if needed <= limit and space.radiator_places is None:
        yield gpu_length.unknown(case, f"{case.chassis.id}:radiator_places")
        return
    room = room_in(context, space)
    left = room.gpu_length_mm if room is not None and room.gpu_length_mm is not None else limit
    if needed > min(left, limit):
        fixes = swap(context, "other-case", case.case_name, lambda other: holds(other, context))
        rated = needed > limit == FULL_LENGTH_MM and isinstance(case.chassis, System)
        variant = "radiator" if needed <= limit else "full-length" if rated else ""
        yield gpu_length.finding(
            case,
            "warning" if rated else None,
            needed=needed,
            actual=min(left, limit),
            unit="mm",
            fixes=fixes,
            variant=variant,
        )


def _height_bounds(context: Context, case: CardInCase, missing: tuple[str, ...]) -> Bounds:
    """A card whose height is not known is as high as cards of its kind."""
    return between(case, {"card.height_mm": card_height_mm(case.card)})


@rule(
    "SPC002",
    "GPU is higher than the case allows",
    "error",
    over=cards_in_case,
    needs=("card.height_mm",),
    bound=_height_bounds,
    reason="High cards and their cables press against the side panel.",
    source=CASE,
)
def gpu_height(context: Context, case: CardInCase) -> Iterator[Finding]:
    """Compare in mm; a card of standard height fits where the case names no limit, and nothing is
    above a card in an open frame."""
    needed, room = case.card.height_mm or 0, card_room_mm(_space(case.chassis))
    if needed <= (STANDARD_HEIGHT_MM if room is None else room[0]) or _is_open(case.chassis):
        return
    if room is None or needed <= room[1]:
        yield gpu_height.unknown(case, f"{case.chassis.id}:gpu_height_mm")
        return
    fixes = swap(context, "other-case", case.case_name, lambda other: holds(other, context))
    yield gpu_height.finding(case, needed=needed, actual=room[1], unit="mm", fixes=fixes)


def _is_open(chassis: Chassis | System) -> bool:
    return _space(chassis).airflow == "open"


CABLE_BEND_MM = 35.0
"""How far a 16-pin cable runs straight from its plug before it may bend (PCI-SIG CEM 5.1 and card
makers' manuals)."""


def sixteen_pin_cards(context: Context) -> Iterator[CardInCase]:
    """Upright cards in closed cases whose 16-pin plug looks to the side panel."""
    for case in cards_in_slots(context):
        plugs = {plug.type for plug in case.card.connectors or ()}
        if plugs & {"12vhpwr", "12v-2x6"} and not _is_open(case.chassis):
            yield case


@rule(
    "SPC010",
    "Cable of the card has little room to bend",
    "info",
    over=sixteen_pin_cards,
    reason=(
        "A 16-pin plug that is bent at once loosens its contacts and heats them; the cable wants"
        " 35 mm beyond the card before it bends."
    ),
    source="PCI-SIG CEM 5.1; card makers' manuals (35 mm from the plug)",
)
def cable_bend(context: Context, case: CardInCase) -> Iterator[Finding]:
    """Compare the room above the card with the bend, in mm; an angled plug or adapter helps."""
    room = card_room_mm(_space(case.chassis))
    needed = (case.card.height_mm or 0.0) + CABLE_BEND_MM
    if case.card.height_mm and room is not None and needed > room[1]:
        yield cable_bend.finding(case, needed=needed, actual=room[1], unit="mm")


def cards_in_slots(context: Context) -> Iterator[CardInCase]:
    """Cards of a case that stand in a slot, not on a riser."""
    for case in cards_in_case(context):
        held = context.held_of.get(case.name)
        if case.slot is not None and held is not None and held.riser is None:
            yield case


def _column_bounds(context: Context, case: CardInCase, missing: tuple[str, ...]) -> Bounds | None:
    """A slot stands where the order of its board's slots lets it; the maker of a system that takes
    GPUs laid its slots out for cards of two columns."""
    thick = card_slots(case.card)
    if case.slot is None or case.board is None or thick is None:
        return None
    if _is_open(case.chassis):
        return Bounds(*[with_value(case, "slot", None)] * 2)
    if isinstance(case.chassis, System) and case.board is case.chassis:
        fits = case.chassis.gpu_max_w is not None and thick[1] <= MAKERS_CARD_SLOTS
        good = between(case, {"slot": (None, None)}).best
        return Bounds(good, good) if fits else None
    columns = slot_columns(case.board, case.slot)
    room = counted(_space(case.chassis), "slot_columns")
    if columns is None or room is None:
        return None
    return between(
        case,
        {
            "slot.position": (columns[1], columns[0]),
            "card.slots": thick[::-1],
            "chassis.enclosure.slot_columns": room,
        },
    )


MAKERS_CARD_SLOTS = 2.0


@rule(
    "SPC003",
    "Card reaches beyond the last expansion column",
    "error",
    over=cards_in_slots,
    needs=("card.slots", "slot.position", "chassis.enclosure.slot_columns"),
    bound=_column_bounds,
    reason="A thick card in the last slot needs columns that the case must have below the board.",
    source=CASE,
)
def columns(context: Context, case: CardInCase) -> Iterator[Finding]:
    """Compare the card's last column with the case's."""
    limit = _space(case.chassis).slot_columns or 0
    needed = last_column(case.slot, case.card) if case.slot else None
    if needed is None or needed <= limit:
        return
    better = [
        use.slot
        for use in free_slots(context)
        if (last_column(use.slot, case.card) or limit + 1) <= limit
    ]
    edit = move(context, case.name, better[0].id) if better else None
    helps = edit is not None and lands(context, (edit,), case.name, better[0].id)
    moved = (
        (fix(context, "move-card", edit, piece=case.name, place=better[0].id),)
        if edit and helps
        else ()
    )
    fixes = moved or swap(
        context, "other-case", case.case_name, lambda other: holds(other, context)
    )
    yield columns.finding(
        case,
        needed=needed,
        actual=limit,
        unit="columns",
        fixes=fixes,
        place=case.slot.id if case.slot else None,
    )


class BoardInCase(Struct, frozen=True):
    """A motherboard and its case."""

    name: str
    board: Motherboard
    case_name: str
    chassis: Chassis | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.case_name)


def boards_in_case(context: Context) -> Iterator[BoardInCase]:
    """Motherboards that go into a case."""
    found = context.enclosure
    if found is None:
        return
    for name, board in context.of(Motherboard):
        if not is_built_in(name):
            yield BoardInCase(name, board, found[0], found[1])


@rule(
    "SPC004",
    "Board is larger than the case allows",
    "error",
    over=boards_in_case,
    needs=("board.form_factor",),
    reason="Labels such as E-ATX are no sizes: an EEB board is 305 x 330 mm and has other holes.",
    source="SSI EEB and ATX specifications; case makers' dimensions",
)
def board_size(context: Context, case: BoardInCase) -> Iterator[Finding]:
    """Compare the sides in mm; labels only where a millimetre is missing. A system with a board of
    its own takes no other, unless it says which."""
    board, space = case.board, _space(case.chassis)
    if not space.board_form_factors:
        if isinstance(case.chassis, System) and case.chassis.layout.sockets:
            yield board_size.finding(
                case, needed=board.form_factor, fixes=_without(context, case.name), variant="own"
            )
        else:
            yield board_size.unknown(case, f"{case.chassis.id}:board_form_factors")
        return
    fits, sides, (along, front) = board_fits(board, space), board_sides(board), board_room(space)
    if fits is None and _is_open(case.chassis):
        return
    if fits is None:
        is_long = sides is not None and along is not None and sides[0] > along + 1
        field = "board_max_depth_mm" if is_long else "board_max_width_mm"
        yield board_size.unknown(
            case, f"{board.id}:width_mm" if sides is None else f"{case.chassis.id}:{field}"
        )
    elif not fits and sides is not None:
        tight = sides[1] > (front or 0) + 1
        needed, limit = (sides[1], front) if tight else (sides[0], along)
        fixes = swap(context, "other-case", case.case_name, lambda other: holds(other, context))
        yield board_size.finding(
            case,
            needed=needed,
            actual=limit,
            unit="mm",
            fixes=fixes,
            variant="" if tight else "along",
            form_factor=board.form_factor,
        )


def _without(context: Context, piece: str) -> tuple[Fix, ...]:
    found = item_of(context, piece) if context.advise else None
    return (
        (fix(context, "remove", Edit("remove_item", {"uid": found[0].uid}), piece=piece),)
        if found
        else ()
    )


class SupplyInCase(Struct, frozen=True):
    """A power supply and its case."""

    name: str
    psu: PowerSupply
    case_name: str
    chassis: Chassis | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.case_name)


def supplies_in_case(context: Context) -> Iterator[SupplyInCase]:
    """Power supplies that go into a case."""
    found = context.enclosure
    if found is None:
        return
    for name, psu in context.own_supplies:
        if psu.form_factor != "brick" and not is_built_in(name):
            yield SupplyInCase(name, psu, found[0], found[1])


LARGER = {"SFX": ("SFX-L", "ATX"), "SFX-L": ("ATX",)}
"""Places that take a smaller supply with an adapter bracket (ATX12V design guide: SFX with ATX
bracket)."""


@rule(
    "SPC005",
    "Power supply has another form factor than the case takes",
    "error",
    over=supplies_in_case,
    needs=("psu.form_factor", "chassis.enclosure.psu_form_factors"),
    reason="ATX, SFX, TFX and CRPS units differ in size and holes.",
    source="ATX12V design guide; case makers' specifications",
)
def psu_form(context: Context, case: SupplyInCase) -> Iterator[Finding]:
    """Compare labels; a small unit goes into a larger place with a bracket, which is a remark:
    most come with one. On an open frame a unit of another form lies or hangs: a remark, too."""
    accepted = _space(case.chassis).psu_form_factors
    larger = LARGER.get(case.psu.form_factor or "", ())
    if case.psu.form_factor not in accepted:
        fixes = swap(context, "other-case", case.case_name, lambda other: holds(other, context))
        yield psu_form.finding(
            case,
            "info" if set(larger) & set(accepted) or _is_open(case.chassis) else "error",
            needed=" / ".join(accepted),
            actual=case.psu.form_factor,
            fixes=fixes,
        )


def measured_supplies(context: Context) -> Iterator[SupplyInCase]:
    """Supplies in cases that limit their length, or whose own length is beyond the standard 160
    mm."""
    for case in supplies_in_case(context):
        if (
            _space(case.chassis).psu_length_mm is not None
            or (supply_length_mm(case.psu) or (0.0,))[0] > 160
        ):
            yield case


def _length_bounds(context: Context, case: SupplyInCase, missing: tuple[str, ...]) -> Bounds | None:
    """A supply is as long as those of its watts; towers for ATX boards take the common ones."""
    length, room = supply_length_mm(case.psu), supply_room_mm(_space(case.chassis))
    if length is None or room is None or case.chassis.enclosure is None:
        return None
    return between(case, {"psu.length_mm": length, "chassis.enclosure.psu_length_mm": room})


@rule(
    "SPC006",
    "Power supply is longer than the case allows",
    "error",
    over=measured_supplies,
    needs=("psu.length_mm", "chassis.enclosure.psu_length_mm"),
    bound=_length_bounds,
    reason="Large units run into drive cages and cables.",
    source=CASE,
)
def psu_length(context: Context, case: SupplyInCase) -> Iterator[Finding]:
    """Compare in mm."""
    needed, limit = case.psu.length_mm or 0, _space(case.chassis).psu_length_mm or 0
    if needed > limit:

        def suits(other: Chassis) -> bool:
            return holds(other, context) and (other.enclosure.psu_length_mm or 0) >= needed

        yield psu_length.finding(
            case,
            needed=needed,
            actual=limit,
            unit="mm",
            fixes=swap(context, "other-case", case.case_name, suits),
        )


class CoolerInCase(Struct, frozen=True):
    """A CPU cooler and its case."""

    name: str
    cooler: Cooler
    case_name: str
    chassis: Chassis | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.case_name)


def coolers_in_case(context: Context) -> Iterator[CoolerInCase]:
    """Coolers the owner fits into a case."""
    found = context.enclosure
    if found is None:
        return
    for name, cooler in context.coolers:
        if not is_built_in(name):
            yield CoolerInCase(name, cooler, found[0], found[1])


def air_coolers(context: Context) -> Iterator[CoolerInCase]:
    """Air coolers in a case with a side panel: nothing closes over them in an open frame."""
    return (
        case
        for case in coolers_in_case(context)
        if case.cooler.type != "liquid" and not _is_open(case.chassis)
    )


def liquid_coolers(context: Context) -> Iterator[CoolerInCase]:
    """Liquid coolers in a case."""
    return (case for case in coolers_in_case(context) if case.cooler.type == "liquid")


@rule(
    "SPC007",
    "CPU cooler is higher than the case allows",
    "error",
    over=air_coolers,
    needs=("cooler.height_mm", "chassis.enclosure.cooler_height_mm"),
    reason="The side panel would not close.",
    source=CASE,
)
def cooler_height(context: Context, case: CoolerInCase) -> Iterator[Finding]:
    """Compare in mm."""
    needed, limit = case.cooler.height_mm or 0, _space(case.chassis).cooler_height_mm or 0
    if needed > limit:
        sockets, watts = case.cooler.sockets, case.cooler.rated_w or 0
        lower = swap(
            context,
            "other-cooler",
            case.name,
            lambda other: (
                other.type == "air"
                and (other.height_mm or math.inf) <= limit
                and set(sockets) <= set(other.sockets)
                and (other.rated_w or 0) >= watts
            ),
        )
        fixes = lower or swap(
            context, "other-case", case.case_name, lambda other: holds(other, context)
        )
        yield cooler_height.finding(case, needed=needed, actual=limit, unit="mm", fixes=fixes)


def _radiator_bounds(
    context: Context, case: CoolerInCase, missing: tuple[str, ...]
) -> Bounds | None:
    """A tower takes the radiators that all towers take, at best every one."""
    path = "chassis.enclosure.radiators_mm"
    places = class_bounds.radiators_mm(_space(case.chassis))
    return between(case, {path: places}) if places and missing == (path,) else None


@rule(
    "SPC008",
    "Case has no place for the radiator",
    "error",
    over=liquid_coolers,
    needs=("cooler.radiator_mm", "chassis.enclosure.radiators_mm"),
    bound=_radiator_bounds,
    reason="A radiator needs a mount of its own length.",
    source=CASE,
)
def radiator(context: Context, case: CoolerInCase) -> Iterator[Finding]:
    """A radiator fits a place made for its length; places for longer ones of the same fan size take
    shorter ones too."""
    needed, places = case.cooler.radiator_mm or 0, _space(case.chassis).radiators_mm or ()
    if not takes(places, needed):
        fixes = swap(
            context,
            "other-case",
            case.case_name,
            lambda other: holds(other, context) and needed in (other.enclosure.radiators_mm or ()),
        )
        yield radiator.finding(
            case, needed=needed, actual=max(places, default=0), unit="mm", fixes=fixes
        )
