"""How many users a server holds at once: by the key-value pool of an engine such as vLLM, or by the
slots of llama.cpp."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.memory.capacity.levers import largest_batch
from rigplanner.memory.engines import pool_gib
from rigplanner.memory.estimate import NCCL_GIB, estimate_memory
from rigplanner.memory.inference import infer
from rigplanner.memory.usable_memory import process_gib
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.quant import KV_BITS
from rigplanner.workload.stacks import MemoryStack, memory_stack

BLOCK_TOKENS = 16
"""vLLM gives out the cache in blocks of 16 tokens (Kwon et al. 2023, arXiv 2309.06180)."""
MOST_USERS = 10_000_000


class Users(Struct, frozen=True, kw_only=True):
    """Users at once with a full context of `tokens` each. `pool_gib`: cache of all GPUs of one
    replica, `per_user_gib` what one user takes of it, over all its GPUs; `replicas` of the network
    share the users. `basis`: pool (given out as needed), slots (kept from the start) or batch."""

    users: int
    tokens: int
    pool_gib: float
    per_user_gib: float
    replicas: int
    basis: str
    steps: tuple[Step, ...] = ()


def most_users(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> Users:
    """The most users at once, each with the prompt and output of the workload. Raises WorkloadFault
    for training and for networks without a cache that grows."""
    network = resolve(workload, zoo)
    job = read_job(workload, network, count, True)
    if job.task.startswith("train"):
        raise WorkloadFault("task: expected serve or inference to count users, found training.")
    tokens = (job.input_tokens or job.length) + job.output_tokens
    ways = job.tensor * job.pipeline
    replicas = max(1, count // ways)
    if job.task == "serve" and memory_stack(job.stack).pool:
        return _of_pool(network, job, gpu, tokens, replicas)
    one = per_user_bytes(network, job, tokens) / GIB
    users = largest_batch(workload, gpu, count, zoo)
    estimate = estimate_memory(
        msgspec.structs.replace(workload, batch_per_gpu=max(1, users)), gpu, count, zoo
    )
    basis = "slots" if memory_stack(job.stack).slug == "llama.cpp" else "batch"
    step = Step(
        "users",
        "largest batch whose cache and working memory fit",
        {"tokens": tokens, "stack": job.stack},
        users,
        "",
        basis,
    )
    return Users(
        users=users * replicas,
        tokens=tokens,
        pool_gib=estimate.parts.kv_cache_gib * ways,
        per_user_gib=one,
        replicas=replicas,
        basis=basis,
        steps=(step,),
    )


def per_user_bytes(network: Network, job: Job, tokens: int) -> float:
    """Bytes of cache of one user over all GPUs of a replica: key heads fewer than tensor ranks are
    kept on several."""
    copies = (
        max(1.0, job.tensor / network.kv_heads)
        if network.kv_heads and not network.latent_values
        else float(job.tensor)
    )
    return (
        network.kv_values(tokens)
        * KV_BITS[job.kv_precision]
        / 8
        * (copies if job.tensor > 1 else 1.0)
    )


def _of_pool(network: Network, job: Job, gpu: GPU, tokens: int, replicas: int) -> Users:
    found = process_gib(gpu)
    if not found:
        raise WorkloadFault(f"hardware.gpu: the memory of {gpu.name} is not known.")
    stack, blocks = memory_stack(job.stack), -(-tokens // BLOCK_TOKENS)
    weights, peak, beside = _held_gib(network, job, stack, gpu)
    ways = job.tensor * job.pipeline
    pool = pool_gib(found, job.utilization, stack.pool, weights, peak, beside) * ways
    one = per_user_bytes(network, job, blocks * BLOCK_TOKENS) / GIB
    users = int(pool / one) if one > 0 else (MOST_USERS if pool > 0 else 0)
    inputs: dict[str, float | str | None] = {
        "utilization": job.utilization,
        "card_gib": found,
        "weights_gib": weights,
        "peak_gib": peak,
        "beside_gib": beside,
    }
    each: dict[str, float | str | None] = {"tokens": tokens, "block": BLOCK_TOKENS}
    steps = (
        Step("pool", POOLS[stack.pool], inputs, pool, "GiB", stack.slug),
        Step("per_user", "cache of the context in whole blocks", each, one, "GiB", stack.slug),
        Step(
            "users",
            "pool / per user x replicas",
            {"replicas": replicas},
            min(users, MOST_USERS) * replicas,
            "",
            stack.slug,
        ),
    )
    return Users(
        users=min(users, MOST_USERS) * replicas,
        tokens=tokens,
        pool_gib=pool,
        per_user_gib=one,
        replicas=replicas,
        basis="pool",
        steps=steps,
    )


POOLS = {
    "peak": "(utilization x card - weights - peak - libraries) x GPUs of a replica",
    "static": "(utilization x card - weights) x GPUs of a replica",
    "free": "utilization x (card - weights - peak - libraries) x GPUs of a replica",
}


def _held_gib(
    network: Network, job: Job, stack: MemoryStack, gpu: GPU
) -> tuple[float, float, float]:
    """What an engine holds beside its pool on one GPU: weights, the peak of its dummy run,
    libraries with NCCL."""
    alone = infer(network, msgspec.structs.replace(job, batch=1), stack, gpu)
    fixed = stack.spare("serve").fixed_gib + (NCCL_GIB if job.tensor * job.pipeline > 1 else 0.0)
    return alone.weights / GIB, alone.activations / GIB, alone.buffers / GIB + fixed
