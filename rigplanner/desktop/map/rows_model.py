"""Ranked rows as a table: the words are those of the command's."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.help.hints import column_hint
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look
from rigplanner.planning.map.rank import RUNS, Fit, Row
from rigplanner.report.language import tr
from rigplanner.report.map.figures import title_of
from rigplanner.report.map.table import RIGHT, TEXT_HEADS, cells
from rigplanner.report.words.faults import fault_text

Index = QModelIndex | QPersistentModelIndex
NAME_COLUMN, FIT_COLUMN = 1, 2
KNOWN_OF_ALL = (NAME_COLUMN, FIT_COLUMN, 5, 6)
"""Columns that rows without a speed fill too."""
STATES: dict[Fit, tuple[str, str]] = {
    "fits": ("tick", "fits"),
    "tight": ("warn", "warns"),
    "host": ("warn", "warns"),
    "slow": ("cross", "fails"),
    "no": ("cross", "fails"),
    "unknown": ("question", "unknown"),
}
"""Icon and colour of what memory says; the word stands beside them."""


class RowsModel(QAbstractTableModel):
    """Rows in their order; cells are made when they are looked at."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.currency = "USD"
        self._cells: dict[int, tuple[str, ...]] = {}

    def show(self, rows: list[Row], currency: str) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows, self.currency = rows, currency
        self._cells.clear()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(TEXT_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(TEXT_HEADS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column_hint(tr(TEXT_HEADS[section])))
        return None

    def cells_of(self, at: int) -> tuple[str, ...]:
        """Return a row in words."""
        if at not in self._cells:
            self._cells[at] = cells(self.rows[at], self.currency)
        return self._cells[at]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, n = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            if row.score is None and n not in KNOWN_OF_ALL:
                return self.tip(index.row()) if n == len(TEXT_HEADS) - 1 else ""
            return self.cells_of(index.row())[n]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(n)
        if role == Qt.ItemDataRole.DecorationRole and n == FIT_COLUMN:
            return icons.icon(*STATES[row.fit])
        if role == Qt.ItemDataRole.ForegroundRole and row.fit not in RUNS:
            return look.tokens.color("soft")
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = self.tip(index.row())
            return plain(f"{title_of(row)}\n{tip}" if n == NAME_COLUMN else tip)
        return None

    def tip(self, at: int) -> str:
        """Return why a row does not run, or where its price comes from."""
        row = self.rows[at]
        fault = next((answer.fault for answer in row.answers if answer.fault), "")
        if fault:
            return fault_text(fault)
        return row.price.source if row.price else row.name


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
