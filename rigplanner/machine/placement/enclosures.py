"""Cards outside the case: in enclosures and on docks, which may feed them from a supply of their
own."""

from rigplanner.catalog.schema.parts import GPU, NetworkCard, PowerSupply, Riser, System
from rigplanner.machine.model import Piece
from rigplanner.machine.pieces import in_turn
from rigplanner.rig.document import Item, Rig

EXTERNAL = "usb4"
"""Kind of port that enclosures are joined to; Thunderbolt counts as it."""
CABLED = "oculink"
"""Kind of port whose cable leads out of the case."""
DOCKED = ("m2", CABLED)
PORT_NAMES = ("usb4", "tb", "thunderbolt")
"""How the names of such ports begin where an enclosure has no place of its own."""
DOCK_NAMES = ("m2", "m.2", "ocu")


def is_enclosure(part: object) -> bool:
    """Say whether a part is an enclosure with a slot and a supply of its own."""
    return isinstance(part, Riser) and part.slot_kind == EXTERNAL and part.output == "pcie"


def is_dock(part: object) -> bool:
    """Say whether a part leads an M.2 or OCuLink port to one slot beside the board: what one buys
    for a card."""
    return (
        isinstance(part, Riser)
        and part.slot_kind in DOCKED
        and part.output == "pcie"
        and part.outputs == 1
        and not part.switch
    )


def feeds_itself(riser: Riser) -> bool:
    """Say whether a card behind a riser draws from a supply other than the rig's: in enclosures
    unless the catalog says otherwise, on docks only where it says so."""
    return riser.card_supply in ("included", "separate") or (
        riser.card_supply is None and is_enclosure(riser)
    )


def enclosed(rig: Rig, pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """Return the GPU pieces in enclosures: those that name an enclosure's place ("USB4_1/1"), then
    the last ones without a place, one for each slot of an enclosure that is left."""
    if not any(is_enclosure(piece.part) for piece in pieces):
        return ()
    pieces = in_turn(pieces)
    boxes = [piece for piece in pieces if is_enclosure(piece.part)]
    return _beside(rig, pieces, boxes, PORT_NAMES)


def docked(rig: Rig, pieces: tuple[Piece, ...], inside: tuple[str, ...]) -> tuple[str, ...]:
    """Return the GPU pieces on docks: those that name a dock's place, then the last ones without a
    place that are in no enclosure. Beside a network card nobody knows which card the dock is for.
    """
    if not any(is_dock(piece.part) for piece in pieces):
        return ()
    pieces = in_turn(pieces)
    docks = [piece for piece in pieces if is_dock(piece.part)]
    rest = tuple(piece for piece in pieces if piece.name not in inside)
    return _beside(
        rig, rest, docks, DOCK_NAMES, any(isinstance(p.part, NetworkCard) for p in pieces)
    )


def beside_the_case(rig: Rig, pieces: tuple[Piece, ...]) -> dict[str, Piece]:
    """Return what each GPU piece outside the case stands in: an enclosure, a dock with a supply of
    its own, or what hangs on an OCuLink cable."""
    if not any(is_enclosure(piece.part) or is_dock(piece.part) for piece in pieces):
        return {}
    pieces = in_turn(pieces)
    inside = enclosed(rig, pieces)
    boxes = [
        piece
        for piece in pieces
        if is_enclosure(piece.part)
        for _ in range(getattr(piece.part, "outputs", 1))
    ]
    docks = [piece for piece in pieces if is_dock(piece.part)]
    found = {
        **dict(zip(inside, boxes, strict=False)),
        **dict(zip(docked(rig, pieces, inside), docks, strict=False)),
    }
    return {card: holder for card, holder in found.items() if _is_outside(holder.part)}


def fed_beside(rig: Rig, pieces: tuple[Piece, ...]) -> dict[str, Piece]:
    """Return the holder of each GPU piece that draws from a supply other than the rig's."""
    found = beside_the_case(rig, pieces)
    return {
        card: holder
        for card, holder in found.items()
        if isinstance(holder.part, Riser) and feeds_itself(holder.part)
    }


def holders_supplies(pieces: tuple[Piece, ...]) -> dict[str, Piece]:
    """Return the loose supply that each enclosure or dock without one takes: the last ones of the
    rig, once the rig has its own."""
    asking = in_turn(
        piece
        for piece in pieces
        if isinstance(piece.part, Riser) and piece.part.card_supply == "separate"
    )
    if not asking:
        return {}
    pieces = in_turn(pieces)
    loose = [
        piece for piece in pieces if isinstance(piece.part, PowerSupply) and "/" not in piece.name
    ]
    own = 0 if any(isinstance(piece.part, System) for piece in pieces) else 1
    spare = loose[own:][-len(asking) :]
    return {holder.name: supply for holder, supply in zip(asking, spare, strict=False)}


def _is_outside(part: object) -> bool:
    return isinstance(part, Riser) and (part.slot_kind in (EXTERNAL, CABLED) or feeds_itself(part))


def _beside(
    rig: Rig,
    pieces: tuple[Piece, ...],
    holders: list[Piece],
    names: tuple[str, ...],
    only_named: bool = False,
) -> tuple[str, ...]:
    """Return the cards that name a holder's place, or a port of such a name, then as many loose
    ones as holders have slots left."""
    items = {item.uid: item for item in rig.items}
    ports = tuple(place.lower() for holder in holders if (place := _wish(items, holder))) or names
    cards = [
        p
        for p in pieces
        if isinstance(p.part, GPU) and p.part.form_factor == "pcie" and "/" not in p.name
    ]
    named = [
        card.name
        for card in cards
        if "/" in (place := _wish(items, card).lower()) and place.startswith(ports)
    ]
    slots = sum(holder.part.outputs for holder in holders if isinstance(holder.part, Riser)) - len(
        named
    )
    loose = [card.name for card in cards if not _wish(items, card)]
    return (*named, *(loose[-slots:] if slots > 0 and not only_named else ()))


def _wish(items: dict[str, Item], piece: Piece) -> str:
    item = items.get(piece.uid)
    return (
        item.place_of(int(piece.name.rsplit(".", 1)[1]))
        if item is not None and "/" not in piece.name
        else ""
    )
