"""Desk manners: files that change under the window, a catalog that comes and breaks, faults,
prices, motion, dropped files."""

import sys
from pathlib import Path

import msgspec
import pytest
from desktop_waiting import settled_session
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QDropEvent, QFocusEvent
from PySide6.QtWidgets import QApplication, QDialog

from rigplanner.catalog.imports.user_catalog import user_folder
from rigplanner.catalog.load import Catalog, Family
from rigplanner.catalog.schema.parts import Price
from rigplanner.desktop import documents, faults
from rigplanner.desktop.document.held_file import HeldFile
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.faults import CrashDialog
from rigplanner.desktop.findings.card import FixButton
from rigplanner.desktop.look import fade
from rigplanner.desktop.panels import notices
from rigplanner.desktop.parts.build_list import _detail_pieces
from rigplanner.desktop.window import Window
from rigplanner.rig.edits import Edit
from rigplanner.rig.files import read_rig


def messages(session: Session) -> list:
    found: list = []
    session.message_given.connect(found.append)
    return found


def messages_of_files(session: Session) -> list:
    notices.listen(session)
    return messages(session)


def name_edit(name: str) -> Edit:
    return Edit("rename", {"name": name})


def test_a_file_written_by_another_program_is_told_and_can_be_read_again(session, tmp_path, qtbot):
    path = tmp_path / "mine.rig"
    session.edit("Name", name_edit("First"))
    assert session.save(path)
    told = messages_of_files(session)
    path.write_bytes(path.read_bytes().replace(b"First", b"Other"))
    qtbot.waitUntil(lambda: bool(told), timeout=10_000)
    assert "another program" in told[0].text
    assert session.rig.name == "First"
    told[0].deed()
    assert session.rig.name == "Other"


def test_a_file_that_is_replaced_is_still_watched(session, tmp_path, qtbot):
    path, fresh = tmp_path / "mine.rig", tmp_path / "new"
    session.edit("Name", name_edit("First"))
    session.save(path)
    told = messages_of_files(session)
    for n in (1, 2):
        fresh.write_bytes(path.read_bytes() + b" " * n)
        fresh.replace(path)
        qtbot.waitUntil(lambda n=n: len(told) == n, timeout=10_000)


def test_a_file_that_goes_can_be_saved_again(session, tmp_path, qtbot):
    path = tmp_path / "mine.rig"
    session.edit("Name", name_edit("Kept"))
    session.save(path)
    told = messages_of_files(session)
    path.unlink()
    qtbot.waitUntil(lambda: bool(told), timeout=10_000)
    assert "no longer" in told[0].text
    told[0].deed()
    assert read_rig(path).name == "Kept"


def test_own_saves_are_not_told(session, tmp_path, qtbot):
    path = tmp_path / "mine.rig"
    session.edit("Name", name_edit("A"))
    session.save(path)
    told = messages_of_files(session)
    session.edit("Name", name_edit("B"))
    session.save(path)
    qtbot.waitUntil(lambda: not session.held._watch._settle.isActive(), timeout=10_000)
    session.held._look()
    assert [each.text for each in told] == ["Saved mine.rig."]


def test_a_new_rig_gives_the_former_file_free(session, tmp_path, qapp):
    path, other = tmp_path / "mine.rig", HeldFile()
    session.edit("Name", name_edit("A"))
    session.save(path)
    assert not other.lock(path)
    session.start_rig(session.rig, "New")
    assert other.lock(path)
    other.close()


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not read-only there")
def test_a_folder_that_refuses_loses_nothing_and_a_retry_works(session, tmp_path, monkeypatch):
    path = tmp_path / "mine.rig"
    session.edit("Name", name_edit("A"))
    told = messages(session)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("rigplanner.rig.files.write_whole", full)
        assert not session.save(path)
    assert "No space left" in told[-1].text
    assert session.unsaved
    told[-1].deed()
    assert read_rig(path).name == "A"


