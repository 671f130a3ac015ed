"""The places of a machine as rows of its drawing: what each is, what stands in it, its link and
what is to be said of it."""

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.machine.model import DriveUse, Machine, SlotUse
from rigplanner.report.format import quantity
from rigplanner.report.language import tr
from rigplanner.report.quote.machine import link_text

WEIGHTS = {1: 1.0, 2: 1.4, 4: 2.0, 8: 3.0, 16: 4.4}


class Leaf(Struct, frozen=True, kw_only=True):
    """One place: `link` in words, `lanes` its width, `less` what the slot would offer beyond it,
    `note` what else is to be said, `tip` the whole in a sentence; `behind` the place of the adapter
    or dock that it belongs to, `depth` how many there are."""

    origin: str
    place: str
    link: str
    weight: float
    piece: str
    device: str
    empty: bool
    state: str = ""
    note: str = ""
    less: str = ""
    lanes: int | None = None
    tip: str = ""
    behind: str = ""
    depth: int = 0


def leaves(machine: Machine) -> list[Leaf]:
    """Return the slots of a machine, then its ports."""
    names = {piece.name: piece.part.name for piece in machine.pieces}
    numbers = piece_numbers(machine)
    found = [_slot_leaf(use, numbers, names) for use in machine.slots] + [
        _drive_leaf(use, names) for use in machine.drives
    ]
    return _behind_each_other(found)


def _behind_each_other(found: list[Leaf]) -> list[Leaf]:
    """Return places of adapters and docks ("M.2_3/1") after the place that the adapter stands in,
    and saying so."""
    known = {leaf.place for leaf in found}
    parents = {
        leaf.place: before for leaf in found if (before := leaf.place.rpartition("/")[0]) in known
    }
    if not parents:
        return found
    made: list[Leaf] = []

    def put(leaf: Leaf, depth: int) -> None:
        made.append(replace(leaf, behind=parents.get(leaf.place, ""), depth=depth))
        for other in found:
            if parents.get(other.place) == leaf.place:
                put(other, depth + 1)

    for leaf in found:
        if leaf.place not in parents:
            put(leaf, 0)
    return made


def piece_numbers(machine: Machine) -> dict[str, str]:
    """Return what the system calls cards, "GPU 0  ", by piece."""
    numbers = {node.piece: f"GPU {node.index}  " for node in machine.gpus}
    numbers |= {node.piece: tr("Monitors: {name}", name="") for node in machine.displays}
    return numbers | {node.piece: f"NIC {node.index}  " for node in machine.nics}


def _slot_leaf(use: SlotUse, numbers: dict[str, str], names: dict[str, str]) -> Leaf:
    piece = use.piece or ""
    width = use.width if piece else use.available_width
    state, note, less = "", "", ""
    if use.disabled_by:
        state, note = "warning", tr("off: {disabled_by}", disabled_by=", ".join(use.disabled_by))
    elif use.covered_by:
        note = tr("covered by {covered_by}", covered_by=names.get(use.covered_by, use.covered_by))
    elif piece and use.width and use.available_width and use.width < use.available_width:
        less = tr("of x{lanes}", lanes=use.available_width)
    elif piece and width and use.slot.width and width < use.slot.width:
        state, less = "warning", tr("of x{lanes}", lanes=use.slot.width)
    link = "" if use.disabled_by else link_text(width, use.gen if piece else use.available_gen)
    rate = tr("{rate} one way", rate=quantity(use.gbs, "GB/s")) if use.gbs and piece else ""
    riser = tr("through a riser") if use.riser else ""
    return Leaf(
        origin=use.slot.origin or "board",
        place=use.slot.id,
        note=note,
        less=less,
        link=link,
        lanes=width,
        weight=WEIGHTS.get(width or 1, 1.0),
        state=state,
        piece=piece,
        device=numbers.get(piece, "") + names.get(piece, piece) if piece else "",
        empty=not piece,
        tip=_tip(use.slot.id, use.slot.origin, f"{link} {less}".strip(), rate, riser, note),
    )


def _drive_leaf(use: DriveUse, names: dict[str, str]) -> Leaf:
    width = use.width or use.port.width
    link = "SATA" if use.port.kind in ("sata", "sas") else link_text(width, use.gen or use.port.gen)
    off = bool(use.disabled_by)
    note = tr("off: {disabled_by}", disabled_by=", ".join(use.disabled_by)) if off else ""
    return Leaf(
        origin=use.port.origin or "board",
        place=use.port.id,
        note=note,
        link="" if off else link,
        lanes=None if link == "SATA" else width,
        weight=1.0 if link == "SATA" else WEIGHTS.get(use.width or 1, 1.0),
        state="warning" if off else "",
        piece=use.pieces[0] if use.pieces else "",
        device=", ".join(names.get(piece, piece) for piece in use.pieces),
        empty=not use.pieces,
        tip=_tip(use.port.id, use.port.origin, link, note),
    )


def _tip(place: str, origin: str | None, *said: str) -> str:
    where = (
        tr("{place} on {origin}", place=place, origin=origin)
        if origin
        else tr("{place}, origin not known", place=place)
    )
    return ", ".join([where, *(text for text in said if text)])
