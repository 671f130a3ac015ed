"""A machine read back from a captured matrix: as much of the PCIe tree as its letters tell."""

from typing import Literal

from rigplanner.catalog.schema.parts import GPU, NvlinkPort
from rigplanner.machine.formats.smi_matrix import MatrixFault, SmiMatrix, numa_nodes
from rigplanner.machine.graph import graph_of, islands
from rigplanner.machine.model import GpuNode, Machine, NicNode, Piece, PowerTree
from rigplanner.machine.nodes import (
    Edge,
    Node,
    Pair,
    Pairs,
    gpu_node,
    pair_of,
    pairs_of,
    socket_node,
)
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.peer import peers

NO_POWER = PowerTree(
    loads=(),
    sustained_w=None,
    transient_w=None,
    supply_w=None,
    supply_transient_w=None,
    efficiency=None,
    wall_w=None,
    circuit_w=None,
    circuit_peak_w=None,
)


Link = tuple[int | None, int | None]


def machine_of_matrix(
    matrix: SmiMatrix, gpu: GPU | tuple[GPU, ...], links: tuple[Link, ...] = ()
) -> Machine:
    """Return the machine that a matrix of GPUs shows, all of one model or each of its own. `links`
    gives generation and width of each GPU's slot where they are known; else slots are taken as wide
    and fast as the card's edge. Switches are drawn where the letters need one. Raises MatrixFault
    when a card cannot have the links shown."""
    names = matrix.gpus
    cards = gpu if isinstance(gpu, tuple) else (gpu,) * len(names)
    check_links(matrix, cards)
    pairs = pairs_of(matrix.square(names))
    edges_of = tuple((card.edge_gen, card.edge_width) for card in cards)
    slots = tuple(
        (gen or edge[0], width or edge[1])
        for (gen, width), edge in zip(links or edges_of, edges_of, strict=True)
    )
    gpus, node_of = _gpus(matrix, cards, pairs, slots)
    others = tuple(device for device in matrix.devices if not device.startswith("GPU"))
    nics = tuple(
        NicNode(index=index, piece=name, place=None, gbps=None) for index, name in enumerate(others)
    )
    edges = (*_tree(pairs, node_of, cards, slots), *_nvlinks(pairs, cards))
    return Machine(
        pieces=tuple(Piece(name, name, card) for name, card in zip(names, cards, strict=True)),
        cpus=(),
        gpus=gpus,
        nics=nics,
        storage=(),
        slots=(),
        drives=(),
        edges=edges,
        pairs=pairs_of(matrix.square((*names, *others))),
        islands=islands(graph_of(edges), len(gpus)),
        p2p=_peers(matrix, gpus, pairs),
        problems=(),
        power=NO_POWER,
    )


def _gpus(
    matrix: SmiMatrix, cards: tuple[GPU, ...], pairs: Pairs, slots: tuple[Link, ...]
) -> tuple[tuple[GpuNode, ...], list[int]]:
    """The GPUs with their slots, and the socket of each: those that the letters put near each other
    share one."""
    names = matrix.gpus
    rows = [row for row in matrix.rows if row.startswith("GPU")]
    numa_of = dict(zip(rows, numa_nodes(matrix), strict=False))
    cpus = dict(zip(rows, matrix.cpu_affinity, strict=False))
    node_of = _groups(pairs, NEAR, [numa_of.get(name) for name in names])
    bridge_of = _groups(pairs, BELOW_A_BRIDGE, [None] * len(names))
    gpus = tuple(
        GpuNode(
            index=index,
            piece=name,
            gpu=cards[index],
            place=None,
            width=width,
            gen=gen,
            host_gbs=link_gbs(gen, width),
            numa=numa_of.get(name),
            bridge=str(bridge_of[index]),
            affinity=cpus.get(name),
            socket=node_of[index],
        )
        for index, (name, (gen, width)) in enumerate(zip(names, slots, strict=True))
    )
    return gpus, node_of


SWITCHLESS = ("pcie", "sxm2")
"""Forms of GPUs for which no NVSwitch was made: the first one serves SXM3 modules."""


def check_links(matrix: SmiMatrix, cards: tuple[GPU, ...]) -> None:
    """Raise MatrixFault when a label, or the labels of a card that no NVSwitch can serve, name more
    NVLinks than the card has."""
    where = dict(zip(matrix.gpus, cards, strict=True))
    for row, cells in zip(matrix.rows, matrix.cells, strict=False):
        if row not in where:
            continue
        gpu = where[row]
        most = gpu.nvlink.links if gpu.nvlink is not None and not _is_xgmi(gpu) else 0
        for column, cell in zip(matrix.devices, cells, strict=True):
            pair = pair_of(cell)
            if pair.links > most:
                raise MatrixFault(
                    f"Cell {row}/{column}: {cell}, but {gpu.name} has {most or 'no'} NVLinks."
                )
            if pair.path == "xgmi" and not _is_xgmi(gpu):
                raise MatrixFault(f"Cell {row}/{column}: XGMI, but {gpu.name} has no xGMI links.")
        together = sum(pair_of(cell).links for cell in cells)
        if gpu.form_factor in SWITCHLESS and together > most:
            raise MatrixFault(
                f"Row {row}: {together} NVLinks in all, but {gpu.name} has {most}, which no switch"
                " shares out."
            )


