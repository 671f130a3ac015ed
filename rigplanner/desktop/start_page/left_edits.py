"""Edits that no file holds, left by a program that was closed or crashed: restored, or discarded
with a question and a way back."""

from pathlib import Path

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QFrame

from rigplanner.desktop.controls.widgets import button, label, row
from rigplanner.desktop.words import day, shortened
from rigplanner.report.language import tr, trn
from rigplanner.rig import journal


class LeftEdits(QFrame):
    """One line: which rig, how many edits, of when; `restored` asks to open it."""

    restored = Signal(object)

    def __init__(self, found: journal.Unsaved) -> None:
        super().__init__()
        self._found, self._kept = found, found.journal
        self._time = _written_at(found.journal)
        self.setProperty("role", "card")
        self.text = label("", wrap=True)
        self.open = button(tr("Restore"), self._restore, "history")
        self.drop = button(tr("Discard"), self._ask)
        self.confirm = button(tr("Discard"), self._discard)
        self.keep = button(tr("Keep"), self._show_edits)
        self.undo = button(tr("Undo"), self._bring_back)
        keys = (self.open, self.drop, self.confirm, self.keep, self.undo)
        line = row(self.text, *keys, margins=(12, 8, 12, 8))
        line.setStretch(0, 1)
        self.setLayout(line)
        self._show_edits()

    def _show(self, text: str, *buttons: object) -> None:
        self.text.setText(text)
        for each in (self.open, self.drop, self.confirm, self.keep, self.undo):
            each.setVisible(each in buttons)

    def _name(self) -> str:
        found = self._found
        where = f" ({Path(found.document).name})" if found.document else ""
        return shortened(found.rig.name, 50) + where

    def _show_edits(self) -> None:
        edits = self._found.edits
        said = (
            trn(
                "{name}: {count} unsaved change of {time} was kept",
                "{name}: {count} unsaved changes, the last of {time}, were kept",
                edits,
                name=self._name(),
                time=self._time,
            )
            if edits
            else tr(
                "{name}: unsaved changes of {time} were kept", name=self._name(), time=self._time
            )
        )
        self._show(said, self.open, self.drop)

    def _restore(self) -> None:
        self.hide()
        self.restored.emit(self._found)

    def _ask(self) -> None:
        self._show(
            tr("Discard the unsaved changes of {name}?", name=self._name()), self.confirm, self.keep
        )
        self.keep.setFocus()

    def _discard(self) -> None:
        kept = journal.set_aside(self._kept)
        if kept is None:
            self.hide()
            return
        self._kept = kept
        self._show(tr("Discarded the changes of {name}.", name=self._name()), self.undo)
        self.undo.setFocus()

    def _bring_back(self) -> None:
        try:
            self._kept = journal.bring_back(self._kept)
        except OSError:
            self.hide()
            return
        self._show_edits()
        self.open.setFocus()


def _written_at(journal_file: Path) -> str:
    """Return day and time of the last edit that a journal holds, as the language writes them."""
    try:
        seconds = journal_file.stat().st_mtime
    except OSError:
        return tr("an unknown time")
    moment = QDateTime.fromSecsSinceEpoch(int(seconds))
    time = QLocale().toString(moment.time(), QLocale.FormatType.ShortFormat)
    return f"{day(moment.date().toString(Qt.DateFormat.ISODate))}, {time}"
