"""The kinds of part: frozen structs, units in the field names; each kind stands beside its like,
and all are had from here.

Unknown is None, never 0. A precision that the silicon lacks is None too, and stands in
`GPU.unsupported`. Lengths are millimetres, power watts, `_gib` is 2**30 bytes, `_gb` and `_gbs` are
1e9 bytes (per second, one way)."""

from rigplanner.catalog.schema.boards import (
    DrivePort,
    Fabric,
    LaneMode,
    Layout,
    Link,
    Motherboard,
    Slot,
    Switch,
    When,
    board_class,
)
from rigplanner.catalog.schema.cases import COLUMN_MM, Chassis, Enclosure, RadiatorPlace
from rigplanner.catalog.schema.gpus import CHIP_MAKERS, GPU, NvlinkPort, Rates
from rigplanner.catalog.schema.links import Bridge, NetworkCard, Riser
from rigplanner.catalog.schema.part import Condition, Doubt, Part, Price, Status, kind_of, year_of
from rigplanner.catalog.schema.processors import CPU, Cooler, MemoryChannels
from rigplanner.catalog.schema.stores import MemoryKit, Storage
from rigplanner.catalog.schema.supplies import Plug, PowerSupply, Rating, Supply
from rigplanner.catalog.schema.systems import Accessory, Inclusion, System

__all__ = [
    "CHIP_MAKERS",
    "COLUMN_MM",
    "CPU",
    "GPU",
    "KINDS",
    "Accessory",
    "AnyPart",
    "Bridge",
    "Chassis",
    "Condition",
    "Cooler",
    "Doubt",
    "DrivePort",
    "Enclosure",
    "Fabric",
    "Inclusion",
    "LaneMode",
    "Layout",
    "Link",
    "MemoryChannels",
    "MemoryKit",
    "Motherboard",
    "NetworkCard",
    "NvlinkPort",
    "Part",
    "Plug",
    "PowerSupply",
    "Price",
    "RadiatorPlace",
    "Rates",
    "Rating",
    "Riser",
    "Slot",
    "Status",
    "Storage",
    "Supply",
    "Switch",
    "System",
    "When",
    "board_class",
    "kind_of",
    "year_of",
]

AnyPart = (
    CPU
    | GPU
    | Motherboard
    | MemoryKit
    | Storage
    | PowerSupply
    | Chassis
    | Cooler
    | Bridge
    | Riser
    | NetworkCard
    | System
    | Accessory
)


KINDS: dict[str, type[Part]] = {
    "gpu": GPU,
    "cpu": CPU,
    "motherboard": Motherboard,
    "system": System,
    "memory": MemoryKit,
    "storage": Storage,
    "psu": PowerSupply,
    "chassis": Chassis,
    "cooler": Cooler,
    "bridge": Bridge,
    "riser": Riser,
    "nic": NetworkCard,
    "accessory": Accessory,
}
"""Kind word to struct, in the order in which a person builds."""
