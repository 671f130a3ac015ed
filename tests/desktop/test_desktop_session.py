"""The document: history, files, journal, locks, work aside."""

import functools
import gc
import os
import threading
import time
from pathlib import Path
from typing import ClassVar

import pytest
from desktop_waiting import settled_session

from rigplanner import garbage
from rigplanner.desktop.document import recorder
from rigplanner.desktop.document.preferences import PreferenceStore
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.document.tasks import Tasks
from rigplanner.rig import journal
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import read_rig


def name_edit(name: str) -> Edit:
    return Edit("rename", {"name": name})


def messages(session: Session) -> list:
    found: list = []
    session.message_given.connect(found.append)
    return found


def test_undo_and_redo_have_names(session):
    session.edit("Name it A", name_edit("A"))
    session.edit("Name it B", name_edit("B"))
    assert (session.undo_name(), session.redo_name()) == ("Name it B", "")
    session.undo()
    assert (session.rig.name, session.undo_name(), session.redo_name()) == (
        "A",
        "Name it A",
        "Name it B",
    )
    session.redo()
    assert session.rig.name == "B"
    session.go_to(0)
    assert session.rig == Rig()
    session.edit("Name it C", name_edit("C"))
    assert session.history == ("Open", "Name it C")


def test_one_drag_is_one_step(session):
    session.edit("Add", Edit("add_part", {"part": "x", "stem": "gpu"}))
    for quantity in (2, 3, 4):
        session.edit(
            f"Set to {quantity}",
            Edit("set_quantity", {"uid": "gpu", "quantity": quantity}),
            merge="quantity gpu",
        )
    assert session.history == ("Open", "Add", "Set to 4")
    session.undo()
    assert session.rig.items[0].quantity == 1


def test_an_impossible_edit_is_told_and_changes_nothing(session):
    told = messages(session)
    assert not session.edit("Remove", Edit("remove_item", {"uid": "nobody"}))
    assert session.rig == Rig()
    assert "nobody" in told[0].text


def test_changes_say_what_they_concern(session):
    session.assess_now(session.rig)
    session.assess_ms = 0.0
    seen: list = []
    session.rig_changed.connect(seen.append)
    session.edit("Name", name_edit("A"))
    session.edit("Add", Edit("add_part", {"part": "x", "stem": "gpu"}))
    assert [(change.machine, change.workloads) for change in seen] == [
        (False, False),
        (True, False),
    ]


def test_save_open_and_the_star(session, tmp_path, sample_folder):
    assert session.open(sample_folder / "dual-rtx-3090.rig", sample=True)
    assert (session.path, session.unsaved) == (None, False)
    session.edit("Name", name_edit("Mine"))
    assert session.unsaved
    path = tmp_path / "mine.rig"
    assert session.save(path)
    assert (session.path, session.unsaved) == (path, False)
    assert read_rig(path).name == "Mine"
    assert session.preferences.now.recent[0] == str(path)


def test_a_broken_file_keeps_the_open_rig(session, tmp_path):
    told = messages(session)
    session.edit("Name", name_edit("Kept"))
    path = tmp_path / "broken.rig"
    path.write_text("{", "utf-8")
    assert not session.open(path)
    assert session.rig.name == "Kept"
    assert "broken.rig" in told[-1].text and told[-1].level == "error"


def test_a_file_changed_by_others_is_not_overwritten_unasked(session, tmp_path):
    path = tmp_path / "shared.rig"
    session.edit("Name", name_edit("First"))
    session.save(path)
    path.write_bytes(path.read_bytes() + b" ")
    session.edit("Name", name_edit("Second"))
    told = messages(session)
    assert not session.save(path)
    assert read_rig(path).name == "First"
    assert told[-1].action == "Save anyway"
    told[-1].deed()
    assert read_rig(path).name == "Second"


def test_a_folder_that_vanished_loses_nothing(session, tmp_path):
    told = messages(session)
    session.edit("Name", name_edit("Kept"))
    assert not session.save(tmp_path / "gone" / "x.rig")
    assert session.rig.name == "Kept" and session.unsaved
    assert told[-1].action == "Try again"


def test_one_window_per_file(session, catalog, tmp_path, qapp):
    path = tmp_path / "one.rig"
    session.edit("Name", name_edit("A"))
    session.save(path)
    other = Session(catalog, PreferenceStore(None), today="2026-11-21")
    told = messages(other)
    assert not other.open(path)
    assert "another window" in told[-1].text
    session.close()
    assert other.open(path)
    other.close()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_two_windows_on_one_file_through_links(session, catalog, tmp_path, link):
    path, again = tmp_path / "a.rig", tmp_path / "b.rig"
    session.save(path)
    link(path, again)
    other = Session(catalog, PreferenceStore(None), today="2026-11-21")
    told = messages(other)
    assert not other.open(again)
    assert "another window" in told[-1].text
    assert other.path is None
    session.close()
    assert other.open(again)
    other.close()
    assert not list(tmp_path.glob(".*.lock"))


