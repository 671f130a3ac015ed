"""Is what was found surely what the line says? Figures of the line must not contradict it, and the
words that set parts of its kind apart must be its own: else it is a guess, told as a stand-in."""

import re
from functools import lru_cache

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    Part,
    PowerSupply,
    Storage,
    kind_of,
)
from rigplanner.rig.from_text.variants import squeezed_names

_CAPACITY = re.compile(r"(?<![\d.,-])(\d{1,5}(?:\.\d+)?)\s?([TG])[Bo]?\b(?!\s?/|ps|it)", re.I)
SAME_CAPACITY = 0.08
"""Makers count 1000 and lists 1024; drives of 480, 500 and 512 GB are sold as one size."""
_WATTS = re.compile(r"(?<![\d.,])(\d{3,4})\s?W(?:atts?)?\b", re.I)
SAME_WATTS = 0.05
_MEMORY_TYPE = re.compile(r"\b(DDR[2-5])L?\b|(?<=\s)D([45])\b", re.I)
_EDITION = re.compile(r"\s*\(?\b(?:20[12]\d|ATX ?\d(?:\.\d)?)\b\)?")
"""By what supplies of one name differ: the year, the standard."""
_PLAIN = frozenset(
    words_of(
        "motherboard mainboard mobo board atx eatx e-atx matx m-atx micro mini itx wifi wi-fi wifi6"
        " wifi6e wifi7 ac ax be usb hdmi dp bios gaming rgb argb rev edition black white case tower"
        " mid full computer pc tg tempered glass cpu cooler liquid aio air fan socket ddr3 ddr4"
        " ddr5 intel amd atx12v chassis asus rog tuf gigabyte msi asrock"
    )
)
"""Words that set nothing apart: makers, classes, colours, radios."""
_VARIANTS = frozenset(words_of("ii iii iv v2 v3 x3d ice btf max lite se evo snow creator stealth"))
"""Words that name another variant wherever they stand, whether or not the catalog has one."""


def capacities_gb(text: str) -> list[float]:
    """Return the sizes of drives or memory that a text gives, in GB."""
    return [
        float(number) * (1000.0 if unit.upper() == "T" else 1.0)
        for number, unit in _CAPACITY.findall(text)
    ]


def is_contradicted(part: Part, text: str) -> bool:
    """Say whether a text gives a drive or a card sizes, or a supply watts, of which none is the
    part's."""
    if isinstance(part, PowerSupply):
        watts = [float(found) for found in _WATTS.findall(text)]
        ratings = [rating.watts for rating in part.supply.ratings]
        named = any(f"{own:.0f}" in text for own in ratings)
        return bool(watts and ratings and not named) and not any(
            abs(told - own) <= SAME_WATTS * own for told in watts for own in ratings
        )
    if isinstance(part, Storage):
        own = part.capacity_gb
    elif isinstance(part, GPU):
        own = part.memory_gib or 0.0
    else:
        return False
    told = capacities_gb(text)
    return bool(told) and not any(abs(size - own) <= SAME_CAPACITY * own for size in told)


def is_guess(part: Part, text: str, others: tuple[Part, ...], index: PartIndex) -> bool:
    """Say whether a text may as well mean another part than the one that was found: one of another
    maker, a board of which it has words more, a case or a cooler of which it has words less, one of
    several editions of a supply."""
    told = set(words_of(text))
    if kind_of(part) in OF_MAKERS and _is_of_another_maker(part, told, index):
        return True
    if isinstance(part, Motherboard):
        kinds = {(a or f"ddr{b}").casefold() for a, b in _MEMORY_TYPE.findall(text)}
        if kinds and part.layout.memory_type and part.layout.memory_type.casefold() not in kinds:
            return True
        more = (told - _own_words(part) - _PLAIN) & (_board_words(index) | _VARIANTS)
        names = (part.name, *part.aliases)
        if _is_one_of_lines(part, told, others) or all(_RADIOS & _letters(n) - told for n in names):
            return True
        if all(any(len(word) == 1 for word in _letters(name) - told - _NUMERALS) for name in names):
            return True
        return bool(more) or all(_VARIANTS & _letters(name) - told for name in names)
    if isinstance(part, CPU):
        return _is_of_two_families(part, told, others)
    if isinstance(part, MemoryKit) and not capacities_gb(text):
        return not any(number and number in text for number in part.aliases)
    if isinstance(part, Chassis | Cooler):
        lit = isinstance(part, Chassis) and bool(_LIT & told) and not _LIT & _own_words(part)
        if lit or _goes_on(part, text):
            return True
        if any(name in "".join(words_of(text)) for name in squeezed_names(part)):
            return False
        least = min(
            (_letters(name) - _letters(text) - _PLAIN for name in (part.name, *part.aliases)),
            key=len,
        )
        return bool(least)
    if isinstance(part, GPU):
        return _is_one_of_partners(part, told, others)
    return isinstance(part, PowerSupply) and (
        _has_editions(part, text, others) or _is_of_open_watts(part, text, others)
    )


