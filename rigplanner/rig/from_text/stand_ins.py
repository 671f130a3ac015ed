"""Which part of the same figures stands for one that the catalog lacks? Only where figures say
what counts: a drive's capacity and sort, a supply's watts and label, the radiator of a liquid
cooler, the speed of a network card, the cards of an open frame. Boards, other cases and processors
have none: there another model is no match."""

import re
from collections.abc import Iterable

from rigplanner.catalog.find.find import PartIndex, words_of
from rigplanner.catalog.find.naming import in_latin, shop_words
from rigplanner.catalog.schema.parts import (
    Cooler,
    NetworkCard,
    Part,
    PowerSupply,
    Riser,
    Storage,
    kind_of,
)
from rigplanner.rig.from_text.variants import stated_speeds

_WATTS = re.compile(r"(?<![\d.])(\d{3,4})\s?(?:W|watts?)\b", re.IGNORECASE)
_BARE_WATTS = re.compile(r"(?<![\d.])(?!20[12]\d)([3-9]\d0|[12]\d[05]0)(?![\d.])")
"""Watts without their unit, as names of supplies have them: "Focus 450 Gold", "GM650"."""
_CAPACITY = re.compile(r"(?<![\d.,])(\d{1,4}(?:\.\d+)?)\s?([TG])B?\b", re.IGNORECASE)
_RADIATOR = re.compile(r"(?<!\d)(120|140|240|280|360|420|480)\s?(?:mm)?\b", re.IGNORECASE)
_LIQUID = re.compile(r"\b(?:aio|liquid|water)\b|水冷", re.IGNORECASE)
_NO_COOLER = re.compile(
    r"\b(?:case|chassis|motherboard|support(?:s|ed)? (?:for|up))\b|for (?:the )?gpu", re.I
)
"""Lines that speak of liquid coolers and are none of a CPU's."""
_SPINS = re.compile(
    r"\b(?:hdds?|hard (?:disk )?drives?|\d{4} ?rpm|sshd)\b|机械|機械", re.IGNORECASE
)
_NVME = re.compile(r"\b(?:nvme|pci-?e)\b|\bm\.2\b(?!.{0,12}sata)", re.IGNORECASE)
_SATA = re.compile(r"\bsata\b|\b2[.,]5\b", re.IGNORECASE)
_FLASH = re.compile(r"\b(?:ssds?|solid state)\b|固态|固態", re.IGNORECASE)
_SERVER = re.compile(r"\b(?:u\.[23]|e[13]\.s|sas|edsff)\b", re.IGNORECASE)
_GEN = re.compile(r"\b(?:gen|pci-?e)\s?([3-6])(?:\.0)?\b", re.IGNORECASE)
_WORDS_OF_SUPPLY = re.compile(
    r"\b(?:psu|power suppl\w+|netzteil|zdroj|80\s?\+?\s?plus|80\+)|电源|電源", re.IGNORECASE
)
_NO_SUPPLY = re.compile(r"\b(?:ups|breakout|server|redundant|crps)\b", re.IGNORECASE)
LABELS = ("bronze", "silver", "gold", "platinum", "titanium")
_SMALL = re.compile(r"\b(sfx-?l|sfx|tfx|flex)\b", re.IGNORECASE)
SAME_CAPACITY = 0.042
"""Lists do not tell drives of 480, 500 and 512 GB apart, nor those of 960 GB and 1 TB."""


_THOUSANDS = re.compile(r"(?<=\d)[.,](?=000\s?GB\b)", re.IGNORECASE)


def stand_ins(text: str, kind: str | None, index: PartIndex) -> list[Part]:
    """Return parts of the figures that a text gives, first those of the maker that it names and of
    most of its words, then current ones; none where it gives too few, or is of a kind without
    stand-ins."""
    words = _THOUSANDS.sub("", in_latin(text))
    for stands, wanted in (
        ("psu", _supplies(words, kind, index)),
        ("storage", _drives(words, kind, index)),
        ("cooler", _coolers(words, kind, index)),
        ("nic", _cards(words, kind, index)),
        ("riser", _risers(words, index)),
        ("chassis", _frames(words, index)),
    ):
        if kind in (None, stands) and (found := list(wanted)):
            told = set(shop_words(words))
            found.sort(key=lambda part: _rank(part, told))
            return found
    return []


def _rank(part: Part, told: set[str]) -> tuple[bool, int, bool, int, str]:
    strange = not set(words_of(part.vendor)) <= told
    shared = sum(word.isalpha() for word in told & set(words_of(part.name)))
    return strange, -shared, part.status != "current", len(part.name), part.id


def _of_kind(index: PartIndex, kind: str) -> list[Part]:
    return [part for part in index.find("", kind) if kind_of(part) == kind]


def _supplies(text: str, kind: str | None, index: PartIndex) -> Iterable[Part]:
    """Supplies of the watts, the label and the form that a text gives; of a plain form where it
    names none."""
    watts = _WATTS.search(text)
    if watts is None and kind == "psu":
        watts = _BARE_WATTS.search(text)
    if watts is None or _NO_SUPPLY.search(text):
        return
    if kind is None and not _WORDS_OF_SUPPLY.search(text):
        return
    told = set(words_of(text))
    labels = [label for label in LABELS if label in told]
    small = [found.upper() for found in _SMALL.findall(text)]
    small = ["SFX-L" if form.startswith("SFX") and len(form) > 3 else form for form in small]
    for part in _of_kind(index, "psu"):
        if not isinstance(part, PowerSupply) or part.form_factor is None:
            continue
        forms = small or ["ATX"]
        own = set(words_of(part.supply.efficiency_label or ""))
        if (
            max((rating.watts for rating in part.supply.ratings), default=0) == float(watts[1])
            and part.form_factor.upper() in forms
            and (not labels or labels[0] in own)
        ):
            yield part


