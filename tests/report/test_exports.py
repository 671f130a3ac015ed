"""What leaves in another form comes back: rig files, parts lists, workbooks."""

import contextlib
import csv
import io
import unicodedata
import zipfile
from datetime import date
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.load import Catalog
from rigplanner.plain_text import without_steering
from rigplanner.report.comparison.content import comparison
from rigplanner.report.comparison.writers import FORMATS as COMPARISONS
from rigplanner.report.quote.content import Quote, quote_content
from rigplanner.report.quote.export import FORMATS, export, findings_text
from rigplanner.report.quote.workbook import quote_workbook
from rigplanner.report.spreadsheet import Amount, SheetOf, cell_text, workbook
from rigplanner.rig.document import Party
from rigplanner.rig.files import decode_rig, read_rig
from rigplanner.rig.from_text.parts_list import read_parts_list
from rigplanner.rig.from_text.workbook_list import LARGEST_BOOK_BYTES, parts_list_of_workbook
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def quotes(samples: list[Path], catalog: Catalog) -> list[Quote]:
    return [quote_content(assess(read_rig(path), catalog), catalog, DAY) for path in samples]


def test_the_json_export_is_a_rig_file(quotes: list[Quote], catalog: Catalog) -> None:
    for quote in quotes:
        text = export(quote, "json")
        again = decode_rig(text.encode(), "export.json")
        assert again == quote.rig
        assert assess(again, catalog).report.verdict() == quote.verdict
        assert msgspec.json.decode(text)["report"]["verdict"] == quote.verdict


@pytest.mark.parametrize("form", ["markdown", "bbcode", "plain", "csv", "xlsx"])
def test_our_parts_lists_read_back(quotes: list[Quote], catalog: Catalog, form: str) -> None:
    index = index_of(catalog)
    for quote in quotes:
        text = (
            parts_list_of_workbook(quote_workbook(quote)) if form == "xlsx" else export(quote, form)
        )
        entries = read_parts_list(text, index, "2026-11-21")
        assert [entry.wish.parts[0].id for entry in entries] == [line.part for line in quote.lines]
        assert [entry.wish.quantity for entry in entries] == [line.quantity for line in quote.lines]
        priced = [
            (line.price.amount, line.price.currency) if line.price and line.price.amount else None
            for line in quote.lines
        ]
        assert [
            (entry.price.amount, entry.price.currency) if entry.price else None for entry in entries
        ] == priced


def test_a_name_with_marks_of_markdown_reads_back(quotes: list[Quote], catalog: Catalog) -> None:
    line = replace(quotes[0].lines[0], name="GeForce | RTX_4090 *OC*")
    text = export(replace(quotes[0], lines=(line,)), "markdown")
    entry = read_parts_list(text, index_of(catalog), "2026-11-21")[0]
    assert "4090" in entry.wish.text


def test_plain_text_lines_up_and_holds_no_control_characters(quotes: list[Quote]) -> None:
    quote = replace(quotes[0], title="bell\x07 and \u202eturned")
    text = export(quote, "plain")
    assert "\x07" not in text and "\u202e" not in text
    lines = text.split("\n\n")[2].splitlines()
    ends = {len(line) for line in lines if "NT$" in line}
    assert len(ends) == 1


def _sheet(content: bytes) -> Worksheet:
    return load_workbook(io.BytesIO(content)).worksheets[0]


def test_numbers_of_the_workbook_are_numbers_with_their_currency(quotes: list[Quote]) -> None:
    quote = quotes[0]
    sheet = _sheet(quote_workbook(quote))
    line = quote.lines[0]
    assert line.price is not None and line.value is not None
    heads = [cell.value for cell in sheet[1]]
    cells = dict(zip(heads, sheet[2], strict=True))
    assert cells["Qty"].value == line.quantity
    assert cells["Unit price"].value == line.price.amount
    assert cells["Unit currency"].value == line.price.currency
    assert cells["Price dated"].value == line.price.day
    assert cells["Amount"].value == pytest.approx(line.value, abs=0.5)
    assert cells["Currency"].value == quote.totals.currency
    assert cells["Currency"].value in cells["Amount"].number_format


