"""Several GPUs: what the exchange of gradients or activations adds to a step."""

import math
from functools import cache
from statistics import NormalDist

from rigplanner.performance.constants import speed_model
from rigplanner.performance.job import Job
from rigplanner.performance.measured import year_of
from rigplanner.performance.roofline import dense_params
from rigplanner.performance.silicon import weight_bits

GRADIENTS = {"fp32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0}
COPYING = "classic"
"""Family of stacks that drive all GPUs of a computer from one process and add gradients up by
copies from one to another (TensorFlow's, MXNet's and Caffe's before NCCL); the others pass them on
in rings of processes."""
COPIED_GBS = 6.7
"""Rate at which one process copies from card to card through the host's memory, there and back one
after the other, whatever the link: two RTX 3080, 3090 and 4090 (PCIe 4) as two RTX 2080 Ti (PCIe 3)
exchange VGG-16's gradients at 4 to 6 GB/s (tf_cnn_benchmarks; lambdal/lambda-tensorflow-benchmark,
server-gear.com)."""
HOROVOD, SERVED = "horovod", "parameter-server"
"""Words of a variant's `exchange`: gradients that a thread of Horovod gathers, and variables that
the host holds and adds up (tf_cnn_benchmarks' parameter_server on the CPU)."""
CYCLE_S, LONG_CYCLE_S, SHORTER_SINCE = 1e-3, 5e-3, 2021.0
"""What Horovod waits between looks for tensors that are ready: 5 ms until release 0.21 of December
2020, 1 ms since (horovod/horovod, release notes, pull request 2468)."""
HOOK_S = 2.2e-5
"""Host time of a tensor that Horovod announces and waits for: ResNet-50 on two nodes of four A100
loses 5 ms a step against DistributedDataParallel under PyTorch 1.11 (mvsjober/ml-benchmarks)."""
FUSED_COPIES = 4
"""Passes over the gradients into the buffer in which Horovod joins them and out of it."""
ADDED_GBS, ADDED_PASSES = 25.0, 3
"""Rate of the host's memory at which it adds up gradients, and the passes of each (estimate): eight
P100 keep 99 % of ResNet-50 at a batch of 64 and 95 at 32 (TensorFlow's benchmarks of 2017)."""
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


def gradient_bytes(job: Job) -> float:
    """Return the bytes of a gradient as it travels: as the workload says (compressed to half
    precision by hooks of DDP or by Horovod), else 4 where training is wide, 2 in half precision."""
    told = GRADIENTS.get(str(job.variant.get("gradients", "")).casefold())
    return told or (4.0 if job.precision in ("fp32", "tf32") else 2.0)


def exchange_bytes(job: Job) -> float:
    """Return the bytes that one exchange of gradients moves per GPU: 2 (n - 1) / n of them in a
    ring, half as much again where weights are gathered too. Frozen weights below adapters are
    gathered for both passes as they are stored (FSDP gathers the packed 4 bits: Answer.AI,
    fsdp_qlora) and have no gradients; the adapters' are a hundredth."""
    n, wide = replicas(job), gradient_bytes(job)
    values = dense_params(job) / (job.tensor * job.pipeline)
    if job.task != "train_lora":
        size = values * wide * (1.5 if job.zero == 3 else 1.0)
    elif job.zero == 3:
        size = values * weight_bits(job.precision) / 8
    else:
        size = values * wide * ADAPTER_SHARE
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
    """Return the seconds of a step in which tensor-parallel GPUs add up activations: two
    all-reduces per layer of tokens x hidden values in each pass and as many in each backward pass
    (Shoeybi et al. 2019, arXiv 1909.08053), which nothing hides; and in which experts get theirs.
    A picture is drawn in many passes."""
    if job.tensor == 1 or not job.shape.layers:
        return expert_seconds(job)
    tokens = job.batch * job.tensor * job.shape.tokens
    sums = job.shape.layers * (2 * _passes(job) if job.task == "inference" else 4)
    size = sums * tokens * job.shape.hidden * (4.0 if job.precision in ("fp32", "tf32") else 2.0)
    return (
        2 * (job.tensor - 1) / job.tensor * size / (job.bus_gbs * 1e9)
        + sums * PER_GPU_LATENCY_S
        + expert_seconds(job)
    )


def _passes(job: Job) -> float:
    """Forward passes of a sample, by its arithmetic over that of one pass of its tokens."""
    once = 2 * job.shape.active_m * job.shape.tokens / 1e3
    return max(1.0, job.shape.gflop / once) if once else 1.0


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
    micro-batches) / micro-batches (Huang et al. 2019, arXiv 1811.06965), where each stage holds
    several `chunks` of layers in turn so many times less of it (Narayanan et al. 2021, arXiv
    2104.04473, section 2.2.2)."""
    return 1 + (job.pipeline - 1) / (job.chunks * job.accumulate)


def rings(job: Job) -> bool:
    """Return whether processes pass gradients on in rings, so that each GPU writes to the host's
    memory and reads from it over its own link at once (NCCL's transport over shared memory)."""
    return job.named.family != COPYING


def _crowding(job: Job) -> float:
    """Return by what an exchange over PCIe slows as more than two GPUs share the host. It was
    learned from rows that tell no more of their links than a word; what a machine's own rate
    already accounts for is not counted again. Copies that are staged through the host follow one
    another, so their time grows with the bytes of all; a ring's does not: eight V100 that were
    denied peer access exchange BERT's gradients at the rate of two (lambdal/deeplearning-benchmark,
    LambdaCloud_2x, 4x and 8xV100_16GB_v1)."""
    if job.lane not in ("pcie", "staged", "bridge") or _lane(job) == "ring":
        return 1.0
    physics = speed_model().physics
    learned = (
        max(1.0, job.sharing / 2) ** physics.crowd_staged
        if job.lane == "staged" and not job.zero
        else (job.count / 2) ** physics.crowd
    )
    if not job.word_gbs:
        return float(learned)
    return float(max(1.0, learned * _rate(job, job.bus_gbs) / _rate(job, job.word_gbs)))


def _rate(job: Job, bus_gbs: float) -> float:
    """What an exchange makes of the bus bandwidth of its links, in GB/s."""
    copied = job.lane == "staged" and not rings(job)
    return min(bus_gbs, COPIED_GBS) if copied else bus_gbs


def _lane(job: Job) -> str:
    """The class of link under which an exchange's time was learned."""
    return "ring" if job.lane == "staged" and rings(job) else job.lane


def exchange_seconds(job: Job) -> float:
    """Return the seconds that one synchronous exchange takes if nothing hides it, over several
    computers no less than within one of them; gradients or weights that are spread over the GPUs
    are exchanged for every micro-batch."""
    physics, moved, started = (
        speed_model().physics,
        exchange_bytes(job),
        replicas(job) * PER_GPU_LATENCY_S,
    )
    taken = moved / (_rate(job, job.bus_gbs) * 1e9) + started
    if job.nodes > 1:
        taken = max(taken * physics.exchange["network"], moved / (job.node_gbs * 1e9) + started)
    taken *= physics.exchange.get(_lane(job), 1.0) * _crowding(job)
    return taken if job.zero >= 2 else taken / job.accumulate


def exposed_seconds(job: Job, step_s: float) -> float:
    """Return what of the exchange a step of `step_s` seconds does not hide: the last bucket,
    smoothly what outlasts the share of the step that overlaps, and the wait for the slowest GPU."""
    if replicas(job) == 1 or job.task not in ("train", "train_lora"):
        return 0.0
    by = job.variant.get("exchange")
    if by == "none":
        return 0.0
    waited = UNEVEN.get(job.shape.kind, JITTER) * slowest_of(replicas(job)) * step_s
    if by == SERVED:
        return waited + _outlasting(served_seconds(job), step_s, 0.2 * step_s)
    physics, taken = speed_model().physics, exchange_seconds(job)
    return (
        waited
        + physics.last_bucket * taken
        + _outlasting(taken, physics.overlap * step_s, 0.2 * step_s)
        + (gathering_seconds(job) if by == HOROVOD else 0.0)
    )


def _outlasting(taken: float, hidden: float, soft: float) -> float:
    """Smoothly what is longer than what hides it."""
    left = (taken - hidden) / soft
    return soft * (left if left > 30 else math.log1p(math.exp(left)))


def served_seconds(job: Job) -> float:
    """Return the seconds in which a host gets the gradients of all its GPUs, adds them up and sends
    variables back; each GPU has its own way, forward and backward pass hide both."""
    size = dense_params(job) * gradient_bytes(job)
    beside = max(1, job.count // job.nodes)
    sent = 2 * size / (_rate(job, job.word_gbs or job.bus_gbs) * 1e9)
    return sent + beside * ADDED_PASSES * size / (ADDED_GBS * 1e9)


def gathering_seconds(job: Job) -> float:
    """Return what Horovod adds to a step: the wait for its thread, copies into the buffer in which
    tensors are joined and out of it, and the announcements of each tensor."""
    year = year_of(job.stack.slug, job.release)
    size = dense_params(job) * gradient_bytes(job)
    copied = FUSED_COPIES * size / (job.silicon.bandwidth_gbs * 1e9)
    cycle = CYCLE_S if year >= SHORTER_SINCE else LONG_CYCLE_S
    return (cycle + copied + HOOK_S * job.host_pace * job.shape.kernels) / job.accumulate


@cache
def slowest_of(count: int) -> float:
    """Return by how many standard deviations the largest of `count` normal values is expected to
    exceed their mean (Blom 1958)."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
