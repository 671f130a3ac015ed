"""What an imported board's slots are wired to, where the shipped boards prove a pattern.

Others' lists give the size of a connector, not its lanes. Two patterns are taken, and nothing else:
a board of the very name (but for the radio module or the memory in it) as a shipped one has that
one's slots; and where at least three shipped boards of a socket and chipset say the origin,
generation and width of a place, and none says another, a further board of that socket and chipset
has them too. What comes that way is marked *inferred*."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.schema.parts import AnyPart, Doubt, Layout, Motherboard, Slot

LEAST_BOARDS = 3
"""So many shipped boards of a socket and chipset must agree before another is held to be alike."""
GRAPHICS_SIZE = 16
SMALL_SIZE = 1

SWITCHED = frozenset(("ws", "sage", "wse", "supercarrier"))
"""Words in names of boards whose slots may hang on a switch: nothing is taken over to or from
them."""
_GENERATION = re.compile(r"(gen|pcie)[2-6](\.0)?$")
"""A word of a name that tells the generation: such a board differs from others of its chipset."""
_RADIO = re.compile(
    r"(wi-?fi(?:[67]e?|\d)?|6e|ax|ac|be|bt|ddr[45]|d[45]|atx|micro|mini|itx|matx|eatx|e-atx|"
    r"am[45]|lga\d+(?:-\d)?|str\d|trx\d|motherboard)$"
)
"""Words of a name that tell the radio module, the memory or the size, not the wiring."""

T = TypeVar("T")
Key = tuple[str, str]
Wires = tuple[str | None, int | None, int | None]
"""Origin, generation and width of a slot."""


class Pattern(Struct, frozen=True, kw_only=True):
    """What all shipped boards of one socket and chipset share: the wires of the first full-size
    slot, and of small ones, and the link to the chipset; None where they do not agree."""

    boards: int
    first: Wires | None
    small: Wires | None
    chipset_link: str | None


class Patterns(Struct, frozen=True):
    """What the shipped boards prove, by socket and chipset, and the shipped boards by bare name."""

    shared: dict[Key, Pattern]
    named: dict[tuple[str, str, str], Motherboard]


def patterns(boards: Iterable[Motherboard]) -> Patterns:
    """Return what a set of boards proves of others."""
    grouped: dict[Key, list[Motherboard]] = {}
    named: dict[tuple[str, str, str], Motherboard] = {}
    for board in boards:
        key = _key(board)
        if key is not None:
            grouped.setdefault(key, []).append(board)
            named[*key, bare_name(board)] = board
    shared = {key: _pattern(group) for key, group in grouped.items() if len(group) >= LEAST_BOARDS}
    return Patterns(shared, named)


def with_lanes(part: AnyPart, known: Patterns) -> AnyPart:
    """Return an imported board with what the patterns give, marked *inferred*; any other part, and
    a board of which they say nothing, as it is."""
    key = _key(part) if isinstance(part, Motherboard) else None
    if key is None or not isinstance(part, Motherboard):
        return part
    twin = known.named.get((*key, bare_name(part)))
    if twin is not None and _alike(twin.layout, part.layout):
        layout = replace(
            part.layout,
            slots=twin.layout.slots,
            switches=twin.layout.switches,
            lane_modes=tuple(m for m in twin.layout.lane_modes if not _names_drives(m, twin)),
            chipset_link=twin.layout.chipset_link,
        )
        return _marked(part, layout, f"Inferred: the slots of {twin.name}, a board of this name.")
    pattern = known.shared.get(key)
    if pattern is None:
        return part
    layout = replace(
        part.layout,
        slots=tuple(_wired(part.layout.slots, pattern)),
        chipset_link=part.layout.chipset_link or pattern.chipset_link,
    )
    if layout == part.layout:
        return part
    note = f"Inferred: {pattern.boards} boards of {' and '.join(key)} agree in this."
    return _marked(part, layout, note)


def bare_name(board: Motherboard) -> str:
    """Return a board's name, squeezed, without maker, radio module, memory and size."""
    maker = set(words_of(board.vendor))
    words = [word for word in words_of(board.name) if word not in maker]
    return "".join(word for word in words if not _RADIO.match(word))


