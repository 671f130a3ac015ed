"""A drawing of the report's shapes on the screen, in the colours in force and as large as the text
needs."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QApplication, QWidget

from rigplanner.desktop.look.theme import look, sized_font, text_px
from rigplanner.report.drawing.shapes import SHADED, TEXT_SIZE, Box, Label, Line, Picture

MARGIN_PX = 8.0


class PictureView(QWidget):
    """Paints one picture; `empty` is said when there is nothing to draw."""

    def __init__(self, name: str, empty: str) -> None:
        super().__init__()
        self._picture = Picture(1.0, 1.0, ())
        self._empty = self._said = empty
        self.setAccessibleName(name)

    def show_picture(self, picture: Picture, empty: str = "") -> None:
        """Show another picture; `empty` is said instead of the usual words where there is none."""
        self._picture, self._said = picture, empty or self._empty
        said = [shape.text for shape in picture.shapes if isinstance(shape, Label)]
        self.setAccessibleDescription(", ".join(said) or self._said)
        self.setMinimumSize(self.sizeHint())
        self.update()

    def _scale(self) -> float:
        """Pixels per point: the picture's text becomes body text."""
        return text_px(QApplication.font()) / TEXT_SIZE

    def sizeHint(self) -> QSize:
        scale = self._scale()
        return QSize(
            round(self._picture.width * scale + 2 * MARGIN_PX),
            round(self._picture.height * scale + 2 * MARGIN_PX),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._picture.shapes:
            painter.setPen(look.tokens.color("soft"))
            painter.drawText(
                self.rect().adjusted(12, 12, -12, -12),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop,
                self._said,
            )
            return
        painter.translate(MARGIN_PX, MARGIN_PX)
        for shape in self._picture.shapes:
            if isinstance(shape, Box):
                self._paint_box(painter, shape)
            elif isinstance(shape, Line):
                self._paint_line(painter, shape)
            else:
                self._paint_label(painter, shape)

    def _paint_box(self, painter: QPainter, box: Box) -> None:
        tokens, scale = look.tokens, self._scale()
        painter.setPen(QPen(tokens.color("strong_line"), 1))
        painter.setBrush(tokens.color("raised" if box.role in SHADED else "surface"))
        painter.drawRect(
            QRectF(box.x * scale, box.y * scale, box.width * scale, box.height * scale)
        )

    def _paint_line(self, painter: QPainter, line: Line) -> None:
        scale = self._scale()
        painter.setPen(
            QPen(
                look.tokens.color("accent" if line.role == "nvlink" else "strong_line"),
                max(1.0, line.weight * scale),
            )
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(x * scale, y * scale) for x, y in line.points]))

    def _paint_label(self, painter: QPainter, label: Label) -> None:
        scale = self._scale()
        painter.setFont(sized_font(label.size / TEXT_SIZE, semibold=label.strong))
        painter.setPen(look.tokens.color("soft" if label.quiet else "text"))
        width = QFontMetricsF(painter.font()).horizontalAdvance(label.text)
        back = {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
        painter.drawText(QPointF(label.x * scale - back, label.y * scale), label.text)
