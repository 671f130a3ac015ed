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


def words_in_text(
    part: Part, words: Collection[str], held: Collection[str], of_maker: Collection[str]
) -> int:
    """Return how many words of a part's name stand in a text that names its maker; 0 where one does
    not, or where the text has a word of another model (`of_maker` are the words of his names), or a
    size or a number of a model that the part has not."""
    kind = kind_of(part)
    named = set(without_editions(words_of(part.name), kind)) - LEFT_OUT
    if len(named) < LEAST_WORDS or not named | set(words_of(part.vendor)) <= set(words):
        return 0
    beside = set(without_editions(list(words), kind)) - named - set(held)
    if beside & set(of_maker) or any(_is_of_another(word) for word in beside):
        return 0
    return len(named)


def _is_of_another(word: str) -> bool:
    if word in OTHER_MODEL or _SIZE.fullmatch(word):
        return True
    return any(letter.isdigit() for letter in word) and not _FIGURE.fullmatch(word)
