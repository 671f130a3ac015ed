"""Power: supply, transients, input voltage, circuit, caps, several supplies."""

import math
from collections.abc import Iterable, Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import (
    GPU,
    Cooler,
    MemoryKit,
    Motherboard,
    PowerSupply,
    Supply,
    System,
)
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import PowerTree
from rigplanner.performance.limits.power_cap import speed_at_cap
from rigplanner.rig.document import Item, Site
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.bounds import Bounds, between
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, item_of, swap
from rigplanner.rules.core.registry import rule

HEADROOM = 0.9
"""Share of its rating above which a supply has no room left for ageing and warm rooms (Puget
Systems: 99 % "not recommended")."""

SWITCHES_OFF_AT = 1.05
"""Share of its rating at which the first supplies switch off when hot: the 12 V of a Smart BM2 750
at 106 %, whole units at 113 % (Thermaltake PT 1200), 116 % (Smart BM2 750), 117 % (PCCooler YT1200)
and above; read at tomshardware.com and hwbusters.com on 2026-11-23."""

CAP_STEP_W = 10

LOWEST_CAP = 0.6
"""Share of its power below which no cap is offered for a card whose lowest limit is not known."""


class Load(Named, frozen=True):
    """The rig's power tree, and the site it stands on."""

    power: PowerTree
    site: Site
    supply: PowerSupply | System | None


def loads(context: Context) -> Iterator[Load]:
    """The rig as a load on its supplies."""
    supplies = context.supplies
    if supplies:
        yield Load(supplies[0][0], context.machine.power, context.site, supplies[0][1])


def drawn(context: Context) -> Iterator[Load]:
    """The rig as a load on the mains: on its supplies, else as a machine sold whole."""
    power = context.machine.power
    if context.supplies or power.wall_w is None:
        yield from loads(context)
        return
    whole = next(n for n, piece in context.pieces.items() if isinstance(piece.part, System))
    yield Load(whole, power, context.site, None)


def supplied(context: Context) -> Iterator[Load]:
    """Rigs with a loose supply, or with cards that the owner adds to a system; a whole system's
    maker sized its supply."""
    if context.fed_cards or any(isinstance(part, PowerSupply) for _, part, _ in context.supplies):
        yield from loads(context)


def _missing(case: Load, *fields: str) -> tuple[str, ...]:
    """Name the facts that the power tree lacks; the tree's own list comes first."""
    absent = [field for field in fields if getattr(case.power, field) is None]
    return case.power.unknown or tuple(f"power:{field}" for field in absent) if absent else ()


def _sustained(case: Load) -> tuple[float, float] | None:
    power = case.power
    return (
        None
        if power.sustained_w is None or power.supply_w is None
        else (power.sustained_w, power.supply_w)
    )


@rule(
    "PWR002",
    "Power supply is too small",
    "error",
    over=supplied,
    reason="Above its continuous rating a supply switches off.",
    source="Supply makers' ratings; card and CPU power limits",
)
def supply(context: Context, case: Load) -> Iterator[Finding]:
    """Compare the sustained load with the continuous rating at the site's voltage, in W; a warning
    where only the allowances for board, memory and fans lift the load above it, and where a
    redundant set bears it with all its units."""
    watts = _sustained(case)
    if watts is None:
        yield supply.unknown(case, *_missing(case, "sustained_w", "supply_w"))
    elif watts[0] > watts[1]:
        whole = whole_w(context)
        certain = watts[0] - allowances_w(context) > whole
        fixes = (
            *cap_fix(context, watts[0] - watts[1] * HEADROOM),
            *larger_supply(context, case, watts[0] / HEADROOM),
        )
        spare = watts[0] <= whole and makers_own(context, case)
        yield supply.finding(
            case,
            "error" if certain else "info" if spare else "warning",
            needed=round(watts[0]),
            actual=round(watts[1]),
            unit="W",
            fixes=fixes,
            variant="redundant" if watts[0] <= whole else "",
        )


