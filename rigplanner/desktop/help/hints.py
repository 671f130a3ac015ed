"""Two lines for every field and column: what it is, and what it changes. Fields are found by their
accessible name, so a field that is new and has no lines here is found by a test."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QScrollBar,
    QTableWidget,
    QWidget,
)

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.help.hint_texts import COLUMN_HINTS, FIELD_HINTS, LETTER_HINTS
from rigplanner.report.language import tr

FIELDS = (
    QLineEdit,
    QAbstractSpinBox,
    QComboBox,
    QCheckBox,
    QAbstractSlider,
    QPlainTextEdit,
    QRadioButton,
)
"""Kinds of widget in which a person enters or chooses something."""


def is_field(widget: QWidget) -> bool:
    """Whether a person enters or chooses something in a widget of its own."""
    if not isinstance(widget, FIELDS) or isinstance(widget, QScrollBar):
        return False
    if isinstance(widget.parent(), QAbstractSpinBox | QComboBox):
        return False
    return widget.focusPolicy() != Qt.FocusPolicy.NoFocus


def name_of(field: QWidget) -> str:
    """Return the accessible name of a field; that of a tick box is its text."""
    named = field.accessibleName()
    return named or (field.text() if isinstance(field, QCheckBox | QRadioButton) else "")


def give_hints(top: QWidget) -> None:
    """Give every field under a widget its two lines; a field that says them already keeps them."""
    own = {tr(name): lines for name, lines in FIELD_HINTS.items()}
    for field in (*([top] if is_field(top) else []), *top.findChildren(QWidget)):
        if not is_field(field) or "\n" in field.toolTip():
            continue
        lines = own.get(name_of(field))
        if lines is not None:
            what = tr(lines[0]) if lines[0] else field.toolTip()
            field.setToolTip(plain(f"{what}\n{tr(lines[1])}"))
            field.setAccessibleDescription(f"{what} {tr(lines[1])}")
    for table in top.findChildren(QTableWidget):
        _explain_heads(table)


def _explain_heads(table: QTableWidget) -> None:
    for n in range(table.columnCount()):
        head = table.horizontalHeaderItem(n)
        if head is not None and not head.toolTip() and (tip := column_hint(head.text())):
            head.setToolTip(plain(tip))


def column_hint(title: str) -> str:
    """Return the two lines of a column by its head as shown, "" for an unknown one."""
    lines = next((own for head, own in COLUMN_HINTS.items() if tr(head) == title), None)
    return f"{tr(lines[0])}\n{tr(lines[1])}" if lines else ""


def letter_hint(letters: str) -> str:
    """Return the two lines of a cell of the matrix, "" for letters that are not known."""
    kind = letters.rstrip("0123456789")
    count = letters.removeprefix(kind)
    lines = LETTER_HINTS.get(kind or "?")
    return f"{tr(lines[0], count=count)}\n{tr(lines[1])}" if lines else ""
