"""The machine as an engineering drawing: shapes without a toolkit, drawn alike by PDF, SVG and window.

A tree from top to bottom: sockets at the left edge, what hangs on them indented, one device a row. Links between GPUs run
on tracks at the right, so that nothing crosses a name. Line weight grows with the link's rate. Units are points.
"""

from collections import defaultdict
from itertools import groupby

from msgspec import Struct

from rigplanner.machine.machine import Edge, Machine

ROW, INDENT, BOX_HEIGHT, BOX_WIDTH, TRACK = 22.0, 100.0, 17.0, 190.0, 17.0
LEFT, TOP = 6.0, 6.0
TEXT_SIZE, SMALL_SIZE = 7.6, 6.8
FALLBACK_WEIGHT = 0.7
LONGEST_NAME = 40


class Box(Struct, frozen=True):
    """A rectangle; `role` is cpu, chipset, switch, gpu, nic, drive; `subject` is the piece or node that it shows."""

    x: float
    y: float
    width: float
    height: float
    role: str
    subject: str


class Line(Struct, frozen=True):
    """A broken line of right angles, `weight` points thick; `role` is pcie, cpu or nvlink; `subject` names both ends."""

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


class _Row(Struct, frozen=True):
    node: str
    parent: str | None
    depth: int
    role: str
    name: str
    label: str
    weight: float


def machine_picture(machine: Machine) -> Picture:
    """Return the drawing of a machine; without shapes when it has neither CPU nor GPU."""
    rows = _rows(machine)
    if not rows:
        return Picture(1.0, 1.0, ())
    index = {row.node: n for n, row in enumerate(rows)}
    shapes: list[Box | Line | Label] = []
    for n, row in enumerate(rows):
        shapes += _row_shapes(row, n, index)
    right = max(_box_x(row) for row in rows) + BOX_WIDTH
    tracks, width = _gpu_links(machine, rows, index, right)
    return Picture(width, 2 * TOP + ROW * len(rows), (*shapes, *tracks))


