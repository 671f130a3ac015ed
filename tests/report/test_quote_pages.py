"""The quote as a page: order of the text, figures that do not leave pages empty, the same bytes in
every process."""

import io
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from rigplanner.catalog.load import Catalog
from rigplanner.report.paper.flow import Figure, floating
from rigplanner.report.paper.sheet import Sheet, document
from rigplanner.report.quote import pdf
from rigplanner.report.quote.content import QuoteSource, quote_content
from rigplanner.report.quote.pdf import quote_pdf, render
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import Assessment, assess

DAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def assessments(samples: list[Path], catalog: Catalog) -> dict[str, Assessment]:
    return {path.stem: assess(read_rig(path), catalog) for path in samples}


def _pages(pdf: bytes) -> list[str]:
    return [page.extract_text().replace("\u202f", " ") for page in PdfReader(io.BytesIO(pdf)).pages]


def test_the_text_extracts_in_the_order_of_reading(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    text = "\n".join(_pages(quote_pdf(assessments["dual-rtx-3090"], catalog, DAY)))
    order = [
        "Example Systems",
        "This rig",
        "Parts",
        "Ryzen 9 5950X",
        "Subtotal",
        "What it will do",
        "Findings",
        "Annex: setting it up",
        "What was not checked",
        "Sources of the deciding figures",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_the_rows_of_a_line_extract_together(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    lines = "\n".join(_pages(quote_pdf(assessments["deskmini-gtx-1070"], catalog, DAY)))
    start = lines.index("GeForce GTX 1070 MXM")
    assert "NT$22,500" in lines[start : start + 120]


def test_the_first_page_of_a_large_machine_is_not_left_half_empty(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    pages = _pages(quote_pdf(assessments["dgx-1-v100"], catalog, DAY))
    assert "What it will do" in pages[0]
    assert "The machine" not in pages[0]


def test_notes_stand_after_what_is_wrong(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    quote = quote_content(assessments["dual-rtx-3090"], catalog, DAY)
    assert any(f.severity == "info" for f in quote.findings) and any(
        f.severity == "warning" for f in quote.findings
    )
    outline = [entry.title for entry in PdfReader(io.BytesIO(render(quote))).outline]
    assert (
        outline.index("Findings") < outline.index("Notes") < outline.index("Annex: setting it up")
    )


def test_a_note_is_said_once_a_rule(assessments: dict[str, Assessment], catalog: Catalog) -> None:
    quote = quote_content(assessments["quad-rtx-4090"], catalog, DAY)
    notes = [f for f in quote.findings if f.code == "RIG003"]
    assert len(notes) > 1
    assert "".join(_pages(render(replace(quote, form="internal")))).count("RIG003") == 1
    assert "RIG003" not in "".join(_pages(render(quote)))


@pytest.mark.parametrize(
    ("usual", "close", "below_the_parts", "taken"),
    [
        ((3, 0.1), (2, 0.9), (1, 0.9), "close"),
        ((3, 0.1), (3, 0.2), (3, 0.1), "close"),
        ((3, 0.1), (3, 0.2), (2, 0.9), "below"),
        ((3, 0.2), (3, 0.1), (3, 0.1), "end"),
        ((3, 0.1), (4, 0.9), (3, 0.1), "end"),
        ((3, 0.5), (2, 0.9), (2, 0.9), "end"),
        ((1, 0.1), (1, 0.2), (1, 0.9), "end"),
    ],
)
def test_share_line_and_air_are_such_that_the_last_page_is_no_slip(
    monkeypatch: pytest.MonkeyPatch,
    assessments: dict[str, Assessment],
    catalog: Catalog,
    usual: tuple[int, float],
    close: tuple[int, float],
    below_the_parts: tuple[int, float],
    taken: str,
) -> None:
    def rendered(
        _: object, __: str, is_share_last: bool = True, is_close: bool = False
    ) -> tuple[int, float, bytes]:
        if is_close:
            return *close, b"close"
        return (*usual, b"end") if is_share_last else (*below_the_parts, b"below")

    monkeypatch.setattr(pdf, "_rendered", rendered)
    monkeypatch.setattr(pdf, "packed", bytes.decode)
    assert render(quote_content(assessments["dual-rtx-3090"], catalog, DAY)) == taken


@pytest.mark.parametrize("height", [60.0, 500.0])
def test_a_figure_waits_for_room_and_nothing_is_lost(height: float) -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    tall = [sheet.text("figure", "body"), sheet.gap(height)]
    blocks = [[sheet.text(f"block {n}", "body"), sheet.gap(60)] for n in range(12)]
    story = [
        sheet.gap(400),
        floating(
            [Figure(tall, [sheet.text("tail", "body")]), Figure([sheet.text("second", "body")])],
            blocks,
            sheet.height,
        ),
    ]
    document(buffer, sheet, "t", "a", "s").build(story)
    text = "".join(_pages(buffer.getvalue()))
    places = [text.index(f"block {n}") for n in range(12)]
    assert places == sorted(places)
    assert text.index("figure") < text.index("tail") < text.index("second")
    assert (text.index("figure") < places[0]) == (height < 100)


def test_a_machine_of_many_unlike_figures_still_ends(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    quote = quote_content(assessments["hgx-h100"], catalog, DAY)
    rows = tuple(replace(quote.slots[0], place=f"slot {n}") for n in range(120))
    text = "".join(_pages(render(replace(quote, slots=rows))))
    assert all(f"slot {n}\n" in text or f"slot {n} " in text for n in (0, 60, 119))


def test_a_table_of_endless_names_breaks_over_pages(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    quote = quote_content(assessments["quad-rtx-4090"], catalog, DAY)
    rows = tuple(
        replace(quote.slots[0], place=f"slot {n}", what="endless name " * 40) for n in range(10)
    )
    text = "".join(_pages(render(replace(quote, slots=rows), "Letter")))
    assert all(f"slot {n}" in text for n in range(10))


SCRIPT = """
import hashlib, sys
from datetime import date
from pathlib import Path
from rigplanner.catalog.load import shipped_catalog
from rigplanner.report.quote.content import QuoteSource, quote_content
from rigplanner.report.quote.pdf import quote_pdf
from rigplanner.report.quote.workbook import quote_workbook
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
catalog = shipped_catalog()
made = assess(read_rig(Path(sys.argv[1])), catalog)
day = date(2026, 11, 21)
for content in (quote_pdf(made, catalog, day), quote_workbook(quote_content(made, catalog, day))):
    print(hashlib.sha256(content).hexdigest())
"""


@pytest.mark.parametrize("lines", [44, 46, 49, 53])
def test_a_row_stays_whole_and_its_head_does_not_stand_twice_on_a_page(lines: int) -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    rows = [[sheet.text("Finding", "head")]]
    rows += [
        [
            [
                sheet.text(f"title {n}", "strong"),
                sheet.text(f"first {n}", "body"),
                sheet.text(f"last {n}", "body"),
            ]
        ]
        for n in range(4)
    ]
    document(buffer, sheet, "t", "a", "s").build(
        [sheet.gap(12.0 * lines), sheet.table(rows, (1.0,))]
    )
    for page in _pages(buffer.getvalue()):
        assert page.count("Finding") <= 1
        assert [f"title {n}" in page for n in range(4)] == [f"last {n}" in page for n in range(4)]


@pytest.mark.parametrize("lines", range(44, 56))
def test_no_page_begins_with_the_last_row_of_a_table_alone(lines: int) -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    rows = [[sheet.text(text, "body")] for text in ("Finding", *(f"title {n}" for n in range(4)))]
    document(buffer, sheet, "t", "a", "s").build(
        [sheet.gap(12.0 * lines), sheet.table(rows, (1.0,))]
    )
    assert all("title 2" in page for page in _pages(buffer.getvalue()) if "title 3" in page)


@pytest.mark.parametrize("lines", [15, 16, 17, 18, 41])
def test_the_sums_stand_on_one_page(
    assessments: dict[str, Assessment], catalog: Catalog, lines: int
) -> None:
    quote = quote_content(assessments["dual-rtx-3090"], catalog, DAY)
    sums = (("Subtotal", "1.00 USD"), ("Tax 21 %", "0.21 USD"), ("Total", "1.21 USD"))
    pages = _pages(render(replace(quote, lines=quote.lines[:1] * lines, sums=sums)))
    holding = [
        [n for n, page in enumerate(pages) if words in page]
        for words in ("Subtotal", "0.21 USD", "1.21 USD")
    ]
    assert len(holding[0]) == 1 and holding[0] == holding[1] == holding[2]


def test_a_short_table_may_be_parted_anywhere() -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    rows = [[sheet.text(text, "body")] for text in ("Finding", "first", "second")]
    document(buffer, sheet, "t", "a", "s").build(
        [sheet.gap(sheet.height - 38.0), sheet.table(rows, (1.0,))]
    )
    assert ["second" in page for page in _pages(buffer.getvalue())] == [False, True]


def test_sources_stand_in_one_column_and_none_is_lost(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    quote = quote_content(assessments["dual-rtx-3090"], catalog, DAY)
    sources = tuple(
        QuoteSource(title=f"source {n:03}.", url="", read=DAY.isoformat()) for n in range(300)
    )
    pages = _pages(render(replace(quote, sources=sources)))
    text = "\n".join(pages)
    places = [text.index(f"source {n:03}.") for n in range(300)]
    assert places == sorted(places)
    assert sum("source" in page for page in pages) <= 7


def test_numbers_are_not_parted_at_the_ends_of_lines() -> None:
    sheet = Sheet("A4")
    made = sheet.text("Expected 3\u202f580 tokens", "body")
    made.wrap(60, 100)
    assert [words for _, words in made.blPara.lines] == [["Expected"], ["3\u202f580", "tokens"]]
    mixed = sheet.value("2\u202f298 tokens/s", "(1\u202f339 to 3\u202f580)", "strong")
    for width in range(40, 110, 10):
        mixed.wrap(width, 500)
        lines = [
            "".join(word.text for word in line.words)
            for line in mixed.blPara.lines
            if hasattr(line, "words")
        ]
        assert not any(line.rstrip().endswith(("1", "2", "3")) for line in lines), lines


def test_a_row_longer_than_a_page_is_cut() -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    tall = [sheet.text(f"line {n} ends", "body") for n in range(150)]
    document(buffer, sheet, "t", "a", "s").build(
        [sheet.gap(300), sheet.table([[sheet.text("Finding", "head")], [tall]], (1.0,))]
    )
    pages = _pages(buffer.getvalue())
    assert len(pages) >= 3
    assert all(f"line {n} ends" in "\n".join(pages) for n in range(150))


@pytest.mark.usefixtures("warm_cache")
def test_every_process_writes_the_same_bytes(samples: list[Path]) -> None:
    path = next(path for path in samples if path.stem == "dgx-1-v100")
    sums = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(sums) == 1
    assert len(sums.pop().split()) == 2


def test_a_small_figure_goes_before_a_large_one_that_must_wait() -> None:
    sheet, buffer = Sheet("A4"), io.BytesIO()
    large = Figure([sheet.text("large", "body"), sheet.gap(600)])
    small = Figure([sheet.text("small", "body"), sheet.gap(60)])
    document(buffer, sheet, "t", "a", "s").build(
        [sheet.gap(300), floating([large, small], [], sheet.height), sheet.text("end", "body")]
    )
    pages = _pages(buffer.getvalue())
    assert ["small" in page for page in pages] == [True, False]
    assert "large" in pages[1] and "end" in pages[1]


def test_sources_are_numbered_notes_that_say_what_they_decide(
    assessments: dict[str, Assessment], catalog: Catalog
) -> None:
    quote = quote_content(assessments["deskmini-gtx-1070"], catalog, DAY)
    sources = (
        QuoteSource("Acme: data sheet", "", "1 Jan 2026", "Box: length"),
        QuoteSource("Eta: test", "https://eta.example/x?q=1&y=%20", "1 Jan 2026", "Card: power"),
    )
    for form, where in (("dealer", "eta.example"), ("internal", "https://eta.example/x?q=1&y=%20")):
        made = replace(quote, sources=sources, form=form)
        text = " ".join("".join(_pages(render(made))).split())
        assert "[1] Acme: data sheet; read 1 Jan 2026. Box: length" in text
        assert f"[2] Eta: test; {where}; read 1 Jan 2026. Card: power" in text
