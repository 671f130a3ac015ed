"""Scenes of the map as files that stand by themselves: SVG, PNG and a page of one file."""

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from rigplanner.data import font_bytes
from rigplanner.report.language import language
from rigplanner.report.map.scene import THEMES, Dot, Rect, Role, Scene, Stroke, Text

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

FINE = 4
"""A PNG is drawn so many times larger and then made `SCALE` times the picture's size: smooth."""
SCALE = 2


def svg(scene: Scene, theme: str = "") -> str:
    """Return a scene as an SVG document with its own ground; "" follows the light or dark of the
    page or system that shows it."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.width:g} {scene.height:g}"'
        f' width="{scene.width:g}" height="{scene.height:g}" role="img">',
        f"<title>{escape(scene.title)}</title>",
        _style(theme),
        '<rect class="paper" width="100%" height="100%"/>',
    ]
    lines += [_svg_shape(shape) for shape in scene.shapes]
    lines += [
        f'<rect x="{spot.x:.1f}" y="{spot.y:.1f}" width="{spot.width:.1f}"'
        f' height="{spot.height:.1f}" fill="transparent"><title>{escape(spot.text)}</title></rect>'
        for spot in scene.spots
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _style(theme: str) -> str:
    def rules(colours: dict[Role, str]) -> str:
        return "".join(
            f".{role}{{fill:{colour}}}.s-{role}{{stroke:{colour};fill:none}}"
            for role, colour in colours.items()
        )

    hollow = ".h{fill-opacity:0}"
    if theme:
        return f"<style>svg{{font-family:sans-serif}}{rules(THEMES[theme])}{hollow}</style>"
    dark = f"@media(prefers-color-scheme:dark){{{rules(THEMES['dark'])}}}"
    return f"<style>svg{{font-family:sans-serif}}{rules(THEMES['light'])}{dark}{hollow}</style>"


def _svg_shape(shape: Rect | Stroke | Dot | Text) -> str:
    if isinstance(shape, Rect):
        return (
            f'<rect class="{shape.role}" x="{shape.x:.1f}" y="{shape.y:.1f}"'
            f' width="{shape.width:.1f}" height="{shape.height:.1f}"/>'
        )
    if isinstance(shape, Stroke):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
        return (
            f'<polyline class="s-{shape.role}" stroke-width="{shape.weight:g}" points="{points}"/>'
        )
    if isinstance(shape, Text):
        weight = ' font-weight="600"' if shape.strong else ""
        return (
            f'<text class="{shape.role}" x="{shape.x:.1f}" y="{shape.y:.1f}"'
            f' font-size="{shape.size:g}" text-anchor={quoteattr(shape.anchor)}{weight}>'
            f"{escape(shape.text)}</text>"
        )
    kind = f's-{shape.role}" stroke-width="1.6' if shape.hollow else shape.role
    if shape.form == "circle":
        return (
            f'<circle class="{kind}" cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"/>'
        )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners(shape))
    return f'<polygon class="{kind}" points="{points}"/>'


def corners(dot: Dot) -> list[tuple[float, float]]:
    """Return the corners of a dot that is no circle."""
    r = dot.radius
    if dot.form == "square":
        r *= 0.9
        return [(dot.x - r, dot.y - r), (dot.x + r, dot.y - r), (dot.x + r, dot.y + r),
                (dot.x - r, dot.y + r)]  # fmt: skip
    r *= 1.25
    return [(dot.x, dot.y - r), (dot.x + r, dot.y), (dot.x, dot.y + r), (dot.x - r, dot.y)]


def png(scene: Scene, theme: str = "light") -> bytes:
    """Return a scene as a PNG of twice its size in pixels, drawn with the fonts of the program."""
    from PIL import Image, ImageDraw

    colours = THEMES[theme]
    size = round(scene.width * FINE), round(scene.height * FINE)
    image = Image.new("RGB", size, colours["paper"])
    draw = ImageDraw.Draw(image)
    for shape in scene.shapes:
        _paint(draw, shape, colours)
    part = SCALE / FINE
    small = image.resize((round(size[0] * part), round(size[1] * part)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True, dpi=(96 * SCALE, 96 * SCALE))
    return out.getvalue()


def _paint(draw: "ImageDraw", shape: Rect | Stroke | Dot | Text, colours: dict[Role, str]) -> None:
    colour = colours[shape.role]
    if isinstance(shape, Rect):
        right, bottom = shape.x + shape.width, shape.y + shape.height
        draw.rectangle([each * FINE for each in (shape.x, shape.y, right, bottom)], colour)
    elif isinstance(shape, Stroke):
        points = [(x * FINE, y * FINE) for x, y in shape.points]
        draw.line(points, colour, max(1, round(shape.weight * FINE)))
    elif isinstance(shape, Text):
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
        font = _font(shape.size * FINE, shape.strong, language())
        draw.text((shape.x * FINE, shape.y * FINE), shape.text, colour, font, anchor)
    elif shape.form == "circle":
        edges = [
            (middle + sign * shape.radius) * FINE
            for sign in (-1, 1)
            for middle in (shape.x, shape.y)
        ]
        if shape.hollow:
            draw.ellipse(edges, None, colour, round(1.6 * FINE))
        else:
            draw.ellipse(edges, colour)
    else:
        points = [(x * FINE, y * FINE) for x, y in corners(shape)]
        if shape.hollow:
            draw.line([*points, points[0], points[1]], colour, round(1.6 * FINE), "curve")
        else:
            draw.polygon(points, colour)


@cache
def _font(size: float, strong: bool, spoken: str) -> "FreeTypeFont":
    from PIL import ImageFont

    family = "NotoSansTC" if spoken.startswith("zh") else "NotoSans"
    name = f"{family}-{'SemiBold' if strong else 'Regular'}.ttf"
    return ImageFont.truetype(io.BytesIO(font_bytes(name)), round(size))


def font_width(text: str, size: float, strong: bool = False) -> float:
    """Return how wide a text is in the fonts that a PNG is drawn with."""
    return _font(size * FINE, strong, language()).getlength(text) / FINE


def page_html(scenes: Sequence[Scene], title: str, lines: Sequence[str]) -> str:
    """Return a page of one file, without scripts, that holds the pictures and the table below."""
    body = "\n".join(map(escape, lines))
    pictures = "\n".join(map(svg, scenes))
    return (
        "<!doctype html>\n<html><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title>"
        "<style>:root{color-scheme:light dark}body{font-family:sans-serif;max-width:60rem;"
        "margin:2rem auto;padding:0 1rem}svg{max-width:100%;height:auto;margin-bottom:1.5rem}"
        "pre{overflow-x:auto}</style></head>"
        f"<body>\n{pictures}\n<pre>{body}</pre>\n</body></html>\n"
    )
