"""Whether a price is that of a used or a new piece, as far as its source says so."""

import re

from rigplanner.catalog.schema.parts import Price

_USED = re.compile(r"\b(used|second[- ]hand|refurbished|pre-owned|gebraucht)\b", re.IGNORECASE)
_NEW = re.compile(r"\b(new|sealed|msrp|list price|launch price|announced)\b", re.IGNORECASE)
_AUCTION = re.compile(r"\b(ebay|median of sales)\b", re.IGNORECASE)


def condition_of(price: Price) -> str:
    """Return "used", "new", or "" where neither the price nor its source says. Sales of private
    people count as used unless the source calls the piece new."""
    if price.used or _USED.search(price.source):
        return "used"
    if _NEW.search(price.source):
        return "new"
    return "used" if _AUCTION.search(price.source) else ""
