"""Cut, copy, paste, duplicate and drag of parts; the menus of rows; the catalog's table as text."""

import csv
import io

import pytest
from desktop_waiting import settled_session
from PySide6.QtCore import QItemSelectionModel, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu

from rigplanner.desktop import documents
from rigplanner.desktop.dialogs.price_link import PriceLinkDialog
from rigplanner.desktop.parts.carried import ITEMS, parts_data, takes
from rigplanner.desktop.parts.clipboard import catalog_rows, paste_data
from rigplanner.desktop.parts.menus import catalog_deeds, table_csv
from rigplanner.desktop.parts.model import NAME
from rigplanner.desktop.parts.view import PartsView
from rigplanner.desktop.window import Window
from rigplanner.economics.totals import totals
from rigplanner.rig.edits import Edit


@pytest.fixture
def dual(qtbot, window: Window, sample_folder) -> Window:
    documents.open_file(window, sample_folder / "dual-rtx-3090.rig", sample=True)
    settled_session(qtbot, window.session)
    return window


def pick(window: Window, uid: str) -> None:
    window.build.view.setCurrentIndex(window.build.model.index(window.build.model.row_of(uid)))
    window.build.view.setFocus()


def do(window: Window, command: str) -> None:
    window.actions_by_id[command].trigger()


def text_data(text: str) -> QMimeData:
    data = QMimeData()
    data.setText(text)
    return data


def test_a_part_goes_to_another_rig_with_quantity_price_and_cap(qtbot, dual: Window) -> None:
    gpu = dual.session.rig.item("gpu")
    assert gpu is not None and gpu.quantity == 2
    dual.session.edit(
        "Cap",
        Edit("set_power_cap", {"uid": "gpu", "watts": 280.0}),
        Edit("set_tax", {"uid": "gpu", "percent": 21.0}),
    )
    pick(dual, "gpu")
    dual.build._price.setValue(612.5)
    do(dual, "copy")
    assert QApplication.clipboard().text() == "2x GeForce RTX 3090"
    do(dual, "new")
    do(dual, "paste-parts")
    settled_session(qtbot, dual.session)
    pasted = dual.session.rig.item("gpu")
    assert pasted is not None
    assert (pasted.part, pasted.quantity, pasted.power_cap_w, pasted.tax_percent) == (
        gpu.part,
        2,
        280.0,
        21.0,
    )
    assert pasted.price is not None and pasted.price.amount == 612.5
    assert pasted.places == ()
    dual.session.undo()
    assert dual.session.rig.items == ()


def test_cut_paste_and_duplicate_are_one_step_each(qtbot, dual: Window) -> None:
    before = dual.session.rig
    pick(dual, "psu")
    do(dual, "cut")
    assert dual.session.rig.item("psu") is None
    do(dual, "paste-parts")
    assert dual.session.rig.item("psu") is not None
    pick(dual, "psu")
    do(dual, "duplicate")
    assert dual.session.rig.item("psu2") is not None
    for _ in range(3):
        dual.session.undo()
    assert dual.session.rig is before


def test_a_list_from_elsewhere_is_added_and_what_did_not_match_is_told(qtbot, dual: Window) -> None:
    paste_data(dual.session, text_data("2x RTX 4090\nflux capacitor deluxe\n1x AX1600i"))
    assert [item.uid for item in dual.session.rig.items][-2:] == ["gpu2", "psu2"]
    assert (
        "2 lines became parts" in dual.messages.text.text()
        and "flux capacitor" in dual.messages.text.text()
    )


def test_what_names_no_part_changes_nothing_and_is_told(dual: Window) -> None:
    before = dual.session.rig
    for text in ("", "nothing of the kind", "x" * 300_000):
        dual.messages.hide()
        paste_data(dual.session, text_data(text))
        assert dual.session.rig is before, text[:9]
        assert dual.messages.isVisible(), text[:9]


def test_damaged_items_change_nothing(dual: Window) -> None:
    before = dual.session.rig
    unknown = b'[{"uid": "gpu", "part": "no.such.part"}]'
    for content in (b"", b"{}", b'[{"uid": 3}]', b"\xff\xfe", unknown):
        data = QMimeData()
        data.setData(ITEMS, content)
        paste_data(dual.session, data)
        assert dual.session.rig is before, content


