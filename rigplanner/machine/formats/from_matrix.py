"""A machine read back from a captured matrix: as much of the PCIe tree as its letters tell."""

from rigplanner.catalog.parts import GPU
from rigplanner.machine.formats.smi_matrix import MatrixFault, SmiMatrix, numa_nodes
from rigplanner.machine.links import islands, labels
from rigplanner.machine.machine import Edge, GpuNode, Machine, NicNode, Piece, PowerTree
from rigplanner.machine.pcie import link_gbs

NO_POWER = PowerTree(
    loads=(), sustained_w=None, transient_w=None, supply_w=None, supply_transient_w=None, efficiency=None, wall_w=None,
    circuit_w=None, circuit_peak_w=None,
)  # fmt: skip


Link = tuple[int | None, int | None]


def machine_of_matrix(matrix: SmiMatrix, gpu: GPU, links: tuple[Link, ...] = ()) -> Machine:
    """Return the machine that a matrix of GPUs of one model shows. `links` gives generation and width of each GPU's slot where they
    are known; else slots are taken as wide and fast as the card's edge. Switches are drawn where the letters need one. Raises
    MatrixFault when the card cannot have the links shown."""
    check_links(matrix, gpu)
    names = matrix.gpus
    cells = matrix.square(names)
    numas = numa_nodes(matrix)
    rows = [row for row in matrix.rows if row.startswith("GPU")]
    by_row = dict(zip(rows, numas, strict=False))
    cpus = dict(zip(rows, matrix.cpu_affinity, strict=False))
    node_of = _numa_groups(cells)
    slots = links or ((gpu.edge_gen, gpu.edge_width),) * len(names)
    gpus = tuple(
        GpuNode(
            index=index, piece=name, gpu=gpu, place=None, width=slots[index][1], gen=slots[index][0],
            host_gbs=link_gbs(*slots[index]), numa=by_row.get(name), affinity=cpus.get(name), socket=node_of[index],
        )
        for index, name in enumerate(names)
    )  # fmt: skip
    others = tuple(device for device in matrix.devices if not device.startswith("GPU"))
    nics = tuple(NicNode(index=index, piece=name, place=None, gbps=None) for index, name in enumerate(others))
    edges = (*_tree(cells, node_of, gpu, slots), *_nvlinks(cells, gpu))
    return Machine(
        pieces=tuple(Piece(name, name, gpu) for name in names),
        cpus=(),
        gpus=gpus,
        nics=nics,
        storage=(),
        slots=(),
        drives=(),
        edges=edges,
        matrix=tuple(map(tuple, matrix.square((*names, *others)))),
        islands=islands(len(gpus), labels(edges)),
        p2p=_peers(matrix, cells, gpu),
        problems=(),
        power=NO_POWER,
    )


def check_links(matrix: SmiMatrix, gpu: GPU) -> None:
    """Raise MatrixFault when a label, or the labels of a card that no NVSwitch can serve, name more NVLinks than the card has."""
    most = gpu.nvlink.links if gpu.nvlink is not None else 0
    for row, cells in zip(matrix.rows, matrix.cells, strict=False):
        for column, cell in zip(matrix.devices, cells, strict=True):
            if cell.startswith("NV") and int(cell[2:]) > (0 if _is_xgmi(gpu) else most):
                raise MatrixFault(
                    f"Cell {row}/{column}: {cell}, but {gpu.name} has {'no' if _is_xgmi(gpu) else most or 'no'} NVLinks."
                )
            if cell == "XGMI" and not _is_xgmi(gpu):
                raise MatrixFault(f"Cell {row}/{column}: XGMI, but {gpu.name} has no xGMI links.")
        together = sum(int(cell[2:]) for cell in cells if cell.startswith("NV"))
        if gpu.form_factor == "pcie" and together > most:
            raise MatrixFault(f"Row {row}: {together} NVLinks in all, but {gpu.name} has {most}, which no switch shares out.")


def _is_xgmi(gpu: GPU) -> bool:
    return gpu.nvlink is not None and gpu.nvlink.fabric == "xgmi"


