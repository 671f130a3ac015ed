"""The price behind a link: asked for once a day at most, and only where the shop lets programs
read."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.binary import place
from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.imports import fetch, user_catalog
from rigplanner.catalog.load import CatalogFault
from rigplanner.catalog.prices.price_list import decoded
from rigplanner.catalog.prices.prices import PartPrice, PriceFile, decode_prices
from rigplanner.catalog.prices.shop_page import LARGEST_PAGE_BYTES, ShopOffer, offer_on
from rigplanner.catalog.schema.parts import Part, Price
from rigplanner.whole_file import read_within

AGENT = "RigPlanner"
LIMITS = fetch.Limits(total_s=60.0, largest_bytes=LARGEST_PAGE_BYTES)
ROBOTS_LIMITS = fetch.Limits(total_s=30.0, largest_bytes=2**19)
CURRENT = timedelta(days=1)
"""A page that was read within a day is not asked for again."""
LINKS = "links"
"""Name of the file of prices that came by links."""


class Linked(Struct, frozen=True):
    """What a link gave: the offer, as a price of the day, and the part that it names (None: none or
    several)."""

    offer: ShopOffer
    price: Price
    part: Part | None
    among: tuple[str, ...] = ()


def read_link(url: str, index: PartIndex, go_on: fetch.GoOn = lambda _done, _all: True) -> Linked:
    """Return the price on a shop's page. Raises FetchFault with one sentence when it cannot be
    asked, must not be asked, or states no price."""
    page, day = _page(url, go_on)
    try:
        offer = offer_on(decoded(page))
    except ValueError as fault:
        raise fetch.Refused(f"{fetch.shown(url)}: {fault}.") from fault
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    price = Price(
        amount=offer.amount,
        currency=offer.currency,
        day=day,
        source=f"{host}, read from the page's own data",
        condition=offer.condition,
        shop=host,
    )
    for number in offer.numbers:
        found = index.named_in(number)
        if found.part is not None and found.confidence == "exact":
            return Linked(offer, price, found.part)
    named = index.named_in(offer.name)
    return Linked(offer, price, named.part, named.among)


def keep_link(linked: Linked, part: Part, folder: Path | None = None) -> Path:
    """Keep a price as that of `part`, beside those that other links gave; of one shop the newest
    stays. Raises OSError."""
    path = (folder or user_catalog.user_folder()) / user_catalog.PRICES / f"{LINKS}.json"
    try:
        known = decode_prices(read_within(path, user_catalog.LARGEST_PRICES_BYTES), str(path))
    except (OSError, CatalogFault):
        known = PriceFile(title="prices by links", prices=())
    others = tuple(
        each
        for each in known.prices
        if (each.part, each.price.shop, each.price.condition)
        != (part.id, linked.price.shop, linked.price.condition)
    )
    added = (*others, PartPrice(part=part.id, price=linked.price))
    return user_catalog.keep_prices(LINKS, replace(known, prices=added), folder)


def _page(url: str, go_on: fetch.GoOn) -> tuple[bytes, str]:
    """Return a page and the day on which it was read: the kept one where that is of today."""
    if not fetch.allowed(url):
        raise fetch.Refused(f"{fetch.shown(url)}: only https is fetched.")
    path = place(f"page-{hashlib.sha256(url.encode()).hexdigest()[:16]}").with_suffix(".html")
    stamp = fetch.read_stamp(path)
    now = datetime.now(UTC)
    if stamp is None or now - datetime.fromisoformat(stamp.read) > CURRENT:
        _ask_leave(url)
        fetched = fetch.fetch(url, path, lambda _: None, LIMITS, go_on=go_on)
        if fetched.fault:
            raise fetch.FetchFault(fetched.fault)
        stamp = fetched.stamp
    try:
        return read_within(path, LARGEST_PAGE_BYTES), stamp.read[:10]
    except OSError as fault:
        raise fetch.FetchFault(f"{fetch.shown(url)}: the kept page cannot be read.") from fault


def _ask_leave(url: str) -> None:
    """Raise Refused where the shop's robots.txt keeps programs off the page; one that is not there
    forbids nothing."""
    from urllib.robotparser import RobotFileParser

    parts = urlsplit(url)
    robots = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
    path = place(f"robots-{hashlib.sha256(robots.encode()).hexdigest()[:16]}").with_suffix(".txt")
    try:
        fetch.fetch(robots, path, lambda _: None, ROBOTS_LIMITS)
        text = decoded(read_within(path, ROBOTS_LIMITS.largest_bytes))
    except fetch.NotThere:
        return
    except (OSError, ValueError) as fault:
        raise fetch.Refused(f"{fetch.shown(robots)}: cannot be read.") from fault
    rules = RobotFileParser()
    rules.parse(text.splitlines())
    if not rules.can_fetch(AGENT, url):
        raise fetch.Refused(
            f"{fetch.shown(url)}: the shop's robots.txt keeps programs off this page."
        )