def whole_w(context: Context, volts: float | None = None) -> float:
    """Return the continuous watts of all supply units together, the redundant ones too, at a
    voltage or the site's."""
    volts = volts or context.site.volts or 230.0
    return sum(
        (rating_at(supply, volts) or 0.0) * max(1, supply.units)
        for _, _, supply in context.supplies
    )


@rule(
    "PWR003",
    "Power supply has no headroom",
    "warning",
    over=supplied,
    reason=(
        "At more than 90 % of its rating a supply is loud, inefficient and short of reserve for age"
        " and heat."
    ),
    source="Puget Systems: four RTX 3090 at 99 % of a 1600 W supply, not recommended",
)
def headroom(context: Context, case: Load) -> Iterator[Finding]:
    """Warn between 90 % and 100 % of the rating."""
    watts = _sustained(case)
    if watts is None:
        yield headroom.unknown(case, *_missing(case, "sustained_w", "supply_w"))
    elif watts[1] * HEADROOM < watts[0] <= watts[1]:
        fixes = (
            *cap_fix(context, watts[0] - watts[1] * HEADROOM),
            *larger_supply(context, case, watts[0] / HEADROOM),
        )
        yield headroom.finding(
            case,
            "info" if makers_own(context, case) else None,
            needed=round(watts[0]),
            actual=round(watts[1] * HEADROOM),
            unit="W",
            fixes=fixes,
        )


@rule(
    "PWR004",
    "Supply may not survive the peaks",
    "warning",
    over=supplied,
    reason=(
        "GPUs exceed their limit for fractions of a millisecond; ATX 3 supplies must bear twice"
        " their rating for 100 us, older ones promise nothing and the first switch off at 106 %."
    ),
    source=(
        "Intel ATX12VO and ATX 3.0 design guides, power excursion tables; Hardware Busters and"
        " Tom's Hardware, over-power protection measured hot"
    ),
)
def transient(context: Context, case: Load) -> Iterator[Finding]:
    """Compare the excursion with what the supply's standard bears, in W; a remark while all cards
    at their peaks in one instant stay below what such supplies switch off at."""
    power = case.power
    missing = _missing(case, "transient_w", "supply_transient_w")
    if missing:
        yield transient.unknown(case, *missing)
    elif (power.transient_w or 0) > (power.supply_transient_w or 0):
        standard = case.supply.supply.standard if case.supply and case.supply.supply else None
        fixes = larger_supply(context, case, 0.0, math.ceil(power.transient_w or 0))
        borne = (power.transient_w or 0) <= (power.supply_transient_w or 0) * SWITCHES_OFF_AT
        yield transient.finding(
            case,
            "info" if borne or makers_own(context, case) else None,
            variant="borne" if borne else "",
            needed=round(power.transient_w or 0),
            actual=round(power.supply_transient_w or 0),
            unit="W",
            fixes=fixes,
            standard=standard,
        )


def makers_own(context: Context, case: Load) -> bool:
    """Say whether a system's own supply feeds cards such as its maker sells it with: peaks and
    reserve are the maker's to know, and our sum only a remark."""
    if not isinstance(case.supply, System) or len(context.supplies) > 1:
        return False
    limit = case.supply.gpu_max_w or MAKERS_CARD_W
    cards = context.fed_cards
    return all(card.card.tdp_w is not None and card.card.tdp_w <= limit for card in cards)


MAKERS_CARD_W = 300.0
"""The watts of professional and data centre cards on PCIe, for which makers of workstations and
servers that name no limit lay out their slots."""


def allowances_w(context: Context) -> float:
    """Return the part of the load that stands on allowances rather than on makers' figures: boards,
    memory, coolers, in W."""
    pieces = context.pieces
    assumed = (Motherboard, MemoryKit, Cooler)
    whole = {
        name
        for name, piece in pieces.items()
        if isinstance(piece.part, System) and piece.part.max_power_w is None
    }
    loads = context.machine.power.loads
    return sum(
        watts or 0.0
        for name, watts in loads
        if name in whole or isinstance(pieces[name].part, assumed)
    )


