"""The tour: five steps around the window, left at any time."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.look.theme import row_px
from rigplanner.report.language import tr

STEPS: tuple[tuple[str, str, str], ...] = (
    (
        "build",
        "Build",
        "What is in the rig, and what it still lacks. A click on a line opens the catalog for it.",
    ),
    (
        "parts",
        "Parts",
        "What can be bought. The first column says whether a part fits, and if not, why. Enter, or"
        " dragging a row to the left, adds it.",
    ),
    (
        "findings",
        "Findings",
        "What is wrong, with what is needed and what is there. A button mends it, and undo takes"
        " that back.",
    ),
    (
        "gauges",
        "Gauges",
        "How far the rig is from its limits: money, power, lanes, slots, memory. A click opens the"
        " calculation.",
    ),
    (
        "tabs",
        "Tabs",
        "Machine draws how all is connected, Workloads predicts memory and speed, Compare sets"
        " variants side by side, Quote prints.",
    ),
)
"""Place, title and text of each step."""
MARGIN_PX = 3
SETTLED_MS = 120


class Tour(QFrame):
    """A card beside the place that it speaks of, and a frame around that place."""

    def __init__(self, desk: Desk, places: dict[str, Callable[[], QWidget]]) -> None:
        super().__init__(desk.window())
        self._desk, self._places, self._step = desk, places, 0
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._frame = QFrame(desk.window())
        self._frame.setProperty("role", "pointer")
        self._frame.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = label("", "large")
        self.text = label("", wrap=True)
        self.count = label("", "small")
        self.back = button(tr("Back"), lambda: self.go(self._step - 1))
        self.next = button(tr("Next"), lambda: self.go(self._step + 1), role="primary")
        self.leave = button(tr("Leave the tour"), self.end, role="link")
        self.setLayout(
            column(
                self.title,
                self.text,
                row(self.count, 1, self.leave, self.back, self.next),
                margins=(16, 12, 16, 12),
            )
        )
        self.setFixedWidth(row_px() * 17)
        for watched in (*(place() for place in places.values()), desk.window()):
            watched.installEventFilter(self)
        for each in self._buttons():
            each.installEventFilter(self)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._settle)
        self.go(0)
        self._frame.show()
        self.show()

    def go(self, step: int) -> None:
        """Show a step; beyond the last one the tour ends."""
        if step >= len(STEPS):
            self.end()
            return
        self._step = max(0, step)
        _, title, text = STEPS[self._step]
        self.title.setText(tr(title))
        self.text.setText(tr(text))
        self.count.setText(tr("{step} of {all}", step=self._step + 1, all=len(STEPS)))
        self.back.setEnabled(self._step > 0)
        self.next.setText(tr("Done") if self._step == len(STEPS) - 1 else tr("Next"))
        self.setAccessibleName(f"{self.count.text()}: {tr(title)}. {tr(text)}")
        self.adjustSize()
        self._stand()
        self._settled.start()

    def _settle(self) -> None:
        """The panels stand now, and whoever lost the focus has handed it on."""
        self._stand()
        self.next.setFocus()

    def _stand(self) -> None:
        """Put the frame around the place and the card beside it, inside the window."""
        window = self._desk.window()
        place = self._places[STEPS[self._step][0]]()
        area = QRect(place.mapTo(window, QPoint(0, 0)), place.size())
        self._frame.setGeometry(area.adjusted(-MARGIN_PX, -MARGIN_PX, MARGIN_PX, MARGIN_PX))
        room = window.rect().adjusted(8, 8, -8, -8)
        beside = [
            QPoint(area.right() + 16, area.top() + 40),
            QPoint(area.left() - self.width() - 16, area.top() + 40),
            QPoint(area.left() + 16, area.bottom() + 16),
            QPoint(area.left() + 16, area.top() - self.height() - 16),
            QPoint(area.center().x() - self.width() // 2, area.top() + 40),
        ]
        free = (at for at in beside if room.contains(QRect(at, self.size())))
        self.move(next(free, room.center() - self.rect().center()))
        self._frame.raise_()
        self.raise_()

    def end(self) -> None:
        """Leave the tour; it is not proposed again."""
        for watched in (*(place() for place in self._places.values()), self._desk.window()):
            watched.removeEventFilter(self)
        self._desk.session.preferences.change(tour_seen=True)
        self._frame.deleteLater()
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._stand()
        own = watched in self._buttons() and event.type() == QEvent.Type.KeyPress
        if own and isinstance(event, QKeyEvent) and self._take_key(event.key()):
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._take_key(event.key()):
            super().keyPressEvent(event)

    def _take_key(self, key: int) -> bool:
        """Arrows go on and back, Enter presses the button that has the focus, Escape leaves; False
        for any other key."""
        if key == Qt.Key.Key_Escape:
            self.end()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            next((each for each in self._buttons() if each.hasFocus()), self.next).click()
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.go(self._step + (1 if key == Qt.Key.Key_Right else -1))
        else:
            return False
        return True

    def _buttons(self) -> list[QPushButton]:
        return [self.leave, self.back, self.next]

    def focusNextPrevChild(self, on: bool) -> bool:
        """Tab stays in the tour."""
        able = [each for each in self._buttons() if each.isEnabled()]
        at = next((n for n, each in enumerate(able) if each.hasFocus()), 0)
        able[(at + (1 if on else -1)) % len(able)].setFocus(Qt.FocusReason.TabFocusReason)
        return True
