"""Links between GPUs: bridges, links wired on a baseboard, NVSwitch, xGMI, and the islands they
make."""

from collections.abc import Iterable, Sequence

from rigplanner.catalog.schema.parts import GPU, Fabric, NvlinkPort
from rigplanner.machine.model import Edge, GpuNode
from rigplanner.machine.placement.bridging import BridgeSeeker


def bridge_edges(
    joined: dict[str, tuple[str, ...]], bridges: list[BridgeSeeker], gpus: list[GpuNode]
) -> list[Edge]:
    """Return the edges that bridges make. Several bridges on one pair (three on A100 and H100 PCIe)
    add up; a bridge of four shares a card's links evenly among its peers."""
    parts = {bridge.name: bridge.part for bridge in bridges}
    node = {gpu.piece: gpu for gpu in gpus}
    totals: dict[tuple[str, str], int] = {}
    for name, group in joined.items():
        port = _port(node[group[0]].gpu) if group[0] in node else None
        if port is None or not all(piece in node for piece in group):
            continue
        whole = port.links // (len(group) - 1)
        links = parts[name].links or whole // max(1, parts[name].per_pair)
        for first, second in _pairs([f"gpu{node[piece].index}" for piece in group]):
            totals[first, second] = min(whole, totals.get((first, second), 0) + links)
    return [
        _edge(a, b, "nvlink", links, _rate_of(gpus, a))
        for (a, b), links in totals.items()
        if links > 0
    ]


def fabric_edges(fabric: Fabric, by_place: dict[str, list[GpuNode]], switch: str) -> list[Edge]:
    """Return the edges wired on a baseboard between the GPUs that stand in its places; `switch`
    names its NVSwitch node."""
    kind = "xgmi" if fabric.kind == "xgmi" else "nvlink"
    edges: list[Edge] = []
    for link in fabric.links:
        for a in by_place.get(link.a, []):
            for b in by_place.get(link.b, []):
                port = _port(a.gpu)
                if port is not None and _port(b.gpu) is not None:
                    links = min(link.links, port.links)
                    edges.append(
                        _edge(f"gpu{a.index}", f"gpu{b.index}", kind, links, port.link_gbs)
                    )
    if fabric.switch is not None:
        for gpu in (gpu for row in by_place.values() for gpu in row):
            port = _port(gpu.gpu)
            if port is not None:
                edges.append(
                    _edge(f"gpu{gpu.index}", switch, "nvswitch", port.links, port.link_gbs)
                )
    for place, links in fabric.cpu_links.items():
        for gpu in by_place.get(place, []):
            port = _port(gpu.gpu)
            if port is not None and gpu.socket is not None:
                edges.append(
                    _edge(
                        f"gpu{gpu.index}",
                        f"cpu{gpu.socket}",
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


def _rate_of(gpus: list[GpuNode], node: str) -> float:
    port = next(gpu.gpu.nvlink for gpu in gpus if f"gpu{gpu.index}" == node)
    return port.link_gbs if port is not None else 0.0


def _edge(a: str, b: str, kind: str, links: int, link_gbs: float) -> Edge:
    return Edge(a=a, b=b, kind=kind, links=links, gbs=links * link_gbs)  # type: ignore[arg-type]


def _pairs(nodes: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for index, a in enumerate(nodes) for b in nodes[index + 1 :]]


def labels(edges: Sequence[Edge]) -> dict[tuple[str, str], str]:
    """Return the label of each pair of GPU nodes that links join: NV4, XGMI; through a switch every
    pair has all links of the smaller port."""
    found: dict[tuple[str, str], str] = {}
    for edge in edges:
        if edge.kind in ("nvlink", "xgmi") and edge.b.startswith("gpu"):
            found[edge.a, edge.b] = "XGMI" if edge.kind == "xgmi" else f"NV{edge.links}"
    switched = [edge for edge in edges if edge.kind == "nvswitch"]
    for index, first in enumerate(switched):
        for second in switched[index + 1 :]:
            if first.b == second.b:
                found.pop((second.a, first.a), None)
                found[first.a, second.a] = f"NV{min(first.links, second.links)}"
    return found


def islands(count: int, joined: Iterable[tuple[str, str]]) -> tuple[tuple[int, ...], ...]:
    """Return the sets of GPUs that NVLink or xGMI joins in pairs, each GPU in one, in the order of
    their first GPU."""
    of = list(range(count))
    for a, b in joined:
        low, high = sorted((of[int(a[3:])], of[int(b[3:])]))
        if low != high:
            of = [low if island == high else island for island in of]
    return tuple(
        tuple(gpu for gpu in range(count) if of[gpu] == island) for island in sorted(set(of))
    )
