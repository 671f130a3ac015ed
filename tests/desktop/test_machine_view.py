"""The Machine tab: better places, colours, what lines explain."""

import time

import pytest
from PySide6.QtCore import QEventLoop, QPointF
from PySide6.QtWidgets import QApplication, QPushButton

from rigplanner.desktop import documents


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


def test_lines_take_the_colour_of_their_width(view):
    wire = next(wire for wire in view.drawing._drawing.wires if wire.lanes == 4 and not wire.fabric)
    by_verdict = view.drawing._wire_token(wire)
    view.coloring.setCurrentIndex(1)
    view.coloring.activated.emit(1)
    assert view.drawing._wire_token(wire) == "gradients" != by_verdict


def test_hovering_a_line_explains_the_link(view):
    wire = next(wire for wire in view.drawing._drawing.wires if "GB/s" in wire.tip and len(wire.points) == 2)
    (x1, y1), (x2, _) = wire.points
    assert view.drawing.tip_at(QPointF((x1 + x2) / 2, y1)) == wire.tip
