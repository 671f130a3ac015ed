"""Which names are written most like a text that names nothing: for the sentence that refuses it."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from rigplanner.catalog.schema.parts import Part

LONGEST_TEXT = 80
LEAST = 0.6
"""Least share of a text's letters and digits that a near name has."""
SPREAD = 0.2
"""How much less than the nearest another name may share and still be told."""
SWAPPED = 0.9
"""Likeness of two pieces of the same letters or digits, some of which changed places: 3900 and
3090."""
LEAST_OF_PIECE = 0.7

_COUNT = re.compile(r"^\s*[0-9]{1,2} ?[x×*] ?(?=[a-z])", re.IGNORECASE)
"""How many are meant, before the name: "2x V1OO"."""
_PIECE = re.compile(r"[a-z]+|[0-9]+")
_TYPED_AS_LETTERS = (
    (re.compile(r"(?<=[0-9])o|o(?=[0-9])"), "0"),
    (re.compile(r"(?<=[0-9])[il](?=[0-9])"), "1"),
)
"""Letters that stand for digits among digits: "V1OO", "4O90", "3O9O"."""


def likest(text: str, names: Iterable[tuple[str, str]], most: int) -> list[str]:
    """Return of pairs (name, key) up to `most` keys whose names are written most like `text`, the
    likest first; none where no name shares enough. Of a key with several names the likest counts.
    """
    asked = list(dict.fromkeys(_pieces(_COUNT.sub("", text[:LONGEST_TEXT], count=1))))
    whole = sum(map(_weight, asked))
    if not whole:
        return []
    known: dict[str, list[float]] = {}
    told: list[tuple[float, int, float, str]] = []
    for name, key in names:
        pieces = _pieces(name)
        for piece in pieces:
            if piece not in known:
                known[piece] = [_weight(wanted) * _likeness(wanted, piece) for wanted in asked]
        rows = [known[piece] for piece in pieces]
        shared = sum(map(max, zip(*rows, strict=True))) / whole if rows else 0.0
        if shared >= LEAST:
            letters = SequenceMatcher(None, text.casefold(), name.casefold()).ratio()
            told.append((-shared, len(pieces), -letters, key))
    told.sort()
    found: dict[str, None] = {}
    for lacking, _, _, key in told:
        if -lacking < -told[0][0] - SPREAD or len(found) == most:
            break
        found[key] = None
    return list(found)


def part_names(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """Yield each name and alias of the parts with the part's id."""
    for part in parts:
        yield part.name, part.id
        for alias in part.aliases:
            yield alias, part.id


def _pieces(text: str) -> list[str]:
    text = text.casefold()
    for letters, digit in _TYPED_AS_LETTERS:
        changed = letters.sub(digit, text)
        while changed != text:
            text, changed = changed, letters.sub(digit, changed)
    return _PIECE.findall(text)


def _weight(piece: str) -> int:
    """Numbers tell models apart, letters families and sizes: a number of four digits counts as a
    word of sixteen letters."""
    return len(piece) ** 2 if piece[0].isdigit() else len(piece)


def _likeness(one: str, other: str) -> float:
    """From 0 to 1; letters are never like digits."""
    if one == other:
        return 1.0
    if one[0].isdigit() != other[0].isdigit():
        return 0.0
    matcher = SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < LEAST_OF_PIECE or matcher.quick_ratio() < LEAST_OF_PIECE:
        return 0.0
    ratio = matcher.ratio()
    if ratio < LEAST_OF_PIECE:
        return 0.0
    if sorted(one) == sorted(other):
        return SWAPPED
    return ratio * ratio if one[0].isdigit() else ratio
