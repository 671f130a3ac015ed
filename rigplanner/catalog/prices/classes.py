"""Parts that cost the same: what one of them costs today, when the price of another is old.

A shop's price of one board or kit stays in the catalog for months while its class moves: from July
2025 to September 2026 kits of 2 x 32 GB DDR5 rose from 205 to 1,099 USD, and cards with the RTX
5090 chip from 2,600 to 4,900 USD (prices in this catalog)."""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from statistics import median

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import convert, shipped_rates
from rigplanner.catalog.prices.index import CARRIED
from rigplanner.catalog.schema.parts import (
    GPU,
    AnyPart,
    MemoryKit,
    PowerSupply,
    Price,
    Storage,
)

OLD_DAYS = 183
"""A price older than half a year gives way to a newer one of its class."""
SAME_TIME_DAYS = 60
"""Prices so near to the newest of a class count as of one time; the lowest of them is taken."""
SMALL_RATE, RATE_STEP = 4800, 800
"""Memory rates in MT/s are told apart in steps from here on: 6,000 and 6,400 cost alike."""
BY_MEDIAN = ("storage", "psu")
"""Classes of several makers, dear and cheap ones: their middle price stands for a part of them."""

BY_THE_GIB = "; by the GiB, from kits of other sizes"
"""Ends the source of a price that a kit of memory has from those of other sizes."""


def class_of(part: AnyPart) -> tuple[object, ...] | None:
    """Return what parts share that cost about the same; None for kinds whose prices follow the
    single part."""
    if isinstance(part, GPU) and part.chip:
        return ("gpu", part.chip, part.memory_gib, part.sms, part.form_factor)
    if isinstance(part, MemoryKit):
        rate = max(0, (part.speed_mts or 0) - SMALL_RATE) // RATE_STEP
        return ("memory", part.type, part.module, part.modules, part.module_gib, rate)
    if isinstance(part, Storage):
        spins = part.rotation_rpm is not None
        form = (part.form_factor, part.interface, part.gen)
        return ("storage", spins, *form, part.capacity_gb)
    if isinstance(part, PowerSupply) and part.supply.efficiency_label and part.supply.ratings:
        watts = max(rating.watts for rating in part.supply.ratings)
        return ("psu", watts, part.supply.efficiency_label, part.form_factor)
    return None


def size_class_of(part: AnyPart) -> tuple[object, ...] | None:
    """Return what memory kits share whose prices move together, whatever their size; None for all
    other parts."""
    return ("gib", part.type, part.module) if isinstance(part, MemoryKit) else None


def class_prices(
    parts: Iterable[AnyPart], currency: str, counted: Callable[[Price], float | None]
) -> dict[tuple[object, ...], Price]:
    """Return for each class the lowest of its newest prices (of drives and supplies the middle
    one), and for each type of memory the median of its newest prices of a GiB in `currency`.
    `counted` says what a price is in that currency, None where it does not count."""
    known: dict[tuple[object, ...], list[tuple[float, Price]]] = {}
    sizes: dict[tuple[object, ...], list[tuple[float, Price]]] = {}
    for part in parts:
        kind, size = class_of(part), size_class_of(part)
        if kind is None:
            continue
        for price in part.prices:
            amount = counted(price) if price.condition != "launch" else None
            if amount is None or _day(price) is None:
                continue
            known.setdefault(kind, []).append((amount, price))
            if size is not None:
                sizes.setdefault(size, []).append((amount / _gib(part), price))
    made = {kind: _usual(kind, _newest(found)) for kind, found in known.items()}
    return made | {kind: _of_a_gib(_newest(found), currency) for kind, found in sizes.items()}


