"""The paper: page sizes, type styles, tables, bars and pictures as reportlab makes them."""

from collections.abc import Sequence
from typing import Any

from rigplanner.report.drawing.shapes import cut
from rigplanner.report.language import language, tr
from rigplanner.report.paper.drawings import mark_flowable, width_of
from rigplanner.report.paper.flow import outline_flowable, whole_rows
from rigplanner.report.paper.inks import ACCENT, INK, LINE, PALE, QUIET, STATES
from rigplanner.report.paper.tagging import (
    Tree,
    artifact,
    drawn_as,
    paragraph_class,
    table_class,
    write_tree,
)
from rigplanner.report.paper.type import (
    CHINESE,
    REGULAR,
    STRONG,
    face_of,
    font,
    is_chinese,
    markup,
    printable,
)

SIZES = {"A4": (595.2756, 841.8898), "Letter": (612.0, 792.0)}
MARGIN = 51.02
"""18 mm in points."""
FOOT = 14.0
"""Points above the lower margin that the footer takes."""
STYLES = {
    "body": (9.0, 12.0, INK),
    "small": (7.6, 10.2, QUIET),
    "strong": (9.0, 12.0, INK),
    "head": (7.6, 10.2, QUIET),
    "label": (7.6, 10.2, QUIET),
    "section": (11.5, 17.0, ACCENT),
    "title": (20.0, 25.0, ACCENT),
    "name": (13.0, 17.0, INK),
    "verdict": (11.0, 15.0, INK),
    "note": (7.6, 10.2, INK),
    "fine": (7.0, 9.0, QUIET),
}
"""Style name to size, leading (points) and colour."""
HEAVY = {"strong", "section", "title", "name", "verdict"}
ROLES = {"title": "H1", "section": "H2"}
"""Style name to the role of its paragraphs in the structure of the document; all others are plain
paragraphs."""
LEAST_AFTER_HEADING = 90.0
"""Points that must be left on a page for a section to begin there."""
CLOSE = 0.6
"""Share of the usual air on a page whose lines stand closer together."""
BESIDE = 5.0
"""Points left and right of what a cell holds."""
LEAST_PARTED = 3
"""Rows, with the header, up to which a table may leave its last row to the next page."""
MARKS = {"error": "cross", "warning": "bang", "unknown": "question", "ok": "tick", "info": "tick"}


