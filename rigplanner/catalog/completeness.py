"""How much of the catalog is filled, and how much was compared with a second source."""

from collections import Counter
from typing import Any

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import GPU, KINDS, Part, PowerSupply, Storage, System

READ_FIELDS: dict[str, tuple[str, ...]] = {
    "gpu": (
        "architecture", "memory_gib", "bandwidth_gbs", "dense_tflops.fp64", "dense_tflops.fp32", "dense_tflops.tf32",
        "dense_tflops.fp16", "dense_tflops.bf16", "dense_tflops.fp8", "dense_tflops.fp4", "dense_tflops.int8", "tdp_w",
        "has_nvlink", "ecc", "power_min_w", "power_max_w",
    ),
    "cpu": (
        "socket", "cores", "threads", "lanes", "pcie_gen", "lane_class", "peg_width", "memory.channels", "memory.types",
        "memory.modules", "memory.speeds_mts", "memory.max_gib", "isa", "tdp_w", "max_power_w", "has_graphics",
    ),
    "motherboard": (
        "form_factor", "width_mm", "depth_mm", "layout.sockets", "layout.memory_type", "layout.memory_modules",
        "layout.memory_slots", "layout.memory_max_gib", "layout.memory_channels", "layout.slots", "layout.drives", "layout.eps8",
        "layout.above_4g", "layout.resizable_bar", "layout.display_outputs", "layout.remote_management",
    ),
    "system": ("role", "layout", "gpu_max_w"),
    "memory": ("type", "module", "modules", "module_gib", "speed_mts"),
    "storage": ("form_factor", "interface", "capacity_gb", "gen", "width", "read_gbs", "random_read_kiops", "power_w"),
    "psu": ("form_factor", "length_mm", "supply.ratings", "supply.standard", "supply.plugs", "supply.efficiency_label",
            "supply.efficiency_50"),
    "chassis": (
        "enclosure.board_form_factors", "enclosure.slot_columns", "enclosure.gpu_length_mm", "enclosure.gpu_height_mm",
        "enclosure.cooler_height_mm", "enclosure.radiators_mm", "enclosure.psu_form_factors", "enclosure.psu_length_mm",
        "enclosure.bays_25", "enclosure.bays_35", "enclosure.airflow",
    ),
    "cooler": ("type", "sockets", "rated_w"),
    "bridge": ("connector", "generation", "spacing_slots"),
    "riser": ("gen", "width", "outputs"),
    "nic": ("ports", "port_gbps", "protocol", "edge_gen", "edge_width", "power_w", "rdma"),
    "accessory": ("type",),
}  # fmt: skip
"""Fields that rules and models read, per kind; a GPU card also needs its size and connectors, a board the place of each slot."""
CARD_FIELDS = ("connectors", "slots", "length_mm", "height_mm", "cooling", "edge_gen", "edge_width", "display_outputs", "p2p")
SLOT_FIELDS = ("mechanical", "origin", "gen", "width", "position")
NVME_FIELDS = ("gen", "width")
CASE_SUPPLY_FIELDS = ("length_mm", "supply.standard", "supply.plugs", "supply.efficiency_label", "supply.efficiency_50")
"""What a supply that is built in has; an adapter in the cable has no such figures."""

RARELY_PUBLISHED = {
    "power_min_w", "power_max_w", "max_power_w", "rated_w", "power_w", "p2p", "layout.slots.position", "layout.resizable_bar",
    "enclosure.psu_length_mm", "enclosure.radiators_mm", "enclosure.bays_25", "height_mm",
}  # fmt: skip
"""Fields that makers leave out of their data sheets for many parts: what is missing is unknown, and rules say so."""

ANSWERED_BY_NONE = {"connectors", "enclosure.radiators_mm"}
"""Lists that say "none" when they are empty; other empty lists are not known."""


class Completeness(Struct, frozen=True):
    """How many of the `parts` of a kind that are sold or commonly used have a field; `unpublished` are those whose maker's page was
    read and leaves it out, `without` those of which it is unknown; `published` tells whether makers state it as a rule."""

    kind: str
    field: str
    parts: int
    filled: int
    unpublished: tuple[str, ...]
    without: tuple[str, ...]
    published: bool = True


