"""Copies between GPUs and to the host: what one `cudaMemcpy` of a large block moves, in GB/s one way.

To the host a copy runs at `GpuNode.host_gbs`, which is calibrated on bandwidthTest already.
"""

from rigplanner.evidence import Estimate, Step
from rigplanner.machine.machine import Edge, Machine

NVLINK_SHARE = {2: 0.966, 3: 0.915, 4: 0.836}
"""Share of the line rate of its links by NVLink generation: 48.3 of 50 GB/s (V100), 274.5 of 300 (A100), 376 of 450 (H100)."""
OTHER_SHARE = 0.84
"""Other generations and fabrics: as the newest measured."""
STAGED_SHARE = 0.5
"""Through the host, of the slower link: between 0.94 (25.8 of 27.7, RTX 4090) and 0.22 (6.1, RTX 3090 in an eight-GPU server)."""
SPREADS = {"nvlink": 1.12, "peer": 1.15, "staged": 2.3}
SOURCE = "p2pBandwidthLatencyTest and nvbandwidth results in public issues"


def copy_rates(machine: Machine) -> tuple[tuple[Estimate | None, ...], ...]:
    """Return the copy rate for each pair of GPUs; None on the diagonal and where no link is known."""
    above = {edge.b: edge for edge in machine.edges if edge.kind in ("pcie", "chipset")}
    count = len(machine.gpus)
    return tuple(tuple(_between(machine, above, a, b) if a != b else None for b in range(count)) for a in range(count))


def _between(machine: Machine, above: dict[str, Edge], a: int, b: int) -> Estimate | None:
    linked = _nvlink_gbs(machine, a, b)
    if linked is not None:
        port = machine.gpus[a].gpu.nvlink
        known = port is not None and port.fabric != "xgmi"
        share = NVLINK_SHARE.get(int(port.generation), OTHER_SHARE) if port is not None and known else OTHER_SHARE
        return _estimate("nvlink", linked, share)
    rates = _rates_between(above, f"gpu{a}", f"gpu{b}")
    if not rates or None in rates:
        return None
    slowest = min(rate for rate in rates if rate is not None)
    return _estimate("peer", slowest, 1.0) if machine.p2p[a][b] == "OK" else _estimate("staged", slowest, STAGED_SHARE)


def _estimate(kind: str, rate: float, share: float) -> Estimate:
    value, spread = rate * share, SPREADS[kind]
    step = Step(kind, "rate * share", {"rate": rate, "share": share}, value, "GB/s", SOURCE)
    return Estimate(value, value / spread, min(value * spread, rate * 1.1), "GB/s", (step,))


def _nvlink_gbs(machine: Machine, a: int, b: int) -> float | None:
    """Return the line rate one way over NVLink: of the direct links, or of the slower way into the switch."""
    ends = {f"gpu{a}", f"gpu{b}"}
    into: dict[str, float] = {}
    for edge in machine.edges:
        if edge.kind in ("nvlink", "xgmi") and {edge.a, edge.b} == ends:
            return edge.gbs
        if edge.kind == "nvswitch" and edge.a in ends and edge.gbs is not None:
            into[edge.a] = edge.gbs
    return min(into.values()) if len(into) == len(ends) else None


def _rates_between(above: dict[str, Edge], one: str, other: str) -> list[float | None]:
    """Return the rates of the links below the lowest node that two GPUs share."""
    up, across = _way_up(above, one), _way_up(above, other)
    shared = {edge.b for edge in up} & {edge.b for edge in across}
    return [edge.gbs for edge in (*up, *across) if edge.b not in shared]


def _way_up(above: dict[str, Edge], node: str) -> list[Edge]:
    way: list[Edge] = []
    while node in above and above[node] not in way:
        way.append(above[node])
        node = above[node].a
    return way
