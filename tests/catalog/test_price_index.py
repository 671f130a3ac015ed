"""The price index: what is shipped is what the prices give, and it tells pairs left out better than
no index does."""

from datetime import date, timedelta

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, CatalogFault, read_price_table
from rigplanner.catalog.prices.classes import shared_price
from rigplanner.catalog.prices.exchange import (
    SECOND_URL,
    read_second,
    shipped_rates,
    with_second,
)
from rigplanner.catalog.prices.index import carried, index_class, shipped_index
from rigplanner.catalog.prices.index_making import (
    left_out_misses,
    make_index,
    price_frame,
    price_pairs,
)
from rigplanner.catalog.schema.parts import GPU, MemoryKit, Price

LAST = "2026-10-31"


def test_the_shipped_index_is_made_of_the_shipped_prices(catalog: Catalog) -> None:
    made, shipped = make_index(catalog, shipped_rates()), shipped_index()
    assert made.months == shipped.months and made.series.keys() == shipped.series.keys()
    for name, series in made.series.items():
        other = shipped.series[name]
        assert series.pairs == other.pairs, f"{name}: make the index anew (tools/price_index.py)"
        assert series.level == pytest.approx(other.level, abs=0.002)
        assert series.spread_at_once == pytest.approx(other.spread_at_once, abs=0.002)


def test_pairs_left_out_are_told_better_than_by_an_old_price(catalog: Catalog) -> None:
    pairs, index = price_pairs(price_frame(catalog, shipped_rates())), shipped_index()
    inside = total = 0
    for name, group in pairs.groupby("class"):
        if len(group) < 8:
            continue
        group = group.reset_index(drop=True)
        misses = abs(left_out_misses(group))
        series = index.series[str(name)]
        spread = (series.spread_at_once**2 + series.spread_a_year**2 * group["years"]) ** 0.5
        inside += int((misses < 1.2816 * spread).sum())
        total += len(group)
        moved = abs(group["change"]).median()
        assert misses.mean() < max(0.25, 0.75 * moved), name
    assert total > 50 and 0.7 < inside / total < 0.95


def _kit(catalog: Catalog) -> MemoryKit:
    return next(
        part
        for part in catalog.of_kind("memory")
        if isinstance(part, MemoryKit) and part.type == "DDR5"
    )


def test_an_old_price_is_carried_with_an_interval_that_grows(catalog: Catalog) -> None:
    kit, index = _kit(catalog), shipped_index()
    price = Price(amount=200, currency="USD", day="2025-07-23", source="shop")
    made = carried(kit, price, LAST, index)
    assert made is not None and made.by == "DDR5" == index_class(kit)
    assert 2.5 * 200 < made.value < 9 * 200 and made.low < made.value < made.high
    same = carried(kit, replace(price, day=LAST), LAST, index)
    assert same is not None and same.low == same.value == same.high == 200
    gpu = next(part for part in catalog.of_kind("gpu") if isinstance(part, GPU))
    ages = [0, 40, 200, 400, 900]
    days = [(date.fromisoformat(LAST) - timedelta(days=age)).isoformat() for age in ages]
    for part in (kit, gpu):
        spans = [carried(part, replace(price, day=day), LAST, index) for day in days]
        widths = [round(span.high / span.low, 9) for span in spans if span]
        assert widths == sorted(widths) and len(widths) == len(ages)
    assert carried(kit, replace(price, day="some day"), LAST, index) is None


def test_equal_parts_share_the_newest_price(catalog: Catalog) -> None:
    kit = replace(_kit(catalog), id="acme.a.one", prices=())
    old = Price(amount=200, currency="USD", day="2025-07-23", source="shop")
    new = replace(old, amount=900, day="2026-09-26")
    launch = replace(old, amount=100, day="2026-10-30", condition="launch")
    equal = replace(kit, id="acme.a.two", prices=(new, launch))
    other = replace(kit, id="acme.a.three", modules=kit.modules * 2, prices=(new,))
    own = Catalog({part.id: part for part in (kit, equal, other)}, {})
    shared = shared_price(kit, old, own)
    assert shared is not None and (shared.amount, shared.day) == (900, "2026-09-26")
    assert "equal part" in shared.source
    assert shared_price(kit, None, own) == shared
    recent = replace(old, day="2026-06-01")
    assert shared_price(kit, recent, own) == recent
    assert shared_price(replace(kit, type="DDR4"), old, own) == old
    assert shared_price(equal, old, own) == old  # its own newest is told by its own prices


def test_a_price_table_names_the_line_that_is_wrong(tmp_path) -> None:
    head = "part,day,amount,currency,condition,region,shop,source\n"
    path = tmp_path / "prices.csv"
    assert read_price_table(path) == {}
    path.write_text(head + "a.b.c,2026-01-02,5,USD,new,US,,x\na.b.c,2025-01-02,4,USD,used,,y,x\n")
    first, second = read_price_table(path)["a.b.c"]
    assert (first.amount, first.condition, first.shop) == (4, "used", "y")
    assert (second.day, second.region, second.shop) == ("2026-01-02", "US", None)
    for wrong in ("a.b.c,2026-01-02,x,USD,new,US,,x", "a.b.c,2026-01-02,5,USD,odd,,,x", ",1,5,U"):
        path.write_text(head + wrong + "\n")
        with pytest.raises(CatalogFault, match="line 2"):
            read_price_table(path)


def test_currencies_that_the_bank_leaves_out_come_from_a_second_source() -> None:
    answer = (
        b'{"result": "success", "base_code": "EUR", "time_last_update_unix": 1793404801,'
        b' "rates": {"EUR": 1, "VND": 36.5, "CZK": 99.0}, "terms_of_use": "x"}'
    )
    second = read_second(answer)
    assert second.day == "2026-10-31" and SECOND_URL.startswith("https://")
    rates = with_second(shipped_rates(), second)
    assert rates.rates["VND"] == 36.5 and "exchangerate-api" in rates.source
    assert rates.rates["CZK"] == shipped_rates().rates["CZK"] and rates.day == shipped_rates().day
    for wrong in (b"<html>", b"{}", answer.replace(b"success", b"error"),
                  answer.replace(b'"EUR",', b'"USD",'), answer.replace(b"36.5", b"-1")):  # fmt: skip
        with pytest.raises(CatalogFault):
            read_second(wrong)
