"""A name out of a file is text everywhere: in tool tips, labels, menus and panes."""

import ast
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QAbstractItemModel, QModelIndex
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QTextBrowser, QWidget

import rigplanner.desktop
from rigplanner.catalog.load import Catalog
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.window import TABS
from rigplanner.rig.document import Item
from rigplanner.rig.files import read_rig, with_snapshot, write_rig

NAME = '<img src="x.png"><a href="http://127.0.0.1:9/">M</a><b>bold</b>'


@pytest.mark.parametrize(
    "text", [NAME, "<b>x", "a &lt;b&gt;", "<?xml version='1.0'?>", "<!-- x --><p>", "x\n<b>y</b>"]
)
def test_markup_is_shown_as_it_is(text: str) -> None:
    assert not Qt.mightBeRichText(plain(text))
    assert plain(text).replace("\u2060", "") == text


def test_plain_text_stays() -> None:
    assert plain("a < b, 2 > 1 & more") == "a < b, 2 > 1 & more"


def test_tool_tips_are_set_through_one_function() -> None:
    for path in Path(rigplanner.desktop.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".setToolTip"):
                assert ast.unparse(node.args[0]).startswith("plain("), f"{path}:{node.lineno}"


def _tips(model: QAbstractItemModel) -> list[str]:
    found, root = [], QModelIndex()
    for row in range(min(40, model.rowCount(root))):
        for column in range(20):
            index = model.index(row, column, root)
            if not index.isValid():
                break
            found.append(model.data(index, Qt.ItemDataRole.ToolTipRole))
    return [tip for tip in found if isinstance(tip, str)]


def test_a_hostile_name_is_markup_nowhere(window, catalog: Catalog, samples, tmp_path) -> None:
    rig = with_snapshot(read_rig(samples[2]), catalog)
    first = rig.items[0]
    part = replace(rig.snapshot[first.part], id="evil.part.one", name=NAME, vendor=NAME)
    rig = replace(
        rig,
        name=NAME,
        notes=NAME,
        items=(
            replace(first, part=part.id),
            *rig.items[1:],
            Item(uid="x", part=f"evil.{NAME}", quantity=1),
        ),
        snapshot={**rig.snapshot, part.id: part},
        quote=replace(rig.quote, customer=replace(rig.quote.customer, name=NAME)),
    )
    folder = tmp_path / "<b>folder<br>"
    folder.mkdir()
    write_rig(rig, folder / "<i>a.rig", catalog)
    window.session.open(folder / "<i>a.rig")
    seen = 0
    for title in TABS:
        window.show_tab(title)
        for widget in [window, *window.findChildren(QWidget)]:
            assert not Qt.mightBeRichText(widget.toolTip()), (title, widget, widget.toolTip())
            if isinstance(widget, QLabel):
                marked = widget.textFormat() != Qt.TextFormat.PlainText
                assert not (marked and Qt.mightBeRichText(widget.text())), widget.text()
            if isinstance(widget, QTextBrowser):
                assert "127.0.0.1:9" not in widget.toHtml().partition("href")[2][:60]
                assert '<img src="x.png"' not in widget.toHtml()
            if isinstance(widget, QAbstractItemView) and widget.model() is not None:
                tips = _tips(widget.model())
                assert not [tip for tip in tips if Qt.mightBeRichText(tip)]
                seen += sum("\u2060" in tip for tip in tips)
            for action in widget.actions():
                assert not Qt.mightBeRichText(action.toolTip()), action.toolTip()
    assert seen
