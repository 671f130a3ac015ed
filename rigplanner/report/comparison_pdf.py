"""A comparison on paper."""

import io
from itertools import groupby
from typing import Any

from rigplanner.report.comparison import Comparison
from rigplanner.report.paper import Sheet, document

GROUP_WORDS = {
    "verdict": "Verdict", "parts": "Parts", "machine": "Machine", "power": "Power", "money": "Money", "workloads": "Workloads",
}  # fmt: skip


def comparison_pdf(made: Comparison, paper: str = "A4") -> bytes:
    """Return a comparison as PDF bytes; what is ahead is printed strong."""
    sheet, buffer = Sheet(paper), io.BytesIO()
    title = "Comparison: " + ", ".join(made.names)
    page = document(buffer, sheet, title, "RigPlanner", "Comparison of rigs")
    story: list[Any] = [sheet.text("Comparison", "title"), sheet.text(", ".join(made.names), "small", longest=1000), sheet.gap(10)]
    share = 0.72 / len(made.names)
    indexed = list(zip(made.groups, made.rows, made.better, strict=True))
    for group, members in groupby(indexed, key=lambda entry: entry[0]):
        rows: list[list[Any]] = [[sheet.text("", "head"), *(sheet.text(name, "head") for name in made.names)]]
        for _, row, best in members:
            cells = [sheet.text(cell, "strong" if n in best else "body") for n, cell in enumerate(row[1:])]
            rows.append([sheet.text(row[0], "body"), *cells])
        story += [*sheet.section(GROUP_WORDS[group]), sheet.table(rows, (0.28, *[share] * len(made.names))), sheet.gap(10)]
    page.build(story, canvasmaker=sheet.canvas_maker(title))
    return buffer.getvalue()
