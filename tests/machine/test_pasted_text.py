"""Matrices as people paste them: what issue trackers, papers, logs and shells make of the output of
nvidia-smi and rocm-smi."""

import codecs

import pytest
from small_parts import gpu, linked_gpu

from rigplanner.catalog.schema.parts import NvlinkPort
from rigplanner.cli.commands.captured import decoded
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.rocm_matrix import parse_rocm
from rigplanner.machine.formats.smi_matrix import MatrixFault, numa_nodes, parse_matrix

PLAIN = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-7\nGPU1\tSYS\t X \t8-15\n"
SYS = (("X", "SYS"), ("SYS", "X"))

PASTED = {
    "comment of a program": "".join(f"// {line}\n" for line in PLAIN.splitlines()),
    "documentation comment": "".join(f"   * {line}\n" for line in PLAIN.splitlines()),
    "shell comment": (
        "# nvidia-smi topo -m\n" + "".join(f"# {line}\n" for line in PLAIN.splitlines()) + "# ...\n"
    ),
    "quoted answer": "".join(f"> {line}\n" for line in PLAIN.splitlines()),
    "mpirun": "".join(f"[1,0]<stdout>:{line}\n" for line in PLAIN.splitlines()),
    "log with dates": "".join(
        f"2024-03-01 10:00:00,000 INFO worker1: {line}\n" for line in PLAIN.splitlines()
    ),
    "environment report": (
        "[conda] Could not collect\nGPU Topology:\n"
        + "".join(f"    {line}\n" for line in PLAIN.splitlines())
    ),
    "one line": (
        "Flags: none GPU Topology: "
        + " ".join(PLAIN.split())
        + " Legend: X = Self SYS = Connection traversing PCIe\n"
    ),
    "grid of a document": (
        "+------+------+------+--------------+\n|      | GPU0 | GPU1 | CPU Affinity"
        " |\n+======+======+======+==============+\n| GPU0 | X    | SYS  | 0-7         "
        " |\n+------+------+------+--------------+\n| GPU1 | SYS  | X    | 8-15         |\n"
    ),
    "Markdown table": (
        "| | GPU0 | GPU1 | CPU Affinity |\n|---|:---:|---|---|\n|GPU0|X|SYS|0-7|\n| GPU1 | SYS | X"
        " | 8-15 |\n"
    ),
    "Markdown table with emphasis": (
        "| | `GPU0` | `GPU1` | CPU Affinity |\n|---|---|---|---|\n| **GPU0** | X | **SYS** | 0-7"
        " |\n|**GPU1**|*SYS*|X|`8-15`|\n"
    ),
    "underlined header": PLAIN.replace(
        "GPU0\tGPU1\tCPU Affinity", "\x1b[4mGPU0\tGPU1\tCPU Affinity\x1b[0m"
    ),
    "underline without escape": PLAIN.replace(
        "GPU0\tGPU1\tCPU Affinity", "[4mGPU0\tGPU1\tCPU Affinity[0m"
    ),
    "HTML": (
        "<pre><code>" + PLAIN.replace("\t", "&nbsp;&nbsp;").replace("\n", "<br>") + "</code></pre>"
    ),
    "HTML table": (
        "<table><tr><th></th><th>GPU0</th><th>GPU1</th><th>CPU"
        " Affinity</th></tr><tr><td>GPU0</td><td>X</td><td>SYS</td>"
        "<td>0-7</td></tr><tr><td>GPU1</td><td>SYS</td><td>X</td><td>8-15</td></tr></table>"
    ),
    "Windows": "\ufeff" + PLAIN.replace("\n", "\r\n"),
    "legend without a colon": PLAIN + "Legend\nX    = Self\nSYS  = Connection traversing PCIe\n",
    "header without blanks": PLAIN.replace("GPU0\tGPU1", "GPU0GPU1"),
}


@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
def test_what_stands_around_a_matrix_is_left_out(text: str) -> None:
    matrix = parse_matrix(text)
    assert (matrix.devices, matrix.cells, matrix.cpu_affinity) == (
        ("GPU0", "GPU1"),
        SYS,
        ("0-7", "8-15"),
    )


def test_ports_are_named_as_their_drivers_name_them() -> None:
    names = ("mlx5_bond_0", "rocep13s0f0", "bnxt_re0", "ibp24s0", "hfi1_0", "HSN", "rdmap82s0")
    header = "\t".join(("", "GPU0", *names, "CPU Affinity"))
    matrix = parse_matrix(f"{header}\nGPU0\t X " + "\tPHB" * len(names) + "\t0-7\n")
    assert matrix.devices == ("GPU0", *names)
    assert matrix.cpu_affinity == ("0-7",)


def test_cells_that_ran_together_are_parted() -> None:
    """As on a B200 whose terminal broke the line between two network ports."""
    text = "\tGPU0\tNIC0\tNIC1\tNIC2\nGPU0\t X \tNODE\tPXBNODE\nNIC0\tNODE\t X \tNODE\tNODE\n"
    assert parse_matrix(text).cells[0] == ("X", "NODE", "PXB", "NODE")


def test_a_lost_column_is_refused() -> None:
    with pytest.raises(
        MatrixFault, match=r"Line 2: the row GPU0 has more cells than the header has columns \(2\)"
    ):
        parse_matrix("GPU0 GPU1 CPU Affinity\nGPU0 X NV1 PHB 0-7\nGPU1 NV1 X PHB 0-7\n")


def test_empty_affinities_keep_their_columns() -> None:
    """As on a B200 with CPUs of one node only: a row without CPU affinity but with a NUMA node."""
    text = (
        "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X"
        " \tNV18\t44-51\t0\t\tN/A\nGPU1\tNV18\t X \t\t1\t\tN/A\n"
    )
    matrix = parse_matrix(text)
    assert matrix.cpu_affinity == ("44-51", "")
    assert numa_nodes(matrix) == (0, 1)