def test_speeds_of_the_workbook_are_numbers_with_their_unit_in_a_column(
    quotes: list[Quote],
) -> None:
    seen = 0
    for quote in quotes:
        sheet = load_workbook(io.BytesIO(quote_workbook(quote)))["Workloads"]
        heads, *rows = sheet.iter_rows(values_only=True)
        for row in rows:
            cells = dict(zip(heads, row, strict=True))
            known = [job.figures for job in quote.jobs if job.title == cells["Workload"]]
            figures = tuple(cells[head] for head in ("Expected speed", "Speed low", "Speed high"))
            if any(known):
                assert any(figures == pytest.approx(each) for each in known if each)
                assert cells["Unit"] and cells["Speed low"] < cells["Speed high"]
                seen += 1
            else:
                assert figures == (None, None, None) and cells["Note"]
    assert seen >= 2


def test_a_column_of_csv_can_be_added_up(quotes: list[Quote]) -> None:
    """Amounts are numbers, currencies codes, days ISO dates; every row is a part."""
    for quote in quotes:
        rows = list(csv.DictReader(export(quote, "csv").splitlines()))
        assert len(rows) == len(quote.lines)
        amounts = [float(row["Amount"]) for row in rows if row["Amount"]]
        priced = [line for line in quote.lines if line.value]
        assert len(amounts) == len(priced)
        assert {row["Group"] for row in rows} <= {"computer", "beside the computer"}
        assert quote.totals.subtotal == pytest.approx(sum(amounts), abs=0.02 * len(rows))
        for row in (row for row in rows if row["Unit price"]):
            assert (
                float(row["Unit price"]) >= 0
                and row["Qty"].isdigit()
                and len(row["Unit currency"]) == 3
            )
            assert date.fromisoformat(row["Price dated"]) <= DAY


def test_equal_quotes_give_equal_workbooks(quotes: list[Quote]) -> None:
    assert quote_workbook(quotes[0]) == quote_workbook(quotes[0])


def test_the_workbook_takes_no_text_for_a_formula() -> None:
    hostile = ("=1+1", "+cmd", "@SUM(A1)", "-2", "<b>&\x00\"'", "\ud800", "x" * 40_000)
    second = (None, "", 2, float("nan"), Amount(3.0, 'U"S', 2), Amount(4.0, "JPY", 0))
    content = workbook([SheetOf("a/b[c]:*?", (hostile, second))])
    sheet = _sheet(content)
    texts = [cell.value for cell in sheet[1]]
    assert texts == ["=1+1", "+cmd", "@SUM(A1)", "-2", "<b>&\"'", None, "x" * 32_767]
    assert {cell.data_type for cell in sheet[1] if cell.value is not None} == {"s"}
    assert [cell.value for cell in sheet[2]][:6] == [None, None, 2, "nan", 3.0, 4.0]
    assert [cell.number_format for cell in sheet[2]][4:6] == ["#,##0.00", '#,##0 "JPY"']
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize("hidden", ["", "\u202e", "\u200f\u2066", "\ufeff"])
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_a_formula_stays_text_in_csv_also_behind_marks_that_steer(hidden: str, start: str) -> None:
    assert without_steering(cell_text(f"{hidden}{start}1+2")) == f"'{start}1+2"


def test_a_quote_without_prices_has_no_sums_in_the_workbook(quotes: list[Quote]) -> None:
    bare = replace(
        quotes[0], lines=tuple(replace(line, price=None, value=None) for line in quotes[0].lines)
    )
    book = load_workbook(io.BytesIO(quote_workbook(bare)))
    assert [row[0].value for row in book["Sums"].iter_rows(min_row=2)] == ["Total"]
    assert book["Sums"]["B2"].value is None


def test_sums_of_the_workbook_stand_apart_from_its_parts(quotes: list[Quote]) -> None:
    for quote in quotes:
        book = load_workbook(io.BytesIO(quote_workbook(quote)))
        assert book["Parts"].max_row == 1 + len(quote.lines)
        heads, *rows = ([cell.value for cell in row] for row in book["Sums"].iter_rows())
        sums = [dict(zip(heads, row, strict=True)) for row in rows]
        totals = [row for row in sums if (row["Sum"] or "").startswith("Total")]
        missing = len(quote.totals.unpriced) + len(quote.totals.foreign)
        assert totals[0]["Parts"] - totals[0]["Parts with a price"] == missing
        assert totals[0]["Amount"] == pytest.approx(quote.totals.total, abs=0.5)
        assert all(row["Amount"] is None for row in totals[1:])


