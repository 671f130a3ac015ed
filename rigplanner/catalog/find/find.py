"""Find parts by words in any order, with the trade's abbreviations; and find the part that a shop's
text names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, compress, islice, pairwise
from typing import Literal

from rigplanner.catalog.find.kits import is_very_kit, kits_of_modules
from rigplanner.catalog.find.likeness import likest, part_names
from rigplanner.catalog.find.naming import Naming, PhraseTable, phrases_in
from rigplanner.catalog.find.spec_words import kind_words, spec_words
from rigplanner.catalog.find.whole_names import LEAST_WORDS, name_in_text, tells_another
from rigplanner.catalog.find.words import EDITIONS, without_editions, words_of
from rigplanner.catalog.layer import NO_LAYERS, Layer, Layers
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, Part, kind_of
from rigplanner.garbage import collector_paused

__all__ = ["LONGEST_QUERY", "PartIndex", "index_of", "words_of"]

LONGEST_QUERY = 200
LONGEST_SUFFIX = 5
"""Letters after a number that are typed in one with it: "5070ti", "4tb", "990pro"."""
LONGEST_MAKER = 3
"""Words of a maker's name."""
SHORTEST_INNER = 3
"""Letters of a word that is looked for inside others: "ga" is in "evga"."""
Match = Literal["whole", "beginning", "anywhere"]

MOST_NAMES = 400
"""Parts at most whose own names are looked at: the words of a kind are held by more."""
MOST_COMPARED = 500
"""Parts at most, those that hold most words of a text, whose whole names are looked for in it."""
CLOSE = 0.8
"""Likeness of two words (`difflib`) from which on one is read as the other: one letter of five."""
KEPT_MARKS = 48
"""Words whose parts are remembered while somebody types: a byte a part each."""
IMPORTED = ("opendb.", "pcpp.")
"""Beginnings of the ids of imported parts: of equal matches the catalog's own come first."""

KIND_SAID = {
    "gpu": ("gpu", "graphics", "videocard"),
    "cpu": ("cpu", "processor"),
    "motherboard": ("motherboard", "mobo", "mainboard"),
    "system": ("laptop", "notebook", "server", "workstation", "barebone", "nas"),
    "memory": ("ram", "memory", "dimm"),
    "storage": ("ssd", "hdd", "nvme"),
    "psu": ("psu",),
    "chassis": ("case", "chassis"),
    "cooler": ("cooler", "aio"),
    "riser": ("riser", "hba", "adapter"),
    "nic": ("nic", "wifi"),
    "accessory": ("ups", "switch", "pdu", "fan", "cable", "monitor"),
}
"""Words that say which kind is sought: its parts come first, also where a part of another kind
bears the word in its name."""
KIND_OF_WORD = {word: kind for kind, words in KIND_SAID.items() for word in words}
SHORTEST_MENDED = 4
"""Letters of a word that is read as the nearest known one where nothing is found as typed; words
with a digit never are, for another number is another product."""

_CAPACITY = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?) ([TG]B)\b", re.IGNORECASE)
"""One word, lest "4 TB" is found in a drive of the fourth generation."""
_CHIP = re.compile(r"\b(rtx|gtx|rx)(?=\d{3,4})", re.IGNORECASE)
"""A card's class written to its number: "RTX3090"."""
_FORM = re.compile(r"\b(?:mini|micro)[ -]?(?:itx|atx|tower)\b", re.IGNORECASE)
"""Forms of boards and cases: their "mini" is no word of another model."""
_EMPTY = re.compile(r"(?<![\w-])(?:series|edition)\b", re.IGNORECASE)
"""Words that lists put behind a name and that tell nothing; in "A-series" it is part of one."""
_MODEL = re.compile(r"[a-z]{1,2}\d")
"""How names of models begin: inside a longer word they are another model, N100 in GN100."""
_CUT = re.compile(r"[a-z]+|[^a-z]+")
_TRIM = ".+"


def _asked(query: str) -> list[str]:
    text = _CHIP.sub(r"\1 ", _CAPACITY.sub(r"\1\2", query[:LONGEST_QUERY]))
    words = words_of(_EMPTY.sub(" ", text)) or words_of(text)
    return [word[:-1] if word[:-1] in KIND_OF_WORD else word for word in words]


