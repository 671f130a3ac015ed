"""The rigs that come into question: for each kind of part its choices with their cost, the sets of
cards, and what was left out and why. A rig is one choice of each kind; complete machines are rigs
by themselves."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    AnyPart,
    Bridge,
    Chassis,
    MemoryKit,
    Motherboard,
    PowerSupply,
    Storage,
    System,
    kind_of,
)
from rigplanner.machine.power.loads import load_w
from rigplanner.memory.capacity.mixed_gpus import deals_layers
from rigplanner.planning.best.market import Market
from rigplanner.planning.best.question import Question, Size
from rigplanner.planning.best.works import overflows, trains
from rigplanner.rig.workload import Workload

HOST_KINDS = ("motherboard", "cpu", "memory", "storage", "chassis", "cooler", "psu")
"""The kinds around the cards, in the order in which they are chosen."""
KITS = (1, 2, 3, 4, 6, 8, 12)
"""Numbers of equal memory kits."""
MOST_MODULES = 16
MOST_SUPPLIES = 2
"""Equal supplies of one rig: one for the board, one for cards."""
CAP_SHARES = (0.85, 0.7)
"""Shares of a card's power to which it may be capped, where the circuit does not bear all of it."""
WIDEST_MM: dict[Size, float] = {"itx": 180.0, "matx": 260.0, "atx": 320.0, "any": math.inf}
"""Longest side of a board of that size, mm, with room for its tolerance."""
QUIET_CARDS = 2
MOST_BESIDE = 3
"""Cards that are bought beside owned ones of another kind."""
MOST_OF_TWO_KINDS = 4
"""Cards of two bought kinds together."""

Way = Literal["copies", "spread", "ram"]
"""How a job that says nothing lies on cards: a copy on each of several, divided among them, or with
the layers in RAM that they do not hold."""

Cause = Literal[
    "no-price",
    "old-price",
    "used",
    "abroad",
    "not-a-card",
    "quiet",
    "maker",
    "size",
    "slow-drive",
    "small",
    "barebone",
    "reference",
]
"""Why parts of the catalog are not in the space."""


class Option(Struct, frozen=True):
    """So many pieces of a part, what all of them cost and at most draw, in watts."""

    part: str
    quantity: int
    cost: float
    watts: float = 0.0


class CardSet(Struct, frozen=True):
    """So many cards, with a cap of power each (None: none), bridges between them, and how jobs lie
    on them; `others` of them are of another kind. Without cards `gpu` is ""."""

    gpu: str
    count: int
    cost: float
    way: Way = "copies"
    cap_w: float | None = None
    bridge: str = ""
    bridges: int = 0
    other: str = ""
    others: int = 0

    @property
    def kinds(self) -> tuple[tuple[str, int], ...]:
        """The kinds of card, and how many of each."""
        own = ((self.gpu, self.count - self.others),) if self.count else ()
        return (*own, (self.other, self.others)) if self.others else own


class Space(Struct, frozen=True, kw_only=True):
    """Choices by kind, cheapest first; sets of cards; complete machines; how many parts were left
    out, by cause."""

    options: dict[str, tuple[Option, ...]]
    sets: tuple[CardSet, ...]
    machines: tuple[Option, ...]
    left_out: dict[Cause, int]

    def below(self, kind: str) -> int:
        """Return how many ways there are to choose the kinds after `kind` ("": all)."""
        first = HOST_KINDS.index(kind) + 1 if kind else 0
        return math.prod(len(self.options[other]) for other in HOST_KINDS[first:])

    @property
    def sparing(self) -> dict[str, Option]:
        """Memory, drive, case and cooler that draw least: any rig draws as much as with these."""
        kinds = ("memory", "storage", "chassis", "cooler")
        return {
            kind: min(self.options[kind], key=lambda option: (option.watts, *_order(option)))
            for kind in kinds
            if self.options[kind]
        }

    @property
    def size(self) -> int:
        """How many rigs there are."""
        return len(self.sets) * self.below("") + len(self.machines)


def space_of(question: Question, market: Market) -> Space:
    """Return all rigs that come into question."""
    left_out: dict[Cause, int] = {}
    offered: dict[str, list[AnyPart]] = {
        kind: [] for kind in (*HOST_KINDS, "gpu", "bridge", "system")
    }
    for part in market.catalog.parts.values():
        if (kind := kind_of(part)) in offered:
            cause = _left_out(part, question, market)
            if cause is None:
                offered[kind].append(part)
            else:
                left_out[cause] = left_out.get(cause, 0) + 1
    offered = _only_pinned(offered, question, market)
    frames = any(map(is_frame, offered["chassis"]))
    options = {kind: _options(kind, offered[kind], question, market, frames) for kind in HOST_KINDS}
    machines = _machines(offered, question, market)
    pinned_machine = any(kind_of(p) == "system" for p in _pinned(question, market))
    sets = () if pinned_machine else tuple(_sets(offered, question, market))
    return Space(options=options, sets=sets, machines=machines, left_out=left_out)


