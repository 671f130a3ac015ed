"""What a terminal and a log are shown: names out of foreign files must not steer them."""

import io
import shutil
import sys
import textwrap
from typing import TextIO

SEEN = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\r\t"
}
"""Control characters and overrides of the writing direction (Unicode TR 36), as they are written in
source text."""


def tell(text: str = "") -> None:
    """Print lines of prose: on a terminal wrapped at its width, under the first word of the line;
    into files and pipes as they are."""
    if not sys.stdout.isatty():
        print(text)
        return
    width = max(shutil.get_terminal_size().columns, 40)
    for line in text.split("\n"):
        pad = " " * (len(line) - len(line.lstrip()) + 2)
        print("\n".join(textwrap.wrap(line, width, subsequent_indent=pad)) if line else line)


LONGEST_MESSAGE = 1200


def one_line(text: str) -> str:
    """Return a message as one line without control characters and of bearable length; the middle of
    a longer one is left out."""
    line = text.translate(SEEN).replace("\r", "\\r").replace("\n", "\\n").replace("\t", " ")
    if len(line) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        line = f"{line[:half]} [...] {line[-half:]}"
    return line


class Terminal(io.TextIOBase):
    """A stream that shows control characters instead of handing them on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; returns its length."""
        self._stream.write(text.translate(SEEN))
        return len(text)

    def flush(self) -> None:
        """Show what was written."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's descriptor."""
        return self._stream.fileno()
