"""A comparison as a workbook: numbers stay numbers, with their unit and interval beside them."""

from collections.abc import Sequence

from rigplanner.planning.compare import CompareRow
from rigplanner.report.comparison.content import comparison_frame
from rigplanner.report.language import tr
from rigplanner.report.spreadsheet import SheetOf, workbook


def comparison_workbook(names: Sequence[str], rows: Sequence[CompareRow]) -> bytes:
    """Return a comparison as the bytes of an .xlsx file."""
    table = comparison_frame(names, rows)
    made = [tuple(table.columns), *table.itertuples(index=False, name=None)]
    widths = (28, 34, 18, *[20] * (len(table.columns) - 3))
    return workbook([SheetOf(tr("Comparison"), tuple(made), widths)])
