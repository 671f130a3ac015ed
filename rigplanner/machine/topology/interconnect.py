"""What a collective sees of a machine: links per pair of GPUs and the PCIe tree between them, in
NCCL's units.

NCCL's search (`src/graph` of NVIDIA/nccl) models links with these constants in GB/s per direction;
measured bus bandwidth stands in a steady ratio to them, which `collectives` holds."""

from collections import Counter
from functools import cache

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, GPU, NvlinkPort
from rigplanner.machine.graph import rings
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge, Node, Pair, gpu_node
from rigplanner.machine.pcie import least

LINE_SHARE = {1.0: 0.9, 2.0: 0.8, 3.0: 0.8, 4.0: 0.824, 5.0: 0.802}
"""NCCL's rate of one NVLink over its line rate by NVLink generation: 18/20, 20/25, 20/25, 20.6/25,
40.1/50."""
SLOW_LINK_SHARE = 0.853
"""The same for the links of GA102 cards: 12 of 14.0625."""
XGMI_SHARE = 0.75
"""RCCL's rate of one xGMI link over its line rate: 48 of 64 on MI300 (assumed alike for others)."""
PCIE_GEN_SPEED = {1: 15, 2: 30, 3: 60, 4: 120, 5: 240, 6: 480}
"""NCCL's speed by PCIe generation; a link gives width x speed / 80."""

BETWEEN_SOCKETS = {
    "LGA2011": 6.0,
    "LGA2011-3": 6.0,
    "LGA3647": 9.0,
    "LGA4189": 10.0,
    "LGA4677": 28.0,
    "LGA4710": 40.0,
    "LGA7529": 40.0,
    "SP3": 14.5,
    "SP5": 37.0,
    "POWER9": 32.0,
    "Grace": 40.0,
}
"""All-reduce bus bandwidth in GB/s across two sockets: measured 14.5 on EPYC Rome, 28 on Sapphire
Rapids, 37.6 on Turin; NCCL's own constants for the rest."""
BETWEEN_UNKNOWN = {1: 6.0, 2: 6.0, 3: 8.0, 4: 14.5, 5: 30.0, 6: 40.0}
"""The same where only the PCIe generation is known: hosts of that time."""
BETWEEN_PEERS = {"SP3": 22.0}
BETWEEN_PEERS_UNKNOWN = {4: 20.0}
"""The same with peer access: 20.9 and 25.9 on EPYC Rome and Milan, where cards without it have
14.5; other hosts as above."""

THROUGH_THE_HOST = ("phb", "node", "sys", None)
STEPS_PER_LINK = 4
MOST_CYCLES = 400
PLAIN_NETWORK_GBS = 12.5
"""Network of one node of which only a link word is known: 100 Gb/s, an assumption."""


class Interconnect(Struct, frozen=True, kw_only=True):
    """`nvlink` maps pairs of indices to GB/s (both orders), `switched` the rate of each GPU into an
    NVSwitch, `pcie` the slowest PCIe link that a ring over the GPUs crosses, `hosted` says that it
    passes a CPU, `staged` that the driver forbids peer access, `between` the rate across sockets
    where it crosses them, `network` the one between `nodes` that only a network joins; None is
    unknown or absent."""

    gpus: tuple[GPU, ...]
    nvlink: dict[tuple[int, int], float]
    switched: float | None
    pcie: float | None
    hosted: bool
    staged: bool
    between: float | None
    nodes: int = 1
    network: float | None = None

    @property
    def count(self) -> int:
        return len(self.gpus)


def link_rate(port: NvlinkPort) -> float:
    """Return NCCL's rate of one link of a port in GB/s."""
    if port.fabric == "xgmi":
        return port.link_gbs * XGMI_SHARE
    share = (
        SLOW_LINK_SHARE
        if port.link_gbs < 20 and port.generation >= 3
        else LINE_SHARE.get(port.generation, 0.8)
    )
    return port.link_gbs * share


def pcie_rate(gen: int | None, width: int | None) -> float | None:
    """Return NCCL's rate of a PCIe link in GB/s."""
    speed = PCIE_GEN_SPEED.get(gen or 0)
    return None if speed is None or width is None else width * speed / 80


