"""Numbers, units, money and days as text: thin spaces before units and between thousands, no needless digits."""

import math
from datetime import date

from rigplanner.catalog.parts import Price
from rigplanner.report.language import THIN, language, tr

UNKNOWN = "unknown"
DECIMAL_COMMA = ("cs",)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WHOLE_CURRENCIES = {"TWD", "JPY", "KRW", "VND", "CLP"}
"""Currencies quoted without decimals in shops."""


def number(value: float | None, digits: int | None = None) -> str:
    """Return a number with `digits` decimals, or three significant figures below 100 and none above."""
    if value is None or not math.isfinite(value):
        return tr(UNKNOWN)
    if digits is None:
        size = abs(value)
        digits = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    text = f"{value:,.{digits}f}".replace(",", THIN)
    return text.replace(".", ",") if language() in DECIMAL_COMMA else text


def quantity(value: float | None, unit: str, digits: int | None = None) -> str:
    """Return a number with its unit, "1 440 W"; "unknown" for None."""
    if value is None:
        return tr(UNKNOWN)
    return f"{number(value, digits)}{THIN}{unit}" if unit else number(value, digits)


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """Return "low to high unit" with the same number of digits on both sides."""
    if low is None or high is None:
        return tr(UNKNOWN)
    size = max(abs(low), abs(high))
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    tail = f"{THIN}{unit}" if unit else ""
    return tr("{low} to {high}", low=number(low, digits), high=number(high, digits)) + tail


def money(amount: float | None, currency: str) -> str:
    """Return an amount with its currency code, "1 749.00 EUR"."""
    if amount is None:
        return tr("no price")
    return f"{number(amount, 0 if currency in WHOLE_CURRENCIES else 2)}{THIN}{currency}"


def price(value: Price | None) -> str:
    """Return a price without its day."""
    return money(value.amount, value.currency) if value else tr("no price")


def day(text: str | None) -> str:
    """Return an ISO day as "20 Nov 2026"; other text as it is."""
    if not text:
        return ""
    try:
        value = date.fromisoformat(text)
    except ValueError:
        return text
    if language() == "cs":
        return f"{value.day}.{THIN}{value.month}.{THIN}{value.year}"
    if language() == "zh_TW":
        return f"{value.year}年{value.month}月{value.day}日"
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def percent(share: float | None) -> str:
    """Return a share (1.0 is all) in per cent."""
    return tr(UNKNOWN) if share is None else f"{number(100 * share, 0)}{THIN}%"
