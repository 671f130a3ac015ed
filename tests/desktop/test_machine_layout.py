"""The machine's drawing: the same each time, straight, whole, without overlaps."""

import pytest

from rigplanner.data import data_path
from rigplanner.desktop.machine_layout import machine_drawing
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import machine_of

SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def machine(request, catalog):
    return machine_of(read_rig(request.param), catalog)


def test_the_same_machine_gives_the_same_drawing(machine):
    assert machine_drawing(machine, 23) == machine_drawing(machine, 23)


def test_all_lines_are_straight_and_end_inside(machine):
    drawing = machine_drawing(machine, 23)
    for wire in drawing.wires:
        for (x1, y1), (x2, y2) in zip(wire.points, wire.points[1:], strict=False):
            assert x1 == x2 or y1 == y2
            assert min(x1, x2) >= 0 and max(x1, x2) <= drawing.width
            assert min(y1, y2) >= 0 and max(y1, y2) <= drawing.height


def test_boxes_do_not_overlap(machine):
    boxes = machine_drawing(machine, 23).boxes
    for n, a in enumerate(boxes):
        for b in boxes[n + 1 :]:
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
            assert apart, (a, b)


def test_every_place_and_every_gpu_is_drawn(machine):
    boxes = machine_drawing(machine, 23).boxes
    places = [box.place for box in boxes if box.role == "place"]
    assert sorted(places) == sorted([use.slot.id for use in machine.slots] + [use.port.id for use in machine.drives])
    drawn = {box.piece for box in boxes if box.role in ("device", "loose")}
    assert {use.piece for use in machine.slots if use.piece} <= drawn


def test_links_between_gpus_are_drawn_once_each(machine):
    rows = {box.piece for box in machine_drawing(machine, 23).boxes if box.role in ("device", "loose")}
    placed = {f"gpu{node.index}" for node in machine.gpus if node.piece in rows}
    direct = [edge for edge in machine.edges if edge.kind in ("nvlink", "xgmi") and {edge.a, edge.b} <= placed]
    switched = {end for edge in machine.edges if edge.kind == "nvswitch" for end in (edge.a, edge.b) if end in placed}
    wires = [wire for wire in machine_drawing(machine, 23).wires if wire.fabric]
    assert len(wires) == (len(switched) or len(direct))


def test_the_drawing_fills_the_width_within_limits(machine):
    plain = machine_drawing(machine, 23)
    for width in (0.9 * plain.width, 1.3 * plain.width):
        assert machine_drawing(machine, 23, width).width == pytest.approx(width, rel=0.01)
    assert machine_drawing(machine, 23, 10 * plain.width).width < 2 * plain.width


def test_rows_are_drawn_apart_where_there_is_room(machine):
    plain = machine_drawing(machine, 23, 800)
    assert machine_drawing(machine, 23, 800, 10).height == plain.height
    assert plain.height < machine_drawing(machine, 23, 800, 1.2 * plain.height).height <= 1.2 * plain.height


def test_every_line_of_a_place_explains_itself(machine):
    for wire in machine_drawing(machine, 23).wires:
        assert wire.tip, wire
