"""Matrices of trackers and notes of 2017 to 2026 in the three shapes that pages give them: tabs,
columns, and single spaces.

Where a page cuts the table, only the rows that it shows are here. Cells are facts; the sources name
where they stand."""

import pytest
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.smi_matrix import MatrixFault, numa_nodes, parse_matrix
from rigplanner.machine.topology.collectives import allreduce

DATA = "nvidia.datacenter."
H100, A100, A100_40 = f"{DATA}h100-sxm5-80gb", f"{DATA}a100-sxm4-80gb", f"{DATA}a100-sxm4-40gb"
RTX3090 = "nvidia.geforce.rtx-3090"
FOUR_SYS, TEN_SYS = " SYS" * 4, " SYS" * 10


class Printed(Struct, frozen=True):
    """Source, GPU, how many GPUs the head names, the rows shown, ports of each row, and the columns
    of cores and NUMA nodes."""

    source: str
    gpu: str
    count: int
    rows: tuple[str, ...]
    ports: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


def alike(count: int, word: str) -> tuple[str, ...]:
    return tuple(" ".join("X" if a == b else word for b in range(count)) for a in range(count))


def paired(count: int, near: str, middle: str, far: str) -> tuple[str, ...]:
    def word(a: int, b: int) -> str:
        beside = near if a // 2 == b // 2 else middle
        return "X" if a == b else beside if a // (count // 2) == b // (count // 2) else far

    return tuple(" ".join(word(a, b) for b in range(count)) for a in range(count))


