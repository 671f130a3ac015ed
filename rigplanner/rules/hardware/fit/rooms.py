"""Which cases hold a rig: its board in millimetres or by its label, its cards, its supply, its
cooler and its air."""

import math
from collections.abc import Iterator

from rigplanner.catalog.schema.parts import GPU, Chassis, Enclosure, Motherboard, Slot, System
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.hardware.class_bounds import STANDARD_HEIGHT_MM, slot_columns
from rigplanner.rules.hardware.fit.radiators import Room, radiators_mm, room_in, takes

LABEL_MM = {
    "Mini-ITX": (170, 170),
    "Micro-ATX": (244, 244),
    "ATX": (305, 244),
    "SSI-CEB": (305, 267),
    "SSI-EEB": (305, 330),
}
"""Height along the slots and depth to the front of a board with this label (Intel and SSI
specifications). E-ATX is no standard."""

E_ATX_MM = 272.0
"""Depth of the common boards sold as E-ATX, which cases that name E-ATX and no millimetres take at
least."""

SPARE_MM = 30.0
"""How much longer than its largest label a case may be along the slots: boards of 320 to 325 mm
(XL-ATX, 7-slot server boards) go into many cases that name ATX, E-ATX or EEB only, and not into
others."""

MOST_IN_A_TOWER = 4
"""Cards that the widest towers hold; only for more of them a frame without walls stands in for a
case."""


def holds(chassis: Chassis | System, context: Context) -> bool:
    """Say whether a case of the catalog is known to hold the rig's cards, board, supply and
    cooler."""
    return chassis.id in context.cases(roomy)


def roomy(context: Context) -> Iterator[str]:
    """The ids of the cases that hold what the rig has."""
    return (
        case.id
        for case in context.catalog.of_kind("chassis")
        if isinstance(case, Chassis) and _has_room(case, context)
    )


def _has_room(chassis: Chassis, context: Context) -> bool:
    space = chassis.enclosure
    cards = [card.card for card in context.cased_cards if card.card.form_factor == "pcie"]
    lengths = [card.length_mm for card in cards if card.length_mm is not None]
    heights = [card.height_mm for card in cards if card.height_mm is not None]
    board = context.board.board if context.board else None
    coolers = [cooler.height_mm for _, cooler in context.coolers if cooler.height_mm is not None]
    room = room_in(context, space)
    left = room.gpu_length_mm if room is not None else None
    columns = max(
        (_least_column(c.slot, c.card, board) for c in context.cased_cards if c.slot), default=0
    )
    return (
        _at_most(max(lengths, default=None), space.gpu_length_mm)
        and (
            max(heights, default=0.0) <= STANDARD_HEIGHT_MM
            or _at_most(max(heights), space.gpu_height_mm)
        )
        and (left is None or max(lengths, default=0.0) <= left)
        and _at_most(columns or None, space.slot_columns)
        and (not isinstance(board, Motherboard) or board_fits(board, space) is True)
        and _at_most(max(coolers, default=None), space.cooler_height_mm)
        and all(
            psu.form_factor is None or psu.form_factor in space.psu_form_factors
            for _, psu in context.own_supplies
        )
        and (not any(card.cooling == "passive" for card in cards) or space.airflow == "server")
        and all(
            psu.length_mm is None or psu.length_mm <= (space.psu_length_mm or math.inf)
            for _, psu in context.own_supplies
        )
        and all(takes(space.radiators_mm or (), length) for length in radiators_mm(context))
        and _has_bays(space, context)
        and _is_alike(space, context)
    )


def _has_bays(space: Enclosure, context: Context) -> bool:
    """Say whether a case has known bays enough for the drives."""
    own = [drive.drive.form_factor for drive in context.drives if not is_built_in(drive.name)]
    small, large = sum(form in ("2.5", "u2", "u3") for form in own), own.count("3.5")
    room = room_in(context, space) or Room()
    bays_25, bays_35 = _least(space.bays_25, room.bays_25), _least(space.bays_35, room.bays_35)
    return large <= bays_35 and small + large <= bays_25 + bays_35


def _least(bays: int | None, left: int | None) -> int:
    return min(value for value in (bays or 0, left) if value is not None)


def _is_alike(space: Enclosure, context: Context) -> bool:
    """Say whether a case is one that could stand where the present one does: open frames serve
    mining and large rigs, not desks."""
    now = context.enclosure
    is_frame = (
        now is not None and now[1].enclosure is not None and now[1].enclosure.airflow == "open"
    )
    return space.airflow != "open" or is_frame or len(context.cased_cards) > MOST_IN_A_TOWER


def _at_most(needed: float | None, limit: float | None) -> bool:
    return needed is None or (limit is not None and needed <= limit)


def _least_column(slot: Slot, card: GPU, board: Motherboard | System | None) -> int:
    """Return the last column that a card covers at least, by the order of its board's slots where
    the place of its own is not known; 0 where neither is."""
    near = slot_columns(board, slot) if board is not None else None
    return near[0] + card.columns - 1 if near is not None and card.columns is not None else 0


def last_column(slot: Slot, card: GPU) -> int | None:
    """Return the last expansion column that a card covers, counted from the CPU; None when not
    known."""
    return (
        None if slot.position is None or card.columns is None else slot.position + card.columns - 1
    )


def board_sides(board: Motherboard) -> tuple[float, float] | None:
    """Return the side along the slots and the side towards the front, in mm: boards of 305 mm have
    it along the slots."""
    if board.width_mm is None or board.depth_mm is None:
        return LABEL_MM.get(board.form_factor or "")
    low, high = sorted((board.width_mm, board.depth_mm))
    return (low, high) if 304 <= low <= 306 else (high, low)


def board_room(space: Enclosure) -> tuple[float | None, float | None]:
    """Return the room for a board along the slots and towards the front in mm, by the case's
    figures, else by its labels."""
    labels = [LABEL_MM[label] for label in space.board_form_factors if label in LABEL_MM]
    along = space.board_max_depth_mm or max((size[0] for size in labels), default=None)
    front = space.board_max_width_mm or max((size[1] for size in labels), default=None)
    return along, front


def board_fits(board: Motherboard, space: Enclosure) -> bool | None:
    """Compare millimetres where the case gives them, else what its labels stand for; None when
    neither tells."""
    sides, (along, front) = board_sides(board), board_room(space)
    if sides is None or along is None or front is None:
        return None
    is_long = sides[0] > along + 1
    if is_long and (space.board_max_depth_mm is not None or sides[0] > along + SPARE_MM):
        return False
    if sides[1] <= front + 1:
        return None if is_long else True
    if space.board_max_width_mm is None and "E-ATX" in space.board_form_factors:
        return True if sides[1] <= E_ATX_MM + 1 and not is_long else None
    return False
