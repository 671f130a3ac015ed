"""Every view and dialog in every language and in a made-up one whose texts are longer:
no word is cut at 1366 x 768."""

import time
from collections.abc import Iterator
from functools import cache

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QToolButton,
    QWidget,
)

from rigplanner.data import data_path
from rigplanner.desktop import documents
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.faults import CrashDialog
from rigplanner.desktop.locale import speak
from rigplanner.desktop.window import TABS, Window
from rigplanner.report.language import LANGUAGES, Table, use_language, use_texts
from tools.gather_texts import template

LAYOUT_S = 5.0
"""How long a layout may take to settle: a label is shortened for its room, then the room is shared
anew."""
DIALOGS = (
    "best",
    "machine",
    "update",
    "import",
    "settings",
    "rig-settings",
    "keys",
    "about",
    "formats",
    "tiny",
)


def _longer(text: str) -> str:
    more = round(0.4 * len(text))
    return text + ("x" * more if more < 5 else " wider" * (more // 6 + 1))


@cache
def longer_texts() -> Table:
    """All texts as in a language that takes four tenths more room."""
    return {
        entry.msgid: (_longer(entry.msgid), _longer(entry.msgid_plural))
        if entry.msgid_plural
        else _longer(entry.msgid)
        for entry in template()
    }


@pytest.fixture(params=[*(code for code in LANGUAGES if code != "en"), "longer"])
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "longer":
        use_texts("en", longer_texts())
    else:
        use_language(request.param)
    yield request.param
    use_language("en")


@pytest.fixture
def shipped_font(qapp: QApplication) -> Iterator[None]:
    """The font of the pictures, so that widths are those that people see."""
    before = QFont(qapp.font())
    for name in ("NotoSans-Regular.ttf", "NotoSans-SemiBold.ttf"):
        QFontDatabase.addApplicationFont(str(data_path("resources") / "fonts" / name))
    font = QFont("Noto Sans")
    font.setPixelSize(12)
    qapp.setFont(font)
    yield
    qapp.setFont(before)


@pytest.fixture
def other_window(spoken: str, shipped_font: None, request: pytest.FixtureRequest) -> Window:
    return request.getfixturevalue("window")


def _cut(widget: QWidget) -> str:
    """Return the text that a widget shows cut off, "" for none; what wraps in its height, or is
    shortened with a tip, is not."""
    if isinstance(widget, QHeaderView):
        return (
            _cut_head(widget)
            if widget.isVisible() and widget.orientation() == Qt.Orientation.Horizontal
            else ""
        )
    if isinstance(widget, QTabBar):
        return (
            widget.tabText(0)
            if widget.isVisible() and widget.width() < widget.sizeHint().width() - 1
            else ""
        )
    if isinstance(widget, QLabel) and widget.wordWrap():
        short = widget.isVisible() and widget.height() < widget.heightForWidth(widget.width()) - 2
        return widget.text() if short and not widget.toolTip() else ""
    if isinstance(widget, QLabel):
        text = "" if widget.toolTip() else widget.text()
    elif isinstance(widget, QAbstractButton) and not isinstance(widget, QToolButton):
        text = widget.text()
    else:
        text = ""
    return (
        text
        if text and widget.isVisible() and widget.width() < widget.sizeHint().width() - 1
        else ""
    )


def _cut_words(shown: QWidget) -> list[tuple[str, str]]:
    return [
        (type(each).__name__, text) for each in shown.findChildren(QWidget) if (text := _cut(each))
    ]


def _cut_head(head: QHeaderView) -> str:
    """Return the first column title that is wider than its column."""
    model, metrics = head.model(), head.fontMetrics()
    for n in range(head.count()):
        title = str(model.headerData(n, Qt.Orientation.Horizontal) or "")
        tip = model.headerData(n, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        if (
            not head.isSectionHidden(n)
            and not tip
            and metrics.horizontalAdvance(title) > head.sectionSize(n)
        ):
            return title
    return ""


def _dialogs(qtbot, window: Window) -> Iterator[tuple[str, QDialog]]:
    for command in DIALOGS:
        before = set(window.findChildren(QDialog))
        window.actions_by_id[command].trigger()
        settled_session(qtbot, window.session)
        yield command, next(each for each in window.findChildren(QDialog) if each not in before)
    window.gauges.gauges[1].clicked.emit(window.gauges.gauges[1].limit)
    yield "breakdown", window.findChildren(QDialog)[-1]
    crash = CrashDialog(window, "Traceback")
    crash.open()
    yield "crash", crash


def test_lists_show_the_language_and_no_dialog_cuts_a_word(
    qtbot, other_window: Window, session: Session, sample_folder
) -> None:
    window = other_window
    kinds = next(box for box in window.parts.findChildren(QComboBox) if box.findData("psu") >= 0)
    assert kinds.itemText(kinds.findData("psu")) != "Power supply"
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, session)
    for name, dialog in _dialogs(qtbot, window):
        for button in dialog.findChildren(QPushButton):
            if button.isCheckable():
                button.setChecked(True)
        tabs = dialog.findChild(QTabWidget)
        for n in range(tabs.count() if tabs else 1):
            if tabs:
                tabs.setCurrentIndex(n)
            QCoreApplication.processEvents()
            assert _cut_words(dialog) == [], (name, n)
        assert dialog.width() <= 1366 and dialog.height() <= 768, name
        dialog.close()
        settled_session(qtbot, session)


@pytest.mark.parametrize(
    ("code", "word", "typed"),
    [("cs", "Zrušit", "1,5"), ("zh_TW", "取消", "1.5"), ("en", "Cancel", "1.5")],
)
def test_what_belongs_to_qt_speaks_too(qapp, code: str, word: str, typed: str) -> None:
    assert speak(code)
    try:
        assert (QCoreApplication.translate("QPlatformTheme", "Cancel") or "Cancel") == word
        box = QDoubleSpinBox(decimals=1)
        box.setValue(1.5)
        assert box.text() == typed
    finally:
        speak("en")
    assert QLocale().decimalPoint() == "."


def test_a_language_without_texts_leaves_english(qapp, monkeypatch, caplog) -> None:
    monkeypatch.setattr(
        "rigplanner.report.language.data_path", lambda name: __import__("pathlib").Path("/nowhere")
    )
    assert not speak("cs")
    assert "cannot be read" in caplog.text


def test_no_view_cuts_a_word(qtbot, other_window: Window, session: Session, sample_folder) -> None:
    window = other_window
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, session)
    window.resize(1366, 768)
    for title in TABS:
        window.show_tab(title)
        settled_session(qtbot, session)
        end = time.monotonic() + LAYOUT_S
        while _cut_words(window) and time.monotonic() < end:
            QCoreApplication.processEvents()
        assert (
            window.minimumSizeHint().width() <= 1366 and window.minimumSizeHint().height() <= 768
        ), title
        assert _cut_words(window) == [], title
        areas = window.findChildren(QScrollArea)
        qtbot.waitUntil(
            lambda areas=areas: not any(each.horizontalScrollBar().isVisible() for each in areas),
            timeout=10_000,
        )
