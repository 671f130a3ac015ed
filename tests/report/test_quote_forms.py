"""The three forms of a quote: for a dealer's customer, for oneself on one page, and with cost and
margin."""

import io
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.report.comparison.content import comparison
from rigplanner.report.comparison.writers import FORMATS as COMPARISONS
from rigplanner.report.quote.code import MOST_BYTES, code_of
from rigplanner.report.quote.content import Quote, quote_content
from rigplanner.report.quote.export import FORMATS, export
from rigplanner.report.quote.pdf import quote_pdf, render
from rigplanner.rig.document import Goods, Party, QuoteDetails, Rig, Tax
from rigplanner.rig.files import read_rig
from rigplanner.rig.from_text.parts_list import read_parts_list
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 23)
GOODS = Goods(
    part_number="ZX-4711", ean="4006381333931", condition="refurbished", warranty_months=36, cost=50
)


@pytest.fixture(scope="module")
def rigs(samples: list[Path]) -> dict[str, Rig]:
    return {path.stem: read_rig(path) for path in samples}


@pytest.fixture(scope="module")
def offered(rigs: dict[str, Rig]) -> Rig:
    """A rig of which the dealer said everything."""
    rig = rigs["deskmini-gtx-1070"]
    details = replace(
        rig.quote,
        tax_name="VAT",
        more_taxes=(Tax(name="Eco levy", percent=2.0),),
        labour=1500.0,
        shipping=600.0,
        deposit_percent=30.0,
        lead_time="2 to 3 weeks",
        terms="Goods stay ours until they are paid.",
        signature=True,
    )
    return replace(rig, items=(replace(rig.items[0], goods=GOODS), *rig.items[1:]), quote=details)


