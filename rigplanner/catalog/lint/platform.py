"""Can a chipset and a CPU give a board what it says, and was the technology of a part sold in its
year?"""

from collections.abc import Iterator

from rigplanner.catalog.lint.complaint import Complaint
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

CHIPSETS_OF_GEN = {
    2: ("C612", "X399", "X99"),
    3: (
        "A320",
        "A520",
        "B150",
        "B250",
        "B350",
        "B360",
        "B450",
        "B460",
        "B550",
        "B560",
        "C422",
        "C621",
        "C621A",
        "C622",
        "C741",
        "H110",
        "H170",
        "H270",
        "H310",
        "H370",
        "Q370",
        "Q470",
        "W480",
        "X299",
        "X370",
        "X470",
        "Z170",
        "Z270",
        "Z370",
        "Z390",
        "Z490",
        "Z590",
    ),
    4: (
        "B650",
        "B650E",
        "B660",
        "B760",
        "B840",
        "B850",
        "B860",
        "H670",
        "H770",
        "TRX40",
        "TRX50",
        "W680",
        "W790",
        "W880",
        "W890",
        "WRX80",
        "WRX90",
        "X570",
        "X670",
        "X670E",
        "X870",
        "X870E",
        "Z690",
        "Z790",
        "Z890",
    ),
}
"""Chipsets by the fastest PCIe that they pass on to slots and drives (AMD's and Intel's product
tables)."""
CHIPSET_GEN = {chipset: gen for gen, chipsets in CHIPSETS_OF_GEN.items() for chipset in chipsets}
FIRST_YEAR = {
    "Kepler": 2012,
    "Maxwell": 2014,
    "Pascal": 2016,
    "Volta": 2017,
    "Turing": 2018,
    "Ampere": 2020,
    "Ada Lovelace": 2022,
    "Hopper": 2022,
    "Blackwell": 2024,
    "HBM2": 2016,
    "HBM2e": 2020,
    "HBM3": 2022,
    "HBM3e": 2023,
    "GDDR6": 2018,
    "GDDR6X": 2020,
    "GDDR7": 2025,
    "DDR4": 2014,
    "DDR5": 2021,
    "LGA2011-3": 2014,
    "LGA1151": 2015,
    "AM4": 2016,
    "SP3": 2017,
    "TR4": 2017,
    "LGA3647": 2017,
    "LGA2066": 2017,
    "sTRX4": 2019,
    "sWRX8": 2020,
    "LGA1200": 2020,
    "LGA4189": 2020,
    "LGA1700": 2021,
    "AM5": 2022,
    "SP5": 2022,
    "LGA4677": 2023,
    "SP6": 2023,
    "sTR5": 2023,
    "LGA1851": 2024,
    "LGA4710": 2024,
    "LGA7529": 2024,
    "LGA4710-2": 2026,
    "ATX 3.0": 2022,
    "ATX 3.1": 2023,
    "12vhpwr": 2022,
    "12v-2x6": 2023,
}
"""Year in which the first product with an architecture, memory type, socket, supply standard or
plug was sold."""


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
        most = CHIPSET_GEN.get(layout.chipset or "", 0)
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
        if (first := FIRST_YEAR.get(technology, 0)) > year:
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
