"""Several GPUs: what the exchange of gradients or activations adds to a step."""

from rigplanner.performance.job import Job
from rigplanner.performance.roofline import dense_params

NVLINK_BUSBW_GBS = {"pascal": 60.0, "volta": 130.0, "ampere": 230.0, "hopper": 400.0, "blackwell": 750.0}
"""All-reduce bus bandwidth of full NVLink systems, one way per GPU: measured 220-235 on 8x A100, 366-480 on 8x H100, 682-838 on
B200 (NVIDIA/nccl-tests issues 212, 228); Pascal and Volta from NCCL's constants of 18 and 20 GB/s per link."""
BRIDGE_BUSBW_GBS = 80.0
PCIE_BUSBW_GBS = {"kepler": 9.0, "maxwell": 9.0, "pascal": 9.0, "volta": 9.0, "turing": 9.0, "hopper": 36.0, "blackwell": 40.0}
PCIE4_BUSBW_GBS = 18.0
NO_PEER_SHARE = 0.5
"""Bus bandwidth kept where the driver stages copies through the host (GeForce since RTX 30)."""
CROWDED_SHARE = 0.7
"""Kept by more than four GPUs on PCIe, which share root ports or the link between sockets."""
NETWORK_GBS = 12.5
"""One way per GPU between nodes where nothing else is known: 100 Gb/s."""
OVERLAP = 0.6
"""Share of a step under which the exchange of gradients hides; 0.15 of it never hides (the last bucket)."""
LAST_BUCKET = 0.15
PER_GPU_LATENCY_S = 1e-5


def bus_gbs(job: Job) -> float:
    """Return the all-reduce bus bandwidth in GB/s that this link class gives."""
    silicon, link = job.silicon, job.link
    if link in ("nvswitch", "nvlink-mesh", "xgmi"):
        inside = NVLINK_BUSBW_GBS.get(silicon.generation, 100.0)
    elif link == "nvlink-bridge" and job.count == 2:
        inside = BRIDGE_BUSBW_GBS
    else:
        inside = PCIE_BUSBW_GBS.get(silicon.generation, PCIE4_BUSBW_GBS)
        inside *= NO_PEER_SHARE if silicon.half_rate_tensor and silicon.era > 4 else 1.0
        inside *= CROWDED_SHARE if job.count > 4 else 1.0
    return min(inside, NETWORK_GBS * job.count / job.nodes) if job.nodes > 1 else inside


def exchange_seconds(job: Job) -> float:
    """Return the seconds that one synchronous exchange takes if nothing hides it: 2 (n - 1) / n of the gradient bytes over the bus
    bandwidth (ring all-reduce), half as much again when weights are gathered too."""
    n = job.count
    size = dense_params(job) * (2.0 if job.precision not in ("fp32", "tf32") else 4.0) * (1.5 if job.sharded else 1.0)
    if job.task == "train_lora":
        size *= 1.0 if job.sharded else 0.01
    taken = 2 * (n - 1) / n * size / (bus_gbs(job) * 1e9) + n * PER_GPU_LATENCY_S
    return taken if job.sharded else taken / job.accumulate


def exposed_seconds(job: Job, step_s: float) -> float:
    """Return what of the exchange a step of `step_s` seconds does not hide."""
    if job.count == 1 or job.task not in ("train", "train_lora"):
        return 0.0
    taken = exchange_seconds(job)
    return max(LAST_BUCKET * taken, taken - OVERLAP * step_s)
