"""Cells of figures are as wide as the figure that they paint."""

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QStyleOptionViewItem, QTableWidget, QTableWidgetItem

from rigplanner.desktop.controls.unit_cells import PADDING, UnitCells
from rigplanner.desktop.look.theme import sized_font

THIN = "\u202f"


@pytest.mark.parametrize("text", [f"15.2{THIN}tokens/s", f"1{THIN}385{THIN}images/s", "86 %"])
def test_a_cell_has_room_for_its_first_digit(qtbot, text: str) -> None:
    table = QTableWidget(1, 1)
    qtbot.addWidget(table)
    table.setItem(0, 0, QTableWidgetItem(text))
    cells = UnitCells(table)
    size: QSize = cells.sizeHint(QStyleOptionViewItem(), table.model().index(0, 0))
    assert size.width() >= QFontMetrics(sized_font(1.0)).horizontalAdvance(text) + 2 * PADDING
