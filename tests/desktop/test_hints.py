"""Every field, column and letter says in two lines what it is and what it changes."""

import importlib
from pathlib import Path

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QTableView, QWidget

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import KINDS
from rigplanner.desktop import documents
from rigplanner.desktop.help.hint_texts import COLUMN_HINTS, FIELD_HINTS, LETTER_HINTS
from rigplanner.desktop.help.hints import column_hint, is_field, letter_hint, name_of
from rigplanner.desktop.parts.columns import table_columns
from rigplanner.desktop.window import TABS, Window
from rigplanner.machine.nodes import _LETTERS

DIALOGS = (
    ("settings", "settings_dialog"),
    ("rig_settings", "rig_settings"),
    ("best", "best_dialog"),
    ("this_machine", "machine_dialog"),
    ("update", "update_dialog"),
    ("imports", "open_import"),
    ("acceptance", "acceptance_dialog"),
    ("price_link", "price_link_dialog"),
    ("hires", "hires_dialog"),
    ("about", "about_dialog"),
    ("formats", "formats_dialog"),
    ("tiny", "tiny_dialog"),
)


def dumb(top: QWidget) -> list[str]:
    """Names of the fields under a widget that do not say two lines."""
    return [
        f"{type(field).__name__} {name_of(field)!r}: {field.toolTip()!r}"
        for field in top.findChildren(QWidget)
        if is_field(field) and len(field.toolTip().split("\n")) != 2
    ]


@pytest.fixture
def quad(qtbot, window: Window, sample_folder: Path) -> Window:
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    settled_session(qtbot, window.session)
    return window


def test_every_field_and_column_of_every_tab_says_two_lines(qtbot, quad: Window) -> None:
    for title in TABS:
        quad.show_tab(title)
        settled_session(qtbot, quad.session)
    across, tip = Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    tables = [table for table in quad.findChildren(QTableView) if table.model() is not None]
    assert len(tables) >= 5
    for table in tables:
        for n in range(table.model().columnCount()):
            told = table.model().headerData(n, across, tip) or ""
            head = table.model().headerData(n, across)
            assert len(told.split("\n")) == 2, (table.accessibleName(), head)
    for kind in KINDS:
        quad.parts.show_kind(kind, "")
        assert dumb(quad.parts) == [], kind
    assert dumb(quad) == []
    assert sum(is_field(field) for field in quad.findChildren(QWidget)) > 90


def test_every_field_of_every_dialog_says_two_lines(quad: Window) -> None:
    for module, opens in DIALOGS:
        getattr(importlib.import_module(f"rigplanner.desktop.dialogs.{module}"), opens)(quad)
        shown = [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog)]
        shown = [each for each in shown if each.isVisible()]
        assert shown, module
        for dialog in shown:
            assert dumb(dialog) == [], module
            dialog.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_of_the_catalog_is_explained(kind: str) -> None:
    titles = [column.title for column in table_columns(kind)]
    assert [title for title in titles if not column_hint(title)] == []


def test_every_letter_of_the_matrix_is_explained(quad: Window) -> None:
    for letters in _LETTERS.values():
        assert len(letter_hint(letters or "?").split("\n")) == 2, letters
    assert "4 NVLink" in letter_hint("NV4")
    quad.show_tab("Machine")
    matrix = quad.view("Machine").matrix
    assert matrix.rowCount() == 4
    for n in range(4):
        for m in range(4):
            assert len(matrix.item(n, m).toolTip().split("\n")) == 2


def test_lines_are_short_and_end(catalog: Catalog) -> None:
    for table in (FIELD_HINTS, COLUMN_HINTS, LETTER_HINTS):
        for name, (what, changes) in table.items():
            assert changes.endswith("."), name
            assert len(changes) <= 100, name
            assert not what or (what.endswith(".") and len(what) <= 100), name
