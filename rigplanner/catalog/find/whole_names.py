"""Does every word of a part's name stand in a text, in whatever order and among whatever other
words? "MSI RX580 Armor MK2 8GB OC" names the MSI ARMOR OC Radeon RX 580 8GB."""

import re
from collections.abc import Collection

from rigplanner.catalog.find.naming import OTHER_MODEL
from rigplanner.catalog.find.words import without_editions, words_of
from rigplanner.catalog.schema.parts import Part, kind_of

LEAST_WORDS = 3
"""Words of a name, its maker's too, that say enough."""
LEFT_OUT = {"geforce", "radeon", "nvidia", "amd", "intel", "ssd"}
"""Words of names that lists leave out where the number stands."""
_FIGURE = re.compile(r"[\d.]+(?:mm|w|mhz|ghz|mt|cfm|x|rpm|v|bit)?")
"""A number, or a figure with its unit: it tells no other model of the same name."""
_SIZE = re.compile(r"[\d.]+[gt]b?")


def name_in_text(part: Part, words: Collection[str]) -> set[str]:
    """Return the words of a part's name that tell it, if all of them and its maker stand in a text;
    else none."""
    named = set(without_editions(words_of(part.name), kind_of(part))) - LEFT_OUT
    whole = len(named) >= LEAST_WORDS and named | set(words_of(part.vendor)) <= set(words)
    return named if whole else set()


def tells_another(words: Collection[str], of_maker: Collection[str]) -> bool:
    """Say whether words beside a part's own are those of another model: a word in his maker's other
    names (`of_maker`), a size, a number of a model."""
    return any(
        _is_of_another(word) or (word in of_maker and not _FIGURE.fullmatch(word)) for word in words
    )


def _is_of_another(word: str) -> bool:
    if word in OTHER_MODEL or _SIZE.fullmatch(word):
        return True
    return any(letter.isdigit() for letter in word) and not _FIGURE.fullmatch(word)
