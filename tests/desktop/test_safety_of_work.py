"""Nothing that somebody made is lost by a click, and the window says so."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication

from rigplanner.desktop import documents
from rigplanner.desktop.dialogs.leaving import LeavingDialog, leave
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.start_page.left_edits import LeftEdits
from rigplanner.desktop.window import Window
from rigplanner.rig import journal
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit


class Spontaneous(QCloseEvent):
    """What a window manager's cross sends."""

    def spontaneous(self) -> bool:
        return True


@pytest.fixture
def edited(window: Window, sample_folder: Path) -> Window:
    documents.open_file(window, sample_folder / "rtx-5090.rig", sample=True)
    for n in (1, 2, 3):
        window.session.edit(f"name {n}", Edit("rename", {"name": f"mine {n}"}))
    return window


def dialogs(window: Window) -> list[LeavingDialog]:
    return [each for each in window.findChildren(LeavingDialog) if each.isVisible()]


def test_closing_with_edits_says_that_they_are_kept(edited: Window) -> None:
    edited.closeEvent(event := Spontaneous())
    (dialog,) = dialogs(edited)
    assert not event.isAccepted()
    assert edited.isVisible()
    assert edited.session.record_now()
    dialog.reject()
    assert edited.isVisible()
    edited.actions_by_id["quit"].trigger()
    dialog = dialogs(edited)[-1]
    dialog.go.click()
    assert not edited.isVisible()
    assert edited.session.preferences.now.told_kept


def test_without_edits_or_once_it_is_known_nothing_is_asked(window: Window, edited: Window) -> None:
    window.session.preferences.change(told_kept=True)
    assert leave(window) is None
    assert not window.isVisible()


def test_a_disk_that_refuses_is_told_before_anything_is_lost(
    edited: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited.session.preferences.change(told_kept=True)

    def refuse(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(journal, "record", refuse)
    dialog = leave(edited)
    assert dialog is not None
    assert edited.isVisible()
    assert dialog.save.isDefault()
    dialog.reject()


def test_the_way_back_brings_the_history_and_no_second_journal(
    edited: Window, tmp_path: Path
) -> None:
    messages = []
    session = edited.session
    session.message_given.connect(messages.append)
    history = session.history
    documents.new_rig(edited)
    messages[-1].deed()
    assert session.history == history
    assert session.unsaved
    session.undo()
    assert session.rig.name == "mine 2"
    session.record_now()
    assert len(list((tmp_path / "journals").glob("*.journal"))) == 1


@pytest.fixture
def left(qtbot, tmp_path: Path) -> LeftEdits:
    name = journal.new_journal(tmp_path)
    steps = [journal.Step(f"edit {n}", Rig(name=f"state {n}")) for n in range(3)]
    journal.record(name, steps[-1].rig, None, steps)
    content = name.read_bytes()
    journal.forget(name)
    name.write_bytes(content)
    (found,) = journal.unsaved(tmp_path)
    card = LeftEdits(found)
    qtbot.addWidget(card)
    card.show()
    return card


def test_discarding_asks_once_and_can_be_undone(left: LeftEdits, tmp_path: Path) -> None:
    assert "2 unsaved changes" in left.text.text()
    left.drop.click()
    assert len(journal.unsaved(tmp_path)) == 1, "the question alone discards nothing"
    left.confirm.click()
    assert journal.unsaved(tmp_path) == []
    left.undo.click()
    assert len(journal.unsaved(tmp_path)) == 1
    assert left.open.isVisible()


def test_recovered_work_opens_with_its_history(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    name = journal.new_journal(folder)
    steps = [journal.Step(f"edit {n}", Rig(name=f"state {n}")) for n in range(4)]
    journal.record(name, steps[-1].rig, None, steps)
    content = name.read_bytes()
    journal.forget(name)
    name.write_bytes(content)
    (found,) = journal.unsaved(folder)
    session.restore(found)
    assert session.history == tuple(step.name for step in steps)
    assert (session.rig.name, session.unsaved) == ("state 3", True)
    session.undo()
    assert session.rig.name == "state 2"
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
