"""The paper: page sizes, type styles, tables, bars and pictures as reportlab makes them."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rigplanner.report.picture import Box, Label, Line, Picture
from rigplanner.report.quote_jobs import MemoryBar
from rigplanner.report.type import CHINESE, REGULAR, STRONG, font, is_chinese, markup

INK, QUIET, LINE, PALE, ACCENT = "#1b1f24", "#5c6670", "#c9d0d6", "#f3f5f7", "#0b5c8a"
STATES = {"error": "#b3261e", "warning": "#8a5a00", "unknown": "#5b5378", "info": "#31556e", "ok": "#1f6b3a"}
HUES = {
    "weights": "#0b5c8a", "gradients": "#3f93b5", "optimizer": "#7a5195", "activations": "#c46b12", "KV cache": "#2f7d4f",
    "workspace": "#8b949c", "context": "#b9c0c6",
}  # fmt: skip
SIZES = {"A4": (595.2756, 841.8898), "Letter": (612.0, 792.0)}
MARGIN = 51.02
"""18 mm in points."""
STYLES = {
    "body": (9.0, 12.0, INK), "small": (7.6, 10.2, QUIET), "strong": (9.0, 12.0, INK), "head": (7.6, 10.2, QUIET),
    "label": (7.6, 10.2, QUIET), "section": (11.5, 17.0, ACCENT), "title": (20.0, 25.0, ACCENT), "name": (13.0, 17.0, INK),
    "verdict": (11.0, 15.0, INK),
}  # fmt: skip
"""Style name to size, leading (points) and colour."""
HEAVY = {"strong", "section", "title", "name", "verdict"}
LEAST_AFTER_HEADING = 90.0
"""Points that must be left on a page for a section to begin there."""
LOGO_SIZE = (150.0, 46.0)
LOGO_TYPES = (".png", ".jpg", ".jpeg")
LARGEST_LOGO_BYTES, LARGEST_LOGO_PIXELS = 4 * 2**20, 16_000_000
TALLEST = 640.0
"""Height in points that a picture may take, so that it and its heading fit on one page of either size."""
MARKS = {"error": "cross", "warning": "bang", "unknown": "question", "ok": "tick", "info": "tick"}


class Sheet:
    """One kind of paper: makes paragraphs, tables and rules for its width."""

    def __init__(self, paper: str) -> None:
        if paper not in SIZES:
            raise ValueError(f"paper is A4 or Letter, not {paper!r}")
        for name in (REGULAR, STRONG):
            font(name)
        _draw_with(REGULAR)
        self.size, self.margin = SIZES[paper], MARGIN
        self.width = self.size[0] - 2 * MARGIN
        self._styles: dict[tuple[str, str, bool, str | None], Any] = {}

    def text(self, text: str, style: str, align: str = "left", colour: str | None = None, longest: int = 400) -> Any:
        """Return a paragraph of any text in one of STYLES."""
        from reportlab.platypus import Paragraph

        chinese = is_chinese(text)
        if chinese:
            font(CHINESE)
        return Paragraph(markup(text, style in HEAVY, longest), self._style(style, align, chinese, colour))

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

    def section(self, title: str) -> list[Any]:
        """Return a heading that starts a new page rather than stand alone at the foot of one."""
        from reportlab.platypus import CondPageBreak

        return [CondPageBreak(LEAST_AFTER_HEADING), *self.heading(title)]

    def gap(self, points: float) -> Any:
        """Return empty space."""
        from reportlab.platypus import Spacer

        return Spacer(1, points)

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
        return self._table([list(cells)], shares, [("LEFTPADDING", (0, 0), (0, -1), 0), ("RIGHTPADDING", (-1, 0), (-1, -1), 0)], 0)

    def table(self, rows: list[list[Any]], shares: Sequence[float], header: bool = True, lined: bool = True) -> Any:
        """Return a table with hairlines; its header is repeated on each page."""
        style: list[Any] = [
            ("LEFTPADDING", (0, 0), (0, -1), 0), ("RIGHTPADDING", (-1, 0), (-1, -1), 0),
            ("TOPPADDING", (0, 0), (-1, -1), 3), ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
        ]  # fmt: skip
        if lined:
            style.append(("LINEBELOW", (0, 0), (-1, -1), 0.35, LINE))
        if header:
            style.append(("LINEBELOW", (0, 0), (-1, 0), 0.8, INK))
        return self._table(rows, shares, style, 1 if header else 0)

    def _table(self, rows: list[list[Any]], shares: Sequence[float], style: list[Any], repeat: int) -> Any:
        from reportlab.platypus import Table

        base = [
            ("FONTNAME", (0, 0), (-1, -1), REGULAR),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 5),
            ("RIGHTPADDING", (0, 0), (-1, -1), 5),
        ]
        return Table(
            rows, colWidths=[share * self.width for share in shares], repeatRows=repeat, style=[*base, *style], splitInRow=1
        )

    def banner(self, state: str, text: str) -> Any:
        """Return the verdict: a mark and a sentence on a pale ground with a bar of the state's colour."""
        style = [
            ("BACKGROUND", (0, 0), (-1, -1), PALE),
            ("LINEBEFORE", (0, 0), (0, -1), 3, STATES[state]),
            ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ("TOPPADDING", (0, 0), (-1, -1), 8),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 8),
            ("LEFTPADDING", (0, 0), (0, -1), 10),
        ]
        return self._table([[mark_flowable(MARKS[state], STATES[state]), self.text(text, "verdict")]], (0.07, 0.93), style, 0)

    def canvas_maker(self, footer: str) -> Any:
        """Return a canvas class that writes the footer with "page x of y" once all pages are known."""
        from reportlab.pdfgen.canvas import Canvas

        sheet = self

        class Numbered(Canvas):  # type: ignore[misc]
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **{**kwargs, "initialFontName": REGULAR})
                self._pages: list[dict[str, Any]] = []

            def showPage(self) -> None:  # noqa: N802
                self._pages.append(dict(self.__dict__))
                self._startPage()

            def save(self) -> None:
                for number, page in enumerate(self._pages, 1):
                    self.__dict__.update(page)
                    draw_footer(self, sheet, footer, f"page {number} of {len(self._pages)}")
                    super().showPage()
                super().save()

        return Numbered


