"""The head of docs/accuracy.md: what is asked, what is reached, and why not."""

from pathlib import Path

import pytest

from rigplanner.error_figures import Errors
from rigplanner.report.accuracy.page import accuracy_page, reached
from rigplanner.report.accuracy.table import AccuracyTable
from rigplanner.report.accuracy.targets import TARGETS, Target

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
SCREEN_LINES = 45
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


def test_the_page_that_ships_tells_every_target_on_one_screen_and_why_one_is_missed() -> None:
    lines = PAGE.read_text("utf-8").split("\n## ")[0].splitlines()
    assert len(lines) <= SCREEN_LINES
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
