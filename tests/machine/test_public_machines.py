"""Machines whose owners published board, cards and matrix: the catalog's parts must give the same
letters and widths."""

import pytest
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.model import Machine
from rigplanner.rig.document import Item, Rig, Settings

CLUB = "noonghunna/club-3090 issue {}"
RTX3090 = "gigabyte.turbo.rtx-3090"
"""Two slots thick; owners of thicker cards hang them on risers, with the same links."""


RTX6000, SWITCH = "nvidia.rtx-pro.6000-blackwell-server", "c-payne.switch.pm50100-gen5-100-lane"


class Owner(Struct, frozen=True):
    """Board, CPU, slots of the GPUs, and what `nvidia-smi topo -m` and `lspci` showed: one letter
    per pair, lanes per GPU."""

    source: str
    board: str
    cpu: str
    slots: tuple[str, ...]
    letters: tuple[str, ...]
    lanes: tuple[int, ...]
    card: str = RTX3090


FIVE = ("NODE",) * 9 + ("PHB",)
"""Pairs of five cards of which the last two share a host bridge."""

OWNERS = (
    Owner(
        CLUB.format("1125, which does not name the slots"),
        "supermicro.h12.h12ssl-nt",
        "amd.epyc.7302p",
        ("SLOT7", "SLOT5"),
        ("NODE",),
        (16, 16),
    ),
    Owner(
        CLUB.format("1129, buses 01, 21, 41, 61 on four host bridges; slots not named"),
        "asrock-rack.wrx80.wrx80d8-2t",
        "amd.threadripper-pro.3975wx",
        ("PCIE1", "PCIE3", "PCIE5", "PCIE7"),
        ("NODE",) * 6,
        (16, 16, 16, 16),
    ),
    Owner(
        CLUB.format("1098, 1105 and 1133: slots 1 and 5, ports 01.1 and 03.1 of one bridge"),
        "asrock.creator.wrx80-creator-r2-0",
        "amd.threadripper-pro.3975wx",
        ("PCIE1", "PCIE5"),
        ("PHB",),
        (16, 16),
    ),
    Owner(
        CLUB.format("1095"),
        "gigabyte.aorus.x570-aorus-master",
        "amd.ryzen.9-5900x",
        ("PCIEX16", "PCIEX8"),
        ("PHB",),
        (8, 8),
    ),
    Owner(
        CLUB.format("1120, PCIe tree with ports 03.1 and 03.2 of one root"),
        "msi.meg.x570-unify",
        "amd.ryzen.9-5950x",
        ("PCI_E1", "PCI_E3"),
        ("PHB",),
        (8, 8),
    ),
    Owner(
        "aikitoria/open-gpu-kernel-modules issue 13, five cards of 64 logical CPUs; board not"
        " named",
        "asrock-rack.romed8.romed8-2t",
        "amd.epyc.7502p",
        ("PCIE2", "PCIE4", "PCIE7", "PCIE3", "PCIE6"),
        FIVE,
        (16,) * 5,
        "nvidia.rtx.a4000",
    ),
    Owner(
        "horovod/horovod issue 969, the slower machine; board not named",
        "asus.x99.x99-e-ws",
        "intel.xeon.e5-1650-v3",
        ("PCIEX16_1", "PCIEX16_3", "PCIEX16_5", "PCIEX16_7"),
        ("PIX", "PHB", "PHB", "PHB", "PHB", "PIX"),
        (16,) * 4,
    ),
)


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.board)
def test_letters_and_lanes_are_those_published(owner: Owner, catalog: Catalog) -> None:
    cards = Item(uid="gpu", part=owner.card, quantity=len(owner.slots), places=owner.slots)
    items = (Item(uid="board", part=owner.board), Item(uid="cpu", part=owner.cpu), cards)
    assert [item.part for item in items if catalog.get(item.part) is None] == []
    machine = assemble(Rig(items=items), catalog)
    assert machine.problems == ()
    pairs = [(a, b) for a in range(len(machine.gpus)) for b in range(a + 1, len(machine.gpus))]
    assert tuple(machine.matrix[a][b] for a, b in pairs) == owner.letters
    assert tuple(gpu.width for gpu in machine.gpus) == owner.lanes


