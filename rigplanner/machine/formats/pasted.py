"""Text as people paste it: terminal colours, HTML, tables drawn with bars, comment marks and log
prefixes taken away, so that what the program printed is left."""

import html
import re

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\(B|(?<!\w)\[(?:0|1|4|22|24)(?:;\d+)*m")
"""Terminal control sequences, also those that lost their escape character on the way."""
MARKUP = re.compile(
    r"<(?:br|/?(?:td|th|tr|p|pre|code|span|div|b|table|tbody))\b[^<>]{0,200}>", re.IGNORECASE
)
NEW_LINE = re.compile(r"<(?:br\b[^<>]{0,20}|/(?:tr|p|div|pre))>", re.IGNORECASE)
BARS = str.maketrans(dict.fromkeys("|│┃║", " "))
RULED = re.compile(r"[\s+=:_*│┃║|─━┼├┤┬┴┌┐└┘-]+")
MARKS = re.compile(r"^\s*(?:(?:>|\*|//|/\*)\s*)+")
HASH = re.compile(r"^\s*#+\s?")
EMPHASIS = re.compile(r"(\*\*?|`)([\w,-]+)\1")
"""Words that Markdown prints bold, slanted or as code."""
OUTPUT_OF = re.compile(r"^\[\d+,\d+\]<std(?:out|err)>:")
"""What mpirun puts before each line."""


def plain_lines(text: str, commented: bool = False) -> list[tuple[int, str]]:
    """Return the numbered lines of a text without markup and marks. Lines that begin with "# " are
    notes and left out, unless `commented` asks for what stands in them."""
    text = COLOURS.sub("", text.replace("\ufeff", ""))
    if MARKUP.search(text):
        text = html.unescape(MARKUP.sub(" ", NEW_LINE.sub("\n", text)))
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not commented and line.startswith("# "):
            continue
        bare = HASH.sub("", line) if commented else line
        if not RULED.fullmatch(bare):
            unmarked = MARKS.sub("", OUTPUT_OF.sub("", EMPHASIS.sub(r"\2", bare)))
            lines.append((number, unmarked.translate(BARS)))
    return lines
