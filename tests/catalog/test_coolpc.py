"""The shop's page: prices in TWD for the parts that its lines name, every other line with its
reason."""

import pytest

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.imports.coolpc import read_coolpc
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.prices import price_file

DAY = "2026-11-21"
PAGE = """<html><font id=Mdy>2026/10/6 11:13</font><TABLE><TR><TD class=w>12<TD class=t>顯示卡 VGA</TD><TD><SELECT name=n12 size=1>
<OPTION value=0 selected>共有商品 6 樣</OPTION><OPTION value=9 disabled>&#x2764; 活動 $500</OPTION>
<OPTGROUP LABEL='NVIDIA RTX5070Ti-16G'>
<OPTION value=1 class=r>技嘉 RTX5070Ti WINDFORCE OC 16G(2587MHz/30.4cm), $29990↘$28990 ◆ ★ 熱賣
<OPTION value=2>微星 RTX5070Ti VENTUS 3X 16G, $27990 ◆ ★</OPTION>
<OPTGROUP LABEL='NVIDIA RTX5090'><OPTION value=3>技嘉 RTX5090 XTREME WATERFORCE 32G, $110000 ◆ ★</OPTION>
<OPTION value=4>技嘉 RTX3060 GAMING OC 8G, $8990</OPTION>
<OPTION value=5>未上市 RTX6090 48G, $99000</OPTION><OPTION value=6>請先詢問, $1</OPTION><OPTION value=7>來電</OPTION></SELECT>
<TD class=w>4<SELECT name=n4><OPTION value=1>AMD R9 9950X【16核/32緒】, $18500</OPTION>
<OPTION value=2>AMD R9 9950X 搭板價, $17500</OPTION><OPTION value=3>AMD R9 9950X3D, $22900</OPTION></SELECT>
<SELECT name=n5><OPTION value=1>華碩 ROG STRIX X870E-E GAMING WIFI(ATX/1H1P), $16990</OPTION>
<OPTION value=2>ROG STRIX X870E-E GAMING WIFI7 R2, $17990</OPTION>
<OPTION value=3>ROG STRIX X870E-E GAMING WIFI, $16000</OPTION></SELECT>
<SELECT name=n17><OPTION value=1>電競椅, $5000</OPTION></SELECT></TABLE></html>"""


@pytest.fixture(scope="module")
def index(catalog: Catalog) -> PartIndex:
    return index_of(catalog)


def test_lines_that_name_a_part_have_its_price(index: PartIndex) -> None:
    made = read_coolpc(PAGE.encode("cp950"), index, DAY)
    assert [(offer.part, offer.confidence, offer.price.amount) for offer in made.offers] == [
        ("nvidia.geforce.rtx-5070-ti", "exact", 28990),
        ("nvidia.geforce.rtx-5070-ti", "exact", 27990),
        ("nvidia.geforce.rtx-5090", "exact", 110000),
        ("amd.ryzen.9-9950x", "exact", 18500),
        ("amd.ryzen.9-9950x3d", "exact", 22900),
        ("asus.rog-strix.x870e-e-gaming-wifi", "exact", 16990),
        ("asus.rog-strix.x870e-e-gaming-wifi", "words", 16000),
    ]
    price = made.offers[0].price
    assert (price.currency, price.day, price.region) == ("TWD", "2026-10-06", "TW")


def test_every_other_line_is_listed_with_its_reason(index: PartIndex) -> None:
    made = read_coolpc(PAGE.encode("cp950"), index, DAY)
    assert sorted((refusal.reason, refusal.found[:12].strip()) for refusal in made.refused) == [
        ("conditional", "AMD R9 9950X"),
        ("kind", "電競椅, $5000"),
        ("no-match", "ROG STRIX X8"),
        ("no-match", "技嘉 RTX3060 G"),
        ("no-match", "未上市 RTX6090"),
        ("not-a-price", "來電"),
        ("not-a-price", "請先詢問, $1"),
    ]
    assert made.seen == len(made.offers) + len(made.refused)


def test_the_cheapest_sure_line_counts(index: PartIndex) -> None:
    made = read_coolpc(PAGE.encode("cp950"), index, DAY)
    sure = {entry.part: entry.price.amount for entry in price_file("shop", made).prices}
    loose = {entry.part: entry.price.amount for entry in price_file("shop", made, "words").prices}
    assert (sure["nvidia.geforce.rtx-5070-ti"], sure["asus.rog-strix.x870e-e-gaming-wifi"]) == (
        27990,
        16990,
    )
    assert loose["asus.rog-strix.x870e-e-gaming-wifi"] == 16000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp950"])
def test_a_saved_page_reads_in_any_of_its_encodings(index: PartIndex, encoding: str) -> None:
    assert len(read_coolpc(PAGE.encode(encoding), index, DAY).offers) == 7


def test_bytes_that_are_no_big5_cost_nothing_but_a_remark(index: PartIndex) -> None:
    made = read_coolpc(PAGE.encode("cp950").replace(b"WINDFORCE", b"\xff"), index, DAY)
    assert len(made.offers) == 7
    assert [refusal.reason for refusal in made.refused if not refusal.lost] == ["encoding"]


def test_a_page_without_a_day_takes_the_callers(index: PartIndex) -> None:
    for stamp in ("", "<font id=Mdy>2026/13/45</font>"):
        page = PAGE.replace("<font id=Mdy>2026/10/6 11:13</font>", stamp)
        assert read_coolpc(page.encode("cp950"), index, DAY).offers[0].price.day == DAY


def test_markup_hidden_in_a_name_is_refused(index: PartIndex) -> None:
    page = (
        "<select name=n12><option value=1>RTX5090 &lt;script&gt;x&lt;/script&gt;,"
        " $100</option></select>"
    )
    made = read_coolpc(page.encode(), index, DAY)
    assert (made.offers, [refusal.reason for refusal in made.refused]) == ((), ["markup"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04.",
        b"<html><body>404</body></html>",
        b"[]",
        b"<select name=n12><option value=0>x",
    ],
)
def test_what_is_not_the_page_is_refused(index: PartIndex, content: bytes) -> None:
    with pytest.raises(ValueError, match="not the evaluation page"):
        read_coolpc(content, index, DAY)