class Sheet:
    """One kind of paper: makes paragraphs, tables and rules for its width; `is_close` leaves less
    air between them."""

    def __init__(self, paper: str, landscape: bool = False, is_close: bool = False) -> None:
        if paper not in SIZES:
            raise ValueError(f"paper is A4 or Letter, not {paper!r}")
        for name in (REGULAR, STRONG):
            font(name)
        _draw_with(REGULAR)
        self.size, self.margin = SIZES[paper][::-1] if landscape else SIZES[paper], MARGIN
        self.width = self.size[0] - 2 * MARGIN
        self.height = self.size[1] - 2 * MARGIN - FOOT
        self.air = CLOSE if is_close else 1.0
        self._styles: dict[tuple[str, str, bool, str | None], Any] = {}

    def text(
        self,
        text: str,
        style: str,
        align: str = "left",
        colour: str | None = None,
        longest: int = 400,
    ) -> Any:
        """Return a paragraph of any text in one of STYLES."""
        chinese = is_chinese(text)
        if chinese:
            font(CHINESE)
        made = paragraph_class()(
            markup(text, style in HEAVY, longest), self._style(style, align, chinese, colour)
        )
        made.role = ROLES.get(style, "P")
        made.is_figure = align == "right"
        return made

    def value(
        self, text: str, rest: str, style: str, behind: str = "small", longest: int = 400
    ) -> Any:
        """Return a text and what stands quietly behind it in another style, in one paragraph."""
        size, _, colour = STYLES[behind]
        tail = (
            f'  <font size="{size}" color="{colour}">{markup(rest, longest=longest)}</font>'
            if rest
            else ""
        )
        return paragraph_class()(
            markup(text, style in HEAVY, longest) + tail,
            self._style(style, "left", is_chinese(text), INK),
        )

    def _style(self, name: str, align: str, chinese: bool, colour: str | None) -> Any:
        from reportlab.lib.styles import ParagraphStyle

        key = (name, align, chinese, colour)
        if key not in self._styles:
            size, leading, ink = STYLES[name]
            self._styles[key] = ParagraphStyle(
                f"{name}-{align}-{chinese}-{colour}",
                fontName=STRONG if name in HEAVY else REGULAR,
                fontSize=size,
                leading=leading,
                textColor=colour or ink,
                alignment=2 if align == "right" else 0,
                wordWrap="CJK" if chinese else None,
                spaceAfter=4 if name == "section" else 0,
            )
        return self._styles[key]

    def heading(self, title: str) -> list[Any]:
        """Return a section's heading, and its entry in the outline."""
        return [outline_flowable(title), self.text(title, "section")]

    def section(self, title: str, least: float = LEAST_AFTER_HEADING) -> list[Any]:
        """Return a heading that starts a new page rather than stand at the foot of one with less
        than `least` points below."""
        from reportlab.platypus import CondPageBreak

        return [CondPageBreak(least), *self.heading(title)]

    def gap(self, points: float) -> Any:
        """Return empty space."""
        from reportlab.platypus import Spacer

        return Spacer(1, self.air * points)

    def rule(self) -> Any:
        """Return a hairline over the whole width."""
        from reportlab.platypus import HRFlowable

        return HRFlowable(width="100%", thickness=0.5, color=LINE, spaceBefore=0, spaceAfter=0)

    def together(self, flowables: list[Any]) -> Any:
        """Return flowables that stay on one page when they fit on one."""
        from reportlab.platypus import KeepTogether

        return KeepTogether(flowables)

    def columns(self, cells: Sequence[list[Any]], shares: Sequence[float]) -> Any:
        """Return blocks side by side."""
        return self._table(
            [list(cells)],
            shares,
            [("LEFTPADDING", (0, 0), (0, -1), 0), ("RIGHTPADDING", (-1, 0), (-1, -1), 0)],
            0,
        )

    def table(
        self,
        rows: list[list[Any]],
        shares: Sequence[float],
        header: bool = True,
        lined: bool = True,
        kept: Sequence[int] = (),
    ) -> Any:
        """Return a table with hairlines; its header is repeated on each page, no page holds its
        last row alone, and a row in `kept` stays with the next two."""
        style: list[Any] = [
            ("LEFTPADDING", (0, 0), (0, -1), 0),
            ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
            ("TOPPADDING", (0, 0), (-1, -1), 3 * self.air),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 3 * self.air),
        ]
        if lined:
            style.append(("LINEBELOW", (0, 0), (-1, -1), 0.35, LINE))
        if header:
            style.append(("LINEBELOW", (0, 0), (-1, 0), 0.8, INK))
        together = [(row, min(row + 2, len(rows) - 1)) for row in kept]
        together += [(len(rows) - 2, len(rows) - 1)] if len(rows) > LEAST_PARTED else []
        style += [("NOSPLIT", (0, first), (0, last)) for first, last in together]
        return self._table(rows, shares, style, 1 if header else 0, tagged=True)

    def _table(
        self,
        rows: list[list[Any]],
        shares: Sequence[float],
        style: list[Any],
        repeat: int,
        tagged: bool = False,
    ) -> Any:
        from reportlab.platypus import Table

        base = [
            ("FONTNAME", (0, 0), (-1, -1), REGULAR),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), BESIDE),
            ("RIGHTPADDING", (0, 0), (-1, -1), BESIDE),
        ]
        made = whole_rows(table_class() if tagged else Table, self.height - 1)
        return made(
            rows,
            colWidths=self._widths(rows, shares),
            repeatRows=repeat,
            style=[*base, *style],
        )

    def _widths(self, rows: list[list[Any]], shares: Sequence[float]) -> list[float]:
        """Return the columns' widths by their shares; one whose figures are wider takes what it
        lacks from the widest, so that no figure is broken."""
        widths = [share * self.width for share in shares]
        for n in range(len(widths)):
            cells = (row[n] for row in rows)
            figures = [cell for cell in cells if getattr(cell, "is_figure", False)]
            lacking = max((c.minWidth() for c in figures), default=0.0) + 2 * BESIDE - widths[n]
            if lacking > 0:
                widths[widths.index(max(widths))] -= lacking
                widths[n] += lacking
        return widths

    def banner(self, state: str, text: str, detail: str = "") -> Any:
        """Return the verdict: a mark, a sentence and small print on a pale ground with a bar of the
        state's colour."""
        style = [
            ("BACKGROUND", (0, 0), (-1, -1), PALE),
            ("LINEBEFORE", (0, 0), (0, -1), 3, STATES[state]),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 8),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 8),
            ("LEFTPADDING", (0, 0), (0, -1), 10),
            ("RIGHTPADDING", (1, 0), (1, -1), 14),  # a full stop of Chinese hangs over the edge
        ]
        mark = drawn_as(mark_flowable(MARKS[state], STATES[state]), "Figure", state)
        words = [self.text(text, "verdict"), *([self.text(detail, "small")] if detail else [])]
        return self._table([[mark, words]], (0.07, 0.93), style, 0)

    def canvas_maker(self, footer: str) -> Any:
        """Return a canvas class that writes the footer with "page x of y" once all pages are
        known."""
        from reportlab.pdfgen.canvas import Canvas

        sheet = self

        class Numbered(Canvas):  # type: ignore[misc]
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **{**kwargs, "initialFontName": REGULAR})
                self._pages: list[dict[str, Any]] = []
                self.tree, self.page_index = Tree(), 0

            def showPage(self) -> None:  # noqa: N802
                self._pages.append(dict(self.__dict__))
                self.page_index += 1
                self._startPage()

            def save(self) -> None:
                tree = self.tree
                for number, page in enumerate(self._pages, 1):
                    self.__dict__.update(page)
                    with artifact(self):
                        draw_footer(
                            self,
                            sheet,
                            footer,
                            tr("page {number} of {pages}", number=number, pages=len(self._pages)),
                        )
                    super().showPage()
                write_tree(self, tree)
                super().save()

        return Numbered


