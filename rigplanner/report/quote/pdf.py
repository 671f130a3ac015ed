"""The quote on paper: A4 or Letter, 18 mm margins, hairlines, one accent colour; equal input gives
equal bytes."""

import io
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import Any

from rigplanner.catalog.load import Catalog
from rigplanner.report import format as fmt
from rigplanner.report.drawing.machine import machine_picture
from rigplanner.report.drawing.slots import slot_picture
from rigplanner.report.language import Words, tr
from rigplanner.report.paper.drawings import TALLEST, picture_flowable
from rigplanner.report.paper.flow import Figure, floating
from rigplanner.report.paper.inks import QUIET, STATES
from rigplanner.report.paper.packing import packed
from rigplanner.report.paper.sheet import Sheet, document
from rigplanner.report.paper.tagging import drawn_as
from rigplanner.report.quote.content import Quote, QuoteFinding, QuoteSource, quote_content
from rigplanner.report.quote.jobs import QuoteJob
from rigplanner.report.quote.logo import logo_flowable
from rigplanner.report.quote.memory_bar import memory_bar
from rigplanner.report.quote.setup_sheet import SetupRow
from rigplanner.rig.document import Party
from rigplanner.rules.assess import Assessment

PART_COLUMNS = (
    ("", "left"),
    ("Part", "left"),
    ("Qty", "right"),
    ("Unit price", "right"),
    ("Price dated", "left"),
    ("Amount", "right"),
)
MOST_IN_VERDICT = 3
LONGEST_SOURCE = 600
LONGEST_KEPT_TABLE = 12
"""Rows up to which a table stays whole."""
AREA_WORDS = Words(
    {"placement": "Place", "firmware": "Firmware", "power": "Power", "software": "Software"}
)
STATE_WORDS = Words(
    {
        "error": "does not work",
        "warning": "on a condition",
        "unknown": "not known",
        "info": "note",
        "ok": "works",
    }
)


def quote_pdf(
    assessment: Assessment, catalog: Catalog, today: date | None = None, paper: str = "A4"
) -> bytes:
    """Return the quote of a rig as PDF bytes. `paper` is "A4" or "Letter"; `today` dates a quote
    without a date."""
    return render(quote_content(assessment, catalog, today or date.today()), paper)


def render(quote: Quote, paper: str = "A4") -> bytes:
    """Return a quote's content as PDF bytes."""
    sheet, buffer = Sheet(paper), io.BytesIO()
    title = tr("Quote {number} {title}", number=quote.number, title=quote.title).replace("  ", " ")
    page = document(buffer, sheet, title, quote.seller.name or "RigPlanner", quote.title)
    page.build(_story(quote, sheet), canvasmaker=sheet.canvas_maker(_footer_text(quote)))
    return packed(buffer.getvalue())


def _footer_text(quote: Quote) -> str:
    words = [
        quote.seller.name,
        tr("Quote {number}", number=quote.number) if quote.number else "",
        fmt.day(quote.date),
    ]
    return "  ·  ".join(word for word in words if word)


def _story(quote: Quote, sheet: Sheet) -> list[Any]:
    blocks = [
        _jobs(quote, sheet),
        _power(quote, sheet),
        _renting(quote, sheet),
        _findings(quote, sheet),
        _offered(quote, sheet),
        _notes(quote, sheet),
    ]
    return [
        *_head(quote, sheet),
        *_verdict(quote, sheet),
        *_parts(quote, sheet),
        floating(_figures(quote, sheet), [block for block in blocks if block], sheet.height),
        *_annex(quote, sheet),
    ]


def _head(quote: Quote, sheet: Sheet) -> list[Any]:
    logo = logo_flowable(quote.seller.logo)
    left = [
        *([logo, sheet.gap(4)] if logo else []),
        sheet.text(quote.seller.name or tr("Seller not named"), "name"),
        *_party_lines(quote.seller, sheet),
    ]
    facts = [
        (tr("Quote"), quote.number or tr("without number")),
        (tr("Date"), fmt.day(quote.date)),
        (tr("Valid until"), fmt.day(quote.valid_until)),
    ]
    right = [
        sheet.text(tr("Quote"), "title"),
        *(sheet.text(f"{word}  {value}", "small") for word, value in facts),
    ]
    head = sheet.columns([left, right], (0.68, 0.32))
    customer = [
        sheet.text(tr("For"), "label"),
        sheet.text(quote.customer.name or tr("Customer not named"), "strong"),
        *_party_lines(quote.customer, sheet),
    ]
    subject = [sheet.text(tr("Rig"), "label"), sheet.text(quote.title, "strong")]
    if quote.remarks:
        subject.append(sheet.text(quote.remarks, "small", longest=1200))
    return [
        head,
        sheet.gap(10),
        sheet.rule(),
        sheet.gap(8),
        sheet.columns([customer, subject], (0.5, 0.5)),
        sheet.gap(12),
    ]


