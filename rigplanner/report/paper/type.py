"""Text on paper: the shipped fonts, and any text made safe and printable with them."""

import unicodedata
from functools import cache
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from rigplanner.data import font_bytes

REGULAR, STRONG, CHINESE, STRONG_CHINESE = (
    "RigSans",
    "RigSans-SemiBold",
    "RigSans-TC",
    "RigSans-TC-SemiBold",
)
FILES = {
    REGULAR: "NotoSans-Regular.ttf", STRONG: "NotoSans-SemiBold.ttf",
    CHINESE: "NotoSansTC-Regular.ttf", STRONG_CHINESE: "NotoSansTC-SemiBold.ttf",
}  # fmt: skip
"""The strong Chinese face holds the 5,401 common characters of Big5; a rarer one is set in the
regular face."""
LONGEST_CELL = 400
REPLACEMENT = "\ufffd"
ENDS = "\n\r\t\u2028\u2029"
"""Ends of lines and paragraphs, which become spaces."""


@cache
def font(name: str) -> Any:
    """Return a shipped font, registered with reportlab under its name; each file is read once."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    made = TTFont(name, BytesIO(font_bytes(FILES[name])))
    pdfmetrics.registerFont(made)
    return made


def printable(text: str, longest: int = LONGEST_CELL) -> str:
    """Return text without control and direction characters, at most `longest` characters."""
    kept = "".join(
        " " if c in ENDS else c
        for c in text
        if c in ENDS or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def markup(text: str, strong: bool = False, longest: int = LONGEST_CELL) -> str:
    """Return text as reportlab paragraph markup: escaped, each run in a font that has its
    glyphs."""
    runs: list[tuple[str, str]] = []
    for char in printable(text, longest):
        face, shown = _face_for(char, STRONG if strong else REGULAR)
        if runs and runs[-1][0] == face:
            runs[-1] = (face, runs[-1][1] + shown)
        else:
            runs.append((face, shown))
    return "".join(f'<font name="{face}">{escape(run)}</font>' for face, run in runs)


def _face_for(char: str, latin: str) -> tuple[str, str]:
    code = ord(char)
    if code in font(latin).face.charToGlyph:
        return latin, char
    for face in (STRONG_CHINESE, CHINESE) if latin == STRONG else (CHINESE,):
        if code in font(face).face.charToGlyph:
            return face, char
    return latin, REPLACEMENT


def face_of(text: str, latin: str = REGULAR) -> str:
    """Return the face for a text that is drawn in one: the Chinese ones have Latin letters too."""
    if not is_chinese(text):
        return latin
    held = latin == STRONG and all(
        ord(char) in font(STRONG_CHINESE).face.charToGlyph for char in text
    )
    return STRONG_CHINESE if held else CHINESE


def is_chinese(text: str) -> bool:
    """Return whether text holds CJK characters, which may break anywhere."""
    return any("\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" for char in text)
