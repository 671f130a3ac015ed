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
from rigplanner.report.quote.code import share_story
from rigplanner.report.quote.content import FINDING_WORDS, Quote, QuoteFinding, quote_content
from rigplanner.report.quote.jobs import QuoteJob
from rigplanner.report.quote.logo import logo_flowable
from rigplanner.report.quote.memory_bar import memory_bar
from rigplanner.report.quote.notes import QuoteSource
from rigplanner.report.quote.parts_table import parts_story
from rigplanner.report.quote.private_page import private_story
from rigplanner.report.quote.setup_sheet import SetupRow
from rigplanner.report.words.speed import STACK_NAMES
from rigplanner.rig.document import Form, Party
from rigplanner.rules.assess import Assessment

MOST_IN_VERDICT = 3
LONGEST_SOURCE = 160
LEAST_ON_LAST_PAGE = 0.3
"""Share of its height that a last page holds, so as not to look like a slip."""
OF_SOURCES = ("RIG003",)
"""Notes about sources; what of them decides stands among the figures that nobody verified."""
LONGEST_KEPT_TABLE = 12
"""Rows up to which a table stays whole."""
AREA_WORDS = Words(
    {"placement": "Place", "firmware": "Firmware", "power": "Power", "software": "Software"}
)


def quote_pdf(
    assessment: Assessment,
    catalog: Catalog,
    today: date | None = None,
    paper: str = "A4",
    form: Form | None = None,
) -> bytes:
    """Return the quote of a rig as PDF bytes. `paper` is "A4" or "Letter"; `today` dates a quote
    without a date; `form` is the rig's own where none is given."""
    return render(quote_content(assessment, catalog, today or date.today(), form), paper)


def render(quote: Quote, paper: str = "A4") -> bytes:
    """Return a quote's content as PDF bytes. Where the last page would be nearly empty, lines
    stand closer together or the one that others can read below the parts, if that saves the page
    or fills it more."""
    best = _rendered(quote, paper)
    for way in ({"is_close": True}, {"is_share_last": False}):
        pages, filled, _ = best
        if pages == 1 or filled >= LEAST_ON_LAST_PAGE:
            break
        best = min(best, _rendered(quote, paper, **way), key=_emptiness)
    return packed(best[2])


def _emptiness(made: tuple[int, float, bytes]) -> tuple[int, float]:
    return made[0], -made[1]


def _rendered(
    quote: Quote, paper: str, is_share_last: bool = True, is_close: bool = False
) -> tuple[int, float, bytes]:
    """Return the pages of a PDF, the share of the last one that is used, and its bytes."""
    sheet, buffer = Sheet(paper, is_close=is_close), io.BytesIO()
    title = " ".join(word for word in (quote.heading, quote.number, quote.title) if word)
    made = document(buffer, sheet, title, quote.seller.name or "RigPlanner", quote.title)
    is_private = quote.form == "private"
    story = private_story(quote, sheet) if is_private else _story(quote, sheet, is_share_last)
    made.build(story, canvasmaker=sheet.canvas_maker(_footer_text(quote)))
    used = made.frame._y2 - made.frame._y  # the library tells it nowhere else
    return made.page, used / sheet.height, buffer.getvalue()


def _footer_text(quote: Quote) -> str:
    words = [
        tr("Internal, not for the customer") if quote.form == "internal" else quote.seller.name,
        tr("Quote {number}", number=quote.number) if quote.number else "",
        fmt.day(quote.date),
    ]
    if quote.form == "private":
        words = [quote.title, fmt.day(quote.date)]
    return "  ·  ".join(word for word in words if word)


def _story(quote: Quote, sheet: Sheet, is_share_last: bool) -> list[Any]:
    share = [sheet.together([*share_story(quote.share, sheet), sheet.gap(12)])]
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
        *parts_story(quote, sheet),
        *([] if is_share_last else share),
        floating(_figures(quote, sheet), [block for block in blocks if block], sheet.height),
        *_annex(quote, sheet),
        *(share if is_share_last else []),
    ]


def _head(quote: Quote, sheet: Sheet) -> list[Any]:
    logo = logo_flowable(quote.seller.logo)
    left = [*([logo, sheet.gap(4)] if logo else []), *_party_lines(quote.seller, sheet, "name")]
    facts = [(tr("Quote"), quote.number), (tr("Date"), fmt.day(quote.date))]
    facts += [(tr("Valid until"), fmt.day(quote.valid_until))] if quote.seller.name else []
    right = [
        sheet.text(quote.heading, "title"),
        *(sheet.text(f"{word}  {value}", "small") for word, value in facts if value),
    ]
    customer = _party_lines(quote.customer, sheet, "strong")
    subject = [sheet.text(tr("Rig"), "label"), sheet.text(quote.title, "strong")]
    if quote.remarks:
        subject.append(sheet.text(quote.remarks, "small", longest=1200))
    named = [[sheet.text(tr("For"), "label"), *customer], subject]
    told = sheet.columns(named, (0.5, 0.5)) if customer else sheet.columns([subject], (1.0,))
    head = sheet.columns([left, right], (0.62, 0.38))
    return [head, sheet.gap(10), sheet.rule(), sheet.gap(8), told, sheet.gap(12)]


