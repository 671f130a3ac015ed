"""The machine's graph for other programs: GraphML (yEd, Gephi, igraph) and node-link JSON (D3,
networkx). A node is called by kind and name ("gpu:gpu0", "slot:PCIE1"); what is not known is left
out. Rates are in GB/s one way."""

import json
from typing import Any

from rigplanner.machine.graph import Graph
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Node, gpu_node, nic_node, socket_node


def graphml(machine: Machine) -> str:
    """Return the graph of a machine as GraphML."""
    import networkx as nx

    return "\n".join(nx.generate_graphml(_plain(machine), named_key_ids=True)) + "\n"


def node_link(machine: Machine) -> str:
    """Return the graph of a machine as node-link JSON: `nodes` with `id`, `edges` with `source`,
    `target` and `key`."""
    import networkx as nx

    data = nx.node_link_data(_plain(machine), edges="edges")
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _plain(machine: Machine) -> Graph:
    """The graph with text for nodes, the part that each stands for, and no unknown values."""
    import networkx as nx

    parts = _parts(machine)
    plain = nx.MultiGraph(name="machine")
    for node, held in machine.graph.nodes(data=True):
        named = {"part": parts[node]} if node in parts else {}
        plain.add_node(_id(node), **_known(held), **named)
    for a, b, kind, held in machine.graph.edges(keys=True, data=True):
        plain.add_edge(_id(a), _id(b), key=kind, **_known(held))
    return plain


def _id(node: Node) -> str:
    return f"{node.kind}:{node.name}"


def _known(held: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in held.items() if value is not None}


def _parts(machine: Machine) -> dict[Node, str]:
    names = {piece.name: piece.part.name for piece in machine.pieces}
    found = {socket_node(cpu.index): cpu.cpu.name for cpu in machine.cpus}
    found |= {gpu_node(gpu.index): gpu.gpu.name for gpu in machine.gpus}
    found |= {nic_node(nic.index): names.get(nic.piece, nic.piece) for nic in machine.nics}
    found |= {Node("drive", drive.piece): drive.storage.name for drive in machine.storage}
    return found | {Node("card", piece): name for piece, name in names.items()}
