"""A rig from words: "2x RTX 3090", "Ryzen 9 5950X"."""

import re
from collections.abc import Sequence

from msgspec import Struct

from rigplanner.catalog.find import PartIndex, words_of
from rigplanner.catalog.gpu_names import GpuNames
from rigplanner.catalog.kits import kit_in
from rigplanner.catalog.parts import GPU, Part, kind_of
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import LARGEST_QUANTITY, add_part

_COUNT = re.compile(r"^\s*(\d{1,6})\s*[x×*]\s+(?=\S)|^\s*(\d{1,6})[x×](?=[^\d\s])", re.IGNORECASE)
_TRAILING = re.compile(r"\s+(?:[xX×*]\s+|[x×*])(\d{1,6})\s*$")
"""A capital X that stands against its number is a model's: "Kraken X73", "Exos X18"."""


class Wish(Struct, frozen=True, kw_only=True):
    """One line of words and what it matched: `parts` best first, empty when nothing did."""

    text: str
    quantity: int
    parts: tuple[Part, ...]


def read_wish(text: str, index: PartIndex, kind: str | None = None) -> Wish:
    """Split the quantity from the words and look the words up."""
    quantity, words = 1, text.strip()
    if match := _COUNT.match(words):
        quantity, words = int(match.group(1) or match.group(2)), words[match.end() :]
    elif match := _TRAILING.search(words):
        quantity, words = int(match.group(1)), words[: match.start()]
    parts = index.find(words, kind, limit=8) if words_of(words) else []
    return Wish(text=text, quantity=quantity, parts=tuple(parts or _named(words, index, kind) or _gpu_named(words, index, kind)))


def _named(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the part that a shop's line names among words that are not the part's ("3.4 GHz 16-Core Processor")."""
    named = index.named_in(words, kind).part
    if named is None and kind in (None, "memory"):
        named = kit_in(words, index.find("", "memory"))
    return [] if named is None else [named]


def _gpu_named(words: str, index: PartIndex, kind: str | None) -> list[Part]:
    """Return the GPU that the words mean as drivers and papers write it ("A6000 Ada")."""
    gpus = [part for part in index.find("", "gpu") if isinstance(part, GPU)] if kind in (None, "gpu") else []
    meant = GpuNames(gpus).meaning(words).gpu if gpus and words_of(words) else None
    return [] if meant is None else [meant]


def rig_from_wishes(name: str, wishes: Sequence[Wish], start: Rig | None = None) -> Rig:
    """Return a rig (`start` with more, if given) with the best match of each wish; wishes without a match must have been dealt with
    before.

    Raises ValueError for a quantity outside 1 to the largest.
    """
    rig = Rig(name=name) if start is None else start
    for wish in wishes:
        if not 1 <= wish.quantity <= LARGEST_QUANTITY:
            raise ValueError(f"{wish.text!r}: a quantity lies between 1 and {LARGEST_QUANTITY}.")
        part = wish.parts[0]
        rig = add_part(rig, part=part.id, stem=kind_of(part), quantity=wish.quantity)
    return rig
