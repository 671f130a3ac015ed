"""The machine as a networkx graph, for questions that want an algorithm (paths, cuts, communities)."""

from typing import TYPE_CHECKING, Any

from rigplanner.machine.machine import Machine

if TYPE_CHECKING:
    import networkx


def to_networkx(machine: Machine) -> "networkx.MultiGraph[str]":
    """Return an undirected multigraph: nodes are CPUs, chipset, switches, GPUs, network ports and drives with `kind` and `piece`;
    edges carry `kind`, `links`, `width`, `gen` and `gbs` (one way, None where unknown). Networkx is imported here, not before."""
    import networkx

    graph: networkx.MultiGraph[str] = networkx.MultiGraph()
    for name, attributes in _nodes(machine).items():
        graph.add_node(name, **attributes)
    for edge in machine.edges:
        for end in (edge.a, edge.b):
            if end not in graph:
                graph.add_node(end, kind=_kind(end), piece=None)
        graph.add_edge(edge.a, edge.b, kind=edge.kind, links=edge.links, width=edge.width, gen=edge.gen, gbs=edge.gbs)
    return graph


def _kind(node: str) -> str:
    word = node.rpartition(":")[2]
    return word if word in ("chipset", "host") else "switch"


def _nodes(machine: Machine) -> dict[str, dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = {f"cpu{cpu.index}": {"kind": "cpu", "piece": cpu.piece} for cpu in machine.cpus}
    nodes |= {f"gpu{gpu.index}": {"kind": "gpu", "piece": gpu.piece} for gpu in machine.gpus}
    nodes |= {f"nic{nic.index}": {"kind": "nic", "piece": nic.piece} for nic in machine.nics}
    in_use = {edge.b for edge in machine.edges}
    return nodes | {drive.piece: {"kind": "drive", "piece": drive.piece} for drive in machine.storage if drive.piece in in_use}
