"""Does the electrical layout of a board hold? Places hang on something that exists, and lanes never
exceed those of the CPU."""

from collections.abc import Iterator

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.lint.platform import suits
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    COLUMN_MM,
    CPU,
    DrivePort,
    LaneMode,
    Layout,
    Motherboard,
    Part,
    Slot,
    System,
)

SECOND_SOCKET_LANES = 4
"""Lanes that the chipset link of a Xeon becomes on a socket that has no chipset."""
NARROW_UPLINK = 8
"""What boards give to a PCIe switch under a CPU with fewer lanes than its siblings."""
LARGEST_MODULE_GIB = {
    ("DDR3", False): 16,
    ("DDR3", True): 64,
    ("DDR4", False): 32,
    ("DDR4", True): 256,
    ("DDR5", False): 64,
    ("DDR5", True): 512,
}
"""GiB of the largest module sold, unbuffered and registered (makers' lists): memory slots times
this bound a board's memory."""
SPLITS_OF_SOCKET = {
    "LGA1151": {"x8x8", "x8x4x4"},
    "LGA1200": {"x8x8", "x8x4x4"},
    "LGA1700": {"x8x8"},
    "LGA1851": {"x8x8", "x8x4x4"},
}
"""What the graphics port of Intel's desktop processors can be besides x16 (Intel's data sheets of
the platforms), and that not with the smaller chipsets, whose names begin with B or H (Intel ARK,
"Processor PCI Express Port Configurations")."""
ONE_COLUMN_MM = 170.0
"""Length along the rear panel of a Mini-ITX board, which has one expansion column; every further
column takes `COLUMN_MM`."""


