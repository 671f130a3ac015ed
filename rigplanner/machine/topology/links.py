"""Links between GPUs: bridges, links wired on a baseboard, NVSwitch, xGMI."""

from itertools import combinations

from rigplanner.catalog.schema.parts import GPU, Fabric, NvlinkPort
from rigplanner.machine.model import GpuNode
from rigplanner.machine.nodes import Edge, Node, gpu_node, socket_node
from rigplanner.machine.placement.bridging import LooseBridge


def bridge_edges(
    joined: dict[str, tuple[str, ...]], bridges: list[LooseBridge], gpus: list[GpuNode]
) -> list[Edge]:
    """Return the edges that bridges make. Several bridges on one pair (three on A100 and H100 PCIe)
    add up; a bridge of four shares a card's links evenly among its peers."""
    parts = {bridge.name: bridge.part for bridge in bridges}
    node = {gpu.piece: gpu for gpu in gpus}
    totals: dict[tuple[Node, Node], int] = {}
    for name, group in joined.items():
        port = _port(node[group[0]].gpu) if group[0] in node else None
        if port is None or not all(piece in node for piece in group):
            continue
        whole = port.links // (len(group) - 1)
        links = parts[name].links or whole // max(1, parts[name].per_pair)
        for first, second in combinations([gpu_node(node[piece].index) for piece in group], 2):
            totals[first, second] = min(whole, totals.get((first, second), 0) + links)
    return [
        _edge(a, b, "nvlink", links, _rate_of(gpus[int(a.key)]))
        for (a, b), links in totals.items()
        if links > 0
    ]


def fabric_edges(fabric: Fabric, by_place: dict[str, list[GpuNode]], switch: Node) -> list[Edge]:
    """Return the edges wired on a baseboard between the GPUs that stand in its places; `switch` is
    its NVSwitch."""
    kind = "xgmi" if fabric.kind == "xgmi" else "nvlink"
    edges: list[Edge] = []
    for link in fabric.links:
        for a in by_place.get(link.a, []):
            for b in by_place.get(link.b, []):
                port = _port(a.gpu)
                if port is not None and _port(b.gpu) is not None:
                    links = min(link.links, port.links)
                    edges.append(
                        _edge(gpu_node(a.index), gpu_node(b.index), kind, links, port.link_gbs)
                    )
    if fabric.switch is not None:
        for gpu in (gpu for row in by_place.values() for gpu in row):
            port = _port(gpu.gpu)
            if port is not None:
                edges.append(
                    _edge(gpu_node(gpu.index), switch, "nvswitch", port.links, port.link_gbs)
                )
    for place, links in fabric.cpu_links.items():
        for gpu in by_place.get(place, []):
            port = _port(gpu.gpu)
            if port is not None and gpu.socket is not None:
                edges.append(
                    _edge(
                        gpu_node(gpu.index),
                        socket_node(gpu.socket),
                        _cpu_kind(gpu.gpu),
                        links,
                        port.link_gbs,
                    )
                )
    return edges


def _cpu_kind(gpu: GPU) -> str:
    return "c2c" if gpu.form_factor == "superchip" else "nvlink"


def _port(gpu: GPU) -> NvlinkPort | None:
    return gpu.nvlink if gpu.has_nvlink is not False else None


def _rate_of(gpu: GpuNode) -> float:
    return gpu.gpu.nvlink.link_gbs if gpu.gpu.nvlink is not None else 0.0


def _edge(a: Node, b: Node, kind: str, links: int, link_gbs: float) -> Edge:
    return Edge(a=a, b=b, kind=kind, links=links, gbs=links * link_gbs)  # type: ignore[arg-type]
