"""The chassis' expansion columns seen from the side: cards to scale in thickness and length,
bridges, gaps, covered slots.

Columns run from the CPU downwards; a card begins at its slot and covers as many columns as it is
thick. Units are points."""

import math
from itertools import pairwise

from msgspec import Struct

from rigplanner.catalog.schema.parts import COLUMN_MM, Chassis, System
from rigplanner.machine.model import Machine, SlotUse
from rigplanner.machine.nodes import gpu_node
from rigplanner.report.drawing.shapes import (
    SMALL_SIZE,
    TEXT_SIZE,
    Box,
    Label,
    Line,
    Picture,
    cut,
    text_width,
)
from rigplanner.report.format import MANY
from rigplanner.report.language import digits, listed, tr, trn

POINTS_PER_MM = 0.82
PITCH = POINTS_PER_MM * COLUMN_MM
NUMBER_X, SLOT_X, SLOT_WIDTH, TOP = 8.0, 26.0, 118.0, 14.0
CARD_X = SLOT_X + SLOT_WIDTH + 8
USUAL_LENGTH_MM = 230.0
"""Drawn length of a card whose length is not known; its label says so."""
MOST_EMPTY_COLUMNS = 2
"""Columns of the case shown below the last slot or card."""
NARROW_GAP_COLUMNS = 1.0
TRACK = 7.0
"""Between the lines of two risers."""
MOST_APART_COLUMNS = 14.0
"""Cards on risers are drawn as thick as they are up to so many columns together, beyond that each
as thick as its text."""


class _Card(Struct, frozen=True):
    """A card in a slot with a known position; `slots` and `length_mm` are None where not known."""

    piece: str
    name: str
    role: str
    position: int
    slots: float | None
    length_mm: float | None

    @property
    def top(self) -> float:
        return TOP + PITCH * (self.position - 1)

    @property
    def height(self) -> float:
        return PITCH * (self.slots or 1.0) - 3

    @property
    def right(self) -> float:
        return CARD_X + POINTS_PER_MM * (self.length_mm or USUAL_LENGTH_MM)


def slot_picture(machine: Machine) -> Picture:
    """Return the drawing of a board's slots and cards; without shapes where no position of an
    occupied slot is known."""
    uses = [
        use for use in machine.slots if use.slot.kind == "pcie" and use.slot.position is not None
    ]
    if not any(use.piece for use in uses):
        return Picture(1.0, 1.0, ())
    board = next(use.board for use in uses if use.piece)
    uses = sorted(
        (use for use in uses if use.board == board), key=lambda use: use.slot.position or 0
    )
    cards, case = _cards(machine, uses), _case_columns(machine)
    last = _last_column(uses, cards, case)
    shapes: list[Box | Line | Label] = [
        Label(SLOT_X, TOP - 5, tr("CPU side"), SMALL_SIZE, quiet=True)
    ]
    shapes += [
        Label(NUMBER_X, _middle(n), str(n), SMALL_SIZE, "middle", quiet=True)
        for n in range(1, last + 1)
    ]
    for use in uses:
        shapes += _slot(use)
    for card in cards:
        shapes += _card(card)
    right = max((card.right for card in cards), default=CARD_X + 150)
    apart, far, low = _on_risers(machine, uses, TOP + PITCH * last + 10 if cards else TOP)
    links, width = _bridges(machine, cards, right)
    gaps, wide = _gaps(cards, right)
    shapes += [*apart, *links, *gaps]
    edge = max(width, wide, right, far) + 6
    if case is not None and case <= last:
        shapes += _end_of_case(case, right)
    end = max(TOP + PITCH * last, low) + 14
    if text := _not_drawn(machine, board):
        shapes.append(
            Label(SLOT_X, end, cut(text, edge - SLOT_X, SMALL_SIZE), SMALL_SIZE, quiet=True)
        )
        end += 10
    return Picture(edge, end, tuple(shapes))


def _last_column(uses: list[SlotUse], cards: list[_Card], case: int | None) -> int:
    """The last column drawn: that of the last slot or card, and a few empty ones up to the case's
    end."""
    ends = (math.ceil(card.position - 1 + (card.slots or 1)) for card in cards)
    last: int = max([*(use.slot.position or 1 for use in uses), *ends])
    return max(last, min(case or 0, last + MOST_EMPTY_COLUMNS))


def _end_of_case(case: int, right: float) -> list[Line | Label]:
    y = TOP + PITCH * case
    words = tr("the case ends after column {case}", case=case)
    return [
        Line(((SLOT_X, y), (right, y)), 1.4, "case"),
        Label(right, y + 9, words, SMALL_SIZE, "end", quiet=True),
    ]


