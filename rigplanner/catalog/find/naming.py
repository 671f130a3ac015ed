"""Which part does a shop's line name? The longest name of a part that stands whole in the text."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.schema.parts import GPU, Part, kind_of
from rigplanner.data import shipped_path
from rigplanner.decoding import read_json

Confidence = Literal["exact", "words", "ambiguous", "none"]
"""exact: name and maker stand in the text; words: the name does, without its maker; ambiguous:
several parts are so named."""

MOST_WORDS = 12
SHORTEST_NAME = 4

CHIP_KINDS = ("gpu", "cpu")
"""Kinds whose name needs no maker beside it: a board partner sells NVIDIA's chip."""
FAMILY_WORDS = {
    "nvidia",
    "amd",
    "intel",
    "geforce",
    "radeon",
    "ryzen",
    "core",
    "threadripper",
    "epyc",
    "xeon",
    "instinct",
    "ssd",
    "ethernet",
    "3",
    "5",
    "7",
    "9",
    "r3",
    "r5",
    "r7",
    "r9",
}
"""Words before a model number that shops leave out or shorten."""
CPU_WORDS = frozenset(
    ("amd", "ryzen", "r3", "r5", "r7", "r9", "cpu", "processor", "prozessor", "procesor")
)
"""One of these beside a bare number says that it is a processor's: "1600" alone may be the watts of
a supply."""
OTHER_MODEL = {
    "ti",
    "super",
    "xt",
    "xtx",
    "gre",
    "d",
    "v2",
    "v3",
    "v4",
    "max",
    "plus",
    "pro",
    "ultra",
    "mini",
    "lite",
    "laptop",
    "mobile",
    "mxm",
    "wifi",
    "wifi7",
    "ii",
    "iii",
    "iv",
    "ada",
    "blackwell",
    "xl",
    "compact",
    "nano",
    "alpha",
    "evo",
    "se",
    "sff",
}
"""A word right after a name that makes it another model."""
_MEMORY = re.compile(r"(\d{1,3})gb?")
_YEAR = re.compile(r"20[12]\d")
_JOINED = re.compile(r"(?<![0-9a-z.+])([0-9a-z.+]+)-(?=([0-9a-z.+]+))")
LONGEST_LINE = 1_000
"""Characters of a line that are looked at: no name of a part stands behind them."""


class Naming(Struct, frozen=True):
    """What a text names: the part (None without or with several), how sure that is, by which name,
    and the parts if several."""

    part: Part | None
    confidence: Confidence
    name: str = ""
    among: tuple[str, ...] = ()


class PhraseTable:
    """The names of parts, squeezed, each with the parts that bear it and whether the maker is left
    out of it."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._bearers: dict[str, tuple[tuple[Part, bool], ...]] = {}
        for part in parts:
            alone = {bare: ((part, bare),) for bare in (False, True)}
            for phrase, bare in phrases(part):
                bearers = self._bearers.get(phrase, ())
                if all(other is not part for other, _ in bearers):
                    self._bearers[phrase] = bearers + alone[bare]

    def named_in(self, text: str, kind: str | None = None) -> Naming:
        """Return the part with the longest name that begins and ends with words of the text; one
        plain word ("desktop") names a part only beside its maker."""
        text = text[:LONGEST_LINE]
        words, joined = shop_words(text), set(_JOINED.findall(text.casefold()))
        rates = {rate for memory, rate in pairwise(words) if memory.startswith("ddr")}
        for phrase, last, after in _runs(words):
            if phrase in rates:
                continue
            bearers = [
                pair
                for pair in self._bearers.get(phrase, ())
                if kind is None or kind_of(pair[0]) == kind
            ]
            bearers = [
                pair for pair in bearers if _agrees(pair[0], words) and _is_of(pair[0], after)
            ]
            if phrase.isalpha() and last == phrase:
                bearers = [
                    (part, bare)
                    for part, bare in bearers
                    if not bare or set(words_of(part.vendor)) & set(words)
                ]
            if len(phrase) <= LONGEST_CODE and kind is None and len(words) > WORDS_BESIDE_CODE:
                bearers = [pair for pair in bearers if _is_introduced(pair[0], words)]
            if phrase.isdigit() and kind is None and len(words) > 1:
                meant = ("cpu", "gpu") if CPU_WORDS & set(words) else ("gpu",)
                bearers = [pair for pair in bearers if kind_of(pair[0]) in meant]
            if not bearers:
                continue
            goes_on = (last, after) in joined and any(
                kind_of(part) not in CHIP_KINDS for part, _ in bearers
            )
            other_edition = after == "gen" and any(kind_of(part) == "system" for part, _ in bearers)
            if after in OTHER_MODEL or goes_on or other_edition:
                return Naming(None, "none", phrase)
            if len(bearers) > 1:
                return Naming(None, "ambiguous", phrase, tuple(part.id for part, _ in bearers))
            part, bare = bearers[0]
            sure = (
                not bare or kind_of(part) in CHIP_KINDS or _squeezed(part.vendor) in "".join(words)
            )
            return Naming(part, "exact" if sure and not phrase.isdigit() else "words", phrase)
        return Naming(None, "none")


LONGEST_CODE, WORDS_BESIDE_CODE = 2, 4
"""A name so short ("A2", "L4") says nothing among more words, but beside its maker or family:
"DIMM_A2"."""


def _is_introduced(part: Part, words: list[str]) -> bool:
    names = {word for text in (part.vendor, part.name) for word in words_of(text)}
    return bool({*names, "gpu", "gpus", "tesla"} & {*words} - {*words_of(part.name)[-1:]})


_GLUED = re.compile(r"\b(AMD|Intel)(?=\d{4})", re.IGNORECASE)
"""A maker written to his model: "AMD5800X3D"."""
_SUPER = re.compile(r"(?<![\w-])((?:[GR]TX ?)?(?:16[56]0|20[678]0|40[78]0)(?: ?Ti)?)S\b")
"""A card's number with the letter by which lists write SUPER: "2070S"; a small one is a plural."""
_TURNED = re.compile(r"\b(\d{4}(?: ?Ti| ?Super)?) ([GR]TX)\b(?! ?\d)", re.IGNORECASE)
"""A card's number before what it belongs behind: "3060 RTX"."""
_PLUS = re.compile(r"(?<=[^\W\d_]{3})\+(?=\s|$)")
"""A plus after a word of letters: "WD Red+"."""


