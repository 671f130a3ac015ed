"""From items to physical pieces: quantities counted out, systems opened, boards found."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    GPU,
    Layout,
    Motherboard,
    Part,
    PowerSupply,
    System,
    kind_of,
)
from rigplanner.machine.model import Piece
from rigplanner.machine.pcie import link_gbs
from rigplanner.rig.document import Rig, part_of

DEEPEST = 4
"""Systems in systems (a rack of trays of boards) that are opened; deeper nesting is taken for a
cycle."""


class Board(Struct, frozen=True):
    """A motherboard, or a system with a layout of its own; `index` counts boards."""

    index: int
    name: str
    part: Motherboard | System

    @property
    def layout(self) -> Layout:
        return self.part.layout


class Pieces(Struct, frozen=True):
    """All pieces in item order, the wished place of each ("" for none), and the ids of parts that
    nobody knows."""

    pieces: tuple[Piece, ...]
    wishes: dict[str, str]
    missing: tuple[str, ...]


def pieces_of(rig: Rig, catalog: Catalog) -> Pieces:
    """Return the pieces of a rig. A piece built into a system is called after the system and its
    place there."""
    pieces: list[Piece] = []
    wishes: dict[str, str] = {}
    missing: list[str] = []
    for item in rig.items:
        part = part_of(rig, catalog, item.part)
        if part is None:
            missing.append(item.part)
            continue
        for index, name in enumerate(item.pieces()):
            pieces.append(Piece(name, item.uid, part))
            wishes[name] = item.place_of(index)
            if isinstance(part, System):
                for piece, place in _built_in(name, item.uid, part, rig, catalog, missing, DEEPEST):
                    pieces.append(piece)
                    wishes[piece.name] = place
    return Pieces(tuple(pieces), wishes, tuple(dict.fromkeys(missing)))


def size_of(rig: Rig, catalog: Catalog) -> tuple[int, int]:
    """Return how many pieces a rig has, built-in ones counted, and how many of them are GPUs,
    without making them all."""
    pieces = gpus = 0
    for item in rig.items:
        one = pieces_of(replace(rig, items=(replace(item, quantity=1, places=()),)), catalog).pieces
        pieces += item.quantity * len(one)
        gpus += item.quantity * sum(isinstance(piece.part, GPU) for piece in one)
    return pieces, gpus


def _built_in(
    name: str, uid: str, system: System, rig: Rig, catalog: Catalog, missing: list[str], depth: int
) -> Iterator[tuple[Piece, str]]:
    counts: dict[str, int] = {}
    for inclusion in system.includes:
        part = part_of(rig, catalog, inclusion.part)
        if part is None or depth == 0:
            missing.append(inclusion.part)
            continue
        for index in range(inclusion.quantity):
            place = inclusion.places[index] if index < len(inclusion.places) else ""
            inner = f"{name}/{place or _numbered(part, counts)}"
            yield Piece(inner, uid, part), place
            if isinstance(part, System):
                yield from _built_in(inner, uid, part, rig, catalog, missing, depth - 1)


def _numbered(part: Part, counts: dict[str, int]) -> str:
    kind = kind_of(part)
    counts[kind] = counts.get(kind, -1) + 1
    return f"{kind}{counts[kind]}"


def in_turn(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return pieces in the order in which they are placed, whatever the order of the items: what is
    built in first, then the strongest GPUs and supplies, all others by their ids."""
    return tuple(sorted(pieces, key=_turn))


def _turn(piece: Piece) -> tuple[object, ...]:
    part = piece.part
    if "/" in piece.name:
        return (0,)
    if isinstance(part, GPU):
        able = link_gbs(part.edge_gen, part.edge_width) or 0.0
        return 1, (-able, -(part.memory_gib or 0.0), -(part.tdp_w or 0.0)), part.id, piece.name
    watts = 0.0
    if isinstance(part, PowerSupply):
        watts = max((rating.watts for rating in part.supply.ratings), default=0.0)
    return 1, (-watts, 0.0, 0.0), part.id, piece.name


def boards_of(pieces: tuple[Piece, ...]) -> tuple[Board, ...]:
    """Return motherboards and systems that carry sockets, slots, ports or memory."""
    found = [
        (piece.name, piece.part) for piece in pieces if isinstance(piece.part, Motherboard | System)
    ]
    return tuple(
        Board(index, name, part)
        for index, (name, part) in enumerate(f for f in found if is_board(f[1]))
    )


def is_board(part: Motherboard | System) -> bool:
    """Say whether a part carries sockets, slots, ports or memory."""
    layout = part.layout
    return isinstance(part, Motherboard) or bool(
        layout.sockets
        or layout.slots
        or layout.drives
        or layout.memory_slots
        or layout.memory_modules
    )


def home_of(piece: str, boards: tuple[Board, ...]) -> Board | None:
    """Return the board of the system that a built-in piece came in; None for a loose piece."""
    inside = [board for board in boards if piece.startswith(board.name + "/")]
    return max(inside, key=lambda board: len(board.name), default=None)
