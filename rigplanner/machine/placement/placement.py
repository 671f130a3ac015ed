"""The placement solver: cards into slots, then drives into ports, on one board.

Branch and bound over slots, equal cards taken in one order only. What counts, in this order: GPUs
placed, bridges that reach their cards, other cards placed (one that drives the monitors among
them, whose own link does not count), drives placed; then cards within the columns of the case, the
slowest GPU link, the sum of GPU links, the strongest GPUs on the fastest of them, few roots, the
other links, air between GPUs, drive links. Equal boards and parts always give the same answer. The
search ends after a fixed number of steps, far above what boards of ten slots need."""

import itertools
import math
import operator
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Slot
from rigplanner.machine.pcie import LANE_GBS, link_gbs
from rigplanner.machine.placement.bridging import LooseBridge, bridged, may_join, most_bridges
from rigplanner.machine.placement.lanes import Offer, Seating
from rigplanner.machine.placement.placeables import Card, Drive, enters, speaks
from rigplanner.machine.placement.ports import drive_rate, place_drives, protocols_of

STEPS = 600
STEPS_OF_ALL = 2400
"""Steps of all boards of a rig together: racks of dozens of boards place plainly."""
MOST_CARDS = 200
"""Loose cards that a board looks at; more than that find no slots on any."""
POLISH = 40
"""Steps after a placement whose links are proven best, spent on air between cards and on drives."""
_LINKS = 10
FASTEST = max(LANE_GBS)
Score = tuple[float, ...]


class Standing(Struct, frozen=True):
    """A partial placement: slot of each card, card of each slot, port of each drive, and the piece
    over each hidden column."""

    slots: dict[str, str]
    taken: dict[str, str]
    ports: dict[str, str]
    hidden: dict[int, str]

    def used(self) -> frozenset[str]:
        """Return the places in use."""
        return frozenset((*self.taken, *self.ports.values()))

    def with_card(self, card: Card, slot: Slot) -> "Standing":
        """Return the placement with one more card."""
        hidden = {**self.hidden, **dict.fromkeys(columns_behind(card, slot), card.name)}
        return Standing(
            {**self.slots, card.name: slot.id},
            {**self.taken, slot.id: card.name},
            self.ports,
            hidden,
        )


def columns_behind(card: Card, slot: Slot) -> range:
    """Return the columns that a card hides beyond its own; none where it hangs on a riser or the
    position is not known."""
    if slot.position is None or card.riser is not None:
        return range(0)
    return range(slot.position + 1, slot.position + card.columns)


def in_the_way(
    standing: Standing, card: Card, slot: Slot, slots: dict[str, Slot]
) -> tuple[str, ...]:
    """Return the pieces whose thickness hides a slot, or that this card's thickness would hide."""
    over = standing.hidden.get(slot.position) if slot.position is not None else None
    behind = columns_behind(card, slot)
    under = [
        piece
        for place, piece in standing.taken.items()
        if place in slots and slots[place].position in behind
    ]
    return tuple(dict.fromkeys([*([over] if over else []), *under]))


def columns_over(card: Card, slot: Slot, columns: int | None) -> int:
    """Return by how many columns a card reaches beyond the last column of the case."""
    behind = columns_behind(card, slot)
    return max(0, behind.stop - 1 - columns) if behind.stop and columns is not None else 0


def link_rate(card: Card, offer: Offer) -> float:
    """Return the coded rate in GB/s of a card's link, unknown widths taken as x1: for ranking
    only."""
    width, gen = min(offer.width or 1, card.width or 16), min(offer.gen or 3, card.gen or 6)
    return width * LANE_GBS.get(gen, 1.0)


def search(
    seating: Seating,
    cards: list[Card],
    drives: list[Drive],
    bridges: list[LooseBridge],
    start: Standing,
    steps: int = STEPS,
    columns: int | None = None,
) -> tuple[Standing, bool]:
    """Return the best placement that keeps `start`, and whether no other is known to be possible
    that places more cards: the search ran to its end within `steps`, or places as many as could be.
    `columns` counts the expansion columns of the case."""
    if all(card.wish or card.name in start.slots for card in cards) and all(
        drive.wish for drive in drives
    ):
        return start, True
    usable = [bridge for bridge in bridges if may_join(bridge, cards)]
    run = _Search(seating, cards, drives, usable, start, steps, columns)
    return run.found, run.steps <= steps or run.places_all()


