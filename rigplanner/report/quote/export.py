"""A rig as text for forums, spreadsheets and programs."""

from collections.abc import Callable, Sequence

import msgspec

from rigplanner.plain_text import cleaned, cleaned_json, without_steering
from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.quote.content import Quote
from rigplanner.report.quote.frames import parts_frame
from rigplanner.report.quote.web import quote_html
from rigplanner.report.spreadsheet import csv_of
from rigplanner.rig.files import encode_rig

Rows = Sequence[Sequence[str]]
PART_COLUMNS = ("Qty", "Part", "Unit price", "Price dated", "Amount")


def _heads(columns: Sequence[str]) -> list[str]:
    return [tr(column) for column in columns]


def export(quote: Quote, form: str) -> str:
    """Return a quote's content as one of FORMATS."""
    return FORMATS[form](quote)


def _part_rows(quote: Quote) -> list[list[str]]:
    return [
        [str(line.quantity), line.name, line.unit, line.dated, line.amount] for line in quote.lines
    ]


def _job_rows(quote: Quote) -> list[list[str]]:
    return [
        [
            job.title,
            "; ".join(
                f"{fmt.interval(b.low_gib, b.high_gib, 'GiB')} {tr(b.verdict)}" for b in job.bars
            )
            or job.memory_note,
            job.speed,
            job.interval,
            job.stack,
        ]
        for job in quote.jobs
    ]


JOB_COLUMNS = ("Workload", "Memory per GPU", "Expected speed", "80 % interval", "Stack")


def markdown(quote: Quote) -> str:
    """Return a Markdown document."""
    parts = [
        f"# {_plain(quote.title)}",
        _plain(quote.verdict_text),
        _markdown_table(_heads(PART_COLUMNS), _part_rows(quote)),
    ]
    parts.append("\n".join(f"- {word}: {value}" for word, value in quote.sums))
    if quote.jobs:
        parts += [
            f"## {tr('What it will do')}",
            _markdown_table(_heads(JOB_COLUMNS), _job_rows(quote)),
        ]
    if quote.findings:
        parts += [
            f"## {tr('Findings')}",
            "\n".join(
                f"- **{tr(f.severity)}** {f.code} {_plain(f.title)}: {_plain(f.text)}"
                for f in quote.findings
            ),
        ]
    if quote.waived:
        parts += [
            f"## {tr('Accepted')}",
            "\n".join(f"- {f.code} {_plain(f.text)} {_plain(f.waived)}" for f in quote.waived),
        ]
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    safe = " ".join(text.split())
    for char in "\\`*_[]<>|#":
        safe = safe.replace(char, "\\" + char)
    return safe


def _markdown_table(columns: Sequence[str], rows: Rows) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return "\n".join(
        [*lines, *("| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows)]
    )


def bbcode(quote: Quote) -> str:
    """Return BBCode for forums."""
    rows = [
        f"[*]{count} x {_bb(name)} "
        f" {_bb(unit)}{f' = {_bb(amount)}' if amount and count != '1' else ''}"
        for count, name, unit, _, amount in _part_rows(quote)
    ]
    sums = [f"{word}: {value}" for word, value in quote.sums]
    found = [f"[*][b]{tr(f.severity)}[/b] {f.code} {_bb(f.text)}" for f in quote.findings]
    blocks = [
        f"[b]{_bb(quote.title)}[/b]",
        _bb(quote.verdict_text),
        "[list]",
        *rows,
        "[/list]",
        *sums,
    ]
    if found:
        blocks += [f"[b]{tr('Findings')}[/b]", "[list]", *found, "[/list]"]
    return "\n".join(blocks) + "\n"


def _bb(text: str) -> str:
    return " ".join(text.replace("[", "(").replace("]", ")").split())


def csv_text(quote: Quote) -> str:
    """Return the parts list as CSV: amounts are numbers with their currency and ISO day in columns
    of their own."""
    return csv_of(parts_frame(quote).drop(columns=["Detail"]))


def plain(quote: Quote) -> str:
    """Return columns of plain text for mail and terminals."""
    rows = [
        _heads(PART_COLUMNS),
        *_part_rows(quote),
        *(["", word, "", "", value] for word, value in quote.sums),
    ]
    blocks = [quote.title, quote.verdict_text, _columns(rows, ragged=(0, 2, 4))]
    if quote.money_notes:
        blocks.append("\n".join(quote.money_notes))
    if quote.jobs:
        blocks.append(_columns([_heads(JOB_COLUMNS), *_job_rows(quote)]))
    if found := _finding_lines(quote):
        blocks.append("\n".join(found))
    return "\n\n".join(without_steering(block) for block in blocks) + "\n"


def _finding_lines(quote: Quote, fixes: bool = False) -> list[str]:
    """Return each finding in a line; with `fixes` each is followed by a line that says what to
    do."""
    found = []
    for f in quote.findings:
        found.append(f"{tr(f.severity)}: {f.title} ({f.code}). {f.text}")
        found += [f"  {tr('What to do: {fix}', fix=f.fix)}"] if fixes and f.fix else []
    return found + [
        tr(
            "accepted: {title} ({code}). {text} {waived}",
            title=f.title,
            code=f.code,
            text=f.text,
            waived=f.waived,
        )
        for f in quote.waived
    ]


def findings_text(quote: Quote) -> str:
    """Return the verdict, all findings with what to do, and what was not checked, as plain text."""
    blocks = [
        quote.title,
        quote.verdict_text,
        "\n".join(_finding_lines(quote, fixes=True)),
        " ".join((*quote.unchecked, *quote.unverified)),
    ]
    return "\n\n".join(without_steering(block) for block in blocks if block) + "\n"


def _columns(rows: Rows, ragged: Sequence[int] = ()) -> str:
    """Return rows in columns; those named in `ragged` are set flush right."""
    flat = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in flat) for n in range(len(flat[0]))]
    lines = [
        "  ".join(
            c.rjust(w) if n in ragged else c.ljust(w)
            for n, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in flat
    ]
    return "\n".join(line.rstrip() for line in lines)


REPORTED = (
    "verdict",
    "verdict_text",
    "lines",
    "sums",
    "money_notes",
    "findings",
    "waived",
    "slots",
    "links",
    "jobs",
    "power",
    "running",
    "renting",
    "setup",
    "offered",
    "unchecked",
    "unverified",
    "conditions",
    "ran",
    "sources",
)
"""Fields of the quote that the JSON carries beside the rig."""


def json_text(quote: Quote) -> str:
    """Return a rig file, with the parts as they are now, that carries the report beside it: any
    version of the program that reads rig files reads it back."""
    report = {field: msgspec.to_builtins(getattr(quote, field)) for field in REPORTED}
    tree = {**msgspec.json.decode(encode_rig(quote.rig)), "report": report}
    return msgspec.json.format(msgspec.json.encode(tree), indent=1).decode() + "\n"


def share(quote: Quote) -> str:
    """Return the rig as one line of text, which *New rig from a parts list* reads back."""
    return f"{quote.share}\n"


FORMATS: dict[str, Callable[[Quote], str]] = {
    "markdown": cleaned(markdown),
    "bbcode": cleaned(bbcode),
    "plain": cleaned(plain),
    "csv": cleaned(csv_text),
    "html": cleaned(quote_html),
    "share": cleaned(share),
    "json": cleaned_json(json_text),
}
"""Forms of text; `workbook.quote_workbook` makes the workbook."""
