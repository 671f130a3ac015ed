"""What a terminal and a log are shown: names out of foreign files must not steer them."""

import io
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

from rigplanner.plain_text import SHOWN
from rigplanner.report.format import columns_of


def width() -> int | None:
    """Return the columns of the terminal that is printed to; None for files and pipes."""
    return max(shutil.get_terminal_size().columns, 40) if sys.stdout.isatty() else None


def tell(text: str = "") -> None:
    """Print lines of prose: on a terminal wrapped at its width, under the first word of the line;
    into files and pipes as they are."""
    room = width()
    if room is None:
        print(text)
        return
    for line in text.split("\n"):
        pad = " " * (len(line) - len(line.lstrip()) + 2)
        print("\n".join(textwrap.wrap(line, room, subsequent_indent=pad)) if line else line)


def tell_columns(text: str) -> None:
    """Print prose that may hold tables: lines with columns, which two spaces part, stay whole."""
    for line in text.split("\n"):
        if "  " in line.strip():
            print(line)
        else:
            tell(line)


def tell_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print a line for each key with what it names. Where one would be too wide for the terminal,
    all that is named stands below its key, so that a key is never cut."""
    room = width()
    below = room is not None and any(columns_of(f"{a} {b}") > room for a, b in pairs)
    for key, named in pairs:
        if below:
            tell(key.rstrip())
            tell(f"  {named}")
        else:
            print(f"{key} {named}")


LONGEST_MESSAGE = 1200


def one_line(text: str) -> str:
    """Return a message as one line without control characters and of bearable length; the middle of
    a longer one is left out."""
    return shortened(
        text.translate(SHOWN).replace("\r", "\\r").replace("\n", "\\n").replace("\t", " ")
    )


def shortened(line: str) -> str:
    """Return a line of bearable length."""
    half = LONGEST_MESSAGE // 2
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:half]} [...] {line[-half:]}"


class Terminal(io.TextIOBase):
    """A stream that shows control characters instead of handing them on; of `messages` long lines
    are shortened."""

    def __init__(self, stream: TextIO, messages: bool = False) -> None:
        self._stream, self._messages = stream, messages

    def write(self, text: str) -> int:
        """Write a text; returns its length."""
        shown = text.translate(SHOWN)
        if self._messages:
            back = "\r" if shown.startswith("\r") else ""  # a count that is written over
            lines = shown.removeprefix("\r").replace("\r", "\\r").split("\n")
            shown = back + "\n".join(map(shortened, lines))
        self._stream.write(shown)
        return len(text)

    def flush(self) -> None:
        """Show what was written."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def below(self) -> TextIO:
        """The stream that is written to, for who must close it."""
        return self._stream

    def fileno(self) -> int:
        """The stream's descriptor."""
        return self._stream.fileno()
