"""The prices of the shipped catalog: each has a day, a currency, a source and a sensible amount;
sample rigs can be summed."""

import re
from datetime import date
from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.schema.parts import KINDS, Part, kind_of
from rigplanner.data import data_path
from rigplanner.rig.files import read_rig

READ = date(2026, 11, 21)
OLDEST = date(2008, 1, 1)
CURRENCY = re.compile(r"[A-Z]{3}")
REGION = re.compile(r"[A-Z]{2}")

PER_USD = {
    "RON": 4.8,
    "USD": 1.0,
    "EUR": 0.95,
    "GBP": 0.8,
    "CNY": 7.0,
    "JPY": 140.0,
    "TWD": 31.0,
    "PLN": 4.0,
    "AUD": 1.5,
    "INR": 85.0,
    "CHF": 0.85,
}
"""Rough rates, enough to tell a misplaced decimal point."""

BOUNDS_USD = {
    "gpu": (20, 60000),
    "cpu": (25, 20000),
    "motherboard": (40, 3000),
    "system": (50, 5000000),
    "memory": (10, 20000),
    "storage": (20, 8000),
    "psu": (30, 1500),
    "chassis": (25, 2000),
    "cooler": (5, 500),
    "bridge": (20, 3000),
    "riser": (5, 2500),
    "nic": (5, 5000),
    "accessory": (5, 5000),
}

FEWEST_PRICED = {
    "gpu": 150,
    "cpu": 195,
    "motherboard": 40,
    "system": 14,
    "memory": 15,
    "storage": 50,
    "psu": 40,
    "chassis": 30,
    "cooler": 24,
}

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))

UNPRICED = "No price with a day"
"""How the notes of a part begin that was sold, but whose price nobody published."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped_catalog()


@pytest.fixture(scope="module")
def priced(catalog: Catalog) -> list[Part]:
    return [part for part in catalog.parts.values() if part.prices]


def test_every_price_names_its_day_currency_and_source(priced: list[Part]) -> None:
    for part in priced:
        for price in part.prices:
            assert OLDEST < date.fromisoformat(price.day) <= READ, (part.id, price.day)
            assert CURRENCY.fullmatch(price.currency), (part.id, price.currency)
            assert price.region is not None and REGION.fullmatch(price.region), (
                part.id,
                price.region,
            )
            assert len(price.source) >= 10, (part.id, price.source)


def test_no_price_is_older_than_its_part(priced: list[Part]) -> None:
    for part in priced:
        if part.released is not None:
            first = min(int(price.day[:4]) for price in part.prices)
            assert first >= int(part.released[:4]) - 1, (part.id, part.released, first)


def test_amounts_are_sensible_for_their_kind(priced: list[Part]) -> None:
    assert set(BOUNDS_USD) == set(KINDS)
    for part in priced:
        low, high = BOUNDS_USD[kind_of(part)]
        for price in part.prices:
            assert low <= price.amount / PER_USD[price.currency] <= high, (
                part.id,
                price.amount,
                price.currency,
            )


def test_prices_of_a_part_stand_in_order_of_days_without_doubles(priced: list[Part]) -> None:
    for part in priced:
        days = [price.day for price in part.prices]
        assert days == sorted(days), part.id
        assert len({(price.day, price.currency, price.source) for price in part.prices}) == len(
            days
        ), part.id


@pytest.mark.parametrize("kind", sorted(FEWEST_PRICED))
def test_enough_parts_of_a_kind_are_priced(priced: list[Part], kind: str) -> None:
    assert sum(kind_of(part) == kind for part in priced) >= FEWEST_PRICED[kind]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_parts_of_a_sample_are_priced_or_say_why_not(path: Path, catalog: Catalog) -> None:
    for item in read_rig(path).items:
        part = catalog.parts[item.part]
        assert item.price is not None or part.prices or UNPRICED in part.notes, part.id
        assert not (part.prices and UNPRICED in part.notes), part.id
