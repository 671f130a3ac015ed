"""The parts of a workbook (ours, also after Excel saved it) as lines that `parts_list` reads:
"quantity | part | price"."""

import io
import re
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell, MergedCell

LARGEST_BOOK_BYTES = 8_000_000
"""Unpacked; a quote of a thousand parts takes less than one million."""
MOST_ROWS = 500
_CODE = re.compile(r"\b([A-Z]{3})\b")


def parts_list_of_workbook(content: bytes) -> str:
    """Return the lines of the first sheet whose first column counts. Raises ValueError for what is
    no such workbook."""
    lines: list[str] = []
    for row in _rows(content):
        count, part, price = (*row, None, None, None)[:3]
        quantity = _quantity(count)
        if quantity and part is not None and part.value:
            lines.append(f"{quantity} | {str(part.value).replace('|', '/')} | {_money(price)}")
    if not lines:
        raise ValueError("not a workbook of parts (no row of its first sheet counts a part)")
    return "\n".join(lines)


def _rows(content: bytes) -> list[tuple["Cell | MergedCell", ...]]:
    """The first rows of the first sheet, read one by one: read whole, a merged range of all cells
    of a sheet would be made of as many objects."""
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_BOOK_BYTES:
                raise ValueError(f"larger than {LARGEST_BOOK_BYTES // 1_000_000} MB unpacked")
            for name in archive.namelist():
                if b"<!DOCTYPE" in archive.read(name).replace(b"\0", b""):  # UTF-16 too
                    raise ValueError("its XML declares a document type")
        sheet = load_workbook(io.BytesIO(content), data_only=True, read_only=True).worksheets[0]
        return list(sheet.iter_rows(max_row=MOST_ROWS, max_col=3))
    # A damaged workbook may fail anywhere in openpyxl, which promises no exceptions of its own.
    except Exception as fault:
        raise ValueError(f"not a workbook of parts ({fault})") from fault


def _quantity(cell: "Cell | MergedCell | None") -> int:
    text = str(cell.value).strip() if cell is not None else ""
    return int(text) if text.isdecimal() and len(text) < len(str(LARGEST_BOOK_BYTES)) else 0


def _money(cell: "Cell | MergedCell | None") -> str:
    if cell is None or not isinstance(cell.value, int | float):
        return ""
    code = _CODE.search(cell.number_format)
    return f"{cell.value} {code[1]}" if code else ""
