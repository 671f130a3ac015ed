"""The cards of the start page: things to do, and samples with picture, price and verdict."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import column, label, row, stretchy
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.start_page.rig_sketch import Sketch, SketchView
from rigplanner.desktop.words import VERDICT_ICONS, VERDICT_WORDS, shortened
from rigplanner.report.language import tr


class OneLine(QLabel):
    """A label of one line that ends in an ellipsis where there is no room; the tool tip has all of
    it."""

    def __init__(self, text: str, role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)
        self._whole = shortened(text, 200)
        self.setToolTip(plain(self._whole))
        self.setAccessibleName(self._whole)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setText(
            self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
        )


class Card(QFrame):
    """A frame that is clicked as a whole, by mouse or keyboard."""

    clicked = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)

    def paint_icons(self) -> None:
        """Draw the icons in the colours in force."""


class Tile(Card):
    """One thing to do: icon, verb, and what comes of it."""

    def __init__(self, title: str, note: str, icon: str) -> None:
        super().__init__(f"{title}: {note}")
        self._icon = icon
        self._sign = label()
        self._sign.setFixedWidth(row_px())
        self._sign.setAlignment(Qt.AlignmentFlag.AlignTop)
        words = column(label(title, "strong"), label(note, "small", wrap=True), 1, spacing=2)
        line = row(self._sign, margins=(12, 10, 12, 10), spacing=8)
        line.addLayout(words, 1)
        self.setLayout(line)
        self.paint_icons()

    def paint_icons(self) -> None:
        self._sign.setPixmap(
            icons.pixmap(self._icon, "accent", self.devicePixelRatioF(), px=icons.size_px() + 4)
        )


class SampleCard(Card):
    """A sample rig; picture, price and verdict come when it has been judged."""

    def __init__(self, title: str, note: str) -> None:
        super().__init__(f"{title}, {note}")
        self._title, self._verdict = title, ""
        self._sign = label()
        self._sign.setFixedWidth(20)
        self.picture = SketchView()
        self.verdict = label(tr("being checked"), "small")
        self.price = label("", "small")
        self.price.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        foot = row(self._sign, stretchy(self.verdict), self.price, spacing=4)
        self.setLayout(
            column(
                self.picture,
                OneLine(title, "strong"),
                OneLine(note, "small"),
                foot,
                margins=(12, 10, 12, 8),
                spacing=4,
            )
        )

    def show_verdict(self, verdict: str, price: str, sketch: Sketch) -> None:
        """Say how the rig does and what it costs, and draw it."""
        self._verdict = verdict
        self.verdict.setText(tr("has errors") if verdict == "error" else VERDICT_WORDS[verdict])
        self.price.setText(price)
        self.picture.show_sketch(sketch)
        self.setAccessibleName(f"{self._title}, {self.verdict.text()}, {price}. {sketch.words()}")
        self.paint_icons()

    def paint_icons(self) -> None:
        if self._verdict:
            sign = icons.pixmap(
                VERDICT_ICONS[self._verdict], STATE_OF[self._verdict], self.devicePixelRatioF()
            )
            self._sign.setPixmap(sign)
