"""Mains: what a supply gives at the site's voltage, and what the circuit carries."""

import math
from collections.abc import Iterator

from rigplanner.catalog.schema.parts import PowerSupply, Supply, System
from rigplanner.machine.power.power import CONTINUOUS
from rigplanner.rig.countries import CIRCUITS, Circuit, circuits_of
from rigplanner.rig.document import Site
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.bounds import Bounds, between
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix, Named, Severity
from rigplanner.rules.core.fixes import fix
from rigplanner.rules.core.registry import fact_names, rule
from rigplanner.rules.hardware.power import HEADROOM, Load, cap_fix, drawn, rating_at, whole_w


class Fed(Named, frozen=True):
    """A power supply and the mains it is fed from."""

    supply: PowerSupply | System
    site: Site


def fed(context: Context) -> Iterator[Fed]:
    """One case per supply model."""
    seen: set[str] = set()
    for name, part, _ in context.supplies:
        if part.id not in seen:
            seen.add(part.id)
            yield Fed(name, part, context.site)


WEAKEST: Circuit = (100.0, 15.0)
"""The least that a wall outlet of the countries known here gives: Japan's. Where an owner does not
say where the rig stands, it counts; where he names the country alone, its usual outlet."""


HIGHEST_V = 240.0
"""The highest voltage that supplies for a single phase are made for."""


def weakest_outlet(site: Site) -> Circuit:
    """Return volts and amperes that the site has at least: what is said, else the usual outlet of
    its country, else the weakest of all."""
    volts, amperes = (circuits_of(site.country) or (WEAKEST,))[0]
    return site.volts or volts, site.breaker_a or amperes


def _volts_bounds(context: Context, case: Fed, missing: tuple[str, ...]) -> Bounds | None:
    """Where the load fits what the supply gives at the weakest outlet, its volts decide nothing."""
    given, load = case.supply.supply, context.machine.power.sustained_w
    if given is None or not given.ratings or load is None:
        return None
    weakest = between(case, {"site.volts": (weakest_outlet(case.site)[0], HIGHEST_V)})
    enough = whole_w(context, weakest.worst.site.volts) * HEADROOM >= load
    return Bounds(weakest.best, weakest.best) if enough else weakest


@rule(
    "PWR011",
    "Supply gives less at this mains voltage",
    "warning",
    may_err=True,
    over=fed,
    needs=("supply.supply.ratings", "site.volts"),
    bound=_volts_bounds,
    reason="Large supplies give full output only at 200 to 240 V, and some do not run below.",
    source="Supply makers' input tables",
)
def derated(context: Context, case: Fed) -> Iterator[Finding]:
    """Compare the rating at the site's voltage with the best, in W; an error where the supply does
    not run."""
    given = case.supply.supply
    if given is None or case.site.volts is None:
        return
    best = max(rating.watts for rating in given.ratings)
    actual = rating_at(given, case.site.volts)
    if actual is not None and actual >= best:
        return
    lowest = min(rating.min_volts for rating in given.ratings if rating.watts == best)
    yield derated.finding(
        case,
        "error" if actual is None else "warning",
        needed=best,
        actual=actual,
        unit="W",
        fixes=_higher_voltage(context, lowest),
        volts=case.site.volts,
    )


def _wired(site: Site) -> tuple[Circuit, ...]:
    """Return the circuits that are wired at a site, smallest first: those of its country, else of
    countries with its voltage."""
    known = circuits_of(site.country)
    if known is not None:
        return known
    return next(
        (
            circuits
            for circuits in map(CIRCUITS.__getitem__, ("US", "DE"))
            if site.volts in {v for v, _ in circuits}
        ),
        (),
    )


def _higher_voltage(context: Context, least: float) -> tuple[Fix, ...]:
    """Offer the lowest voltage that is wired at the site and is so high; none where there is
    none."""
    offered = [volts for volts, _ in _wired(context.site) if volts >= least]
    return tuple(
        fix(context, "higher-voltage", Edit("change_site", {"volts": v}), volts=v)
        for v in offered[:1]
    )


@rule(
    "PWR012",
    "Wall circuit is overloaded",
    "error",
    over=drawn,
    reason="A breaker trips above its rating, and may carry only 80 % of it for hours.",
    source="US National Electrical Code 210.20 (continuous loads); breaker makers' trip curves",
)
def circuit(context: Context, case: Load) -> Iterator[Finding]:
    """Above the breaker an error, above its continuous share a warning, in W at the wall. What the
    weakest outlet carries for hours needs no question."""
    power = case.power
    volts, amperes = weakest_outlet(case.site)
    if power.wall_w is not None and power.wall_w <= volts * amperes * CONTINUOUS:
        return
    if power.wall_w is None or power.circuit_w is None or power.circuit_peak_w is None:
        site = fact_names(case.site, "volts", "breaker_a")
        missing = dict.fromkeys((*site, *(power.unknown if power.wall_w is None else ())))
        yield circuit.unknown(case, *missing, fixes=usual_circuit(context) if site else ())
        return
    if power.wall_w <= power.circuit_w:
        return
    limit = power.circuit_peak_w if power.wall_w > power.circuit_peak_w else power.circuit_w
    several = min(case.site.circuits, _units(context)) > 1
    trips = power.wall_w > power.circuit_peak_w
    yield circuit.finding(
        case,
        "error" if trips else "warning",
        needed=round(power.wall_w),
        actual=round(limit),
        unit="W",
        fixes=_relief(context, case, power.wall_w, power.circuit_w) if context.advise else (),
        continuous_w=round(power.circuit_w),
        breaker_w=round(power.circuit_peak_w),
        volts=case.site.volts,
        amperes=case.site.breaker_a,
        circuits=case.site.circuits,
        variant=("several" if trips else "several for hours") if several else "",
    )


