"""The structure of the quote: read in order, tables with heads, pictures with words, the same bytes
each time."""

import io
from datetime import date
from pathlib import Path

import pytest
from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from rigplanner.catalog.load import Catalog
from rigplanner.report.quote.pdf import quote_pdf
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess

DAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def pdf(samples: list[Path], catalog: Catalog) -> bytes:
    path = next(path for path in samples if path.stem == "dual-rtx-3090")
    return quote_pdf(assess(read_rig(path), catalog), catalog, DAY)


def _leaves(element: DictionaryObject, pages: dict[int, int]) -> list[tuple[str, int, int]]:
    """Role, page and mark of all marked content in the order of the tree."""
    found: list[tuple[str, int, int]] = []
    for kid in element["/K"]:  # type: ignore[attr-defined]
        held = kid.get_object()
        if held["/Type"] == "/MCR":
            found.append((element["/S"], pages[held.raw_get("/Pg").idnum], held["/MCID"]))
        else:
            found += _leaves(held, pages)
    return found


def _tree(content: bytes) -> tuple[PdfReader, DictionaryObject, dict[int, int]]:
    reader = PdfReader(io.BytesIO(content))
    pages = {
        page.indirect_reference.idnum: n
        for n, page in enumerate(reader.pages)
        if page.indirect_reference
    }
    root = reader.trailer["/Root"]["/StructTreeRoot"]  # type: ignore[index]
    return reader, root["/K"], pages


def test_the_document_says_that_it_is_tagged_and_in_which_language(pdf: bytes) -> None:
    catalog = PdfReader(io.BytesIO(pdf)).trailer["/Root"]
    assert catalog["/MarkInfo"]["/Marked"] == True  # type: ignore[index] # noqa: E712
    assert catalog["/Lang"] == "en"  # type: ignore[index]


def test_the_tree_reads_page_by_page_from_first_to_last_mark(pdf: bytes) -> None:
    _, root, pages = _tree(pdf)
    order = [(page, mark) for _, page, mark in _leaves(root, pages)]
    assert len(order) > 100
    assert order == sorted(order)


def test_every_mark_on_a_page_has_its_element_and_its_end(pdf: bytes) -> None:
    reader, root, pages = _tree(pdf)
    in_tree = {(page, mark) for _, page, mark in _leaves(root, pages)}
    drawn = set()
    for n, page in enumerate(reader.pages):
        content = page.get_contents()
        assert content is not None
        operations = [(operands, operator) for operands, operator in content.operations]
        assert page["/StructParents"] == n
        drawn |= {
            (n, operands[1]["/MCID"]) for operands, operator in operations if operator == b"BDC"
        }
        begun = sum(operator in (b"BDC", b"BMC") for _, operator in operations)
        assert begun == sum(operator == b"EMC" for _, operator in operations) > 0
    assert drawn == in_tree


def test_headings_tables_and_pictures_are_what_they_are(pdf: bytes) -> None:
    _, root, pages = _tree(pdf)
    roles = [role for role, _, _ in _leaves(root, pages)]
    assert roles.count("/H1") == 1
    assert roles.count("/H2") >= 5
    tables = [kid for kid in (held.get_object() for held in root["/K"]) if kid["/S"] == "/Table"]
    first = tables[0]["/K"]
    assert {cell.get_object()["/S"] for cell in first[0].get_object()["/K"]} == {"/TH"}
    assert {cell.get_object()["/S"] for cell in first[1].get_object()["/K"]} == {"/TD"}


def test_pictures_carry_words(pdf: bytes) -> None:
    reader, root, _ = _tree(pdf)
    del reader

    def figures(element: DictionaryObject) -> list[str]:
        found = [str(element["/Alt"])] if element["/S"] == "/Figure" else []
        for kid in element["/K"]:  # type: ignore[attr-defined]
            held = kid.get_object()
            found += figures(held) if held["/Type"] == "/StructElem" else []
        return found

    assert {"The machine", "Slots and cards", "Memory per GPU"} <= set(figures(root))


def test_text_is_extracted_in_the_order_of_the_page(pdf: bytes) -> None:
    text = "".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    heads = [
        "Parts",
        "What it will do",
        "Power, circuit and heat",
        "Findings",
        "Annex: setting it up",
        "What was not checked",
    ]
    places = [text.index(f"\n{head}\n") for head in heads]
    assert places == sorted(places)


def test_equal_rigs_give_equal_bytes(pdf: bytes, samples: list[Path], catalog: Catalog) -> None:
    path = next(path for path in samples if path.stem == "dual-rtx-3090")
    assert quote_pdf(assess(read_rig(path), catalog), catalog, DAY) == pdf
