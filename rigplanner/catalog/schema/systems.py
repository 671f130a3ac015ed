"""Complete systems, and what stands beside a computer."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.boards import Layout
from rigplanner.catalog.schema.cases import Enclosure
from rigplanner.catalog.schema.part import Part
from rigplanner.catalog.schema.supplies import Supply


class Inclusion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """`quantity` pieces of a catalog part built into a system, each in its place."""

    part: str
    quantity: int = 1
    places: tuple[str, ...] = ()


class System(Part, frozen=True, kw_only=True, tag="system"):
    """A barebone, server, baseboard, development board or complete system: layout, space and
    supply, with `includes` built in."""

    role: Literal["barebone", "server", "baseboard", "embedded", "complete", "rack"]
    layout: Layout = Layout()
    enclosure: Enclosure | None = None
    supply: Supply | None = None
    includes: tuple[Inclusion, ...] = ()
    max_power_w: float | None = None
    gpu_max_w: float | None = None
    length_mm: float | None = None


class Accessory(Part, frozen=True, kw_only=True, tag="accessory"):
    """A monitor, cable, UPS or anything else that is bought but not assembled. `power_w` counts on
    the circuit. A UPS gives `output_w` watts and `output_va` volt-amperes, and lasts the two
    `runtime` minutes at half and at full load in watts; `waveform` is that of its output on
    battery."""

    type: str
    power_w: float | None = None
    output_w: float | None = None
    output_va: float | None = None
    runtime_half_min: float | None = None
    runtime_full_min: float | None = None
    waveform: Literal["sine", "stepped"] | None = None