def _usual(kind: tuple[object, ...], near: list[tuple[float, Price]]) -> Price:
    """The price that stands for a class, of those of about one time."""
    ordered = sorted(near, key=_amount)
    return ordered[(len(ordered) - 1) // 2 if kind[0] in BY_MEDIAN else 0][1]


def newest_in(prices: Iterable[Price], currency: str) -> Price | None:
    """Return the newest of prices that count; one in `currency` itself before others that are no
    more than half a year newer."""
    counted = list(prices)
    newest = max(counted, key=_price_day, default=None)
    same = max((p for p in counted if p.currency == currency), key=_price_day, default=None)
    if same is None or newest is None:
        return newest
    first, last = _day(same), _day(newest)
    late = first is not None and last is not None and (last - first).days > OLD_DAYS
    return newest if late or (same.condition == "launch" != newest.condition) else same


def _price_day(price: Price) -> str:
    return price.day


def shared_price(part: AnyPart, own: Price | None, catalog: Catalog) -> Price | None:
    """Return what parts equal to this one cost last, where that is a newer price by more than half
    a year than `own` (or than a launch price); else `own`."""
    kind = class_of(part)
    other = _of_equals(catalog).get(kind) if kind is not None else None
    if other is None or other in part.prices:
        return own
    own_day = _day(own) if own is not None and own.condition != "launch" else None
    day = _day(other)
    if own_day is not None and day is not None and (day - own_day).days <= OLD_DAYS:
        return own
    return replace(other, source=f"{other.source}; of an equal part")


_kept: tuple[object, dict[tuple[object, ...], Price]] | None = None
"""The class prices of the catalog that was asked for last: they take a look at every part."""


def _of_equals(catalog: Catalog) -> dict[tuple[object, ...], Price]:
    global _kept
    kept = _kept
    if kept is None or kept[0] is not catalog.parts:
        rates = shipped_rates()
        made = class_prices(
            catalog.parts.values(), "USD", lambda p: convert(p.amount, p.currency, "USD", rates)
        )
        kept = _kept = (catalog.parts, made)
    return kept[1]


_told: tuple[object, frozenset[tuple[float, str, str]]] | None = None
"""Amount, source and day of the prices of the catalog that was asked for last."""


def is_from_catalog(price: Price, catalog: Catalog) -> bool:
    """Return whether a price was taken from the catalog, not entered by somebody: it is one of the
    catalog's, counted from those of memory by the GiB, or carried to a day by the index. The best
    rig carries its prices so."""
    global _told
    kept = _told
    if kept is None or kept[0] is not catalog.parts:
        every = (price for part in catalog.parts.values() for price in part.prices)
        kept = _told = (catalog.parts, frozenset((p.amount, p.source, p.day) for p in every))
    known = (price.amount, price.source, price.day) in kept[1]
    return known or price.source.endswith(BY_THE_GIB) or CARRIED in price.source


def _newest(found: list[tuple[float, Price]]) -> list[tuple[float, Price]]:
    """The prices of about the day of the newest one."""
    newest = max(_day(price) or date.min for _, price in found)
    return [pair for pair in found if (newest - (_day(pair[1]) or date.min)).days <= SAME_TIME_DAYS]


def _amount(pair: tuple[float, Price]) -> float:
    return pair[0]


def _of_a_gib(near: list[tuple[float, Price]], currency: str) -> Price:
    latest = max((price for _, price in near), key=lambda price: price.day)
    return replace(latest, amount=median(map(_amount, near)), currency=currency)


def _gib(part: AnyPart) -> float:
    return part.modules * part.module_gib if isinstance(part, MemoryKit) else 1.0


def todays_price(
    part: AnyPart,
    own: Price,
    classes: Mapping[tuple[object, ...], Price],
    today: str,
    counted: Callable[[Price], float | None] = lambda price: price.amount,
) -> Price:
    """Return a part's own price, or where that is old the newer one of its class; of memory that
    of a GiB of its type, where no kit of its size has a newer one. A younger price gives way too
    where the lowest of its class was dearer later, by what prices are as `counted`: nobody sells
    it for less than that since."""
    own_day, day = _day(own), _iso(today)
    if own_day is None or day is None:
        return own
    kind, size = class_of(part), size_class_of(part)
    other = classes.get(kind) if kind is not None else None
    if (day - own_day).days <= OLD_DAYS:
        return other if other is not None and _outran(own, other, kind, counted) else own
    if other is not None and (_day(other) or own_day) > own_day:
        return other
    gib = classes.get(size) if size is not None else None
    if gib is not None and (_day(gib) or own_day) > own_day:
        amount = round(gib.amount * _gib(part), 2)
        return replace(gib, amount=amount, source=f"{gib.source}{BY_THE_GIB}")
    return own


def _outran(
    own: Price,
    other: Price,
    kind: tuple[object, ...] | None,
    counted: Callable[[Price], float | None],
) -> bool:
    """Say whether the lowest price of a class is of a later time than an own one of the same
    condition, and dearer."""
    first, last = _day(own), _day(other)
    if kind is None or kind[0] in BY_MEDIAN or first is None or last is None:
        return False
    late = (last - first).days > SAME_TIME_DAYS and own.used == other.used
    return late and (counted(other) or 0.0) > (counted(own) or math.inf)


def _day(price: Price) -> date | None:
    return _iso(price.day)


def _iso(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
