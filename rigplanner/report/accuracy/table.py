"""Tables of how right predictions are: their shape, as text, CSV and lines of Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from rigplanner.error_figures import Errors


class JudgedCase(Struct, frozen=True):
    """One case of a comparison: what was measured and what was predicted, both in `unit`."""

    id: str
    unit: str
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Absolute relative error of the prediction."""
        return abs(self.predicted / self.measured - 1)


class AccuracyTable(Struct, frozen=True, kw_only=True):
    """Rows of one comparison; `note` says what was compared and what was left out to be fair.
    `judged` names the comparison, whatever file it judges; `shares` are its figures that no column
    holds (0.98 of the pairs in the right order); `cases` are the predicted ones."""

    judged: str
    title: str
    note: str
    rows: tuple[Errors, ...] = ()
    shares: dict[str, float] = msgspec.field(default_factory=dict)
    cases: tuple[JudgedCase, ...] = ()


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


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]], numbers: int) -> list[str]:
    """Return the lines of a table whose last `numbers` columns stand flush right."""
    rule = "|" + " --- |" * (len(head) - numbers) + " ---: |" * numbers
    return [_line(head), rule, *map(_line, lines)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_csv(tables: Sequence[AccuracyTable]) -> str:
    """Return the rows of all tables as CSV, shares of 1; one table after another, named by its
    title."""
    return csv_text(
        ("judged", "table", *COLUMNS),
        (
            (table.judged, table.title, *(_csv_cell(getattr(row, name)) for name in COLUMNS))
            for table in tables
            for row in table.rows
        ),
    )


def notes_csv(tables: Sequence[AccuracyTable]) -> str:
    """Return as CSV what each table compares, and its shares that no column of `as_csv` holds."""
    nothing: dict[str, float | None] = {"": None}
    return csv_text(
        ("judged", "table", "note", "share", "value"),
        (
            (table.judged, table.title, table.note, name, _csv_cell(value))
            for table in tables
            for name, value in {**(nothing if not table.shares else {}), **table.shares}.items()
        ),
    )


def csv_text(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return lines below their head as CSV."""
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return told.getvalue()


def _csv_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)
