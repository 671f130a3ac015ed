"""Power supplies, and the plugs that they and the parts they feed have."""

from msgspec import Struct

from rigplanner.catalog.schema.part import Part


class Plug(Struct, frozen=True, forbid_unknown_fields=True):
    """`count` power connectors of one type: pcie8, pcie6, 12vhpwr, 12v-2x6, eps8, eps4, sata,
    molex."""

    type: str
    count: int


class Rating(Struct, frozen=True, forbid_unknown_fields=True):
    """Continuous output in watts when fed with at least `min_volts` AC (or DC for an adapter
    brick)."""

    min_volts: float
    watts: float


class Supply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a power supply gives: `ratings` by input voltage, `plugs` that can be used at the same
    time.

    `pcie8_instead` counts 8-pin plugs on cables of the box that take a 16-pin socket of the supply,
    two plugs for one socket."""

    ratings: tuple[Rating, ...] = ()
    standard: str | None = None
    efficiency_label: str | None = None
    efficiency_50: float | None = None
    plugs: tuple[Plug, ...] | None = None
    pcie8_instead: int = 0
    inlet: str | None = None
    redundant: bool = False
    units: int = 1


class PowerSupply(Part, frozen=True, kw_only=True, tag="psu"):
    """`form_factor` is ATX, SFX, SFX-L, TFX, CRPS, brick; `standard` an ATX12V revision such as
    "ATX 3.1"."""

    form_factor: str | None = None
    length_mm: float | None = None
    modular: bool | None = None
    supply: Supply
