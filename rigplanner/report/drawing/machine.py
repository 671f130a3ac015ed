"""The machine as an engineering drawing: shapes without a toolkit, drawn alike by PDF, SVG and
window.

A tree from top to bottom: sockets at the left edge, what hangs on them indented, one device a row.
Links between GPUs run on tracks at the right (`gpu_tracks`), so that nothing crosses a name. Line
weight grows with the link's rate. Units are points."""

from collections import defaultdict
from itertools import groupby

from msgspec import Struct

from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge, Node, socket_node
from rigplanner.report.drawing.gpu_tracks import gpu_tracks
from rigplanner.report.drawing.shapes import (
    SMALL_SIZE,
    TEXT_SIZE,
    Box,
    Label,
    Line,
    Picture,
    cut,
    svg,
    text_width,
)
from rigplanner.report.language import tr

__all__ = ["Box", "Label", "Line", "Picture", "link_weight", "machine_picture", "svg"]

ROW, BOX_HEIGHT = 22.0, 17.0
LEAST_INDENT, LEAST_BOX, LARGEST_BOX = 64.0, 130.0, 290.0
LEFT, TOP = 6.0, 6.0
TRUNK = 8.0
"""How far right of a box's left edge the line to its children leaves it."""
FALLBACK_WEIGHT = 0.7


class _Row(Struct, frozen=True):
    node: str
    parent: str | None
    depth: int
    role: str
    name: str
    label: str
    weight: float


class _Grid(Struct, frozen=True):
    """How far each level is indented and how wide the boxes are, so that labels and names fit."""

    indent: float
    box: float

    def x(self, row: _Row) -> float:
        return LEFT + self.indent * row.depth


def machine_picture(machine: Machine) -> Picture:
    """Return the drawing of a machine; without shapes when it has neither CPU nor GPU."""
    rows = _rows(machine)
    if not rows:
        return Picture(1.0, 1.0, ())
    grid, index = _grid(rows), {row.node: n for n, row in enumerate(rows)}
    shapes: list[Box | Line | Label] = []
    for n, row in enumerate(rows):
        shapes += _row_shapes(row, n, index, grid)
    ends = {
        row.node: (grid.x(row) + grid.box, TOP + ROW * n + BOX_HEIGHT / 2)
        for n, row in enumerate(rows)
    }
    tracks, width = gpu_tracks(machine, ends, BOX_HEIGHT)
    return Picture(width, 2 * TOP + ROW * len(rows), (*shapes, *tracks))


def _grid(rows: list[_Row]) -> _Grid:
    labels = max((text_width(row.label, SMALL_SIZE) for row in rows), default=0.0)
    names = max(text_width(row.name, TEXT_SIZE, _is_strong(row)) for row in rows)
    return _Grid(
        max(LEAST_INDENT, labels + TRUNK + 10), min(LARGEST_BOX, max(LEAST_BOX, names + 10))
    )


def _is_strong(row: _Row) -> bool:
    return row.role in ("cpu", "gpu")


def link_weight(gbs: float | None) -> float:
    """Return the thickness of a line in points for a rate one way in GB/s: 0.5 for the slowest, 2.6
    from 64 GB/s up."""
    return FALLBACK_WEIGHT if gbs is None else 0.5 + 2.1 * min(1.0, (gbs / 64.0) ** 0.5)


