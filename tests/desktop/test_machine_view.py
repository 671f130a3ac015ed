"""The Machine tab: better places, colours, what lines explain."""

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QEventLoop, QObject, QPointF
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from rigplanner.desktop import documents
from rigplanner.desktop.document.tasks import Tasks
from rigplanner.desktop.machine.drawing import MachineDrawing, box_area, wire_area
from rigplanner.desktop.machine.export import open_export, save_machine
from rigplanner.desktop.machine.shapes import Box, Drawing, Wire
from rigplanner.report.forms import form_title
from rigplanner.report.machine_files import WRITERS
from rigplanner.rig.edits import Edit


@pytest.fixture
def view(window, sample_folder):
    documents.open_file(window, sample_folder / "rtx-5090.rig", sample=True)
    window.show_tab("Machine")
    settle(window)
    return window.view("Machine")


def settle(window) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if not window.session.pending and not window.session.tasks.is_busy():
            return
    pytest.fail("the machine view did not settle")


def test_a_better_place_says_what_changes_and_is_taken_with_one_click(window, view):
    before = window.session.assessment.machine.gpus[0].width
    assert view.better.isVisible()
    moves = [made for made in view.better.findChildren(QPushButton) if not made.isHidden()]
    assert "Move Samsung" in moves[0].text()
    moves[0].click()
    settle(window)
    assert window.session.assessment.machine.gpus[0].width == 2 * before
    assert window.session.undo_name().startswith("Move Samsung")
    assert not view.better.isVisible()


def test_pieces_are_called_as_in_the_picture_and_the_first_free_place_is_offered(
    window, sample_folder
):
    documents.open_file(window, sample_folder / "quad-rtx-4090.rig", sample=True)
    window.show_tab("Machine")
    settle(window)
    view = window.view("Machine")
    called = [view.pieces.itemText(n) for n in range(view.pieces.count())]
    drawn = {box.text for box in view.drawing._drawing.boxes}
    cards = [name for name in called if "RTX 4090" in name]
    assert len(cards) == 4
    assert set(cards) <= drawn
    assert "Samsung SSD 990 Pro 4 TB" in called
    view.pieces.setCurrentIndex(0)
    view.pieces.activated.emit(0)
    settle(window)
    assert "not possible" not in view.targets.currentText()
    assert "stands here" not in view.targets.currentText()


def test_lines_take_the_colour_of_their_width(view):
    wire = next(wire for wire in view.drawing._drawing.wires if wire.lanes == 4 and not wire.fabric)
    by_verdict = view.drawing._wire_token(wire)
    view.coloring.setCurrentIndex(1)
    view.coloring.activated.emit(1)
    assert view.drawing._wire_token(wire) == "gradients" != by_verdict


def test_hovering_a_line_explains_the_link(view):
    wire = next(
        wire for wire in view.drawing._drawing.wires if "GB/s" in wire.tip and len(wire.points) == 2
    )
    (x1, y1), (x2, _) = wire.points
    assert view.drawing.tip_at(QPointF((x1 + x2) / 2, y1)) == wire.tip


def test_of_a_drawing_of_the_same_size_only_what_differs_is_painted(qtbot):
    boxes = [
        Box(x=10, y=10 + 60 * n, width=100, height=20, role="device", text=f"Card {n}")
        for n in range(8)
    ]
    wires = [Wire(points=((120, 20 + 60 * n), (200, 20 + 60 * n)), weight=2.0) for n in range(8)]
    first = Drawing(width=300, height=500, boxes=tuple(boxes), wires=tuple(wires))
    second = replace(
        first,
        boxes=(*boxes[:2], replace(boxes[2], text="Another"), *boxes[3:7]),
        wires=tuple(wires[1:]),
    )
    drawing, painted = MachineDrawing(), list[str]()
    qtbot.addWidget(drawing)
    drawing.show_drawing(first)
    drawing.show()
    QApplication.processEvents()
    drawing._paint_box = lambda _, box: painted.append(box.text)
    regions = list[QRegion]()
    drawing.installEventFilter(Regions(drawing, regions))
    drawing.show_drawing(second)
    QApplication.processEvents()
    assert "Another" in painted and len(painted) < len(second.boxes)
    gone = (boxes[2], boxes[7])
    assert all(region.contains(box_area(box).toAlignedRect()) for region in regions for box in gone)
    assert len(regions) == 1 and regions[0].contains(wire_area(wires[0]).toAlignedRect())
    assert not regions[0].intersects(box_area(boxes[5]).toAlignedRect())


class Regions(QObject):
    """Notes which regions are painted."""

    def __init__(self, parent, regions):
        super().__init__(parent)
        self._regions = regions

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self._regions.append(QRegion(event.region()))
        return False


def test_work_that_can_wait_begins_later_and_not_at_all_once_it_is_cancelled(qtbot):
    tasks, ran = Tasks(), list[str]()
    tasks.run_task("moves", lambda _: ran.append("first"), lambda _: None, wait_ms=5)
    tasks.run_task("moves", lambda _: ran.append("second"), lambda _: None, wait_ms=5)
    assert tasks.is_busy("moves") and not ran
    qtbot.waitUntil(lambda: not tasks.is_busy())
    assert ran == ["second"]
    tasks.close()


def test_the_machine_is_written_in_every_form_and_a_folder_that_is_gone_is_told(
    window, view, tmp_path
):
    view.export.click()
    menu = view.export.findChild(QMenu)
    assert [action.text() for action in menu.actions()] == [form_title(form) for form in WRITERS]
    menu.close()
    begins = {"svg": "<svg", "slots": "<svg", "nccl": "<system", "dot": "graph", "matrix": "\tGPU0"}
    begins |= {"graphml": "<graphml", "node-link": "{"}
    assert set(begins) == set(WRITERS)
    for form, begin in begins.items():
        assert save_machine(window.session, tmp_path / form, form)
        assert (tmp_path / form).read_text("utf-8").startswith(begin)
    assert not save_machine(window.session, tmp_path / "gone" / "x", "svg")
    assert "not written" in window.messages.text.text()


def test_a_form_without_content_is_grey(window, view, sample_folder):
    def offered() -> list[bool]:
        menu = open_export(view.export, window.session)
        menu.close()
        return [action.isEnabled() for action in menu.actions()]

    assert offered() == [True] * len(WRITERS)
    documents.open_file(window, sample_folder / "dgx-1-v100.rig", sample=True)
    settle(window)
    assert offered() == [form != "slots" for form in WRITERS]
    documents.new_rig(window)
    settle(window)
    assert not any(offered())


def test_the_exchange_hears_the_release_of_nccl(window, sample_folder):
    documents.open_file(window, sample_folder / "dgx-1-v100.rig", sample=True)
    window.show_tab("Machine")
    settle(window)
    view, session = window.view("Machine"), window.session
    session.edit("2 nodes", Edit("set_quantity", {"uid": session.rig.items[0].uid, "quantity": 2}))
    settle(window)
    assert "16" in view.times_note.text() and not view.times.isColumnHidden(3)
    today = view.times.item(0, 1).text()
    alone = view.times.item(0, 3).text()
    session.edit("NCCL", Edit("set_software", {"versions": {"nccl": "2.3"}}))
    settle(window)
    assert "NCCL 2.3" in view.times_note.text() and view.times.isColumnHidden(3)
    assert view.times.item(0, 1).text() == alone != today