def of_machine(machine: Machine, indices: tuple[int, ...] | None = None) -> Interconnect:
    """Return the interconnect of a machine's GPUs, or of some of them."""
    chosen = tuple(range(len(machine.gpus))) if indices is None else indices
    gpus = tuple(machine.gpus[index].gpu for index in chosen)
    order = {gpu_node(index): position for position, index in enumerate(chosen)}
    pairs = [[machine.pairs[a][b] for b in chosen] for a in chosen]
    above = {edge.b: edge for edge in machine.edges if edge.kind in ("pcie", "chipset")}
    nvlink, switched = _nvlinks(machine.edges, order, gpus)
    nodes = nodes_of(machine, chosen)
    staged = any(
        machine.p2p[a][b] in ("GNS", "CNS", "NS") and not machine.pairs[a][b].linked
        for a in chosen
        for b in chosen
        if a != b
    )
    return Interconnect(
        gpus=gpus,
        nvlink=nvlink,
        switched=switched,
        pcie=_host_rate(machine, chosen)
        or _slowest([path_up(gpu_node(index), above) for index in chosen], gpus, staged),
        hosted=any(pair.path in THROUGH_THE_HOST for row in pairs for pair in row),
        staged=staged,
        between=_between(pairs, [cpu.cpu for cpu in machine.cpus], gpus, staged)
        if _spans_sockets(machine, chosen)
        else None,
        nodes=len(nodes),
        network=_network(machine, chosen) if len(nodes) > 1 else None,
    )


def _spans_sockets(machine: Machine, chosen: tuple[int, ...]) -> bool:
    return len({machine.gpus[index].socket for index in chosen}) > 1


def _host_rate(machine: Machine, chosen: tuple[int, ...]) -> float | None:
    """Return the slowest link to the CPU when all GPUs have NVLink or C2C to theirs, as on POWER9
    and Grace, else None."""
    rates: list[float] = []
    links = {
        edge.a: edge.links
        for edge in reversed(machine.edges)
        if edge.a.kind == "gpu" and edge.b.kind == "socket"
    }
    for index in chosen:
        port, found = machine.gpus[index].gpu.nvlink, links.get(gpu_node(index))
        if port is not None and found is not None:
            rates.append(found * link_rate(port))
    return min(rates) if len(rates) == len(chosen) and rates else None


def _network(machine: Machine, chosen: tuple[int, ...]) -> float | None:
    """Return the rate over the slowest node's network ports in GB/s, None where a node has none
    that is known."""
    rates = network_rates(machine, chosen)
    slowest = least(*rates.values())
    return None if slowest is None else across_rate(slowest, len(rates), len(chosen))


def network_rates(machine: Machine, chosen: tuple[int, ...]) -> dict[str, float | None]:
    """Return what the network ports of each node carry one way in GB/s, None for a node without
    any. Where ports share switches with GPUs the others are taken for storage and management."""
    board_of = {use.piece: use.board for use in machine.slots_in_use}
    count = len(machine.gpus)
    near = {
        nic.index
        for nic in machine.nics
        if any(machine.pairs[gpu][count + nic.index].below_one_switch for gpu in chosen)
    }
    ports = [nic for nic in machine.nics if not near or nic.index in near]
    sums = {
        node: sum(nic.gbps or 0.0 for nic in ports if board_of.get(nic.piece) == node) / 8
        for node in nodes_of(machine, chosen)
    }
    return {node: rate or None for node, rate in sums.items()}