def test_slots_of_one_quadrant_share_a_host_bridge(catalog: Catalog) -> None:
    """linuxhw/DMI: on the ROMED8-2T the slots PCIE3 and PCIE6 have buses c1 and c5, PCIE5 bus 01,
    PCIE7 bus 81."""
    cards = Item(
        uid="gpu", part="nvidia.rtx.a4000", quantity=4, places=("PCIE3", "PCIE5", "PCIE6", "PCIE7")
    )
    items = (
        Item(uid="board", part="asrock-rack.romed8.romed8-2t"),
        Item(uid="cpu", part="amd.epyc.7443p"),
        cards,
    )
    machine = assemble(Rig(items=items), catalog)
    place = {gpu.place: gpu.index for gpu in machine.gpus}
    assert machine.matrix[place["PCIE3"]][place["PCIE6"]] == "PHB"
    assert {machine.matrix[place["PCIE3"]][place[other]] for other in ("PCIE5", "PCIE7")} == {
        "NODE"
    }


@pytest.mark.parametrize(
    ("board", "cpu", "pairs"),
    [
        (
            "gigabyte.mz.mz32-ar0",
            "amd.epyc.7302p",
            {"PCIE_1 PCIE_3": "PHB", "PCIE_5 PCIE_7": "PHB", "PCIE_3 PCIE_4": "NODE"},
        ),
        (
            "asrock-rack.epycd8.epycd8-2t",
            "amd.epyc.7302p",
            {"PCIE3 PCIE7": "PHB", "PCIE5 PCIE7": "NODE"},
        ),
        (
            "asrock-rack.epycd8.epycd8-2t",
            "amd.epyc.7551p",
            {"PCIE3 PCIE7": "PHB", "PCIE5 PCIE7": "SYS"},
        ),
        ("gigabyte.mz.mz31-ar0", "amd.epyc.7601", {"PCIE_3 PCIE_7": "PHB", "PCIE_3 PCIE_6": "SYS"}),
    ],
)
def test_bus_addresses_tell_the_host_bridges(
    board: str, cpu: str, pairs: dict[str, str], catalog: Catalog
) -> None:
    """linuxhw/DMI: bus addresses of the slots of MZ32-AR0, EPYCD8-2T and MZ31-AR0. The dies of
    Naples are NUMA nodes."""
    for pair, letters in pairs.items():
        cards = Item(uid="gpu", part="nvidia.rtx.a4000", quantity=2, places=tuple(pair.split()))
        machine = assemble(
            Rig(items=(Item(uid="board", part=board), Item(uid="cpu", part=cpu), cards)), catalog
        )
        assert machine.problems == ()
        assert machine.matrix[0][1] == letters, pair


def test_on_naples_the_first_buses_belong_to_the_first_node(catalog: Catalog) -> None:
    cards = Item(uid="gpu", part="nvidia.rtx.a4000", quantity=2, places=("PCIE2", "PCIE1"))
    items = (
        Item(uid="board", part="asrock-rack.epycd8.epycd8-2t"),
        Item(uid="cpu", part="amd.epyc.7551p"),
        cards,
    )
    assert {gpu.place: gpu.numa for gpu in assemble(Rig(items=items), catalog).gpus} == {
        "PCIE2": 0,
        "PCIE1": 3,
    }


