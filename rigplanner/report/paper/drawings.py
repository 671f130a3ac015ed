"""Marks and pictures as reportlab draws them, and how text stands in what is drawn."""

from typing import Any

from rigplanner.report.drawing.shapes import Box, Label, Line, Picture
from rigplanner.report.paper.inks import ACCENT, FILLS, INK, QUIET
from rigplanner.report.paper.type import REGULAR, STRONG, face_of, font, printable

TALLEST = 620.0
"""Height in points that a picture may take, so that it and its heading fit on one page of either
size."""


def mark_flowable(mark: str, colour: str) -> Any:
    """Return a round mark with a tick, cross, bang or question mark drawn in strokes."""
    from reportlab.graphics.shapes import Circle, Drawing, PolyLine

    strokes = {
        "tick": [[4.5, 8.5, 7.5, 5.5, 13, 11.5]],
        "cross": [[5.5, 5.5, 12.5, 12.5], [5.5, 12.5, 12.5, 5.5]],
        "bang": [[9, 13.5, 9, 8], [9, 5.6, 9, 4.6]],
        "question": [
            [6.3, 11.3, 7, 12.8, 9, 13.6, 11, 12.8, 11.7, 11.2, 11, 9.8, 9, 8.6, 9, 7.4],
            [9, 5.4, 9, 4.4],
        ],
    }
    drawing = Drawing(18, 18)
    drawing.add(Circle(9, 9, 8.6, fillColor=colour_of(colour), strokeColor=None))
    for points in strokes[mark]:
        drawing.add(
            PolyLine(
                points,
                strokeColor=colour_of("#ffffff"),
                strokeWidth=1.7,
                strokeLineCap=1,
                strokeLineJoin=1,
            )
        )
    return drawing


def colour_of(text: str) -> Any:
    """Return reportlab's colour of a "#rrggbb"."""
    from reportlab.lib.colors import HexColor

    return HexColor(text)


def width_of(text: str, size: float, face: str = REGULAR) -> float:
    """Return how wide a text is in points."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, face, size))


def picture_flowable(picture: Picture, width: float, tallest: float = TALLEST) -> Any:
    """Return a picture scaled to the width of the page and at most `tallest` points, never above
    its own size."""
    from reportlab.graphics.shapes import Drawing, PolyLine, Rect, String

    scale = min(1.0, width / picture.width, tallest / picture.height)
    drawing = Drawing(picture.width * scale, picture.height * scale)
    drawing.scale(scale, scale)
    for shape in picture.shapes:
        if isinstance(shape, Box):
            drawing.add(
                Rect(
                    shape.x,
                    picture.height - shape.y - shape.height,
                    shape.width,
                    shape.height,
                    rx=2,
                    ry=2,
                    fillColor=colour_of(FILLS[shape.role]),
                    strokeColor=colour_of(INK),
                    strokeWidth=0.7,
                )
            )
        elif isinstance(shape, Line):
            points = [c for x, y in shape.points for c in (x, picture.height - y)]
            colour = colour_of(ACCENT if shape.role == "nvlink" else INK)
            drawing.add(PolyLine(points, strokeColor=colour, strokeWidth=shape.weight))
        elif isinstance(shape, Label):
            text, face = faced(shape.text, STRONG if shape.strong else REGULAR)
            drawing.add(
                String(
                    shape.x,
                    picture.height - shape.y,
                    text,
                    fontName=face,
                    fontSize=shape.size,
                    textAnchor=shape.anchor,
                    fillColor=colour_of(QUIET if shape.quiet else INK),
                )
            )
    return drawing


def faced(text: str, latin: str = REGULAR) -> tuple[str, str]:
    """Return a text and the face to set it in; what that face has not becomes a question mark.
    Fonts have glyphs for control characters too, which are left out."""
    shown = printable(text)
    face = face_of(shown, latin)
    known = font(face).face.charToGlyph
    return "".join(char if ord(char) in known else "?" for char in shown), face


def whisker(low: float, high: float, y: float, half: float) -> list[Any]:
    """Return an interval as a line with an upright mark, twice `half` high, at both ends."""
    return [
        stroke(low, y, high, y, 0.9),
        *(stroke(at, y - half, at, y + half, 0.9) for at in (low, high)),
    ]


def stroke(x1: float, y1: float, x2: float, y2: float, width: float) -> Any:
    """Return a straight line in ink."""
    from reportlab.graphics.shapes import Line as Stroke

    return Stroke(x1, y1, x2, y2, strokeColor=colour_of(INK), strokeWidth=width)
