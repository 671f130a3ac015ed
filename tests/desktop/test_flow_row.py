"""Rows that go on in a second line where the room is short."""

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from rigplanner.desktop.controls.flow_row import FlowRow, flow_strip


def _blocks(count: int, wide: int = 100, tall: int = 20) -> list[QWidget]:
    made: list[QWidget] = []
    for n in range(count):
        made.append(QLabel(str(n)))
        made[-1].setFixedSize(wide, tall)
    return made


@pytest.mark.parametrize(("width", "lines"), [(316, 1), (315, 2), (208, 2), (207, 3), (100, 3)])
def test_it_breaks_exactly_where_the_room_ends(qtbot, width: int, lines: int) -> None:
    blocks = _blocks(3)
    made = flow_strip(*blocks)
    qtbot.addWidget(made)
    made.resize(width, 200)
    made.show()
    assert len({block.y() for block in blocks}) == lines
    assert made.heightForWidth(width) == 20 * lines + 4 * (lines - 1)
    assert all(block.geometry().right() < width for block in blocks)


def test_margins_and_hidden_widgets_count(qtbot) -> None:
    blocks = _blocks(3)
    made = flow_strip(*blocks, margins=(12, 6, 12, 6))
    qtbot.addWidget(made)
    assert made.heightForWidth(340) == 32 and made.heightForWidth(339) == 20 * 2 + 4 + 12
    assert (made.minimumSizeHint().width(), made.sizeHint().width()) == (124, 340)
    blocks[1].hide()
    assert made.heightForWidth(232) == 32


def test_a_field_takes_what_its_line_leaves(qtbot) -> None:
    field, block = QLineEdit(), _blocks(1)[0]
    made = flow_strip(block, field)
    qtbot.addWidget(made)
    made.resize(600, 60)
    made.show()
    assert (field.x(), field.width()) == (108, 492)
    made.resize(field.sizeHint().width() + 107, 90)
    assert (field.x(), field.width()) == (0, made.width()) and field.y() > block.y()


def test_an_empty_row_has_no_height() -> None:
    made = FlowRow()
    assert (
        made.heightForWidth(300) == 0
        and made.count() == 0
        and made.itemAt(0) is None
        and made.takeAt(0) is None
    )