def test_saving_under_another_name_of_ones_own_file(session, tmp_path, monkeypatch):
    session.save(tmp_path / "a.rig")
    monkeypatch.chdir(tmp_path)
    session.edit("Name", name_edit("A"))
    assert session.save(Path("a.rig"))
    assert read_rig(tmp_path / "a.rig").name == "A"


def test_the_journal_brings_unsaved_edits_back(session, catalog, tmp_path, qtbot, monkeypatch):
    session.edit("Name", name_edit("Not saved"))
    assert session.record_now()
    folder = tmp_path / "journals"
    monkeypatch.setattr(journal, "_alive", lambda process: False)
    found = journal.unsaved(folder)
    assert [each.rig.name for each in found] == ["Not saved"]
    fresh = Session(catalog, PreferenceStore(None), folder, today="2026-11-21")
    fresh.restore(found[0])
    assert fresh.rig.name == "Not saved" and fresh.unsaved
    assert not found[0].journal.exists()
    fresh.close()


class Clock:
    """A timer that is told when to fire."""

    made: ClassVar[list["Clock"]] = []

    def __init__(self, delay_s, fire):
        self.delay_s, self.fire = delay_s, fire
        self.made.append(self)

    def start(self):
        pass

    def cancel(self):
        pass


def test_a_burst_of_edits_does_not_put_the_journal_off(session, monkeypatch):
    monkeypatch.setattr(Clock, "made", [])
    monkeypatch.setattr(recorder.threading, "Timer", Clock)
    for n in range(20):
        session.edit("Name", name_edit(f"Edit {n}"))
    (first,) = Clock.made
    assert first.delay_s < 0.5
    first.fire()
    assert b"Edit 19" in session._journal.read_bytes()
    session.edit("Name", name_edit("Edit 20"))
    assert len(Clock.made) == 2
    while session.position:
        session.undo()
    Clock.made[1].fire()
    assert b"Edit 20" not in session._journal.read_bytes(), "it was taken back"


def test_the_journal_is_written_while_the_window_is_held_up(session):
    """Nothing here lets an event loop turn."""
    written, write = threading.Event(), recorder.write
    session._recorder.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "write", lambda wanted: (write(wanted), written.set()))
        session.edit("Name", name_edit("Typed in time"))
        assert written.wait(30)
    assert b"Typed in time" in session._journal.read_bytes()


def test_a_window_made_anew_journals_what_was_just_typed(session, monkeypatch):
    monkeypatch.setattr(Clock, "made", [])
    monkeypatch.setattr(recorder.threading, "Timer", Clock)
    session.edit("Name", name_edit("Typed before the theme"))
    target, fresh = session._journal, session.hand_over()
    Clock.made[-1].fire()
    assert b"Typed before the theme" in target.read_bytes()
    fresh.close()


def test_what_was_restored_stands_in_a_journal_before_the_found_one_goes(
    session, catalog, tmp_path, monkeypatch
):
    left = journal.new_journal(tmp_path / "journals")
    journal.record(left, Rig(name="A day's work"), None)
    found = journal.Unsaved(rig=Rig(name="A day's work"), document=None, process=1, journal=left)
    session.restore(found)
    assert b"A day's work" in session._journal.read_bytes() and not left.exists()

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    session.record_now()
    found = journal.Unsaved(rig=session.rig, document=None, process=1, journal=session._journal)
    other = Session(catalog, PreferenceStore(None), tmp_path / "journals", today="2026-11-21")
    monkeypatch.setattr(journal, "record", refuse)
    other.restore(found)
    assert found.journal.exists()
    other.close()


def test_closing_with_unsaved_edits_keeps_them_for_the_next_start(session, tmp_path, monkeypatch):
    session.edit("Name", name_edit("Closed in haste"))
    session.close(keep_journal=True)
    monkeypatch.setattr(journal, "_alive", lambda process: False)
    assert [each.rig.name for each in journal.unsaved(tmp_path / "journals")] == ["Closed in haste"]


def test_saving_forgets_the_journal(session, tmp_path):
    session.edit("Name", name_edit("A"))
    assert session.record_now()
    session.save(tmp_path / "a.rig")
    assert list((tmp_path / "journals").iterdir()) == []


def test_a_slow_assessment_is_made_aside_and_told_in_one_change(session, qtbot):
    seen: list = []
    session.rig_changed.connect(seen.append)
    session.edit("Add", Edit("add_part", {"part": "x", "stem": "gpu"}))
    session.edit("Name", name_edit("A"))
    assert session.pending and session.assessment is None
    qtbot.waitUntil(lambda: not session.pending, timeout=60_000)
    assert session.assessment.rig is session.rig
    assert len(seen) == 3
    assert seen[-1].machine and seen[-1].after is session.rig


