"""Are the figures of CPUs, supplies, cases, memory, drives, coolers and network cards physical?"""

from collections.abc import Iterator
from itertools import pairwise

from rigplanner.catalog.lint.complaint import Complaint
from rigplanner.catalog.lint.gpu import plug_watts
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    Chassis,
    Enclosure,
    MemoryKit,
    NetworkCard,
    Part,
    PowerSupply,
    RadiatorPlace,
    Storage,
)

PCIE_LANE_GBS = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
"""GB/s per lane and direction after line coding: 8b/10b to Gen2, 128b/130b to Gen5, FLIT at Gen6.
"""
SATA_GBS = 0.6
BLOCK_BYTES = 4096
HIGHEST_DWPD = 70.0
"""Optane SSD 905P: 10; SSD DC P5800X: 100 in five years is the highest sold, consumer drives stay
below 3."""
YEAR_DAYS = 365
WARRANTY_YEARS = 5
EFFICIENCY_50 = {"Bronze": 0.85, "Silver": 0.88, "Gold": 0.90, "Platinum": 0.92, "Titanium": 0.94}
"""Least efficiency at half load and 115 V of the 80 PLUS levels."""
MODULE_SPEEDS_MTS = {"DDR3": (800, 2933), "DDR4": (1600, 5333), "DDR5": (3200, 9600)}
MODULE_VOLTS = {"DDR3": (1.25, 1.65), "DDR4": (1.2, 1.6), "DDR5": (1.05, 1.6)}
"""JEDEC supply voltages of the modules with the profiles that makers sell above them."""
CAS_NS = (7.0, 22.0)
"""Time to the first word in ns that modules of DDR3 to DDR5 have: CL x 2000 / MT/s."""
ECC_MODULES = {
    "udimm": False,
    "sodimm": False,
    "ecc-udimm": True,
    "rdimm": True,
    "lrdimm": True,
    "mrdimm": True,
}
RACK_UNIT_MM = 44.45
HIGHEST_WATTS_PER_CORE = 45.0
FASTEST_GHZ = 6.3


