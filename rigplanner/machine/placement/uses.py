"""What every slot and drive port of a populated board gives in the end."""

from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.schema.parts import DrivePort, Slot
from rigplanner.machine.model import DriveUse, SlotUse
from rigplanner.machine.pcie import least, link_gbs
from rigplanner.machine.placement.lanes import Offer
from rigplanner.machine.placement.locate import Tree
from rigplanner.machine.placement.placement import Standing, columns_behind
from rigplanner.machine.placement.populate import Populated
from rigplanner.machine.placement.ports import capacity


class Ground(Struct, frozen=True):
    """A populated board with its tree and what its places give in the end."""

    populated: Populated
    tree: Tree
    offers: dict[str, Offer]


def slot_uses(ground: Ground) -> list[SlotUse]:
    """Return every slot of a board with what stands in it, or what it would offer."""
    return _slots(ground, ground.populated.board.layout.slots)


def slots_in_use(ground: Ground) -> list[SlotUse]:
    """Return the slots of a board in which something stands."""
    taken = ground.populated.settled.standing.taken
    return _slots(
        ground, [slot for slot in ground.populated.board.layout.slots if slot.id in taken]
    )


def _slots(ground: Ground, slots: Iterable[Slot]) -> list[SlotUse]:
    standing = ground.populated.settled.standing
    cards = {card.name: card for card in ground.populated.cards}
    covered = _covered(ground)
    uses: list[SlotUse] = []
    for slot in slots:
        offer, name = ground.offers[slot.id], standing.taken.get(slot.id)
        card = cards.get(name) if name is not None else None
        width = offer.width if card is None else least(offer.width, card.width)
        gen = offer.gen if card is None else least(offer.gen, card.gen)
        uses.append(
            SlotUse(
                slot=slot,
                board=ground.populated.board.name,
                piece=name,
                width=width,
                gen=gen,
                available_width=offer.width,
                available_gen=offer.gen,
                covered_by=None if name is not None else covered.get(slot.id),
                disabled_by=offer.disabled_by,
                gbs=link_gbs(gen, width),
                root=ground.tree.locate(slot.origin, slot.id, slot.root).bridge or None,
                riser=(card.riser or _adapter_under(slot, standing)) if card is not None else None,
            )
        )
    return uses


def _adapter_under(slot: Slot, standing: Standing) -> str | None:
    """Return the adapter whose slot this is; it stands away from the board's expansion columns."""
    parent, found, _ = slot.id.rpartition("/")
    if not found:
        return None
    return standing.taken.get(parent) or next(
        (name for name, port in standing.ports.items() if port == parent), None
    )


def _covered(ground: Ground) -> dict[str, str]:
    """Return the piece whose thickness hides each slot."""
    standing = ground.populated.settled.standing
    slots = {slot.id: slot for slot in ground.populated.board.layout.slots}
    cards = {card.name: card for card in ground.populated.cards}
    over = {
        column: n
        for n, place in standing.slots.items()
        for column in columns_behind(cards[n], slots[place])
    }
    return {
        slot.id: over[slot.position]
        for slot in slots.values()
        if slot.position is not None and slot.position in over
    }


def drive_uses(ground: Ground) -> list[DriveUse]:
    """Return every drive port of a board with the drives in it."""
    return _drives(ground, ground.populated.board.layout.drives)


def drives_in_use(ground: Ground) -> list[DriveUse]:
    """Return the drive ports of a board that hold a drive."""
    holding = set(ground.populated.settled.standing.ports.values())
    return _drives(
        ground, [port for port in ground.populated.board.layout.drives if port.id in holding]
    )


def _drives(ground: Ground, places: Iterable[DrivePort]) -> list[DriveUse]:
    ports = ground.populated.settled.standing.ports
    parts = {drive.name: drive.part for drive in ground.populated.drives}
    uses: list[DriveUse] = []
    for port in places:
        offer = ground.offers[port.id]
        held = tuple(name for name, place in ports.items() if place == port.id)
        width, gen = offer.width, offer.gen
        drive = parts.get(held[0]) if len(held) == 1 else None
        if drive is not None and drive.interface == "nvme":
            width, gen = least(width, drive.width), least(gen, drive.gen)
        usable = 0 if offer.disabled_by else capacity(port, offer)
        uses.append(
            DriveUse(
                port=port,
                board=ground.populated.board.name,
                pieces=held,
                width=width,
                gen=gen,
                usable=usable,
                disabled_by=offer.disabled_by,
            )
        )
    return uses