def _party_lines(party: Party, sheet: Sheet, style: str) -> list[Any]:
    """Return what is known of a party, its name in `style`."""
    name = [sheet.text(party.name, style)] if party.name else []
    lines = [
        *party.address.split("\n"),
        party.contact,
        "  ".join(x for x in (party.phone, party.email) if x),
    ]
    lines.append(tr("Tax id {number}", number=party.tax_id) if party.tax_id else "")
    return [*name, *(sheet.text(line, "small") for line in lines if line.strip())]


def _verdict(quote: Quote, sheet: Sheet) -> list[Any]:
    titles = dict.fromkeys(
        f.title for f in quote.findings if f.severity in ("error", quote.verdict)
    )
    told = [*([quote.incomplete] if quote.incomplete else []), *list(titles)[:MOST_IN_VERDICT]]
    return [
        sheet.banner(quote.verdict, quote.verdict_text, "  ·  ".join(told)),
        sheet.gap(12),
    ]


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
        story += [sheet.together([*heading, *_job(job, quote, sheet)]), sheet.gap(10)]
    if quote.form == "internal" and any(job.interval for job in quote.jobs):
        steps = tr(
            "Formulas, inputs and sources of each speed: rigplanner performance {file} --steps",
            file="FILE.rig",
        )
        story[-1:] = [sheet.text(steps, "small"), sheet.gap(10)]
    return story


def _job(job: QuoteJob, quote: Quote, sheet: Sheet) -> list[Any]:
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
            stack=STACK_NAMES.get(job.stack, job.stack),
        )
    rows.append(sheet.text(speed, "body"))
    if job.lift:
        rows.append(sheet.text(job.lift, "small"))
    if job.evidence:
        rows.append(sheet.text(f"{job.evidence}{_reference(job, quote)}", "small"))
    if quote.form != "internal":
        return rows
    rows += [sheet.text(tr("Measured: {anchor}", anchor=anchor), "small") for anchor in job.anchors]
    if job.assumed:
        rows.append(sheet.text(tr("Assumed: {assumed}", assumed=job.assumed), "small"))
    return rows


def _reference(job: QuoteJob, quote: Quote) -> str:
    """Return the number of the note that tells where a speed was measured, "" for none."""
    titles = [source.title for source in quote.sources]
    return f" [{titles.index(job.source) + 1}]" if job.source in titles else ""


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


RENTING_COLUMNS = ("Workload", "Cloud instance", "Rent", "Rig's speed", "Rig is cheaper after")


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
        (
            finding
            for finding in quote.findings
            if finding.severity == "info"
            and (finding.code not in OF_SOURCES or quote.form == "internal")
        ),
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
    table = sheet.table(rows, (0.3, 0.6, 0.1), header=False)
    return [sheet.together([*sheet.heading(tr("Notes")), table]), sheet.gap(14)]


def _finding_row(finding: QuoteFinding, sheet: Sheet) -> list[Any]:
    state = tr("accepted") if finding.waived else FINDING_WORDS[finding.severity]
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
    if quote.sources or quote.unverified:
        story += [sheet.gap(12), *sheet.section(tr("Sources of the deciding figures"))]
        for number, source in enumerate(quote.sources, 1):
            story += [_source(number, source, quote, sheet), sheet.gap(1.5)]
    told = (sheet.text(text, "small") for text in quote.unverified)
    return [*story, sheet.gap(3), *told, sheet.gap(8)]


def _source(number: int, source: QuoteSource, quote: Quote, sheet: Sheet) -> Any:
    """Return a numbered note: whose figures, read when and where, and what they decide."""
    where = source.url if quote.form == "internal" else source.place
    read = tr("read {day}", day=source.read) if source.read else ""
    title = _cut(source.title)
    told = "; ".join(text for text in (title, where, read) if text)
    return sheet.value(f"[{number}]  {told}.", source.decides, "fine", "fine", 1200)


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


def _cut(title: str) -> str:
    """Return a title of bearable length, cut between two words."""
    if len(title) <= LONGEST_SOURCE:
        return title
    return f"{title[:LONGEST_SOURCE].rsplit(' ', 1)[0].rstrip(',;:')} …"
