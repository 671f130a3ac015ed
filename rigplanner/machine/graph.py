"""The machine as one graph, and the questions that it answers.

Nodes are values (`Node`), each with `kind` and `name`; host bridges (`root`, with their NUMA node)
and slots lie on the PCIe links that pass them. Edges are keyed by their kind and carry `links`,
`width`, `gen` and `gbs` (one way, GB/s), None where it is not known. Networkx is imported when the
first question is asked: a machine of one GPU asks none."""

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Any

from rigplanner.machine.nodes import Edge, Node, Pair, Pairs, gpu_node

Graph = Any
"""A networkx.MultiGraph of `Node`; the package brings no types."""
TREE = ("pcie", "chipset", "cpu")
"""Kinds of edges over which PCIe traffic goes."""
FABRIC = ("nvlink", "xgmi", "nvswitch")
"""Kinds of edges that join GPUs without the PCIe tree."""

MOST_CYCLES_SEEN = 100_000
"""Cycles of any length among which rings over all GPUs are sought: a cube mesh of eight has 356,
and a meshed capture of sixteen could have more than anybody waits for."""


def graph_of(edges: Iterable[Edge], nodes: Iterable[Node] = ()) -> Graph:
    """Return the graph of a machine's links, and of nodes that may have none."""
    import networkx as nx

    graph = nx.MultiGraph()
    for node in nodes:
        graph.add_node(node, kind=node.kind, name=node.name)
    for edge in edges:
        stops = [edge.a]
        if edge.root is not None:
            root = Node("root", edge.root.name, edge.root.board)
            graph.add_node(root, kind="root", name=root.name, numa=edge.root.numa)
            stops.append(root)
        if edge.slot is not None:
            stops.append(edge.slot)
        stops.append(edge.b)
        for node in stops:
            graph.add_node(node, kind=node.kind, name=node.name)
        for above, below in pairwise(stops):
            graph.add_edge(
                above,
                below,
                key=edge.kind,
                kind=edge.kind,
                links=edge.links,
                width=edge.width,
                gen=edge.gen,
                gbs=edge.gbs,
            )
    return graph


def only(graph: Graph, kinds: Sequence[str]) -> Graph:
    """Return the part of a graph whose edges are of some kinds; all nodes stay."""
    import networkx as nx

    return nx.subgraph_view(graph, filter_edge=lambda a, b, kind: kind in kinds)


def path(graph: Graph, a: Node, b: Node) -> list[Node]:
    """Return the nodes that PCIe traffic between two devices passes, both ends included; [] where
    nothing joins them."""
    import networkx as nx

    tree = only(graph, TREE)
    if a not in tree or b not in tree or not nx.has_path(tree, a, b):
        return []
    return list(nx.shortest_path(tree, a, b))


def narrowest_gbs(graph: Graph, a: Node, b: Node) -> float | None:
    """Return the rate of the narrowest PCIe link between two devices in GB/s one way, None where
    one is not known or nothing joins them. Links between sockets are left out: nobody publishes
    what they carry beside other traffic."""
    stops = path(graph, a, b)
    rates = [
        graph.edges[above, below, kind]["gbs"]
        for above, below in pairwise(stops)
        for kind in ("pcie", "chipset")
        if graph.has_edge(above, below, kind)
    ]
    return min(rates) if rates and None not in rates else None


def common_ancestor(graph: Graph, a: Node, b: Node) -> Node | None:
    """Return the node nearest to the CPUs on the way between two devices, where their ways meet;
    None where nothing joins them, and between sockets, where they have none."""
    stops = path(graph, a, b)
    order = ("socket", "host", "root", "chipset", "switch", "slot")
    between = [node for node in stops[1:-1] if node.kind in order]
    if not between or sum(node.kind == "socket" for node in between) > 1:
        return None
    return min(between, key=lambda node: order.index(node.kind))


def pair_between(graph: Graph, stops: Sequence[Node]) -> Pair:
    """Return what a way through the PCIe tree is called, by the node where it turns: below
    a switch PIX (one passed) or PXB (several), at a host bridge PHB, between host bridges NODE or
    SYS by their NUMA nodes. Not known between boards, which only a network joins, and where CPUs
    that are not part of the machine lie between."""
    between = stops[1:-1]
    roots = [node for node in between if node.kind == "root"]
    if len({node.board for node in roots}) > 1:
        return Pair()
    if len(roots) > 1:
        numas = {graph.nodes[node]["numa"] for node in roots}
        return Pair("node" if len(numas) == 1 else "sys")
    if roots or any(node.kind == "chipset" and not node.switches for node in between):
        return Pair("phb")
    if any(node.kind in ("host", "socket") for node in between):
        return Pair()
    passed = sum(node.kind in ("switch", "chipset", "card") for node in between)
    return Pair("pix" if passed < 2 else "pxb")


