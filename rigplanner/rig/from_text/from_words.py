"""A rig from words: "2x RTX 3090", "Ryzen 9 5950X"."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from msgspec import Struct

from rigplanner.catalog.find.find import PartIndex, held_words, words_of
from rigplanner.catalog.find.gpu_names import GpuNames, gpu_words
from rigplanner.catalog.find.kits import (
    counted_modules,
    is_of_form,
    kit_in,
    kits_of_modules,
    sets_of,
)
from rigplanner.catalog.find.naming import in_latin, shop_words
from rigplanner.catalog.find.spec_words import spec_words
from rigplanner.catalog.find.words import without_editions
from rigplanner.catalog.schema.parts import GPU, MemoryKit, Part, PowerSupply, System, kind_of
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import LARGEST_QUANTITY, add_part
from rigplanner.rig.from_text.variants import (
    OF_MAKERS,
    is_another,
    is_of_another_maker,
    squeezed_names,
)

_LEADING = re.compile(
    r"(\d{1,6})\s*[x×*]\s+(?=\S)"
    r"|[x×](\d{1,2})\s+(?=\S)"
    r"|(\d{1,6})[x×*](?=[^\d\s])(?!tx?\b)"
    r"|(\d{1,2})[x×*](?=\d{3})"
    r"|(\d{1,2})\s+(?=[a-z]{3})"
    r"(?!gb|tb|core|slot|pin|inch|pci|port|bay|lane|channel|thread|phase|way"
    r"|gpus?\s+(?:open|mining|frame|rig|server|chassis|case))",
    re.I,
)
_TRAILING = re.compile(
    r"(?:\s+[xX×*]\s+|×)(\d{1,3}|\d{5,6})$|\s+[x×*](\d{1,2})$|\s*[x×](\d{1,2})(?=\s+→)"
    r"|\s+\((?:[xX×]\s*)?(\d{1,2})(?:\s*[xX×片张張颗顆块塊個个条條支])?\)\s*$"
)
"""A capital X that stands against its number is a model's: "Kraken X73", "Exos X18"; a small one
against three figures too: "华硕 x570"."""
_LANES = re.compile(r"(?:pci-?e|gen)\s*[\d.]*\s+x\s?\d{1,2}(?:$|\s+→)", re.I)
"""A width at the end of the words is no count: "RTX 5090, PCIe 5.0 x16"."""
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight")
_WORD = re.compile(rf"({'|'.join(_NUMBERS)})\s+(?=\S)", re.I)
_MANY = re.compile(
    r"(?:an?\s+)?(?:(dual|pair of|couple of)|(triple)|(quad))\s+"
    r"(?!channel|band|bios|tower|rank|slot|fan|port|core|link|m\.2|gigabit|gbe"
    r"|\d[\d.]*\s?g(?:b(?!\w)|be|bit|bps|ig))(?=\S)",
    re.I,
)
_ARTICLE = re.compile(r"(?:an?|the|my|one)\s+(?=[a-z])", re.I)
"""Counts in words: "quad GTX 1080", "a pair of 3090s"; beside the maker's name "Dual" is a line of
cards of ASUS."""
MOST_WORDS = 10
_MEMORY = re.compile(r"\bddr[2345]", re.I)
_ASIDE = re.compile(r"\s*\((?!20[12]\d\))[^()]*\)")
"""What somebody adds in brackets: "ProArt X870E-Creator (for two cards)"; a year there is part of
the name: "RM750x (2018)"."""
_PLURAL = re.compile(r"(?<=\d)s\b", re.I)


class Wish(Struct, frozen=True, kw_only=True):
    """One line of words and what it matched: `parts` best first, empty when nothing did.
    `stands_in` says that they have the figures of what the words name, and are not that;
    `guessed` that the words may as well name another model."""

    text: str
    quantity: int
    parts: tuple[Part, ...]
    stands_in: bool = False
    guessed: bool = False


_SO_MANY = re.compile(
    r"\s\(\s*(?:[x×]\s?(\d{1,2})\s*[,;][^()]*"
    r"|(\d{1,2})\s?[x×]\s+(?:mirror|raid|strip)[^()]*|(?<=\()([2-9]))\)\s*$",
    re.IGNORECASE,
)
"""A count with a remark in brackets at the end: "(x3, used in RAID5)", "(2x mirror)"; one alone is
that of kits too: "16GB (2 x 8GB) DDR4-3200 Memory (2)"."""
_SUMMED = re.compile(r"\W+[x×]\s?(\d{1,2})\s*\(\s*\d+\s?[GT]B\b[^()]*\)\s*$", re.IGNORECASE)
"""A count before what all come to: "32GB DDR4 - x8 (256GB)"."""
_BARE_MEMORY = re.compile(
    r"\W*\d{1,4}\s?[GT][Bo]\s+(?:of\s+)?(?:system\s+|host\s+)?(?:RAM|memory)\W*", re.IGNORECASE
)
"""Memory of which a line says the size alone: no part, and no computer that has as much."""


def read_wish(text: str, index: PartIndex, kind: str | None = None) -> Wish:
    """Split the quantity from the words and look the words up; modules of memory are looked up by
    their number and size."""
    latin = in_latin(text)
    if many := _SO_MANY.search(latin) or _SUMMED.search(latin):
        one = read_wish(latin[: many.start()], index, kind)
        times = int(next(filter(None, many.groups())))
        return Wish(text=text, quantity=one.quantity * times, parts=one.parts)
    if kind is None and _BARE_MEMORY.fullmatch(latin):
        kind = "memory"
    if kind in (None, "memory"):
        count, kits = kits_of_modules(latin, index.find("", "memory"))
        if kits:
            return Wish(text=text, quantity=count, parts=tuple(kits))
    quantity, words = counted(latin)
    if drives := _DRIVES.search(words):
        quantity, words = (
            quantity * int(drives[1]),
            f"{words[: drives.start()]} {drives[2]} {words[drives.end() :]}",
        )
    parts = _found(words, index, kind)
    if (singular := _PLURAL.sub("", words)) != words and not _bears(parts, words, singular):
        parts = _found(singular, index, kind) or parts
    if not parts and (bare := _ASIDE.sub(_capacity_of, words).strip()) != words:
        parts = _found(bare, index, kind)
    if not parts and (first := _SENTENCE.split(words)[0]) != words:
        parts = _found(first, index, kind)
    if not parts and (first := _REMARK.split(words)[0]) != words and _MODEL.search(first):
        parts = _found(first, index, kind)
    if not parts and (plain := _ROMAN.sub(lambda found: str(len(found[0])), words)) != words:
        parts = _found(plain, index, kind)
    parts = [part for part in _of_standard(parts, text, index) if not is_another(part, words)]
    parts = _machine_first(_cards_first(parts, words))
    if modules := counted_modules(latin):
        made = [(part, sets) for part in parts if (sets := sets_of(part, modules))]
        parts = [part for part, _ in made]
        quantity = made[0][1] if made and isinstance(parts[0], MemoryKit) else quantity
    return Wish(text=text, quantity=quantity, parts=tuple(parts))


def _cards_first(parts: list[Part], words: str) -> list[Part]:
    """Return parts with the cards first, where a computer of another name is but called after the
    same card: a "ROG Strix RTX 4090" is no ROG Strix SCAR 17 (RTX 4090)."""
    if not parts or not isinstance(parts[0], System):
        return parts
    own = {*words_of(_ASIDE.sub(" ", parts[0].name))} - {*words_of(parts[0].vendor)}
    cards = [part for part in parts if isinstance(part, GPU)] if own - {*words_of(words)} else []
    return [*cards, *(part for part in parts if part not in cards)]


def _machine_first(parts: list[Part]) -> list[Part]:
    """Return parts with the machine that a chip's own maker sells first, where the first is a chip
    that is soldered into it: nobody buys the GPU of a Mac Studio or a Jetson alone."""
    chip = parts[0] if parts else None
    if not isinstance(chip, GPU) or chip.form_factor not in SOLDERED:
        return parts
    own = [
        part
        for part in parts
        if isinstance(part, System)
        and part.vendor == chip.vendor
        and any(inside.part == chip.id for inside in part.includes)
    ]
    return [*own, *(part for part in parts if part not in own)]


SOLDERED = ("embedded", "superchip")


def _capacity_of(aside: re.Match[str]) -> str:
    """Return what remains of words in brackets: a drive's capacity belongs to its name ("850 EVO
    (250 GB)")."""
    found = None if _OF_ALL.search(aside[0]) else _CAPACITY.search(aside[0])
    return f" {found[0]}" if found else ""


