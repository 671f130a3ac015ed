"""Copies between GPUs and to the host: what one `cudaMemcpy` of a large block moves, in GB/s one
way.

To the host a copy runs at `GpuNode.host_gbs`, which is calibrated on bandwidthTest already."""

from rigplanner.catalog.schema.parts import NvlinkPort
from rigplanner.evidence import Estimate, Step
from rigplanner.machine.model import Machine
from rigplanner.machine.nodes import Edge, gpu_node
from rigplanner.machine.pcie import least
from rigplanner.machine.topology.interconnect import path_up

NVLINK_SHARE = {2: 0.966, 3: 0.915, 4: 0.836}
"""Share of the line rate of its links by NVLink generation: 48.3 of 50 GB/s (V100), 274.5 of 300
(A100), 376 of 450 (H100)."""
OTHER_SHARE = 0.84
"""Other generations and fabrics: as the newest measured."""
STAGED_SHARE = 0.42
"""Through the host, of the slower link: between 0.75 (20 to 22 of 27.7 GB/s, six-GPU host of NCCL
issue 814), 0.47 (12.9, RTX 4090 in both directions at once) and 0.11 (3 to 4, RTX 3090 in an
eight-GPU server); the same share as in `performance.collective`."""
SPREADS = {"nvlink": 1.12, "peer": 1.25, "staged": 2.6}
SOURCE = "p2pBandwidthLatencyTest and nvbandwidth results in public issues"


def copy_rates(machine: Machine) -> tuple[tuple[Estimate | None, ...], ...]:
    """Return the copy rate for each pair of GPUs; None on the diagonal and where no link is
    known."""
    above = {edge.b: edge for edge in machine.edges if edge.kind in ("pcie", "chipset")}
    ways = [path_up(gpu_node(index), above) for index in range(len(machine.gpus))]
    direct = {
        frozenset((edge.a, edge.b)): edge.gbs
        for edge in machine.edges
        if edge.kind in ("nvlink", "xgmi")
    }
    switched = {edge.a: edge.gbs for edge in machine.edges if edge.kind == "nvswitch"}

    def between(a: int, b: int) -> Estimate | None:
        one, other = gpu_node(a), gpu_node(b)
        linked = direct.get(frozenset((one, other))) or least(
            switched.get(one), switched.get(other)
        )
        if linked is not None:
            return _estimate("nvlink", linked, _nvlink_share(machine.gpus[a].gpu.nvlink))
        slowest = _slowest(ways[a], ways[b])
        if slowest is None:
            return None
        return (
            _estimate("peer", slowest, 1.0)
            if machine.p2p[a][b] == "OK"
            else _estimate("staged", slowest, STAGED_SHARE)
        )

    count = range(len(machine.gpus))
    return tuple(tuple(between(a, b) if a != b else None for b in count) for a in count)


def _nvlink_share(port: NvlinkPort | None) -> float:
    known = port is not None and port.fabric != "xgmi"
    return (
        NVLINK_SHARE.get(int(port.generation), OTHER_SHARE)
        if port is not None and known
        else OTHER_SHARE
    )


def _estimate(kind: str, rate: float, share: float) -> Estimate:
    value, spread = rate * share, SPREADS[kind]
    step = Step(kind, "rate * share", {"rate": rate, "share": share}, value, "GB/s", SOURCE)
    return Estimate(value, value / spread, min(value * spread, rate * 1.1), "GB/s", (step,))


def _slowest(up: list[Edge], across: list[Edge]) -> float | None:
    """Return the slowest link below the lowest node that two GPUs share, None where one is not
    known."""
    shared = {edge.b for edge in up} & {edge.b for edge in across}
    return least(*(edge.gbs for edge in (*up, *across) if edge.b not in shared))
