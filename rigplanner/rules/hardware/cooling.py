"""Cooling: passive cards, cards without a gap, the CPU's cooler."""

import math
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, Chassis, Cooler, Motherboard, Slot, System
from rigplanner.machine.model import Machine
from rigplanner.rules.core.bounds import Bounds, between
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, move, swap
from rigplanner.rules.core.moves import LOAD, PLUGS, harmless, lands
from rigplanner.rules.core.registry import rule
from rigplanner.rules.core.rests import figure
from rigplanner.rules.hardware.class_bounds import cooler_heat_w, distance
from rigplanner.rules.hardware.fit.radiators import takes
from rigplanner.rules.hardware.fit.rooms import holds
from rigplanner.rules.hardware.power import cap_fix
from rigplanner.rules.hardware.slots import free_slots, on_risers

MIN_GAP_SLOTS = 0.75
"""Free slots an open-air card wants before its fans (card makers ask for one; a 2.2-slot card on a
3-slot pitch leaves 0.8)."""


class Aired(Struct, frozen=True):
    """A card and the case whose air it gets."""

    name: str
    card: GPU
    case_name: str
    chassis: Chassis | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.case_name)


def passive_cards(context: Context) -> Iterator[Aired]:
    """Cards without a fan of their own, in a case."""
    found = context.enclosure
    if found is None:
        return
    for card in context.cased_cards:
        if card.card.form_factor == "pcie" and card.card.cooling in (None, "passive"):
            yield Aired(card.name, card.card, found[0], found[1])


@rule(
    "CLG001",
    "Passive card has no air driven through it",
    "error",
    over=passive_cards,
    needs=("card.cooling", "chassis.enclosure.airflow"),
    reason=(
        "A passive card is cooled by a server's fan wall; desktop fans lack the static pressure. A"
        " radial fan with a duct can replace it, loudly."
    ),
    source="NVIDIA product briefs of passive boards (airflow requirements)",
)
def passive(context: Context, case: Aired) -> Iterator[Finding]:
    """Only the class "server" drives enough air; a duct with fan in the rig (accessory type
    "gpu-fan") makes it a warning."""
    space = case.chassis.enclosure
    if case.card.cooling != "passive" or space is None or space.airflow == "server":
        return
    ducted = any(accessory.type == "gpu-fan" for _, accessory in context.accessories)
    fixes = swap(context, "other-case", case.case_name, lambda other: holds(other, context))
    yield passive.finding(
        case, "warning" if ducted else "error", needed="server", actual=space.airflow, fixes=fixes
    )


class Neighbours(Struct, frozen=True):
    """Two cards one after the other on a board, `slot` nearer to the CPU."""

    name: str
    card: GPU
    slot: Slot
    other_name: str
    other: Slot
    other_card: GPU
    board: Motherboard | System

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.other_name)


def neighbours(context: Context) -> Iterator[Neighbours]:
    """Pairs of cards that follow each other; every pair of a board where a position is missing."""
    placed = [
        card
        for card in context.cased_cards
        if (held := card.held) is not None and held.slot.kind == "pcie" and held.riser is None
    ]
    placed.sort(
        key=lambda card: card.slot.position if card.slot and card.slot.position is not None else -1
    )
    for card, other in pairwise(placed):
        if card.board is other.board and card.slot and other.slot and card.board:
            yield Neighbours(
                card.name, card.card, card.slot, other.name, other.slot, other.card, card.board
            )


def _gap_bounds(context: Context, case: Neighbours, missing: tuple[str, ...]) -> Bounds | None:
    """Slots whose columns are not known stand as close, and as far apart, as their board lets
    them."""
    if case.card.cooling not in (None, "open"):
        return Bounds(case, case)
    apart = distance(case.board, case.slot, case.other)
    if apart is None or not set(missing) <= {"slot.position", "other.position"}:
        return None
    near, far = ({"slot.position": 1, "other.position": 1 + gap} for gap in apart)
    return between(case, {path: (near[path], far[path]) for path in near})


@rule(
    "CLG002",
    "Open-air card has no gap before its fans",
    "warning",
    over=neighbours,
    needs=("card.slots", "card.cooling", "slot.position", "other.position"),
    bound=_gap_bounds,
    reason=(
        "The fans of an open cooler draw from the side where the next card stands; without a gap"
        " the upper card throttles."
    ),
    source="Card makers' spacing advice (ZOTAC: leave one free slot)",
)
def gap(context: Context, case: Neighbours) -> Iterator[Finding]:
    """Compare the free room below an open cooler, in slots."""
    if (
        case.card.cooling != "open"
        or case.slot.position is None
        or case.other.position is None
        or case.card.slots is None
    ):
        return
    free = case.other.position - case.slot.position - case.card.slots
    if free < MIN_GAP_SLOTS:
        far = [use.slot for use in free_slots(context) if breathes(context, case, use.slot)]
        edit = move(context, case.other_name, far[0].id) if far and not context.bridges else None

        def apart(machine: Machine) -> bool:
            at = {
                use.piece: use.slot.position or 0 for use in machine.slots if use.piece is not None
            }
            left = at.get(case.other_name, 0) - at.get(case.name, 0) - (case.card.slots or 0)
            return left < -1 or left >= MIN_GAP_SLOTS

        helps = edit is not None and lands(context, (edit,), case.other_name, far[0].id, apart)
        moved = (
            (fix(context, "move-card", edit, piece=case.other_name, place=far[0].id),)
            if edit and helps
            else ()
        )
        fixes = (*moved, *cooled_otherwise(context, case.name, case.card), *hung(context, case))
        yield gap.finding(
            case, needed=1.0, actual=round(max(free, 0.0), 2), unit="slots", fixes=fixes
        )


