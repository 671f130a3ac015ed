"""The machine's graph: ways and where they turn, narrowest links, islands, cuts, rings, and its
files read back."""

import json
from pathlib import Path

import networkx as nx
import pytest
from small_parts import board, bridge, cpu, gpu, linked_gpu, m2, machine_of, nic, slot

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import DrivePort, Fabric, Link, NvlinkPort, Switch
from rigplanner.machine.assemble import assemble
from rigplanner.machine.formats.graph_files import graphml, node_link
from rigplanner.machine.graph import (
    common_ancestor,
    cut_gbs,
    islands,
    links_between,
    narrowest_gbs,
    only,
    path,
    rings,
)
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Node, gpu_node, nic_node, pair_of
from rigplanner.machine.pcie import link_gbs
from rigplanner.rig.files import read_rig


def switched() -> Machine:
    """Two GPUs on narrow slots below a switch, a third on the second socket, and a drive."""
    own = board(
        [
            slot("A", 1, width=8, origin="plx0"),
            slot("B", 3, origin="plx0"),
            slot("C", 5, origin="cpu1"),
        ],
        [DrivePort(id="M", kind="m2", origin="cpu0", gen=4, width=4)],
        sockets=("SP3", "SP3"),
        switches=(Switch(id="plx0", model="PEX 8747", origin="cpu0", gen=4, width=16),),
    )
    return machine_of(own, (cpu("SP3"), 2), (gpu(), 3, ("A", "B", "C")), m2())


def _linked(machine: Machine) -> set[tuple[int, int]]:
    return {(int(a.key), int(b.key)) for a, b in links_between(machine.graph)}


def names(nodes: list[Node]) -> list[str]:
    return [f"{node.kind}:{node.name}" for node in nodes]


def test_a_way_passes_slots_switches_and_host_bridges() -> None:
    machine = switched()
    graph = machine.graph
    below = path(graph, gpu_node(0), gpu_node(1))
    assert names(below) == ["gpu:gpu0", "slot:A", "switch:plx0", "slot:B", "gpu:gpu1"]
    across = path(graph, gpu_node(1), gpu_node(2))
    assert [node.kind for node in across] == [
        *("gpu", "slot", "switch", "root", "socket", "socket", "root", "slot", "gpu")
    ]
    assert machine.matrix[0] == ("X", "PIX", "SYS")
    assert path(graph, gpu_node(0), Node("drive", "nobody")) == []


def test_the_narrowest_link_and_the_node_where_a_way_turns() -> None:
    graph = switched().graph
    assert narrowest_gbs(graph, gpu_node(0), gpu_node(1)) == link_gbs(4, 8)
    assert narrowest_gbs(graph, gpu_node(1), Node("drive", "storage.0")) == link_gbs(4, 4)
    turn = common_ancestor(graph, gpu_node(0), gpu_node(1))
    assert turn == Node("switch", "plx0")
    assert common_ancestor(graph, gpu_node(0), Node("drive", "storage.0")) == Node("socket", 0)
    assert common_ancestor(graph, gpu_node(0), gpu_node(2)) is None


def test_ports_of_one_card_meet_at_its_slot() -> None:
    machine = machine_of(board([slot("A", 1)]), cpu(), (nic(ports=2, rdma=True), 1))
    assert common_ancestor(machine.graph, nic_node(0), nic_node(1)) == Node("slot", "A")
    assert machine.matrix == (("X", "PIX"), ("PIX", "X"))


def test_bridged_pairs_are_islands_and_nothing_crosses_between_them() -> None:
    own = board([slot(f"S{n}", 1 + 3 * n) for n in range(4)], sockets=("SP3",))
    pairs = machine_of(own, cpu("SP3"), (linked_gpu(), 4), (bridge(), 2))
    assert pairs.islands == ((0, 1), (2, 3))
    assert islands(pairs.graph, 4) == pairs.islands
    assert cut_gbs(pairs.graph, (0, 1)) == 0
    assert cut_gbs(pairs.graph, (0, 2)) == 2 * sum(
        edge.gbs or 0 for edge in pairs.edges if edge.a == gpu_node(0)
    )
    assert rings(_linked(pairs), 4, 10) == []


def test_a_direct_board_of_four_closes_six_rings() -> None:
    port = NvlinkPort(generation=3, links=12, link_gbs=25)
    module = gpu("sxm", form_factor="sxm4", nvlink=port, has_nvlink=True)
    slots = [slot(f"G{n}", kind="sxm4", mechanical=None) for n in range(4)]
    wired = tuple(Link(f"G{a}", f"G{b}", 4) for a in range(4) for b in range(a + 1, 4))
    machine = machine_of(
        board(slots, sockets=("SP3",), fabric=Fabric(links=wired)), cpu("SP3"), (module, 4)
    )
    assert sorted(rings(_linked(machine), 4, 99)) == [
        (0, 1, 2, 3),
        (0, 1, 3, 2),
        (0, 2, 1, 3),
        (0, 2, 3, 1),
        (0, 3, 1, 2),
        (0, 3, 2, 1),
    ]
    assert len(rings(_linked(machine), 4, 2)) == 2
    assert cut_gbs(machine.graph, (0, 1)) == 4 * 100
    assert len(only(machine.graph, ("nvlink",)).edges) == 6


@pytest.mark.parametrize(
    "cell", ["X", "NV4", "NV18", "XGMI", "PIX", "PXB", "PHB", "NODE", "SYS", ""]
)
def test_letters_are_printed_as_they_were_read(cell: str) -> None:
    assert pair_of(cell).letters == cell


@pytest.mark.parametrize("name", ["dgx-1-v100", "hgx-h100", "dual-rtx-3090", "deskmini-gtx-1070"])
def test_the_graph_goes_out_whole(name: str, catalog: Catalog, samples: list[Path]) -> None:
    machine = assemble(read_rig(next(p for p in samples if p.stem == name)), catalog)
    graph = machine.graph
    back = nx.parse_graphml(graphml(machine), force_multigraph=True)
    linked = nx.node_link_graph(json.loads(node_link(machine)), edges="edges")
    for read in (back, linked):
        assert set(read) == {f"{node.kind}:{node.name}" for node in graph}
        assert read.number_of_edges() == graph.number_of_edges()
        assert sorted((kind, *sorted((a, b))) for a, b, kind in read.edges(keys=True)) == sorted(
            (kind, *sorted(f"{node.kind}:{node.name}" for node in ends))
            for *ends, kind in graph.edges(keys=True)
        )
        gpus = [held["part"] for _, held in read.nodes(data=True) if held["kind"] == "gpu"]
        assert gpus == [gpu.gpu.name for gpu in machine.gpus]
        rates = sorted(gbs for *_, gbs in read.edges(data="gbs") if gbs is not None)
        assert rates == sorted(gbs for *_, gbs in graph.edges(data="gbs") if gbs is not None)
