"""Where everything stands in the machine's drawing: boxes and right-angled lines in
device-independent pixels, without Qt.

Sockets at the left, then switches and the chipset, then slots and ports, one a row, with what
stands in them; links between GPUs run on tracks at the right. The same machine always gives the
same drawing."""

from collections import defaultdict
from itertools import pairwise

from rigplanner.desktop.machine.leaves import WEIGHTS, Leaf, leaves
from rigplanner.desktop.machine.shapes import NARROWEST, TALLEST, WIDEST, Box, Drawing, Scale, Wire
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge
from rigplanner.report.drawing.gpu_tracks import clear_height
from rigplanner.report.format import quantity
from rigplanner.report.language import tr, trn
from rigplanner.report.quote.machine import link_text


def machine_drawing(
    machine: Machine,
    row: float,
    width: float = 0.0,
    height: float = 0.0,
    bar: float = 0.0,
    guess: Scale | None = None,
) -> Drawing:
    """Return the drawing of a machine, with its empty places, fitted into `width` and drawn apart
    for `height`, within limits. Where it is higher than that, a scroll bar as wide as `bar` stands
    beside it. A `guess` of the scale, such as that of the drawing before an edit, spares the second
    drawing where it is right."""
    places, plain = leaves(machine), Scale(row)
    if not places:
        return Drawing(width=plain.device, height=plain.row, scale=plain)
    scale = guess if guess is not None and guess.row == row and width else plain
    draft = _Draft(machine, scale, places)
    made = draft.drawing()
    if not width:
        return made
    wanted = draft.fitting(made, width, height, bar)
    return made if wanted.is_near(scale) else _Draft(machine, wanted, places).drawing()


MOST_INSETS = 2


