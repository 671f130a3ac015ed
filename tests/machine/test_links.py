"""PCIe tree, matrix letters, NUMA, NVLink fabrics, peer access."""

import pytest
from small_parts import board, bridge, cpu, gpu, linked_gpu, m2, machine_of, nic, pair_board, slot

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, DrivePort, Fabric, Link, NvlinkPort, Switch
from rigplanner.machine.graph import cut_gbs
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import gpu_node
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.peer import direct_paths
from rigplanner.rig.document import Settings


def letters(machine: Machine) -> list[str]:
    return [" ".join(row) for row in machine.matrix]


def switched_board(**more: object):  # type: ignore[no-untyped-def]
    """Two sockets; on the first two switches below one another, on the second a plain slot."""
    return board(
        [
            slot("A", origin="low"),
            slot("B", origin="low"),
            slot("C", origin="high"),
            slot("D", origin="cpu1"),
            slot("N", origin="low"),
        ],
        sockets=("LGA2011-3", "LGA2011-3"),
        switches=[
            Switch(id="high", model="PEX", origin="cpu0", gen=3, width=16),
            Switch(id="low", model="PEX", origin="high", gen=3, width=16),
        ],
        **more,
    )


def test_letters_name_the_worst_segment() -> None:
    machine = machine_of(
        switched_board(),
        (cpu("LGA2011-3"), 2),
        (gpu(), 4, ("A", "B", "C", "D")),
        (nic(), 1, ("N",)),
    )
    assert letters(machine) == [
        "X PIX PXB SYS PIX",
        "PIX X PXB SYS PIX",
        "PXB PXB X SYS PXB",
        "SYS SYS SYS X SYS",
        "PIX PIX PXB SYS X",
    ]


@pytest.mark.parametrize(
    ("socket", "letter"),
    [
        ("AM5", "PHB"),
        ("LGA1700", "PHB"),
        ("LGA2011-3", "PHB"),
        ("LGA2066", "NODE"),
        ("SP3", "NODE"),
    ],
)
def test_two_slots_of_one_cpu(socket: str, letter: str) -> None:
    machine = machine_of(
        board([slot("A", 1), slot("B", 4)], sockets=(socket,)), cpu(socket), (gpu(), 2)
    )
    assert machine.matrix[0][1] == letter


def test_slots_of_one_quadrant_share_a_host_bridge() -> None:
    epyc = board(
        [slot("A", 1, root="q0"), slot("B", 3, root="q0"), slot("C", 5, root="q1")],
        sockets=("SP3",),
    )
    machine = machine_of(epyc, cpu("SP3"), (gpu(), 3))
    assert [node.place for node in machine.gpus] == ["C", "A", "B"]
    assert letters(machine) == ["X NODE NODE", "NODE X PHB", "NODE PHB X"]
    assert machine.unknown == ()


def test_a_guessed_host_bridge_is_named() -> None:
    epyc = board([slot("A", 1), slot("B", 3)], sockets=("SP3",))
    assert machine_of(epyc, cpu("SP3"), (gpu(), 2)).unknown == (
        "test.board.one:layout.slots.A.root",
        "test.board.one:layout.slots.B.root",
    )


def test_four_numa_nodes_per_socket_turn_pairs_into_sys() -> None:
    slots = [
        slot(name, 2 * n + 1, origin=f"cpu{n // 4}", root=f"q{n % 4}")
        for n, name in enumerate("ABCDEFGH")
    ]
    rome = board(slots, sockets=("SP3", "SP3"))
    four = machine_of(rome, (cpu("SP3"), 2), (gpu(), 8), settings=Settings(numa_per_socket=4))
    assert {cell for row in four.matrix for cell in row} == {"X", "SYS"}
    assert [node.numa for node in four.gpus] == [3, 2, 1, 0, 7, 6, 5, 4]
    one = machine_of(rome, (cpu("SP3"), 2), (gpu(), 8))
    assert one.matrix[0] == ("X", "NODE", "NODE", "NODE", "SYS", "SYS", "SYS", "SYS")


def test_two_dies_of_a_board_meet_in_its_own_switch() -> None:
    machine = machine_of(
        switched_board(), (cpu("LGA2011-3"), 2), (gpu("twin", dies=2), 2, ("C", "D"))
    )
    assert letters(machine) == ["X PIX SYS SYS", "PIX X SYS SYS", "SYS SYS X PIX", "SYS SYS PIX X"]
    assert [node.piece for node in machine.gpus] == ["gpu.0", "gpu.0", "gpu.1", "gpu.1"]


