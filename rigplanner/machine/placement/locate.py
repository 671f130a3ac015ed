"""Where a place hangs in the PCIe tree: switches above it, host bridge, CPU socket, NUMA node."""

import re

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, Layout
from rigplanner.machine.cache import IdentityCache
from rigplanner.machine.nodes import Node
from rigplanner.machine.pieces import Board
from rigplanner.machine.placement.lanes import root_of, socket_of

ONE_BRIDGE = frozenset(
    (
        "AM3",
        "AM4",
        "AM5",
        "LGA1150",
        "LGA1151",
        "LGA1155",
        "LGA1156",
        "LGA1200",
        "LGA1366",
        "LGA1700",
        "LGA1851",
        "LGA2011",
        "LGA2011-3",
    )
)
"""Sockets whose CPUs put all their slots on one host bridge: desktop Intel and AMD, Xeon E5 up to
v4 (captured matrices show PHB between any two of their slots)."""

AMD = ("AM", "SP", "sTR", "sWRX", "TR")
"""Sockets (by prefix) whose chipset is a PCIe switch below a CPU port; Intel's chipset has root
ports of its own."""

QUADRANT = re.compile(r"\.q(\d)$")
QUADRANTS = 4
"""The I/O die of EPYC and of Threadripper since 2019 has four host bridges, q0 to q3, of 32 lanes:
two x16 slots of one bridge read PHB (captured on a Threadripper PRO 3975WX, ports 00:01.1 and
00:03.1), those of two bridges NODE (on another, buses 01, 21, 41 and 61). With four NUMA nodes per
socket each node has one. On SP3 the first buses belong to the last quadrant (captured on Rome and
Milan, DGX A100 among them: GPU0 on node 3); on Naples, of four dies, to the first die. Slots whose
quadrant is not known are taken to be spread."""


class Location(Struct, frozen=True):
    """`chain` names the switches from the device upwards; `bridge` the host bridge ("" where it is
    not known); `numa` counts on one board."""

    chain: tuple[Node, ...]
    bridge: str
    socket: int | None
    numa: int | None
    board: int = 0


def bus_rank(location: Location) -> tuple[int, int, int]:
    """Return where a place's bus number stands in firmware's order: board by board, socket by
    socket, and on EPYC from the last quadrant to the first; places of one rank follow the order of
    their slots."""
    named = QUADRANT.search(location.bridge)
    return (location.board, location.socket or 0, -int(named[1]) if named is not None else 0)


class Tree(Struct, frozen=True):
    """Locations of one board. `guessed` says that the host bridges of its slots are not in the
    catalog."""

    board: Board
    cpus: tuple[CPU | None, ...]
    first_cpu: int
    numa_nodes: tuple[int, ...]
    bridges: tuple[tuple[str, ...], ...]
    located: dict[tuple[str | None, str, str | None], Location]

    def locate(self, origin: str | None, place: str, root: str | None = None) -> Location:
        """Return where a place with this origin hangs."""
        asked = origin, place, root
        if asked not in self.located:
            self.located[asked] = self._locate(*asked)
        return self.located[asked]

    def _locate(self, origin: str | None, place: str, root: str | None) -> Location:
        layout = self.board.layout
        chain, top = chain_of(layout, origin)
        base = root_of(layout, origin)
        local = socket_of(base)
        nodes = tuple(switch_node(self.board, switch) for switch in chain)
        if base == "chipset":
            nodes = (*nodes, chipset_node(self.board)) if _is_amd(layout) else nodes
        if local is None or local >= max(1, len(self.numa_nodes)):
            return Location(nodes, "", None, None, self.board.index)
        name = bridge_name(layout, local, top or place, root or _root_on(layout, top))
        if base == "chipset":
            name = self.bridges[0][0] if self.bridges and self.bridges[0] else name
        return Location(
            nodes,
            f"{self.board.index}:{name}",
            self._global(local),
            self._numa(local, name),
            self.board.index,
        )

    def affinity(self, numa: int | None) -> str | None:
        """Return the logical CPUs of a NUMA node as Linux numbers them: first threads of all cores,
        then the second ones; None where a CPU's cores are unknown."""
        cores = [cpu.cores if cpu is not None else None for cpu in self.cpus]
        if numa is None or not cores or None in cores:
            return None
        row = [core or 0 for core in cores]
        per_node = [
            core // nodes
            for core, nodes in zip(row, self.numa_nodes, strict=True)
            for _ in range(nodes)
        ]
        start, count = sum(per_node[:numa]), per_node[numa]
        first = self.cpus[0]
        twice = (
            first is not None
            and first.threads is not None
            and first.cores is not None
            and first.threads > first.cores
        )
        if twice and len(per_node) == 1:
            return f"0-{2 * count - 1}"
        spans = [f"{start}-{start + count - 1}"]
        if twice:
            spans.append(f"{sum(row) + start}-{sum(row) + start + count - 1}")
        return ",".join(spans)

    def _global(self, local: int) -> int | None:
        seated = [cpu is not None for cpu in self.cpus]
        if not seated or not any(seated):
            return self.first_cpu + local
        return (
            self.first_cpu + sum(seated[:local]) if local < len(seated) and seated[local] else None
        )

    def _numa(self, local: int, bridge: str) -> int | None:
        per = self.numa_nodes[local]
        row = self.bridges[local]
        named = QUADRANT.search(bridge)
        if named is not None:
            cpu = self.cpus[local] if local < len(self.cpus) else None
            own_dies = cpu is not None and cpu.numa_nodes == QUADRANTS
            part = (QUADRANTS - 1 - int(named[1]) if own_dies else int(named[1])) * per // QUADRANTS
        elif bridge in row:
            rank = row.index(bridge)
            spread = self.board.layout.sockets[local : local + 1] == ("SP3",)
            part = per - 1 - rank % per if spread else rank * per // len(row)
        else:
            part = 0
        return sum(self.numa_nodes[:local]) + part


