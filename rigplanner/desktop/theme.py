"""Named colours of the window in two schemes, its three text sizes, and the style made of them."""

from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication

from rigplanner.data import data_path

Scheme = Literal["system", "light", "dark"]

SMALLEST_TEXT_PX = 11


class Tokens(Struct, frozen=True):
    """Colours by meaning. Text colours reach a contrast of 4.5 on `window`, `surface` and `selection`."""

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
    window="#f2f3f5", surface="#ffffff", raised="#e9ebee", line="#d6d9de", strong_line="#80868f", text="#1a1d21", soft="#555c66",
    accent="#0f5aa8", on_accent="#ffffff", selection="#dce8f6",
    fits="#14653a", warns="#7d5000", fails="#ad2018", unknown="#5d5588",
    weights="#2f6db0", gradients="#c9782a", optimizer="#8462ab", activations="#3f9268", kv_cache="#bd4f68", other="#8b929b",
)  # fmt: skip

DARK = Tokens(
    window="#1a1d21", surface="#212529", raised="#2b3036", line="#373d45", strong_line="#77808c", text="#e7eaee", soft="#a7b0bb",
    accent="#7ab6f5", on_accent="#0e1216", selection="#2a4058",
    fits="#74cf95", warns="#e6b560", fails="#ff958b", unknown="#bdb4ec",
    weights="#5b98d8", gradients="#dc9450", optimizer="#a98bd0", activations="#62b48b", kv_cache="#db7a90", other="#8f98a3",
)  # fmt: skip

TEXT_TOKENS = ("text", "soft", "accent", "fits", "warns", "fails", "unknown")
BACK_TOKENS = ("window", "surface", "selection")
STATE_OF = {"fits": "fits", "ok": "fits", "warning": "warns", "error": "fails", "unknown": "unknown", "info": "soft"}
"""Severity or verdict to the token that colours it."""


def luminance(color: str) -> float:
    """Return the relative luminance of #rrggbb, 0..1 (WCAG 2.2, definition of relative luminance)."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, 1..21 (WCAG 2.2, 1.4.3)."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


class Look(QObject):
    """The tokens in force. Widgets that paint themselves read `tokens`; `look_changed` tells them to repaint."""

    look_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tokens = LIGHT
        self.scheme: Scheme = "system"

    def use(self, scheme: Scheme) -> None:
        """Put a scheme in force; "system" follows the desktop and keeps following it."""
        self.scheme = scheme
        wish = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(scheme, Qt.ColorScheme.Unknown)
        hints = QApplication.styleHints()
        hints.setColorScheme(wish)
        dark = scheme == "dark" or (scheme == "system" and hints.colorScheme() == Qt.ColorScheme.Dark)
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


_fonts: dict[tuple[float, bool, bool], QFont] = {}


def sized_font(factor: float, semibold: bool = False, tabular: bool = True) -> QFont:
    """Return the system font scaled by `factor`, never under 11 px, with figures of one width."""
    kept = _fonts.get((factor, semibold, tabular))
    if kept is not None:
        return kept
    font = QFont(QApplication.font())
    font.setPixelSize(max(SMALLEST_TEXT_PX, round(text_px(font) * factor)))
    if semibold:
        font.setWeight(QFont.Weight.DemiBold)
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    _fonts[factor, semibold, tabular] = font
    return font


def small_font() -> QFont:
    """Return the font of sources and units."""
    return sized_font(0.9)


def large_font() -> QFont:
    """Return the font of the document's name and the verdict."""
    return sized_font(1.35, semibold=True)


def palette(tokens: Tokens) -> QPalette:
    """Return Qt's palette for the tokens."""
    made = QPalette()
    roles = QPalette.ColorRole
    for role, name in (
        (roles.Window, "window"), (roles.Base, "surface"), (roles.AlternateBase, "window"), (roles.Button, "raised"),
        (roles.ToolTipBase, "raised"), (roles.WindowText, "text"), (roles.Text, "text"), (roles.ButtonText, "text"),
        (roles.ToolTipText, "text"), (roles.PlaceholderText, "soft"), (roles.Highlight, "selection"),
        (roles.HighlightedText, "text"), (roles.Link, "accent"), (roles.LinkVisited, "accent"), (roles.BrightText, "fails"),
        (roles.Mid, "line"), (roles.Dark, "strong_line"), (roles.Midlight, "line"), (roles.Light, "surface"),
        (roles.Accent, "accent"),
    ):  # fmt: skip
        made.setColor(role, tokens.color(name))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, tokens.color("strong_line"))
    return made