def test_the_network_slot_of_a_4124_shares_the_bridge_of_one_card(catalog: Catalog) -> None:
    """linuxhw/DMI: SLOT2 and SLOT5 of the AS-4124GS-TNR have buses c1 and c2, the other slots of
    the second CPU 81, a1 and e1."""
    items = (
        Item(uid="system", part="supermicro.a-plus.as-4124gs-tnr"),
        Item(uid="cpu", part="amd.epyc.7543", quantity=2),
        Item(
            uid="gpu",
            part="nvidia.rtx.a6000",
            quantity=4,
            places=("SLOT1", "SLOT2", "SLOT3", "SLOT4"),
        ),
        Item(uid="nic", part="nvidia.connectx-4.connectx-4-mcx456a-ecat", places=("SLOT5",)),
    )
    machine = assemble(Rig(items=items), catalog)
    ports = {gpu.place: machine.matrix[gpu.index][len(machine.gpus)] for gpu in machine.gpus}
    assert ports == {"SLOT1": "NODE", "SLOT2": "PHB", "SLOT3": "NODE", "SLOT4": "NODE"}


class Server(Struct, frozen=True):
    """A complete system, two CPUs, cards and bridges that fill it, NUMA nodes of a socket, and its
    rows, cores and nodes as published."""

    source: str
    system: str
    rows: tuple[str, ...]
    cpu: str = ""
    card: str = ""
    count: int = 0
    numa: int | None = None
    bridges: tuple[str, int] | None = None
    cores: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()


