"""The power tree: loads of the pieces, peaks, plugs, supplies, wall and circuit. All in watts."""

from rigplanner.catalog.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    Cooler,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Storage,
    Supply,
    System,
)
from rigplanner.catalog.parts import PowerSupply as Psu
from rigplanner.evidence import Step
from rigplanner.machine.machine import Piece, PlugDemand, PowerTree
from rigplanner.machine.plugs import plug_demands
from rigplanner.rig.document import Rig, Site

MODULE_W = 4.0
"""A memory module under load: an assumption, between the 3 W of a DDR5 UDIMM and the 5 W and more of an RDIMM."""
BOARD_W = 40.0
"""A motherboard with chipset, network and USB: an assumption."""
SERVER_BOARD_W = 60.0
"""A board with two sockets or more and a management controller: an assumption."""
COOLING_W = 15.0
"""A CPU cooler's fans or pump with two case fans: an assumption."""
DRIVE_W = {"m2": 8.0, "u2": 20.0, "u3": 20.0, "e1s": 20.0, "e3s": 25.0, "aic": 20.0, "2.5": 4.0, "3.5": 9.0}
"""A drive at work where its maker's figure is missing, by form factor: an assumption."""
CONTINUOUS = 0.8
"""Share of a breaker's rating that a load of three hours and more may take (US NEC 210.20; good practice elsewhere)."""
EFFICIENCY = {
    "80 PLUS": (0.80, 0.80), "White": (0.80, 0.80), "Bronze": (0.85, 0.85), "Silver": (0.88, 0.88), "Gold": (0.90, 0.92),
    "Platinum": (0.92, 0.94), "Titanium": (0.94, 0.96), "Ruby": (0.945, 0.965),
}  # fmt: skip
"""Efficiency at half load by 80 PLUS label at 115 V and at 230 V (CLEAResult certification limits)."""
HIGH_LINE_V = 180.0
PLAIN_EFFICIENCY = 0.85
"""Efficiency where a supply names no label: an assumption."""
EXCURSION = {"Ampere": 1.6, "Ada": 1.4, "Blackwell": 1.6, "Turing": 1.5, "Volta": 1.4, "Pascal": 1.4}
"""Peak over sustained power of a GPU within a millisecond, by architecture."""
PLAIN_EXCURSION = 1.4
MODULE_EXCURSION = 1.0
"""Built-in modules: their system's maker sized supply and board for them."""
CPU_EXCURSION = 1.1


def power_tree(rig: Rig, pieces: tuple[Piece, ...]) -> PowerTree:
    """Return the power tree of a rig. GPUs and CPUs count at their limit, with caps; assumptions stand in `steps` by name."""
    caps = {item.uid: item.power_cap_w for item in rig.items}
    steps: list[Step] = []
    loads: list[tuple[str, float | None]] = []
    unknown: list[str] = []
    vouched = tuple(p.name + "/" for p in pieces if isinstance(p.part, System) and p.part.max_power_w is not None)
    for piece in pieces:
        load = _load(piece, caps.get(piece.uid), vouched, pieces, steps)
        if load == 0.0:
            continue
        loads.append((piece.name, load))
        if load is None:
            unknown.append(f"{piece.part.id}:{_field(piece.part)}")
    known = [watts for _, watts in loads if watts is not None]
    sustained = sum(known) if loads and len(known) == len(loads) else None
    supplies = supplies_of(pieces)
    unknown += [f"{part.id}:supply.ratings" for part, supply in supplies if not supply.ratings]
    given = [rating_w(supply, rig.site) for _, supply in supplies]
    supply_w = sum(w for w in given if w is not None) if given and None not in given else None
    efficiency = _efficiency([supply for _, supply in supplies], rig.site, steps)
    wall = None
    if sustained is not None and efficiency is not None:
        wall = sustained / efficiency + rig.site.other_load_w + _outside(pieces)
    peak_circuit = rig.site.volts * rig.site.breaker_a if rig.site.volts and rig.site.breaker_a else None
    return PowerTree(
        loads=tuple(loads),
        sustained_w=sustained,
        transient_w=_transient(pieces, loads, steps),
        supply_w=supply_w,
        supply_transient_w=_supply_transient(supplies, rig.site),
        efficiency=efficiency,
        wall_w=wall,
        circuit_w=peak_circuit * CONTINUOUS if peak_circuit is not None else None,
        circuit_peak_w=peak_circuit,
        plugs=_plugs(pieces, supplies),
        unknown=tuple(dict.fromkeys(unknown)),
        steps=tuple(steps),
    )


def _plugs(pieces: tuple[Piece, ...], supplies: list[tuple[AnyPart, Supply]]) -> tuple[PlugDemand, ...]:
    return plug_demands(pieces, [supply for _, supply in supplies])


def _field(part: AnyPart) -> str:
    return "max_power_w" if isinstance(part, System) else "power_w" if isinstance(part, NetworkCard | Storage) else "tdp_w"