HIGH = 200.0
"""Volts from which a site counts as fed with a high voltage."""
INLET_AMPERES = {"C14": (10.0, 15.0), "C16": (10.0, 15.0), "C20": (16.0, 20.0), "C22": (16.0, 20.0)}
"""What cord and inlet of a form carry in A: by IEC 60320, and with the thickest cords by UL."""


class Corded(Named, frozen=True):
    """A supply model and what the rig draws through each cord, in A, where all supplies share
    alike."""

    given: Supply
    supply: PowerSupply | System
    amperes: float


def corded(context: Context) -> Iterator[Corded]:
    """Supplies at sites of known voltage that draw more than the smallest inlet carries."""
    wall_w, volts, units = context.machine.power.wall_w, context.site.volts, _units(context)
    if wall_w is None or not volts or not units:
        return
    amperes = wall_w / units / volts
    if amperes > INLET_AMPERES["C14"][0]:
        for case in fed(context):
            if case.supply.supply is not None:
                yield Corded(case.name, case.supply.supply, case.supply, amperes)


@rule(
    "PWR020",
    "Supply draws more than its cord carries",
    "warning",
    may_err=True,
    over=corded,
    needs=("supply.supply.inlet",),
    reason=(
        "Cords of the usual form C13 are made for 10 A, of form C19 for 16 A; thinner or longer"
        " ones get hot. On 100 to 127 V a large rig comes there before its supply does."
    ),
    source=(
        "IEC 60320; EVGA FAQ 59690 (C13 below 1500 W, C19 above); UL ratings of cords of 14 and"
        " 12 AWG"
    ),
)
def cord(context: Context, case: Corded) -> Iterator[Finding]:
    """Compare the current through a cord with what its form carries, in A; an error above the
    thickest cords."""
    if case.given.inlet not in INLET_AMPERES:
        return
    usual, most = INLET_AMPERES[case.given.inlet]
    if case.amperes > usual:
        volts = context.site.volts or 0.0
        fixes = _higher_voltage(context, case.amperes * volts / usual) if volts < HIGH else ()
        severity: Severity = "error" if case.amperes > most else "warning"
        limit = most if severity == "error" else usual
        yield cord.finding(
            case,
            severity,
            needed=round(case.amperes, 1),
            actual=limit,
            unit="A",
            fixes=fixes,
            inlet=case.given.inlet,
            thick=most,
        )


def usual_circuit(context: Context) -> tuple[Fix, ...]:
    """Offer the usual outlet of the site's country."""
    circuits = circuits_of(context.site.country)
    if circuits is None:
        return ()
    usual = circuits[0]
    edit = Edit("change_site", {"volts": usual[0], "breaker_a": usual[1]})
    return (
        fix(
            context,
            "usual-circuit",
            edit,
            volts=usual[0],
            amperes=usual[1],
            country=context.site.country,
        ),
    )


def _units(context: Context) -> int:
    """Supply units of the rig, each of which one circuit feeds."""
    return sum(max(1, supply.units) for _, _, supply in context.supplies)


def _relief(context: Context, case: Load, wall_w: float, circuit_w: float) -> tuple[Fix, ...]:
    """Offer to cap the cards, to feed the rig from more circuits, or from a stronger one."""
    excess_w = (wall_w - circuit_w) * (case.power.efficiency or 1.0)
    return (
        *cap_fix(context, excess_w),
        *_more_circuits(context, case, wall_w),
        *_other_circuit(context, case, wall_w),
    )


def _more_circuits(context: Context, case: Load, wall_w: float) -> tuple[Fix, ...]:
    """Offer as many circuits like the site's as carry the load for hours, where there are supplies
    to share them evenly."""
    site = case.site
    needed = math.ceil(
        wall_w / ((site.volts or 0) * (site.breaker_a or 0) * CONTINUOUS or math.inf)
    )
    if not site.circuits < needed <= _units(context):
        return ()
    return (
        fix(context, "more-circuits", Edit("change_site", {"circuits": needed}), circuits=needed),
    )


def _other_circuit(context: Context, case: Load, wall_w: float) -> tuple[Fix, ...]:
    """Offer the smallest circuit wired at the site that carries the load for hours."""
    for volts, amperes in _wired(case.site):
        if volts >= (case.site.volts or 0) and volts * amperes * CONTINUOUS >= wall_w:
            edit = Edit("change_site", {"volts": volts, "breaker_a": amperes})
            return (fix(context, "other-circuit", edit, volts=volts, amperes=amperes),)
    return ()
