"""Labour, shipping, further taxes and deposit in the sums of an offer; what stands beside the
computer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.economics.totals import Totals, totals
from rigplanner.rig.document import Item, QuoteDetails, Rig, Tax

PARTS = {
    name: Accessory(id=name, name=name, vendor="A", type=kind)
    for name, kind in (("a.b.cable", "cable"), ("a.b.screen", "monitor"))
}


def _totals(**details: object) -> Totals:
    price = Price(amount=100.0, currency="CAD", day="2026-11-20", source="x")
    items = tuple(Item(uid=name, part=name, price=price) for name in PARTS)
    quote = QuoteDetails(**details)  # type: ignore[arg-type]
    return totals(Rig(items=items, currency="CAD", quote=quote), Catalog(dict(PARTS), {}))


def test_labour_and_shipping_are_taxed_and_two_taxes_hold_for_the_same_sum() -> None:
    made = _totals(
        tax_percent=5.0,
        more_taxes=(Tax(name="PST", percent=7.0),),
        labour=60.0,
        shipping=40.0,
        deposit_percent=50.0,
    )
    assert made.subtotal == 200.0
    assert (made.taxes, made.levies) == (((5.0, 15.0),), (("PST", 7.0, 21.0),))
    assert (made.tax, made.total, made.deposit) == (36.0, 336.0, 168.0)
    assert (made.beside, made.aside) == (100.0, ("a.b.screen",))


@given(st.floats(0, 50), st.floats(0, 30), st.floats(0, 1e4), st.floats(0, 100), st.booleans())
def test_net_and_taxes_make_the_total(
    rate: float, further: float, labour: float, discount: float, inside: bool
) -> None:
    made = _totals(
        tax_percent=rate,
        more_taxes=(Tax(name="x", percent=further),),
        labour=labour,
        discount_percent=discount,
        prices_include_tax=inside,
    )
    net = made.total - made.tax
    assert made.tax == pytest.approx(net * (rate + further) / 100, abs=0.03)
    assert made.total == pytest.approx(
        made.subtotal - made.discount + made.labour + (0 if inside else made.tax), abs=0.02
    )
