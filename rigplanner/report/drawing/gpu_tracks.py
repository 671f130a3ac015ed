"""Links between GPUs in the machine's drawing: upright tracks right of the boxes, thick by the
number of links.

Each link leaves its box at a height of its own: links upwards above links downwards, outer tracks
nearer the middle, so that lines of one GPU neither lie on each other nor cross. A full mesh and an
NVSwitch are one bar that all GPUs hang on."""

from itertools import combinations

from msgspec import Struct

from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge
from rigplanner.report.drawing.shapes import SMALL_SIZE, Box, Label, Line, text_width
from rigplanner.report.language import tr

TRACK = 20.0
FIRST_TRACK = 16.0
LARGEST_DIRECT = 4
"""GPUs up to which a full mesh is drawn link by link; above, one bar reads better."""
WORDS = {"nvlink": "NV", "nvswitch": "NV", "xgmi": "XGMI"}

Ends = dict[str, tuple[float, float]]
Shapes = list[Box | Line | Label]


class _Track(Struct, frozen=True):
    """One link: its upper and lower GPU and the number of its track, 0 nearest the boxes."""

    upper: str
    lower: str
    links: int
    kind: str
    number: int


def gpu_tracks(machine: Machine, ends: Ends, box_height: float) -> tuple[Shapes, float]:
    """Return the shapes of all GPU links and the width of the whole picture.

    `ends` gives the right edge and the middle of each node's box, in drawing order from the top."""
    right = max(x for x, _ in ends.values())
    switched = [edge for edge in machine.edges if edge.kind == "nvswitch"]
    if switched:
        nodes = {node.name for edge in switched for node in (edge.a, edge.b) if node.name in ends}
        return _bar(nodes, tr("NVSwitch, NV{links}", links=switched[0].links), ends, right)
    direct = [
        edge
        for edge in machine.edges
        if edge.kind in ("nvlink", "xgmi") and edge.a.name in ends and edge.b.name in ends
    ]
    if not direct:
        return [], right + 6
    mesh = _full_mesh(direct)
    if mesh:
        return _bar(
            mesh,
            tr("all to all, {kind}{links}", kind=WORDS[direct[0].kind], links=direct[0].links),
            ends,
            right,
        )
    return _direct(_tracks(direct, ends), ends, right, box_height)


def _full_mesh(edges: list[Edge]) -> set[str]:
    nodes = {node.name for edge in edges for node in (edge.a, edge.b)}
    pairs = {frozenset((edge.a.name, edge.b.name)) for edge in edges}
    whole = len(nodes) > LARGEST_DIRECT and all(
        frozenset(pair) in pairs for pair in combinations(nodes, 2)
    )
    return nodes if whole and len({(edge.links, edge.kind) for edge in edges}) == 1 else set()


def _bar(nodes: set[str], text: str, ends: Ends, right: float) -> tuple[Shapes, float]:
    bar = right + 24
    joined = sorted(((ends[node], node) for node in nodes), key=lambda end: end[0][1])
    shapes: Shapes = [Line(((x, y), (bar, y)), 1.6, "nvlink", node) for (x, y), node in joined]
    top, bottom = joined[0][0][1], joined[-1][0][1]
    shapes.append(Line(((bar, top), (bar, bottom)), 3.0, "nvlink", "nvswitch"))
    shapes.append(Label(bar + 6, (top + bottom) / 2 + 2, text, SMALL_SIZE))
    return shapes, bar + 12 + text_width(text, SMALL_SIZE)


def _tracks(edges: list[Edge], ends: Ends) -> list[_Track]:
    """Return the links, short ones nearest the boxes, each on the first track that is free along
    its whole length."""
    made: list[_Track] = []
    free_from: list[float] = []
    spans = []
    for edge in edges:
        upper, lower = sorted((edge.a.name, edge.b.name), key=lambda node: ends[node][1])
        spans.append((ends[lower][1] - ends[upper][1], ends[upper][1], upper, lower, edge))
    for _, top, upper, lower, edge in sorted(spans, key=lambda span: span[:4]):
        number = next((n for n, end in enumerate(free_from) if end < top), len(free_from))
        free_from[number:] = [ends[lower][1], *free_from[number + 1 :]]
        made.append(_Track(upper, lower, edge.links, edge.kind, number))
    return made


def _direct(
    tracks: list[_Track], ends: Ends, right: float, box_height: float
) -> tuple[Shapes, float]:
    heights = _heights(tracks, ends, box_height)
    shapes: Shapes = []
    spans: list[tuple[float, float, float, _Track]] = []
    flat: list[tuple[float, float]] = []
    for track in tracks:
        x = right + FIRST_TRACK + TRACK * track.number
        top, bottom = heights[track.upper, track], heights[track.lower, track]
        points = (
            (ends[track.upper][0], top),
            (x, top),
            (x, bottom),
            (ends[track.lower][0], bottom),
        )
        shapes.append(
            Line(
                points, min(3.0, 0.3 + 0.65 * track.links), "nvlink", f"{track.upper}|{track.lower}"
            )
        )
        spans.append((x, top, bottom, track))
        flat += [(x, top), (x, bottom)]
    for x, top, bottom, track in spans:
        crossing = [y for end, y in flat if end > x]
        text = f"{WORDS[track.kind]}{track.links}"
        shapes.append(
            Label(x + 2.6, clear_height(top, bottom, crossing) + 2.2, text, 6.2, quiet=True)
        )
    many = max(track.number for track in tracks)
    return shapes, right + FIRST_TRACK + TRACK * (many + 1) + 4


def _heights(
    tracks: list[_Track], ends: Ends, box_height: float
) -> dict[tuple[str, _Track], float]:
    """Return where each link meets each of its two boxes."""
    heights: dict[tuple[str, _Track], float] = {}
    for node in {node for track in tracks for node in (track.upper, track.lower)}:
        upwards = sorted((t for t in tracks if t.lower == node), key=lambda t: t.number)
        downwards = sorted((t for t in tracks if t.upper == node), key=lambda t: -t.number)
        own = [*upwards, *downwards]
        step = min(4.0, (box_height - 4) / max(1, len(own) - 1))
        for n, track in enumerate(own):
            heights[node, track] = ends[node][1] + step * (n - (len(own) - 1) / 2)
    return heights


def clear_height(top: float, bottom: float, crossing: list[float], apart: float = 4.4) -> float:
    """Return the height nearest the middle of an upright line with no level line within `apart`;
    the middle when there is none."""
    middle, reach = (top + bottom) / 2, max(0.0, (bottom - top) / 2 - 4)
    for step in range(int(reach) + 1):
        for y in (middle - step, middle + step):
            if all(abs(y - line) > apart for line in crossing):
                return y
    return middle
