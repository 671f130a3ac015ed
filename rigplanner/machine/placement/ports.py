"""Drives into ports."""

from collections.abc import Callable

from rigplanner.catalog.schema.parts import DrivePort
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.pcie import LANE_GBS
from rigplanner.machine.placement.lanes import Offer, Seating
from rigplanner.machine.placement.placeables import Drive, speaks

MOST_ORDERS = 4
"""Other orders of drives that are tried, each with another model first."""

Cost = Callable[[frozenset[str], dict[str, str]], tuple[float, ...]]
"""What occupied places, with the protocols in them, cost the cards: smaller is better, compared
from the left."""


def capacity(port: DrivePort, offer: Offer) -> int:
    """Return how many drives a port takes; lane modes may leave a block of SATA ports fewer."""
    return min(port.count, offer.width or port.count) if port.kind == "sata" else port.count


def place_drives(
    seating: Seating, drives: list[Drive], used: frozenset[str], placed: dict[str, str], cost: Cost
) -> dict[str, str]:
    """Return the port of each drive, `placed` ones included: drives with the fewest choices first,
    each into the port that costs the cards least, then the fastest. Where that leaves a drive
    without a port, others move aside for it; where it still does, or costs the cards something, the
    drives are tried in other orders, and without each port that switches something off. Without
    lane modes the cards do not matter."""
    if seating.touched:
        return _plugged(seating, drives, used, placed, cost)
    key = (id(seating), *sought_by(drives), *placed.items())
    return _found.get(key, seating, lambda: _plugged(seating, drives, used, placed, cost))


def sought_by(drives: list[Drive]) -> tuple[object, ...]:
    """Return all that decides which ports drives get: what each of them plugs into and how fast,
    and which of them are of one model."""
    models = [drive.part.id for drive in drives]
    return tuple(
        [
            (
                *(drive.name, drive.wish, drive.kinds, drive.part.interface),
                *(drive.part.gen, drive.part.width, models.index(drive.part.id)),
            )
            for drive in drives
        ]
    )


_found: IdentityCache[dict[str, str]] = IdentityCache(64)


def _plugged(
    seating: Seating, drives: list[Drive], used: frozenset[str], placed: dict[str, str], cost: Cost
) -> dict[str, str]:
    ports = {port.id: port for port in seating.layout.drives}
    free = [drive for drive in drives if not drive.wish]
    free.sort(
        key=lambda drive: (
            sum(speaks(drive, port) for port in ports.values()),
            -drive_rate(drive, None),
            drive.name,
        )
    )
    found = _in_order(seating, drives, free, ports, used, placed, cost)
    if not seating.touched:
        return found
    idle = cost(frozenset((*used, *placed.values())), protocols_of(drives, placed))

    def worth(ways: dict[str, str]) -> tuple[object, ...]:
        after, spoken = frozenset((*used, *ways.values())), protocols_of(drives, ways)
        offers = seating.at(after, spoken)
        harm = cost(after, spoken)
        rates = sum(
            drive_rate(drive, offers[ways[drive.name]]) for drive in free if drive.name in ways
        )
        return (len(ways), tuple(-part for part in harm), rates)

    if worth(found)[:2] == (len(placed) + len(free), tuple(-part for part in idle)):
        return found
    firsts = {drive.part.id: drive for drive in reversed(free)}
    orders = [
        sorted(free, key=lambda drive: drive.part.id != first)
        for first in list(firsts)[:MOST_ORDERS]
    ]
    ways = [
        found,
        *(_in_order(seating, drives, order, ports, used, placed, cost) for order in orders),
    ]
    if len(found) < len(placed) + len(free):
        held = [
            name for drive, name in found.items() if drive not in placed and seating.cares(name)
        ]
        for shunned in dict.fromkeys(held[:MOST_ORDERS]):
            others = {name: port for name, port in ports.items() if name != shunned}
            ways.append(_in_order(seating, drives, free, others, used, placed, cost))
    return max(ways, key=worth)


