"""How each category of pc-part-dataset becomes one of our kinds. The set says little; what it does
not say stays unknown."""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rigplanner.catalog.foreign import Record
from rigplanner.catalog.imports.foreign_shapes import (
    BOARD_FORM,
    DRIVE_FORM,
    LABEL_DOUBT,
    Fields,
    edge,
    label_rating,
    socket_name,
)
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    Chassis,
    Cooler,
    Doubt,
    Enclosure,
    Layout,
    MemoryKit,
    Motherboard,
    NetworkCard,
    PowerSupply,
    Storage,
    Supply,
)

_EDGE_WIDTH = re.compile(r"PCIe x(\d+)", re.IGNORECASE)


class Shape(Struct, frozen=True):
    """A category: our kind word, the struct, and the function that reads the kind's own fields
    (None: no part can be made)."""

    kind: str
    struct: type[AnyPart]
    read: Callable[[Record], Fields | None]


def _pair(record: Record, field: str) -> tuple[float, float] | None:
    value = record.at(field)
    if value is None:
        return None
    pair = (
        Record(record.file, {"a": value[0], "b": value[1]})
        if isinstance(value, list) and len(value) == 2
        else None
    )
    first, second = (pair.number("a", 1e6), pair.number("b", 1e6)) if pair else (None, None)
    if first is None or second is None:
        record.refuse(field, "type", value)
        return None
    return first, second


def _cpu(record: Record) -> Fields:
    graphics = record.text("graphics")
    return {
        "socket": None,
        "cores": record.count("core_count", 1024),
        "base_ghz": record.number("core_clock", 10),
        "boost_ghz": record.number("boost_clock", 10),
        "tdp_w": record.number("tdp", 2_000),
        "graphics": graphics,
        "has_graphics": True if graphics else None,
    }


def _gpu(record: Record) -> Fields:
    chipset = record.text("chipset")
    return {
        "aliases": (chipset,) if chipset else (),
        "form_factor": "pcie",
        "memory_gib": record.number("memory", 1024),
        "base_mhz": record.number("core_clock", 6_000),
        "boost_mhz": record.number("boost_clock", 6_000),
        "length_mm": record.number("length", 700),
    }


def _motherboard(record: Record) -> Fields:
    socket = record.text("socket", 40)
    layout = Layout(
        sockets=socket_name(socket) if socket else (),
        memory_slots=record.count("memory_slots", 64),
        memory_max_gib=record.count("max_memory", 65_536),
    )
    form = record.text("form_factor", 30)
    return {"form_factor": BOARD_FORM.get(form or "", form), "layout": layout}


def _memory(record: Record) -> Fields | None:
    speed, modules = (
        record.needs("speed", _pair(record, "speed")),
        record.needs("modules", _pair(record, "modules")),
    )
    if speed is None or modules is None:
        return None
    return {
        "type": f"DDR{speed[0]:g}",
        "module": None,
        "modules": int(modules[0]),
        "module_gib": modules[1],
        "speed_mts": int(speed[1]),
        "cas": record.number("cas_latency", 200),
    }


def _storage(record: Record) -> Fields | None:
    gb = record.needs("capacity", record.number("capacity", 1_000_000))
    words = record.needs("interface", record.text("interface", 40))
    form = record.at("form_factor")
    form = (
        f'{form:g}"'
        if isinstance(form, int | float) and not isinstance(form, bool)
        else record.text("form_factor", 20)
    )
    length = re.fullmatch(r"M\.2-22(\d+)", form or "")
    ours = "m2" if length else DRIVE_FORM.get(form or "")
    if ours is None:
        record.refuse("form_factor", "word" if form else "missing", form or "", lost=True)
    protocol = next(
        (
            ours
            for word, ours in (("SATA", "sata"), ("SAS", "sas"), ("PCIe", "nvme"))
            if word in (words or "")
        ),
        None,
    )
    if words and protocol is None:
        record.refuse("interface", "word", words, lost=True)
    if gb is None or ours is None or protocol is None:
        return None
    rpm = record.count("type", 20_000) if not isinstance(record.at("type"), str) else None
    gen, width = edge(words) if protocol == "nvme" else (None, None)
    return {
        "form_factor": ours,
        "interface": protocol,
        "capacity_gb": gb,
        "gen": gen,
        "width": width,
        "rotation_rpm": rpm,
        "m2_length_mm": int(length.group(1)) if length else None,
    }


def _psu(record: Record) -> Fields | None:
    watts = record.needs("wattage", record.number("wattage", 10_000))
    if watts is None:
        return None
    level = record.text("efficiency", 20)
    label = f"80 PLUS {level.title()}".removesuffix(" Plus") if level else None
    modular: Any = record.at("modular")
    return {
        "form_factor": record.text("type", 20),
        "modular": modular is not False if modular is not None else None,
        "supply": Supply(ratings=(label_rating(watts),), efficiency_label=label),
        "doubts": {"supply.ratings": LABEL_DOUBT},
    }


def _chassis(record: Record) -> Fields:
    return {
        "enclosure": Enclosure(bays_35=record.count("internal_35_bays", 100)),
        "notes": record.text("type", 40) or "",
    }


def _cooler(record: Record) -> Fields:
    radiator = record.count("size", 600)
    doubts = (
        {}
        if radiator
        else {
            "type": Doubt(
                state="unverified", note="The list gives no radiator; taken for an air cooler."
            )
        }
    )
    return {"type": "liquid" if radiator else "air", "radiator_mm": radiator, "doubts": doubts}


def _nic(record: Record) -> Fields:
    width = _EDGE_WIDTH.search(record.text("interface", 40) or "")
    return {"edge_width": int(width.group(1)) if width else None}


SHAPES: dict[str, Shape] = {
    "cpu": Shape("cpu", CPU, _cpu),
    "video-card": Shape("gpu", GPU, _gpu),
    "motherboard": Shape("motherboard", Motherboard, _motherboard),
    "memory": Shape("memory", MemoryKit, _memory),
    "internal-hard-drive": Shape("storage", Storage, _storage),
    "power-supply": Shape("psu", PowerSupply, _psu),
    "case": Shape("chassis", Chassis, _chassis),
    "cpu-cooler": Shape("cooler", Cooler, _cooler),
    "wired-network-card": Shape("nic", NetworkCard, _nic),
    "monitor": Shape("accessory", Accessory, lambda record: {"type": "monitor"}),
    "ups": Shape("accessory", Accessory, lambda record: {"type": "ups"}),
}
"""Categories that a rig is made of; files of others are refused with the reason "kind"."""