def _party_lines(party: Party, sheet: Sheet) -> list[Any]:
    lines = [
        *party.address.split("\n"),
        party.contact,
        "  ".join(x for x in (party.phone, party.email) if x),
    ]
    lines.append(tr("Tax id {number}", number=party.tax_id) if party.tax_id else "")
    return [sheet.text(line, "small") for line in lines if line.strip()]


def _verdict(quote: Quote, sheet: Sheet) -> list[Any]:
    titles = dict.fromkeys(
        f.title for f in quote.findings if f.severity in ("error", quote.verdict)
    )
    return [
        sheet.banner(
            quote.verdict, quote.verdict_text, "  ·  ".join(list(titles)[:MOST_IN_VERDICT])
        ),
        sheet.gap(12),
    ]


def _parts(quote: Quote, sheet: Sheet) -> list[Any]:
    rows: list[list[Any]] = [
        [sheet.text(tr(word) if word else "", "head", align=side) for word, side in PART_COLUMNS]
    ]
    for number, line in enumerate(quote.lines, 1):
        name = [sheet.text(line.name, "body")]
        if line.detail:
            name.append(sheet.text(line.detail, "small"))
        cells = [
            sheet.text(str(line.quantity), "body", align="right"),
            sheet.text(line.each, "body", align="right"),
        ]
        cells += [sheet.text(line.dated, "small"), sheet.text(line.amount, "body", align="right")]
        rows.append([sheet.text(str(number), "small"), name, *cells])
    story = [*sheet.section(tr("Parts")), sheet.table(rows, (0.04, 0.42, 0.06, 0.17, 0.15, 0.16))]
    sums = []
    for n, (word, value) in enumerate(quote.sums, 1):
        style = "strong" if n == len(quote.sums) else "body"
        sums.append(
            [
                sheet.text("", "body"),
                sheet.text(word, style, align="right"),
                sheet.text(value, style, align="right"),
            ]
        )
    story += [sheet.together([sheet.table(sums, (0.5, 0.28, 0.22), header=False, lined=False)])]
    story += [sheet.text(note, "small") for note in quote.money_notes]
    if quote.terms:
        story += [
            sheet.gap(6),
            sheet.text(tr("Terms"), "label"),
            sheet.text(quote.terms, "small", longest=4000),
        ]
    return [*story, sheet.gap(14)]


def _figures(quote: Quote, sheet: Sheet) -> list[Figure]:
    figures = []
    picture = machine_picture(quote.machine)
    if picture.shapes:
        links = [sheet.gap(3), sheet.text(quote.links, "small")] if quote.links else []
        shown = drawn_as(picture_flowable(picture, sheet.width), "Figure", tr("The machine"))
        figures.append(Figure([*sheet.heading(tr("The machine")), shown, *links, sheet.gap(12)]))
    if quote.slots:
        figures.append(_slots(quote, sheet))
    return figures


def _slots(quote: Quote, sheet: Sheet) -> Figure:
    rows = [
        [
            sheet.text(word, "head")
            for word in (tr("Place"), tr("Installed part"), tr("Link"), tr("Note"))
        ]
    ]
    rows += [
        [
            *(sheet.text(text, "body") for text in (row.place, row.what, row.link)),
            sheet.text(row.note, "small"),
        ]
        for row in quote.slots
    ]
    kept = sheet.heading(tr("Slots and ports"))
    picture = slot_picture(quote.machine)
    if picture.shapes:
        shown = drawn_as(
            picture_flowable(picture, sheet.width, TALLEST / 2), "Figure", tr("Slots and cards")
        )
        kept += [shown, sheet.gap(6)]
    table = [sheet.table(rows, (0.2, 0.44, 0.14, 0.22)), sheet.gap(14)]
    return Figure([*kept, *table]) if len(rows) <= LONGEST_KEPT_TABLE else Figure(kept, table)


def _jobs(quote: Quote, sheet: Sheet) -> list[Any]:
    story = []
    for n, job in enumerate(quote.jobs):
        heading = sheet.heading(tr("What it will do")) if n == 0 else []
        story += [sheet.together([*heading, *_job(job, sheet)]), sheet.gap(10)]
    if any(job.interval for job in quote.jobs):
        steps = tr(
            "Formulas, inputs and sources of each speed: rigplanner performance {file} --steps",
            file="FILE.rig",
        )
        story[-1:] = [sheet.text(steps, "small"), sheet.gap(10)]
    return story


