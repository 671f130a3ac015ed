"""Does a text that fits a part mean another one? What it says of form, series and efficiency must
agree."""

import re
from functools import lru_cache

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.find.kits import contradicts
from rigplanner.catalog.schema.parts import (
    GPU,
    Chassis,
    Cooler,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Part,
    PowerSupply,
    Storage,
    System,
    kind_of,
)

_DRIVE_MODELS = frozenset(("pro", "plus", "evo", "qvo", "max", "lite", "se"))
_CASE_MODELS = frozenset(("mini", "compact", "xl", "evo"))
"""Words without which a drive or a case is another."""
_CARD_ENDS = frozenset(("ti", "super", "xt", "xtx", "gre"))
"""Ends of cards' names without which a card is another: an RTX 3060 is no RTX 3060 Ti."""
_EFFICIENCIES = frozenset(("bronze", "silver", "gold", "platinum", "titanium"))
_VERSIONS = frozenset(("v2", "v3", "v4"))
"""Words of a supply's version: another one has other plugs and another length."""
_LETTERS = re.compile(r"[a-z]+")
_DRIVE_NUMBER = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{7,}\b")
"""A part number says all that the words leave out."""
_FORMS = {
    "2.5": re.compile(r"\b2[.,]5\b"),
    "3.5": re.compile(r"\b3[.,]5\b"),
    "m2": re.compile(r"\bm\.2\b", re.IGNORECASE),
}
_SPINS = re.compile(r"\b(?:hdds?|hard drives?|\d{4} ?rpm)\b|机械", re.IGNORECASE)
_FLASH = re.compile(r"\b(?:ssds?|nvme|solid state)\b|固态|固態", re.IGNORECASE)
_SPEED = re.compile(
    r"(?<![\d.])(\d{1,3}(?:\.5)?)\s?(?:GbE|Gbit|Gb/s|Gbps|GBASE\w*)(?!\w)", re.IGNORECASE
)
_NO_CARD = re.compile(r"\b(?:hba|raid|perc|controllers?|backplane)\b", re.IGNORECASE)


def squeezed_names(part: Part) -> list[str]:
    """Return the name and the aliases of a part, each without spaces and marks."""
    return ["".join(words_of(text)) for text in (part.name, *part.aliases)]


def is_another(part: Part, words: str) -> bool:
    """Say whether words that fit a part yet mean another: a drive's "970 EVO" is no EVO Plus, a
    Platinum supply none of Gold, an O11 Air no O11 Air Mini, a card of 25 Gbit/s none of 100, and a
    RAID controller's H200 is no GPU."""
    if _has_longer_number(part, words):
        return True
    held = {piece for word in words_of(words) for piece in (word, *_LETTERS.findall(word))}
    unsaid = (
        set(words_of(part.name)) - held
        if "".join(words_of(words)) not in squeezed_names(part)
        else set()
    )
    if isinstance(part, Storage):
        return (
            bool(_DRIVE_MODELS & unsaid and not _DRIVE_NUMBER.search(words))
            or _is_of_other_form(part, words)
            or _is_longer(words_of(words), unsaid)
        )
    if isinstance(part, PowerSupply):
        if _VERSIONS & held - set(words_of(" ".join((part.name, *part.aliases)))):
            return True
        label = set(words_of(part.supply.efficiency_label or ""))
        return bool(_EFFICIENCIES & held) and not _EFFICIENCIES & held & (
            label | set(words_of(part.name))
        )
    if isinstance(part, MemoryKit):
        return contradicts(words, part)
    if isinstance(part, System):
        return _carries_another(part, words)
    if isinstance(part, Chassis):
        return bool(_CASE_MODELS & unsaid)
    if isinstance(part, Cooler | Motherboard) and _is_other_model(part, words, unsaid):
        return True
    if isinstance(part, NetworkCard) and (told := stated_speeds(words)):
        return part.port_gbps is not None and part.port_gbps not in told
    if isinstance(part, GPU) and (_CARD_ENDS & unsaid or _is_of_a_code(part, words)):
        return True
    return isinstance(part, GPU) and _NO_CARD.search(words) is not None


_CODE = re.compile(r"(?<![\w-])(?=[A-Z-]*\d)\w+(?:-\w+){2,}")
LONGEST_IN_CODE = 3


def _is_of_a_code(part: GPU, words: str) -> bool:
    """Say whether a text gives a card's short number as a piece of an ordering number alone: an
    "08G-P4-3071-KR" is no Tesla P4."""
    numbers = [word for word in words_of(part.name) if any(c.isdigit() for c in word)]
    if not numbers or any(len(word) > LONGEST_IN_CODE for word in numbers):
        return False
    outside = {*words_of(_CODE.sub(" ", words))}
    return not outside & {*numbers} and bool({*words_of(words)} & {*numbers})


_CARD = re.compile(r"\b(?:rtx|gtx|rx)\s?(\d{3,4})(?:\s?(ti|super|xt|xtx))?\b", re.IGNORECASE)


