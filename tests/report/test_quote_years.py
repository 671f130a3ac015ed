"""Costs of years, taxes by rate and the noise class on the quote."""

from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Price
from rigplanner.report.format import money
from rigplanner.report.quote.content import quote_content
from rigplanner.report.quote.machine import noise_row
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess, machine_of

DAY = date(2026, 11, 21)


@pytest.fixture
def rig(samples: list[Path]) -> Rig:
    made = read_rig(next(path for path in samples if path.stem == "rtx-5090"))
    tariff = Price(amount=0.25, currency="USD", day="2026-11-20", source="bill")
    return replace(made, site=replace(made.site, hours_per_day=8.0, energy_per_kwh=tariff))


def test_resale_comes_off_the_three_years(rig: Rig, catalog: Catalog) -> None:
    plain = dict(quote_content(assess(rig, catalog), catalog, DAY).running)
    sold = replace(rig, quote=replace(rig.quote, resale_percent=30.0))
    rows = dict(quote_content(assess(sold, catalog), catalog, DAY).running)
    assert "Price and energy of three years" in plain
    total = assess(sold, catalog).totals.total
    assert rows["Resale after three years at 30 % of the price"] == money(-0.3 * total, "USD")
    assert "Three years: price and energy, less resale" in rows


def test_each_rate_of_tax_has_its_line(rig: Rig, catalog: Catalog) -> None:
    items = (replace(rig.items[0], tax_percent=10.0), *rig.items[1:])
    taxed = replace(rig, items=items, quote=replace(rig.quote, tax_percent=21.0))
    words = [word for word, _ in quote_content(assess(taxed, catalog), catalog, DAY).sums]
    assert words == ["Subtotal", "Tax 21 %", "Tax 10 %", "Total"]


def test_hire_names_both_speeds_and_the_days_at_the_sites_hours(rig: Rig, catalog: Catalog) -> None:
    rows = quote_content(assess(rig, catalog), catalog, DAY).renting
    assert rows
    assert all(" rented" in row[3] for row in rows)
    assert all("at 8 h per day" in row[4] or row[4] == "never" for row in rows)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ("rtx-5090", "audible under load"),
        ("gtx-1080-ti", "blower"),
        ("hgx-h100", "server"),
        ("dgx-1-v100", "server"),
    ],
)
def test_noise_is_judged_by_the_kind_of_cooling(
    samples: list[Path], catalog: Catalog, sample: str, said: str
) -> None:
    path = next(path for path in samples if path.stem == sample)
    assert said in noise_row(machine_of(read_rig(path), catalog))[1]
