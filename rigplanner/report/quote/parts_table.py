"""The parts list of a quote on paper: rows, sums, conditions, terms, and room to sign."""

from typing import Any

from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.paper.sheet import Sheet
from rigplanner.report.quote.content import Quote, QuoteLine

Column = tuple[str, str, float]
"""Its heading, its side and its share of the width."""
OFFERED: tuple[Column, ...] = (
    ("", "left", 0.04),
    ("Part", "left", 0.42),
    ("Qty", "right", 0.06),
    ("Unit price", "right", 0.17),
    ("Price dated", "left", 0.15),
    ("Amount", "right", 0.16),
)
CALCULATED: tuple[Column, ...] = (
    ("", "left", 0.04),
    ("Part", "left", 0.37),
    ("Qty", "right", 0.06),
    ("Unit price", "right", 0.14),
    ("Amount", "right", 0.14),
    ("Cost", "right", 0.12),
    ("Margin", "right", 0.13),
)
SIGN_LINE = 34.0
"""Points above a line to sign on."""


def parts_story(quote: Quote, sheet: Sheet) -> list[Any]:
    """Return the section of parts with everything that is said of money."""
    sums, *notes = sums_story(quote, sheet)
    table = parts_table(quote, sheet)
    story = [*sheet.section(tr("Parts")), table, sheet.together([sums]), *notes]
    if quote.conditions:
        rows = [
            [sheet.text(word, "body"), sheet.text(value, "body", align="right")]
            for word, value in quote.conditions
        ]
        story += [sheet.gap(6), sheet.table(rows, (0.6, 0.4), header=False)]
    end: list[Any] = []
    if quote.terms:
        end = [
            sheet.gap(6),
            sheet.text(tr("Terms"), "label"),
            sheet.text(quote.terms, "small", longest=4000),
        ]
    if quote.rig.quote.signature and quote.form == "dealer":
        end.append(_room_to_sign(quote, sheet))
    return [*story, *([sheet.together(end)] if end else []), sheet.gap(14)]


def parts_table(quote: Quote, sheet: Sheet) -> Any:
    """Return the table of parts: the computer's, then under a heading what stands beside it."""
    columns = CALCULATED if quote.form == "internal" else OFFERED
    heads = [sheet.text(tr(word) if word else "", "head", align=side) for word, side, _ in columns]
    rows, headed = [heads], False
    for number, line in enumerate(quote.lines, 1):
        if line.is_beside and not headed:
            blank = [sheet.text("", "small") for _ in columns[2:]]
            title = sheet.text(tr("Beside the computer"), "small")
            rows.append([sheet.text("", "small"), title, *blank])
            headed = True
        rows.append(_row(number, line, quote, sheet))
    return sheet.table(rows, [share for _, _, share in columns])


def name_cell(line: QuoteLine, sheet: Sheet) -> list[Any]:
    """Return what a line sells: name, figures, and what the seller says of it."""
    told = "  ·  ".join(text for text in (line.detail, line.goods) if text)
    return [sheet.text(line.name, "body"), *([sheet.text(told, "small")] if told else [])]


def _row(number: int, line: QuoteLine, quote: Quote, sheet: Sheet) -> list[Any]:
    amount = sheet.text(
        line.amount or (tr("included") if line.is_included else ""), "body", "right"
    )
    each = "" if line.is_included else line.each
    cells = [
        sheet.text(str(number), "small"),
        name_cell(line, sheet),
        sheet.text(str(line.quantity), "body", align="right"),
        sheet.text(each, "body", align="right"),
    ]
    if quote.form != "internal":
        return [*cells, sheet.text(line.dated, "small"), amount]
    currency = quote.totals.currency
    figures = [fmt.money(v, currency) if v is not None else "" for v in (line.cost, line.margin)]
    return [*cells, amount, *(sheet.text(text, "body", align="right") for text in figures)]


def sums_story(quote: Quote, sheet: Sheet) -> list[Any]:
    """Return the sums below the list, the last one strong, and what is noted of them."""
    rows = _sum_rows(quote.sums, sheet)
    if quote.form == "internal":
        rows += _sum_rows(quote.margin, sheet)
    table = sheet.table(rows, (0.36, 0.36, 0.28), header=False, lined=False)
    return [table, *(sheet.text(note, "small") for note in quote.money_notes)]


def _sum_rows(sums: tuple[tuple[str, str], ...], sheet: Sheet) -> list[list[Any]]:
    rows = []
    for n, (word, value) in enumerate(sums, 1):
        style = "strong" if n == len(sums) else "body"
        texts = [sheet.text(text, style, align="right") for text in (word, value)]
        rows.append([sheet.text("", "body"), *texts])
    return rows


def _room_to_sign(quote: Quote, sheet: Sheet) -> Any:
    """Return two lines to sign on: of the customer, who accepts, and of the seller."""
    cells = []
    for word, name in (
        (tr("Accepted: place, date, signature"), quote.customer.name),
        (tr("For the seller"), quote.seller.name),
    ):
        texts = [sheet.text(text, "small") for text in (word, name) if text]
        cells.append([sheet.gap(SIGN_LINE), sheet.rule(), sheet.gap(2), *texts])
    return sheet.columns([cells[0], [], cells[1]], (0.46, 0.08, 0.46))
