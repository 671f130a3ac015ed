"""How long an all-reduce of some size takes: NCCL's own model of its algorithms and protocols,
corrected by published sweeps.

NCCL picks by a latency and a bandwidth for each of rings, trees and NVLink SHARP with the protocols
LL, LL128 and Simple (src/graph/tuning.cc, read 2026-11-22). Its constants are kept here; what
sweeps of nccl-tests and rccl-tests correct stands in `HOPS_TAKE`, `BLEND` and `LATENCY_RANGE`."""

import math
from collections.abc import Iterator

from msgspec import Struct

from rigplanner.evidence import Estimate, Step

SOURCE = (
    "NVIDIA/nccl src/graph/tuning.cc; sweeps of nccl-tests and rccl-tests"
    " (resources/machine/exchange_sizes.json)"
)

PROTOCOLS = ("LL", "LL128", "Simple")
BASE_US = {"ring": (6.6, 14.0, 8.4), "tree": (6.8, 14.0, 0.0)}
"""Start of a collective in microseconds by protocol."""
HOP_US = {
    "nvlink": {"ring": (0.6, 1.9, 3.4), "tree": (0.6, 1.25, 28.0)},
    "pcie": {"ring": (1.0, 2.5, 5.7), "tree": (1.0, 1.9, 28.0)},
    "network": {"ring": (2.7, 4.0, 14.0), "tree": (5.0, 8.5, 28.0)},
}
"""One hop likewise, by kind of link."""
PROTOCOL_SHARE = {"ring": (0.5, 0.92, 1.0), "tree": (0.46, 0.86, 0.92)}
"""What a protocol leaves of the bandwidth: half of LL is flags, an eighth of LL128; trees reach
0.92 of rings."""
LL_MOST_GBS = (87.7, 22.5, 19.0)
"""Bus bandwidth that LL does not pass on one node, two, and more."""
SHARP_US, SHARP_HOP_US, RING_BESIDE_SHARP = 23.0, 14.0, 0.75
"""NVLink SHARP inside a node, its hop between nodes, and the rate of rings over the same switch
beside it."""

HOPS_TAKE = {"nvlink": 1.5, "xgmi": 0.7, "pcie": 1.25, "network": 2.0}
"""Measured latency of a hop over NCCL's constant, fitted to 27 published sweeps (298 points);
leaving any GPU out moves none of the first, second and fourth by more than an eighth. RCCL on MI300
reduces in one step where NCCL would take fourteen."""
BLEND = 0.8
"""Latency and transfer add as powers below one: pipelines fill and drain (fitted likewise; 1 would
be their sum)."""
LATENCY_RANGE = {"node": (0.7, 2.3), "network": (0.6, 3.6)}
"""Measured latency over modelled, the middle 80 %: one process that drives all GPUs starts each at
5 to 6 us (48 us for eight V100, 16 for eight H100 under MPI); between nodes InfiniBand starts at 37
us, EFA at 66, TCPX at 123, one RoCE network at 220."""
LINKED = {
    "nvlink": "nvlink",
    "nvlink-hopper-bridge": "nvlink",
    "nvswitch": "nvlink",
    "nvls": "nvlink",
    "xgmi": "xgmi",
}


class Way(Struct, frozen=True):
    """One algorithm with one protocol: its latency in microseconds and algorithm bandwidth in
    GB/s."""

    name: str
    latency_us: float
    algorithm_gbs: float

    def seconds(self, size_bytes: float, latency: float = 1.0, rate: float = 1.0) -> float:
        """Return the time of a message, the latency and the bandwidth scaled."""
        moving_us = size_bytes / (self.algorithm_gbs * rate * 1e3)
        return (
            float(((self.latency_us * latency) ** BLEND + moving_us**BLEND) ** (1 / BLEND)) * 1e-6
        )


