"""Lane modes: what a board gives to each place, for a set of occupied places."""

from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, DrivePort, LaneMode, Layout, Slot
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.pcie import narrowed


class Offer(Struct, frozen=True):
    """What a place gives: width and generation (None: unknown), and what switched it off."""

    width: int | None
    gen: int | None
    disabled_by: tuple[str, ...] = ()


class Seating(Struct, frozen=True):
    """A board with its CPUs seated: what each place gives before lane modes, the modes that may
    still apply, the answers given so far, the places that some mode watches, and those that it also
    changes."""

    layout: Layout
    cpus: tuple[CPU | None, ...]
    offers: dict[str, Offer]
    modes: tuple[LaneMode, ...]
    roots: dict[str, str]
    asked: dict[object, dict[str, Offer]]
    watched: frozenset[str]
    touched: frozenset[str]

    def cares(self, place: str) -> bool:
        """Say whether some mode asks if a place is occupied or empty."""
        return place in self.watched

    def at(
        self, used: frozenset[str], protocols: dict[str, str], settled: bool = False
    ) -> dict[str, Offer]:
        """Return the offers by place when `used` places are occupied; `protocols` says nvme or sata
        of the drives in them. With `settled`, only by modes that stay whatever else is occupied."""
        if not self.modes:
            return self.offers
        watched = used & self.watched
        key = (watched, tuple(protocols.get(place) for place in watched), settled)
        if key not in self.asked:
            self.asked[key] = self._answer(used, protocols, settled)
        return self.asked[key]

    def _answer(
        self, used: frozenset[str], protocols: dict[str, str], settled: bool
    ) -> dict[str, Offer]:
        holding = [
            mode
            for mode in self.modes
            if not (settled and mode.when.empty) and _holds(mode, used, protocols)
        ]
        if not holding:
            return self.offers
        offers = dict(self.offers)
        for mode in holding:
            _apply(mode, offers)
        return offers


_seatings: IdentityCache[Seating] = IdentityCache(64)


def seat(layout: Layout, cpus: tuple[CPU | None, ...], bios: dict[str, str]) -> Seating:
    """Return a board whose sockets hold `cpus` (None: empty socket). Without any CPU the sockets'
    limits are not applied."""
    if type(layout) is not Layout or any(cpu is not None and type(cpu) is not CPU for cpu in cpus):
        return _seated(layout, cpus, bios)
    key = (id(layout), *map(id, cpus), *bios.items())
    return _seatings.get(key, (layout, cpus), lambda: _seated(layout, cpus, bios))


def _seated(layout: Layout, cpus: tuple[CPU | None, ...], bios: dict[str, str]) -> Seating:
    places = places_of(layout)
    roots = {place.id: root_of(layout, place.origin) for place in places}
    classes = {cpu.lane_class for cpu in cpus if cpu is not None and cpu.lane_class is not None}
    known = any(cpu is not None for cpu in cpus)
    chosen = _chosen(layout, bios)
    modes = tuple(mode for mode in layout.lane_modes if _possible(mode, classes, known, chosen))
    offers = {place.id: _offer(place, roots[place.id], cpus) for place in places}
    watched = frozenset(place for mode in modes for place in (*mode.when.used, *mode.when.empty))
    touched = watched.union(*({*mode.widths, *mode.gens, *mode.disabled} for mode in modes))
    return Seating(layout, cpus, offers, modes, roots, {}, watched, touched)


def places_of(layout: Layout) -> list[Slot | DrivePort]:
    """Return all places of a board, slots first."""
    return [*layout.slots, *layout.drives]


def root_of(layout: Layout, origin: str | None) -> str:
    """Return where a place hangs in the end: cpu0, cpu1, ..., chipset, or "" when it is not
    known."""
    if not layout.switches:
        return origin or ""
    switches = {switch.id: switch for switch in layout.switches}
    for _ in range(len(switches) + 1):
        if origin not in switches:
            return origin or ""
        origin = switches[origin].origin
    return ""


def socket_of(root: str) -> int | None:
    """Return the number of the CPU socket that a root belongs to; the chipset hangs on the
    first."""
    if root == "chipset":
        return 0
    return int(root[3:]) if root.startswith("cpu") and root[3:].isdigit() else None


def _chosen(layout: Layout, bios: dict[str, str]) -> set[str]:
    """Return the firmware choices in force: those of the rig that this board offers, else the
    board's defaults."""
    stated = {*bios.values(), *(f"{place}={choice}" for place, choice in bios.items())}
    offered = {mode.when.bios for mode in layout.lane_modes}
    return stated if stated & offered else {*stated, *layout.bios_default}


def _possible(mode: LaneMode, classes: set[str], known: bool, chosen: set[str]) -> bool:
    """Say whether CPU and firmware settings let a mode apply. A condition on the CPU does not hold
    while there is none."""
    when = mode.when
    if when.cpu_class and not (known and classes & set(when.cpu_class)):
        return False
    return when.bios is None or when.bios in chosen


def _holds(mode: LaneMode, used: frozenset[str], protocols: dict[str, str]) -> bool:
    when = mode.when
    if not used.issuperset(when.used) or not used.isdisjoint(when.empty):
        return False
    if when.protocol is None:
        return True
    return any(protocols.get(place) == when.protocol for place in when.used)


def _offer(place: Slot | DrivePort, root: str, cpus: tuple[CPU | None, ...]) -> Offer:
    socket = socket_of(root)
    seated = any(cpu is not None for cpu in cpus)
    if socket is None or not seated:
        return Offer(place.width, place.gen)
    cpu = cpus[socket] if socket < len(cpus) else None
    if cpu is None:
        return Offer(place.width, place.gen, (f"cpu{socket}",))
    if place.origin != root or root == "chipset":
        return Offer(place.width, place.gen)
    width = narrowed(place.width, cpu.peg_width) if isinstance(place, Slot) else place.width
    return Offer(width, narrowed(place.gen, cpu.pcie_gen))


def _apply(mode: LaneMode, offers: dict[str, Offer]) -> None:
    for place, width in mode.widths.items():
        if place in offers:
            was = offers[place]
            offers[place] = Offer(
                width if was.width is None else min(was.width, width), was.gen, was.disabled_by
            )
    for place, gen in mode.gens.items():
        if place in offers:
            was = offers[place]
            offers[place] = Offer(
                was.width, gen if was.gen is None else min(was.gen, gen), was.disabled_by
            )
    for place in mode.disabled:
        if place in offers:
            was = offers[place]
            causes = (*was.disabled_by, *causes_of(mode))
            offers[place] = Offer(was.width, was.gen, tuple(dict.fromkeys(causes)))


def causes_of(mode: LaneMode) -> Iterable[str]:
    """Return what brings a mode about: occupied places, else the class of CPU, else the firmware
    choice."""
    when = mode.when
    return when.used or when.cpu_class or ((when.bios,) if when.bios else when.empty) or ("board",)