def _write_plainly() -> None:
    # Compressed content as it is, not as text of ASCII that takes a quarter more.
    from reportlab import rl_config

    rl_config.useA85 = 0


def document(buffer: Any, sheet: Sheet, title: str, author: str, subject: str) -> Any:
    """Return an empty document on a sheet, without time stamps, with its metadata set."""
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    _write_plainly()
    foot = sheet.margin + FOOT
    made = BaseDocTemplate(
        buffer,
        pagesize=sheet.size,
        leftMargin=sheet.margin,
        rightMargin=sheet.margin,
        topMargin=sheet.margin,
        bottomMargin=foot,
        title=printable(title),
        author=printable(author),
        subject=printable(subject),
        creator="RigPlanner",
        invariant=1,
        lang=language().replace("_", "-"),
    )
    frame = Frame(sheet.margin, foot, sheet.width, sheet.height, 0, 0, 0, 0, id="body")
    made.addPageTemplates([PageTemplate(id="page", frames=[frame])])
    return made


def _draw_with(face: str) -> None:
    # A drawing names the library's default font even when it sets no text in it; that font would
    # not be embedded.
    from reportlab.graphics.shapes import STATE_DEFAULTS

    STATE_DEFAULTS["fontName"] = face


def draw_footer(canvas: Any, sheet: Sheet, left: str, right: str) -> None:
    """Draw the hairline and the two texts at the foot of a page."""
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.5)
    canvas.line(sheet.margin, sheet.margin + 4, sheet.size[0] - sheet.margin, sheet.margin + 4)
    canvas.setFillColor(QUIET)
    font(face_of(right))
    canvas.setFont(face_of(right), 7.6)
    canvas.drawRightString(sheet.size[0] - sheet.margin, sheet.margin - 8, right)
    shown = cut(left, sheet.width * 0.78, 7.6)
    while width_of(shown, 7.6, face_of(shown)) > sheet.width * 0.78:
        shown = shown[:-2].rstrip() + "…"
    paragraph = sheet.text(shown, "small")
    paragraph.wrapOn(canvas, sheet.width * 0.8, 20)
    paragraph.drawOn(canvas, sheet.margin, sheet.margin - 10)
