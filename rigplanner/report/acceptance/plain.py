"""The acceptance protocol and the burn-in plan as text for a terminal and as one HTML page."""

import html

from rigplanner.asbuilt.burn_in import BurnInPlan
from rigplanner.report.acceptance.content import Protocol, ProtocolRow, plan_rows, time_text
from rigplanner.report.format import columns_of, padded
from rigplanner.report.language import language, tr

SIGNS = {"ok": "+", "warning": "!", "error": "x", "unknown": "?"}
"""Marks of the states in plain text."""
CSS = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0;
  border-top: 1px solid #d9dee3; }
th { font-weight: 600; color: #57606a; border-top: 0; }
.error { color: #a4161a; } .warning { color: #8a5a00; } .ok { color: #1a7f37; }
.unknown { color: #5b5377; } .quiet { color: #57606a; font-size: .87rem; }
.verdict { border-left: 4px solid currentColor; padding: .4rem .8rem; margin: 1rem 0; }
code { font-size: .9em; overflow-wrap: anywhere; }
.signs { display: flex; gap: 3rem; margin-top: 3rem; } .signs div { flex: 1;
  border-top: 1px solid #1b1f24; padding-top: .3rem; }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
@media (prefers-color-scheme: dark) { body { color: #e6e9ec; background: #16191d; }
  th, .quiet { color: #9aa4ae; } th, td { border-color: #343a41; } .error { color: #ff8f8f; }
  .warning { color: #f0b849; } .ok { color: #6fd08c; } .unknown { color: #b9b0dc; }
  .signs div { border-color: #e6e9ec; } }
"""


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
        _head(f"{made.title}: {made.rig}"),
        f"<h1>{_safe(made.title)}</h1><p>{_safe(made.rig)} · {_safe(made.day)}</p>",
        f'<p class="verdict {made.state}"><strong>{_safe(made.verdict)}</strong><br>'
        f"{_safe(made.counts)}</p>",
    ]
    for group in made.groups:
        head = (tr("What"), tr("Promised"), tr("Seen"), tr("Verdict"))
        parts += [f"<h2>{_safe(group.title)}</h2>", _table(head, [_cells(r) for r in group.rows])]
    if made.since_title:
        items = "".join(f"<li>{_safe(text)}</li>" for text in made.since or (tr("nothing"),))
        parts += [f"<h2>{_safe(made.since_title)}</h2><ul>{items}</ul>"]
    captures = [[_safe(n), _safe(p), f"<code>{_safe(s)}</code>"] for n, p, s in made.captures]
    files = (tr("File"), tr("Program"), "SHA-256")
    parts += [f"<h2>{_safe(tr('Captures'))}</h2>", _table(files, captures)]
    parts += [f'<p class="quiet">{_safe(note)}</p>' for note in made.notes]
    parts += [
        f'<div class="signs"><div>{_safe(_sign(tr("Seller"), made.seller))}</div>'
        f"<div>{_safe(_sign(tr('Buyer'), made.buyer))}</div></div>",
        "</body></html>\n",
    ]
    return "\n".join(parts)


def plan_html(plan: BurnInPlan) -> str:
    """Return the burn-in plan as one HTML page."""
    title = tr("Burn-in plan of {rig}", rig=plan.rig)
    head = (tr("Step"), tr("Command"), tr("Expected"), tr("Time"))
    rows = [
        [_safe(r.purpose), f"<code>{_safe(r.command)}</code>", _safe(r.expected), _safe(r.time)]
        for r in plan_rows(plan)
    ]
    return "\n".join(
        [_head(title), f"<h1>{_safe(title)}</h1>", _table(head, rows), "</body></html>\n"]
    )


def _cells(row: ProtocolRow) -> list[str]:
    notes = " ".join(text for text in (row.cause, row.step) if text)
    what = _safe(row.what) + (
        f'<br><span class="quiet">{_safe(row.where)}</span>' if row.where else ""
    )
    verdict = f'<span class="{row.state}">{SIGNS[row.state]} {_safe(row.verdict)}</span>'
    verdict += f"<br>{_safe(row.cost)}" if row.cost else ""
    told = f' title="{_safe(row.source)}"' if row.source else ""
    verdict += f'<br><span class="quiet"{told}>{_safe(notes)}</span>' if notes else ""
    return [what, _safe(row.promised), _safe(row.seen), verdict]


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    titles = "".join(f"<th>{_safe(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _head(title: str) -> str:
    code = language().replace("_", "-")
    return (
        f'<!doctype html><html lang="{code}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_safe(title)}</title><style>{CSS}</style></head><body>"
    )


def _sign(role: str, name: str) -> str:
    return f"{role}: {name}" if name else role


def _safe(text: str) -> str:
    return html.escape(text)
