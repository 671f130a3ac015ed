"""A small curve with its interval as a band, drawn like an engineering chart; the same figures are
its accessible text."""

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.words import number

LEFT, RIGHT, TOP = 6.0, 10.0, 6.0
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
OUTER_ALPHA = 46


class Mark(Struct, frozen=True, kw_only=True):
    """A point: `text` stands under it, `tip` explains it. `own` is what the rig is, `dim` what it
    cannot be as it stands."""

    x: float
    value: float
    low: float
    high: float
    text: str
    tip: str
    own: bool = False
    dim: bool = False


def nice_step(most: float, count: int = 4) -> float:
    """Return a round step that divides 0 to `most` into about `count` parts."""
    raw = most / count if most > 0 else 1.0
    scale = 1.0
    while scale > raw:
        scale /= 10
    while scale * 10 <= raw:
        scale *= 10
    return next(step * scale for step in STEPS if step * scale >= raw * 0.999)


class Curve(QWidget):
    """Marks from left to right over a zero line, joined by a line inside the band of their
    intervals. A click, or Enter on the point that the arrow keys chose, asks for the steps of the
    point with that number."""

    clicked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._marks: tuple[Mark, ...] = ()
        self._unit = ""
        self._chosen = 0
        self._area: tuple[QSize, QRectF] | None = None
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_marks(self, marks: Sequence[Mark], unit: str) -> None:
        """Show other points; `unit` is that of the values."""
        self._area = None
        self._marks, self._unit = tuple(marks), unit
        self._chosen = next((n for n, mark in enumerate(marks) if mark.own), 0)
        self.setAccessibleDescription("; ".join(mark.tip for mark in marks))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(row_px() * 11, round(row_px() * 5.6))

    def minimumSizeHint(self) -> QSize:
        return QSize(row_px() * 7, round(row_px() * 5.6))

    def _plot(self) -> QRectF:
        """The area of the points: text of the axes lies left of it and below."""
        if self._area is not None and self._area[0] == self.size():
            return self._area[1]
        metrics = QFontMetricsF(small_font())
        widest = max(
            (metrics.horizontalAdvance(number(tick)) for tick in self._ticks()), default=0.0
        )
        left = LEFT + widest + 6
        area = QRectF(
            left,
            TOP + metrics.height() / 2,
            self.width() - left - RIGHT,
            self.height() - TOP - metrics.height() * 2 - 2,
        )
        self._area = (self.size(), area)
        return area

    def _most(self) -> float:
        return max((mark.high for mark in self._marks), default=1.0) or 1.0

    def _ticks(self) -> list[float]:
        step = nice_step(self._most(), 3)
        return [step * n for n in range(int(self._most() / step + 1e-9) + 1)]

    def _at(self, mark: Mark, value: float) -> QPointF:
        plot = self._plot()
        first, last = self._marks[0].x, self._marks[-1].x
        share = 0.5 if last == first else 0.06 + 0.88 * (mark.x - first) / (last - first)
        return QPointF(
            plot.left() + plot.width() * share, plot.bottom() - plot.height() * value / self._most()
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._marks:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axis(painter)
        self._paint_band(painter)
        self._paint_points(painter)

    def _paint_axis(self, painter: QPainter) -> None:
        tokens, plot = look.tokens, self._plot()
        painter.setFont(small_font())
        metrics = QFontMetricsF(painter.font())
        for tick in self._ticks():
            y = plot.bottom() - plot.height() * tick / self._most()
            painter.setPen(QPen(tokens.color("strong_line" if tick == 0 else "line"), 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(tokens.color("soft"))
            text = number(tick)
            painter.drawText(
                QPointF(
                    plot.left() - 6 - metrics.horizontalAdvance(text), y + metrics.ascent() / 2 - 1
                ),
                text,
            )

    def _paint_band(self, painter: QPainter) -> None:
        tokens = look.tokens
        upper = [self._at(mark, mark.high) for mark in self._marks]
        lower = [self._at(mark, mark.low) for mark in reversed(self._marks)]
        fill = tokens.color("accent")
        fill.setAlpha(OUTER_ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([*upper, *lower]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(tokens.color("accent"), 1.6))
        painter.drawPolyline(QPolygonF([self._at(mark, mark.value) for mark in self._marks]))

    def _paint_points(self, painter: QPainter) -> None:
        tokens, plot = look.tokens, self._plot()
        for n, mark in enumerate(self._marks):
            centre = self._at(mark, mark.value)
            painter.setPen(QPen(tokens.color("accent"), 1.4))
            painter.setBrush(tokens.color("window" if mark.dim else "accent"))
            radius = 4.0 if mark.own else 2.8
            painter.drawEllipse(centre, radius, radius)
            if n == self._chosen and self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(centre, radius + 3.5, radius + 3.5)
            painter.setFont(sized_font(0.9, semibold=mark.own))
            painter.setPen(tokens.color("text" if mark.own else "soft"))
            metrics = QFontMetricsF(painter.font())
            half = metrics.horizontalAdvance(mark.text) / 2
            x = min(max(centre.x() - half, 0.0), self.width() - 2 * half)
            painter.drawText(QPointF(x, plot.bottom() + metrics.ascent() + 4), mark.text)

    def mark_at(self, x: float) -> Mark | None:
        """Return the point nearest to a place across, None when there are none."""
        return min(
            self._marks, key=lambda mark: abs(self._at(mark, mark.value).x() - x), default=None
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        mark = self.mark_at(event.position().x())
        if mark is not None:
            self._chosen = self._marks.index(mark)
            self.update()
            self.clicked.emit(self._chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if self._marks and step is not None:
            self._chosen = max(0, min(self._chosen + step, len(self._marks) - 1))
            self.setAccessibleName(f"{self._name}: {self._marks[self._chosen].tip}")
            self.update()
        elif self._marks and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit(self._chosen)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            mark = self.mark_at(event.pos().x())
            if mark is not None:
                QToolTip.showText(event.globalPos(), mark.tip, self)
            return True
        return super().event(event)