def cooled_otherwise(context: Context, name: str, card: GPU) -> tuple[Fix, ...]:
    """Take the same GPU with a blower, in an open frame also one with a radiator, where one is sold
    that is no thicker."""
    space = context.enclosure[1].enclosure if context.enclosure else None
    closed = ("blower", "liquid") if space is None or space.airflow == "open" else ("blower",)

    def silicon(gpu: GPU) -> tuple[object, ...]:
        return gpu.form_factor, gpu.chip, gpu.sms, gpu.memory_gib

    if None in silicon(card):
        return ()
    found = swap(
        context,
        "other-card",
        name,
        lambda other: (
            other.cooling in closed
            and silicon(other) == silicon(card)
            and (other.slots or math.inf) <= (card.slots or 0)
        ),
    )
    return harmless(
        context,
        tuple(one for one in found if lands(context, one.edits, name)),
        *LOAD,
        *PLUGS,
        "NVL001",
        "NVL002",
    )


def hung(context: Context, case: Neighbours) -> tuple[Fix, ...]:
    """Hang all cards of the item on risers in an open frame, where they stand as far apart as the
    builder likes."""
    if context.enclosure is None or context.bridges:
        return ()
    found = on_risers(context, case.name, case.card)

    def apart(machine: Machine) -> bool:
        return all(use.riser for use in machine.slots if use.piece == case.name)

    return tuple(one for one in found if lands(context, one.edits, case.name, good=apart))


def breathes(context: Context, case: Neighbours, slot: Slot) -> bool:
    """Say whether the lower card could move to a slot without covering or choking a card, itself
    included."""
    if slot.position is None or case.other_card.slots is None:
        return False
    for card in context.cased_cards:
        if (
            card.name == case.other_name
            or card.slot is None
            or card.card.slots is None
            or (card.held and card.held.riser)
        ):
            continue
        here = card.slot.position
        if here is None:
            return False
        above, upper, lower = (
            (card.card, here, slot.position)
            if here < slot.position
            else (case.other_card, slot.position, here)
        )
        wanted = MIN_GAP_SLOTS if above.cooling == "open" else 0.0
        if lower - upper - (above.slots or 0) < wanted:
            return False
    return True


class Cooled(Struct, frozen=True):
    """A CPU and the cooler on it."""

    name: str
    cpu: CPU
    cooler_name: str
    cooler: Cooler

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.cooler_name, self.name)


def cooled(context: Context) -> Iterator[Cooled]:
    """CPU models with the first cooler that the owner chose."""
    own = [(name, cooler) for name, cooler in context.coolers if not is_built_in(name)]
    seen: set[str] = set()
    for name, cpu in context.cpus:
        if own and cpu.id not in seen:
            seen.add(cpu.id)
            yield Cooled(name, cpu, own[0][0], own[0][1])


SAME_HOLES = (
    frozenset(("LGA1150", "LGA1151", "LGA1155", "LGA1156", "LGA1200")),
    frozenset(("LGA1700", "LGA1851")),
    frozenset(("LGA2011-3", "LGA2066")),
    frozenset(("TR4", "sTRX4", "sWRX8", "SP3", "sTR5", "SP6")),
)
"""Sockets that share the holes and the height of what a cooler is screwed to: makers' lists of
older coolers lack the younger."""
OWN_PLATE = frozenset(("AM4", "AM5"))
"""Sockets of one hole pattern; coolers with a back plate of their own fit the older alone, for the
younger's stays on."""


def mounts(cooler: Cooler, socket: str | None) -> bool:
    """Say whether a cooler is made for a socket or for one with the same holes."""
    return socket in cooler.sockets or any(
        socket in holes and holes.intersection(cooler.sockets) for holes in SAME_HOLES
    )


def _suits(cooler: Cooler, like: Cooler, context: Context) -> bool:
    """Say whether a cooler of the same kind is known to fit all CPUs of the rig, to hold them and
    to find room in the case."""
    space = context.enclosure[1].enclosure if context.enclosure else None
    if space is not None and cooler.type == "air" and space.cooler_height_mm is not None:
        fits = cooler.height_mm is not None and cooler.height_mm <= space.cooler_height_mm
    else:
        fits = (
            space is None
            or cooler.type == "air"
            or takes(space.radiators_mm or (), cooler.radiator_mm or 0)
        )
    return (
        fits
        and cooler.type == like.type
        and all(cpu.socket in cooler.sockets for _, cpu in context.cpus)
        and all(
            (cooler.rated_w or 0) >= (cpu.max_power_w or cpu.tdp_w or 0) for _, cpu in context.cpus
        )
    )