def cap_fix(context: Context, excess_w: float) -> tuple[Fix, ...]:
    """Cap all GPUs alike so that the load falls by `excess_w`, if their lower power limits allow
    it."""
    cards = (
        [card for card in context.fed_cards if card.card.tdp_w is not None]
        if context.advise
        else []
    )
    if not cards:
        return ()
    current = {
        card.name: (
            card.node.power_cap_w if card.node and card.node.power_cap_w else card.card.tdp_w or 0
        )
        for card in cards
    }
    cap = math.floor((sum(current.values()) - excess_w) / len(cards) / CAP_STEP_W) * CAP_STEP_W
    lowest = max(_offered_from_w(context, card.card) for card in cards)
    if cap < lowest:
        return ()
    items: dict[str, Item] = {}
    for card in cards:
        found = item_of(context, card.name)
        if found and current[card.name] > cap:
            items[found[0].uid] = found[0]
    edits = tuple(Edit("set_power_cap", {"uid": uid, "watts": float(cap)}) for uid in items)
    strongest = max((card.card for card in cards), key=lambda card: card.tdp_w or 0.0)
    return (cap_power(context, strongest, float(cap), *edits),) if edits else ()


def _offered_from_w(context: Context, card: GPU) -> float:
    """Return the lowest cap in W that is offered for a card: its lowest limit, else a usual share
    of its power that no card of its silicon refuses."""
    low = limits(card)[0]
    if low is not None:
        return low
    cards = (part for part in context.catalog.of_kind("gpu") if isinstance(part, GPU))
    return max((card.tdp_w or 0.0) * LOWEST_CAP, cap_bounds_w(card, cards)[1])


def limits(card: GPU) -> tuple[float | None, float | None]:
    """Return the lowest and highest power limit of a card in W; makers give those of one GPU where
    a board carries several."""
    low, high = card.power_min_w, card.power_max_w
    count = card.dies if high is not None and card.tdp_w is not None and high < card.tdp_w else 1
    return (None if low is None else low * count, None if high is None else high * count)


def cap_power(context: Context, card: GPU, watts: float, *edits: Edit) -> Fix:
    """Return the fix that caps GPUs, with the speed that the card keeps in matrix work by the
    measured curve, in percent; without it where the curve does not reach."""
    try:
        kept = speed_at_cap(card, watts)
    except WorkloadFault:
        return fix(context, "cap-power-only", *edits, watts=watts)
    shares = {"kept": kept.value, "kept_low": kept.low, "kept_high": kept.high}
    return fix(
        context,
        "cap-power",
        *edits,
        watts=watts,
        **{name: round(100 * share) for name, share in shares.items()},
    )


def larger_supply(
    context: Context, case: Load, watts: float, transient_w: float = 0.0
) -> tuple[Fix, ...]:
    """Put the cheapest supply that gives `watts` at the site's voltage and bears the load and its
    peaks with headroom, with the plugs the rig needs, in the stead of the first; never one of fewer
    watts than the owner chose."""
    if not context.advise or not isinstance(case.supply, PowerSupply) or is_built_in(case.name):
        return ()
    volts = context.site.volts or 230.0
    watts = max(watts, (case.power.sustained_w or 0.0) / HEADROOM)
    chosen_w = best_w(case.supply.supply)
    transient_w = max(transient_w, case.power.transient_w or 0.0)
    plugs = {demand.type: demand.needed for demand in context.machine.power.plugs}
    form = case.supply.form_factor
    space = context.enclosure[1].enclosure if context.enclosure else None
    room = space.psu_length_mm if space is not None else None

    def suits(other: PowerSupply) -> bool:
        rating = rating_at(other.supply, volts) or 0.0
        peak = rating * (2.0 if (other.supply.standard or "").startswith("ATX 3") else 1.0)
        if room is not None and (other.length_mm is None or other.length_mm > room):
            return False
        return (
            other.form_factor == form
            and rating >= watts
            and best_w(other.supply) >= chosen_w
            and peak >= transient_w
            and has_plugs(other.supply, plugs)
        )

    return swap(
        context,
        "larger-supply",
        case.name,
        suits,
        lambda psu: rating_at(psu.supply, volts) or 0.0,
        watts=math.ceil(watts),
    )


