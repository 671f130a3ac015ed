"""Pictures of the map: the front, labels that never meet, and files that stand by themselves."""

import io
import itertools
import xml.etree.ElementTree as ET
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.planning.map.cards import everything
from rigplanner.planning.map.money import Terms
from rigplanner.planning.map.order import ranked
from rigplanner.planning.map.rank import Row, rows
from rigplanner.report.map import picture
from rigplanner.report.map.charts import CHARTS, Chart, Heading, chart, year_of
from rigplanner.report.map.scatter import Axis as Scale
from rigplanner.report.map.scatter import Point, box_of, front, ticks
from rigplanner.report.map.scene import (
    THEMES,
    Measure,
    Rect,
    Stroke,
    Text,
    letters,
    shortened,
    wrapped,
)
from rigplanner.rig.workload import Workload

HEADING = Heading("QLoRA <8B> & more", "RigPlanner, 23 Nov 2026. Sources: the catalog.")
SVG = "{http://www.w3.org/2000/svg}"


@cache
def some_rows() -> list[Row]:
    works = [Workload(model="llama-3.1-8b", task="train_qlora")]
    found = everything(shipped_catalog(), shipped_cloud())
    made = list(rows(works, found, (1, 2), shipped_zoo()))
    return ranked(made, [1.0], "speed", Terms(0.3, 8))


def point(at: int, x: float, y: float) -> Point:
    return Point(x=x, y=y, low=y, high=y, name=str(at), kind="card", hollow=False, row=at, text="")


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=40))
def test_no_point_beats_the_front_and_every_other_is_beaten(places: list[tuple[int, int]]) -> None:
    points = [point(at, x, y) for at, (x, y) in enumerate(places)]
    edge = {(p.x, p.y) for p in front(points, "left")}
    for p in points:
        beaten = any(q.x <= p.x and q.y >= p.y and (q.x, q.y) != (p.x, p.y) for q in points)
        assert beaten != ((p.x, p.y) in edge)


@pytest.mark.parametrize("measure", [letters, picture.font_width])
@pytest.mark.parametrize("width", [420.0, 760.0, 1500.0])
@pytest.mark.parametrize("kind", CHARTS)
def test_texts_never_meet_and_never_leave_the_picture(
    kind: Chart, width: float, measure: Measure
) -> None:
    scene = chart(kind, some_rows(), HEADING, "speed", width, measure)
    texts = [shape for shape in scene.shapes if isinstance(shape, Text)]
    assert len(texts) > 15
    boxes = [(text.text, box_of(text, measure)) for text in texts]
    for text, box in boxes:
        assert box[0] >= 0 and box[2] <= width + 1 and box[3] <= scene.height, text
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (one, other)


@pytest.mark.parametrize("kind", [kind for kind in CHARTS if kind != "bars"])
def test_no_line_goes_through_a_name(kind: Chart) -> None:
    """An interval that no place of a name keeps clear of is interrupted there."""
    shapes = chart(kind, some_rows(), HEADING, "speed", 420.0).shapes
    grounds = [shape for shape in shapes if isinstance(shape, Rect) and shape.role == "paper"]
    uprights = [
        shape.points
        for shape in shapes
        if isinstance(shape, Stroke) and shape.role == "axis" and len(shape.points) == 2
    ]
    for name in (shape for shape in shapes if isinstance(shape, Text) and shape.role == "ink"):
        left, top, right, bottom = box_of(name, letters)
        for (x, high), (_, low) in uprights:
            if left < x < right and min(high, low) < bottom and max(high, low) > top:
                assert any(
                    g.x <= left and g.x + g.width >= right and g.y <= top + 1 for g in grounds
                ), name.text


def test_bars_are_as_long_as_their_figures_and_answer_a_pointer() -> None:
    scene = chart("bars", some_rows(), HEADING, most=10)
    bars = [shape for shape in scene.shapes if isinstance(shape, Rect)]
    scores = [row.score for row in some_rows() if row.score][:10]
    scale = bars[0].width / scores[0]
    assert [bar.width for bar in bars] == pytest.approx([score * scale for score in scores])
    third = scene.spots[2]
    met = scene.at(third.x + 50, third.y + third.height / 2)
    assert met == third and some_rows()[met.row].name in met.text
    assert scene.at(5.0, scene.height - 1) is None


def test_a_picture_stands_by_itself() -> None:
    for kind in CHARTS:
        scene = chart(kind, some_rows(), HEADING)
        drawn = ET.fromstring(picture.svg(scene))
        assert float(drawn.attrib["width"]) == scene.width
        assert "QLoRA <8B> & more" in "".join(drawn.itertext())
        style = "".join(each.text or "" for each in drawn.iter(f"{SVG}style"))
        assert "prefers-color-scheme:dark" in style
        titles = [each.text for each in drawn.iter(f"{SVG}title")]
        assert len(titles) == len(scene.spots) + 1
    assert "prefers" not in picture.svg(scene, "dark")


@pytest.mark.parametrize("theme", THEMES)
def test_a_png_is_twice_the_picture_on_its_own_ground(theme: str) -> None:
    scene = chart("price", some_rows(), HEADING, measure=picture.font_width)
    image = Image.open(io.BytesIO(picture.png(scene, theme)))
    assert image.size == (round(2 * scene.width), round(2 * scene.height))
    paper = "#{:02x}{:02x}{:02x}".format(*image.getpixel((2, 2)))
    assert paper == THEMES[theme]["paper"]
    assert len(image.getcolors(1 << 20)) > 20


def test_nothing_to_draw_is_said() -> None:
    for kind in CHARTS:
        texts = [shape.text for shape in chart(kind, [], HEADING).shapes if isinstance(shape, Text)]
        assert "Nothing runs this work." in texts


@given(st.text(min_size=1, max_size=60), st.floats(20, 400))
def test_a_text_is_cut_to_its_room(text: str, room: float) -> None:
    cut = shortened(text, room, letters)
    assert letters(cut, 11.0) <= max(room, letters("xx", 11.0))
    assert cut == text or cut.endswith("…")
    assert len(wrapped(text, room, letters, 9.5)) <= 2


@given(st.floats(0.001, 1e5), st.floats(1.5, 1e4))
def test_ticks_lie_between_the_ends(low: float, times: float) -> None:
    found = ticks(low, low * times, Scale(name=""))
    assert all(low <= tick <= low * times for tick in found)
    assert len(found) <= 12
    assert ticks(2015.2, 2026.4, Scale(name="", log=False))[0] == 2016.0
    assert year_of("2024-07-01") == pytest.approx(2024.5)
    assert 2020 < year_of("2020") < 2021