def test_an_impossible_quantity_is_told(dual: Window) -> None:
    before, data = dual.session.rig, QMimeData()
    part = dual.session.rig.items[0].part
    data.setData(ITEMS, f'[{{"uid": "gpu", "part": "{part}", "quantity": 1000000}}]'.encode())
    paste_data(dual.session, data)
    assert dual.session.rig is before and dual.messages.isVisible()


def test_a_row_of_the_catalog_is_dragged_into_the_build_list(qtbot, dual: Window) -> None:
    dual.parts.show_kind("storage", "")
    index = dual.parts.model.index(0, NAME)
    assert index.flags() & Qt.ItemFlag.ItemIsDragEnabled
    data, view = dual.parts.model.mimeData([index]), dual.build.view
    held = (
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter = QDragEnterEvent(*held)
    view.dragEnterEvent(enter)
    assert enter.isAccepted()
    view.dropEvent(QDropEvent(*held))
    assert dual.session.rig.items[-1].part == dual.parts.model.parts[0].id
    files = QMimeData()
    files.setUrls(["file:///tmp/a.rig"])
    assert not takes(files)


def test_the_viewport_of_the_build_list_takes_drops_as_the_window_system_sends_them(
    qtbot, dual: Window
) -> None:
    """A window system asks the widget under the pointer: the viewport must want drops itself."""
    viewport = dual.build.view.viewport()
    assert viewport.acceptDrops()
    dual.parts.show_kind("storage", "")
    data = dual.parts.model.mimeData([dual.parts.model.index(3, NAME)])
    before = len(dual.session.rig.items)
    spot = viewport.rect().center()
    buttons, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(spot), Qt.DropAction.CopyAction, data, buttons, none)
    QApplication.sendEvent(viewport, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(spot), Qt.DropAction.CopyAction, data, buttons, none)
    QApplication.sendEvent(viewport, drop)
    assert len(dual.session.rig.items) == before + 1
    assert dual.session.undo_name() == f"Add {dual.parts.model.parts[3].name}"


@pytest.mark.parametrize("way", ["button", "clipboard"])
def test_a_part_of_other_money_is_counted_as_the_table_shows_it(dual: Window, way: str) -> None:
    """A rig without exchange rates takes those in force with the first part that needs them."""
    assert dual.session.rig.exchange is None
    dual.parts.show_kind("storage", "")
    model = dual.parts.model
    part = next(p for p in model.parts if {price.currency for price in p.prices} == {"TWD"})
    shown = model.offers.amount(part)
    assert shown is not None
    if way == "button":
        dual.parts.details.show_part(part, "")
        dual.parts.details.put_into_rig()
    else:
        paste_data(dual.session, parts_data([part]))
    sums = totals(dual.session.rig, dual.session.catalog)
    assert dual.session.rig.exchange is not None and not sums.foreign
    assert sums.lines[-1].amount == pytest.approx(shown, abs=0.01)
    dual.session.undo()
    assert dual.session.rig.exchange is None


def test_what_no_shop_asks_any_more_is_no_price_in_the_table(dual: Window) -> None:
    offers, catalog = dual.parts.model.offers, dual.session.catalog
    for part in catalog.parts.values():
        offer = offers.of(part)
        assert offer is None or part.status == "current" or offer.given.condition != "launch"


def test_a_row_of_the_catalog_copies_as_a_part(dual: Window) -> None:
    dual.parts.show_kind("storage", "")
    dual.parts.table.setCurrentIndex(dual.parts.model.index(2, NAME))
    dual.parts.table.setFocus()
    do(dual, "copy")
    do(dual, "paste-parts")
    assert dual.session.rig.items[-1].part == dual.parts.model.parts[2].id


def test_a_row_of_another_table_copies_as_text(qtbot, dual: Window) -> None:
    dual.show_tab("Machine")
    settled_session(qtbot, dual.session)
    places = dual.view("Machine").places
    places.setCurrentCell(0, 0)
    places.setFocus()
    do(dual, "copy")
    assert QApplication.clipboard().text().split("\t") == [
        places.item(0, n).text() for n in range(4)
    ]


def _deeds(parts: PartsView, row: int) -> dict[str, object]:
    return {
        deed[1]: deed[2]
        for deed in catalog_deeds(parts.details, parts.model, parts.model.parts[row])
        if deed
    }


