"""The parts of a workbook that we exported, as lines that `parts_list` reads: "quantity | part | price"."""

import io
import re
import zipfile
from xml.etree import ElementTree

LARGEST_SHEET_BYTES = 20_000_000
MOST_ROWS = 500
_SHEET, _STYLES = "xl/worksheets/sheet1.xml", "xl/styles.xml"
_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_COLUMN = re.compile(r"[A-Z]{1,3}")
_CODE = re.compile(r'"([A-Z]{3})"')
FIRST_MONEY_STYLE = 3
"""Styles from this on are amounts of money, in the order of the number formats."""


def parts_list_of_workbook(content: bytes) -> str:
    """Return the lines of the first sheet whose first column counts. Raises ValueError for what is no workbook of ours."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheet, styles = _member(book, _SHEET), _member(book, _STYLES)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError) as fault:
        raise ValueError(f"not a workbook of this program ({fault})") from fault
    currencies = [found[1] if (found := _CODE.search(text)) else "" for text in _formats(styles)]
    lines: list[str] = []
    for row in sheet.iter(f"{_NAMESPACE}row"):
        cells = dict(filter(None, map(_cell, row)))
        count, part, price = (cells.get(column, ("", 0)) for column in "ABC")
        if not count[0].isdigit() or not part[0] or len(lines) == MOST_ROWS:
            continue
        style = price[1] - FIRST_MONEY_STYLE
        money = f"{price[0]} {currencies[style]}" if price[0] and 0 <= style < len(currencies) else ""
        lines.append(f"{count[0]} | {part[0].replace('|', '/')} | {money}")
    if not lines:
        raise ValueError("not a workbook of this program (its first sheet counts no parts)")
    return "\n".join(lines)


def _member(book: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if book.getinfo(name).file_size > LARGEST_SHEET_BYTES:
        raise ValueError(f"{name} is larger than {LARGEST_SHEET_BYTES // 1_000_000} MB")
    content = book.read(name)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError(f"{name} declares entities")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as fault:
        raise ValueError(f"{name} is not XML ({fault})") from fault


def _formats(styles: ElementTree.Element) -> list[str]:
    return [made.get("formatCode", "") for made in styles.iter(f"{_NAMESPACE}numFmt")]


def _cell(cell: ElementTree.Element) -> tuple[str, tuple[str, int]] | None:
    """A cell as its column, its text and its style."""
    column = _COLUMN.match(cell.get("r", ""))
    style = cell.get("s", "0")
    text = "".join(found.text or "" for found in cell.iter() if found.tag in (f"{_NAMESPACE}v", f"{_NAMESPACE}t"))
    return (column[0], (text.strip(), int(style) if style.isdigit() else 0)) if column else None
