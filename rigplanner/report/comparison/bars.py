"""The bars of a comparison on paper, each with its interval."""

from collections.abc import Sequence
from typing import Any

from rigplanner.report import format as fmt
from rigplanner.report.comparison.content import Chart
from rigplanner.report.language import tr
from rigplanner.report.paper.drawings import colour_of, faced, stroke, whisker, width_of
from rigplanner.report.paper.inks import CHART_HUES, INK, QUIET


def interval_bars(chart: Chart, names: Sequence[str], width: float) -> Any:
    """Return level bars from zero, one a rig, each with its interval and its value; an unknown one
    says so."""
    from reportlab.graphics.shapes import Drawing, Rect

    left, right, step = 0.36 * width, 48.0, 17.0
    top = max(
        (high or value or 0.0 for high, value in zip(chart.highs, chart.values, strict=True)),
        default=0.0,
    )
    scale = (width - left - right) / (top or 1.0)
    drawing = Drawing(width, step * len(names) + 4)
    for n, (name, value, low, high) in enumerate(
        zip(names, chart.values, chart.lows, chart.highs, strict=True)
    ):
        y = drawing.height - step * (n + 1) + 4
        drawing.add(_string(0, y + 2, _fitted(name, left - 8, 7.2), QUIET))
        if value is None:
            drawing.add(_string(left, y + 2, tr(fmt.UNKNOWN), QUIET))
            continue
        hue = colour_of(CHART_HUES[n % len(CHART_HUES)])
        drawing.add(Rect(left, y, value * scale, 9, fillColor=hue, strokeColor=None))
        if low is not None and high is not None:
            for mark in whisker(left + low * scale, left + high * scale, y + 4.5, 2.7):
                drawing.add(mark)
        end = left + max(value, high or 0.0) * scale + 4
        drawing.add(_string(end, y + 2, fmt.number(value), INK))
    drawing.add(stroke(left, 2, left, drawing.height - 2, 0.5))
    return drawing


def _fitted(text: str, width: float, size: float) -> str:
    """Return the longest beginning of a text that fits into `width` points."""
    shown = text[:200]
    while shown and width_of(*_sized(shown, size)) > width:
        shown = shown[:-2].rstrip() + "…"
    return shown


def _sized(text: str, size: float) -> tuple[str, float, str]:
    shown, face = faced(text)
    return shown, size, face


def _string(x: float, y: float, text: str, colour: str) -> Any:
    from reportlab.graphics.shapes import String

    shown, face = faced(text)
    return String(x, y, shown, fontName=face, fontSize=7.2, fillColor=colour_of(colour))
