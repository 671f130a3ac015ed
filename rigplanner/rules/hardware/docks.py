"""Docks, enclosures and carriers: whether a supply feeds their card or module and gives enough, and
what cools a module."""

import math
from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, PowerSupply, Riser
from rigplanner.machine.placement.enclosures import fed_beside, holders_supplies
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import cheapest_of, fix, item_of, swap
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.power import (
    HEADROOM,
    best_w,
    cap_power,
    has_plugs,
    limits,
    rating_at,
)


class Held(Struct, frozen=True):
    """A card in an enclosure or on a dock with a supply of its own; `watts` is what the card may
    draw, `given_w` what it gets."""

    name: str
    card: GPU
    holder_name: str
    holder: Riser
    supply_name: str | None
    supply: PowerSupply | None
    watts: float | None
    given_w: float | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.holder_name)


def held(context: Context) -> Iterator[Held]:
    """Cards that draw from a supply other than the rig's."""
    pieces = context.pieces
    supplies = holders_supplies(context.machine.pieces)
    for name, holder in fed_beside(context.rig, context.machine.pieces).items():
        card, found = pieces[name].part, item_of(context, name)
        assert isinstance(card, GPU) and isinstance(holder.part, Riser)
        piece = supplies.get(holder.name)
        supply = piece.part if piece is not None and isinstance(piece.part, PowerSupply) else None
        cap = found[0].power_cap_w if found else None
        given = (
            rating_at(supply.supply, context.site.volts or 230.0) if supply else holder.part.card_w
        )
        yield Held(
            name,
            card,
            holder.name,
            holder.part,
            piece.name if piece else None,
            supply,
            cap if cap is not None else card.tdp_w,
            given,
        )


def lacking(context: Context) -> Iterator[Held]:
    """Those whose dock or enclosure comes without a supply."""
    return (case for case in context.cases(held) if case.holder.card_supply == "separate")


def given(context: Context) -> Iterator[Held]:
    """Those whose supply came with the dock or enclosure, or is in the rig."""
    return (
        case
        for case in context.cases(held)
        if case.supply is not None or case.holder.card_supply != "separate"
    )


def _feeds(other: PowerSupply, case: Held, context: Context) -> bool:
    """Say whether a supply feeds a card alone, with headroom and its plugs."""
    plugs: dict[str, int] = {}
    for plug in case.card.connectors or ():
        plugs[plug.type] = plugs.get(plug.type, 0) + plug.count
    rating = rating_at(other.supply, context.site.volts or 230.0) or 0.0
    return (
        other.form_factor == "ATX"
        and rating * HEADROOM >= (case.watts or math.inf)
        and has_plugs(other.supply, plugs)
    )


@rule(
    "PWR018",
    "Dock has no supply for its card",
    "warning",
    over=lacking,
    needs=("card.tdp_w",),
    reason=(
        "Open docks and many enclosures come without a power supply; the card draws from one that"
        " is fixed on them, not from the rig's."
    ),
    source="Makers' descriptions of the dock or enclosure",
)
def dock_supply(context: Context, case: Held) -> Iterator[Finding]:
    """Warn where the rig has no further supply for it; the fix adds one."""
    if case.supply is None:
        yield dock_supply.finding(case, needed=case.watts, unit="W", fixes=_another(context, case))


def _another(context: Context, case: Held) -> tuple[Fix, ...]:
    if not context.advise or not context.own_supplies:
        return ()
    unfed = [other for other in context.cases(lacking) if other.supply is None]
    # The strongest supplies are the rig's own (`holders_supplies`): a stronger one for the dock
    # would change places with it.
    most = min(best_w(psu.supply) for _, psu in context.own_supplies)
    part = cheapest_of(
        context,
        "psu",
        lambda other: (
            best_w(other.supply) <= most and all(_feeds(other, one, context) for one in unfed)
        ),
    )
    wanted = (
        {"part": part.id, "stem": "dock-psu", "quantity": len(unfed)} if part is not None else {}
    )
    edit = Edit("add_part", wanted) if part is not None else None
    return (
        (fix(context, "add-supply", edit, part=part.id, piece=case.holder_name),)
        if part is not None and edit
        else ()
    )


