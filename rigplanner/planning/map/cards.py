"""What a map shows: one card of each chip and memory, whole machines, and machines for hire."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.cloud import Cloud, CloudInstance, newest
from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.prices.index import as_of_today, carried, shipped_index
from rigplanner.catalog.schema.parts import GPU, AnyPart, Part, Price, System
from rigplanner.economics.totals import asked_today, is_old
from rigplanner.machine.displays import driving
from rigplanner.memory.usable_memory import unified

Kind = Literal["card", "machine", "hire"]
"""card: bought singly and put into a computer; machine: a whole computer with its GPUs, unified
memory among them; hire: paid by the hour."""

Condition = Literal["any", "new", "used"]

LAUNCH_DAYS = 366
"""A price counts as that of the launch when it is no younger than this after the release."""


class Card(Struct, frozen=True, kw_only=True):
    """A GPU that stands for all cards of its chip and memory, or a machine of `count` of them (0:
    as many as one likes). `price` is the newest of any of them, of a hire that of an hour of the
    whole machine; `cost` that price in the currency asked for, None where none is known or no rate
    is. `launch_cost`: what one card cost when it came out. `link` names the way between the GPUs
    where the machine settles it."""

    gpu: GPU
    boards: int = 1
    kind: Kind = "card"
    id: str = ""
    name: str = ""
    count: int = 0
    link: str | None = None
    price: Price | None = None
    cost: float | None = None
    launch_cost: float | None = None

    def counts(self, asked: Sequence[int]) -> Sequence[int]:
        """The numbers of GPUs to look at: those asked for; of a machine its own if it is asked."""
        return asked if not self.count else (self.count,) if self.count in asked else ()


class Money(Struct, frozen=True):
    """In which currency prices count, by which rates, and of which parts: new or used. `day`: the
    market of that day, what was out and what prices were known by then ("": of now); amounts in
    other currencies are converted at the rates of today. `today`: the day to which the price index
    carries old prices of now, as in the total of a rig ("": they stay as they were asked)."""

    currency: str = "USD"
    rates: ExchangeRates | None = None
    condition: Condition = "any"
    day: str = ""
    today: str = ""

    def of(self, price: Price) -> float | None:
        """The amount in the currency; None without a rate, for a part in another condition, or for
        a price that was not known yet."""
        if self.day and price.day > self.day:
            return None
        if self.condition != "any" and price.used != (self.condition == "used"):
            return None
        return convert(price.amount, price.currency, self.currency, self.rates)

    def asked(self, part: AnyPart) -> Iterator[tuple[Price, float]]:
        """Yield the prices of a part that count, each with its amount in the currency: a maker's
        price of the start only while the part is sold, or of a past day."""
        for price in part.prices if self.day else asked_today(part):
            cost = self.of(price)
            if cost is None:
                continue
            old = not self.day and self.today and is_old(price, self.today)
            now = carried(part, price, self.today, shipped_index()) if old else None
            if now is not None and price.amount:
                cost *= now.value / price.amount
                yield as_of_today(price, now.value, self.today), cost
            else:
                yield price, cost

    def sells(self, part: Part) -> bool:
        """Whether a part was out by the day; of a release known by its year or month alone, only
        once that is over, and never of one that is not known."""
        released = part.released
        if not self.day:
            return True
        return released is not None and released + "9999-12-31"[len(released) :] <= self.day


def cards(catalog: Catalog, words: str = "", money: Money | None = None) -> list[Card]:
    """Return the cards whose name holds all `words` ("" for all), one of each chip, and the chips
    that come with their computer only."""
    money = money or Money()
    kinds = _kinds(catalog)
    wanted = None
    if words:
        found = PartIndex(catalog.of_kind("gpu")).find(words, "gpu")
        wanted = {_kind(part) for part in found if isinstance(part, GPU)}
    return [
        _card(alike, money)
        for kind, alike in kinds.items()
        if (wanted is None or kind in wanted) and any(map(money.sells, alike))
    ]


def everything(
    catalog: Catalog, cloud: Cloud, words: str = "", money: Money | None = None
) -> list[Card]:
    """Return the cards, the whole machines and the machines for hire whose name holds all `words`.
    A chip that is sold in computers only stands for itself where no such computer is known."""
    money = money or Money()
    whole = list(machines(catalog, words, money))
    held = {_kind(each.gpu) for each in whole}
    single = [
        card
        for card in cards(catalog, words, money)
        if not built_in(card.gpu) or _kind(card.gpu) not in held
    ]
    return [*single, *whole, *hires(catalog, cloud, words, money)]


def with_monitors(found: Iterable[Card], taken_gib: float) -> list[Card]:
    """Return the cards, those of one's own with so much of their memory taken by monitors."""
    return [
        replace(card, gpu=driving(card.gpu, taken_gib)) if card.kind != "hire" else card
        for card in found
    ]


def built_in(gpu: GPU) -> bool:
    """Whether nobody buys a GPU without its computer."""
    return gpu.form_factor in ("embedded", "mxm") or unified(gpu)


