"""How right the predictions are, as text and as the page `docs/accuracy.md`."""

from collections.abc import Sequence

from msgspec import Struct


class AccuracyRow(Struct, frozen=True, kw_only=True):
    """Errors of one group: shares from 0 to 1, None where nothing was predicted."""

    group: str
    cases: int
    covered: int
    median: float | None = None
    mean: float | None = None
    p90: float | None = None
    bias: float | None = None
    inside: float | None = None


class AccuracyTable(Struct, frozen=True, kw_only=True):
    """Rows of one comparison; `note` says what was compared and what was left out to be fair."""

    title: str
    note: str
    rows: tuple[AccuracyRow, ...]


COLUMNS = ("group", "cases", "covered", "median", "mean", "p90", "bias", "inside")


def _cells(row: AccuracyRow) -> list[str]:
    signed = "" if row.bias is None else f"{100 * row.bias:+.1f} %"
    return [
        row.group,
        str(row.cases),
        str(row.covered),
        *(_share(row, name) for name in ("median", "mean", "p90")),
        signed,
        _share(row, "inside", 0),
    ]


def _share(row: AccuracyRow, field: str, digits: int = 1) -> str:
    value = getattr(row, field)
    return "" if value is None else f"{100 * value:.{digits}f} %"


def as_text(tables: Sequence[AccuracyTable]) -> str:
    """Return tables for a terminal."""
    blocks = []
    for table in tables:
        lines = [list(COLUMNS), *(_cells(row) for row in table.rows)]
        widths = [max(len(line[n]) for line in lines) for n in range(len(COLUMNS))]
        body = [
            "  ".join(
                cell.ljust(width) if n == 0 else cell.rjust(width) for n, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        blocks.append("\n".join([table.title, table.note, *body]))
    return "\n\n".join(blocks) + "\n"


PREFACE = """# How right the predictions are

Made by `rigplanner validate --write docs/accuracy.md`; nothing here is written by hand. `median`, `mean` and `p90` are of the
absolute relative error, `bias` is the median signed error, `inside` the share of measurements within the stated 80 % interval.
`covered` counts the cases that the model could express; the rest were refused with a reason.
"""


def as_markdown(tables: Sequence[AccuracyTable]) -> str:
    """Return the page."""
    parts = [PREFACE]
    for table in tables:
        lines = ["| " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * (len(COLUMNS) - 1)]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(row)) + " |" for row in table.rows]
        parts.append("\n".join([f"## {table.title}", "", table.note, "", *lines]) + "\n")
    return "\n".join(parts)
