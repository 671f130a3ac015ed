"""A comparison as one HTML page; what is ahead stands out."""

from itertools import groupby

from rigplanner.report.comparison.content import (
    GROUP_WORDS,
    Comparison,
    ComparisonCell,
    ComparisonLine,
)
from rigplanner.report.language import listed, tr
from rigplanner.report.web_page import page_head, safe, table


def comparison_html(made: Comparison) -> str:
    """Return a page without scripts or outside files."""
    title = tr("Comparison")
    parts = [page_head(f"{title}: {listed(made.names)}"), f"<h1>{safe(title)}</h1>"]
    parts += [f"<p>{safe(change)}</p>" for change in made.changes]
    for group, lines in groupby(made.lines, key=lambda line: line.group):
        parts += [f"<h2>{safe(GROUP_WORDS.get(group, group))}</h2>"]
        parts.append(table(["", *made.names], [_row(line) for line in lines]))
    return "\n".join([*parts, "</body></html>\n"])


def _row(line: ComparisonLine) -> list[str]:
    head = f"{line.subject}: {line.title}" if line.subject else line.title
    return [safe(head), *(_cell(cell, n in line.best) for n, cell in enumerate(line.cells))]


def _cell(cell: ComparisonCell, is_best: bool) -> str:
    text = f'<span class="best">{safe(cell.value)}</span>' if is_best else safe(cell.value)
    rest = " ".join(part for part in (cell.interval, cell.delta) if part)
    return f'{text}<br><span class="quiet">{safe(rest)}</span>' if rest else text
