"""What parts cost today: the newest price that counts, or the newer one of the part's class, and
within which interval."""

from datetime import date
from functools import cached_property
from statistics import quantiles

from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.classes import OLD_DAYS, class_of, class_prices, todays_price
from rigplanner.catalog.prices.condition import Condition, condition_of
from rigplanner.catalog.prices.exchange import ExchangeRates, convert
from rigplanner.catalog.schema.parts import AnyPart, Price, kind_of
from rigplanner.planning.best.question import PRICE_AGE_DAYS

SAME_TIME_DAYS = 92
"""Prices of a class so near to today's count into its interval."""
DAYS_A_YEAR = 365.25
FEWEST_PAIRS = 8
"""Pairs of prices of one part below which a kind's drift is not told apart from all others'."""


class Offer(Struct, frozen=True):
    """What one piece costs in the market's currency, within which interval, by which price."""

    amount: float
    low: float
    high: float
    price: Price
    condition: Condition


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
        """Return what a price is in the market's currency, None where it does not count."""
        if not self.used and condition_of(price) == "used":
            return None
        return convert(price.amount, price.currency, self.currency, self.rates)

    def own_price(self, part: AnyPart) -> Price | None:
        """Return the newest price of the very part that counts, in the currency itself before
        converted ones."""
        counted = [price for price in part.prices if self.counted(price) is not None]
        same = [price for price in counted if price.currency == self.currency]
        return max(same or counted, key=lambda price: price.day, default=None)

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
            less, more = self._drift(kind_of(part))
            years = min(days, self.oldest_days) / DAYS_A_YEAR
            low, high = min(low, amount * less**years), max(high, amount * more**years)
        return Offer(amount, round(low, 2), round(high, 2), price, condition_of(price))

    def _drift(self, kind: str) -> tuple[float, float]:
        """By what factors a year prices of a kind fell and rose, tenth and ninetieth of a hundred:
        from parts of the catalog with two prices half a year apart or more."""
        own = self._drifts.get(kind, [])
        known = own if len(own) >= FEWEST_PAIRS else self._drifts.get("", [])
        if len(known) < FEWEST_PAIRS:
            return 1.0, 1.0
        tenths = quantiles(known, n=10)
        return min(1.0, tenths[0]), max(1.0, tenths[-1])

    @cached_property
    def _drifts(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {"": []}
        for part in self.catalog.parts.values():
            dated = sorted((p for p in part.prices if p.currency == "USD"), key=lambda p: p.day)
            if len(dated) < 2:
                continue
            years = (self.age_days(dated[0]) - self.age_days(dated[-1])) / DAYS_A_YEAR
            if OLD_DAYS / DAYS_A_YEAR <= years < 100 and condition_of(dated[0]) == condition_of(
                dated[-1]
            ):
                factor = (dated[-1].amount / dated[0].amount) ** (1 / years)
                found.setdefault(kind_of(part), []).append(factor)
                found[""].append(factor)
        return found


def _newest(pairs: list[tuple[str, float]]) -> list[float]:
    try:
        latest = max(date.fromisoformat(day) for day, _ in pairs)
        return [a for d, a in pairs if (latest - date.fromisoformat(d)).days <= SAME_TIME_DAYS]
    except ValueError:
        return []