def test_a_bridge_of_four_shares_out_the_links_of_its_cards(catalog: Catalog) -> None:
    """H200 NVL on the four-way bridge: 900 GB/s in both directions per card, 1.8 TB/s for the four
    (NVIDIA H200 NVL; uvation.com, NVIDIA H200 and NVLink Bridges, read 2026-11-23), so six of
    eighteen links to each of three peers."""
    card = catalog.get("nvidia.datacenter.h200-nvl-141gb")
    joint = catalog.get("nvidia.nvlink-bridge.h200-nvl-4-way")
    assert isinstance(card, GPU)
    slots = [slot(f"S{n}", 1 + 2 * n, gen=5) for n in range(4)]
    machine = machine_of(board(slots, sockets=("SP5",)), cpu("SP5"), (card, 4), joint)
    assert machine.problems == ()
    assert letters(machine)[0] == "X NV6 NV6 NV6"
    linked = [edge for edge in machine.edges if edge.kind == "nvlink"]
    own = [edge.gbs for edge in linked if gpu_node(0) in (edge.a, edge.b)]
    assert 2 * sum(rate for rate in own if rate) == 900
    assert 2 * sum(edge.gbs for edge in linked if edge.gbs) == 1800
    assert cut_gbs(machine.graph, (0, 1)) == 4 * 150


def test_a_direct_fabric_and_an_nvswitch() -> None:
    port = NvlinkPort(generation=3, links=12, link_gbs=25)
    module = gpu("sxm", form_factor="sxm4", nvlink=port, has_nvlink=True)
    slots = [slot(f"G{n}", kind="sxm4", mechanical=None) for n in range(4)]
    pairs = tuple(Link(f"G{a}", f"G{b}", 4) for a in range(4) for b in range(a + 1, 4))
    direct = machine_of(
        board(slots, sockets=("SP3",), fabric=Fabric(links=pairs)), cpu("SP3"), (module, 4)
    )
    assert letters(direct)[0] == "X NV4 NV4 NV4"
    assert {
        (edge.kind, edge.links, edge.gbs) for edge in direct.edges if edge.kind.startswith("nv")
    } == {("nvlink", 4, 100.0)}
    switched = machine_of(
        board(slots, sockets=("SP3",), fabric=Fabric(switch="nvswitch2", switches=6)),
        cpu("SP3"),
        (module, 3),
    )
    assert letters(switched)[0] == "X NV12 NV12"
    assert switched.islands == ((0, 1, 2),)


def test_a_card_in_a_pcie_slot_is_not_wired_to_the_nvswitch_of_the_modules() -> None:
    port = NvlinkPort(generation=4, links=18, link_gbs=25)
    module, card = (
        gpu(form, form_factor=form, nvlink=port, has_nvlink=True) for form in ("sxm5", "pcie")
    )
    slots = [*(slot(f"G{n}", kind="sxm5", mechanical=None) for n in range(2)), slot("P", 1)]
    machine = machine_of(
        board(slots, sockets=("SP5",), fabric=Fabric(switch="nvswitch3", switches=4)),
        (module, 2),
        card,
    )
    assert machine.islands == ((0, 1), (2,))
    assert [edge.a.name for edge in machine.edges if edge.kind == "nvswitch"] == ["gpu0", "gpu1"]


def test_links_to_the_cpu_are_edges_without_a_label() -> None:
    port = NvlinkPort(generation=2, links=6, link_gbs=25)
    module = gpu("v100", form_factor="sxm2", nvlink=port, has_nvlink=True)
    power = board(
        [slot("G0", kind="sxm2"), slot("G1", kind="sxm2")],
        sockets=("POWER9",),
        fabric=Fabric(links=(Link("G0", "G1", 3),), cpu_links={"G0": 3, "G1": 3}),
    )
    machine = machine_of(power, cpu("POWER9"), (module, 2))
    assert machine.matrix[0][1] == "NV3"
    assert [
        (edge.a.name, edge.b.name, edge.links) for edge in machine.edges if edge.kind == "nvlink"
    ] == [
        ("gpu0", "gpu1", 3),
        ("gpu0", "cpu0", 3),
        ("gpu1", "cpu0", 3),
    ]


def test_peer_access_follows_the_cards_policy_and_the_driver() -> None:
    geforce = gpu("geforce", p2p="no")
    assert machine_of(pair_board(), cpu(), (geforce, 2)).p2p[0][1] == "GNS"
    assert (
        machine_of(
            pair_board(), cpu(), (geforce, 2), settings=Settings(peer_to_peer_driver=True)
        ).p2p[0][1]
        == "OK"
    )
    assert machine_of(pair_board(), cpu(), (linked_gpu(), 2)).p2p[0][1] == "CNS"
    assert machine_of(pair_board(), cpu(), (linked_gpu(), 2), bridge(3)).p2p[0][1] == "OK"
    assert machine_of(pair_board(), cpu(), (gpu(p2p=None), 2)).p2p[0][1] == ""