_OF_ALL = re.compile(r"\b(?:total|combined|gesamt|celkem|together)\b|共|合计|總計", re.IGNORECASE)
_CAPACITY = re.compile(r"\b\d[\d.]*\s?[TG]B\b", re.IGNORECASE)


def _of_standard(parts: list[Part], text: str, index: PartIndex) -> list[Part]:
    """Return supplies with that one first which is of the standard that a text names."""
    standard = _STANDARD.search(text)
    if standard is None or not parts or not isinstance(parts[0], PowerSupply):
        return parts
    alike = index.find(_YEAR.sub("", parts[0].name), "psu", limit=4)
    meant = [
        part
        for part in alike
        if isinstance(part, PowerSupply) and part.supply.standard == f"ATX {standard[1]}"
    ]
    return [*meant, *(part for part in parts if part not in meant)]


_DRIVES = re.compile(r"\(?\b(\d{1,2})\s?[x×]\s?(\d[\d.]*\s?TB)\b\)?", re.IGNORECASE)
"""Several drives of a capacity: "Rocket 4 Plus (2x4TB)"."""
_SENTENCE = re.compile(r"\.\s+(?=[A-Z])")
_REMARK = re.compile(r"\s+[-–—]\s+")
"""What a dash parts from the name: "EVGA 3090 Ti FTW3 - stock cooler"."""
_MODEL = re.compile(r"[a-z].*\d|\d.*[a-z]", re.IGNORECASE)
_ROMAN = re.compile(r"\bI{2,3}\b")
_YEAR = re.compile(r"\(?\b20\d\d\b\)?")
_STANDARD = re.compile(r"\bATX ?(\d\.\d)", re.IGNORECASE)
"""Which of two supplies of one name is meant: "HX1500i (ATX 3.1)"."""
_FIGURE = re.compile(r"\d{1,2}|\d+(?:\.\d+)?(?:[gtm]i?b|w|k?va|mm|[mg]hz|-?pin)|\d{1,3}g|[a-z]")
_NO_MODEL = re.compile(r"20\d\d|i[3579]|r[3579]|ddr\d.*|(?=.*\d.*[a-z].*\d)[a-z0-9.]{8,}")
_CLASS_WORDS = frozenset(
    words_of(
        "gb tb pcie nvme ssd hdd sata m.2 u.2 hard drive disk ram memory case atx gold platinum"
        " titanium bronze silver modular fully power supply psu liquid water air cooler aio tower"
        " server black white pro max plus edition card video graphics cpu gpu gen3 gen4 gen5"
        " core cores thread threads thermal paste compound fan fans the am4 am5 sp3 sp5 lga1151"
        " lga1200 lga1700 lga1851"
    )
)


