"""Matrices of public reports beyond the files of captures: each is read, its letters are kept, and
a machine with islands and rates comes of it. Cells are facts; the sources name where they stand."""

import pytest
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.formats.from_matrix import machine_of_matrix
from rigplanner.machine.formats.nccl_read import machine_of_nccl, read_nccl_xml
from rigplanner.machine.formats.nccl_xml import nccl_xml
from rigplanner.machine.formats.smi_matrix import parse_matrix
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.copies import copy_rates


class Shown(Struct, frozen=True):
    """Source, GPU, rows of the GPUs (rows of ports follow from them), names of ports, and the
    islands that NVLink makes."""

    source: str
    gpu: str
    rows: tuple[str, ...]
    ports: tuple[str, ...] = ()
    islands: tuple[tuple[int, ...], ...] = ()


A100, H100, V100 = (
    "nvidia.datacenter.a100-pcie-40gb",
    "nvidia.datacenter.h100-sxm5-80gb",
    "nvidia.tesla.v100-sxm2-16gb",
)
A100SXM, RTX4090 = "nvidia.datacenter.a100-sxm4-80gb", "nvidia.geforce.rtx-4090"
SHOWN = (
    Shown(
        "notes on three RTX A6000 of one EPYC, one bridge",
        "nvidia.rtx.a6000",
        ("X NV4 NODE", "NV4 X NODE", "NODE NODE X"),
        islands=((0, 1), (2,)),
    ),
    Shown(
        "notes on four L40 of two EPYC 9755 with a port pair",
        "nvidia.datacenter.l40",
        (
            "X NODE SYS SYS SYS SYS",
            "NODE X SYS SYS SYS SYS",
            "SYS SYS X NODE NODE NODE",
            "SYS SYS NODE X NODE NODE",
        ),
        ("NIC0", "NIC1"),
    ),
    Shown(
        "probe of an EPYC server, four GPUs and five ports",
        "nvidia.datacenter.l40",
        (
            "X NODE SYS SYS NODE NODE NODE NODE SYS",
            "NODE X SYS SYS NODE NODE NODE NODE SYS",
            "SYS SYS X NODE SYS SYS SYS SYS NODE",
            "SYS SYS NODE X SYS SYS SYS SYS NODE",
        ),
        ("roceo12399", "roceo12409", "rocep13s0f0", "rocep55s0f0", "rocep181s0f0"),
    ),
    Shown(
        "six A100, one bridge across sockets",
        A100,
        (
            "X NODE NODE NV12 SYS SYS NODE",
            "NODE X NV12 SYS SYS SYS NODE",
            "NODE NV12 X SYS SYS SYS NODE",
            "NV12 SYS SYS X NODE NODE SYS",
            "SYS SYS SYS NODE X NV12 SYS",
            "SYS SYS SYS NODE NV12 X SYS",
        ),
        ("mlx5_0",),
        ((0, 3), (1, 2), (4, 5)),
    ),
    Shown(
        "four RTX A4000 of a Threadripper PRO 3955WX",
        "nvidia.rtx.a4000",
        ("X NODE NODE NODE", "NODE X NODE NODE", "NODE NODE X NODE", "NODE NODE NODE X"),
    ),
    Shown(
        "two RTX PRO 6000 of a WRX90E board",
        "nvidia.rtx-pro.6000-blackwell-workstation",
        ("X NODE", "NODE X"),
    ),
    Shown(
        "cluster node of four A100 with four HCAs behind switches",
        A100SXM,
        (
            "X NV4 NV4 NV4 PXB NODE NODE NODE",
            "NV4 X NV4 NV4 NODE PXB NODE NODE",
            "NV4 NV4 X NV4 NODE NODE PXB NODE",
            "NV4 NV4 NV4 X NODE NODE NODE PXB",
        ),
        ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"),
        ((0, 1, 2, 3),),
    ),
    Shown(
        "TianHe-2K: half a cube mesh",
        V100,
        (
            "X NV2 NV1 NODE PIX PIX NODE NODE",
            "NV2 X NODE NV2 PIX PIX NODE NODE",
            "NV1 NODE X NV2 NODE NODE PIX PIX",
            "NODE NV2 NV2 X NODE NODE PIX PIX",
        ),
        ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"),
        ((0, 1, 2, 3),),
    ),
    Shown(
        "hire machine of two K80 in 2017",
        "nvidia.tesla.k80",
        ("X PIX SOC SOC SOC", "PIX X SOC SOC SOC", "SOC SOC X PIX PHB", "SOC SOC PIX X PHB"),
        ("mlx5_0",),
    ),
    Shown(
        "POWER8 of four P100",
        "nvidia.tesla.p100-sxm2-16gb",
        (
            "X NV2 SOC SOC SOC SOC",
            "NV2 X SOC SOC SOC SOC",
            "SOC SOC X NV2 SOC SOC",
            "SOC SOC NV2 X SOC SOC",
        ),
        ("mlx5_0", "mlx5_1"),
        ((0, 1), (2, 3)),
    ),
    Shown(
        "desktop of two bridged RTX 2080 Ti",
        "nvidia.geforce.rtx-2080-ti",
        ("X NV2", "NV2 X"),
        islands=((0, 1),),
    ),
    Shown(
        "a slice of four A100 below NVSwitch",
        A100SXM,
        (
            "X NV12 NV12 NV12 SYS",
            "NV12 X NV12 NV12 SYS",
            "NV12 NV12 X NV12 SYS",
            "NV12 NV12 NV12 X SYS",
        ),
        ("NIC0",),
        ((0, 1, 2, 3),),
    ),
    Shown("two L4 of an EPYC 9354P in NPS2", "nvidia.datacenter.l4", ("X SYS", "SYS X")),
    Shown(
        "two of four A100 in NPS4, nodes 3 and 5", A100SXM, ("X NV4", "NV4 X"), islands=((0, 1),)
    ),
    Shown(
        "noonghunna/club-3090 issue 46: five cards of two NUMA nodes",
        RTX4090,
        (
            "X SYS SYS SYS SYS",
            "SYS X PHB NODE NODE",
            "SYS PHB X NODE NODE",
            "SYS NODE NODE X PHB",
            "SYS NODE NODE PHB X",
        ),
    ),
    Shown(
        "NVIDIA/go-gpuallocator issue 17: eight RTX 4090",
        RTX4090,
        tuple(
            " ".join("X" if a == b else "SYS" for b in range(8))
            + (" PHB PHB" if a == 6 else " SYS SYS")
            for a in range(8)
        ),
        ("NIC0", "NIC1"),
    ),
    Shown(
        "NVIDIA/nccl-tests issue 68: four V100 of a C4140",
        V100,
        ("X NV2 NV2 NV2 NODE", "NV2 X NV2 NV2 NODE", "NV2 NV2 X NV2 NODE", "NV2 NV2 NV2 X NODE"),
        ("mlx5_0",),
        ((0, 1, 2, 3),),
    ),
    Shown(
        "NVIDIA/nccl-tests issue 178: eight A100 in pairs",
        A100,
        (
            "X NV12 NODE NODE SYS SYS SYS SYS",
            "NV12 X NODE NODE SYS SYS SYS SYS",
            "NODE NODE X NV12 SYS SYS SYS SYS",
            "NODE NODE NV12 X SYS SYS SYS SYS",
            "SYS SYS SYS SYS X NV12 NODE NODE",
            "SYS SYS SYS SYS NV12 X NODE NODE",
            "SYS SYS SYS SYS NODE NODE X NV12",
            "SYS SYS SYS SYS NODE NODE NV12 X",
        ),
        islands=((0, 1), (2, 3), (4, 5), (6, 7)),
    ),
    Shown(
        "Hadoop YARN: sample of two pairs",
        "nvidia.tesla.p40",
        ("X PHB SOC SOC", "PHB X SOC SOC", "SOC SOC X PHB", "SOC SOC PHB X"),
    ),
    Shown(
        "TensorFlow networking: four GPUs and an mlx4 port",
        "nvidia.tesla.p40",
        ("X PHB SOC SOC SOC", "PHB X SOC SOC SOC", "SOC SOC X PHB PHB", "SOC SOC PHB X PHB"),
        ("mlx4_0",),
    ),
    Shown(
        "a virtual machine of four GPUs",
        "nvidia.datacenter.l40",
        ("X NODE NODE NODE", "NODE X NODE NODE", "NODE NODE X NODE", "NODE NODE NODE X"),
    ),
    Shown(
        "four GPUs on four NUMA nodes",
        "nvidia.geforce.rtx-3090",
        ("X SYS SYS SYS", "SYS X SYS SYS", "SYS SYS X SYS", "SYS SYS SYS X"),
    ),
    Shown(
        "noonghunna/club-3090 issue 1125: two cards of an H12SSL-NT",
        "nvidia.geforce.rtx-3090",
        ("X NODE", "NODE X"),
    ),
    Shown(
        "cluster guide: eight A100 and a Slingshot port",
        A100SXM,
        tuple(" ".join("X" if a == b else "NV12" for b in range(8)) + " SYS" for a in range(8)),
        ("HSN",),
        (tuple(range(8)),),
    ),
    Shown(
        "recommender benchmark on eight V100, two ports",
        V100,
        (
            "X NV1 NV2 NV1 SYS SYS SYS NV2 NODE SYS",
            "NV1 X NV1 NV2 SYS SYS NV2 SYS NODE SYS",
            "NV2 NV1 X NV2 SYS NV1 SYS SYS PIX SYS",
            "NV1 NV2 NV2 X NV1 SYS SYS SYS PIX SYS",
            "SYS SYS SYS NV1 X NV2 NV2 NV1 SYS NODE",
            "SYS SYS NV1 SYS NV2 X NV1 NV2 SYS NODE",
            "SYS NV2 SYS SYS NV2 NV1 X NV1 SYS PIX",
            "NV2 SYS SYS SYS NV1 NV2 NV1 X SYS PIX",
        ),
        ("mlx5_0", "mlx5_1"),
        (tuple(range(8)),),
    ),
    Shown(
        "notes on an offload card: two GPUs, two cards of two ports",
        "nvidia.datacenter.l40",
        ("X SYS PHB PHB SYS SYS", "SYS X SYS SYS PHB PHB"),
        ("NIC0", "NIC1", "NIC2", "NIC3"),
    ),
    Shown(
        "four A10G of a hire machine, one node and four bridges",
        "nvidia.datacenter.a10g",
        ("X SYS SYS SYS", "SYS X SYS SYS", "SYS SYS X SYS", "SYS SYS SYS X"),
    ),
    Shown(
        "two L40S of a hire machine below one switch", "nvidia.datacenter.l40s", ("X PIX", "PIX X")
    ),
    Shown(
        "four L40S, pairs below switches of one CPU",
        "nvidia.datacenter.l40s",
        ("X PIX NODE NODE", "PIX X NODE NODE", "NODE NODE X PIX", "NODE NODE PIX X"),
    ),
    Shown(
        "two GPUs and two ports of one socket, four bridges",
        "nvidia.datacenter.h100-pcie-80gb",
        ("X NODE NODE NODE", "NODE X NODE NODE"),
        ("NIC0", "NIC1"),
    ),
    Shown(
        "four RTX 5060 Ti on one host bridge",
        "nvidia.geforce.rtx-5060-ti-16gb",
        tuple(" ".join("X" if a == b else "PHB" for b in range(4)) for a in range(4)),
    ),
    Shown(
        "five cards on one host bridge",
        "nvidia.geforce.rtx-3090",
        tuple(" ".join("X" if a == b else "PHB" for b in range(5)) for a in range(5)),
    ),
    Shown(
        "aikitoria/open-gpu-kernel-modules issue 13: five cards, two on one bridge",
        RTX4090,
        (
            "X NODE NODE NODE NODE",
            "NODE X NODE NODE NODE",
            "NODE NODE X NODE NODE",
            "NODE NODE NODE X PHB",
            "NODE NODE NODE PHB X",
        ),
    ),
    Shown(
        "NVIDIA/nccl issue 1617: four H100, a port beside each, nodes 3, 1, 7 and 5",
        H100,
        (
            "X NV6 NV6 NV6 PIX SYS SYS SYS",
            "NV6 X NV6 NV6 SYS PIX SYS SYS",
            "NV6 NV6 X NV6 SYS SYS PIX SYS",
            "NV6 NV6 NV6 X SYS SYS SYS PIX",
        ),
        ("NIC0", "NIC1", "NIC2", "NIC3"),
        ((0, 1, 2, 3),),
    ),
    Shown(
        "notes of 2025 on eight B200 with four ports of one CPU",
        "nvidia.datacenter.b200-sxm6-180gb",
        tuple(
            " ".join("X" if a == b else "NV18" for b in range(8)) + ports
            for a, ports in enumerate(
                (" PIX PIX NODE NODE",) * 2
                + (" NODE NODE PIX PIX",) * 2
                + (" SYS SYS SYS SYS",) * 4
            )
        ),
        ("NIC0", "NIC1", "NIC2", "NIC3"),
        (tuple(range(8)),),
    ),
    Shown(
        "NVIDIA/nccl issue 557: two cards, three links",
        "nvidia.rtx.a6000",
        ("X NV3", "NV3 X"),
        islands=((0, 1),),
    ),
    Shown(
        "noonghunna/club-3090 issue 1229: two RTX 5090 of one host bridge",
        "nvidia.geforce.rtx-5090",
        ("X PHB", "PHB X"),
    ),
    Shown(
        "noonghunna/club-3090 issue 922: two cards with the patched driver",
        RTX4090,
        ("X PHB", "PHB X"),
    ),
    Shown(
        "avolkov1/keras_experiments issue 13: pairs of 2017",
        "nvidia.tesla.p40",
        ("X PHB SOC SOC", "PHB X SOC SOC", "SOC SOC X PHB", "SOC SOC PHB X"),
    ),
    Shown(
        "horovod/horovod issue 969: the slower machine, pairs below switches",
        "nvidia.tesla.p40",
        ("X PIX PHB PHB", "PIX X PHB PHB", "PHB PHB X PIX", "PHB PHB PIX X"),
    ),
    Shown(
        "horovod/horovod issue 893: two roots of four cards, one port",
        "nvidia.geforce.rtx-2080-ti",
        tuple(
            " ".join("X" if a == b else "PIX" if a // 4 == b // 4 else "SYS" for b in range(8))
            + (" PIX" if a > 3 else " SYS")
            for a in range(8)
        ),
        ("mlx4_0",),
    ),
    Shown(
        "NVIDIA/nccl issue 1453: eight H100, nine ports in the order of the last first",
        H100,
        tuple(
            " ".join("X" if a == b else "NV18" for b in range(8))
            + " SYS "
            + " ".join(
                ("PIX" if a + port == 8 else "NODE") if (port > 4) == (a < 4) else "SYS"
                for port in range(1, 9)
            )
            for a in range(8)
        ),
        tuple(f"NIC{index}" for index in range(9)),
        (tuple(range(8)),),
    ),
    Shown(
        "OpenNebula: four GB200 of a tray",
        "nvidia.datacenter.b200-sxm6-180gb",
        ("X NV18 NV18 NV18", "NV18 X NV18 NV18", "NV18 NV18 X NV18", "NV18 NV18 NV18 X"),
        islands=((0, 1, 2, 3),),
    ),
)


def text_of(shown: Shown) -> str:
    names = [*(f"GPU{index}" for index in range(len(shown.rows))), *shown.ports]
    lines = ["\t".join(("", *names, "CPU Affinity", "NUMA Affinity"))]
    lines += [
        "\t".join((f"GPU{index}", *row.split(), "0-15", "0"))
        for index, row in enumerate(shown.rows)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.source)
def test_a_public_matrix_becomes_a_machine(shown: Shown, catalog: Catalog) -> None:
    card = catalog.get(shown.gpu)
    assert isinstance(card, GPU), shown.gpu
    matrix = parse_matrix(text_of(shown))
    machine = machine_of_matrix(matrix, card)
    count = len(shown.rows)
    assert [list(row[:count]) for row in machine.matrix[:count]] == [
        row.replace("SOC", "SYS").split()[:count] for row in shown.rows
    ]
    assert len(machine.nics) == len(shown.ports)
    linked = shown.islands or tuple((index,) for index in range(count))
    assert machine.islands == linked
    estimate = allreduce(machine)
    assert estimate is not None
    assert 0 < estimate.low < estimate.value < estimate.high
    assert all(
        rate is not None
        for a, row in enumerate(copy_rates(machine))
        for b, rate in enumerate(row)
        if a != b
    )
    back = machine_of_nccl(read_nccl_xml(nccl_xml(machine)), (card,) * count)
    assert [cell for row in back.matrix for cell in row if cell.startswith("NV")] == [
        cell for row in machine.matrix[:count] for cell in row[:count] if cell.startswith("NV")
    ]
