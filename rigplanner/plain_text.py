"""Characters that steer what shows a text, instead of being shown: names out of foreign files must
bring none along."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
KEPT = "\n\r\t"
JOINERS = (0x200C, 0x200D)
"""Zero-width joiners: scripts and emoji are written with them."""
STEERING = frozenset(
    code
    for code in (
        *range(0x20),
        *range(0x7F, 0xA0),
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
    )
    if chr(code) not in KEPT
)
"""Control characters, overrides of the writing direction and characters without a shape (Unicode TR
36)."""
SHOWN = {code: f"\\u{code:04x}" for code in STEERING}
"""As they are written in source text, and within the strings of JSON."""
_AWAY: dict[int, str | None] = {code: None for code in STEERING if code not in JOINERS}
_IN_JSON = {code: shown for code, shown in SHOWN.items() if code not in JOINERS}


def without_steering(text: str) -> str:
    """Return a text without characters that steer."""
    return text.translate(_AWAY)


def cleaned(write: Callable[[T], str]) -> Callable[[T], str]:
    """Return a writer of text whose text carries none."""
    return lambda content: without_steering(write(content))


def json_without_steering(content: bytes) -> bytes:
    """Return JSON that escapes them: within its strings nothing is lost."""
    return content.decode().translate(_IN_JSON).encode()


def cleaned_json(write: Callable[[T], str]) -> Callable[[T], str]:
    """Return a writer of JSON that escapes them: within its strings nothing is lost."""
    return lambda content: write(content).translate(_IN_JSON)