def _in_order(
    seating: Seating,
    drives: list[Drive],
    free: list[Drive],
    ports: dict[str, DrivePort],
    used: frozenset[str],
    placed: dict[str, str],
    cost: Cost,
) -> dict[str, str]:
    found = dict(placed)
    for drive in free:
        now = frozenset((*used, *found.values()))
        protocols = protocols_of(drives, found)
        options = _open_ports(seating, drive, ports, found, now, protocols)
        if options:
            found[drive.name] = _best(seating, drive, options, now, protocols, cost)
    for drive in free:
        if drive.name not in found:
            _make_room(
                drive, [d for d in drives if d.name in found], ports, found, seating, used, set()
            )
    return found


def protocols_of(drives: list[Drive], ports: dict[str, str]) -> dict[str, str]:
    """Return the protocol spoken in each port in use."""
    return {ports[drive.name]: drive.part.interface for drive in drives if drive.name in ports}


def _open_ports(
    seating: Seating,
    drive: Drive,
    ports: dict[str, DrivePort],
    found: dict[str, str],
    used: frozenset[str],
    protocols: dict[str, str],
) -> list[DrivePort]:
    offers = seating.at(used, protocols)
    held = list(found.values())
    return [
        port
        for port in ports.values()
        if speaks(drive, port)
        and not offers[port.id].disabled_by
        and held.count(port.id) < capacity(port, offers[port.id])
        and not _kills(seating, port, drive, ports, held, used, protocols)
    ]


def _kills(
    seating: Seating,
    port: DrivePort,
    drive: Drive,
    ports: dict[str, DrivePort],
    held: list[str],
    used: frozenset[str],
    protocols: dict[str, str],
) -> bool:
    """Say whether a drive in a port would switch off a place in use, the port itself, or a SATA
    port that a drive holds."""
    if not seating.cares(port.id):
        return False
    after = used | {port.id}
    offers = seating.at(after, {**protocols, port.id: drive.part.interface})
    before = seating.at(used, protocols)
    dead = any(
        offers[place].disabled_by and not before[place].disabled_by
        for place in after
        if place in offers
    )
    return dead or any(held.count(name) > capacity(ports[name], offers[name]) for name in set(held))


def _best(
    seating: Seating,
    drive: Drive,
    options: list[DrivePort],
    used: frozenset[str],
    protocols: dict[str, str],
    cost: Cost,
) -> str:
    """Return the port that costs the cards least, then the fastest, then the first."""
    idle = cost(used, protocols) if any(seating.cares(port.id) for port in options) else ()
    offers = seating.at(used, protocols)

    def rank(port: DrivePort) -> tuple[object, ...]:
        if not seating.cares(port.id):
            return (idle, -drive_rate(drive, offers[port.id]), _kind_rank(drive, port))
        after, spoken = used | {port.id}, {**protocols, port.id: drive.part.interface}
        return (
            cost(after, spoken),
            -drive_rate(drive, seating.at(after, spoken)[port.id]),
            _kind_rank(drive, port),
        )

    return min(options, key=rank).id


def _kind_rank(drive: Drive, port: DrivePort) -> int:
    return drive.kinds.index(port.kind)


def drive_rate(drive: Drive, offer: Offer | None) -> float:
    """Return the coded rate in GB/s of a drive's link, for ranking only."""
    if drive.part.interface != "nvme":
        return 0.6
    width, gen = drive.part.width or 4, drive.part.gen or 3
    if offer is not None:
        width, gen = min(width, offer.width or width), min(gen, offer.gen or gen)
    return width * LANE_GBS.get(gen, 1.0)


def _make_room(
    drive: Drive,
    others: list[Drive],
    ports: dict[str, DrivePort],
    found: dict[str, str],
    seating: Seating,
    used: frozenset[str],
    seen: set[str],
) -> bool:
    """Move drives aside along an augmenting path so that `drive` gets a port; return whether that
    worked."""
    for port in ports.values():
        now = frozenset((*used, *found.values()))
        offer = seating.at(now, protocols_of(others, found))[port.id]
        if (
            port.id in seen
            or not speaks(drive, port)
            or offer.disabled_by
            or seating.cares(port.id)
        ):
            continue
        seen.add(port.id)
        holders = [other for other in others if found.get(other.name) == port.id and not other.wish]
        if list(found.values()).count(port.id) < capacity(port, offer):
            found[drive.name] = port.id
            return True
        for holder in holders:
            if _make_room(holder, others, ports, found, seating, used, seen):
                found[drive.name] = port.id
                return True
    return False