class _Open(Struct, frozen=True):
    """What cards that have no slot yet could get at best: rates of GPUs, fastest first, the others'
    in sum, how many they are, and the places that they enter with their positions."""

    rates: list[float]
    others: float
    count: int
    places: tuple[tuple[str, int | None], ...]


class _Search:
    """One run: what stays the same while it lasts, and the best placement so far."""

    def __init__(
        self,
        seating: Seating,
        cards: list[Card],
        drives: list[Drive],
        bridges: list[LooseBridge],
        start: Standing,
        steps: int,
        columns: int | None,
    ) -> None:
        self.seating, self.drives, self.bridges = seating, drives, bridges
        self.cards = {card.name: card for card in cards}
        self.gpus = {card.name for card in cards if card.is_gpu}
        self.warm = {card.name for card in cards if card.is_gpu or card.shows}
        self.shown = {card.name for card in cards if card.shows}
        self.slots = {slot.id: slot for slot in seating.layout.slots}
        self.order = {slot.id: index for index, slot in enumerate(seating.layout.slots)}
        self.protocols = protocols_of(drives, start.ports)
        self.weights = _weights(cards)
        self.heaviest = sorted(self.weights.values(), reverse=True)
        self._seek(cards, start, by_model=bool(bridges))
        self.classes = _slot_classes(seating, cards, bridges, columns)
        self.beyond = self._pairs_beyond(columns)
        # What the search remembers: link rates, lane modes, and branches left for later.
        self.rates: dict[tuple[str, int | None, int | None], float] = {}
        self.driven: dict[object, dict[str, str]] = {}
        self.waiting: dict[tuple[int, int], _Open] = {}
        # Bounds of what any placement can reach; a branch that cannot beat the best is cut.
        self.most_bridges = most_bridges(bridges, self.slots.values())
        self.most_drives = len(self._ports_for(start))
        self.polish = POLISH if self._leaves_air() else 0
        self.root_sizes = sorted(
            Counter(seating.roots[slot] for slot in self.slots).values(), reverse=True
        )
        self.steps, self.limit = 0, steps
        self.best: Score | None = None
        self.found = start
        self.ideal: Score = self._ideal(start)
        self._descend(0, start, -1)

    def _seek(self, cards: list[Card], start: Standing, by_model: bool) -> None:
        """Order the cards that seek a slot, GPUs and the hungriest first, with the slots that each
        may take, best first; `twins` says where a card may swap with the one before it, so that
        only one order of the two is tried."""
        free = [card for card in cards if card.name not in start.slots and not card.wish]
        free.sort(
            key=lambda card: (
                not card.is_gpu,
                -self._appetite(card),
                -self.weights.get(card.name, 0.0),
                card.columns,
                card.part.id,
                card.riser or "",
            )
        )
        self.free = _seated_at_most(free, len(self.slots))
        ranked = {
            (card.kind, card.width, card.gen, card.shows): self._ranked(card)
            for card in _one_of_each(self.free)
        }
        self.choices = [ranked[card.kind, card.width, card.gen, card.shows] for card in self.free]
        swaps = (one.swaps_with(other, by_model) for one, other in itertools.pairwise(self.free))
        self.twins = [False, *swaps, False]

    def places_all(self) -> bool:
        """Say whether as many GPUs and cards are placed as no placement can beat."""
        return (
            self.best is not None
            and self.best[0] >= self.ideal[0]
            and self.best[2] >= self.ideal[2]
        )

    def _appetite(self, card: Card) -> float:
        """Return the rate that a card's edge could take in the board's fastest slot of its kind."""
        most = max(
            (slot.gen or FASTEST for slot in self.slots.values() if slot.kind == card.kind),
            default=FASTEST,
        )
        return (card.width or 1) * LANE_GBS.get(min(card.gen or 3, most), 1.0)

    def _ranked(self, card: Card) -> list[tuple[Slot, float]]:
        offers = self.seating.offers
        fitting = [
            s for s in self.slots.values() if enters(card, s) and not offers[s.id].disabled_by
        ]
        ranked = [(slot, link_rate(card, offers[slot.id])) for slot in fitting]
        if card.shows:  # pictures need no rate: the slowest slot first
            ranked.sort(key=lambda choice: (choice[1], -self.order[choice[0].id]))
            return [(slot, 0.0) for slot, _ in ranked]
        return sorted(ranked, key=lambda choice: (-choice[1], self.order[choice[0].id]))

    def _descend(self, depth: int, standing: Standing, last: int) -> None:
        self.steps += 1
        if self.best is not None and (
            self.steps > self.limit or self._bound(depth, standing, last) < self.best
        ):
            return
        if depth == len(self.free) or len(standing.taken) == len(self.slots):
            self._finish(standing)
            return
        card, choices = self.free[depth], self.choices[depth]
        tried: set[object] = set()
        for rank in range(last + 1 if self.twins[depth] else 0, len(choices)):
            slot = choices[rank][0]
            kind = self.classes[slot.id]
            if self.steps > self.limit and self.best is not None:
                return
            if kind not in tried and self._admits(standing, card, slot):
                tried.add(kind)
                self._descend(depth + 1, standing.with_card(card, slot), rank)
        self._descend(depth + 1, standing, len(choices))

    def _leaves_air(self) -> bool:
        """Say whether placements of equal links may differ yet: in the air between GPUs, or in
        drives that cards push aside."""
        aired = {slot.kind for slot in self.slots.values() if slot.position is not None}
        return (
            bool(self.seating.touched)
            or sum(self.cards[name].kind in aired for name in self.warm) > 1
        )

    def _admits(self, standing: Standing, card: Card, slot: Slot) -> bool:
        if slot.id in standing.taken or in_the_way(standing, card, slot, self.slots):
            return False
        if not self.seating.modes:
            return True
        used = standing.used() | {slot.id}
        offers = self.seating.at(used, self.protocols)
        return not any(offers[place].disabled_by for place in used if place in offers)

    def _bound(self, depth: int, standing: Standing, last: int) -> Score:
        """Return a score that no completion of a partial placement can beat: open cards get their
        best slots, as far as there are slots left."""
        offers = self.seating.at(standing.used(), self.protocols, settled=True)
        rates, others = self._rates(standing, offers)
        waiting = self.waiting.get((depth, last)) or self._open(depth, last)
        taken, hidden = standing.taken, standing.hidden
        room = sum(
            [place not in taken and position not in hidden for place, position in waiting.places]
        )
        rates += waiting.rates[:room]
        placed = len(standing.slots) + min(room, waiting.count)
        roots = max(
            len({self.seating.roots[slot] for slot in standing.slots.values()}),
            self._least_roots(placed),
        )
        total = sum(others) + waiting.others
        return (
            len(rates),
            self.most_bridges,
            placed,
            self.most_drives,
            -self._beyond(standing),
            min(rates, default=0.0),
            sum(rates),
            sum(map(operator.mul, sorted(rates, reverse=True), self.heaviest)),
            -roots,
            total,
            math.inf,
        )

    def _ideal(self, start: Standing) -> Score:
        """Return a score that no placement can beat, with the most air and the fastest drives that
        there could be."""
        links = self._bound(0, start, -1)[:_LINKS]
        drives = 0.0
        for drive in self.drives:
            rates = [
                drive_rate(drive, self.seating.offers[port.id])
                for port in self.seating.layout.drives
                if speaks(drive, port)
            ]
            drives += max(rates, default=0.0)
        return (*links, self._most_air(int(links[0])), drives)

    def _most_air(self, gpus: int) -> float:
        """Return the most free columns that there could be between any two of so many GPUs."""
        cards = _one_of_each(self.cards[name] for name in self.gpus)
        entered = [
            slot for slot in self.slots.values() if any(enters(card, slot) for card in cards)
        ]
        columns = sorted({slot.position for slot in entered if slot.position is not None})
        standing = gpus - sum(slot.position is None for slot in entered)
        if standing < 2 or not columns:
            return math.inf
        apart = next(
            (
                gap
                for gap in range(columns[-1] - columns[0], 0, -1)
                if _seated_apart(columns, gap) >= standing
            ),
            0,
        )
        return apart - min(self.cards[name].columns for name in self.gpus)

    def _open(self, depth: int, last: int) -> "_Open":
        """Return what the cards from one on could get, whatever the others hold."""
        rates: list[float] = []
        others: list[float] = []
        places: dict[str, int | None] = {}
        rank = last
        for index in range(depth, len(self.free)):
            rank = rank + 1 if self.twins[index] else 0
            choices = self.choices[index]
            if rank < len(choices):
                (rates if self.free[index].is_gpu else others).append(choices[rank][1])
                places.update((slot.id, slot.position) for slot, _ in choices)
        found = _Open(
            sorted(rates, reverse=True),
            sum(others),
            len(rates) + len(others),
            tuple(places.items()),
        )
        self.waiting[depth, last] = found
        return found

    def _least_roots(self, placed: int) -> int:
        """Return over how many roots so many cards spread at least."""
        count = 0
        for size in self.root_sizes:
            if placed <= 0:
                break
            placed -= size
            count += 1
        return count

    def _finish(self, standing: Standing) -> None:
        ports = self._ports_for(standing)
        offers = self.seating.at(
            frozenset((*standing.taken, *ports.values())), protocols_of(self.drives, ports)
        )
        rates, others = self._rates(standing, offers)
        roots = {self.seating.roots[slot] for slot in standing.slots.values()}
        reached = 0
        if self.bridges:
            reached = len(
                bridged(
                    self.bridges,
                    self.cards,
                    {name: self.slots[slot] for name, slot in standing.slots.items()},
                )
            )
        drives = sum(
            drive_rate(drive, offers[ports[drive.name]])
            for drive in self.drives
            if drive.name in ports
        )
        score = (
            len(rates),
            reached,
            len(standing.slots),
            len(ports),
            -self._beyond(standing),
            min(rates, default=0.0),
            sum(rates),
            sum(map(operator.mul, rates, self._weights_of(standing))),
            -len(roots),
            sum(others),
            self._breathing(standing),
            drives,
        )
        if self.best is None or score > self.best:
            self.best = score
            self.found = Standing(standing.slots, standing.taken, ports, standing.hidden)
            if score >= self.ideal:
                self.limit = self.steps
            elif score[:_LINKS] >= self.ideal[:_LINKS]:
                self.limit = min(self.limit, self.steps + self.polish)

    def _weights_of(self, standing: Standing) -> list[float]:
        """Return the weights of the GPUs in the order of their rates."""
        return [self.weights[name] for name in standing.slots if name in self.gpus]

    def _ports_for(self, standing: Standing) -> dict[str, str]:
        """Return the ports of the drives; they depend on cards only through the places that lane
        modes speak of."""
        key = frozenset(
            (place, name in self.gpus)
            for place, name in standing.taken.items()
            if place in self.seating.touched
        )
        if key not in self.driven:
            self.driven[key] = place_drives(
                self.seating,
                self.drives,
                frozenset(standing.taken),
                standing.ports,
                lambda used, spoken: self._cost(standing, used, spoken),
            )
        return self.driven[key]

    def _rates(
        self, standing: Standing, offers: dict[str, Offer]
    ) -> tuple[list[float], list[float]]:
        gpus: list[float] = []
        others: list[float] = []
        for name, slot in standing.slots.items():
            offer = offers[slot]
            key = (name, offer.width, offer.gen)
            if key not in self.rates:
                shows = name in self.shown
                self.rates[key] = 0.0 if shows else link_rate(self.cards[name], offer)
            (gpus if name in self.gpus else others).append(self.rates[key])
        return gpus, others

    def _cost(self, standing: Standing, used: frozenset[str], protocols: dict[str, str]) -> Score:
        gpus, others = self._rates(standing, self.seating.at(used, protocols))
        return (-min(gpus, default=0.0), -sum(gpus), -sum(others))

    def _pairs_beyond(self, columns: int | None) -> frozenset[tuple[str, str]]:
        """Return the cards and slots in which these would reach beyond the last column of the
        case."""
        if columns is None:
            return frozenset()
        return frozenset(
            (card.name, slot.id)
            for card in self.cards.values()
            for slot in self.slots.values()
            if columns_over(card, slot, columns) > 0
        )

    def _beyond(self, standing: Standing) -> int:
        """Return how many cards reach beyond the last column of the case."""
        return len(self.beyond & standing.slots.items()) if self.beyond else 0

    def _breathing(self, standing: Standing) -> int:
        """Return the smallest number of free columns between two GPUs, those of the monitors too,
        which open coolers want."""
        spans = sorted(
            (position, position + self.cards[name].columns)
            for name, place in standing.slots.items()
            if name in self.warm and (position := self.slots[place].position) is not None
        )
        return min((after[0] - before[1] for before, after in itertools.pairwise(spans)), default=0)


