"""Which memory kit does a list's line mean? Lists name kits by their figures, not by their part
number."""

import re
from collections.abc import Iterable
from functools import lru_cache

from rigplanner.catalog.find.naming import shop_words
from rigplanner.catalog.schema.parts import MemoryKit, Part

_MODULES = re.compile(
    r"\b(?P<n>\d{1,2})\s*[x×*]\s*(?P<gib>\d{1,3})\s*G[Bo]?\b|\((?P<n2>\d{1,2})\s*[x×*]\s*(?P<gib2>\d{1,3})\)"
    r"|\b(?P<gib3>\d{1,3})\s*G[Bo]?\s*[x×*]\s*(?P<n3>\d{1,2})(?![\dA-Z])"
    r"|\b(?P<gib4>8|16|24|32|48|64)\s?[x×*]\s?(?P<n4>[248])\b",
    re.IGNORECASE,
)
_STICKS = re.compile(
    r"\b(\d{2,4})\s?G[Bo]\b.*?\b(\d{1,3})\s?G[Bo] (?:sticks|modules|dimms)\b", re.IGNORECASE
)
ONE_MODULE = re.compile(
    r"\b(?:stick|module|modul|1 ?x|single|[lmr]*r-?dimm|so-?dimm|ecc)\b|\bsize:", re.IGNORECASE
)
SHARED_GIB = 16.0
"""Without such words, and without a maker, so much memory and more of a desk is that of two modules
together: "32GB DDR5"."""
_BOXED = re.compile(r"\((\d{1,2})\s?[x×]\s?\d")
"""How many modules a kit has by its name: "32 GB (4 x 8 GB)"."""
_ONE_MODULE = re.compile(r"(?<![\d.])(\d{1,3})\s*G[Bo]\b", re.IGNORECASE)
_COUNT = re.compile(r"\s*(?:(?:RAM|memory)\b\W*)?(\d{1,2})\s*[x×*]\s+(?=[^\W\d])", re.IGNORECASE)
_COUNT_AFTER = re.compile(r"\s[x×*]\s?(\d{1,2})\s*(?:$|,)|×(\d{1,2})\s*$", re.IGNORECASE)
_TYPE = re.compile(r"\bDDR([345])(?:[-\s]?(\d{3,5}))?\b", re.IGNORECASE)
_RATE = re.compile(r"\b\d{4}\b")
_OWN_RATE = re.compile(
    r"\b(\d{4})\s?(?:M[Hh]z|MT/?s)\b|\bDDR[345]\W{0,3}(\d{4})\b|-(\d{4})C\d\d", re.IGNORECASE
)
"""A transfer rate that a text gives as such: "2666MHz", "DDR4 2666", "F4-3600C18"."""
_PART_NUMBER = re.compile(r"\b(?=\w*[A-Z])(?=\w*\d)[A-Z0-9][A-Z0-9-/]{8,}\b")
_CAS = re.compile(r"\bCL\s?(\d{1,2})\b", re.IGNORECASE)
REGISTERED = {"registered", "rdimm", "reg", "reg.ecc"}
BUFFERED = ("rdimm", "lrdimm", "mrdimm")


def kit_in(text: str, parts: Iterable[Part]) -> MemoryKit | None:
    """Return the one kit that has the figures of the text ("Corsair Vengeance 64 GB (2 x 32 GB)
    DDR5-6000 CL30"), or None.

    Maker, count and size of the modules, type and transfer rate must agree, the latency where both
    give it; of several kits the one whose name shares most words with the text."""
    modules, kind, cas = counted_modules(text), _TYPE.search(text), _CAS.search(text)
    if modules is None or kind is None or kind[2] is None:
        return None
    words = set(shop_words(text))
    found = []
    for kit in parts:
        if not isinstance(kit, MemoryKit) or not _words_of_maker(kit.vendor) <= words:
            continue
        figures = (kit.modules, kit.module_gib, kit.type, kit.speed_mts)
        if figures != (*modules, f"DDR{kind[1]}", int(kind[2])):
            continue
        if cas and kit.cas is not None and kit.cas != float(cas[1]):
            continue
        if (kit.module in BUFFERED) is bool(REGISTERED & words) and (kit.module == "sodimm") is (
            "sodimm" in words
        ):
            found.append((len(words & set(shop_words(kit.name))), kit))
    most = max((shared for shared, _ in found), default=0)
    best = [kit for shared, kit in found if shared == most]
    return best[0] if len(best) == 1 else None


@lru_cache(1024)
def _words_of_maker(vendor: str) -> frozenset[str]:
    return frozenset(shop_words(vendor))


def kits_of_modules(text: str, parts: Iterable[Part]) -> tuple[int, list[MemoryKit]]:
    """Return how many of which kits make up the modules that a text counts ("4x16GB DDR4-3200 ECC",
    "8x Kingston 64GB DDR5"): kits of equal count, those of most modules first, of a maker that the
    text names where he has some; (0, []) where the text counts none or no kit has such modules. A
    size alone is that of one module, or else what a kit comes to.

    ECC alone means registered modules where there are any."""
    words = set(shop_words(text))
    every = [part for part in parts if isinstance(part, MemoryKit)]
    named = [kit for kit in every if _words_of_maker(kit.vendor) <= words]
    return _kits_of(text, words, named or every, any_rate=False)


