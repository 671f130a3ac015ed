"""The acceptance protocol and the burn-in plan as text for a terminal and as one HTML page."""

from rigplanner.asbuilt.burn_in import BurnInPlan
from rigplanner.report.acceptance.content import Protocol, ProtocolRow, plan_rows, time_text
from rigplanner.report.format import columns_of, padded
from rigplanner.report.language import tr
from rigplanner.report.web_page import page_head, safe, table

SIGNS = {"ok": "+", "warning": "!", "error": "x", "unknown": "?"}
"""Marks of the states in plain text."""


def protocol_text(made: Protocol) -> str:
    """Return the protocol for a terminal: verdict, then each subject with what to do."""
    lines = [f"{made.rig}: {made.verdict}.", f"  {made.counts}."]
    for group in made.groups:
        lines += ["", group.title]
        for row in group.rows:
            lines += _row_text(row)
    if made.since_title:
        lines += ["", made.since_title, *(f"  {text}" for text in made.since or (tr("nothing"),))]
    lines += [f"  {note}" for note in made.notes]
    return "\n".join(lines) + "\n"


def _row_text(row: ProtocolRow) -> list[str]:
    where = f"  [{row.where}]" if row.where else ""
    values = tr("promised {promised}, seen {seen}", promised=row.promised, seen=row.seen)
    lines = [f"  {SIGNS[row.state]} {row.what}: {row.verdict}; {values}{where}"]
    lines += [f"      {text}" for text in (row.cost, row.cause, row.step) if text]
    return lines


def plan_text(plan: BurnInPlan) -> str:
    """Return the burn-in plan for a terminal."""
    rows = plan_rows(plan)
    total = tr("{time} in all", time=time_text(plan.seconds))
    lines = [tr("Burn-in plan of {rig}, {total}", rig=plan.rig, total=total)]
    width = max((columns_of(row.purpose) for row in rows), default=0)
    for row in rows:
        lines.append(f"{row.number:>3}  {padded(row.purpose, width)}  {row.time}")
        lines += [f"     $ {row.command}", f"     {tr('expected')}: {row.expected}"]
    return "\n".join(lines) + "\n"


def protocol_html(made: Protocol) -> str:
    """Return the protocol as one HTML page without scripts or outside files."""
    parts = [
        page_head(f"{made.title}: {made.rig}"),
        f"<h1>{safe(made.title)}</h1><p>{safe(made.rig)} · {safe(made.day)}</p>",
        f'<p class="verdict {made.state}"><strong>{safe(made.verdict)}</strong><br>'
        f"{safe(made.counts)}</p>",
    ]
    for group in made.groups:
        head = (tr("What"), tr("Promised"), tr("Seen"), tr("Verdict"))
        parts += [f"<h2>{safe(group.title)}</h2>", table(head, [_cells(r) for r in group.rows])]
    if made.since_title:
        items = "".join(f"<li>{safe(text)}</li>" for text in made.since or (tr("nothing"),))
        parts += [f"<h2>{safe(made.since_title)}</h2><ul>{items}</ul>"]
    captures = [[safe(n), safe(p), f"<code>{safe(s)}</code>"] for n, p, s in made.captures]
    files = (tr("File"), tr("Program"), "SHA-256")
    parts += [f"<h2>{safe(tr('Captures'))}</h2>", table(files, captures)]
    parts += [f'<p class="quiet">{safe(note)}</p>' for note in made.notes]
    parts += [
        f'<div class="signs"><div>{safe(_sign(tr("Seller"), made.seller))}</div>'
        f"<div>{safe(_sign(tr('Buyer'), made.buyer))}</div></div>",
        "</body></html>\n",
    ]
    return "\n".join(parts)


def plan_html(plan: BurnInPlan) -> str:
    """Return the burn-in plan as one HTML page."""
    title = tr("Burn-in plan of {rig}", rig=plan.rig)
    head = (tr("Step"), tr("Command"), tr("Expected"), tr("Time"))
    rows = [
        [safe(r.purpose), f"<code>{safe(r.command)}</code>", safe(r.expected), safe(r.time)]
        for r in plan_rows(plan)
    ]
    return "\n".join(
        [page_head(title), f"<h1>{safe(title)}</h1>", table(head, rows), "</body></html>\n"]
    )


def _cells(row: ProtocolRow) -> list[str]:
    notes = " ".join(text for text in (row.cause, row.step) if text)
    what = safe(row.what) + (
        f'<br><span class="quiet">{safe(row.where)}</span>' if row.where else ""
    )
    verdict = f'<span class="{row.state}">{SIGNS[row.state]} {safe(row.verdict)}</span>'
    verdict += f"<br>{safe(row.cost)}" if row.cost else ""
    told = f' title="{safe(row.source)}"' if row.source else ""
    verdict += f'<br><span class="quiet"{told}>{safe(notes)}</span>' if notes else ""
    return [what, safe(row.promised), safe(row.seen), verdict]


def _sign(role: str, name: str) -> str:
    return f"{role}: {name}" if name else role