def _numa_groups(cells: list[list[str]]) -> list[int]:
    """Return a NUMA group per GPU: GPUs whose PCIe label is nearer than SYS share one; NVLink hides the label and joins none."""
    groups = list(range(len(cells)))
    for a, row in enumerate(cells):
        for b, cell in enumerate(row):
            if cell in ("PIX", "PXB", "PHB", "NODE"):
                low, high = sorted((groups[a], groups[b]))
                groups = [low if group == high else group for group in groups]
    order = {group: index for index, group in enumerate(sorted(set(groups)))}
    return [order[group] for group in groups]


def _tree(cells: list[list[str]], node_of: list[int], gpu: GPU, slots: tuple[Link, ...]) -> list[Edge]:
    """Return PCIe edges from a root per NUMA group, with a switch where GPUs share one and a second level for PXB."""
    edges: list[Edge] = []
    switches: dict[str, str] = {}
    for index, row in enumerate(cells):
        near = [index, *(other for other, cell in enumerate(row) if cell == "PIX")]
        far = [index, *(other for other, cell in enumerate(row) if cell in ("PIX", "PXB"))]
        parent = f"cpu{node_of[index]}"
        if len(far) > len(near):
            parent = _switch(edges, switches, f"upper{min(far)}", parent, gpu)
        if len(near) > 1:
            parent = _switch(edges, switches, f"switch{min(near)}", parent, gpu)
        edges.append(_pcie(parent, f"gpu{index}", *slots[index]))
    return edges


def _switch(edges: list[Edge], known: dict[str, str], name: str, parent: str, gpu: GPU) -> str:
    if name not in known:
        known[name] = parent
        edges.append(_pcie(parent, name, gpu.edge_gen, gpu.edge_width))
    return name


def _pcie(a: str, b: str, gen: int | None, width: int | None) -> Edge:
    return Edge(a=a, b=b, kind="pcie", width=width, gen=gen, gbs=link_gbs(gen, width))


def _nvlinks(cells: list[list[str]], gpu: GPU) -> list[Edge]:
    """Return direct NVLink or xGMI edges, or edges into an NVSwitch where the labels of a row sum to more links than the card has.
    An XGMI label tells no count: the card's links are shared out evenly among its neighbours."""
    port = gpu.nvlink
    if port is None:
        return []
    if port.fabric == "xgmi":
        each = max(1, port.links // max(1, max(row.count("XGMI") for row in cells)))
        joined = [(a, b) for a, row in enumerate(cells) for b, cell in enumerate(row) if a < b and cell == "XGMI"]
        return [Edge(a=f"gpu{a}", b=f"gpu{b}", kind="xgmi", links=each, gbs=each * port.link_gbs) for a, b in joined]
    counts = {(a, b): int(cell[2:]) for a, row in enumerate(cells) for b, cell in enumerate(row) if cell.startswith("NV")}
    sums = [sum(links for (a, _), links in counts.items() if a == row) for row in range(len(cells))]
    if max(sums, default=0) > port.links:
        links = max(counts.values())
        into = [row for row in range(len(cells)) if sums[row]]
        return [Edge(a=f"gpu{row}", b="nvswitch", kind="nvswitch", links=links, gbs=links * port.link_gbs) for row in into]
    return [
        Edge(a=f"gpu{a}", b=f"gpu{b}", kind="nvlink", links=links, gbs=links * port.link_gbs)
        for (a, b), links in counts.items()
        if a < b
    ]


def _peers(matrix: SmiMatrix, cells: list[list[str]], gpu: GPU) -> tuple[tuple[str, ...], ...]:
    """Return the peer table of the capture where it has one, else what the card's policy says."""
    if matrix.peers and len(matrix.peers[0]) == len(cells):
        return matrix.peers[0]
    refused = {"no": "GNS", "nvlink-only": "CNS", "yes": "OK"}.get(gpu.p2p or "", "")
    return tuple(
        tuple("X" if cell == "X" else "OK" if cell.startswith(("NV", "XGMI")) else refused if cell else "" for cell in row)
        for row in cells
    )
