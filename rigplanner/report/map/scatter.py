"""A scatter of rows: both scales with round ticks, the front of the best, labels that never lie on
one another."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from rigplanner.planning.map.cards import Kind
from rigplanner.report import format as fmt
from rigplanner.report.language import Words
from rigplanner.report.map.scene import (
    FORMS,
    LARGE,
    SMALL,
    Dot,
    Measure,
    Rect,
    Scene,
    Spot,
    Stroke,
    Text,
    legend,
    letters,
    shortened,
    wrapped,
)

MARGIN, BELOW_HEAD, BELOW = 16.0, 16.0, 58.0
PLOT_HEIGHT, LEAST_HEIGHT = 380.0, 220.0
RADIUS, REACH = 4.0, 7.0
"""Of a dot, and how far from its middle a pointer still meets it."""
FARTHEST = 3.0
"""How many times a value an interval reaches before it runs out of the picture."""
MOST_LABELS, MOST_TRIED = 26, 70
BAND = 12.0
"""Height of the bands in which taken room is looked up."""
GAP = 3.0
KINDS: tuple[Kind, ...] = ("card", "machine", "hire")
KIND_WORDS = Words({"card": "card", "machine": "whole machine", "hire": "cloud instance"})
KNOWN_WORDS = Words({"full": "measured, or near to it", "hollow": "modelled"})

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Axis(Struct, frozen=True):
    """A scale and its name: a logarithmic one by tens or by `doubling`, or a linear one."""

    name: str
    log: bool = True
    share: bool = False
    doubling: bool = False

    def said(self, tick: float) -> str:
        """A value of the scale in words: a year, a share in percent, or a number."""
        if not self.log:
            return f"{tick:.0f}"
        value = 100 * tick if self.share else tick
        digits = max(0, -math.floor(math.log10(value) + 1e-9))
        return fmt.number(value, digits) + (" %" if self.share else "")


class Point(Struct, frozen=True, kw_only=True):
    """A row in the plane: where it stands, the interval of y, and what is said of it."""

    x: float
    y: float
    low: float
    high: float
    name: str
    kind: Kind
    hollow: bool
    row: int
    text: str


class _Scale(Struct, frozen=True):
    """How values become places between two ends."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def place(self, value: float) -> float:
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        at = math.log(value) if self.log else value
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)


def front(points: Sequence[Point], best: Literal["left", "right"]) -> list[Point]:
    """Return the points that no other beats in both ways: none is higher and as far to the best
    side; from the best side on."""
    sign = 1 if best == "left" else -1
    found: list[Point] = []
    for point in sorted(points, key=lambda each: (sign * each.x, -each.y)):
        if not found or point.y > found[-1].y:
            found.append(point)
    return found


def scatter(
    points: Sequence[Point],
    across: Axis,
    up: Axis,
    title: str,
    note: str,
    best: Literal["left", "right"] = "left",
    width: float = 760.0,
    height: float | None = None,
    measure: Measure = letters,
) -> Scene:
    """Return the picture, of a usual height or of one that is wished. The front's points carry
    their intervals and are named first."""
    edge = front(points, best)
    y_low, y_high = _ends([*(point.y for point in points), *_interval_ends(edge)], up.log)
    x_low, x_high = _ends([point.x for point in points], across.log)
    ticks_up = ticks(y_low, y_high, up)
    left = MARGIN + max((measure(up.said(tick), SMALL, False) for tick in ticks_up), default=20)
    head, last = legend(_entries(points), up.name, MARGIN, width - MARGIN, measure)
    top = last + BELOW_HEAD
    said = wrapped(note, width - 2 * MARGIN, measure, SMALL)
    below = BELOW + 13 * len(said) - 8
    tall = PLOT_HEIGHT if height is None else max(LEAST_HEIGHT, height - top - below)
    plot = (left + 8, top, width - MARGIN, top + tall)
    x = _Scale(x_low, x_high, plot[0], plot[2], across.log)
    y = _Scale(y_low, y_high, plot[3], plot[1], up.log)
    shapes: list[Rect | Stroke | Dot | Text] = [
        Text(MARGIN, 24, shortened(title, width - 2 * MARGIN, measure, LARGE * 1.06), LARGE,
             strong=True),
    ]  # fmt: skip
    shapes += [
        *head,
        *_grid(x, y, across, up, plot, measure),
    ]
    lines = _front(edge, x, y)
    shapes += lines
    dots = [
        Dot(x.place(p.x), y.place(p.y), RADIUS, p.kind, FORMS[p.kind], p.hollow) for p in points
    ]
    shapes += [*dots, *_labels(points, edge, dots, lines, plot, measure)]
    foot = plot[3] + BELOW - 8
    shapes += [
        Text(MARGIN, foot + 13 * at, line, SMALL, role="quiet") for at, line in enumerate(said)
    ]
    spots = tuple(
        Spot(dot.x - REACH, dot.y - REACH, 2 * REACH, 2 * REACH, point.row, point.text)
        for dot, point in zip(dots, points, strict=True)
    )
    return Scene(width, foot + 13 * len(said), title, tuple(shapes), spots)


