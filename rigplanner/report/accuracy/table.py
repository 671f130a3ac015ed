"""Tables of how right predictions are: their shape, as text and as Markdown."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from rigplanner.error_figures import Errors


class AccuracyTable(Struct, frozen=True, kw_only=True):
    """Rows of one comparison; `note` says what was compared and what was left out to be fair.
    `judged` names the comparison, whatever file it judges; `shares` are its figures that no column
    holds (0.98 of the pairs in the right order)."""

    judged: str
    title: str
    note: str
    rows: tuple[Errors, ...] = ()
    shares: dict[str, float] = msgspec.field(default_factory=dict)


COLUMNS = ("group", "cases", "covered", "median", "mean", "p90", "bias", "inside")


def _cells(row: Errors) -> list[str]:
    signed = "" if row.bias is None else f"{100 * row.bias:+.1f} %"
    return [
        row.group,
        str(row.cases),
        str(row.covered),
        *(_share(row, name) for name in ("median", "mean", "p90")),
        signed,
        _share(row, "inside", 0),
    ]


def _share(row: Errors, field: str, digits: int = 1) -> str:
    value = getattr(row, field)
    return "" if value is None else f"{100 * value:.{digits}f} %"


def as_text(tables: Sequence[AccuracyTable]) -> str:
    """Return tables for a terminal."""
    return (
        "\n\n".join("\n".join([table.title, table.note, *_aligned(table)]) for table in tables)
        + "\n"
    )


def _aligned(table: AccuracyTable) -> list[str]:
    lines = [list(COLUMNS), *(_cells(row) for row in table.rows)] if table.rows else []
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    ]


def as_markdown(tables: Sequence[AccuracyTable]) -> str:
    """Return tables for a page, each with its heading."""
    return "\n".join(_section(table) for table in tables)


def _section(table: AccuracyTable) -> str:
    body = (
        markdown_table(COLUMNS, [_cells(row) for row in table.rows], len(COLUMNS) - 1)
        if table.rows
        else []
    )
    return "\n".join([f"## {table.title}", "", table.note, *([""] if body else []), *body]) + "\n"


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]], numbers: int) -> list[str]:
    """Return the lines of a table whose last `numbers` columns stand flush right."""
    rule = "|" + " --- |" * (len(head) - numbers) + " ---: |" * numbers
    return [_line(head), rule, *map(_line, lines)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
