"""Power connectors: the right type, enough of them, adapters, cables."""

import itertools
import math
from collections.abc import Iterator, Mapping

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Accessory, Motherboard, PowerSupply, System
from rigplanner.machine.model import PlugDemand
from rigplanner.rules.core.bounds import Bounds
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.class_bounds import lean_plugs, plugs
from rigplanner.rules.hardware.power import (
    INTERCHANGEABLE,
    PLUGS_INSTEAD,
    Load,
    larger_supply,
    loads,
)

EIGHT_PINS_PER_EPS = 2
"""PCIe 8-pin plugs that the adapter to a card's EPS socket joins. Workstation cards come with one;
for passive cards it is bought (accessory type "eps-adapter")."""

PLUGS_OF_ADAPTER: tuple[tuple[float, int], ...] = ((300.0, 2), (450.0, 3), (1e9, 4))
"""8-pin plugs that the maker's own adapter to a 16-pin card joins, by the card's watts: 150 W each
(PCI-SIG CEM 5.1; PNY's lists of what comes with RTX Ada and RTX PRO cards)."""


class Demand(Struct, frozen=True):
    """Plugs of one type that the rig needs; `offered` counts mating plugs of its supplies, `spare8`
    8-pin plugs left over, `adapters` those that the adapters of cards join where 16-pin plugs are
    short; `essential` leaves out the further CPU sockets of a board, which start without;
    `eps_adapters` feed EPS sockets of cards; `unlisted` names the plugs that no list tells."""

    name: str
    demand: PlugDemand
    offered: int | None
    spare8: int
    adapters: int
    essential: int
    eps_adapters: int
    load: Load
    psu: PowerSupply | System | None
    unlisted: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, *self.demand.pieces)


Offer = dict[str, int]
"""Plugs by type."""


def demands(context: Context) -> Iterator[Demand]:
    """One case per plug type that something needs; a GPU server's maker brings the cables that its
    cards ask for."""
    supplies = context.supplies
    if supplies and all(
        isinstance(part, System) and part.gpu_max_w is not None for _, part, _ in supplies
    ):
        return
    unlisted = tuple(
        dict.fromkeys(f"{part.id}:plugs" for _, part, supply in supplies if supply.plugs is None)
    )
    for load in loads(context):
        for demand in context.machine.power.plugs:
            yield _demand(context, load, demand, None if unlisted else offers(context)[0], unlisted)


def _demand(
    context: Context,
    load: Load,
    demand: PlugDemand,
    have: Offer | None,
    unlisted: tuple[str, ...] = (),
) -> Demand:
    eight = next((d.needed for d in context.machine.power.plugs if d.type == "pcie8"), 0)
    spare8 = max(0, have.get("pcie8", 0) + _swapped(context, have) - eight) if have else 0
    mating = None if have is None else offered(context, demand, have)
    return Demand(
        name=load.name,
        demand=demand,
        offered=mating,
        spare8=spare8,
        adapters=adapter_plugs(context, demand, mating or 0),
        essential=essential(context, demand),
        eps_adapters=eps_adapters(context),
        load=load,
        psu=load.supply,
        unlisted=unlisted,
    )


def within_class(context: Context, case: Demand, missing: tuple[str, ...]) -> Bounds:
    """A supply whose cables no list tells has at worst the plugs of one of the leanest of its
    watts, at best the most."""
    lean = [_demand(context, case.load, case.demand, have) for have in lean_offers(context)]
    most = _demand(context, case.load, case.demand, offers(context)[1])
    return Bounds(max(lean, key=_shortness), most, case.unlisted)


def _shortness(case: Demand) -> tuple[bool, bool]:
    """Rank lists of plugs: short ones without an adapter are worst, then those with one."""
    short = (case.offered or 0) < case.demand.needed
    return short and not by_adapter(case), short


def adapter_plugs(context: Context, demand: PlugDemand, mating: int) -> int:
    """Return the 8-pin plugs that the adapters of those cards join that get no 16-pin plug: the
    cards of the fewest watts go without."""
    if demand.type not in INTERCHANGEABLE:
        return 0
    watts = sorted(
        card.card.tdp_w or 0.0
        for card in context.fed_cards
        for plug in card.card.connectors or ()
        if plug.type == demand.type
        for _ in range(plug.count)
    )
    short = max(0, demand.needed - mating)
    return sum(next(n for most, n in PLUGS_OF_ADAPTER if each <= most) for each in watts[:short])


