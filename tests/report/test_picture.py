"""The drawing of a machine: right angles, nothing outside, the same each time."""

import itertools
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.report.drawing.machine import Box, Label, Line, link_weight, machine_picture, svg
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess


def test_every_sample_draws_cleanly(samples: list[Path], catalog: Catalog) -> None:
    for path in samples:
        machine = assess(read_rig(path), catalog).machine
        picture = machine_picture(machine)
        assert picture == machine_picture(machine)
        boxes = [shape for shape in picture.shapes if isinstance(shape, Box)]
        assert {f"gpu{gpu.index}" for gpu in machine.gpus} <= {box.subject for box in boxes}
        for box in boxes:
            assert box.x >= 0 and box.x + box.width <= picture.width
            assert box.y >= 0 and box.y + box.height <= picture.height
        for line in picture.shapes:
            if isinstance(line, Line):
                for (x1, y1), (x2, y2) in zip(line.points, line.points[1:], strict=False):
                    assert x1 == x2 or y1 == y2
                assert all(
                    0 <= x <= picture.width and 0 <= y <= picture.height for x, y in line.points
                )


def test_boxes_do_not_overlap(samples: list[Path], catalog: Catalog) -> None:
    for path in samples:
        boxes = [
            s
            for s in machine_picture(assess(read_rig(path), catalog).machine).shapes
            if isinstance(s, Box)
        ]
        tops = sorted(box.y for box in boxes)
        assert all(b - a >= boxes[0].height for a, b in itertools.pairwise(tops))


def test_wider_links_are_thicker() -> None:
    weights = [link_weight(rate) for rate in (1.0, 8.0, 16.0, 64.0, 500.0)]
    assert weights == sorted(weights)
    assert weights[-1] == weights[-2]


def test_an_empty_rig_has_no_picture(catalog: Catalog) -> None:
    assert machine_picture(assess(Rig(), catalog).machine).shapes == ()


@pytest.mark.parametrize("stem", ["dgx-1-v100", "quad-rtx-4090"])
def test_the_svg_is_well_formed_and_names_every_gpu(
    samples: list[Path], catalog: Catalog, stem: str
) -> None:
    machine = assess(read_rig(next(path for path in samples if path.stem == stem)), catalog).machine
    root = ElementTree.fromstring(svg(machine_picture(machine)))
    words = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    assert all(f"GPU{gpu.index}" in words for gpu in machine.gpus)
    assert not any(
        isinstance(shape, Label) and not shape.text
        for shape in machine_picture(machine).shapes
        if isinstance(shape, Label) and shape.strong
    )
