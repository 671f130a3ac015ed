"""Can a chipset and a CPU give a board what it says, and was the technology of a part sold in its
year?"""

from collections.abc import Iterator

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.lint.known_hardware import known_hardware
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    DrivePort,
    MemoryKit,
    Motherboard,
    Part,
    PowerSupply,
    Slot,
    System,
    year_of,
)


def check_platform(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Slots, drives and memory of a board are no faster or other than its chipset and the CPUs that
    fit it give."""
    if not isinstance(part, Motherboard | System):
        return
    layout = part.layout
    cpus = [cpu for cpu in catalog.of_kind("cpu") if isinstance(cpu, CPU) and suits(cpu, part)]
    fastest = max((cpu.pcie_gen or 0 for cpu in cpus), default=0)
    places: list[Slot | DrivePort] = [*layout.slots, *layout.drives]
    for place in places:
        yield from _place_complaints(part, place, fastest)
    yield from _memory_complaints(part, cpus)
    if isinstance(part, Motherboard) and layout.remote_management and layout.display_outputs == 0:
        field, output = "layout.display_outputs", "the output of the management chip"
        yield Complaint(part.id, field, "management-without-output", "0", output)


def _place_complaints(
    part: Motherboard | System, place: Slot | DrivePort, fastest: int
) -> Iterator[Complaint]:
    """A slot or port is of no later generation than what it hangs on; `fastest`: the CPUs'."""
    layout, origin = part.layout, place.origin or ""
    if origin == "chipset":
        most = known_hardware().chipset_gen(layout.chipset)
    else:
        most = fastest if origin.startswith("cpu") else 0
    field = f"layout.{place.id}"
    if place.gen and most and place.gen > most and not _other_origin(part, place):
        told, bound = f"Gen{place.gen}", f"at most Gen{most}"
        yield Complaint(part.id, f"{field}.gen", "generation-beyond-origin", told, bound)
    if origin == "chipset" and layout.sockets and layout.chipset is None:
        yield Complaint(part.id, f"{field}.origin", "chipset-unnamed", "chipset", "layout.chipset")


def _memory_complaints(part: Motherboard | System, cpus: list[CPU]) -> Iterator[Complaint]:
    """Memory is of a type, and of no more channels, than some CPU of the board drives."""
    layout, memories = part.layout, [cpu.memory for cpu in cpus if cpu.memory is not None]
    types = {kind for memory in memories for kind in memory.types}
    if types and layout.memory_type and layout.memory_type not in types:
        field, known = "layout.memory_type", ", ".join(sorted(types))
        yield Complaint(part.id, field, "memory-beyond-cpu", layout.memory_type, known)
    channels = max((memory.channels or 0 for memory in memories), default=0)
    if channels and (layout.memory_channels or 0) > channels:
        told, bound = str(layout.memory_channels), f"at most {channels}"
        yield Complaint(part.id, "layout.memory_channels", "memory-beyond-cpu", told, bound)


def suits(cpu: CPU, board: Motherboard | System) -> bool:
    """Tell whether a CPU is made for the socket and the chipset of a board, whatever its
    firmware."""
    layout = board.layout
    return cpu.socket in layout.sockets and (
        layout.chipset is None or layout.chipset in cpu.chipsets
    )


def _other_origin(board: Motherboard | System, place: Slot | DrivePort) -> bool:
    """A firmware setting gives the place another generation: its own is that of the other
    origin."""
    return any(
        mode.when.bios is not None and place.id in mode.gens for mode in board.layout.lane_modes
    )


def check_year(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """No part was sold before its architecture, memory, socket, standard or plug."""
    year = year_of(part)
    if year is None:
        return
    for technology in _technologies(part):
        if (first := known_hardware().first_years.get(technology, 0)) > year:
            yield Complaint(
                part.id,
                "released",
                "before-technology",
                f"{year} with {technology}",
                f"{first} or later",
            )


def _technologies(part: Part) -> tuple[str, ...]:
    if isinstance(part, GPU):
        return (
            part.architecture or "",
            part.memory_type or "",
            *(plug.type for plug in part.connectors or ()),
        )
    if isinstance(part, CPU):
        return (
            part.socket or "",
            *(part.memory.types[:1] if part.memory and len(part.memory.types) == 1 else ()),
        )
    if isinstance(part, Motherboard):
        return (*part.layout.sockets, part.layout.memory_type or "")
    if isinstance(part, PowerSupply):
        return (part.supply.standard or "", *(plug.type for plug in part.supply.plugs or ()))
    return (part.type,) if isinstance(part, MemoryKit) else ()