def _carries_another(part: System, words: str) -> bool:
    """Say whether words name a card that a computer, called after its own, does not have."""
    told, own = ({*_CARD.findall(text.casefold())} for text in (words, part.name))
    return bool(own) and bool(told) and not told & own


def _has_longer_number(part: Part, words: str) -> bool:
    """Say whether a number of the words is but the beginning of one in the part's names: "RX 570"
    is no RX 5700, an "M10" no M1076."""
    own = " ".join((part.name, *part.aliases)).casefold()
    return any(
        not re.search(rf"(?<!\d){number}(?!\d)", own) and re.search(rf"(?<!\d){number}\d", own)
        for number in words_of(words)
        if _NUMBER.fullmatch(number)
    )


_NUMBER = re.compile(r"\d{3,}|(?!x\d{1,2}$)[a-z]{1,2}\d+")
"""A number of a model, and none of a count, a size or lanes."""


def stated_speeds(text: str) -> set[float]:
    """Return the speeds of network ports that a text gives, in Gbit/s."""
    return {float(found) for found in _SPEED.findall(text)}


_NO_MODELS = frozenset(("ac", "ax", "be", "d4", "d5", "ii", "v2", "g2"))
"""Short words at the end of names that lists leave out."""


def _is_other_model(part: Part, words: str, unsaid: set[str]) -> bool:
    """Say whether words name a model beside a part's: "NH-D15S" is no NH-D15, "X570 Phantom Gaming
    4S" no Phantom Gaming X."""
    held = words_of(words)
    longer = any(
        model.isalnum() and any(word.startswith(model) and len(word) > len(model) for word in held)
        for model in unsaid
        if any(letter.isdigit() for letter in model)
    )
    plain = set(words_of(part.name)) - set(held)
    if isinstance(part, Motherboard) and _is_longer(held, unsaid):
        return True
    if isinstance(part, Motherboard) and (_is_small(part, plain, held) or _is_begun(part, held)):
        return True
    short = {word for word in plain if len(word) < 3 and word not in _NO_MODELS}
    others = {word for word in held if len(word) == 1 and word.isalpha()}
    if isinstance(part, Motherboard) and others - set(words_of(_told(part))) and short:
        return True
    fresh = any(letter.isdigit() for word in held for letter in word if word not in _told(part))
    return longer or (isinstance(part, Motherboard) and bool(short) and fresh)


def _is_small(part: Motherboard, unsaid: set[str], held: list[str]) -> bool:
    """Say whether the letter by which a board is a small one is left out ("Z390 Aorus Pro WiFi" is
    no Z390-I), or the words name a small one and this is none ("B650E PG-ITX")."""
    small = (part.form_factor or "").casefold() == "mini-itx"
    return ("i" in unsaid and small) or (
        part.form_factor is not None and "itx" in held and not small
    )


def _is_begun(part: Motherboard, held: list[str]) -> bool:
    """Say whether a short word of the text is but the beginning or end of one in a board's names:
    "PRO-VD" is no PRO-VDH."""
    own = {word for name in (part.name, *part.aliases) for word in words_of(name)}
    return any(
        1 < len(word) < 4
        and word.isalpha()
        and word not in own
        and any(name.startswith(word) or name.endswith(word) for name in own)
        and not any(name.startswith(word + after) for name in (*own, "wifi"))
        for word, after in zip(held, [*held[1:], "-"], strict=True)
    )


def _is_longer(held: list[str], unsaid: set[str]) -> bool:
    """Say whether a part's name has a model of which the words give the beginning alone: "MP44" is
    no MP44L, "B650" no B650M."""
    models = [word for word in held if len(word) > 2 and any(c.isdigit() for c in word)]
    return any(
        word.startswith(model) and word.removeprefix(model).isalpha()
        for word in unsaid
        for model in models
    )


def _told(part: Part) -> str:
    return " ".join(squeezed_names(part))


def _is_of_other_form(part: Storage, words: str) -> bool:
    """Say whether a drive is not of the one form, or not of the sort, that words give it."""
    forms = {form for form, pattern in _FORMS.items() if pattern.search(words)}
    spins, flash = _SPINS.search(words) is not None, _FLASH.search(words) is not None
    of_form = len(forms) != 1 or part.form_factor in forms
    return not of_form or (spins is not flash and spins is not (part.rotation_rpm is not None))


OF_MAKERS = ("cpu", "motherboard", "storage", "psu", "cooler", "chassis", "riser", "nic")
"""Kinds of which the maker who is named is the maker meant; of cards and memory others ask."""


@lru_cache(maxsize=1)
def _makers(index: PartIndex) -> dict[str, frozenset[frozenset[str]]]:
    return {
        kind: frozenset(frozenset(words_of(part.vendor)) for part in index.find("", kind))
        for kind in OF_MAKERS
    }


def is_of_another_maker(part: Part, told: set[str], index: PartIndex) -> bool:
    """Say whether a text names a maker of such parts and not this part's."""
    if set(words_of(part.vendor)) & told:
        return False
    names = {word for name in (part.name, *part.aliases) for word in words_of(name)}
    return any(
        maker <= told and not maker & names for maker in _makers(index)[kind_of(part)] if maker
    )
