"""A comparison on paper: any number of rigs, any name, bars that keep their intervals."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import Price
from rigplanner.planning.compare import compare
from rigplanner.report.comparison.content import Comparison, comparison
from rigplanner.report.comparison.pdf import comparison_pdf
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import Assessment, assess

LONG = "a rig with a very long name " * 40


@pytest.fixture(scope="module")
def four(samples: list[Path], catalog: Catalog) -> list[Assessment]:
    stems = ("dual-rtx-3090", "quad-rtx-4090", "rtx-5090", "gtx-1080-ti")
    rigs = [read_rig(next(path for path in samples if path.stem == stem)) for stem in stems]
    price = Price(amount=100.0, currency="USD", day="2026-11-01", source="test")
    return [
        assess(
            replace(
                rig,
                workloads=rigs[0].workloads,
                currency="USD",
                items=tuple(replace(item, price=price) for item in rig.items),
            ),
            catalog,
        )
        for rig in rigs
    ]


def _made(rigs: list[Assessment], names: list[str] | None = None) -> Comparison:
    return comparison(names or [a.rig.name for a in rigs], compare(rigs))


def _pages(pdf: bytes) -> list[tuple[float, float, str]]:
    return [
        (float(p.mediabox.width), float(p.mediabox.height), p.extract_text())
        for p in PdfReader(io.BytesIO(pdf)).pages
    ]


@pytest.mark.parametrize(("count", "landscape"), [(2, False), (3, False), (4, True)])
def test_four_rigs_lie_across(four: list[Assessment], count: int, landscape: bool) -> None:
    for width, height, _ in _pages(comparison_pdf(_made(four[:count]))):
        assert (width > height) == landscape


def test_long_and_hostile_names_print(four: list[Assessment]) -> None:
    text = "".join(
        text
        for _, _, text in _pages(
            comparison_pdf(_made(four, [LONG, "<b>&</para>", "繁體中文", "\u202e"]), "Letter")
        )
    )
    assert "繁體中文" in text
    assert "</para>" in text


def test_bars_keep_the_interval_of_the_speed(four: list[Assessment]) -> None:
    made = _made(four)
    assert {chart.title for chart in made.charts} == {"Speed", "Speed per money", "Speed per power"}
    for chart in made.charts:
        for value, low, high in zip(chart.values, chart.lows, chart.highs, strict=True):
            if value is not None:
                assert low is not None and high is not None and low <= value <= high
    speed = four[0].jobs[0].speed
    chart = made.charts[0]
    assert speed is not None and chart.values[0] is not None and chart.lows[0] is not None
    assert chart.lows[0] / chart.values[0] == pytest.approx(speed.low / speed.value)


def test_one_known_bar_is_no_chart(four: list[Assessment]) -> None:
    unpriced = [four[0], *(replace(a, totals=replace(a.totals, unpriced=("x",))) for a in four[1:])]
    assert {chart.title for chart in _made(unpriced).charts} == {"Speed", "Speed per power"}


def test_figures_that_no_rig_has_are_not_printed(four: list[Assessment]) -> None:
    silent = [
        replace(a, jobs=tuple(replace(job, speed=None, memory=()) for job in a.jobs)) for a in four
    ]
    text = "".join(text for _, _, text in _pages(comparison_pdf(_made(silent))))
    assert "Workloads" not in text
    assert "GPU memory, all cards" in text


def test_the_outline_names_the_groups(four: list[Assessment]) -> None:
    titles = [entry.title for entry in PdfReader(io.BytesIO(comparison_pdf(_made(four)))).outline]
    assert titles[:2] == ["Verdict", "What was chosen"]
    assert "Workloads" in titles
