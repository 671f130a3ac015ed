"""The user's additions: who overrides whom, and broken files left aside."""

from pathlib import Path

import msgspec
import pytest

from rigplanner.catalog.foreign import Import
from rigplanner.catalog.imports.user_catalog import (
    IMPORTED,
    PRICES,
    RATES_FILE,
    UPDATES,
    full_catalog,
    keep_family,
    keep_import,
    keep_prices,
    newest_rates,
    user_folder,
)
from rigplanner.catalog.load import CatalogFault, Family, shipped_catalog
from rigplanner.catalog.prices.exchange import convert, shipped_rates
from rigplanner.catalog.prices.prices import (
    Offer,
    Offers,
    PartPrice,
    PriceFile,
    decode_prices,
    is_currency,
    is_day,
    price_file,
)
from rigplanner.catalog.schema.parts import Accessory, Price
from rigplanner.evidence import Source

SOURCES = {"acme-user": Source(title="ACME", read="2026-11-21", trust="community")}
RTX = "nvidia.geforce.rtx-3090"


BROKEN = [
    b"",
    b"{",
    b"\xff",
    b"\x80\x04.",
    b"[" * 100_000,
    b"{}",
    b'{"family": "x", "sources": {}, "parts": [{"kind": "gpu"}]}',
]


def _part(name: str, part_id: str = "acme.cable.one") -> Accessory:
    return Accessory(
        id=part_id, name=name, vendor="ACME", type="cable", sources={"acme-user": ("*",)}
    )


def _family(*parts: Accessory) -> Family:
    return Family(family="ACME", sources=SOURCES, parts=parts)


def _import(*parts: Accessory) -> Import:
    return Import(seen=len(parts), parts=parts, sources=SOURCES, refused=())


def _price(
    amount: float, currency: str = "USD", part: str = RTX, day: str = "2026-11-21"
) -> PartPrice:
    return PartPrice(part=part, price=Price(amount=amount, currency=currency, day=day, source="me"))


def _name(part_id: str) -> str:
    part = full_catalog().catalog.get(part_id)
    assert part is not None
    return part.name


def test_without_additions_it_is_the_shipped_catalog() -> None:
    assert full_catalog().catalog is shipped_catalog()


def test_own_parts_override_fetched_ones_and_those_the_shipped() -> None:
    (user_folder() / UPDATES).mkdir(parents=True)
    (user_folder() / UPDATES / "acme.json").write_bytes(
        msgspec.json.encode(_family(_part("fetched"), _part("newer", RTX)))
    )
    assert (_name("acme.cable.one"), _name(RTX)) == ("fetched", "newer")
    keep_family("mine", _family(_part("mine")))
    assert _name("acme.cable.one") == "mine"
    assert full_catalog().catalog.sources["acme-user"] == SOURCES["acme-user"]


def test_imported_parts_never_override() -> None:
    keep_import(
        "opendb", _import(_part("imported", RTX), _part("imported", "opendb.accessory.cable"))
    )
    assert _name(RTX) != "imported"
    assert _name("opendb.accessory.cable") == "imported"


def test_an_import_replaces_the_one_before() -> None:
    keep_import("opendb", _import(_part("old", "opendb.accessory.old")))
    path = keep_import("opendb", _import(_part("new", "opendb.accessory.new")))
    assert full_catalog().catalog.get("opendb.accessory.old") is None
    assert [entry.name for entry in path.parent.iterdir()] == ["opendb.json"]


@pytest.mark.parametrize("place", ["", UPDATES, IMPORTED, PRICES])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"\x80\x04.",
        b"[" * 100_000,
        b"{}",
        b'{"family": "x", "sources": {}, "parts": [{"kind": "gpu"}]}',
    ],
)
def test_a_broken_file_is_told_and_left_aside(place: str, content: bytes) -> None:
    keep_family("good", _family(_part("good")))
    broken = user_folder() / place / "broken.json"
    broken.parent.mkdir(exist_ok=True)
    broken.write_bytes(content)
    full = full_catalog()
    assert full.catalog.get("acme.cable.one") is not None
    assert len(full.faults) == 1
    assert str(broken) in full.faults[0]
    assert broken.read_bytes() == content


