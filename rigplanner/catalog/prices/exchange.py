"""Exchange rates: the reference rates of the European Central Bank, with their day."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.prices.prices import is_currency, is_day
from rigplanner.data import data_path
from rigplanner.decoding import JsonFault, read_json

ECB_URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
ECB = "European Central Bank, euro foreign exchange reference rates"
SECOND_URL = "https://open.er-api.com/v6/latest/EUR"
SECOND = "ExchangeRate-API (https://www.exchangerate-api.com)"
"""A second public source, for currencies that the bank leaves out (TWD): rates of the day for one
euro, free with its name beside them."""
NAMESPACE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}"
LARGEST_XML_BYTES = 2**20
LARGEST_RATE = 1e9
BY_HAND = "as given"

_DECLARATION = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


class ExchangeRates(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one unit of `base` is worth in other currencies on `day` (ISO)."""

    day: str
    source: str
    rates: dict[str, float]
    base: str = "EUR"


def read_ecb(content: bytes) -> ExchangeRates:
    """Return the rates in the bank's daily XML: Cube elements with `time`, in it `currency` and
    `rate` (units per euro).

    Raises CatalogFault when it is not that file; document types and entities are refused."""
    if len(content) > LARGEST_XML_BYTES or _DECLARATION.search(content):
        raise CatalogFault(
            "exchange rates: not the bank's file (too large, or it declares entities)."
        )
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, RecursionError, LookupError) as fault:
        raise CatalogFault(f"exchange rates: not XML ({fault}).") from fault
    days = root.findall(f".//{NAMESPACE}Cube[@time]")
    if not days:
        raise CatalogFault("exchange rates: expected an element Cube with a time, found none.")
    newest = max(days, key=lambda cube: cube.get("time", ""))
    rates = {
        cube.get("currency", ""): _rate(cube.get("rate", ""))
        for cube in newest.findall(f"{NAMESPACE}Cube[@currency]")
    }
    return _checked(ExchangeRates(day=newest.get("time", ""), source=ECB, rates=rates))


class _SecondRates(Struct, frozen=True):
    """The fields of the second source's answer that are used."""

    result: str
    base_code: str
    time_last_update_unix: int
    rates: dict[str, float]


def read_second(content: bytes) -> ExchangeRates:
    """Return the rates of the second public source. Raises CatalogFault when it is not its
    answer."""
    try:
        told = read_json(content, _SecondRates)
        day = datetime.fromtimestamp(told.time_last_update_unix, UTC).date().isoformat()
    except (JsonFault, OverflowError, OSError, ValueError) as fault:
        raise CatalogFault(f"exchange rates: not the answer expected ({fault}).") from fault
    if told.result != "success" or told.base_code != "EUR" or len(content) > LARGEST_XML_BYTES:
        raise CatalogFault("exchange rates: not the answer expected.")
    rates = {code: rate for code, rate in told.rates.items() if code != told.base_code}
    return _checked(ExchangeRates(day=day, source=SECOND, rates=rates))


def with_second(rates: ExchangeRates, second: ExchangeRates) -> ExchangeRates:
    """Return rates with those currencies of a second source that they lack; both are for one unit
    of the same base."""
    more = {code: rate for code, rate in second.rates.items() if code not in rates.rates}
    if not more or second.base != rates.base:
        return rates
    source = f"{rates.source}; others: {second.source}, {second.day}"
    return replace(rates, rates={**rates.rates, **more}, source=source)


class _Shipped(ExchangeRates, frozen=True, kw_only=True):
    """The bank's rates as they came with the catalog, and those of `others` that it leaves out."""

    others: ExchangeRates


def _shipped() -> _Shipped:
    return read_json((data_path("catalog") / "exchange_rates.json").read_bytes(), _Shipped)


def shipped_rates() -> ExchangeRates:
    """Return the rates that came with the catalog; they say of which day they are."""
    return with_second(shipped_bank(), shipped_others())


def shipped_bank() -> ExchangeRates:
    """Return those of them that are the bank's."""
    file = _shipped()
    return ExchangeRates(day=file.day, source=file.source, rates=file.rates, base=file.base)


def shipped_others() -> ExchangeRates:
    """Return those of currencies that the bank leaves out."""
    return _shipped().others


def unpublished_among(currencies: Iterable[str]) -> list[str]:
    """Return those of `currencies` that the bank's daily file leaves out; a rate of them has to be
    said."""
    rates = shipped_bank()
    return sorted(
        {
            currency
            for currency in currencies
            if currency != rates.base and currency not in rates.rates
        }
    )


def with_rate(
    rates: ExchangeRates, code: str, amount: float, currency: str
) -> ExchangeRates | None:
    """Return the rates with one of one's own, 1 `code` = `amount` `currency`: it moves the rate of
    `currency` against the base where `code` has one, else it sets that of `code`. None where
    neither is among the rates, both are one, or it is no rate."""
    known = {**rates.rates, rates.base: 1.0}
    if code == currency or not known.keys() & {code, currency} or not 0 < amount < LARGEST_RATE:
        return None
    of_code = currency == rates.base or code not in known
    fresh = {code: known[currency] / amount} if of_code else {currency: known[code] * amount}
    source = f"{rates.source}; 1 {code} = {amount:g} {currency} {BY_HAND}"
    return replace(rates, rates={**rates.rates, **fresh}, source=source)


def _rate(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _checked(rates: ExchangeRates) -> ExchangeRates:
    if not is_day(rates.day):
        raise CatalogFault(
            f"exchange rates: expected a day as YYYY-MM-DD, found {rates.day[:20]!r}."
        )
    for code, rate in rates.rates.items():
        if not is_currency(code) or not 0 < rate < LARGEST_RATE:
            raise CatalogFault(
                f"exchange rates: expected a currency code and a rate above 0, found {code[:8]!r}"
                f" {rate:g}."
            )
    if not rates.rates:
        raise CatalogFault("exchange rates: expected rates, found none.")
    return rates


def convert(amount: float, currency: str, to: str, rates: ExchangeRates | None) -> float | None:
    """Return `amount` of `currency` in the currency `to`, by way of the base; None when a rate is
    not known."""
    if currency == to:
        return amount
    if rates is None:
        return None
    known = {**rates.rates, rates.base: 1.0}
    if currency not in known or to not in known:
        return None
    return amount / known[currency] * known[to]
