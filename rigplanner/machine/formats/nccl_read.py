"""NCCL's topology XML (`NCCL_TOPO_FILE`, `NCCL_TOPO_DUMP_FILE`) read back into a machine: widths,
switches, ports, NUMA nodes."""

from typing import Literal

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU
from rigplanner.machine.formats.cpu_lists import ranges_of
from rigplanner.machine.formats.cpu_models import socket_of
from rigplanner.machine.formats.from_matrix import NO_POWER, check_links
from rigplanner.machine.formats.nccl_xml import CPU_CLASS, SPEED, SWITCH_CLASS, VENDORS
from rigplanner.machine.formats.smi_matrix import MatrixFault, SmiMatrix
from rigplanner.machine.formats.xml_tree import Element, XmlFault, parse_xml
from rigplanner.machine.graph import graph_of, islands, links_between
from rigplanner.machine.model import CpuNode, GpuNode, Machine, NicNode, Piece
from rigplanner.machine.nodes import (
    Edge,
    Node,
    Pairs,
    gpu_node,
    nic_node,
    pairs_of,
    printed,
    socket_node,
)
from rigplanner.machine.pcie import link_gbs
from rigplanner.machine.topology.peer import peers

MOST_NODES = 256
"""NCCL's own limit of nodes in a file."""
GPU_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
"""PCI classes of GPUs: VGA and 3D controllers (NVIDIA), display controllers and processing
accelerators (AMD)."""
NIC_CLASSES = ("0x0200", "0x0207")
"""PCI classes of network ports: Ethernet and InfiniBand."""
MAKERS = {word: maker for maker, (word, _) in VENDORS.items() if word}
GENERATIONS = {float(words.split()[0]): gen for gen, words in SPEED.items()}


class Bend(Struct, frozen=True):
    """A switch or device on the way down from a CPU, and the link above it."""

    busid: str
    gen: int | None
    width: int | None


class NcclLink(Struct, frozen=True):
    """Links from a GPU to a bus id: "nvlink", "xgmi" or "c2c"; `kind` is the PCI class at the other
    end."""

    name: str
    target: str
    count: int
    kind: str


class NcclDevice(Struct, frozen=True, kw_only=True):
    """A GPU or network port: its number and name, the CPU above it, the way down to it (itself
    last)."""

    number: int
    cpu: int
    way: tuple[Bend, ...]
    name: str = ""
    sm: str = ""
    pci_id: str = ""
    gbps: float | None = None
    links: tuple[NcclLink, ...] = ()

    @property
    def busid(self) -> str:
        return self.way[-1].busid


class NcclCpu(Struct, frozen=True):
    """A CPU element: NUMA node, computer, logical CPUs, maker, family and model."""

    numa: int | None
    host: str
    affinity: str | None
    maker: str
    family: str
    model: str


class NcclSystem(Struct, frozen=True):
    """What a file tells, devices in the order of their numbers."""

    cpus: tuple[NcclCpu, ...]
    gpus: tuple[NcclDevice, ...]
    nics: tuple[NcclDevice, ...]

    @property
    def cells(self) -> list[list[str]]:
        """The letters of PCIe between GPUs, then ports."""
        devices = (*self.gpus, *self.nics)
        return [["X" if a is b else _letter(a, b, self.cpus) for b in devices] for a in devices]


def read_nccl_xml(text: str) -> NcclSystem:
    """Return what NCCL topology XML tells. Raises XmlFault for text that is no such file."""
    system = parse_xml(text, MOST_NODES * 8)
    if system.name != "system":
        raise XmlFault(
            f"The outermost element is {system.name!r}: expected system, as NCCL writes it."
        )
    gpus: list[NcclDevice] = []
    nics: list[NcclDevice] = []
    elements = [child for child in system.children if child.name == "cpu"]
    for by_class in (False, True):
        for number, cpu in enumerate(elements):
            for child in cpu.children:
                _collect(child, number, (), gpus, nics, by_class)
        if gpus:
            break
        nics.clear()
    if not gpus:
        raise XmlFault("The file names no gpu element, and no PCI device of a GPU's class.")
    _check_found(gpus)
    gpus.sort(key=lambda device: device.number)
    nics.sort(key=lambda device: device.number)
    return NcclSystem(tuple(map(_cpu, elements)), tuple(gpus), tuple(nics))


def _cpu(element: Element) -> NcclCpu:
    values = element.attributes
    numa, vendor = values.get("numaid", ""), values.get("vendor", "")
    family, model = values.get("familyid", ""), values.get("modelid", "")
    affinity = ranges_of(values.get("affinity", ""))
    return NcclCpu(
        int(numa) if numa.isdigit() else None,
        values.get("host_hash", ""),
        affinity,
        MAKERS.get(vendor, ""),
        family,
        model,
    )


