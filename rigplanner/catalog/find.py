"""Find parts by words in any order, with the trade's abbreviations; and find the part that a shop's text names."""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise

from rigplanner.catalog.garbage import collector_paused
from rigplanner.catalog.naming import Naming, PhraseTable
from rigplanner.catalog.parts import CPU, GPU, AnyPart, Chassis, MemoryKit, Motherboard, Part, PowerSupply, Storage, System, kind_of
from rigplanner.catalog.words import words_of

__all__ = ["LONGEST_QUERY", "PartIndex", "words_of"]

LONGEST_QUERY = 200
LONGEST_SUFFIX = 5
"""Letters after a number that are typed in one with it: "5070ti", "4tb", "990pro"."""
IMPORTED = ("opendb.", "pcpp.")
"""Beginnings of the ids of imported parts: of equal matches the catalog's own come first."""

_CUT = re.compile(r"[a-z]+|[^a-z]+")
_TRIM = ".+"


class PartIndex:
    """An index over parts for `find` and `named_in`; build it once for a catalog.

    Words point to the numbers of the parts that hold them. Parts are numbered in the order in which equal matches are shown:
    own before imported, short names before long ones.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._listed = list(parts)
        self._parts = sorted(self._listed, key=lambda part: (part.id.startswith(IMPORTED), len(part.name)))
        self._names: dict[str, list[int]] = {}
        with collector_paused():
            self._with = self._words()

    def _words(self) -> dict[str, frozenset[int]]:
        lists: dict[str, list[int]] = {}
        cuts: dict[str, tuple[str, ...]] = {}
        for number, part in enumerate(self._parts):
            held: set[str] = set()
            for text in (part.name, *part.aliases):
                words = words_of(text)
                self._names.setdefault("".join(words), []).append(number)
                held.update(words)
                held.update(a + b for a, b in pairwise(words) if a[-1].isdigit() and len(b) <= LONGEST_SUFFIX and b.isalpha())
            held.update(words_of(part.vendor), spec_words(part), () if part.id.startswith(IMPORTED) else words_of(part.id))
            for word in tuple(held):
                if word not in cuts:
                    cuts[word] = _pieces(word)
                held.update(cuts[word])
            for word in held:
                lists.setdefault(word, []).append(number)
        return {word: frozenset(numbers) for word, numbers in lists.items()}

    @cached_property
    def _vocabulary(self) -> str:
        return "\n" + "\n".join(self._with) + "\n"

    @cached_property
    def _squeezed(self) -> str:
        return "\n" + "\n".join(self._names) + "\n"

    @cached_property
    def _kinds(self) -> dict[str, frozenset[int]]:
        kinds: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            kinds.setdefault(kind_of(part), []).append(number)
        return {kind: frozenset(numbers) for kind, numbers in kinds.items()}

    @cached_property
    def _ids(self) -> dict[str, Part]:
        return {part.id: part for part in self._listed}

    @cached_property
    def _phrases(self) -> PhraseTable:
        return PhraseTable(self._parts)

    def find(self, query: str, kind: str | None = None, limit: int | None = None) -> list[Part]:
        """Return the parts in which every word of `query` occurs, best match first; an empty query returns all.

        First the very name or alias, then all words whole, then all at the beginning of a word, then anywhere inside one (words
        of one letter match whole words and beginnings only).
        """
        words = words_of(query[:LONGEST_QUERY])
        if not words:
            return [part for part in self._listed if kind is None or kind_of(part) == kind][:limit]
        among = self._kinds.get(kind, frozenset()) if kind else None
        found: list[int] = []
        seen: AbstractSet[int] = frozenset()
        for numbers in self._levels(words):
            fresh = (numbers if among is None else numbers & among) - seen
            found += sorted(fresh) if limit is None else nsmallest(limit - len(found), fresh)
            seen = seen | fresh
            if limit is not None and len(found) >= limit:
                break
        return [self._parts[number] for number in found]

    def with_id(self, part_id: str) -> Part | None:
        """Return the part with this id, or None."""
        return self._ids.get(part_id)

    def named_in(self, text: str, kind: str | None = None) -> Naming:
        """Return which part a shop's text names, and how sure that is."""
        return self._phrases.named_in(text, kind)

    def _levels(self, words: list[str]) -> Iterator[AbstractSet[int]]:
        squeezed = "".join(words)
        yield set(self._names.get(squeezed, ()))
        yield self._all_with([[word] if word in self._with else [] for word in words])
        begins = [_between_breaks(self._vocabulary, "\n" + word) for word in words]
        yield self._all_with(begins)
        inside = [
            _between_breaks(self._vocabulary, word) if len(word) > 1 else begun for word, begun in zip(words, begins, strict=True)
        ]
        anywhere = self._all_with(inside)
        yield anywhere
        if not anywhere:
            names = _between_breaks(self._squeezed, squeezed)
            yield {number for name in names for number in self._names[name]}

    def _all_with(self, choices: list[list[str]]) -> AbstractSet[int]:
        """Return the numbers of the parts that hold, for each list of words, at least one of them."""
        found: AbstractSet[int] | None = None
        for held in sorted(choices, key=lambda words: sum(len(self._with[word]) for word in words)):
            sets: list[AbstractSet[int]] = [self._with[word] for word in held]
            if found is not None:
                sets = [found & numbers for numbers in sets]
            found = sets[0] if len(sets) == 1 else frozenset().union(*sets)
            if not found:
                break
        return found or frozenset()


def _pieces(word: str) -> tuple[str, ...]:
    """Cut a word where letters meet digits: "rtx3090ti" holds rtx, 3090 and ti."""
    pieces = [piece.strip(_TRIM) for piece in _CUT.findall(word)]
    return tuple(piece for piece in pieces if piece) if len(pieces) > 1 else ()


def _between_breaks(lines: str, wanted: str) -> list[str]:
    """Return the lines, each between line breaks, that hold `wanted`; beginning with a break it must begin the line."""
    found = []
    place = lines.find(wanted)
    while place >= 0:
        begin = lines.rfind("\n", 0, place + 1) + 1
        end = lines.index("\n", place + 1)
        found.append(lines[begin:end])
        place = lines.find(wanted, end)
    return found


def spec_words(part: Part) -> tuple[str, ...]:
    """Return what people call a part by besides its name: capacity, generation, watts, socket, chipset ("4tb", "gen4")."""
    return tuple(word.casefold() for word in _spec_words(part) if word)


def _spec_words(part: Part | AnyPart) -> Iterator[str]:
    if isinstance(part, Storage):
        yield f"{part.capacity_gb / 1000:g}tb" if part.capacity_gb >= 1000 else f"{part.capacity_gb:g}gb"
        yield f"gen{part.gen}" if part.gen else ""
        yield from (part.interface, part.form_factor.removesuffix("."))
    elif isinstance(part, GPU):
        yield f"{part.memory_gib:g}gb" if part.memory_gib else ""
    elif isinstance(part, MemoryKit):
        yield from (f"{part.modules * part.module_gib:g}gb", part.type, part.module or "")
    elif isinstance(part, PowerSupply):
        yield from (f"{rating.watts:g}w" for rating in part.supply.ratings)
    elif isinstance(part, CPU):
        yield part.socket or ""
    elif isinstance(part, Motherboard | System):
        yield from (*part.layout.sockets, part.layout.chipset or "", part.layout.memory_type or "")
    elif isinstance(part, Chassis):
        yield f"{part.enclosure.rack_units:g}u" if part.enclosure.rack_units else ""
