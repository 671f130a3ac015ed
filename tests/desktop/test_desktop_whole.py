"""One whole session by keyboard and mouse only: from nothing to a saved rig and its quote as
PDF."""

from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu

from rigplanner.catalog.schema.parts import KINDS
from rigplanner.desktop.parts.build_model import ROW_ROLE
from rigplanner.desktop.parts.model import NAME
from rigplanner.rig.files import read_rig


def press(qtbot, window, keys: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.setFocus()
    qtbot.keyClick(window, keys, held)
    QApplication.processEvents()


def click_line(qtbot, window, row: int) -> None:
    """Click a line of the build list."""
    view = window.build.view
    at = view.visualRect(window.build.model.index(row)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at.x(), at.y()))


def line_of(window, kind: str) -> int:
    rows = range(window.build.model.rowCount())
    return next(row for row in rows if window.build.model.index(row).data(ROW_ROLE).kind == kind)


def pick(qtbot, window, kind: str, words: str) -> None:
    """Click the kind in the build list, type words, go down to the table, take the part with
    Enter."""
    click_line(qtbot, window, line_of(window, kind))
    settled_session(qtbot, window.session)
    window.parts.words.setFocus()
    window.parts.words.selectAll()
    qtbot.keyClicks(window.parts.words, words)
    qtbot.waitUntil(lambda: 0 < window.parts.model.rowCount() < 200, timeout=10_000)
    table = window.parts.table
    at = table.visualRect(window.parts.model.index(0, NAME)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    settled_session(qtbot, window.session)


def answer_file_dialog(qtbot, window, path: Path) -> None:
    """Type a path into the file dialog that is open, and press Enter."""
    dialog = next(each for each in window.findChildren(QFileDialog) if each.isVisible())
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, str(path))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(path.is_file, timeout=10_000)
    qtbot.waitUntil(lambda: not dialog.isVisible())


@pytest.fixture(autouse=True)
def own_file_dialogs(qapp):
    """Qt's own file dialog, which keys reach on every desktop."""
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, True)
    yield
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, False)


def test_from_nothing_to_a_saved_rig_and_its_quote(qtbot, window, tmp_path):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    press(qtbot, window, Qt.Key.Key_N, control)
    for kind, words in (
        ("gpu", "geforce rtx 3090"),
        ("cpu", "5950x"),
        ("motherboard", "x570s aorus master"),
        ("memory", "ripjaws 3600 64"),
        ("storage", "980 pro 2 tb"),
        ("psu", "ax1600i"),
        ("chassis", "meshify 2 xl"),
        ("cooler", "dark rock pro 4"),
    ):
        pick(qtbot, window, kind, words)
    assert len(window.session.rig.items) == 8
    click_line(qtbot, window, line_of(window, "gpu"))
    window.build._quantity.setFocus()
    qtbot.keyClick(window.build._quantity, Qt.Key.Key_Up)
    settled_session(qtbot, window.session)
    assert len(window.session.assessment.machine.gpus) == 2
    press(qtbot, window, Qt.Key.Key_W, control, shift)
    qtbot.keyClicks(window.view("Workloads").zoo, "resnet50")
    qtbot.keyClick(window.view("Workloads").zoo, Qt.Key.Key_Return)
    for popup in window.findChildren(QMenu):
        popup.close()
    settled_session(qtbot, window.session)
    assert [workload.model for workload in window.session.rig.workloads] == ["resnet50"]
    press(qtbot, window, Qt.Key.Key_S, control)
    answer_file_dialog(qtbot, window, tmp_path / "mine.rig")
    settled_session(qtbot, window.session)
    assert not window.session.unsaved
    assert read_rig(tmp_path / "mine.rig").items == window.session.rig.items
    press(qtbot, window, Qt.Key.Key_E, control)
    answer_file_dialog(qtbot, window, tmp_path / "mine.pdf")
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    press(qtbot, window, Qt.Key.Key_Z, control)
    assert window.session.rig.workloads == ()
    settled_session(qtbot, window.session)


def take_by_keys(qtbot, window, kind: str, words: str) -> None:
    """Choose a kind from the menu of Add part, type words, go down, take the part: keys alone."""
    press(
        qtbot,
        window,
        Qt.Key.Key_A,
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.ShiftModifier,
    )
    menu = next(each for each in window.build.findChildren(QMenu) if each.isVisible())
    for _ in range(list(KINDS).index(kind) + 1):
        qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    press(qtbot, window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.parts.kinds.currentData() == kind
    qtbot.keyClicks(window.parts.words, words)
    qtbot.keyClick(window.parts.words, Qt.Key.Key_Down)
    qtbot.keyClick(window.parts.table, Qt.Key.Key_Return)
    settled_session(qtbot, window.session)


def test_a_rig_by_keys_alone(qtbot, window, tmp_path):
    control = Qt.KeyboardModifier.ControlModifier
    press(qtbot, window, Qt.Key.Key_N, control)
    for kind, words in (
        ("gpu", "geforce rtx 3090"),
        ("cpu", "5950x"),
        ("motherboard", "x570s aorus master"),
        ("psu", "ax1600i"),
    ):
        take_by_keys(qtbot, window, kind, words)
    names = [piece.part.name for piece in window.session.assessment.machine.pieces]
    assert len(names) == 4 and any("3090" in name for name in names)
    view = window.build.view
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    settled_session(qtbot, window.session)
    assert len(window.session.rig.items) == 3
    press(qtbot, window, Qt.Key.Key_Z, control)
    settled_session(qtbot, window.session)
    assert len(window.session.rig.items) == 4
    press(qtbot, window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    settled_session(qtbot, window.session)
    machine = window.view("Machine")
    target = next(
        n
        for n in range(machine.targets.count())
        if machine.targets.itemText(n).startswith("PCIEX8")
    )
    machine.targets.setFocus()
    for _ in range(target - machine.targets.currentIndex()):
        qtbot.keyClick(machine.targets, Qt.Key.Key_Down)
    qtbot.keyClick(machine.go, Qt.Key.Key_Space)
    settled_session(qtbot, window.session)
    assert window.session.assessment.machine.gpus[0].place == "PCIEX8"
    press(qtbot, window, Qt.Key.Key_S, control)
    answer_file_dialog(qtbot, window, tmp_path / "keys.rig")
    settled_session(qtbot, window.session)
    assert read_rig(tmp_path / "keys.rig").items == window.session.rig.items
