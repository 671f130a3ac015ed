"""Where a piece could stand instead: every place of the machine tried, with what would go wrong."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Storage
from rigplanner.machine.model import Machine, PlacementProblem
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, EditFault, apply
from rigplanner.rules.assess import machine_of


class Move(Struct, frozen=True, kw_only=True):
    """A place for a piece: the edits that take it there (a piece that stands there comes back in
    exchange), and the problems that the machine would then have and has not now; `width` and `gen`
    are what the piece would negotiate."""

    place: str
    edits: tuple[Edit, ...]
    problems: tuple[PlacementProblem, ...]
    width: int | None = None
    gen: int | None = None
    here: bool = False


def split_piece(piece: str) -> tuple[str, int] | None:
    """Return uid and index of a piece that belongs to the rig itself; None for one built into a
    system."""
    uid, _, index = piece.rpartition(".")
    return (uid, int(index)) if uid and index.isdigit() and "/" not in piece else None


def moves(rig: Rig, catalog: Catalog, piece: str) -> tuple[Move, ...]:
    """Return all places that a piece could be put into, in the order of the machine; () for a piece
    that cannot be moved."""
    found = split_piece(piece)
    machine = machine_of(rig, catalog)
    part = next((each.part for each in machine.pieces if each.name == piece), None)
    if found is None or part is None or rig.item(found[0]) is None:
        return ()
    if isinstance(part, Storage) and part.form_factor != "aic":
        places = [
            (use.port.id, use.pieces[0] if len(use.pieces) == 1 and use.port.count == 1 else "")
            for use in machine.drives
        ]
    else:
        places = [(use.slot.id, use.piece or "") for use in machine.slots]
    here = next((place for place, holder in places if holder == piece), "")
    return tuple(
        _move(rig, catalog, machine, found, piece, place, holder, here) for place, holder in places
    )


def _move(
    rig: Rig,
    catalog: Catalog,
    machine: Machine,
    found: tuple[str, int],
    piece: str,
    place: str,
    holder: str,
    here: str,
) -> Move:
    edits = [_put(found, place)]
    other = split_piece(holder) if holder and holder != piece else None
    if other is not None:
        edits.append(_put(other, here))
    changed = rig
    try:
        for edit in edits:
            changed = apply(changed, edit)
    except EditFault:
        problem = PlacementProblem(piece=piece, reason="slot-missing", place=place)
        return Move(place=place, edits=(), problems=(problem,))
    after = machine_of(changed, catalog)
    known = {(p.piece, p.reason) for p in machine.problems}
    problems = tuple(
        p for p in after.problems if (p.piece, p.reason) not in known or p.piece == piece
    )
    width, gen = link_of_piece(after, piece)
    return Move(
        place=place, edits=tuple(edits), problems=problems, width=width, gen=gen, here=place == here
    )


def _put(found: tuple[str, int], place: str) -> Edit:
    return Edit("set_place", {"uid": found[0], "index": found[1], "place": place})


def link_of_piece(machine: Machine, piece: str) -> tuple[int | None, int | None]:
    """Return the negotiated width and generation of a piece."""
    for use in machine.slots:
        if use.piece == piece:
            return use.width, use.gen
    for port in machine.drives:
        if piece in port.pieces:
            return port.width, port.gen
    return None, None
