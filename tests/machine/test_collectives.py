"""All-reduce over links: rings packed, bottlenecks found, measured anchors met by class."""

import statistics

import pytest
from small_parts import board, bridge, cpu, gpu, linked_gpu, machine_of, nic, slot

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, NvlinkPort
from rigplanner.machine.assemble import assemble
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.smi_matrix import SmiMatrix
from rigplanner.machine.topology.collective_time import (
    allreduce_seconds,
    allreduce_time,
    busbw_of_message,
)
from rigplanner.machine.topology.collectives import allreduce, allreduce_of_link, island_rates
from rigplanner.machine.topology.interconnect import link_rate, network_rates, nodes_of, ring_rate
from rigplanner.rig.document import Item, Rig

CUBE_MESH = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (0, 4): 2, (1, 2): 2, (1, 3): 1, (1, 5): 2, (2, 3): 2,
    (2, 6): 1, (3, 7): 1, (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
}  # fmt: skip


def both_ways(links: dict[tuple[int, int], int], rate: float) -> dict[tuple[int, int], float]:
    return {pair: count * rate for (a, b), count in links.items() for pair in ((a, b), (b, a))}


def test_the_cube_mesh_carries_as_many_rings_as_a_gpu_has_links() -> None:
    assert ring_rate(8, both_ways(CUBE_MESH, 20)) == pytest.approx(6 * 20)


def test_a_direct_board_of_four_uses_all_links() -> None:
    square = {(a, b): 4 for a in range(4) for b in range(a + 1, 4)}
    assert ring_rate(4, both_ways(square, 20)) == pytest.approx(240)


def test_links_that_close_no_ring_give_none() -> None:
    assert ring_rate(3, both_ways({(0, 1): 4}, 12)) == 0


def test_pairs_meet_over_pcie() -> None:
    four = board([slot(name, 2 * n + 1) for n, name in enumerate("ABCD")])
    machine = machine_of(four, cpu(), (linked_gpu(slots=1), 4), (bridge(2), 2))
    assert machine.islands == ((0, 1), (2, 3))
    whole, pairs = allreduce(machine), island_rates(machine)
    assert whole is not None
    assert whole.steps[-1].name == "pcie-staged"
    assert [island for island, _ in pairs] == [(0, 1), (2, 3)]
    assert pairs[0][1].value > 2 * whole.value


def test_one_gpu_reduces_nothing() -> None:
    assert allreduce(machine_of(board([slot("A", 1)]), cpu(), gpu())) is None
    assert allreduce_of_link(gpu(), 1, "pcie") is None


def test_a_narrow_slot_holds_the_ring_back() -> None:
    wide = allreduce(machine_of(board([slot("A", 1), slot("B", 4)]), cpu(), (gpu(), 2)))
    narrow = allreduce(machine_of(board([slot("A", 1), slot("B", 4, 4)]), cpu(), (gpu(), 2)))
    assert wide is not None
    assert narrow is not None
    assert narrow.value == pytest.approx(wide.value / 4)


def test_time_grows_with_size_and_has_a_floor() -> None:
    estimate = allreduce_of_link(gpu(), 4, "pcie")
    assert estimate is not None
    small, large = allreduce_time(8, estimate, 4), allreduce_time(1e11, estimate, 4)
    assert 5e-6 < small.low < small.value < small.high < 5e-5
    assert large.value == pytest.approx(1e11 * 1.5 / (estimate.value * 1e9), rel=0.01)
    assert busbw_of_message(1e11, estimate, 4).low == pytest.approx(estimate.low, rel=0.01)
    assert allreduce_time(1e9, estimate, 1).value == 0
    kind = estimate.steps[-1].name
    assert allreduce_seconds(1e6, estimate.value, kind, 4) == allreduce_time(1e6, estimate, 4).value
    assert (
        allreduce_time(8, estimate, 64, 8, trees=False).value
        > allreduce_time(8, estimate, 64, 8).value
    )
    ordered = [busbw_of_message(2.0**power, estimate, 4).value for power in range(8, 34)]
    assert ordered == sorted(ordered)