SIXTEEN_W = 600.0
"""What a 16-pin plug carries (PCI-SIG CEM 5.1)."""
PLAIN_LOAD = 0.8
"""Share of it up to which an adapter from the box is the usual way to feed a card; the plugs that
are reported burnt are mostly those of cards of 575 W (our reading of such reports)."""


def adapted_w(context: Context, demand: PlugDemand, mating: int) -> float:
    """Return the watts of the strongest card that an adapter feeds: those of the fewest go without
    a cable of their own."""
    watts = sorted(
        card.card.tdp_w or 0.0
        for card in context.fed_cards
        if any(plug.type == demand.type for plug in card.card.connectors or ())
    )
    return max(watts[: max(0, demand.needed - mating)], default=0.0)


def eps_adapters(context: Context) -> int:
    """Return how many EPS sockets of cards adapters can feed: those that come with cards of their
    own fan, and bought ones."""
    boxed = boxed_adapters(context)
    bought = sum(accessory.type == "eps-adapter" for _, accessory in context.accessories)
    return min(boxed + bought, sum(eps_sockets(card.card) for card in context.fed_cards))


def boxed_adapters(context: Context) -> int:
    """Return the EPS sockets of cards with a fan of their own, which come with an adapter each."""
    return sum(
        eps_sockets(card.card) for card in context.fed_cards if card.card.cooling != "passive"
    )


def eps_sockets(card: GPU) -> int:
    """Return the EPS sockets of a card."""
    return sum(plug.count for plug in card.connectors or () if plug.type == "eps8")


def essential(context: Context, demand: PlugDemand) -> int:
    """Return the sockets that must be filled: all of the cards, and one EPS of the board for each
    CPU."""
    if demand.type not in ("eps8", "eps4"):
        return demand.needed
    cards = (
        sum(eps_sockets(card.card) for card in context.fed_cards) if demand.type == "eps8" else 0
    )
    board = demand.needed - cards
    has_eight = any(other.type == "eps8" and other.needed for other in context.machine.power.plugs)
    wanted = 0 if demand.type == "eps4" and has_eight else max(1, len(context.cpus))
    return cards + min(board, wanted)


BREAKOUT = "CRPS"
"""Units of servers feed cards through a breakout board, whose 6-pin sockets take cables with a
6-pin plug at one end and an 8-pin (6+2) plug at the other."""


def offers(context: Context, lean: Mapping[str, Offer] | None = None) -> tuple[Offer, Offer]:
    """Return the plugs of all supplies by type: the fewest and the most, alike where every list is
    known. `lean` gives models the list that they have at worst."""
    fewest: Offer = {}
    most: Offer = {}
    for _, part, supply in context.supplies:
        known = {} if supply.plugs is None else {plug.type: 0 for plug in supply.plugs}
        for plug in supply.plugs or ():
            known[plug.type] += plug.count
        if isinstance(part, PowerSupply) and part.form_factor == BREAKOUT:
            known["pcie8"] = known.get("pcie8", 0) + known.pop("pcie6", 0)
        low, high = plugs(part, supply) if supply.plugs is None else (known, known)
        low = (lean or {}).get(part.id, low)
        for total, given in ((fewest, low), (most, high)):
            for kind, count in given.items():
                total[kind] = total.get(kind, 0) + count
    return fewest, most


MOST_LEAN = 64
"""Lists of plugs of several supplies together beyond which the fewest of each type count."""


def lean_offers(context: Context) -> list[Offer]:
    """Return the plugs of all supplies by type as they may be at worst: those of the rig's known
    lists with each of the leanest lists of the others; supplies of one model have one list."""
    models = {part.id: (part, supply) for _, part, supply in context.supplies}
    choices = {
        part_id: lean_plugs(part, supply)
        for part_id, (part, supply) in models.items()
        if supply.plugs is None
    }
    if math.prod(map(len, choices.values())) > MOST_LEAN:
        return [offers(context)[0]]
    return [
        offers(context, dict(zip(choices, chosen, strict=True)))[0]
        for chosen in itertools.product(*choices.values())
    ]


def _swapped(context: Context, have: Offer) -> int:
    """Return the 8-pin plugs that cables give in place of 16-pin plugs that no card needs."""
    sockets = sum(have.get(kind, 0) for kind in INTERCHANGEABLE)
    needed = sum(
        plug.needed for plug in context.machine.power.plugs if plug.type in INTERCHANGEABLE
    )
    instead = sum(supply.pcie8_instead for _, _, supply in context.supplies)
    return min(instead, PLUGS_INSTEAD * max(0, sockets - needed))