def _family(catalog: Catalog, price: float) -> bytes:
    card = replace(
        catalog.parts["nvidia.geforce.rtx-3090"],
        id="own.card.one",
        name="My Own Card 77",
        prices=(Price(amount=price, currency="USD", day="2026-11-20", source="own"),),
    )
    sources = {key: catalog.sources[key] for key in card.sources}
    return msgspec.json.encode(Family(family="own", sources=sources, parts=(card,)))


def test_parts_that_come_in_show_at_once_and_count_at_once(qtbot, window, catalog):
    session, folder = window.session, user_folder()
    folder.mkdir(parents=True)
    session.shelf.follow(None)
    window.parts.show_kind("gpu", "")
    (folder / "own.json").write_bytes(_family(catalog, 900.0))
    qtbot.waitUntil(lambda: "own.card.one" in session.catalog.parts, timeout=10_000)
    settled_session(qtbot, session)
    window.parts.words.setText("own card 77")
    window.parts.apply_filter()
    assert [part.id for part in window.parts.model.parts] == ["own.card.one"]
    session.edit("Add", Edit("add_part", {"part": "own.card.one", "stem": "gpu"}))
    assert session.assessment.totals.total == 900
    (folder / "own.json").write_bytes(_family(catalog, 700.0))
    qtbot.waitUntil(
        lambda: session.assessment is not None and session.assessment.totals.total == 700,
        timeout=10_000,
    )
    settled_session(qtbot, session)


def test_a_catalog_that_breaks_while_open_is_told_and_nothing_is_lost(qtbot, window, catalog):
    session, folder = window.session, user_folder()
    folder.mkdir(parents=True)
    session.shelf.follow(None)
    told = messages(session)
    (folder / "own.json").write_bytes(b"{broken")
    qtbot.waitUntil(lambda: bool(told), timeout=10_000)
    settled_session(qtbot, session)
    assert "own.json" in told[-1].text
    assert session.catalog.parts.keys() == catalog.parts.keys()
    (folder / "own.json").write_bytes(_family(catalog, 900.0))
    told[-1].deed()
    settled_session(qtbot, session)
    assert "own.card.one" in session.catalog.parts


def test_a_part_in_use_that_the_catalog_loses_stays_with_the_rig(qtbot, window, catalog, tmp_path):
    session, folder = window.session, user_folder()
    folder.mkdir(parents=True)
    (folder / "own.json").write_bytes(_family(catalog, 900.0))
    session.shelf.reload()
    settled_session(qtbot, session)
    session.edit("Add", Edit("add_part", {"part": "own.card.one", "stem": "gpu"}))
    (folder / "own.json").unlink()
    session.shelf.reload()
    settled_session(qtbot, session)
    assert session.assessment.totals.total == 900
    assert session.save(tmp_path / "mine.rig")
    assert read_rig(tmp_path / "mine.rig").snapshot["own.card.one"].name == "My Own Card 77"


def test_while_the_index_is_being_made_names_are_searched(qtbot, session, monkeypatch):
    session.shelf.warm()
    found = session.find("rtx 3090", "gpu")
    assert any(part.id == "nvidia.geforce.rtx-3090" for part in found)
    settled_session(qtbot, session)
    assert session.shelf._index is not None


def test_a_fault_of_the_program_offers_a_report(qtbot, window, monkeypatch, caplog):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    faults.show_in(window)
    window.session.edit("Name it", name_edit("Secret project"))
    window.session.tasks.run_task("broken", lambda _: 1 / 0, print)
    qtbot.waitUntil(lambda: "The rig is kept" in window.messages.text.text())
    caplog.clear()
    window.messages.action.click()
    dialog = next(each for each in window.findChildren(QDialog) if isinstance(each, CrashDialog))
    dialog.copy()
    copied = QApplication.clipboard().text()
    assert "ZeroDivisionError: division by zero" in copied
    assert "Last step: Name it" in copied
    assert "Secret project" not in copied
    assert window.session.rig.name == "Secret project"
    dialog.close()
    settled_session(qtbot, window.session)


