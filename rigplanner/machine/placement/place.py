"""Wished places first, the solver for the rest, and reasons for what stays without a place."""

import re

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import DrivePort, Slot
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.model import PlacementProblem
from rigplanner.machine.placement.bridging import LooseBridge, bridge_problem, bridged
from rigplanner.machine.placement.lanes import Offer, Seating
from rigplanner.machine.placement.placeables import Card, Drive, enters, speaks
from rigplanner.machine.placement.placement import STEPS, STEPS_OF_ALL, Standing, in_the_way, search
from rigplanner.machine.placement.ports import capacity, protocols_of, sought_by

_NUMBERED = re.compile(r"(.*?)(\d+)")
_BLOCK = re.compile(r"(.*?)(\d+)-(\d+)")


class Settled(Struct, frozen=True):
    """One board with everything that found a place on it. `bridges` gives the pieces that each
    bridge joins; `proven` says that the solver could not place more cards."""

    standing: Standing
    bridges: dict[str, tuple[str, ...]]
    problems: tuple[PlacementProblem, ...]
    proven: bool


def settle(
    seating: Seating,
    cards: list[Card],
    drives: list[Drive],
    bridges: list[LooseBridge],
    plugged: dict[str, str],
    boards: int = 1,
    columns: int | None = None,
) -> Settled:
    """Place everything on one of so many boards; a wished place is kept or refused with a reason.
    `plugged` gives the ports that adapters hold, `columns` the expansion columns of the case."""
    seekers: list[Card | Drive | LooseBridge] = [*cards, *drives, *bridges]
    if not seekers:
        return Settled(Standing({}, {}, plugged, {}), {}, (), True)
    steps = min(STEPS, max(1, STEPS_OF_ALL // boards))
    models = sorted({card.part.id for card in cards})
    fitted = [
        (
            *(card.name, card.wish, card.kind, card.is_gpu, card.shows),
            *(card.width, card.gen, card.columns, card.riser),
            id(card.part) if bridges else models.index(card.part.id),
        )
        for card in cards
    ]
    wanted = [(each.name, id(each.part), each.wish) for each in bridges]
    key = (id(seating), *fitted, *sought_by(drives), *wanted, *plugged.items(), steps, columns)
    return _settlements.get(
        key,
        (seating, seekers),
        lambda: _settled(seating, cards, drives, bridges, plugged, steps, columns),
    )


_settlements: IdentityCache[Settled] = IdentityCache(64)
"""Cards and drives that want the same of a board find the same places: only which of them are of
one model counts, not which model that is; with bridges the cards' models do."""


def _settled(
    seating: Seating,
    cards: list[Card],
    drives: list[Drive],
    bridges: list[LooseBridge],
    plugged: dict[str, str],
    steps: int,
    columns: int | None,
) -> Settled:
    slots = {slot.id: slot for slot in seating.layout.slots}
    ports = {port.id: port for port in seating.layout.drives}
    drives = [
        replace(drive, wish=port_named(drive.wish, ports)) if drive.wish else drive
        for drive in drives
    ]
    # Wishes first, in their order: each is kept, or refused with its reason.
    standing, problems = _wished(seating, cards, drives, Standing({}, {}, plugged, {}))
    standing, killed = _without_the_dead(seating, cards, drives, standing)
    problems += killed
    # Then the search, for all that has no place yet and was not refused.
    refused = {problem.piece for problem in problems}
    seeking = [card for card in cards if card.name not in refused]
    left = [drive for drive in drives if drive.name not in refused]
    standing, proven = search(seating, seeking, left, bridges, standing, steps, columns)
    lost = [
        _no_slot(card, seating, slots, standing)
        for card in seeking
        if card.name not in standing.slots
    ]
    problems += [replace(problem, proven=proven or problem.reason != "no-slot") for problem in lost]
    problems += [
        _no_port(d, seating, drives, standing) for d in left if d.name not in standing.ports
    ]
    # Bridges last: they join cards where those stand.
    by_name = {card.name: card for card in cards}
    where = {name: slots[slot] for name, slot in standing.slots.items()}
    joined = bridged(bridges, by_name, where)
    problems += [
        bridge_problem(bridge, by_name, where, joined)
        for bridge in bridges
        if bridge.name not in joined
    ]
    return Settled(standing, joined, tuple(problems), proven)


def _wished(
    seating: Seating, cards: list[Card], drives: list[Drive], standing: Standing
) -> tuple[Standing, list[PlacementProblem]]:
    """Cards and drives at the places that they are wished to have, and the wishes refused."""
    slots = {slot.id: slot for slot in seating.layout.slots}
    ports = {port.id: port for port in seating.layout.drives}
    problems: list[PlacementProblem] = []
    for card in cards:
        if card.wish and (refusal := _card_refusal(card, seating, slots, standing)):
            problems.append(refusal)
        elif card.wish:
            standing = standing.with_card(card, slots[card.wish])
    for drive in drives:
        if drive.wish and (refusal := _drive_refusal(drive, seating, ports, standing)):
            problems.append(refusal)
        elif drive.wish:
            taken = {**standing.ports, drive.name: drive.wish}
            standing = Standing(standing.slots, standing.taken, taken, standing.hidden)
    return standing, problems


def port_named(wish: str, ports: dict[str, DrivePort]) -> str:
    """Return the id of the port that a wish means: itself, or the block of ports ("SATA5-6",
    "SATA") that holds "SATA6"."""
    if wish in ports:
        return wish
    asked = _NUMBERED.fullmatch(wish)
    if asked is None:
        return wish
    for port in ports.values():
        block = _BLOCK.fullmatch(port.id)
        first, last = (int(block[2]), int(block[3])) if block else (0, port.count)
        stem = block[1] if block else port.id
        if (
            port.count > 1
            and stem.rstrip("_") == asked[1].rstrip("_")
            and first <= int(asked[2]) <= last
        ):
            return port.id
    return wish


def _card_refusal(
    card: Card, seating: Seating, slots: dict[str, Slot], standing: Standing
) -> PlacementProblem | None:
    place = card.wish
    slot = slots.get(place)
    if slot is None:
        return PlacementProblem(piece=card.name, reason="slot-missing", place=place)
    if slot.kind != card.kind:
        return PlacementProblem(
            piece=card.name, reason="wrong-kind", place=place, needed=card.kind, actual=slot.kind
        )
    if not enters(card, slot):
        return PlacementProblem(
            piece=card.name,
            reason="too-narrow",
            place=place,
            needed=card.width,
            actual=slot.mechanical,
        )
    if place in standing.taken:
        return PlacementProblem(
            piece=card.name, reason="slot-taken", place=place, by=(standing.taken[place],)
        )
    over = in_the_way(standing, card, slot, slots)
    if over:
        return PlacementProblem(piece=card.name, reason="slot-covered", place=place, by=over)
    dead = seating.offers[place].disabled_by
    return (
        PlacementProblem(piece=card.name, reason="slot-disabled", place=place, by=dead)
        if dead
        else None
    )


def _drive_refusal(
    drive: Drive, seating: Seating, ports: dict[str, DrivePort], standing: Standing
) -> PlacementProblem | None:
    place = drive.wish
    port = ports.get(place)
    if port is None:
        return PlacementProblem(piece=drive.name, reason="port-missing", place=place)
    if not speaks(drive, port):
        spoken = " / ".join(port.protocols) if port.kind in drive.kinds else port.kind
        return PlacementProblem(
            piece=drive.name,
            reason="protocol",
            place=place,
            needed=drive.part.interface,
            actual=spoken,
        )
    holders = tuple(name for name, held in standing.ports.items() if held == place)
    if len(holders) >= capacity(port, seating.offers[place]):
        return PlacementProblem(piece=drive.name, reason="port-taken", place=place, by=holders)
    dead = seating.offers[place].disabled_by
    return (
        PlacementProblem(piece=drive.name, reason="port-disabled", place=place, by=dead)
        if dead
        else None
    )


def _without_the_dead(
    seating: Seating, cards: list[Card], drives: list[Drive], standing: Standing
) -> tuple[Standing, list[PlacementProblem]]:
    """Take out pieces whose wished place the other wished pieces switch off, until none is left."""
    problems: list[PlacementProblem] = []
    while True:
        offers = seating.at(standing.used(), protocols_of(drives, standing.ports))
        card = next(
            (card for card in cards if _is_dead(offers, standing.slots.get(card.name))), None
        )
        drive = next(
            (drive for drive in drives if _is_dead(offers, standing.ports.get(drive.name))), None
        )
        if card is not None:
            place = standing.slots[card.name]
            problems.append(
                PlacementProblem(
                    piece=card.name,
                    reason="slot-disabled",
                    place=place,
                    by=offers[place].disabled_by,
                )
            )
            standing = _without_card(standing, card.name)
        elif drive is not None:
            place = standing.ports[drive.name]
            problems.append(
                PlacementProblem(
                    piece=drive.name,
                    reason="port-disabled",
                    place=place,
                    by=offers[place].disabled_by,
                )
            )
            kept = {name: port for name, port in standing.ports.items() if name != drive.name}
            standing = Standing(standing.slots, standing.taken, kept, standing.hidden)
        else:
            return standing, problems


def _is_dead(offers: dict[str, Offer], place: str | None) -> bool:
    return place is not None and bool(offers[place].disabled_by)


def _without_card(standing: Standing, name: str) -> Standing:
    place = standing.slots[name]
    return Standing(
        {piece: slot for piece, slot in standing.slots.items() if piece != name},
        {slot: piece for slot, piece in standing.taken.items() if slot != place},
        standing.ports,
        {column: piece for column, piece in standing.hidden.items() if piece != name},
    )


def _killed_by(
    place: str, seating: Seating, standing: Standing, protocols: dict[str, str]
) -> list[str]:
    """Return the pieces whose places would be switched off if a free place were used."""
    used = standing.used()
    if place in used:
        return []
    offers = seating.at(used | {place}, protocols)
    dead = {other for other in used if other in offers and offers[other].disabled_by}
    return [
        *(standing.taken[other] for other in dead if other in standing.taken),
        *(n for n, p in standing.ports.items() if p in dead),
    ]


def _no_slot(
    card: Card, seating: Seating, slots: dict[str, Slot], standing: Standing
) -> PlacementProblem:
    """Return why a card found no slot, with the pieces that hold or hide the slots it could use."""
    alike = [slot for slot in slots.values() if slot.kind == card.kind]
    if not alike:
        kinds = " / ".join(sorted({slot.kind for slot in slots.values()}))
        return PlacementProblem(
            piece=card.name, reason="wrong-kind", needed=card.kind, actual=kinds or None
        )
    fitting = [slot for slot in alike if enters(card, slot)]
    if not fitting:
        widest = max((slot.mechanical or 0 for slot in alike), default=None)
        return PlacementProblem(
            piece=card.name, reason="too-narrow", needed=card.width, actual=widest
        )
    by: list[str] = []
    for slot in fitting:
        by += (
            [standing.taken[slot.id]]
            if slot.id in standing.taken
            else in_the_way(standing, card, slot, slots)
        )
    offers = seating.at(standing.used(), {})
    by += [cause for slot in fitting for cause in offers[slot.id].disabled_by]
    by += [piece for slot in fitting for piece in _killed_by(slot.id, seating, standing, {})]
    return PlacementProblem(
        piece=card.name, reason="no-slot", by=tuple(dict.fromkeys(by)), actual=len(fitting)
    )


def _no_port(
    drive: Drive, seating: Seating, drives: list[Drive], standing: Standing
) -> PlacementProblem:
    alike = [port for port in seating.layout.drives if port.kind in drive.kinds]
    fitting = [port for port in alike if speaks(drive, port)]
    if alike and not fitting:
        spoken = " / ".join(sorted({protocol for port in alike for protocol in port.protocols}))
        return PlacementProblem(
            piece=drive.name, reason="protocol", needed=drive.part.interface, actual=spoken
        )
    ids = {port.id for port in fitting}
    offers = seating.at(standing.used(), protocols_of(drives, standing.ports))
    by = [name for name, port in standing.ports.items() if port in ids]
    by += [cause for port in fitting for cause in offers[port.id].disabled_by]
    protocols = protocols_of(drives, standing.ports)
    by += [
        p
        for port in fitting
        for p in _killed_by(
            port.id, seating, standing, {**protocols, port.id: drive.part.interface}
        )
    ]
    return PlacementProblem(
        piece=drive.name,
        reason="no-port",
        by=tuple(dict.fromkeys(by)),
        needed=" / ".join(drive.kinds),
        actual=len(fitting),
    )
