"""A line is the price of one piece as it can be paid, times the pieces: what the quote prints adds
up."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.economics.totals import totals
from rigplanner.rig.document import Item, QuoteDetails, Rig

PRICE = Price(amount=10.05, currency="EUR", day="2026-11-20", source="shop")
CABLE = Accessory(id="a.b.cable", name="Cable", vendor="A", type="cable", prices=(PRICE,))
CATALOG = Catalog({CABLE.id: CABLE}, {})


@pytest.mark.parametrize(
    ("currency", "rate", "one", "three", "tax"),
    [("TWD", 36.65, 368.0, 1104.0, 55.0), ("USD", 1.1, 11.06, 33.18, 1.66)],
)
def test_three_cost_three_times_one(
    currency: str, rate: float, one: float, three: float, tax: float
) -> None:
    rates = ExchangeRates(day="2026-11-19", source="bank", rates={currency: rate})
    rig = Rig(
        items=(Item(uid="cable", part=CABLE.id, quantity=3),),
        currency=currency,
        exchange=rates,
        quote=QuoteDetails(tax_percent=5.0),
    )
    found = totals(rig, CATALOG)
    assert found.lines[0].amount == pytest.approx(three) == pytest.approx(3 * one)
    assert (found.tax, found.total) == (pytest.approx(tax), pytest.approx(three + tax))
