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


@pytest.mark.parametrize("kind", ["gpu", "storage", "psu"])
def test_figures_of_every_row_have_room_in_the_catalog(window, kind: str) -> None:
    view = window.parts
    window.show_tab("Parts")
    view.browse(kind)
    metrics = QFontMetrics(sized_font(1.0))
    for column in range(2, view.model.columnCount()):
        if view.table.isColumnHidden(column):
            continue
        room = view.table.columnWidth(column)
        cells = [view.model.cells(line)[column] for line in range(len(view.model.parts))]
        figures = [cell for cell in cells if cell.unit]
        wide = [f for f in figures if metrics.horizontalAdvance(f"{f.text} {f.unit}") > room]
        assert len(wide) * 50 <= len(figures), (column, wide[:3])
