"""A whole rig by keys alone: every key goes to what has the focus, as it does on a keyboard without
a mouse beside it."""

from pathlib import Path

from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from rigplanner.catalog.schema.parts import KINDS, kind_of
from rigplanner.rig.files import read_rig

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MOST_TABS = 60


def press(qtbot, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    target = QApplication.activePopupWidget() or QApplication.focusWidget()
    assert target is not None
    qtbot.keyClick(target, key, held)
    QApplication.processEvents()


def focus(name: str) -> bool:
    widget = QApplication.focusWidget()
    return widget is not None and widget.accessibleName() == name


def tab_to(qtbot, name: str) -> QWidget:
    """Press Tab until what is named so has the focus."""
    for _ in range(MOST_TABS):
        if focus(name):
            return QApplication.focusWidget()
        press(qtbot, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not reach {name}")


def add_part(qtbot, window, kind: str, words: str) -> None:
    press(qtbot, Qt.Key.Key_A, CONTROL, SHIFT)
    for _ in range(list(KINDS).index(kind) + 1):
        press(qtbot, Qt.Key.Key_Down)
    press(qtbot, Qt.Key.Key_Return)
    press(qtbot, Qt.Key.Key_F, CONTROL)
    for letter in words:
        qtbot.keyClick(QApplication.focusWidget(), letter)
    press(qtbot, Qt.Key.Key_Down)
    press(qtbot, Qt.Key.Key_Return)
    settled_session(qtbot, window.session)


def set_quantity(qtbot, window, part: str, quantity: int) -> None:
    """Go to the build list, down to the part, on to its quantity, and type it."""
    tab_to(qtbot, "Build list")
    press(qtbot, Qt.Key.Key_Home)
    for _ in range(window.build.model.rowCount()):
        if (item := window.build.current()) is not None and item.part == part:
            break
        press(qtbot, Qt.Key.Key_Down)
    tab_to(qtbot, "Quantity")
    press(qtbot, Qt.Key.Key_A, CONTROL)
    press(qtbot, getattr(Qt.Key, f"Key_{quantity}"))
    settled_session(qtbot, window.session)


def test_the_four_card_rig_by_keys_alone(qtbot, window, sample_folder: Path) -> None:
    wanted = read_rig(sample_folder / "quad-rtx-4090.rig")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(qtbot, Qt.Key.Key_N, CONTROL)
    for item in wanted.items:
        part = window.session.catalog.get(item.part)
        add_part(qtbot, window, kind_of(part), part.name)
    for item in wanted.items:
        if item.quantity > 1:
            set_quantity(qtbot, window, item.part, item.quantity)
    made = window.session.rig.items
    assert [(item.part, item.quantity) for item in made] == [
        (item.part, item.quantity) for item in wanted.items
    ]
    machine = window.session.assessment.machine
    assert len(machine.gpus) == 4 and all(node.place for node in machine.gpus)
    assert [node.place for node in machine.storage] == ["M2_1"]
