"""Backup power: what a UPS gives, and how long it holds the rig."""

import math
from collections.abc import Iterator

from rigplanner.catalog.schema.parts import Accessory
from rigplanner.machine.model import PowerTree
from rigplanner.rules.core.bounds import Bounds, Range, between
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import swap
from rigplanner.rules.core.registry import rule

POWER_FACTOR = 0.95
"""Watts over volt-amperes of a supply with active power-factor correction at half load and more (80
PLUS asks for 0.9 at least; its test reports show 0.95 to 0.99)."""

SHUT_DOWN_MIN = 5.0
"""Minutes to write a checkpoint and shut down in order: a rule of thumb."""


class Backed(Named, frozen=True):
    """A UPS with its share of the rig's wall power: a rig of one supply hangs on one UPS, of
    several on as many."""

    ups: Accessory
    power: PowerTree
    share: int


def backed(context: Context) -> Iterator[Backed]:
    """Every UPS model of a rig that has a power supply."""
    found = [(name, part) for name, part in context.accessories if part.type == "ups"]
    supplies = sum(max(1, supply.units) for _, _, supply in context.supplies)
    seen: set[str] = set()
    for name, ups in found:
        if supplies and ups.id not in seen:
            seen.add(ups.id)
            yield Backed(name, ups, context.machine.power, min(len(found), supplies))


def load_w(case: Backed) -> float | None:
    """Return the watts at full load that one UPS carries: what the rig draws from the wall, without
    monitors and other load."""
    power = case.power
    if power.sustained_w is None or not power.efficiency:
        return None
    return power.sustained_w / power.efficiency / case.share


def _missing(case: Backed) -> tuple[str, ...]:
    return case.power.unknown or ("power:sustained_w",)


def _larger(context: Context, case: Backed, watts: float) -> tuple[Fix, ...]:
    def suits(other: Accessory) -> bool:
        minutes = runtime_min(other, watts)
        sine = other.waveform in ("sine", None if case.ups.waveform is None else "sine")
        fits = (
            sine
            and (other.output_w or 0.0) >= watts
            and (other.output_va or 0.0) >= watts / POWER_FACTOR
        )
        return other.type == "ups" and fits and (minutes is None or minutes >= SHUT_DOWN_MIN)

    return swap(context, "larger-ups", case.name, suits, lambda other: other.output_w or 0.0)


@rule(
    "PWR016",
    "UPS gives less than the rig draws",
    "error",
    over=backed,
    needs=("ups.output_w", "ups.output_va"),
    reason=(
        "Above its watts or its volt-amperes a UPS switches off at once when the mains fail, and"
        " the rig with it."
    ),
    source="UPS makers' ratings; 80 PLUS power-factor demands",
)
def ups_load(context: Context, case: Backed) -> Iterator[Finding]:
    """Compare the wall power at full load with the watts of the UPS, and its volt-amperes at a
    power factor of 0.95."""
    watts = load_w(case)
    if watts is None:
        yield ups_load.unknown(case, *_missing(case))
        return
    given_w, given_va = case.ups.output_w or 0.0, case.ups.output_va or 0.0
    fixes = (
        _larger(context, case, watts) if watts > given_w or watts / POWER_FACTOR > given_va else ()
    )
    if watts > given_w:
        yield ups_load.finding(case, needed=math.ceil(watts), actual=given_w, unit="W", fixes=fixes)
    elif watts / POWER_FACTOR > given_va:
        yield ups_load.finding(
            case, needed=math.ceil(watts / POWER_FACTOR), actual=given_va, unit="VA", fixes=fixes
        )


def runtime_min(ups: Accessory, watts: float) -> float | None:
    """Return the minutes that a UPS holds a load, on the curve t = a x load ** -k through its
    maker's times at half and at full load (Peukert's law), between and beyond the two points alike.
    None where a figure is missing."""
    if (
        ups.output_w is None
        or ups.runtime_half_min is None
        or ups.runtime_full_min is None
        or watts <= 0
    ):
        return None
    steepness = math.log2(ups.runtime_half_min / ups.runtime_full_min)
    return float(ups.runtime_full_min * (watts / ups.output_w) ** -steepness)


HOLDS_MIN: dict[str, Range] = {
    "ups.runtime_half_min": (5.0, 30.0),
    "ups.runtime_full_min": (1.0, 15.0),
}
"""The least and most minutes that UPSs hold half and full load: tables of makers begin at some five
and one (our reading, unverified)."""


def runtime_bounds(context: Context, case: Backed, missing: tuple[str, ...]) -> Bounds | None:
    """A UPS whose maker tells no times holds its load as long as others do."""
    if not set(missing) <= set(HOLDS_MIN):
        return None
    return between(case, {path: HOLDS_MIN[path] for path in missing})


@rule(
    "PWR017",
    "UPS holds the rig too short to shut down",
    "warning",
    over=backed,
    needs=("ups.output_w", "ups.runtime_half_min", "ups.runtime_full_min"),
    bound=runtime_bounds,
    reason=(
        "A checkpoint and an orderly shutdown take some minutes; a UPS loaded to its limit gives"
        " two or three."
    ),
    source="UPS makers' runtime tables",
)
def ups_runtime(context: Context, case: Backed) -> Iterator[Finding]:
    """Compare the minutes at full load with five; a load beyond the UPS is another rule's
    matter."""
    watts = load_w(case)
    if watts is None:
        yield ups_runtime.unknown(case, *_missing(case))
        return
    minutes = round(runtime_min(case.ups, watts) or 0.0, 1)
    if watts <= (case.ups.output_w or 0.0) and minutes < SHUT_DOWN_MIN:
        fixes = _larger(context, case, watts)
        yield ups_runtime.finding(
            case, needed=SHUT_DOWN_MIN, actual=minutes, unit="min", fixes=fixes
        )


@rule(
    "PWR021",
    "UPS gives a stepped wave",
    "warning",
    over=backed,
    needs=("ups.waveform",),
    reason=(
        "On battery, cheap UPSs give a stepped approximation of a sine. Supplies with active"
        " power-factor correction, as all 80 PLUS ones have, may switch off at it or draw more than"
        " the UPS gives."
    ),
    source="localrig.pages.dev: UPS for a home AI server; UPS makers' notes on active PFC",
)
def ups_wave(context: Context, case: Backed) -> Iterator[Finding]:
    """Warn of any wave but a sine."""
    if case.ups.waveform != "sine":
        watts = load_w(case)
        fixes = _larger(context, case, watts) if watts is not None else ()
        yield ups_wave.finding(case, actual=case.ups.waveform, fixes=fixes)
