"""What parts cost today: the newest price that counts, or the newer one of the part's class, and
within which interval."""

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
from rigplanner.catalog.prices.index import carried, shipped_index
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.planning.best.question import PRICE_AGE_DAYS

SAME_TIME_DAYS = 92
"""Prices of a class so near to today's count into its interval."""


class Offer(Struct, frozen=True):
    """What one piece costs in the market's currency, within which interval, by which price."""

    amount: float
    low: float
    high: float
    price: Price


class Market:
    """The parts that can be bought at prices that count in `currency`: not older than
    `oldest_days`, of new parts alone unless `used`."""

    def __init__(
        self,
        catalog: Catalog,
        currency: str,
        today: str,
        rates: ExchangeRates | None = None,
        used: bool = True,
        oldest_days: int = PRICE_AGE_DAYS,
    ) -> None:
        self.catalog, self.currency, self.today, self.rates = catalog, currency, today, rates
        self.used, self.oldest_days = used, oldest_days
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

    def own_price(self, part: AnyPart) -> Price | None:
        """Return the newest price of the very part that counts, in the currency itself before
        converted ones that are not half a year newer."""
        counted = (price for price in part.prices if self.counted(price) is not None)
        return newest_in(counted, self.currency)

    @cached_property
    def _classes(self) -> dict[tuple[object, ...], Price]:
        return class_prices(self.catalog.parts.values(), self.currency, self.counted)

    @cached_property
    def _near(self) -> dict[tuple[object, ...], list[float]]:
        """The prices of each class that are about as new as its newest one."""
        found: dict[tuple[object, ...], list[tuple[str, float]]] = {}
        for part in self.catalog.parts.values():
            kind = class_of(part)
            for price in part.prices if kind else ():
                amount = self.counted(price)
                if kind and amount is not None:
                    found.setdefault(kind, []).append((price.day, amount))
        return {kind: _newest(pairs) for kind, pairs in found.items()}

    def _made(self, part: AnyPart) -> Offer | None:
        own = self.own_price(part)
        price = own and todays_price(part, own, self._classes, self.today)
        amount = None if price is None else self.counted(price)
        if price is None or amount is None:
            return None
        kind, days = class_of(part), self.age_days(price)
        near = self._near.get(kind, []) if kind else []
        low, high = min([amount, *near]), max([amount, *near])
        if days > OLD_DAYS:
            today = carried(part, replace(price, amount=amount), self.today, shipped_index())
            if today is not None:
                low, high = min(low, today.low), max(high, today.high)
        return Offer(amount, round(low, 2), round(high, 2), price)


def _newest(pairs: list[tuple[str, float]]) -> list[float]:
    try:
        latest = max(date.fromisoformat(day) for day, _ in pairs)
        return [a for d, a in pairs if (latest - date.fromisoformat(d)).days <= SAME_TIME_DAYS]
    except ValueError:
        return []