def _drives(text: str, kind: str | None, index: PartIndex) -> Iterable[Part]:
    """Drives of the capacity and the sort that a text gives: spinning, SATA or NVMe; of the
    generation where it names one of which there is any."""
    capacity = _CAPACITY.search(text)
    spins, nvme = _SPINS.search(text) is not None, _NVME.search(text) is not None
    flash, sata = _FLASH.search(text) is not None, _SATA.search(text) is not None
    if capacity is None or _SERVER.search(text) or not (spins or nvme or flash):
        return
    if (spins and (nvme or flash)) or (kind is None and not (spins or flash or nvme)):
        return
    if not spins and not nvme and not sata:
        return
    size = float(capacity[1]) * (1000 if capacity[2].upper() == "T" else 1)
    gen = _GEN.search(text)
    near = [
        part
        for part in _of_kind(index, "storage")
        if isinstance(part, Storage) and abs(part.capacity_gb - size) <= SAME_CAPACITY * size
    ]
    if gen is not None and not any(part.gen == int(gen[1]) for part in near):
        gen = None
    for part in near:
        if spins:
            fits = part.rotation_rpm is not None and part.form_factor == "3.5"
        elif nvme:
            fits = part.interface == "nvme" and part.form_factor == "m2"
            fits = fits and (gen is None or part.gen == int(gen[1]))
        else:
            fits = part.interface == "sata" and part.rotation_rpm is None
        if fits:
            yield part


def _coolers(text: str, kind: str | None, index: PartIndex) -> Iterable[Part]:
    """Liquid coolers with a radiator of the size that a text gives."""
    size = _RADIATOR.search(text)
    if kind is None and _NO_COOLER.search(text):
        return
    if size is None or not _LIQUID.search(text) or (kind is None and "cooler" not in text.lower()):
        return
    for part in _of_kind(index, "cooler"):
        if isinstance(part, Cooler) and part.radiator_mm == int(size[1]):
            yield part


_RISER = re.compile(r"\briser\w*\b|\bpci-?e extend\w*\b|延长线|延長線", re.IGNORECASE)
_NO_RISER = re.compile(r"\busb\b|\bx\s?1\b|\bm\.2\b|\bbracket|\bsplit|oculink", re.IGNORECASE)
_REACH = re.compile(r"(?<!\d)(\d{2,4})\s?(mm|cm)\b", re.IGNORECASE)
_PLAIN_RISER = re.compile(r"\briser\b(?!.*\bM\.2\b)", re.IGNORECASE)


def _risers(text: str, index: PartIndex) -> Iterable[Part]:
    """Riser cables of sixteen lanes of the generation that a text gives, those of the nearest
    length first."""
    if not _RISER.search(text) or _NO_RISER.search(text):
        return []
    gen, reach = re.search(r"(?:gen|pci-?e)\s?([345])", text, re.I), _REACH.search(text)
    length = float(reach[1]) * (10.0 if reach[2].casefold() == "cm" else 1.0) if reach else None
    fits = [
        part
        for part in _of_kind(index, "riser")
        if isinstance(part, Riser)
        and part.width == 16
        and part.length_mm is not None
        and _PLAIN_RISER.search(part.name)
        and (gen is None or part.gen == int(gen[1]))
    ]
    nearest = min((abs((p.length_mm or 0) - length) for p in fits), default=0.0) if length else None
    return [
        part for part in fits if length is None or abs((part.length_mm or 0) - length) == nearest
    ]


_FRAME = re.compile(
    r"\bopen[- ]?(?:air )?(?:frame|mining|rig|case|chassis|bench)\b"
    r"|\bmining (?:rig )?(?:frame|case|rack|chassis)\b"
    r"|矿机架|礦機架|矿架|开放式机架|mining[- ]?rahmen|těžební rám",
    re.IGNORECASE,
)
_CARDS_OF_FRAME = re.compile(
    r"(?<!\d)(\d{1,2})[- ]?(?:x\s?)?(?:GPUs?|cards?|slots?|Karten|karet|卡)", re.IGNORECASE
)


def _frames(text: str, index: PartIndex) -> Iterable[Part]:
    """Open frames for so many cards as a text says, or any where it does not say it."""
    if not _FRAME.search(text):
        return []
    cards = _CARDS_OF_FRAME.search(text)
    frames = [part for part in _of_kind(index, "chassis") if "open" in words_of(part.name)]
    frames = [part for part in frames if {"frame", "frames"} & {*words_of(part.name)}]
    fits = [part for part in frames if cards and cards[1] in words_of(part.name)]
    return fits or frames


_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")
"""An address of the network, beside which a speed is a line's."""


def _cards(text: str, kind: str | None, index: PartIndex) -> Iterable[Part]:
    """Network cards of the speed that a text gives under the label of a network card."""
    speeds = set() if _ADDRESS.search(text) else stated_speeds(text)
    if kind != "nic" or len(speeds) != 1:
        return
    for part in _of_kind(index, "nic"):
        if isinstance(part, NetworkCard) and part.port_gbps in speeds:
            yield part