def _not_drawn(machine: Machine, board: str) -> str:
    """The line that names slots whose position nobody tells; empty where there is none."""
    unknown = [
        use
        for use in machine.slots
        if use.board == board and use.piece and not use.riser and _is_nowhere(use)
    ]
    if not unknown:
        return ""
    names = {piece.name: piece.part.name for piece in machine.pieces}
    held = listed(f"{use.slot.id} ({names[use.piece or '']})" for use in unknown)
    return tr("Not drawn, since its position is not known: {slots}", slots=held)


def _is_nowhere(use: SlotUse) -> bool:
    return use.slot.kind == "pcie" and use.slot.position is None


def _middle(position: int) -> float:
    return TOP + PITCH * (position - 0.5) + 1


def _case_columns(machine: Machine) -> int | None:
    for piece in machine.pieces:
        if (
            isinstance(piece.part, Chassis | System)
            and piece.part.enclosure
            and piece.part.enclosure.slot_columns
        ):
            return piece.part.enclosure.slot_columns
    return None


def _cards(machine: Machine, uses: list[SlotUse]) -> list[_Card]:
    parts = {piece.name: piece.part for piece in machine.pieces}
    cards = []
    for use in uses:
        part = parts.get(use.piece or "")
        if part is None or use.piece is None or use.riser is not None or use.slot.position is None:
            continue
        gpus = (*machine.gpus, *machine.displays)
        role = next(("gpu" for gpu in gpus if gpu.piece == use.piece), "nic")
        slots, length = getattr(part, "slots", None), getattr(part, "length_mm", None)
        cards.append(_Card(use.piece, part.name, role, use.slot.position, slots, length))
    return cards


def _slot(use: SlotUse) -> list[Box | Line | Label]:
    y = TOP + PITCH * ((use.slot.position or 1) - 1) + 2
    state, role = "", "slot"
    if use.piece is None:
        state = tr("off") if use.disabled_by else tr("covered") if use.covered_by else tr("free")
        role = "covered" if use.disabled_by or use.covered_by else "slot"
    width, gen = (use.width, use.gen) if use.piece else (use.available_width, use.available_gen)
    link = f"x{width} Gen{gen}" if width and gen else f"x{width}" if width else ""
    text = "  ".join(word for word in (use.slot.id, state or link) if word)
    shapes: list[Box | Line | Label] = [Box(SLOT_X, y, SLOT_WIDTH, PITCH - 4.5, role, use.slot.id)]
    shapes.append(Label(SLOT_X + 4, y + 9, cut(text, SLOT_WIDTH - 6, SMALL_SIZE), SMALL_SIZE))
    return shapes


def _on_risers(
    machine: Machine, uses: list[SlotUse], top: float
) -> tuple[list[Box | Line | Label], float, float]:
    """Return the cards that risers carry, below one another beside the columns, with their right
    and lower edges."""
    parts = {piece.name: piece.part for piece in machine.pieces}
    roles = {gpu.piece: "gpu" for gpu in (*machine.gpus, *machine.displays)}
    carried = [use for use in uses if use.piece and use.riser is not None]
    thick = [getattr(parts[use.piece or ""], "slots", None) or 1.0 for use in carried]
    together = sum(thick) <= MOST_APART_COLUMNS
    left, right, y = CARD_X + 12 + TRACK * len(carried), 0.0, top
    shapes: list[Box | Line | Label] = []
    for at, (use, slots) in enumerate(zip(carried, thick, strict=True)):
        part = parts[use.piece or ""]
        length = getattr(part, "length_mm", None)
        width = POINTS_PER_MM * (length or USUAL_LENGTH_MM)
        height = PITCH * (slots if together else 1.0) - 3
        turn, begin = left - TRACK * (at + 1), TOP + PITCH * ((use.slot.position or 1) - 0.5)
        end = min(max(begin, y + 5), y + height - 5)
        shapes.append(
            Line(
                ((SLOT_X + SLOT_WIDTH, begin), (turn, begin), (turn, end), (left, end)),
                0.9,
                "riser",
            )
        )
        shapes.append(
            Box(left, y, width, height, roles.get(use.piece or "", "nic"), use.piece or "")
        )
        shapes += _said(
            part.name,
            getattr(part, "slots", None),
            length,
            left,
            y,
            width,
            height,
            tr("on a riser"),
        )
        right, y = max(right, left + width), y + height + 5
    return shapes, right, y


