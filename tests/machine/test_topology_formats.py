"""Formats of other tools: NCCL topology XML out and in, hwloc XML, lspci -tv, nvidia-smi -q."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_parts import board, bridge, cpu, linked_gpu, machine_of, nic, slot

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import CPU, Switch
from rigplanner.machine.assemble import assemble
from rigplanner.machine.formats.cpu_lists import mask_of, ranges_of
from rigplanner.machine.formats.cpu_models import numbers_of, socket_of
from rigplanner.machine.formats.hwloc_xml import read_hwloc
from rigplanner.machine.formats.lspci_tree import TreeFault, parse_lspci
from rigplanner.machine.formats.nccl_read import machine_of_nccl, read_nccl_xml
from rigplanner.machine.formats.nccl_xml import nccl_xml
from rigplanner.machine.formats.pci_paths import nvidia_gpus, path_cells
from rigplanner.machine.formats.smi_matrix import MatrixFault
from rigplanner.machine.formats.smi_query import QueryFault, parse_query
from rigplanner.machine.formats.xml_tree import XmlFault, parse_xml
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import gpu_node, nic_node
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.interconnect import path_up
from rigplanner.rig.files import read_rig

LSPCI = r"""-+-[0000:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Root Complex
 |           +-01.1-[01-05]----00.0-[02-05]--+-00.0-[03]--+-00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
 |           |                               |            \-00.1  NVIDIA Corporation GA102 High Definition Audio Controller
 |           |                               \-01.0-[04]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
 |           \-03.1-[06]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
 \-[0000:40]-+-00.0  Advanced Micro Devices, Inc. [AMD] Root Complex
             \-01.1-[41]----00.0  NVIDIA Corporation GA102 [GeForce RTX 3090]
"""

HWLOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0">
    <object type="Package" os_index="0" gp_index="3">
      <info name="CPUModel" value="AMD EPYC 7302P"/>
      <object type="NUMANode" os_index="0" local_memory="68719476736"/>
      <object type="Core"><object type="PU" os_index="0"/><object type="PU" os_index="16"/></object>
      <object type="Bridge" gp_index="10" bridge_type="0-1">
        <object type="Bridge" gp_index="11" bridge_type="1-1" bridge_pci="0000:[01-01]">
          <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0300 [10de:2204]">
            <info name="PCIVendor" value="NVIDIA Corporation"/><info name="PCIDevice" value="GA102 [GeForce RTX 3090]"/>
            <object type="OSDev" name="cuda0"/>
          </object>
        </object>
        <object type="Bridge" gp_index="12" bridge_type="1-1" bridge_pci="0000:[02-02]">
          <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0300 [10de:2204]">
            <info name="PCIVendor" value="NVIDIA Corporation"/><info name="PCIDevice" value="GA102 [GeForce RTX 3090]"/>
          </object>
        </object>
      </object>
      <object type="Bridge" gp_index="20" bridge_type="0-1">
        <object type="Bridge" gp_index="21" bridge_type="1-1" bridge_pci="0000:[41-41]">
          <object type="PCIDev" pci_busid="0000:41:00.0" pci_type="0300 [10de:2204]">
            <info name="PCIVendor" value="NVIDIA Corporation"/><info name="PCIDevice" value="GA102 [GeForce RTX 3090]"/>
          </object>
        </object>
      </object>
    </object>
  </object>
</topology>
"""

QUERY = """==============NVSMI LOG==============

Attached GPUs                             : 1
GPU 00000000:41:00.0
    Product Name                          : NVIDIA GeForce RTX 3090
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 1
            Link Width
                Max                       : 16x
                Current                   : 8x
    FB Memory Usage
        Total                             : 24576 MiB
    GPU Power Readings
        Current Power Limit               : 280.00 W
        Max Power Limit                   : 365.00 W
"""


def test_a_bridged_pair_is_read_from_nccl_s_file() -> None:
    """Two cards on eight lanes each, as a planner would hand them to NCCL."""
    cards = "".join(
        f'<pci busid="0000:0{n}:00.0" class="0x030000" vendor="0x10de" device="0x2204"'
        ' link_speed="16.0 GT/s PCIe" link_width="8">'
        f'<gpu dev="{n - 1}" sm="86" rank="{n - 1}" gdr="0">'
        f'<nvlink target="0000:0{3 - n}:00.0" count="4" tclass="0x030000"/></gpu></pci>'
        for n in (1, 2)
    )
    text = (
        '<system version="1"><cpu numaid="0" affinity="00ffffff" arch="x86_64"'
        f' vendor="AuthenticAMD" familyid="175" modelid="33">{cards}</cpu></system>'
    )
    machine = machine_of_nccl(read_nccl_xml(text), (linked_gpu(), linked_gpu()))
    assert machine.matrix == (("X", "NV4"), ("NV4", "X"))
    assert [(gpu.width, gpu.gen) for gpu in machine.gpus] == [(8, 4), (8, 4)]


def switches_above(machine: Machine) -> list[list[tuple[int | None, int | None]]]:
    """The uplinks of the switches above each GPU and port."""
    above = {edge.b: edge for edge in machine.edges if edge.kind in ("pcie", "chipset")}
    nodes = [gpu_node(gpu.index) for gpu in machine.gpus]
    nodes += [nic_node(nic.index) for nic in machine.nics]
    return [[(edge.gen, edge.width) for edge in path_up(node, above)[1:]] for node in nodes]


def test_nccl_xml_reads_back_as_the_same_machine(catalog: Catalog, samples: list[Path]) -> None:
    for path in samples:
        machine = assemble(read_rig(path), catalog)
        back = machine_of_nccl(
            read_nccl_xml(nccl_xml(machine)), tuple(node.gpu for node in machine.gpus)
        )
        assert back.matrix == machine.matrix, path.stem
        assert back.p2p == machine.p2p, path.stem
        assert back.islands == machine.islands, path.stem
        for one, other in zip(back.gpus, machine.gpus, strict=True):
            assert (one.gen, one.width, one.numa, one.affinity) == (
                other.gen,
                other.width,
                other.numa,
                other.affinity,
            ), path.stem
            assert one.host_gbs == other.host_gbs, path.stem
        assert [nic.gbps for nic in back.nics] == [nic.gbps for nic in machine.nics], path.stem
        assert [node.cpu.vendor for node in back.cpus] == [
            "" if node.cpu.vendor == "NVIDIA" else node.cpu.vendor for node in machine.cpus
        ], path.stem
        ours, theirs = allreduce(machine), allreduce(back)
        assert (ours and ours.value) == (theirs and theirs.value), path.stem
        assert switches_above(back) == switches_above(machine), path.stem


def test_devices_of_one_host_bridge_share_a_pci_domain(
    catalog: Catalog, samples: list[Path]
) -> None:
    quad = assemble(
        read_rig(next(path for path in samples if path.stem == "quad-rtx-4090")), catalog
    )
    system = read_nccl_xml(nccl_xml(quad))
    domains = [gpu.busid[:4] for gpu in system.gpus]
    assert domains[1] == domains[2]
    assert len(set(domains)) == 3
    assert system.cells[0] == ["X", "NODE", "NODE", "NODE"]


def test_a_file_of_another_gpu_is_told() -> None:
    text = (
        '<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x030000"'
        ' link_speed="16.0 GT/s PCIe" link_width="8"><gpu dev="0" sm="61" rank="0"'
        ' gdr="1"/></pci></cpu></system>'
    )
    with pytest.raises(MatrixFault, match=r"sm='61', but linked has compute capability 8\.6"):
        machine_of_nccl(read_nccl_xml(text), (linked_gpu(),))
    node = machine_of_nccl(read_nccl_xml(text.replace('"61"', '"86"')), (linked_gpu(),)).gpus[0]
    assert (node.gen, node.width, node.host_gbs) == (4, 8, link_gbs(4, 8))
    silent = (
        text.replace("16.0 GT/s PCIe", "")
        .replace('link_width="8"', 'link_width="0"')
        .replace('"61"', '""')
    )
    card = linked_gpu()
    node = machine_of_nccl(read_nccl_xml(silent), (card,)).gpus[0]
    assert (node.gen, node.width) == (card.edge_gen, card.edge_width)


def test_links_that_two_gpus_count_differently_are_refused() -> None:
    gpu = (
        '<pci busid="0000:0{n}:00.0" class="0x030200"><gpu dev="{n}" sm="86"><nvlink'
        ' target="0000:0{o}:00.0" count="{c}" tclass="0x030200"/></gpu></pci>'
    )
    text = (
        "<system><cpu"
        f' numaid="0">{gpu.format(n=1, o=2, c=4)}{gpu.format(n=2, o=1, c=2)}</cpu></system>'
    )
    with pytest.raises(MatrixFault, match="GPU0 has 4 links to GPU1, which has 2"):
        machine_of_nccl(read_nccl_xml(text), (linked_gpu(), linked_gpu()))


@pytest.mark.parametrize(
    ("ranges", "mask"),
    [
        ("0-19,40-59", "0fffff00,000fffff"),
        ("3", "00000008"),
        ("0-31", "ffffffff"),
        ("32-33", "00000003,00000000"),
    ],
)
def test_logical_cpus_as_ranges_and_masks(ranges: str, mask: str) -> None:
    assert mask_of(ranges) == mask
    assert ranges_of(mask) == ranges
    assert mask_of("all") == ""
    assert [ranges_of(word) for word in ("", "xyz", "0000,0000", "f" * 3000)] == [None] * 4


def test_cpus_are_known_by_family_and_model(catalog: Catalog) -> None:
    for part, numbers in (
        ("intel.xeon.platinum-8480-plus", ("6", "143")),
        ("amd.epyc.7742", ("143", "49")),
    ):
        found = catalog.get(part)
        assert isinstance(found, CPU)
        assert numbers_of(found) == numbers
        assert socket_of(*numbers) == found.socket
    assert numbers_of(cpu()) is None
    assert socket_of("6", "158") is None


def test_nccl_xml_holds_switches_ports_and_links() -> None:
    two = board(
        [slot("A", 1, origin="plx"), slot("B", 4, origin="plx"), slot("N", 8, origin="plx")],
        switches=[Switch(id="plx", model="PEX", origin="cpu0", gen=4, width=16)],
    )
    text = nccl_xml(machine_of(two, cpu(), (linked_gpu(), 2), bridge(3), nic()))
    system = parse_xml(text, 100)
    switch = system.children[0].children[0]
    assert switch.attributes["class"] == "0x060400"
    gpus = [child for pci in switch.children for child in pci.children if child.name == "gpu"]
    assert [gpu.attributes["sm"] for gpu in gpus] == ["86", "86"]
    assert gpus[0].children[0].attributes == {
        "target": "0000:03:00.0",
        "count": "4",
        "tclass": "0x030200",
    }
    net = next(
        child for pci in switch.children for child in pci.children if child.name == "nic"
    ).children[0]
    assert net.attributes["speed"] == "100000"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><system version="1"/>', "document types"),
        ('<system a="&evil;"/>', "the entity &evil; is not defined"),
        ("<system><cpu></system>", "closes no open element"),
        ("<system>", "ends inside"),
        ("", "No XML element"),
        ("<a/><b/>", "second outermost"),
        ("<a>" * 70, "levels"),
        ("<a><b/><b/><b/></a>" + "<c/>" * 3000, "second outermost"),
        ('<a x="1" x="2"/>', "doubled"),
        ("<a x=1/>", "expected name"),
        ("<topology/>", "expected system"),
        ('<system version="1"><cpu numaid="0"/></system>', "no gpu"),
    ],
)
def test_foreign_and_hostile_xml_is_refused(text: str, words: str) -> None:
    with pytest.raises(XmlFault, match=words):
        read_nccl_xml(text)


