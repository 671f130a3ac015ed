"""NCCL's topology XML (`NCCL_TOPO_FILE`), written from a machine; `nccl_read` reads it back.

NCCL has a CPU element per NUMA node and no element for host bridges: each host bridge gets a PCI
domain of its own, the first four digits of its bus ids. Bus ids are invented, in tree order."""

from itertools import pairwise
from xml.sax.saxutils import quoteattr

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.machine.formats.cpu_lists import mask_of
from rigplanner.machine.formats.cpu_models import numbers_of
from rigplanner.machine.model import GpuNode, Machine, NicNode
from rigplanner.machine.nodes import Edge, Node, gpu_node, nic_node, socket_node
from rigplanner.machine.topology.interconnect import path_up

SPEED = {
    1: "2.5 GT/s PCIe",
    2: "5.0 GT/s PCIe",
    3: "8.0 GT/s PCIe",
    4: "16.0 GT/s PCIe",
    5: "32.0 GT/s PCIe",
    6: "64.0 GT/s PCIe",
}
GPU_CLASS, BRIDGE_CLASS, NIC_CLASS, SWITCH_CLASS, CPU_CLASS = (
    "0x030200",
    "0x060400",
    "0x020000",
    "0x068000",
    "0x068001",
)
VENDORS = {
    "AMD": ("AuthenticAMD", "x86_64"),
    "Intel": ("GenuineIntel", "x86_64"),
    "IBM": ("", "ppc64"),
    "NVIDIA": ("", "arm64"),
}


class _Root(Struct, frozen=True):
    """A NUMA node: its number, the CPU node it belongs to, and its board where there are
    several."""

    number: int
    cpu: Node
    board: str


class _Hung(Struct, frozen=True):
    """A GPU or network port, where it hangs, and the links down to it."""

    device: GpuNode | NicNode
    node: Node
    root: _Root
    bridge: str
    way: tuple[Edge, ...]


class _Grown(Struct, frozen=True):
    """The machine as a tree of links below each host bridge, with a bus id for each node."""

    machine: Machine
    hung: dict[Node, _Hung]
    below: dict[tuple[_Root, str] | Node, list[Edge]]
    bridges: dict[_Root, list[str]]
    ids: dict[Node, str]


def nccl_xml(machine: Machine) -> str:
    """Return a machine as NCCL topology XML: NUMA nodes, switches, GPUs with their NVLinks, network
    ports."""
    grown = _grown(machine)
    lines = ['<system version="1">']
    for root, bridges in sorted(grown.bridges.items(), key=lambda item: item[0].number):
        lines.append(f"  <cpu{_attributes(_of_cpu(grown, root))}>")
        for bridge in bridges:
            for edge in grown.below[root, bridge]:
                _write(lines, edge, grown, 2)
        lines.append("  </cpu>")
    return "\n".join([*lines, "</system>"]) + "\n"


def _grown(machine: Machine) -> _Grown:
    hung = _hung(machine)
    grown = _Grown(machine, {one.node: one for one in hung}, {}, {}, {})
    for one in hung:
        bridges = grown.bridges.setdefault(one.root, [])
        if one.bridge not in bridges:
            bridges.append(one.bridge)
        _add(grown.below.setdefault((one.root, one.bridge), []), one.way[0])
        for up, down in pairwise(one.way):
            _add(grown.below.setdefault(up.b, []), down)
    for cpu in machine.cpus:
        if all(
            root.cpu != socket_node(cpu.index) and root.number != cpu.index
            for root in grown.bridges
        ):
            grown.bridges[_Root(cpu.index, socket_node(cpu.index), "")] = []
    everywhere = [(root, bridge) for root, bridges in grown.bridges.items() for bridge in bridges]
    for domain, place in enumerate(everywhere):
        _number(grown, grown.below[place], domain, [1])
    switches = dict.fromkeys(edge.b for edge in machine.edges if edge.kind == "nvswitch")
    grown.ids.update(
        {switch: f"ffff:{number:02x}:00.0" for number, switch in enumerate(switches, 1)}
    )
    return grown


def _add(edges: list[Edge], edge: Edge) -> None:
    if edge not in edges:
        edges.append(edge)


def _number(grown: _Grown, edges: list[Edge], domain: int, free: list[int]) -> None:
    """Hand out bus ids below a host bridge, one bus per card: the ports of a network card are
    functions of one device."""
    buses: dict[Node | str, tuple[int, int]] = {}
    for edge in edges:
        one = grown.hung.get(edge.b)
        card: Node | str = edge.b
        if one is not None and isinstance(one.device, NicNode):
            card = one.device.piece
        bus, function = buses.get(card, (free[0], 0))
        free[0] += function == 0
        buses[card] = bus, function + 1
        grown.ids[edge.b] = f"{domain:04x}:{bus:02x}:00.{function}"
        _number(grown, grown.below.get(edge.b, []), domain, free)


