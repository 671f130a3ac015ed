"""NCCL's topology XML (`NCCL_TOPO_FILE`): written from a machine, read from a file."""

from xml.sax.saxutils import quoteattr

from rigplanner.machine.formats.xml_tree import Element, XmlFault, parse_xml
from rigplanner.machine.machine import Edge, GpuNode, Machine

SPEED = {1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe", 6: "64.0 GT/s PCIe"}
MOST_NODES = 256
"""NCCL's own limit of nodes in a file."""
GPU_CLASS, BRIDGE_CLASS, NIC_CLASS, SWITCH_CLASS = "0x030200", "0x060400", "0x020000", "0x068000"
VENDORS = {"AMD": ("AuthenticAMD", "x86_64"), "Intel": ("GenuineIntel", "x86_64"), "IBM": ("", "ppc64"), "NVIDIA": ("", "arm64")}


def nccl_xml(machine: Machine) -> str:
    """Return a machine as NCCL topology XML: CPUs (NUMA nodes), switches, GPUs with their NVLinks, network ports. Bus ids are
    invented, in tree order."""
    below: dict[str, list[Edge]] = {}
    for edge in machine.edges:
        if edge.kind in ("pcie", "chipset"):
            below.setdefault(edge.a, []).append(edge)
    roots = _roots(machine, below)
    gpus = {f"gpu{gpu.index}": gpu for gpu in machine.gpus}
    ids = _bus_ids(roots, below)
    lines = ['<system version="1">']
    for number, root in enumerate(roots):
        lines.append(_cpu_line(machine, root, number))
        for edge in below.get(root, []):
            _write(lines, edge, below, machine, gpus, ids, 2)
        lines.append("  </cpu>")
    return "\n".join([*lines, "</system>"]) + "\n"


def _roots(machine: Machine, below: dict[str, list[Edge]]) -> list[str]:
    roots = [f"cpu{cpu.index}" for cpu in machine.cpus]
    children = {edge.b for edges in below.values() for edge in edges}
    return roots + sorted(node for node in below if node not in children and node not in roots)


def _bus_ids(roots: list[str], below: dict[str, list[Edge]]) -> dict[str, str]:
    ids: dict[str, str] = {}

    def walk(node: str) -> None:
        for edge in below.get(node, []):
            if edge.b not in ids:
                number = len(ids) + 1
                ids[edge.b] = f"{number >> 8:04x}:{number & 255:02x}:00.0"
                walk(edge.b)

    for root in roots:
        walk(root)
    return ids


def _cpu_line(machine: Machine, root: str, number: int) -> str:
    cpu = next((node.cpu for node in machine.cpus if f"cpu{node.index}" == root), None)
    vendor, arch = VENDORS.get(cpu.vendor if cpu is not None else "", ("", "x86_64"))
    attributes = {"numaid": str(number), "affinity": "", "arch": arch, "vendor": vendor}
    return f"  <cpu{_attributes(attributes)}>"


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def _write(
    lines: list[str],
    edge: Edge,
    below: dict[str, list[Edge]],
    machine: Machine,
    gpus: dict[str, GpuNode],
    ids: dict[str, str],
    depth: int,
) -> None:
    node, pad = edge.b, "  " * depth
    nic = next((nic for nic in machine.nics if f"nic{nic.index}" == node), None)
    gpu = gpus.get(node)
    inner = below.get(node, [])
    if gpu is None and nic is None and not _leads_on(node, below, gpus):
        return
    kind = GPU_CLASS if gpu is not None else NIC_CLASS if nic is not None else BRIDGE_CLASS
    values = {
        "busid": ids[node], "class": kind, "link_speed": SPEED.get(edge.gen or 0, ""), "link_width": str(edge.width or 0),
    }  # fmt: skip
    lines.append(f"{pad}<pci{_attributes(values)}>")
    if gpu is not None:
        lines += [pad + "  " + line for line in _gpu_lines(gpu, machine, ids)]
    elif nic is not None:
        speed = str(round((nic.gbps or 0) * 1000))
        net = {"name": f"nic{nic.index}", "dev": str(nic.index), "speed": speed, "port": "1", "gdr": "1"}
        lines.append(f"{pad}  <nic><net{_attributes(net)}/></nic>")
    for child in inner:
        _write(lines, child, below, machine, gpus, ids, depth + 1)
    lines.append(f"{pad}</pci>")


def _leads_on(node: str, below: dict[str, list[Edge]], gpus: dict[str, GpuNode]) -> bool:
    """Say whether a GPU or network port hangs below a node."""
    return any(edge.b in gpus or edge.b.startswith("nic") or _leads_on(edge.b, below, gpus) for edge in below.get(node, []))


def _gpu_lines(gpu: GpuNode, machine: Machine, ids: dict[str, str]) -> list[str]:
    capability = (gpu.gpu.compute_capability or "").replace(".", "")
    values = {"dev": str(gpu.index), "sm": capability, "rank": str(gpu.index), "gdr": "1"}
    node = f"gpu{gpu.index}"
    links: list[str] = []
    for edge in machine.edges:
        if edge.kind not in ("nvlink", "nvswitch", "xgmi", "c2c") or node not in (edge.a, edge.b):
            continue
        other = edge.b if edge.a == node else edge.a
        kind = SWITCH_CLASS if edge.kind == "nvswitch" else "0x068001" if other.startswith("cpu") else GPU_CLASS
        target = {"target": ids.get(other, "ffff:ff:00.0"), "count": str(edge.links), "tclass": kind}
        links.append(f"  <{'xgmi' if edge.kind == 'xgmi' else 'nvlink'}{_attributes(target)}/>")
    return [f"<gpu{_attributes(values)}>", *links, "</gpu>"]


def read_nccl_xml(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the names of the GPUs ("GPU0" by device number) and their matrix in `nvidia-smi topo -m` letters, read from NCCL
    topology XML. Raises XmlFault for text that is no such file."""
    system = parse_xml(text, MOST_NODES * 8)
    if system.name != "system":
        raise XmlFault(f"The outermost element is {system.name!r}: expected system, as NCCL writes it.")
    found: list[tuple[int, tuple[str, ...], Element]] = []
    _collect(system, (), found)
    if not found:
        _collect_by_class(system, (), found)
    if not found:
        raise XmlFault("The file names no gpu element, and no PCI device of a GPU's class.")
    _check_found(found)
    found.sort(key=lambda entry: entry[0])
    bus = {entry[2].attributes.get("busid", ""): n for n, entry in enumerate(found)}
    cells = [[_letter(a[1], b[1]) if a is not b else "X" for b in found] for a in found]
    for row, (_, _, pci) in enumerate(found):
        _add_links(cells, row, pci, bus)
    return [f"GPU{n}" for n in range(len(found))], cells


def _check_found(found: list[tuple[int, tuple[str, ...], Element]]) -> None:
    """Raise XmlFault for more GPUs than NCCL reads, and for two with one number or bus."""
    if len(found) > MOST_NODES:
        raise XmlFault(f"The file names {len(found)} GPUs: NCCL reads at most {MOST_NODES} nodes.")
    for words, what in (
        ([str(number) for number, _, _ in found], "dev"),
        ([e.attributes.get("busid") for _, _, e in found], "busid"),
    ):
        twice = next((word for word in words if word is not None and words.count(word) > 1), None)
        if twice is not None:
            raise XmlFault(f"Two gpu elements have {what} {twice!r}: each GPU has its own.")


def _collect(element: Element, path: tuple[str, ...], found: list[tuple[int, tuple[str, ...], Element]]) -> None:
    here = path
    if element.name == "cpu":
        here = (*path, f"cpu{element.attributes.get('numaid', len(found))}")
    elif element.name == "pci":
        here = (*path, element.attributes.get("busid", str(id(element))))
    for child in element.children:
        if child.name == "gpu" and element.name == "pci":
            number = child.attributes.get("dev", "")
            found.append((int(number) if number.isdigit() else len(found), path, element))
        else:
            _collect(child, here, found)


GPU_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
"""PCI classes of GPUs: VGA and 3D controllers (NVIDIA), display controllers and processing accelerators (AMD)."""


def _collect_by_class(element: Element, path: tuple[str, ...], found: list[tuple[int, tuple[str, ...], Element]]) -> None:
    """Take PCI devices of a GPU's class in their order, as the static files of clouds have them, which name no gpu element."""
    here = path
    if element.name == "cpu":
        here = (*path, f"cpu{element.attributes.get('numaid', len(found))}")
    elif element.name == "pci":
        if element.attributes.get("class", "").startswith(GPU_CLASSES):
            found.append((len(found), path, element))
            return
        here = (*path, element.attributes.get("busid", str(id(element))))
    for child in element.children:
        _collect_by_class(child, here, found)


def _letter(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    if common == 0:
        return "SYS"
    if common == 1:
        return "PHB"
    return "PIX" if len(a) == len(b) == common else "PXB"


def _add_links(cells: list[list[str]], row: int, pci: Element, bus: dict[str, int]) -> None:
    for gpu in pci.children:
        for link in gpu.children:
            target, count = link.attributes.get("target", ""), link.attributes.get("count", "0")
            if link.name in ("nvlink", "xgmi") and target in bus and count.isdigit() and int(count):
                cells[row][bus[target]] = cells[bus[target]][row] = f"NV{count}" if link.name == "nvlink" else "XGMI"
    switched = sum(
        int(link.attributes.get("count", "0"))
        for gpu in pci.children
        for link in gpu.children
        if link.name == "nvlink" and link.attributes.get("tclass") == SWITCH_CLASS and link.attributes.get("count", "").isdigit()
    )
    if switched:
        for other in range(len(cells)):
            if other != row:
                cells[row][other] = f"NV{switched}"