def best_w(supply: Supply) -> float:
    """Return the continuous output in W at the best input voltage, 0 when nothing is known."""
    return max((rating.watts for rating in supply.ratings), default=0.0)


def rating_at(supply: Supply, volts: float) -> float | None:
    """Return the continuous output in W at an input voltage; None when the supply does not run
    there or nothing is known."""
    return max(
        (rating.watts for rating in supply.ratings if rating.min_volts <= volts), default=None
    )


INTERCHANGEABLE = {"12vhpwr": "12v-2x6", "12v-2x6": "12vhpwr"}
"""The 16-pin plugs of ATX 3.0 and 3.1 mate with each other (PCI-SIG CEM 5.1)."""
PLUGS_INSTEAD = 2
"""8-pin plugs on a cable that takes one 16-pin socket of a supply (cable lists of Corsair RMe and
ASUS TUF)."""


def has_plugs(supply: Supply, needed: dict[str, int]) -> bool:
    """Say whether a supply is known to have the plugs."""
    have: dict[str, int] = {}
    for plug in supply.plugs or ():
        have[plug.type] = have.get(plug.type, 0) + plug.count
    unused = sum(have.get(kind, 0) - needed.get(kind, 0) for kind in INTERCHANGEABLE)
    have["pcie8"] = have.get("pcie8", 0) + min(supply.pcie8_instead, PLUGS_INSTEAD * max(0, unused))
    return all(
        have.get(kind, 0) + have.get(INTERCHANGEABLE.get(kind, ""), 0) >= count
        for kind, count in needed.items()
    )


FEW_SUPPLIES = 2
"""One for the board and one for cards: the usual way, with a cable that starts them together."""