def pairs_between(graph: Graph, devices: Sequence[Node]) -> Pairs:
    """Return the ways between all devices: over NVLink or xGMI where links join them, else through
    the PCIe tree."""
    import networkx as nx

    tree = nx.Graph([(a, b) for a, b, kind in graph.edges(keys=True) if kind in TREE])
    linked = links_between(graph)
    order = {device: n for n, device in enumerate(devices)}
    rows = [[Pair()] * len(devices) for _ in devices]
    for a, n in order.items():
        ways = nx.single_source_shortest_path(tree, a) if a in tree else {}
        for b in ways.keys() & order.keys():
            m = order[b]
            if m < n:
                rows[n][m] = rows[m][n] = pair_between(graph, ways[b])
        rows[n][n] = Pair("self")
    for (a, b), pair in linked.items():
        if a in order and b in order:
            rows[order[a]][order[b]] = pair
    return tuple(map(tuple, rows))


def links_between(graph: Graph) -> dict[tuple[Node, Node], Pair]:
    """Return the pairs of GPUs that NVLink or xGMI joins, in both orders; through a switch every
    pair has all links of the smaller port."""
    found: dict[tuple[Node, Node], Pair] = {}
    for a, b, kind, links in graph.edges(keys=True, data="links"):
        if kind in ("nvlink", "xgmi") and a.kind == b.kind == "gpu":
            pair = Pair("xgmi") if kind == "xgmi" else Pair("nvlink", links)
            found[a, b] = found[b, a] = pair
    for switch in [node for node in graph if node.kind == "nvswitch"]:
        ports = {gpu: graph.edges[gpu, switch, "nvswitch"]["links"] for gpu in graph[switch]}
        for a, one in ports.items():
            for b, other in ports.items():
                if a != b:
                    found[a, b] = Pair("nvlink", min(one, other))
    return found


def islands(graph: Graph, count: int) -> tuple[tuple[int, ...], ...]:
    """Return the groups of GPUs that NVLink, xGMI or an NVSwitch joins, each GPU in one, in the
    order of their first GPU."""
    import networkx as nx

    fabric = only(graph, FABRIC)
    joined = [
        sorted(int(node.key) for node in group if node.kind == "gpu")
        for group in nx.connected_components(fabric.subgraph(_fabric_nodes(fabric)))
    ]
    known = {gpu for group in joined for gpu in group}
    alone = [[gpu] for gpu in range(count) if gpu not in known]
    return tuple(map(tuple, sorted([*joined, *alone])))


def _fabric_nodes(fabric: Graph) -> list[Node]:
    return [node for node in fabric if node.kind in ("gpu", "nvswitch")]


def cut_gbs(graph: Graph, half: Iterable[int], kinds: Sequence[str] = FABRIC) -> float:
    """Return what the links between some GPUs and all others carry one way in GB/s: the least sum
    of rates that parts the two (minimum cut); links of unknown rate count nothing."""
    import networkx as nx

    near = {gpu_node(index) for index in half}
    flows = nx.Graph()
    for a, b, gbs in only(graph, kinds).edges(data="gbs"):
        held = flows.edges[a, b]["capacity"] if flows.has_edge(a, b) else 0.0
        flows.add_edge(a, b, capacity=held + (gbs or 0.0))
    for node in list(graph):
        if node.kind == "gpu":
            flows.add_edge("near" if node in near else "far", node)
    if "near" not in flows or "far" not in flows:
        return 0.0
    return float(nx.minimum_cut_value(flows, "near", "far"))


def rings(joined: Iterable[tuple[int, int]], count: int, most: int) -> list[tuple[int, ...]]:
    """Return rings over so many GPUs that directed pairs close, each as the GPUs in order from GPU
    0, at most so many."""
    import networkx as nx

    found: list[tuple[int, ...]] = []
    cycles = nx.simple_cycles(nx.DiGraph(sorted(joined)))
    for cycle in islice(cycles, MOST_CYCLES_SEEN):
        if len(cycle) == count:
            start = cycle.index(0)
            found.append((*cycle[start:], *cycle[:start]))
            if len(found) >= most:
                break
    return found
