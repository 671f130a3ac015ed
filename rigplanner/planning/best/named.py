"""Parts in words, so many of each (what is owned, what must be in a rig), and circuits."""

import re

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog

LONGEST = 200
_COUNTED = re.compile(r"(?:(\d{1,2})\s*[x×*]\s*)?(\S.*)")
_CIRCUIT = re.compile(r"(\d{2,3}(?:\.\d+)?)\s*V[\s,]*(\d{1,3}(?:\.\d+)?)\s*A", re.IGNORECASE)


class UnknownPart(ValueError):
    """Words that name no part; they are its only argument."""


def part_named(text: str, catalog: Catalog, index: PartIndex) -> tuple[str, int]:
    """Return the part and how many of it words such as "2x RTX 3090" mean: by its id, else the best
    match. Raises UnknownPart."""
    told = _COUNTED.fullmatch(text.strip())
    if told is None or len(text) > LONGEST:
        raise UnknownPart(text)
    words, many = told[2], int(told[1] or 1)
    found = [words] if catalog.get(words) is not None else [p.id for p in index.find(words)]
    if not found or not many:
        raise UnknownPart(words)
    return found[0], many


def parts_named(text: str, catalog: Catalog, index: PartIndex) -> list[tuple[str, int]]:
    """Return the parts that a list with commas or semicolons between them means. Raises
    UnknownPart."""
    words = [word.strip() for word in re.split(r"[,;，；、\n]", text)]
    return [part_named(word, catalog, index) for word in words if word]


def circuit_named(text: str) -> tuple[float, float] | None:
    """Return volts and amperes of a circuit such as "230V16A", None for other words."""
    told = _CIRCUIT.fullmatch(text.strip())
    return (float(told[1]), float(told[2])) if told else None
