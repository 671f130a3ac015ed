"""What a terminal is shown: names out of foreign files must not steer it."""

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


class Terminal(io.TextIOBase):
    """A terminal that shows control characters instead of obeying them."""

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
        """A terminal is one."""
        return True

    def fileno(self) -> int:
        """The terminal's descriptor."""
        return self._stream.fileno()
