"""The figures of docs/how-the-machine-is-assembled.md, recomputed."""

from pathlib import Path

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.graph import cut_gbs, narrowest_gbs, path
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import gpu_node
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.interconnect import link_rate
from rigplanner.rig.edits import Edit, apply
from rigplanner.rig.files import read_rig

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-the-machine-is-assembled.md"


@pytest.fixture
def text() -> str:
    return " ".join(PAGE.read_text("utf-8").split())


@pytest.fixture
def machine(catalog: Catalog, samples: list[Path]) -> Machine:
    return assemble(
        read_rig(next(path for path in samples if path.stem == "dual-rtx-3090")), catalog
    )


def test_the_slots_and_their_rate(machine: Machine, text: str) -> None:
    one, other = machine.gpus
    assert [(gpu.width, gpu.gen) for gpu in (one, other)] == [(8, 4), (8, 4)]
    assert "each has **8** lanes of generation **4**" in text
    assert f"= **{one.host_gbs:.1f} GB/s** to host memory" in text
    assert narrowest_gbs(machine.graph, gpu_node(0), gpu_node(1)) == one.host_gbs
    way = path(machine.graph, gpu_node(0), gpu_node(1))
    assert [node.kind for node in way[1:-1]] == ["slot", "root", "slot"]
    assert f"slot **{way[1].name}**, host bridge, slot **{way[3].name}**" in text


def test_without_the_bridge_the_letters_are_those_of_the_tree(
    catalog: Catalog, samples: list[Path], text: str
) -> None:
    rig = read_rig(next(path for path in samples if path.stem == "dual-rtx-3090"))
    bridge = next(item.uid for item in rig.items if "nvlink-bridge" in item.part)
    bare = assemble(apply(rig, Edit("remove_item", {"uid": bridge})), catalog)
    assert f"without the bridge the letters would be **{bare.matrix[0][1]}**" in text


def test_the_bridge_its_ring_and_the_all_reduce(machine: Machine, text: str) -> None:
    port = machine.gpus[0].gpu.nvlink
    assert port is not None
    (link,) = [edge for edge in machine.edges if edge.kind == "nvlink"]
    assert (
        f"**{machine.matrix[0][1]}**, {link.links} x {port.link_gbs} = **{link.gbs} GB/s**" in text
    )
    assert machine.islands == ((0, 1),)
    assert cut_gbs(machine.graph, (0,)) == link.gbs
    ring = link.links * link_rate(port)
    estimate = allreduce(machine)
    assert estimate is not None
    assert estimate.steps[0].value == pytest.approx(ring, abs=0.001)
    ratio = estimate.steps[-1].inputs["ratio"]
    assert (
        f"= **{ring:.1f} GB/s**; measured all-reduces of direct NVLink reach {ratio} of that number:"
        f" **{estimate.value:.1f} GB/s**, between {estimate.low:.1f} and {estimate.high:.1f}"
    ) in text
