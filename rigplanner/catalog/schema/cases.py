"""Cases and the space inside them."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.part import Part

COLUMN_MM = 20.32
"""Pitch of expansion slots, 0.8 inch (ATX specification 2.2)."""


class RadiatorPlace(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A mount that takes radiators of `sizes_mm`. Where a radiator there takes room from others,
    `gpu_length_mm` is the longest card that is left, and `bays_25` and `bays_35` the drive bays."""

    at: Literal["front", "top", "bottom", "side", "rear"]
    sizes_mm: tuple[int, ...]
    gpu_length_mm: float | None = None
    bays_25: int | None = None
    bays_35: int | None = None


class Enclosure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The space inside a case or server. `slot_columns` counts expansion slots of the rear
    panel."""

    board_form_factors: tuple[str, ...] = ()
    board_max_width_mm: float | None = None
    board_max_depth_mm: float | None = None
    slot_columns: int | None = None
    gpu_length_mm: float | None = None
    gpu_height_mm: float | None = None
    cooler_height_mm: float | None = None
    radiators_mm: tuple[int, ...] | None = None
    radiator_places: tuple[RadiatorPlace, ...] | None = None
    psu_form_factors: tuple[str, ...] = ()
    psu_length_mm: float | None = None
    bays_25: int | None = None
    bays_35: int | None = None
    rack_units: float | None = None
    airflow: Literal["open", "good", "average", "poor", "server"] | None = None


class Chassis(Part, frozen=True, kw_only=True, tag="chassis"):
    """A case without board or supply."""

    enclosure: Enclosure
