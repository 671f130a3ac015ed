"""CSV of prices: mapping, encodings, delimiters, hostile cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.money import read_money
from rigplanner.catalog.prices.price_list import Defaults, decoded, read_price_list
from rigplanner.catalog.prices.prices import Offers
from rigplanner.catalog.schema.parts import Accessory

DEFAULTS = Defaults(currency="USD", day="2026-11-21", source="shop")
RTX, RYZEN = "nvidia.geforce.rtx-3090", "amd.ryzen.9-5950x"


@pytest.fixture(scope="module")
def index(catalog: Catalog) -> PartIndex:
    return index_of(catalog)


def _prices(made: Offers) -> list[tuple[str, float, str]]:
    return [(offer.part, offer.price.amount, offer.price.currency) for offer in made.offers]


def _reasons(made: Offers) -> list[tuple[str, str, str]]:
    return [(refusal.file, refusal.field, refusal.reason) for refusal in made.refused]


@pytest.mark.parametrize(
    "text",
    [
        "name,price\nRTX 3090,700\nRyzen 9 5950X,300.00\n",
        "Name;Price\r\nRTX 3090;700\r\n\r\nRyzen 9 5950X;300,00\r\n",
        "price\tname\n$700\tRTX 3090\n300\tRyzen 9 5950X",
        'name|price\n"RTX 3090, 24 GB | used"|"$700.00"\nRyzen 9 5950X|300',
        f"id,price\n{RTX},700\n{RYZEN},300\n",
    ],
)
def test_common_columns_and_delimiters_are_understood(index: PartIndex, text: str) -> None:
    assert _prices(read_price_list(text.encode(), index, DEFAULTS)) == [
        (RTX, 700, "USD"),
        (RYZEN, 300, "USD"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp950"])
def test_chinese_lists(index: PartIndex, encoding: str) -> None:
    text = '品名,售價\n技嘉 RTX3090 顯示卡 GAMING OC 24G 三風扇 四年保固,"NT$22,500"\n'
    assert _prices(read_price_list(text.encode(encoding), index, DEFAULTS)) == [(RTX, 22500, "TWD")]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1250"])
def test_czech_lists(index: PartIndex, encoding: str) -> None:
    text = "Zboží;Cena\nGrafická karta RTX 3090 použitá, záruka 6 měsíců;17 990,50 Kč\n"
    assert _prices(read_price_list(text.encode(encoding), index, DEFAULTS)) == [
        (RTX, 17990.5, "CZK")
    ]


def test_a_mapping_says_what_columns_are(index: PartIndex) -> None:
    text = "a,b,c,d,e,f\nRTX 3090,700,EUR,2026-01-02,DE,market\n"
    mapping = {"a": "name", "b": "price", "c": "currency", "d": "day", "e": "region", "f": "source"}
    (offer,) = read_price_list(text.encode(), index, DEFAULTS, mapping).offers
    price = offer.price
    assert (price.amount, price.currency, price.day, price.region, price.source) == (
        700,
        "EUR",
        "2026-01-02",
        "DE",
        "market",
    )


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        ({"a": "name", "z": "price"}, "names z"),
        ({"a": "name", "b": "cost"}, "names cost"),
        ({"a": "name"}, "needs a column"),
    ],
)
def test_a_mapping_that_does_not_fit_is_told(
    index: PartIndex, mapping: dict[str, str], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        read_price_list(b"a,b\nRTX 3090,700\n", index, DEFAULTS, mapping)


def test_bad_rows_are_named_and_good_ones_come_in(index: PartIndex) -> None:
    rows = [
        "name,price,currency,day",
        "RTX 3090,700,,",
        "=HYPERLINK(1),1,,",
        "@SUM(A1),1,,",
        "<img src=x>,1,,",
        "RTX 3090,1e400,,",
        "RTX 3090,NaN,,",
        "RTX 3090,-5,,",
        "RTX 3090,0,,",
        "RTX 3090,=1+1,,",
        "RTX 3090,5,dollars,",
        "RTX 3090,5,,yesterday",
        "RTX 3090,5,,2026-02-30",
        "Frobnicator 9000,5,,",
        "RTX 3090 \x1b[31m,5,,",
        f"{'x' * 1000},5,,",
        "RTX 3090",
    ]
    made = read_price_list("\n".join(rows).encode(), index, DEFAULTS)
    assert _prices(made) == [(RTX, 700, "USD")]
    assert [(field, reason) for _, field, reason in _reasons(made)] == [
        ("name", "formula"),
        ("name", "formula"),
        ("name", "markup"),
        ("price", "not-a-price"),
        ("price", "not-a-price"),
        ("price", "not-a-price"),
        ("price", "not-a-price"),
        ("price", "not-a-price"),
        ("currency", "currency"),
        ("day", "day"),
        ("day", "day"),
        ("name", "no-match"),
        ("name", "characters"),
        ("name", "too-long"),
        ("price", "not-a-price"),
    ]
    assert _reasons(made)[0][0] == "line 3"
    assert made.seen == len(rows) - 1


def test_a_name_of_several_parts_is_not_guessed() -> None:
    twins = [
        Accessory(
            id=f"a.b.{n}", name=f"ACME {n}", vendor="ACME", aliases=("Twin 5000",), type="cable"
        )
        for n in "cd"
    ]
    made = read_price_list(b"name,price\nTwin 5000,500\n", PartIndex(twins), DEFAULTS)
    assert ([reason for _, _, reason in _reasons(made)], made.offers) == (["ambiguous"], ())
    assert made.refused[0].found == "Twin 5000: a.b.c, a.b.d"


def test_a_huge_cell_is_damage_and_no_end(index: PartIndex) -> None:
    made = read_price_list(
        b'name,price\n"' + b"x" * 200_000 + b'",1\nRTX 3090,700\n', index, DEFAULTS
    )
    assert _prices(made) == [(RTX, 700, "USD")]
    assert [reason for _, _, reason in _reasons(made)] == ["damaged"]


def test_a_file_that_is_no_list(index: PartIndex) -> None:
    with pytest.raises(ValueError, match="empty"):
        read_price_list(b"\n\n", index, DEFAULTS)
    with pytest.raises(ValueError, match="needs a column"):
        read_price_list(b"\x80\x04\x95 pickle\nx\n", index, DEFAULTS)
    with pytest.raises(ValueError, match="not in the encoding"):
        read_price_list("品名".encode("cp950"), index, DEFAULTS, encoding="utf-8")
    with pytest.raises(ValueError, match="known are"):
        decoded(b"", "utf-7")


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("NT$22,500", (22500, "TWD")),
        ("1.234,50 €", (1234.5, "EUR")),
        ("99.90", (99.9, None)),
        ("12 345,50 Kč", (12345.5, "CZK")),
        ("USD 5", (5, "USD")),
        ("1'234.50", (1234.5, None)),
        ("-5", (None, None)),
        ("1e5", (None, None)),
        ("1.2.3", (None, None)),
        ("", (None, None)),
        ("5 apples", (None, None)),
        ("9" * 39, (None, None)),
    ],
)
def test_amounts_of_money(text: str, money: tuple[float | None, str | None]) -> None:
    assert read_money(text) == money


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        made = read_price_list(content, PartIndex([]), DEFAULTS)
    except ValueError:
        return
    assert made.offers == ()
