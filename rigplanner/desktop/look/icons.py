"""Icons tinted from the palette, sharp at every scale."""

from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from rigplanner.data import data_path
from rigplanner.desktop.look.theme import look, text_px
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.words import VERDICT_ICONS

SIZES_PX = (16, 20, 24)
"""Sizes that the set is drawn for; the middle and largest one go with text from 1.25 times and 1.5
times the usual 12 px."""

KEPT = 160
"""Icons that are kept drawn: a window shows some 60, in one theme and size of text."""


def size_px() -> int:
    """Return the size of an icon beside the text in force."""
    text = text_px(QGuiApplication.font())
    return SIZES_PX[(text >= 15) + (text >= 18)]


@cache
def _drawing(name: str) -> str:
    return (data_path("resources") / "icons" / f"{name}.svg").read_text("utf-8")


@lru_cache(KEPT)
def _pixmap(name: str, color: str, px: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_drawing(name).replace("#000", color).encode()))
    pixmap = QPixmap(round(px * ratio), round(px * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def pixmap(name: str, token: str = "text", ratio: float = 1.0, px: int | None = None) -> QPixmap:
    """Return an icon in the colour of a token, for a screen of that pixel ratio; `px` is another
    size than the text's."""
    return _pixmap(name, getattr(look.tokens, token), px or size_px(), ratio)


@lru_cache(KEPT)
def _icon(name: str, color: str, px: int, ratio: float) -> QIcon:
    made = QIcon()
    for scale in {1.0, ratio}:
        drawn = _pixmap(name, color, px, scale)
        made.addPixmap(drawn)
        made.addPixmap(drawn, QIcon.Mode.Selected)
    return made


def icon(name: str, token: str = "text") -> QIcon:
    """Return an icon in the colour of a token; Qt greys it where it is disabled."""
    application = QGuiApplication.instance()
    ratio = application.devicePixelRatio() if isinstance(application, QGuiApplication) else 1.0
    return _icon(name, getattr(look.tokens, token), size_px(), ratio)


def verdict_icon(verdict: str) -> QIcon:
    """Return the icon of a verdict or severity in its colour."""
    return icon(VERDICT_ICONS[verdict], STATE_OF[verdict])
