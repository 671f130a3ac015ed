"""The scheme in force, and the three text sizes."""

from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from rigplanner.desktop.look.style import style_sheet
from rigplanner.desktop.look.tokens import DARK, LIGHT, SMALLEST_TEXT_PX, Tokens, palette

Scheme = Literal["system", "light", "dark"]


class Look(QObject):
    """The tokens in force. Widgets that paint themselves read `tokens`; `look_changed` tells them
    to repaint."""

    look_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tokens = LIGHT
        self.scheme: Scheme = "system"
        self._usual: QFont | None = None

    def use_text(self, percent: int) -> None:
        """Set all text in `percent` of the system's size; widgets that were made before keep their
        measures."""
        self._usual = self._usual or QApplication.font()
        font = QFont(self._usual)
        if percent != 100:
            font.setPixelSize(max(SMALLEST_TEXT_PX, round(text_px(font) * percent / 100)))
        QApplication.setFont(font)
        _fonts.clear()

    def use(self, scheme: Scheme) -> None:
        """Put a scheme in force; "system" follows the desktop and keeps following it."""
        self.scheme = scheme
        wish = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(
            scheme, Qt.ColorScheme.Unknown
        )
        hints = QApplication.styleHints()
        hints.setColorScheme(wish)
        dark = scheme == "dark" or (
            scheme == "system" and hints.colorScheme() == Qt.ColorScheme.Dark
        )
        self.apply(DARK if dark else LIGHT)

    def apply(self, tokens: Tokens) -> None:
        """Colour the application with `tokens`."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.tokens = tokens
        _fonts.clear()
        app.setPalette(palette(tokens))
        app.setStyleSheet(style_sheet(tokens, text_px(app.font())))
        self.look_changed.emit()

    def follow_system(self) -> None:
        """Take over a scheme that the desktop changed while "system" is chosen."""
        if self.scheme == "system":
            dark = QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
            self.apply(DARK if dark else LIGHT)


look = Look()


def text_px(font: QFont) -> int:
    """Return the size of a font in pixels at scale 1."""
    pixels = font.pixelSize() if font.pixelSize() > 0 else round(font.pointSizeF() * 96 / 72)
    return max(12, pixels)


def row_px() -> int:
    """Return the height of a table row: 1.9 times the text."""
    return round(1.9 * text_px(QApplication.font()))


_fonts: dict[tuple[float, bool], QFont] = {}


def sized_font(factor: float, semibold: bool = False) -> QFont:
    """Return the system font scaled by `factor`, never under 11 px, with figures of one width."""
    kept = _fonts.get((factor, semibold))
    if kept is not None:
        return kept
    font = QFont(QApplication.font())
    font.setPixelSize(max(SMALLEST_TEXT_PX, round(text_px(font) * factor)))
    if semibold:
        font.setWeight(QFont.Weight.DemiBold)
    font.setFeature(QFont.Tag("tnum"), 1)
    _fonts[factor, semibold] = font
    return font


def small_font() -> QFont:
    """Return the font of sources and units."""
    return sized_font(0.9)
