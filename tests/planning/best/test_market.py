"""What parts cost today: markets, prices that are carried by the index, and certificates over the
ladder of strictness."""

import math
from datetime import date

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.catalog.prices.classes import is_from_catalog
from rigplanner.catalog.prices.exchange import ExchangeRates
from rigplanner.catalog.prices.index import CARRIED, carried, shipped_index
from rigplanner.catalog.schema.parts import Price, Storage
from rigplanner.planning.best.answer import best_rig
from rigplanner.planning.best.market import HOME_LEAST, KINDS, SPREAD_ABROAD, Market
from rigplanner.planning.best.verify import verify
from rigplanner.report.words.best import doubt_texts
from tools.campaign.small_catalogs import TODAY, random_case

RATES = ExchangeRates(day=TODAY, source="A bank", rates={"USD": 1.0, "TWD": 30.0}, base="USD")
OLD = "2025-07-23"


def price(amount: float, currency: str = "USD", day: str = TODAY) -> Price:
    return Price(amount=amount, currency=currency, day=day, source="A shop")


def at_home(**prices: Price) -> Catalog:
    """A catalog in which every kind of a rig has enough prices in USD, and one more drive for each
    of `prices`."""
    shipped, parts = shipped_catalog(), {}
    for kind in KINDS:
        of_kind = list(shipped.of_kind(kind))[: HOME_LEAST + len(prices)]
        for part in of_kind[:HOME_LEAST]:
            parts[part.id] = replace(part, prices=(price(100.0),))
        if kind == "storage":
            for (name, one), part in zip(prices.items(), of_kind[HOME_LEAST:], strict=True):
                parts[name] = replace(part, id=name, prices=(one,), capacity_gb=777.0)
    return replace(shipped, parts=parts)


def test_a_market_that_sells_whole_rigs_counts_no_converted_prices_unless_asked() -> None:
    catalog = at_home(drive=price(3000.0, "TWD"))
    drive = catalog.parts["drive"]
    home = Market(catalog, "USD", TODAY, RATES)
    assert home.offer(drive) is None and home.is_sold_abroad(drive)
    abroad = Market(catalog, "USD", TODAY, RATES, abroad=True).offer(drive)
    assert abroad is not None and abroad.amount == pytest.approx(100.0)
    assert abroad.asked.currency == "TWD"
    assert math.log(abroad.high / abroad.amount) == pytest.approx(SPREAD_ABROAD, abs=1e-3)


def test_a_converted_price_is_what_the_sums_of_a_rig_count() -> None:
    catalog = at_home(drive=price(3000.1, "TWD"), other=price(100.0, day=OLD))
    for currency, digits in (("USD", 2), ("TWD", 0)):
        market = Market(catalog, currency, TODAY, RATES, abroad=True)
        for part in catalog.of_kind("storage"):
            offer = market.offer(part)
            assert offer is not None and offer.amount == round(offer.amount, digits)


def test_a_market_that_lacks_one_kind_buys_in_others_too() -> None:
    whole = at_home(drive=price(3000.0, "TWD"))
    supply = next(iter(whole.of_kind("psu"))).id
    some = replace(whole, parts={n: part for n, part in whole.parts.items() if n != supply})
    offer = Market(some, "USD", TODAY, RATES).offer(some.parts["drive"])
    assert offer is not None and offer.amount == pytest.approx(100.0)


def test_an_old_price_counts_as_the_index_carries_it_and_says_so() -> None:
    catalog = at_home(drive=price(100.0, day=OLD))
    drive = catalog.parts["drive"]
    assert isinstance(drive, Storage)
    today = carried(drive, drive.prices[0], TODAY, shipped_index())
    offer = Market(catalog, "USD", TODAY, RATES).offer(drive)
    assert today is not None and offer is not None and offer.asked == drive.prices[0]
    assert offer.amount == pytest.approx(today.value, abs=0.01)
    assert offer.low == pytest.approx(today.low, rel=1e-3) and offer.low < offer.amount < offer.high
    assert offer.price.day == OLD and offer.price.source.endswith(f"{CARRIED}{TODAY}")
    assert is_from_catalog(offer.price, catalog)


def test_a_price_that_was_carried_is_not_carried_again_but_keeps_its_doubt() -> None:
    catalog = at_home(drive=price(100.0, day=OLD))
    drive = catalog.parts["drive"]
    offer = Market(catalog, "USD", TODAY, RATES).offer(drive)
    assert offer is not None
    again = carried(drive, offer.price, TODAY, shipped_index())
    assert again is not None and again.value == pytest.approx(offer.amount)
    days = (date.fromisoformat(TODAY) - date.fromisoformat(OLD)).days
    assert days > 183 and again.high / again.value == pytest.approx(
        offer.high / offer.amount, rel=1e-3
    )


LADDERED = (7, 53)
"""Small catalogs in which the best rig has facts that are not known, and warnings."""


@pytest.mark.parametrize("seed", LADDERED)
def test_a_rig_that_is_not_sound_comes_with_the_proof_that_none_is(seed: int) -> None:
    catalog, question = random_case(seed)
    answer = best_rig(question, catalog, TODAY, True)
    made = answer.certificate
    assert answer.best is not None and answer.strictness != "sound" and made is not None
    assert made.stricter is not None and not verify(made, catalog).faults
    assert verify(replace(made, stricter=None), catalog).faults
    lame = replace(made.stricter, families=made.stricter.families[1:])
    assert verify(replace(made, stricter=lame), catalog).faults
    other = replace(made.stricter, question=replace(question, cores=question.cores + 1))
    assert verify(replace(made, stricter=other), catalog).faults


def test_old_and_converted_prices_are_told_beside_the_rig() -> None:
    catalog, question = random_case(53)
    parts = {
        part.id: replace(part, prices=(replace(part.prices[0], day=OLD),))
        for part in catalog.parts.values()
    }
    old = best_rig(replace(question, budget=None), replace(catalog, parts=parts), TODAY).best
    assert old is not None
    market = Market(replace(catalog, parts=parts), "USD", TODAY)
    (told,) = doubt_texts(old, market)
    assert told.startswith(f"{len(old.rig.items)} prices are older")