def machines(catalog: Catalog, words: str, money: Money) -> Iterator[Card]:
    """Yield a machine of each kind and number of GPUs: the one with the newest price."""
    alike: dict[tuple[object, int], list[tuple[System, GPU]]] = defaultdict(list)
    for part in catalog.of_kind("system"):
        gpus = [
            (gpu, each.quantity)
            for each in (part.includes if isinstance(part, System) else ())
            if isinstance(gpu := catalog.get(each.part), GPU) and gpu.memory_gib
        ]
        if not isinstance(part, System) or not money.sells(part):
            continue
        if len(gpus) == 1 and _named(words, part, gpus[0][0]):
            alike[_kind(gpus[0][0]), gpus[0][1]].append((part, gpus[0][0]))
    for (_, quantity), found in alike.items():
        priced = [
            (price, cost, system, gpu)
            for system, gpu in found
            for price, cost in money.asked(system)
        ]
        best = max(priced, key=lambda row: (row[0].day, -row[1]), default=None)
        system, gpu = (best[2], best[3]) if best else min(found, key=lambda row: len(row[0].name))
        yield Card(
            gpu=gpu,
            boards=len(found),
            kind="machine",
            id=system.id,
            name=system.name,
            count=quantity,
            price=best[0] if best else None,
            cost=best[1] if best else None,
        )


def hires(catalog: Catalog, cloud: Cloud, words: str, money: Money) -> Iterator[Card]:
    """Yield the machines for hire that have a price and a GPU of the catalog."""
    for machine in cloud.instances.values():
        gpu = catalog.get(machine.gpu) if machine.gpu else None
        price = newest(tuple(p for p in machine.on_demand if not money.day or p.day <= money.day))
        if isinstance(gpu, GPU) and gpu.memory_gib and price and _holds(words, _said(machine)):
            yield Card(
                gpu=gpu,
                kind="hire",
                id=machine.id,
                name=f"{machine.provider} {machine.name}",
                count=machine.count,
                link=machine.link if machine.count > 1 else "none",
                price=price,
                cost=convert(price.amount, price.currency, money.currency, money.rates),
            )


def _said(machine: CloudInstance) -> str:
    return f"{machine.provider} {machine.name} {machine.gpu_name}"


def _named(words: str, system: System, gpu: GPU) -> bool:
    return _holds(words, " ".join((system.name, gpu.name, *system.aliases, *gpu.aliases)))


def _holds(words: str, text: str) -> bool:
    return all(word in text.casefold() for word in words.casefold().split())


def _kinds(catalog: Catalog) -> dict[object, list[GPU]]:
    kinds: dict[object, list[GPU]] = defaultdict(list)
    for part in catalog.of_kind("gpu"):
        if isinstance(part, GPU) and part.memory_gib:
            kinds[_kind(part)].append(part)
    return kinds


def same_kind(one: GPU, other: GPU) -> bool:
    """Whether two cards do the same work at the same rate, whoever made their boards."""
    return _kind(one) == _kind(other)


def _kind(gpu: GPU) -> object:
    """What cards share that do the same work at the same rate, whoever made the board."""
    if gpu.chip is None:
        return gpu.id
    return (
        gpu.chip,
        gpu.memory_gib,
        gpu.sms,
        gpu.form_factor,
        gpu.bandwidth_gbs,
        gpu.dies,
        gpu.edge_width,
    )


def _card(alike: list[GPU], money: Money) -> Card:
    """The card that stands for equal ones: the chip maker's own, of several one that is or was
    sold at a known price."""
    alike = [gpu for gpu in alike if money.sells(gpu)]
    price, cost = _newest(alike, money)
    chosen = min(
        alike,
        key=lambda gpu: (
            gpu.vendor != gpu.chip_maker,
            not gpu.prices,
            len(gpu.name),
            gpu.id,
        ),
    )
    whole = built_in(chosen)
    return Card(
        gpu=chosen,
        boards=len(alike),
        kind="machine" if whole else "card",
        id=chosen.id,
        name=chosen.name,
        count=1 if whole else 0,
        price=price,
        cost=cost,
        launch_cost=_launch_cost(alike, money),
    )


def _newest(alike: Iterable[GPU], money: Money) -> tuple[Price | None, float | None]:
    """The newest price of equal cards that counts in the currency; of one day the lowest."""
    counted = [pair for gpu in alike for pair in money.asked(gpu)]
    if not counted:
        return None, None
    day = max(price.day for price, _ in counted)
    return min(((p, c) for p, c in counted if p.day == day), key=lambda pair: pair[1])


def _launch_cost(alike: Sequence[GPU], money: Money) -> float | None:
    """What the maker asked at the start, or else the oldest price of equal cards, where it is of
    the year after their release."""
    plain = replace(money, condition="any")
    counted = [
        (price.condition != "launch", price.day, cost)
        for gpu in alike
        for price in gpu.prices
        if not price.used and (cost := plain.of(price)) is not None
    ]
    released = min((gpu.released for gpu in alike if gpu.released), default=None)
    if not counted or released is None:
        return None
    later, day, cost = min(counted)
    return cost if not later or _days_after(released, day) <= LAUNCH_DAYS else None


def _days_after(released: str, day: str) -> float:
    """Days from a release (year, month or day) to a day; infinite where one is no date."""
    try:
        start = date.fromisoformat((released + "-01-01")[:10] if len(released) < 10 else released)
        return (date.fromisoformat(day) - start).days
    except ValueError:
        return float("inf")
