"""A row of a picture: a name, a bar with its 80 % interval as a whisker, and the figure behind."""

from msgspec import Struct

from rigplanner.report.map.scene import (
    SIZE,
    Dot,
    Measure,
    Rect,
    Role,
    Stroke,
    Text,
    shortened,
)

MARGIN, STEP, BAR = 16.0, 20.0, 12.0
"""Room at the sides, from row to row, and the thickness of a bar."""
MOST_NAME = 0.42
"""Share of the width that names may take."""
TICK = 4.0
"""Half the length of a whisker's ends."""
Shape = Rect | Stroke | Dot | Text


class Bar(Struct, frozen=True):
    """What a row shows: its figure with the ends of its interval, and the figure in words."""

    name: str
    role: Role
    value: float
    low: float
    high: float
    text: str


def bar_rows(drawn: list[Bar], top: float, width: float, measure: Measure) -> list[Shape]:
    """Return rows of bars on one scale, the first at `top`, as wide as names and figures let
    them."""
    left = MARGIN + 8 + min(max(measure(bar.name, SIZE, False) for bar in drawn), width * MOST_NAME)
    room = width - left - MARGIN - 8 - max(measure(bar.text, SIZE, True) for bar in drawn)
    scale = room / (max(max(bar.value, bar.high) for bar in drawn) or 1.0)
    return [
        shape
        for at, bar in enumerate(drawn)
        for shape in _bar_row(bar, left, top + at * STEP, scale, measure)
    ]


def _bar_row(bar: Bar, left: float, y: float, scale: float, measure: Measure) -> list[Shape]:
    value, low, high = (left + each * scale for each in (bar.value, bar.low, bar.high))
    return [
        Text(MARGIN, y + 10, shortened(bar.name, left - 8 - MARGIN, measure)),
        Rect(left, y, bar.value * scale, BAR, bar.role),
        *(_whisker(low, high, y + BAR / 2) if high > low else ()),
        Text(max(value, high) + 6, y + 10, bar.text, strong=True),
    ]


def _whisker(low: float, high: float, middle: float) -> list[Shape]:
    return [
        Stroke(((low, middle), (high, middle)), "mark", 1.2),
        *(Stroke(((end, middle - TICK), (end, middle + TICK)), "mark", 1.2) for end in (low, high)),
    ]