def offered(context: Context, demand: PlugDemand, have: Offer) -> int:
    """Return the plugs that mate with a type: 16-pin plugs of both revisions, 8-pin (6+2) plugs
    also for 6-pin sockets, and the 8-pin plugs of cables that take an unused 16-pin socket of the
    supply."""
    own = have.get(demand.type, 0)
    taken = {other.type: other.needed for other in context.machine.power.plugs}
    eights = have.get("pcie8", 0) + _swapped(context, have)
    if demand.type == "pcie8":
        return eights
    if demand.type == "pcie6":
        return own + max(0, eights - taken.get("pcie8", 0))
    if demand.type == "eps4":
        return own + max(0, have.get("eps8", 0) - taken.get("eps8", 0))
    return own + have.get(INTERCHANGEABLE.get(demand.type, ""), 0)


def by_adapter(case: Demand) -> bool:
    """Say whether 8-pin plugs are left for the adapters that come with 16-pin cards, or that feed
    the EPS sockets of cards."""
    if case.demand.type == "eps8":
        short = case.essential - (case.offered or 0)
        return 0 < short <= case.eps_adapters and short * EIGHT_PINS_PER_EPS <= case.spare8
    return case.demand.type in INTERCHANGEABLE and case.spare8 >= case.adapters


@rule(
    "PWR005",
    "Supply has no plug of this type",
    "error",
    over=demands,
    needs=("offered",),
    bound=within_class,
    reason=(
        "EPS and PCIe 8-pin plugs are keyed differently and carry 12 V on opposite sides: forcing"
        " one into the other shorts it."
    ),
    source="ATX12V and EPS12V design guides; PCI-SIG CEM",
)
def plug_type(context: Context, case: Demand) -> Iterator[Finding]:
    """The rig needs a type of plug that no supply has, and no permitted adapter gives."""
    if case.offered == 0 and case.demand.needed > 0 and not by_adapter(case):
        yield plug_type.finding(
            case,
            "error" if case.essential else "info",
            variant="" if case.essential else "spare",
            needed=case.demand.needed,
            actual=0,
            unit="plugs",
            type=case.demand.type,
            fixes=larger_supply(context, case.load, _watts(case)),
        )


@rule(
    "PWR006",
    "Supply has too few plugs",
    "error",
    over=demands,
    needs=("offered",),
    bound=within_class,
    reason="Each socket of a card or board wants its own plug.",
    source="Supply makers' cable lists",
)
def plug_count(context: Context, case: Demand) -> Iterator[Finding]:
    """Compare sockets with mating plugs that can be used at the same time."""
    if case.offered and case.offered < case.demand.needed and not by_adapter(case):
        yield plug_count.finding(
            case,
            "error" if case.offered < case.essential else "info",
            variant="" if case.offered < case.essential else "spare",
            needed=case.demand.needed,
            actual=case.offered,
            unit="plugs",
            type=case.demand.type,
            fixes=larger_supply(context, case.load, _watts(case)),
        )


def _watts(case: Demand) -> float:
    return case.load.power.sustained_w or 0.0


@rule(
    "PWR007",
    "Card is fed by an adapter",
    "warning",
    over=demands,
    needs=("offered",),
    bound=within_class,
    reason=(
        "The adapter that comes with 16-pin cards joins three or four 8-pin cables; a native cable"
        " has fewer contacts to fail."
    ),
    source="Card makers' manuals; PCI-SIG CEM 5.1",
)
def adapter(context: Context, case: Demand) -> Iterator[Finding]:
    """16-pin plugs are short, but 8-pin plugs are left for the adapters that come with the cards; a
    remark where these leave a margin and each plug has a cable of its own."""
    if (case.offered or 0) < case.demand.needed and by_adapter(case):
        strongest = adapted_w(context, case.demand, case.offered or 0)
        mild = strongest <= PLAIN_LOAD * SIXTEEN_W and not any(pigtails(context))
        if case.demand.type == "eps8":
            mild = case.essential - (case.offered or 0) <= boxed_adapters(context)
        yield adapter.finding(
            case,
            "info" if mild else None,
            needed=case.demand.needed,
            actual=case.offered,
            unit="plugs",
            type=case.demand.type,
            fixes=larger_supply(context, case.load, _watts(case)),
        )


class Cabled(Named, frozen=True):
    """A cable accessory, a supply and the cards."""

    cable: Accessory
    psu: PowerSupply


def cables(context: Context, kind: str) -> Iterator[Cabled]:
    """Accessories of one cable type, each with the first supply."""
    psus = list(context.own_supplies)
    for name, accessory in context.accessories:
        if accessory.type == kind and psus:
            yield Cabled(name, accessory, psus[0][1])


