"""How much of the catalog is filled, and how much was compared with a second source."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from rigplanner.catalog.lint.board import columns_of
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    GPU,
    KINDS,
    DrivePort,
    Motherboard,
    Part,
    Slot,
    System,
    kind_of,
)

READ_FIELDS: dict[str, tuple[str, ...]] = {
    "gpu": (
        "architecture",
        "memory_gib",
        "bandwidth_gbs",
        "dense_tflops.fp64",
        "dense_tflops.fp32",
        "dense_tflops.tf32",
        "dense_tflops.fp16",
        "dense_tflops.bf16",
        "dense_tflops.fp8",
        "dense_tflops.fp4",
        "dense_tflops.int8",
        "tdp_w",
        "has_nvlink",
        "ecc",
        "power_min_w",
        "power_max_w",
    ),
    "cpu": (
        "socket",
        "cores",
        "threads",
        "lanes",
        "pcie_gen",
        "lane_class",
        "peg_width",
        "memory.channels",
        "memory.types",
        "memory.modules",
        "memory.speeds_mts",
        "memory.max_gib",
        "isa",
        "tdp_w",
        "max_power_w",
        "boost_ghz",
        "has_graphics",
    ),
    "motherboard": (
        "form_factor",
        "width_mm",
        "depth_mm",
        "layout.sockets",
        "layout.memory_type",
        "layout.memory_modules",
        "layout.memory_slots",
        "layout.memory_max_gib",
        "layout.memory_channels",
        "layout.slots",
        "layout.drives",
        "layout.eps8",
        "layout.above_4g",
        "layout.resizable_bar",
        "layout.display_outputs",
        "layout.remote_management",
    ),
    "system": (
        "role",
        "layout",
        "gpu_max_w",
        "enclosure.gpu_length_mm",
        "enclosure.bays_25",
        "enclosure.bays_35",
        "supply.ratings",
        "supply.inlet",
    ),
    "memory": ("type", "module", "modules", "module_gib", "speed_mts"),
    "storage": (
        "form_factor",
        "interface",
        "capacity_gb",
        "gen",
        "width",
        "m2_length_mm",
        "read_gbs",
        "random_read_kiops",
        "power_w",
    ),
    "psu": (
        "form_factor",
        "length_mm",
        "supply.ratings",
        "supply.standard",
        "supply.plugs",
        "supply.efficiency_label",
        "supply.efficiency_50",
        "supply.inlet",
    ),
    "chassis": (
        "enclosure.board_form_factors",
        "enclosure.slot_columns",
        "enclosure.gpu_length_mm",
        "enclosure.gpu_height_mm",
        "enclosure.cooler_height_mm",
        "enclosure.radiators_mm",
        "enclosure.psu_form_factors",
        "enclosure.psu_length_mm",
        "enclosure.bays_25",
        "enclosure.bays_35",
        "enclosure.airflow",
    ),
    "cooler": ("type", "sockets", "height_mm", "radiator_mm", "rated_w"),
    "bridge": ("connector", "generation", "spacing_slots"),
    "riser": ("gen", "width", "outputs", "length_mm"),
    "nic": ("ports", "port_gbps", "protocol", "edge_gen", "edge_width", "power_w", "rdma"),
    "accessory": ("type",),
}
"""Fields that rules and models read, per kind; a GPU card also needs its size and connectors, a
board and a box to be filled the place and lanes of each slot and drive port."""
CARD_FIELDS = (
    "connectors",
    "slots",
    "length_mm",
    "height_mm",
    "cooling",
    "edge_gen",
    "edge_width",
    "display_outputs",
    "p2p",
)
SLOT_FIELDS = ("mechanical", "origin", "gen", "width", "position", "bifurcation")
PORT_FIELDS = ("origin", "gen", "width", "lengths_mm")
NVME_FIELDS = ("gen", "width")
SUPPLY_FIELDS = (
    "length_mm",
    "supply.standard",
    "supply.plugs",
    "supply.efficiency_label",
    "supply.efficiency_50",
    "supply.inlet",
)
"""What a supply that is built in has; an adapter in the cable has no such figures."""
DESKTOP_SUPPLIES = {"ATX", "SFX", "SFX-L", "TFX", "Flex ATX"}
"""Form factors whose length a case limits; modules of a server have one length, that of the bay
that comes with its chassis."""

TURBO_SOCKETS = {"LGA1700", "LGA1851", "LGA4710-2", "AM4", "AM5", "FP11"}
"""Sockets of processors whose maker rates a power above the base power: Intel's maximum turbo power
since the 12th generation and for workstations, AMD's package power tracking. Of others the TDP is
all that is rated, and rules reckon with it."""

NO_BOARD_LIMIT = {"RDNA2", "RDNA3", "Edge TPU"}
"""Architectures whose driver takes no limit for the whole card: AMD's limits the chip alone (LACT:
94 to 120 W of an RX 6600 of 132 W, ROCm issue 2256 265 W of an RX 7900 XT of 300 W), that of an
Edge TPU nothing."""

ASKED: dict[tuple[str, str], Callable[[Any], bool]] = {
    **{
        ("gpu", field): lambda part: part.architecture not in NO_BOARD_LIMIT
        for field in ("power_min_w", "power_max_w")
    },
    **{("storage", field): lambda part: part.interface == "nvme" for field in NVME_FIELDS},
    ("storage", "m2_length_mm"): lambda part: part.form_factor == "m2",
    **{("psu", field): lambda part: part.form_factor != "brick" for field in SUPPLY_FIELDS},
    ("system", "gpu_max_w"): lambda part: part.role != "complete",
    **{
        ("system", f"enclosure.{field}"): lambda part: _is_filled_by_its_owner(part)
        for field in ("bays_25", "bays_35")
    },
    ("system", "enclosure.gpu_length_mm"): lambda part: (
        _is_filled_by_its_owner(part) and _has_card_slots(part)
    ),
    **{
        ("system", f"supply.{field}"): lambda part: _is_filled_by_its_owner(part)
        for field in ("ratings", "inlet")
    },
    ("motherboard", "layout.slots"): lambda part: (
        not any(port.kind == "mcio" for port in part.layout.drives)
    ),
    ("chassis", "enclosure.psu_length_mm"): lambda part: bool(
        DESKTOP_SUPPLIES & set(part.enclosure.psu_form_factors)
    ),
    ("cpu", "max_power_w"): lambda part: (
        part.socket in TURBO_SOCKETS or (part.socket == "LGA4677" and part.sockets_max == 1)
    ),
    ("cooler", "height_mm"): lambda part: part.type != "liquid",
    ("cooler", "radiator_mm"): lambda part: part.type == "liquid",
    ("riser", "length_mm"): lambda part: (
        (part.slot_kind, part.output, part.outputs) == ("pcie", "pcie", 1)
    ),
}
"""Which parts have such a field at all, where not every part of the kind does: rules read it of
these only."""

RARELY_PUBLISHED = {
    ("gpu", "power_min_w"),
    ("gpu", "power_max_w"),
    ("gpu", "height_mm"),
    ("gpu", "p2p"),
    ("motherboard", "layout.resizable_bar"),
    ("storage", "power_w"),
    ("nic", "power_w"),
    ("cooler", "rated_w"),
    ("chassis", "enclosure.psu_length_mm"),
    ("chassis", "enclosure.radiators_mm"),
    ("chassis", "enclosure.bays_25"),
    ("system", "enclosure.bays_25"),
    ("system", "enclosure.bays_35"),
    ("system", "enclosure.gpu_length_mm"),
    *(
        (kind, f"layout.slots.{field}")
        for kind in ("motherboard", "system")
        for field in ("position", "bifurcation")
    ),
}
"""Fields that makers leave out of their data sheets for many parts: what is missing is unknown, and
rules say so."""

ANSWERED_BY_NONE = {"connectors", "enclosure.radiators_mm"}
"""Lists that say "none" when they are empty; other empty lists are not known."""


class Completeness(Struct, frozen=True):
    """How many of the `parts` of a kind that are sold or commonly used have a field; `unpublished`
    are those whose maker's page was read and leaves it out, `without` those of which it is unknown;
    `published` tells whether makers state it as a rule."""

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
        boards = [
            part for part in parts if isinstance(part, Motherboard) or _is_filled_by_its_owner(part)
        ]
        if boards:
            rows += [_place_row(kind, "slots", field, boards) for field in SLOT_FIELDS]
            rows += [_place_row(kind, "drives", field, boards) for field in PORT_FIELDS]
    return rows


def _row(kind: str, field: str, parts: list[Any]) -> Completeness:
    asked = [part for part in parts if has_field(part, field)]
    nothing = (None,) if field in ANSWERED_BY_NONE else (None, ())
    return _counted(
        kind, field, [(part, part.id, _value(part, field) in nothing) for part in asked]
    )


def has_field(part: Part, field: str) -> bool:
    """Tell whether a part can have a field at all: an air cooler has no radiator, a GPU not every
    precision."""
    return ASKED.get((kind_of(part), field), _always)(part) and not _is_unsupported(part, field)


def _place_row(kind: str, places: str, field: str, boards: list[Any]) -> Completeness:
    asked = [
        (board, f"{board.id}:{place.id}", getattr(place, field) in (None, ()))
        for board in boards
        for place in getattr(board.layout, places)
        if _is_asked(board, place, field)
    ]
    return _counted(kind, f"layout.{places}.{field}", asked)


def _counted(kind: str, field: str, asked: Iterable[tuple[Part, str, bool]]) -> Completeness:
    """Return the row of a field, given each part asked, the name of the place and whether it is
    missing there."""
    asked = list(asked)
    missing = [(part, name) for part, name, lacks in asked if lacks]
    left_out = tuple(name for part, name in missing if is_unpublished(part, field))
    without = tuple(name for part, name in missing if not is_unpublished(part, field))
    return Completeness(
        kind,
        field,
        len(asked),
        len(asked) - len(missing),
        left_out,
        without,
        (kind, field) not in RARELY_PUBLISHED,
    )


def _is_asked(board: Any, place: Slot | DrivePort, field: str) -> bool:
    """Tell whether a rule can read a field of this slot or port."""
    if isinstance(place, DrivePort):
        return (
            place.kind == "m2"
            if field == "lengths_mm"
            else field == "origin" or place.kind not in ("sata", "sas", "usb4")
        )
    if place.kind != "pcie":
        return field not in ("mechanical", "position", "bifurcation")
    if field == "bifurcation":
        return place.width == 16 and (place.origin or "cpu").startswith("cpu")
    return field != "position" or _has_columns(board)


def _has_columns(board: Any) -> bool:
    """Tell whether cards stand on a board in the columns of a case: not on one of a server's own
    form with a single slot, not where slots share a column (cards of mining boards hang on cables),
    not in the cages of a server without rear columns."""
    slots = [slot for slot in board.layout.slots if slot.kind == "pcie"]
    if isinstance(board, System):
        return board.enclosure is not None and board.enclosure.slot_columns is not None
    if board.form_factor == "proprietary" and len(slots) == 1:
        return False
    return board.width_mm is None or len(slots) <= columns_of(board.width_mm)


def _is_filled_by_its_owner(part: Part) -> bool:
    return isinstance(part, System) and part.role in ("barebone", "server")


def _has_card_slots(part: System) -> bool:
    return any(slot.kind == "pcie" and (slot.mechanical or 0) >= 8 for slot in part.layout.slots)


def _always(part: Part) -> bool:
    return True


def is_unpublished(part: Part, field: str) -> bool:
    """Tell whether a page of the maker was read that leaves the field out."""
    return any(field in fields for fields in part.unpublished.values())


def _is_unsupported(part: Any, field: str) -> bool:
    return isinstance(part, GPU) and field.removeprefix("dense_tflops.") in part.unsupported


def _value(part: Any, field: str) -> Any:
    for name in field.split("."):
        part = getattr(part, name, None)
    return part


class Evidence(Struct, frozen=True):
    """What stands behind the parts of a kind: `read` of them have a source that was read,
    `compared` have fields that two such sources settled; `fields` counts the doubts: not verified,
    in conflict."""

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
        rows.append(
            Evidence(
                kind,
                len(parts),
                sum(bool(read_sources(part, catalog)) for part in parts),
                tuple(part.id for part in parts if compared_fields(part, catalog)),
                states["unverified"],
                states["conflict"],
            )
        )
    return rows


def read_sources(part: Part, catalog: Catalog) -> list[str]:
    """Return the keys of the part's sources that were read."""
    return [
        key
        for key in part.sources
        if (source := catalog.sources.get(key)) is not None and not source.recalled
    ]


def compared_fields(part: Part, catalog: Catalog) -> tuple[str, ...]:
    """Return the fields that two read sources settled, or on which they disagree."""
    named = Counter(field for key in read_sources(part, catalog) for field in part.sources[key])
    agreed = [field for field, count in named.items() if count > 1]
    disputed = [
        field
        for field, doubt in part.doubts.items()
        if doubt.state == "conflict" and len(doubt.values) > 1
    ]
    return tuple(sorted({*agreed, *disputed} - {"*"}))
