"""The quote for somebody who buys for himself: one page, no seller, no blanks."""

from typing import Any

from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.paper.sheet import Sheet
from rigplanner.report.quote.code import share_story
from rigplanner.report.quote.content import FINDING_WORDS, Quote
from rigplanner.report.quote.jobs import QuoteJob
from rigplanner.report.quote.parts_table import name_cell, sums_story

MOST_FINDINGS = 4
MOST_ON_ONE_PAGE = 30
"""Parts and workloads up to which everything is set on one page, smaller where it must be."""


def private_story(quote: Quote, sheet: Sheet) -> list[Any]:
    """Return the page."""
    from reportlab.platypus import KeepInFrame

    story = [
        *_head(quote, sheet),
        sheet.banner(quote.verdict, quote.verdict_text, quote.incomplete),
        sheet.gap(8),
        *_parts(quote, sheet),
        *_jobs(quote, sheet),
        *_power(quote, sheet),
        *_findings(quote, sheet),
        *share_story(quote.share, sheet),
    ]
    if len(quote.lines) + len(quote.jobs) > MOST_ON_ONE_PAGE:
        return story
    return [KeepInFrame(sheet.width, sheet.height - 1, story, mode="shrink")]


def _head(quote: Quote, sheet: Sheet) -> list[Any]:
    facts = [sheet.text(fmt.day(quote.date), "small", align="right")]
    head = [sheet.text(quote.title, "title", longest=160)]
    if quote.remarks:
        head.append(sheet.text(quote.remarks, "small", longest=400))
    kind = [sheet.text(quote.heading, "strong", align="right"), *facts]
    return [sheet.columns([head, kind], (0.75, 0.25)), sheet.gap(6)]


def _parts(quote: Quote, sheet: Sheet) -> list[Any]:
    heads = (("Part", "left"), ("Qty", "right"), ("Unit price", "right"), ("Price dated", "left"))
    columns = (*heads, ("Amount", "right"))
    rows: list[list[Any]] = [[sheet.text(tr(w), "head", align=side) for w, side in columns]]
    for line in quote.lines:
        amount = line.amount or (tr("included") if line.is_included else "")
        rows.append(
            [
                name_cell(line, sheet),
                sheet.text(str(line.quantity), "body", align="right"),
                sheet.text("" if line.is_included else line.each, "body", align="right"),
                sheet.text(line.dated, "small"),
                sheet.text(amount, "body", align="right"),
            ]
        )
    table = sheet.table(rows, (0.46, 0.06, 0.17, 0.14, 0.17))
    return [table, *sums_story(quote, sheet), sheet.gap(8)]


def _jobs(quote: Quote, sheet: Sheet) -> list[Any]:
    if not quote.jobs:
        return []
    rows = [
        [sheet.text(job.title, "strong"), _memory(job, sheet), _speed(job, sheet)]
        for job in quote.jobs
    ]
    table = sheet.table(rows, (0.28, 0.34, 0.38), header=False)
    return [*sheet.heading(tr("What it will do")), table, sheet.gap(8)]


def _memory(job: QuoteJob, sheet: Sheet) -> list[Any]:
    texts = [
        tr(
            "{interval} of {room} on {gpu}: {verdict}",
            interval=fmt.interval(bar.low_gib, bar.high_gib, "GiB"),
            room=fmt.quantity(bar.capacity_gib, "GiB", 1),
            gpu=f"{bar.count} × {bar.gpu}" if bar.count > 1 else bar.gpu,
            verdict=tr(bar.verdict),
        )
        for bar in job.bars
    ]
    return [sheet.text(text, "small") for text in texts or [job.memory_note]]


def _speed(job: QuoteJob, sheet: Sheet) -> list[Any]:
    """The interval first: it is what the buyer will see."""
    told = [sheet.text(job.interval or job.speed, "body")]
    return [*told, sheet.text(job.evidence, "small")] if job.evidence else told


def _power(quote: Quote, sheet: Sheet) -> list[Any]:
    told = "  ·  ".join(f"{word} {value}" for word, value in (*quote.power, *quote.running))
    if not told:
        return []
    title = tr("Power, circuit and heat")
    return [*sheet.heading(title), sheet.text(told, "small", longest=1200), sheet.gap(8)]


def _findings(quote: Quote, sheet: Sheet) -> list[Any]:
    found = [finding for finding in quote.findings if finding.severity != "info"]
    if not found:
        return []
    story: list[Any] = sheet.heading(tr("Findings"))
    for finding in found[:MOST_FINDINGS]:
        head = f"{FINDING_WORDS[finding.severity]}: {finding.title}"
        story.append(sheet.value(head, finding.fix or finding.text, "body", longest=300))
    if len(found) > MOST_FINDINGS:
        more = tr("{count} more", count=len(found) - MOST_FINDINGS)
        story.append(sheet.text(more, "small"))
    return [*story, sheet.gap(8)]
