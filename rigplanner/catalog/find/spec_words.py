"""What people call a part by besides its name: capacity, generation, watts, socket, and the word of
its kind."""

from collections.abc import Iterator, Mapping

from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Part,
    PowerSupply,
    Riser,
    Storage,
    System,
)

NAS_SERIES = frozenset(("ironwolf", "red", "n300"))
"""Words of disks that are made and called for storage on a network: IronWolf, WD Red, N300."""
SEVERAL_TB = 10_000
"""From here on people leave out what is behind the point: 61 TB for 61.44."""


def spec_words(part: Part) -> tuple[str, ...]:
    """Return what people call a part by besides its name: capacity, generation, watts, socket,
    chipset ("4tb", "gen4")."""
    return tuple(word.casefold() for word in _spec_words(part) if word)


def _carried(system: System) -> tuple[str, ...]:
    """Return the words of a system with a screen: its GPU is one for laptops, or it is named so."""
    parts = (inclusion.part for inclusion in system.includes)
    words = words_of(system.name)
    if "macbook" in words or any(part.endswith("-laptop") for part in parts):
        return ("laptop", "notebook")
    return ("nas",) if ".nas." in system.id else ()


def _drive_words(part: Storage) -> Iterator[str]:
    yield (
        f"{part.capacity_gb / 1000:g}tb" if part.capacity_gb >= 1000 else f"{part.capacity_gb:g}gb"
    )
    yield f"{part.capacity_gb // 100 / 10:g}tb" if part.capacity_gb > 1000 else ""
    yield f"{part.capacity_gb // 1000:g}tb" if part.capacity_gb >= SEVERAL_TB else ""
    yield f"gen{part.gen}" if part.gen else ""
    yield "nas" if part.rotation_rpm and NAS_SERIES & set(words_of(part.name)) else ""
    yield from (
        part.interface,
        part.form_factor.removesuffix("."),
        "hdd" if part.rotation_rpm else "ssd",
    )
    yield from (f"{part.rotation_rpm:g}", "rpm") if part.rotation_rpm else ()
    yield from ("m.2", "pcie") if part.form_factor == "m2" and part.interface == "nvme" else ()


def _spec_words(part: Part | AnyPart) -> Iterator[str]:
    if isinstance(part, Storage):
        yield from _drive_words(part)
    elif isinstance(part, GPU):
        yield from (f"{part.memory_gib:g}gb", f"{part.memory_gib:g}g") if part.memory_gib else ()
    elif isinstance(part, MemoryKit):
        yield from (
            f"{part.modules * part.module_gib:g}gb",
            part.type,
            part.module or "",
            "ecc" if part.ecc else "",
        )
        yield f"cl{part.cas:g}" if part.cas else ""
    elif isinstance(part, PowerSupply):
        yield from (
            "psu",
            *(f"{rating.watts:g}w" for rating in part.supply.ratings),
            *words_of(part.form_factor or ""),
        )
        yield from words_of(part.supply.efficiency_label or "")
    elif isinstance(part, Cooler):
        yield from (
            "cooler",
            part.type,
            *(("aio", f"{part.radiator_mm}mm") if part.radiator_mm else ()),
        )
    elif isinstance(part, NetworkCard):
        yield from ("nic", part.protocol or "")
        yield f"{part.port_gbps:g}gbe" if part.port_gbps else ""
    elif isinstance(part, CPU):
        yield part.socket or ""
    elif isinstance(part, Riser):
        yield from (part.output, part.slot_kind)
    elif isinstance(part, Motherboard | System):
        yield from (*part.layout.sockets, part.layout.chipset or "", part.layout.memory_type or "")
    elif isinstance(part, Chassis):
        yield from (
            "case",
            *(words_of(form)[-1] for form in part.enclosure.board_form_factors),
        )
        yield f"{part.enclosure.rack_units:g}u" if part.enclosure.rack_units else ""


MAKERS_OF_CHIPS = {"radeon": "amd", "geforce": "nvidia", "arc": "intel"}
"""Makers of chips by the word that stands in the names of cards with them."""
CALLED: Mapping[type[Part], tuple[str, ...]] = {
    GPU: ("gpu", "card", "graphics", "video"),
    CPU: ("cpu", "processor"),
    Motherboard: ("motherboard", "mobo", "board", "mainboard"),
    MemoryKit: ("ram", "memory", "kit"),
    Storage: ("drive",),
    PowerSupply: ("power", "supply"),
    Chassis: ("chassis",),
    Cooler: ("cpu",),
    NetworkCard: ("card", "network"),
}
"""What people call parts of a kind."""


MAKERS_CALLED: Mapping[str, tuple[str, ...]] = {
    "Western Digital": ("wd",),
    "WD": ("western", "digital"),
    "SK hynix": ("skhynix",),
    "HPE": ("hp",),
    "G.Skill": ("gskill",),
    "be quiet!": ("bequiet",),
}
"""Other words for a maker."""


def kind_words(part: Part) -> Iterator[str]:
    """Yield what people call a part by that tells it from none of its class."""
    yield from CALLED.get(type(part), ())
    yield from MAKERS_CALLED.get(part.vendor, ())
    if isinstance(part, GPU):
        yield from (MAKERS_OF_CHIPS.get(word, "") for word in words_of(part.name))
        if part.vendor == "NVIDIA" and part.plays and part.edge_gen:
            yield from ("fe", "founders", "edition")
    elif isinstance(part, MemoryKit) and part.speed_mts:
        yield from (f"{part.speed_mts}mhz", f"{part.speed_mts}mt")
    elif isinstance(part, Cooler):
        yield from ("water", "cooled", "cooling") if part.type == "liquid" else ("heatsink",)
    elif isinstance(part, NetworkCard) and part.port_gbps:
        yield f"{part.port_gbps:g}g"
    elif isinstance(part, Riser):
        led = part.output == "pcie" and part.switch is None
        hosts = part.output in ("sas", "sata")
        yield from ("card", "hba", "controller") if hosts else ("card", "adapter")
        yield from ("riser",) if led else ()
    elif isinstance(part, System):
        yield from (part.role, *_carried(part))
    elif isinstance(part, Accessory):
        yield part.type