def _interval_ends(edge: Sequence[Point]) -> Iterator[float]:
    """The ends of the intervals that are drawn, as far as the scale shows them."""
    for point in edge:
        yield max(point.low, point.y / FARTHEST)
        yield min(point.high, point.y * FARTHEST)


def _ends(values: Sequence[float], log: bool) -> tuple[float, float]:
    """The values with some room around them."""
    low, high = min(values), max(values)
    if log:
        return low / 1.25, high * 1.3
    room = max(0.5, (high - low) * 0.04)
    return low - room, high + room


FEWEST_TICKS, FINE = 3, (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
"""Ticks below which a logarithmic scale cannot be read, and the steps that it has then."""


def ticks(low: float, high: float, axis: Axis) -> list[float]:
    """Return round values between two ends: powers of two, or 1, 2 and 5 times powers of ten, fewer
    where that would be many and more where it would be few; of a linear scale whole numbers."""
    if axis.doubling:
        powers = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
        return [2.0**power for power in powers]
    if not axis.log:
        step = max(1, math.ceil((high - low) / 10))
        return [float(n) for n in range(math.ceil(low), math.floor(high) + 1) if n % step == 0]
    many = math.log10(high / low) > 3
    found = _decades(low, high, (1.0,) if many else (1.0, 2.0, 5.0))
    return found if len(found) >= FEWEST_TICKS else _decades(low, high, FINE)


def _decades(low: float, high: float, bases: Sequence[float]) -> list[float]:
    """Return the bases times powers of ten that lie between two ends."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = (base * 10.0**power for power in powers for base in bases)
    return [tick for tick in found if low <= tick <= high]


def _grid(
    x: _Scale, y: _Scale, across: Axis, up: Axis, plot: Box, measure: Measure
) -> list[Stroke | Text]:
    made: list[Stroke | Text] = []
    for tick in ticks(y.low, y.high, up):
        at = y.place(tick)
        made.append(Stroke(((plot[0], at), (plot[2], at)), "grid"))
        made.append(Text(plot[0] - 6, at + 3.5, up.said(tick), SMALL, "end", "quiet"))
    beyond = -math.inf
    for tick in ticks(x.low, x.high, across):
        at = x.place(tick)
        text = across.said(tick)
        half = measure(text, SMALL, False) / 2
        made.append(Stroke(((at, plot[1]), (at, plot[3])), "grid"))
        if at - half > beyond and at + half <= plot[2] + MARGIN:
            made.append(Text(at, plot[3] + 14, text, SMALL, "middle", "quiet"))
            beyond = at + half + 6
    middle = (plot[0] + plot[2]) / 2
    made.append(Text(middle, plot[3] + 30, across.name, SMALL, "middle", "quiet"))
    made.append(Stroke(((plot[0], plot[1]), (plot[0], plot[3]), (plot[2], plot[3])), "axis"))
    return made


def _front(edge: Sequence[Point], x: _Scale, y: _Scale) -> list[Stroke]:
    """The stairs of the front, and its intervals."""
    stairs: list[tuple[float, float]] = []
    for point in edge:
        at = x.place(point.x), y.place(point.y)
        if stairs:
            stairs.append((at[0], stairs[-1][1]))
        stairs.append(at)
    made = [Stroke(tuple(stairs), "front", 1.4)] if len(stairs) > 1 else []
    for point in edge:
        at_x = x.place(point.x)
        low, high = (y.place(max(y.low, min(y.high, end))) for end in (point.low, point.high))
        made.append(Stroke(((at_x, low), (at_x, high)), "axis", 1.0))
    return made


def kind_entries(kinds: Sequence[Kind]) -> list[tuple[str, Dot]]:
    """Return the forms of the kinds that occur, for a legend."""
    return [
        (KIND_WORDS[kind], Dot(0, 0, RADIUS, kind, FORMS[kind])) for kind in KINDS if kind in kinds
    ]


def _entries(points: Sequence[Point]) -> list[tuple[str, Dot]]:
    known = [
        (KNOWN_WORDS["full"], Dot(0, 0, RADIUS, "quiet")),
        (KNOWN_WORDS["hollow"], Dot(0, 0, RADIUS, "quiet", hollow=True)),
    ]
    hollow = any(point.hollow for point in points)
    return kind_entries([point.kind for point in points]) + (known if hollow else [])


def _labels(
    points: Sequence[Point],
    edge: Sequence[Point],
    dots: Sequence[Dot],
    lines: Sequence[Stroke],
    plot: Box,
    measure: Measure,
) -> list[Rect | Text]:
    """Names beside their dots, those of the front first, then the highest: where no place around a
    dot is free its name is left to the pointer. An interval ends before a name of the front that no
    place keeps clear of it, and goes on behind."""
    order = [*edge, *sorted(points, key=lambda point: -point.y)]
    place = {point.row: dot for point, dot in zip(points, dots, strict=True)}
    taken = _Taken()
    for dot in dots:
        taken.add((dot.x - RADIUS, dot.y - RADIUS, dot.x + RADIUS, dot.y + RADIUS))
    for line in lines:
        for ends in pairwise(line.points) if line.role == "front" else ():
            taken.add(_along(*ends))
    thin = [_along(*line.points[:2]) for line in lines if line.role != "front"]
    grounds: list[Rect] = []
    made: list[Text] = []
    named: set[str] = set()
    for rank, point in enumerate(order[: len(edge) + MOST_TRIED]):
        if point.name in named or len(made) >= MOST_LABELS:
            continue
        named.add(point.name)
        tried = [
            (text, box)
            for text in _places(point.name, place[point.row])
            if _inside(box := box_of(text, measure), plot) and not taken.meets(box)
        ]
        clear = [pair for pair in tried if not any(_meet(pair[1], other) for other in thin)]
        for text, box in (clear or (tried if rank < len(edge) else ()))[:1]:
            taken.add(box)
            if not clear:
                wide, tall = box[2] - box[0], box[3] - box[1]
                grounds.append(Rect(box[0] - 2, box[1], wide + 4, tall, "paper"))
            made.append(text)
    return [*grounds, *made]


class _Taken:
    """The room that is taken, by bands across the picture, so that few boxes are asked."""

    def __init__(self) -> None:
        self._bands: dict[int, list[Box]] = {}

    def _of(self, box: Box) -> range:
        return range(int(box[1] // BAND) - 1, int(box[3] // BAND) + 2)

    def add(self, box: Box) -> None:
        for band in range(int(box[1] // BAND), int(box[3] // BAND) + 1):
            self._bands.setdefault(band, []).append(box)

    def meets(self, box: Box) -> bool:
        return any(
            _meet(box, other) for band in self._of(box) for other in self._bands.get(band, ())
        )


def _along(one: tuple[float, float], two: tuple[float, float]) -> Box:
    """The room of a level or upright line, but for the gap that a dot on it leaves."""
    left, right = sorted((one[0], two[0]))
    top, bottom = sorted((one[1], two[1]))
    return left + GAP, top, right - GAP if right > left else right, bottom


def _inside(box: Box, plot: Box) -> bool:
    return plot[0] <= box[0] and box[2] <= plot[2] and plot[1] <= box[1] and box[3] <= plot[3]


MAKERS = ("NVIDIA ", "GeForce ", "AMD ", "Intel ")


def short(name: str) -> str:
    """Return a name without its maker and line, as people say it: "4 × RTX 4090"."""
    for maker in MAKERS:
        name = name.replace(f"× {maker}", "× ").removeprefix(maker)
    return name


def _places(name: str, dot: Dot) -> list[Text]:
    """The eight places of a name around its dot, the best first."""
    near = RADIUS + 3
    middle = dot.y + SMALL * 0.36
    return [
        Text(dot.x + near, middle, name, SMALL),
        Text(dot.x - near, middle, name, SMALL, "end"),
        Text(dot.x, dot.y - near - 1, name, SMALL, "middle"),
        Text(dot.x, dot.y + near + SMALL * 0.75, name, SMALL, "middle"),
        Text(dot.x + near - 2, dot.y - near, name, SMALL),
        Text(dot.x - near + 2, dot.y - near, name, SMALL, "end"),
        Text(dot.x + near - 2, dot.y + near + SMALL * 0.75, name, SMALL),
        Text(dot.x - near + 2, dot.y + near + SMALL * 0.75, name, SMALL, "end"),
    ]


def box_of(text: Text, measure: Measure) -> Box:
    """Return the room that a text takes."""
    wide = measure(text.text, text.size, text.strong)
    left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    return left, text.y - text.size * 0.8, left + wide, text.y + text.size * 0.24


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] < other[2] + GAP
        and other[0] < one[2] + GAP
        and one[1] < other[3] + 1
        and other[1] < one[3] + 1
    )
