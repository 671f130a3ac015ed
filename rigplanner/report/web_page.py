"""Pages of HTML that stand alone: one file, no scripts, nothing from elsewhere; dark where the
reader wants it, and printable."""

import html
from collections.abc import Sequence

from rigplanner.report.language import language

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
.figure { text-align: right; font-variant-numeric: tabular-nums; }
.best { font-weight: 600; }
tfoot td { border-top: 0; } tfoot tr:first-child td { border-top: 2px solid #1b1f24; }
.share { overflow-wrap: anywhere; }
.signs { display: flex; gap: 3rem; margin-top: 3rem; } .signs div { flex: 1;
  border-top: 1px solid #1b1f24; padding-top: .3rem; }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
@media (prefers-color-scheme: dark) { body { color: #e6e9ec; background: #16191d; }
  th, .quiet { color: #9aa4ae; } th, td { border-color: #343a41; } .error { color: #ff8f8f; }
  .warning { color: #f0b849; } .ok { color: #6fd08c; } .unknown { color: #b9b0dc; }
  .signs div { border-color: #e6e9ec; } }
"""


def page_head(title: str) -> str:
    """Return what comes before the content of a page."""
    code = language().replace("_", "-")
    return (
        f'<!doctype html><html lang="{code}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)}</title><style>{CSS}</style></head><body>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], figures: Sequence[int] = ()) -> str:
    """Return a table of cells that are HTML already under heads that are text; columns in `figures`
    are set flush right."""
    sides = [' class="figure"' if n in figures else "" for n in range(len(head))]
    titles = "".join(f"<th{side}>{safe(t)}</th>" for t, side in zip(head, sides, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{s}>{c}</td>" for c, s in zip(row, sides, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def safe(text: str) -> str:
    """Return a text as HTML shows it."""
    return html.escape(text)