def _job(job: QuoteJob, sheet: Sheet) -> list[Any]:
    rows: list[Any] = [sheet.text(job.title, "strong"), sheet.text(job.settings, "small")]
    for bar in job.bars:
        many = f"{bar.count} × " if bar.count > 1 else ""
        room = fmt.quantity(bar.capacity_gib, "GiB", 1)
        rows.append(
            sheet.text(
                tr(
                    "Memory on {many}{gpu}: {low_gib} of {room}, {verdict}",
                    many=many,
                    gpu=bar.gpu,
                    low_gib=fmt.interval(bar.low_gib, bar.high_gib, "GiB"),
                    room=room,
                    verdict=tr(bar.verdict),
                ),
                "body",
            )
        )
        rows.append(drawn_as(memory_bar(bar, sheet.width), "Figure", tr("Memory per GPU")))
    if job.host:
        rows.append(sheet.text(job.host, "small"))
    if job.memory_note:
        rows.append(
            sheet.text(
                tr("Memory not predicted: {memory_note}", memory_note=job.memory_note), "body"
            )
        )
    speed = tr("Expected speed: {speed}", speed=job.speed)
    if job.interval:
        speed += tr(
            " (80 % interval {interval}), limited by {bound}, with {stack}",
            interval=job.interval,
            bound=job.bound,
            stack=job.stack,
        )
    rows.append(sheet.text(speed, "body"))
    if job.lift:
        rows.append(sheet.text(job.lift, "small"))
    rows += [sheet.text(tr("Measured: {anchor}", anchor=anchor), "small") for anchor in job.anchors]
    if job.assumed:
        rows.append(sheet.text(tr("Assumed: {assumed}", assumed=job.assumed), "small"))
    return rows


def _power(quote: Quote, sheet: Sheet) -> list[Any]:
    """Return the figures two a row, read across; one that is left over has the whole row for its
    words."""
    cells = [
        [sheet.text(word, "body"), sheet.text(value, "body", align="right")]
        for word, value in (*quote.power, *quote.running)
    ]
    rows = [[*left, "", *right] for left, right in zip(cells[::2], cells[1::2], strict=False)]
    tables = [sheet.table(rows, (0.29, 0.19, 0.04, 0.29, 0.19), header=False)] if rows else []
    if len(cells) % 2:
        tables.append(sheet.table([cells[-1]], (0.4, 0.6), header=False))
    return [sheet.together([*sheet.heading(tr("Power, circuit and heat")), *tables]), sheet.gap(14)]


RENTING_COLUMNS = ("Workload", "Machine for hire", "Rent", "Rig's speed", "Rig is cheaper after")


def _renting(quote: Quote, sheet: Sheet) -> list[Any]:
    if not quote.renting:
        return []
    rows = [[sheet.text(tr(word), "head") for word in RENTING_COLUMNS]]
    for _, alike in groupby(quote.renting, key=lambda row: row[0]):
        for n, row in enumerate(alike):
            rows.append([sheet.text(cell, "body") for cell in (row[0] if n == 0 else "", *row[1:])])
    note = tr(
        "Hours are hours of the rig's own work; both speeds come from the same model. Rents are"
        " those of the day named."
    )
    story = [
        *sheet.section(tr("Against renting")),
        sheet.table(rows, (0.17, 0.22, 0.2, 0.22, 0.19)),
        sheet.text(note, "small"),
    ]
    return [*story, sheet.gap(14)]


def _findings(quote: Quote, sheet: Sheet) -> list[Any]:
    story: list[Any] = sheet.section(tr("Findings"))
    found = [
        finding
        for finding in (*quote.findings, *quote.waived)
        if finding.severity != "info" or finding.waived
    ]
    if not found:
        return [
            *story,
            sheet.text(
                tr("Nothing wrong was found; {ran} rules were checked.", ran=quote.ran), "body"
            ),
            sheet.gap(14),
        ]
    rows: list[list[Any]] = [[sheet.text(word, "head") for word in ("", tr("Finding"), tr("Code"))]]
    rows += [_finding_row(finding, sheet) for finding in found]
    return [*story, sheet.table(rows, (0.17, 0.73, 0.1)), sheet.gap(14)]


def _notes(quote: Quote, sheet: Sheet) -> list[Any]:
    """Return findings that are only worth knowing: small, those of one rule in one paragraph."""
    notes = sorted(
        (finding for finding in quote.findings if finding.severity == "info"),
        key=lambda finding: finding.code,
    )
    if not notes:
        return []
    rows = []
    for code, alike in groupby(notes, key=lambda finding: finding.code):
        same = list(alike)
        text = " ".join(dict.fromkeys(finding.text for finding in same))
        rows.append(
            [
                sheet.text(same[0].title, "note"),
                sheet.text(text, "small", longest=2000),
                sheet.text(code, "small"),
            ]
        )
    return [
        *sheet.section(tr("Notes")),
        sheet.table(rows, (0.3, 0.6, 0.1), header=False),
        sheet.gap(14),
    ]


