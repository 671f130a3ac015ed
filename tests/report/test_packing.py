"""Packed PDFs: the same document in half the bytes, readable by others, the same bytes each
time."""

import io
from datetime import date

import pytest
from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from rigplanner.catalog.load import Catalog
from rigplanner.report.paper.packing import packed
from rigplanner.report.quote.pdf import quote_pdf
from rigplanner.rig.document import Rig
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 21)


def plain(pages: int = 3) -> bytes:
    """A document as reportlab writes it."""
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.setTitle("Packed")
    for n in range(pages):
        canvas.bookmarkPage(f"p{n}")
        canvas.addOutlineEntry(f"Page {n}", f"p{n}")
        canvas.drawString(72, 700, f"endobj stream xref {n}")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_the_document_stays_the_same():
    before, after = (
        PdfReader(io.BytesIO(plain())),
        PdfReader(io.BytesIO(packed(plain())), strict=True),
    )
    assert [page.extract_text() for page in after.pages] == [
        page.extract_text() for page in before.pages
    ]
    assert after.metadata == before.metadata
    assert [entry["/Title"] for entry in after.outline] == [
        entry["/Title"] for entry in before.outline
    ]
    assert packed(plain()).startswith(b"%PDF-1.7")


def test_every_object_of_a_quote_is_found(rig: Rig, catalog: Catalog):
    content = quote_pdf(assess(rig, catalog), catalog, DAY)
    reader = PdfReader(io.BytesIO(content), strict=True)
    found = [reader.get_object(number) for number in range(1, int(reader.trailer["/Size"]))]
    tags = [
        each
        for each in found
        if isinstance(each, DictionaryObject) and each.get("/Type") == "/StructElem"
    ]
    assert None not in found
    assert len(tags) > 100
    assert len(content) < 60_000
    assert content == quote_pdf(assess(rig, catalog), catalog, DAY)


def test_what_is_no_plain_document_is_refused():
    with pytest.raises(ValueError, match="no object"):
        packed(plain().replace(b" 0 obj", b" 0 abj", 3))


@pytest.fixture
def rig(samples) -> Rig:
    from rigplanner.rig.files import read_rig

    return read_rig(next(path for path in samples if path.stem == "dual-rtx-3090"))