def _collect(
    element: Element,
    cpu: int,
    above: tuple[Bend, ...],
    gpus: list[NcclDevice],
    nics: list[NcclDevice],
    by_class: bool,
) -> None:
    """Take the GPUs and ports below an element. `by_class`: PCI devices of their classes in their
    order, as the static files of clouds have them, which name neither."""
    if element.name != "pci":
        return
    values = element.attributes
    way = (*above, Bend(values.get("busid", f"#{id(element)}"), *_link(values)))
    if by_class and values.get("class", "").startswith(GPU_CLASSES):
        gpus.append(NcclDevice(number=len(gpus), cpu=cpu, way=way, pci_id=_pci_id(values)))
    elif by_class and values.get("class", "").startswith(NIC_CLASSES):
        nics.append(NcclDevice(number=len(nics), cpu=cpu, way=way))
    for child in element.children:
        if child.name == "gpu" and not by_class:
            number, sm = child.attributes.get("dev", ""), child.attributes.get("sm", "")
            links = tuple(
                _nvlink(link) for link in child.children if link.name in ("nvlink", "xgmi", "c2c")
            )
            gpus.append(
                NcclDevice(
                    number=int(number) if number.isdigit() else len(gpus),
                    cpu=cpu,
                    way=way,
                    sm=sm,
                    pci_id=_pci_id(values),
                    links=links,
                )
            )
        elif child.name == "nic" and not by_class:
            nics.extend(
                _port(net, len(nics) + n, cpu, way)
                for n, net in enumerate(child.children)
                if net.name == "net"
            )
        else:
            _collect(child, cpu, way, gpus, nics, by_class)


def _port(net: Element, order: int, cpu: int, way: tuple[Bend, ...]) -> NcclDevice:
    number, speed = net.attributes.get("dev", ""), net.attributes.get("speed", "")
    gbps = int(speed) / 1000 if speed.isdigit() and int(speed) else None
    return NcclDevice(
        number=int(number) if number.isdigit() else order,
        cpu=cpu,
        way=way,
        name=net.attributes.get("name", ""),
        gbps=gbps,
    )


def _pci_id(values: dict[str, str]) -> str:
    vendor, device = (values.get(word, "").removeprefix("0x") for word in ("vendor", "device"))
    return f"{vendor}:{device}" if vendor and device else ""


def _link(values: dict[str, str]) -> tuple[int | None, int | None]:
    speed, width = values.get("link_speed", "").split(), values.get("link_width", "")
    try:
        gen = GENERATIONS.get(float(speed[0])) if speed else None
    except ValueError:
        gen = None
    return gen, int(width) if width.isdigit() and 0 < int(width) <= 16 else None


def _nvlink(element: Element) -> NcclLink:
    values = element.attributes
    count = values.get("count", "")
    kind = CPU_CLASS if element.name == "c2c" else values.get("tclass", "")
    return NcclLink(
        element.name, values.get("target", ""), int(count) if count.isdigit() else 0, kind
    )


def _check_found(gpus: list[NcclDevice]) -> None:
    """Raise XmlFault for more GPUs than NCCL reads, and for two with one number or bus."""
    if len(gpus) > MOST_NODES:
        raise XmlFault(f"The file names {len(gpus)} GPUs: NCCL reads at most {MOST_NODES} nodes.")
    for words, what in (
        ([str(gpu.number) for gpu in gpus], "dev"),
        ([gpu.busid for gpu in gpus], "busid"),
    ):
        twice = next((word for word in words if words.count(word) > 1), None)
        if twice is not None:
            raise XmlFault(f"Two gpu elements have {what} {twice!r}: each GPU has its own.")


def _letter(a: NcclDevice, b: NcclDevice, cpus: tuple[NcclCpu, ...]) -> str:
    """Return the letter of a pair, "" between computers. Devices of other PCI domains hang on other
    host bridges."""
    if cpus[a.cpu].host != cpus[b.cpu].host:
        return ""
    if a.cpu != b.cpu:
        return "SYS"
    ups, downs = [bend.busid for bend in a.way[:-1]], [bend.busid for bend in b.way[:-1]]
    common = next(
        (n for n, (one, other) in enumerate(zip(ups, downs, strict=False)) if one != other),
        min(len(ups), len(downs)),
    )
    if common:
        return "PIX" if len(ups) == len(downs) == common else "PXB"
    if a.busid.rpartition(".")[0] == b.busid.rpartition(".")[0]:
        return "PIX"
    return "PHB" if _domain(a) == _domain(b) else "NODE"


