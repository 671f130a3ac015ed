"""The quote says by which rates foreign prices were counted."""

from datetime import date

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.report import format as fmt
from rigplanner.report.quote.content import quote_content
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

CABLE = Accessory(
    id="a.b.cable",
    name="Cable",
    vendor="A",
    type="cable",
    prices=(Price(amount=300, currency="TWD", day="2026-11-20", source="shop"),),
)
RATES = ExchangeRates(day="2026-11-19", source="Central Bank", rates={"TWD": 37.5})


def _notes(exchange: ExchangeRates | None) -> str:
    rig = Rig(items=(Item(uid="cable", part=CABLE.id),), currency="EUR", exchange=exchange)
    catalog = Catalog({CABLE.id: CABLE}, {})
    return " ".join(
        quote_content(assess(rig, catalog, "2026-11-21"), catalog, date(2026, 11, 21)).money_notes
    )


def test_converted_prices_are_named_with_the_day() -> None:
    assert f"Converted by the rates of {fmt.day('2026-11-19')} (Central Bank): Cable." in _notes(
        RATES
    )


def test_without_rates_the_item_is_left_out() -> None:
    assert (
        "Priced in another currency, not in the total: Cable. The European Central Bank publishes"
        " no rate of TWD." in _notes(None)
    )


def test_the_quote_counts_pieces_in_its_own_currency_and_keeps_what_was_asked() -> None:
    items = (Item(uid="cable", part=CABLE.id, quantity=3), Item(uid="second", part=CABLE.id))
    rig, catalog = Rig(items=items, currency="EUR", exchange=RATES), Catalog({CABLE.id: CABLE}, {})
    quote = quote_content(assess(rig, catalog, "2026-11-21"), catalog, date(2026, 11, 21))
    assert [
        (fmt.money(300, "TWD"), fmt.money(8, "EUR"), fmt.money(amount, "EUR")) for amount in (24, 8)
    ] == [(line.unit, line.each, line.amount) for line in quote.lines]
    assert "All prices are converted by the rates of" in " ".join(quote.money_notes)