RIGHT = "SYS " * 6
FIRST_NV12, SECOND_NV12 = "X " + "NV12 " * 7, "NV12 X " + "NV12 " * 6
SERVERS = (
    Server(
        "report of a Talos cluster on DGX H100, twelve network ports",
        "nvidia.dgx.dgx-h100",
        (
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PXB NODE NODE NODE NODE NODE " + RIGHT,
            "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE NODE NODE PXB NODE NODE " + RIGHT,
            "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 NODE NODE NODE NODE PXB NODE " + RIGHT,
            "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 NODE NODE NODE NODE NODE PXB " + RIGHT,
            "NV18 NV18 NV18 NV18 X NV18 NV18 NV18 " + RIGHT + "PXB NODE NODE NODE NODE NODE",
            "NV18 NV18 NV18 NV18 NV18 X NV18 NV18 " + RIGHT + "NODE NODE NODE PXB NODE NODE",
            "NV18 NV18 NV18 NV18 NV18 NV18 X NV18 " + RIGHT + "NODE NODE NODE NODE PXB NODE",
            "NV18 NV18 NV18 NV18 NV18 NV18 NV18 X " + RIGHT + "NODE NODE NODE NODE NODE PXB",
            "PXB NODE NODE NODE SYS SYS SYS SYS X NODE NODE NODE NODE NODE " + RIGHT,
            "NODE NODE NODE NODE SYS SYS SYS SYS NODE X PIX NODE NODE NODE " + RIGHT,
        ),
    ),
    Server(
        "Sheffield SHARC: lab on a DGX-1 of P100",
        "nvidia.dgx.dgx-1-p100",
        (
            "X NV1 NV1 NV1 NV1 SYS SYS SYS PIX PHB SYS SYS",
            "NV1 X NV1 NV1 SYS NV1 SYS SYS PIX PHB SYS SYS",
            "NV1 NV1 X NV1 SYS SYS NV1 SYS PHB PIX SYS SYS",
            "NV1 NV1 NV1 X SYS SYS SYS NV1 PHB PIX SYS SYS",
            "NV1 SYS SYS SYS X NV1 NV1 NV1 SYS SYS PIX PHB",
            "SYS NV1 SYS SYS NV1 X NV1 NV1 SYS SYS PIX PHB",
            "SYS SYS NV1 SYS NV1 NV1 X NV1 SYS SYS PHB PIX",
            "SYS SYS SYS NV1 NV1 NV1 NV1 X SYS SYS PHB PIX",
        ),
    ),
    Server(
        "PaddlePaddle: SE-ResNeXt on eight P40 below one CPU (server not named)",
        "supermicro.superserver.sys-4028gr-tr2",
        (
            "X PIX PIX PIX PXB PXB PXB PXB",
            "PIX X PIX PIX PXB PXB PXB PXB",
            "PIX PIX X PIX PXB PXB PXB PXB",
            "PIX PIX PIX X PXB PXB PXB PXB",
            "PXB PXB PXB PXB X PIX PIX PIX",
            "PXB PXB PXB PXB PIX X PIX PIX",
        ),
        "intel.xeon.e5-2680-v4",
        "nvidia.tesla.p40",
        8,
    ),
    Server(
        "ML cloud notes: PCIe view of a Dell server of eight H100, network columns",
        "dell.poweredge.xe9680-h100",
        (
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX PIX PIX NODE NODE NODE " + RIGHT,
            "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE NODE NODE PIX NODE NODE " + RIGHT,
            "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 NODE NODE NODE NODE PIX NODE " + RIGHT,
            "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 NODE NODE NODE NODE NODE PIX " + RIGHT,
            "NV18 NV18 NV18 NV18 X NV18 NV18 NV18 " + RIGHT + "PIX PIX PIX NODE NODE NODE",
        ),
        "",
        "nvidia.connectx-7.connectx-7-mcx75310aas-neat",
        12,
    ),
    Server(
        "rtx6kpro wiki: ESC8000A-E13P, two halves of switches per CPU",
        "asus.esc.esc8000a-e13p",
        (
            "X PIX NODE NODE SYS SYS SYS SYS",
            "PIX X NODE NODE SYS SYS SYS SYS",
            "NODE NODE X PIX SYS SYS SYS SYS",
            "NODE NODE PIX X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X PIX NODE NODE",
        ),
        "amd.epyc.9575f",
        RTX6000,
        8,
    ),
    Server(
        "rtx6kpro wiki: G493-ZB0, every card on a root port of its own",
        "gigabyte.g.g493-zb0",
        (
            "X NODE NODE NODE SYS SYS SYS SYS",
            "NODE X NODE NODE SYS SYS SYS SYS",
            "NODE NODE X NODE SYS SYS SYS SYS",
            "NODE NODE NODE X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X NODE NODE NODE",
        ),
        "amd.epyc.9124",
        RTX6000,
        8,
    ),
    Server(
        "notes on operating DGX A100: four NUMA nodes per socket, twelve network functions",
        "nvidia.dgx.dgx-a100-80gb",
        (
            FIRST_NV12 + "PXB PXB " + "SYS " * 10,
            SECOND_NV12 + "PXB PXB " + "SYS " * 10,
            "NV12 NV12 X NV12 NV12 NV12 NV12 NV12 SYS SYS PXB PXB " + "SYS " * 8,
            "NV12 NV12 NV12 X NV12 NV12 NV12 NV12 SYS SYS PXB PXB " + "SYS " * 8,
            "NV12 NV12 NV12 NV12 X NV12 NV12 NV12 " + RIGHT + "PXB PXB SYS SYS SYS SYS",
            "NV12 NV12 NV12 NV12 NV12 X NV12 NV12 " + RIGHT + "PXB PXB SYS SYS SYS SYS",
            "NV12 NV12 NV12 NV12 NV12 NV12 X NV12 " + RIGHT + "SYS SYS PXB PXB SYS SYS",
            "NV12 NV12 NV12 NV12 NV12 NV12 NV12 X " + RIGHT + "SYS SYS PXB PXB SYS SYS",
            "PXB PXB " + RIGHT + "X PXB " + "SYS " * 10,
            "PXB PXB " + RIGHT + "PXB X " + "SYS " * 10,
            "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS X PXB " + "SYS " * 8,
            "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS PXB X " + "SYS " * 8,
            "SYS " * 12 + "X PIX " + RIGHT,
            "SYS " * 12 + "PIX X " + RIGHT,
            "SYS SYS SYS SYS PXB PXB SYS SYS " + RIGHT + "X PXB SYS SYS SYS SYS",
            "SYS SYS SYS SYS PXB PXB SYS SYS " + RIGHT + "PXB X SYS SYS SYS SYS",
            RIGHT + "PXB PXB " + RIGHT + "SYS SYS X PXB SYS SYS",
            RIGHT + "PXB PXB " + RIGHT + "SYS SYS PXB X SYS SYS",
            "SYS " * 18 + "X PIX",
            "SYS " * 18 + "PIX X",
        ),
        numa=4,
    ),
    Server(
        "NVIDIA/nccl-tests issue 78: the first rows of a DGX-2 with ten ports",
        "nvidia.dgx.dgx-2",
        tuple(
            "NV6 " * a + "X " + "NV6 " * (15 - a) + ports + "SYS SYS SYS SYS SYS SYS"
            for a, ports in enumerate(
                (
                    "PIX PXB NODE NODE ",
                    "PIX PXB NODE NODE ",
                    "PXB PIX NODE NODE ",
                    "PXB PIX NODE NODE ",
                    "NODE NODE PIX PXB ",
                )
            )
        ),
    ),
    Server(
        "horovod/horovod issue 969: the faster machine (server not named)",
        "supermicro.superserver.sys-7048gr-tr",
        (
            "X PHB SYS SYS",
            "PHB X SYS SYS",
            "SYS SYS X PHB",
            "SYS SYS PHB X",
        ),
        "intel.xeon.e5-2620-v4",
        "nvidia.tesla.p40",
        4,
    ),
    Server(
        "NVIDIA/nccl issue 1439: eight cards of two 14-core CPUs (server not named)",
        "supermicro.superserver.sys-4028gr-tr",
        (
            "X PIX PHB PHB SYS SYS SYS SYS",
            "PIX X PHB PHB SYS SYS SYS SYS",
            "PHB PHB X PIX SYS SYS SYS SYS",
        ),
        "intel.xeon.e5-2680-v4",
        "nvidia.tesla.p40",
        8,
        cores=("0-13,28-41",) * 4 + ("14-27,42-55",) * 4,
        nodes=(0, 0, 0, 0, 1, 1, 1, 1),
    ),
    Server(
        "NVIDIA/nccl issue 1646: DGX B200, its eight ports of the sixteen functions",
        "nvidia.dgx.dgx-b200",
        (
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX NODE " + RIGHT,
            "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE PIX " + RIGHT,
            "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 SYS SYS PIX NODE SYS SYS SYS SYS",
            "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 SYS SYS NODE PIX SYS SYS SYS SYS",
            "NV18 NV18 NV18 NV18 X NV18 NV18 NV18 SYS SYS SYS SYS PIX NODE SYS SYS",
        ),
        numa=2,
        cores=("0-27,112-139",) * 2
        + ("28-55,140-167",) * 2
        + ("56-83,168-195",) * 2
        + ("84-111,196-223",) * 2,
        nodes=(0, 0, 1, 1, 2, 2, 3, 3),
    ),
    Server(
        "two public captures of GB10 machines, four network functions",
        "nvidia.dgx.dgx-spark",
        (
            "X NODE NODE NODE NODE",
            "NODE X PIX NODE NODE",
            "NODE PIX X NODE NODE",
            "NODE NODE NODE X PIX",
            "NODE NODE NODE PIX X",
        ),
    ),
    Server(
        "device plugin's example of 2018: eight cards behind four switches",
        "supermicro.superserver.sys-4028gr-tr",
        (
            "X PIX PHB PHB SYS SYS SYS SYS",
            "PIX X PHB PHB SYS SYS SYS SYS",
            "PHB PHB X PIX SYS SYS SYS SYS",
            "PHB PHB PIX X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X PIX PHB PHB",
            "SYS SYS SYS SYS PIX X PHB PHB",
            "SYS SYS SYS SYS PHB PHB X PIX",
            "SYS SYS SYS SYS PHB PHB PIX X",
        ),
        "intel.xeon.e5-2680-v4",
        "nvidia.tesla.p40",
        8,
    ),
    Server(
        "LMDeploy reports of 2026: eight cards of two 64-core EPYC",
        "supermicro.a-plus.as-4125gs-tnrt",
        (
            "X NODE NODE NODE SYS SYS SYS SYS",
            "NODE X NODE NODE SYS SYS SYS SYS",
            "NODE NODE X NODE SYS SYS SYS SYS",
            "NODE NODE NODE X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X NODE NODE NODE",
        ),
        "amd.epyc.9554",
        "nvidia.datacenter.l40s",
        8,
    ),
    Server(
        "serving study on six cards of two 24-core CPUs (server not named)",
        "asus.esc.esc8000a-e13p",
        (
            "X PIX NODE NODE SYS SYS",
            "PIX X NODE NODE SYS SYS",
            "NODE NODE X PIX SYS SYS",
            "NODE NODE PIX X SYS SYS",
            "SYS SYS SYS SYS X PIX",
            "SYS SYS SYS SYS PIX X",
        ),
        "amd.epyc.9254",
        "nvidia.datacenter.l40s",
        6,
    ),
    Server(
        "LMDeploy report of 2026: eight V100 of two 20-core CPUs",
        "nvidia.dgx.dgx-1-v100-32gb",
        (
            "X NV1 NV1 NV2 NV2 SYS SYS SYS",
            "NV1 X NV2 NV1 SYS NV2 SYS SYS",
            "NV1 NV2 X NV2 SYS SYS NV1 SYS",
            "NV2 NV1 NV2 X SYS SYS SYS NV1",
            "NV2 SYS SYS SYS X NV1 NV1 NV2",
            "SYS NV2 SYS SYS NV1 X NV2 NV1",
            "SYS SYS NV1 SYS NV1 NV2 X NV2",
        ),
        cores=("0-19,40-59",) * 4 + ("20-39,60-79",) * 4,
        nodes=(0, 0, 0, 0, 1, 1, 1, 1),
    ),
    Server(
        "NVIDIA/nccl issue 595: four A100, nodes and cores of each",
        "dell.poweredge.xe8545",
        (
            "X NV4 NV4 NV4",
            "NV4 X NV4 NV4",
            "NV4 NV4 X NV4",
            "NV4 NV4 NV4 X",
        ),
        "amd.epyc.7543",
        numa=2,
        cores=("16-31,80-95", "0-15,64-79", "48-63,112-127", "32-47,96-111"),
        nodes=(1, 0, 3, 2),
    ),
    Server(
        "sglang report of 2026: eight H100, a port beside each, two 48-core CPUs",
        "supermicro.superserver.sys-821ge-tnhr",
        (
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX NODE NODE NODE SYS SYS SYS SYS",
            "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE PIX NODE NODE SYS SYS SYS SYS",
            "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 NODE NODE PIX NODE SYS SYS SYS SYS",
            "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 NODE NODE NODE PIX SYS SYS SYS SYS",
            "NV18 NV18 NV18 NV18 X NV18 NV18 NV18 SYS SYS SYS SYS PIX NODE NODE NODE",
        ),
        "intel.xeon.platinum-8468",
        "nvidia.connectx-7.connectx-7-mcx75310aas-neat",
        8,
        cores=("0-47,96-143",) * 4 + ("48-95,144-191",) * 4,
    ),
    Server(
        "sglang report of 2026: eight H100 NVL in pairs, two 64-core CPUs",
        "supermicro.a-plus.as-4125gs-tnrt",
        (
            "X NV12 NODE NODE SYS SYS SYS SYS",
            "NV12 X NODE NODE SYS SYS SYS SYS",
            "NODE NODE X NV12 SYS SYS SYS SYS",
            "NODE NODE NV12 X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X NV12 NODE NODE",
            "SYS SYS SYS SYS NV12 X NODE NODE",
            "SYS SYS SYS SYS NODE NODE X NV12",
        ),
        "amd.epyc.9534",
        "nvidia.datacenter.h100-nvl-94gb",
        8,
        bridges=("nvidia.nvlink-bridge.h100-nvl-2-slot", 12),
        cores=("0-63,128-191",) * 4 + ("64-127,192-255",) * 4,
    ),
    Server(
        "kvcache-ai/Mooncake report: eight H100 and twelve ports, rows of the first CPU",
        "dell.poweredge.xe9680-h100",
        (
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX PIX PIX NODE NODE NODE " + RIGHT,
            "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE NODE NODE PIX NODE NODE " + RIGHT,
            "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 NODE NODE NODE NODE PIX NODE " + RIGHT,
            "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 NODE NODE NODE NODE NODE PIX " + RIGHT,
        ),
        "",
        "nvidia.connectx-7.connectx-7-mcx75310aas-neat",
        12,
    ),
    Server(
        "NVIDIA/nccl-tests issue 68: Dell C4140, one port of the card",
        "dell.poweredge.c4140-v100-sxm2",
        (
            "X NV2 NV2 NV2 NODE",
            "NV2 X NV2 NV2 NODE",
            "NV2 NV2 X NV2 NODE",
            "NV2 NV2 NV2 X NODE",
            "NODE NODE NODE NODE X",
        ),
        "intel.xeon.gold-6148",
        "nvidia.connectx-4.connectx-4-mcx456a-ecat",
        1,
    ),
    Server(
        "notes on four RTX 4090 of two 28-core CPUs (server not named; here with cards that fit)",
        "asus.esc.esc4000-g4",
        (
            "X NODE SYS SYS",
            "NODE X SYS SYS",
            "SYS SYS X NODE",
            "SYS SYS NODE X",
        ),
        "intel.xeon.platinum-8280",
        "nvidia.tesla.t4",
        4,
        cores=("0-27,56-83",) * 2 + ("28-55,84-111",) * 2,
    ),
    Server(
        "notes on collectives: four cards of two 20-core CPUs (server not named)",
        "supermicro.superserver.sys-7049gp-trt",
        (
            "X NODE SYS SYS",
            "NODE X SYS SYS",
            "SYS SYS X NODE",
            "SYS SYS NODE X",
        ),
        "intel.xeon.gold-6148",
        "nvidia.tesla.v100-pcie-32gb",
        4,
        cores=("0-19,40-59",) * 2 + ("20-39,60-79",) * 2,
    ),
)