def _domain(device: NcclDevice) -> str:
    return device.way[0].busid.partition(":")[0]


def machine_of_nccl(system: NcclSystem, cards: tuple[GPU, ...]) -> Machine:
    """Return the machine of a file, whose GPUs are `cards`. A slot whose link the file does not
    tell is as wide and fast as the card's edge. Raises MatrixFault where the file contradicts the
    cards."""
    _check_cards(system, cards)
    gpus = tuple(
        _gpu_node(index, device, cards[index], system) for index, device in enumerate(system.gpus)
    )
    edges = (*_tree(system, gpus), *_links(system, cards))
    graph = graph_of(edges)
    ways = [list(row) for row in pairs_of(system.cells)]
    for (one, other), pair in links_between(graph).items():
        ways[int(one.key)][int(other.key)] = pair
    pairs = tuple(map(tuple, ways))
    _check_letters(gpus, pairs, cards)
    cpus = tuple(
        CpuNode(index=n, piece=f"CPU{n}", cpu=_cpu_part(cpu, len(system.cpus)))
        for n, cpu in enumerate(system.cpus)
    )
    sockets = {node.cpu.socket for node in cpus if node.cpu.socket is not None}
    return Machine(
        pieces=tuple(Piece(node.piece, node.piece, node.gpu) for node in gpus),
        cpus=cpus,
        gpus=gpus,
        nics=tuple(_nic_node(index, nic, system) for index, nic in enumerate(system.nics)),
        storage=(),
        slots=(),
        drives=(),
        edges=edges,
        pairs=pairs,
        islands=islands(graph, len(gpus)),
        p2p=peers(gpus, pairs, sockets, patched=False),
        problems=(),
        power=NO_POWER,
    )


def _nic_node(index: int, device: NcclDevice, system: NcclSystem) -> NicNode:
    return NicNode(
        index=index,
        piece=device.name or f"NIC{index}",
        place=None,
        gbps=device.gbps,
        socket=device.cpu,
        numa=system.cpus[device.cpu].numa,
        bridge=f"{device.cpu}:{_domain(device)}",
    )


def _check_letters(gpus: tuple[GpuNode, ...], pairs: Pairs, cards: tuple[GPU, ...]) -> None:
    """Raise MatrixFault where a card cannot have the links that its letters would show."""
    names = tuple(gpu.piece for gpu in gpus)
    cells = tuple(row[: len(gpus)] for row in printed(pairs)[: len(gpus)])
    check_links(SmiMatrix(devices=names, rows=names, cells=cells), cards)


def _check_cards(system: NcclSystem, cards: tuple[GPU, ...]) -> None:
    """Raise MatrixFault where a GPU's compute capability is another one than its card's."""
    for index, (device, card) in enumerate(zip(system.gpus, cards, strict=True)):
        own = (card.compute_capability or "").replace(".", "")
        if own.isdigit() and device.sm.isdigit() and own != device.sm:
            raise MatrixFault(
                f"GPU{index}: the file has sm={device.sm!r}, but {card.name} has compute capability"
                f" {card.compute_capability}: another GPU is meant."
            )


def _cpu_part(cpu: NcclCpu, count: int) -> CPU:
    """Return as much of a CPU as the file tells: its maker, and its socket where there are
    several."""
    name = " ".join(
        word
        for word in (
            cpu.maker,
            cpu.family and f"family {cpu.family}",
            cpu.model and f"model {cpu.model}",
        )
        if word
    )
    return CPU(
        id="",
        name=name,
        vendor=cpu.maker,
        socket=socket_of(cpu.family, cpu.model) if count > 1 else None,
    )


def _gpu_node(index: int, device: NcclDevice, card: GPU, system: NcclSystem) -> GpuNode:
    cpu = system.cpus[device.cpu]
    gen, width = _own_link(device, card)
    rates = [link_gbs(gen, width), *(link_gbs(bend.gen, bend.width) for bend in device.way[:-1])]
    known = [rate for rate in rates if rate is not None]
    return GpuNode(
        index=index,
        piece=f"GPU{index}",
        gpu=card,
        place=None,
        width=width,
        gen=gen,
        host_gbs=min(known) if len(known) == len(rates) else None,
        socket=device.cpu,
        numa=cpu.numa,
        bridge=f"{device.cpu}:{_domain(device)}",
        affinity=cpu.affinity,
    )