def test_the_menu_of_a_row_adds_beside_what_it_would_replace(dual: Window) -> None:
    dual.parts.show_kind("gpu", "gpu")
    other = next(n for n, part in enumerate(dual.parts.model.parts) if "4090" in part.name)
    dual.parts.table.setCurrentIndex(dual.parts.model.index(other, NAME))
    deeds = _deeds(dual.parts, other)
    assert {"Replace", "Add to rig", "Favourite", "Copy the table"} <= set(deeds)
    deeds["Add to rig"]()
    assert [item.uid for item in dual.session.rig.items if item.uid.startswith("gpu")] == [
        "gpu",
        "gpu2",
    ]
    own = dual.parts.model.row_of(dual.session.rig.item("gpu").part)
    dual.parts.table.setCurrentIndex(dual.parts.model.index(own, NAME))
    assert "Replace" not in _deeds(dual.parts, own)


def test_right_click_and_menu_key_open_menus(dual: Window) -> None:
    pick(dual, "gpu")
    dual.parts.show_kind("gpu", "gpu")
    for view in (dual.build.view, dual.parts.table):
        for reason in (QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard):
            view.contextMenuEvent(
                QContextMenuEvent(reason, QPoint(4, 4), view.mapToGlobal(QPoint(4, 4)))
            )
            menu = view.findChildren(QMenu)[-1]
            assert menu.isVisible() and len(menu.actions()) >= 5
            menu.close()


def test_the_table_is_written_as_numbers_with_their_units_and_no_formulas(dual: Window) -> None:
    dual.parts.show_kind("gpu", "")
    dual.parts.words.setText("rtx 4090")
    dual.parts.apply_filter()
    rows = list(csv.reader(io.StringIO(table_csv(dual.parts.model).decode())))
    assert len(rows) == dual.parts.model.rowCount() + 1 and {len(row) for row in rows} == {
        len(rows[0])
    }
    assert "VRAM (GiB)" in rows[0] and rows[0][-1] == "id"
    card = next(row for row in rows if row[1] == "GeForce RTX 4090")
    assert (card[rows[0].index("VRAM (GiB)")], card[rows[0].index("Power (W)")]) == ("24", "450")
    assert not any(cell[:1] in ("=", "+", "@") for row in rows for cell in row)
    assert rows[1:] and catalog_rows(dual.parts.model)[0] == rows[0]
    deeds = _deeds(dual.parts, 0)
    deeds["Copy the table"]()
    assert QApplication.clipboard().text().splitlines()[0].split("\t") == rows[0]


def test_every_part_of_the_catalog_survives_the_clipboard(window: Window, catalog) -> None:
    for part in list(catalog.parts.values())[::97]:
        documents.new_rig(window)
        paste_data(window.session, parts_data([part]))
        assert [item.part for item in window.session.rig.items] == [part.id]


def test_several_rows_travel_together_and_are_one_step(dual: Window) -> None:
    parts = dual.parts
    parts.show_kind("storage", "")
    rows = [parts.model.index(n, column) for n in (0, 2) for column in (0, 1)]
    wanted = [parts.model.parts[n].id for n in (0, 2)]
    carried = parts.model.mimeData(rows)
    assert takes(carried)
    before = len(dual.session.rig.items)
    dual.build.view.dropped.emit(carried)
    assert [item.part for item in dual.session.rig.items[before:]] == wanted
    dual.session.undo()
    assert len(dual.session.rig.items) == before
    for n in (0, 2):
        parts.table.selectionModel().select(
            parts.model.index(n, 1),
            QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
        )
    parts.details.put(parts.table.chosen())
    added = {item.part for item in dual.session.rig.items[before:]}
    assert set(wanted) <= added
    dual.session.undo()
    assert len(dual.session.rig.items) == before


@pytest.mark.parametrize("as_url", [True, False])
def test_a_shop_s_link_says_what_to_do_and_changes_nothing(dual: Window, as_url: bool) -> None:
    said: list[str] = []
    dual.session.message_given.connect(lambda message: said.append(message.text))
    data, link = QMimeData(), "https://www.example-shop.com/p/rtx-4090"
    data.setUrls([QUrl(link)]) if as_url else data.setText(link)
    rig = dual.session.rig
    assert takes(data)
    paste_data(dual.session, data)
    assert dual.session.rig is rig
    assert "www.example-shop.com" in said[-1]
    dual.build.view.dropped.emit(data)
    (dialog,) = dual.findChildren(PriceLinkDialog)
    assert dialog.address.text() == link
    assert dialog.linked is None
    dialog.close()