def test_a_folder_in_the_way_is_no_file() -> None:
    (user_folder() / "folder.json").mkdir(parents=True)
    assert full_catalog().faults == ()


def test_prices_are_added_and_own_prices_replace(tmp_path: Path) -> None:
    before = shipped_catalog().parts[RTX].prices
    keep_prices(
        "shop",
        PriceFile(
            title="shop", prices=(_price(700), _price(22500, "TWD"), _price(1, part="no.such.part"))
        ),
    )
    assert full_catalog().catalog.parts[RTX].prices == (
        *before,
        _price(700).price,
        _price(22500, "TWD").price,
    )
    keep_prices(
        "mine", PriceFile(title="mine", overrides=True, prices=(_price(650, day="2020-01-01"),))
    )
    prices = full_catalog().catalog.parts[RTX].prices
    assert [price.amount for price in prices if price.currency == "USD"] == [650]
    assert [price.amount for price in prices if price.currency == "TWD"] == [22500]
    assert shipped_catalog().parts[RTX].prices == before


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": 0},
        {"amount": -1},
        {"amount": 1e9},
        {"currency": "usd"},
        {"currency": "US"},
        {"day": "yesterday"},
    ],
)
def test_a_price_that_cannot_be_spoils_its_file_only(changes: dict[str, object]) -> None:
    price = {"amount": 5, "currency": "USD", "day": "2026-11-21", "source": "me", **changes}
    with pytest.raises(CatalogFault, match=r"prices\[0\]"):
        decode_prices(
            msgspec.json.encode({"title": "x", "prices": [{"part": RTX, "price": price}]}), "file"
        )


def test_the_cheapest_sure_offer_is_kept() -> None:
    def offer(amount: float, confidence: str, part: str = RTX) -> Offer:
        price = Price(amount=amount, currency="USD", day="2026-11-21", source="shop")
        return Offer(text="", part=part, kind="gpu", name="", confidence=confidence, price=price)

    offers = Offers(
        seen=4,
        offers=(offer(9, "exact"), offer(7, "exact"), offer(5, "words"), offer(3, "words", "b")),
        refused=(),
    )
    assert [(entry.part, entry.price.amount) for entry in price_file("x", offers).prices] == [
        (RTX, 7)
    ]
    assert [
        (entry.part, entry.price.amount) for entry in price_file("x", offers, "words").prices
    ] == [(RTX, 5), ("b", 3)]


def _ecb(day: str) -> bytes:
    space = "http://www.ecb.int/vocabulary/2002-08-01/eurofxref"
    cube = f'<Cube time="{day}"><Cube currency="USD" rate="2"/></Cube>'
    return f'<Envelope xmlns:g="g" xmlns="{space}"><Cube>{cube}</Cube></Envelope>'.encode()


def test_rates_that_cannot_be_read_or_are_older_leave_the_shipped_ones() -> None:
    shipped = shipped_rates()
    assert newest_rates() == shipped
    user_folder().mkdir(parents=True)
    for content in (b"<html>", _ecb("1999-01-04")):
        (user_folder() / RATES_FILE).write_bytes(content)
        assert newest_rates() == shipped
    (user_folder() / RATES_FILE).write_bytes(_ecb("2030-01-02"))
    rates = newest_rates()
    assert rates.day == "2030-01-02" and rates.rates == {"USD": 2.0, "TWD": shipped.rates["TWD"]}
    assert "2026-09-29" in rates.source


def test_shipped_rates_are_checked_like_fetched_ones() -> None:
    rates = shipped_rates()
    assert is_day(rates.day)
    assert rates.base == "EUR"
    assert all(is_currency(code) and rate > 0 for code, rate in rates.rates.items())
    assert convert(rates.rates["USD"], "USD", "EUR", rates) == pytest.approx(1.0)
    assert convert(24_353.0, "CZK", "EUR", rates) == pytest.approx(1000.0)
    assert {"CAD", "CNY", "CZK", "KRW", "PLN", "SEK"} <= rates.rates.keys()
