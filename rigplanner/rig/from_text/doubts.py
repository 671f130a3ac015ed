"""Is what was found surely what the line says? Figures of the line must not contradict it, and the
words that set parts of its kind apart must be its own: else it is a guess, told as a stand-in."""

import re
from functools import lru_cache

from rigplanner.catalog.find.find import PartIndex, held_words, words_of
from rigplanner.catalog.find.kits import ONE_MODULE, SHARED_GIB, counted_modules
from rigplanner.catalog.find.naming import in_latin, phrases_in, shop_words
from rigplanner.catalog.find.spec_words import spec_words
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Part,
    PowerSupply,
    Riser,
    Storage,
    kind_of,
)
from rigplanner.rig.from_text.from_words import counted
from rigplanner.rig.from_text.variants import (
    OF_MAKERS,
    is_of_another_maker,
    squeezed_names,
)

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
_VARIANTS = frozenset(
    words_of("ii iii iv v2 v3 x3d ice btf max lite se evo snow creator stealth shift")
)
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
    told, sums = capacities_gb(text), {own, own * counted(in_latin(text))[0]}
    return bool(told) and not any(
        abs(size - each) <= SAME_CAPACITY * each for size in told for each in sums
    )


def is_guess(part: Part, text: str, others: tuple[Part, ...], index: PartIndex) -> bool:
    """Say whether a text may as well mean another part than the one that was found: one of another
    maker, a board of which it has words more, a case or a cooler of which it has words less, one of
    several editions of a supply."""
    told = set(words_of(text))
    if kind_of(part) in OF_MAKERS and is_of_another_maker(part, told, index):
        return True
    if _has_another_number(part, text) or _is_one_of_several(part, text, others):
        return True
    if isinstance(part, OF_A_SERIES) and _goes_on(part, text):
        return True
    if isinstance(part, Motherboard):
        return _is_open_board(part, text, told, others, index)
    if isinstance(part, CPU):
        if _SAMPLES & told:
            return True
        return _is_of_two_families(part, told, others) or _is_counted_inside(text)
    if isinstance(part, MemoryKit):
        return _is_open_kit(part, text)
    if isinstance(part, Storage):
        return _is_of_open_size(part, text, others)
    if isinstance(part, NetworkCard | Riser):
        return _is_of_other_edge(part, text)
    if isinstance(part, Chassis | Cooler):
        return _is_open_case(part, text, told)
    if isinstance(part, GPU):
        return (
            _is_one_of_partners(part, told, others)
            or _is_of_a_series(part, told, index)
            or _is_of_open_memory(part, text, index)
        )
    return isinstance(part, PowerSupply) and (
        bool(
            _VARIANTS & _letters(part.name) - told
            and not told & {*words_of(" ".join(part.aliases))}
        )
        or _has_editions(part, text, index)
        or _is_of_open_watts(part, text, others)
        or _is_of_open_family(part, text, index)
    )


def _is_open_board(
    part: Motherboard, text: str, told: set[str], others: tuple[Part, ...], index: PartIndex
) -> bool:
    kinds = {(a or f"ddr{b}").casefold() for a, b in _MEMORY_TYPE.findall(text)}
    if kinds and part.layout.memory_type and part.layout.memory_type.casefold() not in kinds:
        return True
    names, strange = (part.name, *part.aliases), told - _own_words(part)
    if not kinds and all(_TYPES & set(words_of(name)) for name in names):
        return True
    if all(_goes_on_untold(words_of(name), told) for name in names):
        return True
    if any(len(word) == 1 and word.isalpha() for word in strange):
        return True
    if _has_a_twin_with_radio(part, told, index):
        return True
    if _is_one_of_lines(part, told, others) or all(_RADIOS & _letters(n) - told for n in names):
        return True
    if all(any(len(word) == 1 for word in _letters(name) - told - _NUMERALS) for name in names):
        return True
    more = (strange - _PLAIN) & (_board_words(index) | _VARIANTS)
    return bool(more) or all(_VARIANTS & _letters(name) - told for name in names)


