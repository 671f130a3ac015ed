"""A whole rig by keys alone: every key goes to what has the focus, as it does on a keyboard without
a mouse beside it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QWidget

from rigplanner.catalog.schema.parts import KINDS, kind_of
from rigplanner.desktop import documents
from rigplanner.desktop.actions import MENUS, menu_titles
from rigplanner.desktop.window import TABS
from rigplanner.report.language import LANGUAGES, use_language
from rigplanner.rig.files import read_rig
from rigplanner.rig.variants import variant_names

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MOST_TABS = 60


def press(
    qtbot, key: Qt.Key, *modifiers: Qt.KeyboardModifier, target: QWidget | None = None
) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    target = target or QApplication.activePopupWidget() or QApplication.focusWidget()
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


def test_variant_comparison_and_quote_by_keys_alone(qtbot, window, sample_folder: Path) -> None:
    """Keep a state, change it, compare both, name the quote: no mouse, by names that are spoken."""
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(qtbot, Qt.Key.Key_K, CONTROL, SHIFT)
    qtbot.waitUntil(lambda: focus("Name of the variant"))
    press(qtbot, Qt.Key.Key_A, CONTROL)
    for letter in "before":
        qtbot.keyClick(QApplication.focusWidget(), letter)
    press(qtbot, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: variant_names(window.session.rig) == ("before",))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(qtbot, *shortcut(window, "parts-tab"), target=window)
    set_quantity(qtbot, window, "nvidia.geforce.rtx-4090", 3)
    press(qtbot, *shortcut(window, "compare-tab"))
    compare = window.view("Compare")
    qtbot.waitUntil(lambda: len(compare.model.names) == 2)
    tab_to(qtbot, "Only differences")
    press(qtbot, Qt.Key.Key_Space)
    assert compare.differences.isChecked()
    table = tab_to(qtbot, "Comparison")
    press(qtbot, Qt.Key.Key_Home, CONTROL)
    spoken = [
        table.model().index(n, 1).data(Qt.ItemDataRole.AccessibleTextRole) or ""
        for n in range(table.model().rowCount())
    ]
    assert any("GPUs" in text and "3 × GeForce RTX 4090" in text for text in spoken)
    press(qtbot, *shortcut(window, "quote-tab"))
    tab_to(qtbot, "Rig name")
    press(qtbot, Qt.Key.Key_A, CONTROL)
    for letter in "Lab":
        qtbot.keyClick(QApplication.focusWidget(), letter)
    press(qtbot, Qt.Key.Key_Tab)
    settled_session(qtbot, window.session)
    assert window.session.rig.name == "Lab"


def shortcut(window, command: str) -> tuple[Qt.Key, Qt.KeyboardModifier]:
    keys = window.actions_by_id[command].shortcut()[0]
    return keys.key(), keys.keyboardModifiers()


FOCUSABLE_ROLES = (
    QAccessible.Role.EditableText,
    QAccessible.Role.SpinBox,
    QAccessible.Role.ComboBox,
    QAccessible.Role.CheckBox,
    QAccessible.Role.RadioButton,
    QAccessible.Role.PushButton,
    QAccessible.Role.Slider,
    QAccessible.Role.Table,
    QAccessible.Role.List,
    QAccessible.Role.PageTabList,
)


def nameless(node: QAccessibleInterface, path: str = "") -> list[str]:
    """Controls of the tree that a screen reader walks which are visible and have no name."""
    found = []
    for n in range(node.childCount()):
        child = node.child(n)
        if child is None or not child.isValid() or child.state().invisible:
            continue
        name, role = child.text(QAccessible.Text.Name), child.role()
        if role in FOCUSABLE_ROLES and child.state().focusable and not name:
            found.append(f"{path}/{role.name}")
        if role not in (QAccessible.Role.Table, QAccessible.Role.List):
            found += nameless(child, f"{path}/{name or role.name}")
    return found


@pytest.mark.usefixtures("every_badge")
def test_the_tree_of_a_screen_reader_names_every_control(
    qtbot, window, sample_folder: Path
) -> None:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    for title in TABS:
        window.show_tab(title)
        settled_session(qtbot, window.session)
        tree = QAccessible.queryAccessibleInterface(window)
        assert nameless(tree) == [], title
    window.show_tab("Parts")
    window.parts.show_kind("gpu", "gpu")
    model = window.parts.model
    qtbot.waitUntil(lambda: len(model.judged()) == model.total, timeout=60_000)
    spoken = [
        model.index(n, 0).data(Qt.ItemDataRole.AccessibleTextRole) for n in range(len(model.parts))
    ]
    assert any(text.startswith("does not fit: ") for text in spoken), "a colour is also a word"
    assert "in the rig" in spoken


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_each_menu_has_a_letter_of_its_own(code: str) -> None:
    use_language(code)
    try:
        titles = menu_titles()
    finally:
        use_language("en")
    letters = [title[title.index("&") + 1].lower() for title in titles]
    assert len(set(letters)) == len(MENUS) and all(letter.isascii() for letter in letters)


def test_alt_and_a_digit_bring_the_keyboard_into_the_tab_of_that_place(
    qtbot, window, sample_folder
) -> None:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    for digit, title in enumerate(TABS, 1):
        window.tab_bar.setFocus()
        press(qtbot, Qt.Key(Qt.Key.Key_0 + digit), Qt.KeyboardModifier.AltModifier)
        assert window.tabs.currentIndex() == TABS.index(title)
        assert window.tabs.currentWidget().isAncestorOf(QApplication.focusWidget()), title
        settled_session(qtbot, window.session)
    press(qtbot, Qt.Key.Key_N, CONTROL)
    assert QApplication.focusWidget() is window.parts.words, "what is typed filters the parts"


@pytest.fixture
def heard(window) -> Iterator[Callable[[], str]]:
    """What a screen reader says of the thing that has the focus."""
    was = QAccessible.isActive()
    QAccessible.setActive(True)
    tree = QAccessible.queryAccessibleInterface(window)

    def said() -> str:
        spoken = tree.focusChild()
        assert spoken is not None and spoken.isValid()
        return spoken.text(QAccessible.Text.Name)

    yield said
    QAccessible.setActive(was)


def test_a_build_a_quote_and_a_comparison_as_they_are_heard(
    qtbot, window, heard: Callable[[], str]
) -> None:
    """From a kind in the build list to its part in the catalog and back, then the sum and the other
    tabs: each step by a key, and each is told in the tree of a screen reader."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(qtbot, Qt.Key.Key_N, CONTROL)
    settled_session(qtbot, window.session)
    for kind, words, name in (
        ("GPU", "rtx 3090", "GeForce RTX 3090"),
        ("CPU", "5950x", "AMD Ryzen 9 5950X"),
        ("Motherboard", "x570s aorus master", "Gigabyte X570S AORUS MASTER"),
    ):
        press(qtbot, Qt.Key.Key_F6)
        while heard() != f"Choose {kind}":
            before = heard()
            press(qtbot, Qt.Key.Key_Down)
            assert heard() != before
        press(qtbot, Qt.Key.Key_Return)
        assert heard() == "Filter parts by words"
        for letter in words:
            qtbot.keyClick(QApplication.focusWidget(), letter)
        press(qtbot, Qt.Key.Key_Down)
        settled_session(qtbot, window.session)
        assert heard() == f"{name}, fits"
        press(qtbot, Qt.Key.Key_Return)
        settled_session(qtbot, window.session)
        press(qtbot, Qt.Key.Key_F6)
        assert heard().startswith(f"{kind}: {name}, ")
        press(qtbot, *shortcut(window, "parts-tab"))
    assert window.parts.target.currentText().startswith("Replace Gigabyte X570S")
    panes = [heard()]
    for _ in range(3):
        press(qtbot, Qt.Key.Key_F6)
        panes.append(heard())
    assert panes[1].startswith("Motherboard: ") and panes[3].startswith("Price: from $")
    press(qtbot, Qt.Key.Key_F6)
    assert window.tabs.isAncestorOf(QApplication.focusWidget())
    press(qtbot, *shortcut(window, "compare-tab"))
    assert heard() == "Add a rig"
    press(qtbot, *shortcut(window, "quote-tab"))
    settled_session(qtbot, window.session)
    tab_to(qtbot, "Rig name")
    assert heard() == "Rig name"