def test_old_prices_are_amber_with_their_age(qtbot, window):
    session = window.session
    session.edit("Add", Edit("add_part", {"part": "nvidia.geforce.rtx-3090", "stem": "gpu"}))
    row = window.build.model.rows[window.build.model.row_of("gpu")]
    assert row.stale
    assert (row.price_age, "warns") in _detail_pieces(row, row.detail)
    note = window.build._note
    assert "older than" in note.text()
    window.build._total.show_text("Total from NT$47,700 + NT$2,588 and more")
    settled_session(qtbot, session)
    note.setText("a long word and another " * 6)
    qtbot.waitUntil(lambda: note.height() >= note.heightForWidth(note.width()))
    session.preferences.change(price_days=100_000)
    session.refresh()
    row = window.build.model.rows[window.build.model.row_of("gpu")]
    assert not row.stale
    assert all(token == "soft" for _, token in _detail_pieces(row, row.detail))


def test_a_price_by_hand_counts_and_can_be_taken_back(qtbot, window):
    session = window.session
    session.edit("Add", Edit("add_part", {"part": "nvidia.geforce.rtx-3090", "stem": "gpu"}))
    before = session.assessment.totals.total
    window.build.view.setCurrentIndex(window.build.model.index(window.build.model.row_of("gpu")))
    window.build._price.setValue(650)
    assert session.assessment.totals.total == 650
    assert "set by hand" in window.build.model.rows[window.build.model.row_of("gpu")].detail
    window.build._price.setValue(0)
    assert session.assessment.totals.total == before


def test_figures_that_change_glow_unless_motion_is_not_wanted(qtbot, window):
    session, total = window.session, window.build._total
    session.edit("Add", Edit("add_part", {"part": "nvidia.geforce.rtx-3090", "stem": "gpu"}))
    total._glow.stop()
    session.edit("Two", Edit("set_quantity", {"uid": "gpu", "quantity": 2}))
    assert fade.motion_wanted() is (total._glow.state() == total._glow.State.Running)
    fade.want_motion(False)
    total._glow.stop()
    session.edit("Three", Edit("set_quantity", {"uid": "gpu", "quantity": 3}))
    assert total._glow.state() != total._glow.State.Running
    fade.want_motion(True)