class PartIndex:
    """An index over parts for `find` and `named_in`; build it once for a catalog.

    Words point to the numbers of the parts that hold them. Parts are numbered in the order in which
    equal matches are shown: own before imported, what is sold or common before what is not, short
    names before long ones. A set of parts is an
    integer with a byte a part ("marks"), so that what several words share is one bitwise and.

    Imported parts of `community` are found too, each level of match after the own parts of that
    level, and never one that bears the name or part number of an own part (a twin). An empty query
    lists own parts alone."""

    def __init__(self, parts: Iterable[Part], community: Layers = NO_LAYERS) -> None:
        self._community = community
        self._listed = list(parts)
        self._parts = sorted(
            self._listed,
            key=lambda part: (
                part.id.startswith(IMPORTED),
                part.status == "legacy",
                len(part.name),
            ),
        )
        self._names: dict[str, list[int]] = {}
        self._marked: dict[tuple[str, Match], int] = {}
        with collector_paused():
            self._holders = self._words()

    def _words(self) -> dict[str, list[int]]:
        holders: dict[str, list[int]] = {}
        cuts: dict[str, tuple[str, ...]] = {}
        for number, part in enumerate(self._parts):
            for text in (part.name, *part.aliases, *_without_maker(part)):
                self._names.setdefault("".join(words_of(text)), []).append(number)
            for word in held_words(part, cuts):
                holders.setdefault(word, []).append(number)
        return holders

    @cached_property
    def by_id(self) -> dict[str, Part]:
        """The parts that the index was built over, by id."""
        return {part.id: part for part in self._listed}

    @cached_property
    def _vocabulary(self) -> str:
        return "\n" + "\n".join(self._holders) + "\n"

    @cached_property
    def _squeezed(self) -> str:
        return "\n" + "\n".join(self._names) + "\n"

    @cached_property
    def _kinds(self) -> dict[str, int]:
        kinds: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            kinds.setdefault(kind_of(part), []).append(number)
        return {kind: self._mark([numbers]) for kind, numbers in kinds.items()}

    @cached_property
    def _makers_of_cards(self) -> frozenset[str]:
        cards = (part for part in self._listed if isinstance(part, GPU))
        return frozenset(
            word for maker in {card.vendor for card in cards} for word in words_of(maker)
        )

    @cached_property
    def _words_of_maker(self) -> dict[tuple[str, str], set[str]]:
        """All words of the names of a maker's parts of a kind."""
        words: dict[tuple[str, str], set[str]] = {}
        for part in self._listed:
            words.setdefault((part.vendor, kind_of(part)), set()).update(words_of(part.name))
        return words

    @cached_property
    def _of_kind(self) -> dict[str, list[Part]]:
        listed: dict[str, list[Part]] = {}
        for part in self._listed:
            listed.setdefault(kind_of(part), []).append(part)
        return listed

    @cached_property
    def _phrases(self) -> PhraseTable:
        return PhraseTable(self._parts)

    def find(self, query: str, kind: str | None = None, limit: int | None = None) -> list[Part]:
        """Return the parts in which every word of `query` occurs, best match first; an empty query
        returns all.

        First the very name or alias, then all words whole, then all at the beginning of a word,
        then anywhere inside one (words of one or two letters match whole words and beginnings only,
        a number no end of a longer one: "4tb" is not in "24tb")."""
        words = _asked(query)
        if not words:
            return (self._of_kind.get(kind, []) if kind else self._listed)[:limit]
        return self._found(words, kind, limit)

    def search(self, query: str, kind: str | None = None, limit: int | None = None) -> list[Part]:
        """Return what a person who looks through a list sees: what `find` gives, else the parts for
        the words with a mistyped letter or a plural mended, else those in another colour or
        edition, else those that a shop's line names ("... 82.5 CFM CPU Cooler"). What takes the
        first part unseen asks `find`: "ACME 1 TB" is no Acer."""
        return (
            self.find(query, kind, limit)
            or self._found(self._mended(_asked(query)), kind, limit)
            or self.of_other_edition(query, kind, limit)
            or self._of_line(query, kind)[:limit]
        )

    def _of_line(self, text: str, kind: str | None) -> list[Part]:
        """Return the part that a shop's line names with more words than the part holds, or the kits
        of its maker and series with its figures; never a chip for the card of another maker."""
        text = _FORM.sub(" ", text)
        part = self.named_in(text, kind).part
        makers = self._makers_of_cards & {*words_of(text)}
        if part is not None and not (isinstance(part, GPU) and makers - {*words_of(part.vendor)}):
            return [part]
        kits = kits_of_modules(text, self._listed)[1] if kind in (None, "memory") else []
        return [kit for kit in kits if is_very_kit(text, kit)] or self._of_whole_name(text, kind)

    def _of_whole_name(self, text: str, kind: str | None) -> list[Part]:
        """Return the parts of the longest name of which every word stands in the text."""
        words = set(_asked(text))
        if len(words) <= LEAST_WORDS:
            return []
        shared = Counter(chain.from_iterable(self._holders.get(word, ()) for word in words))
        found: dict[int, list[Part]] = {}
        for number, _ in shared.most_common(MOST_COMPARED):
            part = self._parts[number]
            if (named := name_in_text(part, words)) and kind in (None, kind_of(part)):
                beside = set(without_editions(list(words), kind_of(part))) - named
                others = self._words_of_maker[part.vendor, kind_of(part)]
                if not tells_another(beside - held_words(part), others):
                    found.setdefault(len(named), []).append(part)
        return found[max(found)] if found else []

    def of_other_edition(
        self, query: str, kind: str | None = None, limit: int | None = None
    ) -> list[Part]:
        """Return the parts in which every word of `query` occurs but those of colours and editions
        that set apart nothing which decides: a "North XL Chalk White" is the North XL."""
        words = _asked(query)
        for each in EDITIONS if kind is None else (kind,):
            kept = without_editions(words, each)
            if 1 < len(kept) < len(words) and (found := self._found(kept, each, limit)):
                return found
        return []

    def _mended(self, words: list[str]) -> list[str]:
        """Return the words with those that no part holds read as the nearest word that one does:
        without a plural, or with a letter typed wrong."""
        return [
            word if word[0].isdigit() or self._matching(word, "anywhere") else self._nearest(word)
            for word in words
        ]

    def _nearest(self, word: str) -> str:
        if len(word) < SHORTEST_MENDED or not word.isalpha():
            return word
        if (singular := word.removesuffix("s")) in self._holders:
            return singular
        known = [
            each for each in self._holders if each.isalpha() and abs(len(each) - len(word)) < 2
        ]
        return next(iter(get_close_matches(word, known, 1, CLOSE)), word)

    def _found(self, words: list[str], kind: str | None, limit: int | None) -> list[Part]:
        left = self._kinds.get(kind, 0) if kind else _all_of(len(self._parts))
        found: list[Part] = []
        given: set[tuple[int, int]] = set()
        for at, level in self._levels(words):
            for marks in self._in_order(level & left, words):
                fresh = compress(self._parts, marks.to_bytes(len(self._parts), "little"))
                found += fresh if limit is None else islice(fresh, limit - len(found))
            left &= ~level
            if self._community and at is not None and (limit is None or len(found) < limit):
                more = self._imported(at, words, kind, given)
                found += more if limit is None else islice(more, limit - len(found))
            if limit is not None and len(found) >= limit:
                break
        return found

    def _in_order(self, marks: int, words: list[str]) -> Iterator[int]:
        """Yield the marks of a level in groups: parts of a kind that is asked for by its word,
        then others; of each first those whose own names hold all words, then those that are only
        called so."""
        asked = [self._kinds.get(KIND_OF_WORD[word], 0) for word in words if word in KIND_OF_WORD]
        named = self._in_names(words)
        sought = marks & asked[-1] if asked else 0
        for group in (sought & named, sought, marks & named, marks):
            chosen = group & marks
            if chosen:
                yield chosen
                marks &= ~chosen

    def _in_names(self, words: list[str]) -> int:
        """Return the marks of the parts whose own names and makers hold all words whole."""
        shared = _in_all(self._holding(word, "whole") for word in words)
        if not shared or shared.bit_count() > MOST_NAMES:
            return 0
        numbers = compress(range(len(self._parts)), shared.to_bytes(len(self._parts), "little"))
        asked = set(words)
        return self._mark(
            [[number for number in numbers if asked <= _own_words(self._parts[number])]]
        )

    def _imported(
        self, at: Match, words: list[str], kind: str | None, given: set[tuple[int, int]]
    ) -> Iterator[Part]:
        """Yield imported parts that match at a level (the very name with "whole"), but twins of own
        ones; `given` remembers which."""
        squeezed = "".join(words)
        patterns = [_pattern(word, at) for word in words]
        for place, layer in enumerate(self._community.layers):
            numbers = layer.holding(patterns, kind)
            if at == "whole":
                numbers = chain(self._named(layer, squeezed, kind), numbers)
            for number in numbers:
                if (place, number) in given:
                    continue
                given.add((place, number))
                part = next(self._community.parts(layer, (number,)))
                loose = at == "anywhere" and not all(_stands_in(word, part) for word in words)
                if not loose and not self._is_twin(part):
                    yield part

    def _named(self, layer: Layer, squeezed: str, kind: str | None) -> Iterator[int]:
        for number in layer.bearing(squeezed):
            part = layer.part(number)
            names = {"".join(words_of(text)) for text in (part.name, *part.aliases)}
            if squeezed in names and kind in (None, kind_of(part)):
                yield number

    def _is_twin(self, part: Part) -> bool:
        """Say whether an own part of its kind bears the name, or a part number, of an imported one;
        of a card the chip, which stands among its aliases, makes no twin."""
        kind = kind_of(part)
        names = [part.name, *(() if kind == "gpu" else part.aliases)]
        numbers = (
            number for text in names for number in self._names.get("".join(words_of(text)), ())
        )
        return any(kind_of(self._parts[number]) == kind for number in numbers)

    def nearest(self, query: str, kind: str | None = None, most: int = 3) -> list[Part]:
        """Return the own parts that are written most like words which name none."""
        asked = (part for part in self._listed if kind is None or kind_of(part) == kind)
        return [self.by_id[part_id] for part_id in likest(query, part_names(asked), most)]

    def with_id(self, part_id: str) -> Part | None:
        """Return the part with this id, or None."""
        return self.by_id.get(part_id) or self._community.get(part_id)

    def named_in(self, text: str, kind: str | None = None) -> Naming:
        """Return which part a shop's text names, and how sure that is: an imported one only where
        the text names no own part."""
        named = self._phrases.named_in(text, kind)
        if named.confidence != "none" or not self._community:
            return named
        runs = phrases_in(text)
        bearers = {
            part.id: part
            for layer in self._community.layers
            for run in runs
            for part in self._community.parts(layer, layer.bearing(run))
        }
        return PhraseTable(list(bearers.values())).named_in(text, kind) if bearers else named

    def _levels(self, words: list[str]) -> Iterator[tuple[Match | None, int]]:
        """Yield the marks of own parts level by level, with the level at which imported ones come
        after them."""
        squeezed = "".join(words)
        yield None, self._mark([self._names.get(squeezed, [])])
        whole = _in_all(self._holding(word, "whole") for word in words)
        if not whole & self._kinds.get("system", 0):
            yield None, self._of_maker(words)
        yield "whole", whole
        yield "beginning", _in_all(self._holding(word, "beginning") for word in words)
        anywhere = _in_all(
            self._holding(word, "anywhere" if _goes_inside(word) else "beginning") for word in words
        )
        yield "anywhere", anywhere
        if not anywhere and (len(words) > 1 or not _MODEL.match(squeezed)):
            yield (
                None,
                self._mark(
                    [self._names[name] for name in _between_breaks(self._squeezed, squeezed)]
                ),
            )

    def _of_maker(self, words: list[str]) -> int:
        """Return the marks of the parts that are called so with their maker in front: what people
        call "HX1500i" is the "Corsair HX1500i" too, not its later edition of another name."""
        called: list[int] = []
        for length in range(1, min(len(words), LONGEST_MAKER + 1)):
            maker = "".join(words[:length])
            called += [
                number
                for number in self._names.get("".join(words[length:]), ())
                if "".join(words_of(self._parts[number].vendor)) == maker
            ]
        return self._mark([called])

    def _mark(self, lists: Iterable[list[int]]) -> int:
        """Return the parts of some lists as marks: byte n of the number is 1 where part n is in one
        of them."""
        marks = bytearray(len(self._parts))
        for numbers in lists:
            for number in numbers:
                marks[number] = 1
        return int.from_bytes(marks, "little")

    def _holding(self, word: str, where: Match) -> int:
        """Return the marks of the parts of which a word matches this one; the last ones asked for
        are kept."""
        marks = self._marked.get((word, where))
        if marks is None:
            marks = self._mark(self._holders[each] for each in self._matching(word, where))
            while len(self._marked) >= KEPT_MARKS:
                del self._marked[next(iter(self._marked))]
            self._marked[word, where] = marks
        return marks

    def _matching(self, word: str, where: Match) -> list[str]:
        if where == "whole":
            return [word] if word in self._holders else []
        if where == "beginning":
            return _between_breaks(self._vocabulary, "\n" + word)
        return [each for each in _between_breaks(self._vocabulary, word) if _is_inside(word, each)]


