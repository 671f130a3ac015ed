"""The prices of the catalog table: all in the rig's currency, used or new, with their day."""

from collections.abc import Callable
from functools import cache

from msgspec import Struct

from rigplanner.catalog.prices.exchange import ExchangeRates, convert, shipped_rates
from rigplanner.catalog.schema.parts import AnyPart, Price
from rigplanner.desktop.words import THIN, age, day, is_older, money
from rigplanner.economics.totals import own_price
from rigplanner.report.language import Words, listed, tr

CONDITION_WORDS = Words(
    {"new": "new", "used": "used", "refurbished": "refurbished", "launch": "launch"}
)

COMMON = "USD"
Asked = Callable[[AnyPart, str, ExchangeRates | None], Price | None]


@cache
def usual_rates() -> ExchangeRates:
    """Return the shipped rates, read once: they count prices where the rig carries none."""
    return shipped_rates()


class Offered(Struct, frozen=True):
    """The price of a part: `amount` in the rig's currency, None where no rate is known; `given` is
    the price in the catalog."""

    given: Price
    amount: float | None


class Offers:
    """What parts cost in one currency, others counted by the rates; prices older than `stale_days`
    (0 for never) are marked. `asked` says what a part costs, in which money ever."""

    def __init__(self, currency: str, today: str, asked: Asked = own_price) -> None:
        self.currency, self.today, self._asked = currency, today, asked
        self.rates: ExchangeRates | None = None
        self.stale_days = 0
        self._known: dict[str, Offered | None] = {}

    def use(self, currency: str, rates: ExchangeRates | None, stale_days: int) -> bool:
        """Count in another currency, by other rates; False where nothing changes."""
        if (currency, rates, stale_days) == (self.currency, self.rates, self.stale_days):
            return False
        self.currency, self.rates, self.stale_days = currency, rates, stale_days
        self._known.clear()
        return True

    def forget(self) -> None:
        """Drop what is remembered: the parts may have other prices."""
        self._known.clear()

    def of(self, part: AnyPart) -> Offered | None:
        """Return the price by which a rig would count the part; None where nobody asks one."""
        if part.id not in self._known:
            self._known[part.id] = self._offered(part)
        return self._known[part.id]

    def _offered(self, part: AnyPart) -> Offered | None:
        given = self._asked(part, self.currency, self.rates)
        return Offered(given, self._counted(given)) if given else None

    def _counted(self, price: Price) -> float | None:
        return convert(price.amount, price.currency, self.currency, self.rates)

    def amount(self, part: AnyPart) -> float | None:
        """Return what a part costs in the rig's currency, None where that is not known."""
        offer = self.of(part)
        return offer.amount if offer else None

    def price_text(self, part: AnyPart) -> str:
        """Return a price as the build list writes it, "" without one; "≈" marks one that a rate
        counts, or that is an equal part's."""
        offer = self.of(part)
        if offer is None:
            return ""
        if offer.amount is None:
            return self._elsewhere(offer.given)
        own = offer.given.currency == self.currency and offer.given in part.prices
        about = "" if own else "≈" + THIN
        return about + money(offer.amount, self.currency, whole=True)

    def _elsewhere(self, given: Price) -> str:
        """Return a price that no rate counts in the rig's currency. Where no bank publishes a rate
        of that currency at all (TWD), all such prices stand in US dollars, so that they can be held
        against each other."""
        usual = usual_rates()
        dollars = convert(given.amount, given.currency, COMMON, usual)
        published = convert(1.0, COMMON, self.currency, usual) is not None
        if dollars is None or published or given.currency == COMMON:
            return money(given.amount, given.currency, whole=True)
        return f"≈{THIN}{money(dollars, COMMON, whole=True)}"

    def day_text(self, part: AnyPart) -> tuple[str, bool]:
        """Return used or new with the day of the price, and whether that is long ago."""
        offer = self.of(part)
        if offer is None:
            return "", False
        old = bool(self.stale_days) and is_older(offer.given.day, self.today, self.stale_days)
        return listed([CONDITION_WORDS[offer.given.condition], day(offer.given.day)]), old

    def tip(self, part: AnyPart) -> str:
        """Return who asks a price, how old it is, and by which rate it is counted."""
        offer = self.of(part)
        if offer is None:
            return tr("No price in the catalog")
        given = offer.given
        told = tr("{source}, {day} old", source=given.source, day=age(given.day, self.today))
        if given.currency == self.currency:
            return told
        asked = money(given.amount, given.currency, whole=True)
        if offer.amount is None or self.rates is None:
            return f"{told}\n" + tr("{price}: no exchange rate is known.", price=asked)
        rated = tr("{price}, counted by the rate of {day}", price=asked, day=day(self.rates.day))
        return f"{told}\n{rated}"
