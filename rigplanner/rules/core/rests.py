"""What a verdict rests on: the figures of parts that decided it, and those that nobody verified."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Part, kind_of

State = Literal["verified", "one source", "recalled", "derived", "conflict"]
"""verified: read from a maker, or from two who agree; one source: read once and not confirmed;
recalled: commonly known, no page was read; derived: computed from other figures; conflict: sources
disagree, and the narrower reading decides."""

DECIDING: dict[str, dict[str, tuple[str, ...]]] = {
    "CPU001": {"cpu": ("socket",), "motherboard": ("layout.sockets",)},
    "CPU009": {"motherboard": ("layout.cpu_generations",)},
    "MEM001": {"motherboard": ("layout.memory_type",), "memory": ("type",)},
    "MEM002": {"motherboard": ("layout.memory_modules",), "memory": ("module",)},
    "MEM003": {"motherboard": ("layout.memory_slots",)},
    "MEM004": {"motherboard": ("layout.memory_max_gib",), "cpu": ("memory.max_gib",)},
    "SLT001": {"motherboard": ("layout.slots",), "system": ("layout.slots",)},
    "PCI002": {
        "motherboard": ("layout.slots", "layout.lane_modes"),
        "system": ("layout.slots",),
        "cpu": ("lanes",),
        "gpu": ("edge_width",),
    },
    "PCI006": {"motherboard": ("layout.above_4g",)},
    "M2001": {"motherboard": ("layout.drives",)},
    "SPC001": {
        "gpu": ("length_mm",),
        "chassis": ("enclosure.gpu_length_mm",),
        "system": ("enclosure.gpu_length_mm",),
    },
    "SPC002": {
        "gpu": ("height_mm",),
        "chassis": ("enclosure.gpu_height_mm",),
    },
    "SPC003": {"gpu": ("slots",), "chassis": ("enclosure.slot_columns",)},
    "SPC004": {
        "motherboard": ("form_factor", "width_mm", "depth_mm"),
        "chassis": ("enclosure.board_form_factors", "enclosure.board_max_width_mm"),
    },
    "SPC005": {"psu": ("form_factor",), "chassis": ("enclosure.psu_form_factors",)},
    "SPC006": {"psu": ("length_mm",), "chassis": ("enclosure.psu_length_mm",)},
    "SPC007": {"cooler": ("height_mm",), "chassis": ("enclosure.cooler_height_mm",)},
    "SPC008": {"cooler": ("radiator_mm",), "chassis": ("enclosure.radiators_mm",)},
    "CLG001": {"gpu": ("cooling",), "chassis": ("enclosure.airflow",)},
    "CLG003": {"cooler": ("sockets",)},
    "CLG004": {"cooler": ("rated_w",), "cpu": ("tdp_w",)},
    "PWR002": {"gpu": ("tdp_w",), "cpu": ("max_power_w",), "psu": ("supply.ratings",)},
    "PWR004": {"psu": ("supply.standard",)},
    "PWR006": {
        "gpu": ("connectors",),
        "motherboard": ("layout.eps8",),
        "psu": ("supply.plugs",),
    },
    "PWR015": {"system": ("gpu_max_w",)},
    "VRM001": {"gpu": ("memory_gib",)},
    "NVL001": {"gpu": ("has_nvlink",)},
    "P2P001": {"gpu": ("p2p",)},
}
"""The figures by which a rule decides, by kind of part; rules that read the same stand once."""
SAME_FIGURES = {"PWR003": "PWR002", "PWR005": "PWR006", "PWR007": "PWR006", "PCI001": "PCI002"}
"""Rules that decide by the figures of another."""


ROOMS = {
    "gpu.length_mm": "gpu_length_mm",
    "gpu.height_mm": "gpu_height_mm",
    "cooler.height_mm": "cooler_height_mm",
    "psu.length_mm": "psu_length_mm",
}
"""Measures of parts, by kind, and the room of an enclosure that each must not exceed."""
MEASURED = frozenset(f"enclosure.{room}" for room in ROOMS.values())
"""Figures with a limit that the rig meets or not: a dispute about them decides where it does."""


@cache
def deciding_fields(kind: str) -> frozenset[str]:
    """Return the fields of a kind of part by which any rule decides."""
    return frozenset(field for fields in DECIDING.values() for field in fields.get(kind, ()))


class Figure(Struct, frozen=True):
    """A figure that some rules decided by: its part and field, how well it is known, what the
    catalog notes of it, and what the sources say where they disagree."""

    part: str
    field: str
    state: State
    note: str = ""
    said: tuple[str, ...] = ()

    @property
    def fact(self) -> str:
        """Its name in findings, "asus.x:length_mm"."""
        return f"{self.part}:{self.field.rpartition('.')[2]}"


def figures_of(code: str, parts: Iterable[Part], catalog: Catalog) -> Iterator[Figure]:
    """Yield the figures of parts by which a rule decides, where they are known at all."""
    fields = DECIDING.get(SAME_FIGURES.get(code, code), {})
    for part in parts:
        for field in fields.get(kind_of(part), ()):
            if _value(part, field) not in (None, (), {}, ""):
                yield figure(part, field, catalog)


def figure(part: Part, field: str, catalog: Catalog) -> Figure:
    """Return a figure of a part with its state."""
    doubt = part.doubts.get(field) or part.doubts.get(field.partition(".")[0])
    keys = settling(part, field)
    sources = (catalog.sources.get(key) for key in keys)
    was_read = any(source is not None and not source.recalled for source in sources)
    if doubt is None:
        return Figure(part.id, field, "verified" if was_read or not keys else "recalled")
    if doubt.state == "conflict":
        return Figure(part.id, field, "conflict", doubt.note, doubt.values)
    if doubt.state == "inferred" or doubt.note.casefold().startswith("derived"):
        return Figure(part.id, field, "derived", doubt.note)
    state: State = "one source" if was_read else "recalled"
    return Figure(part.id, field, state, doubt.note)


def said_figure(text: str) -> float | None:
    """Return the figure with which the saying of a source begins, None for words."""
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return None


def settling(part: Part, field: str) -> list[str]:
    """Return the keys of the sources that settled a field of a part, those of all other fields
    where none names it."""
    named = [key for key, fields in part.sources.items() if field in fields]
    return named or [key for key, fields in part.sources.items() if "*" in fields]


def _value(part: Part, field: str) -> object:
    value: object = part
    for name in field.split("."):
        value = getattr(value, name, None)
        if value is None:
            return None
    return value