def _finding_row(finding: QuoteFinding, sheet: Sheet) -> list[Any]:
    state = tr("waived") if finding.waived else STATE_WORDS[finding.severity]
    cell = [sheet.text(finding.title, "strong"), sheet.text(finding.text, "body")]
    if finding.fix:
        cell.append(sheet.text(tr("What to do: {fix}", fix=finding.fix), "small"))
    if finding.waived:
        cell.append(sheet.text(finding.waived, "small"))
    colour = QUIET if finding.waived else STATES[finding.severity]
    return [sheet.text(state, "strong", colour=colour), cell, sheet.text(finding.code, "small")]


def _annex(quote: Quote, sheet: Sheet) -> list[Any]:
    story: list[Any] = sheet.section(tr("Annex: setting it up"))
    story += (
        _setup(quote.setup, sheet)
        if quote.setup
        else [sheet.text(tr("Nothing to place or set."), "body")]
    )
    story += [sheet.gap(12), *sheet.section(tr("What was not checked"))]
    story += [sheet.text(text, "body") for text in quote.unchecked]
    note = tr(
        "Made with RigPlanner, catalog {value}. Predictions are intervals, not promises.",
        value=quote.catalog_version or "without version",
    )
    story += [sheet.gap(3), sheet.text(note, "small")]
    if quote.sources:
        story += [sheet.gap(12), *sheet.section(tr("Sources of the part data"))]
        days = dict.fromkeys(source.read for source in quote.sources)
        story.append(
            sheet.halves(
                [flowable for day in days for flowable in _sources(quote.sources, day, sheet)]
            )
        )
    return story


def _sources(sources: Sequence[QuoteSource], day: str, sheet: Sheet) -> list[Any]:
    """Return those of the sources that were read on one day, each with its address behind it."""
    named = _named_once([source for source in sources if source.read == day])
    lines = [sheet.value(title, url, "fine", "fine", LONGEST_SOURCE) for title, url in named]
    return [sheet.gap(4), sheet.text(tr("Read {day}", day=day), "small"), sheet.gap(2), *lines]


def _named_once(sources: Sequence[QuoteSource]) -> list[tuple[str, str]]:
    """Return titles and addresses; sources that differ only in whom they name, and have no address,
    stand together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for source in sources:
        who, parted, what = source.title.partition(": ")
        if source.url or not parted:
            alike[source.title, source.url] = []
        else:
            alike.setdefault((what, ""), []).append(who)
    return [
        (f"{', '.join(names)}: {what}" if names else what, url)
        for (what, url), names in alike.items()
    ]


def _setup(rows: Sequence[SetupRow], sheet: Sheet) -> list[Any]:
    made: list[list[Any]] = [
        [sheet.text(word, "head") for word in ("", tr("Step"), "", tr("Reason"))]
    ]
    for area, alike in groupby(rows, key=lambda row: row.area):
        for n, row in enumerate(alike):
            first = sheet.text(AREA_WORDS[area] if n == 0 else "", "strong")
            made.append(
                [
                    first,
                    sheet.text(row.what, "body"),
                    sheet.text(row.value, "body", longest=2000),
                    sheet.text(row.why, "small"),
                ]
            )
    return [sheet.table(made, (0.11, 0.24, 0.36, 0.29))]


def _offered(quote: Quote, sheet: Sheet) -> list[Any]:
    if not quote.offered:
        return []
    rows: list[list[Any]] = [
        [sheet.text(word, "head") for word in (tr("Alternative"), tr("What it changes"))]
    ]
    rows[0].append(sheet.text(tr("Price"), "head", align="right"))
    for offer in quote.offered:
        cell = (
            [sheet.text(tr("Resolves: {solves}", solves=", ".join(offer.solves)), "small")]
            if offer.solves
            else []
        )
        cell += (
            [sheet.text(tr("Brings: {brings}", brings=", ".join(offer.brings)), "small")]
            if offer.brings
            else []
        )
        cell += [sheet.text("; ".join(offer.changes), "small")] if offer.changes else []
        price = sheet.text(offer.price, "body", align="right")
        rows.append(
            [
                sheet.text(offer.what, "body"),
                cell or sheet.text(tr("no finding, load or speed"), "small"),
                price,
            ]
        )
    return [
        *sheet.section(tr("Alternatives offered")),
        sheet.table(rows, (0.34, 0.48, 0.18)),
        sheet.gap(14),
    ]