def document(buffer: Any, sheet: Sheet, title: str, author: str, subject: str) -> Any:
    """Return an empty document on a sheet, without time stamps, with its metadata set."""
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    foot = sheet.margin + 14
    made = BaseDocTemplate(
        buffer,
        pagesize=sheet.size,
        leftMargin=sheet.margin,
        rightMargin=sheet.margin,
        topMargin=sheet.margin,
        bottomMargin=foot,
        title=title,
        author=author,
        subject=subject,
        creator="RigPlanner",
        invariant=1,
        lang="en",
    )
    frame = Frame(sheet.margin, foot, sheet.width, sheet.size[1] - sheet.margin - foot, 0, 0, 0, 0, id="body")
    made.addPageTemplates([PageTemplate(id="page", frames=[frame])])
    return made


def _draw_with(face: str) -> None:
    # A drawing names the library's default font even when it sets no text in it; that font would not be embedded.
    from reportlab.graphics.shapes import STATE_DEFAULTS

    STATE_DEFAULTS["fontName"] = face


def draw_footer(canvas: Any, sheet: Sheet, left: str, right: str) -> None:
    """Draw the hairline and the two texts at the foot of a page."""
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.5)
    canvas.line(sheet.margin, sheet.margin + 4, sheet.size[0] - sheet.margin, sheet.margin + 4)
    canvas.setFillColor(QUIET)
    canvas.setFont(REGULAR, 7.6)
    canvas.drawRightString(sheet.size[0] - sheet.margin, sheet.margin - 8, right)
    paragraph = sheet.text(left, "small", longest=120)
    paragraph.wrapOn(canvas, sheet.width * 0.8, 20)
    paragraph.drawOn(canvas, sheet.margin, sheet.margin - 10)


def outline_flowable(title: str) -> Any:
    """Return an invisible mark that puts `title` into the outline of the document."""
    from reportlab.platypus import Flowable

    class Outline(Flowable):  # type: ignore[misc]
        width = height = 0

        def wrap(self, *_: float) -> tuple[float, float]:
            return 0, 0

        def draw(self) -> None:
            self.canv.bookmarkHorizontal(title, 0, 14)
            self.canv.addOutlineEntry(title, title, 0)

    return Outline()


def logo_flowable(path: str) -> Any | None:
    """Return the seller's logo, at most LOGO_SIZE points; None for a missing, large or foreign file."""
    from reportlab.lib.utils import ImageReader
    from reportlab.platypus import Image

    file = Path(path)
    try:
        if not path or file.suffix.casefold() not in LOGO_TYPES or file.stat().st_size > LARGEST_LOGO_BYTES:
            return None
        width, height = ImageReader(io.BytesIO(file.read_bytes())).getSize()
        if not 0 < width * height <= LARGEST_LOGO_PIXELS:
            return None
        scale = min(LOGO_SIZE[0] / width, LOGO_SIZE[1] / height)
        return Image(io.BytesIO(file.read_bytes()), width * scale, height * scale, hAlign="LEFT")
    except Exception:  # any decoder fault of a foreign image: the quote goes out without it
        return None


