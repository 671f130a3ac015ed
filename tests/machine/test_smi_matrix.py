"""`nvidia-smi topo -m` text: read as captured, refused with line and cell when cut, wrapped,
mistyped or impossible."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_parts import gpu, linked_gpu

from rigplanner.catalog.schema.parts import NvlinkPort
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.nccl_read import machine_of_nccl, read_nccl_xml
from rigplanner.machine.formats.nccl_xml import nccl_xml
from rigplanner.machine.formats.smi_matrix import (
    MatrixFault,
    format_matrix,
    missing_rows,
    numa_nodes,
    parse_matrix,
)
from rigplanner.machine.topology.collectives import allreduce

PAIR = (
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X"
    " \tNV4\t0-31\t0\t\tN/A\nGPU1\tNV4\t X \t0-31\t0\t\tN/A\n"
)


def table(*rows: str) -> str:
    return "\n".join(("      GPU0  GPU1  GPU2  CPU Affinity", *rows)) + "\n"


def test_tabs_spaces_and_network_columns() -> None:
    matrix = parse_matrix(PAIR)
    assert (matrix.gpus, matrix.cells, matrix.cpu_affinity, numa_nodes(matrix)) == (
        ("GPU0", "GPU1"),
        (("X", "NV4"), ("NV4", "X")),
        ("0-31", "0-31"),
        (0, 0),
    )
    spaced = parse_matrix("        GPU0    mlx5_0\nGPU0     X      PIX\nmlx5_0  PIX      X\n")
    assert spaced.devices == ("GPU0", "mlx5_0")
    assert spaced.square(spaced.gpus) == [["X"]]


def test_network_ports_alone_are_a_matrix() -> None:
    text = "\tNIC0\tmlx5_1\tCPU Affinity\nNIC0\t X \tPIX\t0-15\nmlx5_1\tPIX\t X \t0-15\n"
    matrix = parse_matrix(text + "\nLegend:\n  X = Self\nNIC Legend:\n  NIC0: mlx5_0\n")
    machine = machine_of_matrix(matrix, ())
    assert (machine.gpus, machine.islands) == ((), ())
    assert [nic.piece for nic in machine.nics] == ["NIC0", "mlx5_1"]
    assert machine.pairs[0][1].path == "pix"
    with pytest.raises(MatrixFault, match="GPU0 has no column"):
        parse_matrix("\tNIC0\tNIC1\nGPU0\tPIX\tSYS\nNIC0\t X \tSYS\nNIC1\tSYS\t X \n")


def test_old_labels_are_translated() -> None:
    matrix = parse_matrix(table("GPU0 X SOC SOC 0-7", "GPU1 SOC X PHB 8-15", "GPU2 SOC PHB X 8-15"))
    assert matrix.cells[0] == ("X", "SYS", "SYS")


def test_rows_that_a_capture_lacks_come_from_the_columns() -> None:
    matrix = parse_matrix(table("GPU0 X NV4 SYS 0-7"))
    assert missing_rows(matrix) == ("GPU1", "GPU2")
    assert matrix.square(matrix.gpus) == [["X", "NV4", "SYS"], ["NV4", "X", ""], ["SYS", "", "X"]]


def test_peer_tables_are_read() -> None:
    matrix = parse_matrix(
        PAIR + "\n$ nvidia-smi topo -p2p rw\n \tGPU0\tGPU1\n GPU0\tX\tGNS\n GPU1\tGNS\tX\n"
    )
    assert matrix.peers == ((("X", "GNS"), ("GNS", "X")),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "No line with columns"),
        ("hello\nworld\n", "No line with columns"),
        (
            table("GPU0 X NV4", "GPU1 NV4 X SYS 0-7"),
            "Line 2: the row GPU0 has 2 cells for 3 columns",
        ),
        (table("GPU0 X NV4 PXI 0-7"), "cell GPU0/GPU2"),
        (
            table("GPU0 X NV4 SYS 0-7", "GPU1 NV2 X SYS 0-7"),
            "Line 2, cell GPU0/GPU1: NV4, but GPU1/GPU0 is NV2",
        ),
        (table("GPU0 X X SYS 0-7"), "expected no X off the diagonal"),
        (table("GPU0 SYS NV4 SYS 0-7"), "expected X on the diagonal"),
        (table("GPU0 X NV4 SYS 0-7", "GPU0 X NV4 SYS 0-7"), "The row GPU0 occurs twice"),
        (table("GPU0 X NV4 SYS 0-7", "GPU7 SYS SYS SYS 0-7"), "the row GPU7 has no column"),
        ("  GPU0 GPU2\nGPU0 X SYS\n", "expected GPU0 to GPU1 in order"),
        (table("GPU0 X NV4 SYS", "SYS PIX 0-7"), "the text is wrapped"),
        ("   GPU0 GPU1\n   GPU2 GPU3\nGPU0 X SYS\n", "the text is wrapped"),
        ("x" * (2**20 + 1), "longer than 1 MiB"),
    ],
)
def test_what_is_no_matrix_is_refused(text: str, words: str) -> None:
    with pytest.raises(MatrixFault, match=words.replace("(", r"\(")):
        parse_matrix(text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="GPU012 XNV4SYSPIH\t\n-", max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        matrix = parse_matrix(text)
    except MatrixFault:
        return
    assert matrix.gpus


def test_a_written_matrix_reads_back() -> None:
    cells = (("X", "NODE", "PIX"), ("NODE", "X", "NODE"), ("PIX", "NODE", "X"))
    matrix = parse_matrix(
        format_matrix(["GPU0", "GPU1", "NIC0"], cells, [("0-7", 0), (None, None)])
    )
    assert matrix.cells == cells
    assert matrix.cpu_affinity == ("0-7", "N/A")
    assert numa_nodes(matrix) == (0, None)


def test_a_matrix_becomes_a_machine() -> None:
    machine = machine_of_matrix(parse_matrix(PAIR), linked_gpu())
    assert machine.islands == ((0, 1),)
    assert machine.p2p == (("X", "OK"), ("OK", "X"))
    switches = parse_matrix(table("GPU0 X PIX PHB 0", "GPU1 PIX X PHB 0", "GPU2 PHB PHB X 0"))
    edges = machine_of_matrix(switches, gpu()).edges
    assert [(edge.a.name, edge.b.name) for edge in edges] == [
        ("cpu0", "switch0"),
        ("switch0", "gpu0"),
        ("switch0", "gpu1"),
        ("cpu0", "gpu2"),
    ]


def test_an_nvswitch_shows_in_the_sum_of_a_row() -> None:
    port = NvlinkPort(generation=3, links=12, link_gbs=25)
    module = gpu("sxm", form_factor="sxm4", nvlink=port, compute_capability="8.0")
    text = table("GPU0 X NV12 NV12 0", "GPU1 NV12 X NV12 0", "GPU2 NV12 NV12 X 0")
    machine = machine_of_matrix(parse_matrix(text), module)
    assert {edge.kind for edge in machine.edges} == {"pcie", "nvswitch"}
    estimate = allreduce(machine)
    assert estimate is not None
    assert estimate.value == pytest.approx(228, rel=0.02)


def test_links_that_the_card_lacks_are_refused() -> None:
    with pytest.raises(MatrixFault, match="NV4, but card has no NVLinks"):
        machine_of_matrix(parse_matrix(PAIR), gpu())


NUMA = (
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t{0}\t0-7\t{1}\nGPU1\t{0}\t X"
    " \t8-15\t{2}\n"
)


@pytest.mark.parametrize("label", ["PIX", "PXB", "PHB", "NODE"])
def test_near_gpus_share_a_numa_node(label: str) -> None:
    with pytest.raises(
        MatrixFault, match=f"Line 2, cell GPU0/GPU1: {label}, but their NUMA nodes are 0 and 1"
    ):
        parse_matrix(NUMA.format(label, 0, 1))
    for nodes in ((0, 0), (0, "N/A"), ("0-1", "1")):
        assert parse_matrix(NUMA.format(label, *nodes)).cells[0][1] == label
    assert parse_matrix(NUMA.format("SYS", 0, 1)).cells[0][1] == "SYS"
    assert parse_matrix(NUMA.format("NV4", 0, 1)).cells[0][1] == "NV4"


def test_a_port_is_as_near_to_a_gpu_as_to_its_neighbour_below_the_switch() -> None:
    head = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\n"
    rows = "GPU0\t X \t{0}\tPIX\t0-7\nGPU1\t{0}\t X \t{1}\t0-7\nNIC0\tPIX\t{1}\t X\n"
    with pytest.raises(
        MatrixFault, match="Cells GPU0/GPU1 and GPU0/NIC0 are PIX and PIX, but GPU1/NIC0 is PHB"
    ):
        parse_matrix(head + rows.format("PIX", "PHB"))
    for pair in (("PIX", "PIX"), ("PXB", "PXB"), ("PHB", "PHB"), ("NV4", "PHB")):
        assert parse_matrix(head + rows.format(*pair)).cells[1][2] == pair[1]


def test_modules_before_nvswitch_have_no_more_links_than_their_own() -> None:
    port = NvlinkPort(generation=1, links=4, link_gbs=20)
    four = ("GPU0 X {0} {0} 0", "GPU1 {0} X {0} 0", "GPU2 {0} {0} X 0")
    module = gpu("sxm", form_factor="sxm2", nvlink=port, compute_capability="6.0")
    assert (
        len(
            machine_of_matrix(
                parse_matrix(table(*(row.format("NV2") for row in four))), module
            ).gpus
        )
        == 3
    )
    with pytest.raises(MatrixFault, match="Row GPU0: 6 NVLinks in all, but sxm has 4"):
        machine_of_matrix(parse_matrix(table(*(row.format("NV3") for row in four))), module)


def test_what_nvlink_hides_the_numa_nodes_tell() -> None:
    alike = machine_of_matrix(parse_matrix(NUMA.format("NV4", 0, 0)), linked_gpu())
    assert [node.socket for node in alike.gpus] == [0, 0]
    apart = machine_of_matrix(parse_matrix(NUMA.format("NV4", 0, 1)), linked_gpu())
    assert [node.socket for node in apart.gpus] == [0, 1]


def test_a_captured_matrix_goes_out_as_nccl_xml_with_its_letters() -> None:
    rows = ("GPU0 X PIX NODE 0", "GPU1 PIX X NODE 0", "GPU2 NODE NODE X 0")
    machine = machine_of_matrix(parse_matrix(table(*rows)), gpu())
    back = machine_of_nccl(read_nccl_xml(nccl_xml(machine)), (gpu(),) * 3)
    assert (
        back.matrix
        == machine.matrix
        == (("X", "PIX", "NODE"), ("PIX", "X", "NODE"), ("NODE", "NODE", "X"))
    )


def test_cards_of_two_models_stand_in_one_machine() -> None:
    machine = machine_of_matrix(
        parse_matrix(PAIR.replace("NV4", "PHB")), (gpu(), linked_gpu()), ((None, 8), (None, None))
    )
    assert [(node.gpu.name, node.gen, node.width) for node in machine.gpus] == [
        ("card", 4, 8),
        ("linked", 4, 16),
    ]
    with pytest.raises(MatrixFault, match="Cell GPU0/GPU1: NV4, but card has no NVLinks"):
        machine_of_matrix(parse_matrix(PAIR), (gpu(), linked_gpu()))


def test_a_job_that_has_no_cores_of_a_node_prints_none() -> None:
    """A cluster's guide to four A100, of which the job has one core: the column of cores is empty
    for the second CPU's."""
    head = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    rows = (
        "GPU0\t X \tNV4\tNODE\t0\t0\t\tN/A\nGPU1\tNV4\t X"
        " \tNODE\t\t1\t\tN/A\nNIC0\tNODE\tNODE\t X\n"
    )
    matrix = parse_matrix(head + rows)
    assert matrix.cpu_affinity[:2] == ("0", "")
    assert matrix.numa_affinity[:2] == ("0", "1")


def test_a_table_of_another_makers_tool_is_refused() -> None:
    table = (
        "| MTHREADS | Device 0 | Device 1 |\n|---|---|---|\n| Device 0 | X | NODE |\n| Device 1 |"
        " NODE | X |\n"
    )
    with pytest.raises(MatrixFault, match="expected the output of nvidia-smi"):
        parse_matrix(table)
