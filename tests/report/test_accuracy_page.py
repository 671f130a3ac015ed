"""docs/accuracy.md: what to expect at first sight, what is asked, what is reached and why not; its
pictures and the CSV beside it."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rigplanner.error_figures import Errors
from rigplanner.report.accuracy.page import accuracy_page, beside, reached
from rigplanner.report.accuracy.pictures import pooled
from rigplanner.report.accuracy.table import AccuracyTable, JudgedCase
from rigplanner.report.accuracy.targets import TARGETS, Target

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
MOST_LINES = 80
MEDIAN = Target(what="Speed", judged="speed", figure="median", most=0.08, why="too few rows")
INSIDE = Target(what="Speed", judged="speed", figure="inside", least=0.75, most=0.85)


def table(judged: str = "speed", group: str = "all", **figures: float) -> AccuracyTable:
    return AccuracyTable(
        judged=judged,
        title="T",
        note="N",
        rows=(Errors(group=group, cases=10, covered=9, **figures),),
    )


@pytest.mark.parametrize(
    ("median", "met"), [(0.04, True), (0.08, True), (0.0804, True), (0.081, False)]
)
def test_a_bound_is_judged_to_the_tenth_that_is_told(median: float, met: bool) -> None:
    assert reached([table(median=median)], [MEDIAN])[0].met is met


@pytest.mark.parametrize(
    ("inside", "met"), [(0.749, False), (0.75, True), (0.85, True), (0.851, False)]
)
def test_a_range_has_two_ends(inside: float, met: bool) -> None:
    assert reached([table(inside=inside)], [INSIDE])[0].met is met


def test_the_worst_of_several_files_decides() -> None:
    (told,) = reached([table(median=0.09), table(median=0.02)], [MEDIAN])
    assert told.figures == (0.02, 0.09) and told.met is False


def test_tables_and_groups_of_another_name_do_not_count() -> None:
    (told,) = reached(
        [table("memory", median=0.02), table(group="stack: vllm", median=0.02), table()], [MEDIAN]
    )
    assert told.figures == () and told.met is None


def test_shares_of_a_table_and_what_was_covered_are_figures_too() -> None:
    order = Target(what="Order", judged="speed", figure="right order", least=0.99)
    covered = Target(what="Covered", judged="speed", figure="covered", least=0.95)
    tables = [
        AccuracyTable(judged="speed", title="T", note="N", shares={"right order": 0.995}),
        table(),
    ]
    assert [told.figures for told in reached(tables, [order, covered])] == [(0.995,), (0.9,)]


def test_a_figure_without_bounds_has_no_verdict() -> None:
    assert (
        reached([table(median=0.3)], [Target(what="Others", judged="speed", figure="median")])[
            0
        ].met
        is None
    )


def test_the_page_says_met_missed_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        reached,
        "__defaults__",
        ((MEDIAN, INSIDE, Target(what="Else", judged="else", figure="mean", most=0.1)),),
    )
    page = accuracy_page([table(median=0.02, inside=0.8), table(median=0.104, inside=0.8)])
    assert "| Speed | median | at most 8 % | 2.0 to 10.4 % | **missed** | too few rows |" in page
    assert "| Speed | inside | 75 to 85 % | 80.0 % | met |  |" in page
    assert "| Else | mean | at most 10 % | not judged here |  |  |" in page


def cases(judged: str, *pairs: tuple[float, float]) -> AccuracyTable:
    """A table of cases measured and predicted in GiB."""
    told = tuple(JudgedCase(str(at), "GiB", *pair) for at, pair in enumerate(pairs))
    return AccuracyTable(judged=judged, title=f"T {judged}", note="N, N", cases=told)


def test_files_are_pooled_by_their_cases_not_by_their_medians() -> None:
    tables = [cases("speed", (10, 10), (10, 10), (10, 11)), cases("speed", (10, 15), (10, 20))]
    found = pooled(tables, "speed")
    assert found is not None and found.covered == 5
    assert found.median == pytest.approx(0.1) and found.p90 == pytest.approx(1.0)
    assert pooled(tables, "memory") is None


def test_the_page_leads_with_what_to_expect_at_first_sight() -> None:
    page = accuracy_page([cases("memory at first sight", (10, 12)), table(median=0.02)])
    lead = page[: page.index("| predicted")]
    assert "memory off by 20.0 % (median) and 20 % (p90); speed not judged here" in lead


def test_pictures_hold_every_case_and_a_line_for_each_comparison() -> None:
    tables = [
        cases("memory held out", (1, 1), (1, 1.01), (900, 2)),
        cases("GPU left out", (10, 10)),
        table("another measurement", "the same job", median=0.075, p90=0.3),
    ]
    files = beside(tables)
    scatter = ElementTree.fromstring(files["predicted-measured.svg"])
    cells = [each for each in scatter.iter() if each.get("class") == "hue0"]
    assert len(cells) == 2, "two near cases share a cell; a time is no rate"
    words = "".join(scatter.itertext())
    assert "Memory, source left out: 3 cases" in words and "Speed, GPU left out: 0 cases" in words
    novelty = " ".join("".join(ElementTree.fromstring(files["novelty.svg"]).itertext()).split())
    assert "two measurements of one job 7.5 · 30 %" in novelty


def test_csv_holds_rows_notes_and_cases() -> None:
    told = AccuracyTable(
        judged="GPU left out",
        title="T",
        note="left, out",
        rows=(Errors(group="all", cases=2, covered=1, median=0.25),),
        shares={"right order": 0.5},
        cases=(JudgedCase("r1", "tokens/s", 1234.5, 1000.0),),
    )
    files = {
        name: list(csv.reader(io.StringIO(text)))
        for name, text in beside([told]).items()
        if name.endswith(".csv")
    }
    assert files["tables.csv"][1][:6] == ["GPU left out", "T", "all", "2", "1", "0.2500"]
    assert files["comparisons.csv"][1] == [
        "GPU left out",
        "T",
        "left, out",
        "right order",
        "0.5000",
    ]
    assert files["cases.csv"][1] == ["GPU left out", "r1", "tokens/s", "1234", "1000"]


def test_the_page_that_ships_is_short_and_what_it_shows_lies_beside_it() -> None:
    text = PAGE.read_text("utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert text.index("at first sight") < text.index("| predicted")
    linked = set(re.findall(r"\((accuracy/[^)]+)\)", text))
    assert {name.split("/")[1] for name in linked} == set(beside([]))
    assert all((PAGE.parent / name).stat().st_size for name in linked)


def test_the_page_that_ships_tells_every_target_and_why_one_is_missed() -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")
    ][2:]
    assert [(row[0], row[1]) for row in rows] == [
        (target.what, target.figure) for target in TARGETS
    ]
    shipped = {
        target.what for target in TARGETS if target.judged != "brackets"
    }  # no file of largest batches ships
    assert not [row for row in rows if row[3] == "not judged here" and row[0] in shipped]
    assert not [row for row in rows if row[4] == "**missed**" and not row[5]]
