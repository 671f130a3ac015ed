"""This figure is wrong: one field, what it should be, the evidence; a file to send comes of it."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QLineEdit, QWidget

from rigplanner.catalog.correction import CorrectionFault, correction, encoded
from rigplanner.catalog.schema.parts import AnyPart, kind_of
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.document.exports import ask_export, write
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.parts.columns import COLUMNS
from rigplanner.desktop.parts.model import figure_cell
from rigplanner.report.language import tr


class CorrectionDialog(QDialog):
    """Asks for the field, the figure that is right, and where that can be seen."""

    def __init__(self, session: Session, part: AnyPart, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("This figure is wrong"))
        self.resize(row_px() * 22, row_px() * 9)
        self._session, self._part = session, part
        self.field = QComboBox()
        self.field.setAccessibleName(tr("Figure"))
        for spec in COLUMNS[kind_of(part)]:
            if spec.field:
                shown = figure_cell(spec.of(part), spec)
                said = f"{shown.text} {shown.unit}".strip() or tr("unknown")
                self.field.addItem(f"{tr(spec.title)}: {said}", spec.field)
        self.expected, self.evidence = QLineEdit(), QLineEdit()
        self.evidence.setPlaceholderText(tr("Address, document, or how you measured it"))
        self.fault = label("", "small", wrap=True)
        self.save_button = button(tr("Save the file…"), self.save, role="primary")
        form = QFormLayout()
        form.addRow(tr("Figure"), self.field)
        form.addRow(tr("Should be"), self.expected)
        form.addRow(tr("Evidence"), self.evidence)
        self.setLayout(
            column(
                label(part.name, "strong", wrap=True),
                form,
                self.fault,
                1,
                row(1, button(tr("Cancel"), self.close), self.save_button),
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )

    def content(self) -> bytes | None:
        """Return the file, or None with what is wrong shown."""
        try:
            made = correction(
                self._session.catalog,
                self._part,
                self.field.currentData(),
                self.expected.text(),
                self.evidence.text(),
                self._session.today,
            )
        except CorrectionFault as fault:
            self.fault.setText(f"{fault}.")
            return None
        return encoded(made)

    def save(self) -> None:
        """Ask where, and write the file."""
        content = self.content()
        if content is None:
            return

        def chosen(path: Path) -> None:
            if write(self._session, path, lambda: content):
                self.close()

        name = f"{self._part.id}.correction"
        ask_export(self, self._session, tr("Save the correction"), name, "json", chosen)
