"""Is the catalog plausible? Ids, sources, physics, families; and how complete it is."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import CPU, GPU, Layout, Motherboard, Part, Plug, PowerSupply, Storage, System

ID = re.compile(r"[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){2,}")
DAY = re.compile(r"20\d\d-[01]\d-[0-3]\d")

PLUG_WATTS = {"pcie6": 75.0, "pcie8": 150.0, "12vhpwr": 600.0, "12v-2x6": 600.0, "eps8": 300.0, "eps4": 150.0}
"""What a connector may carry in W. PCIe 6/8-pin and 12V-2x6: PCI Express CEM 5.1; EPS12V: 4 contacts at 12 V, about 7 A each."""
SLOT_WATTS = 75.0
"""What a PCIe x16 slot gives (PCI Express CEM)."""
PCIE_LANE_GBS = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
"""GB/s per lane and direction after line coding: 8b/10b to Gen2, 128b/130b to Gen5, FLIT at Gen6."""

BANDWIDTH_TOLERANCE = 0.02
FP32_TOLERANCE = 0.04

FLOPS_PER_CORE_CLOCK = 2.0


class Complaint(Struct, frozen=True):
    """One thing that is wrong: the part, the field, a stable code and the values that disagree."""

    part: str
    field: str
    code: str
    found: str
    expected: str = ""


def lint(catalog: Catalog) -> list[Complaint]:
    """Return all complaints in catalog order."""
    return [complaint for part in catalog.parts.values() for check in CHECKS for complaint in check(part, catalog)]


def check_id(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Ids are vendor.family.variant and are not in the list of renamed ones."""
    if not ID.fullmatch(part.id):
        yield Complaint(part.id, "id", "id-form", part.id, "vendor.family.variant in [a-z0-9-]")
    if part.id in catalog.renamed:
        yield Complaint(part.id, "id", "id-reused", part.id, catalog.renamed[part.id])


