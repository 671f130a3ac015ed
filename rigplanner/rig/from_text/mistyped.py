"""Which words of a line are mistyped? A word that no part of its kind bears, and that is one of
their words but for a letter or two: "Gmaing"."""

from difflib import get_close_matches
from functools import lru_cache

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.find.naming import shop_words
from rigplanner.catalog.find.words import words_of

SHORTEST = 5
"""Shorter words are as near to other words as to the one that is meant."""
CLOSE = 0.79


def mended(text: str, kind: str, index: PartIndex) -> str | None:
    """Return a line with its mistyped words put right, None where it has none."""
    known = _words_of_kind(index, kind)
    words = shop_words(text)
    right = [_nearest(word, known) for word in words]
    return " ".join(right) if right != words else None


def _nearest(word: str, known: frozenset[str]) -> str:
    if len(word) < SHORTEST or not word.isalpha() or word in known:
        return word
    alike = [other for other in known if abs(len(other) - len(word)) < 2 and other[0] == word[0]]
    return next(iter(get_close_matches(word, sorted(alike), 1, CLOSE)), word)


@lru_cache(maxsize=16)
def _words_of_kind(index: PartIndex, kind: str) -> frozenset[str]:
    return frozenset(
        word
        for part in index.find("", kind)
        for name in (part.vendor, part.name, *part.aliases)
        for word in words_of(name)
        if word.isalpha() and len(word) >= SHORTEST - 1
    )