def allreduce_time(
    size_bytes: float, estimate: Estimate, count: int, nodes: int = 1, trees: bool = True
) -> Estimate:
    """Return the seconds of one all-reduce of `size_bytes` over `count` GPUs on `nodes` nodes whose
    bus bandwidth is `estimate`: the fastest of rings, trees and NVLink SHARP with NCCL's protocols.
    NCCL before 2.4 has no `trees`.

    Low to high is an 80 % interval: the bandwidth's at large sizes, that of published latencies at
    small ones."""
    if count < 2:
        return Estimate(0.0, 0.0, 0.0, "s")
    kind = estimate.steps[-1].name if estimate.steps else "pcie-host"
    best = min(
        _ways(estimate.value, kind, count, max(1, nodes), trees),
        key=lambda way: way.seconds(size_bytes),
    )
    faster, slower = LATENCY_RANGE["network" if nodes > 1 else "node"]
    value = best.seconds(size_bytes)
    inputs: dict[str, float | str | None] = {
        "bytes": float(size_bytes),
        "way": best.name,
        "latency_us": best.latency_us,
        "algorithm_gbs": best.algorithm_gbs,
    }
    return Estimate(
        value,
        best.seconds(size_bytes, faster, estimate.high / estimate.value),
        best.seconds(size_bytes, slower, estimate.low / estimate.value),
        "s",
        (
            Step(
                "message",
                "(latency^0.8 + (bytes / rate)^0.8)^(1 / 0.8)",
                inputs,
                value,
                "s",
                SOURCE,
            ),
        ),
    )


def allreduce_seconds(size_bytes: float, bus_gbs: float, kind: str, count: int) -> float:
    """Return the value of `allreduce_time` for `count` GPUs of one node whose links of a `kind`
    (pcie, nvlink, nvswitch, xgmi) reach `bus_gbs` of bus bandwidth."""
    return min(way.seconds(size_bytes) for way in _ways(bus_gbs, kind, count, 1, False))


def busbw_of_message(
    size_bytes: float, estimate: Estimate, count: int, nodes: int = 1, trees: bool = True
) -> Estimate:
    """Return the bus bandwidth in GB/s that an all-reduce of `size_bytes` reaches: `allreduce_time`
    as nccl-tests prints it."""
    taken = allreduce_time(size_bytes, estimate, count, nodes, trees)
    moved = size_bytes * 2 * (count - 1) / count / 1e9
    return Estimate(moved / taken.value, moved / taken.high, moved / taken.low, "GB/s", taken.steps)


def _ways(reached_gbs: float, kind: str, count: int, nodes: int, trees: bool) -> Iterator[Way]:
    family = LINKED.get(kind, "nvlink" if kind == "network" and count > nodes else "pcie")
    ring_gbs = reached_gbs * (RING_BESIDE_SHARP if kind == "nvls" and nodes == 1 else 1.0)
    factor = 2 * (count - 1) / count
    for shape in ("ring", "tree") if trees and nodes > 1 else ("ring",):
        for protocol, name in enumerate(PROTOCOLS):
            if name == "LL128" and family == "pcie":
                continue
            bus_gbs = ring_gbs * PROTOCOL_SHARE[shape][protocol]
            if name == "LL":
                bus_gbs = min(bus_gbs, LL_MOST_GBS[min(nodes, 3) - 1])
            yield Way(
                f"{shape}, {name}",
                _latency_us(shape, protocol, family, count, nodes),
                bus_gbs / factor,
            )
    if kind == "nvls":
        across = 2 * math.ceil(math.log2(nodes)) * SHARP_HOP_US * HOPS_TAKE["network"]
        yield Way("NVLink SHARP", SHARP_US + across, reached_gbs / factor)


def _latency_us(shape: str, protocol: int, family: str, count: int, nodes: int) -> float:
    """Return base and hops: rings pass every GPU twice, trees are chains inside a node and binary
    between nodes."""
    inside_us = (
        HOP_US["pcie" if family == "pcie" else "nvlink"][shape][protocol] * HOPS_TAKE[family]
    )
    across_us = HOP_US["network"][shape][protocol] * HOPS_TAKE["network"]
    if shape == "ring":
        across = 2 * nodes if nodes > 1 else 0
        return (
            BASE_US[shape][protocol] + (2 * (count - 1) - across) * inside_us + across * across_us
        )
    return (
        BASE_US[shape][protocol]
        + 2 * (count / nodes - 1) * inside_us
        + 2 * math.ceil(math.log2(nodes)) * across_us
    )
