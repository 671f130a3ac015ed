"""Where everything stands in the machine's drawing: boxes and right-angled lines in device-independent pixels, without Qt.

Sockets at the left, then switches and the chipset, then slots and ports, one a row, with what stands in them; links between
GPUs run on tracks at the right. The same machine always gives the same drawing.
"""

from collections import defaultdict

from msgspec import Struct

from rigplanner.desktop.machine_shapes import NARROWEST, Box, Drawing, Scale, Wire
from rigplanner.machine.machine import DriveUse, Edge, Machine, SlotUse
from rigplanner.report.language import tr
from rigplanner.report.quote_machine import link_text

WEIGHTS = {1: 1.0, 2: 1.4, 4: 2.0, 8: 3.0, 16: 4.4}


class _Leaf(Struct, frozen=True, kw_only=True):
    origin: str
    place: str
    note: str
    link: str
    weight: float
    state: str
    piece: str
    device: str
    empty: bool


def machine_drawing(machine: Machine, row: float, width: float = 0.0) -> Drawing:
    """Return the drawing of a machine, with its empty places; narrowed somewhat if that makes it fit into `width`."""
    made = _drawing(machine, Scale(row))
    if not width or made.width <= width:
        return made
    fixed = made.width - sum((Scale(row).socket, Scale(row).hub, Scale(row).link, Scale(row).place, Scale(row).device))
    return _drawing(machine, Scale(row, max(NARROWEST, (width - fixed) / max(1.0, made.width - fixed))))


def _drawing(machine: Machine, scale: Scale) -> Drawing:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    leaves = [_slot_leaf(use, machine, names) for use in machine.slots] + [_drive_leaf(use, names) for use in machine.drives]
    if not leaves and not machine.cpus:
        return Drawing(width=scale.device, height=scale.row)
    return _Draft(machine, scale, leaves, names).drawing()


def _slot_leaf(use: SlotUse, machine: Machine, names: dict[str, str]) -> _Leaf:
    piece = use.piece or ""
    gpus = {node.piece: f"GPU {node.index}  " for node in machine.gpus}
    width = use.width if piece else use.available_width
    state, note = "", ""
    if use.disabled_by:
        state, note = "warning", tr("off: {disabled_by}", disabled_by=", ".join(use.disabled_by))
    elif use.covered_by:
        state, note = "", tr("covered by {covered_by}", covered_by=names.get(use.covered_by, use.covered_by))
    elif piece and use.width and use.available_width and use.width < use.available_width:
        note = f"of x{use.available_width}"
    elif piece and width and use.slot.width and width < use.slot.width:
        state, note = "warning", f"of x{use.slot.width}"
    link = "" if use.disabled_by else link_text(width, use.gen if piece else use.available_gen)
    return _Leaf(
        origin=use.slot.origin or "board",
        place=use.slot.id,
        note=note,
        link=link,
        weight=WEIGHTS.get(width or 1, 1.0),
        state=state,
        piece=piece,
        device=gpus.get(piece, "") + names.get(piece, piece) if piece else "",
        empty=not piece,
    )


def _drive_leaf(use: DriveUse, names: dict[str, str]) -> _Leaf:
    devices = [names.get(piece, piece) for piece in use.pieces]
    link = "SATA" if use.port.kind in ("sata", "sas") else link_text(use.width or use.port.width, use.gen or use.port.gen)
    off = bool(use.disabled_by)
    return _Leaf(
        origin=use.port.origin or "board",
        place=use.port.id,
        note=tr("off: {disabled_by}", disabled_by=", ".join(use.disabled_by)) if off else "",
        link="" if off else link,
        weight=1.0 if link == "SATA" else WEIGHTS.get(use.width or 1, 1.0),
        state="warning" if off else "",
        piece=use.pieces[0] if use.pieces else "",
        device=", ".join(devices),
        empty=not use.pieces,
    )