def _load(piece: Piece, cap: float | None, vouched: tuple[str, ...], pieces: tuple[Piece, ...], steps: list[Step]) -> float | None:
    """Return the sustained watts of a piece, 0 when it draws none by itself, None when unknown. `vouched` are the beginnings of
    names in systems whose maker states the whole power."""
    part = piece.part
    if isinstance(part, System):
        return _system_load(piece, part, pieces, steps)
    if piece.name.startswith(vouched):
        return _own_watts(part, None) or 0.0
    if isinstance(part, GPU):
        return _own_watts(part, cap)
    if isinstance(part, MemoryKit):
        return _assumed(steps, "memory-module", MODULE_W) * part.modules
    if isinstance(part, Motherboard):
        return _assumed(steps, "board", SERVER_BOARD_W if len(part.layout.sockets) > 1 else BOARD_W)
    if isinstance(part, Cooler):
        return _assumed(steps, "cooling", COOLING_W)
    if isinstance(part, Storage) and part.power_w is None:
        return _assumed(steps, f"drive-{part.form_factor}", DRIVE_W[part.form_factor])
    return _own_watts(part, None)


def _own_watts(part: AnyPart, cap: float | None) -> float | None:
    if isinstance(part, GPU):
        return cap if cap is not None and (part.tdp_w is None or cap < part.tdp_w) else part.tdp_w
    if isinstance(part, CPU):
        return part.max_power_w if part.max_power_w is not None else part.tdp_w
    if isinstance(part, NetworkCard | Storage):
        return part.power_w
    return 0.0


def _system_load(piece: Piece, system: System, pieces: tuple[Piece, ...], steps: list[Step]) -> float | None:
    """Return what a system draws beyond its listed pieces: the rest of the maker's whole, else an allowance for its board."""
    inside = [other for other in pieces if other.name.startswith(piece.name + "/")]
    if system.max_power_w is not None and (inside or system.role in ("complete", "embedded", "server")):
        rest = system.max_power_w - sum(_own_watts(other.part, None) or 0.0 for other in inside)
        return max(0.0, rest)
    return _assumed(steps, "board", SERVER_BOARD_W if len(system.layout.sockets) > 1 else BOARD_W)


def _assumed(steps: list[Step], name: str, watts: float) -> float:
    if all(step.name != name for step in steps):
        steps.append(Step(name, "allowance", {}, watts, "W", "assumption"))
    return watts


def supplies_of(pieces: tuple[Piece, ...]) -> list[tuple[AnyPart, Supply]]:
    """Return the supplies of a rig, loose ones and those of systems."""
    found: list[tuple[AnyPart, Supply]] = [(piece.part, piece.part.supply) for piece in pieces if isinstance(piece.part, Psu)]
    inside = [piece.part for piece in pieces if isinstance(piece.part, System)]
    return found + [(system, system.supply) for system in inside if system.supply is not None]


def rating_w(supply: Supply, site: Site) -> float | None:
    """Return the continuous watts of a supply at the site's voltage; at the highest rated voltage where the site names none.
    A redundant set counts all units but one."""
    volts = site.volts if site.volts is not None else float("inf")
    if not supply.ratings:
        return None
    unit = max((rating.watts for rating in supply.ratings if rating.min_volts <= volts), default=0.0)
    return unit * max(1, supply.units - 1 if supply.redundant else supply.units)


def _supply_transient(supplies: list[tuple[AnyPart, Supply]], site: Site) -> float | None:
    """Return the peak that the supplies bear: twice the rating for 100 us by ATX 3.0 and later, no more than it before."""
    total = 0.0
    for _, supply in supplies:
        rating = rating_w(supply, site)
        if rating is None:
            return None
        total += rating * (2.0 if (supply.standard or "").startswith("ATX 3") else 1.0)
    return total if supplies else None


def _efficiency(supplies: list[Supply], site: Site, steps: list[Step]) -> float | None:
    if not supplies:
        return None
    found: list[float] = []
    for supply in supplies:
        label = next(
            (name for name in EFFICIENCY if name.lower() in (supply.efficiency_label or "").lower() and name != "80 PLUS"), None
        )
        if supply.efficiency_50 is not None:
            found.append(supply.efficiency_50 / 100 if supply.efficiency_50 > 1 else supply.efficiency_50)
        elif label is not None:
            found.append(EFFICIENCY[label][(site.volts or 230.0) >= HIGH_LINE_V])
        elif "80" in (supply.efficiency_label or ""):
            found.append(EFFICIENCY["80 PLUS"][0])
        else:
            found.append(PLAIN_EFFICIENCY)
            steps.append(Step("efficiency", "allowance", {}, PLAIN_EFFICIENCY, "", "assumption"))
    return sum(found) / len(found)


def _transient(pieces: tuple[Piece, ...], loads: list[tuple[str, float | None]], steps: list[Step]) -> float | None:
    parts = {piece.name: piece.part for piece in pieces}
    total = 0.0
    for name, watts in loads:
        if watts is None:
            return None
        total += watts * _excursion(name, parts[name])
    return total if loads else None


def _excursion(name: str, part: AnyPart) -> float:
    if isinstance(part, GPU):
        return MODULE_EXCURSION if "/" in name else EXCURSION.get((part.architecture or "").split(" ")[0], PLAIN_EXCURSION)
    return CPU_EXCURSION if isinstance(part, CPU) else 1.0


def _outside(pieces: tuple[Piece, ...]) -> float:
    """Return the watts of accessories on the same circuit (monitors)."""
    return sum(piece.part.power_w or 0.0 for piece in pieces if isinstance(piece.part, Accessory))