def _is_xgmi(gpu: GPU) -> bool:
    return gpu.nvlink is not None and gpu.nvlink.fabric == "xgmi"


BELOW_A_BRIDGE = ("pix", "pxb", "phb")
NEAR = (*BELOW_A_BRIDGE, "node")


def _groups(pairs: Pairs, near: tuple[str, ...], numas: list[int | None]) -> list[int]:
    """Return a group per GPU, counted from 0: GPUs whose label is one of `near` share one. NVLink
    and xGMI hide the label: such pairs are joined where their NUMA nodes are known and the same."""
    groups = list(range(len(pairs)))
    for a, row in enumerate(pairs):
        for b, pair in enumerate(row):
            hidden = pair.linked and numas[a] is not None and numas[a] == numas[b]
            if pair.path in near or hidden:
                low, high = sorted((groups[a], groups[b]))
                groups = [low if group == high else group for group in groups]
    order = {group: index for index, group in enumerate(sorted(set(groups)))}
    return [order[group] for group in groups]


def _tree(
    pairs: Pairs, node_of: list[int], cards: tuple[GPU, ...], slots: tuple[Link, ...]
) -> list[Edge]:
    """Return PCIe edges from a root per NUMA group, with a switch where GPUs share one and a second
    level for PXB."""
    edges: list[Edge] = []
    switches: dict[Node, Node] = {}
    for index, row in enumerate(pairs):
        near = [index, *(other for other, pair in enumerate(row) if pair.path == "pix")]
        far = [index, *(other for other, pair in enumerate(row) if pair.below_one_switch)]
        parent = socket_node(node_of[index])
        if len(far) > len(near):
            parent = _switch(edges, switches, f"upper{min(far)}", parent, cards[index])
        if len(near) > 1:
            parent = _switch(edges, switches, f"switch{min(near)}", parent, cards[index])
        edges.append(_pcie(parent, gpu_node(index), *slots[index]))
    return edges


def _switch(edges: list[Edge], known: dict[Node, Node], name: str, parent: Node, gpu: GPU) -> Node:
    node = Node("switch", name)
    if node not in known:
        known[node] = parent
        edges.append(_pcie(parent, node, gpu.edge_gen, gpu.edge_width))
    return node


def _pcie(a: Node, b: Node, gen: int | None, width: int | None) -> Edge:
    return Edge(a=a, b=b, kind="pcie", width=width, gen=gen, gbs=link_gbs(gen, width))


def _nvlinks(pairs: Pairs, cards: tuple[GPU, ...]) -> list[Edge]:
    """Return direct NVLink or xGMI edges, or edges into an NVSwitch where the labels of a row sum
    to more links than the card has. An XGMI label tells no count: the card's links are shared out
    evenly among its neighbours."""
    counts = [{b: pair.links for b, pair in enumerate(row) if pair.links} for row in pairs]
    ports = [card.nvlink for card in cards]
    switched = any(
        port is not None and sum(row.values()) > port.links
        for row, port in zip(counts, ports, strict=True)
    )
    most = max((row.count(Pair("xgmi")) for row in pairs), default=0)
    edges: list[Edge] = []
    for a, port in enumerate(ports):
        if port is None:
            continue
        if switched and counts[a]:
            links = max(counts[a].values())
            edges.append(
                Edge(
                    a=gpu_node(a),
                    b=Node("nvswitch"),
                    kind="nvswitch",
                    links=links,
                    gbs=links * port.link_gbs,
                )
            )
        elif not switched:
            edges += [
                _direct(a, b, "nvlink", links, port) for b, links in counts[a].items() if a < b
            ]
        each = max(1, port.links // max(1, most))
        edges += [
            _direct(a, b, "xgmi", each, port)
            for b, pair in enumerate(pairs[a])
            if a < b and pair.path == "xgmi"
        ]
    return edges


def _direct(a: int, b: int, kind: Literal["nvlink", "xgmi"], links: int, port: NvlinkPort) -> Edge:
    return Edge(a=gpu_node(a), b=gpu_node(b), kind=kind, links=links, gbs=links * port.link_gbs)


def _peers(
    matrix: SmiMatrix, gpus: tuple[GpuNode, ...], pairs: Pairs
) -> tuple[tuple[str, ...], ...]:
    """Return the peer table of the capture where it has one, else what the cards' policies say."""
    if matrix.peers and len(matrix.peers[0]) == len(pairs):
        return matrix.peers[0]
    return peers(gpus, pairs, set(), patched=False)
