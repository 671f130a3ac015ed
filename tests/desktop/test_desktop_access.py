"""A walk over every window and dialog: each thing with focus has a name, Tab reaches all of it, and
focus is seen."""

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QWidget
from test_desktop_languages import DIALOGS
from test_desktop_window import _spoken, open_sample

from rigplanner.desktop.actions import COMMANDS
from rigplanner.desktop.dialogs.best import BestDialog
from rigplanner.desktop.window import TABS


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


def test_every_dialog_is_whole_and_reached_by_keys(qtbot, judged_window):
    """Each fits a small screen, cuts no word, names what takes focus, is walked by Tab, and goes by
    Escape and by its button."""
    for command in DIALOGS:
        dialog, gone = show(qtbot, judged_window, command), []
        assert dialog.windowTitle(), command
        assert (dialog.width() <= 1366, dialog.height() <= 768) == (True, True), command
        assert small_or_cut(dialog) == [], command
        assert unnamed_or_unreached(dialog) == [], command
        dialog.finished.connect(gone.append)
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        assert gone, command
        dialog = show(qtbot, judged_window, command)
        dialog.finished.connect(gone.append)
        buttons = dialog.findChildren(QPushButton)
        next(each for each in buttons if each.accessibleName() == "Close").click()
        assert len(gone) == 2, command
    settled_session(qtbot, judged_window.session)


def small_or_cut(dialog: QDialog) -> list[str]:
    labels = [
        each
        for each in dialog.findChildren(QLabel)
        if each.isVisible() and each.text() and not each.toolTip()
    ]
    return [
        each.text()
        for each in labels
        if each.fontInfo().pixelSize() < 11
        or (not each.wordWrap() and each.width() < each.sizeHint().width() - 1)
    ]


def unnamed_or_unreached(dialog: QDialog) -> list[str]:
    reached, each = set(), dialog.nextInFocusChain()
    for _ in range(500):
        reached.add(each)
        each = each.nextInFocusChain()
    focusable = [
        each
        for each in dialog.findChildren(QWidget)
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisible()
    ]
    return [
        type(each).__name__
        for each in focusable
        if not _spoken(each) or (each.isEnabled() and each not in reached)
    ]


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
