"""What an old price is worth today: a monthly index for each class of parts, with an interval.

The index is made from the catalog's own prices by `index_making` and shipped as a file; carrying a
price needs neither pandas nor a fit."""

import math
from datetime import date
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import PRICE_TABLE
from rigplanner.catalog.schema.parts import AnyPart, MemoryKit, Price, Storage, kind_of
from rigplanner.data import data_path
from rigplanner.decoding import read_json

INDEX_FILE = "price_index.json"
OTHER = "other"
OF_KIND = {
    "gpu": "card",
    "cpu": "processor",
    "motherboard": "board",
    "psu": "supply",
    "chassis": "case",
    "cooler": "cooler",
}
"""Kinds whose prices have a series of their own, and its name."""
__all__ = ["INDEX_FILE", "PRICE_TABLE", "Carried", "PriceIndex", "carried", "shipped_index"]
FRESH_DAYS = 183
"""A price of half a year is taken as one of today."""
SURE = 1.2816
"""Standard deviations of an interval that holds four of five."""
CARRIED = "; by the price index as of "
"""Before the day to which a price was carried, at the end of its source."""


class Series(Struct, frozen=True, kw_only=True):
    """How prices of one class moved: `level` maps a month ("2026-09") to the natural logarithm of
    the price level against the last month; `pairs` counts the prices of equal parts of two days
    that it rests on. Over t years a logarithm of a price strays from it by `spread_a_year` times
    the root of t, beside `spread_at_once`."""

    level: dict[str, float]
    pairs: int
    spread_at_once: float
    spread_a_year: float


class PriceIndex(Struct, frozen=True, kw_only=True):
    """The series of each class by its name, over the same months."""

    made_of: str
    months: tuple[str, ...]
    series: dict[str, Series]


class Carried(Struct, frozen=True):
    """A price of long ago as it would be today, in the same currency, with an interval of 80 %;
    `by` names the series that carried it."""

    value: float
    low: float
    high: float
    by: str


@cache
def shipped_index() -> PriceIndex:
    """Return the index that came with the catalog."""
    return read_json((data_path("catalog") / INDEX_FILE).read_bytes(), PriceIndex)


def index_class(part: AnyPart) -> str:
    """Return the class whose prices move together: memory by type, drives by how they are made,
    the kinds of `OF_KIND`, and all else."""
    if isinstance(part, MemoryKit):
        return part.type
    if isinstance(part, Storage):
        return "disk" if part.rotation_rpm else "flash"
    return OF_KIND.get(kind_of(part), OTHER)


def carried(part: AnyPart, price: Price, today: str, index: PriceIndex) -> Carried | None:
    """Return what a price would be `today` (ISO); None for a day that is none. One that was carried
    already moves from the day to which it was; its doubt is still that of its own age."""
    try:
        days = (date.fromisoformat(today) - date.fromisoformat(price.day)).days
    except ValueError:
        return None
    own = index_class(part)
    by = own if own in index.series else OTHER
    series = index.series[by]
    month = (carried_to(price) or price.day)[:7]
    level = _level(series, index.months, month) if days > 0 else 0.0
    years = max(0, days) / 365.25
    spread = math.hypot(series.spread_at_once, series.spread_a_year * math.sqrt(years))
    if days <= 0:
        spread = 0.0
    value = price.amount * math.exp(-level)
    return Carried(value, value * math.exp(-SURE * spread), value * math.exp(SURE * spread), by)


def as_of_today(price: Price, amount: float, today: str) -> Price:
    """Return an old price with what it would be `today`; its source says so, its day stays."""
    return replace(price, amount=amount, source=f"{price.source}{CARRIED}{today}")


def carried_to(price: Price) -> str:
    """Return the ISO day to which the index carried a price, "" for one that somebody asked."""
    _, was_carried, day = price.source.rpartition(CARRIED)
    return day if was_carried else ""


def _level(series: Series, months: tuple[str, ...], month: str) -> float:
    """The level in a month: before the first month that of the first, between months that lack the
    nearest earlier one."""
    known = [each for each in months if each <= month and each in series.level]
    if known:
        return series.level[known[-1]]
    first = next((each for each in months if each in series.level), None)
    return series.level[first] if first else 0.0
