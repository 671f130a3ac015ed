"""What happens to a fault of the program itself: it is told in the window, with a report to read
and copy, and nothing is lost."""

import logging
import platform
import sys
import traceback
from types import TracebackType

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit

from rigplanner import __version__
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.look.theme import row_px
from rigplanner.report.language import tr

log = logging.getLogger(__name__)


def report(
    kind: type[BaseException], fault: BaseException, trace: TracebackType | None, done: str = ""
) -> str:
    """Return what a person can send to the makers: versions, the last step's name and the trace,
    nothing of the rig."""
    import PySide6

    lines = traceback.format_exception(kind, fault, trace)
    head = (
        f"RigPlanner {__version__}, Python {platform.python_version()}, PySide6"
        f" {PySide6.__version__}, {platform.platform()}"
    )
    return "\n".join((head, f"Last step: {done or 'none'}", "", "".join(lines)))


class CrashDialog(QDialog):
    """The report, to be copied; nothing is sent by itself."""

    def __init__(self, desk: Desk, text: str) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Something went wrong"))
        self.resize(row_px() * 30, row_px() * 18)
        self._desk = desk
        self.text = QPlainTextEdit(text, readOnly=True)
        self.text.setAccessibleName(tr("Report"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        said = tr(
            "The rig and its history are kept, and its edits are in the journal. Nothing is sent by"
            " itself: the report below goes where you paste it. It names versions and places in the"
            " program, nothing of the rig."
        )
        copy = button(tr("Copy report"), self.copy, "copy", "primary")
        save = button(tr("Save the rig"), self._save, "save")
        save.setEnabled(desk.session.is_open)
        self.setLayout(
            column(
                label(tr("Something went wrong inside RigPlanner"), "large"),
                label(said, "small", wrap=True),
                self.text,
                row(copy, save, 1, button(tr("Close"), self.close)),
                margins=(20, 16, 20, 16),
                spacing=10,
            )
        )

    def copy(self) -> None:
        """Put the report on the clipboard."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _save(self) -> None:
        self._desk.actions_by_id["save"].trigger()


def show_in(desk: Desk) -> None:
    """Tell faults that nobody caught in the window's message line, with the report behind a
    button."""

    def hook(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, fault, trace)
            return
        log.error("A fault that nobody caught.", exc_info=(kind, fault, trace))
        session = desk.session
        session.record_now()
        text = report(kind, fault, trace, session.undo_name())
        said = tr(
            "Something went wrong inside RigPlanner ({kind}). The rig is kept.", kind=kind.__name__
        )
        session.tell(said, "error", tr("Show report"), lambda: CrashDialog(desk, text).open())

    sys.excepthook = hook
