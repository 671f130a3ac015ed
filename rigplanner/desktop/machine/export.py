"""The machine to a file: drawings, NCCL's topology, Graphviz, the matrix."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QPushButton

from rigplanner.desktop.document.exports import ask_export, write
from rigplanner.desktop.document.session import Session
from rigplanner.machine.model import Machine
from rigplanner.report.forms import form_title
from rigplanner.report.language import tr


def open_export(at: QPushButton, session: Session) -> QMenu:
    """Offer the forms in which the machine of the open rig can be written."""
    from rigplanner.report.machine_files import WRITERS

    menu = QMenu(at)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    assessment = session.assessment
    for form in WRITERS:
        entry = menu.addAction(form_title(form), partial(_ask, at, session, form))
        entry.setEnabled(assessment is not None and _is_drawn(assessment.machine, form))
    menu.popup(at.mapToGlobal(at.rect().bottomLeft()))
    return menu


def _is_drawn(machine: Machine, form: str) -> bool:
    """Say whether a form has anything to show; of many systems the positions of the slots are not
    known."""
    from rigplanner.report.drawing.machine import machine_picture
    from rigplanner.report.drawing.slots import slot_picture

    drawn = slot_picture if form == "slots" else machine_picture
    return bool(drawn(machine).shapes)


def _ask(at: QPushButton, session: Session, form: str) -> None:
    ask_export(
        at,
        session,
        tr("Export the machine"),
        session.rig.name,
        form,
        lambda path: save_machine(session, path, form),
    )


def save_machine(session: Session, path: Path, form: str) -> bool:
    """Write the machine in one of the forms of `machine_files.WRITERS`."""
    return write(session, path, lambda: _content(session, form))


def _content(session: Session, form: str) -> bytes | None:
    from rigplanner.report.machine_files import WRITERS

    if session.assessment is None:
        session.tell(tr("Nothing to export yet: this rig could not be checked."), "error")
        return None
    return WRITERS[form](session.assessment.machine).encode()
