"""Which lines begin with their price? "690€ - GPU: RTX 3090"; bare amounts where most lines do."""

import re

_SIGN = r"(?:NT\$|US\$|CA\$|A\$|[$€£¥₹])"
_PAID = re.compile(
    rf"^(?P<mark>[\s>*•-]*)(?P<price>{_SIGN}\s?\d[\d,.]*|\d[\d,.]*\s?(?:€|Kč|USD|EUR|TWD|CZK|GBP))"
    r"\s*(?:\s[-–—:]\s|:\s)\s*(?=\S)"
)
_BARE = re.compile(r"^(?P<mark>[\s>*•-]*)(?P<price>\d{2,5}(?:[.,]\d\d)?)\s+[-–—]\s+(?=\S)")
LEAST_LINES = 3
"""So many lines with a bare number before a dash are a list of prices; one may be a card's."""


def with_prices_behind(lines: list[str]) -> list[str]:
    """Return lines whose price stands before their words with it behind them; an amount without a
    currency goes."""
    bare = sum(_BARE.match(line) is not None for line in lines) >= LEAST_LINES
    return [_turned(line, bare) for line in lines]


def _turned(line: str, bare: bool) -> str:
    if paid := _PAID.match(line):
        return f"{paid['mark']}{line[paid.end() :]} - {paid['price']}"
    if bare and (amount := _BARE.match(line)):
        return f"{amount['mark']}{line[amount.end() :]}"
    return line
