"""The few kinds of small widget that the window is made of, each with its role in the style and its
accessible name."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.look import icons
from rigplanner.report.language import tr

Click = Callable[[], object]
L = TypeVar("L", QHBoxLayout, QVBoxLayout)


def label(text: str = "", role: str = "", wrap: bool = False, state: str = "") -> QLabel:
    """Return a label of a role: section, small, large, strong or none. Text is never read as
    markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if state:
        made.setProperty("state", state)
    return made


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Change a property that the style looks at; a widget that was not shown yet is polished when
    it is."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            widget.style().unpolish(widget)
            widget.style().polish(widget)


def give_viewport(view: QAbstractScrollArea) -> QWidget:
    """Give a view a viewport that Python knows, and return it: Qt's own is looked up among all
    kinds of widgets when it is first asked for, which takes a thirtieth of the start."""
    made = QWidget()
    made.setBackgroundRole(QPalette.ColorRole.Base)
    made.setAutoFillBackground(True)
    view.setViewport(made)
    # A view hands its wish for drops to the viewport that it has when the wish is uttered.
    made.setAcceptDrops(view.acceptDrops())
    return made


def button(
    text: str, clicked: Click, icon: str = "", role: str = "", name: str = ""
) -> QPushButton:
    """Return a push button; `role` primary, number, link, search or none."""
    made = QPushButton(text.replace("&", "&&"))
    made.setAccessibleName(name or text)
    if role:
        made.setProperty("role", role)
    if icon:
        tint(made, icon, "on_accent" if role == "primary" else "text")
    made.clicked.connect(lambda: clicked())
    return made


def icon_button(icon: str, name: str, clicked: Click) -> QToolButton:
    """Return a small button that shows an icon only; `name` is its tool tip and accessible name."""
    made = QToolButton()
    made.setAccessibleName(name)
    made.setToolTip(plain(name))
    made.setIconSize(QSize(icons.size_px(), icons.size_px()))
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    tint(made, icon, "soft")
    made.clicked.connect(lambda: clicked())
    return made


def tint(widget: QPushButton | QToolButton, icon: str, token: str) -> None:
    """Give a button an icon in the colour of a token; `retint` paints it anew when the colours
    change."""
    widget.setProperty("icon_name", icon)
    widget.setProperty("icon_token", token)
    widget.setIconSize(QSize(icons.size_px(), icons.size_px()))
    widget.setIcon(icons.icon(icon, token))


def retint(top: QWidget) -> None:
    """Paint the icons of all buttons under a widget in the colours in force."""
    for widget in top.findChildren(QAbstractButton):
        if name := widget.property("icon_name"):
            widget.setIcon(icons.icon(name, widget.property("icon_token")))


def indented(box: QAbstractSpinBox) -> None:
    """Put the text of a number field where other fields have it; the style sheet's padding does not
    reach it."""
    box.lineEdit().setTextMargins(4, 0, 0, 0)


def busy_bar() -> QProgressBar:
    """Return a bar for work of which nobody knows the end."""
    made = QProgressBar(maximum=0)
    made.setAccessibleName(tr("Progress"))
    made.setTextVisible(False)
    return made


def rule() -> QFrame:
    """Return a hairline across."""
    made = QFrame()
    made.setProperty("role", "rule")
    return made


def column(
    *things: QWidget | QLayout | int,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    spacing: int = 8,
) -> QVBoxLayout:
    """Return a vertical layout; an int among the things is a stretch factor."""
    return _filled(QVBoxLayout(), things, margins, spacing)


def row(
    *things: QWidget | QLayout | int,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    spacing: int = 8,
) -> QHBoxLayout:
    """Return a horizontal layout; an int among the things is a stretch factor."""
    return _filled(QHBoxLayout(), things, margins, spacing)


def _filled(
    layout: L,
    things: tuple[QWidget | QLayout | int, ...],
    margins: tuple[int, int, int, int],
    spacing: int,
) -> L:
    layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    for thing in things:
        if isinstance(thing, QWidget):
            layout.addWidget(thing)
        elif isinstance(thing, QLayout):
            layout.addLayout(thing)
        else:
            layout.addStretch(thing)
    return layout


def panel(layout: QLayout, role: str = "") -> QWidget:
    """Return a widget around a layout."""
    made = QWidget()
    made.setLayout(layout)
    if role:
        made.setProperty("role", role)
        made.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    return made


def strip(layout: QLayout, role: str = "") -> QWidget:
    """Return a widget around a layout that is no higher than it must be."""
    made = panel(layout, role)
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return made


def scrolled(widget: QWidget, name: str, area: QScrollArea | None = None) -> QScrollArea:
    """Return a scroll area around a widget, as wide as there is room."""
    area = area or QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(widget)
    area.setAccessibleName(name)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


def stretchy(widget: QWidget) -> QWidget:
    """Let a widget take the width that is left, however long its text."""
    widget.setSizePolicy(QSizePolicy.Policy.Ignored, widget.sizePolicy().verticalPolicy())
    return widget


def clear(layout: QLayout) -> None:
    """Remove and delete all that a layout holds."""
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            break
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)
