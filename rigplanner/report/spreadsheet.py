"""Workbooks (Office Open XML, ECMA-376) of plain cells: text is text and never a formula, numbers are numbers, equal input gives
equal bytes."""

import io
import math
import re
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

LONGEST_CELL = 32_767
"""Characters that a cell holds (Excel specifications and limits)."""
LONGEST_TITLE = 31
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CODE = re.compile(r"[A-Z]{3}")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


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


def workbook(sheets: Sequence[SheetOf]) -> bytes:
    """Return the bytes of an .xlsx file."""
    formats = sorted({_format(cell) for sheet in sheets for row in sheet.rows for cell in row if isinstance(cell, Amount)})
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(len(sheets)),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _book(sheets),
        "xl/_rels/workbook.xml.rels": _relations(
            [*(("worksheet", f"worksheets/sheet{n}.xml") for n in numbers), ("styles", "styles.xml")]
        ),
        "xl/styles.xml": _styles(formats),
        **{f"xl/worksheets/sheet{n}.xml": _sheet(sheet, formats) for n, sheet in enumerate(sheets, 1)},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, _HEAD + text)
    return buffer.getvalue()


def _content_types(count: int) -> str:
    sheets = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for n in range(1, count + 1)
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>{sheets}</Types>'
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(targets, 1))
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def _book(sheets: Sequence[SheetOf]) -> str:
    rows = "".join(
        f'<sheet name="{_attribute(_title(sheet.title))}" sheetId="{n}" r:id="rId{n}"/>' for n, sheet in enumerate(sheets, 1)
    )
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{rows}</sheets></workbook>'


def _title(text: str) -> str:
    return re.sub(r"[\[\]:*?/\\']", " ", _FORBIDDEN.sub("", text)).strip()[:LONGEST_TITLE] or "Sheet"


def _format(amount: Amount) -> str:
    decimals = "." + "0" * amount.digits if amount.digits else ""
    code = amount.currency if _CODE.fullmatch(amount.currency) else ""
    return f'#,##0{decimals} "{code}"' if code else f"#,##0{decimals}"


def _styles(formats: Sequence[str]) -> str:
    custom = "".join(f'<numFmt numFmtId="{164 + n}" formatCode="{_attribute(code)}"/>' for n, code in enumerate(formats))
    numbers = f'<numFmts count="{len(formats)}">{custom}</numFmts>' if formats else ""
    money = "".join(
        f'<xf numFmtId="{164 + n}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' for n in range(len(formats))
    )
    return (
        f'<styleSheet xmlns="{_MAIN}">{numbers}'
        '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{3 + len(formats)}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        f'{money}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _sheet(sheet: SheetOf, formats: Sequence[str]) -> str:
    columns = "".join(f'<col min="{n}" max="{n}" width="{width:g}" customWidth="1"/>' for n, width in enumerate(sheet.widths, 1))
    rows = []
    for y, row in enumerate(sheet.rows, 1):
        cells = "".join(
            _cell(cell, f"{_letters(x)}{y}", y == 1, formats) for x, cell in enumerate(row, 1) if cell not in (None, "")
        )
        rows.append(f'<row r="{y}">{cells}</row>')
    frozen = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>'
    widths = f"<cols>{columns}</cols>" if columns else ""
    return f'<worksheet xmlns="{_MAIN}">{frozen}{widths}<sheetData>{"".join(rows)}</sheetData></worksheet>'


def _cell(cell: Cell, place: str, head: bool, formats: Sequence[str]) -> str:
    if isinstance(cell, Amount) and math.isfinite(cell.value):
        return f'<c r="{place}" s="{3 + formats.index(_format(cell))}"><v>{cell.value!r}</v></c>'
    if isinstance(cell, int | float) and math.isfinite(cell):
        return f'<c r="{place}"><v>{cell!r}</v></c>'
    text = escape(_FORBIDDEN.sub("", str(cell))[:LONGEST_CELL])
    return f'<c r="{place}" s="{1 if head else 2}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})
