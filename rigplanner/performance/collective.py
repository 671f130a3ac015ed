"""Collectives by themselves: bus bandwidth of an all-reduce, rate of a copy between two GPUs."""

from rigplanner.catalog.parts import GPU
from rigplanner.evidence import Step
from rigplanner.machine.machine import Machine
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.scaling import BRIDGE_BUSBW_GBS, CROWDED_SHARE, NETWORK_GBS, NO_PEER_SHARE, NVLINK_BUSBW_GBS
from rigplanner.performance.silicon import generation_of
from rigplanner.performance.stacks import find_stack
from rigplanner.rig.task import Workload
from rigplanner.workload.answer import WorkloadFault

PCIE_GBS = {3: 12.0, 4: 24.0, 5: 48.0, 6: 96.0}
"""NCCL's figures for 16 lanes by generation, one way (NVIDIA/nccl src/graph)."""
COPY_GAIN = 1.15
"""Plain copies run above NCCL's constants: 1.01 to 1.21 measured (V100, A100, H100, RTX PRO 6000)."""
SPREAD = {"nvswitch": 1.12, "nvlink-mesh": 1.2, "nvlink-bridge": 1.3, "xgmi": 1.3, "pcie": 1.6}
"""Factor either way that holds 80 % of the measured bus bandwidths of a link class."""


def predict_collective(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, machine: Machine | None, metric: str | None
) -> SpeedEstimate:
    """Return bus bandwidth (`busbw_gbps`) or copy rate (`p2p_gbps`) in GB/s; raise WorkloadFault for other metrics or one GPU."""
    asked = metric or ("p2p_gbps" if workload.model == "p2p" else "busbw_gbps")
    if asked not in ("busbw_gbps", "p2p_gbps"):
        raise WorkloadFault(f"metric: expected busbw_gbps or p2p_gbps for a collective, found '{asked}'.")
    if count < 2:
        raise WorkloadFault(f"hardware.count: a collective needs at least 2 GPUs, found {count}.")
    stack = find_stack(workload.stack or ("p2p-bandwidth-test" if asked == "p2p_gbps" else "nccl-tests")).slug
    lane = link if link in SPREAD else "nvlink-mesh" if gpu.form_factor.startswith("sxm") else "pcie"
    rate = _rate(gpu, lane, count, asked, bool(workload.variant.get("p2p", True)))
    if nodes > 1:
        rate = min(rate, NETWORK_GBS * count / nodes)
    if workload.variant.get("direction") == "bidirectional":
        rate *= 2 if workload.variant.get("p2p", True) else 1
    spread = SPREAD[lane]
    step = Step(
        "bus bandwidth",
        "link rate x share of the link class",
        {"link": lane, "gpus": float(count)},
        rate,
        "GB/s",
        "NVIDIA/nccl src/graph; NVIDIA/nccl-tests issues 178, 212, 228",
    )
    return SpeedEstimate(
        metric=asked,
        value=rate,
        low=rate / spread,
        high=rate * spread,
        stack=stack,
        bound="link",
        lift="faster-link",
        steps=(step,),
    )


def _rate(gpu: GPU, lane: str, count: int, metric: str, peer: bool) -> float:
    generation = generation_of(gpu)
    if lane in ("nvswitch", "nvlink-mesh", "xgmi"):
        port = gpu.nvlink
        line = port.links * port.link_gbs if port else NVLINK_BUSBW_GBS.get(generation, 100.0) * 1.2
        if metric == "p2p_gbps":
            return line * 0.84
        return line * (1.06 if lane == "nvswitch" and generation in ("hopper", "blackwell") and count >= 8 else 0.76)
    if lane == "nvlink-bridge" and count == 2:
        port = gpu.nvlink
        return port.links * port.link_gbs * 0.7 if port else BRIDGE_BUSBW_GBS
    rate = PCIE_GBS.get(gpu.edge_gen or 4, 24.0) * (gpu.edge_width or 16) / 16
    if metric == "p2p_gbps":
        return rate * (COPY_GAIN if peer else 0.55)
    staged = (
        not peer
        or gpu.p2p in ("no", "nvlink-only")
        or (gpu.p2p is None and bool(gpu.dense_tflops.fp16_acc16) and generation != "turing")
    )
    return rate * (NO_PEER_SHARE if staged else 0.9) * (CROWDED_SHARE if count > 4 else 1.0)
