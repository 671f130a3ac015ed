"""What each piece draws at full load, in watts: its maker's figure, else an allowance that is named
in the steps."""

from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    AnyPart,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Storage,
    System,
    board_class,
)
from rigplanner.evidence import Step
from rigplanner.machine.model import Piece
from rigplanner.rig.document import Rig

ALLOWANCES_W = {
    "memory-module": 4.0,
    "board": 30.0,
    "board-small": 18.0,
    "board-workstation": 50.0,
    "board-server": 60.0,
    "cooler-air": 5.0,
    "cooler-liquid": 15.0,
    "case-fans": 8.0,
    "network-card": 20.0,
    "drive-m2": 8.0,
    "drive-2.5": 4.0,
    "drive-3.5": 9.0,
    "drive-other": 20.0,
}
"""Assumptions where no maker's figure is in the catalog: a DDR4 or DDR5 module under load, a
board's chipset, converters, network and USB by class, fans and pumps, cards and drives at work.
They are small beside CPU and GPU; the steps name each one used."""

WHOLE_MACHINES = ("complete", "server", "embedded")
"""Roles of systems whose stated maximum covers whatever their owner puts in; a baseboard's covers
its own modules only."""


Drawn = tuple[list[tuple[str, float | None]], list[Step]]
"""The watts of every piece that draws some, None where unknown, and the allowances used."""


def loads_of(rig: Rig, pieces: tuple[Piece, ...]) -> Drawn:
    """Return what pieces draw."""
    caps = {item.uid: item.power_cap_w for item in rig.items}
    systems = [piece for piece in pieces if isinstance(piece.part, System)]
    hosts = [
        piece
        for piece in systems
        if isinstance(piece.part, System) and piece.part.max_power_w is not None
    ]
    steps: list[Step] = []
    loads: list[tuple[str, float | None]] = []
    for piece in pieces:
        if isinstance(piece.part, System):
            continue
        cap = caps.get(piece.uid) if "/" not in piece.name else _held_to(piece, systems)
        watts = _watts(piece.part, cap, steps)
        if watts is None and any(_covers(host, piece, len(systems)) for host in hosts):
            continue
        if watts != 0.0:
            loads.append((piece.name, watts))
    own = [(piece.name, _rest(piece, loads, pieces, len(systems), steps)) for piece in systems]
    return [load for load in own if load[1] != 0.0] + loads, steps


def _held_to(piece: Piece, systems: list[Piece]) -> float | None:
    """Return what a system's maker lets a card draw that he built in, where that is less than the
    card's own limit."""
    hosts = [host for host in systems if piece.name.startswith(f"{host.name}/")]
    if not hosts or not isinstance(piece.part, GPU):
        return None
    host = max(hosts, key=lambda each: len(each.name)).part
    most = host.gpu_max_w if isinstance(host, System) else None
    return most if most is not None and most < (piece.part.tdp_w or 0.0) else None


def load_w(part: AnyPart) -> float | None:
    """Return what one piece of a part draws at its limit, None where that is not known."""
    return _watts(part, None, [])


def _watts(part: AnyPart, cap_w: float | None, steps: list[Step]) -> float | None:
    if isinstance(part, GPU):
        return cap_w if cap_w is not None else part.tdp_w
    if isinstance(part, CPU):
        return part.max_power_w if part.max_power_w is not None else part.tdp_w
    if isinstance(part, MemoryKit):
        return _allowance(steps, "memory-module") * part.modules
    if isinstance(part, Motherboard):
        return _allowance(steps, part.board_class)
    if isinstance(part, Cooler):
        return 0.0 if part.type == "passive" else _allowance(steps, f"cooler-{part.type}")
    if isinstance(part, Chassis):
        return _allowance(steps, "case-fans")
    if isinstance(part, Storage):
        known = part.form_factor if part.form_factor in ("m2", "2.5", "3.5") else "other"
        return part.power_w if part.power_w is not None else _allowance(steps, f"drive-{known}")
    if isinstance(part, NetworkCard):
        return part.power_w if part.power_w is not None else _allowance(steps, "network-card")
    return 0.0


def _allowance(steps: list[Step], name: str) -> float:
    watts = ALLOWANCES_W[name]
    if all(step.name != name for step in steps):
        steps.append(Step(name, "allowance", {}, watts, "W", "assumption"))
    return watts


def _covers(host: Piece, piece: Piece, systems: int) -> bool:
    """Say whether the maker's maximum of a system includes a piece: built-in ones, and in a rig of
    one whole machine all."""
    if piece.name.startswith(host.name + "/"):
        return True
    return isinstance(host.part, System) and host.part.role in WHOLE_MACHINES and systems == 1


def _rest(
    piece: Piece,
    loads: list[tuple[str, float | None]],
    pieces: tuple[Piece, ...],
    systems: int,
    steps: list[Step],
) -> float | None:
    """Return what a system draws beyond the pieces listed: the rest of its maker's maximum, else an
    allowance for its board."""
    system = piece.part
    assert isinstance(system, System)
    if system.max_power_w is not None and system.role != "barebone":
        by_name = {other.name: other for other in pieces}
        inside = sum(
            watts or 0.0 for name, watts in loads if _covers(piece, by_name[name], systems)
        )
        return max(0.0, system.max_power_w - inside)
    inner = any(
        isinstance(other.part, System | Motherboard) and other.name.startswith(piece.name + "/")
        for other in pieces
    )
    if inner:
        return 0.0
    return _allowance(steps, "board-small" if system.role == "embedded" else _system_board(system))


def _system_board(system: System) -> str:
    return (
        "board-small"
        if any(slot.kind == "mxm" for slot in system.layout.slots)
        else board_class(system.layout)
    )
