"""Numbers, units, money and days as text: thousands parted as the language in use does it, thin
spaces before units, no needless digits."""

import math
import unicodedata
from datetime import date

from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.catalog.schema.parts import Price
from rigplanner.report.language import THIN, Words, language, tr, trn
from rigplanner.report.language import digits as written

UNKNOWN = "unknown"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNITS = Words(
    {
        "images/s": "images/s",
        "samples/s": "samples/s",
        "sequences/s": "sequences/s",
        "tokens/s": "tokens/s",
        "ms_per_batch": "ms per batch",
        "s_per_iteration": "s per iteration",
        "time_to_train_min": "min to train",
        "busbw_gbps": "GB/s",
        "p2p_gbps": "GB/s",
        "GiB per module": "GiB per module",
        "GB/s read": "GB/s read",
        "months": "months",
    }
)
"""Units that hold words."""
COUNTED = {
    "CPUs": ("{count}\u202fCPU", "{count}\u202fCPUs"),
    "GPUs": ("{count}\u202fGPU", "{count}\u202fGPUs"),
    "KV heads": ("{count}\u202fKV head", "{count}\u202fKV heads"),
    "bays": ("{count}\u202fbay", "{count}\u202fbays"),
    "bridges": ("{count}\u202fbridge", "{count}\u202fbridges"),
    "cables": ("{count}\u202fcable", "{count}\u202fcables"),
    "cores": ("{count}\u202fcore", "{count}\u202fcores"),
    "channels": ("{count}\u202fchannel", "{count}\u202fchannels"),
    "columns": ("{count}\u202fcolumn", "{count}\u202fcolumns"),
    "drives": ("{count}\u202fdrive", "{count}\u202fdrives"),
    "experts": ("{count}\u202fexpert", "{count}\u202fexperts"),
    "heads": ("{count}\u202fhead", "{count}\u202fheads"),
    "islands": ("{count}\u202fisland", "{count}\u202fislands"),
    "lanes": ("{count}\u202flane", "{count}\u202flanes"),
    "layers": ("{count}\u202flayer", "{count}\u202flayers"),
    "monitors": ("{count}\u202fmonitor", "{count}\u202fmonitors"),
    "models": ("{count}\u202fmodel", "{count}\u202fmodels"),
    "nodes": ("{count}\u202fnode", "{count}\u202fnodes"),
    "outputs": ("{count}\u202foutput", "{count}\u202foutputs"),
    "plugs": ("{count}\u202fplug", "{count}\u202fplugs"),
    "ports": ("{count}\u202fport", "{count}\u202fports"),
    "slots": ("{count}\u202fslot", "{count}\u202fslots"),
}
"""Units that are things to count."""
MANY = 5
"""A count whose words serve fractions."""


_SIGNS = {"EUR": "€", "GBP": "£", "TWD": "NT$", "CAD": "CA$", "AUD": "A$", "INR": "₹"}
BEFORE = {
    "en": {**_SIGNS, "USD": "$", "JPY": "¥"},
    "zh_TW": {**_SIGNS, "USD": "US$", "JPY": "¥"},
}
"""Signs that stand before an amount, by language; other currencies are told by their codes."""
AFTER = {"CZK": "Kč", "EUR": "€"}
"""Signs that stand behind an amount in Czech."""
MM_PER_INCH = 25.4
"""Exactly (international inch)."""


class _Wish:
    inches = False


def use_inches(on: bool) -> None:
    """Write lengths in inches, or in millimetres."""
    _Wish.inches = on


def as_wished(value: float, unit: str, digits: int | None = None) -> tuple[float, str, int | None]:
    """Return a value with its unit and digits as the person wants to read it: millimetres may
    become inches."""
    return (
        (value / MM_PER_INCH, "in", 2) if unit == "mm" and _Wish.inches else (value, unit, digits)
    )


def number(value: float | None, digits: int | None = None) -> str:
    """Return a number with `digits` decimals, or three significant figures below 100, two below 0.1
    and none above."""
    if value is None or not math.isfinite(value):
        return tr(UNKNOWN)
    if digits is None:
        size = abs(value)
        digits = (
            0
            if size >= 100 or value == round(value)
            else 1
            if size >= 10
            else 2
            if size >= 1
            else max(3, _two_figures(size))
        )
    return written(f"{value:,.{digits}f}")


def _two_figures(size: float) -> int:
    """Decimals that show two significant figures of a small number."""
    return 1 - math.floor(math.log10(size)) if 1e-12 < size < 1 else 0


def quantity(value: float | None, unit: str, digits: int | None = None) -> str:
    """Return a number with its unit, "1 440 W"; "unknown" for None."""
    if value is None:
        return tr(UNKNOWN)
    value, unit, digits = as_wished(value, unit, digits)
    if unit in COUNTED:
        if digits is None and value != round(value):
            digits = 1 if abs(value - round(value, 1)) < 0.005 else 2
        return trn(
            *COUNTED[unit],
            int(value) if value == round(value) else MANY,
            count=number(value, digits),
        )
    return f"{number(value, digits)}{THIN}{unit_text(unit)}" if unit else number(value, digits)


def unit_text(unit: str) -> str:
    """Return a unit in the language in use; symbols stay as they are."""
    rate, per, divisor = unit.partition(" per ")
    if unit not in UNITS and per and rate in UNITS:
        return tr("{rate} per {divisor}", rate=UNITS[rate], divisor=divisor)
    return UNITS.get(unit, unit)


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """Return "low to high unit" with the same number of digits on both sides."""
    if low is None or high is None:
        return tr(UNKNOWN)
    size = max(abs(low), abs(high))
    digits = 0 if size >= 100 else 1 if size >= 10 else max(2, _two_figures(size))
    tail = f"{THIN}{unit_text(unit)}" if unit else ""
    return tr("{low} to {high}", low=number(low, digits), high=number(high, digits)) + tail


def money(amount: float | None, currency: str, whole: bool = False) -> str:
    """Return an amount as readers of the language write it, `whole` without cents: "$1,749.00" and
    "1,749.00 CHF" in English, "12 345,50 Kč" in Czech, "NT$22,500" in Chinese (Unicode CLDR
    46)."""
    if amount is None:
        return tr("no price")
    if not math.isfinite(amount):
        return tr(UNKNOWN)
    digits = 0 if whole or currency in WHOLE_CURRENCIES else 2
    text = f"{abs(amount):,.{digits}f}"
    minus = "-" if amount < 0 and float(text.replace(",", "")) else ""
    if language() == "cs":
        return f"{minus}{written(text)}{THIN}{AFTER.get(currency, currency)}"
    sign = BEFORE["zh_TW" if language() == "zh_TW" else "en"].get(currency)
    return f"{minus}{sign}{text}" if sign else f"{minus}{text}{THIN}{currency}"


def is_currency(unit: str) -> bool:
    """Return whether a unit is a code of ISO 4217, three capitals."""
    return len(unit) == 3 and unit.isascii() and unit.isalpha() and unit.isupper()


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def padded(text: str, columns: int) -> str:
    """Return a text with spaces behind it, `columns` wide in a terminal."""
    return text + " " * (columns - columns_of(text))


def wrapped(text: str, columns: int | None) -> list[str]:
    """Return a text in lines of at most `columns` columns of a terminal, parted at spaces; a word
    that is longer (Chinese has no spaces) is cut. None: one line."""
    if columns is None:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if columns_of(longer) <= columns:
            lines[-1] = longer
            continue
        lines += [""] if lines[-1] else []
        for char in word:
            if lines[-1] and columns_of(lines[-1] + char) > columns:
                lines.append("")
            lines[-1] += char
    return lines


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