@pytest.mark.parametrize(
    ("chip", "other", "answer"),
    [("AD102", "AD102", "OK"), ("AD102", "AD104", "NS"), ("AD102", None, ""), (None, None, "")],
)
def test_cards_of_one_chip_exchange_and_of_two_do_not(
    chip: str | None, other: str | None, answer: str
) -> None:
    cards = gpu("one", p2p="yes", chip=chip), gpu("two", p2p="yes", chip=other)
    assert machine_of(pair_board(), cpu(), *cards).p2p[0][1] == answer


def test_the_uplink_of_a_switch_limits_the_host_rate() -> None:
    machine = machine_of(switched_board(), (cpu("LGA2011-3"), 2), (gpu(), 1, ("A",)))
    assert machine.gpus[0].gen == 4
    assert machine.gpus[0].host_gbs == link_gbs(3, 16)
    assert [(edge.a.name, edge.b.name) for edge in machine.edges if edge.kind == "pcie"] == [
        ("cpu0", "high"),
        ("high", "low"),
        ("low", "gpu0"),
    ]


def test_a_chipset_slot_passes_the_chipset_link() -> None:
    machine = machine_of(pair_board(), cpu(), (gpu(), 1, ("S3",)))
    assert machine.gpus[0].host_gbs == link_gbs(4, 4)
    assert ("cpu0", "chipset", "chipset") in {
        (edge.a.name, edge.b.name, edge.kind) for edge in machine.edges
    }


def test_rates_are_those_measured() -> None:
    assert link_gbs(4, 16) == pytest.approx(25.8, rel=0.01)
    assert link_gbs(5, 16) == pytest.approx(55.4, rel=0.01)
    assert link_gbs(None, 16) is None


def test_lanes_are_counted() -> None:
    drives = [DrivePort(id="M", kind="m2", origin="cpu0", gen=4, width=4)]
    machine = machine_of(board([slot("A", 1)], drives), cpu(lanes=20), gpu(), m2())
    assert (machine.lanes_used, machine.lanes_total) == (20, 20)


def test_network_cards_without_rdma_are_not_in_the_matrix() -> None:
    machine = machine_of(pair_board(), cpu(), (nic(rdma=False), 1))
    assert machine.nics == ()
    two_ports = machine_of(pair_board(), cpu(), gpu(), nic(ports=2))
    assert letters(two_ports) == ["X PHB PHB", "PHB X PIX", "PHB PIX X"]


def test_a_path_to_every_port_is_named_by_its_letter() -> None:
    two = board([slot("A", 1), slot("N", 4), slot("F", 7, origin="cpu1")], sockets=("SP3", "SP3"))
    machine = machine_of(two, (cpu("SP3"), 2), (gpu(), 1, ("A",)), (nic(), 2, ("N", "F")))
    assert [(path.device, path.letter) for path in direct_paths(machine)] == [
        ("nic0", "NODE"),
        ("nic1", "SYS"),
    ]


def test_gpus_are_numbered_in_the_order_of_their_buses() -> None:
    epyc = board(
        [
            slot("A", 1, root="q1"),
            slot("B", 3, root="q3"),
            slot("C", 5, origin="cpu1", root="q0"),
            slot("D", 7, root="q1"),
        ],
        sockets=("SP3", "SP3"),
    )
    machine = machine_of(epyc, (cpu("SP3"), 2), (gpu(), 4), settings=Settings(numa_per_socket=4))
    assert [(node.place, node.numa) for node in machine.gpus] == [
        ("B", 3),
        ("A", 1),
        ("D", 1),
        ("C", 4),
    ]
    assert letters(machine)[1] == "SYS X PHB SYS"


def test_a_baseboard_hangs_on_a_host_of_its_own() -> None:
    port = NvlinkPort(generation=4, links=18, link_gbs=25)
    module = gpu("sxm", form_factor="sxm5", nvlink=port, has_nvlink=True)
    slots = [slot(f"G{n}", kind="sxm5", mechanical=None, origin=None) for n in range(2)]
    machine = machine_of(
        board(slots, sockets=(), fabric=Fabric(switch="nvswitch3", switches=4)), (module, 2)
    )
    assert [(edge.a.name, edge.b.name) for edge in machine.edges if edge.kind == "pcie"] == [
        ("host", "gpu0"),
        ("host", "gpu1"),
    ]
    assert letters(machine) == ["X NV18", "NV18 X"]
