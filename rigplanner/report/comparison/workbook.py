"""A comparison as a workbook: numbers stay numbers, with their unit and interval beside them."""

from collections.abc import Sequence

from rigplanner.planning.compare import CompareRow
from rigplanner.report.comparison.content import ATTRIBUTE_WORDS, row_text, subject_text
from rigplanner.report.language import tr
from rigplanner.report.spreadsheet import Cell, SheetOf, workbook


def comparison_workbook(names: Sequence[str], rows: Sequence[CompareRow]) -> bytes:
    """Return a comparison as the bytes of an .xlsx file."""
    head: list[Cell] = [tr("Workload"), tr("What"), tr("Unit")]
    for name in names:
        head += [name, tr("{name}, low", name=name), tr("{name}, high", name=name)]
    made = [tuple(head), *(_line(row) for row in rows)]
    return workbook(
        [SheetOf(tr("Comparison"), tuple(made), (28, 34, 18, *[20, 12, 12] * len(names)))]
    )


def _line(row: CompareRow) -> tuple[Cell, ...]:
    cells: list[Cell] = [subject_text(row), ATTRIBUTE_WORDS[row.attribute.code], row.attribute.unit]
    for n, value in enumerate(row.values):
        number = isinstance(value, int | float) and n not in row.partial
        cells += [
            value if number else row_text(row, n),
            row.lows[n] if row.lows else None,
            row.highs[n] if row.highs else None,
        ]
    return tuple(cells)
