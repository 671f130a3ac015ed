"""Stacked bars of memory per GPU against its capacity, drawn alike for every workload."""

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
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.words import (
    VERDICT_ICONS,
    VERDICT_WORDS,
    interval,
    number,
    percent,
    quantity,
)
from rigplanner.report.language import tr
from rigplanner.report.quote.jobs import MemoryBar

HUES = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "activations": "activations",
    "KV cache": "kv_cache",
    "workspace": "other",
    "context": "other",
}
"""Part of memory to its hue; workspace and driver context share the grey one."""
VERDICTS = {"fits": "fits", "tight": "warning", "does not fit": "error", "unknown": "unknown"}


class Segment(Struct, frozen=True):
    """A stretch of one hue in a bar."""

    word: str
    hue: str
    gib: float


def segments(bar: MemoryBar) -> list[Segment]:
    """Return the stretches of a bar in order; workspace and context are one."""
    found: dict[str, Segment] = {}
    for word, gib in bar.parts:
        hue = HUES[word]
        before = found.get(hue)
        name = tr("other") if hue == "other" else tr(word)
        found[hue] = Segment(name, hue, gib + (before.gib if before else 0.0))
    return [segment for segment in found.values() if segment.gib > 0]


class MemoryBars(QWidget):
    """One bar per distinct GPU; Enter or a click on a bar opens the steps of its estimate."""

    clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._bars: tuple[MemoryBar, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Memory per GPU"))

    def show_bars(self, bars: tuple[MemoryBar, ...]) -> None:
        """Show other bars."""
        self._bars = bars
        self.setAccessibleName(
            tr("Memory per GPU: ")
            + "; ".join(
                tr(
                    "{count} × {gpu} {total} of {room}, {verdict}",
                    count=bar.count,
                    gpu=bar.gpu,
                    verdict=tr(bar.verdict),
                    total=quantity(bar.total_gib, "GiB"),
                    room=number(bar.capacity_gib),
                )
                for bar in bars
            )
        )
        self.updateGeometry()
        self.update()

    def _bar_height(self) -> float:
        return row_px() * 2.1

    def sizeHint(self) -> QSize:
        return QSize(
            row_px() * 16, round(self._bar_height() * max(1, len(self._bars)) + row_px() * 1.1)
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for n, bar in enumerate(self._bars):
            self._paint_bar(painter, bar, n * self._bar_height())
        self._paint_legend(painter, self._bar_height() * len(self._bars) + 2)
        if self.hasFocus():
            painter.setPen(QPen(look.tokens.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)

    def _scale(self, bar: MemoryBar) -> float:
        """Pixels per GiB: the bar's end is a little beyond the larger of capacity and need."""
        return self.width() / (
            1.08 * max(bar.capacity_gib or 0.0, bar.high_gib, bar.total_gib, 1e-6)
        )

    def _paint_bar(self, painter: QPainter, bar: MemoryBar, top: float) -> None:
        tokens = look.tokens
        verdict = VERDICTS[bar.verdict]
        painter.setFont(sized_font(1.0))
        metrics = QFontMetricsF(painter.font())
        baseline = top + metrics.ascent() + 2
        side = icons.size_px()
        painter.drawPixmap(
            QPointF(0, baseline + 3 - side),
            icons.pixmap(VERDICT_ICONS[verdict], STATE_OF[verdict], self.devicePixelRatioF()),
        )
        painter.setPen(tokens.color("text"))
        title = f"{bar.count} × {bar.gpu}" if bar.count > 1 else bar.gpu
        word = tr("tight") if bar.verdict == "tight" else VERDICT_WORDS[verdict]
        share = f", {percent(bar.total_gib / bar.capacity_gib)}" if bar.capacity_gib else ""
        span = interval(bar.low_gib, bar.high_gib)
        right = (
            tr(
                "{total} ({span}) of {room}",
                total=quantity(bar.total_gib, "GiB", 1),
                span=span,
                room=quantity(bar.capacity_gib, "GiB", 1),
            )
            + share
        )
        room = self.width() - metrics.horizontalAdvance(right) - 12
        painter.drawText(QPointF(self.width() - metrics.horizontalAdvance(right), baseline), right)
        left = metrics.elidedText(
            title,
            Qt.TextElideMode.ElideRight,
            room - side - 6 - metrics.horizontalAdvance(f", {word}"),
        )
        painter.drawText(QPointF(side + 6, baseline), f"{left}, {word}")
        self._paint_amounts(painter, bar, top + metrics.height() + 5)

    def _paint_amounts(self, painter: QPainter, bar: MemoryBar, y: float) -> None:
        """The coloured amounts over the room, the interval across them, and the mark of the
        capacity."""
        tokens = look.tokens
        scale, x, height = self._scale(bar), 0.0, row_px() * 0.62
        painter.fillRect(
            QRectF(0, y, (bar.capacity_gib or 0) * scale, height), tokens.color("raised")
        )
        for segment in segments(bar):
            width = segment.gib * scale
            painter.fillRect(QRectF(x, y, max(0.0, width - 1), height), tokens.color(segment.hue))
            x += width
        pen = QPen(tokens.color("text"), 1)
        painter.setPen(pen)
        middle = y + height / 2
        painter.drawLine(
            QPointF(bar.low_gib * scale, middle), QPointF(bar.high_gib * scale, middle)
        )
        for end in (bar.low_gib, bar.high_gib):
            painter.drawLine(QPointF(end * scale, middle - 3), QPointF(end * scale, middle + 3))
        if bar.capacity_gib:
            painter.fillRect(
                QRectF(bar.capacity_gib * scale - 1, y - 3, 2, height + 6),
                tokens.color(STATE_OF[VERDICTS[bar.verdict]]),
            )

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        tokens = look.tokens
        painter.setFont(small_font())
        metrics = QFontMetricsF(painter.font())
        present: dict[str, str] = {}
        for bar in self._bars:
            present.update({segment.word: segment.hue for segment in segments(bar)})
        x = 0.0
        for word, hue in present.items():
            painter.fillRect(QRectF(x, top + 3, 9, 9), tokens.color(hue))
            painter.setPen(tokens.color("soft"))
            painter.drawText(QPointF(x + 13, top + metrics.ascent()), word)
            x += metrics.horizontalAdvance(word) + 28

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        on_bar = int(event.position().y() // self._bar_height()) < len(self._bars)
        self.setCursor(Qt.CursorShape.PointingHandCursor if on_bar else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        n = int(event.position().y() // self._bar_height())
        if 0 <= n < len(self._bars):
            self.clicked.emit(n)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._bars:
            self.clicked.emit(0)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            n = int(event.pos().y() // self._bar_height())
            if 0 <= n < len(self._bars):
                lines = [
                    f"{segment.word}: {quantity(segment.gib, 'GiB', 2)}"
                    for segment in segments(self._bars[n])
                ]
                QToolTip.showText(event.globalPos(), "\n".join(lines), self)
            return True
        return super().event(event)
