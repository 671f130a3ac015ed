"""Enclosures of external GPUs: their cards stand outside the case and draw from a supply of the enclosure."""

from rigplanner.catalog.parts import GPU, NetworkCard, Riser
from rigplanner.machine.machine import Piece
from rigplanner.rig.document import Rig

EXTERNAL = "usb4"
"""Kind of port that enclosures are joined to; Thunderbolt counts as it."""
DOCKED = ("m2", "oculink")
PORT_NAMES = ("usb4", "tb", "thunderbolt")
"""How the names of such ports begin where an enclosure has no place of its own."""


def is_enclosure(part: object) -> bool:
    """Say whether a part is an enclosure with a slot and a supply of its own."""
    return isinstance(part, Riser) and part.slot_kind == EXTERNAL and part.output == "pcie"


def is_dock(part: object) -> bool:
    """Say whether a part leads an M.2 or OCuLink port to one slot beside the board: what one buys for a card."""
    return isinstance(part, Riser) and part.slot_kind in DOCKED and part.output == "pcie" and part.outputs == 1 and not part.switch


def enclosed(rig: Rig, pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """Return the GPU pieces in enclosures: those that name an enclosure's place ("USB4_1/1"), then the last ones without a place,
    one for each slot of an enclosure that is left."""
    boxes = [piece for piece in pieces if is_enclosure(piece.part)]
    if not boxes:
        return ()
    ports = tuple(place.lower() for box in boxes if (place := _wish(rig, box))) or PORT_NAMES
    named = [card.name for card in _cards(pieces) if "/" in (place := _wish(rig, card).lower()) and place.startswith(ports)]
    slots = sum(box.part.outputs for box in boxes if isinstance(box.part, Riser)) - len(named)
    return (*named, *_loose(rig, pieces, slots))


def docked(rig: Rig, pieces: tuple[Piece, ...], inside: tuple[str, ...]) -> tuple[str, ...]:
    """Return the GPU pieces for docks: the last ones without a place that are in no enclosure. Beside a network card nobody knows
    which card the dock is for."""
    docks = sum(is_dock(piece.part) for piece in pieces)
    if not docks or any(isinstance(piece.part, NetworkCard) for piece in pieces):
        return ()
    return _loose(rig, tuple(piece for piece in pieces if piece.name not in inside), docks)


def _cards(pieces: tuple[Piece, ...]) -> list[Piece]:
    return [p for p in pieces if isinstance(p.part, GPU) and p.part.form_factor == "pcie" and "/" not in p.name]


def _loose(rig: Rig, pieces: tuple[Piece, ...], most: int) -> tuple[str, ...]:
    loose = [card.name for card in _cards(pieces) if not _wish(rig, card)]
    return tuple(loose[-most:]) if most > 0 else ()


def _wish(rig: Rig, piece: Piece) -> str:
    item = next((item for item in rig.items if item.uid == piece.uid), None)
    return item.place_of(int(piece.name.rsplit(".", 1)[1])) if item is not None and "/" not in piece.name else ""
