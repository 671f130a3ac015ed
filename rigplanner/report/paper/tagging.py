"""The structure of a PDF beside its ink (tagged PDF, ISO 32000-1 clause 14.8), which reportlab does
not write by itself.

While paragraphs, tables and pictures draw themselves, each wraps its ink in marked content and
notes itself in the tree that is open on the canvas; the tree is written when all pages are known.
Its order is that of the story, which is how people read."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

SPACES = re.compile(r"[^\S\u00a0\u202f]+")
"""Spaces at which a line may break."""


class Element:
    """One element: its role, what it holds (elements, or a page's number and the number of its
    mark), and words for a picture."""

    def __init__(self, role: str, alt: str = "") -> None:
        self.role, self.alt = role, alt
        self.kids: list[Element | tuple[int, int]] = []


class Tree:
    """The elements of a document; `marks` counts those on each page."""

    def __init__(self) -> None:
        self.root = Element("Document")
        self.open = [self.root]
        self.marks: dict[int, list[Element]] = {}

    def begin(self, role: str, alt: str = "") -> Element:
        """Open an element inside the one that is open."""
        made = Element(role, alt)
        self.open[-1].kids.append(made)
        self.open.append(made)
        return made

    def end(self) -> None:
        """Close the element that is open."""
        self.open.pop()


@contextmanager
def marked(canvas: Any, role: str, alt: str = "") -> Iterator[None]:
    """Draw an element's ink; on a canvas without a tree, plain ink."""
    tree: Tree | None = getattr(canvas, "tree", None)
    if tree is None:
        yield
        return
    made, page = tree.begin(role, alt), canvas.page_index
    marks = tree.marks.setdefault(page, [])
    made.kids.append((page, len(marks)))
    marks.append(made)
    canvas._code.append(f"/{role} <</MCID {len(marks) - 1}>> BDC")
    yield
    canvas._code.append("EMC")
    tree.end()


@contextmanager
def artifact(canvas: Any) -> Iterator[None]:
    """Draw what is not part of the text, such as the foot of a page."""
    canvas._code.append("/Artifact BMC")
    tree, canvas.tree = getattr(canvas, "tree", None), None
    yield
    canvas.tree = tree
    canvas._code.append("EMC")


def drawn_as(flowable: Any, role: str, alt: str) -> Any:
    """Return a picture that marks itself when it draws."""
    plain: Callable[[], None] = flowable.draw

    def draw() -> None:
        with marked(flowable.canv, role, alt):
            plain()

    flowable.__dict__["draw"] = draw
    return flowable


def _words(text: str, mark: str | None = None) -> list[str]:
    """Return the words of a text. Reportlab's own function parts numbers at their narrow no-break
    spaces, and draws wide ones."""
    return text.split(mark) if mark else [word for word in SPACES.split(text) if word]


@cache
def paragraph_class() -> Any:
    """Return reportlab's paragraph with a role."""
    from reportlab.platypus import Paragraph, paragraph

    paragraph.split = _words

    class Tagged(Paragraph):  # type: ignore[misc]
        role = "P"

        def draw(self) -> None:
            with marked(self.canv, self.role):
                super().draw()

    return Tagged


@cache
def table_class() -> Any:
    """Return reportlab's table that notes its rows and cells; head rows are those that are
    repeated."""
    from reportlab.platypus import Table

    class Tagged(Table):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "renderCB": _note})

    return Tagged


def _note(table: Any, event: str, *place: Any) -> None:
    tree: Tree | None = getattr(table.canv, "tree", None)
    if tree is None:
        return
    if event == "startTable":
        tree.begin("Table")
    elif event == "startRow":
        tree.begin("TR")
    elif event == "startCell":
        tree.begin("TH" if place[0] < int(table.repeatRows or 0) else "TD")
    elif event in ("endCell", "endRow", "endTable"):
        tree.end()


def write_tree(canvas: Any, tree: Tree) -> None:
    """Put the tree into the document of a canvas whose pages are all made."""
    from reportlab.pdfbase import pdfdoc

    document, names = canvas._doc, dict[int, str]()
    for n, element in enumerate(_walk(tree.root)):
        names[id(element)] = f"structure{n}"
    for element, parent in _with_parents(tree.root):
        _write_element(document, element, names, names[id(parent)] if parent else "structure")
    numbers: list[Any] = []
    for page, marks in sorted(tree.marks.items()):
        numbers += [
            page,
            pdfdoc.PDFArray([pdfdoc.PDFObjectReference(names[id(element)]) for element in marks]),
        ]
    parents = document.Reference(
        pdfdoc.PDFDictionary({"Nums": pdfdoc.PDFArray(numbers)}), "structureParents"
    )
    root = {
        "Type": pdfdoc.PDFName("StructTreeRoot"),
        "K": pdfdoc.PDFObjectReference(names[id(tree.root)]),
        "ParentTree": parents,
        "ParentTreeNextKey": len(document.Pages.pages),
    }
    document.Catalog.StructTreeRoot = document.Reference(pdfdoc.PDFDictionary(root), "structure")
    document.Catalog.MarkInfo = pdfdoc.PDFDictionary({"Marked": "true"})
    for n, page in enumerate(document.Pages.pages):
        page.__NoDefault__ = [*page.__NoDefault__, "StructParents", "Tabs"]
        page.StructParents, page.Tabs = n, pdfdoc.PDFName("S")


def _write_element(document: Any, element: Element, names: dict[int, str], parent: str) -> None:
    from reportlab.pdfbase import pdfdoc

    held: list[Any] = []
    for kid in element.kids:
        if isinstance(kid, Element):
            held.append(pdfdoc.PDFObjectReference(names[id(kid)]))
        else:
            page = pdfdoc.PDFObjectReference(f"Page{kid[0] + 1}")
            held.append(
                pdfdoc.PDFDictionary({"Type": pdfdoc.PDFName("MCR"), "Pg": page, "MCID": kid[1]})
            )
    fields = {
        "Type": pdfdoc.PDFName("StructElem"),
        "S": pdfdoc.PDFName(element.role),
        "P": pdfdoc.PDFObjectReference(parent),
        "K": pdfdoc.PDFArray(held),
    }
    if element.alt:
        fields["Alt"] = pdfdoc.PDFString(element.alt)
    document.Reference(pdfdoc.PDFDictionary(fields), names[id(element)])


def _walk(element: Element) -> Iterator[Element]:
    yield element
    for kid in element.kids:
        if isinstance(kid, Element):
            yield from _walk(kid)


def _with_parents(
    element: Element, parent: Element | None = None
) -> Iterator[tuple[Element, Element | None]]:
    yield element, parent
    for kid in element.kids:
        if isinstance(kid, Element):
            yield from _with_parents(kid, element)