def _weights(cards: list[Card]) -> dict[str, float]:
    """Return what the link of each GPU counts: those of the strongest model most, by link, memory
    and watts."""
    strengths = {
        card.name: (
            link_gbs(card.part.edge_gen, card.part.edge_width) or 0.0,
            card.part.memory_gib or 0.0,
            card.part.tdp_w or 0.0,
        )
        for card in cards
        if card.is_gpu and isinstance(card.part, GPU)
    }
    ranked = sorted(set(strengths.values()), reverse=True)
    return {name: 1.0 / (1 + ranked.index(strength)) for name, strength in strengths.items()}


def _one_of_each(cards: Iterable[Card]) -> list[Card]:
    """Return a card of each link that some have."""
    return list({(card.kind, card.width, card.gen, card.shows): card for card in cards}.values())


def _seated_apart(columns: list[int], gap: int) -> int:
    """Return how many cards stand at least `gap` columns apart, where each takes the first column
    that it can."""
    count, free = 0, -math.inf
    for column in columns:
        if column >= free:
            count, free = count + 1, column + gap
    return count


def _seated_at_most(cards: list[Card], slots: int) -> list[Card]:
    """Return the cards without those that are more of one model than the board has slots: they stay
    without a place anyway."""
    taken: Counter[tuple[str, str | None]] = Counter()
    kept: list[Card] = []
    for card in cards:
        key = (card.part.id, card.riser)
        taken[key] += 1
        if taken[key] <= slots and len(kept) < MOST_CARDS:
            kept.append(card)
    return kept


def _slot_classes(
    seating: Seating, cards: list[Card], bridges: list[LooseBridge], columns: int | None
) -> dict[str, object]:
    """Return a class per slot: slots of one class give a card the same. Lane modes single a slot
    out; so does its position, unless no card is thick enough to reach the next slot or the end of
    the case and nothing is bridged."""
    positions = sorted(slot.position for slot in seating.layout.slots if slot.position is not None)
    gap = min((after - before for before, after in itertools.pairwise(positions)), default=math.inf)
    sizes = list({(card.columns, card.riser is None): card for card in cards}.values())
    apart = not bridges and all(card.columns <= gap for card in sizes)
    classes: dict[str, object] = {}
    for slot in seating.layout.slots:
        offer, root = seating.offers[slot.id], seating.roots[slot.id]
        alone = slot.id in seating.touched or not (apart or slot.position is None)
        over = max((columns_over(card, slot, columns) for card in sizes), default=0)
        alike = (
            slot.kind,
            slot.mechanical,
            slot.open_ended,
            offer.width,
            offer.gen,
            slot.origin,
            slot.root,
            root,
            over,
        )
        classes[slot.id] = slot.id if alone else alike
    return classes