def _is_open_kit(part: MemoryKit, text: str) -> bool:
    if any(number and number in text for number in part.aliases):
        return False
    open_figures = not capacities_gb(text) or not _RATE.search(text)
    return open_figures or is_of_open_count(part, text)


def _is_open_case(part: Chassis | Cooler, text: str, told: set[str]) -> bool:
    lit = isinstance(part, Chassis) and bool(_LIT & told) and not _LIT & _own_words(part)
    if lit:
        return True
    if phrases_in(text) & set(squeezed_names(part)):
        return False
    known = {*told, *_PLAIN, *words_of(part.vendor)}
    return all(_letters(name) - known for name in (part.name, *part.aliases))


def _goes_on_untold(name: list[str], told: set[str]) -> bool:
    """Say whether a name goes on after the last of its words that a text gives: a "B550M Pro" may
    be no B550M PRO-VDH."""
    places = [place for place, word in enumerate(name) if word in told]
    rest = name[places[-1] + 1 :] if places else []
    return any(word not in _PLAIN and word.isalpha() for word in rest)


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


def _has_a_twin_with_radio(part: Motherboard, told: set[str], index: PartIndex) -> bool:
    """Say whether a text asks for a radio that a board lacks and another of its name has:
    "B550-F Gaming + WiFi"."""
    if not _WIFI & told or _WIFI & _own_words(part):
        return False
    bare = _letters(part.name)
    return any(
        other.vendor == part.vendor and bare < _letters(other.name) <= bare | _WIFI
        for other in index.find("", "motherboard")
    )


_WIFI = frozenset(("wifi", "wi", "fi"))
_TYPES = frozenset(("d4", "d5", "ddr4", "ddr5"))
"""Words by which two boards of a name take other memory."""
_RADIOS = frozenset(("ac", "ax", "axe", "be"))
"""By these letters the one of two boards of a name has a radio; the word WiFi lists leave out where
there is no other."""
_NUMERALS = frozenset("0123456789")
_LIT = frozenset(("rgb", "argb"))
"""Words of cases that are other models of a name."""
_CARDS = frozenset(words_of("nvidia amd geforce radeon rtx gtx rx oc ti super xt xtx gb"))
"""Words of every card's name."""
_LINES = frozenset(("prime", "tuf", "proart", "strix", "mag", "mpg", "meg"))
"""Words that begin the name of a maker's line of boards."""


def _is_one_of_partners(part: GPU, told: set[str], others: tuple[Part, ...]) -> bool:
    """Say whether words name a maker of cards and a chip alone, and not which of his cards: "PNY
    GeForce RTX 5090"."""
    if part.vendor == part.chip_maker:
        return False
    if any(_letters(name) <= told for name in (part.name, *part.aliases)):
        return False
    if all(_VARIANTS & _letters(name) - told for name in (part.name, *part.aliases)):
        return True
    alike = [
        other
        for other in others
        if isinstance(other, GPU) and (other.vendor, other.chip) == (part.vendor, part.chip)
    ]
    shared = set.intersection(_letters(part.name), *(_letters(other.name) for other in alike))
    if len(alike) < 2:
        shared = _letters(f"{part.vendor} {part.chip_maker} {part.chip or ''}") | _CARDS | _PLAIN
    series = {word for word in _own_words(part) - shared if not word[0].isdigit()}
    return not series & told and (len(alike) > 1 or bool(series))


def _is_of_open_watts(part: PowerSupply, text: str, others: tuple[Part, ...]) -> bool:
    """Say whether a text leaves open which of several watts a supply has: "Pure Power 11 Gold"."""
    watts = {
        max((rating.watts for rating in other.supply.ratings), default=0.0)
        for other in (part, *others)
        if isinstance(other, PowerSupply) and other.vendor == part.vendor
    }
    return len(watts) > 1 and not any(f"{own:.0f}" in text for own in watts)