def completeness(catalog: Catalog) -> list[Completeness]:
    """Return a row per kind and field over the parts whose status is current or classic."""
    rows = []
    for kind, fields in READ_FIELDS.items():
        parts = [part for part in catalog.of_kind(kind) if part.status in ("current", "classic")]
        rows += [_row(kind, field, parts) for field in fields]
        if kind == "gpu":
            cards = [part for part in parts if isinstance(part, GPU) and part.form_factor == "pcie"]
            rows += [_row(kind, field, cards) for field in CARD_FIELDS]
        if kind == "motherboard":
            rows += [_slot_row(field, parts) for field in SLOT_FIELDS]
    return rows


def _row(kind: str, field: str, parts: list[Any]) -> Completeness:
    asked = [part for part in parts if not _is_lacking(part, field)]
    nothing = (None,) if field in ANSWERED_BY_NONE else (None, ())
    missing = [part for part in asked if _value(part, field) in nothing]
    left_out = tuple(part.id for part in missing if is_unpublished(part, field))
    without = tuple(part.id for part in missing if part.id not in left_out)
    return Completeness(kind, field, len(asked), len(asked) - len(missing), left_out, without, field not in RARELY_PUBLISHED)


def _slot_row(field: str, boards: list[Any]) -> Completeness:
    name = f"layout.slots.{field}"
    slots = [(board, f"{board.id}:{slot.id}", getattr(slot, field)) for board in boards for slot in board.layout.slots]
    missing = [(board, place) for board, place, value in slots if value is None]
    left_out = tuple(place for board, place in missing if is_unpublished(board, name))
    without = tuple(place for _, place in missing if place not in left_out)
    return Completeness("motherboard", name, len(slots), len(slots) - len(missing), left_out, without, name not in RARELY_PUBLISHED)


def is_unpublished(part: Part, field: str) -> bool:
    """Tell whether a page of the maker was read that leaves the field out."""
    return any(field in fields for fields in part.unpublished.values())


def _is_lacking(part: Any, field: str) -> bool:
    if isinstance(part, Storage):
        return field in NVME_FIELDS and part.interface != "nvme"
    if isinstance(part, System):
        return field == "gpu_max_w" and part.role == "complete"
    if isinstance(part, PowerSupply):
        return field in CASE_SUPPLY_FIELDS and part.form_factor == "brick"
    return isinstance(part, GPU) and field.removeprefix("dense_tflops.") in part.unsupported


def _value(part: Any, field: str) -> Any:
    for name in field.split("."):
        part = getattr(part, name, None)
    return part


class Evidence(Struct, frozen=True):
    """What stands behind the parts of a kind: `read` of them have a source that was read, `compared` have fields that two such
    sources settled; `fields` counts the doubts: not verified, in conflict."""

    kind: str
    parts: int
    read: int
    compared: tuple[str, ...]
    unverified: int
    conflicts: int


def evidence(catalog: Catalog) -> list[Evidence]:
    """Return a row per kind over all parts."""
    rows = []
    for kind in KINDS:
        parts = catalog.of_kind(kind)
        states = Counter(doubt.state for part in parts for doubt in part.doubts.values())
        rows.append(Evidence(
            kind, len(parts), sum(bool(read_sources(part, catalog)) for part in parts),
            tuple(part.id for part in parts if compared_fields(part, catalog)), states["unverified"], states["conflict"],
        ))  # fmt: skip
    return rows


def read_sources(part: Part, catalog: Catalog) -> list[str]:
    """Return the keys of the part's sources that were read."""
    return [key for key in part.sources if (source := catalog.sources.get(key)) is not None and not source.recalled]


def compared_fields(part: Part, catalog: Catalog) -> tuple[str, ...]:
    """Return the fields that two read sources settled, or on which they disagree."""
    named = Counter(field for key in read_sources(part, catalog) for field in part.sources[key])
    agreed = [field for field, count in named.items() if count > 1]
    disputed = [field for field, doubt in part.doubts.items() if doubt.state == "conflict" and len(doubt.values) > 1]
    return tuple(sorted({*agreed, *disputed} - {"*"}))