def test_a_fault_of_the_engine_is_told_and_keeps_the_rig(session, monkeypatch, caplog, qtbot):
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a rule broke")

    monkeypatch.setattr("rigplanner.rules.assess.assess", broken)
    session.edit("Name", name_edit("Still here"))
    settled_session(qtbot, session)
    assert session.assessment is None
    assert session.fault is not None and "a rule broke" in session.fault
    assert session.rig.name == "Still here"
    caplog.clear()


@pytest.fixture
def tasks(qapp):
    made = Tasks()
    yield made
    made.close()


def test_stale_answers_are_dropped(tasks, qtbot):
    answers: list = []
    gate = {"open": False}

    def slow(ticket) -> str:
        while not gate["open"] and not ticket.cancelled:
            time.sleep(0.001)
        return "old"

    tasks.run_task("topic", slow, answers.append)
    tasks.run_task("topic", lambda _: "new", answers.append)
    gate["open"] = True
    qtbot.waitUntil(lambda: not tasks.is_busy())
    qtbot.wait(20)
    assert answers == ["new"]


def test_pieces_arrive_in_order_and_faults_are_told(tasks, qtbot):
    pieces: list = []
    ends: list = []
    tasks.run_task("count", lambda _: iter(range(5)), ends.append, piece=pieces.append)
    qtbot.waitUntil(lambda: bool(ends))
    assert (pieces, ends) == ([0, 1, 2, 3, 4], [None])
    faults: list = []
    tasks.run_task("fault", lambda _: 1 / 0, ends.append, faults.append)
    qtbot.waitUntil(lambda: bool(faults))
    assert isinstance(faults[0], ZeroDivisionError)


def test_preferences_survive_and_what_is_broken_in_them_costs_nothing_else(tmp_path: Path):
    file = tmp_path / "preferences.json"
    PreferenceStore(file).change(theme="dark", favourites=("a.b.c",))
    assert PreferenceStore(file).now.favourites == ("a.b.c",)
    file.write_text('{"theme": 5, "currency": "EUR"}')
    store = PreferenceStore(file)
    assert (store.now.theme, store.now.currency) == ("system", "EUR") and "theme" in store.fault
    assert "5" in (tmp_path / "preferences.broken.json").read_text()
    file.write_text("{")
    assert PreferenceStore(file).now.theme == "system"


def test_nothing_is_destroyed_on_the_thread_of_work(tasks, qtbot):
    """Neither by the collector nor with the last reference to work, its answer or its fault:
    widgets bear it on their own thread alone."""
    ended: list[bool] = []
    answers: list = []
    faults: list = []

    class Dialog:
        def __del__(self) -> None:
            ended.append(threading.current_thread() is threading.main_thread())

    def litter(dialog: Dialog) -> list:
        knot: list = [Dialog()]
        knot.append(knot)
        return [[n] for n in range(5 * gc.get_threshold()[0])]

    def fail(dialog: Dialog) -> None:
        raise ValueError("no")

    def hand_over(dialog: Dialog) -> Dialog:
        return dialog

    for work in (litter, fail, hand_over):
        tasks.run_task(
            work.__name__,
            functools.partial(lambda work, dialog, _: work(dialog), work, Dialog()),
            answers.append,
            faults.append,
        )
    qtbot.waitUntil(lambda: not tasks.is_busy())
    assert len(answers) == 2 and len(faults) == 1
    answers.clear()
    faults.clear()
    gc.collect()
    assert ended == [True] * 4


def test_the_collector_goes_on_when_the_tasks_are_closed(qapp, monkeypatch):
    monkeypatch.setattr(garbage, "_pauses", [])  # that of this file's tests, which lasts
    gc.enable()
    try:
        made = Tasks()
        assert not gc.isenabled()
        made.close()
        assert gc.isenabled()
    finally:
        gc.disable()


def test_the_journal_does_not_wait_for_work_aside(session, qtbot):
    """Assessments that nobody waits for any more fill the pool of threads for a while."""
    let_go = threading.Event()
    for topic in ("a", "b", "c"):
        session.tasks.run_task(topic, lambda _: let_go.wait(60), lambda _: None)
    session.edit("Name", name_edit("Typed meanwhile"))
    qtbot.waitUntil(session._journal.exists, timeout=30_000)
    assert not let_go.is_set() and b"Typed meanwhile" in session._journal.read_bytes()
    let_go.set()


def test_an_older_journal_never_comes_after_a_newer_one(session, monkeypatch):
    begun, let_go, order = threading.Event(), threading.Event(), []
    write = journal.record

    def slow(target, rig, document, steps=()):
        if rig.name == "old":
            begun.set()
            let_go.wait(60)
        write(target, rig, document, steps)
        order.append(rig.name)

    monkeypatch.setattr(journal, "record", slow)
    session.edit("Name", name_edit("old"))
    assert begun.wait(30)
    session.edit("Name", name_edit("new"))
    threading.Timer(0.05, let_go.set).start()
    session.record_now()
    assert order == ["old", "new"] and b'"new"' in session._journal.read_bytes()
