"""Cells of the catalog table, painted from prepared texts: a keystroke repaints some 200 of them within a frame."""

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QStaticText
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from rigplanner.desktop import icons
from rigplanner.desktop.parts_model import PartsModel
from rigplanner.desktop.theme import look, sized_font
from rigplanner.desktop.words import THIN

PADDING_PX = 6
KEPT_TEXTS = 4000


class PartsCells(QStyledItemDelegate):
    """Paints text left-aligned and shortened to the column, figures right-aligned with a lighter unit."""

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
        self._colors = {tone: look.tokens.color(tone) for tone in ("text", "soft", "warns", "selection")}

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        area: QRect = option.rect
        column = index.column()
        cell = self._model.cells(index.row())[column]
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, self._colors["selection"])
        painter.setFont(self._font)
        left, top = area.x() + PADDING_PX, area.y() + (area.height() - self._metrics.height()) / 2
        room = area.width() - 2 * PADDING_PX
        if cell.icon:
            icons.icon(cell.icon, cell.tone).paint(
                painter, left, area.y(), icons.SIZE_PX, area.height(), Qt.AlignmentFlag.AlignVCenter
            )
            left, room = left + icons.SIZE_PX + 4, room - icons.SIZE_PX - 4
        if not self._model.is_figure(column):
            painter.setPen(self._colors["text"])
            painter.drawStaticText(QPointF(left, top), self._text(cell.text, room)[0])
            return
        unit, unit_px = self._text(THIN + cell.unit, room) if cell.unit else (None, 0)
        text, text_px = self._text(cell.text, room - unit_px)
        painter.setPen(self._colors[cell.tone])
        painter.drawStaticText(QPointF(left + room - unit_px - text_px, top), text)
        if unit is not None:
            painter.setPen(self._colors["soft"])
            painter.drawStaticText(QPointF(left + room - unit_px, top), unit)

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
