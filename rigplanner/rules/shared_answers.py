"""Which candidates share the answer of a rule: those that agree in all that it reads of them."""

from collections.abc import Hashable, Sequence

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import (
    GPU,
    AnyPart,
    Bridge,
    Chassis,
    MemoryKit,
    NetworkCard,
    Riser,
    Storage,
)
from rigplanner.machine.builder import in_matrix
from rigplanner.rules.core.finding import Finding
from rigplanner.rules.topics import TOPIC_NAMES

_WATTS = ("power", "mains", "plugs", "backup")
_MEASURED = (*_WATTS, "space", "clearance", "close_limits")
"""Topics that measure what a case, a cooler or a supply has room or plugs for."""
_ASKED = ("known_issues", "completeness")
"""Topics whose rules may look at anything of any part."""
READS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "accessory": dict.fromkeys((*_WATTS, "close_limits", "docks", "cooling")),
    "chassis": dict.fromkeys((*_MEASURED, "slots", "cooling", "drives", "docks")),
    "cooler": {
        **dict.fromkeys(_WATTS, ("type",)),
        **dict.fromkeys(("space", "clearance", "close_limits", "cooling", "drives", "processor")),
    },
    "memory": {
        **dict.fromkeys((*_WATTS, "close_limits"), ("modules",)),
        **dict.fromkeys(("vram", "data"), ("modules", "module_gib")),
        **dict.fromkeys(
            ("memory", "memory_rate", "feeding"),
            ("type", "module", "modules", "module_gib", "speed_mts"),
        ),
        "clearance": ("height_mm",),
    },
    "nic": {
        **dict.fromkeys((*_WATTS, "close_limits"), ("power_w",)),
        **dict.fromkeys(("network", "cluster", "slots", "pcie", "cpu_lanes", "host_ports")),
        **dict.fromkeys(("docks", "firmware", "feeding", "data", "vram")),
    },
    "psu": dict.fromkeys((*_MEASURED, "cooling", "drives", "docks")),
    "storage": {
        **dict.fromkeys((*_WATTS, "close_limits"), ("power_w",)),
        "drives": ("m2_length_mm", "read_gbs"),
        "feeding": ("read_gbs", "random_read_kiops", "rotation_rpm"),
        "vram": ("capacity_gb",),
        "data": None,
    },
}
"""What the rules of each topic read of a candidate, by kinds that change no GPU, besides what
`stand_of` says of it: fields, or None where each candidate is asked by itself. Topics that are not
named look at none of it. Candidates that agree share the answer."""
PLACEABLE = (GPU, NetworkCard, Storage, Riser, Bridge)
"""What is put in its place by turn."""
FEEDING = ("memory", "nic", "storage")
"""Kinds of `READS` that the speed of jobs depends on."""


def read_of(kind: str, topic: str) -> tuple[str, ...] | None:
    """Return what the rules of a topic read of candidates of a kind; None where each is asked by
    itself, as by rules of topics that are not shipped."""
    if kind not in READS or topic in _ASKED or topic not in TOPIC_NAMES:
        return None
    return READS[kind].get(topic, ())


def stand_of(part: AnyPart, others: Sequence[str]) -> Hashable:
    """Return all of a candidate that decides the places and links of a machine: of cards and drives
    their own link, what the matrix shows of them and their turn among the other placeable parts of
    the rig, which goes by ids; of a case the columns for cards, of a memory kit its modules."""
    if isinstance(part, Chassis):
        return part.enclosure.slot_columns
    if isinstance(part, MemoryKit):
        return part.modules
    turn = tuple([(other < part.id, other == part.id) for other in others])
    if isinstance(part, NetworkCard):
        shown = (part.ports, part.port_gbps) if in_matrix(part) else None
        return part.form_factor, part.edge_gen, part.edge_width, shown, turn
    if isinstance(part, Storage):
        return part.form_factor, part.interface, part.gen, part.width, turn
    return None


def alike(stand: Hashable, part: AnyPart, fields: tuple[str, ...]) -> Hashable:
    """Return what candidates must agree in to share the answers of the rules that read these
    fields."""
    return (stand, fields, *[getattr(part, field) for field in fields])


def about(finding: Finding, first: str, part: str) -> Finding:
    """Return a finding about the first candidate of several alike as one about another: what it
    misses is a fact of that one."""
    if first == part or not finding.missing:
        return finding
    lacks = [
        fact.replace(first, part, 1) if fact.startswith(f"{first}:") else fact
        for fact in finding.missing
    ]
    return replace(finding, missing=tuple(lacks))
