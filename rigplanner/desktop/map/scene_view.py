"""A scene of the map on the screen: painted in the colours in force, as wide as there is room; the
pointer names the row under it, a click asks for it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.look.theme import look, sized_font, text_px
from rigplanner.report.map.picture import corners
from rigplanner.report.map.scene import SIZE, Dot, Measure, Rect, Role, Scene, Spot, Stroke, Text

TOKENS: dict[Role, str] = {
    "paper": "surface",
    "ink": "text",
    "quiet": "soft",
    "grid": "line",
    "axis": "strong_line",
    "card": "weights",
    "machine": "gradients",
    "hire": "activations",
    "front": "accent",
    "mark": "text",
}
"""The window's colours of what a scene is made of."""
HOLLOW_LINE = 1.6

Make = Callable[[float, float, Measure], Scene]
"""Makes the scene of a width and a wished height, with what measures texts."""


class SceneView(QWidget):
    """Paints one scene; `asked` carries the row that was clicked."""

    asked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._make: Make | None = None
        self.scene: Scene | None = None
        self._widths: dict[tuple[str, float, bool], float] = {}
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.look_changed.connect(self._repaint)

    def show_scene(self, make: Make | None) -> None:
        """Show what `make` draws at the widget's width; nothing for None."""
        self._make = make
        self._draw()

    def _repaint(self) -> None:
        self._widths.clear()
        self._draw()

    def _scale(self) -> float:
        """Pixels of a unit: the scene's text becomes a little less than body text."""
        return text_px(QApplication.font()) * 0.95 / SIZE

    def _draw(self) -> None:
        if self._make is None or self.width() < 50:
            self.scene = None
        else:
            scale, above = self._scale(), self.parentWidget()
            room = above.height() if above is not None else self.height()
            self.scene = self._make(self.width() / scale, (room - 6) / scale, self._measure)
            said = [shape.text for shape in self.scene.shapes if isinstance(shape, Text)]
            self.setAccessibleDescription(", ".join(said))
            self.setFixedHeight(round(self.scene.height * self._scale()) + 4)
        self.update()

    def _measure(self, text: str, size: float, strong: bool) -> float:
        """Width of a text in units; a hundredth more than the font says, for what is rounded."""
        key = text, size, strong
        if key not in self._widths:
            metrics = QFontMetricsF(sized_font(size / SIZE * 0.95, semibold=strong))
            self._widths[key] = metrics.horizontalAdvance(text) * 1.01 / self._scale()
        return self._widths[key]

    def sizeHint(self) -> QSize:
        height = self.scene.height if self.scene is not None else 100
        return QSize(400, round(height * self._scale()) + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), look.tokens.color(TOKENS["paper"]))
        if self.scene is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for shape in self.scene.shapes:
            if isinstance(shape, Text):
                self._paint_text(painter, shape)
            else:
                self._paint_shape(painter, shape)

    def _paint_text(self, painter: QPainter, shape: Text) -> None:
        scale = self._scale()
        painter.setFont(sized_font(shape.size / SIZE * 0.95, semibold=shape.strong))
        painter.setPen(look.tokens.color(TOKENS[shape.role]))
        width = QFontMetricsF(painter.font()).horizontalAdvance(shape.text)
        back = {"start": 0.0, "middle": width / 2, "end": width}[shape.anchor]
        painter.drawText(QPointF(shape.x * scale - back, shape.y * scale), shape.text)

    def _paint_shape(self, painter: QPainter, shape: Rect | Stroke | Dot) -> None:
        scale, colour = self._scale(), look.tokens.color(TOKENS[shape.role])
        if isinstance(shape, Rect):
            x, y, wide, tall = (v * scale for v in (shape.x, shape.y, shape.width, shape.height))
            painter.fillRect(QRectF(x, y, wide, tall), colour)
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if isinstance(shape, Stroke):
            painter.setPen(QPen(colour, shape.weight * scale))
            painter.drawPolyline(
                QPolygonF([QPointF(x * scale, y * scale) for x, y in shape.points])
            )
            return
        painter.setPen(QPen(colour, HOLLOW_LINE * scale) if shape.hollow else Qt.PenStyle.NoPen)
        if not shape.hollow:
            painter.setBrush(colour)
        if shape.form == "circle":
            radius = shape.radius * scale
            painter.drawEllipse(QPointF(shape.x * scale, shape.y * scale), radius, radius)
        else:
            painter.drawPolygon(
                QPolygonF([QPointF(x * scale, y * scale) for x, y in corners(shape)])
            )

    def _spot(self, at: QPointF) -> Spot | None:
        if self.scene is None:
            return None
        return self.scene.at(at.x() / self._scale(), at.y() / self._scale())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        met = self._spot(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if met else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        met = self._spot(event.position())
        if met is not None and event.button() == Qt.MouseButton.LeftButton:
            self.asked.emit(met.row)
        else:
            super().mousePressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            met = self._spot(QPointF(event.pos()))
            if met is not None:
                QToolTip.showText(event.globalPos(), plain(met.text), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
