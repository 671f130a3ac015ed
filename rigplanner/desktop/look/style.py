"""The style of all widgets, made of the tokens in force and the size of the system font."""

from rigplanner.data import data_path
from rigplanner.desktop.look.tokens import SMALLEST_TEXT_PX, Tokens, luminance


def style_sheet(tokens: Tokens, body_px: int) -> str:
    """Return the style of all widgets for the tokens; sizes follow the system font."""
    small_px, large_px = max(SMALLEST_TEXT_PX, round(body_px * 0.9)), round(body_px * 1.35)
    arrows = (data_path("resources") / "icons").as_posix()
    base = "light" if luminance(tokens.surface) > 0.5 else "dark"
    return (
        _frame(tokens)
        + _labels(tokens, small_px, large_px)
        + _fields(tokens, body_px, arrows, base)
        + _buttons(tokens, body_px, large_px, arrows, base)
        + _views(tokens, small_px)
    )


def _frame(t: Tokens) -> str:
    """Windows, menus, tabs."""
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
QTabWidget::pane {{ border: 0; }}
QTabBar {{ background: {t.window}; }}
QToolBar {{ background: {t.window}; border: 0; padding: 0; spacing: 0; }}
QTabBar::tab {{ background: transparent; padding: 6px 12px; border: 0; border-bottom: 2px solid transparent; color: {t.soft}; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QTabBar::tab:hover {{ color: {t.text}; }}
QTabBar::tab:focus {{ color: {t.accent}; }}
"""


def _labels(t: Tokens, small_px: int, large_px: int) -> str:
    """Labels by role and state."""
    return f"""
QFrame[role="pointer"] {{ border: 2px solid {t.accent}; border-radius: 6px; background: transparent; }}
QLabel[role="section"] {{ font-size: {small_px}px; font-weight: 600; color: {t.soft}; }}
QLabel[role="small"], QCheckBox[role="small"] {{ font-size: {small_px}px; color: {t.soft}; }}
QLabel[role="large"] {{ font-size: {large_px}px; font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[opens="true"] {{ border: 1px solid transparent; border-radius: 4px; }}
QLabel[opens="true"]:focus {{ border-color: {t.accent}; }}
QLabel[state="fits"] {{ color: {t.fits}; }} QLabel[state="warns"] {{ color: {t.warns}; }}
QLabel[state="fails"] {{ color: {t.fails}; }} QLabel[state="unknown"] {{ color: {t.unknown}; }}
QLabel[state="soft"] {{ color: {t.soft}; }}
"""


def _fields(t: Tokens, body_px: int, arrows: str, base: str) -> str:
    """Fields to type and choose in; their lower line has the contrast of 3 : 1 that tells a control
    (WCAG 2.2, 1.4.11)."""
    arrow_px, button_px = round(body_px * 0.8), round(body_px * 1.5)
    return f"""
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QDateEdit, QPlainTextEdit, QTextEdit {{
  background: {t.surface}; border: 1px solid {t.line}; border-bottom-color: {t.strong_line}; border-radius: 4px;
  padding: 3px 6px; selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus {{
  border-color: {t.accent}; }}
QLineEdit[faulty="true"] {{ border-color: {t.fails}; }}
QComboBox::drop-down {{ border: 0; width: {button_px + 2}px; }}
QComboBox::down-arrow {{ image: url({arrows}/down-on-{base}.svg); width: {arrow_px}px; height: {arrow_px}px; }}
QAbstractSpinBox QLineEdit {{ border: 0; padding: 0; background: transparent; }}
QAbstractSpinBox {{ padding: 1px 0; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ border: 0; background: transparent; width: {button_px}px; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url({arrows}/up-on-{base}.svg); width: {arrow_px - 1}px; height: {arrow_px - 1}px; }}
QAbstractSpinBox::down-arrow {{ image: url({arrows}/down-on-{base}.svg); width: {arrow_px - 1}px; height: {arrow_px - 1}px; }}
QComboBox QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.line}; selection-background-color: {t.selection};
  selection-color: {t.text}; }}
"""


def _buttons(t: Tokens, body_px: int, large_px: int, arrows: str, base: str) -> str:
    """Buttons by role, and check boxes."""
    box_px = body_px + 1
    ring_px, round_px = (box_px + 4) // 4, box_px // 2 + 1
    dot_px = box_px + 2 - 2 * ring_px
    return f"""
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
QCheckBox, QRadioButton {{ spacing: 6px; }}
QCheckBox:focus, QRadioButton:focus {{ color: {t.accent}; }}
QCheckBox::indicator {{ width: {box_px}px; height: {box_px}px; border: 1px solid {t.strong_line}; border-radius: 3px;
  background: {t.surface}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; image: url({arrows}/tick-on-{base}.svg); }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ border-color: {t.accent}; }}
QRadioButton::indicator {{ width: {box_px}px; height: {box_px}px; border: 1px solid {t.strong_line}; border-radius: {round_px}px;
  background: {t.surface}; }}
QRadioButton::indicator:checked {{ width: {dot_px}px; height: {dot_px}px;
  border: {ring_px}px solid {t.accent}; background: {t.on_accent}; }}
"""


def _views(t: Tokens, small_px: int) -> str:
    """Tables, lists, scroll bars, cards."""
    return f"""
QTableView, QListView, QTreeView, QTextBrowser {{ background: {t.surface}; border: 0; gridline-color: {t.line};
  selection-background-color: {t.selection}; selection-color: {t.text}; outline: 0; }}
QTextBrowser {{ padding: 0; }}
QListWidget::item {{ padding: 3px 12px; }}
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
QScrollBar::handle {{ background: {t.strong_line}; border-radius: 2px; margin: 3px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {t.soft}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
QSplitter::handle {{ background: {t.line}; }}
QSplitter::handle:horizontal {{ width: 1px; }} QSplitter::handle:vertical {{ height: 1px; }}
QFrame[role="card"] {{ background: {t.surface}; border: 1px solid {t.line}; border-radius: 6px; }}
QFrame[role="card"]:focus {{ border-color: {t.accent}; }}
QFrame[role="message"] {{ background: {t.raised}; border: 0; border-top: 1px solid {t.line}; }}
QFrame[role="rule"] {{ background: {t.line}; border: 0; max-height: 1px; min-height: 1px; }}
QWidget[role="surface"] {{ background: {t.surface}; }}
QProgressBar {{ background: {t.raised}; border: 0; border-radius: 3px; max-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
"""