def filled(server: Server, catalog: Catalog) -> Machine:
    items = [Item(uid="system", part=server.system)]
    items += [Item(uid="cpu", part=server.cpu, quantity=2)] if server.cpu else []
    items += [Item(uid="card", part=server.card, quantity=server.count)] if server.card else []
    items += (
        [Item(uid="bridge", part=server.bridges[0], quantity=server.bridges[1])]
        if server.bridges
        else []
    )
    return assemble(
        Rig(items=tuple(items), settings=Settings(numa_per_socket=server.numa)), catalog
    )


MESH = (
    "X NV1 NV1 NV2 NV2 SYS SYS SYS SYS PIX SYS PHB",
    "NV1 X NV2 NV1 SYS NV2 SYS SYS SYS PIX SYS PHB",
    "NV1 NV2 X NV2 SYS SYS NV1 SYS SYS PHB SYS PIX",
    "NV2 NV1 NV2 X SYS SYS SYS NV1 SYS PHB SYS PIX",
    "NV2 SYS SYS SYS X NV1 NV1 NV2 PIX SYS PHB SYS",
    "SYS NV2 SYS SYS NV1 X NV2 NV1 PIX SYS PHB SYS",
)
BESIDE_NVLINK = (
    "PIX PHB PHB SYS SYS SYS SYS PIX PHB SYS SYS",
    "PIX PHB PHB SYS SYS SYS SYS PIX PHB SYS SYS",
)
"""What `nvidia-smi topo -mp` of a DGX-1 shows in the first two rows, the card itself left out."""