class _Draft:
    """One drawing in the making: rows are handed out from the top."""

    def __init__(self, machine: Machine, scale: Scale, leaves: list[_Leaf], names: dict[str, str]) -> None:
        self.machine, self.scale, self.names = machine, scale, names
        self.by_origin: dict[str, list[_Leaf]] = defaultdict(list)
        for leaf in leaves:
            self.by_origin[leaf.origin].append(leaf)
        self.boxes: list[Box] = []
        self.wires: list[Wire] = []
        self.device_y: dict[str, float] = {}
        self.y = scale.row * 0.4
        self.parents = {origin: self._parent(origin) for origin in self.by_origin}
        self.has_hubs = any(not _is_socket(origin) for origin in self.by_origin)
        self.hub_x = scale.row * 0.4 + scale.socket + scale.row * 2.6
        self.place_x = (self.hub_x + scale.hub if self.has_hubs else scale.row * 0.4 + scale.socket) + scale.link
        self.device_x = self.place_x + scale.place + scale.row * 0.7

    def drawing(self) -> Drawing:
        sockets = sorted(
            {origin for origin in self.by_origin if _is_socket(origin)}
            | {f"cpu{cpu.index}" for cpu in self.machine.cpus}
            | {parent for parent in self.parents.values() if _is_socket(parent)}
        )
        for socket in sockets or ["cpu0"]:
            self._socket(socket)
        self._loose()
        right = self.device_x + self.scale.device
        width = self._fabric(right)
        return Drawing(
            width=width + self.scale.row * 0.4,
            height=self.y + self.scale.row * 0.2,
            boxes=tuple(self.boxes),
            wires=tuple(self.wires),
        )

    def _parent(self, origin: str) -> str:
        """The node towards the CPU, by the machine's edges; the first socket when none says it."""
        for edge in self.machine.edges:
            if edge.kind in ("pcie", "chipset") and origin in (edge.a, edge.b):
                other = edge.b if edge.a == origin else edge.a
                if _is_socket(other) or other == "chipset":
                    return other
        return "cpu0"

    def _socket(self, name: str) -> None:
        scale, top = self.scale, self.y
        exits: list[tuple[float, _Leaf | None, str]] = []
        exits.extend((self._leaf(leaf), leaf, "") for leaf in self.by_origin.get(name, ()))
        hubs = [o for o in self.by_origin if not _is_socket(o) and self.parents[o] in (name, "chipset" if name == "cpu0" else name)]
        exits.extend((self._hub(hub), None, hub) for hub in sorted(hubs))
        if not exits:
            self.y += scale.row
        cpu = next((cpu for cpu in self.machine.cpus if f"cpu{cpu.index}" == name), None)
        height = max(scale.box, self.y - top - scale.row * 0.15)
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
                        tip=f"{name} to {hub}",
                    )
                )
        self.y += scale.row * 0.4

    def _hub_link(self, hub: str) -> Edge | None:
        parent = self.parents[hub]
        return next((edge for edge in self.machine.edges if {edge.a, edge.b} == {hub, parent}), None)

    def _hub(self, name: str) -> float:
        top = self.y
        rows = [(self._leaf(leaf), leaf) for leaf in self.by_origin[name]]
        height = max(self.scale.box, self.y - top - self.scale.row * 0.15)
        text = tr("Chipset") if name == "chipset" else tr("Board") if name == "board" else name
        note = "" if name != "board" else tr("origin not known")
        self.boxes.append(Box(x=self.hub_x, y=top, width=self.scale.hub, height=height, role="hub", text=text, note=note))
        for y, leaf in rows:
            self._wire(self.hub_x + self.scale.hub, self.place_x, y, leaf)
        return top + self.scale.box / 2

    def _wire(self, left: float, right: float, y: float, leaf: _Leaf) -> None:
        if leaf.link:
            tip = f"{leaf.place}: {leaf.link} {leaf.note}".strip()
            self.wires.append(
                Wire(
                    points=((left, y), (right, y)),
                    weight=leaf.weight,
                    label=f"{leaf.link} {leaf.note}".strip(),
                    label_x=right - 6,
                    label_y=y - 4,
                    state=leaf.state,
                    tip=tip,
                )
            )

    def _leaf(self, leaf: _Leaf) -> float:
        scale, y = self.scale, self.y
        middle = y + scale.box / 2
        self.boxes.append(
            Box(
                x=self.place_x,
                y=y,
                width=scale.place,
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
            self.wires.append(Wire(points=((self.place_x + scale.place, middle), (self.device_x, middle)), weight=leaf.weight))
        self.y += scale.row * 1.12
        return middle

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
            self.y += self.scale.row * 1.12

    def _fabric(self, right: float) -> float:
        """Links between GPUs on tracks at the right; returns the right edge of the drawing."""
        where = self._gpu_rows()
        pairs: list[tuple[Edge, float, float]] = []
        for edge in self.machine.edges:
            if edge.kind in ("nvlink", "xgmi") and edge.a in where and edge.b in where:
                top, bottom = sorted((where[edge.a], where[edge.b]))
                pairs.append((edge, top, bottom))
        edge_x = self._switched(right, where)
        if edge_x:
            return edge_x
        tracks: list[list[tuple[float, float]]] = []
        taken: dict[float, int] = defaultdict(int)
        for edge, top, bottom in sorted(pairs, key=lambda pair: (pair[2] - pair[1], pair[1])):
            n = next((n for n, spans in enumerate(tracks) if all(bottom < a or top > b for a, b in spans)), len(tracks))
            if n == len(tracks):
                tracks.append([])
            tracks[n].append((top, bottom))
            x = right + self.scale.track * (n + 0.8)
            ends = [y + (taken[y] - 2) * self.scale.row * 0.13 for y in (top, bottom)]
            taken[top] += 1
            taken[bottom] += 1
            mark = "XGMI" if edge.kind == "xgmi" else f"NV{edge.links}"
            self.wires.append(
                Wire(
                    points=((right, ends[0]), (x, ends[0]), (x, ends[1]), (right, ends[1])),
                    fabric=True,
                    weight=1.0 + 0.5 * min(edge.links, 4),
                    label=mark,
                    label_x=x,
                    label_y=(ends[0] + ends[1]) / 2,
                    tip=tr("{a} to {b}: {links} links", a=edge.a, b=edge.b, links=edge.links),
                )
            )
        return right + self.scale.track * (len(tracks) + 0.8) if tracks else right

    def _gpu_rows(self) -> dict[str, float]:
        rows = {}
        for node in self.machine.gpus:
            if node.piece in self.device_y:
                rows[f"gpu{node.index}"] = rows[node.piece] = self.device_y[node.piece]
        return rows

    def _switched(self, right: float, where: dict[str, float]) -> float | None:
        """A switch fabric as one bar that every GPU is wired to."""
        ends = [(edge, end) for edge in self.machine.edges if edge.kind == "nvswitch" for end in (edge.a, edge.b) if end in where]
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
                        tip=tr("{end} to NVSwitch", end=end),
                    )
                )
        return x + self.scale.row * 3.2


def _is_socket(origin: str) -> bool:
    return origin.startswith("cpu") and origin[3:].isdigit()