def test_a_thousand_elements_are_too_many() -> None:
    with pytest.raises(XmlFault, match="more than"):
        read_nccl_xml("<system>" + "<cpu/>" * 3000 + "</system>")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>/=\"'abc &;!-[]", max_size=120))
def test_any_text_is_xml_or_refused(text: str) -> None:
    try:
        root = parse_xml(text, 50)
    except XmlFault:
        return
    assert root.name


def test_lspci_shows_switches_and_host_bridges() -> None:
    gpus = nvidia_gpus(parse_lspci(LSPCI))
    assert [gpu.address for gpu in gpus] == [
        "0000:03:00.0",
        "0000:04:00.0",
        "0000:06:00.0",
        "0000:41:00.0",
    ]
    assert path_cells(gpus)[0] == ["X", "PIX", "PHB", ""]
    assert path_cells(gpus)[2] == ["PHB", "PHB", "X", ""]


BARE = r"""# lspci -t  (PCIe topology tree)
-+-[0000:00]-+-00.0
 |           +-01.1-[01]--+-00.0
 |           |            \-00.1
 |           +-03.1-[02]--+-00.0
 |           |            \-00.1
 |           \-08.1-[04]--+-00.0
 |                        \-00.3
 \-[0000:20]-+-00.0
             \-01.1-[21]----00.0

# lspci -vv
01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GB202 [GeForce RTX 5090] [10de:2b85] (rev a1)
\tNUMA node: 0
\tLnkSta:\tSpeed 16.0GT/s, Width x16
01:00.1 Audio device [0403]: NVIDIA Corporation GB202 High Definition Audio Controller
02:00.0 VGA compatible controller [0300]: NVIDIA Corporation GB202 [GeForce RTX 5090] [10de:2b85] (rev a1)
\tNUMA node: 0
21:00.0 3D controller [0302]: NVIDIA Corporation GA102 [GeForce RTX 3090]
\tNUMA node: 0
""".replace("\\t", "\t")
"""The tree of a WRX80 Creator as its owner published it (noonghunna/club-3090 issue 1107), one
bridge shortened, one GPU added."""


