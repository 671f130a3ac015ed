"""Plain read-only tables for a handful of rows."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.look.theme import row_px


def plain_table(name: str, heads: Sequence[str]) -> QTableWidget:
    """Return an empty table whose rows can be selected and not edited."""
    made = QTableWidget(0, len(heads))
    made.setHorizontalHeaderLabels(list(heads))
    made.setAccessibleName(name)
    made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    made.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    made.setShowGrid(False)
    made.setTabKeyNavigation(False)
    made.verticalHeader().setDefaultSectionSize(row_px())
    made.verticalHeader().setVisible(False)
    made.horizontalHeader().setHighlightSections(False)
    made.horizontalHeader().setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    if heads:
        made.horizontalHeader().setStretchLastSection(True)
    return made


def fill(
    table: QTableWidget,
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
    tips: Sequence[str] = (),
) -> None:
    """Fill a table; the columns in `numbers` are right-aligned, `tips` are the tool tips of the
    rows. Cells that stay are kept."""
    if table.rowCount() != len(rows):
        table.setRowCount(len(rows))
    for n, line in enumerate(rows):
        for m, text in enumerate(line):
            item = table.item(n, m)
            if item is None:
                item = QTableWidgetItem(text)
                if m in numbers:
                    item.setTextAlignment(
                        Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                    )
                table.setItem(n, m, item)
            elif item.text() != text:
                item.setText(text)
            if n < len(tips):
                item.setToolTip(plain(tips[n]))
    for m in numbers:
        if (head := table.horizontalHeaderItem(m)) is not None:
            head.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def stretch_first(table: QTableWidget) -> None:
    """Let the first column take the width that the others leave."""
    head = table.horizontalHeader()
    head.setStretchLastSection(False)
    for n in range(table.columnCount()):
        head.setSectionResizeMode(
            n, QHeaderView.ResizeMode.ResizeToContents if n else QHeaderView.ResizeMode.Stretch
        )


def fit_height(table: QTableWidget, most: int) -> None:
    """Make a table as high as its rows, up to `most` of them; it scrolls only beyond."""
    rows = max(1, min(most, table.rowCount()))
    scrolls = table.rowCount() > most
    policy = (
        Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    )
    table.setVerticalScrollBarPolicy(policy)
    head = table.horizontalHeader().sizeHint().height()
    table.setFixedHeight(
        head + rows * table.verticalHeader().defaultSectionSize() + 2 * table.frameWidth()
    )