def test_ports_of_a_dgx_1_in_the_order_of_a_log(catalog: Catalog) -> None:
    """PyTorch's benchmark of distributed training: the columns stand in the order mlx5_2, mlx5_0,
    mlx5_3, mlx5_1."""
    machine = assemble(Rig(items=(Item(uid="system", part="nvidia.dgx.dgx-1-v100-16gb"),)), catalog)
    columns = (*range(8), 10, 8, 11, 9)
    assert tuple(" ".join(row[n] for n in columns) for row in machine.matrix[:6]) == MESH


def test_pairs_without_nvlink_show_the_path_over_pcie(catalog: Catalog) -> None:
    """Notes of an operator: `nvidia-smi topo -mp` on a DGX-1, whose letters hold wherever no NVLink
    joins the pair."""
    machine = assemble(Rig(items=(Item(uid="system", part="nvidia.dgx.dgx-1-v100-16gb"),)), catalog)
    for index, published in enumerate(BESIDE_NVLINK):
        others = [cell for n, cell in enumerate(machine.matrix[index]) if n != index]
        assert [cell for cell in others if not cell.startswith("NV")] == [
            letters
            for cell, letters in zip(others, published.split(), strict=True)
            if not cell.startswith("NV")
        ]


def test_cards_behind_two_switch_boards_are_those_published(catalog: Catalog) -> None:
    """rtx6kpro wiki: WRX90 WS EVO with a Threadripper PRO 7955WX and four cards behind each of two
    switches."""
    behind = tuple(f"{slot}/{number}" for slot in ("PCIE1", "PCIE3") for number in (1, 2, 3, 4))
    items = (
        Item(uid="board", part="asrock.ws.wrx90-ws-evo"),
        Item(uid="cpu", part="amd.threadripper-pro.7955wx"),
        Item(uid="switch", part=SWITCH, quantity=2, places=("PCIE1", "PCIE3")),
        Item(uid="card", part=RTX6000, quantity=8, places=behind),
    )
    machine = assemble(Rig(items=items), catalog)
    assert machine.problems == ()
    assert " ".join(machine.matrix[0]) == "X PIX PIX PIX NODE NODE NODE NODE"
    assert " ".join(machine.matrix[5]) == "NODE NODE NODE NODE PIX X PIX PIX"
    assert {(gpu.width, gpu.gen) for gpu in machine.gpus} == {(16, 5)}


def test_numa_nodes_and_cores_of_a_dgx_a100_are_those_published(catalog: Catalog) -> None:
    """Same notes: the first buses of a socket belong to its last quadrant."""
    server = next(server for server in SERVERS if server.system == "nvidia.dgx.dgx-a100-80gb")
    gpus = filled(server, catalog).gpus
    assert [gpu.numa for gpu in gpus] == [3, 3, 1, 1, 7, 7, 5, 5]
    assert [gpus[n].affinity for n in (0, 2, 4, 6)] == [
        "48-63,176-191",
        "16-31,144-159",
        "112-127,240-255",
        "80-95,208-223",
    ]


@pytest.mark.parametrize(
    "server", SERVERS, ids=lambda server: f"{server.system} {server.count}".strip(" 0")
)
def test_rows_of_servers_are_those_published(server: Server, catalog: Catalog) -> None:
    machine = filled(server, catalog)
    assert machine.problems == ()
    for row, published in zip(machine.matrix, server.rows, strict=False):
        assert row[: len(published.split())] == tuple(published.split())
    assert not server.cores or tuple(gpu.affinity for gpu in machine.gpus) == server.cores
    assert not server.nodes or tuple(gpu.numa for gpu in machine.gpus) == server.nodes