def test_unpriced_parts_are_said_in_every_form(samples: list[Path], quotes: list[Quote]) -> None:
    quote = next(quote for quote in quotes if any(line.price is None for line in quote.lines))
    name = next(line.name for line in quote.lines if line.price is None)
    for form in ("markdown", "plain", "csv"):
        row = next(line for line in export(quote, form).splitlines() if name.split(" (")[0] in line)
        assert "no price" in row


@pytest.mark.parametrize(
    "sheets",
    [
        {},
        {"xl/worksheets/sheet1.xml": b"<"},
        {"xl/worksheets/sheet1.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"},
        {"xl/worksheets/sheet1.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>".encode("utf-16")},
        {"xl/worksheets/sheet1.xml": b"<a/>"},
    ],
)
def test_a_workbook_that_is_not_ours_is_refused(sheets: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as book:
        for name, content in {"xl/styles.xml": b"<a/>", **sheets}.items():
            book.writestr(name, content)
    with pytest.raises(ValueError, match=r"workbook|XML|entities"):
        parts_list_of_workbook(buffer.getvalue())


def test_what_is_no_archive_is_no_workbook() -> None:
    with pytest.raises(ValueError, match="not a workbook"):
        parts_list_of_workbook(b"PK\x03\x04 broken")


def _book(*rows: tuple[object, ...]) -> bytes:
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_a_list_typed_into_a_spreadsheet_reads() -> None:
    content = _book(
        ("how many", "what"),
        (2, "RTX 3090"),
        ("1", "Ryzen 9 5950X", 400),
        (None, "Total"),
        (10**12, "too many"),
    )
    assert parts_list_of_workbook(content).splitlines() == [
        "2 | RTX 3090 | ",
        "1 | Ryzen 9 5950X | ",
    ]


def test_a_workbook_that_unpacks_too_large_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b" " * (LARGEST_BOOK_BYTES + 1))
    with pytest.raises(ValueError, match="unpacked"):
        parts_list_of_workbook(buffer.getvalue())


GOOD = _book((2, "RTX 3090"))


def test_a_range_that_is_merged_in_a_workbook_is_not_made_cell_by_cell() -> None:
    merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:C9"/></mergeCells>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as book, zipfile.ZipFile(buffer, "w") as made:
        for name in book.namelist():
            made.writestr(name, book.read(name).replace(b"</sheetData>", merged))
    assert parts_list_of_workbook(buffer.getvalue()) == "2 | RTX 3090 | "


@given(
    st.sampled_from(
        ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/styles.xml", "[Content_Types].xml"]
    ),
    st.data(),
)
def test_a_damaged_workbook_is_read_or_refused(name: str, data: st.DataObject) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as good, zipfile.ZipFile(buffer, "w") as damaged:
        for member in good.namelist():
            content = good.read(member)
            if member == name:
                at = data.draw(st.integers(0, len(content)))
                content = (
                    content[:at]
                    + data.draw(st.binary(max_size=8))
                    + content[data.draw(st.integers(at, len(content))) :]
                )
            damaged.writestr(member, content)
    with contextlib.suppress(ValueError):
        assert "|" in parts_list_of_workbook(buffer.getvalue())


STEERING = "a\x00\x07\x1b[31m\x85\u202eb\u2066c\u200fd\ufeff\u2028e"


def _steers(text: str) -> list[str]:
    """Control characters, overrides and isolates; spaces that numbers are grouped with are none."""
    return [
        c
        for c in text
        if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\r\u200d"
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_exports_carry_no_control_or_override_characters(
    samples: list[Path], catalog: Catalog, form: str
) -> None:
    rig = replace(read_rig(samples[0]), name=STEERING, notes=STEERING)
    rig = replace(rig, quote=replace(rig.quote, customer=Party(name=STEERING), terms=STEERING))
    quote = quote_content(assess(rig, catalog), catalog, DAY)
    written = export(quote, form)
    assert _steers(written) == []
    assert _steers(findings_text(quote)) == []
    if form == "json":
        assert msgspec.json.decode(written)["name"] == STEERING


def test_comparisons_carry_none_either() -> None:
    made = comparison((STEERING, "b"), ())
    for form, write in COMPARISONS.items():
        assert _steers(write(made)) == [], form
    assert msgspec.json.decode(COMPARISONS["json"](made))["names"] == [STEERING, "b"]
