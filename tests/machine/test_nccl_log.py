"""NCCL's log and graph files: rings, trees, transports and rates are read, and stand beside the
prediction."""

import pytest

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.nccl_beside import Beside, beside
from rigplanner.machine.formats.nccl_log import Hop, NcclRun, read_nccl
from rigplanner.machine.formats.smi_matrix import MatrixFault, parse_matrix
from rigplanner.machine.formats.xml_tree import XmlFault
from rigplanner.machine.model import Machine

LOG = """h:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
NCCL version 2.18.3+cuda12.2
h:1:2 [0] NCCL INFO comm 0x55d35c3a9ec0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START
h:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 1, bw 20.000000/20.000000, type PHB/PIX, sameChannels 1
h:1:2 [0] NCCL INFO  0 : GPU/0 GPU/1 GPU/2 GPU/3
h:1:2 [0] NCCL INFO Channel 00/02 :    0   1   2   3
h:1:2 [0] NCCL INFO Channel 01/02 :    0   1   2   3
h:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1
h:1:3 [1] NCCL INFO Trees [0] 2/-1/-1->1->0 [1] 2/-1/-1->1->0
h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
h:1:2 [0] NCCL INFO Channel 01 : 0[0] -> 1[1] via SHM/direct/direct
h:1:3 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[2] via P2P/direct pointer/read
h:1:3 [3] NCCL INFO Channel 00/0 : 3[3] -> 0[0] [send] via NET/IB/0/GDRDMA
h:1:2 [0] NCCL INFO NVLS multicast support is not available on dev 0
"""
OLD = """n1:5:6 [0] NCCL INFO Ring 00 : 0[0] -> 1[1] via P2P/IPC
n1:5:6 [0] NCCL INFO Trees [0] -1->0->1/-1/-1
n1:5:7 [1] NCCL INFO Trees [0] 0->1->-1/-1/-1
n1:5:6 [0] NCCL INFO Ring 00 : 1 -> 0 -> 1
n1:5:7 [1] NCCL INFO Ring 00 : 0 -> 1 -> 0
"""
GRAPHS = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="12" speedinter="12" typeintra="PHB" typeinter="PIX" samechannels="1">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><net dev="0"/></channel>
    <channel><gpu dev="1"/><gpu dev="0"/></channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="1" speedintra="24" speedinter="12" typeintra="PHB" typeinter="PIX" samechannels="1"/>
</graphs>
"""


def four(catalog: Catalog, letter: str = "NODE", part: str = "nvidia.geforce.rtx-4090") -> Machine:
    card = catalog.get(part)
    assert isinstance(card, GPU)
    rows = "\n".join(
        f"GPU{a}\t" + "\t".join(" X " if a == b else letter for b in range(4)) for a in range(4)
    )
    return machine_of_matrix(parse_matrix("\tGPU0\tGPU1\tGPU2\tGPU3\n" + rows + "\n"), card)


def test_a_log_is_read() -> None:
    run = read_nccl(LOG)
    assert (run.version, run.ranks, run.nvls) == ("2.18.3+cuda12.2", 4, False)
    assert run.rings == ((0, 1, 2, 3), (0, 1, 2, 3))
    assert run.parents == ({0: -1, 1: 0}, {0: -1, 1: 0})
    assert run.hops == (Hop(0, 1, "SHM"), Hop(0, 3, "NET/IB", True), Hop(1, 2, "P2P"))
    ring = run.graph("ring")
    assert ring is not None
    assert (ring.gbs, ring.intra) == (20.0, "PHB")
    assert run.graph("nvls") is None


def test_a_log_of_an_old_version_is_read() -> None:
    run = read_nccl(OLD)
    assert (run.version, run.ranks, run.rings, run.parents) == (
        None,
        2,
        ((0, 1),),
        ({0: -1, 1: 0},),
    )
    assert run.hops == (Hop(0, 1, "P2P"),)


def test_a_graph_file_is_read() -> None:
    run = read_nccl(GRAPHS)
    assert run.rings == ((0, 1), (1, 0))
    assert [(graph.pattern, graph.gbs) for graph in run.graphs] == [("ring", 24.0), ("tree", 24.0)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NCCL version 2.18.3",
        "\tGPU0\tGPU1\nGPU0\t X \tPHB\n",
        "h NCCL INFO Channel 00/02 :",
        "x" * (4 * 2**20 + 1),
        "h NCCL INFO Channel 00/01 : 0 99999",
        "h NCCL INFO Pattern 4, crossNic 0, nChannels 1, bw 1.2.3/1, type PHB/PIX",
        '<graphs><graph pattern="four" nchannels="1"/></graphs>',
        '<graphs><graph pattern="4" nchannels="1" speedintra="nan"/></graphs>',
        "<graphs><graph>",
    ],
    ids=lambda text: text[:30],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises((MatrixFault, XmlFault)):
        read_nccl(text)


def by_what(rows: tuple[Beside, ...], what: str) -> list[Beside]:
    return [row for row in rows if row.what == what]


def test_a_staged_machine_stands_beside_its_log(catalog: Catalog) -> None:
    """RTX 4090 have no peer access: shared memory is as predicted, peer access and a network port
    within a host are not."""
    rows = beside(four(catalog), read_nccl(LOG))
    assert [(row.pair, row.ours, row.theirs, row.agrees) for row in by_what(rows, "transport")] == [
        ((0, 1), "SHM", "SHM", True),
        ((0, 3), "SHM", "NET/IB", False),
        ((1, 2), "SHM", "P2P", False),
    ]
    assert [(row.ours, row.theirs, row.agrees) for row in by_what(rows, "path")] == [
        ("NODE", "PHB", True)
    ]
    assert [(row.ours, row.theirs, row.agrees) for row in by_what(rows, "rate")] == [
        (24.0, 20.0, False)
    ]
    assert [row.agrees for row in by_what(rows, "nvls")] == [True]


def test_another_number_of_gpus_is_said_and_nothing_else(catalog: Catalog) -> None:
    rows = beside(four(catalog), read_nccl(OLD))
    assert [(row.what, row.agrees) for row in rows] == [("ranks", False)]


def test_nvlink_stands_beside_its_log(catalog: Catalog) -> None:
    text = (
        LOG.replace("PHB/PIX", "NVL/PIX")
        .replace("nChannels 1, bw 20.0", "nChannels 12, bw 20.0")
        .replace("via SHM", "via P2P")
    )
    rows = beside(four(catalog, "NV4", "nvidia.datacenter.a100-sxm4-80gb"), read_nccl(text))
    assert [(row.ours, row.theirs, row.agrees) for row in by_what(rows, "path")] == [
        ("NV", "NV", True)
    ]
    assert [(row.ours, row.theirs, row.agrees) for row in by_what(rows, "rate")] == [
        (240.0, 240.0, True)
    ]
    assert {row.pair: row.agrees for row in by_what(rows, "transport")} == {
        (0, 1): True,
        (0, 3): False,
        (1, 2): True,
    }


def test_a_run_without_gpus_to_compare_is_still_a_run() -> None:
    run = read_nccl("h NCCL INFO Channel 00/01 :    0\n")
    assert isinstance(run, NcclRun)
    assert run.rings == ((0,),)


def test_a_transport_without_a_name_is_passed_over():
    run = read_nccl(
        "host:1:2 [0] NCCL INFO Channel 00 : 0[1] -> 1[2] via /x\nhost:1:2 [0] NCCL INFO Channel"
        " 00/01 :    0   1\n"
    )
    assert run.hops == ()
