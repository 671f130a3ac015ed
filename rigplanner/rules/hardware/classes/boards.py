"""What boards of a class have at least and at most: memory, SATA ports, lanes of slots, lengths of
M.2 drives, generations of CPUs.

The bounds are the extremes over the boards of the shipped catalog of which the figure is known: a
board whose own figure is blanked lies between them."""

from collections.abc import Callable, Iterator
from functools import cache

from msgspec import Struct

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import Layout, Motherboard, Slot, System
from rigplanner.rules.core.bounds import Bounds, Range, between

FEW = 3
"""Boards of a class below which their extremes tell nothing: the wider class counts."""
LONG_SLOT = 16
CPU_WIDTH = 8
"""Lanes from which on a slot hangs on the CPU: chipsets give a slot four at most."""


def _boards() -> Iterator[Motherboard]:
    for part in shipped_catalog().of_kind("motherboard"):
        if isinstance(part, Motherboard):
            yield part


def _is_registered(layout: Layout) -> bool:
    return "rdimm" in layout.memory_modules


Classes = tuple[tuple[object, ...], ...]
"""Keys of the classes of a board, the narrowest first."""


def _memory_classes(layout: Layout) -> Classes:
    kind = (layout.memory_type, _is_registered(layout))
    if not layout.sockets:
        return (kind,)
    own = ((*kind, layout.sockets[0], layout.chipset), (*kind, layout.sockets[0]))
    return (*own[0 if layout.chipset else 1 :], kind)


@cache
def _extremes(
    classes: Callable[[Layout], Classes], value: Callable[[Layout], float | None]
) -> dict[tuple[object, ...], tuple[int, float, float]]:
    """Return how many boards of each class have a figure, its least and its most."""
    found: dict[tuple[object, ...], tuple[int, float, float]] = {}
    for board in _boards():
        own = value(board.layout)
        if own is None:
            continue
        for key in classes(board.layout):
            count, least, most = found.get(key, (0, own, own))
            found[key] = (count + 1, min(least, own), max(most, own))
    return found


def _range(
    layout: Layout,
    classes: Callable[[Layout], Classes],
    value: Callable[[Layout], float | None],
) -> Range | None:
    """Return the extremes of the narrowest class of a board that holds enough boards."""
    table = _extremes(classes, value)
    for key in classes(layout):
        count, least, most = table.get(key, (0, 0.0, 0.0))
        if count >= FEW:
            return least, most
    return None


def _gib_per_slot(layout: Layout) -> float | None:
    if not layout.memory_max_gib or not layout.memory_slots:
        return None
    return layout.memory_max_gib / layout.memory_slots


def memory_gib(layout: Layout) -> Range | None:
    """Return the least and the most memory that a board of its slots, socket and kind of module
    addresses, in GiB."""
    per_slot = _range(layout, _memory_classes, _gib_per_slot)
    if per_slot is None or layout.memory_slots is None:
        return None
    return per_slot[0] * layout.memory_slots, per_slot[1] * layout.memory_slots


@cache
def _sata_ports() -> dict[str, Range]:
    """Return the fewest and the most SATA ports by label, of boards with a chipset that have any
    listed."""
    counts: dict[str, list[int]] = {}
    for board in _boards():
        ports = sum(port.count for port in board.layout.drives if port.kind == "sata")
        if ports and board.layout.chipset:
            counts.setdefault((board.form_factor or "").casefold(), []).append(ports)
    return {label: (min(ports), max(ports)) for label, ports in counts.items() if len(ports) >= FEW}


def lists_sata(layout: Layout) -> bool:
    """Say whether a list of ports names any for SATA drives, on cabled connectors too."""
    return any(
        port.kind in ("sata", "sas") or (port.kind != "m2" and "sata" in port.protocols)
        for port in layout.drives
    )


def unlisted_sata(board: Motherboard | System) -> Range | None:
    """Return how many SATA ports a board has at least and at most whose list of ports names none:
    every chipset has some. None where the list does, or the class tells nothing."""
    layout = board.layout
    if lists_sata(layout) or not layout.chipset or not isinstance(board, Motherboard):
        return None
    return _sata_ports().get((board.form_factor or "").casefold())


def first_long_slot(layout: Layout) -> Slot | None:
    """Return the first slot for cards of 16 lanes."""
    return next((s for s in layout.slots if s.kind == "pcie" and s.mechanical == LONG_SLOT), None)


def _first_classes(layout: Layout) -> Classes:
    socket = layout.sockets[:1]
    return (((*socket, layout.chipset),) if layout.chipset else ()) + ((socket,) if socket else ())


def _first_width(layout: Layout) -> float | None:
    slot = first_long_slot(layout)
    return None if slot is None else slot.width


def _first_gen(layout: Layout) -> float | None:
    slot = first_long_slot(layout)
    return None if slot is None else slot.gen


CHIPSET_WIDTH = 4
"""Lanes of the widest slots that desktop boards hang on their chipset."""
DESKTOP_MEMORY_SLOTS = 4
"""A board of more serves a CPU with lanes for narrow slots too."""