def _is_of_open_family(part: PowerSupply, text: str, index: PartIndex) -> bool:
    """Say whether a text leaves open which supply of a maker and its watts is meant, for several
    bear all that it names: a "Focus 850W" is a Focus GX and a Focus Plus."""
    told = set(shop_words(text))
    if _is_of_open_efficiency(part, told, index):
        return True
    fully = phrases_in(text) & set(squeezed_names(part)) or set(words_of(part.name)) <= told
    if fully or _EDITION.search(text):
        return False
    named = {word for word in told & _own_words(part) if not word[0].isdigit()}
    watts = _watts_of(part)
    return any(
        other.vendor == part.vendor
        and other.id != part.id
        and isinstance(other, PowerSupply)
        and _watts_of(other) == watts
        and named <= _own_words(other)
        for other in index.find("", "psu")
    )


_EFFICIENCIES = frozenset(("bronze", "silver", "gold", "platinum", "titanium"))


def _is_of_open_efficiency(part: PowerSupply, told: set[str], index: PartIndex) -> bool:
    """Say whether supplies of one maker and name differ by an efficiency that a text leaves out: a
    "SF600" is of Gold and of Platinum."""
    if not _EFFICIENCIES & _letters(part.name) or _EFFICIENCIES & told:
        return False
    bare = _model_of(part)
    return any(
        other.vendor == part.vendor and other.id != part.id and bare == _model_of(other)
        for other in index.find("", "psu")
        if isinstance(other, PowerSupply)
    )


def _model_of(supply: PowerSupply) -> frozenset[str]:
    """Return the words with a digit of a supply's name, which tell its model."""
    words = _letters(supply.name) - _EFFICIENCIES
    return frozenset(word for word in words if any(letter.isdigit() for letter in word))


def _watts_of(supply: PowerSupply) -> float:
    return max((rating.watts for rating in supply.supply.ratings), default=0.0)


def _is_of_a_series(part: GPU, told: set[str], index: PartIndex) -> bool:
    """Say whether a word beside a chip names a line of cards that its makers sell, and the card
    found is the chip's own: "RTX 4090 Suprim"."""
    return part.vendor == part.chip_maker and bool(told & _series_of_cards(index))


_MEMORY_OF_NAME = re.compile(r"\s*\b\d{1,3}\s?GB\b", re.IGNORECASE)


def _is_of_open_memory(part: GPU, text: str, index: PartIndex) -> bool:
    """Say whether a card's name bears its memory, another differs by that alone, and the text
    leaves it out: "RTX 4060 Ti"."""
    bare = _MEMORY_OF_NAME.sub("", part.name)
    if bare == part.name or capacities_gb(text):
        return False
    return any(
        other.id != part.id and _MEMORY_OF_NAME.sub("", other.name) == bare
        for other in index.find("", "gpu")
    )


@lru_cache(maxsize=2)
def _series_of_cards(index: PartIndex) -> frozenset[str]:
    """Return the words by which the cards of a catalog are called that are no chip maker's own."""
    cards = [card for card in index.find("", "gpu") if isinstance(card, GPU)]
    chips = {word for card in cards if card.vendor == card.chip_maker for word in _own_words(card)}
    series = {
        word for card in cards if card.vendor != card.chip_maker for word in words_of(card.name)
    }
    return frozenset(
        word for word in series - chips - _PLAIN if len(word) > 2 and not word[0].isdigit()
    )


_RATE = re.compile(r"\d{4}")
_NUMBER_OF_PART = re.compile(r"\b(?=\w*\d)(?=[\w/-]*[A-Z]{2})[A-Z0-9][A-Z0-9/-]{8,}\b")
SHORTEST_NUMBER = 9
KINDRED = 5
"""So many letters at their beginning numbers of one maker's series share."""


def is_of_open_count(part: MemoryKit, text: str) -> bool:
    """Say whether a text leaves open how many modules make up a sum that is as well one's as two's:
    "Fury 32GB DDR4-3600"."""
    latin = in_latin(text)
    if counted_modules(latin) is not None or counted(latin)[0] > 1 or ONE_MODULE.search(latin):
        return False
    return part.module in ("udimm", "cudimm") and part.modules * part.module_gib >= SHARED_GIB