def halves(count: int, first: str, second: str) -> tuple[str, ...]:
    return (first,) * (count // 2) + (second,) * (count // 2)


BESIDE = tuple(" ".join("PIX" if a == b else "NODE" for b in range(4)) for a in range(4))
LOW = halves(8, "0", "1")
PRINTED = (
    Printed(
        "sglang: eight H100 NVL and a card of two ports",
        f"{DATA}h100-nvl-94gb",
        8,
        paired(8, "NV12", "NODE", "SYS"),
        ("NODE NODE", "PHB PHB", "NODE NODE", "NODE NODE", *("SYS SYS",) * 4),
        halves(8, "0-63,128-191", "64-127,192-255"),
        LOW,
    ),
    Printed(
        "sglang: eight H800, nine ports",
        f"{DATA}h800-sxm5-80gb",
        8,
        alike(8, "NV8")[:5],
        (*(row + FOUR_SYS + " NODE" for row in BESIDE), "SYS SYS SYS SYS PIX NODE NODE NODE SYS"),
        ("0-55,112-167",) * 4 + ("56-111,168-223",),
        ("0", "0", "0", "0", "1"),
    ),
    Printed(
        "sglang: eight H100, eight ports",
        H100,
        8,
        alike(8, "NV18"),
        (*(row + FOUR_SYS for row in BESIDE), *(FOUR_SYS[1:] + " " + row for row in BESIDE)),
        halves(8, "0-47,96-143", "48-95,144-191"),
        LOW,
    ),
    Printed(
        "Mooncake: twelve ports, cores as a list",
        H100,
        8,
        alike(8, "NV18")[:2],
        ("PIX PIX PIX NODE NODE NODE" + " SYS" * 6, "NODE NODE NODE PIX NODE NODE" + " SYS" * 6),
        ("4,6,8,10,12",) * 2,
    ),
    Printed(
        "eight A100, four cards of two ports",
        A100,
        8,
        alike(8, "NV12"),
        ("PXB PXB NODE NODE" + FOUR_SYS,) * 2
        + ("NODE NODE PXB PXB" + FOUR_SYS,) * 2
        + (FOUR_SYS[1:] + " PXB PXB NODE NODE",) * 2
        + (FOUR_SYS[1:] + " NODE NODE PXB PXB",) * 2,
        halves(8, "0-31,64-95", "32-63,96-127"),
        LOW,
    ),
    Printed(
        "eight A800, four ports beside four of them",
        f"{DATA}a800-sxm4-80gb",
        8,
        alike(8, "NV8"),
        (
            "NODE NODE SYS SYS",
            "PIX NODE SYS SYS",
            "NODE NODE SYS SYS",
            "NODE PIX SYS SYS",
            *("SYS SYS NODE NODE",) * 3,
            "SYS SYS PIX NODE",
        ),
        halves(8, "0-31,64-95", "32-63,96-127"),
        LOW,
    ),
    Printed(
        "three A40 of two sockets",
        f"{DATA}a40",
        3,
        ("X SYS SYS", "SYS X NODE", "SYS NODE X"),
        (),
        ("0-15,32-47", "16-31,48-63", "16-31,48-63"),
        ("0", "1", "1"),
    ),
    Printed(
        "eight RTX 5060 Ti in halved slots of one CPU",
        "nvidia.geforce.rtx-5060-ti-16gb",
        8,
        paired(8, "PHB", "NODE", "NODE"),
        (),
        ("0-63",) * 8,
    ),
    Printed(
        "four RTX PRO 6000, a switch per CPU",
        "nvidia.rtx-pro.6000-blackwell-server",
        4,
        paired(4, "PIX", "SYS", "SYS"),
        (),
        halves(4, "0-35,72-107", "36-71,108-143"),
        halves(4, "0", "1"),
    ),
    Printed(
        "eight cards, two switches per CPU",
        f"{DATA}l40s",
        8,
        paired(8, "PIX", "NODE", "SYS"),
        (),
        halves(8, "0-31,64-95", "32-63,96-127"),
        LOW,
    ),
    Printed(
        "p4d.24xlarge",
        A100_40,
        8,
        alike(8, "NV12"),
        (),
        halves(8, "0-23,48-71", "24-47,72-95"),
        LOW,
    ),
    Printed(
        "half a cube mesh as a virtual machine sees it",
        "nvidia.tesla.v100-sxm2-32gb",
        4,
        ("X NV2 NV2 NV1", "NV2 X NV1 NV2", "NV2 NV1 X NV1", "NV1 NV2 NV1 X"),
        (),
        ("20-39,60-79",) * 4,
        ("1",) * 4,
    ),
    Printed(
        "Azure NC96ads A100 v4",
        f"{DATA}a100-pcie-80gb",
        4,
        paired(4, "NV12", "SYS", "SYS"),
        (),
        ("0-23", "24-47", "48-71", "72-95"),
        ("0", "1", "2", "3"),
    ),
    Printed(
        "the same in a pod that does not see nodes",
        f"{DATA}a100-pcie-80gb",
        4,
        paired(4, "NV12", "SYS", "SYS"),
        (),
        ("0",) * 4,
        ("0-3",) * 4,
    ),
    Printed(
        "Slingshot node of four A100, nodes in falling order",
        A100_40,
        4,
        alike(4, "NV4"),
        (),
        ("24-31,56-63", "16-23,48-55", "8-15,40-47", "0-7,32-39"),
        ("3", "2", "1", "0"),
    ),
    Printed("g6e.12xlarge", f"{DATA}l40s", 4, alike(4, "NODE"), (), ("0-47",) * 4),
    Printed(
        "four RTX 4090 of two sockets",
        "nvidia.geforce.rtx-4090",
        4,
        paired(4, "NODE", "SYS", "SYS"),
        (),
        halves(4, "0-27,56-83", "28-55,84-111"),
        halves(4, "0", "1"),
    ),
    Printed(
        "two RTX 2080 Ti with a bridge",
        "nvidia.geforce.rtx-2080-ti",
        2,
        ("X NV2", "NV2 X"),
        (),
        ("0-3",) * 2,
    ),
    Printed(
        "NVIDIA/nccl-tests issue 296: two RTX 5090",
        "nvidia.geforce.rtx-5090",
        2,
        ("X NODE", "NODE X"),
        (),
        ("0-63",) * 2,
    ),
    Printed(
        "two of a job, a NUMA node per core complex",
        f"{DATA}h200-sxm5-141gb",
        2,
        ("X NV18", "NV18 X"),
        (),
        ("224-231,480-487", "128-135,384-391"),
        ("28", "16"),
    ),
    Printed(
        "a bridged pair below the second CPU",
        f"{DATA}h100-nvl-94gb",
        2,
        ("X NV12", "NV12 X"),
        (),
        ("32-63,96-127",) * 2,
        ("1", "1"),
    ),
    Printed(
        "two bridged pairs, cores dealt in turn",
        "nvidia.rtx.a6000",
        4,
        paired(4, "NV4", "SYS", "SYS"),
        (),
        halves(4, "0,2,4,6,8,10", "1,3,5,7,9,11"),
        halves(4, "0", "1"),
    ),
    Printed(
        "NVIDIA/nccl issue 595: ports beside two of four",
        A100_40,
        4,
        alike(4, "NV4"),
        ("SYS SYS", "PIX SYS", "SYS PIX", "SYS SYS"),
        ("16-31,80-95", "0-15,64-79", "48-63,112-127", "32-47,96-111"),
        ("1", "0", "3", "2"),
    ),
    Printed(
        "DeepEP issue 137: eight H20, five ports",
        f"{DATA}h20-sxm5-96gb",
        8,
        alike(8, "NV18"),
        (
            "PIX NODE SYS SYS SYS",
            "NODE NODE SYS SYS SYS",
            "NODE PIX SYS SYS SYS",
            "NODE NODE SYS SYS SYS",
            "SYS SYS PIX NODE NODE",
            "SYS SYS NODE NODE NODE",
            "SYS SYS NODE NODE PIX",
            "SYS SYS NODE NODE NODE",
        ),
        halves(8, "0-27,56-83", "28-55,84-111"),
        LOW,
    ),
    Printed(
        "NVIDIA/nccl issue 1737: eight H100, six ports",
        H100,
        8,
        alike(8, "NV18")[:3],
        ("PIX NODE NODE NODE SYS SYS", "NODE NODE NODE NODE SYS SYS", "NODE PIX NODE NODE SYS SYS"),
    ),
    Printed(
        "NVIDIA/nccl issue 707: eight A100, eighteen ports",
        A100_40,
        8,
        alike(8, "NV12")[:4],
        ("NODE NODE NODE NODE PXB PXB PXB PXB" + TEN_SYS,) * 2
        + ("PXB PXB PXB PXB NODE NODE NODE NODE" + TEN_SYS,) * 2,
    ),
    Printed(
        "kubernetes issue 53497: four switches, one port",
        "nvidia.tesla.p40",
        8,
        paired(8, "PIX", "PHB", "SYS"),
        ("PHB",) * 4 + ("SYS",) * 4,
        halves(8, "0-9,20-29", "10-19,30-39"),
    ),
    Printed(
        "eight RTX 3090 of an EPYC pair in NPS4",
        "nvidia.geforce.rtx-3090",
        8,
        alike(8, "SYS")[:2],
        (),
        ("48-63,112-127", "32-47,96-111"),
        ("3", "2"),
    ),
    Printed(
        "NVIDIA/nccl issue 428: four T4, one below the first CPU",
        "nvidia.tesla.t4",
        4,
        ("X SYS SYS SYS", "SYS X NODE NODE", "SYS NODE X NODE", "SYS NODE NODE X"),
        (),
        ("0-15,32-47", *("16-31,48-63",) * 3),
        ("0", "1", "1", "1"),
    ),
    Printed(
        "pytorch-communication-benchmarks issue 1: six ports",
        H100,
        8,
        alike(8, "NV18")[:2],
        ("NODE NODE NODE NODE SYS SYS", "PIX NODE NODE NODE SYS SYS"),
    ),
    Printed(
        "eight of NVLink 4, two ports at the host bridge of one",
        H100,
        8,
        alike(8, "NV18"),
        (*("SYS SYS",) * 4, "NODE NODE", "NODE NODE", "PHB PHB", "NODE NODE"),
    ),
    Printed(
        "stas00/ml-engineering: 52 cores per CPU",
        H100,
        8,
        alike(8, "NV18"),
        (),
        halves(8, "0-51,104-155", "52-103,156-207"),
        LOW,
    ),
    Printed(
        "eight H100 of two 96-core CPUs",
        H100,
        8,
        alike(8, "NV18"),
        (),
        halves(8, "0-95,192-287", "96-191,288-383"),
        LOW,
    ),
    Printed("a slice of a DGX A100", A100, 4, alike(4, "NV12"), (), ("0-63",) * 4),
    Printed(
        "InternLM/lmdeploy pull request 1944: two of eight A100, eight ports",
        A100,
        2,
        ("X NV12", "NV12 X"),
        ("SYS SYS SYS SYS NODE NODE PXB PXB",) * 2,
        ("48-95,144-191",) * 2,
        ("1", "1"),
    ),
    Printed(
        "NVIDIA/k8s-device-plugin issue 436: one of two bridges works",
        f"{DATA}a100-pcie-40gb",
        4,
        ("X NV12 SYS SYS", "NV12 X SYS SYS", "SYS SYS X NODE", "SYS SYS NODE X"),
        ("NODE NODE", "NODE NODE", "SYS SYS", "SYS SYS"),
        ("0-27,56-83", "0-27,56-83", "28-55,84-111", "28-55,84-111"),
        ("0", "0", "1", "1"),
    ),
    Printed(
        "sgl-project/sglang issue 11208: a tray of GB200, nodes of cores and GPUs",
        f"{DATA}gb200",
        4,
        alike(4, "NV18")[:3],
        ("SYS" + " SYS" * 5,) * 3,
        ("0-71", "0-71", "72-143"),
        ("0,3-9,11-17", "0,3-9,11-17", "1,19-25,27-33"),
    ),
    Printed(
        "vllm-project/vllm issue 17527: twenty-six ports",
        A100,
        4,
        alike(4, "NV12")[:3],
        ("SYS" + " SYS" * 25,) * 3,
        ("48-95,144-191",) * 3,
        ("1",) * 3,
    ),
    Printed(
        "NVIDIA/nccl issue 1646: DGX B200, two nodes per CPU, sixteen ports",
        f"{DATA}b200-sxm6-180gb",
        8,
        alike(8, "NV18")[:4],
        (
            "NODE NODE NODE NODE PIX NODE NODE NODE" + " SYS" * 8,
            "NODE NODE NODE NODE NODE NODE NODE PIX" + " SYS" * 8,
            "SYS" + " SYS" * 7 + " PIX NODE" + " SYS" * 6,
            "SYS" + " SYS" * 7 + " NODE PIX" + " SYS" * 6,
        ),
        ("0-27,112-139", "0-27,112-139", "28-55,140-167", "28-55,140-167"),
        ("0", "0", "1", "1"),
    ),
    Printed(
        "NVIDIA/nccl issue 667: pairs that hang, far and near",
        f"{DATA}a40",
        4,
        ("X PXB SYS SYS", "PXB X SYS SYS", "SYS SYS X PIX", "SYS SYS PIX X"),
        (),
        ("0-27,56-83", "0-27,56-83", "28-55,84-111", "28-55,84-111"),
        ("0", "0", "1", "1"),
    ),
    Printed(
        "warpem/miss-alignment issue 106: four L40S, two ports below the second CPU",
        f"{DATA}l40s",
        4,
        paired(4, "NODE", "SYS", "SYS"),
        ("SYS SYS", "SYS SYS", "NODE NODE", "NODE NODE"),
        halves(4, "0-95,192-287", "96-191,288-383"),
        halves(4, "0", "1"),
    ),
    Printed(
        "inferscope: four A40 for hire, pairs below switches",
        f"{DATA}a40",
        4,
        paired(4, "PXB", "SYS", "SYS"),
        (),
        halves(4, "0-23,48-71", "24-47,72-95"),
        halves(4, "0", "1"),
    ),
    Printed(
        "report on pipelines: pairs below one switch and below two",
        f"{DATA}a40",
        4,
        ("X PXB SYS SYS", "PXB X SYS SYS", "SYS SYS X PIX", "SYS SYS PIX X"),
        ("SYS SYS", "SYS SYS", "NODE NODE", "NODE NODE"),
        halves(4, "0-23,48-71", "24-47,72-95"),
        halves(4, "0", "1"),
    ),
    Printed(
        "notes of a cluster's user: eight cards, cascaded switches",
        "nvidia.rtx.a5000",
        8,
        (
            "X PXB PXB PXB SYS SYS SYS SYS",
            "PXB X PXB PXB SYS SYS SYS SYS",
            "PXB PXB X PIX SYS SYS SYS SYS",
            "PXB PXB PIX X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X PXB PXB PXB",
            "SYS SYS SYS SYS PXB X PXB PXB",
            "SYS SYS SYS SYS PXB PXB X PIX",
        ),
        ("NODE NODE",) * 4 + ("SYS SYS",) * 3,
        ("0-15",) * 4 + ("16-31",) * 3,
        ("0",) * 4 + ("1",) * 3,
    ),
    Printed(
        "PCIe view of eight cards, three ports by one pair",
        f"{DATA}a800-sxm4-80gb",
        8,
        paired(8, "PXB", "NODE", "SYS")[:4],
        ("PXB NODE NODE NODE SYS SYS",) * 2 + ("NODE PXB PXB PXB SYS SYS",) * 2,
        ("0-31,64-95",) * 4,
    ),
    Printed(
        "teaching code on eight V100, one port below the second CPU",
        "nvidia.tesla.v100-sxm2-32gb",
        8,
        (
            "X NV1 NV1 NV2 NV2 SYS SYS SYS",
            "NV1 X NV2 NV1 SYS NV2 SYS SYS",
            "NV1 NV2 X NV2 SYS SYS NV1 SYS",
            "NV2 NV1 NV2 X SYS SYS SYS NV1",
            "NV2 SYS SYS SYS X NV1 NV1 NV2",
            "SYS NV2 SYS SYS NV1 X NV2 NV1",
        ),
        ("SYS",) * 4 + ("PIX",) * 2,
        ("0-3,8-11",) * 4 + ("4-7,12-15",) * 2,
        ("0",) * 4 + ("1",) * 2,
    ),
    Printed(
        "sglang report of 2026: one NUMA node, twelve ports",
        H100,
        8,
        alike(8, "NV18")[:5],
        tuple(
            " ".join("PIX" if port == own else "NODE" for port in range(12))
            for own in (0, 1, 2, 5, 6)
        ),
        ("0-191",) * 5,
    ),
    Printed(
        "vllm-project/vllm issue 11122: cascaded switches in a virtual machine",
        f"{DATA}l40s",
        8,
        (
            "X PIX PXB PXB SYS SYS SYS SYS",
            "PIX X PXB PXB SYS SYS SYS SYS",
            "PXB PXB X PXB SYS SYS SYS SYS",
            "PXB PXB PXB X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X PIX PXB PXB",
        ),
        (),
        ("0-95",) * 5,
        ("N/A",) * 5,
    ),
    Printed(
        "notes on expert parallelism: the last card below the other CPU",
        f"{DATA}l40s",
        4,
        ("X PIX NODE SYS", "PIX X NODE SYS", "NODE NODE X SYS", "SYS SYS SYS X"),
    ),
    Printed(
        "notes on rented cards: the first one below the other CPU",
        f"{DATA}l40s",
        4,
        ("X SYS SYS SYS", "SYS X NODE NODE", "SYS NODE X PXB"),
    ),
    Printed(
        "notes on an ageing host: five cards, two bridges",
        "nvidia.rtx.a6000",
        5,
        (
            "X NODE NODE SYS SYS",
            "NODE X NV4 SYS SYS",
            "NODE NV4 X SYS SYS",
            "SYS SYS SYS X NV4",
            "SYS SYS SYS NV4 X",
        ),
        (),
        (),
        ("0", "0", "0", "1", "1"),
    ),
    Printed(
        "notes on an inference pool: a bridged pair and five cards below switches",
        RTX3090,
        7,
        (
            "X NV4" + " PHB" * 5,
            "NV4 X" + " PHB" * 5,
            *(f"PHB PHB {row}" for row in alike(5, "PXB")),
        ),
    ),
    Printed(
        "seven cards and a port below two switches of one CPU",
        RTX3090,
        7,
        (
            *(f"{row} PHB PHB PHB PHB" for row in alike(3, "PIX")),
            *(f"PHB PHB PHB {row}" for row in alike(4, "PIX")),
        ),
        ("PHB",) * 3 + ("PIX",) * 4,
    ),
)


def written(shown: Printed, shape: str) -> str:
    """Return the table in a shape: tabs as the tool writes them, columns as browsers render them,
    or single spaces."""
    ports = len(shown.ports[0].split()) if shown.ports else 0
    names = [f"GPU{index}" for index in range(shown.count)] + [
        f"NIC{index}" for index in range(ports)
    ]
    lines = [["", *names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]]
    for index, row in enumerate(shown.rows):
        cells = [*row.split(), *(shown.ports[index].split() if ports else ())]
        lines.append(
            [
                f"GPU{index}",
                *cells,
                shown.cores[index] if shown.cores else "0-15",
                node_of(shown, index),
                "N/A",
            ]
        )
    if shape == "tabs":
        return "\n".join("\t".join(line) for line in lines)
    if shape == "columns":
        return "\n".join(
            "".join(cell.ljust(8 if place <= len(names) else 20) for place, cell in enumerate(line))
            for line in lines
        )
    return "\n".join(" ".join(line).strip() for line in lines)


def node_of(shown: Printed, index: int) -> str:
    return shown.nodes[index] if shown.nodes else "0"


@pytest.mark.parametrize("shape", ["tabs", "columns", "spaces"])
@pytest.mark.parametrize("shown", PRINTED, ids=lambda shown: shown.source)
def test_a_printed_matrix_becomes_a_machine(shown: Printed, shape: str, catalog: Catalog) -> None:
    card = catalog.get(shown.gpu)
    assert isinstance(card, GPU), shown.gpu
    matrix = parse_matrix(written(shown, shape))
    machine = machine_of_matrix(matrix, card)
    assert len(machine.gpus) == shown.count
    assert len(machine.nics) == (len(shown.ports[0].split()) if shown.ports else 0)
    for index, row in enumerate(shown.rows):
        ports = shown.ports[index].split() if shown.ports else []
        assert list(machine.matrix[index]) == [*row.split(), *ports]
        assert matrix.numa_affinity[index] == node_of(shown, index)
    estimate = allreduce(machine)
    assert estimate is not None
    assert 0 < estimate.low < estimate.value < estimate.high


HEAD, FIRST, SECOND = (
    "GPU0    GPU1    CPU Affinity",
    "GPU0     X      PIX     0-15",
    "GPU1    PIX      X      16-31",
)


@pytest.mark.parametrize(
    "text",
    [
        f"# {HEAD}\n# {FIRST}\n# {SECOND}\n",
        f"> {HEAD}\n> {FIRST}\n> {SECOND}\n",
        (
            f"[2025-01-01 00:00:00] {HEAD}\n[2025-01-01 00:00:00] {FIRST}\n[2025-01-01 00:00:00]"
            f" {SECOND}\n"
        ),
        f"(worker, pid=12) {HEAD}\n(worker, pid=12) {FIRST}\n(worker, pid=12) {SECOND}\n",
        f"NVIDIA Topology: \n        {HEAD}\n{FIRST}\n{SECOND}\n\nLegend:\n\n  X    = Self\n",
        (
            f"      root@dl380ag11:~# nvidia-smi topo -m\n              {HEAD}\n      {FIRST}\n    "
            f"  {SECOND}\n"
        ),
        (
            "| | GPU0 | GPU1 | CPU Affinity |\n|---|---|---|---|\n| GPU0 | X | PIX | 0-15 |\n| GPU1"
            " | PIX | X | 16-31 |\n"
        ),
        f"\x1b[4m\t{HEAD}\x1b[0m\n{FIRST}\n{SECOND}\n",
    ],
)
def test_what_stands_around_a_matrix_is_no_part_of_it(text: str) -> None:
    matrix = parse_matrix(text)
    assert matrix.devices == ("GPU0", "GPU1")
    assert matrix.cells == (("X", "PIX"), ("PIX", "X"))


def test_heads_and_cells_that_a_page_ran_together_come_apart() -> None:
    matrix = parse_matrix(
        "GPU0 GPU1 NIC8NIC9 CPU Affinity\nGPU0 X NV18 NODENODE 0-55\nGPU1 NV18 X PIX NODE 0-55\n"
    )
    assert matrix.devices == ("GPU0", "GPU1", "NIC8", "NIC9")
    assert matrix.cells == (("X", "NV18", "NODE", "NODE"), ("NV18", "X", "PIX", "NODE"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("GPU0 GPU1 GPU2\nGPU0 X SYS SYS\nGPU1 SYS X INTE\nGPU2 SYS INTE X\n", "INTE"),
        ("GPU0 GPU1 GPU2\nGPU0 X SYS SYS\nGPU1 SYS X PHB\nGPU2 SYS PH\n", "cut"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_place(text: str, word: str) -> None:
    with pytest.raises(MatrixFault, match=word):
        parse_matrix(text)


def test_a_head_of_nodes_alone_gives_nodes() -> None:
    matrix = parse_matrix("GPU0 GPU1 NUMA\nGPU0 X SYS 0\nGPU1 SYS X 1\n")
    assert (numa_nodes(matrix), matrix.cpu_affinity) == ((0, 1), ("", ""))