def is_named(wish: Wish, least: int = 1) -> bool:
    """Say whether a wish's words, one of at least so many letters, name its part: not only its
    maker, its family or figures that others share with it ("1TB SSD", "Corsair 1500 W", "Intel i7",
    "FireCuda 2TB")."""
    if not wish.parts:
        return False
    part = wish.parts[0]
    figures = {
        *spec_words(part),
        *(word.rstrip("abcdefghijklmnopqrstuvwxyz") for word in spec_words(part)),
    }
    maker = set(words_of(part.vendor))
    words = shop_words(wish.text)
    telling = [
        word
        for word in words
        if word not in figures | _CLASS_WORDS | maker and not _FIGURE.fullmatch(word)
    ]
    telling = [word for word in telling if len(word) >= least]
    if kind_of(part) in BY_NAME and not maker & {*words}:
        own = "".join(squeezed_names(part))
        telling = [] if all(map(str.isdigit, (w for w in telling if w in own))) else telling
    if any(name in "".join(words) for name in squeezed_names(part)):
        return True
    return any(
        any(_stands_in(word, words_of(text), name) for word in telling)
        and (kind_of(part) in UNNUMBERED or _has_model(words_of(text), "".join(words), figures))
        for text, name in zip(
            map(_own_name, (part.name, *part.aliases)), _own_names(part), strict=True
        )
    )


