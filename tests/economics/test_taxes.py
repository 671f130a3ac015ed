"""Several rates of tax in one rig."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Price
from rigplanner.economics.totals import totals
from rigplanner.rig.document import Item, QuoteDetails, Rig
from rigplanner.rig.edits import Edit, EditFault, apply


def _rig(**quote: object) -> Rig:
    price = Price(amount=100.0, currency="USD", day="2026-11-21", source="test")
    items = (
        Item(uid="a", part="x.y.a", price=price),
        Item(uid="b", part="x.y.b", price=price, tax_percent=10.0),
    )
    return Rig(items=items, quote=QuoteDetails(**quote))  # type: ignore[arg-type]


def test_each_rate_has_its_sum(catalog: Catalog) -> None:
    made = totals(_rig(tax_percent=20.0), catalog)
    assert made.taxes == ((20.0, 20.0), (10.0, 10.0))
    assert (made.tax, made.total) == (30.0, 230.0)


def test_tax_inside_the_prices_is_taken_out_by_rate(catalog: Catalog) -> None:
    made = totals(_rig(tax_percent=20.0, prices_include_tax=True), catalog)
    assert made.taxes == ((20.0, 16.67), (10.0, 9.09))
    assert made.total == 200.0


def test_the_discount_is_off_before_tax(catalog: Catalog) -> None:
    made = totals(_rig(tax_percent=20.0, discount_percent=50.0), catalog)
    assert made.taxes == ((20.0, 10.0), (10.0, 5.0))
    assert made.total == 115.0


def test_only_parts_with_a_rate_of_their_own_are_taxed_without_one_of_the_quote(
    catalog: Catalog,
) -> None:
    assert totals(_rig(), catalog).taxes == ((10.0, 10.0),)


def test_a_rate_is_set_and_taken_back() -> None:
    rig = apply(_rig(), Edit("set_tax", {"uid": "a", "percent": 5.0}))
    assert rig.items[0].tax_percent == 5.0
    assert apply(rig, Edit("set_tax", {"uid": "a", "percent": None})) == replace(
        rig, items=_rig().items
    )
    with pytest.raises(EditFault, match="between 0 and 100"):
        apply(rig, Edit("set_tax", {"uid": "a", "percent": 101.0}))
