"""The machine's drawing: the same each time, straight, whole, without overlaps."""

from itertools import pairwise

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.data import data_path
from rigplanner.desktop.machine import layout
from rigplanner.desktop.machine.layout import machine_drawing
from rigplanner.desktop.machine.shapes import Scale
from rigplanner.rig.files import read_rig
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes
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
            apart = (
                a.x + a.width <= b.x
                or b.x + b.width <= a.x
                or a.y + a.height <= b.y
                or b.y + b.height <= a.y
            )
            assert apart, (a, b)


def test_every_place_and_every_gpu_is_drawn(machine):
    boxes = machine_drawing(machine, 23).boxes
    places = [box.place for box in boxes if box.role == "place"]
    assert sorted(places) == sorted(
        [use.slot.id for use in machine.slots] + [use.port.id for use in machine.drives]
    )
    drawn = {box.piece for box in boxes if box.role in ("device", "loose")}
    assert {use.piece for use in machine.slots if use.piece} <= drawn


def test_links_between_gpus_are_drawn_once_each(machine):
    rows = {
        box.piece for box in machine_drawing(machine, 23).boxes if box.role in ("device", "loose")
    }
    placed = {f"gpu{node.index}" for node in machine.gpus if node.piece in rows}
    direct = [
        edge
        for edge in machine.edges
        if edge.kind in ("nvlink", "xgmi") and {edge.a.name, edge.b.name} <= placed
    ]
    switched = {
        end
        for edge in machine.edges
        if edge.kind == "nvswitch"
        for end in (edge.a.name, edge.b.name)
        if end in placed
    }
    wires = [wire for wire in machine_drawing(machine, 23).wires if wire.fabric]
    assert len(wires) == (len(switched) or len(direct))


def test_the_drawing_fills_the_width_within_limits(machine):
    plain = machine_drawing(machine, 23)
    for width in (0.9 * plain.width, 1.3 * plain.width):
        assert machine_drawing(machine, 23, width).width == pytest.approx(width, rel=0.01)
    assert machine_drawing(machine, 23, 10 * plain.width).width < 2 * plain.width


@pytest.mark.parametrize("room", [(800, 10, 12), (1300, 900, 12), (2000, 300, 12)])
def test_a_guess_of_the_scale_changes_nothing_and_a_right_one_is_drawn_once(
    machine, room, monkeypatch
):
    plain = machine_drawing(machine, 23, *room)
    other = machine_drawing(machine, 23, *room, guess=Scale(23, 1.3, 1.2))
    assert (other.width, other.height) == pytest.approx((plain.width, plain.height))
    made, drawn = [], layout._Draft.drawing
    monkeypatch.setattr(layout._Draft, "drawing", lambda draft: made.append(draft) or drawn(draft))
    assert machine_drawing(machine, 23, *room, guess=plain.scale) == plain
    assert len(made) == 1


def test_rows_are_drawn_apart_where_there_is_room(machine):
    plain = machine_drawing(machine, 23, 800)
    assert machine_drawing(machine, 23, 800, 10).height == plain.height
    assert (
        plain.height
        < machine_drawing(machine, 23, 800, 1.2 * plain.height).height
        <= 1.2 * plain.height
    )


def test_every_line_of_a_place_explains_itself(machine):
    for wire in machine_drawing(machine, 23).wires:
        assert wire.tip, wire


@pytest.fixture
def docked(catalog):
    words = (
        "RTX 3090",
        "Ryzen 7 7700",
        "ASUS TUF GAMING B650-PLUS WIFI",
        "Generic M.2 to OCuLink adapter",
        "Minisforum DEG1",
    )
    index = index_of(catalog)
    return machine_of(
        rig_from_wishes("docked", tuple(read_wish(each, index) for each in words)), catalog
    )


def test_a_dock_hangs_on_its_adapter_and_the_card_on_the_dock(docked):
    drawing = machine_drawing(docked, 23)
    places = {box.place: box for box in drawing.boxes if box.role == "place"}
    chain = [places[place] for place in ("M.2_3", "M.2_3/1", "M.2_3/1/1")]
    assert [box.y for box in chain] == sorted(box.y for box in chain)
    assert chain[0].x < chain[1].x < chain[2].x
    for before, after in pairwise(chain):
        wire = next(
            w for w in drawing.wires if w.points[-1] == (after.x, after.y + after.height / 2)
        )
        assert wire.points[0][1] == before.y + before.height
        assert before.x < wire.points[0][0] < before.x + before.width
    test_boxes_do_not_overlap(docked)
    test_all_lines_are_straight_and_end_inside(docked)


def test_sockets_stand_in_the_order_of_their_numbers(catalog):
    index = index_of(catalog)
    machine = machine_of(rig_from_wishes("rack", [read_wish("GB200 NVL72", index)]), catalog)
    sockets = [box for box in machine_drawing(machine, 23).boxes if box.role == "socket"]
    assert [box.note for box in sorted(sockets, key=lambda box: box.y)] == [
        f"CPU{n}" for n in range(36)
    ]
