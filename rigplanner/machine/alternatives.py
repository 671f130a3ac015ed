"""Other places for a piece, with what each gives and costs: what fixes are made of."""

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, AnyPart, Storage
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import DriveUse, Machine, SlotUse
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.placement.placeables import card_of, drive_of, enters, speaks
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit, apply

MOST_TRIALS = 24


class Change(Struct, frozen=True):
    """The link of a piece before and after, as width and generation; None where unknown or without
    a place."""

    piece: str
    before: tuple[int | None, int | None]
    after: tuple[int | None, int | None]


class Alternative(Struct, frozen=True):
    """One move: `edits` make it, `changes` name the links that differ then, and `gain_gbs` sums
    what GPUs gain one way in GB/s."""

    piece: str
    place: str
    edits: tuple[Edit, ...]
    changes: tuple[Change, ...]
    gain_gbs: float


def alternatives(
    rig: Rig,
    catalog: Catalog,
    machine: Machine | None = None,
    piece: str | None = None,
    most: int = MOST_TRIALS,
) -> tuple[Alternative, ...]:
    """Return the moves of loose cards and drives (of one piece, if named) to free places that
    change some link and leave nothing without a place, best for the GPUs first. Equal outcomes are
    listed once; at most `most` moves are tried."""
    now = machine if machine is not None else assemble(rig, catalog)
    found: dict[tuple[Change, ...], Alternative] = {}
    for name, place in _moves(rig, now, piece)[:most]:
        uid, _, index = name.rpartition(".")
        edit = Edit("set_place", {"uid": uid, "index": int(index), "place": place})
        then = assemble(apply(rig, edit), catalog)
        if len(then.problems) > len(now.problems):
            continue
        changes = _changes(now, then)
        if changes and changes not in found:
            found[changes] = Alternative(name, place, (edit,), changes, _gain(now, changes))
    return tuple(sorted(found.values(), key=lambda move: (-move.gain_gbs, move.piece, move.place)))


def _moves(rig: Rig, machine: Machine, only: str | None) -> list[tuple[str, str]]:
    """Return pieces with the free places that take them: drives first, since moving one is the
    cheaper cure, then cards that get less than they could, equal cards in equal slots once."""
    uids = {item.uid for item in rig.items}
    loose = [
        piece
        for piece in machine.pieces
        if piece.name.rpartition(".")[0] in uids and "/" not in piece.name
    ]
    slots = {use.piece: use for use in machine.slots if use.piece is not None}
    ports = {name: use for use in machine.drives for name in use.pieces}
    drives: list[tuple[str, str]] = []
    cards: list[tuple[str, str]] = []
    seen: set[tuple[str, int | None, int | None]] = set()
    for piece in loose:
        if only is not None and piece.name != only:
            continue
        if piece.name in ports and isinstance(piece.part, Storage):
            drives += [
                (piece.name, use.port.id)
                for use in machine.drives
                if _takes_drive(use, piece.name, piece.part)
            ]
        elif piece.name in slots:
            use = slots[piece.name]
            key = (piece.part.id, use.width, use.gen)
            if key not in seen or only is not None:
                seen.add(key)
                cards += [
                    (piece.name, other.slot.id)
                    for other in machine.slots
                    if _takes_card(other, piece.name, piece.part)
                ]
    return drives + cards


def _takes_drive(use: DriveUse, name: str, part: Storage) -> bool:
    drive = drive_of(name, part, "")
    free = len(use.pieces) < use.usable and not use.disabled_by
    return drive is not None and free and name not in use.pieces and speaks(drive, use.port)


def _takes_card(use: SlotUse, name: str, part: AnyPart) -> bool:
    card = card_of(name, part, "")
    free = use.piece is None and use.covered_by is None and not use.disabled_by
    return card is not None and free and enters(card, use.slot)


def _links(machine: Machine) -> dict[str, tuple[int | None, int | None]]:
    links: dict[str, tuple[int | None, int | None]] = {}
    for slot in machine.slots:
        if slot.piece is not None:
            links[slot.piece] = (slot.width, slot.gen)
    for node in machine.storage:
        links.setdefault(node.piece, (node.width, node.gen))
    return links


def _changes(before: Machine, after: Machine) -> tuple[Change, ...]:
    old, new = _links(before), _links(after)
    empty: tuple[int | None, int | None] = (None, None)
    names = [name for name in {**old, **new} if old.get(name, empty) != new.get(name, empty)]
    return tuple(Change(name, old.get(name, empty), new.get(name, empty)) for name in names)


def _gain(machine: Machine, changes: tuple[Change, ...]) -> float:
    gpus = {piece.name for piece in machine.pieces if isinstance(piece.part, GPU)}
    moved = [change for change in changes if change.piece in gpus]
    return sum(
        (link_gbs(c.after[1], c.after[0]) or 0.0) - (link_gbs(c.before[1], c.before[0]) or 0.0)
        for c in moved
    )
