"""A comparison as a workbook: numbers stay numbers, with their unit and interval beside them."""

from collections.abc import Sequence

from rigplanner.planning.compare import CompareRow
from rigplanner.report.comparison.content import comparison_rows
from rigplanner.report.language import tr
from rigplanner.report.spreadsheet import SheetOf, workbook


def comparison_workbook(names: Sequence[str], rows: Sequence[CompareRow]) -> bytes:
    """Return a comparison as the bytes of an .xlsx file."""
    made = comparison_rows(names, rows)
    widths = (28, 34, 18, *[20] * (len(made[0]) - 3))
    return workbook([SheetOf(tr("Comparison"), made, widths)])
