"""Text cut into the words that a searcher would type."""

import re

_SPLIT = re.compile(r"[^0-9a-z.+]+")


def words_of(text: str) -> list[str]:
    """Split text into lower-case words as a searcher would type them."""
    return [word for piece in _SPLIT.split(text.casefold()) if (word := piece.strip("."))]