def check_layout(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Slots hang on something that exists, are no wider than their connector, and lane modes name
    places of the board."""
    if not isinstance(part, Motherboard | System):
        return
    layout = part.layout
    places = [slot.id for slot in layout.slots] + [port.id for port in layout.drives]
    if len(set(places)) != len(places):
        twice = ", ".join(sorted({p for p in places if places.count(p) > 1}))
        yield Complaint(part.id, "layout", "place-twice", twice)
    yield from _column_complaints(part)
    yield from _slot_complaints(part.id, layout)
    yield from _mode_complaints(part.id, layout)
    yield from _memory_complaints(part.id, layout, part)
    if isinstance(part, System):
        for inclusion in part.includes:
            if inclusion.part not in catalog.parts:
                yield Complaint(part.id, "includes", "part-unknown", inclusion.part)


def _column_complaints(part: Motherboard | System) -> Iterator[Complaint]:
    """No two slots stand in one column, and none beyond the board's edge."""
    columns = [slot.position for slot in part.layout.slots if slot.position is not None]
    if len(set(columns)) != len(columns):
        told = ", ".join(str(column) for column in sorted(columns))
        yield Complaint(part.id, "layout", "column-twice", told)
    if isinstance(part, Motherboard) and part.width_mm and columns:
        most = columns_of(part.width_mm)
        if max(columns) > most:
            wide = f"at most {most} on {part.width_mm:g} mm"
            yield Complaint(part.id, "layout", "column-beyond-board", str(max(columns)), wide)


def _mode_complaints(part_id: str, layout: Layout) -> Iterator[Complaint]:
    """Lane modes name places of the board; one that depends on the CPU changes none of the
    chipset's."""
    places = {slot.id for slot in layout.slots} | {port.id for port in layout.drives}
    chipsets = {slot.id for slot in layout.slots if slot.origin == "chipset"}
    chipsets |= {port.id for port in layout.drives if port.origin == "chipset"}
    for number, mode in enumerate(layout.lane_modes):
        field, changed = f"layout.lane_modes[{number}]", {*mode.widths, *mode.gens, *mode.disabled}
        if strange := sorted((changed | {*mode.when.used, *mode.when.empty}) - places):
            yield Complaint(part_id, field, "place-unknown", ", ".join(strange))
        if mode.when.cpu_class and (deaf := sorted(changed & chipsets)):
            told = ", ".join(deaf)
            yield Complaint(part_id, field, "mode-beyond-origin", told, "places of the CPU")


def columns_of(width_mm: float) -> int:
    """Return how many expansion columns a board of this length along the rear panel has (Mini-ITX
    1, Micro-ATX 4, ATX 7)."""
    return 1 + int((width_mm - ONE_COLUMN_MM) / COLUMN_MM + 1e-3)


def _slot_complaints(part_id: str, layout: Layout) -> Iterator[Complaint]:
    origins = (
        {f"cpu{n}" for n in range(max(1, len(layout.sockets)))}
        | {"chipset"}
        | {switch.id for switch in layout.switches}
    )
    places = [(slot.id, slot.origin) for slot in layout.slots] + [
        (port.id, port.origin) for port in layout.drives
    ]
    for place, origin in places:
        if origin is not None and origin not in origins:
            yield Complaint(
                part_id,
                f"layout.{place}.origin",
                "origin-unknown",
                origin,
                ", ".join(sorted(origins)),
            )
    for slot in layout.slots:
        if slot.kind == "pcie" and slot.mechanical and slot.width and slot.width > slot.mechanical:
            yield Complaint(
                part_id,
                f"layout.{slot.id}.width",
                "wider-than-slot",
                f"x{slot.width}",
                f"at most x{slot.mechanical}",
            )
    possible = SPLITS_OF_SOCKET.get(next(iter(layout.sockets), ""))
    if possible is not None and (layout.chipset or "")[:1] in ("B", "H"):
        possible = set()
    for slot in layout.slots:
        beyond = (
            set()
            if possible is None or slot.origin != "cpu0"
            else set(slot.bifurcation) - possible - {"x16"}
        )
        if beyond:
            known = ", ".join(sorted(possible or {"x16"}))
            yield Complaint(
                part_id,
                f"layout.{slot.id}.bifurcation",
                "split-beyond-platform",
                ", ".join(sorted(beyond)),
                known,
            )


def _memory_complaints(part_id: str, layout: Layout, part: Part) -> Iterator[Complaint]:
    registered = bool({"rdimm", "lrdimm", "mrdimm"} & set(layout.memory_modules))
    largest = LARGEST_MODULE_GIB.get((layout.memory_type or "", registered))
    if (
        largest
        and layout.memory_slots
        and layout.memory_max_gib
        and layout.memory_max_gib > largest * layout.memory_slots
    ):
        doubt = part.doubts.get("layout.memory_max_gib")
        if doubt is None or doubt.state != "conflict":
            expected = (
                f"at most {largest * layout.memory_slots} ({layout.memory_slots} x {largest})"
            )
            yield Complaint(
                part_id,
                "layout.memory_max_gib",
                "memory-beyond-modules",
                str(layout.memory_max_gib),
                expected,
            )


def check_lanes(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """With every place occupied, no CPU that fits has to give more lanes than it has."""
    if not isinstance(part, Motherboard | System) or not part.layout.sockets:
        return
    layout = part.layout
    classes = {
        cpu.lane_class: cpu
        for cpu in catalog.of_kind("cpu")
        if isinstance(cpu, CPU) and suits(cpu, part) and cpu.lanes
    }
    most = max((cpu.lanes or 0 for cpu in classes.values()), default=0)
    for cpu in classes.values():
        for socket in range(len(layout.sockets)):
            lanes = (cpu.lanes or 0) + (SECOND_SOCKET_LANES if socket > 0 and layout.chipset else 0)
            uplink = NARROW_UPLINK if (cpu.lanes or 0) < most else None
            taken = lanes_taken(layout, cpu, f"cpu{socket}", uplink)
            if taken > lanes:
                found = f"{taken} lanes of cpu{socket}"
                yield Complaint(
                    part.id,
                    "layout.lane_modes",
                    "lanes-beyond-cpu",
                    found,
                    f"at most {lanes} ({cpu.lane_class})",
                )
            elif not LANES_DOUBTED.intersection(part.doubts):
                yield from _beyond_generation(part, layout, cpu, f"cpu{socket}")


LANES_DOUBTED = frozenset(("layout.slots", "layout.drives", "layout.lane_modes"))
"""Fields of a board whose doubt says already that its lanes are not sure."""


def _beyond_generation(
    part: Motherboard | System, layout: Layout, cpu: CPU, origin: str
) -> Iterator[Complaint]:
    """With every place occupied, no CPU has to give more lanes of a generation than it has."""
    for gen in map(int, cpu.lanes_by_gen):
        lanes = sum(count for each, count in cpu.lanes_by_gen.items() if int(each) >= gen)
        taken = lanes_taken(layout, cpu, origin, None, gen)
        if taken > lanes:
            yield Complaint(
                part.id,
                "layout.lane_modes",
                "lanes-beyond-cpu",
                f"{taken} lanes of Gen{gen} or faster of {origin}",
                f"at most {lanes} ({cpu.lane_class})",
            )


def lanes_taken(
    layout: Layout, cpu: CPU, origin: str, uplink: int | None, least_gen: int = 0
) -> int:
    """Return the lanes of one socket in use when every place is occupied, those alone that run at
    `least_gen` or faster; `uplink` caps the width of switches. USB4 hosts do not count: boards give
    them what drives and smaller CPUs leave."""
    hosts = {port.origin for port in layout.drives if port.kind == "usb4"}
    places: list[Slot | DrivePort] = [*layout.slots, *layout.drives]
    used = {place.id for place in places}
    modes = [mode for mode in layout.lane_modes if _holds(mode, cpu.lane_class or "", used)]
    switches = [
        switch
        for switch in layout.switches
        if switch.origin == origin and switch.id not in hosts and switch.gen >= least_gen
    ]
    taken = sum(min(switch.width, uplink or switch.width) for switch in switches)
    for place in places:
        if (
            place.origin != origin
            or place.kind == "sata"
            or _gen_of(place, modes) < least_gen
            or any(place.id in mode.disabled for mode in modes)
        ):
            continue
        widths = [place.width or 0] + [
            mode.widths[place.id] for mode in modes if place.id in mode.widths
        ]
        taken += min([*widths, cpu.peg_width or 16] if isinstance(place, Slot) else widths)
    return taken


def _gen_of(place: Slot | DrivePort, modes: list[LaneMode]) -> int:
    """Return the generation of a place by the modes that hold, 0 where it is not known."""
    return min([place.gen or 0, *(mode.gens[place.id] for mode in modes if place.id in mode.gens)])


def _holds(mode: LaneMode, lane_class: str, used: set[str]) -> bool:
    when = mode.when
    return (
        (not when.cpu_class or lane_class in when.cpu_class)
        and when.bios is None
        and used.issuperset(when.used)
        and used.isdisjoint(when.empty)
    )
