"""Marks, bars and pictures as reportlab draws them."""

from collections.abc import Sequence
from typing import Any

from rigplanner.report import format as fmt
from rigplanner.report.comparison import Chart
from rigplanner.report.inks import ACCENT, CHART_HUES, FILLS, HUES, INK, PALE, QUIET, STATES
from rigplanner.report.language import tr
from rigplanner.report.quote_jobs import MemoryBar
from rigplanner.report.shapes import Box, Label, Line, Picture
from rigplanner.report.type import REGULAR, STRONG, face_of, font

TALLEST = 620.0
"""Height in points that a picture may take, so that it and its heading fit on one page of either size."""
LEAST_IN_LEGEND_GIB = 0.05


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
    """Return the stacked bar of a GPU's memory on a ground as long as its capacity, the interval below it, and the legend."""
    from reportlab.graphics.shapes import Drawing, Rect
    from reportlab.graphics.shapes import Line as Stroke

    parts = _with_reserve(bar)
    scale = (width - 2) / max(bar.capacity_gib or 0.0, bar.high_gib, sum(gib for _, gib in parts), 1e-9)
    drawing, x = Drawing(width, 37), 0.0
    if bar.capacity_gib:
        drawing.add(Rect(0, 24, bar.capacity_gib * scale, 9, fillColor=_colour(PALE), strokeColor=None))
    for word, gib in parts:
        edge = _colour("#ffffff") if gib * scale > 2 else None
        drawing.add(Rect(x, 24, gib * scale, 9, fillColor=_colour(HUES[word]), strokeColor=edge, strokeWidth=0.5))
        x += gib * scale
    drawing.add(Stroke(bar.low_gib * scale, 19.5, bar.high_gib * scale, 19.5, strokeColor=_colour(INK), strokeWidth=0.9))
    for edge_gib in (bar.low_gib, bar.high_gib):
        drawing.add(Stroke(edge_gib * scale, 17.4, edge_gib * scale, 21.6, strokeColor=_colour(INK), strokeWidth=0.9))
    if bar.capacity_gib:
        at = bar.capacity_gib * scale
        drawing.add(Stroke(at, 16, at, 36, strokeColor=_colour(STATES["error"]), strokeWidth=1.4))
    for shape in _legend([(word, f"{tr(word)} {fmt.number(gib, 1)}") for word, gib in parts if gib >= LEAST_IN_LEGEND_GIB]):
        drawing.add(shape)
    return drawing


def _with_reserve(bar: MemoryBar) -> list[tuple[str, float]]:
    """Return the parts of a bar and what the software holds beyond them, such as the pool of a server's KV cache."""
    parts = [(word, gib) for word, gib in bar.parts if gib > 0]
    rest = bar.total_gib - sum(gib for _, gib in parts)
    return [*parts, ("held in reserve", rest)] if rest >= LEAST_IN_LEGEND_GIB else parts


def _legend(entries: list[tuple[str, str]]) -> list[Any]:
    from reportlab.graphics.shapes import Rect, String

    x, shapes = 0.0, []
    for word, text in entries:
        shapes.append(Rect(x, 4, 5.5, 5.5, fillColor=_colour(HUES[word]), strokeColor=None))
        shown, face = _faced(text)
        shapes.append(String(x + 8, 4.2, shown, fontName=face, fontSize=7.2, fillColor=_colour(QUIET)))
        x += 20 + width_of(shown, 7.2, face)
    return shapes


def width_of(text: str, size: float, face: str = REGULAR) -> float:
    """Return how wide a text is in points."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, face, size))


def interval_bars(chart: Chart, names: Sequence[str], width: float) -> Any:
    """Return level bars from zero, one a rig, each with its interval and its value; an unknown one says so."""
    from reportlab.graphics.shapes import Drawing, Rect
    from reportlab.graphics.shapes import Line as Stroke

    left, right, step = 0.36 * width, 48.0, 17.0
    top = max((high or value or 0.0 for high, value in zip(chart.highs, chart.values, strict=True)), default=0.0)
    scale = (width - left - right) / (top or 1.0)
    drawing = Drawing(width, step * len(names) + 4)
    for n, (name, value, low, high) in enumerate(zip(names, chart.values, chart.lows, chart.highs, strict=True)):
        y = drawing.height - step * (n + 1) + 4
        drawing.add(_string(0, y + 2, _fitted(name, left - 8, 7.2), QUIET))
        if value is None:
            drawing.add(_string(left, y + 2, tr(fmt.UNKNOWN), QUIET))
            continue
        drawing.add(Rect(left, y, value * scale, 9, fillColor=_colour(CHART_HUES[n % len(CHART_HUES)]), strokeColor=None))
        if low is not None and high is not None:
            drawing.add(
                Stroke(left + low * scale, y + 4.5, left + high * scale, y + 4.5, strokeColor=_colour(INK), strokeWidth=0.9)
            )
            for edge in (low, high):
                at = left + edge * scale
                drawing.add(Stroke(at, y + 1.8, at, y + 7.2, strokeColor=_colour(INK), strokeWidth=0.9))
        drawing.add(_string(left + max(value, high or 0.0) * scale + 4, y + 2, fmt.number(value), INK))
    drawing.add(Stroke(left, 2, left, drawing.height - 2, strokeColor=_colour(INK), strokeWidth=0.5))
    return drawing


def _fitted(text: str, width: float, size: float) -> str:
    """Return the longest beginning of a text that fits into `width` points."""
    shown = text[:200]
    while shown and width_of(*_sized(shown, size)) > width:
        shown = shown[:-2].rstrip() + "…"
    return shown


def _sized(text: str, size: float) -> tuple[str, float, str]:
    shown, face = _faced(text)
    return shown, size, face


def _string(x: float, y: float, text: str, colour: str) -> Any:
    from reportlab.graphics.shapes import String

    shown, face = _faced(text)
    return String(x, y, shown, fontName=face, fontSize=7.2, fillColor=_colour(colour))


def picture_flowable(picture: Picture, width: float, tallest: float = TALLEST) -> Any:
    """Return a picture scaled to the width of the page and at most `tallest` points, never above its own size."""
    from reportlab.graphics.shapes import Drawing, PolyLine, Rect, String

    scale = min(1.0, width / picture.width, tallest / picture.height)
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
            text, face = _faced(shape.text, STRONG if shape.strong else REGULAR)
            drawing.add(String(shape.x, picture.height - shape.y, text, fontName=face, fontSize=shape.size,
                               textAnchor=shape.anchor, fillColor=_colour(QUIET if shape.quiet else INK)))  # fmt: skip
    return drawing


def _faced(text: str, latin: str = REGULAR) -> tuple[str, str]:
    """Return a text and the face to set it in; what that face has not becomes a question mark."""
    face = face_of(text, latin)
    known = font(face).face.charToGlyph
    return "".join(char if ord(char) in known else "?" for char in text), face