def nearest_kits(text: str, parts: Iterable[Part]) -> tuple[int, list[MemoryKit]]:
    """Return, as `kits_of_modules`, kits that can stand in where no kit of the text's maker and
    rate is known: of another maker, else of the nearest rate (`of_another_rate` says so)."""
    words = set(shop_words(text))
    every = [part for part in parts if isinstance(part, MemoryKit)]
    named = [kit for kit in every if _words_of_maker(kit.vendor) <= words]
    for kits, any_rate in ((every, False), (named, True), (every, True)):
        count, found = _kits_of(text, words, kits, any_rate)
        if found:
            return count, found
    return 0, []


def _kits_of(
    text: str, words: set[str], kits: list[MemoryKit], any_rate: bool
) -> tuple[int, list[MemoryKit]]:
    counted, size, kind = counted_modules(text), _ONE_MODULE.search(text), _TYPE.search(text)
    own = _OWN_RATE.search(text)
    if (kind is None and (own is None or counted is None)) or (counted is None and size is None):
        return 0, []
    kits = [kit for kit in kits if kind is None or kit.type == f"DDR{kind[1]}"]
    kits = [kit for kit in _of_part_number(text, kits) if is_of_form(kit, words)]
    before, after = _COUNT.match(text), _COUNT_AFTER.search(text)
    speed = _rate_of(text, kits)
    told = next((int(next(filter(None, found.groups()))) for found in (before, after) if found), 1)
    wanted, gib = counted or (told, float(size[1]) if size else 0.0)
    if counted is not None and before is not None:
        wanted *= told
    if speed is not None and any_rate and kind is not None:
        of_size = [k for k in kits if k.module_gib == gib and wanted % k.modules == 0]
        rates = {kit.speed_mts for kit in of_size if kit.speed_mts is not None}
        near = min(rates, key=lambda rate: (abs(rate - (speed or 0)), rate), default=None)
        kits = [kit for kit in of_size if kit.speed_mts == near]
    else:
        kits = [kit for kit in kits if speed in (None, kit.speed_mts)]
    fits = [kit for kit in kits if kit.module_gib == gib and wanted % kit.modules == 0]
    if counted is None and told == 1 and gib >= SHARED_GIB and not ONE_MODULE.search(text):
        made = any(_words_of_maker(kit.vendor) <= words for kit in kits)
        made = made and not any(_names_series(kit, words) for kit in kits)
        fits = fits if made else [kit for kit in fits if kit.module not in ("udimm", "cudimm")]
    if not fits and counted is None and told == 1:
        total = [kit for kit in kits if kit.modules * kit.module_gib == gib]
        total.sort(key=lambda kit: (_shared(kit, words), kit.modules != 2, *_sold_first(kit)))
        return (1, total) if total else _several_of(gib, kits) if any_rate else (0, [])
    if "ecc" in words and "non" not in words and any(kit.module in BUFFERED for kit in fits):
        fits = [kit for kit in fits if kit.module in BUFFERED]
    most = max((kit.modules for kit in fits), default=1)
    whole = sorted(
        (kit for kit in fits if kit.modules == most),
        key=lambda kit: (
            kit.module == "lrdimm" and "lrdimm" not in words,
            _shared(kit, words),
            _latency_misses(text, kit),
            *_sold_first(kit),
        ),
    )
    very = [kit for kit in whole if is_very_kit(text, kit)]
    return wanted // most if fits else 0, very[:1] or whole


OF_DESKS, OF_SERVERS = (2, 4, 8), (2, 4, 6, 8, 12, 16)
"""So many modules make up the memory of a board for the desk, and of one for servers."""
USUAL_GIB = (32.0, 64.0, 16.0, 128.0, 8.0)
"""Sizes of modules of which a total is made up, the likeliest first."""


def _several_of(gib: float, kits: list[MemoryKit]) -> tuple[int, list[MemoryKit]]:
    """Return how many of which kits come to a total that no kit has: "256GB DDR4"."""
    for size in USUAL_GIB:
        modules, rest = divmod(gib, size)
        fits = [
            kit
            for kit in kits
            if kit.module_gib == size
            and modules % kit.modules == 0
            and modules in (OF_SERVERS if kit.module in BUFFERED else OF_DESKS)
        ]
        if fits and not rest:
            most = max(kit.modules for kit in fits)
            whole = [kit for kit in fits if kit.modules == most]
            return int(modules) // most, sorted(whole, key=_sold_first)
    return 0, []


def _shared(kit: MemoryKit, words: set[str]) -> int:
    """Return how many words of a kit's name a text holds, the more the less."""
    return -len(words & set(shop_words(kit.name)))


def _sold_first(kit: MemoryKit) -> tuple[bool, int, str]:
    """Return the place of a kit among equals: what is sold or common, the shorter name."""
    return kit.status == "legacy", len(kit.name), kit.id