def _own_link(device: NcclDevice, card: GPU) -> tuple[int | None, int | None]:
    own = device.way[-1]
    return (
        (card.edge_gen, card.edge_width)
        if own.gen is None and own.width is None
        else (own.gen, own.width)
    )


def _tree(system: NcclSystem, gpus: tuple[GpuNode, ...]) -> list[Edge]:
    """Return the PCIe links from the CPUs down, each switch once, and the ways between the CPUs of
    one computer."""
    cpus = range(len(system.cpus))
    edges = [
        Edge(a=socket_node(a), b=socket_node(b), kind="cpu")
        for a in cpus
        for b in cpus
        if a < b and system.cpus[a].host == system.cpus[b].host
    ]
    drawn: set[str] = set()
    leaves = [
        (gpu_node(n), device, (gpus[n].gen, gpus[n].width)) for n, device in enumerate(system.gpus)
    ]
    leaves += [
        (nic_node(n), device, (device.way[-1].gen, device.way[-1].width))
        for n, device in enumerate(system.nics)
    ]
    for node, device, link in leaves:
        parent = socket_node(device.cpu)
        for bend in device.way[:-1]:
            if bend.busid not in drawn:
                drawn.add(bend.busid)
                edges.append(_pcie(parent, Node("switch", bend.busid), bend.gen, bend.width))
            parent = Node("switch", bend.busid)
        edges.append(_pcie(parent, node, *link))
    return edges


def _pcie(a: Node, b: Node, gen: int | None, width: int | None) -> Edge:
    return Edge(a=a, b=b, kind="pcie", width=width, gen=gen, gbs=link_gbs(gen, width))


def _links(system: NcclSystem, cards: tuple[GPU, ...]) -> list[Edge]:
    """Return NVLink, xGMI and C2C; raise MatrixFault where two GPUs count their common links
    differently."""
    where = {device.busid: index for index, device in enumerate(system.gpus)}
    counts: dict[tuple[int, int], int] = {}
    edges: list[Edge] = []
    fabrics: list[str] = []
    for index, device in enumerate(system.gpus):
        edges += _to_switch(index, device, cards[index], fabrics)
        edges += _to_socket(index, device, cards[index])
        for link in device.links:
            if link.target in where and where[link.target] != index and link.count:
                pair = (index, where[link.target])
                counts[pair] = counts.get(pair, 0) + link.count
    for (a, b), links in counts.items():
        if counts.get((b, a), links) != links:
            raise MatrixFault(
                f"GPU{a} has {links} links to GPU{b}, which has {counts[b, a]} to GPU{a}: both have"
                " the same."
            )
        if a < b or (b, a) not in counts:
            edges.append(_between(a, b, links, cards[a]))
    return edges


def _rate(card: GPU) -> float:
    """GB/s of one of a card's links; 0 where the catalog knows none."""
    return card.nvlink.link_gbs if card.nvlink is not None else 0.0


def _to_switch(index: int, device: NcclDevice, card: GPU, fabrics: list[str]) -> list[Edge]:
    """A GPU's links to its NVSwitches as one edge; switches of one board are one, its number the
    place among `fabrics`."""
    targets = [link.target for link in device.links if link.kind == SWITCH_CLASS]
    links = sum(link.count for link in device.links if link.kind == SWITCH_CLASS)
    if not links:
        return []
    fabric = min(targets)
    if fabric not in fabrics:
        fabrics.append(fabric)
    switch = Node("nvswitch", board=fabrics.index(fabric))
    gbs = links * _rate(card)
    return [Edge(a=gpu_node(index), b=switch, kind="nvswitch", links=links, gbs=gbs)]


def _to_socket(index: int, device: NcclDevice, card: GPU) -> list[Edge]:
    """A GPU's links to its CPU as one edge."""
    links = sum(link.count for link in device.links if link.kind == CPU_CLASS)
    if not links:
        return []
    kind: Literal["c2c", "nvlink"] = "c2c" if card.form_factor == "superchip" else "nvlink"
    gbs, socket = links * _rate(card), socket_node(device.cpu)
    return [Edge(a=gpu_node(index), b=socket, kind=kind, links=links, gbs=gbs)]


def _between(a: int, b: int, links: int, card: GPU) -> Edge:
    """The links of two GPUs as one edge."""
    fabric = card.nvlink.fabric if card.nvlink is not None else ""
    kind: Literal["xgmi", "nvlink"] = "xgmi" if fabric == "xgmi" else "nvlink"
    low, high = gpu_node(min(a, b)), gpu_node(max(a, b))
    return Edge(a=low, b=high, kind=kind, links=links, gbs=links * _rate(card))
