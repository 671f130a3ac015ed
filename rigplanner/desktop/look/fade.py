"""A glow of 120 ms behind a figure that changed, so that the eye sees what an edit did. None where
motion is not wanted."""

from PySide6.QtCore import QRect, QVariantAnimation
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from rigplanner.desktop.look.theme import look

FADE_MS = 120


class _Wish:
    motion = True


def want_motion(on: bool) -> None:
    """Let changed figures glow, or not."""
    _Wish.motion = on


def motion_wanted() -> bool:
    """Whether figures glow: the person wants it, and the desktop has not switched animations
    off."""
    from PySide6.QtWidgets import QStyle

    return (
        _Wish.motion
        and QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0
    )


class Glow(QVariantAnimation):
    """How strongly a widget glows, 1 falling to 0; the widget paints it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.setStartValue(1.0)
        self.setEndValue(0.0)
        self.setDuration(FADE_MS)
        self.valueChanged.connect(lambda _: widget.update())

    def begin(self) -> None:
        """Glow from now on."""
        if motion_wanted():
            self.stop()
            self.start()

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Draw the glow behind what the widget draws next."""
        if self.state() == QVariantAnimation.State.Running:
            colour = look.tokens.color("selection")
            colour.setAlphaF(float(self.currentValue()))
            painter.fillRect(area, colour)


class Figure(QLabel):
    """A label whose text glows when it becomes another."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self._glow = Glow(self)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str) -> None:
        """Show a text."""
        if text != self.text():
            if self.text() and text:
                self._glow.begin()
            self.setText(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._glow.paint(painter, self.rect())
        painter.end()
        super().paintEvent(event)
