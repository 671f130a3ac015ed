"""Machines of the catalog against matrices captured on real ones, letter by letter.

`captured_matrices.json` holds what their owners published of them: the devices in column order, the
cells of each row that was printed ("-" where one was not), affinities, and where it was read."""

import re
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from rigplanner.catalog.load import Catalog
from rigplanner.machine.assemble import assemble
from rigplanner.machine.formats.smi_matrix import SmiMatrix, parse_matrix
from rigplanner.machine.model import Machine
from rigplanner.rig.document import Item, Rig, Settings

Parts = tuple[tuple[str, int, tuple[str, ...]], ...]


class Case(Struct, frozen=True):
    """A capture and the parts of its machine; `nics` says that its network columns are compared
    too."""

    capture: str
    parts: Parts
    numa: int | None = None
    nics: bool = False


def whole(system: str) -> Parts:
    return ((system, 1, ()),)


def with_cards(system: str, cpus: str, count: int, gpu: str, *slots: str) -> Parts:
    return ((system, 1, ()), (cpus, count, ()), (gpu, len(slots), slots))


TWO_SLOTS = "nvidia.rtx.6000-ada"
"""Stands in for an RTX 4090 in a server case, where the cards are built two slots thick."""
A100, RTX_4090 = "nvidia.datacenter.a100-pcie-40gb", "nvidia.geforce.rtx-4090"
CASES = [
    Case("dgx1_v100x8", whole("nvidia.dgx.dgx-1-v100-16gb"), nics=True),
    Case("dlperf_v100x8_hcm", whole("nvidia.dgx.dgx-1-v100-16gb")),
    Case("dgx2_v100x16_nv6", whole("nvidia.dgx.dgx-2"), nics=True),
    Case("traverse_ac922_v100x4", whole("ibm.power.ac922-4-gpu"), nics=True),
    Case("hpi_ac922_v100x4", whole("ibm.power.ac922-4-gpu")),
    Case("polaris_a100x4_nv4", whole("hpe.apollo.6500-gen10-plus-polaris"), numa=4, nics=True),
    Case("h100sxm_x8_stas", whole("nvidia.dgx.dgx-h100")),
    Case("h100sxm_x8_stas_b", whole("nvidia.dgx.dgx-h100")),
    Case("b200_x8_nv18_snc2", whole("nvidia.dgx.dgx-b200"), numa=2),
    Case("leonardo_a100x4_nv4", whole("nvidia.hgx.hgx-a100-4-gpu-40gb")),
    Case("della_i16g1_a100x4_nv4", whole("supermicro.superserver.sys-220gq-tnar-plus")),
    Case("h100sxm_x4_nv6", whole("nvidia.hgx.hgx-h100-4-gpu")),
    Case(
        "a100pcie40x2_sys_r7525",
        with_cards("dell.poweredge.r7525", "amd.epyc.7352", 2, A100, "SLOT2", "SLOT7"),
    ),
    Case(
        "a100pcie40x2_node_xeon6348",
        with_cards(
            "supermicro.superserver.sys-740gp-tnrt",
            "intel.xeon.gold-6348",
            2,
            A100,
            "SLOT6",
            "SLOT8",
        ),
    ),
    Case(
        "pcie_x4_pix_phb",
        with_cards(
            "supermicro.superserver.sys-4028gr-tr",
            "intel.xeon.e5-2680-v4",
            2,
            "nvidia.titan.rtx",
            "SLOT8",
            "SLOT9",
            "SLOT10",
            "SLOT11",
        ),
    ),
    Case(
        "pcie_x6_pix_node_sys",
        with_cards(
            "supermicro.superserver.sys-4029gp-trt",
            "intel.xeon.platinum-8168",
            2,
            "nvidia.titan.rtx",
            "SLOT8",
            "SLOT9",
            "SLOT10",
            "SLOT11",
            "SLOT1",
            "SLOT2",
        ),
    ),
    Case(
        "k80_x3_supermicro",
        with_cards(
            "supermicro.superserver.sys-7048gr-tr",
            "intel.xeon.e5-2620-v4",
            2,
            "nvidia.tesla.k80",
            "SLOT2",
            "SLOT6",
            "SLOT8",
        ),
    ),
    Case(
        "l40_x4_dual_epyc",
        with_cards(
            "supermicro.a-plus.as-4125gs-tnrt",
            "amd.epyc.9755",
            2,
            "nvidia.datacenter.l40",
            "SLOT1",
            "SLOT3",
            "SLOT5",
            "SLOT7",
        ),
    ),
    Case(
        "rtx4090_x8_dual_epyc7542_nps4",
        with_cards(
            "supermicro.a-plus.as-4124gs-tnr",
            "amd.epyc.7542",
            2,
            TWO_SLOTS,
            "SLOT1",
            "SLOT2",
            "SLOT3",
            "SLOT4",
            "SLOT7",
            "SLOT8",
            "SLOT9",
            "SLOT10",
        ),
        numa=4,
    ),
    Case(
        "gpu_x2_phb_sys_nics",
        with_cards(
            "supermicro.superserver.sys-7048gr-tr",
            "intel.xeon.e5-2680-v4",
            2,
            "nvidia.titan.rtx",
            "SLOT2",
            "SLOT6",
        ),
    ),
    Case(
        "rtxpro6000_x2_i9_7920x",
        (
            ("asus.ws.x299-pro", 1, ()),
            ("intel.core.i9-7920x", 1, ()),
            ("nvidia.rtx-pro.6000-blackwell-workstation", 2, ()),
        ),
    ),
    Case(
        "titanrtx_x2_nv2",
        (
            ("asus.rog-strix.x299-e-gaming", 1, ()),
            ("intel.core.i9-7920x", 1, ()),
            ("nvidia.titan.rtx", 2, ()),
            ("nvidia.nvlink-bridge.titan-rtx-4-slot", 1, ()),
        ),
    ),
    Case(
        "dual_gpu_phb_no_nvlink",
        with_cards(
            "asus.proart.x670e-creator-wifi",
            "amd.ryzen.9-7950x",
            1,
            RTX_4090,
            "PCIEX16_1",
            "PCIEX16_2",
        ),
    ),
]


