"""The rows of the catalog table, painted at once from prepared texts: a keystroke repaints some 200
cells within a frame."""

from PySide6.QtCore import QObject, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QStaticText
from PySide6.QtWidgets import QTableView

from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, sized_font
from rigplanner.desktop.parts.model import Cell, PartsModel
from rigplanner.desktop.words import THIN

PADDING_PX = 6
KEPT_TEXTS = 4000


class PartsCells(QObject):
    """Paints text left-aligned and shortened to the column, figures right-aligned with a lighter
    unit.

    A delegate of Qt is called cell by cell, and its style is asked for each one's background; that
    takes twice the time."""

    def __init__(self, model: PartsModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._texts: dict[tuple[str, int], tuple[QStaticText, int]] = {}
        look.look_changed.connect(self._measure)
        self._measure()

    def _measure(self) -> None:
        self._texts.clear()
        self._font = sized_font(1.0)
        self._metrics = QFontMetrics(self._font)
        self._colors = {
            tone: look.tokens.color(tone) for tone in ("text", "soft", "warns", "selection")
        }

    def paint(self, table: QTableView, area: QRect) -> None:
        """Paint the rows of a table that show in an area of its viewport."""
        model, painter = self._model, QPainter(table.viewport())
        first, last = table.rowAt(max(0, area.top())), table.rowAt(area.bottom())
        rows = (
            range(max(0, first), (last if last >= 0 else model.rowCount() - 1) + 1)
            if first >= 0
            else range(0)
        )
        chosen = {index.row() for index in table.selectionModel().selectedRows()}
        for line in chosen.intersection(rows):
            height, top = table.rowHeight(line), table.rowViewportPosition(line)
            painter.fillRect(
                QRect(area.left(), top, area.width(), height), self._colors["selection"]
            )
        painter.setFont(self._font)
        columns = [
            (
                n,
                table.columnViewportPosition(n) + PADDING_PX,
                table.columnWidth(n) - 2 * PADDING_PX,
                model.is_figure(n),
            )
            for n in range(model.columnCount())
            if not table.isColumnHidden(n)
            and table.columnViewportPosition(n) <= area.right()
            and table.columnViewportPosition(n) + table.columnWidth(n) >= area.left()
        ]
        for row in rows:
            top, height = table.rowViewportPosition(row), table.rowHeight(row)
            cells = model.cells(row)
            for n, left, room, figure in columns:
                if figure:
                    self._paint_figure(
                        painter,
                        cells[n],
                        left + room,
                        top + (height - self._metrics.height()) / 2,
                        room,
                    )
                else:
                    self._paint_words(painter, cells[n], QRect(left, top, room, height))
        painter.end()

    def _paint_words(self, painter: QPainter, cell: Cell, area: QRect) -> None:
        left, room = area.x(), area.width()
        if cell.icon:
            sign = icons.pixmap(cell.icon, cell.tone, painter.device().devicePixelRatio())
            side = icons.size_px()
            painter.drawPixmap(left, area.y() + (area.height() - side) // 2, sign)
            left, room = left + side + 4, room - side - 4
        top = area.y() + (area.height() - self._metrics.height()) / 2
        beside, beside_px = self._text(cell.unit, room // 2) if cell.unit else (None, 0)
        if beside is not None:
            room -= beside_px + PADDING_PX
        text, text_px = self._text(cell.text, room)
        painter.setPen(self._colors["text" if cell.icon else cell.tone])
        painter.drawStaticText(QPointF(left, top), text)
        if beside is not None:
            painter.setPen(self._colors["soft"])
            painter.drawStaticText(QPointF(left + text_px + PADDING_PX, top), beside)

    def _paint_figure(
        self, painter: QPainter, cell: Cell, right: float, top: float, room: int
    ) -> None:
        unit, unit_px = self._text(THIN + cell.unit, room) if cell.unit else (None, 0)
        text, text_px = self._text(cell.text, room - unit_px)
        painter.setPen(self._colors[cell.tone])
        painter.drawStaticText(QPointF(right - unit_px - text_px, top), text)
        if unit is not None:
            painter.setPen(self._colors["soft"])
            painter.drawStaticText(QPointF(right - unit_px, top), unit)

    def _text(self, words: str, room_px: int) -> tuple[QStaticText, int]:
        """Return words laid out for a room, and their width."""
        kept = self._texts.get((words, room_px))
        if kept is None:
            if len(self._texts) >= KEPT_TEXTS:
                self._texts.clear()
            shown = self._metrics.elidedText(words, Qt.TextElideMode.ElideRight, room_px)
            laid = QStaticText(shown)
            laid.setTextFormat(Qt.TextFormat.PlainText)
            laid.prepare(font=self._font)
            kept = self._texts[words, room_px] = laid, self._metrics.horizontalAdvance(shown)
        return kept