def _pinned(question: Question, market: Market) -> list[AnyPart]:
    return [part for each in question.pinned if (part := market.catalog.get(each)) is not None]


def _only_pinned(
    offered: dict[str, list[AnyPart]], question: Question, market: Market
) -> dict[str, list[AnyPart]]:
    """Where parts of a kind are pinned they are its only choices."""
    pinned = _pinned(question, market)
    kinds = {kind_of(part) for part in pinned}
    return {
        kind: [part for part in pinned if kind_of(part) == kind and part in parts]
        if kind in kinds
        else parts
        for kind, parts in offered.items()
    }


def _machines(
    offered: dict[str, list[AnyPart]], question: Question, market: Market
) -> tuple[Option, ...]:
    kinds = {kind_of(part) for part in _pinned(question, market)}
    if kinds - {"system"} or question.least_cards:
        return ()
    found = [Option(p.id, 1, cost_of(p, 1, question, market)) for p in offered["system"]]
    return tuple(sorted(found, key=_order))


def _order(option: Option) -> tuple[float, str, int]:
    return option.cost, option.part, option.quantity


def cost_of(part: AnyPart, quantity: int, question: Question, market: Market) -> float:
    """Return what so many pieces cost: owned ones what selling them would bring; infinite where
    more are needed than are owned and none can be bought."""
    owned = next((each for each in question.owned if each.part == part.id), None)
    kept = min(quantity, owned.quantity) if owned else 0
    offer = market.offer(part)
    if offer is None and quantity > kept:
        return math.inf
    bought = 0.0 if offer is None else (quantity - kept) * offer.amount
    return round(bought + (kept * owned.resale if owned else 0.0), 2)


def _left_out(part: AnyPart, question: Question, market: Market) -> Cause | None:
    owned = any(each.part == part.id for each in question.owned)
    if (cause := _unsuited(part, question)) is not None:
        return cause
    if part.status == "reference":
        return "reference"
    if owned or market.is_todays(part):
        return None
    if market.offer(part) is not None:
        return "old-price"
    if any(price.used for price in part.prices) and not market.used:
        return "used"
    if market.is_sold_abroad(part):
        return "abroad"
    return "old-price" if part.prices else "no-price"


def _unsuited(part: AnyPart, question: Question) -> Cause | None:
    """Why a part does not suit the question, whatever it costs."""
    if isinstance(part, GPU):
        return _unsuited_card(part, question)
    if isinstance(part, System):
        return None if part.role == "complete" or part.role == "embedded" else "barebone"
    if isinstance(part, CPU):
        return "small" if part.cores is not None and part.cores < question.cores else None
    if isinstance(part, Storage):
        if part.capacity_gb < question.storage_gb:
            return "small"
        return "slow-drive" if part.rotation_rpm or part.form_factor not in ("m2", "2.5") else None
    if isinstance(part, Motherboard):
        sides = [side for side in (part.width_mm, part.depth_mm) if side is not None]
        too_big = sides and max(sides) > WIDEST_MM[question.size]
        return "size" if too_big or (question.size != "any" and not sides) else None
    if isinstance(part, Chassis) and question.quiet:
        return "quiet" if part.enclosure.airflow in ("open", "server") else None
    return None


def _unsuited_card(gpu: GPU, question: Question) -> Cause | None:
    if gpu.form_factor != "pcie":
        return "not-a-card"
    maker = gpu.chip_maker.casefold()
    wanted = [each.casefold() for each in question.makers]
    if (wanted and maker not in wanted) or maker in (e.casefold() for e in question.not_makers):
        return "maker"
    return "quiet" if question.quiet and gpu.cooling in ("blower", "passive") else None


def _options(
    kind: str, parts: list[AnyPart], question: Question, market: Market, frames: bool
) -> tuple[Option, ...]:
    found = [
        Option(
            part.id,
            quantity,
            cost_of(part, quantity, question, market),
            quantity * (load_w(part) or 0.0),
        )
        for part in parts
        for quantity in _quantities(part, question, frames)
    ]
    return tuple(sorted((each for each in found if each.cost < math.inf), key=_order))


def is_frame(part: AnyPart | None) -> bool:
    """Say whether a case is an open frame: beside what stands in it there is room for a second
    supply, which no catalog tells of a closed case."""
    return isinstance(part, Chassis) and part.enclosure.airflow == "open"


def _quantities(part: AnyPart, question: Question, frames: bool) -> Iterator[int]:
    if isinstance(part, MemoryKit):
        for kits in KITS:
            gib = kits * part.modules * part.module_gib
            if gib >= question.ram_gib and kits * part.modules <= MOST_MODULES:
                yield kits
    else:
        yield 1
        if isinstance(part, CPU) and part.sockets_max > 1:
            yield 2
        if isinstance(part, PowerSupply) and frames:
            yield MOST_SUPPLIES