def style_sheet(tokens: Tokens, body_px: int) -> str:
    """Return the style of all widgets for the tokens; sizes follow the system font."""
    t = tokens
    small_px = max(SMALLEST_TEXT_PX, round(body_px * 0.9))
    large_px = round(body_px * 1.35)
    arrows = (data_path("resources") / "icons").as_posix()
    base = "light" if luminance(t.surface) > 0.5 else "dark"
    return f"""
QMainWindow, QDialog {{ background: {t.window}; }}
QMainWindow::separator {{ background: {t.line}; width: 1px; height: 1px; }}
QMenuBar {{ background: {t.window}; padding: 2px 4px; border-bottom: 1px solid {t.line}; }}
QMenuBar::item {{ padding: 4px 8px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected, QMenu::item:selected {{ background: {t.selection}; color: {t.text}; }}
QMenu {{ background: {t.surface}; border: 1px solid {t.line}; padding: 4px; }}
QMenu::item {{ padding: 4px 24px 4px 8px; border-radius: 4px; }}
QMenu::item:disabled {{ color: {t.strong_line}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 4px; }}
QTabWidget::pane {{ border: 0; border-top: 1px solid {t.line}; }}
QTabBar {{ background: {t.window}; }}
QTabBar::tab {{ background: transparent; padding: 6px 12px; border: 0; border-bottom: 2px solid transparent; color: {t.soft}; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QTabBar::tab:hover {{ color: {t.text}; }}
QTabBar::tab:focus {{ color: {t.accent}; }}
QLabel[role="section"] {{ font-size: {small_px}px; font-weight: 600; color: {t.soft}; }}
QLabel[role="small"], QCheckBox[role="small"] {{ font-size: {small_px}px; color: {t.soft}; }}
QLabel[role="large"] {{ font-size: {large_px}px; font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[state="fits"] {{ color: {t.fits}; }} QLabel[state="warns"] {{ color: {t.warns}; }}
QLabel[state="fails"] {{ color: {t.fails}; }} QLabel[state="unknown"] {{ color: {t.unknown}; }}
QLabel[state="soft"] {{ color: {t.soft}; }}
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QDateEdit, QPlainTextEdit, QTextEdit {{
  background: {t.surface}; border: 1px solid {t.line}; border-radius: 4px; padding: 3px 6px;
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus {{
  border-color: {t.accent}; }}
QLineEdit[faulty="true"] {{ border-color: {t.fails}; }}
QComboBox::drop-down {{ border: 0; width: 20px; }}
QComboBox::down-arrow {{ image: url({arrows}/down-on-{base}.svg); width: 10px; height: 10px; }}
QAbstractSpinBox QLineEdit {{ border: 0; padding: 0; background: transparent; }}
QAbstractSpinBox {{ padding: 1px 0; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ border: 0; background: transparent; width: 18px; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url({arrows}/up-on-{base}.svg); width: 9px; height: 9px; }}
QAbstractSpinBox::down-arrow {{ image: url({arrows}/down-on-{base}.svg); width: 9px; height: 9px; }}
QComboBox QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.line}; selection-background-color: {t.selection};
  selection-color: {t.text}; }}
QPushButton {{ background: {t.surface}; border: 1px solid {t.line}; border-radius: 4px; padding: 4px 10px; }}
QPushButton:hover {{ border-color: {t.strong_line}; }}
QPushButton:focus {{ border-color: {t.accent}; }}
QPushButton:pressed, QPushButton:checked {{ background: {t.selection}; border-color: {t.accent}; }}
QPushButton:disabled {{ color: {t.strong_line}; background: {t.window}; }}
QPushButton[role="primary"] {{ background: {t.accent}; border-color: {t.accent}; color: {t.on_accent}; font-weight: 600; }}
QPushButton[role="primary"]:disabled {{ background: {t.raised}; border-color: {t.line}; color: {t.strong_line}; }}
QPushButton[role="primary"]:focus {{ border-color: {t.text}; }}
QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px; }}
QToolButton:hover {{ background: {t.raised}; }}
QToolButton:focus {{ border-color: {t.accent}; }}
QToolButton::menu-indicator {{ image: none; width: 0; }}
QPushButton[role="number"], QPushButton[role="link"] {{ background: transparent; border: 1px solid transparent; padding: 1px 3px;
  color: {t.accent}; text-align: left; }}
QPushButton[role="number"] {{ margin-left: -4px; color: {t.text}; font-size: {large_px}px; font-weight: 600; }}
QPushButton[role="number"]:hover, QPushButton[role="link"]:hover {{ background: {t.selection}; }}
QPushButton[role="number"]:focus, QPushButton[role="link"]:focus {{ border-color: {t.accent}; }}
QPushButton[role="search"] {{ color: {t.soft}; text-align: left; padding: 3px 8px; }}
QCheckBox {{ spacing: 6px; }}
QCheckBox:focus {{ color: {t.accent}; }}
QCheckBox::indicator {{ width: 13px; height: 13px; border: 1px solid {t.strong_line}; border-radius: 3px;
  background: {t.surface}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; image: url({arrows}/tick-on-{base}.svg); }}
QCheckBox::indicator:focus {{ border-color: {t.accent}; }}
QTableView, QListView, QTreeView, QTextBrowser {{ background: {t.surface}; border: 0; gridline-color: {t.line};
  selection-background-color: {t.selection}; selection-color: {t.text}; outline: 0; }}
QTextBrowser {{ padding: 0; }}
QTableView::item {{ padding: 0 6px; border: 0; }}
QTableView::item:selected {{ background: {t.selection}; color: {t.text}; }}
QHeaderView {{ background: {t.window}; }}
QHeaderView::section {{ background: {t.window}; color: {t.soft}; border: 0; border-bottom: 1px solid {t.line};
  padding: 3px 6px; font-size: {small_px}px; font-weight: 400; }}
QTableCornerButton::section {{ background: {t.window}; border: 0; }}
QScrollArea {{ border: 0; background: transparent; }}
QScrollArea > QWidget > QWidget {{ background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {t.line}; border-radius: 3px; margin: 2px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {t.strong_line}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSplitter::handle {{ background: {t.line}; }}
QSplitter::handle:horizontal {{ width: 1px; }} QSplitter::handle:vertical {{ height: 1px; }}
QFrame[role="card"] {{ background: {t.surface}; border: 1px solid {t.line}; border-radius: 6px; }}
QFrame[role="card"]:focus {{ border-color: {t.accent}; }}
QFrame[role="message"] {{ background: {t.raised}; border-bottom: 1px solid {t.line}; }}
QFrame[role="rule"] {{ background: {t.line}; border: 0; max-height: 1px; min-height: 1px; }}
QWidget[role="surface"] {{ background: {t.surface}; }}
QProgressBar {{ background: {t.raised}; border: 0; border-radius: 3px; max-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
"""