class Group(Struct, frozen=True):
    """Several loose supplies in one rig."""

    names: tuple[str, ...]
    psus: tuple[PowerSupply, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def groups(context: Context) -> Iterator[Group]:
    """Two or more supplies that are not made to run in parallel, or of which that is not known."""
    loose = [(name, psu) for name, psu in context.own_supplies if not is_built_in(name)]
    if len(loose) > 1:
        yield Group(tuple(name for name, _ in loose), tuple(psu for _, psu in loose))


@rule(
    "PWR013",
    "Several supplies feed one rig",
    "warning",
    over=groups,
    reason=(
        "They must start together and share ground; a card must not draw from one supply by its"
        " slot and another by its plugs, unless the riser cuts the slot's 12 V."
    ),
    source="Builders' reports of open multi-supply rigs; PCI-SIG CEM (slot power)",
)
def several(context: Context, case: Group) -> Iterator[Finding]:
    """Warn unless all are redundant server modules; the form factor of a unit must be known. Two
    are an instruction to the builder, more a matter of care for each card."""
    unknown = [f"{psu.id}:form_factor" for psu in case.psus if psu.form_factor is None]
    if unknown:
        yield several.unknown(case, *unknown)
    elif not all(psu.supply.redundant or psu.form_factor == "CRPS" for psu in case.psus):
        yield several.finding(
            case, "info" if len(case.psus) <= FEW_SUPPLIES else None, actual=len(case.psus)
        )


class Capped(Named, frozen=True):
    """A GPU item with a power cap."""

    card: GPU
    item: Item


def capped(context: Context) -> Iterator[Capped]:
    """GPU items whose power is capped."""
    for item in context.rig.items:
        part = context.part(item.part)
        if isinstance(part, GPU) and item.power_cap_w is not None:
            yield Capped(f"{item.uid}.0", part, item)


LOWEST_SHARES = (0.85, 0.2)
"""Lowest power limits that makers set, as shares of a card's power: no card of the catalog of 150 W
and more is beyond."""
HIGHEST_SHARES = (1.0, 1.35)
SMALL_W = 150.0
"""Cards of fewer watts may have no room below their power at all (NVIDIA T4, 60 of 70 W)."""
POWER_SPREAD = 1.25
"""How far partners' limits lie from those of another card of the same silicon (our assumption)."""


def cap_bounds_w(card: GPU, cards: Iterable[GPU]) -> tuple[float, float]:
    """Return the highest and lowest that a card's lowest power limit can be, in W: near those of
    cards of its silicon, else as of any card."""
    watts = card.tdp_w or 0.0
    kin = [other.power_min_w for other in cards if other.power_min_w and same_silicon(card, other)]
    worst = watts * (LOWEST_SHARES[0] if watts >= SMALL_W else 1.0)
    if kin:
        return min(worst, max(kin) * POWER_SPREAD), min(kin) / POWER_SPREAD
    return worst, watts * LOWEST_SHARES[1]


def _cap_bounds(context: Context, case: Capped, missing: tuple[str, ...]) -> Bounds | None:
    """A card whose limits nobody read has those of cards of its silicon, else those of any card."""
    card = case.card
    if card.tdp_w is None or card.dies > 1:
        return None
    cards = (part for part in context.catalog.of_kind("gpu") if isinstance(part, GPU))
    ranges = {
        "card.power_min_w": cap_bounds_w(card, cards),
        "card.power_max_w": (card.tdp_w * HIGHEST_SHARES[0], card.tdp_w * HIGHEST_SHARES[1]),
    }
    return between(case, {path: ranges[path] for path in missing})


def same_silicon(card: GPU, other: GPU) -> bool:
    """Say whether two cards are of the same silicon and memory, and of about the same power."""
    mine = (card.chip, card.sms, card.memory_gib, card.form_factor)
    its = (other.chip, other.sms, other.memory_gib, other.form_factor)
    watts, other_watts = card.tdp_w or 0.0, other.tdp_w or math.inf
    near = other_watts / POWER_SPREAD <= watts <= other_watts * POWER_SPREAD
    return None not in mine and mine == its and near


@rule(
    "PWR014",
    "Power limit is outside the card's range",
    "error",
    over=capped,
    needs=("card.power_min_w", "card.power_max_w"),
    bound=_cap_bounds,
    reason="nvidia-smi -pl refuses limits outside the board's own range.",
    source="nvidia-smi -q -d POWER of the card",
)
def cap_range(context: Context, case: Capped) -> Iterator[Finding]:
    """Compare the cap with the lowest and highest limit in W."""
    low, high = (watts or 0.0 for watts in limits(case.card))
    cap = case.item.power_cap_w or 0
    if not low <= cap <= high:
        nearest = low if cap < low else high
        edit = Edit("set_power_cap", {"uid": case.item.uid, "watts": nearest})
        yield cap_range.finding(
            case,
            needed=nearest,
            actual=cap,
            unit="W",
            low_w=low,
            high_w=high,
            fixes=(cap_power(context, case.card, nearest, edit),),
        )


class Hosted(Named, frozen=True):
    """A card in a system that limits the power of its cards."""

    card: GPU
    system: System


def hosted(context: Context) -> Iterator[Hosted]:
    """Cards in systems with a limit per card."""
    for name, system in context.of(System):
        if system.gpu_max_w is not None and not is_built_in(name):
            for card in context.cased_cards:
                if card.board is system or card.board is None:
                    yield Hosted(card.name, card.card, system)


@rule(
    "PWR015",
    "Card draws more than the system allows per card",
    "error",
    over=hosted,
    needs=("card.tdp_w",),
    reason="The maker laid out slots, plugs and air of the system for this power.",
    source="System makers' specifications",
)
def system_limit(context: Context, case: Hosted) -> Iterator[Finding]:
    """Compare the card's power with the system's limit in W."""
    found = item_of(context, case.name)
    watts = (found[0].power_cap_w if found else None) or case.card.tdp_w or 0
    limit = case.system.gpu_max_w or 0
    if watts > limit:
        edit = (
            Edit("set_power_cap", {"uid": found[0].uid, "watts": limit})
            if found and context.advise
            else None
        )
        lowest = limits(case.card)[0]
        fixes = (
            (cap_power(context, case.card, limit, edit),)
            if edit and lowest is not None and lowest <= limit
            else ()
        )
        yield system_limit.finding(case, needed=watts, actual=limit, unit="W", fixes=fixes)