def pigtails(context: Context) -> Iterator[Cabled]:
    """Daisy-chain cables with two 8-pin plugs."""
    return cables(context, "pigtail-cable")


def psu_cables(context: Context) -> Iterator[Cabled]:
    """Sets of modular cables."""
    return cables(context, "psu-cable")


@rule(
    "PWR009",
    "One cable feeds two sockets of a card",
    "warning",
    over=pigtails,
    needs=("cable.type",),
    reason=(
        "Each 8-pin socket may draw 150 W; a pigtail draws both through one cable and one plug at"
        " the supply."
    ),
    source="Hugging Face: building a GPU workstation; PCI-SIG CEM",
)
def pigtail(context: Context, case: Cabled) -> Iterator[Finding]:
    """Warn when a card with two 8-pin sockets or more is in a rig with daisy-chain cables."""
    for card in context.fed_cards:
        if card.card.connectors is None:
            yield pigtail.unknown(case, f"{card.card.id}:connectors")
        elif _eights(card.card) >= 2:
            yield pigtail.finding(
                case,
                subjects=(case.name, card.name),
                needed=_eights(card.card),
                actual=1,
                unit="cables",
            )
            return


def _eights(card: GPU) -> int:
    return sum(plug.count for plug in card.connectors or () if plug.type == "pcie8")


@rule(
    "PWR010",
    "Modular cables come from another supply",
    "error",
    over=psu_cables,
    needs=("psu.vendor",),
    reason=(
        "The plugs at the supply's side have no standard; the wrong cable puts 12 V on data lines"
        " and destroys parts."
    ),
    source="Supply makers' cable compatibility charts",
)
def cable_family(context: Context, case: Cabled) -> Iterator[Finding]:
    """Compare the makers; one maker's series may differ too, so the same maker is a remark. Cables
    of breakout boards have standard plugs at both ends."""
    if case.psu.form_factor == BREAKOUT:
        return
    same = case.cable.vendor == case.psu.vendor
    yield cable_family.finding(
        case, "info" if same else "error", needed=case.psu.vendor, actual=case.cable.vendor
    )


class Powered(Named, frozen=True):
    """A card or board that the owner cables."""

    part: GPU | Motherboard


def powered(context: Context) -> Iterator[Powered]:
    """Own cards and motherboards, one case per model."""
    seen: set[str] = set()
    for piece in context.machine.pieces:
        part = piece.part
        if (
            isinstance(part, GPU | Motherboard)
            and not is_built_in(piece.name)
            and part.id not in seen
        ):
            seen.add(part.id)
            if isinstance(part, Motherboard) or part.form_factor == "pcie":
                yield Powered(piece.name, part)


@rule(
    "PWR008",
    "Power sockets of a part are not known",
    "unknown",
    over=powered,
    reason="Plugs can be counted only against sockets.",
    source="Card and board makers' specifications",
)
def sockets_known(context: Context, case: Powered) -> Iterator[Finding]:
    """Name cards without a list of sockets, and boards without a count of EPS sockets, where the
    supplies may have too few: a card has one of 150 W at most beyond the 75 W of its slot, a board
    starts with one for each processor."""
    if not context.supplies:
        return
    fewest = offers(context)[0]
    if isinstance(case.part, GPU):
        if case.part.connectors is None and not _surely_fed(context, case.part, fewest):
            yield sockets_known.unknown(case, f"{case.part.id}:connectors")
    elif (
        case.part.layout.eps8 is None
        and case.part.layout.eps4 is None
        and fewest.get("eps8", 0) < max(1, len(context.cpus))
    ):
        yield sockets_known.unknown(case, f"{case.part.id}:eps8")


SLOT_W = 75.0
EIGHT_W = 150.0
"""What a slot and an 8-pin plug carry (PCI-SIG CEM)."""


def _surely_fed(context: Context, card: GPU, fewest: Offer) -> bool:
    """Say whether the supplies have 8-pin plugs for all that cards of these watts can ask for."""
    if card.tdp_w is None or not context.supplies:
        return False
    count = sum(piece.part is card for piece in context.machine.pieces)
    each = math.ceil(max(0.0, card.tdp_w - SLOT_W) / EIGHT_W) + (1 if card.tdp_w > SLOT_W else 0)
    taken = sum(d.needed for d in context.machine.power.plugs if d.type == "pcie8")
    return fewest.get("pcie8", 0) - taken >= each * count