def mark_flowable(mark: str, colour: str) -> Any:
    """Return a round mark with a tick, cross, bang or question mark drawn in strokes."""
    from reportlab.graphics.shapes import Circle, Drawing, PolyLine

    strokes = {
        "tick": [[4.5, 8.5, 7.5, 5.5, 13, 11.5]], "cross": [[5.5, 5.5, 12.5, 12.5], [5.5, 12.5, 12.5, 5.5]],
        "bang": [[9, 13.5, 9, 8], [9, 5.6, 9, 4.6]],
        "question": [[6.3, 11.3, 7, 12.8, 9, 13.6, 11, 12.8, 11.7, 11.2, 11, 9.8, 9, 8.6, 9, 7.4], [9, 5.4, 9, 4.4]],
    }  # fmt: skip
    drawing = Drawing(18, 18)
    drawing.add(Circle(9, 9, 8.6, fillColor=_colour(colour), strokeColor=None))
    for points in strokes[mark]:
        drawing.add(PolyLine(points, strokeColor=_colour("#ffffff"), strokeWidth=1.7, strokeLineCap=1, strokeLineJoin=1))
    return drawing


def _colour(text: str) -> Any:
    from reportlab.lib.colors import HexColor

    return HexColor(text)


def memory_bar(bar: MemoryBar, width: float) -> Any:
    """Return the stacked bar of a GPU's memory against its capacity, with a legend."""
    from reportlab.graphics.shapes import Drawing, Rect, String
    from reportlab.graphics.shapes import Line as Stroke

    total = sum(gib for _, gib in bar.parts)
    scale = (width - 2) / max(bar.capacity_gib or 0.0, bar.high_gib, total, 1e-9)
    drawing, x = Drawing(width, 30), 0.0
    for word, gib in bar.parts:
        drawing.add(Rect(x, 16, gib * scale, 9, fillColor=_colour(HUES[word]), strokeColor=None))
        x += gib * scale
    drawing.add(Stroke(bar.low_gib * scale, 20.5, bar.high_gib * scale, 20.5, strokeColor=_colour(INK), strokeWidth=0.8))
    for edge in (bar.low_gib, bar.high_gib):
        drawing.add(Stroke(edge * scale, 18, edge * scale, 23, strokeColor=_colour(INK), strokeWidth=0.8))
    if bar.capacity_gib:
        at = bar.capacity_gib * scale
        drawing.add(Stroke(at, 13, at, 28, strokeColor=_colour(STATES["error"]), strokeWidth=1.2))
    x = 0.0
    for word, gib in bar.parts:
        if gib < 0.005:
            continue
        text = f"{word} {gib:.1f}"
        drawing.add(Rect(x, 4, 5, 5, fillColor=_colour(HUES[word]), strokeColor=None))
        drawing.add(String(x + 7, 4, text, fontName=REGULAR, fontSize=6.8, fillColor=_colour(QUIET)))
        x += 16 + 3.7 * len(text)
    return drawing


def picture_flowable(picture: Picture, width: float) -> Any:
    """Return a picture scaled to the width of the page and at most TALLEST, never above its own size."""
    from reportlab.graphics.shapes import Drawing, PolyLine, Rect, String

    scale = min(1.0, width / picture.width, TALLEST / picture.height)
    drawing = Drawing(picture.width * scale, picture.height * scale)
    drawing.scale(scale, scale)
    for shape in picture.shapes:
        if isinstance(shape, Box):
            drawing.add(Rect(shape.x, picture.height - shape.y - shape.height, shape.width, shape.height, rx=2, ry=2,
                             fillColor=_colour(FILLS[shape.role]), strokeColor=_colour(INK), strokeWidth=0.7))  # fmt: skip
        elif isinstance(shape, Line):
            points = [c for x, y in shape.points for c in (x, picture.height - y)]
            drawing.add(PolyLine(points, strokeColor=_colour(ACCENT if shape.role == "nvlink" else INK), strokeWidth=shape.weight))
        elif isinstance(shape, Label):
            face = STRONG if shape.strong else REGULAR
            drawing.add(String(shape.x, picture.height - shape.y, _latin(shape.text), fontName=face, fontSize=shape.size,
                               textAnchor=shape.anchor, fillColor=_colour(QUIET if shape.quiet else INK)))  # fmt: skip
    return drawing


FILLS = {
    "cpu": "#ffffff",
    "chipset": "#ffffff",
    "switch": "#eef1f4",
    "gpu": "#e3eef5",
    "nic": "#f3f5f7",
    "drive": "#f3f5f7",
    "free": "#ffffff",
}


def _latin(text: str) -> str:
    known = font(REGULAR).face.charToGlyph
    return "".join(char if ord(char) in known else "?" for char in text)