@rule(
    "PWR019",
    "Supply of the dock is too small for its card",
    "error",
    over=given,
    needs=("watts", "given_w"),
    reason=(
        "The card draws from the supply of its enclosure or dock, of which the maker sets a share"
        " aside for it."
    ),
    source="Makers' descriptions of the dock or enclosure; card power limits",
)
def dock_watts(context: Context, case: Held) -> Iterator[Finding]:
    """Compare what the card may draw with what it gets, in W."""
    if (case.watts or 0.0) <= (case.given_w or 0.0):
        return
    fixes: tuple[Fix, ...] = ()
    found, limit, lowest = (
        item_of(context, case.name),
        math.floor(case.given_w or 0.0),
        limits(case.card)[0],
    )
    if found is not None and lowest is not None and lowest <= limit:
        edit = Edit("set_power_cap", {"uid": found[0].uid, "watts": float(limit)})
        fixes = (cap_power(context, case.card, float(limit), edit),) if context.advise else ()
    if case.supply_name is not None:
        fixes += swap(
            context,
            "larger-supply",
            case.supply_name,
            lambda other: _feeds(other, case, context),
            watts=case.watts,
        )
    yield dock_watts.finding(case, needed=case.watts, actual=case.given_w, unit="W", fixes=fixes)


WRITE_UP = "github.com/l4rz/running-nvidia-sxm-gpus-in-consumer-pcs"
FED_WITH_48_V = ("sxm3", "sxm4", "sxm5", "sxm6", "oam")
"""Modules from SXM3 on take 48 V; SXM2 takes the 12 V of an ATX supply."""


class Carried(Named, frozen=True):
    """A module on a carrier, by the module's name."""

    card: GPU
    carrier: Riser


def carried(context: Context) -> Iterator[Carried]:
    """Modules that the owner put on carriers."""
    carriers = {riser.output: riser for _, riser in context.risers if riser.output != "pcie"}
    for card in context.own_cards:
        if card.card.form_factor in carriers and card.slot is not None:
            yield Carried(card.name, card.card, carriers[card.card.form_factor])


@rule(
    "PWR022",
    "Module wants 48 V, which no supply of the rig gives",
    "warning",
    over=carried,
    reason=(
        "Modules from SXM3 on take 48 V, which an ATX supply has not: a carrier needs a 48 V supply"
        " beside it or a converter from 12 V of some 500 W."
    ),
    source=WRITE_UP,
)
def forty_eight_volts(context: Context, case: Carried) -> Iterator[Finding]:
    """Look for a supply or converter of 48 V (accessory type "supply-48v")."""
    there = any(accessory.type == "supply-48v" for _, accessory in context.accessories)
    if case.card.form_factor in FED_WITH_48_V and not there:
        yield forty_eight_volts.finding(case, needed=48.0, actual=12.0, unit="V")


@rule(
    "CLG008",
    "Module on a carrier has no fan of its own",
    "warning",
    over=carried,
    reason=(
        "A module of 300 to 700 W brings a heat sink at most; its server blew air through it. On"
        " a carrier it needs a heat sink with a strong fan or a water block, which some carriers"
        " have."
    ),
    source=WRITE_UP,
)
def no_fan(context: Context, case: Carried) -> Iterator[Finding]:
    """Silent in the air of a server, and with a fan for the card in the rig (accessory type
    "gpu-fan")."""
    case_space = context.enclosure[1].enclosure if context.enclosure else None
    in_server = case_space is not None and case_space.airflow == "server"
    ducted = any(accessory.type == "gpu-fan" for _, accessory in context.accessories)
    if case.card.cooling != "liquid" and not in_server and not ducted:
        yield no_fan.finding(case, needed=case.card.tdp_w, unit="W")
