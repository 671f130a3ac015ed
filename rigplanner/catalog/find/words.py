"""Text cut into the words that a searcher would type."""

import re
from functools import cache

_SPLIT = re.compile(r"[^0-9a-z.+]+")
_OCTETS = re.compile(r"(?<![\w.])(\d{1,4}) ?([TG])o\b")
_MODULE = re.compile(r"\b(r|lr|mr|u|so|cu)-dimm\b", re.IGNORECASE)
_PLUG = re.compile(r"\b(cp-\d{7})-(?:na|eu|uk|au|ww|de|cn|jp|kr|tw|in|br)\b", re.IGNORECASE)
"""Corsair's number of a supply with the country whose cord comes with it: CP-9020200-NA."""
_COLOURS = (
    "black white silver gray grey red blue green pink purple gold snow chalk charcoal walnut oak"
    " chrome copper ivory nightfall wh bk rgb argb a-rgb d-rgb tg clear dark light tint tempered"
    " glass chromax chromax.black"
)
EDITIONS = {
    "gpu": "black white snow silver pink red blue lhr oc edition gaming",
    "chassis": _COLOURS,
    "cooler": f"{_COLOURS} sync lcd led oled",
    "psu": "black white snow wh bk argb rgb",
    "storage": "w with heatsink hs retail oem bulk 512e 4kn 512n",
    "motherboard": "csm",
}
"""Words of a kind's colours and editions: they set apart what is sold, not what decides."""


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


def without_editions(words: list[str], kind: str) -> list[str]:
    """Return words without those that tell a part of a kind from another colour or edition of it;
    the first word stays."""
    editions = _edition_words(kind)
    return words[:1] + [word for word in words[1:] if word not in editions]


@cache
def _edition_words(kind: str) -> frozenset[str]:
    return frozenset(words_of(EDITIONS.get(kind, "")))