def link_weight(gbs: float | None) -> float:
    """Return the thickness of a line in points for a rate one way in GB/s: 0.5 for the slowest, 2.6 from 64 GB/s up."""
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
        rows.append(_Row(node, parent, depth, role, name, label, link_weight(edge.gbs if edge else None)))
        children = sorted(below[node], key=lambda e: (len(below[e.b]) == 0, e.b))
        for (_, name), alike in groupby(children, key=lambda e: facts.get(e.b, ("", e.b)) if e.b in drives else ("", e.b)):
            same = list(alike)
            if len(same) == 1:
                walk(same[0].b, node, depth + 1, same[0])
            else:
                many = _Row(
                    same[0].b, node, depth + 1, "drive", f"{len(same)} x {name}", _link_of(same[0]), link_weight(same[0].gbs)
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
    facts |= {f"nic{nic.index}": ("nic", f"NIC{nic.index}  {names.get(nic.piece, nic.piece)}") for nic in machine.nics}
    return facts | {drive.piece: ("drive", drive.storage.name) for drive in machine.storage}


def _plain_facts(node: str) -> tuple[str, str]:
    return ("chipset", "Chipset") if node == "chipset" else ("switch", f"PCIe switch {node}")


def _place_of(machine: Machine, node: str) -> str:
    for gpu in machine.gpus:
        if node == f"gpu{gpu.index}":
            return gpu.place or ""
    for nic in machine.nics:
        if node == f"nic{nic.index}":
            return nic.place or ""
    return next((drive.place or "" for drive in machine.storage if drive.piece == node), "")


def _box_x(row: _Row) -> float:
    return LEFT + INDENT * row.depth


def _row_shapes(row: _Row, n: int, index: dict[str, int]) -> list[Box | Line | Label]:
    y, x = TOP + ROW * n, _box_x(row)
    middle = y + BOX_HEIGHT / 2
    shapes: list[Box | Line | Label] = [Box(x, y, BOX_WIDTH, BOX_HEIGHT, row.role, row.node)]
    shown = row.name if len(row.name) <= LONGEST_NAME else row.name[: LONGEST_NAME - 1] + "…"
    shapes.append(Label(x + 5, middle + 2.7, shown, strong=row.role in ("cpu", "gpu")))
    if row.parent is not None:
        trunk = LEFT + INDENT * (row.depth - 1) + 8
        start = TOP + ROW * index[row.parent] + BOX_HEIGHT
        shapes.append(Line(((trunk, start), (trunk, middle), (x, middle)), row.weight, "pcie", f"{row.parent}|{row.node}"))
        shapes.append(Label(x - 4, middle - 2.4, row.label, SMALL_SIZE, "end", quiet=True))
    elif n > 0:
        shapes.append(Line(((LEFT + 3, TOP + BOX_HEIGHT), (LEFT + 3, y)), 0.9, "cpu", f"cpu0|{row.node}"))
    return shapes


def _gpu_links(machine: Machine, rows: list[_Row], index: dict[str, int], right: float) -> tuple[list[Box | Line | Label], float]:
    """Return the tracks of NVLink and xGMI at the right and the width they end at."""
    edge_of = {row.node: _box_x(row) + BOX_WIDTH for row in rows}
    switched = [edge for edge in machine.edges if edge.kind == "nvswitch"]
    direct = [edge for edge in machine.edges if edge.kind in ("nvlink", "xgmi") and edge.a in index and edge.b in index]
    shapes: list[Box | Line | Label] = []
    if switched:
        ends = sorted({node for edge in switched for node in (edge.a, edge.b) if node in index}, key=lambda node: index[node])
        bar = right + 24
        ys = [TOP + ROW * index[node] + BOX_HEIGHT / 2 for node in ends]
        shapes += [Line(((edge_of[node], y), (bar, y)), 1.6, "nvlink", node) for node, y in zip(ends, ys, strict=True)]
        shapes.append(Line(((bar, ys[0]), (bar, ys[-1])), 3.0, "nvlink", "nvswitch"))
        shapes.append(Label(bar + 6, (ys[0] + ys[-1]) / 2 + 2, f"NVSwitch, NV{switched[0].links}", SMALL_SIZE))
        return shapes, bar + 76
    free_from: list[float] = []
    for edge in sorted(direct, key=lambda e: (abs(index[e.a] - index[e.b]), index[e.a], index[e.b])):
        low, high = sorted((TOP + ROW * index[edge.a] + BOX_HEIGHT / 2, TOP + ROW * index[edge.b] + BOX_HEIGHT / 2))
        track = next((n for n, end in enumerate(free_from) if end < low), len(free_from))
        free_from[track:] = [high, *free_from[track + 1 :]]
        x = right + 14 + TRACK * track
        offset = 1.1 * (track % 5 - 2)
        points = ((edge_of[edge.a], _y(index, edge.a) + offset), (x, _y(index, edge.a) + offset), (x, _y(index, edge.b) + offset))
        shapes.append(
            Line((*points, (edge_of[edge.b], _y(index, edge.b) + offset)), 0.5 + 0.25 * edge.links, "nvlink", f"{edge.a}|{edge.b}")
        )
        word = "NV" if edge.kind == "nvlink" else "XGMI"
        shapes.append(Label(x + 1.6, (low + high) / 2 + 2, f"{word}{edge.links}", 5.6, quiet=True))
    return shapes, right + (14 + TRACK * len(free_from) + 14 if direct else 6)


def _y(index: dict[str, int], node: str) -> float:
    return TOP + ROW * index[node] + BOX_HEIGHT / 2


def svg(picture: Picture) -> str:
    """Return a picture as a stand-alone SVG document in black, white and grey, fit for print."""
    from xml.sax.saxutils import escape, quoteattr

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width:g} {picture.height:g}" font-family="sans-serif">'
    ]
    for shape in picture.shapes:
        if isinstance(shape, Box):
            lines.append(
                f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}" rx="2" '
                f'fill="{"#f0f0f0" if shape.role in ("gpu", "switch") else "#ffffff"}" stroke="#222222" stroke-width="0.7"/>'
            )
        elif isinstance(shape, Line):
            points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
            colour = "#555555" if shape.role == "nvlink" else "#222222"
            lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{shape.weight:.2g}"/>')
        else:
            weight = ' font-weight="600"' if shape.strong else ""
            lines.append(
                f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" text-anchor={quoteattr(shape.anchor)}{weight}>'
                f"{escape(shape.text)}</text>"
            )
    return "\n".join([*lines, "</svg>"]) + "\n"
