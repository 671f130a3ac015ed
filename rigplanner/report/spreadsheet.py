"""Workbooks (.xlsx) and CSV of plain cells: text is text and never a formula, numbers are numbers,
equal input gives equal bytes."""

import io
import math
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rigplanner.plain_text import without_steering

if TYPE_CHECKING:
    import pandas as pd
    from openpyxl.cell import Cell as SheetCell

LONGEST_CELL = 32_767
"""Characters that a cell holds (Excel specifications and limits)."""
LONGEST_TITLE = 31
NO_DAY = datetime(1980, 1, 1)
"""The day that files in an archive carry when they carry none: the first that ZIP can write."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CODE = re.compile(r"[A-Z]{3}")
_MADE_AT, _MOMENT = "docProps/core.xml", re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Amount(Struct, frozen=True):
    """A number of money: shown with its currency code and `digits` decimals."""

    value: float
    currency: str
    digits: int = 2


Cell = str | float | int | Amount | None


class SheetOf(Struct, frozen=True):
    """One sheet: its first row is its head; `widths` in characters."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    widths: tuple[float, ...] = ()


def csv_of(table: "pd.DataFrame") -> str:
    """Return a table of plain cells as CSV; text that a spreadsheet would take for a formula is
    made text."""
    import pandas as pd

    safe = {
        at: pd.Series([cell_text(cell) for cell in column], dtype=object)
        for at, (_, column) in enumerate(table.items())
    }
    heads = [cell_text(head) for head in table.columns]
    return str(pd.DataFrame(safe).to_csv(index=False, header=heads, lineterminator="\n"))


def cell_text(cell: Any) -> Any:
    """Return a cell of CSV; text that a spreadsheet would take for a formula is made text, and a
    lone carriage return, which writers leave without quotes, a line end."""
    if isinstance(cell, str):
        # First without marks that steer text: the stream takes them away, and what they hid begins.
        cell = without_steering(cell.replace("\r\n", "\n").replace("\r", "\n"))
    formula = isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{cell}" if formula else cell


def workbook(sheets: Sequence[SheetOf]) -> bytes:
    """Return the bytes of an .xlsx file. Openpyxl is imported here, not before."""
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    book.remove(book.worksheets[0])
    for sheet in sheets:
        made = book.create_sheet(_title(sheet.title))
        made.freeze_panes = "A2"
        for n, width in enumerate(sheet.widths, 1):
            made.column_dimensions[get_column_letter(n)].width = width
        for y, row in enumerate(sheet.rows, 1):
            for x, value in enumerate(row, 1):
                if value not in (None, ""):
                    _fill(made.cell(y, x), value)
        for cell in made[1]:
            cell.font = Font(bold=True)
    buffer = io.BytesIO()
    book.save(buffer)
    return _undated(buffer)


def _fill(cell: "SheetCell", value: Cell) -> None:
    if isinstance(value, Amount) and math.isfinite(value.value):
        cell.value, cell.number_format = value.value, _format(value)
    elif isinstance(value, int | float) and math.isfinite(value):
        cell.value = value
    else:
        cell.value = _FORBIDDEN.sub("", without_steering(str(value)))[:LONGEST_CELL]
        cell.data_type, cell.number_format = "s", "@"


def _title(text: str) -> str:
    shown = re.sub(r"[\[\]:*?/\\']", " ", _FORBIDDEN.sub("", without_steering(text)))
    return shown.strip()[:LONGEST_TITLE] or "Sheet"


def _format(amount: Amount) -> str:
    decimals = "." + "0" * amount.digits if amount.digits else ""
    code = amount.currency if _CODE.fullmatch(amount.currency) else ""
    return f'#,##0{decimals} "{code}"' if code else f"#,##0{decimals}"


def _undated(archive: io.BytesIO) -> bytes:
    """The same archive without the time of its making, which openpyxl notes in it and in the dates
    of its files."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(archive) as made,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as clean,
    ):
        for name in made.namelist():
            content = made.read(name)
            if name == _MADE_AT:
                content = _MOMENT.sub(NO_DAY.strftime("%Y-%m-%dT%H:%M:%SZ").encode(), content)
            clean.writestr(
                zipfile.ZipInfo(name, NO_DAY.timetuple()[:6]), content, zipfile.ZIP_DEFLATED
            )
    return buffer.getvalue()