def test_nvlink_sharp_needs_a_switch_and_hopper() -> None:
    port = NvlinkPort(generation=4, links=18, link_gbs=25)
    hopper = gpu("h", compute_capability="9.0", nvlink=port)
    estimate = allreduce_of_link(hopper, 8, "nvswitch")
    assert estimate is not None
    assert estimate.steps[-1].name == "nvls"
    ampere = allreduce_of_link(gpu("a", compute_capability="8.0", nvlink=port), 8, "nvswitch")
    assert ampere is not None
    assert ampere.steps[-1].name == "nvswitch"


MEASURED: tuple[tuple[str, int, str, float, str], ...] = (
    ("A100 PCIe 80GB", 2, "nvlink-bridge", 208, "NVIDIA/nccl-tests issue 178"),
    ("A100 PCIe 80GB", 3, "nvlink-bridge", 20, "NVIDIA/nccl-tests issue 178, across pairs"),
    ("H100 NVL", 2, "pcie", 50, "a forum's text: a pair before its bridge came"),
    ("A100 SXM4 80GB", 8, "nvswitch", 220, "NVIDIA/nccl-tests issue 228"),
    ("H100 SXM5", 8, "nvswitch", 480, "NVIDIA/nccl-tests issue 212, NVLink SHARP"),
    ("RTX 4090", 8, "pcie", 14.47, "blog.chlc.cc: two EPYC 7542, stock driver"),
    ("RTX 5090", 8, "pcie", 28, "NVIDIA/nccl issue 1639, two Xeon 8480+"),
    ("RTX 5090", 4, "pcie", 35, "NVIDIA/nccl issue 1639, one Xeon 8480+"),
    ("RTX PRO 6000 Blackwell Workstation", 8, "pcie", 37.6, "voipmonitor/rtx6kpro, two Turin"),
    ("RTX PRO 6000 Blackwell Max-Q", 8, "pcie", 41.1, "voipmonitor/rtx6kpro, three switches"),
)
"""Bus bandwidth of an all-reduce in GB/s that owners measured (read 2026-11-23): GPU, count, link
word of a case, rate, source."""


def test_measured_bandwidths_are_met(catalog: Catalog) -> None:
    index = PartIndex(catalog.of_kind("gpu"))
    errors, inside = [], []
    for name, count, link, measured, _ in MEASURED:
        part = index.find(name, "gpu", 1)[0]
        assert isinstance(part, GPU), name
        estimate = allreduce_of_link(part, count, link)
        assert estimate is not None
        errors.append(abs(estimate.value / measured - 1))
        inside.append(estimate.low <= measured <= estimate.high)
    assert statistics.median(errors) < 0.15
    assert sum(inside) / len(inside) >= 0.8


PUBLISHED_LINKS = {
    "nvidia.tesla.p100-sxm2-16gb": 18.0,
    "nvidia.tesla.v100-sxm2-16gb": 20.0,
    "nvidia.datacenter.a100-sxm4-40gb": 20.0,
    "nvidia.geforce.rtx-3090": 12.0,
    "nvidia.rtx.a6000": 12.0,
    "nvidia.datacenter.h100-sxm5-80gb": 20.6,
    "nvidia.datacenter.b200-sxm6-180gb": 40.1,
}
"""GB/s that NCCL counts for one NVLink of a GPU (NVIDIA/nccl, src/graph/topo.h, SM60 to SM100; read
2026-11-23)."""


@pytest.mark.parametrize(("card", "published"), PUBLISHED_LINKS.items())
def test_a_link_has_the_rate_that_nccl_counts(
    card: str, published: float, catalog: Catalog
) -> None:
    part = catalog.get(card)
    assert isinstance(part, GPU), card
    assert part.nvlink is not None
    assert link_rate(part.nvlink) == pytest.approx(published, rel=0.002)