def nodes_of(machine: Machine, chosen: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return the nodes of a machine, by the board that GPUs stand on: computers that only a network
    joins. GPUs that NVLink or xGMI joins in one island make one node."""
    board_of = {use.piece: use.board for use in machine.slots_in_use}
    boards: dict[str, tuple[int, ...]] = {}
    for index in chosen:
        board = board_of.get(machine.gpus[index].piece)
        if board is not None:
            boards[board] = (*boards.get(board, ()), index)
    joined = any(set(chosen) <= set(island) for island in machine.islands)
    return {next(iter(boards)): chosen} if boards and joined else boards


def across_rate(network: float, nodes: int, count: int) -> float:
    """Return the bus bandwidth of an all-reduce over nodes whose ports carry `network` GB/s each
    way: rings and trees give that much, and between two nodes the pair of trees sends each byte
    only once (2 x 8 H100 over 400 GB/s: NVLink is the limit)."""
    return network * 2 * (count - 1) / count if nodes == 2 else network


def _nvlinks(
    edges: tuple[Edge, ...], order: dict[Node, int], gpus: tuple[GPU, ...]
) -> tuple[dict[tuple[int, int], float], float | None]:
    direct: dict[tuple[int, int], float] = {}
    into_switch: list[float] = []
    for edge in edges:
        port = gpus[order[edge.a]].nvlink if edge.a in order else None
        if port is None:
            continue
        if edge.kind in ("nvlink", "xgmi") and edge.b in order:
            a, b = order[edge.a], order[edge.b]
            direct[a, b] = direct[b, a] = edge.links * link_rate(port)
        elif edge.kind == "nvswitch":
            into_switch.append(edge.links * link_rate(port))
    whole = len(into_switch) == len(order)
    return direct, min(into_switch) if whole and into_switch else None


def path_up(node: Node, above: dict[Node, Edge]) -> list[Edge]:
    """Return the PCIe links from a node up to its root."""
    path: list[Edge] = []
    while node in above and above[node] not in path:
        path.append(above[node])
        node = above[node].a
    return path


def _slowest(paths: list[list[Edge]], gpus: tuple[GPU, ...], staged: bool) -> float | None:
    """Return the slowest PCIe link between the GPUs: a ring in tree order crosses each link of the
    tree once per direction, and links above the lowest common node not at all. Copies staged
    through the host go up and down: cards below a switch share its link (two RTX 2080 Ti below one
    of Gen3: 4.0 GB/s)."""
    if not paths or not all(paths):
        return (
            min((pcie_rate(gpu.edge_gen, gpu.edge_width or 16) or 0.0 for gpu in gpus), default=0.0)
            or None
        )
    if staged:
        users = Counter(edge.b for path in paths for edge in path)
        shares = [
            (pcie_rate(edge.gen, edge.width), users[edge.b]) for path in paths for edge in path
        ]
        return min((rate / count for rate, count in shares if rate is not None), default=None)
    shared = set.intersection(*({edge.b for edge in path} for path in paths))
    rates = [
        pcie_rate(edge.gen, edge.width) for path in paths for edge in path if edge.b not in shared
    ]
    known = [rate for rate in rates if rate is not None]
    return min(known, default=None)


def _between(
    pairs: list[list[Pair]], cpus: list[CPU], gpus: tuple[GPU, ...], staged: bool
) -> float | None:
    if not any(pair.path == "sys" for row in pairs for pair in row):
        return None
    sockets = BETWEEN_SOCKETS if staged else BETWEEN_SOCKETS | BETWEEN_PEERS
    unknown = BETWEEN_UNKNOWN if staged else BETWEEN_UNKNOWN | BETWEEN_PEERS_UNKNOWN
    known = [sockets[cpu.socket] for cpu in cpus if cpu.socket in sockets]
    gens = [cpu.pcie_gen for cpu in cpus if cpu.pcie_gen is not None]
    gen = min((gpu.edge_gen or 3 for gpu in gpus), default=3) if not gens else min(gens)
    return min(known) if known else unknown.get(gen, 8.0)


def ring_rate(count: int, nvlink: dict[tuple[int, int], float]) -> float:
    """Return the sum of the rates of rings (directed Hamiltonian cycles) that direct links carry at
    once, 0 when they close none. Rings are taken in small steps, each time the one whose slowest
    pair has most left."""
    return _packed(count, tuple(sorted((pair, round(rate, 3)) for pair, rate in nvlink.items())))


@cache
def _packed(count: int, links: tuple[tuple[tuple[int, int], float], ...]) -> float:
    left = dict(links)
    rates = set(left.values())
    if len(left) == count * (count - 1) and len(rates) == 1:
        return rates.pop() * (count - 1)
    if not left:
        return 0.0
    around = rings(left, count, MOST_CYCLES)
    cycles = [tuple(zip(ring, [*ring[1:], ring[0]], strict=True)) for ring in sorted(around)]
    step = min(rates, default=0.0) / STEPS_PER_LINK
    total = 0.0
    while cycles:
        ring = max(
            cycles,
            key=lambda ring: (min(left[pair] for pair in ring), sum(left[pair] for pair in ring)),
        )
        if min(left[pair] for pair in ring) < step * 0.999:
            break
        for pair in ring:
            left[pair] -= step
        total += step
    return total