@cache
def _narrow_origins() -> dict[tuple[object, ...], set[str]]:
    """Return where the lanes of the further narrow slots of desktop boards come from, by socket and
    chipset and by socket."""
    told: dict[tuple[object, ...], list[str]] = {}
    for board in _boards():
        layout = board.layout
        first = first_long_slot(layout)
        origins = [
            slot.origin
            for slot in layout.slots
            if slot.kind == "pcie" and slot is not first and slot.origin is not None
            if (slot.width or LONG_SLOT) <= CHIPSET_WIDTH
        ]
        for key in _first_classes(layout) if _is_for_desks(layout) else ():
            told.setdefault(key, []).extend(origins)
    return {key: set(origins) for key, origins in told.items() if len(origins) >= FEW}


def _is_for_desks(layout: Layout) -> bool:
    return 0 < (layout.memory_slots or 0) <= DESKTOP_MEMORY_SLOTS


def _hangs_on_chipset(layout: Layout) -> bool:
    """Say whether further narrow slots of a board's class are all the chipset's."""
    known = _narrow_origins()
    told = next((known[key] for key in _first_classes(layout) if key in known), set[str]())
    return _is_for_desks(layout) and told == {"chipset"}


class SlotLanes(Struct, frozen=True):
    """Least and most lanes and generation of a slot; `origin` where its width tells it."""

    width: Range
    gen: Range
    origin: str | None


def slot_lanes(layout: Layout, slot: Slot) -> SlotLanes | None:
    """Return what a slot has at least and at most: the first long one as such slots of its chipset
    or socket have, another one lane of the second generation at least, and no more than the first.
    None where no board tells."""
    width = _range(layout, _first_classes, _first_width)
    gen = _range(layout, _first_classes, _first_gen)
    if width is None or gen is None or slot.mechanical is None:
        return None
    first = first_long_slot(layout)
    if slot is not first and slot != first:
        width = (1.0, min(width[1], slot.mechanical))
        gen = (2.0, gen[1])
    own_width = (slot.width, slot.width) if slot.width is not None else width
    own_gen = (slot.gen, slot.gen) if slot.gen is not None else gen
    origin = slot.origin or ("cpu0" if own_width[0] >= CPU_WIDTH else None)
    further = slot in layout.slots and slot is not first
    if origin is None and further and own_width[1] <= CHIPSET_WIDTH:
        origin = "chipset" if _hangs_on_chipset(layout) else None
    return SlotLanes(own_width, own_gen, origin)


LANE_FACTS = frozenset(("use.slot.width", "use.slot.origin", "link.width", "link.gen"))


def lane_bounds(context: object, case: object, missing: tuple[str, ...]) -> Bounds | None:
    """A slot and its link, of a case with `use`, `link` and `board`, as boards of the class have
    them; a link has no more than the slot."""
    use, board = getattr(case, "use", None), getattr(case, "board", None)
    if use is None or board is None or not set(missing) <= LANE_FACTS:
        return None
    lanes = slot_lanes(board.layout, use.slot)
    if lanes is None:
        return None
    width, gen = lanes.width, lanes.gen
    able = (use.available_width or LONG_SLOT, use.available_gen or gen[1])
    origin = (lanes.origin or "chipset", lanes.origin or "cpu0")
    told: dict[str, tuple[object, object]] = {
        "use.slot.width": width,
        "use.slot.origin": origin,
        "link.width": (min(width[0], able[0]), min(width[1], able[0])),
        "link.gen": (min(gen[0], able[1]), min(gen[1], able[1])),
    }
    return between(case, {path: told[path] for path in missing})


USUAL_M2_MM = 80
"""Length in mm of nearly every M.2 drive for data."""


@cache
def _labels_of_usual_m2() -> frozenset[str]:
    """Return the labels of boards of which every M.2 socket whose lengths are known takes the usual
    one."""
    takes: dict[str, list[bool]] = {}
    for board in _boards():
        for port in board.layout.drives:
            if port.kind == "m2" and port.lengths_mm:
                label = (board.form_factor or "").casefold()
                takes.setdefault(label, []).append(USUAL_M2_MM in port.lengths_mm)
    return frozenset(label for label, kept in takes.items() if len(kept) >= FEW and all(kept))


def m2_length_bounds(context: object, case: object, missing: tuple[str, ...]) -> Bounds | None:
    """A socket whose lengths are not known takes drives of 80 mm, where those of all boards of its
    label do."""
    board = getattr(case, "board", None)
    label = (getattr(board, "form_factor", None) or "").casefold()
    if missing != ("port.lengths_mm",) or label not in _labels_of_usual_m2():
        return None
    return between(case, {"port.lengths_mm": ((USUAL_M2_MM,), (30, 42, 60, 80, 110))})


@cache
def _always_listed() -> dict[tuple[object, ...], frozenset[str]]:
    """Return the generations that all boards of a socket and chipset list."""
    listed: dict[tuple[object, ...], frozenset[str]] = {}
    for board in _boards():
        layout = board.layout
        if layout.cpu_generations and layout.sockets:
            key, own = (layout.sockets[0], layout.chipset), frozenset(layout.cpu_generations)
            listed[key] = listed.get(key, own) & own
    return listed


def always_listed(layout: Layout, generation: str) -> bool | None:
    """Say whether all boards of the socket and chipset whose makers' lists were read take a
    generation of CPUs; None where no list of such a board was read."""
    if not layout.sockets:
        return None
    lists = _always_listed().get((layout.sockets[0], layout.chipset))
    return None if lists is None else generation in lists