def _sets(
    offered: dict[str, list[AnyPart]], question: Question, market: Market
) -> Iterator[CardSet]:
    """Yield the sets of cards; none at all where parts are pinned that need one."""
    cards = [part for part in offered["gpu"] if isinstance(part, GPU)]
    bridges = [part for part in offered["bridge"] if isinstance(part, Bridge)]
    most = min(question.most_cards, QUIET_CARDS if question.quiet else question.most_cards)
    pinned = any(kind_of(part) == "gpu" for part in _pinned(question, market))
    if not pinned and not question.least_cards:
        yield CardSet("", 0, 0.0)
    for gpu in cards:
        for count in range(max(1, question.least_cards), most + 1):
            cost = cost_of(gpu, count, question, market)
            if cost == math.inf:
                continue
            for cap in (None, *_caps(gpu, count, question)):
                yield CardSet(gpu.id, count, cost, "copies", cap)
                if any(overflows(want.workload, gpu, count) for want in question.wants):
                    yield CardSet(gpu.id, count, cost, "ram", cap)
                if count > 1:
                    yield CardSet(gpu.id, count, cost, "spread", cap)
                    yield from _bridged(gpu, count, cost, cap, bridges, question, market)
    if all(_deals_layers(want.workload) for want in question.wants):
        yield from _mixed(cards, most, question, market)


def _deals_layers(work: Workload) -> bool:
    """Say whether the software of a work deals out whole layers to cards that differ."""
    return bool(work.stack) and not trains(work) and deals_layers(work, work.stack or "")


def _mixed(cards: list[GPU], most: int, question: Question, market: Market) -> Iterator[CardSet]:
    """Yield cards of two kinds of the same maker, whose layers one program works on: those that
    are there already beside any bought one, and two bought kinds that no cheaper one matches."""
    owned = {each.part: each.quantity for each in question.owned}
    bought = [gpu for gpu in unmatched(cards, market) if gpu.id not in owned]
    for gpu, other in combinations(bought, 2):
        if gpu.chip_maker != other.chip_maker:
            continue
        for many, more in product(range(1, MOST_OF_TWO_KINDS), repeat=2):
            if many + more <= MOST_OF_TWO_KINDS and question.least_cards <= many + more <= most:
                parts = cost_of(gpu, many, question, market), cost_of(other, more, question, market)
                cost = round(sum(parts), 2)
                yield CardSet(gpu.id, many + more, cost, other=other.id, others=more)
    for mine, gpu in product([card for card in cards if card.id in owned], cards):
        twice = gpu.id in owned and gpu.id <= mine.id
        if gpu.chip_maker != mine.chip_maker or gpu.id == mine.id or twice:
            continue
        for kept, many in product(range(1, owned[mine.id] + 1), range(1, MOST_BESIDE + 1)):
            cost = cost_of(mine, kept, question, market) + cost_of(gpu, many, question, market)
            if cost < math.inf and question.least_cards <= kept + many <= most:
                yield CardSet(gpu.id, kept + many, round(cost, 2), other=mine.id, others=kept)


def unmatched(cards: list[GPU], market: Market) -> list[GPU]:
    """Return the cards that no cheaper one of the same maker matches in size and rate of its
    memory, on which the speed of layers that are dealt out rests; the fastest memory first, which
    takes the first slot."""
    found: list[GPU] = []
    offers = [(offer.amount, gpu) for gpu in cards if (offer := market.offer(gpu)) is not None]
    for _, gpu in sorted(offers, key=lambda pair: (pair[0], pair[1].id)):
        size, rate = gpu.memory_gib or 0.0, gpu.bandwidth_gbs or 0.0
        matched = any(
            other.chip_maker == gpu.chip_maker
            and (other.memory_gib or 0.0) >= size
            and (other.bandwidth_gbs or 0.0) >= rate
            for other in found
        )
        if not matched:
            found.append(gpu)
    return sorted(found, key=lambda gpu: (-(gpu.bandwidth_gbs or 0.0), gpu.id))


def _bridged(
    gpu: GPU,
    count: int,
    cost: float,
    cap: float | None,
    bridges: list[Bridge],
    question: Question,
    market: Market,
) -> Iterator[CardSet]:
    """Pairs of cards with NVLink bridges of their connector."""
    if count % 2 or not gpu.nvlink or not gpu.nvlink.connector:
        return
    for bridge in bridges:
        if bridge.connector == gpu.nvlink.connector and bridge.gpus == 2:
            pieces = count // 2 * bridge.per_pair
            joined = cost + cost_of(bridge, pieces, question, market)
            ways: tuple[Way, ...] = ("copies", "spread")
            for way in ways:
                yield CardSet(gpu.id, count, round(joined, 2), way, cap, bridge.id, pieces)


def _caps(gpu: GPU, count: int, question: Question) -> Iterator[float]:
    """Caps within the card's range, where the circuit does not bear the cards at full power."""
    site = question.site
    if site.volts is None or site.breaker_a is None or gpu.tdp_w is None:
        return
    if count * gpu.tdp_w <= site.volts * site.breaker_a * max(1, site.circuits) * 0.8:
        return
    for share in CAP_SHARES:
        watts = 5.0 * round(share * gpu.tdp_w / 5)
        if gpu.power_min_w is not None and gpu.power_min_w <= watts < gpu.tdp_w:
            yield watts