def _card(card: _Card) -> list[Box | Line | Label]:
    width = card.right - CARD_X
    box = Box(CARD_X, card.top + 1, width, card.height, card.role, card.piece)
    line = Line(
        ((SLOT_X + SLOT_WIDTH, card.top + 7), (CARD_X, card.top + 7)), 1.6, "pcie", card.piece
    )
    return [
        box,
        line,
        *_said(card.name, card.slots, card.length_mm, CARD_X, card.top, width, card.height),
    ]


def _said(
    name: str,
    slots: float | None,
    length_mm: float | None,
    x: float,
    y: float,
    width: float,
    height: float,
    *more: str,
) -> list[Box | Line | Label]:
    """Return the words in a card's box: its name, and its size as far as there is room."""
    facts = [
        tr("{slots} slots thick", slots=digits(f"{slots:g}"))
        if slots
        else tr("thickness not known")
    ]
    facts.append(
        tr("{length_mm} mm long", length_mm=digits(f"{length_mm:g}"))
        if length_mm
        else tr("length not known")
    )
    text = ", ".join([*facts, *more] if slots or length_mm else [tr("size not known"), *more])
    room = width - 10
    shown = cut(name, room, TEXT_SIZE, strong=True)
    shapes: list[Box | Line | Label] = [Label(x + 6, y + 11, shown, strong=True)]
    if height > 1.5 * PITCH:
        shapes.append(Label(x + 6, y + 22, cut(text, room, SMALL_SIZE), SMALL_SIZE, quiet=True))
    elif text_width(shown, TEXT_SIZE, True) + text_width(text, SMALL_SIZE) + 12 < room:
        shapes.append(Label(x + width - 5, y + 10.6, text, SMALL_SIZE, "end", quiet=True))
    return shapes


def _bridges(
    machine: Machine, cards: list[_Card], right: float
) -> tuple[list[Box | Line | Label], float]:
    """Return a bracket for each pair of cards that NVLink joins, beside one another where they
    overlap."""
    piece_of = {gpu_node(gpu.index): gpu.piece for gpu in machine.gpus}
    by_piece = {card.piece: card for card in cards}
    shapes: list[Box | Line | Label] = []
    free_from: list[float] = []
    for edge in machine.edges:
        pair = [by_piece.get(piece_of.get(node, "")) for node in (edge.a, edge.b)]
        if edge.kind != "nvlink" or pair[0] is None or pair[1] is None:
            continue
        upper, lower = sorted((card for card in pair if card), key=lambda card: card.position)
        top, bottom = upper.top + upper.height / 2, lower.top + lower.height / 2
        track = next((n for n, end in enumerate(free_from) if end < top), len(free_from))
        free_from[track:] = [bottom, *free_from[track + 1 :]]
        x = right + 10 + 60 * track
        shapes.append(
            Line(
                ((upper.right, top), (x, top), (x, bottom), (lower.right, bottom)),
                2.2,
                "nvlink",
                f"{edge.a.name}|{edge.b.name}",
            )
        )
        middle = (top + bottom) / 2
        shapes.append(
            Label(x + 4, middle - 1, tr("NVLink, NV{links}", links=edge.links), SMALL_SIZE)
        )
        shapes.append(
            Label(
                x + 4,
                middle + 8,
                tr("{count} columns", count=lower.position - upper.position),
                SMALL_SIZE,
                quiet=True,
            )
        )
    return shapes, right + 10 + 62 * len(free_from) if free_from else right


def _gaps(cards: list[_Card], right: float) -> tuple[list[Box | Line | Label], float]:
    """Return the room between neighbours, as far as the upper one's thickness is known."""
    shapes: list[Box | Line | Label] = []
    for upper, lower in pairwise(cards):
        if upper.slots is None:
            continue
        free = lower.position - upper.position - upper.slots
        if free >= NARROW_GAP_COLUMNS:
            middle = (upper.top + upper.height + lower.top) / 2 + 3.5
            words = trn(
                "{count} column free",
                "{count} columns free",
                int(free) if free == int(free) else MANY,
                count=digits(f"{free:g}"),
            )
            shapes.append(Label(CARD_X + 6, middle, words, SMALL_SIZE, quiet=True))
        else:
            text = (
                tr("no gap") if free <= 0 else tr("gap of {free} column", free=digits(f"{free:g}"))
            )
            shapes.append(
                Label(
                    min(upper.right, lower.right) - 5,
                    upper.top + upper.height - 3,
                    text,
                    SMALL_SIZE,
                    "end",
                    quiet=True,
                )
            )
    return shapes, right
