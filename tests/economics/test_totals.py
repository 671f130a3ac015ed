"""The sums of a rig."""

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.data import data_path
from rigplanner.economics.running import (
    break_even_hours,
    energy_per_year,
    rent_over,
    three_year_total,
)
from rigplanner.economics.totals import totals
from rigplanner.rig.document import Item, QuoteDetails, Rig
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import decode_rig, encode_rig, read_rig


def _price(amount: float, currency: str = "EUR", day: str = "2026-11-20") -> Price:
    return Price(amount=amount, currency=currency, day=day, source="shop")


CATALOG = Catalog(
    {
        "a.b.priced": Accessory(
            id="a.b.priced",
            name="Priced",
            vendor="A",
            type="cable",
            prices=(_price(10, day="2026-01-01"), _price(12, day="2026-02-01")),
        ),
        "a.b.foreign": Accessory(
            id="a.b.foreign", name="Foreign", vendor="A", type="cable", prices=(_price(300, "TWD"),)
        ),
        "a.b.bare": Accessory(id="a.b.bare", name="Bare", vendor="A", type="cable"),
    },
    {},
)


def _rig(*parts: str, **changes: object) -> Rig:
    items = tuple(Item(uid=f"i{n}", part=part, quantity=2) for n, part in enumerate(parts))
    return Rig(items=items, currency="EUR", **changes)  # type: ignore[arg-type]


def test_the_newest_catalog_price_counts() -> None:
    assert totals(_rig("a.b.priced"), CATALOG).subtotal == 24


def test_own_prices_go_first() -> None:
    rig = Rig(items=(Item(uid="i", part="a.b.priced", price=_price(7.5)),), currency="EUR")
    made = totals(rig, CATALOG)
    assert (made.subtotal, made.lines[0].own) == (7.5, True)


def test_a_price_taken_from_the_catalog_is_not_an_own_one() -> None:
    told = CATALOG.parts["a.b.priced"].prices[0]
    rig = Rig(items=(Item(uid="i", part="a.b.priced", price=told),), currency="EUR")
    assert not totals(rig, CATALOG).lines[0].own


def test_what_has_no_price_or_another_currency_is_named_and_left_out() -> None:
    made = totals(_rig("a.b.priced", "a.b.foreign", "a.b.bare", "gone.from.catalog"), CATALOG)
    assert (made.subtotal, made.foreign, made.unpriced) == (24, ("i1",), ("i2", "i3"))


def test_tax_on_top_and_tax_inside() -> None:
    on_top = totals(
        _rig("a.b.priced", quote=QuoteDetails(tax_percent=21, discount_percent=50)), CATALOG
    )
    assert (on_top.discount, on_top.tax, on_top.total) == (12, 2.52, 14.52)
    inside = totals(
        _rig("a.b.priced", quote=QuoteDetails(tax_percent=20, prices_include_tax=True)), CATALOG
    )
    assert (inside.tax, inside.total) == (4, 24)


def test_the_classic_break_even() -> None:
    hours = break_even_hours(8500, 3.60)
    assert hours is not None
    assert round(hours) == 2361
    assert rent_over(24, 70) == 1680


def test_a_rig_whose_energy_costs_more_than_the_rent_never_breaks_even() -> None:
    assert break_even_hours(8500, 0.10, running_per_hour=0.10) is None


def test_energy_of_a_year() -> None:
    year = energy_per_year(1000, 24, 0.30)
    assert (year.energy_kwh, year.cost) == (8760, 2628)
    assert three_year_total(1000, 100, resale_share=0.25) == 1050


RATES = ExchangeRates(day="2026-11-20", source="ECB", rates={"TWD": 37.5, "USD": 1.15})


def test_prices_in_another_currency_are_counted_by_the_rigs_rates() -> None:
    made = totals(_rig("a.b.priced", "a.b.foreign", exchange=RATES), CATALOG)
    assert (made.subtotal, made.foreign, made.converted) == (24 + 16, (), ("i1",))
    assert made.lines[1].unit == _price(300, "TWD")


def test_a_rate_that_lacks_leaves_the_item_out() -> None:
    made = totals(
        _rig(
            "a.b.foreign",
            exchange=ExchangeRates(day="2026-11-20", source="ECB", rates={"USD": 1.15}),
        ),
        CATALOG,
    )
    assert (made.subtotal, made.foreign, made.converted) == (0, ("i0",), ())


def test_a_price_that_can_be_counted_goes_before_a_newer_one_that_cannot() -> None:
    prices = (_price(115, "USD", "2026-01-01"), _price(9, "XPF", "2026-11-01"))
    part = Accessory(id="a.b.two", name="Two", vendor="A", type="cable", prices=prices)
    made = totals(_rig("a.b.two", exchange=RATES), Catalog({part.id: part}, {}))
    assert (made.subtotal, made.converted) == (200, ("i0",))


def test_rates_that_are_not_needed_change_nothing() -> None:
    assert totals(_rig("a.b.priced", exchange=RATES), CATALOG) == totals(
        _rig("a.b.priced"), CATALOG
    )


def test_the_edit_that_sets_the_rates() -> None:
    rig = apply(_rig("a.b.foreign"), Edit("set_exchange", {"exchange": RATES}))
    assert rig.exchange == RATES
    assert decode_rig(encode_rig(rig), "rig").exchange == RATES


def test_what_a_maker_announced_counts_only_while_the_part_is_sold() -> None:
    launch = replace(_price(900), condition="launch")
    for status, expected in (("current", 1800), ("classic", 0), ("legacy", 0)):
        part = Accessory(
            id="a.b.old", name="Old", vendor="A", type="cable", status=status, prices=(launch,)
        )
        sums = totals(_rig("a.b.old"), Catalog({part.id: part}, {}), day="2026-11-20")
        assert sums.total == expected
        assert bool(sums.unpriced) == (expected == 0)
        assert sums.fresh == 0.0


def test_sums_say_what_they_would_be_today_and_how_much_is_fresh() -> None:
    old = replace(CATALOG.parts["a.b.priced"], id="a.b.old", prices=(_price(36, day="2025-01-01"),))
    catalog = Catalog({**CATALOG.parts, old.id: old}, {})
    rig = _rig("a.b.priced", "a.b.old")
    sums = totals(rig, catalog, day="2026-06-01")
    assert sums.subtotal == 96 and sums.fresh == 24 / 96
    assert sums.today is not None and sums.today.low < sums.today.value < sums.today.high
    assert sums.today.low > 24
    fresh, aged = sums.lines
    assert fresh.today is not None and fresh.today.low == fresh.today.high == 24 and fresh.fresh
    assert aged.today is not None and aged.today.low < aged.today.high and not aged.fresh
    later = totals(rig, catalog, day="2026-12-01")
    assert later.fresh == 0 and totals(rig, catalog).today is None


def test_a_monitor_stands_beside_the_computer_with_its_own_sum(catalog: Catalog) -> None:
    rig = read_rig(data_path("resources") / "samples" / "deskmini-gtx-1070.rig")
    sums = totals(rig, catalog)
    assert (sums.subtotal - sums.beside, sums.beside) == (49850, 2588)
    without = apply(rig, Edit("remove_item", {"uid": "monitor"}))
    assert (totals(without, catalog).subtotal, totals(without, catalog).beside) == (49850, 0)