_made: list[tuple[Catalog, PartIndex]] = []


def index_of(catalog: Catalog) -> PartIndex:
    """Return all parts of a catalog by their words, own and imported. That of the last catalog is
    remembered: it takes longer to make than most questions to answer."""
    for known, index in _made:
        if known is catalog:
            return index
    index = PartIndex(catalog.parts.values(), catalog.community)
    _made[:] = [(catalog, index)]
    return index


def _without_maker(part: Part) -> tuple[str, ...]:
    """Return the name without the maker in front, where two words or more are left of it."""
    own, maker = words_of(part.name), words_of(part.vendor)
    left = own[len(maker) :]
    return (" ".join(left),) if len(left) > 1 and own[: len(maker)] == maker else ()


def _own_words(part: Part) -> set[str]:
    """Return the words of a part's own name and maker, and those words cut: "rtx5090" is rtx."""
    words = {*words_of(part.name), *words_of(part.vendor)}
    return words | {piece for word in words for piece in _pieces(word)}


def held_words(part: Part, cuts: dict[str, tuple[str, ...]] | None = None) -> set[str]:
    """Return the words by which a part is found; `cuts` remembers how words are cut."""
    cuts = {} if cuts is None else cuts
    held: set[str] = set()
    for text in (part.name, *part.aliases):
        words = words_of(text)
        held.update(words)
        held.update(
            a + b
            for a, b in pairwise(words)
            if a[-1].isdigit() and len(b) <= LONGEST_SUFFIX and b.isalpha()
        )
        held.update(("plus",) if "+" in text and any(word.endswith("+") for word in words) else ())
    held.update(
        words_of(part.vendor),
        spec_words(part),
        kind_words(part),
        () if part.id.startswith(IMPORTED) else words_of(part.id),
    )
    for word in tuple(held):
        if word not in cuts:
            cuts[word] = _pieces(word)
        held.update(cuts[word])
    return held


