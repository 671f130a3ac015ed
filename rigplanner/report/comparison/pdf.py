"""A comparison on paper: upright for two or three rigs, landscape for more."""

import io
from itertools import groupby
from typing import Any

from rigplanner.report.comparison.bars import interval_bars
from rigplanner.report.comparison.content import (
    GROUP_WORDS,
    Chart,
    Comparison,
    ComparisonCell,
    ComparisonLine,
)
from rigplanner.report.format import unit_text
from rigplanner.report.language import listed, tr
from rigplanner.report.paper.flow import outline_flowable
from rigplanner.report.paper.packing import packed
from rigplanner.report.paper.sheet import Sheet, document
from rigplanner.report.paper.tagging import drawn_as

MOST_UPRIGHT = 3
LONGEST_NAME = 90
FIRST_COLUMN = 0.24
NOTE = (
    "Bold: ahead; predicted values whose intervals overlap are all ahead. In brackets the 80 %"
    " interval. Per cent: difference from the first column that is the baseline. A dash: not"
    " planned on that rig, or not known."
)


def comparison_pdf(made: Comparison, paper: str = "A4") -> bytes:
    """Return a comparison as PDF bytes."""
    sheet, buffer = Sheet(paper, landscape=len(made.names) > MOST_UPRIGHT), io.BytesIO()
    title = tr("Comparison") + ": " + ", ".join(name[:LONGEST_NAME] for name in made.names)
    page = document(buffer, sheet, title, "RigPlanner", tr("Comparison of rigs"))
    story: list[Any] = [
        sheet.text(tr("Comparison"), "title"),
        sheet.text(tr(NOTE), "small"),
        sheet.gap(8),
        *(sheet.text(change, "body") for change in made.changes),
        *([sheet.gap(8)] if made.changes else []),
        _table(made, sheet),
    ]
    if any(chart.code != "speed" for chart in made.charts):
        story += [sheet.gap(14), *_charts(made, sheet)]
    page.build(story, canvasmaker=sheet.canvas_maker(title))
    return packed(buffer.getvalue())


def _table(made: Comparison, sheet: Sheet) -> Any:
    """Return one table of all groups under one repeated head."""
    empty = ["" for _ in made.names]
    rows: list[list[Any]] = [
        [
            sheet.text("", "head"),
            *(sheet.text(name, "strong", longest=LONGEST_NAME) for name in made.names),
        ]
    ]
    kept: list[int] = []
    for group, members in groupby(_shown(made), key=lambda line: line.group):
        title = GROUP_WORDS[group]
        kept.append(len(rows))
        rows.append([[outline_flowable(title), sheet.gap(5), sheet.text(title, "section")], *empty])
        for subject, alike in groupby(members, key=lambda line: line.subject):
            if subject:
                kept.append(len(rows))
                rows.append([sheet.text(subject, "strong", longest=LONGEST_NAME), *empty])
            rows += [_row(line, sheet) for line in alike]
    share = (1 - FIRST_COLUMN) / len(made.names)
    return sheet.table(rows, (FIRST_COLUMN, *[share] * len(made.names)), kept=kept)


def _shown(made: Comparison) -> list[ComparisonLine]:
    """Return the lines without workloads' figures that no rig has: most rigs run only some
    workloads."""
    return [line for line in made.lines if line.known or line.group != "workloads"]


def _row(line: ComparisonLine, sheet: Sheet) -> list[Any]:
    cells = [
        _cell(cell, n in line.best, n in line.known or line.group != "workloads", sheet)
        for n, cell in enumerate(line.cells)
    ]
    return [sheet.text(line.title, "body"), *cells]


def _cell(cell: ComparisonCell, best: bool, known: bool, sheet: Sheet) -> Any:
    rest = "  ".join(
        text for text in (f"({cell.interval})" if cell.interval else "", cell.delta) if text
    )
    return sheet.value(cell.value if known else "–", rest, "strong" if best else "body")


def _charts(made: Comparison, sheet: Sheet) -> list[Any]:
    """Return the charts in pairs, per money beside per power."""
    width = sheet.width / 2 - 10
    story: list[Any] = []
    for subject, charts in groupby(
        (chart for chart in made.charts if chart.code != "speed"), key=lambda chart: chart.subject
    ):
        blocks = [_chart(chart, made.names, width, sheet) for chart in charts]
        blocks += [[sheet.text("", "small")]] * (2 - len(blocks))
        pair = sheet.columns(blocks, (0.5, 0.5))
        heading = [] if story else sheet.heading(tr("Speed per money and per power"))
        story.append(
            sheet.together(
                [*heading, sheet.text(subject, "strong", longest=LONGEST_NAME), pair, sheet.gap(8)]
            )
        )
    return story


def _chart(chart: Chart, names: tuple[str, ...], width: float, sheet: Sheet) -> list[Any]:
    return [
        sheet.text(listed([chart.title, unit_text(chart.unit)]), "small"),
        drawn_as(interval_bars(chart, names, width), "Figure", chart.title),
    ]