BY_NAME = ("chassis", "cooler", "psu")
"""Kinds of which a number alone names no model without its maker."""


def _own_name(name: str) -> str:
    """Return a name without what it is made for: "6-pin cable for breakout boards" is no board."""
    return name.partition(" for ")[0]


def _own_names(part: Part) -> list[str]:
    return ["".join(words_of(_own_name(name))) for name in (part.name, *part.aliases)]


UNNUMBERED = ("memory", "bridge", "riser", "accessory", "system")
"""Kinds that lists name without the number that stands in their name."""


def _stands_in(word: str, name: list[str], squeezed: str) -> bool:
    return word in squeezed if len(word) > 3 else word in name


def _has_model(name: list[str], squeezed: str, figures: set[str]) -> bool:
    """Say whether a text has a model number of a name that has any; years, figures and part numbers
    beside words are none."""
    numbers = [
        word for word in name if any(letter.isdigit() for letter in word) and word not in figures
    ]
    if len(name) > 1:
        numbers = [
            word
            for word in numbers
            if not _FIGURE.fullmatch(word) and not _NO_MODEL.fullmatch(word)
        ]
    return not numbers or any(word in squeezed for word in numbers)


def counted(text: str) -> tuple[int, str]:
    """Return how many a wish asks for, 1 where it does not say, and its other words."""
    words = text.strip()
    leading, trailing = (
        _LEADING.match(words),
        None if _LANES.search(words) else _TRAILING.search(words),
    )
    if leading and trailing and words[leading.end() :].isdigit():
        first, last = (
            int(next(filter(None, leading.groups()))),
            int(next(filter(None, trailing.groups()))),
        )
        return (first, str(last)) if first < last else (last, str(first))
    if leading:
        return int(next(filter(None, leading.groups()))), words[leading.end() :]
    if trailing:
        return int(next(filter(None, trailing.groups()))), words[: trailing.start()]
    if spelled := _WORD.match(words):
        return _NUMBERS.index(spelled[1].casefold()) + 2, words[spelled.end() :]
    if many := _MANY.match(words):
        return next(n for n, found in enumerate(many.groups(), 2) if found), words[many.end() :]
    return 1, _ARTICLE.sub("", words, count=1) if _ARTICLE.match(words) else words


def near_parts(text: str, index: PartIndex) -> list[Part]:
    """Return up to three parts that most words of a wish without a match name: words are left away,
    those with digits last; where none is left, the parts that are written most like it."""
    wanted = counted(text)[1]
    words = words_of(wanted)[:MOST_WORDS]
    numbers = {word for word in words if any(letter.isdigit() for letter in word)}
    shorter = [
        kept
        for left in (1, 2)
        if left < len(words)
        for kept in combinations(words, len(words) - left)
    ]
    for kept in sorted(shorter, key=lambda kept: (len(numbers - set(kept)), -len(kept))):
        if any(len(word) > 2 for word in kept) and (found := index.find(" ".join(kept), limit=3)):
            return found
    return index.nearest(wanted)


_BOXED_CORE = re.compile(r"(?:BXC?|CM)80\d{3}(?:I[3579])?([A-Z0-9]{4,})")
"""A part number of Intel ends with the model: BX8071512900K."""
_REGION = re.compile(r"(?:-(?:NA|EU|UK|WW|US|AU|CN|JP|KR)|(?<=\d)-X[1-9]|/AM)\b")
"""What makers add to a part number for a country."""


_REVISION = re.compile(r"\b((?:ST|WD|HU[HS]|WUH)\w{6,12})-[A-Z0-9]{5,8}\b")
"""What firmware adds to a disk's part number: ST2000DM008-2FR102."""

_ORDERED = re.compile(r"\bMBD-([A-Z0-9-]+)-[OB]\b", re.IGNORECASE)
"""How Supermicro's boards are ordered: MBD-X11SSL-F-O."""


def _bears(parts: list[Part], words: str, singular: str) -> bool:
    """Tell whether the first part bears what may be a plural as a word of its own: "X570S" does,
    the beginning of a longer word ("3090S" of "RTX3090SUPRIM") does not."""
    plurals = {*words_of(words)} - {*words_of(singular)}
    held = words_of(" ".join((parts[0].name, *parts[0].aliases))) if parts else []
    return bool(parts) and plurals <= {*held}