def build(case: Case, catalog: Catalog) -> Machine:
    items = tuple(
        Item(uid=f"i{n}", part=part, quantity=max(1, count), places=places)
        for n, (part, count, places) in enumerate(case.parts)
    )
    return assemble(Rig(items=items, settings=Settings(numa_per_socket=case.numa)), catalog)


class Capture(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was published of one machine."""

    id: str
    source: str
    devices: str
    rows: dict[str, str]
    gpus: str = ""
    cpu: str = ""
    system: str = ""
    cpu_affinity: tuple[str, ...] = ()
    numa_affinity: tuple[str, ...] = ()

    def matrix(self) -> SmiMatrix:
        """The capture as the program prints it, read back."""
        heads = ("CPU Affinity",) * bool(self.cpu_affinity)
        heads += ("NUMA Affinity",) * bool(self.numa_affinity)
        lines = ["\t".join(("", *self.devices.split(), *heads))]
        for n, (name, cells) in enumerate(self.rows.items()):
            beside = [row[n] for row in (self.cpu_affinity, self.numa_affinity) if n < len(row)]
            lines.append("\t".join((name, *cells.split(), *beside)))
        return parse_matrix("\n".join(lines) + "\n")


CAPTURES = {
    capture.id: capture
    for capture in msgspec.json.decode(
        Path(__file__).with_name("captured_matrices.json").read_bytes(),
        type=tuple[Capture, ...],
    )
}


@pytest.mark.parametrize("capture", CAPTURES.values(), ids=lambda capture: capture.id)
def test_a_capture_is_read_to_the_letter(capture: Capture) -> None:
    matrix = capture.matrix()
    assert matrix.gpus
    assert matrix.devices == tuple(capture.devices.split())
    assert {
        row: " ".join(cells) for row, cells in zip(matrix.rows, matrix.cells, strict=True)
    } == capture.rows
    assert matrix.cpu_affinity == capture.cpu_affinity
    assert capture.source


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.capture)
def test_the_letters_are_those_captured(case: Case, catalog: Catalog) -> None:
    captured = CAPTURES[case.capture].matrix()
    machine = build(case, catalog)
    count = len(captured.gpus)
    assert len(machine.gpus) == count
    columns = list(captured.gpus)
    if case.nics:
        columns += sorted(
            (d for d in captured.devices if d not in captured.gpus),
            key=lambda name: int(re.findall(r"\d+$", name)[0]),
        )
        assert len(machine.nics) == len(columns) - count
    index = {name: n for n, name in enumerate(captured.devices)}
    for row, cells in zip(captured.rows, captured.cells, strict=True):
        if row in columns:
            mine = machine.matrix[columns.index(row)]
            assert list(mine[: len(columns)]) == [cells[index[name]] for name in columns], row
