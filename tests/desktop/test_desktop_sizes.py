"""Size of text and of paper, and the menu of recent rigs."""

import io
import math

import pytest
from desktop_waiting import settled_session
from pypdf import PdfReader
from PySide6.QtCore import QLocale
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QMenu, QScrollArea

from rigplanner.desktop import documents
from rigplanner.desktop.document.exports import copy_findings, paper_of, quote_bytes
from rigplanner.desktop.document.preferences import TEXT_SIZES, PreferenceStore
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.theme import look, row_px, text_px
from rigplanner.desktop.panels.message_bar import MessageBar
from rigplanner.desktop.parts.model import NAME
from rigplanner.desktop.parts.view import LEAST_NAME
from rigplanner.desktop.window import TABS, Window
from rigplanner.report.language import language
from rigplanner.rig.edits import Edit


@pytest.fixture
def usual_text(window: Window, monkeypatch):
    """The window's place is taken by others, but the test still closes it; text has its usual size
    afterwards."""
    monkeypatch.setattr(window, "deleteLater", lambda: None)
    yield
    look.use_text(100)
    look.use("light")


def test_text_grows_by_steps_around_the_same_rig_and_is_kept(
    qtbot, window: Window, usual_text, sample_folder, tmp_path
) -> None:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    window.session.edit("Name it", Edit("rename", {"name": "A"}))
    usual, rows = text_px(QApplication.font()), row_px()
    fresh = window.use_text(150)
    assert (text_px(QApplication.font()), fresh.session.rig.name) == (round(usual * 1.5), "A")
    assert fresh.parts.table.verticalHeader().defaultSectionSize() == row_px() > 1.4 * rows
    assert fresh.session.undo_name() == "Name it"
    assert PreferenceStore(tmp_path / "preferences.json").now.text_percent == 150
    settled_session(qtbot, fresh.session)
    again = fresh.use_text(100)
    qtbot.addWidget(again)
    assert text_px(QApplication.font()) == usual
    settled_session(qtbot, again.session)
    again.close()


def test_the_ends_of_the_sizes_are_grey(window: Window) -> None:
    window.session.preferences.change(text_percent=TEXT_SIZES[-1])
    window.session.document_changed.emit()
    assert (
        not window.actions_by_id["larger-text"].isEnabled()
        and window.actions_by_id["smaller-text"].isEnabled()
    )
    window.session.preferences.change(text_percent=TEXT_SIZES[0])
    window.session.document_changed.emit()
    assert (
        window.actions_by_id["larger-text"].isEnabled()
        and not window.actions_by_id["smaller-text"].isEnabled()
    )


def test_with_text_of_half_again_the_size_the_window_fits_a_small_screen(
    qtbot, window: Window, usual_text, sample_folder
) -> None:
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    fresh = window.use_text(150)
    qtbot.addWidget(fresh)
    fresh.view("Compare").add_file(sample_folder / "dual-rtx-3090.rig")
    fresh.view("Compare").add_file(sample_folder / "rtx-5090.rig")
    for title in TABS:
        fresh.show_tab(title)
        settled_session(qtbot, fresh.session)
        assert fresh.minimumSizeHint().width() <= 1366, (title, language())
    fresh.resize(1366, 768)
    fresh.show_tab("Parts")
    fresh.parts.show_kind("gpu", "")
    QApplication.processEvents()
    name = fresh.parts.table.columnWidth(NAME)
    assert name >= LEAST_NAME / 2 * QFontMetrics(QApplication.font()).averageCharWidth()
    assert not fresh.parts.table.isColumnHidden(NAME + 1)
    _no_pane_scrolls_sideways(qtbot, fresh)
    _no_compared_value_is_cut(qtbot, fresh)
    fresh.close()


def _no_pane_scrolls_sideways(qtbot, fresh: Window) -> None:
    fresh.show_tab("Workloads")
    settled_session(qtbot, fresh.session)
    workloads = fresh.view("Workloads")
    for area in workloads.findChildren(QScrollArea):
        assert area.horizontalScrollBar().maximum() == 0, area.accessibleName()
    assert workloads.list.isColumnHidden(3)
    fresh.resize(2400, 768)
    QApplication.processEvents()
    assert not workloads.list.isColumnHidden(3)