def _found(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the parts that words name, best first: by words, by the name in a shop's line, as GPUs
    are called, by class."""
    if not words_of(words):
        return []
    if (boxed := _BOXED_CORE.fullmatch(words.strip())) and kind in (None, "cpu"):
        words = boxed[1]
    words = _ORDERED.sub(r"\1", _REVISION.sub(r"\1", _REGION.sub("", words)))
    if kind is None and _MEMORY.search(words) and (kits := index.find(words, "memory", limit=8)):
        return sorted(
            kits,
            key=lambda kit: (
                isinstance(kit, MemoryKit) and not is_of_form(kit, set(words_of(words)))
            ),
        )
    found = index.find(words, kind, limit=8)
    return (
        [part for part in found if _has_ending(part, words)]
        or _of_other_edition(words, index, kind)
        or _named(words, index, kind)
        or _gpu_named(words, index, kind)
        or found
        or _by_class(words, index, kind)
    )


_ENDINGS = frozenset(("xt", "xtx", "ti", "gt", "gre", "super"))
"""Ends of cards' names: a 7900 XT is no 7900 XTX."""


def _has_ending(part: Part, words: str) -> bool:
    """Say whether a card has the ends that words give as words of its own, and no other than those
    where they give its number: an "RTX 3060" is no 3060 Ti."""
    if not isinstance(part, GPU):
        return True
    told, name = words_of(words), words_of(part.name)
    held = words_of(" ".join((part.name, *part.aliases)))
    more = {
        end
        for number, end in pairwise(name)
        if end in _ENDINGS and number in told and not any(word.endswith(end) for word in told)
    }
    return not more and all(
        end in held or any(word.endswith(end) for word in held)
        for end in _ENDINGS.intersection(told)
    )


def _of_other_edition(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the parts that words name in a colour or an edition which decides nothing."""
    found = index.of_other_edition(words, kind, limit=8)
    named = found and is_named(Wish(text=words, quantity=1, parts=tuple(found)))
    return [part for part in found if _has_ending(part, words)] if named else []


def untold_editions(wish: Wish) -> list[str]:
    """Return the words of a wish that tell of a colour or an edition which its part does not
    have."""
    part, words = wish.parts[0], words_of(wish.text)
    held = held_words(part)
    kept = {*without_editions(words, kind_of(part))}
    return [word for word in words if word not in kept and word not in held]


def _named(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the part that a shop's line names among words that are not the part's ("3.4 GHz
    16-Core Processor")."""
    named = index.named_in(words, kind).part
    if named is not None and kind_of(named) in OF_MAKERS and kind_of(named) not in UNNUMBERED:
        named = None if is_of_another_maker(named, {*words_of(words)}, index) else named
    if named is None and kind in (None, "memory"):
        named = kit_in(words, index.find("", "memory"))
    return [] if named is None else [named]


_WORDS_OF_CLASS = {
    "motherboard": frozenset(
        words_of(
            "motherboard mainboard mobo board atx matx micro mini itx eatx am4 am5 lga1151 lga1200"
            " lga1700 lga1851 ddr4 ddr5"
        )
    ),
    "cpu": frozenset(words_of("cpu processor desktop socket am4 am5 lga1151 lga1200 lga1700")),
    "chassis": frozenset(words_of("case chassis computer atx mid full tower pc mini itx micro")),
    "cooler": frozenset(words_of("cpu cooler liquid aio air fan heatsink")),
    "storage": frozenset(
        words_of(
            "series internal solid state ssd hdd nas nvme m.2 2280 22110 x4 3.0 4.0 5.0"
            " pcie3.0 pcie4.0 pcie5.0 gen3 gen4 gen5 sata sata3"
            " sata6gb iii s 6gb pcie gen 3x4 4x4 5x4 drive disk hard 2.5 3.5 inch rpm 5400 5900"
            " 7200"
        )
    ),
    "psu": frozenset(
        words_of(
            "80 80+ plus certified fully semi modular non atx atx3.0 atx3.1 2.4 3.0 3.1 pcie 5.0"
            " 5.1 12vhpwr 12v 2x6 power supply unit psu gold platinum titanium bronze silver"
        )
    ),
}
"""Words that lists add to the name of every part of a kind."""
_PART_NUMBER = re.compile(r"\b(?=[A-Z0-9]*\d[A-Z]+\d)[A-Z][A-Z0-9]{8,}\b")


def _by_class(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return parts whose name stands, in any order, among the words that lists add to it ("950 PRO
    Series - 512GB PCIe NVMe Internal SSD", "RMx 850W 80+ Gold Certified ATX Power Supply"), and
    among numbers of the maker ("T500 2TB CT2000T500SSD8")."""
    bare = _ASIDE.sub("", words)
    for class_kind, added in _WORDS_OF_CLASS.items():
        held = words_of(_PART_NUMBER.sub("", bare) if class_kind == "storage" else bare)
        names = [word for word in held if word not in added]
        telling = [
            word for word in names if word not in _CLASS_WORDS and not _FIGURE.fullmatch(word)
        ]
        if kind in (None, class_kind) and telling and len(names) > 1 and added & set(held):
            found = index.find(" ".join(names), class_kind, limit=8)
            least = 3 if class_kind == "storage" else 99
            models = {w for w in telling if len(w) >= least or (len(w) > 1 and not w.isdigit())}
            if named := [part for part in found if models - {*words_of(part.vendor)}]:
                return named
    return []


PARTNERS = frozenset(
    words_of(
        "asus rog tuf gigabyte aorus msi evga zotac palit gainward pny inno3d galax kfa2 colorful"
        " igame sapphire powercolor xfx asrock manli yeston leadtek maxsun gunnir sparkle acer"
        " onix biostar ocpc afox emtek galaxy his visiontek arktek vastarmor peladn zephyr dell hp"
        " lenovo blower turbo mini itx"
    )
)
"""Makers of cards, and words that set a chip's cards apart: where one is named and the chip maker's
own card is found, that stands for it."""
_BESIDE_CHIPS = PARTNERS | {"founders", "edition", "video", "graphics", "card", "von", "from", "by"}


def _gpu_named(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the GPU that the words mean as drivers and papers write it ("A6000 Ada"); beside a
    maker of cards that whose chip they name, whatever else the card is called."""
    held = words_of(words)
    if not held or kind not in (None, "gpu"):
        return []
    names = _names_of_gpus(index)
    meant = names.meaning(words, with_nearest=False).gpu
    if meant is None and _BESIDE_CHIPS.intersection(held):
        meant = names.meaning(" ".join(_chip_words(held, index)), with_nearest=False).gpu
    return [] if meant is None else [meant]


def _chip_words(words: list[str], index: PartIndex) -> list[str]:
    """Return of the words of a card those that the names of chips and their makers hold."""
    known = _words_of_chips(index)
    return [word for word in words if gpu_words(word) <= known and word not in _BESIDE_CHIPS]


@lru_cache(maxsize=1)
def _words_of_chips(index: PartIndex) -> frozenset[str]:
    cards = (part for part in index.find("", "gpu") if isinstance(part, GPU))
    own = (part for part in cards if part.vendor == part.chip_maker)
    return frozenset(
        word for part in own for text in (part.name, *part.aliases) for word in gpu_words(text)
    )


@lru_cache(maxsize=1)
def _names_of_gpus(index: PartIndex) -> GpuNames:
    """Return the names of an index's GPUs, cut into words once for all lines of a list."""
    return GpuNames(part for part in index.find("", "gpu") if isinstance(part, GPU))


def rig_from_wishes(name: str, wishes: Sequence[Wish], start: Rig | None = None) -> Rig:
    """Return a rig (`start` with more, if given) with the best match of each wish; wishes without a
    match must have been dealt with before.

    Raises ValueError for a quantity outside 1 to the largest."""
    rig = Rig(name=name) if start is None else start
    for wish in wishes:
        if not 1 <= wish.quantity <= LARGEST_QUANTITY:
            raise ValueError(f"{wish.text!r}: a quantity lies between 1 and {LARGEST_QUANTITY}.")
        part = wish.parts[0]
        rig = add_part(rig, part=part.id, stem=kind_of(part), quantity=wish.quantity)
    return rig
