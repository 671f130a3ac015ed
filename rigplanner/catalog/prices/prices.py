"""Prices apart from parts: a file of them, what a shop's page or list gave, and how they are put on
a catalog."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.find.naming import Confidence
from rigplanner.catalog.foreign import Refusal
from rigplanner.catalog.load import Catalog, CatalogFault
from rigplanner.catalog.schema.parts import AnyPart, Part, Price, kind_of
from rigplanner.decoding import JsonFault, read_json


class PartPrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one part costs."""

    part: str
    price: Price


class PriceFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of prices. `title` says where they come from; with `overrides` they replace the
    catalog's prices in their currency."""

    title: str
    overrides: bool = False
    prices: tuple[PartPrice, ...]


class Offer(Struct, frozen=True, kw_only=True):
    """One line of a shop, `text` as the shop writes it, the part that it names, how sure that is,
    and the price."""

    text: str
    part: str
    kind: str
    name: str
    confidence: Confidence
    price: Price


def offer_of(text: str, part: Part, confidence: Confidence, price: Price) -> Offer:
    """Return a shop's line as an offer of the part that it names."""
    return Offer(
        text=text,
        part=part.id,
        kind=kind_of(part),
        name=part.name,
        confidence=confidence,
        price=price,
    )


class Offers(Struct, frozen=True, kw_only=True):
    """What a page or list gave: `seen` priced lines, those that name a part, and every line refused
    with its reason."""

    seen: int
    offers: tuple[Offer, ...]
    refused: tuple[Refusal, ...]


def decode_prices(content: bytes, name: str) -> PriceFile:
    """Return the price file in `content`; raise CatalogFault with `name` and the field when it is
    not one."""
    try:
        file = read_json(content, PriceFile)
    except JsonFault as fault:
        raise CatalogFault(f"{name}: {fault}.") from fault
    for number, entry in enumerate(file.prices):
        price = entry.price
        if not (0 < price.amount < 1e8 and is_currency(price.currency) and is_day(price.day)):
            found = f"{price.amount:g} {price.currency[:8]} {price.day[:12]}"
            raise CatalogFault(
                f"{name}: prices[{number}].price: expected amount, currency code and ISO day, found"
                f" {found!r}."
            )
    return file


def is_day(text: str) -> bool:
    """Say whether a text is a day as YYYY-MM-DD."""
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_currency(text: str) -> bool:
    """Say whether a text has the form of an ISO 4217 code."""
    return len(text) == 3 and text.isascii() and text.isupper() and text.isalpha()


def with_prices(catalog: Catalog, files: Iterable[PriceFile]) -> Catalog:
    """Return the catalog with the prices of files on its parts, later files after earlier ones;
    unknown ids are passed over."""
    parts, community = dict(catalog.parts), catalog.community
    for file in files:
        by_part: dict[str, list[Price]] = {}
        for entry in file.prices:
            by_part.setdefault(catalog.renamed.get(entry.part, entry.part), []).append(entry.price)
        for part_id, prices in by_part.items():
            if part_id in parts:
                parts[part_id] = _priced(parts[part_id], prices, file.overrides)
        if community:
            community = community.with_priced(
                {part_id: tuple(each) for part_id, each in by_part.items() if part_id not in parts}
            )
    return replace(catalog, parts=parts, community=community)


def _priced(part: AnyPart, prices: list[Price], overrides: bool) -> AnyPart:
    currencies = {price.currency for price in prices} if overrides else set()
    kept = tuple(
        price for price in part.prices if price.currency not in currencies and price not in prices
    )
    return replace(part, prices=(*kept, *prices))


def price_file(title: str, offers: Offers, least: Confidence = "exact") -> PriceFile:
    """Return the cheapest offer of each part as a price file; with `least` "words" also those that
    leave out the maker."""
    accepted = ("exact",) if least == "exact" else ("exact", "words")
    cheapest: dict[tuple[str, str], Offer] = {}
    for offer in offers.offers:
        key = (offer.part, offer.price.currency)
        if offer.confidence in accepted and (
            key not in cheapest or offer.price.amount < cheapest[key].price.amount
        ):
            cheapest[key] = offer
    return PriceFile(
        title=title,
        prices=tuple(PartPrice(part=offer.part, price=offer.price) for offer in cheapest.values()),
    )
