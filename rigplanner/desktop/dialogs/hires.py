"""Machines for hire: every one of the catalog, searched by words, with price, spot and limits."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.desktop.controls.tables import fill, plain_table
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.report.language import tr, trn
from rigplanner.report.words.hire import HIRE_COLUMNS, hire_cells

NUMBERS = (3, 4, 5, 6)
"""Columns of numbers."""


class HiresDialog(QDialog):
    """A field for words over the table of machines for hire."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Cloud instances"))
        self._session = desk.session
        self.words = QLineEdit()
        self.words.setAccessibleName(tr("Words that name cloud instances"))
        self.words.setPlaceholderText(tr("Provider, name or GPU; also free, spot, monthly"))
        self.words.setClearButtonEnabled(True)
        self.words.setMaxLength(120)
        self.words.textChanged.connect(lambda _: self.show_found())
        self.table = plain_table(tr("Cloud instances"), [tr(head) for head in HIRE_COLUMNS])
        self.note = label("", "small", wrap=True)
        self.setLayout(
            column(
                self.words,
                self.table,
                self.note,
                row(1, button(tr("Close"), self.close, role="primary")),
                margins=(16, 12, 16, 12),
                spacing=12,
            )
        )
        self.resize(row_px() * 42, row_px() * 24)
        self.show_found()

    def show_found(self) -> None:
        """Fill the table with the machines that hold the words, and name the nearest where none
        does."""
        cloud, words = shipped_cloud(), self.words.text().split()
        found = cloud.found(words)
        fill(
            self.table,
            [hire_cells(machine, self._session.catalog) for machine in found],
            NUMBERS,
            [machine.limits.note if machine.limits else machine.notes for machine in found],
        )
        self.table.resizeColumnsToContents()
        near = cloud.nearest(" ".join(words)) if words and not found else []
        counted = trn("{count} machine", "{count} machines", len(found))
        said = tr("{counted} of {all}", counted=counted, all=len(cloud.instances))
        hint = tr("The nearest are {names}.", names=", ".join(near)) if near else ""
        if words and not found and (told := cloud.unlisted_reasons(words)):
            hint = " ".join(told)
        usual = tr(
            "An hour of work on spot: two interruptions a day, a checkpoint every hour, ten minutes"
            " to start again."
        )
        self.note.setText(" ".join(filter(None, (f"{said}.", hint, usual))))


def hires_dialog(desk: Desk) -> HiresDialog:
    """Show the machines for hire."""
    dialog = HiresDialog(desk)
    give_hints(dialog)
    dialog.open()
    return dialog