def test_a_broken_tail_is_taken_for_wrapped_text() -> None:
    with pytest.raises(
        MatrixFault, match=r"Line 4: cells without a row name \(9 ...\): the text is wrapped"
    ):
        parse_matrix(
            "        GPU0    GPU1    CPU Affin\nity\nGPU0     X      SYS     0-19,40-5\n9\nGPU1   "
            " SYS      X      20-39\n"
        )


def test_powershell_writes_utf_16() -> None:
    assert decoded(codecs.BOM_UTF16_LE + PLAIN.encode("utf-16-le")) == PLAIN
    assert decoded(codecs.BOM_UTF8 + PLAIN.encode("utf-8")) == PLAIN


def rocm(kinds: str, hops: str = "", nodes: str = "") -> str:
    """Return tables as rocm-smi prints them; rows are words apart by blanks and lines apart by
    slashes."""
    count = len(kinds.split("/"))
    head = "       " + "         ".join(f"GPU{index}" for index in range(count))

    def table(title: str, rows: str) -> str:
        body = "\n".join(f"GPU{index}   {row}" for index, row in enumerate(rows.split("/")))
        return f"==== {title} between two GPUs ====\n{head}\n{body}\n\n" if rows else ""

    numa = "".join(
        f"GPU[{index}]\t\t: (Topology) Numa Node: {node}\n"
        for index, node in enumerate(nodes.split())
    )
    return (
        table("Hops", hops)
        + table("Link Type", kinds)
        + "==== Numa Nodes ====\n"
        + numa
        + "==== End of ROCm SMI Log ====\n"
    )


def test_tables_of_rocm_smi() -> None:
    four = parse_rocm(
        rocm(
            "0 XGMI PCIE PCIE/XGMI 0 PCIE PCIE/PCIE PCIE 0 XGMI/PCIE PCIE XGMI 0",
            "0 1 3 3/1 0 3 3/3 3 0 1/3 3 1 0",
        )
    )
    assert four.cells[0] == ("X", "XGMI", "SYS", "SYS")
    assert parse_rocm(rocm("0 PCIE/PCIE 0", "0 2/2 0")).cells[0] == ("X", "PHB")
    assert parse_rocm(rocm("0 PCIE/PCIE 0", nodes="0 1")).cells[0] == ("X", "SYS")
    assert parse_rocm(rocm("0 PCIE/PCIE 0")).cells[0] == ("X", "")


def test_four_cards_three_hops_apart() -> None:
    """ROCm/rocm_smi_lib issue 108: weight 52, three hops, PCIE for every pair."""
    kinds, hops = (
        "/".join(" ".join("0" if a == b else word for b in range(4)) for a in range(4))
        for word in ("PCIE", "3")
    )
    cells = parse_rocm(rocm(kinds, hops)).cells
    assert [cells[a][b] for a in range(4) for b in range(4) if a != b] == ["SYS"] * 12
    amd = (
        "LINK TYPE TABLE:\n             0000:0c:00.0  0000:22:00.0\n0000:0c:00.0 SELF "
        " XGMI\n0000:22:00.0 XGMI  SELF\n"
    )
    assert parse_rocm(amd).cells == (("X", "XGMI"), ("XGMI", "X"))


def test_linked_amd_gpus_become_a_machine() -> None:
    card = gpu(
        "mi",
        form_factor="oam",
        nvlink=NvlinkPort(generation=3, links=7, link_gbs=64, fabric="xgmi"),
    )
    machine = machine_of_matrix(parse_rocm(rocm("0 XGMI/XGMI 0")), card)
    assert machine.islands == ((0, 1),)
    assert [edge.kind for edge in machine.edges if edge.a.name == "gpu0"] == ["xgmi"]
    with pytest.raises(MatrixFault, match="has no xGMI links"):
        machine_of_matrix(parse_rocm(rocm("0 XGMI/XGMI 0")), linked_gpu())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "No table of link types"),
        (rocm("0 XGMI XGMI/XGMI 0 XGMI"), "cells for 2 columns"),
        (rocm("0 XGMI/PCIE 0"), "GPU0/GPU1: XGMI, but"),
        (rocm("0 NVLINK/NVLINK 0"), "expected XGMI, PCIE or 0, found 'NVLINK'"),
        (rocm("XGMI 0/0 XGMI"), "not for the diagonal"),
        (
            "Link Type between two GPUs\nGPU0 GPU1 GPU2\nGPU0 0 XGMI XGMI\n",
            "1 rows for 3 columns: the text is cut",
        ),
    ],
)
def test_what_is_no_output_of_rocm_smi_is_refused(text: str, words: str) -> None:
    with pytest.raises(MatrixFault, match=words):
        parse_rocm(text)


def test_nvidia_and_amd_are_told_apart() -> None:
    with pytest.raises(MatrixFault, match="read it with --rocm-smi"):
        parse_matrix(rocm("0 XGMI/XGMI 0"))


def test_cards_of_one_bridge_each_are_in_no_ring_of_bridges() -> None:
    card = gpu(
        "gpu.card",
        nvlink=NvlinkPort(generation=3, links=4, link_gbs=14.0625, connector="geforce-30"),
    )
    pair = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n"
    three = "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV4\tNV4\nGPU1\tNV4\t X \tNV4\nGPU2\tNV4\tNV4\t X \n"
    assert len(machine_of_matrix(parse_matrix(pair), card).gpus) == 2
    with pytest.raises(MatrixFault, match="8 NVLinks in all"):
        machine_of_matrix(parse_matrix(three), card)