def _pattern(word: str, at: Match) -> str:
    """Return what stands in an imported part's line of words where a word of it matches."""
    if at == "whole":
        return f" {word} "
    return word if at == "anywhere" and _goes_inside(word) else f" {word}"


def _goes_inside(word: str) -> bool:
    """Say whether a word is looked for inside others too."""
    return len(word) >= SHORTEST_INNER and not _MODEL.match(word)


def _stands_in(word: str, part: Part) -> bool:
    """Say whether a word stands in one of a part's."""
    return any(word in held and _is_inside(word, held) for held in held_words(part))


def _is_inside(word: str, text: str) -> bool:
    """Say whether a word that stands in `text` may be meant by it: a number is not the end of a
    longer one, letters begin or end theirs ("imac" is not in "zimacube")."""
    if word[0].isdigit():
        return not text[: text.index(word)][-1:].isdigit()
    return not word.isalpha() or text.startswith(word) or text.endswith(word)


def _all_of(count: int) -> int:
    return int.from_bytes(b"\1" * count, "little")


def _in_all(marks: Iterable[int]) -> int:
    """Return what all marks share; the rest is not asked for once nothing is left."""
    shared = -1
    for each in marks:
        shared &= each
        if not shared:
            break
    return shared


def _pieces(word: str) -> tuple[str, ...]:
    """Cut a word where letters meet digits: "rtx3090ti" holds rtx, 3090 and ti."""
    pieces = [piece.strip(_TRIM) for piece in _CUT.findall(word)]
    return tuple(piece for piece in pieces if piece) if len(pieces) > 1 else ()


def _between_breaks(lines: str, wanted: str) -> list[str]:
    """Return the lines, each between line breaks, that hold `wanted`; beginning with a break it
    must begin the line."""
    found = []
    place = lines.find(wanted)
    while place >= 0:
        begin = lines.rfind("\n", 0, place + 1) + 1
        end = lines.index("\n", place + 1)
        found.append(lines[begin:end])
        place = lines.find(wanted, end)
    return found