def _rows(machine: Machine) -> list[_Row]:
    below: dict[Node, list[Edge]] = defaultdict(list)
    has_parent: set[Node] = set()
    for edge in machine.edges:
        if edge.kind in ("pcie", "chipset") and edge.b not in has_parent:
            below[edge.a].append(edge)
            has_parent.add(edge.b)
    roots = [socket_node(cpu.index) for cpu in machine.cpus]
    roots += [node for node in below if node not in has_parent and node not in roots]
    facts, drives = _facts(machine), {drive.piece for drive in machine.storage}
    rows: list[_Row] = []

    def add(node: Node, parent: str | None, depth: int, edge: Edge | None) -> None:
        role, name = facts.get(node.name) or _plain_facts(node)
        label = f"{_place_of(machine, node.name)}  {_link_of(edge)}".strip()
        weight = link_weight(edge.gbs if edge else None)
        rows.append(_Row(node.name, parent, depth, role, name, label, weight))
        children = sorted(below[node], key=lambda e: (len(below[e.b]) == 0, e.b.name))
        for (_, name), alike in groupby(children, key=lambda e: _group(e.b.name, facts, drives)):
            first, *more = alike
            if not more:
                add(first.b, node.name, depth + 1, first)
            else:
                many, weight = f"{len(more) + 1} × {name}", link_weight(first.gbs)
                link = _link_of(first)
                rows.append(_Row(first.b.name, node.name, depth + 1, "drive", many, link, weight))

    for root in roots:
        add(root, None, 0, None)
    return rows


def _group(node: str, facts: dict[str, tuple[str, str]], drives: set[str]) -> tuple[str, str]:
    """Drives of one model share a row."""
    return facts.get(node, ("", node)) if node in drives else ("", node)


def _link_of(edge: Edge | None) -> str:
    if edge is None or not edge.width:
        return ""
    return f"x{edge.width} Gen{edge.gen}" if edge.gen else f"x{edge.width}"


def _facts(machine: Machine) -> dict[str, tuple[str, str]]:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    facts = {f"cpu{cpu.index}": ("cpu", cpu.cpu.name) for cpu in machine.cpus}
    facts |= {f"gpu{gpu.index}": ("gpu", f"GPU{gpu.index}  {gpu.gpu.name}") for gpu in machine.gpus}
    facts |= {
        node.piece: ("gpu", tr("Monitors: {name}", name=node.gpu.name)) for node in machine.displays
    }
    facts |= {
        f"nic{nic.index}": ("nic", f"NIC{nic.index}  {names.get(nic.piece, nic.piece)}")
        for nic in machine.nics
    }
    return facts | {drive.piece: ("drive", drive.storage.name) for drive in machine.storage}


def _plain_facts(node: Node) -> tuple[str, str]:
    if node.kind in ("chipset", "host"):
        return "chipset", tr("Chipset") if node.kind == "chipset" else tr("Host")
    return "switch", tr("PCIe switch {node}", node=node.name)


def _place_of(machine: Machine, node: str) -> str:
    for gpu in machine.gpus:
        if node == f"gpu{gpu.index}":
            return gpu.place or ""
    for nic in machine.nics:
        if node == f"nic{nic.index}":
            return nic.place or ""
    return next((drive.place or "" for drive in machine.storage if drive.piece == node), "")


def _row_shapes(row: _Row, n: int, index: dict[str, int], grid: _Grid) -> list[Box | Line | Label]:
    y, x = TOP + ROW * n, grid.x(row)
    middle = y + BOX_HEIGHT / 2
    shown = cut(row.name, grid.box - 8, TEXT_SIZE, _is_strong(row))
    shapes: list[Box | Line | Label] = [Box(x, y, grid.box, BOX_HEIGHT, row.role, row.node)]
    shapes.append(Label(x + 5, middle + 2.7, shown, strong=_is_strong(row)))
    if row.parent is not None:
        trunk = LEFT + grid.indent * (row.depth - 1) + TRUNK
        start = TOP + ROW * index[row.parent] + BOX_HEIGHT
        shapes.append(
            Line(
                ((trunk, start), (trunk, middle), (x, middle)),
                row.weight,
                "pcie",
                f"{row.parent}|{row.node}",
            )
        )
        if row.label:
            shapes.append(
                Label(
                    x - 4, middle - 2.2 - row.weight / 2, row.label, SMALL_SIZE, "end", quiet=True
                )
            )
    elif n > 0:
        shapes.append(
            Line(((LEFT + 3, TOP + BOX_HEIGHT), (LEFT + 3, y)), 0.9, "cpu", f"cpu0|{row.node}")
        )
    return shapes