def _text(pdf: bytes) -> str:
    pages = PdfReader(io.BytesIO(pdf)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def _sums(quote: Quote) -> dict[str, str]:
    return dict(quote.sums)


def test_a_dealers_quote_prints_what_he_said(offered: Rig, catalog: Catalog) -> None:
    text = _text(quote_pdf(assess(offered, catalog), catalog, DAY))
    for words in (
        "refurbished, 36 months warranty, part no. ZX-4711, EAN 4006381333931",
        "of which VAT 5 %",
        "of which Eco levy 2 %",
        "Lead time 2 to 3 weeks",
        "Deposit with the order, 30 %",
        "Due on delivery",
        "Goods stay ours",
        "Accepted: place, date, signature",
        "included",
    ):
        assert words in text, words
    assert "NT$0" not in text
    assert "Margin" not in text and "Cost" not in text


def test_what_nobody_said_leaves_no_blank(rigs: dict[str, Rig], catalog: Catalog) -> None:
    rig = replace(rigs["deskmini-gtx-1070"], quote=QuoteDetails())
    text = _text(quote_pdf(assess(rig, catalog), catalog, DAY))
    assert "Parts list" in text
    for words in ("not named", "without number", "Lead time", "EAN", "Valid until", "Accepted"):
        assert words not in text, words


def test_the_computer_and_what_stands_beside_it_have_sums_of_their_own(
    rigs: dict[str, Rig], catalog: Catalog
) -> None:
    quote = quote_content(assess(rigs["deskmini-gtx-1070"], catalog), catalog, DAY)
    sums = _sums(quote)
    assert sums["Computer"] == "NT$49,850"
    assert sums["Beside the computer"] == "NT$2,588"
    assert [line.is_beside for line in quote.lines] == [False] * 7 + [True]
    for text in (export(quote, "plain"), _text(render(quote)), export(quote, "markdown")):
        assert "49,850" in text and "2,588" in text
    assert export(quote, "csv").count(",beside the computer,") == 1


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_private_form_is_one_page_without_seller(
    rigs: dict[str, Rig], catalog: Catalog, paper: str
) -> None:
    for rig in rigs.values():
        pdf = quote_pdf(assess(rig, catalog), catalog, DAY, paper, "private")
        text = _text(pdf)
        assert len(PdfReader(io.BytesIO(pdf)).pages) == 1, rig.name
        assert "Example Systems" not in text and "Example Lab" not in text
        assert rig.name in text
        assert all(job.model in text or (job.name or "") in text for job in rig.workloads)


def test_the_internal_form_shows_cost_and_margin(offered: Rig, catalog: Catalog) -> None:
    quote = quote_content(assess(offered, catalog), catalog, DAY, "internal")
    line, tax = quote.lines[0], quote.totals.tax / quote.totals.total
    assert (line.cost, line.margin) == (50, pytest.approx(13900 * (1 - tax) - 50))
    margin = dict(quote.margin)
    assert margin["Cost"] == "NT$50"
    assert any("1 of 8 parts" in word for word in margin)
    text = _text(render(quote))
    assert "Internal, not for the customer" in text and "Margin" in text


def test_a_machine_without_a_price_leaves_no_total(rigs: dict[str, Rig], catalog: Catalog) -> None:
    rig = rigs["hgx-h100"]
    quote = quote_content(assess(rig, catalog), catalog, DAY)
    assert quote.totals.unpriced
    assert quote.incomplete.startswith("Not complete: ")
    assert quote.sums[-1] == ("Total", "not known")
    assert quote.sums[-2][0].startswith("Total of the priced parts, ")


def test_an_electricians_work_is_not_free(rigs: dict[str, Rig], catalog: Catalog) -> None:
    offers = quote_content(assess(rigs["quad-rtx-4090"], catalog), catalog, DAY).offered
    wired = [offer for offer in offers if "circuit" in offer.what]
    assert wired and all("electrician" in offer.price for offer in wired)
    free = [offer for offer in offers if offer.price == "no charge"]
    assert not [offer.what for offer in free if "circuit" in offer.what]


def test_a_part_of_equal_price_is_not_free(rigs: dict[str, Rig], catalog: Catalog) -> None:
    offers = quote_content(assess(rigs["dual-rtx-3090"], catalog), catalog, DAY).offered
    taken = [offer for offer in offers if offer.what.startswith("Take ")]
    assert taken and not [offer.what for offer in taken if offer.price == "no charge"]


def test_three_cards_for_hire_do_not_do_the_very_same(
    rigs: dict[str, Rig], catalog: Catalog
) -> None:
    rows = quote_content(assess(rigs["rtx-5090"], catalog), catalog, DAY).renting
    speeds = [row[3].split("here, ")[1] for row in rows if row[0] == "Stable Diffusion XL"]
    assert len(speeds) == 3 == len(set(speeds))


def test_a_code_holds_the_line_and_a_longer_one_is_left_to_text(
    rigs: dict[str, Rig], catalog: Catalog
) -> None:
    quote = quote_content(assess(rigs["rtx-5090"], catalog), catalog, DAY)
    (widget,) = code_of(quote.share).contents
    assert widget.value == quote.share
    assert code_of("x" * (MOST_BYTES + 1)) is None
    long = replace(quote, share="RigPlanner: " + "y" * MOST_BYTES)
    assert "y" * 40 in _text(render(long))


def test_a_hostile_seller_prints_in_every_form(offered: Rig, catalog: Catalog) -> None:
    hostile = "<b>&amp; </para> \u202e{x} %s"
    goods = Goods(part_number=hostile)
    rig = replace(
        offered,
        name=hostile,
        items=tuple(replace(item, goods=goods, note=hostile * 9) for item in offered.items),
        quote=replace(offered.quote, lead_time=hostile, tax_name=hostile, seller=Party(name="S")),
    )
    for form in ("dealer", "private", "internal"):
        assert "</para>" in _text(quote_pdf(assess(rig, catalog), catalog, DAY, form=form))


class _Page(HTMLParser):
    """Gathers the tags of a page, and what is open at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [name for name, _ in attrs if name in ("src", "href") or name[:2] == "on"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("form", ["dealer", "private"])
def test_the_web_page_stands_alone_and_runs_nothing(
    offered: Rig, catalog: Catalog, form: str
) -> None:
    hostile = replace(offered, name="<script>alert(1)</script>", currency="TWD")
    pages = [
        export(quote_content(assess(hostile, catalog), catalog, DAY, form), "html"),
        COMPARISONS["html"](comparison(("<script>", "b"), ())),
    ]
    for text in pages:
        page = _Page()
        page.feed(text)
        assert page.open == [] and page.outside == []
        assert not {"script", "iframe", "link", "img", "object"}.intersection(page.tags)
        assert "&lt;script&gt;" in text
    assert "49,850" in pages[0] and "ZX-4711" in pages[0]
    assert ("Example Systems" in pages[0]) is (form == "dealer")


def test_a_customer_gets_no_cost_in_any_form(offered: Rig, catalog: Catalog) -> None:
    secret = replace(offered.items[0].goods, cost=8123.45)
    items = (replace(offered.items[0], goods=secret), *offered.items[1:])
    quote = quote_content(assess(replace(offered, items=items), catalog), catalog, DAY)
    for form in FORMATS:
        assert "8123" not in export(quote, form).replace(",", ""), form
    assert "8123" not in _text(render(quote)).replace(",", "")


def test_a_line_to_share_reads_back_as_the_samples(rigs: dict[str, Rig], catalog: Catalog) -> None:
    index = index_of(catalog)
    for rig in rigs.values():
        text = export(quote_content(assess(rig, catalog), catalog, DAY), "share")
        entries = read_parts_list(text, index, "2026-11-23")
        assert [(e.wish.quantity, e.wish.parts[0].id) for e in entries] == [
            (item.quantity, item.part) for item in rig.items
        ]
