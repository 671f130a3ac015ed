"""The cheapest computer around given cards: board, processor, memory, drive, supply, case and
cooler that no rule objects to."""

import math
from collections.abc import Callable
from datetime import date
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import class_prices, todays_price
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.schema.parts import (
    CPU,
    AnyPart,
    Chassis,
    MemoryKit,
    Motherboard,
    Price,
    Storage,
)
from rigplanner.machine.model import PowerTree
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.edits import add_part
from rigplanner.rules.assess import assess, machine_of
from rigplanner.rules.badges import Trial

MOST_BASES = 12
WIDE = 8
"""Lanes of a slot that serves a GPU beside others without a warning."""
TODAYS_DAYS = 730
"""A price of the last two years counts as one of today; older ones are taken only where there is no
other."""


class Need(Struct, frozen=True, kw_only=True):
    """What the computer around `cards` GPUs must have at least. `quiet` leaves open frames out."""

    cards: int
    cores: int
    ram_gib: float
    storage_gb: float
    quiet: bool = False


class Market:
    """The parts that can be bought: those with a price that counts in `currency`, cheapest first,
    old prices after all others."""

    def __init__(
        self, catalog: Catalog, currency: str, today: str, rates: ExchangeRates | None = None
    ) -> None:
        self.catalog, self.currency, self.today, self.rates = catalog, currency, today, rates

    def price_of(self, part: AnyPart) -> Price | None:
        """Return what a part costs today: its newest price that counts, or the newer one of its
        class where that is old; None when it has none."""
        own = self._own_price(part)
        return own and todays_price(part, own, self._classes, self.today)

    def priced(self, rig: Rig) -> Rig:
        """Return a rig whose items carry the price of their class where their own is old."""
        return replace(rig, items=tuple(map(self._priced, rig.items)))

    def _priced(self, item: Item) -> Item:
        part = self.catalog.get(item.part)
        price = self.price_of(part) if part else None
        return (
            item if part is None or price == self._own_price(part) else replace(item, price=price)
        )

    @cached_property
    def _classes(self) -> dict[tuple[object, ...], Price]:
        return class_prices(self.catalog.parts.values(), self.currency, self._counted)

    def _counted(self, price: Price) -> float | None:
        return convert(price.amount, price.currency, self.currency, self.rates)

    def _own_price(self, part: AnyPart) -> Price | None:
        """Return the newest price of the very part that counts, in the currency itself before
        converted ones."""
        same = [price for price in part.prices if price.currency == self.currency]
        others = [
            p
            for p in part.prices
            if convert(1.0, p.currency, self.currency, self.rates) is not None
        ]
        return max(same or others, key=lambda price: price.day, default=None)

    def amount(self, part: AnyPart) -> float:
        """Return what one piece costs in the market's currency; the part must have a price that
        counts."""
        price = self.price_of(part)
        assert price is not None
        return convert(price.amount, price.currency, self.currency, self.rates) or 0.0

    def is_todays(self, part: AnyPart) -> bool:
        """Return whether the part's price is one of the last two years."""
        price = self.price_of(part)
        return price is not None and _days(price.day, self.today) <= TODAYS_DAYS

    @cached_property
    def _offered(self) -> dict[str, list[AnyPart]]:
        found: dict[str, list[AnyPart]] = {}
        for part in self.catalog.parts.values():
            if self.price_of(part) is not None:
                found.setdefault(str(part.__struct_config__.tag), []).append(part)
        for parts in found.values():
            parts.sort(key=lambda part: (not self.is_todays(part), self.amount(part), part.id))
        return found

    def of_kind(self, kind: str) -> list[AnyPart]:
        """Return the parts of a kind that can be bought."""
        return self._offered.get(kind, [])


def _days(day: str, today: str) -> int:
    try:
        return (date.fromisoformat(today) - date.fromisoformat(day)).days
    except ValueError:
        return TODAYS_DAYS + 1


class Base(Struct, frozen=True):
    """A board with the cheapest processor and memory for it; `amount` is what they cost."""

    board: Motherboard
    cpu: CPU
    memory: MemoryKit
    kits: int
    amount: float


def bases(need: Need, market: Market) -> list[Base]:
    """Return the boards that can be bought with processor and memory for them: old prices last,
    then those with too few wide slots at the processor for the cards, else cheapest first."""
    found = []
    for board in market.of_kind("motherboard"):
        assert isinstance(board, Motherboard)
        cpu = _cheapest_cpu(board, need, market)
        memory = _cheapest_memory(board, need, market)
        if cpu is not None and memory is not None:
            kit, kits = memory
            amount = market.amount(board) + market.amount(cpu) + kits * market.amount(kit)
            found.append(Base(board, cpu, kit, kits, amount))
    found.sort(
        key=lambda base: (
            _is_old(base, market),
            need.cards - min(need.cards, wide_slots(base.board)),
            base.amount,
        )
    )
    return found[:MOST_BASES]