def _hung(machine: Machine) -> list[_Hung]:
    """Return the GPUs and ports that hang in the tree. NUMA nodes keep their numbers; of several
    without any, or of one number below several CPUs, the first has -1 or that number, the others
    free ones: NCCL tells CPUs by them."""
    above = {edge.b: edge for edge in machine.edges if edge.kind in ("pcie", "chipset")}
    boards = {use.piece: use.board for use in machine.slots_in_use}
    several = len(set(boards.values())) > 1
    named: dict[tuple[str, int | None, Node], _Root] = {}
    found: list[_Hung] = []
    devices: list[tuple[Node, GpuNode | NicNode]] = [
        (gpu_node(gpu.index), gpu) for gpu in machine.gpus
    ]
    devices += [(nic_node(nic.index), nic) for nic in machine.nics]
    for node, device in devices:
        way = _way(machine, path_up(node, above))
        if way:
            board = boards.get(device.piece, "") if several else ""
            key = (board, device.numa, way[0].a)
            taken = {root.number for root in named.values() if root.board == board}
            number = -1 if device.numa is None else device.numa
            free = next(n for n in range(len(taken) + 1) if n not in taken)
            root = named.setdefault(
                key, _Root(free if number in taken else number, way[0].a, board)
            )
            found.append(_Hung(device, node, root, device.bridge or "", way))
    return found


def _way(machine: Machine, up: list[Edge]) -> tuple[Edge, ...]:
    """Return the links from the CPU down to a device. Intel's chipset is no switch: what hangs
    there has a root port of its own, no faster than the chipset's link."""
    if len(up) > 1 and up[-1].kind == "chipset":
        cpu = next((node.cpu for node in machine.cpus if socket_node(node.index) == up[-1].a), None)
        if cpu is not None and cpu.vendor == "Intel":
            *rest, port, link = up
            slow = link.gbs is not None and (port.gbs is None or link.gbs < port.gbs)
            narrow = (
                replace(port, a=link.a, width=link.width, gen=link.gen, gbs=link.gbs)
                if slow
                else replace(port, a=link.a)
            )
            return (narrow, *reversed(rest))
    return tuple(reversed(up))


def _of_cpu(grown: _Grown, root: _Root) -> dict[str, str]:
    """Return the attributes of a NUMA node; `host_hash` tells several computers apart, as NCCL has
    it."""
    cpu = next(
        (node.cpu for node in grown.machine.cpus if socket_node(node.index) == root.cpu), None
    )
    vendor, arch = VENDORS.get(cpu.vendor if cpu is not None else "", ("", "x86_64"))
    near = [
        one.device.affinity
        for one in grown.hung.values()
        if one.root == root and isinstance(one.device, GpuNode)
    ]
    values = (
        {"host_hash": f"0x{sorted({r.board for r in grown.bridges}).index(root.board) + 1:x}"}
        if root.board
        else {}
    )
    values |= {
        "numaid": str(root.number),
        "affinity": mask_of((near or [None])[0] or ""),
        "arch": arch,
        "vendor": vendor,
    }
    numbers = numbers_of(cpu) if cpu is not None else None
    return values | (dict(zip(("familyid", "modelid"), numbers, strict=True)) if numbers else {})


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def _write(lines: list[str], edge: Edge, grown: _Grown, depth: int) -> None:
    pad = "  " * depth
    one = grown.hung.get(edge.b)
    kind = (
        BRIDGE_CLASS if one is None else GPU_CLASS if isinstance(one.device, GpuNode) else NIC_CLASS
    )
    values = {
        "busid": grown.ids[edge.b],
        "class": kind,
        "link_speed": SPEED.get(edge.gen or 0, ""),
        "link_width": str(edge.width or 0),
    }
    lines.append(f"{pad}<pci{_attributes(values)}>")
    if one is not None and isinstance(one.device, GpuNode):
        lines += [pad + "  " + line for line in _gpu_lines(one.device, grown)]
    elif one is not None and isinstance(one.device, NicNode):
        index, mbps = one.device.index, round((one.device.gbps or 0) * 1000)
        net = {
            "name": f"nic{index}",
            "dev": str(index),
            "speed": str(mbps),
            "port": "1",
            "gdr": "1",
        }
        lines.append(f"{pad}  <nic><net{_attributes(net)}/></nic>")
    for child in grown.below.get(edge.b, []):
        _write(lines, child, grown, depth + 1)
    lines.append(f"{pad}</pci>")


def _gpu_lines(gpu: GpuNode, grown: _Grown) -> list[str]:
    capability = (gpu.gpu.compute_capability or "").replace(".", "")
    values = {"dev": str(gpu.index), "sm": capability, "rank": str(gpu.index), "gdr": "1"}
    node = gpu_node(gpu.index)
    links: list[str] = []
    for edge in grown.machine.edges:
        if edge.kind not in ("nvlink", "nvswitch", "xgmi", "c2c") or node not in (edge.a, edge.b):
            continue
        other = edge.b if edge.a == node else edge.a
        kind = (
            SWITCH_CLASS
            if edge.kind == "nvswitch"
            else CPU_CLASS
            if other.kind == "socket"
            else GPU_CLASS
        )
        target = {
            "target": grown.ids.get(other, "ffff:ff:00.0"),
            "count": str(edge.links),
            "tclass": kind,
        }
        links.append(f"  <{'xgmi' if edge.kind == 'xgmi' else 'nvlink'}{_attributes(target)}/>")
    return [f"<gpu{_attributes(values)}>", *links, "</gpu>"]