def check_cpu(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Threads are one, two or four per core, clocks and power rise, a lane class means the same
    lanes everywhere."""
    if not isinstance(part, CPU):
        return
    if part.cores and part.threads and not part.cores <= part.threads <= 4 * part.cores:
        yield Complaint(part.id, "threads", "threads", f"{part.threads} of {part.cores} cores")
    if part.base_ghz and part.boost_ghz and not part.base_ghz <= part.boost_ghz <= FASTEST_GHZ:
        expected = f"at least {part.base_ghz:g} and at most {FASTEST_GHZ:g}"
        yield Complaint(part.id, "boost_ghz", "boost-below-base", f"{part.boost_ghz:g}", expected)
    if part.tdp_w and part.max_power_w and part.max_power_w < part.tdp_w:
        yield Complaint(
            part.id,
            "max_power_w",
            "power-below-tdp",
            f"{part.max_power_w:g} W",
            f"at least {part.tdp_w:g} W",
        )
    if part.tdp_w and part.cores and part.tdp_w > HIGHEST_WATTS_PER_CORE * part.cores:
        yield Complaint(
            part.id, "tdp_w", "watts-per-core", f"{part.tdp_w:g} W on {part.cores} cores"
        )
    yield from _split_complaints(part)
    alike = (
        c
        for c in catalog.of_kind("cpu")
        if isinstance(c, CPU) and part.lane_class and c.lane_class == part.lane_class
    )
    first = next(alike, part)
    if (part.lanes, part.pcie_gen) != (first.lanes, first.pcie_gen):
        found, expected = (
            f"{part.lanes} of Gen{part.pcie_gen}",
            f"{first.lanes} of Gen{first.pcie_gen} as {first.id}",
        )
        yield Complaint(part.id, "lanes", "lane-class", found, expected)


def _split_complaints(cpu: CPU) -> Iterator[Complaint]:
    """Lanes by generation add up to all lanes, the fastest are of the CPU's generation."""
    split = cpu.lanes_by_gen
    if split and (sum(split.values()), max(split, key=int)) != (cpu.lanes, str(cpu.pcie_gen)):
        found = ", ".join(f"{count} of Gen{gen}" for gen, count in split.items())
        expected = f"{cpu.lanes} of at most Gen{cpu.pcie_gen}"
        yield Complaint(cpu.id, "lanes_by_gen", "lanes-by-gen", found, expected)


def check_supply(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """A supply's ratings rise with the input voltage, its plugs can pass its power on, its label is
    its efficiency."""
    if not isinstance(part, PowerSupply):
        return
    supply = part.supply
    if not supply.ratings:
        yield Complaint(part.id, "supply.ratings", "no-rating", "none", "at least one")
        return
    ratings = sorted(supply.ratings, key=lambda rating: rating.min_volts)
    if any(a.watts > b.watts for a, b in pairwise(ratings)):
        yield Complaint(
            part.id,
            "supply.ratings",
            "rating-order",
            str([(r.min_volts, r.watts) for r in ratings]),
        )
    level = next(
        (least for word, least in EFFICIENCY_50.items() if word in (supply.efficiency_label or "")),
        None,
    )
    if supply.efficiency_50 is not None and not (level or 0.5) - 0.005 <= supply.efficiency_50 < 1:
        yield Complaint(
            part.id,
            "supply.efficiency_50",
            "efficiency",
            str(supply.efficiency_50),
            f"{level or 0.5:g} to 1",
        )
    carried, types = plug_watts(supply.plugs or ()), {plug.type for plug in supply.plugs or ()}
    if (
        part.form_factor in ("ATX", "SFX", "SFX-L")
        and supply.plugs
        and carried < 0.9 * ratings[-1].watts
    ):
        yield Complaint(
            part.id,
            "supply.plugs",
            "plugs-below-rating",
            f"{carried:g} W",
            f"about {ratings[-1].watts:g} W or more",
        )
    if supply.standard in ("ATX 2.3", "ATX 2.4") and "12v-2x6" in types:
        yield Complaint(
            part.id,
            "supply.standard",
            "plug-of-later-standard",
            f"12v-2x6 with {supply.standard}",
            "ATX 3.1",
        )


def check_storage(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """A drive is not faster than its interface, spins only behind SATA or SAS, and promises no more
    writes than any sold."""
    if not isinstance(part, Storage):
        return
    lanes = PCIE_LANE_GBS[part.gen] * part.width if part.gen and part.width else None
    limit = {"sata": SATA_GBS, "sas": None}.get(part.interface, lanes)
    rates = {field: getattr(part, field) for field in ("read_gbs", "write_gbs")}
    kiops = {field: getattr(part, field) for field in ("random_read_kiops", "random_write_kiops")}
    rates |= {
        field: value * 1e3 * BLOCK_BYTES * 1e-9
        for field, value in kiops.items()
        if value is not None
    }
    for field, value in rates.items():
        if limit and value is not None and value > limit:
            yield Complaint(
                part.id,
                field,
                "faster-than-interface",
                f"{value:.3g} GB/s",
                f"at most {limit:.3g} GB/s",
            )
    if part.rotation_rpm is not None and part.interface == "nvme":
        yield Complaint(part.id, "rotation_rpm", "spinning-nvme", str(part.rotation_rpm), "null")
    if part.interface == "sata" and (part.gen is not None or part.width is not None):
        yield Complaint(part.id, "gen", "lanes-of-sata", f"Gen{part.gen} x{part.width}", "null")
    if (
        part.endurance_tbw
        and part.endurance_tbw * 1e3 > HIGHEST_DWPD * part.capacity_gb * YEAR_DAYS * WARRANTY_YEARS
    ):
        yield Complaint(
            part.id,
            "endurance_tbw",
            "endurance",
            f"{part.endurance_tbw:g} TB on {part.capacity_gb:g} GB",
        )


def check_memory(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Transfer rate, voltage and latency are those of the type; registered modules and ECC ones
    have ECC."""
    if not isinstance(part, MemoryKit) or part.type not in MODULE_SPEEDS_MTS:
        return
    for field, limits in (
        ("speed_mts", MODULE_SPEEDS_MTS[part.type]),
        ("voltage_v", MODULE_VOLTS[part.type]),
    ):
        value = getattr(part, field)
        if value is not None and not limits[0] <= value <= limits[1]:
            yield Complaint(
                part.id,
                field,
                "beyond-type",
                f"{value:g}",
                f"{limits[0]:g} to {limits[1]:g} ({part.type})",
            )
    if (
        part.cas
        and part.speed_mts
        and not CAS_NS[0] <= (delay := part.cas * 2000 / part.speed_mts) <= CAS_NS[1]
    ):
        yield Complaint(
            part.id, "cas", "latency", f"{delay:.1f} ns", f"{CAS_NS[0]:g} to {CAS_NS[1]:g} ns"
        )
    if part.ecc is not None and part.ecc is not ECC_MODULES.get(part.module or "", part.ecc):
        yield Complaint(
            part.id,
            "ecc",
            "ecc-of-module",
            str(part.ecc),
            f"{ECC_MODULES[part.module or '']} for {part.module}",
        )


def check_network_card(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """One port fits through the card's edge."""
    if isinstance(part, NetworkCard) and part.edge_gen and part.edge_width and part.port_gbps:
        limit = 8 * PCIE_LANE_GBS[part.edge_gen] * part.edge_width
        if part.port_gbps > limit:
            yield Complaint(
                part.id,
                "port_gbps",
                "faster-than-interface",
                f"{part.port_gbps:g} Gb/s",
                f"at most {limit:.4g} Gb/s",
            )


def check_chassis(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """A card or cooler stands no higher than the rack units, a case for ATX boards has seven
    columns, and a radiator leaves no more room than there is without it."""
    if not isinstance(part, Chassis):
        return
    space = part.enclosure
    for field in ("gpu_height_mm", "cooler_height_mm"):
        value = getattr(space, field)
        if value and space.rack_units and value > space.rack_units * RACK_UNIT_MM:
            expected = f"at most {space.rack_units * RACK_UNIT_MM:g}"
            yield Complaint(
                part.id, f"enclosure.{field}", "higher-than-rack-units", f"{value:g}", expected
            )
    if (
        "ATX" in space.board_form_factors
        and space.slot_columns is not None
        and space.slot_columns < 7
    ):
        yield Complaint(
            part.id,
            "enclosure.slot_columns",
            "columns-of-atx",
            str(space.slot_columns),
            "at least 7",
        )
    for place in space.radiator_places or ():
        yield from _radiator_complaints(part.id, space, place)


def _radiator_complaints(
    part_id: str, space: Enclosure, place: RadiatorPlace
) -> Iterator[Complaint]:
    field = f"enclosure.radiator_places[{place.at}]"
    if space.radiators_mm is not None and (
        strange := sorted(set(place.sizes_mm) - set(space.radiators_mm))
    ):
        yield Complaint(
            part_id,
            field,
            "radiator-beyond-case",
            ", ".join(map(str, strange)),
            "sizes that the case names",
        )
    for name in ("gpu_length_mm", "bays_25", "bays_35"):
        left, whole = getattr(place, name), getattr(space, name)
        if left is not None and whole is not None and left > whole:
            yield Complaint(
                part_id, field, "more-beside-radiator", f"{left:g}", f"at most {whole:g}"
            )
