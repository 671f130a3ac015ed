"""Closing with edits that no file holds: they are kept, and this is said."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog

from rigplanner.desktop import documents
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.help.hints import give_hints
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import shortened
from rigplanner.report.language import tr


class LeavingDialog(QDialog):
    """Says what becomes of the edits, and closes, saves or stays."""

    def __init__(self, desk: Desk, kept: bool) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Close RigPlanner"))
        self._desk = desk
        name = shortened(desk.session.rig.name, 50)
        head = (
            tr("Your changes to {name} are kept.", name=name)
            if kept
            else tr("Your changes to {name} cannot be kept.", name=name)
        )
        text = (
            tr("They are not in its file yet. The next start brings them back, with their history.")
            if kept
            else tr("The disk refused them. Save the rig, or they are lost.")
        )
        self.again = QCheckBox(tr("Say this every time"))
        self.again.setChecked(not kept)
        self.again.setVisible(kept)
        self.go = button(tr("Close"), self._close, role="primary" if kept else "")
        self.save = button(tr("Save…"), self._save, role="" if kept else "primary")
        stay = button(tr("Cancel"), self.reject)
        self.setLayout(
            column(
                label(head, "strong", wrap=True),
                label(text, wrap=True),
                self.again,
                row(1, stay, self.save, self.go),
                margins=(20, 16, 20, 16),
                spacing=12,
            )
        )
        self.setMinimumWidth(row_px() * 18)
        (self.go if kept else self.save).setDefault(True)
        (self.go if kept else self.save).setFocus()

    def _close(self) -> None:
        if self.again.isVisibleTo(self) and not self.again.isChecked():
            self._desk.session.preferences.change(told_kept=True)
        self.accept()
        self._desk.close()

    def _save(self) -> None:
        self.reject()
        documents.save(self._desk)


def leave(desk: Desk) -> LeavingDialog | None:
    """Close the window; with unsaved edits say first that they are kept, unless that is known."""
    session = desk.session
    unsaved = session.is_open and session.unsaved
    kept = session.record_now()
    if not unsaved or (kept and session.preferences.now.told_kept):
        desk.close()
        return None
    dialog = LeavingDialog(desk, kept)
    give_hints(dialog)
    dialog.open()
    return dialog
