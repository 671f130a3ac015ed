"""The price on a shop's page: what pages state for machines, and what is refused."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.imports import user_catalog
from rigplanner.catalog.imports.fetch import FetchFault
from rigplanner.catalog.imports.price_link import keep_link, read_link
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.prices.shop_page import offer_on


def _ld(*trees: object) -> str:
    blocks = "".join(
        f'<script type="application/ld+json">{json.dumps(tree)}</script>' for tree in trees
    )
    return f"<html><head><title>ACME Card 9, buy it</title>{blocks}</head></html>"


OFFER = {
    "@type": "Offer",
    "price": "1,299.00",
    "priceCurrency": "USD",
    "availability": "https://schema.org/InStock",
    "itemCondition": "http://schema.org/RefurbishedCondition",
}
CARD = {"@type": "Product", "name": "ACME Card 9", "mpn": "AC-9", "offers": OFFER}
OTHER = {**CARD, "name": "ACME Cable", "offers": {**OFFER, "price": 9}}
ITEMS = """<title>x</title><div itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">ACME <b>Card</b> 9</h1><img itemprop="image" src="a.png">
<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
<span itemprop="price" content="1299.00">$1,299</span><meta itemprop="priceCurrency" content="USD">
<link itemprop="availability" href="https://schema.org/OutOfStock"></div>
<div itemprop="brand" itemscope itemtype="https://schema.org/Brand"><i itemprop="name">ACME</i></div>
</div>"""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (_ld(CARD), ("ACME Card 9", 1299.0, "USD", "in stock", "refurbished", ("AC-9",))),
        (_ld({"@graph": [{"@type": "WebPage"}, CARD]}), "in stock"),
        (_ld([{**CARD, "@type": ["Thing", "Product"]}]), "in stock"),
        (_ld({**CARD, "offers": [{**OFFER, "price": 1500}, OFFER]}), 1299.0),
        (_ld({**CARD, "offers": {"@type": "AggregateOffer", "lowPrice": 999,
              "highPrice": 2000, "priceCurrency": "EUR"}}), (999.0, "EUR", "unknown", "new")),
        (_ld({**CARD, "offers": {"@type": "Offer", "priceSpecification":
              {"price": "12 345,50", "priceCurrency": "CZK"}}}), (12345.5, "CZK")),
        (_ld(CARD, OTHER), "ACME Card 9"),
        (_ld({"@type": "Product", "name": "no price"}, CARD), "ACME Card 9"),
        ("<script type='application/ld+json'>{broken</script>" + _ld(CARD), 1299.0),
        (ITEMS, ("ACME Card 9", 1299.0, "USD", "out of stock", "new")),
    ],
)  # fmt: skip
def test_what_a_page_states(page: str, expected: object) -> None:
    offer = offer_on(page)
    stated = (offer.name, offer.amount, offer.currency, offer.availability, offer.condition)
    for each in expected if isinstance(expected, tuple) else (expected,):
        assert each in (*stated, offer.numbers)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("", "no product and price"),
        ("<p>$1,299.00</p>", "no product and price"),
        (_ld({"@type": "Product", "name": "ACME Card 9"}), "no price"),
        (_ld({**CARD, "offers": {**OFFER, "price": "call us"}}), "no price"),
        (_ld({**CARD, "offers": {**OFFER, "price": 0}}), "no price"),
        (_ld({**CARD, "offers": {**OFFER, "price": 1e300}}), "no price"),
        (_ld({**CARD, "offers": {**OFFER, "priceCurrency": "$"}}), "no price"),
        (_ld({**CARD, "name": "<b>bold</b> card"}), "no price"),
        (_ld({**CARD, "name": "Card 7"}, {**CARD, "name": "Card 8"}), "2 products"),
        ("<script type='application/ld+json'>" + "[" * 5000, "no product and price"),
        ("<div itemscope>" * 30_000, "no product and price"),
        ("x" * (8 * 2**20 + 1), "too large"),
    ],
)  # fmt: skip
def test_what_is_refused_has_a_reason(page: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        offer_on(page)


@given(st.text(alphabet='<>/="{}[]:,"@ abcitemproperscoplfPdu1.\n', max_size=300))
def test_no_page_breaks_the_reader(text: str) -> None:
    for page in (text, f'<script type="application/ld+json">{text}</script>', ITEMS[:200] + text):
        with contextlib.suppress(ValueError):
            assert offer_on(page).amount > 0


class _Shop(BaseHTTPRequestHandler):
    pages: dict[str, str]

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        page = self.server.pages.get(self.path)  # type: ignore[attr-defined]
        content = (page or "").encode()
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def shop() -> Iterator[ThreadingHTTPServer]:
    """A shop on this machine: `pages` by path, and which paths were `asked` for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shop)
    server.pages, server.asked = {}, []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_link_is_asked_once_and_its_price_kept(shop, catalog: Catalog) -> None:
    at = f"http://127.0.0.1:{shop.server_address[1]}"
    card = {**CARD, "name": "NVIDIA GeForce RTX 3090 24 GB", "mpn": "none-such"}
    shop.pages["/card"] = _ld(card)
    index = index_of(catalog)
    linked = read_link(f"{at}/card", index)
    assert linked.part is not None and linked.part.id == "nvidia.geforce.rtx-3090"
    assert (linked.price.amount, linked.price.condition) == (1299.0, "refurbished")
    assert read_link(f"{at}/card", index) == linked
    assert shop.asked == ["/robots.txt", "/card"]
    for _ in range(2):  # kept twice, it is there once
        keep_link(linked, linked.part)
    part = user_catalog.full_catalog().catalog.get(linked.part.id)
    assert part is not None and part.prices.count(linked.price) == 1


@pytest.mark.parametrize(
    ("robots", "page", "reason"),
    [
        ("User-agent: *\nDisallow: /", _ld(CARD), "robots.txt"),
        ("User-agent: RigPlanner\nDisallow: /card", _ld(CARD), "robots.txt"),
        ("User-agent: *\nDisallow: /cart", "<p>nothing</p>", "no product"),
        ("", None, "404"),
    ],
)  # fmt: skip
def test_a_link_is_refused_with_its_reason(shop, catalog: Catalog, robots, page, reason) -> None:
    at = f"http://127.0.0.1:{shop.server_address[1]}"
    shop.pages["/robots.txt"] = robots
    if page is not None:
        shop.pages["/card"] = page
    with pytest.raises(FetchFault, match=reason) as raised:
        read_link(f"{at}/card", PartIndex(()))
    assert str(raised.value).count("\n") == 0
    if reason == "robots.txt":
        assert "/card" not in shop.asked


def test_only_https_is_asked() -> None:
    for url in ("http://example.org/card", "file:///etc/passwd", "card", "https://"):
        with pytest.raises(FetchFault, match="https"):
            read_link(url, PartIndex(()))
