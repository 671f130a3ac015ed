"""All-reduce: bus bandwidth over the machine's links; `collective_time` has the time against
message size.

Bus bandwidth is what nccl-tests prints: algorithm bandwidth x 2 (n - 1) / n, one way per GPU, in
GB/s."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.evidence import Estimate, Step
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.interconnect import (
    PLAIN_NETWORK_GBS,
    Interconnect,
    across_rate,
    link_rate,
    of_machine,
    pcie_rate,
    ring_rate,
)

SOURCE = "NVIDIA/nccl src/graph; nccl-tests results in public issues"


class Ratio(Struct, frozen=True):
    """Measured bus bandwidth over NCCL's graph number: middle and the range that covers what was
    measured."""

    value: float
    low: float
    high: float


RATIOS = {
    "nvlink": Ratio(0.90, 0.80, 1.05),
    "nvlink-hopper-bridge": Ratio(0.75, 0.45, 1.00),
    "nvswitch": Ratio(0.95, 0.85, 1.02),
    "nvls": Ratio(0.88, 0.66, 0.95),
    "xgmi": Ratio(0.90, 0.70, 1.05),
    "pcie-peer": Ratio(1.04, 0.85, 1.18),
    "pcie-host": Ratio(0.90, 0.70, 1.10),
    "pcie-staged": Ratio(0.60, 0.30, 0.90),
    "between-sockets": Ratio(1.00, 0.75, 1.30),
    "network": Ratio(0.90, 0.60, 1.02),
}
"""By kind of bottleneck. nvlink: 208 of 240 on a bridged A100 pair, 72 of 80 on a direct board;
nvlink-hopper-bridge: 116 of 247 on the only pair published (NCCL saw all 12 links; nobody told
why), else what other bridges give; nvswitch: 220 of 240, 366 of 371, 682 of 722; nvls: 480 of 552,
838 of 935; pcie-peer: 50 of 48, 12.7 of 12; pcie-host: 20 and 25.3 of 24, 41.1 of 48; pcie-staged:
35 and 27.3 of 48, 14.5 of 24, on hosts of Gen3 4.0 of 6 and 3.9 of 12; network, between two nodes:
78 of 94, 684 of 750, 148 of 150."""

SOURCES = {
    "nvlink-hopper-bridge": (
        "NVIDIA/nccl issue 1161, the only pair published: 47 %; bridges of other cards 80 to 105 %"
    ),
}
"""Where a ratio rests on less than the other ones do: said with the estimate."""

HOPPER = 9
NVLS_SHARE = {9: 0.85, 10: 0.74, 12: 0.74}
"""NCCL's efficiency of NVLink SHARP by compute capability's major number."""

NODE_NETWORK_GBS = {
    "7.0": 100.0,
    "8.0": 200.0,
    "9.0": 400.0,
    "10.0": 400.0,
    "10.3": 800.0,
    "gfx90a": 100.0,
    "gfx942": 400.0,
    "gfx950": 400.0,
}
"""Network of one full node in GB/s where none is named, by compute capability: DGX-2 8 x 100 Gb/s,
DGX A100 8 x 200, DGX H100 and B200 8 x 400, DGX B300 8 x 800; Frontier 4 x 200, Azure ND MI300X v5
8 x 400, and MI350X alike."""
MESHES = ("8.0", "9.0", "10.0", "10.3")
"""Modules whose nodes have such a network too where their links are called a mesh: boards of four,
and eight by loose speech. Nodes of V100 in cube meshes were built with anything from 25 to 400
Gb/s."""
NODE_GPUS = {"7.0": 16}
"""GPUs of such a node, else 8: fewer take their share of the ports."""


def allreduce(machine: Machine, indices: tuple[int, ...] | None = None) -> Estimate | None:
    """Return the all-reduce bus bandwidth in GB/s over all GPUs of a machine, or over some; None
    for fewer than two GPUs."""
    return allreduce_of(of_machine(machine, indices))


def allreduce_of(net: Interconnect) -> Estimate | None:
    """Return the all-reduce bus bandwidth in GB/s over an interconnect: the best of NVLink SHARP,
    rings over NVLink, and a ring through PCIe; no faster than the network between nodes. None for
    fewer than two GPUs or when no rate is known."""
    if net.count < 2:
        return None
    found = [step for step in (_nvls(net), _over_nvlink(net), _over_pcie(net)) if step is not None]
    best = max(found, key=lambda estimate: estimate.value, default=None)
    if net.nodes < 2:
        return best
    if net.network is None:
        return None
    across = _estimate(
        "network", "network ports of one node", {"network": net.network}, net.network
    )
    return across if best is None or across.value < best.value else best


def _nvls(net: Interconnect) -> Estimate | None:
    share = NVLS_SHARE.get(_major(net.gpus[0]))
    if net.switched is None or share is None or net.count < 3:
        return None
    rate = net.switched * share * 2 * (net.count - 1) / net.count
    inputs: dict[str, float | str | None] = {
        "switched": net.switched,
        "share": share,
        "count": float(net.count),
    }
    return _estimate("nvls", "switched * share * 2 * (count - 1) / count", inputs, rate)


def _over_nvlink(net: Interconnect) -> Estimate | None:
    if net.switched is not None:
        return _estimate(
            "nvswitch", "rate into the switch", {"switched": net.switched}, net.switched
        )
    rings = ring_rate(net.count, net.nvlink)
    if rings == 0:
        return None
    xgmi = any(gpu.nvlink is not None and gpu.nvlink.fabric == "xgmi" for gpu in net.gpus)
    bridged = any(_major(gpu) == HOPPER and gpu.form_factor == "pcie" for gpu in net.gpus)
    kind = "xgmi" if xgmi else "nvlink-hopper-bridge" if bridged else "nvlink"
    return _estimate(kind, "sum over rings of the slowest pair", {"rings": rings}, rings)


def _over_pcie(net: Interconnect) -> Estimate | None:
    if net.pcie is None:
        return None
    kind = (
        "pcie-staged"
        if net.staged
        else "pcie-host"
        if net.hosted and net.count > 2
        else "pcie-peer"
    )
    local = _estimate(kind, "width * speed / 80, slowest link", {"pcie": net.pcie}, net.pcie)
    if net.between is None:
        return local
    across = _estimate(
        "between-sockets", "rate between sockets", {"between": net.between}, net.between
    )
    return across if across.value < local.value else local


def _estimate(
    kind: str, formula: str, inputs: dict[str, float | str | None], rate: float
) -> Estimate:
    ratio = RATIOS[kind]
    source = SOURCES.get(kind, SOURCE)
    graph = Step("graph", formula, inputs, rate, "GB/s", SOURCE)
    measured = Step(
        kind,
        "graph * ratio",
        {"graph": rate, "ratio": ratio.value},
        rate * ratio.value,
        "GB/s",
        source,
    )
    return Estimate(
        rate * ratio.value, rate * ratio.low, rate * ratio.high, "GB/s", (graph, measured)
    )


def _major(gpu: GPU) -> int:
    word = (gpu.compute_capability or "").split(".")[0]
    return int(word) if word.isdigit() else 0


def allreduce_of_link(
    gpu: GPU, count: int, link: str, nodes: int = 1, network: float | None = None
) -> Estimate | None:
    """Return the all-reduce bus bandwidth in GB/s of `count` GPUs in all, over `nodes` equal nodes,
    of which only the link word is known (none, pcie, nvlink-bridge, nvlink-mesh, nvswitch, xgmi,
    unknown), and perhaps the `network` of a node in GB/s; None for fewer than two GPUs.

    Bridges join pairs: more than two GPUs then meet over PCIe. Slots are taken as wide and fast as
    the card's edge."""
    if count < 2:
        return None
    inside = max(1, count // max(1, nodes))
    local = _uniform_mesh(gpu, inside, link) or allreduce_of(_net_of_link(gpu, inside, link))
    if nodes < 2:
        return local
    rate = across_rate(network or _network(gpu, inside, link), nodes, count)
    across = _estimate("network", "network of one node", {"network": rate}, rate)
    return across if local is None or across.value < local.value else local


def _uniform_mesh(gpu: GPU, count: int, link: str) -> Estimate | None:
    """Return the rate of a baseboard whose direct links the rings use up, as in cube meshes and
    boards of four."""
    if gpu.nvlink is None or count < 2 or link not in ("nvlink-mesh", "xgmi"):
        return None
    whole = gpu.nvlink.links * link_rate(gpu.nvlink)
    return _estimate(
        "xgmi" if gpu.nvlink.fabric == "xgmi" else "nvlink",
        "links * rate of a link",
        {"links": whole},
        whole,
    )


def _net_of_link(gpu: GPU, count: int, link: str) -> Interconnect:
    port = gpu.nvlink
    whole = port.links * link_rate(port) if port is not None else 0.0
    bridged = port is not None and link == "nvlink-bridge" and count == 2
    return Interconnect(
        gpus=(gpu,) * count,
        nvlink={(0, 1): whole, (1, 0): whole} if bridged else {},
        switched=whole if link == "nvswitch" and port is not None else None,
        pcie=pcie_rate(gpu.edge_gen or 3, gpu.edge_width or 16),
        hosted=True,
        staged=gpu.p2p in ("no", "nvlink-only"),
        between=None,
    )


def _network(gpu: GPU, inside: int, link: str) -> float:
    """Return the network of one node in GB/s where none is named."""
    capability = gpu.compute_capability or ""
    named = link == "nvswitch" or (link == "nvlink-mesh" and capability in MESHES) or link == "xgmi"
    if not named or gpu.form_factor == "pcie" or capability not in NODE_NETWORK_GBS:
        return PLAIN_NETWORK_GBS
    return NODE_NETWORK_GBS[capability] * min(1.0, inside / NODE_GPUS.get(capability, 8))


def island_rates(machine: Machine) -> tuple[tuple[tuple[int, ...], Estimate], ...]:
    """Return the islands of two GPUs and more with the bus bandwidth inside each."""
    rated = [(island, allreduce(machine, island)) for island in machine.islands if len(island) > 1]
    return tuple((island, estimate) for island, estimate in rated if estimate is not None)