class _Draft:
    """One drawing in the making: rows are handed out from the top."""

    def __init__(self, machine: Machine, scale: Scale, places: list[Leaf]) -> None:
        self.machine, self.scale = machine, scale
        self.names = {piece.name: piece.part.name for piece in machine.pieces}
        self.by_origin: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in places:
            self.by_origin[leaf.origin].append(leaf)
        self.boxes: list[Box] = []
        self.wires: list[Wire] = []
        self.device_y: dict[str, float] = {}
        self.place_end: dict[str, tuple[float, float]] = {}
        self.y, self.steps = scale.row * 0.4, 0
        self.parents = {origin: self._parent(origin) for origin in self.by_origin}
        self.has_hubs = any(not _is_socket(origin) for origin in self.by_origin)
        self.hub_x = scale.row * 0.4 + scale.socket + scale.row * 2.6
        self.place_x = (
            self.hub_x + scale.hub if self.has_hubs else scale.row * 0.4 + scale.socket
        ) + scale.link
        self.device_x = self.place_x + scale.place + scale.row * 0.7

    def fitting(self, made: Drawing, width: float, height: float, bar: float) -> Scale:
        """Return the scale that fits what was made in another one into a room."""
        scale, plain = self.scale, Scale(self.scale.row)
        elastic = (
            plain.socket
            + plain.link
            + plain.place
            + plain.device
            + (plain.hub if self.has_hubs else 0.0)
        )
        grown = elastic * (scale.squeeze - 1)
        plain_height = made.height - self.steps * (scale.step - plain.step)
        room = width - bar if height and plain_height > height else width
        squeeze = max(NARROWEST, min(WIDEST, 1 + (room - made.width + grown) / elastic))
        apart = max(1.0, min(TALLEST, height / plain_height)) if height else 1.0
        return Scale(scale.row, squeeze, apart)

    def drawing(self) -> Drawing:
        """Return the drawing; a draft is drawn once."""
        sockets = sorted(
            {origin for origin in self.by_origin if _is_socket(origin)}
            | {f"cpu{cpu.index}" for cpu in self.machine.cpus}
            | {parent for parent in self.parents.values() if _is_socket(parent)},
            key=lambda socket: int(socket[3:]),
        )
        for socket in sockets or ["cpu0"]:
            self._socket(socket)
        self._join_sockets()
        self._loose()
        right = self.device_x + self.scale.device
        width = self._fabric(right)
        return Drawing(
            width=width + self.scale.row * 0.4,
            height=self.y + self.scale.row * 0.2,
            boxes=tuple(self.boxes),
            wires=tuple(self.wires),
            scale=self.scale,
        )

    def _parent(self, origin: str) -> str:
        """The node towards the CPU, by the machine's edges; the first socket when none says it."""
        for edge in self.machine.edges:
            ends = {edge.a.name: edge.b, edge.b.name: edge.a}
            other = ends.get(origin)
            if other is None or edge.kind not in ("pcie", "chipset"):
                continue
            if other.kind == "socket" or other.name == "chipset":
                return other.name
        return "cpu0"

    def _socket(self, name: str) -> None:
        scale, top = self.scale, self.y
        exits: list[tuple[float, Leaf | None, str]] = []
        exits.extend((self._leaf(leaf), leaf, "") for leaf in self.by_origin.get(name, ()))
        hubs = [
            o
            for o in self.by_origin
            if not _is_socket(o)
            and self.parents[o] in (name, "chipset" if name == "cpu0" else name)
        ]
        exits.extend((self._hub(hub), None, hub) for hub in sorted(hubs))
        if not exits:
            self.y += scale.row
        cpu = next((cpu for cpu in self.machine.cpus if f"cpu{cpu.index}" == name), None)
        height = max(scale.box, self.y - top - (scale.step - scale.box))
        self.boxes.append(
            Box(
                x=scale.row * 0.4,
                y=top,
                width=scale.socket,
                height=height,
                role="socket",
                text=cpu.cpu.name if cpu else tr("No CPU"),
                note=name.upper(),
                piece=cpu.piece if cpu else "",
                empty=cpu is None,
            )
        )
        right = scale.row * 0.4 + scale.socket
        for y, exit_leaf, hub in exits:
            if exit_leaf is not None:
                self._wire(right, self.place_x, y, exit_leaf)
            else:
                link = self._hub_link(hub)
                self.wires.append(
                    Wire(
                        points=((right, y), (self.hub_x, y)),
                        weight=WEIGHTS.get(link.width or 4, 2.0) if link else 2.0,
                        label=link_text(link.width, link.gen) if link and link.width else "",
                        label_x=self.hub_x - 6,
                        label_y=y - 4,
                        tip=_hub_tip(name, hub, link),
                        lanes=link.width if link else None,
                    )
                )
        self.y += scale.row * (0.8 if self._joined() else 0.4)

    def _joined(self) -> list[Edge]:
        """The links between sockets."""
        return [edge for edge in self.machine.edges if edge.kind == "cpu"]

    def _join_sockets(self) -> None:
        """Neighbouring sockets that are linked: a line down their middle."""
        if not self._joined():
            return
        stacked = sorted((box for box in self.boxes if box.role == "socket"), key=lambda box: box.y)
        for upper, lower in pairwise(stacked):
            x, top = upper.x + upper.width / 2, upper.y + upper.height
            points = ((x, top), (x, lower.y))
            tip = tr("{a} to {b}: the link between the CPUs", a=upper.note, b=lower.note)
            self.wires.append(
                Wire(
                    points=points,
                    weight=WEIGHTS[16],
                    label=tr("CPU to CPU"),
                    label_x=x + 8,
                    label_y=(top + lower.y) / 2,
                    tip=tip,
                    beside=True,
                )
            )

    def _hub_link(self, hub: str) -> Edge | None:
        parent = self.parents[hub]
        return next((e for e in self.machine.edges if {e.a.name, e.b.name} == {hub, parent}), None)

    def _hub(self, name: str) -> float:
        top = self.y
        rows = [(self._leaf(leaf), leaf) for leaf in self.by_origin[name]]
        height = max(self.scale.box, self.y - top - (self.scale.step - self.scale.box))
        plain = {"chipset": tr("Chipset"), "board": tr("Board")}.get(name)
        text, note = (plain, "") if plain else (tr("PCIe switch"), name)
        self.boxes.append(
            Box(
                x=self.hub_x,
                y=top,
                width=self.scale.hub,
                height=height,
                role="hub",
                text=text,
                note=note,
            )
        )
        for y, leaf in rows:
            self._wire(self.hub_x + self.scale.hub, self.place_x, y, leaf)
        return top + self.scale.box / 2

    def _wire(self, left: float, right: float, y: float, leaf: Leaf) -> None:
        if leaf.link:
            points: tuple[tuple[float, float], ...] = ((left, y), (right, y))
            label_x = right - 6
            if leaf.behind in self.place_end:
                x, top = self.place_end[leaf.behind]
                points, label_x = (
                    ((x, top), (x, y), (right + self._inset(leaf), y)),
                    x - 6 - leaf.weight / 2,
                )
            self.wires.append(
                Wire(
                    points=points,
                    weight=leaf.weight,
                    label=f"{leaf.link} {leaf.less}".strip(),
                    label_x=label_x,
                    label_y=y - 4,
                    state=leaf.state,
                    tip=leaf.tip,
                    lanes=leaf.lanes,
                )
            )

    def _leaf(self, leaf: Leaf) -> float:
        scale, y = self.scale, self.y
        middle, inset = y + scale.box / 2, self._inset(leaf)
        self.place_end[leaf.place] = (self.place_x + inset + scale.row * 0.4, y + scale.box)
        self.boxes.append(
            Box(
                x=self.place_x + inset,
                y=y,
                width=scale.place - inset,
                height=scale.box,
                role="place",
                text=leaf.place,
                place=leaf.place,
                state=leaf.state,
                empty=leaf.empty,
                piece=leaf.piece,
                note=leaf.note,
            )
        )
        self.boxes.append(
            Box(
                x=self.device_x,
                y=y,
                width=scale.device,
                height=scale.box,
                role="device",
                text=leaf.device or leaf.note or tr("free"),
                piece=leaf.piece,
                place=leaf.place,
                state=leaf.state,
                empty=leaf.empty,
            )
        )
        if leaf.piece:
            self.device_y[leaf.piece] = middle
            self.wires.append(
                Wire(
                    points=((self.place_x + scale.place, middle), (self.device_x, middle)),
                    weight=leaf.weight,
                    tip=leaf.tip,
                    lanes=leaf.lanes,
                )
            )
        self._step()
        return middle

    def _step(self) -> None:
        self.y += self.scale.step
        self.steps += 1

    def _inset(self, leaf: Leaf) -> float:
        """How far a place stands in for each adapter before it."""
        return self.scale.row * 0.8 * min(leaf.depth, MOST_INSETS)

    def _loose(self) -> None:
        """What found no place stands at the bottom."""
        for problem in self.machine.problems:
            if problem.piece in self.device_y or problem.piece not in self.names:
                continue
            self.boxes.append(
                Box(
                    x=self.device_x,
                    y=self.y,
                    width=self.scale.device,
                    height=self.scale.box,
                    role="loose",
                    text=self.names[problem.piece],
                    piece=problem.piece,
                    state="error",
                    note=problem.reason,
                )
            )
            self.device_y[problem.piece] = self.y + self.scale.box / 2
            self._step()

    def _fabric(self, right: float) -> float:
        """Links between GPUs on tracks at the right; returns the right edge of the drawing."""
        where = self._gpu_rows()
        pairs: list[tuple[Edge, float, float]] = []
        for edge in self.machine.edges:
            ends = [where[node.name] for node in (edge.a, edge.b) if node.name in where]
            if edge.kind in ("nvlink", "xgmi") and len(ends) == 2:
                top, bottom = sorted(ends)
                pairs.append((edge, top, bottom))
        edge_x = self._switched(right, where)
        if edge_x:
            return edge_x
        routes = self._routes(pairs, right)
        level = [(points[1][0], y) for _, points in routes for y in (points[1][1], points[2][1])]
        count = len({points[1][0] for _, points in routes})
        for edge, points in routes:
            x, top, bottom = points[1][0], points[1][1], points[2][1]
            short = count == 1 and bottom - top < self.scale.row * 1.6
            crossing = [y for end, y in level if end > x]
            self.wires.append(
                Wire(
                    points=points,
                    fabric=True,
                    weight=1.0 + 0.5 * min(edge.links, 4),
                    label="XGMI" if edge.kind == "xgmi" else f"NV{edge.links}",
                    label_x=x + 6 if short else x,
                    label_y=clear_height(top, bottom, crossing, self.scale.row * 0.36),
                    tip=_fabric_tip(edge),
                    beside=short,
                )
            )
        return (
            right + self.scale.track * (count + (1.2 if count == 1 else 0.8)) if routes else right
        )

    def _routes(
        self, pairs: list[tuple[Edge, float, float]], right: float
    ) -> list[tuple[Edge, tuple[tuple[float, float], ...]]]:
        """Links as broken lines, short ones nearest the boxes, each on the first track that is free
        along its length."""
        tracks: list[list[tuple[float, float]]] = []
        taken: dict[float, int] = defaultdict(int)
        routes: list[tuple[Edge, tuple[tuple[float, float], ...]]] = []
        for edge, top, bottom in sorted(pairs, key=lambda pair: (pair[2] - pair[1], pair[1])):
            n = next(
                (
                    n
                    for n, spans in enumerate(tracks)
                    if all(bottom < a or top > b for a, b in spans)
                ),
                len(tracks),
            )
            if n == len(tracks):
                tracks.append([])
            tracks[n].append((top, bottom))
            x = right + self.scale.track * (n + 0.8)
            ends = [y + (taken[y] - 2) * self.scale.row * 0.13 for y in (top, bottom)]
            taken[top] += 1
            taken[bottom] += 1
            routes.append((edge, ((right, ends[0]), (x, ends[0]), (x, ends[1]), (right, ends[1]))))
        return routes

    def _gpu_rows(self) -> dict[str, float]:
        rows = {}
        for node in self.machine.gpus:
            if node.piece in self.device_y:
                rows[f"gpu{node.index}"] = rows[node.piece] = self.device_y[node.piece]
        return rows

    def _switched(self, right: float, where: dict[str, float]) -> float | None:
        """A switch fabric as one bar that every GPU is wired to."""
        ends = [
            (edge, end)
            for edge in self.machine.edges
            if edge.kind == "nvswitch"
            for end in (edge.a.name, edge.b.name)
            if end in where
        ]
        rows = sorted({where[end] for _, end in ends})
        if not rows:
            return None
        x = right + self.scale.row * 2.4
        self.boxes.append(
            Box(
                x=x,
                y=rows[0] - self.scale.box / 2,
                width=self.scale.row * 3.2,
                height=rows[-1] - rows[0] + self.scale.box,
                role="fabric",
                text="NVSwitch",
            )
        )
        seen = set()
        for edge, end in ends:
            if where[end] not in seen:
                seen.add(where[end])
                y = where[end]
                self.wires.append(
                    Wire(
                        points=((right, y), (x, y)),
                        weight=2.4,
                        fabric=True,
                        label=f"NV{edge.links}",
                        label_x=x - 5,
                        label_y=y - 4,
                        tip=tr(
                            "{a} to {b}: {links}",
                            a=end.upper(),
                            b="NVSwitch",
                            links=_links_words(edge),
                        ),
                    )
                )
        return x + self.scale.row * 3.2


def _hub_tip(socket: str, hub: str, link: Edge | None) -> str:
    words = link_text(link.width, link.gen) if link and link.width else tr("link not known")
    rate = tr("{rate} one way", rate=quantity(link.gbs, "GB/s")) if link and link.gbs else ""
    return ", ".join(
        text for text in (tr("{a} to {b}: {links}", a=socket, b=hub, links=words), rate) if text
    )


def _fabric_tip(edge: Edge) -> str:
    a, b = edge.a.name.upper(), edge.b.name.upper()
    return tr("{a} to {b}: {links}", a=a, b=b, links=_links_words(edge))


def _links_words(edge: Edge) -> str:
    if edge.kind == "xgmi":
        words = trn("{count} XGMI link", "{count} XGMI links", edge.links)
    else:
        words = trn("{count} NVLink", "{count} NVLinks", edge.links)
    return (
        f"{words}, {tr('{rate} one way', rate=quantity(edge.gbs, 'GB/s'))}" if edge.gbs else words
    )


def _is_socket(origin: str) -> bool:
    return origin.startswith("cpu") and origin[3:].isdigit()
