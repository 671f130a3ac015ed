"""The power tree: loads, peaks, plugs, supplies, wall and circuit, in watts."""

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    NetworkCard,
    PowerSupply,
    Storage,
    Supply,
    System,
)
from rigplanner.evidence import Step
from rigplanner.machine.model import Piece, PlugDemand, PowerTree
from rigplanner.machine.placement.enclosures import fed_beside, holders_supplies
from rigplanner.machine.power.loads import Drawn, loads_of
from rigplanner.machine.power.plugs import plug_demands
from rigplanner.rig.document import Rig, Site

CONTINUOUS = 0.8
"""Share of a breaker's rating that a load of three hours and more may take (US NEC 210.20; good
practice elsewhere)."""
HIGH_LINE_V = 180.0
EFFICIENCY = {
    "ruby": (0.945, 0.965),
    "titanium": (0.94, 0.96),
    "platinum": (0.92, 0.94),
    "gold": (0.90, 0.92),
    "silver": (0.88, 0.90),
    "bronze": (0.85, 0.88),
    "white": (0.80, 0.82),
    "80 plus": (0.80, 0.82),
}
"""Efficiency at half load by 80 PLUS label, at 115 V and at 230 V (certification limits of the 80
PLUS programme)."""
PLAIN_EFFICIENCY = 0.85
"""Efficiency where a supply names no label: an assumption."""

SOLD_WHOLE = ("complete", "server", "rack")
"""Roles of systems whose stated maximum is what their maker says that they draw at the plug."""

CPU_EXCURSION = 1.1
ATX3_EXCURSION = 2.0
"""What a supply of ATX 3.0 and later bears over its rating for 100 us (1.8 for 1 ms, 1.6 for 10 ms:
Intel's ATX 3 design guide); older revisions promise nothing."""


def power_tree(rig: Rig, pieces: tuple[Piece, ...]) -> PowerTree:
    """Return the power tree of a rig. GPUs and CPUs count at their limit, with caps; assumptions
    stand in `steps` by name."""
    return replace(
        with_peaks(load_tree(rig, pieces, loads_of(rig, pieces)), pieces),
        plugs=plugs_of(rig, pieces),
    )


def plugs_of(rig: Rig, pieces: tuple[Piece, ...]) -> tuple[PlugDemand, ...]:
    """Return the power connectors that pieces need, beside what their supplies offer."""
    outside = fed_beside(rig, pieces)
    return plug_demands(
        tuple(p for p in pieces if p.name not in outside),
        [supply for _, supply in supplies_of(pieces)],
    )


def load_tree(rig: Rig, pieces: tuple[Piece, ...], drawn: Drawn) -> PowerTree:
    """Return the power tree without its plugs and peaks, of what pieces draw. Cards that enclosures
    and docks feed count at the wall only."""
    every, steps = drawn[0], [*drawn[1]]
    outside = fed_beside(rig, pieces)
    loads = [(name, watts) for name, watts in every if name not in outside]
    beside = [watts for name, watts in every if name in outside]
    parts = {piece.name: piece.part for piece in pieces}
    supplies = supplies_of(pieces)
    unknown = [f"{parts[name].id}:{_field(parts[name])}" for name, watts in every if watts is None]
    unknown += [f"{part.id}:supply.ratings" for part, supply in supplies if not supply.ratings]
    known = [watts for _, watts in loads if watts is not None]
    sustained = sum(known) if loads and len(known) == len(loads) else None
    given = [rating_w(supply, rig.site) for _, supply in supplies]
    ratings = [watts for watts in given if watts is not None]
    efficiency = (
        _efficiency([supply for _, supply in supplies], rig.site, steps)
        if supplies
        else _at_the_plug(pieces)
    )
    wall = None
    if sustained is not None and efficiency is not None and None not in beside:
        wall = (
            sustained / efficiency
            + rig.site.other_load_w
            + _beside(pieces)
            + _enclosures(beside, steps)
        )
    site = rig.site
    breaker = (
        site.volts * site.breaker_a
        if site.volts is not None and site.breaker_a is not None
        else None
    )
    if breaker is not None:
        breaker *= max(1, min(site.circuits, sum(max(1, supply.units) for _, supply in supplies)))
    return PowerTree(
        loads=tuple(loads),
        sustained_w=sustained,
        transient_w=None,
        supply_w=sum(ratings) if given and len(ratings) == len(given) else None,
        supply_transient_w=_supply_transient(supplies, site),
        efficiency=efficiency,
        wall_w=wall,
        circuit_w=breaker * CONTINUOUS if breaker is not None else None,
        circuit_peak_w=breaker,
        unknown=tuple(dict.fromkeys(unknown)),
        steps=tuple(steps),
    )


