"""Several GPUs: what the exchange of gradients or activations adds to a step."""

import math
from functools import cache
from statistics import NormalDist

from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import Job
from rigplanner.performance.roofline import dense_params
from rigplanner.performance.silicon import weight_bits

PER_GPU_LATENCY_S = 1e-5
ADAPTER_SHARE = 0.01
UNEVEN = {"rnn": 0.1}
"""Standard deviation of a GPU's step, as a share of it, where samples are sentences of unequal
length: all wait for the slowest. GNMT keeps 6 to 16 points less of several GPUs than its exchange
explains (four sources, 46 rows on NVLink and PCIe)."""
JITTER = 0.015
"""The same where all samples are alike: rows on NVLink keep 4 to 9 points less than any rate of it
explains (least error of 658 measured efficiencies, of either half of their sources)."""


def replicas(job: Job) -> int:
    """Return how many copies of the model train side by side."""
    return max(1, job.count // (job.tensor * job.pipeline))


def exchange_bytes(job: Job) -> float:
    """Return the bytes that one exchange of gradients moves per GPU: 2 (n - 1) / n of them in a
    ring, half as much again where weights are gathered too. Frozen weights below adapters are
    gathered for both passes as they are stored (FSDP gathers the packed 4 bits: Answer.AI,
    fsdp_qlora) and have no gradients; the adapters' are a hundredth."""
    n, wide = replicas(job), job.precision in ("fp32", "tf32")
    values = dense_params(job) / (job.tensor * job.pipeline)
    if job.task != "train_lora":
        size = values * (4.0 if wide else 2.0) * (1.5 if job.zero == 3 else 1.0)
    elif job.zero == 3:
        size = values * weight_bits(job.precision) / 8
    else:
        size = values * (4.0 if wide else 2.0) * ADAPTER_SHARE
    return 2 * (n - 1) / n * size


def shuffle_seconds(job: Job) -> float:
    """Return the seconds of a training step in which rows of embedding tables that are spread over
    the GPUs go to the samples' GPUs and their gradients back, all to all; the dense layers wait for
    them."""
    if job.count == 1 or not job.shape.shuffled_values:
        return 0.0
    size = (
        job.batch * job.shape.shuffled_values * (4.0 if job.precision in ("fp32", "tf32") else 2.0)
    )
    return 2 * (job.count - 1) / job.count * size / (job.bus_gbs * 1e9)


def tensor_seconds(job: Job) -> float:
    """Return the seconds of a training step in which tensor-parallel GPUs add up activations: four
    all-reduces per layer of tokens x hidden values (Shoeybi et al. 2019, arXiv 1909.08053), which
    nothing hides; and in which experts get theirs."""
    if job.tensor == 1 or not job.shape.layers:
        return expert_seconds(job)
    tokens = job.batch * job.tensor * job.shape.tokens
    size = (
        4
        * job.shape.layers
        * tokens
        * job.shape.hidden
        * (4.0 if job.precision in ("fp32", "tf32") else 2.0)
    )
    return (
        2 * (job.tensor - 1) / job.tensor * size / (job.bus_gbs * 1e9)
        + 4 * job.shape.layers * PER_GPU_LATENCY_S
        + expert_seconds(job)
    )


def expert_seconds(job: Job) -> float:
    """Return the seconds of a training step in which tokens travel to the GPUs of their experts
    within a node and back, forward and backward, all to all (Lepikhin et al. 2020, arXiv
    2006.16668), which nothing hides; a token goes to a GPU once."""
    shape = job.shape
    beside = min(job.count // job.nodes, shape.experts)
    if beside < 2 or not shape.experts_used:
        return 0.0
    copies = min(shape.experts_used, beside) * (beside - 1) / beside
    size = (
        4
        * shape.layers
        * job.batch
        * shape.tokens
        * copies
        * shape.hidden
        * (4.0 if job.precision in ("fp32", "tf32") else 2.0)
    )
    return (
        size / ((job.node_gbs or job.bus_gbs) * 1e9) + 4 * shape.layers * beside * PER_GPU_LATENCY_S
    )


def pipeline_bubble(job: Job) -> float:
    """Return by what a pipeline's filling and draining lengthens a step: (stages - 1 +
    micro-batches) / micro-batches (Huang et al. 2019, arXiv 1811.06965)."""
    return (job.pipeline - 1 + job.accumulate) / job.accumulate


def _crowding(job: Job) -> float:
    """Return by what an exchange over PCIe slows as more than two GPUs share the host. It was
    learned from rows that tell no more of their links than a word; what a machine's own rate
    already accounts for is not counted again. Staged through the host it was learned from small
    buckets; states spread over the GPUs travel in large ones at NCCL's rate (14.5 GB/s on eight RTX
    4090 at 128 MB, blog.chlc.cc)."""
    if job.lane not in ("pcie", "staged", "bridge"):
        return 1.0
    physics = speed_model().physics
    learned = (job.count / 2) ** (
        physics.crowd_staged if job.lane == "staged" and not job.zero else physics.crowd
    )
    return float(max(1.0, learned * job.bus_gbs / job.word_gbs) if job.word_gbs else learned)


def exchange_seconds(job: Job) -> float:
    """Return the seconds that one synchronous exchange takes if nothing hides it, over several
    computers no less than within one of them; gradients or weights that are spread over the GPUs
    are exchanged for every micro-batch."""
    physics, moved, started = (
        speed_model().physics,
        exchange_bytes(job),
        replicas(job) * PER_GPU_LATENCY_S,
    )
    taken = moved / (job.bus_gbs * 1e9) + started
    if job.nodes > 1:
        taken = max(taken * physics.exchange["network"], moved / (job.node_gbs * 1e9) + started)
    taken *= physics.exchange.get(job.lane, 1.0) * _crowding(job)
    return taken if job.zero >= 2 else taken / job.accumulate


def exposed_seconds(job: Job, step_s: float) -> float:
    """Return what of the exchange a step of `step_s` seconds does not hide: the last bucket,
    smoothly what outlasts the share of the step that overlaps, and the wait for the slowest GPU."""
    if replicas(job) == 1 or job.task not in ("train", "train_lora"):
        return 0.0
    physics, taken = speed_model().physics, exchange_seconds(job)
    soft = 0.2 * step_s
    left = (taken - physics.overlap * step_s) / soft
    waited = UNEVEN.get(job.shape.kind, JITTER) * slowest_of(replicas(job)) * step_s
    return (
        waited
        + physics.last_bucket * taken
        + soft * (left if left > 30 else math.log1p(math.exp(left)))
    )


@cache
def slowest_of(count: int) -> float:
    """Return by how many standard deviations the largest of `count` normal values is expected to
    exceed their mean (Blom 1958)."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
