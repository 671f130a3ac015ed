"""A quote as a workbook: parts, sums, workloads, findings, set-up; numbers stay numbers."""

from rigplanner.catalog.prices.money import WHOLE_CURRENCIES
from rigplanner.report.language import tr
from rigplanner.report.quote.content import Quote
from rigplanner.report.quote.frames import AMOUNTS, PART_COLUMNS, counted, parts_frame
from rigplanner.report.quote.sums import sum_rows
from rigplanner.report.spreadsheet import Amount, Cell, SheetOf, workbook

Row = tuple[Cell, ...]
SUM_HEADS = ("Sum", "Amount", "Currency", "Parts with a price", "Parts", "Note")
JOB_HEADS = (
    "Workload",
    "Settings",
    "GPU",
    "GPUs",
    "Memory low GiB",
    "Memory high GiB",
    "GPU GiB",
    "Fits",
    "Expected speed",
    "Speed low",
    "Speed high",
    "Unit",
    "Stack",
    "Limited by",
    "Note",
)
FINDING_HEADS = ("Severity", "Code", "Finding", "Text", "What to do", "Accepted")
SETUP_HEADS = ("Area", "Step", "Value", "Reason")


def quote_workbook(quote: Quote) -> bytes:
    """Return a quote's content as the bytes of an .xlsx file."""
    return workbook(
        [_parts(quote), _sums(quote), _workloads(quote), _findings(quote), _setup(quote)]
    )


def _parts(quote: Quote) -> SheetOf:
    made = parts_frame(quote)
    rows: list[Row] = [tuple(map(tr, PART_COLUMNS))]
    for cells in made.to_dict("records"):
        for amount, currency in AMOUNTS.items():
            cells[amount] = _money(cells[amount], cells[currency])
        rows.append(tuple(cells.values()))
    return SheetOf(
        tr("Parts"), tuple(rows), (6, 48, 14, 8, 12, 16, 8, 12, 20, 12, 9, 20, 16, 40, 40)
    )


def _sums(quote: Quote) -> SheetOf:
    """What the parts come to, how many of them have a price, and by which rates others count. A
    complete machine without a price leaves the total empty."""
    totals, currency = quote.totals, quote.totals.currency
    every = len(totals.lines)
    known = any(line.value is not None for line in quote.lines)
    priced = every - len(totals.unpriced) - len(totals.foreign) if known else 0
    sums = sum_rows(totals, quote.rig.quote)
    told = [*sums[:-1], (tr("Total of the priced parts"), sums[-1][1])] if priced < every else sums
    rows: list[Row] = [tuple(map(tr, SUM_HEADS))]
    rows += [
        (word, _money(counted(amount, currency), currency), currency, priced, every, None)
        for word, amount in (told if priced else ())
    ]
    if priced < every:
        rows.append((tr("Total"), None, currency, priced, every, tr("not known")))
    rows += [(None, None, None, None, None, note) for note in quote.money_notes]
    return SheetOf(tr("Sums"), tuple(rows), (30, 16, 10, 18, 8, 80))


def _money(value: float | None, currency: str | None) -> Cell:
    if value is None or currency is None:
        return None
    return Amount(value, currency, 0 if currency in WHOLE_CURRENCIES else 2)


def _workloads(quote: Quote) -> SheetOf:
    rows: list[Row] = [tuple(map(tr, JOB_HEADS))]
    for job in quote.jobs:
        figures: Row = job.figures or (None, None, None)
        note = " ".join(
            told for told in (job.memory_note, "" if job.figures else job.speed) if told
        )
        speed: Row = (
            *figures,
            job.unit or None,
            job.stack or None,
            job.bound or None,
            note or None,
        )
        memory: list[Row] = [
            (bar.gpu, bar.count, bar.low_gib, bar.high_gib, bar.capacity_gib, tr(bar.verdict))
            for bar in job.bars
        ]
        rows += [(job.title, job.settings, *cells, *speed) for cells in memory or [(None,) * 6]]
    widths = (28, 48, 28, 6, 12, 12, 10, 12, 14, 12, 12, 12, 18, 14, 60)
    return SheetOf(tr("Workloads"), tuple(rows), widths)


def _findings(quote: Quote) -> SheetOf:
    rows: list[Row] = [tuple(map(tr, FINDING_HEADS))]
    rows += [
        (tr(f.severity), f.code, f.title, f.text, f.fix, f.waived)
        for f in (*quote.findings, *quote.waived)
    ]
    return SheetOf(tr("Findings"), tuple(rows), (12, 10, 40, 70, 50, 40))


def _setup(quote: Quote) -> SheetOf:
    rows: list[Row] = [tuple(map(tr, SETUP_HEADS))]
    rows += [(tr(row.area), row.what, row.value, row.why) for row in quote.setup]
    return SheetOf(tr("Set-up"), tuple(rows), (14, 44, 44, 44))
