"""Text cut into the words that a searcher would type."""

import re

_SPLIT = re.compile(r"[^0-9a-z.+]+")
_OCTETS = re.compile(r"(?<![\w.])(\d{1,4}) ?([TG])o\b")
_MODULE = re.compile(r"\b(r|lr|mr|u|so|cu)-dimm\b", re.IGNORECASE)
_PLUG = re.compile(r"\b(cp-\d{7})-(?:na|eu|uk|au|ww|de|cn|jp|kr|tw|in|br)\b", re.IGNORECASE)
"""Corsair's number of a supply with the country whose cord comes with it: CP-9020200-NA."""


def words_of(text: str) -> list[str]:
    """Split text into lower-case words as a searcher would type them: French "4 To" is 4TB,
    "R-DIMM" one word, CP-9020200-NA the supply CP-9020200."""
    if "To" in text or "Go" in text:
        text = _OCTETS.sub(r"\1\2B", text)
    if "P-9" in text or "p-9" in text:
        text = _PLUG.sub(r"\1", text)
    if "-dimm" in text or "-DIMM" in text:
        text = _MODULE.sub(r"\1dimm", text)
    return [word for piece in _SPLIT.split(text.casefold()) if (word := piece.strip("."))]
