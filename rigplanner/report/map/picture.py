"""Ranked cards as a picture that stands by itself: bars with their intervals, light and dark."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from rigplanner.planning.map.rank import Row
from rigplanner.report import format as fmt
from rigplanner.report.drawing.shapes import cut
from rigplanner.report.language import tr

WIDTH, LEFT, RIGHT, STEP, TOP, SIZE = 760.0, 230.0, 96.0, 20.0, 46.0, 11.0
STYLE = (
    "<style>"
    "svg{font-family:sans-serif}.paper{fill:#ffffff}.ink{fill:#1d1f23}.quiet{fill:#5b616b}"
    ".bar{fill:#2f6db5}.host{fill:#8a94a3}.mark{stroke:#1d1f23;stroke-width:1.2}"
    "@media(prefers-color-scheme:dark){.paper{fill:#1b1d21}.ink{fill:#eceef1}"
    ".quiet{fill:#a6adb8}.bar{fill:#6ea6e8}.host{fill:#7b8492}.mark{stroke:#eceef1}}"
    "</style>"
)
"""Colours of both themes; the picture follows the page that it stands in."""


def bars_svg(rows: Sequence[Row], title: str, unit: str, note: str, most: int = 30) -> str:
    """Return the first rows with a score as an SVG document: a bar each, its 80 % interval as a
    whisker, its figure behind it. `note` is the line of sources below."""
    shown = [row for row in rows if row.score is not None][:most]
    if not shown:
        return _document([_text(16, 28, tr("Nothing runs this work."), "ink", SIZE)], 60)
    longest = max(row.high or row.score or 0.0 for row in shown)
    scale = (WIDTH - LEFT - RIGHT) / (longest or 1.0)
    lines = [_text(16, 24, f"{title}, {unit}", "ink", SIZE + 2)]
    for at, row in enumerate(shown):
        lines += _bar(row, TOP + at * STEP, scale)
    foot = TOP + len(shown) * STEP + 18
    lines.append(_text(16, foot, cut(note, WIDTH - 32, SIZE - 2), "quiet", SIZE - 2))
    return _document(lines, foot + 14)


def _bar(row: Row, y: float, scale: float) -> list[str]:
    score, low, high = row.score or 0.0, row.low or 0.0, row.high or row.score or 0.0
    name = cut(f"{row.count} × {row.name}", LEFT - 24, SIZE)
    hue = "host" if row.fit == "host" else "bar"
    middle = y + 6
    marks = "".join(
        f'<line class="mark" x1="{LEFT + edge * scale:.1f}" x2="{LEFT + edge * scale:.1f}"'
        f' y1="{middle - 4:.1f}" y2="{middle + 4:.1f}"/>'
        for edge in (low, high)
    )
    end = LEFT + high * scale + 6
    value = fmt.number(score)
    return [
        _text(16, y + 10, name, "ink", SIZE),
        f'<rect class="{hue}" x="{LEFT:g}" y="{y:.1f}" width="{score * scale:.1f}" height="12"/>',
        f'<line class="mark" x1="{LEFT + low * scale:.1f}" x2="{LEFT + high * scale:.1f}"'
        f' y1="{middle:.1f}" y2="{middle:.1f}"/>',
        marks,
        _text(end, y + 10, value, "ink", SIZE),
    ]


def _text(x: float, y: float, text: str, kind: str, size: float) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}">{escape(text)}</text>'
    )


def _document(lines: Sequence[str], height: float) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}">'
    )
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([head, STYLE, paper, *lines, "</svg>"]) + "\n"


def page_html(picture: str, title: str, lines: Sequence[str]) -> str:
    """Return a page of one file, without scripts, that holds the picture and the table below."""
    body = "\n".join(map(escape, lines))
    return (
        "<!doctype html>\n<html><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title>"
        "<style>:root{color-scheme:light dark}body{font-family:sans-serif;max-width:60rem;"
        "margin:2rem auto;padding:0 1rem}pre{overflow-x:auto}</style></head>"
        f"<body>\n{picture}\n<pre>{body}</pre>\n</body></html>\n"
    )