def test_two_boards_meet_over_their_network() -> None:
    one = board([slot("A", 1), slot("B", 4), slot("N", 7)])
    machine = machine_of((one, 2), (cpu(), 2), (gpu(), 3), (nic(), 2))
    boards = [f"{use.piece}@{use.board[-1]}" for use in machine.slots_in_use]
    assert boards == ["gpu.0@0", "gpu.1@0", "gpu.2@0", "nic.0@1", "nic.1@1"]
    assert machine.problems == ()
    spread = machine_of((one, 2), (cpu(), 2), (gpu(slots=1), 4), (nic(port_gbps=100), 2))
    assert spread.matrix[0][1] == "PHB"
    assert spread.matrix[0][3] == ""
    estimate = allreduce(spread)
    assert estimate is not None
    assert estimate.steps[-1].name == "network"
    assert nodes_of(spread, (0, 1, 2, 3)) == {"motherboard.0": (0, 1), "motherboard.1": (2, 3)}
    assert network_rates(spread, (0, 1, 2, 3)) == {"motherboard.0": 12.5, "motherboard.1": 12.5}
    assert [gpu.numa for gpu in spread.gpus] == [0, 0, 0, 0]


def test_without_a_port_on_each_board_the_network_is_not_known() -> None:
    one = board([slot("A", 1), slot("B", 4), slot("N", 7)])
    half = machine_of((one, 2), (cpu(), 2), (gpu(slots=1), 4), nic(port_gbps=100))
    assert network_rates(half, (0, 1, 2, 3)) == {"motherboard.0": 12.5, "motherboard.1": None}
    assert allreduce(half) is None
    assert allreduce(half, (0, 1)) is not None


def test_equal_boards_share_out_what_their_number_divides() -> None:
    one = board([slot("A", 1), slot("B", 3), slot("C", 5), slot("N", 7)])

    def on_boards(*parts: object) -> list[str]:
        machine = machine_of((one, 2), (cpu(), 2), *parts)
        return [f"{use.piece}@{use.board}" for use in machine.slots_in_use]

    even = on_boards((gpu(slots=1), 2), (nic(), 2))
    assert even == [
        "gpu.0@motherboard.0",
        "nic.0@motherboard.0",
        "gpu.1@motherboard.1",
        "nic.1@motherboard.1",
    ]
    assert {word.partition("@")[2] for word in on_boards((gpu(slots=1), 3))} == {"motherboard.0"}
    alone = machine_of((one, 2), cpu(), (gpu(slots=1), 2))
    assert {use.board for use in alone.slots_in_use} == {"motherboard.0"}


def test_a_measurement_that_was_not_fitted(catalog: Catalog) -> None:
    """8x H800 (8 links): 215 GB/s measured in NVIDIA/nccl issue 1374; its ratio stands in no table
    here."""
    part = catalog.get("nvidia.datacenter.h800-sxm5-80gb")
    assert isinstance(part, GPU)
    estimate = allreduce_of_link(part, 8, "nvswitch")
    assert estimate is not None
    assert estimate.value == pytest.approx(215, rel=0.15)
    assert estimate.low <= 215 <= estimate.high


def test_a_bridged_hopper_pair_states_the_one_published_rate(catalog: Catalog) -> None:
    for name in ("h100-pcie-80gb", "h100-nvl-94gb"):
        gpu = catalog.parts[f"nvidia.datacenter.{name}"]
        assert isinstance(gpu, GPU)
        estimate = allreduce_of_link(gpu, 2, "nvlink-bridge")
        assert estimate is not None
        assert estimate.steps[-1].name == "nvlink-hopper-bridge"
        assert "only pair published" in estimate.steps[-1].source
        slow = allreduce_of_link(gpu, 2, "pcie")
        assert slow is not None
        assert allreduce_time(8, estimate, 2).value < allreduce_time(8, slow, 2).value, (
            "hops over a bridge are hops over NVLink"
        )
        if name.startswith("h100-pcie"):
            assert estimate.low < 116.3 < 208.0 < estimate.high
    ampere = catalog.parts["nvidia.datacenter.a100-pcie-80gb"]
    assert isinstance(ampere, GPU)
    other = allreduce_of_link(ampere, 2, "nvlink-bridge")
    assert other is not None
    assert other.steps[-1].name == "nvlink"