def chain_of(layout: Layout, origin: str | None) -> tuple[list[str], str]:
    """Return the switches from a place up to its root, and the uppermost one ("" for none)."""
    chain: list[str] = []
    if not layout.switches:
        return chain, ""
    switches = {switch.id: switch for switch in layout.switches}
    while origin in switches and origin not in chain:
        chain.append(str(origin))
        origin = switches[str(origin)].origin
    return chain, chain[-1] if chain else ""


def switch_node(board: Board, switch: str) -> Node:
    """Return the node of a switch of a board."""
    return Node("switch", switch, board.index)


def chipset_node(board: Board) -> Node:
    """Return the node of a board's chipset."""
    return Node("chipset", board=board.index, switches=_is_amd(board.layout))


def host_node(board: Board) -> Node:
    """Return the node for the host of a board whose own CPUs are elsewhere, as with HGX
    baseboards."""
    return Node("host", board=board.index)


def bridge_name(layout: Layout, socket: int, port: str, root: str | None) -> str:
    """Return the host bridge of a port of a socket: the catalog's word for it, else one for all on
    desktop sockets, else one of its own, as on Xeon Scalable and EPYC (whose pairs of slots that
    share a quadrant the catalog must name)."""
    if root is not None:
        return f"cpu{socket}.{root}"
    return f"cpu{socket}" if _one_bridge(layout) else f"cpu{socket}.{port}"


def _one_bridge(layout: Layout) -> bool:
    return all(socket in ONE_BRIDGE for socket in layout.sockets)


def _is_amd(layout: Layout) -> bool:
    return any(socket.startswith(AMD) for socket in layout.sockets)


def _root_on(layout: Layout, switch: str) -> str | None:
    return next((found.root for found in layout.switches if found.id == switch), None)


_trees: IdentityCache[Tree] = IdentityCache(64)


def tree_of(
    board: Board, cpus: tuple[CPU | None, ...], first_cpu: int, per_socket: int | None
) -> Tree:
    """Return the tree of a board. `per_socket` is the firmware's NUMA setting (NPS, SNC); None: the
    CPU's own dies."""
    if type(board.layout) is not Layout or any(
        cpu is not None and type(cpu) is not CPU for cpu in cpus
    ):
        return _grown(board, cpus, first_cpu, per_socket)
    key = (id(board.part), board.index, board.name, *map(id, cpus), first_cpu, per_socket)
    return _trees.get(key, (board, cpus), lambda: _grown(board, cpus, first_cpu, per_socket))


def _grown(
    board: Board, cpus: tuple[CPU | None, ...], first_cpu: int, per_socket: int | None
) -> Tree:
    layout = board.layout
    count = max(1, len(layout.sockets))
    rows: list[tuple[str, ...]] = []
    for socket in range(count):
        names: list[str] = []
        for place in layout.slots:
            root = root_of(layout, place.origin)
            if root != "chipset" and socket_of(root) == socket:
                _, top = chain_of(layout, place.origin)
                names.append(
                    bridge_name(
                        layout, socket, top or place.id, place.root or _root_on(layout, top)
                    )
                )
        rows.append(tuple(dict.fromkeys(names)) or (f"cpu{socket}",))
    names_of = (*layout.sockets, *("",) * count)
    numa = tuple(
        _numa_count(cpus[n] if n < len(cpus) else None, names_of[n], per_socket)
        for n in range(count)
    )
    return Tree(board, cpus, first_cpu, numa, tuple(rows), {})


NUMA_SETTINGS = {
    "SP3": (1, 2, 4),
    "SP5": (1, 2, 4),
    "SP6": (1, 2, 4),
    "sWRX8": (1, 2, 4),
    "sTR5": (1, 2, 4),
    "sTRX4": (1, 2, 4),
    "TR4": (1, 2),
    "LGA3647": (1, 2),
    "LGA4189": (1, 2),
    "LGA4677": (1, 2, 4),
    "LGA4710": (1, 2, 3),
    "LGA7529": (1, 2, 3),
    "LGA2011-3": (1, 2),
}
"""NUMA nodes that firmware makes of one socket: AMD's NPS1, 2 and 4; Intel's cluster on die and
sub-NUMA clustering (makers' tuning guides). Other sockets have one node."""


def numa_settings(socket: str) -> tuple[int, ...]:
    """Return the numbers of NUMA nodes that firmware can make of a CPU in this socket."""
    return NUMA_SETTINGS.get(socket, (1,))


def _numa_count(cpu: CPU | None, socket: str, per_socket: int | None) -> int:
    if per_socket is not None and per_socket in numa_settings(socket):
        return per_socket
    return cpu.numa_nodes if cpu is not None else 1


def bridges_guessed(board: Board) -> tuple[str, ...]:
    """Return the places whose host bridge decides between PHB and NODE and is not in the
    catalog."""
    layout = board.layout
    if _one_bridge(layout) or not layout.sockets:
        return ()
    return tuple(
        slot.id
        for slot in layout.slots
        if slot.root is None and slot.origin is not None and slot.origin.startswith("cpu")
    )