def drop(window, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_dropped_files_go_where_they_belong(qtbot, window, sample_folder, tmp_path):
    drop(window, sample_folder / "dual-rtx-3090.rig")
    assert window.session.rig.name == read_rig(sample_folder / "dual-rtx-3090.rig").name
    (tmp_path / "list.txt").write_text("2x RTX 3090\nRyzen 9 5950X\n", "utf-8")
    drop(window, tmp_path / "list.txt")
    assert [item.quantity for item in window.session.rig.items] == [2, 1]
    (tmp_path / "config.json").write_text('{"model_type": "llama"', "utf-8")
    drop(window, tmp_path / "config.json")
    assert "config.json" in window.messages.text.text()
    (tmp_path / "prices.csv").write_text("name,price,currency\nGeForce RTX 3090,700,USD\n", "utf-8")
    drop(window, tmp_path / "prices.csv")
    settled_session(qtbot, window.session)
    dialog = window.findChildren(QDialog)[-1]
    assert dialog.made is not None
    dialog.close()
    (tmp_path / "song.mp3").write_bytes(b"x")
    drop(window, tmp_path / "song.mp3")
    assert "song.mp3" in window.messages.text.text()
    settled_session(qtbot, window.session)


def test_a_lost_recent_file_is_grey_and_can_be_located(qtbot, window, tmp_path):
    lost, found = tmp_path / "lost.rig", tmp_path / "elsewhere" / "lost.rig"
    window.session.edit("Name", name_edit("Lost"))
    window.session.save(lost)
    found.parent.mkdir()
    window.session.start_rig(window.session.rig, "New")
    lost.rename(found)
    start = window.view("Start")
    start._show_recent()
    buttons = {
        each.accessibleName(): each
        for each in start.findChildren(type(window.findings).__mro__[1])
        if each.accessibleName()
    }
    assert not buttons[f"Open {lost}"].isEnabled()
    asked: list = []
    start.locate_asked.disconnect()
    start.locate_asked.connect(asked.append)
    buttons["Locate lost.rig"].click()
    assert asked == [str(lost)]
    window.session.preferences.forget_file(str(lost))
    documents.open_file(window, found)
    assert window.session.rig.name == "Lost"
    assert window.session.preferences.now.recent == (str(found),)


def test_a_waiver_has_a_last_day_and_shows_who_took_it(qtbot, window, sample_folder):
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    card = window.findings.cards()[0]
    card.ask_reason()
    card._text.setText("Measured")
    card._by.setText("K. N.")
    card._until.setText("last Friday")
    card._waive()
    assert not window.session.rig.waivers
    card._until.setText("2027-06-30")
    card._waive()
    assert window.session.rig.waivers[0].until == "2027-06-30"
    waived = next(
        each
        for each in window.findings.cards()
        if each.finding.code == card.finding.code and each._waived
    )
    assert waived._waiver_text() == "Accepted by K. N. until 30 Jun 2027: Measured"
    waived.make_menu().actions()[0].trigger()
    assert not window.session.rig.waivers


def test_a_fix_says_its_effect_before_it_is_made_also_by_keyboard(qtbot, window, sample_folder):
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    button = next(each for card in window.findings.cards() for each in card.findChildren(FixButton))
    assert not button.accessibleDescription()
    event = QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason)
    QApplication.sendEvent(button, event)
    said = button.accessibleDescription()
    assert said == button.toolTip()
    assert "Findings" in said
    assert not window.session.unsaved


def test_nothing_moves_when_a_message_comes_or_the_start_page_goes(qtbot, window: Window) -> None:
    window.show()
    qtbot.waitExposed(window)
    window.show_tab("Start")
    bar = window.tab_bar.mapTo(window, QPoint(0, 0))
    window.show_tab("Parts")
    pages = window.tabs.geometry()
    assert window.tab_bar.mapTo(window, QPoint(0, 0)) == bar
    window.session.tell("Saved lab.rig.")
    assert window.messages.isVisible()
    assert window.tabs.geometry() == pages
    beside = QRect(window.tab_bar.mapTo(window, QPoint(0, 0)), window.tab_bar.size())
    assert window.messages.geometry().top() == beside.top()
    assert window.messages.geometry().bottom() == beside.bottom()
    assert window.messages.geometry().left() > beside.right()
    window.session.tell("a long story of many words " * 20)
    foot = QRect(window.tabs.mapTo(window, QPoint(0, 0)), window.tabs.size())
    assert foot.contains(window.messages.geometry())
    assert window.messages.geometry().bottom() == foot.bottom()


def test_a_message_takes_its_undo_along_with_the_next_step(qtbot, window: Window) -> None:
    """Its Undo would take that step back, not the one of which it speaks."""
    session = window.session
    session.edit("One", Edit("rename", {"name": "one"}))
    session.tell("One is done.", "info", "Undo", session.undo)
    window.show()
    qtbot.waitExposed(window)
    assert window.messages.isVisible()
    session.edit("Two", Edit("rename", {"name": "two"}))
    assert not window.messages.isVisible()
    session.tell("Something was read.")
    session.edit("Three", Edit("rename", {"name": "three"}))
    assert window.messages.isVisible()


def test_the_window_is_never_larger_than_the_room_of_the_screen(window: Window) -> None:
    room = window.screen().availableGeometry().size()
    window.resize(room + QSize(500, 500))
    window._stay_on_screen()
    assert window.width() < room.width() and window.height() < room.height()