def test_two_nodes_are_as_fast_as_one_where_their_ports_suffice(catalog: Catalog) -> None:
    """Between two nodes the pair of trees sends each byte once: 464 to 487 GB/s over 2 x 8 H100,
    684 over 2 x 8 B200."""
    hopper, blackwell = (
        catalog.get("nvidia.datacenter.h100-sxm5-80gb"),
        catalog.get("nvidia.datacenter.b200-sxm6-180gb"),
    )
    assert isinstance(hopper, GPU)
    assert isinstance(blackwell, GPU)
    one, two, four = (
        allreduce_of_link(hopper, 8 * nodes, "nvswitch", nodes) for nodes in (1, 2, 4)
    )
    assert one is not None
    assert two is not None
    assert four is not None
    assert two.value == pytest.approx(one.value)
    assert four.steps[-1].name == "network"
    assert four.value == pytest.approx(0.9 * 400)
    held = allreduce_of_link(blackwell, 16, "nvswitch", 2)
    assert held is not None
    assert held.steps[-1].name == "network"
    assert held.low < 684 < held.high


def test_a_few_gpus_of_a_node_have_their_share_of_its_ports(catalog: Catalog) -> None:
    hopper = catalog.get("nvidia.datacenter.h100-sxm5-80gb")
    assert isinstance(hopper, GPU)
    few, named = (
        allreduce_of_link(hopper, 4, "nvswitch", 2),
        allreduce_of_link(hopper, 16, "nvswitch", 2, network=50.0),
    )
    assert few is not None
    assert named is not None
    assert few.low < 148 < few.high
    assert named.value == pytest.approx(0.9 * 50 * 2 * 15 / 16)


def test_modules_have_the_network_of_their_nodes_by_either_word(catalog: Catalog) -> None:
    """Nodes of A100 and later modules are built with a port per GPU, whatever their links are
    called; V100 in meshes were not."""
    ampere, volta = (
        catalog.get(f"nvidia.{name}")
        for name in ("datacenter.a100-sxm4-80gb", "tesla.v100-sxm2-16gb")
    )
    assert isinstance(ampere, GPU)
    assert isinstance(volta, GPU)
    rates = [allreduce_of_link(ampere, 32, link, 4) for link in ("nvswitch", "nvlink-mesh")]
    plain = allreduce_of_link(volta, 32, "nvlink-mesh", 4)
    assert rates[0] == rates[1] is not None
    assert plain is not None
    assert plain.value == pytest.approx(0.9 * 12.5)


@pytest.mark.parametrize(
    ("letter", "peers", "value"),
    [
        ("PIX", "NS", 0.6 * 6),
        ("PHB", "NS", 0.6 * 12),
        ("PIX", "OK", 1.04 * 12),
        ("PIX", "", 0.6 * 6),
    ],
)
def test_copies_through_the_host_share_the_link_of_a_switch(
    letter: str, peers: str, value: float, catalog: Catalog
) -> None:
    """Two RTX 2080 Ti below one Gen3 switch: 4.0 GB/s, of which each direction carries both cards'
    copies."""
    card = catalog.get("nvidia.geforce.rtx-2080-ti")
    assert isinstance(card, GPU)
    cells = (("X", letter), (letter, "X"))
    tables = ((("X", peers), (peers, "X")),) if peers else ()
    names = ("GPU0", "GPU1")
    machine = machine_of_matrix(
        SmiMatrix(devices=names, rows=names, cells=cells, numa_affinity=("", ""), peers=tables),
        card,
    )
    estimate = allreduce(machine)
    assert estimate is not None
    assert estimate.value == pytest.approx(value)


def test_peer_access_is_faster_than_the_host_across_sockets_too(catalog: Catalog) -> None:
    rates = {}
    for name in ("nvidia.geforce.rtx-4090", "nvidia.datacenter.a100-pcie-80gb"):
        items = (
            Item(uid="system", part="supermicro.a-plus.as-4124gs-tnr"),
            Item(uid="cpu", part="amd.epyc.7543", quantity=2),
            Item(uid="card", part=name, quantity=8),
        )
        estimate = allreduce(assemble(Rig(items=items), catalog))
        assert estimate is not None
        rates[name] = (estimate.steps[-1].name, round(estimate.value, 1))
    assert rates == {
        "nvidia.geforce.rtx-4090": ("pcie-staged", 14.4),
        "nvidia.datacenter.a100-pcie-80gb": ("pcie-host", 21.6),
    }
