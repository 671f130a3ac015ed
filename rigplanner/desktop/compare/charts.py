"""Level bars, one a rig, with intervals: speed, speed per money and speed per watt of one workload
side by side."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QToolTip, QWidget

from rigplanner.desktop.controls.widgets import clear, column, label, row
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.words import interval, number, quantity, shortened
from rigplanner.report.comparison.content import Chart
from rigplanner.report.format import unit_text
from rigplanner.report.language import tr

HUES = ("weights", "gradients", "activations", "optimizer")
"""One hue a rig, in the order of the columns."""
NAME_SHARE = 0.34


class Bars(QWidget):
    """The bars of one chart."""

    def __init__(self, chart: Chart, names: Sequence[str]) -> None:
        super().__init__()
        self._chart, self._names = chart, tuple(names)
        self.setAccessibleName(f"{chart.title}, {chart.subject}")
        self.setAccessibleDescription("; ".join(self._said(n) for n in range(len(names))))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _said(self, n: int) -> str:
        chart = self._chart
        if chart.values[n] is None:
            return tr("{name}: unknown", name=self._names[n])
        span = interval(chart.lows[n], chart.highs[n], chart.unit) if chart.lows else ""
        return tr(
            "{name}: {value}, {interval}",
            name=self._names[n],
            value=quantity(chart.values[n], chart.unit),
            interval=span,
        )

    def _step(self) -> float:
        return row_px() * 0.86

    def sizeHint(self) -> QSize:
        return QSize(row_px() * 9, round(self._step() * len(self._names) + 6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small_font())
        metrics = QFontMetricsF(painter.font())
        chart, left = self._chart, self.width() * NAME_SHARE
        widest = max(
            (
                metrics.horizontalAdvance(number(value))
                for value in chart.values
                if value is not None
            ),
            default=0.0,
        )
        top = max([*(h for h in chart.highs if h), *(v for v in chart.values if v)], default=1.0)
        scale = (self.width() - left - widest - 10) / top
        for n in range(len(self._names)):
            self._paint_bar(painter, n, left, scale, metrics)
        painter.setPen(QPen(look.tokens.color("strong_line"), 1))
        painter.drawLine(QPointF(left, 1), QPointF(left, self.height() - 3))

    def _paint_bar(
        self, painter: QPainter, n: int, left: float, scale: float, metrics: QFontMetricsF
    ) -> None:
        tokens, chart, value = look.tokens, self._chart, self._chart.values[n]
        y, height = 2 + n * self._step(), self._step() * 0.62
        baseline = y + (height + metrics.ascent()) / 2 - 1
        painter.setPen(tokens.color("soft"))
        painter.drawText(
            QPointF(0, baseline),
            metrics.elidedText(self._names[n], Qt.TextElideMode.ElideRight, left - 8),
        )
        if value is None:
            painter.drawText(QPointF(left + 6, baseline), tr("unknown"))
            return
        painter.fillRect(QRectF(left, y, value * scale, height), tokens.color(HUES[n % len(HUES)]))
        low, high = (chart.lows[n], chart.highs[n]) if chart.lows else (None, None)
        if low is not None and high is not None:
            painter.setPen(QPen(tokens.color("text"), 1))
            middle = y + height / 2
            painter.drawLine(
                QPointF(left + low * scale, middle), QPointF(left + high * scale, middle)
            )
            for end in (low, high):
                painter.drawLine(
                    QPointF(left + end * scale, middle - 3), QPointF(left + end * scale, middle + 3)
                )
        painter.setFont(sized_font(0.9, semibold=True))
        painter.setPen(tokens.color("text"))
        painter.drawText(
            QPointF(left + max(value, high or 0.0) * scale + 5, baseline), number(value)
        )
        painter.setFont(small_font())

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            n = min(int(event.pos().y() / self._step()), len(self._names) - 1)
            QToolTip.showText(event.globalPos(), self._said(n), self)
            return True
        return super().event(event)


class CompareCharts(QWidget):
    """The charts of the workload that is chosen; hidden while no workload has two known speeds."""

    def __init__(self) -> None:
        super().__init__()
        self._charts: tuple[Chart, ...] = ()
        self._names: tuple[str, ...] = ()
        self.subject = QComboBox()
        self.subject.setAccessibleName(tr("Workload of the charts"))
        self.subject.setMinimumContentsLength(20)
        self.subject.activated.connect(lambda _: self._draw())
        self._line = QHBoxLayout()
        self._line.setSpacing(20)
        self.setLayout(
            column(
                row(label(tr("Charts").upper(), "section"), self.subject, 1),
                self._line,
                margins=(12, 6, 12, 8),
                spacing=6,
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_charts(self, names: Sequence[str], charts: Sequence[Chart]) -> None:
        """Show the charts of a comparison; the chosen workload stays."""
        self._names, self._charts = tuple(names), tuple(charts)
        before = self.subject.currentData()
        subjects = list(dict.fromkeys(chart.subject for chart in charts))
        self.subject.clear()
        for subject in subjects:
            self.subject.addItem(shortened(subject, 50), subject)
        self.subject.setCurrentIndex(max(0, self.subject.findData(before)))
        self.setVisible(bool(subjects))
        self._draw()

    def _draw(self) -> None:
        clear(self._line)
        for chart in (
            chart for chart in self._charts if chart.subject == self.subject.currentData()
        ):
            head = row(label(chart.title, "small"), 1, label(unit_text(chart.unit), "small"))
            self._line.addLayout(column(head, Bars(chart, self._names), 1, spacing=2), 1)
