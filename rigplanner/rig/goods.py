"""What a seller says of goods: which numbers can be, and part numbers that names carry."""

import re

from rigplanner.rig.document import Goods

LONGEST_NUMBER = 60
LONGEST_WARRANTY = 600
LEAST_OF_EACH = 2
"""Digits, and capitals, that a part number has at least: "(2018)" and "(Rev. B)" are none."""
_EAN = re.compile(r"[0-9]{8}|[0-9]{12,14}")
_IN_BRACKETS = re.compile(r"\(([A-Z0-9][A-Za-z0-9/.+-]{5,38}[A-Z0-9])\)$")


def is_ean(text: str) -> bool:
    """Say whether a text is an EAN-8, UPC-A, EAN-13 or GTIN-14 with the check digit that belongs to
    it (GS1 General Specifications, 7.9)."""
    if not _EAN.fullmatch(text):
        return False
    *digits, check = map(int, text)
    weighted = sum(digit * (3 if n % 2 == 0 else 1) for n, digit in enumerate(reversed(digits)))
    return (10 - weighted % 10) % 10 == check


def wrong_goods(goods: Goods) -> str:
    """Return what of an item's goods cannot be, as a sentence; "" for nothing."""
    if len(goods.part_number) > LONGEST_NUMBER:
        return f"part_number: at most {LONGEST_NUMBER} characters."
    if goods.ean and not is_ean(goods.ean):
        return (
            f"ean: {goods.ean[:20]!r} is no EAN or UPC: 8, 12, 13 or 14 digits, the last of which"
            " checks the others."
        )
    if goods.warranty_months is not None and not 0 <= goods.warranty_months <= LONGEST_WARRANTY:
        return f"warranty_months: expected 0 to {LONGEST_WARRANTY}, found {goods.warranty_months}."
    if goods.cost is not None and not 0 <= goods.cost < 1e12:
        return f"cost: expected 0 to 1e12, found {goods.cost:g}."
    return ""


def number_in_name(name: str) -> str:
    """Return the maker's part number that ends a name in brackets, "" for none:
    "Crucial DDR4-2400 2x8 GB SO-DIMM (CT2K8G4SFS824A)"."""
    found = _IN_BRACKETS.search(name)
    number = found[1] if found else ""
    digits, capitals = (sum(map(test, number)) for test in (str.isdigit, str.isupper))
    return number if digits >= LEAST_OF_EACH and capitals >= LEAST_OF_EACH else ""
