"""Find parts by words in any order, with the trade's abbreviations."""

import re
from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.parts import Part, kind_of

_SPLIT = re.compile(r"[^0-9a-z.+]+")
_LETTERS_DIGITS = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


def words_of(text: str) -> list[str]:
    """Split text into lower-case words as a searcher would type them."""
    return [word.strip(".") for word in _SPLIT.split(text.casefold()) if word.strip(".")]


class _Entry(Struct, frozen=True):
    part: Part
    kind: str
    name: str
    text: str
    squeezed: str


class PartIndex:
    """An index over parts for `find`; build it once for a catalog."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._entries = [_entry(part) for part in parts]

    def find(self, query: str, kind: str | None = None, limit: int | None = None) -> list[Part]:
        """Return the parts that hold every word of `query`, best match first."""
        words = words_of(query)
        squeezed = "".join(words)
        ranked: list[tuple[int, int, int, Part]] = []
        for order, entry in enumerate(self._entries):
            if kind is not None and entry.kind != kind:
                continue
            rank = _rank(entry, words, squeezed)
            if rank is not None:
                ranked.append((rank, len(entry.name), order, entry.part))
        ranked.sort(key=lambda row: row[:3])
        return [row[3] for row in ranked[:limit]]


def _entry(part: Part) -> _Entry:
    name = " ".join(words_of(part.name))
    loose = " ".join([name, *(" ".join(words_of(alias)) for alias in part.aliases), *words_of(part.vendor), part.id])
    pieces = _LETTERS_DIGITS.sub(" ", loose)
    return _Entry(part, kind_of(part), name, f" {loose} {pieces} ", loose.replace(" ", ""))


def _rank(entry: _Entry, words: list[str], squeezed: str) -> int | None:
    """0 exact name, 1 all words whole, 2 all words begin a word, 3 somewhere inside; None no match."""
    if entry.name.replace(" ", "") == squeezed or any(squeezed == "".join(words_of(a)) for a in entry.part.aliases):
        return 0
    text = entry.text
    if all(word in text for word in words):
        if all(f" {word} " in text for word in words):
            return 1
        return 2 if all(f" {word}" in text for word in words) else 3
    return 3 if squeezed in entry.squeezed else None