def test_a_tree_without_names_takes_them_from_the_list_below() -> None:
    gpus = nvidia_gpus(parse_lspci(BARE))
    assert [(gpu.address, gpu.numa) for gpu in gpus] == [
        ("0000:01:00.0", "0"),
        ("0000:02:00.0", "0"),
        ("0000:21:00.0", "0"),
    ]
    assert gpus[0].name == "NVIDIA Corporation GB202 [GeForce RTX 5090]"
    assert path_cells(gpus) == [["X", "PHB", "NODE"], ["PHB", "X", "NODE"], ["NODE", "NODE", "X"]]
    with pytest.raises(TreeFault, match="names no device"):
        parse_lspci(BARE.partition("# lspci -vv")[0])


@pytest.mark.parametrize("text", ["", "nothing here", "           +-01.0  Device\n"])
def test_what_is_no_tree_is_refused(text: str) -> None:
    with pytest.raises(TreeFault):
        parse_lspci(text)


def test_hwloc_tells_cpus_memory_and_letters() -> None:
    machine = read_hwloc(HWLOC)
    assert (machine.cpus, machine.memory_bytes) == (("AMD EPYC 7302P",), (2**36,))
    gpus = nvidia_gpus(list(machine.devices))
    assert path_cells(gpus) == [["X", "PHB", "NODE"], ["PHB", "X", "NODE"], ["NODE", "NODE", "X"]]