@rule(
    "CLG003",
    "Cooler does not fit the CPU's socket",
    "error",
    over=cooled,
    needs=("cooler.sockets", "cpu.socket"),
    reason="Each socket has its own holes.",
    source="Cooler makers' socket lists; Noctua's notes on LGA1851, AM5 and sTR5 (unverified)",
)
def cooler_socket(context: Context, case: Cooled) -> Iterator[Finding]:
    """Compare the CPU's socket with the cooler's list; a warning where only some coolers of the
    list's sockets fit, and where nobody verified the list of a liquid cooler, whose brackets are
    exchanged: boxes of Threadripper held one."""
    if not mounts(case.cooler, case.cpu.socket):
        some = case.cpu.socket in OWN_PLATE and OWN_PLATE.intersection(case.cooler.sockets)
        listed = figure(case.cooler, "sockets", context.catalog)
        bracket = case.cooler.type == "liquid" and listed.state != "verified"
        fixes = swap(
            context,
            "other-cooler",
            case.cooler_name,
            lambda other: _suits(other, case.cooler, context),
        )
        yield cooler_socket.finding(
            case,
            "warning" if some or bracket else "error",
            needed=case.cpu.socket,
            actual=" / ".join(case.cooler.sockets),
            fixes=fixes,
            variant="bracket" if bracket and not some else "",
        )


def _heat_bounds(context: Context, case: Cooled, missing: tuple[str, ...]) -> Bounds | None:
    """A cooler whose maker names no heat moves what its kind and size move."""
    heat = cooler_heat_w(case.cooler)
    if heat is None or missing != ("cooler.rated_w",):
        return None
    return between(case, {"cooler.rated_w": heat})


@rule(
    "CLG004",
    "Cooler moves less heat than the CPU makes",
    "warning",
    over=cooled,
    needs=("cooler.rated_w", "cpu.tdp_w"),
    bound=_heat_bounds,
    reason="The CPU throttles when data workers load it.",
    source="Cooler makers' ratings; CPU specifications",
)
def cooler_rating(context: Context, case: Cooled) -> Iterator[Finding]:
    """Compare the rating with the CPU's base power in W."""
    if (case.cooler.rated_w or 0) < (case.cpu.tdp_w or 0):
        fixes = swap(
            context,
            "other-cooler",
            case.cooler_name,
            lambda other: _suits(other, case.cooler, context),
        )
        yield cooler_rating.finding(
            case, needed=case.cpu.tdp_w, actual=case.cooler.rated_w, unit="W", fixes=fixes
        )


class Blowing(Named, frozen=True):
    """The cards of a case together."""

    chassis: Chassis | System
    watts: float | None
    count: int
    cards: tuple[tuple[str, GPU], ...]


def open_cards(context: Context) -> Iterator[Blowing]:
    """Cases with two or more open-air cards, which leave their heat inside."""
    found = context.enclosure
    cards = [
        card
        for card in context.cased_cards
        if card.card.form_factor == "pcie" and card.card.cooling == "open"
    ]
    if found is None or len(cards) < 2:
        return
    watts = [
        card.node.power_cap_w if card.node and card.node.power_cap_w else card.card.tdp_w
        for card in cards
    ]
    known = [value for value in watts if value is not None]
    named = tuple((card.name, card.card) for card in cards)
    yield Blowing(
        found[0], found[1], sum(known) if len(known) == len(watts) else None, len(cards), named
    )


OPEN_CARDS_W = {"poor": 300.0, "average": 600.0}
"""Heat of open-air cards in W that a case of this class still moves; a rule of thumb of multi-GPU
builders, not a standard."""


@rule(
    "CLG005",
    "Open-air cards heat a case of weak airflow",
    "warning",
    over=open_cards,
    needs=("watts", "chassis.enclosure.airflow"),
    reason="Open coolers leave their heat in the case; blower cards push it out.",
    source="Multi-GPU workstation builders' practice",
)
def case_heat(context: Context, case: Blowing) -> Iterator[Finding]:
    """Compare the open cards' heat with what the case's class moves, in W."""
    space = case.chassis.enclosure
    limit = OPEN_CARDS_W.get(space.airflow or "") if space else None
    if limit is not None and case.watts is not None and case.watts > limit:
        fixes = swap(
            context,
            "other-case",
            case.name,
            lambda other: holds(other, context) and other.enclosure.airflow in ("good", "open"),
        )
        same = case.cards if len({card.id for _, card in case.cards}) == 1 else ()
        other = cooled_otherwise(context, *same[0]) if same else ()
        capped = (
            cap_fix(context, case.watts - limit) if len(context.fed_cards) == case.count else ()
        )
        fixes = (*fixes, *other, *capped)
        yield case_heat.finding(
            case, needed=case.watts, actual=limit, unit="W", fixes=fixes, count=case.count
        )