def _key(part: AnyPart) -> Key | None:
    if not isinstance(part, Motherboard) or len(part.layout.sockets) != 1:
        return None
    words = words_of(part.name)
    chipset = (part.layout.chipset or "").casefold()
    if not chipset or SWITCHED & set(words) or any(_GENERATION.match(word) for word in words):
        return None
    named = next((word for word in words if word.startswith(chipset)), "")
    return part.layout.sockets[0], f"{chipset}e" if named == f"{chipset}e" else chipset


def _pattern(group: list[Motherboard]) -> Pattern:
    return Pattern(
        boards=len(group),
        first=_agreed_wires([s for b in group for s in [*_of_size(b.layout, GRAPHICS_SIZE)][:1]]),
        small=_agreed_wires([s for b in group for s in _of_size(b.layout, SMALL_SIZE)]),
        chipset_link=_agreed([b.layout.chipset_link for b in group]),
    )


def _of_size(layout: Layout, size: int) -> Iterator[Slot]:
    return (slot for slot in layout.slots if slot.kind == "pcie" and slot.mechanical == size)


def _wires(slot: Slot | None) -> Wires | None:
    """Return the wires of a slot, None where one of them is not known."""
    if slot is None or None in (slot.origin, slot.gen, slot.width):
        return None
    return slot.origin, slot.gen, slot.width


def _agreed_wires(slots: list[Slot]) -> Wires | None:
    """Return the wires that at least three slots have and none denies in origin, generation or
    width; a slot of which one is not known proves nothing."""
    wires = _agreed(_wires(slot) for slot in slots)
    if wires is None:
        return None
    told = [pair for s in slots for pair in zip((s.origin, s.gen, s.width), wires, strict=True)]
    return wires if all(known in (None, agreed) for known, agreed in told) else None


def _agreed(values: Iterable[T | None]) -> T | None:
    """Return the value that all share that have one, at least three; None where one differs."""
    known = [value for value in values if value is not None]
    same = len(known) >= LEAST_BOARDS and all(value == known[0] for value in known)
    return known[0] if same else None


def _wired(slots: Iterable[Slot], pattern: Pattern) -> Iterator[Slot]:
    first = True
    for slot in slots:
        wires = None
        if slot.mechanical == GRAPHICS_SIZE and first:
            first, wires = False, pattern.first
        elif slot.mechanical == SMALL_SIZE:
            wires = pattern.small
        if wires is None:
            yield slot
        else:
            origin, gen, width = wires
            yield replace(slot, origin=origin, gen=gen, width=width)


def _alike(ours: Layout, theirs: Layout) -> bool:
    """Say whether two boards have the same slots by size, the same memory, and as many modules."""
    sizes = [
        sorted(slot.mechanical or 0 for slot in layout.slots if (slot.mechanical or 0) > SMALL_SIZE)
        for layout in (ours, theirs)
    ]
    return (
        sizes[0] == sizes[1]
        and ours.memory_type == theirs.memory_type
        and ours.memory_slots == theirs.memory_slots
    )


def _names_drives(mode: object, board: Motherboard) -> bool:
    """Say whether a lane mode speaks of drive ports, whose names an imported board does not
    share."""
    ports = {port.id for port in board.layout.drives}
    when = getattr(mode, "when", None)
    named: Mapping[str, object] = {
        name: None
        for group in (
            getattr(when, "used", ()),
            getattr(when, "empty", ()),
            getattr(mode, "widths", {}),
            getattr(mode, "gens", {}),
            getattr(mode, "disabled", ()),
        )
        for name in group
    }
    return bool(ports & set(named))


def _marked(part: Motherboard, layout: Layout, note: str) -> Motherboard:
    doubts = {
        f"layout.{field}": Doubt(state="inferred", note=note)
        for field in ("slots", "switches", "chipset_link")
        if getattr(layout, field) != getattr(part.layout, field)
    }
    return replace(part, layout=layout, doubts={**part.doubts, **doubts})
