"""Pieces of a chart as SVG: texts, lines, bars and the document around them, light and dark."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

STYLE = (
    "<style>"
    "svg{font-family:sans-serif;font-size:11px}.paper{fill:#ffffff}.ink{fill:#1d1f23}"
    ".quiet{fill:#5b616b}.grid{stroke:#d9dce1}.even{stroke:#1d1f23;stroke-width:1}"
    ".off{stroke:#8a94a3;stroke-dasharray:4 3}.hue0{fill:#2f6db5}.hue1{fill:#8a94a3}"
    ".hue2{fill:#c9853a}.hue3{fill:#4b9163}.mark{stroke:#1d1f23;stroke-width:1.2}"
    ".curve{stroke:#2f6db5;stroke-width:1.4;fill:none}"
    "@media(prefers-color-scheme:dark){.paper{fill:#1b1d21}.ink{fill:#eceef1}"
    ".quiet{fill:#a6adb8}.grid{stroke:#363a41}.even{stroke:#eceef1}.off{stroke:#7b8492}"
    ".hue0{fill:#6ea6e8}.hue1{fill:#7b8492}.hue2{fill:#dca566}.hue3{fill:#76b68d}"
    ".mark{stroke:#eceef1}.curve{stroke:#6ea6e8}}"
    "</style>"
)
"""Colours of both themes; a picture follows the page that it stands in."""


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    """Return a text whose baseline stands at (x, y); `kind` is ink or quiet, `anchor` start, middle
    or end."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line; `kind` is grid, even, off or mark."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def bar(x: float, y: float, width: float, height: float, hue: int, opacity: float = 1.0) -> str:
    """Return a filled rectangle in one of four hues."""
    faint = f' opacity="{opacity:.2f}"' if opacity < 1.0 else ""
    return (
        f'<rect class="hue{hue}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}"'
        f' height="{height:.1f}"{faint}/>'
    )


def curve(points: Sequence[tuple[float, float]]) -> str:
    """Return a broken line through points."""
    told = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="curve" points="{told}"/>'


def document(lines: Sequence[str], width: float, height: float) -> str:
    """Return the whole document, on paper of its own."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}">'
    )
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([head, STYLE, paper, *lines, "</svg>"]) + "\n"
