"""What a rig costs and how it is offered, in words: "currency=EUR", "energy=0.30", "tax=21",
"tax:chassis=12", "customer=Ada"."""

from collections.abc import Callable
from datetime import date

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.prices.exchange import BY_HAND, LARGEST_RATE, with_rate
from rigplanner.catalog.prices.money import read_amount, read_money
from rigplanner.catalog.prices.prices import is_currency, is_day
from rigplanner.catalog.schema.parts import Price
from rigplanner.decoding import convert
from rigplanner.rig.document import Party, QuoteDetails, Rig
from rigplanner.rig.edits import EditFault, change_site, set_money, set_price, set_tax

PRICES = {
    "energy": "energy_per_kwh",
    "hire": "hire_per_hour",
    "hire-month": "hire_per_month",
    "tokens-in": "api_input_per_million",
    "tokens-out": "api_output_per_million",
}
PERCENTS = {
    "tax": "tax_percent",
    "discount": "discount_percent",
    "resale": "resale_percent",
    "deposit": "deposit_percent",
}
AMOUNTS = ("labour", "shipping")
TEXTS = {
    "number": "number",
    "date": "date",
    "lead-time": "lead_time",
    "tax-name": "tax_name",
    "form": "form",
    "terms": "terms",
    "remarks": "remarks",
}
PARTIES = ("seller", "customer")
ITEM_WORDS = ("tax:ITEM", "price:ITEM", "rate:CURRENCY")
PARTY_FIELDS = tuple(field for field in Party.__struct_fields__ if field not in ("name", "logo"))


def money_of(name: str, value: str, rig: Rig) -> Price:
    """Return an amount of money, in the rig's currency unless it says another. Raises EditFault."""
    amount, currency = read_money(value)
    if amount is None:
        raise EditFault(
            f"{name}: expected an amount above 0, for example 3.60 or 3.60 USD, found {value!r}."
        )
    return Price(
        amount=amount,
        currency=currency or rig.currency,
        day=date.today().isoformat(),
        source=BY_HAND,
    )


def _percent(name: str, value: str) -> float:
    try:
        percent = float(value.removesuffix("%").strip().replace(",", "."))
    except ValueError as fault:
        raise EditFault(f"{name}: expected per cent from 0 to 100, found {value!r}.") from fault
    if not 0 <= percent <= 100:
        raise EditFault(f"{name}: expected per cent from 0 to 100, found {value!r}.")
    return percent


def _on_quote(rig: Rig, **fields: object) -> Rig:
    try:
        quote = convert({**msgspec.to_builtins(rig.quote), **fields}, QuoteDetails)
    except msgspec.ValidationError as fault:
        raise EditFault(f"{next(iter(fields))}: {fault}") from fault
    return replace(rig, quote=quote)


def _currency(rig: Rig, value: str) -> Rig:
    if not is_currency(value.upper()):
        raise EditFault(f"currency: expected a code of three letters such as EUR, found {value!r}.")
    return set_money(rig, value.upper(), rig.budget)


def _budget(rig: Rig, value: str) -> Rig:
    return set_money(rig, rig.currency, money_of("budget", value, rig).amount)


def _valid(rig: Rig, value: str) -> Rig:
    if not value.isdigit() or not 1 <= int(value) <= 3650:
        raise EditFault(f"valid: expected days from 1 to 3650, found {value!r}.")
    return _on_quote(rig, valid_days=int(value))


def _tax_included(rig: Rig, value: str) -> Rig:
    if value.casefold() not in ("yes", "no"):
        raise EditFault(f"tax-included: expected yes or no, found {value!r}.")
    return _on_quote(rig, prices_include_tax=value.casefold() == "yes")


def _rate(rig: Rig, currency: str, value: str) -> Rig:
    """One unit of `currency` in the rig's, beside the rates that the rig has."""
    code = currency.upper()
    rates = rig.exchange
    if rates is None or not is_currency(code):
        raise EditFault(
            f"rate:{currency}: expected a currency code such as USD, in a rig that has exchange"
            " rates."
        )
    amount = read_amount(value)
    if amount is None or not 0 < amount < LARGEST_RATE:
        raise EditFault(
            f"rate:{code}: expected what 1 {code} is worth in {rig.currency}, found {value!r}."
        )
    if code == rig.currency:
        raise EditFault(f"rate:{code}: the rig counts in {code} already.")
    given = with_rate(rates, code, amount, rig.currency)
    if given is None:
        raise EditFault(
            f"rate:{code}: neither {code} nor {rig.currency} is among the rates of {rates.source}."
        )
    return replace(rig, exchange=given)


def _party(rig: Rig, name: str, value: str) -> Rig:
    who, _dot, field = name.partition(".")
    field = field or "name"
    if field not in ("name", *PARTY_FIELDS):
        raise EditFault(f"{name}: a {who} has no {field!r}; it has {', '.join(PARTY_FIELDS)}.")
    return _on_quote(rig, **{who: replace(getattr(rig.quote, who), **{field: value})})


def _date(rig: Rig, value: str) -> Rig:
    if not is_day(value):
        raise EditFault(f"date: expected a day as YYYY-MM-DD, found {value!r}.")
    return _on_quote(rig, date=value)


def _hire_speed(rig: Rig, value: str) -> Rig:
    "How many hours of the cloud instance the rig does in one."
    ratio = read_amount(value)
    if ratio is None or not 0 < ratio <= 1e6:
        raise EditFault(
            f"hire-speed: expected how many times as fast the rig is, as 6, found {value!r}."
        )
    return change_site(rig, hire_speed_ratio=ratio)


OWN: dict[str, Callable[[Rig, str], Rig]] = {
    "currency": _currency,
    "budget": _budget,
    "valid": _valid,
    "tax-included": _tax_included,
    "date": _date,
    "hire-speed": _hire_speed,
}
OFFER_WORDS = (
    *OWN,
    *PRICES,
    *PERCENTS,
    *AMOUNTS,
    *(word for word in TEXTS if word not in OWN),
    *PARTIES,
    *ITEM_WORDS,
)


def with_offer_choice(rig: Rig, name: str, value: str) -> Rig | None:
    """Return the rig with one such setting, None when `name` is none of them. Raises EditFault for
    a value that does not suit."""
    key, colon, item = name.partition(":")
    if colon:
        return _of_item(rig, key, item, value)
    if key in OWN:
        return OWN[key](rig, value)
    if key in PRICES:
        return change_site(rig, **{PRICES[key]: money_of(key, value, rig)})
    if key in PERCENTS:
        return _on_quote(rig, **{PERCENTS[key]: _percent(key, value)})
    if key in AMOUNTS:
        return _on_quote(rig, **{key: money_of(key, value, rig).amount})
    if key in TEXTS:
        return _on_quote(rig, **{TEXTS[key]: value})
    return _party(rig, key, value) if key.partition(".")[0] in PARTIES else None


def _of_item(rig: Rig, key: str, item: str, value: str) -> Rig | None:
    if key == "rate":
        return _rate(rig, item, value)
    if key not in ("tax", "price"):
        return None
    if rig.item(item) is None:
        raise EditFault(
            f"{key}:{item}: the rig has no item {item!r}; it has"
            f" {', '.join(each.uid for each in rig.items)}."
        )
    if key == "tax":
        return set_tax(rig, item, _percent(f"tax:{item}", value))
    return set_price(rig, item, money_of(f"price:{item}", value, rig))