def with_peaks(tree: PowerTree, pieces: tuple[Piece, ...]) -> PowerTree:
    """Return a power tree with the sum of all loads at their peaks: in step, as training on several
    GPUs makes them."""
    parts = {piece.name: piece.part for piece in pieces}
    steps: dict[str, Step] = {}
    total = 0.0
    for name, watts in tree.loads:
        if watts is None:
            return replace(tree, steps=(*tree.steps, *steps.values()))
        factor = _excursion(name, parts[name])
        if factor != 1.0:
            inputs: dict[str, float | str | None] = {"sustained": watts, "factor": factor}
            step = f"excursion-{parts[name].id}"
            steps.setdefault(step, Step(step, "sustained * factor", inputs, watts * factor, "W"))
        total += watts * factor
    return replace(
        tree, transient_w=total if tree.loads else None, steps=(*tree.steps, *steps.values())
    )


def _field(part: AnyPart) -> str:
    return (
        "max_power_w"
        if isinstance(part, System)
        else "power_w"
        if isinstance(part, NetworkCard | Storage)
        else "tdp_w"
    )


def supplies_of(pieces: tuple[Piece, ...]) -> list[tuple[AnyPart, Supply]]:
    """Return the supplies of a rig, loose ones and those of systems, without those that docks and
    enclosures take."""
    apart = {supply.name for supply in holders_supplies(pieces).values()}
    found: list[tuple[AnyPart, Supply]] = [
        (piece.part, piece.part.supply)
        for piece in pieces
        if isinstance(piece.part, PowerSupply) and piece.name not in apart
    ]
    inside = [piece.part for piece in pieces if isinstance(piece.part, System)]
    return found + [(system, system.supply) for system in inside if system.supply is not None]


def rating_w(supply: Supply, site: Site) -> float | None:
    """Return the continuous watts of a supply at the site's voltage (its best where the site names
    none), 0 where it does not run there, None where its ratings are unknown. A redundant set counts
    all units but one."""
    if not supply.ratings:
        return None
    volts = site.volts if site.volts is not None else float("inf")
    unit = max(
        (rating.watts for rating in supply.ratings if rating.min_volts <= volts), default=0.0
    )
    return unit * max(1, supply.units - 1 if supply.redundant else supply.units)


def _supply_transient(supplies: list[tuple[AnyPart, Supply]], site: Site) -> float | None:
    total = 0.0
    for _, supply in supplies:
        rating = rating_w(supply, site)
        if rating is None:
            return None
        total += rating * (ATX3_EXCURSION if (supply.standard or "").startswith("ATX 3") else 1.0)
    return total if supplies else None


def _efficiency(supplies: list[Supply], site: Site, steps: list[Step]) -> float:
    """Return the mean efficiency at half load: measured, else by label, else assumed."""
    found = [_efficiency_of(supply, site) for supply in supplies]
    if None in found:
        steps.append(Step("efficiency", "allowance", {}, PLAIN_EFFICIENCY, "", "assumption"))
    return sum(PLAIN_EFFICIENCY if share is None else share for share in found) / len(found)


def _at_the_plug(pieces: tuple[Piece, ...]) -> float | None:
    """Return 1 for machines sold whole whose supply is not described: the maximum that their maker
    states is drawn at the plug; None where one states none."""
    whole = [piece.part for piece in pieces if isinstance(piece.part, System)]
    stated = (each.role in SOLD_WHOLE and each.max_power_w is not None for each in whole)
    return 1.0 if whole and all(stated) else None


def _efficiency_of(supply: Supply, site: Site) -> float | None:
    if supply.efficiency_50 is not None:
        return supply.efficiency_50 / 100 if supply.efficiency_50 > 1 else supply.efficiency_50
    label = (supply.efficiency_label or "").lower()
    row = next((rates for name, rates in EFFICIENCY.items() if name in label), None)
    return row[(site.volts or 230.0) >= HIGH_LINE_V] if row is not None else None


def _excursion(name: str, part: AnyPart) -> float:
    """Return peak over sustained power; 1 for modules built into a system, whose maker sized its
    supply for them."""
    if "/" in name:
        return 1.0
    if isinstance(part, GPU):
        return part.peak_ratio
    return CPU_EXCURSION if isinstance(part, CPU) else 1.0


def _enclosures(watts: list[float | None], steps: list[Step]) -> float:
    """Return what enclosures draw from the wall for their cards."""
    if not watts:
        return 0.0
    cards = sum(each or 0.0 for each in watts)
    inputs: dict[str, float | str | None] = {"cards": cards, "efficiency": PLAIN_EFFICIENCY}
    steps.append(
        Step(
            "enclosures", "cards / efficiency", inputs, cards / PLAIN_EFFICIENCY, "W", "assumption"
        )
    )
    return cards / PLAIN_EFFICIENCY


def _beside(pieces: tuple[Piece, ...]) -> float:
    """Return the watts of accessories on the same circuit (monitors)."""
    return sum(piece.part.power_w or 0.0 for piece in pieces if isinstance(piece.part, Accessory))