@cache
def maker_words() -> dict[str, str]:
    """Return makers and families in Latin letters by what Chinese lists write."""
    path = shipped_path("resources") / "lists" / "makers.json"
    return read_json(path.read_bytes(), dict[str, str])


_LABEL = re.compile(r"\bPC([345])L?[- ](\d{4,5})[A-Z]{0,2}\b")
"""How modules are labelled: PC4-2400T by the transfers, PC3-12800R by the bytes a second."""
_BE_QUIET = re.compile(r"\bbe-?quiet\b!?", re.IGNORECASE)
_G_SKILL = re.compile(r"\bg-?skill\b", re.IGNORECASE)
"""Makers' names as people write them in one word."""
_LABEL_RATES = (1066, 1333, 1600, 1866, 2133, 2400, 2666, 2933, 3200, 4800, 5600, 6400)
_BYTES_FROM = 8_000


def _rated(label: re.Match[str]) -> str:
    told = int(label[2])
    rate = told / 8 if told > _BYTES_FROM else told
    return f"DDR{label[1]}-{min(_LABEL_RATES, key=lambda known: abs(known - rate))}"


def in_latin(text: str) -> str:
    """Return a text with the Chinese names of makers and families in Latin letters, what is
    written together parted, and labels of modules by their rate."""
    text = _LABEL.sub(_rated, text) if "PC" in text else text
    text = _G_SKILL.sub("G.Skill", _BE_QUIET.sub("be quiet!", text))
    text = _TURNED.sub(r"\2 \1", _GLUED.sub(r"\1 ", _PLUS.sub(" Plus", text)))
    text = _SUPER.sub(r"\1 Super", text)
    if text.isascii():
        return text
    for chinese, latin in maker_words().items():
        text = text.replace(chinese, f" {latin} ")
    return text


def shop_words(text: str) -> list[str]:
    """Return the words of a shop's line: full-width letters made plain, Chinese names of makers put
    into Latin."""
    return words_of(in_latin(unicodedata.normalize("NFKC", text)))


def _squeezed(text: str) -> str:
    return "".join(words_of(text))


def phrases(part: Part) -> Iterator[tuple[str, bool]]:
    """Yield the squeezed names by which a text may name a part, and whether the maker is left out
    of each."""
    maker = words_of(part.vendor)
    for text in (part.name, *part.aliases):
        words = words_of(_PLUS.sub(" Plus", text) if "+" in text else text)
        yield "".join(words), words[: len(maker)] != maker
        if words[: len(maker)] == maker and len("".join(words[len(maker) :])) >= SHORTEST_NAME:
            words = words[len(maker) :]
            yield "".join(words), True
        while len(words) > 1 and words[0] in FAMILY_WORDS:
            words = words[1:]
            rest = "".join(words)
            if len(rest) < SHORTEST_NAME or _MEMORY.fullmatch(rest):
                break
            yield rest, True


def phrases_in(text: str) -> set[str]:
    """Return every run of words of a shop's text, squeezed: the names that it may hold."""
    return {run for run, _, _ in _runs(shop_words(text[:LONGEST_LINE]))}


def _runs(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield runs of words squeezed, with their last word and the word that follows, the longest
    first."""
    runs = []
    for begin in range(len(words)):
        squeezed = ""
        for end in range(begin, min(begin + MOST_WORDS, len(words))):
            squeezed += words[end]
            runs.append((squeezed, words[end], words[end + 1] if end + 1 < len(words) else ""))
    return iter(sorted(runs, key=lambda run: -len(run[0])))


def _agrees(part: Part, words: list[str]) -> bool:
    """Say whether the sizes of memory in the text allow this card: a shop's 8 GB card is not the
    catalog's 12 GB one."""
    if not isinstance(part, GPU) or part.memory_gib is None:
        return True
    sizes = {float(found.group(1)) for word in words if (found := _MEMORY.fullmatch(word))}
    return not sizes or part.memory_gib in sizes


def _is_of(part: Part, after: str) -> bool:
    """Say whether a year right after the name allows this part: an RM1000x of 2024 is not the
    catalog's of 2021."""
    years = (
        {word for word in words_of(part.name) if _YEAR.fullmatch(word)}
        if _YEAR.fullmatch(after)
        else set()
    )
    return not years or after in years
