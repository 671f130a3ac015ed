"""The drawing of slots and cards: to scale, nothing outside, nothing invented; and the tracks of
GPU links."""

import itertools
from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge, gpu_node
from rigplanner.report.drawing.gpu_tracks import gpu_tracks
from rigplanner.report.drawing.machine import machine_picture
from rigplanner.report.drawing.shapes import Box, Label, Line, Picture, cut, svg, text_width
from rigplanner.report.drawing.slots import PITCH, slot_picture
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess


@pytest.fixture(scope="module")
def machines(samples: list[Path], catalog: Catalog) -> dict[str, Machine]:
    return {path.stem: assess(read_rig(path), catalog).machine for path in samples}


def _words(picture: Picture) -> str:
    return "\n".join(shape.text for shape in picture.shapes if isinstance(shape, Label))


def test_a_card_is_as_thick_as_it_says_and_its_bridge_joins_the_pair(
    machines: dict[str, Machine],
) -> None:
    machine = machines["dual-rtx-3090"]
    picture = slot_picture(machine)
    cards = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.role == "gpu"]
    assert len(cards) == 2
    thick = machine.gpus[0].gpu.slots
    assert thick is not None
    assert cards[0].height == pytest.approx(PITCH * thick - 3)
    bridge = next(
        shape for shape in picture.shapes if isinstance(shape, Line) and shape.role == "nvlink"
    )
    heights = sorted(y for _, y in bridge.points)
    assert all(
        any(card.y <= y <= card.y + card.height for card in cards)
        for y in (heights[0], heights[-1])
    )
    assert "NV4" in _words(picture)


def test_covered_and_free_slots_are_told_apart(machines: dict[str, Machine]) -> None:
    words = _words(slot_picture(machines["dual-rtx-3090"]))
    assert "PCIEX4  covered" in words
    assert "SLOT9  free" in _words(slot_picture(machines["titan-x-server"]))


def test_neighbours_without_room_between_them_are_named(machines: dict[str, Machine]) -> None:
    assert "no gap" in _words(slot_picture(machines["titan-x-server"]))


def test_a_card_on_a_riser_stands_in_no_column(machines: dict[str, Machine]) -> None:
    picture = slot_picture(machines["quad-rtx-4090"])
    cards = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.role == "gpu"]
    slots = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.role == "slot"]
    risers = [
        shape for shape in picture.shapes if isinstance(shape, Line) and shape.role == "riser"
    ]
    assert len(cards) == len(risers) == 4
    assert min(card.x for card in cards) > max(slot.x + slot.width for slot in slots)
    assert all(lower.y >= upper.y + upper.height for upper, lower in itertools.pairwise(cards))
    assert {riser.points[-1][0] for riser in risers} == {cards[0].x}
    assert len({riser.points[1][0] for riser in risers}) == 4, "no line lies on another"
    assert _words(picture).count("on a riser") == 4


def test_what_is_not_known_is_said(machines: dict[str, Machine]) -> None:
    machine = machines["dual-rtx-3090"]
    bare = tuple(
        replace(piece, part=replace(piece.part, slots=None, length_mm=None))
        if isinstance(piece.part, GPU)
        else piece
        for piece in machine.pieces
    )
    words = _words(slot_picture(replace(machine, pieces=bare)))
    assert "no gap" not in words
    boxes = [
        s
        for s in slot_picture(replace(machine, pieces=bare)).shapes
        if isinstance(s, Box) and s.role == "gpu"
    ]
    assert all(box.height == pytest.approx(PITCH - 3) for box in boxes)
    assert "size not known" in words


def test_without_positions_there_is_no_picture(
    machines: dict[str, Machine], catalog: Catalog
) -> None:
    assert slot_picture(assess(Rig(), catalog).machine).shapes == ()
    machine = machines["dual-rtx-3090"]
    blind = replace(
        machine,
        slots=tuple(replace(use, slot=replace(use.slot, position=None)) for use in machine.slots),
    )
    assert slot_picture(blind).shapes == ()


def test_everything_lies_inside(machines: dict[str, Machine]) -> None:
    for machine in machines.values():
        for picture in (slot_picture(machine), machine_picture(machine)):
            for shape in picture.shapes:
                points = shape.points if isinstance(shape, Line) else [(shape.x, shape.y)]
                assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in points)
            assert svg(picture).count("<") == svg(picture).count(">")


def test_links_of_one_gpu_never_lie_on_each_other(machines: dict[str, Machine]) -> None:
    lines = [
        s
        for s in machine_picture(machines["dgx-1-v100"]).shapes
        if isinstance(s, Line) and s.role == "nvlink"
    ]
    assert len(lines) == 16
    flat = [
        (pair[0][1], line.subject)
        for line in lines
        for pair in itertools.pairwise(line.points)
        if pair[0][1] == pair[1][1]
    ]
    assert len({round(y, 3) for y, _ in flat}) == len(flat)
    upright = [
        (line.points[1][0], *sorted((line.points[1][1], line.points[2][1]))) for line in lines
    ]
    for (x, top, bottom), (other, start, end) in itertools.combinations(upright, 2):
        assert x != other or bottom < start or end < top


def test_more_links_make_a_thicker_line(machines: dict[str, Machine]) -> None:
    machine = machines["dgx-1-v100"]
    links = {
        f"{edge.a.name}|{edge.b.name}": edge.links
        for edge in machine.edges
        if edge.kind == "nvlink"
    }
    lines = [
        s for s in machine_picture(machine).shapes if isinstance(s, Line) and s.subject in links
    ]
    by_links = {links[line.subject]: line.weight for line in lines}
    assert by_links[2] > by_links[1] + 0.5


def test_a_full_mesh_is_one_bar(machines: dict[str, Machine]) -> None:
    ends = {f"gpu{n}": (100.0, 20.0 * n) for n in range(8)}
    edges = tuple(
        Edge(a=gpu_node(a), b=gpu_node(b), kind="xgmi", links=1)
        for a, b in itertools.combinations(range(8), 2)
    )
    shapes, _ = gpu_tracks(replace(machines["dgx-1-v100"], edges=edges), ends, 17.0)
    assert sum(isinstance(shape, Line) for shape in shapes) == 9
    shapes, _ = gpu_tracks(replace(machines["dgx-1-v100"], edges=edges[:-1]), ends, 17.0)
    assert sum(isinstance(shape, Line) for shape in shapes) == 27


def test_names_are_cut_only_where_they_must_be() -> None:
    assert cut("short", 100) == "short"
    assert text_width(cut("a long name of a card", 60), 7.6) <= 60 + 7.6
    assert cut("a long name of a card", 60).endswith("…")


def test_a_card_in_a_slot_of_unknown_position_is_named_below(machines: dict[str, Machine]) -> None:
    machine = machines["dual-rtx-3090"]
    held = [use for use in machine.slots if use.piece is not None and use.slot.kind == "pcie"]
    hidden = replace(held[-1], slot=replace(held[-1].slot, position=None))
    slots = tuple(hidden if use is held[-1] else use for use in machine.slots)
    picture = slot_picture(replace(machine, slots=slots))
    assert f"Not drawn, since its position is not known: {hidden.slot.id} (" in _words(picture)
    assert all(shape.y <= picture.height for shape in picture.shapes if isinstance(shape, Label))
    assert "Not drawn" not in _words(slot_picture(machine))