def check_sources(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Every part has a source that exists, read on a day; doubts and sources name fields that exist."""
    if not part.sources:
        yield Complaint(part.id, "sources", "no-source", "none", "at least one")
    for key, fields in part.sources.items():
        source = catalog.sources.get(key)
        if source is None:
            yield Complaint(part.id, "sources", "source-missing", key)
        elif not DAY.fullmatch(source.read):
            yield Complaint(part.id, "sources", "source-day", source.read, "YYYY-MM-DD")
        for field in fields:
            if field != "*" and not _has(part, field):
                yield Complaint(part.id, "sources", "field-unknown", field)
    for field, doubt in part.doubts.items():
        if not _has(part, field):
            yield Complaint(part.id, "doubts", "field-unknown", field)
        if doubt.state == "conflict" and len(doubt.values) < 2:
            yield Complaint(part.id, "doubts", "conflict-values", field, "what each source says")
    for price in part.prices:
        if not DAY.fullmatch(price.day) or not 0 < price.amount < 1e8 or len(price.currency) != 3:
            yield Complaint(part.id, "prices", "price", f"{price.amount} {price.currency} {price.day}")


def _has(part: Part, field: str) -> bool:
    target: Any = part
    for name in re.split(r"\.|\[", field)[:2]:
        if isinstance(target, dict | tuple) or target is None:
            return True
        if not hasattr(target, name):
            return False
        target = getattr(target, name)
    return True


def check_ranges(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """No quantity is zero, negative or beyond sense: unknown is null."""
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if (
            field.endswith(("_w", "_mm", "_gib", "_gb", "_gbs", "_ghz", "_mhz", "_mts"))
            and value is not None
            and not 0 < value < 1e7
        ):
            yield Complaint(part.id, field, "range", str(value), "more than 0, or null for unknown")


def check_gpu(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Bandwidth = bus x rate / 8; FP32 = 2 x cores x boost; connectors and slot carry the power; nothing both rated and lacking."""
    if not isinstance(part, GPU):
        return
    if part.bandwidth_gbs and part.memory_bus_bits and part.memory_rate_gbps:
        expected = part.memory_bus_bits * part.memory_rate_gbps / 8
        if abs(part.bandwidth_gbs / expected - 1) > BANDWIDTH_TOLERANCE and "bandwidth_gbs" not in part.doubts:
            yield Complaint(part.id, "bandwidth_gbs", "bandwidth", f"{part.bandwidth_gbs:g}", f"{expected:g} (bus x rate / 8)")
    if part.dense_tflops.fp32 and part.cores and part.boost_mhz and part.vendor == "NVIDIA":
        expected = FLOPS_PER_CORE_CLOCK * part.cores * part.boost_mhz * 1e-6
        if abs(part.dense_tflops.fp32 / expected - 1) > FP32_TOLERANCE and not {"dense_tflops", "dense_tflops.fp32"} & set(
            part.doubts
        ):
            yield Complaint(
                part.id, "dense_tflops.fp32", "fp32-rate", f"{part.dense_tflops.fp32:g}", f"{expected:.4g} (2 x cores x boost)"
            )
    if part.form_factor == "pcie" and part.connectors is not None and part.tdp_w:
        carried = SLOT_WATTS + plug_watts(part.connectors)
        if part.tdp_w > carried and not {"connectors", "tdp_w"} & set(part.doubts):
            yield Complaint(part.id, "connectors", "connector-power", f"{carried:g} W", f"at least {part.tdp_w:g} W")
    for name in part.unsupported:
        if getattr(part.dense_tflops, name, None) is not None:
            yield Complaint(part.id, f"dense_tflops.{name}", "unsupported-rated", name, "null where the hardware lacks it")
    if part.has_nvlink is False and part.nvlink is not None:
        yield Complaint(part.id, "nvlink", "nvlink", "a port", "none, has_nvlink is false")


def plug_watts(plugs: Iterable[Plug]) -> float:
    """Return what power connectors may carry together in W, by PLUG_WATTS."""
    return sum(PLUG_WATTS.get(plug.type, 0.0) * plug.count for plug in plugs)


SAME_CHIP_FIELDS = ("architecture", "compute_capability")


def check_family(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """The same chip has the same architecture and compute capability everywhere."""
    if not isinstance(part, GPU) or not part.chip:
        return
    first = next(other for other in catalog.parts.values() if isinstance(other, GPU) and other.chip == part.chip)
    for field in SAME_CHIP_FIELDS:
        mine, theirs = getattr(part, field), getattr(first, field)
        if mine is not None and theirs is not None and mine != theirs:
            yield Complaint(part.id, field, "chip-family", str(mine), f"{theirs} as {first.id}")


def check_layout(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Slots hang on something that exists, are no wider than their connector, and lane modes name places of the board."""
    if not isinstance(part, Motherboard | System):
        return
    layout = part.layout
    places = [slot.id for slot in layout.slots] + [port.id for port in layout.drives]
    if len(set(places)) != len(places):
        yield Complaint(part.id, "layout", "place-twice", ", ".join(sorted({p for p in places if places.count(p) > 1})))
    yield from _slot_complaints(part.id, layout)
    for number, mode in enumerate(layout.lane_modes):
        named = {*mode.widths, *mode.gens, *mode.disabled, *mode.when.used, *mode.when.empty}
        if strange := sorted(named - set(places)):
            yield Complaint(part.id, f"layout.lane_modes[{number}]", "place-unknown", ", ".join(strange))
    if isinstance(part, System):
        for inclusion in part.includes:
            if inclusion.part not in catalog.parts:
                yield Complaint(part.id, "includes", "part-unknown", inclusion.part)


def _slot_complaints(part_id: str, layout: Layout) -> Iterator[Complaint]:
    origins = {f"cpu{n}" for n in range(max(1, len(layout.sockets)))} | {"chipset"} | {switch.id for switch in layout.switches}
    places = [(slot.id, slot.origin) for slot in layout.slots] + [(port.id, port.origin) for port in layout.drives]
    for place, origin in places:
        if origin is not None and origin not in origins:
            yield Complaint(part_id, f"layout.{place}.origin", "origin-unknown", origin, ", ".join(sorted(origins)))
    for slot in layout.slots:
        if slot.kind == "pcie" and slot.mechanical and slot.width and slot.width > slot.mechanical:
            yield Complaint(part_id, f"layout.{slot.id}.width", "wider-than-slot", f"x{slot.width}", f"at most x{slot.mechanical}")


def check_supply(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """A supply's ratings rise with the input voltage and its efficiency lies between 0.5 and 1."""
    if not isinstance(part, PowerSupply):
        return
    if not part.supply.ratings:
        yield Complaint(part.id, "supply.ratings", "no-rating", "none", "at least one")
    ratings = sorted(part.supply.ratings, key=lambda rating: rating.min_volts)
    if any(a.watts > b.watts for a, b in pairwise(ratings)):
        yield Complaint(part.id, "supply.ratings", "rating-order", str([(r.min_volts, r.watts) for r in ratings]))
    if part.supply.efficiency_50 is not None and not 0.5 < part.supply.efficiency_50 < 1:
        yield Complaint(part.id, "supply.efficiency_50", "efficiency", str(part.supply.efficiency_50), "0.5 to 1")


def check_storage(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """A drive does not read faster than its interface."""
    if not isinstance(part, Storage):
        return
    limit = 0.6 if part.interface == "sata" else PCIE_LANE_GBS[part.gen] * part.width if part.gen and part.width else None
    if limit and part.interface != "sas":
        for field in ("read_gbs", "write_gbs"):
            value = getattr(part, field)
            if value is not None and value > limit:
                yield Complaint(part.id, field, "faster-than-interface", f"{value:g} GB/s", f"at most {limit:.3g} GB/s")


def check_cpu(part: Part, catalog: Catalog) -> Iterator[Complaint]:
    """Threads are one, two or four per core, and the boost clock is not below the base clock."""
    if not isinstance(part, CPU):
        return
    if part.cores and part.threads and not part.cores <= part.threads <= 4 * part.cores:
        yield Complaint(part.id, "threads", "threads", f"{part.threads} of {part.cores} cores")
    if part.base_ghz and part.boost_ghz and part.boost_ghz < part.base_ghz:
        yield Complaint(part.id, "boost_ghz", "boost-below-base", f"{part.boost_ghz:g}", f"at least {part.base_ghz:g}")


CHECKS: tuple[Callable[[Part, Catalog], Iterator[Complaint]], ...] = (
    check_id, check_sources, check_ranges, check_gpu, check_family, check_layout, check_supply, check_storage, check_cpu,
)  # fmt: skip

READ_FIELDS: dict[str, tuple[str, ...]] = {
    "gpu": ("architecture", "memory_gib", "bandwidth_gbs", "dense_tflops.fp32", "tdp_w", "has_nvlink"),
    "cpu": ("socket", "cores", "lanes", "pcie_gen", "lane_class", "memory", "isa", "tdp_w", "has_graphics"),
    "motherboard": ("form_factor", "layout.sockets", "layout.memory_type", "layout.memory_slots", "layout.slots", "layout.eps8"),
    "system": ("layout",),
    "memory": ("type", "module", "modules", "module_gib", "speed_mts"),
    "storage": ("form_factor", "interface", "capacity_gb", "read_gbs", "random_read_kiops"),
    "psu": ("form_factor", "supply.ratings", "supply.standard", "supply.plugs", "supply.efficiency_label", "length_mm"),
    "chassis": ("enclosure.slot_columns", "enclosure.gpu_length_mm", "enclosure.psu_form_factors", "enclosure.airflow"),
    "cooler": ("type", "sockets"),
    "bridge": ("connector", "generation", "spacing_slots"),
    "riser": ("gen", "width"),
    "nic": ("ports", "port_gbps", "edge_gen", "edge_width"),
    "accessory": ("type",),
}
"""Fields that rules and models read, per kind; a GPU card also needs its size and connectors."""
CARD_FIELDS = ("connectors", "slots", "length_mm", "cooling", "edge_gen", "edge_width")


class Completeness(Struct, frozen=True):
    """How many of the `parts` of a kind that are sold or commonly used have a field, and which have not."""

    kind: str
    field: str
    parts: int
    filled: int
    without: tuple[str, ...]


def completeness(catalog: Catalog) -> list[Completeness]:
    """Return a row per kind and field over the parts whose status is current or classic."""
    rows = []
    for kind, fields in READ_FIELDS.items():
        parts = [part for part in catalog.of_kind(kind) if part.status in ("current", "classic")]
        rows += [_completeness(kind, field, parts) for field in fields]
        if kind == "gpu":
            cards = [part for part in parts if isinstance(part, GPU) and part.form_factor == "pcie"]
            rows += [_completeness(kind, field, cards) for field in CARD_FIELDS]
    return rows


def _completeness(kind: str, field: str, parts: list[Any]) -> Completeness:
    nothing = (None,) if field == "connectors" else (None, ())
    without = tuple(part.id for part in parts if _value(part, field) in nothing and not _is_lacking(part, field))
    return Completeness(kind, field, len(parts), len(parts) - len(without), without)


def _is_lacking(part: Any, field: str) -> bool:
    return isinstance(part, GPU) and field.removeprefix("dense_tflops.") in part.unsupported


def _value(part: Any, field: str) -> Any:
    for name in field.split("."):
        part = getattr(part, name, None)
    return part
