"""A walk over every window and dialog: each thing with focus has a name, Tab reaches all of it, and
focus is seen."""

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QWidget
from test_desktop_languages import DIALOGS, _cut
from test_desktop_window import _spoken, open_sample

from rigplanner.desktop.actions import COMMANDS
from rigplanner.desktop.dialogs.best import BestDialog
from rigplanner.desktop.window import TABS
from rigplanner.report.language import LANGUAGES, use_language


def show(qtbot, window, command: str) -> QDialog:
    before = set(window.findChildren(QDialog))
    window.actions_by_id[command].trigger()
    dialog = next(each for each in window.findChildren(QDialog) if each not in before)
    if isinstance(dialog, BestDialog):
        dialog.cancel()
        dialog._delay.stop()
    settled_session(qtbot, window.session)
    return dialog


@pytest.fixture
def judged_window(window, sample_folder):
    open_sample(window, sample_folder, "dual-rtx-3090")
    return window


@pytest.mark.parametrize("command", DIALOGS)
def test_a_dialog_names_everything_with_focus_and_tab_reaches_it(qtbot, judged_window, command):
    dialog = show(qtbot, judged_window, command)
    focusable = [
        each
        for each in dialog.findChildren(QWidget)
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisible()
    ]
    assert [type(each).__name__ for each in focusable if not _spoken(each)] == []
    assert dialog.windowTitle()
    reached, each = set(), dialog.nextInFocusChain()
    for _ in range(500):
        reached.add(each)
        each = each.nextInFocusChain()
    assert [
        type(each).__name__ for each in focusable if each.isEnabled() and each not in reached
    ] == []
    dialog.close()
    settled_session(qtbot, judged_window.session)


def test_tab_goes_through_a_view_before_the_panels(qtbot, judged_window):
    window = judged_window
    for title in TABS[1:]:
        window.show_tab(title)
        settled_session(qtbot, window.session)
        window.tab_bar.setFocus()
        seen = []
        while window.focusWidget() is not window.tab_bar or not seen:
            window.focusNextPrevChild(True)
            seen.append(window.focusWidget())
        inside = [window.tabs.currentWidget().isAncestorOf(each) for each in seen]
        assert inside == sorted(inside, reverse=True) and inside.count(True) >= 5, title
        window.focusNextPrevChild(False)
        assert window.focusWidget() is seen[-2]


@pytest.mark.parametrize("command", DIALOGS)
def test_a_dialog_fits_a_small_screen_and_cuts_no_word(qtbot, judged_window, command):
    dialog = show(qtbot, judged_window, command)
    assert dialog.width() <= 1366
    assert dialog.height() <= 768
    shown = [
        each
        for each in dialog.findChildren(QLabel)
        if each.isVisible() and each.text() and not each.toolTip()
    ]
    assert [
        each.text()
        for each in shown
        if not each.wordWrap() and each.width() < each.sizeHint().width() - 1
    ] == []
    assert [each.text() for each in shown if each.fontInfo().pixelSize() < 11] == []
    dialog.close()
    settled_session(qtbot, judged_window.session)


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_dialogs_cut_no_word_in_any_language(qtbot, judged_window, code):
    use_language(code)
    try:
        for command in DIALOGS:
            dialog = show(qtbot, judged_window, command)
            assert dialog.width() <= 1366, command
            assert dialog.height() <= 768, command
            assert [text for each in dialog.findChildren(QWidget) if (text := _cut(each))] == [], (
                command
            )
            dialog.close()
    finally:
        use_language("en")
    settled_session(qtbot, judged_window.session)


def test_escape_closes_every_dialog(qtbot, judged_window):
    for command in DIALOGS:
        dialog = show(qtbot, judged_window, command)
        gone: list = []
        dialog.finished.connect(gone.append)
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        assert gone, command
    settled_session(qtbot, judged_window.session)


def test_close_buttons_close(qtbot, judged_window):
    for command in DIALOGS:
        dialog = show(qtbot, judged_window, command)
        gone: list = []
        dialog.finished.connect(gone.append)
        next(
            each for each in dialog.findChildren(QPushButton) if each.accessibleName() == "Close"
        ).click()
        assert gone, command
    settled_session(qtbot, judged_window.session)


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def test_focus_is_seen_on_the_cards_of_the_start_page(qtbot, judged_window):
    judged_window.show_tab("Start")
    settled_session(qtbot, judged_window.session)
    start = judged_window.view("Start")
    cards = [*start._tiles, *(card for card, _ in start._samples)]
    judged_window.activateWindow()
    for card in cards[:5]:
        card.clearFocus()
        without = picture(card)
        card.setFocus()
        QApplication.processEvents()
        assert picture(card) != without


def test_dialogs_of_the_test_are_commands() -> None:
    assert set(DIALOGS) <= {command.id for command in COMMANDS}