def _no_compared_value_is_cut(qtbot, fresh: Window) -> None:
    fresh.resize(1366, 768)
    fresh.show_tab("Compare")
    settled_session(qtbot, fresh.session)
    table = fresh.view("Compare").table
    qtbot.waitUntil(lambda: table.model().columnCount() == 4, timeout=20_000)
    assert table.horizontalHeader().length() <= table.viewport().width()
    for n in range(table.model().rowCount()):
        assert table.rowHeight(n) >= max(row_px(), table.sizeHintForRow(n)), (
            table.model().index(n, 0).data()
        )
    assert any(table.rowHeight(n) > 1.3 * row_px() for n in range(table.model().rowCount())), (
        "long values go over two lines"
    )


def test_icons_grow_with_the_text_in_the_sizes_of_their_set(qapp: QApplication, usual_text) -> None:
    usual = text_px(QApplication.font())
    found = []
    for percent in (100, 125, 150):
        look.use_text(percent)
        found.append((text_px(QApplication.font()), icons.size_px()))
        assert icons.pixmap("plus").width() == icons.size_px()
    assert found == [
        (
            round(usual * k),
            next(s for s, end in ((16, 15), (20, 18), (24, 99)) if round(usual * k) < end),
        )
        for k in (1, 1.25, 1.5)
    ]


def test_the_quote_takes_the_paper_that_was_chosen_or_the_usual_one(
    qtbot, window: Window, sample_folder
) -> None:
    documents.open_file(window, sample_folder / "rtx-5090.rig", sample=True)
    settled_session(qtbot, window.session)
    american = QLocale.system().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    assert paper_of(window.session) == ("Letter" if american else "A4")
    window.show_tab("Quote")
    view = window.view("Quote")
    for paper, height in (("Letter", 792), ("A4", 842)):
        view.paper.setCurrentText(paper)
        view.paper.textActivated.emit(paper)
        settled_session(qtbot, window.session)
        assert view.content == quote_bytes(window.session)
        assert round(float(PdfReader(io.BytesIO(view.content)).pages[0].mediabox.height)) == height
        assert window.session.preferences.now.paper == paper


def _recent(window: Window) -> QMenu:
    menu = next(menu for menu in window.findChildren(QMenu) if menu.title() == "Open recent")
    menu.aboutToShow.emit()
    return menu


def test_recent_rigs_stand_in_the_menu_and_lost_ones_are_grey(
    qtbot, window: Window, sample_folder, tmp_path
) -> None:
    assert [action.text() for action in _recent(window).actions()] == ["None yet"]
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    window.session.save(tmp_path / "one & two.rig")
    window.session.save(tmp_path / "lost.rig")
    (tmp_path / "lost.rig").unlink()
    documents.new_rig(window)
    lost, kept = _recent(window).actions()
    assert (lost.text(), lost.isEnabled()) == ("lost", False)
    assert (kept.text(), kept.isEnabled()) == ("one && two", True)
    kept.trigger()
    assert window.session.path == tmp_path / "one & two.rig"
    settled_session(qtbot, window.session)


def test_findings_are_copied_with_what_to_do_and_what_was_not_checked(
    qtbot, window: Window, sample_folder
) -> None:
    assert window.findings.copy.isHidden()
    copy_findings(window.session)
    assert "nothing to copy" in window.messages.text.text()
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    window.findings.copy.click()
    text = QApplication.clipboard().text()
    assert text.startswith(
        "Four RTX 4090 on one household circuit\n\nThis rig does not work as planned"
    )
    assert "PWR012" in text and "What to do: Limit each GPU" in text and "not checked" in text
    assert all(finding.code in text for finding in window.session.assessment.report.findings)


def test_a_message_takes_no_more_lines_than_its_text(window: Window) -> None:
    """The bar is as high as its text at the width that it has, not at the narrowest."""
    window.resize(1280, 768)
    bar = window.findChild(MessageBar)
    assert bar is not None
    for text in ("It is done.", "a longer message of many words " * 12):
        window.session.tell(text, "warning")
        shown = QFontMetrics(bar.text.font()).horizontalAdvance(text) / (bar.width() - 120)
        lines = 1 + math.floor(shown)
        assert bar.height() <= (lines + 1) * row_px()
