"""The bar of a GPU's memory on paper."""

from typing import Any

from rigplanner.report import format as fmt
from rigplanner.report.language import tr
from rigplanner.report.paper.drawings import colour_of, faced, whisker, width_of
from rigplanner.report.paper.inks import HUES, PALE, QUIET, STATES
from rigplanner.report.quote.jobs import MemoryBar

LEAST_IN_LEGEND_GIB = 0.05


def memory_bar(bar: MemoryBar, width: float) -> Any:
    """Return the stacked bar of a GPU's memory on a ground as long as its capacity, the interval
    below it, and the legend."""
    from reportlab.graphics.shapes import Drawing, Rect
    from reportlab.graphics.shapes import Line as Stroke

    parts, capacity = _with_reserve(bar), bar.capacity_gib or 0.0
    longest = max(capacity, bar.high_gib, sum(gib for _, gib in parts), 1e-9)
    scale = (width - 2) / longest
    drawing, x = Drawing(width, 37), 0.0
    if capacity:
        pale = colour_of(PALE)
        drawing.add(Rect(0, 24, capacity * scale, 9, fillColor=pale, strokeColor=None))
    for word, gib in parts:
        edge, hue = colour_of("#ffffff") if gib * scale > 2 else None, colour_of(HUES[word])
        drawing.add(Rect(x, 24, gib * scale, 9, fillColor=hue, strokeColor=edge, strokeWidth=0.5))
        x += gib * scale
    for mark in whisker(bar.low_gib * scale, bar.high_gib * scale, 19.5, 2.1):
        drawing.add(mark)
    if capacity:
        at, red = capacity * scale, colour_of(STATES["error"])
        drawing.add(Stroke(at, 16, at, 36, strokeColor=red, strokeWidth=1.4))
    named = [
        (word, f"{tr(word)} {fmt.number(gib, 1)}")
        for word, gib in parts
        if gib >= LEAST_IN_LEGEND_GIB
    ]
    for shape in _legend(named):
        drawing.add(shape)
    return drawing


def _with_reserve(bar: MemoryBar) -> list[tuple[str, float]]:
    """Return the parts of a bar and what the software holds beyond them, such as the pool of a
    server's KV cache."""
    parts = [(word, gib) for word, gib in bar.parts if gib > 0]
    rest = bar.total_gib - sum(gib for _, gib in parts)
    return [*parts, ("held in reserve", rest)] if rest >= LEAST_IN_LEGEND_GIB else parts


def _legend(entries: list[tuple[str, str]]) -> list[Any]:
    from reportlab.graphics.shapes import Rect, String

    x, shapes = 0.0, []
    for word, text in entries:
        shapes.append(Rect(x, 4, 5.5, 5.5, fillColor=colour_of(HUES[word]), strokeColor=None))
        shown, face = faced(text)
        shapes.append(
            String(x + 8, 4.2, shown, fontName=face, fontSize=7.2, fillColor=colour_of(QUIET))
        )
        x += 20 + width_of(shown, 7.2, face)
    return shapes
