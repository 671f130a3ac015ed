"""What parts cost today: the newest price that counts, or the newer one of the part's class; an old
one as the index of prices carries it to today; and within which interval."""

import math
from collections import Counter
from datetime import date
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import (
    OLD_DAYS,
    class_of,
    class_prices,
    newest_in,
    todays_price,
)
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.prices.index import as_of_today, carried, shipped_index
from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.catalog.schema.parts import AnyPart, Price, kind_of
from rigplanner.planning.best.question import PRICE_AGE_DAYS

SAME_TIME_DAYS = 92
"""Prices of a class so near to today's count into its interval."""
KINDS = ("gpu", "motherboard", "cpu", "memory", "storage", "chassis", "cooler", "psu")
HOME_LEAST = 10
"""Where of each of these kinds so many parts have a price in the market's own currency, rigs are
bought there: prices of other markets do not count for kinds of which so many are sold, unless they
are asked for. Judgement, not measurement."""
SPREAD_ABROAD = 0.275
"""By so much in logarithms do the prices of one part in two markets, converted, differ at most in
four of five pairs no more than two months apart (176 of this catalog, USD and TWD)."""


class Offer(Struct, frozen=True):
    """What one piece costs in the market's currency, within which interval, by which `price`. Where
    that one is carried to today, or of another market, `asked` is the one that somebody asked."""

    amount: float
    low: float
    high: float
    price: Price
    asked: Price


class Market:
    """The parts that can be bought at prices that count in `currency`: not older than
    `oldest_days`, of new parts alone unless `used`, and of other markets only for kinds that it
    hardly sells itself, unless `abroad`."""

    def __init__(
        self,
        catalog: Catalog,
        currency: str,
        today: str,
        rates: ExchangeRates | None = None,
        used: bool = True,
        oldest_days: int = PRICE_AGE_DAYS,
        abroad: bool = False,
    ) -> None:
        self.catalog, self.currency, self.today, self.rates = catalog, currency, today, rates
        self.used, self.oldest_days, self.abroad = used, oldest_days, abroad
        self._offers: dict[str, Offer | None] = {}

    def offer(self, part: AnyPart) -> Offer | None:
        """Return what a part costs today; None where no price of it counts."""
        if part.id not in self._offers:
            self._offers[part.id] = self._made(part)
        return self._offers[part.id]

    def is_todays(self, part: AnyPart) -> bool:
        """Return whether a part has a price that counts and is young enough."""
        offer = self.offer(part)
        return offer is not None and self.age_days(offer.price) <= self.oldest_days

    def is_sold_abroad(self, part: AnyPart) -> bool:
        """Return whether a part would have a price if those of other markets counted."""
        return any(self.counted(price) is not None for price in part.prices)

    def age_days(self, price: Price) -> int:
        """Return the age of a price; a day that is none is as old as can be."""
        try:
            return (date.fromisoformat(self.today) - date.fromisoformat(price.day)).days
        except ValueError:
            return 10**6

    def counted(self, price: Price) -> float | None:
        """Return what a price is in the market's currency, None where it does not count: used where
        new is asked for, or of a launch half a year ago."""
        if price.used and not self.used:
            return None
        if price.condition == "launch" and self.age_days(price) > OLD_DAYS:
            return None
        return convert(price.amount, price.currency, self.currency, self.rates)

    def counted_at_home(self, price: Price) -> float | None:
        """Return what a price is where it is in the market's own currency and counts."""
        return self.counted(price) if price.currency == self.currency else None

    @cached_property
    def home(self) -> frozenset[str]:
        """The kinds that are bought in the market itself; none where it does not sell whole
        rigs."""
        if self.abroad:
            return frozenset()
        sold = Counter(
            kind_of(part)
            for part in self.catalog.parts.values()
            if any(self.counted_at_home(price) is not None for price in part.prices)
        )
        if any(sold[kind] < HOME_LEAST for kind in KINDS):
            return frozenset()
        return frozenset(kind for kind, parts in sold.items() if parts >= HOME_LEAST)

    def own_price(self, part: AnyPart) -> Price | None:
        """Return the newest price of the very part that counts, in the currency itself before
        converted ones that are not half a year newer."""
        counts = self.counted_at_home if kind_of(part) in self.home else self.counted
        return newest_in((p for p in part.prices if counts(p) is not None), self.currency)

    @cached_property
    def _classes(self) -> dict[tuple[object, ...], Price]:
        parts = self.catalog.parts.values()
        home = [part for part in parts if kind_of(part) in self.home]
        others = [part for part in parts if kind_of(part) not in self.home]
        return class_prices(home, self.currency, self.counted_at_home) | class_prices(
            others, self.currency, self.counted
        )

    @cached_property
    def _near(self) -> dict[tuple[object, ...], list[float]]:
        """The prices of each class that are about as new as its newest one."""
        found: dict[tuple[object, ...], list[tuple[str, float]]] = {}
        for part in self.catalog.parts.values():
            kind = class_of(part)
            counts = self.counted_at_home if kind_of(part) in self.home else self.counted
            for price in part.prices if kind else ():
                amount = counts(price)
                if kind and amount is not None:
                    found.setdefault(kind, []).append((price.day, amount))
        return {kind: _newest(pairs) for kind, pairs in found.items()}

    def _made(self, part: AnyPart) -> Offer | None:
        own = self.own_price(part)
        asked = own and todays_price(part, own, self._classes, self.today, self.counted)
        counted = None if asked is None else self.counted(asked)
        if asked is None or counted is None:
            return None
        amount = self._as_paid(counted)
        if self.age_days(asked) > OLD_DAYS:
            return self._carried(part, asked, amount)
        kind = class_of(part)
        near = self._near.get(kind, []) if kind else []
        apart = 1.0 if asked.currency == self.currency else math.exp(SPREAD_ABROAD)
        low, high = min([amount / apart, *near]), max([amount * apart, *near])
        return Offer(amount, round(low, 2), round(high, 2), asked, asked)

    def _as_paid(self, amount: float) -> float:
        """An amount for one piece as sums of a rig count it: in cents, or whole where shops ask
        whole amounts."""
        return round(amount + 1e-9, 0 if self.currency in WHOLE_CURRENCIES else 2)

    def _carried(self, part: AnyPart, asked: Price, amount: float) -> Offer | None:
        """What an old price would be today; its interval is that of the index, wider where the
        price is of another market."""
        index = shipped_index()
        price = replace(asked, amount=amount, currency=self.currency)
        today = carried(part, price, self.today, index)
        if today is None:
            return None
        spread = math.log(today.high / today.value)
        if asked.currency != self.currency:
            spread = math.hypot(spread, SPREAD_ABROAD)
        value, apart = self._as_paid(today.value), math.exp(spread)
        made = as_of_today(price, value, self.today)
        return Offer(value, round(value / apart, 2), round(value * apart, 2), made, asked)


def _newest(pairs: list[tuple[str, float]]) -> list[float]:
    try:
        latest = max(date.fromisoformat(day) for day, _ in pairs)
        return [a for d, a in pairs if (latest - date.fromisoformat(d)).days <= SAME_TIME_DAYS]
    except ValueError:
        return []