def test_hwloc_of_a_power8_with_four_p100() -> None:
    """open-mpi/hwloc, power8gpudistances.xml: each GPU on a PCI domain of its own, two per
    package."""
    gpu = (
        '<object type="Bridge" gp_index="{n}" bridge_type="0-1" bridge_pci="{d}:[00-01]"><object'
        ' type="Bridge" gp_index="1{n}" bridge_type="1-1" bridge_pci="{d}:[01-01]"><object'
        ' type="PCIDev" pci_busid="{d}:01:00.0" pci_type="0302 [10de:15f9]"><object type="OSDev"'
        ' name="cuda{n}"><info name="GPUModel" value="Tesla P100-SXM2-16GB"/></object>'
        + "</object>"
        * 3
    )
    packages = "".join(
        f'<object type="Package" gp_index="3{package}"><info name="CPUModel" value="POWER8NVL,'
        f' altivec supported"/><object type="NUMANode" local_memory="{memory}"/>'
        + "".join(gpu.format(n=2 * package + card, d=domains[card]) for card in (0, 1))
        + "</object>"
        for package, (memory, domains) in enumerate(
            ((68556816384, ("0002", "0003")), (68450713600, ("000a", "000b")))
        )
    )
    machine = read_hwloc(
        f'<topology version="3.0"><object type="Machine">{packages}</object></topology>'
    )
    assert machine.cpus == ("POWER8NVL, altivec supported",) * 2
    assert path_cells(nvidia_gpus(list(machine.devices))) == [
        ["X", "NODE", "SYS", "SYS"],
        ["NODE", "X", "SYS", "SYS"],
        ["SYS", "SYS", "X", "NODE"],
        ["SYS", "SYS", "NODE", "X"],
    ]


def test_hwloc_of_another_kind_is_refused() -> None:
    with pytest.raises(XmlFault, match="expected topology"):
        read_hwloc('<system version="1"/>')


def test_nvidia_smi_query_gives_links_and_limits() -> None:
    gpu = parse_query(QUERY)[0]
    assert (gpu.name, gpu.address) == ("NVIDIA GeForce RTX 3090", "00000000:41:00.0")
    assert (gpu.link_max, gpu.link_now) == ((4, 16), (1, 8))
    assert (gpu.power_limit_w, gpu.power_max_w) == (280, 365)
    with pytest.raises(QueryFault):
        parse_query("hello")


def test_static_files_of_clouds_name_gpus_by_their_class() -> None:
    """As the files that come with hire machines: bridges grouping a GPU with its port, no gpu
    elements."""
    pairs = "".join(
        f'<pci busid="ffff:ff:0{n}.0" class="0x060400" link_speed="16 GT/s" link_width="16">'
        f'<pci busid="000{n}:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>'
        f'<pci busid="010{n}:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/></pci>'
        for n in (1, 2)
    )
    system = read_nccl_xml(
        f'<system version="1"><cpu numaid="0" affinity="ffff">{pairs}</cpu></system>'
    )
    assert system.cells == [
        ["X", "PHB", "PIX", "PHB"],
        ["PHB", "X", "PHB", "PIX"],
        ["PIX", "PHB", "X", "PHB"],
        ["PHB", "PIX", "PHB", "X"],
    ]
