"""Which part do brackets give as an example? "4 TB Gen5 NVMe (Samsung 9100 Pro or Crucial T705)",
"AM5 B650 board (e.g. Gigabyte B650 Eagle)"."""

import re

from msgspec.structs import replace

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.rig.from_text.from_words import Wish, is_named, read_wish

_ASIDE = re.compile(r"\(([^()]+)\)")
_OPENING = re.compile(
    r"^\s*(?:e\.?\s?g\.?|for example|such as|i\.?e\.?|like|z\.?\s?b\.?|např\.?|例如|如)[\s:,]+",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\s+(?:or|oder|nebo|and|und|&)\s+|\s*[,;/]\s+|或", re.IGNORECASE)
_FIGURE = re.compile(r"(?<![\w.])\d[\d.]*\s?(?:[TG]B|W)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]{3}")
SHORTEST = 5
MOST_CHOICES = 4


def example_in(wish: Wish, index: PartIndex, kind: str | None) -> Wish | None:
    """Return the wish for the first part that brackets of a line name, with the capacity or the
    watts that stand outside them; None where they name none of the kind that the line's label, or
    the part that its figures match, tells, and for memory, whose brackets count modules."""
    wanted = kind or (kind_of(wish.parts[0]) if wish.parts else None)
    if wanted is None or wanted == "memory":
        return None
    figure = _FIGURE.search(_ASIDE.sub(" ", wish.text))
    for aside in _ASIDE.findall(wish.text):
        for choice in _CHOICE.split(_OPENING.sub("", aside))[:MOST_CHOICES]:
            if len(choice.strip()) < SHORTEST or not _NAME.search(choice):
                continue
            words = choice if figure is None or _FIGURE.search(choice) else f"{choice} {figure[0]}"
            named = read_wish(words.strip(), index, wanted)
            if is_named(named, SHORTEST - 2):
                return replace(wish, parts=named.parts)
    return None
