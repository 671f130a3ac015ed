"""A quote as one HTML page, in the order of the paper."""

from collections.abc import Iterator, Sequence

from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.quote.content import FINDING_WORDS, Quote, QuoteLine
from rigplanner.report.quote.jobs import QuoteJob
from rigplanner.report.web_page import page_head, safe, table
from rigplanner.rig.document import Party

PART_HEADS = ("Part", "Qty", "Unit price", "Price dated", "Amount")
FIGURES = (1, 2, 4)
"""Columns of the parts list that hold figures."""


def quote_html(quote: Quote) -> str:
    """Return a page without scripts or outside files."""
    return "\n".join(
        [page_head(f"{quote.heading}: {quote.title}"), *_parts(quote), "</body></html>\n"]
    )


def _parts(quote: Quote) -> Iterator[str]:
    yield f"<h1>{safe(quote.title)}</h1>"
    facts = [quote.heading, quote.number, fmt.day(quote.date)]
    yield f"<p>{safe(' · '.join(fact for fact in facts if fact))}</p>"
    if quote.form != "private":
        yield from (_party(party) for party in (quote.seller, quote.customer) if party.name)
    told = " · ".join(text for text in (quote.verdict_text, quote.incomplete) if text)
    yield f'<p class="verdict {quote.verdict}"><strong>{safe(told)}</strong></p>'
    yield _section(tr("Parts"))
    yield _parts_table(quote)
    yield from (f'<p class="quiet">{safe(note)}</p>' for note in quote.money_notes)
    if quote.conditions:
        yield _pairs(quote.conditions)
    if quote.terms:
        yield f"<p>{safe(quote.terms)}</p>"
    if quote.jobs:
        yield _section(tr("What it will do"))
        yield from (_job(job) for job in quote.jobs)
    yield _section(tr("Power, circuit and heat")) + _pairs((*quote.power, *quote.running))
    yield from _findings(quote)
    yield _section(tr("What was not checked"))
    yield from (f"<p>{safe(text)}</p>" for text in (*quote.unchecked, *quote.unverified))
    if quote.share:
        how = tr('This rig as one line, for "New rig from a parts list" in RigPlanner:')
        yield f'<p class="quiet">{safe(how)}<br><code class="share">{safe(quote.share)}</code></p>'


def _section(title: str) -> str:
    return f"<h2>{safe(title)}</h2>"


def _party(party: Party) -> str:
    lines = (party.name, *party.address.split("\n"), party.contact, party.phone, party.email)
    return f"<p>{'<br>'.join(safe(line) for line in lines if line.strip())}</p>"


def _pairs(rows: Sequence[tuple[str, str]]) -> str:
    body = "".join(
        f'<tr><td>{safe(word)}</td><td class="figure">{safe(value)}</td></tr>'
        for word, value in rows
    )
    return f"<table><tbody>{body}</tbody></table>" if body else ""


def _parts_table(quote: Quote) -> str:
    """The list, and below it the sums as its foot."""
    made = table([tr(head) for head in PART_HEADS], [_row(line) for line in quote.lines], FIGURES)
    foot = "".join(
        f'<tr><td colspan="4" class="figure">{safe(word)}</td><td class="figure">{safe(value)}</td>'
        "</tr>"
        for word, value in quote.sums
    )
    return made.replace("</table>", f"<tfoot>{foot}</tfoot></table>")


def _row(line: QuoteLine) -> tuple[str, ...]:
    told = "".join(
        f'<br><span class="quiet">{safe(text)}</span>' for text in (line.detail, line.goods) if text
    )
    amount = line.amount or (tr("included") if line.is_included else "")
    each = "" if line.is_included else line.each
    cells = (str(line.quantity), each, line.dated, amount)
    return (safe(line.name) + told, *map(safe, cells))


def _job(job: QuoteJob) -> str:
    memory = [
        f"{bar.gpu}: {fmt.interval(bar.low_gib, bar.high_gib, 'GiB')}, {tr(bar.verdict)}"
        for bar in job.bars
    ] or [job.memory_note]
    speed = tr("Expected speed: {speed}", speed=job.speed)
    speed += f" ({job.interval})" if job.interval else ""
    lines = [job.settings, *memory, speed, job.evidence]
    told = "<br>".join(safe(line) for line in lines if line)
    return f"<p><strong>{safe(job.title)}</strong><br>{told}</p>"


def _findings(quote: Quote) -> Iterator[str]:
    found = [f for f in (*quote.findings, *quote.waived) if f.severity != "info" or f.waived]
    if not found:
        return
    yield _section(tr("Findings"))
    for finding in found:
        state = tr("accepted") if finding.waived else FINDING_WORDS[finding.severity]
        fix = tr("What to do: {fix}", fix=finding.fix) if finding.fix else ""
        rest = "<br>".join(safe(text) for text in (finding.text, fix, finding.waived) if text)
        mark = f'<span class="{finding.severity}">{safe(state)}</span>'
        yield f"<p>{mark}: <strong>{safe(finding.title)}</strong> ({finding.code})<br>{rest}</p>"
