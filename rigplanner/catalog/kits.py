"""Which memory kit does a list's line mean? Lists name kits by their figures, not by their part number."""

import re
from collections.abc import Iterable

from rigplanner.catalog.naming import shop_words
from rigplanner.catalog.parts import MemoryKit, Part

_MODULES = re.compile(r"(\d{1,2})\s*[x×]\s*(\d{1,3})\s*GB", re.IGNORECASE)
_TYPE = re.compile(r"\b(DDR[345])[-\s]?(\d{3,5})\b", re.IGNORECASE)
_CAS = re.compile(r"\bCL\s?(\d{1,2})\b", re.IGNORECASE)
REGISTERED = {"registered", "rdimm"}


def kit_in(text: str, parts: Iterable[Part]) -> MemoryKit | None:
    """Return the one kit that has the figures of the text ("Corsair Vengeance 64 GB (2 x 32 GB) DDR5-6000 CL30"), or None.

    Maker, count and size of the modules, type and transfer rate must agree, the latency where both give it; of several kits the one
    whose name shares most words with the text.
    """
    modules, kind, cas = _MODULES.search(text), _TYPE.search(text), _CAS.search(text)
    if modules is None or kind is None:
        return None
    words = set(shop_words(text))
    found = []
    for kit in parts:
        if not isinstance(kit, MemoryKit) or not set(shop_words(kit.vendor)) <= words:
            continue
        figures = (kit.modules, kit.module_gib, kit.type, kit.speed_mts)
        if figures != (int(modules[1]), float(modules[2]), kind[1].upper(), int(kind[2])):
            continue
        if cas and kit.cas is not None and kit.cas != float(cas[1]):
            continue
        if (kit.module in ("rdimm", "lrdimm", "mrdimm")) is bool(REGISTERED & words) and (kit.module == "sodimm") is (
            "sodimm" in words
        ):
            found.append((len(words & set(shop_words(kit.name))), kit))
    most = max((shared for shared, _ in found), default=0)
    best = [kit for shared, kit in found if shared == most]
    return best[0] if len(best) == 1 else None
