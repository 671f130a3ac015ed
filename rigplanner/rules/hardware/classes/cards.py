"""How thick cards of a class are at least and at most: cards with the same kind of cooler and about
the same power, of the shipped catalog."""

from functools import cache

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.core.bounds import Range

ALIKE = (0.8, 1.25)
"""Power of cards of one class, as shares of the card's own."""
FEW = 3


@cache
def _cards() -> tuple[GPU, ...]:
    parts = shipped_catalog().of_kind("gpu")
    return tuple(part for part in parts if isinstance(part, GPU) and part.form_factor == "pcie")


def card_slots(card: GPU) -> Range | None:
    """Return the least and the most slots that a card covers: its own where they are known, else
    those of its class; None where too few are known."""
    if card.slots is not None:
        return card.slots, card.slots
    if card.cooling is None or card.tdp_w is None:
        return None
    low, high = (share * card.tdp_w for share in ALIKE)
    values = [
        other.slots
        for other in _cards()
        if other.cooling == card.cooling
        and other.slots is not None
        and low <= (other.tdp_w or 0.0) <= high
    ]
    return (min(values), max(values)) if len(values) >= FEW else None