def nearest_boards(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Return the boards that a text may mean with that one first of whose name it leaves out the
    fewest words: a "Crosshair VIII Hero" is no Dark Hero."""
    told = _letters(text) | _PLAIN
    if not all(isinstance(part, Motherboard) for part in parts):
        return parts
    return tuple(
        sorted(
            parts,
            key=lambda part: min(len(_letters(name) - told) for name in (part.name, *part.aliases)),
        )
    )


def _is_one_of_lines(part: Motherboard, told: set[str], others: tuple[Part, ...]) -> bool:
    """Say whether words leave open which line of a maker's boards is meant: a "B660M Plus WiFi" is
    a PRIME and a TUF GAMING."""
    own = _own_words(part)
    unsaid = _letters(part.name) - told
    return bool(unsaid & _LINES) and any(
        isinstance(other, Motherboard)
        and other.vendor == part.vendor
        and told & own <= _own_words(other)
        and _LINES & _letters(other.name) - told - own
        for other in others
    )


_RADIOS = frozenset(("ac", "ax", "axe", "be"))
"""By these letters the one of two boards of a name has a radio; the word WiFi lists leave out where
there is no other."""
_NUMERALS = frozenset("0123456789")
_LIT = frozenset(("rgb", "argb"))
"""Words of cases that are other models of a name."""
_LINES = frozenset(("prime", "tuf", "proart", "strix", "mag", "mpg", "meg"))
"""Words that begin the name of a maker's line of boards."""


def _is_one_of_partners(part: GPU, told: set[str], others: tuple[Part, ...]) -> bool:
    """Say whether words name a maker of cards and a chip alone, of which he sells several cards:
    "PNY GeForce RTX 5090"."""
    alike = [
        other
        for other in others
        if isinstance(other, GPU) and (other.vendor, other.chip) == (part.vendor, part.chip)
    ]
    if part.vendor == part.chip_maker or len(alike) < 2:
        return False
    if any(_letters(name) <= told for name in (part.name, *part.aliases)):
        return False
    shared = set.intersection(*(_letters(other.name) for other in alike))
    return not (_own_words(part) - shared) & told


def _is_of_open_watts(part: PowerSupply, text: str, others: tuple[Part, ...]) -> bool:
    """Say whether a text leaves open which of several watts a supply has: "Pure Power 11 Gold"."""
    watts = {
        max((rating.watts for rating in other.supply.ratings), default=0.0)
        for other in (part, *others)
        if isinstance(other, PowerSupply) and other.vendor == part.vendor
    }
    return len(watts) > 1 and not any(f"{own:.0f}" in text for own in watts)


def _is_of_two_families(part: CPU, told: set[str], others: tuple[Part, ...]) -> bool:
    """Say whether words give a number alone that processors of two families bear: a "3970X" is a
    Core i7 and a Threadripper."""
    number, family = words_of(part.name)[-1], set(words_of(part.name)[:-1])
    return not family & told and any(
        words_of(other.name)[-1] == number and other.vendor != part.vendor for other in others
    )


_OTHER_CASES = frozenset(
    words_of("mini compact xl nano elite flow evo lite pro plus max se ultra xt digital")
)
"""Words that make another case or cooler of a name that they follow."""
_BOARD_FORM = frozenset(("itx", "dtx", "atx", "tower", "stx"))


def _goes_on(part: Chassis | Cooler, text: str) -> bool:
    """Say whether a word that makes another model follows the last number of a part's name: a
    "Meshify 2 Mini" is no Meshify 2, an "H510 Elite" no H510."""
    words, own = words_of(text), _own_words(part)
    places = [n for n, word in enumerate(words) if word in own and any(c.isdigit() for c in word)]
    after = words[places[-1] + 1 : places[-1] + 3] if places else []
    if not after or after[0] in own or after[0] not in _OTHER_CASES:
        return False
    return len(after) < 2 or after[1] not in _BOARD_FORM


OF_MAKERS = ("motherboard", "storage", "psu", "cooler", "chassis", "riser", "nic")
"""Kinds of which the maker who is named is the maker meant; of cards and memory others ask."""


@lru_cache(maxsize=16)
def _makers(index: PartIndex, kind: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(words_of(part.vendor)) for part in index.find("", kind))


def _is_of_another_maker(part: Part, told: set[str], index: PartIndex) -> bool:
    """Say whether a text names a maker of such parts and not this part's."""
    if set(words_of(part.vendor)) & told:
        return False
    names = {word for name in (part.name, *part.aliases) for word in words_of(name)}
    return any(
        maker <= told and not maker & names for maker in _makers(index, kind_of(part)) if maker
    )


def _letters(text: str) -> set[str]:
    return set(words_of(text))


def _own_words(part: Part) -> set[str]:
    """Return the words of a part's names, joined ones too ("x670ecreator")."""
    names = (part.name, *part.aliases)
    return {word for name in names for word in (*words_of(name), "".join(words_of(name)))}


@lru_cache(maxsize=2)
def _board_words(index: PartIndex) -> frozenset[str]:
    """Return the words that set the boards of a catalog apart: those with two letters at least that
    are no maker's."""
    boards = index.find("", "motherboard")
    words = {word for board in boards for word in words_of(board.name)}
    makers = {word for board in boards for word in words_of(board.vendor)}
    return frozenset(word for word in words - makers - _PLAIN if len(word) > 1)


def _has_editions(part: Part, text: str, others: tuple[Part, ...]) -> bool:
    """Say whether a supply's name bears a year or standard that the text leaves out, and another
    supply bears the same name without it or with another."""
    bare = _EDITION.sub("", part.name)
    if bare == part.name or _EDITION.search(text):
        return False
    return any(_EDITION.sub("", other.name) == bare for other in others if other is not part)
