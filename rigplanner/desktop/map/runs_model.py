"""Models against a machine as a table: heads of purposes, and the runs below them."""

from itertools import groupby
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.help.hints import column_hint
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, sized_font
from rigplanner.planning.map.runs import Run
from rigplanner.report.language import tr
from rigplanner.report.map.models import HEADS, PURPOSE_WORDS, RIGHT, cells
from rigplanner.report.words.faults import fault_text

Index = QModelIndex | QPersistentModelIndex


class RunsModel(QAbstractTableModel):
    """`lines` holds the heads as texts among the runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: list[Run] = []
        self.lines: list[Run | str] = []
        self._cells: dict[int, tuple[str, ...]] = {}

    def show(self, runs: list[Run]) -> None:
        """Show other runs, in the order of their purposes."""
        self.beginResetModel()
        self.runs, self.lines = runs, []
        self._cells.clear()
        for purpose, of_kind in groupby(runs, key=lambda run: run.purpose):
            found = list(of_kind)
            count = sum(run.precision is not None for run in found)
            self.lines.append(
                tr(
                    "{purpose}: {count} of {total} run",
                    purpose=PURPOSE_WORDS[purpose],
                    count=count,
                    total=len(found),
                )
            )
            self.lines += found
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(HEADS[section])
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column_hint(tr(HEADS[section])))
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def cells_of(self, at: int) -> tuple[str, ...]:
        """Return a run in words; of a head its text."""
        line = self.lines[at]
        if isinstance(line, str):
            return (line, *[""] * (len(HEADS) - 1))
        if at not in self._cells:
            self._cells[at] = cells(line)
        return self._cells[at]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line, n = self.lines[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            text = self.cells_of(index.row())[n]
            return "" if n == 0 and not isinstance(line, str) else text
        if isinstance(line, str):
            return sized_font(1.0, semibold=True) if role == Qt.ItemDataRole.FontRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(n)
        if role == Qt.ItemDataRole.DecorationRole and n == 0 and line.best:
            return icons.icon("star-full", "fits")
        if role == Qt.ItemDataRole.ForegroundRole and line.precision is None:
            return look.tokens.color("soft")
        if role == Qt.ItemDataRole.ToolTipRole:
            best = tr("The largest of its purpose that runs well here") if line.best else ""
            return plain(fault_text(line.fault) if line.fault else best or line.name)
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