def _latency_misses(text: str, kit: MemoryKit) -> int:
    """Return how badly a kit meets the CAS latency that a text gives: 1 where the kit's is not
    known, 2 where it is another."""
    told = _CAS.search(text)
    if told is None or kit.cas == float(told[1]):
        return 0
    return 1 if kit.cas is None else 2


def _rate_of(text: str, kits: list[MemoryKit]) -> int | None:
    """Return the transfer rate that a text gives, in MT/s."""
    own, kind = _OWN_RATE.search(text), _TYPE.search(text)
    if own:
        return int(next(filter(None, own.groups())))
    if kind and kind[2]:
        return int(kind[2])
    rates = {int(found) for found in _RATE.findall(text)} & {
        kit.speed_mts for kit in kits if kit.speed_mts is not None
    }
    return max(rates, default=None)


def of_another_rate(text: str, kit: MemoryKit) -> bool:
    """Say whether a text gives a transfer rate that a kit has not."""
    rate = _rate_of(text, [kit])
    return rate is not None and rate != kit.speed_mts


def _of_part_number(text: str, kits: list[MemoryKit]) -> list[MemoryKit]:
    """Return the kits of which the text gives the part number, or all where it gives none that is
    known."""
    numbers = {found.replace("/", "-") for found in _PART_NUMBER.findall(text)}
    named = [
        kit
        for kit in kits
        if any(
            alias.replace("/", "-") in numbers
            for alias in (*kit.aliases, kit.name.rpartition("(")[2][:-1])
        )
    ]
    return named or kits


def contradicts(text: str, kit: MemoryKit) -> bool:
    """Say whether a text gives a transfer rate or sizes that are not this kit's."""
    rate, counted = _OWN_RATE.search(text), counted_modules(text)
    if counted is not None and counted[1] != kit.module_gib:
        return True
    sizes = {float(size) for size in _ONE_MODULE.findall(text)}
    own = {kit.modules * kit.module_gib}
    if counted is not None or kit.modules == 1 or _COUNT.match(text) or _COUNT_AFTER.search(text):
        own.add(kit.module_gib)
    return bool(
        (rate and int(next(filter(None, rate.groups()))) != kit.speed_mts)
        or (sizes and not sizes & own)
    )


def _names_series(kit: MemoryKit, words: set[str]) -> bool:
    """Say whether words name a kit's series beside its maker: those are sold in kits."""
    maker = set(shop_words(kit.vendor))
    series = set(shop_words(kit.name.partition(" DDR")[0])) - maker
    return bool(series) and kit.modules > 1 and maker | series <= words


def is_very_kit(text: str, kit: MemoryKit) -> bool:
    """Say whether a text names this kit, by its number or by maker and series, and not only by
    figures that others share."""
    if any(number in text for number in (*kit.aliases, kit.name.rpartition("(")[2][:-1]) if number):
        return True
    if (boxed := _BOXED.search(text)) and int(boxed[1]) != kit.modules:
        return False
    words = set(shop_words(text))
    maker = set(shop_words(kit.vendor))
    series = set(shop_words(kit.name.partition(" DDR")[0]))
    named = maker <= words and series <= words
    if kit.module in BUFFERED and not series - maker:
        return False
    return named and _latency_misses(text, kit) < 2


def counted_modules(text: str) -> tuple[int, float] | None:
    """Return how many modules of how many GiB a text counts: "4x16GB", "(4x16)", "16GB x 4", "64GB,
    8GB sticks"."""
    found = _MODULES.search(text)
    if found is None:
        sticks = _STICKS.search(text)
        return (int(sticks[1]) // int(sticks[2]), float(sticks[2])) if sticks else None
    given = found.groupdict()
    count, size = (
        next(given[name + place] for place in ("", "2", "3", "4") if given[name + place])
        for name in ("n", "gib")
    )
    if given["n2"] and int(count) in SIZES_GIB and int(size) in (2, 4, 8) and count != size:
        count, size = (size, count) if int(count) > int(size) else (count, size)
    return int(count), float(size)


SIZES_GIB = (16, 24, 32, 48, 64, 96)
"""Sizes of modules that no number of modules is in brackets without a unit: "(16x2)" is two."""


def sets_of(part: Part, modules: tuple[int, float]) -> int:
    """Return how many of a kit make up so many modules of a size, 0 where none do; 1 for what is no
    memory."""
    if not isinstance(part, MemoryKit):
        return 1
    count, gib = modules
    return count // part.modules if gib == part.module_gib and not count % part.modules else 0


def is_of_form(kit: MemoryKit, words: set[str]) -> bool:
    """Say whether a kit's modules are of the form that the words ask for; plain words ask for plain
    modules."""
    if asked := {"rdimm", "lrdimm", "mrdimm", "sodimm", "cudimm"} & words:
        return kit.module in asked
    if REGISTERED & words:
        return kit.module in BUFFERED
    if "ecc" in words and "non" not in words:
        return kit.module == "ecc-udimm" or (
            kit.module in BUFFERED and not {"udimm", "unbuffered"} & words
        )
    return kit.module == "udimm"
