"""Paths as text in files: names of files need not be UTF-8, texts in JSON must be."""

import os
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

SCHEME = "file://"
"""No path begins so: two slashes within one are made one."""


def text_of(path: Path) -> str:
    """Return a path as a text that JSON can carry: itself, or with its bytes quoted where they are
    no text."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        return SCHEME + quote_from_bytes(os.fsencode(path))
    return text


def path_of(text: str) -> Path:
    """Return the path that `text_of` wrote down."""
    return Path(
        os.fsdecode(unquote_to_bytes(text.removeprefix(SCHEME)))
        if text.startswith(SCHEME)
        else text
    )
