"""How each category of OpenDB becomes one of our kinds: its words in ours, its counts only where
they can be believed."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rigplanner.catalog.foreign import Record
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    Chassis,
    Cooler,
    Doubt,
    DrivePort,
    Enclosure,
    Layout,
    MemoryChannels,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Plug,
    PowerSupply,
    Rating,
    Slot,
    Storage,
    Supply,
)

Fields = dict[str, Any]

BOARD_FORM = {
    "ATX": "ATX",
    "Micro ATX": "Micro-ATX",
    "Mini-ITX": "Mini-ITX",
    "EATX": "E-ATX",
    "Mini DTX": "Mini-DTX",
    "DTX": "DTX",
    "SSI EEB": "SSI-EEB",
    "SSI CEB": "SSI-CEB",
    "XL ATX": "XL-ATX",
    "HPTX": "HPTX",
    "Thin Mini-ITX": "Thin Mini-ITX",
    "Flex ATX": "Flex-ATX",
}
COOLING = {
    "4 Fans": "open",
    "3 Fans": "open",
    "2 Fans": "open",
    "1 Fan": "open",
    "Blower": "blower",
    "Water Cooled": "liquid",
    "Hybrid": "liquid",
    "Passive": "passive",
}
GPU_PLUGS = {
    "pcie_6_pin": "pcie6",
    "pcie_8_pin": "pcie8",
    "pcie_12VHPWR": "12vhpwr",
    "pcie_12V_2x6": "12v-2x6",
}
SUPPLY_PLUGS = {
    "eps_8_pin": "eps8",
    "pcie_6_plus_2_pin": "pcie8",
    "pcie_12vhpwr": "12vhpwr",
    "sata": "sata",
    "molex_4_pin": "molex",
}
FIRST_12VHPWR_YEAR = 2022
"""ATX 3.0 of February 2022 brought the 12VHPWR plug; a supply older than that has none."""
FULL_RANGE_W = 1300.0
"""Up to here a supply is taken to give its label from 100 V on, above only from 200 V: C14 inlets
carry 10 A (IEC 60320)."""
LABEL_DOUBT = Doubt(
    state="unverified", note="The label's power; at which input voltage is not said."
)
EFFICIENCY = {
    f"80+ {level}": f"80 PLUS {level}"
    for level in ("Titanium", "Platinum", "Gold", "Silver", "Bronze")
} | {
    "80+ Standard": "80 PLUS",
    "80+ White": "80 PLUS",
    "80+": "80 PLUS",
}
MODULAR = {"Full": True, "Semi-Modular": True, "Non-Modular": False}
DRIVE_FORM = {'2.5"': "2.5", '3.5"': "3.5", "PCIe": "aic"}

_EDGE = re.compile(r"PCIe (?:(\d)\.\d )?[xX](\d+)$")
_SIZE = re.compile(r"(22|25|30)(30|42|60|80|110)$")


class Shape(Struct, frozen=True):
    """A category: our kind word, the struct, and the function that reads the kind's own fields
    (None: no part can be made)."""

    kind: str
    struct: type[AnyPart]
    read: Callable[[Record], Fields | None]


def socket_name(text: str) -> tuple[str, ...]:
    """Return the sockets that OpenDB's word names, as we write them: "2 x LGA 2011-3" is two of
    LGA2011-3."""
    count, _, name = text.rpartition(" x ")
    bare = name.removesuffix(" Narrow").replace("LGA ", "LGA").replace("LGA1151v2", "LGA1151")
    return () if bare.startswith("Integrated") else (bare,) * (int(count) if count.isdigit() else 1)


def edge(text: str | None) -> tuple[int | None, int | None]:
    """Return generation and width of "PCIe 4.0 x16"; what is not said is None."""
    match = _EDGE.search(text or "")
    return (
        int(match.group(1)) if match and match.group(1) else None,
        int(match.group(2)) if match else None,
    )


def label_rating(watts: float) -> Rating:
    """Return the power on a supply's label as a rating, with the input voltage that can be taken
    for granted."""
    return Rating(100.0 if watts <= FULL_RANGE_W else 200.0, watts)


def _gpu(record: Record) -> Fields:
    gen, width = edge(record.text("interface"))
    plugs = tuple(
        Plug(ours, n)
        for theirs, ours in GPU_PLUGS.items()
        if (n := record.count(f"power_connectors.{theirs}", 6)) is not None
    )
    outputs = record.at("video_outputs")
    names = (
        [name for name in outputs if not name.startswith("_")] if isinstance(outputs, dict) else []
    )
    chipset = record.text("chipset")
    rate = record.number("effective_memory_clock", 64_000)
    return {
        "aliases": (chipset,) if chipset else (),
        "form_factor": "pcie",
        "edge_gen": gen,
        "edge_width": width,
        "memory_gib": record.number("memory", 1024),
        "memory_type": record.text("memory_type", 20),
        "memory_bus_bits": record.count("memory_bus", 16_384),
        "memory_rate_gbps": rate / 1000 if rate else None,
        "cores": record.count("core_count", 100_000),
        "base_mhz": record.number("core_base_clock", 6_000),
        "boost_mhz": record.number("core_boost_clock", 6_000),
        "tdp_w": record.number("tdp", 3_000),
        "connectors": plugs or None,
        "slots": record.number("total_slot_width", 6),
        "length_mm": record.number("length", 700),
        "cooling": record.word("cooling", COOLING),
        "display_outputs": sum(record.count(f"video_outputs.{name}", 8) or 0 for name in names)
        or None,
    }


def _cpu(record: Record) -> Fields | None:
    socket = record.needs("socket", record.text("socket", 40))
    names = socket_name(socket) if socket else ()
    if socket and not names:
        record.refuse("socket", "word", socket, lost=True)
    if not names:
        return None
    memory = MemoryChannels(
        channels=record.count("specifications.memory.channels", 16),
        types=record.texts("specifications.memory.types"),
        max_gib=record.count("specifications.memory.maxSupport", 65_536),
    )
    graphics = record.text("specifications.integratedGraphics.model")
    return {
        "socket": names[0],
        "cores": record.count("cores.total", 1024),
        "threads": record.count("cores.threads", 4096),
        "base_ghz": record.number("clocks.performance.base", 10),
        "boost_ghz": record.number("clocks.performance.boost", 10),
        "tdp_w": record.number("specifications.tdp", 2_000),
        "max_power_w": record.number("specifications.ppt", 2_000),
        "memory": memory if memory != MemoryChannels() else None,
        "graphics": graphics,
        "has_graphics": True if graphics else None,
    }


def _motherboard(record: Record) -> Fields:
    slots: list[Slot] = []
    drives: list[DrivePort] = []
    doubts: dict[str, Doubt] = {}
    said: list[str] = []
    for row in record.records("pcie_slots"):
        size, quantity = row.count("lanes", 16), row.count("quantity", 24) or 1
        if size is None:
            continue
        said.append(f"{quantity} x{size}" + (f" PCIe {gen}" if (gen := row.text("gen", 8)) else ""))
        slots += [
            Slot(id=f"x{size}-{len(slots) + n + 1}", mechanical=size) for n in range(quantity)
        ]
    for row in record.records("m2_slots"):
        if row.text("key", 8) in ("M", "B+M"):
            lengths = tuple(
                int(found.group(2))
                for size in (row.text("size", 40) or "").split("/")
                if (found := _SIZE.search(size))
            )
            drives.append(DrivePort(id=f"M2-{len(drives) + 1}", kind="m2", lengths_mm=lengths))
    if (ports := record.count("storage_devices.sata_6_gb_s", 32)) is not None:
        drives.append(DrivePort(id="SATA", kind="sata", protocols=("sata",), count=ports))
    if said:
        doubts["layout"] = Doubt(
            state="unverified",
            values=tuple(said),
            note="Sizes of connectors; their lanes are not known.",
        )
    socket = record.text("socket", 40)
    eps = [text for text in record.texts("power_connectors.cpu_power") if text.startswith("8")]
    layout = Layout(
        sockets=socket_name(socket) if socket else (),
        chipset=(record.text("chipset", 40) or "").removeprefix("AMD ").removeprefix("Intel ")
        or None,
        memory_type=record.text("memory.ram_type", 12),
        memory_slots=record.count("memory.slots", 64),
        memory_max_gib=record.count("memory.max", 65_536),
        slots=tuple(slots),
        drives=tuple(drives),
        eps8=len(eps) or None,
    )
    return {
        "form_factor": record.word("form_factor", BOARD_FORM),
        "layout": layout,
        "doubts": doubts,
    }


def _psu(record: Record) -> Fields | None:
    watts = record.needs("wattage", record.number("wattage", 10_000))
    if watts is None:
        return None
    counts = {
        ours: record.count(f"connectors.{theirs}", 40) for theirs, ours in SUPPLY_PLUGS.items()
    }
    year = record.count("metadata.releaseYear", 2100)
    old = year is not None and year < FIRST_12VHPWR_YEAR
    whole = counts["eps8"] and counts["pcie8"] and (counts["12vhpwr"] or old)
    said = tuple(Plug(name, n) for name, n in counts.items() if n)
    doubts = {"supply.ratings": LABEL_DOUBT}
    if said and not whole:
        doubts["supply.plugs"] = Doubt(
            state="unverified",
            values=tuple(f"{plug.count} {plug.type}" for plug in said),
            note="Not whole: the rest is not known.",
        )
    supply = Supply(
        ratings=(label_rating(watts),),
        efficiency_label=record.word("efficiency_rating", EFFICIENCY)
        or record.text("cybernetics_efficiency_rating", 40),
        plugs=said if whole else None,
    )
    return {
        "form_factor": (record.text("form_factor", 20) or "").removesuffix("/EPS") or None,
        "length_mm": record.number("length", 500),
        "modular": record.word("modular", MODULAR),
        "supply": supply,
        "doubts": doubts,
    }


def _chassis(record: Record) -> Fields:
    boards = (
        BOARD_FORM.get(name, name) for name in record.texts("supported_motherboard_form_factors")
    )
    enclosure = Enclosure(
        board_form_factors=tuple(dict.fromkeys(boards)),
        slot_columns=record.count("expansion_slots", 40),
        gpu_length_mm=record.number("max_video_card_length", 1_000),
        cooler_height_mm=record.number("max_cpu_cooler_height", 500),
        psu_form_factors=record.texts("supported_power_supply_form_factors"),
        psu_length_mm=record.number("max_psu_length", 600),
        bays_25=record.count("internal_2_5_bays", 100),
        bays_35=record.count("internal_3_5_bays", 100),
        airflow="open"
        if record.text("form_factor", 40) in ("Open Frame", "ATX Test Bench", "Mini ITX Test Bench")
        else None,
    )
    return {"enclosure": enclosure}


def _memory(record: Record) -> Fields | None:
    kind = record.needs("ram_type", record.text("ram_type", 12))
    modules = record.needs("modules.quantity", record.count("modules.quantity", 64))
    gib = record.needs("modules.capacity_gb", record.number("modules.capacity_gb", 2_048))
    ecc = {"ECC": True, "Non-ECC": False}.get(record.text("ecc", 12) or "")
    module = record.needs("registered", _module(record, ecc))
    if kind is None or modules is None or gib is None or module is None:
        return None
    return {
        "type": kind,
        "module": module,
        "modules": modules,
        "module_gib": gib,
        "speed_mts": record.count("speed", 20_000),
        "cas": record.number("cas_latency", 200),
        "voltage_v": record.number("voltage", 5),
        "height_mm": record.number("height", 100),
        "ecc": ecc,
    }


def _module(record: Record, ecc: bool | None) -> str | None:
    form, registered = record.text("form_factor", 40) or "", record.text("registered", 20)
    if "SO-DIMM" in form:
        return "sodimm"
    if registered in ("Registered", "Load Reduced"):
        return "rdimm" if registered == "Registered" else "lrdimm"
    if registered == "Unbuffered" or form == "UDIMM":
        return "ecc-udimm" if ecc else "udimm"
    return None


def _storage(record: Record) -> Fields | None:
    gb = record.needs("capacity", record.number("capacity", 1_000_000))
    form = record.needs("form_factor", record.text("form_factor", 20))
    words = record.text("interface", 40)
    protocol = "nvme" if record.flag("nvme") else _protocol(words)
    if protocol is None:
        record.refuse("interface", "word" if words else "missing", words or "", lost=True)
    length = (
        int(form.removeprefix("M.2-22")) if form and re.fullmatch(r"M\.2-22\d+", form) else None
    )
    ours = "m2" if length else "u2" if words == "U.2" else DRIVE_FORM.get(form or "")
    if form and ours is None:
        record.refuse("form_factor", "word", form, lost=True)
    if gb is None or ours is None or protocol is None:
        return None
    gen, width = edge(words)
    fields = {"form_factor": ours, "interface": protocol, "capacity_gb": gb, "m2_length_mm": length}
    return {**fields, "gen": gen, "width": width} if protocol == "nvme" else fields


def _protocol(words: str | None) -> str | None:
    for name, protocol in (("SATA", "sata"), ("SAS", "sas"), ("U.2", "nvme"), ("PCIe", "nvme")):
        if words and name in words and "mSATA" not in words:
            return protocol
    return None


def _cooler(record: Record) -> Fields | None:
    liquid = record.needs("water_cooled", record.flag("water_cooled"))
    if liquid is None:
        return None
    sockets = [name for text in record.texts("cpu_sockets", 80) for name in socket_name(text)[:1]]
    return {
        "type": "liquid" if liquid else "passive" if record.flag("fanless") else "air",
        "sockets": tuple(dict.fromkeys(sockets)),
        "height_mm": None if liquid else record.number("height", 400),
        "radiator_mm": record.count("radiator_size", 600) if liquid else None,
    }


def _nothing_more(record: Record) -> Fields:
    return {}


SHAPES: dict[str, Shape] = {
    "GPU": Shape("gpu", GPU, _gpu),
    "CPU": Shape("cpu", CPU, _cpu),
    "Motherboard": Shape("motherboard", Motherboard, _motherboard),
    "PSU": Shape("psu", PowerSupply, _psu),
    "PCCase": Shape("chassis", Chassis, _chassis),
    "RAM": Shape("memory", MemoryKit, _memory),
    "Storage": Shape("storage", Storage, _storage),
    "CPUCooler": Shape("cooler", Cooler, _cooler),
    "NetworkCard": Shape("nic", NetworkCard, _nothing_more),
    "Monitor": Shape("accessory", Accessory, lambda record: {"type": "monitor"}),
    "UPS": Shape("accessory", Accessory, lambda record: {"type": "ups"}),
}
"""OpenDB's categories that a rig is made of; files of others are refused with the reason "kind"."""
