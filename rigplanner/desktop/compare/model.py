"""The table of a comparison: heads of groups, values, and the difference from the baseline coloured
by better or worse."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QMargins,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.words import interval, shortened
from rigplanner.planning.compare import CompareRow
from rigplanner.report.comparison.content import (
    ATTRIBUTE_WORDS,
    GROUP_WORDS,
    delta_text,
    row_text,
    row_title,
    subject_text,
)
from rigplanner.report.language import tr

Index = QModelIndex | QPersistentModelIndex
DELTA_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class CompareModel(QAbstractTableModel):
    """Attributes as rows under the heads of their groups, rigs as columns."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.rows: tuple[CompareRow, ...] = ()
        self.lines: tuple[CompareRow | str, ...] = ()
        self.baseline = 0

    def show(self, names: tuple[str, ...], rows: tuple[CompareRow, ...], baseline: int) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.names, self.rows, self.baseline = names, rows, baseline
        self.lines = tuple(_with_heads(rows))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.names) + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return "" if section == 0 else self.names[section - 1]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole:
            return self._head_tip(section)
        return None

    def _head_tip(self, section: int) -> str:
        what = self.names[section - 1] if section else tr("What is compared.")
        changes = (
            tr("A click on a value shows how it comes about; colours refer to the baseline.")
            if section
            else tr("What was chosen comes before what it brings.")
        )
        return plain(f"{what}\n{changes}")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line, n = self.lines[index.row()], index.column() - 1
        if isinstance(line, str):
            return _head_data(line, role) if n < 0 else None
        if n < 0:
            return (
                ATTRIBUTE_WORDS[line.attribute.code]
                if role == Qt.ItemDataRole.DisplayRole
                else None
            )
        best = n in line.best and line.differs
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(line, n)
        if role == Qt.ItemDataRole.DecorationRole and line.attribute.code == "verdict":
            return icons.verdict_icon(str(line.values[n]))
        if role == Qt.ItemDataRole.DecorationRole and best:
            return icons.icon("tick", "fits")
        if role == Qt.ItemDataRole.FontRole and best:
            return sized_font(1.0, semibold=True)
        if role == DELTA_ROLE:
            return self._delta(line, n)
        if role == Qt.ItemDataRole.ToolTipRole:
            if line.lows:
                return (
                    interval(line.lows[n], line.highs[n], line.attribute.unit)
                    if line.lows[n] is not None
                    else None
                )
            return plain(self._text(line, n)) if isinstance(line.values[n], str) else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(
                text
                for text in (
                    self.names[n],
                    row_title(line),
                    self._text(line, n),
                    tr("best") if best else "",
                )
                if text
            )
        return None

    def _text(self, line: CompareRow, n: int) -> str:
        text = row_text(line, n)
        delta = self._delta(line, n)
        return f"{text}   {delta[0]}" if delta else text

    def _delta(self, line: CompareRow, n: int) -> tuple[str, str] | None:
        """The difference from the baseline and the token of its colour: better, worse or
        neither."""
        delta = line.deltas[n]
        if not delta or n == self.baseline:
            return None
        better = {"more": delta > 0, "less": delta < 0}.get(line.attribute.direction)
        token = "soft" if better is None else "fits" if better else "fails"
        return delta_text(line, n), token


def _with_heads(rows: tuple[CompareRow, ...]) -> Iterator[CompareRow | str]:
    """Each group and each workload begins with a line that names it."""
    head = ""
    for line in rows:
        name = subject_text(line) or GROUP_WORDS[line.attribute.group]
        if name != head:
            head = name
            yield head
        yield line


def _head_data(text: str, role: int) -> Any:
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        return shortened(text, 80)
    if role == Qt.ItemDataRole.FontRole:
        return sized_font(0.9, semibold=True)
    return look.tokens.color("soft") if role == Qt.ItemDataRole.ForegroundRole else None


class DeltaCells(QStyledItemDelegate):
    """Paints the difference from the baseline in the colour of better or worse behind the value, or
    below it in a narrow column."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return (
            size.grownBy(QMargins(0, 4, 0, 4))
            if size.height() > 1.3 * row_px()
            else QSize(size.width(), row_px())
        )

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        delta = index.data(DELTA_ROLE)
        if not delta:
            super().paint(painter, option, index)
            return
        styled = QStyleOptionViewItem(option)
        self.initStyleOption(styled, index)
        styled.text = styled.text.removesuffix(delta[0]).rstrip()
        style, small = QApplication.style(), QFontMetrics(small_font())
        area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, styled, styled.widget)
        taken = QFontMetrics(styled.font).horizontalAdvance(styled.text) + 16
        below = area.width() < taken + small.horizontalAdvance(delta[0])
        flags = Qt.AlignmentFlag.AlignTop if below else Qt.AlignmentFlag.AlignVCenter
        styled.displayAlignment = Qt.AlignmentFlag.AlignLeft | flags
        if below:
            styled.rect = option.rect.adjusted(0, 4, 0, -4)
            area = style.subElementRect(
                QStyle.SubElement.SE_ItemViewItemText, styled, styled.widget
            )
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, styled, painter, styled.widget)
        painter.save()
        painter.setFont(small_font())
        painter.setPen(look.tokens.color(delta[1]))
        room = area if below else area.adjusted(taken, 0, 0, 0)
        shown = small.elidedText(delta[0], Qt.TextElideMode.ElideRight, room.width())
        flags = Qt.AlignmentFlag.AlignBottom if below else Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | flags, shown)
        painter.restore()
