"""Named colours of the window in two schemes, and Qt's palette made of them."""

from msgspec import Struct
from PySide6.QtGui import QColor, QPalette

SMALLEST_TEXT_PX = 11


class Tokens(Struct, frozen=True):
    """Colours by meaning. Text colours reach a contrast of 4.5 on `window`, `surface` and
    `selection`."""

    window: str
    surface: str
    raised: str
    line: str
    strong_line: str
    text: str
    soft: str
    accent: str
    on_accent: str
    selection: str
    fits: str
    warns: str
    fails: str
    unknown: str
    weights: str
    gradients: str
    optimizer: str
    activations: str
    kv_cache: str
    other: str

    def color(self, name: str) -> QColor:
        """Return one token as a colour."""
        return QColor(getattr(self, name))


LIGHT = Tokens(
    window="#f2f3f5",
    surface="#ffffff",
    raised="#e9ebee",
    line="#d6d9de",
    strong_line="#80868f",
    text="#1a1d21",
    soft="#555c66",
    accent="#0f5aa8",
    on_accent="#ffffff",
    selection="#dce8f6",
    fits="#14653a",
    warns="#7d5000",
    fails="#ad2018",
    unknown="#5d5588",
    weights="#2f6db0",
    gradients="#c9782a",
    optimizer="#8462ab",
    activations="#3f9268",
    kv_cache="#bd4f68",
    other="#8b929b",
)

DARK = Tokens(
    window="#1a1d21",
    surface="#212529",
    raised="#2b3036",
    line="#373d45",
    strong_line="#77808c",
    text="#e7eaee",
    soft="#a7b0bb",
    accent="#7ab6f5",
    on_accent="#0e1216",
    selection="#2a4058",
    fits="#74cf95",
    warns="#e6b560",
    fails="#ff958b",
    unknown="#bdb4ec",
    weights="#5b98d8",
    gradients="#dc9450",
    optimizer="#a98bd0",
    activations="#62b48b",
    kv_cache="#db7a90",
    other="#8f98a3",
)

TEXT_TOKENS = ("text", "soft", "accent", "fits", "warns", "fails", "unknown")
STATE_OF = {
    "fits": "fits",
    "ok": "fits",
    "warning": "warns",
    "error": "fails",
    "unknown": "unknown",
    "info": "soft",
}
"""Severity or verdict to the token that colours it."""


def luminance(color: str) -> float:
    """Return the relative luminance of #rrggbb, 0..1 (WCAG 2.2, definition of relative
    luminance)."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def palette(tokens: Tokens) -> QPalette:
    """Return Qt's palette for the tokens."""
    made = QPalette()
    roles = QPalette.ColorRole
    for role, name in (
        (roles.Window, "window"),
        (roles.Base, "surface"),
        (roles.AlternateBase, "window"),
        (roles.Button, "raised"),
        (roles.ToolTipBase, "raised"),
        (roles.WindowText, "text"),
        (roles.Text, "text"),
        (roles.ButtonText, "text"),
        (roles.ToolTipText, "text"),
        (roles.PlaceholderText, "soft"),
        (roles.Highlight, "selection"),
        (roles.HighlightedText, "text"),
        (roles.Link, "accent"),
        (roles.LinkVisited, "accent"),
        (roles.BrightText, "fails"),
        (roles.Mid, "line"),
        (roles.Dark, "strong_line"),
        (roles.Midlight, "line"),
        (roles.Light, "surface"),
        (roles.Accent, "accent"),
    ):
        made.setColor(role, tokens.color(name))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, tokens.color("strong_line"))
    return made
