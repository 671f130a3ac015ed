"""Cells of figures: flush right, the unit lighter than the value."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from rigplanner.desktop.look.theme import look, sized_font
from rigplanner.desktop.words import THIN

PADDING = 7


def split_unit(text: str) -> tuple[str, str]:
    """Return a figure and its unit with the space before it; thin spaces also stand between
    thousands, so the last one counts."""
    head, space, unit = text.rpartition(THIN)
    return (head, space + unit) if space and unit and not unit[0].isdigit() else (text, "")


class UnitCells(QStyledItemDelegate):
    """Paints the columns that hold figures."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        value, unit = split_unit(text)
        styled = QStyleOptionViewItem(option)
        self.initStyleOption(styled, index)
        styled.text = ""
        style = QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, styled, painter, styled.widget)
        area: QRect = styled.rect.adjusted(PADDING, 0, -PADDING, 0)
        painter.save()
        painter.setFont(sized_font(1.0))
        metrics = QFontMetrics(painter.font())
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        chosen = styled.palette.color(QPalette.ColorRole.HighlightedText)
        selected = bool(styled.state & QStyle.StateFlag.State_Selected)
        painter.setPen(chosen if selected else look.tokens.color("soft"))
        painter.drawText(area, flags, unit)
        painter.setPen(chosen if selected else look.tokens.color("text"))
        painter.drawText(area.adjusted(0, 0, -metrics.horizontalAdvance(unit), 0), flags, value)
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Room for the whole figure as it is painted: a number that lost its first digit would be
        another number."""
        hint = super().sizeHint(option, index)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        wide = QFontMetrics(sized_font(1.0)).horizontalAdvance(text) + 2 * PADDING + 1
        return QSize(max(hint.width(), wide), hint.height())
