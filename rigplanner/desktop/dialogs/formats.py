"""Number formats with what the rig's GPU does with each, and the generations of GPUs."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QTableWidget, QTabWidget

from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.planning.formats import formats_on
from rigplanner.planning.generations import generations
from rigplanner.report.language import tr
from rigplanner.report.words.formats import (
    format_heads,
    format_rows,
    generation_heads,
    generation_rows,
)


def formats_dialog(desk: Desk) -> QDialog:
    """Show the dialog over the window."""
    dialog = QDialog(desk.window())
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(tr("Number formats and generations"))
    dialog.resize(row_px() * 44, row_px() * 18)
    note = label(
        tr(
            "Bits are sign, exponent and mantissa: the exponent makes the range, the mantissa the"
            " steps. Rates are dense peaks of the data sheets."
        ),
        "small",
        wrap=True,
    )
    tabs = QTabWidget()
    tabs.setAccessibleName(tr("Number formats and generations"))
    tabs.tabBar().setAccessibleName(tr("Number formats and generations"))
    tabs.addTab(_formats(desk), tr("Formats"))
    tabs.addTab(_generations(desk), tr("Generations"))
    close = button(tr("Close"), dialog.close, role="primary")
    dialog.setLayout(column(note, tabs, row(1, close), margins=(20, 16, 20, 16), spacing=12))
    give_hints(dialog)
    dialog.open()
    return dialog


def _formats(desk: Desk) -> QTableWidget:
    """The table of formats, with a column of the rig's first GPU where it has one."""
    assessment = desk.session.assessment
    gpus = assessment.machine.gpus if assessment else ()
    found = formats_on(gpus[0].gpu) if gpus else ()
    table = plain_table(tr("Formats"), format_heads(gpus[0].gpu.name if gpus else None))
    fill(table, format_rows(found), numbers=(1, 2, 3))
    return _wide(table)


def _wide(table: QTableWidget) -> QTableWidget:
    """A table whose columns are as wide as their texts and heads, with room beside."""
    table.resizeColumnsToContents()
    for at in range(table.columnCount()):
        table.setColumnWidth(at, table.columnWidth(at) + row_px())
    return table


def _generations(desk: Desk) -> QTableWidget:
    table = plain_table(tr("Generations"), generation_heads())
    fill(table, generation_rows(generations(desk.session.catalog)))
    return _wide(table)