def _has_another_number(part: Part, text: str) -> bool:
    """Say whether a text gives a maker's number of the series that a part's number is of, and not
    its own: "KF556C40BB-64" is one module, KF556C40BBK2-64 a kit of two, "ST16000NM002G" a drive
    for SAS, ST16000NM001G one for SATA."""
    given = ["".join(words_of(number)) for number in _NUMBER_OF_PART.findall(text)]
    own = ["".join(words_of(name)) for name in (*part.name.split(), *part.aliases)]
    return any(
        number[:KINDRED] == mine[:KINDRED] and number not in mine and mine not in number
        for number in given
        for mine in own
        if len(mine) >= SHORTEST_NUMBER and any(letter.isdigit() for letter in mine)
    )


OF_SEVERAL = ("gpu", "cpu", "nic", "storage", "riser", "accessory", "system")
"""Kinds whose parts are told apart by their names alone; of others more is asked."""
_CLASS = frozenset(
    words_of(
        "ssd hdd nvme pcie gpu cpu ups va w tb gb edition series internal card processor graphics"
        " drive generation geforce radeon quadro tesla ryzen core xeon epyc threadripper adapter"
        " ethernet network switch cable"
    )
)
_VERSIONS = frozenset(("v2", "v3", "v4", "v5", "v6"))
"""By these two processors of one number differ: a "Xeon 2686" is a v3 and a v4."""
_BRACKETED_CHOICE = re.compile(r"\[[^\[\]]*\d[^\[\]]*/[^\[\]]*\d[^\[\]]*\]")
"""How drivers name a chip that several cards have: "[Radeon RX 6800/6800 XT / 6900 XT]"."""


def _is_one_of_several(part: Part, text: str, others: tuple[Part, ...]) -> bool:
    """Say whether a part's name goes beyond what a text says of it, and another part that was found
    bears all of that too: an "RTX PRO 6000 Blackwell" is one for workstations and one for servers,
    a "Smart-UPS 3000 VA" an SMT3000 and an SMX3000."""
    if kind_of(part) not in OF_SEVERAL:
        return False
    if _BRACKETED_CHOICE.search(text):
        return True
    told = set(shop_words(text))
    runs, squeezed = phrases_in(text), "".join(shop_words(text))
    plain = {*told, *runs, *_CLASS, *spec_words(part), *words_of(part.vendor)}
    unsaid = {
        word
        for word in words_of(part.name)
        if word not in plain and not (_is_number(word) and word in squeezed)
    }
    if not unsaid or _NUMBER_OF_PART.search(text):
        return False
    if isinstance(part, CPU) and _VERSIONS & unsaid:
        return True
    if isinstance(part, Accessory | NetworkCard) and any(map(_is_number, unsaid)):
        return not runs & set(squeezed_names(part))
    said = told & held_words(part)
    return any(
        other.id != part.id and kind_of(other) == kind_of(part) and said <= held_words(other)
        for other in others
        if not _is_partners_card(other, part)
    )


def _is_partners_card(other: Part, part: Part) -> bool:
    """Say whether a card is another maker's with the GPU that is found: "3090" is that GPU."""
    return (
        isinstance(other, GPU)
        and isinstance(part, GPU)
        and part.vendor == part.chip_maker != other.vendor
        and (other.chip, other.memory_gib, other.form_factor)
        == (part.chip, part.memory_gib, part.form_factor)
    )


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


_COUNT_INSIDE = re.compile(r"\(\s*([2-8])\s?[x×]\s?\d")


def _is_counted_inside(text: str) -> bool:
    """Say whether brackets count processors that the line's own words do not: "Xeon Gold 6338 (2x
    32 cores)"."""
    found = _COUNT_INSIDE.search(text)
    return found is not None and counted(in_latin(text))[0] != int(found[1])


def _is_of_open_size(part: Storage, text: str, others: tuple[Part, ...]) -> bool:
    """Say whether a text gives a drive no size, and others of its name have another: "980 Pro"."""
    if capacities_gb(text) or any(number and number in text for number in part.aliases):
        return False
    return any(
        isinstance(other, Storage) and other.capacity_gb != part.capacity_gb for other in others
    )


_M2 = re.compile(r"\bM\.2\b", re.IGNORECASE)


