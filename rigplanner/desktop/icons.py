"""Icons tinted from the palette, sharp at every scale."""

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from rigplanner.data import data_path
from rigplanner.desktop.theme import STATE_OF, look
from rigplanner.desktop.words import VERDICT_ICONS

SIZES_PX = (16, 20, 24)


@cache
def _drawing(name: str) -> str:
    return (data_path("resources") / "icons" / f"{name}.svg").read_text("utf-8")


@cache
def _pixmap(name: str, color: str, size_px: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_drawing(name).replace("#000", color).encode()))
    pixmap = QPixmap(round(size_px * ratio), round(size_px * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def pixmap(name: str, token: str = "text", size_px: int = 16, ratio: float = 1.0) -> QPixmap:
    """Return an icon in the colour of a token, for a screen of that pixel ratio."""
    return _pixmap(name, getattr(look.tokens, token), size_px, ratio)


@cache
def _icon(name: str, color: str, off_color: str) -> QIcon:
    made = QIcon()
    for size_px in SIZES_PX:
        for ratio in (1.0, 2.0):
            made.addPixmap(_pixmap(name, color, size_px, ratio))
            made.addPixmap(_pixmap(name, color, size_px, ratio), QIcon.Mode.Selected)
            made.addPixmap(_pixmap(name, off_color, size_px, ratio), QIcon.Mode.Disabled)
    return made


def icon(name: str, token: str = "text") -> QIcon:
    """Return an icon in the colour of a token in all sizes."""
    return _icon(name, getattr(look.tokens, token), look.tokens.strong_line)


def verdict_icon(verdict: str) -> QIcon:
    """Return the icon of a verdict or severity in its colour."""
    return icon(VERDICT_ICONS[verdict], STATE_OF[verdict])
