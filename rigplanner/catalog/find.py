"""Find parts by words in any order, with the trade's abbreviations."""

import re
from collections.abc import Iterable

from msgspec import Struct

from rigplanner.catalog.parts import Part, kind_of

LONGEST_QUERY = 200

_SPLIT = re.compile(r"[^0-9a-z.+]+")
_JOINTS = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])|(?<=[a-z])\.|\.(?=[a-z])")


def words_of(text: str) -> list[str]:
    """Split text into lower-case words as a searcher would type them."""
    return [word for piece in _SPLIT.split(text.casefold()) if (word := piece.strip("."))]


class Entry(Struct, frozen=True):
    """What is searched of one part: `text` holds its words between spaces, whole and cut where letters meet digits."""

    part: Part
    names: tuple[str, ...]
    text: str


class PartIndex:
    """An index over parts for `find`; build it once for a catalog."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._by_kind: dict[str | None, list[Entry]] = {None: []}
        for part in parts:
            entry = _entry(part)
            self._by_kind[None].append(entry)
            self._by_kind.setdefault(kind_of(part), []).append(entry)

    def find(self, query: str, kind: str | None = None, limit: int | None = None) -> list[Part]:
        """Return the parts in which every word of `query` occurs, best match first; an empty query returns all."""
        words = words_of(query[:LONGEST_QUERY])
        entries = self._by_kind.get(kind, [])
        if not words:
            return [entry.part for entry in entries[:limit]]
        found = entries
        for word in sorted(words, key=len, reverse=True):
            found = [entry for entry in found if word in entry.text]
        squeezed = "".join(words)
        if not found:
            found = [entry for entry in entries if any(squeezed in name for name in entry.names)]
        ranked = sorted(found, key=lambda entry: (_rank(entry, words, squeezed), len(entry.part.name)))
        return [entry.part for entry in ranked[:limit]]


def _entry(part: Part) -> Entry:
    phrases = [" ".join(words_of(text)) for text in (part.name, *part.aliases)]
    loose = " ".join([*phrases, *words_of(part.vendor), *words_of(part.id)])
    return Entry(part, tuple(phrase.replace(" ", "") for phrase in phrases), f" {loose} {_JOINTS.sub(' ', loose)} ")


def _rank(entry: Entry, words: list[str], squeezed: str) -> int:
    """0 the very name or alias, 1 all words whole, 2 all words begin a word, 3 somewhere inside."""
    if squeezed in entry.names:
        return 0
    if all(f" {word} " in entry.text for word in words):
        return 1
    return 2 if all(f" {word}" in entry.text for word in words) else 3
