"""New, open and save. Nothing here waits for an answer: file dialogs call back."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu

from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.exports import file_name
from rigplanner.desktop.document.preferences import begin
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.words import shortened
from rigplanner.path_text import path_of
from rigplanner.report.language import tr
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import RigFault, read_rig

RIG_FILES = "Rigs (*.rig);;All files (*)"


def leave_rig(session: Session, then: Callable[[], object]) -> None:
    """Go on with `then`; edits that no file holds can be brought back by one button."""
    left, mark, unsaved = session.rig, session.mark(), session.is_open and session.unsaved
    then()
    if unsaved and session.rig is not left:
        session.tell(
            tr("The unsaved changes of {name} are kept.", name=shortened(left.name, 40)),
            "warning",
            tr("Back to it"),
            lambda: session.come_back(mark),
        )


def take_rig(session: Session, rig: Rig, step: str) -> None:
    """Put a rig that no file holds yet in place of the open one."""

    def show() -> None:
        session.start_rig(rig, step)
        session.mark_unsaved()

    leave_rig(session, show)


def new_rig(desk: Desk) -> None:
    """Start an empty rig and show the parts."""
    session = desk.session
    leave_rig(session, lambda: session.start_rig(begin(session.preferences.now), tr("New rig")))
    desk.open_tab("Parts")


def open_file(desk: Desk, path: Path, sample: bool = False) -> None:
    """Open a rig file and show its parts."""
    before = desk.session.rig
    leave_rig(desk.session, lambda: desk.session.open(path, sample))
    if desk.session.rig is not before:
        desk.show_first_item()


def rig_title(path: Path) -> str:
    """Return the name of the rig in a file, the file's own name where it cannot be read."""
    try:
        return shortened(read_rig(path).name, 50)
    except RigFault:
        return shortened(path.stem, 50)


def fill_recent(desk: Desk, menu: QMenu) -> None:
    """Fill the menu of recent rigs; those whose file is gone are grey."""
    menu.clear()
    names = desk.session.preferences.now.recent
    for name in names:
        path = path_of(name)
        entry = menu.addAction(
            shortened(path.stem, 40).replace("&", "&&"), partial(open_file, desk, path)
        )
        entry.setToolTip(plain(str(path)))
        entry.setEnabled(path.is_file())
    if not names:
        menu.addAction(tr("None yet")).setEnabled(False)
    menu.setToolTipsVisible(True)


def ask_open(desk: Desk) -> None:
    """Ask for a rig file."""
    ask_file(
        desk.window(),
        tr("Open a rig"),
        lambda path: open_file(desk, path),
        tr(RIG_FILES),
        folder=desk.session.folder,
    )


def ask_locate(desk: Desk, name: str) -> None:
    """Ask where a recent file that is no longer in its place has gone, and open it there."""

    def found(path: Path) -> None:
        desk.session.preferences.forget_file(name)
        open_file(desk, path)

    ask_file(
        desk.window(),
        tr("Locate {name}", name=Path(name).name),
        found,
        tr(RIG_FILES),
        folder=desk.session.folder,
    )


def save(desk: Desk) -> None:
    """Write the rig to its file, or ask for one."""
    if desk.session.path is None:
        ask_save(desk)
    else:
        desk.session.save(desk.session.path)


def save_as(session: Session, path: Path) -> None:
    """Write the rig to a file of another name, and offer that name for the rig: two rigs of one
    name cannot be told apart."""
    elsewhere, name = session.path is not None and path != session.path, path.stem
    if session.save(path) and elsewhere and file_name(session.rig.name) != name:
        session.tell(
            tr("Saved {name}.", name=path.name),
            "info",
            tr("Rename the rig to {name}", name=shortened(name, 30)),
            lambda: session.edit(tr("Rename to {name}", name=name), Edit("rename", {"name": name})),
        )


def ask_save(desk: Desk) -> None:
    """Ask where to write the rig."""
    session = desk.session
    name = f"{file_name(session.rig.name)}.rig"
    ask_file(
        desk.window(),
        tr("Save the rig"),
        lambda path: save_as(session, path),
        tr(RIG_FILES),
        "new file",
        session.folder,
        name,
        "rig",
    )


def ask_parts_list(desk: Desk) -> None:
    """Show the start page's field for a parts list."""
    desk.show_tab("Start")
    desk.view("Start").focus_paste()
