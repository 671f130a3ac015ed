"""What a picture of the map is made of, without a toolkit: the window, SVG and PNG draw the same.

Units are pixels at scale 1; y grows downwards."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

SIZE, SMALL, LARGE = 11.0, 9.5, 13.0
"""Type sizes of labels, of sources and scales, and of the title."""
WIDE_LETTER, WIDE_STRONG = 0.6, 0.66
"""Width of a letter over the type size where the font is not known: that of wide sans-serifs."""

Role = Literal["paper", "ink", "quiet", "grid", "axis", "card", "machine", "hire", "front", "mark"]
Form = Literal["circle", "square", "diamond"]

THEMES: dict[str, dict[Role, str]] = {
    "light": {
        "paper": "#ffffff", "ink": "#1a1d21", "quiet": "#555c66", "grid": "#e3e5e9",
        "axis": "#80868f", "card": "#2f6db0", "machine": "#c9782a", "hire": "#3f9268",
        "front": "#0f5aa8", "mark": "#1a1d21",
    },
    "dark": {
        "paper": "#212529", "ink": "#e7eaee", "quiet": "#a7b0bb", "grid": "#373d45",
        "axis": "#77808c", "card": "#5b98d8", "machine": "#dc9450", "hire": "#62b48b",
        "front": "#7ab6f5", "mark": "#e7eaee",
    },
}  # fmt: skip
"""Colours by meaning. Kinds of rows differ in form too, so that nobody needs the colours."""

FORMS: dict[str, Form] = {"card": "circle", "machine": "square", "hire": "diamond"}

Measure = Callable[[str, float, bool], float]
"""How wide a text becomes at a type size, strong or not."""


class Rect(Struct, frozen=True):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    role: Role


class Stroke(Struct, frozen=True):
    """A broken line."""

    points: tuple[tuple[float, float], ...]
    role: Role
    weight: float = 1.0


class Dot(Struct, frozen=True):
    """A point of a scatter; hollow where its figure is modelled, not measured."""

    x: float
    y: float
    radius: float
    role: Role
    form: Form = "circle"
    hollow: bool = False


class Text(Struct, frozen=True):
    """A text whose baseline stands at (x, y)."""

    x: float
    y: float
    text: str
    size: float = SIZE
    anchor: Literal["start", "middle", "end"] = "start"
    role: Role = "ink"
    strong: bool = False


class Spot(Struct, frozen=True):
    """Where a pointer meets a row: its index among the rows, and what to say of it."""

    x: float
    y: float
    width: float
    height: float
    row: int
    text: str

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it."""
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


class Scene(Struct, frozen=True):
    """Shapes in drawing order and the places that answer a pointer."""

    width: float
    height: float
    title: str
    shapes: tuple[Rect | Stroke | Dot | Text, ...]
    spots: tuple[Spot, ...] = ()

    def at(self, x: float, y: float) -> Spot | None:
        """The spot under a point, of several the nearest by its middle."""
        return min(
            (spot for spot in self.spots if spot.holds(x, y)),
            key=lambda spot: (
                (spot.x + spot.width / 2 - x) ** 2 + (spot.y + spot.height / 2 - y) ** 2
            ),
            default=None,
        )


def letters(text: str, size: float, strong: bool = False) -> float:
    """Return about how wide a text becomes in a font that is not known."""
    return len(text) * size * (WIDE_STRONG if strong else WIDE_LETTER)


def shortened(text: str, room: float, measure: Measure, size: float = SIZE) -> str:
    """Return a text that fits into `room`, cut with an ellipsis where it must be."""
    if measure(text, size, False) <= room:
        return text
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = measure(text[:middle].rstrip() + "…", size, False) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low].rstrip() + "…"


def wrapped(text: str, room: float, measure: Measure, size: float, most: int = 2) -> list[str]:
    """Return a text as lines that fit into `room`, the last of `most` cut where it must be."""
    lines: list[str] = []
    rest = text.split()
    while rest and len(lines) < most:
        count = 1
        while count < len(rest) and measure(" ".join(rest[: count + 1]), size, False) <= room:
            count += 1
        taken = count if len(lines) < most - 1 else len(rest)
        lines.append(shortened(" ".join(rest[:taken]), room, measure, size))
        rest = rest[taken:]
    return lines


LEGEND_LINE = 15.0


def legend(
    entries: Sequence[tuple[str, Dot]], unit: str, left: float, right: float, measure: Measure
) -> tuple[list[Dot | Text], float]:
    """Return the unit and behind it forms with what they mean, in as many lines as they need, the
    first at y = 44, and the y of the last."""
    y = 44.0
    made: list[Dot | Text] = [
        Text(left, y, shortened(unit, right - left, measure, SMALL), SMALL, role="quiet")
    ]
    at = left + measure(unit, SMALL, False) + 18
    for text, dot in entries:
        wide = 12 + measure(text, SMALL, False)
        if at + wide > right:
            at, y = left, y + LEGEND_LINE
        made.append(Dot(at + dot.radius, y - 3, dot.radius, dot.role, dot.form, dot.hollow))
        made.append(Text(at + 12, y, shortened(text, right - at - 12, measure, SMALL), SMALL,
                         role="quiet"))  # fmt: skip
        at += wide + 16
    return made, y
