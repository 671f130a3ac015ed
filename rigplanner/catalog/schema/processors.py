"""CPUs, their memory controllers and coolers."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.part import Part


class MemoryChannels(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Memory controller of a CPU: `speeds_mts` maps DIMMs per channel ("1", "2") to transfers per
    second in MT/s."""

    channels: int | None = None
    types: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    speeds_mts: dict[str, int] = {}
    max_gib: int | None = None


class CPU(Part, frozen=True, kw_only=True, tag="cpu"):
    """`lanes` counts PCIe lanes usable for slots and M.2 (without the chipset link), `lanes_by_gen`
    splits them where not all are of `pcie_gen` ("5": 48, "4": 32); `peg_width` is the widest slot
    that it feeds."""

    socket: str | None
    cores: int | None = None
    threads: int | None = None
    base_ghz: float | None = None
    boost_ghz: float | None = None
    tdp_w: float | None = None
    max_power_w: float | None = None
    lanes: int | None = None
    pcie_gen: int | None = None
    lanes_by_gen: dict[str, int] = {}
    lane_class: str | None = None
    peg_width: int | None = None
    chipsets: tuple[str, ...] = ()
    sockets_max: int = 1
    memory: MemoryChannels | None = None
    isa: tuple[str, ...] | None = None
    graphics: str | None = None
    has_graphics: bool | None = None
    numa_nodes: int = 1


class Cooler(Part, frozen=True, kw_only=True, tag="cooler"):
    """A CPU cooler: `height_mm` for air, `radiator_mm` for liquid; `rated_w` is the heat its maker
    promises to move. `memory_room_mm` is the height of modules that its front fan leaves below it
    as delivered, `reach_mm` how far it reaches from the middle of the CPU towards the slots."""

    type: Literal["air", "liquid", "passive"]
    sockets: tuple[str, ...] = ()
    height_mm: float | None = None
    radiator_mm: int | None = None
    rated_w: float | None = None
    memory_room_mm: float | None = None
    reach_mm: float | None = None
