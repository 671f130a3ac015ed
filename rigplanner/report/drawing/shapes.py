"""Shapes of an engineering drawing, without a toolkit: what pictures are made of, and how wide a
text becomes. Units are points."""

from msgspec import Struct

TEXT_SIZE, SMALL_SIZE = 7.6, 6.8
SHADED = ("gpu", "switch", "covered")
WIDTH_OF_LETTER, WIDTH_OF_STRONG = 0.56, 0.60
"""Mean width of a letter over the type size, of Noto Sans regular and semi-bold (names of the
catalog, rounded up)."""


class Box(Struct, frozen=True):
    """A rectangle; `role` is cpu, chipset, switch, gpu, nic, drive; `subject` is the piece or node
    that it shows."""

    x: float
    y: float
    width: float
    height: float
    role: str
    subject: str


class Line(Struct, frozen=True):
    """A broken line of right angles, `weight` points thick; `role` is pcie, cpu or nvlink;
    `subject` names both ends."""

    points: tuple[tuple[float, float], ...]
    weight: float
    role: str
    subject: str = ""


class Label(Struct, frozen=True):
    """A text whose baseline stands at (x, y); `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    size: float = TEXT_SIZE
    anchor: str = "start"
    strong: bool = False
    quiet: bool = False


class Picture(Struct, frozen=True):
    """Shapes in drawing order; y grows downwards."""

    width: float
    height: float
    shapes: tuple[Box | Line | Label, ...]


def text_width(text: str, size: float = TEXT_SIZE, strong: bool = False) -> float:
    """Return about how wide a text is in points, rather too wide than too narrow."""
    return len(text) * size * (WIDTH_OF_STRONG if strong else WIDTH_OF_LETTER)


def cut(text: str, width: float, size: float = TEXT_SIZE, strong: bool = False) -> str:
    """Return a text that fits into `width` points, cut with an ellipsis where it must be."""
    most = max(1, int(width / (size * (WIDTH_OF_STRONG if strong else WIDTH_OF_LETTER))))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def svg(picture: Picture) -> str:
    """Return a picture as a stand-alone SVG document in black, white and grey, fit for print."""
    from xml.sax.saxutils import escape, quoteattr

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width:g}'
        f' {picture.height:g}" font-family="sans-serif">'
    ]
    for shape in picture.shapes:
        if isinstance(shape, Box):
            lines.append(
                f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}"'
                f' height="{shape.height:g}" rx="2"'
                f' fill="{"#f0f0f0" if shape.role in SHADED else "#ffffff"}" stroke="#222222"'
                ' stroke-width="0.7"/>'
            )
        elif isinstance(shape, Line):
            points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
            colour = "#555555" if shape.role == "nvlink" else "#222222"
            lines.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}"'
                f' stroke-width="{shape.weight:.2g}"/>'
            )
        else:
            weight = ' font-weight="600"' if shape.strong else ""
            lines.append(
                f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}"'
                f" text-anchor={quoteattr(shape.anchor)}{weight}>{escape(shape.text)}</text>"
            )
    return "\n".join([*lines, "</svg>"]) + "\n"
