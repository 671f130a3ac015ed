"""The machine as an engineering drawing: shapes without a toolkit, drawn alike by PDF, SVG and
window.

A tree from top to bottom: sockets at the left edge, what hangs on them indented, one device a row.
Links between GPUs run on tracks at the right (`gpu_tracks`), so that nothing crosses a name. Line
weight grows with the link's rate. Units are points."""

from collections import defaultdict
from itertools import groupby

from msgspec import Struct

from rigplanner.machine.model import Edge, Machine
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
    below: dict[str, list[Edge]] = defaultdict(list)
    has_parent: set[str] = set()
    for edge in machine.edges:
        if edge.kind in ("pcie", "chipset") and edge.b not in has_parent:
            below[edge.a].append(edge)
            has_parent.add(edge.b)
    roots = [f"cpu{cpu.index}" for cpu in machine.cpus]
    roots += [node for node in below if node not in has_parent and node not in roots]
    facts, drives = _facts(machine), {drive.piece for drive in machine.storage}
    rows: list[_Row] = []

    def walk(node: str, parent: str | None, depth: int, edge: Edge | None) -> None:
        role, name = facts.get(node, _plain_facts(node))
        label = f"{_place_of(machine, node)}  {_link_of(edge)}".strip()
        rows.append(
            _Row(node, parent, depth, role, name, label, link_weight(edge.gbs if edge else None))
        )
        children = sorted(below[node], key=lambda e: (len(below[e.b]) == 0, e.b))
        for (_, name), alike in groupby(
            children, key=lambda e: facts.get(e.b, ("", e.b)) if e.b in drives else ("", e.b)
        ):
            same = list(alike)
            if len(same) == 1:
                walk(same[0].b, node, depth + 1, same[0])
            else:
                many = _Row(
                    same[0].b,
                    node,
                    depth + 1,
                    "drive",
                    f"{len(same)} × {name}",
                    _link_of(same[0]),
                    link_weight(same[0].gbs),
                )
                rows.append(many)

    for root in roots:
        walk(root, None, 0, None)
    return rows


def _link_of(edge: Edge | None) -> str:
    if edge is None or not edge.width:
        return ""
    return f"x{edge.width} Gen{edge.gen}" if edge.gen else f"x{edge.width}"


def _facts(machine: Machine) -> dict[str, tuple[str, str]]:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    facts = {f"cpu{cpu.index}": ("cpu", cpu.cpu.name) for cpu in machine.cpus}
    facts |= {f"gpu{gpu.index}": ("gpu", f"GPU{gpu.index}  {gpu.gpu.name}") for gpu in machine.gpus}
    facts |= {
        f"nic{nic.index}": ("nic", f"NIC{nic.index}  {names.get(nic.piece, nic.piece)}")
        for nic in machine.nics
    }
    return facts | {drive.piece: ("drive", drive.storage.name) for drive in machine.storage}


def _plain_facts(node: str) -> tuple[str, str]:
    if node in ("chipset", "host"):
        return "chipset", tr("Chipset") if node == "chipset" else tr("Host")
    return "switch", tr("PCIe switch {node}", node=node)


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
