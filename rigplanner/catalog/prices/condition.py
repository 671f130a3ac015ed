"""New or used: what the source of a price says of the thing that it was asked for."""

import re
from typing import Literal

from rigplanner.catalog.schema.parts import Price

Condition = Literal["new", "used"]

_USED = re.compile(r"\b(used|second[- ]hand|refurbished|renewed|ebay)\b", re.IGNORECASE)


def condition_of(price: Price) -> Condition:
    """Return "used" for a price whose source names used or refurbished goods, or a market where
    owners sell theirs; all others are of new parts."""
    return "used" if _USED.search(price.source) else "new"