def _is_of_other_edge(part: NetworkCard | Riser, text: str) -> bool:
    """Say whether a text names a card for M.2 where the one that was found stands in a slot, or the
    device's end of a link where it is the host's."""
    told, own = set(words_of(text)), _own_words(part)
    if isinstance(part, NetworkCard):
        return part.form_factor == "pcie" and _M2.search(text) is not None and "m.2" not in own
    ends = {"host", "device"}
    return len(ends & told) == 1 == len(ends & own) and ends & told != ends & own


def _is_of_two_families(part: CPU, told: set[str], others: tuple[Part, ...]) -> bool:
    """Say whether words give a number alone that processors of two families bear: a "3970X" is a
    Core i7 and a Threadripper."""
    number, family = words_of(part.name)[-1], set(words_of(part.name)[:-1])
    return not family & told and any(
        words_of(other.name)[-1] == number and other.vendor != part.vendor for other in others
    )


OF_A_SERIES = (Chassis, Cooler, MemoryKit, PowerSupply, Storage)
"""Kinds whose parts a word or a letter behind the name makes another one of the series."""
_SERIES = frozenset(
    words_of(
        "mini compact xl nano elite flow evo qvo lite pro plus max se ultra xt digital sport lt"
        " tactical neo royal shift stealth duo twin"
    )
)
"""Words that make another part of a name that they follow."""
_FORM = frozenset(("itx", "dtx", "atx", "tower", "stx"))
_SAMPLES = frozenset(("es", "qs", "sample", "engineering"))
"""Words of processors that were never sold: they may lack lanes and clock."""
_WORD_AS_WRITTEN = re.compile(r"[0-9A-Za-z.+]+")


def _goes_on(part: Part, text: str) -> bool:
    """Say whether a word or a single capital that the name lacks follows a word of it: a "Meshify 2
    Mini" is no Meshify 2, a "Pop Mini Silent" no Pop Silent, a "Thor Z" no Thor; "Node 304 Mini
    ITX" tells the form."""
    own = _own_words(part) - {*_PLAIN, *words_of(part.vendor)}
    words = [word.strip(".") for word in _WORD_AS_WRITTEN.findall(text)]
    for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False):
        known = {before.casefold(), before.casefold() + word.casefold()} & own
        if not known or word.casefold() in _own_words(part) or after.casefold() in _FORM:
            continue
        letter = len(word) == 1 and word.isupper() and not before.isdigit()
        letter = letter and not (word == "X" and after.isdigit())
        if (letter or word.casefold() in _SERIES) and f"{before}{word}".casefold() not in own:
            return True
    return False


def _letters(text: str) -> set[str]:
    return set(words_of(text))


def _own_words(part: Part) -> set[str]:
    """Return the words of a part's names, joined ones too ("x670ecreator")."""
    names = (part.name, *part.aliases)
    return {word for name in names for word in (*words_of(name), "".join(words_of(name)))}


@lru_cache(maxsize=1)
def _board_words(index: PartIndex) -> frozenset[str]:
    """Return the words that set the boards of a catalog apart: those with two letters at least that
    are no maker's."""
    boards = index.find("", "motherboard")
    words = {word for board in boards for word in words_of(board.name)}
    makers = {word for board in boards for word in words_of(board.vendor)}
    return frozenset(word for word in words - makers - _PLAIN if len(word) > 1)


def _has_editions(part: PowerSupply, text: str, index: PartIndex) -> bool:
    """Say whether a supply's name bears a year or standard that the text leaves out, and another
    supply bears the same name without it or with another."""
    if _EDITION.search(text) or not _EDITION.search(part.name):
        return False
    own = _without_edition(part)
    return any(
        other.vendor == part.vendor and other.id != part.id and bool(own & _without_edition(other))
        for other in index.find("", "psu")
    )


def _without_edition(part: Part) -> set[str]:
    """Return the names of a part, its maker and its year left out."""
    maker = words_of(part.vendor)
    return {
        " ".join(word for word in words_of(_EDITION.sub("", name)) if word not in maker)
        for name in (part.name, *part.aliases)
    }
