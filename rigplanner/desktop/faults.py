"""What happens to a fault of the program itself: it is told in the window, with a report to copy, and nothing is lost."""

import logging
import platform
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from rigplanner import __version__
from rigplanner.report.language import tr

if TYPE_CHECKING:
    from rigplanner.desktop.session import Session

log = logging.getLogger(__name__)


def report(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> str:
    """Return what a person can send to the makers: versions and the trace, nothing of the rig."""
    import PySide6

    lines = traceback.format_exception(kind, fault, trace)
    head = tr(
        "RigPlanner {version}, Python {python}, PySide6 {pyside}, {system}",
        version=__version__,
        python=platform.python_version(),
        pyside=PySide6.__version__,
        system=platform.platform(),
    )
    return head + "\n\n" + "".join(lines)


def show_in(session: "Session") -> None:
    """Tell faults that nobody caught in the session's message line."""

    def hook(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, fault, trace)
            return
        log.error("A fault that nobody caught.", exc_info=(kind, fault, trace))
        text = report(kind, fault, trace)
        session.tell(
            tr("Something went wrong inside RigPlanner ({name}). The rig is kept.", name=kind.__name__),
            "error",
            tr("Copy report"),
            lambda: QGuiApplication.clipboard().setText(text),
        )

    sys.excepthook = hook
