"""New, open, save and the ways out of the house. Nothing here waits for an answer: file dialogs call back."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from rigplanner.desktop.ask_file import ask_file
from rigplanner.desktop.preferences import begin
from rigplanner.report.language import tr
from rigplanner.whole_file import write_whole

if TYPE_CHECKING:
    from rigplanner.desktop.session import Session
    from rigplanner.desktop.window import Window

RIG_FILES = "Rigs (*.rig);;All files (*)"
DROPPED = {".csv": "csv", ".zip": "opendb", ".html": "coolpc", ".htm": "coolpc", ".php": "coolpc", ".jsonl": "pc-part-dataset"}
"""Ending of a dropped file to the source that the import dialog reads it as."""


def leave_rig(session: "Session", then: Callable[[], object]) -> None:
    """Go on with `then`; edits that no file holds can be brought back by one button."""
    left, path, unsaved = session.rig, session.path, session.is_open and session.unsaved
    then()
    if unsaved and session.rig is not left:

        def back() -> None:
            session.start_rig(left, tr("Bring back"), path)
            session.mark_unsaved()

        session.tell(tr("{name} had edits that were not saved.", name=left.name), "warning", tr("Bring it back"), back)  # fmt: skip


def new_rig(window: "Window") -> None:
    """Start an empty rig and show the parts."""
    session = window.session
    leave_rig(session, lambda: session.start_rig(begin(session.preferences.now), tr("New rig")))
    window.show_tab("Parts")


def open_file(window: "Window", path: Path, sample: bool = False) -> None:
    """Open a rig file and show its parts."""
    before = window.session.rig
    leave_rig(window.session, lambda: window.session.open(path, sample))
    if window.session.rig is not before:
        window.show_tab("Parts")
        window.show_first_item()


def open_dropped(window: "Window", paths: list[Path]) -> None:
    """Do what files that were dropped ask for: open a rig, add a model, import parts or prices; say what is none of these."""
    from rigplanner.desktop.dialogs.imports import open_import

    for path in paths[:1]:
        ending = path.suffix.casefold()
        if ending == ".rig" or (ending == ".json" and "config" not in path.stem.casefold()):
            open_file(window, path)
        elif window.view("Workloads").add.takes(str(path)):
            window.show_tab("Workloads")
            window.view("Workloads").add.add_file(path)
        elif (source := DROPPED.get(ending)) is not None:
            dialog = open_import(window)
            dialog.source.setCurrentIndex(dialog.source.findData(source))
            dialog.read(path)
        elif ending in (".txt", ".md", ".xlsx"):
            ask_parts_list(window)
            window.view("Start").read_list(path)
        else:
            window.session.tell(tr("{name} is no rig, model, parts list or price list.", name=path.name[:100]), "warning")


def ask_open(window: "Window") -> None:
    """Ask for a rig file."""
    ask_file(window, tr("Open a rig"), lambda path: open_file(window, path), tr(RIG_FILES), folder=window.session.folder)


def ask_locate(window: "Window", name: str) -> None:
    """Ask where a recent file that is no longer in its place has gone, and open it there."""

    def found(path: Path) -> None:
        window.session.preferences.forget_file(name)
        open_file(window, path)

    ask_file(window, tr("Where is {name} now", name=Path(name).name), found, tr(RIG_FILES), folder=window.session.folder)


def save(window: "Window") -> None:
    """Write the rig to its file, or ask for one."""
    if window.session.path is None:
        ask_save(window)
    else:
        window.session.save(window.session.path)


def ask_save(window: "Window") -> None:
    """Ask where to write the rig."""
    session = window.session
    name = f"{file_name(session.rig.name)}.rig"
    ask_file(window, tr("Save the rig"), session.save, tr(RIG_FILES), "new file", session.folder, name, "rig")


def ask_save_quote(window: "Window") -> None:
    """Ask where to write the quote."""
    session = window.session
    name = f"{file_name(session.rig.name)}.pdf"
    ask_file(
        window, tr("Save the quote"), lambda path: save_quote(session, path), "PDF (*.pdf)", "new file", session.folder, name, "pdf"
    )


def quote_bytes(session: "Session") -> bytes | None:
    """Return the quote's PDF, None when the rig could not be assessed."""
    from rigplanner.report.quote_pdf import quote_pdf

    assessment = session.assessment
    return None if assessment is None else quote_pdf(assessment, session.catalog, date.fromisoformat(session.today))


def save_quote(session: "Session", path: Path) -> bool:
    """Write the very bytes that the preview shows."""
    content = quote_bytes(session)
    if content is None:
        session.tell(tr("There is no quote: the rig could not be assessed."), "error")
        return False
    try:
        write_whole(path, content)
    except OSError as fault:
        session.tell(
            tr("{path}: not written ({reason}).", path=path, reason=fault.strerror or fault),
            "error",
            tr("Try again"),
            lambda: save_quote(session, path),
        )
        return False
    session.tell(tr("Written {name}.", name=path.name))
    return True


def copy_as(window: "Window", form: str) -> None:
    """Put the rig on the clipboard in a form of the exports."""
    from rigplanner.report.export import export
    from rigplanner.report.quote import quote_content

    session = window.session
    assessment = session.assessment
    if assessment is None:
        session.tell(tr("There is nothing to copy: the rig could not be assessed."), "error")
        return
    content = quote_content(assessment, session.catalog, date.fromisoformat(session.today))
    QGuiApplication.clipboard().setText(export(content, form))
    session.tell(tr("Copied as {form}.", form=form))


def ask_parts_list(window: "Window") -> None:
    """Show the start page's field for a parts list."""
    window.show_tab("Start")
    window.view("Start").focus_paste()


def file_name(name: str) -> str:
    """Return a rig's name as a file name."""
    kept = "".join(c if c.isalnum() or c in " -_.+" else "-" for c in name).strip(" .-")
    return kept[:80] or "rig"