def _is_old(base: Base, market: Market) -> bool:
    return not all(market.is_todays(part) for part in (base.board, base.cpu, base.memory))


def wide_slots(board: Motherboard) -> int:
    """Return how many slots of a board can have eight lanes or more of a processor."""
    return sum(
        (slot.origin or "").startswith("cpu") and (slot.width or 0) >= WIDE
        for slot in board.layout.slots
    )


def _cheapest_cpu(board: Motherboard, need: Need, market: Market) -> CPU | None:
    sockets = board.layout.sockets
    wanted = (
        cpu
        for cpu in market.of_kind("cpu")
        if isinstance(cpu, CPU)
        and len(sockets) == 1
        and cpu.socket == sockets[0]
        and (cpu.cores or 0) >= need.cores
    )
    return next((cpu for cpu in wanted if _takes(board, cpu)), None)


def _takes(board: Motherboard, cpu: CPU) -> bool:
    return not cpu.chipsets or board.layout.chipset is None or board.layout.chipset in cpu.chipsets


def _cheapest_memory(
    board: Motherboard, need: Need, market: Market
) -> tuple[MemoryKit, int] | None:
    """Return the kit and how many of it reach the memory that is needed for the least money, with a
    module on every channel, and no more than one if possible."""
    layout, best = board.layout, None
    channels = layout.memory_channels or 2
    for kit in market.of_kind("memory"):
        if (
            not isinstance(kit, MemoryKit)
            or kit.type != layout.memory_type
            or kit.module not in layout.memory_modules
        ):
            continue
        kits = math.ceil(max(need.ram_gib / (kit.modules * kit.module_gib), channels / kit.modules))
        if kits * kit.modules > (layout.memory_slots or 0):
            continue
        crowded = kits * kit.modules > channels
        cost = (not market.is_todays(kit), crowded, kits * market.amount(kit))
        if best is None or cost < best[0]:
            best = (cost, kit, kits)
    return (best[1], best[2]) if best else None


def with_host(
    cards: Rig, need: Need, market: Market, go_on: Callable[[], bool] = lambda: True
) -> Rig | None:
    """Return the rig of the cards with the cheapest computer around them that brings no error and
    the fewest warnings; None when none of the boards leads to one."""
    drive, best, fewest = _cheapest_drive(need, market), None, math.inf
    if drive is None:
        return None
    for base in bases(need, market):
        if not go_on() or not fewest:
            break
        rig = add_part(cards, part=base.board.id, stem="board")
        rig = add_part(rig, part=base.cpu.id, stem="cpu")
        rig = add_part(rig, part=base.memory.id, stem="memory", quantity=base.kits)
        rig = add_part(rig, part=drive.id, stem="ssd")
        machine = machine_of(rig, market.catalog)
        if machine.problems or _trips(machine.power):
            continue
        whole = _housed(rig, need, market)
        report = assess(whole, market.catalog, market.today).report if whole is not None else None
        if report is not None and not report.count("error") and report.count("warning") < fewest:
            best, fewest = whole, report.count("warning")
    return best


def _trips(power: PowerTree) -> bool:
    """Say whether parts draw more than their breaker bears: no supply gives more than it takes, so
    none need be tried."""
    return (
        power.sustained_w is not None
        and power.circuit_peak_w is not None
        and power.sustained_w > power.circuit_peak_w
    )


def _cheapest_drive(need: Need, market: Market) -> Storage | None:
    drives = (part for part in market.of_kind("storage") if isinstance(part, Storage))
    return next(
        (
            d
            for d in drives
            if d.form_factor == "m2" and d.interface == "nvme" and d.capacity_gb >= need.storage_gb
        ),
        None,
    )


def _housed(rig: Rig, need: Need, market: Market) -> Rig | None:
    """Add case, cooler and supply, each the cheapest that fits what is there."""
    for kind in ("chassis", "cooler", "psu"):
        part = _fitting(rig, kind, need, market)
        if part is None:
            return None
        rig = add_part(rig, part=part.id, stem=kind)
    return rig


def _fitting(rig: Rig, kind: str, need: Need, market: Market) -> AnyPart | None:
    """Return the part of a kind that fits with the fewest warnings and open questions, then the
    cheapest; an open frame only where no closed case fits. Parts are tried from the cheapest on
    until one leaves nothing to be said: no later one can be better."""
    best: tuple[tuple[bool, int, int], AnyPart] | None = None
    trial = Trial(rig, market.catalog, kind, "", market.today)
    for part in market.of_kind(kind):
        if need.quiet and _is_open(part):
            continue
        fitting = trial.fitting(part)
        severities = [severity for severity, _ in fitting.brings]
        rank = (_is_open(part), severities.count("warning"), severities.count("unknown"))
        if fitting.badge != "no" and (best is None or rank < best[0]):
            best = (rank, part)
            if not any(rank):
                break
    return best[1] if best else None


def _is_open(part: AnyPart) -> bool:
    return isinstance(part, Chassis) and part.enclosure.airflow in ("open", "server")
