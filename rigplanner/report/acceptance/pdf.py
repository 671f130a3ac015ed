"""The acceptance protocol and the burn-in plan on paper, with lines to sign on."""

import io
from typing import Any

from rigplanner.asbuilt.burn_in import BurnInPlan
from rigplanner.report.acceptance.content import (
    Protocol,
    ProtocolGroup,
    ProtocolRow,
    plan_rows,
    time_text,
)
from rigplanner.report.language import tr
from rigplanner.report.paper.inks import STATES
from rigplanner.report.paper.packing import packed
from rigplanner.report.paper.sheet import Sheet, document

COLUMNS = (0.31, 0.15, 0.15, 0.39)
CAPTURE_COLUMNS = (0.2, 0.24, 0.56)
LEAST = 150.0
"""Points below a heading: its table begins with a head and a row of several lines."""
PLAN_COLUMNS = (0.04, 0.3, 0.36, 0.2, 0.1)


def protocol_pdf(made: Protocol, paper: str = "A4") -> bytes:
    """Return the protocol as PDF bytes."""
    sheet, buffer = Sheet(paper), io.BytesIO()
    title = f"{made.title}: {made.rig}"
    page = document(buffer, sheet, title, made.seller or "RigPlanner", made.title)
    story: list[Any] = [
        sheet.text(made.title, "title"),
        sheet.text(made.rig, "name"),
        sheet.text(
            tr("Accepted on {day}, captured {captured}", day=made.day, captured=made.captured),
            "small",
        ),
        sheet.gap(8),
        sheet.banner(made.state, made.verdict, made.counts),
        sheet.gap(8),
    ]
    for group in made.groups:
        story += [*sheet.section(group.title, LEAST), _group(group, sheet), sheet.gap(8)]
    story += _since(made, sheet)
    story += _captures(made, sheet)
    story += [sheet.gap(30), sheet.together([_signatures(made, sheet)])]
    page.build(story, canvasmaker=sheet.canvas_maker(title))
    return packed(buffer.getvalue())


def _group(group: ProtocolGroup, sheet: Sheet) -> Any:
    heads = (tr("What"), tr("Promised"), tr("Seen"), tr("Verdict"))
    rows: list[list[Any]] = [[sheet.text(head, "head") for head in heads]]
    rows += [_row(row, sheet) for row in group.rows]
    return sheet.table(rows, COLUMNS)


def _row(row: ProtocolRow, sheet: Sheet) -> list[Any]:
    verdict: list[Any] = [sheet.text(row.verdict, "strong", colour=STATES[row.state])]
    verdict += [sheet.text(text, "body") for text in (row.cost,) if text]
    verdict += [sheet.text(text, "note") for text in (row.cause, row.step) if text]
    what: list[Any] = [sheet.text(row.what, "body")]
    what += [sheet.text(row.where, "small")] if row.where else []
    return [what, sheet.text(row.promised, "body"), sheet.text(row.seen, "body"), verdict]


def _since(made: Protocol, sheet: Sheet) -> list[Any]:
    if not made.since_title:
        return []
    texts = made.since or (tr("nothing"),)
    return [*sheet.section(made.since_title), *(sheet.text(text, "body") for text in texts)]


def _captures(made: Protocol, sheet: Sheet) -> list[Any]:
    heads = (tr("File"), tr("Program"), "SHA-256")
    rows: list[list[Any]] = [[sheet.text(head, "head") for head in heads]]
    for name, program, checksum in made.captures:
        rows.append(
            [sheet.text(name, "body"), sheet.text(program, "small"), sheet.text(checksum, "fine")]
        )
    notes = [sheet.text(note, "small") for note in made.notes]
    return [*sheet.section(tr("Captures")), sheet.table(rows, CAPTURE_COLUMNS), *notes]


def _signatures(made: Protocol, sheet: Sheet) -> Any:
    """Two lines to sign on, with day and name."""

    def field(role: str, name: str) -> list[Any]:
        return [
            sheet.gap(26),
            sheet.rule(),
            sheet.text(f"{role}: {name}" if name else role, "body"),
            sheet.text(tr("Day, name, signature"), "small"),
        ]

    blocks = [field(tr("Seller"), made.seller), field(tr("Buyer"), made.buyer)]
    return sheet.columns(blocks, (0.5, 0.5))


def plan_pdf(plan: BurnInPlan, paper: str = "A4") -> bytes:
    """Return the burn-in plan as PDF bytes, with a column to tick."""
    sheet, buffer = Sheet(paper), io.BytesIO()
    title = tr("Burn-in plan of {rig}", rig=plan.rig)
    page = document(buffer, sheet, title, "RigPlanner", tr("Burn-in plan"))
    heads = ("", tr("Step"), tr("Command"), tr("Expected"), tr("Time"))
    rows: list[list[Any]] = [[sheet.text(head, "head") for head in heads]]
    rows += [
        [
            sheet.text(row.number, "small"),
            sheet.text(row.purpose, "body"),
            sheet.text(row.command, "small"),
            sheet.text(row.expected, "body"),
            sheet.text(row.time, "body"),
        ]
        for row in plan_rows(plan)
    ]
    total = tr("{time} in all", time=time_text(plan.seconds))
    story = [
        sheet.text(tr("Burn-in plan"), "title"),
        sheet.text(plan.rig, "name"),
        sheet.text(total, "small"),
        sheet.gap(8),
        sheet.table(rows, PLAN_COLUMNS),
    ]
    page.build(story, canvasmaker=sheet.canvas_maker(title))
    return packed(buffer.getvalue())
