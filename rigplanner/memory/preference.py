"""Memory of training by preferences and rewards: copies of the network that are only asked, the
critic, logits of the answers, and the engine that writes them."""

from __future__ import annotations

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Step
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.inference import infer, pool
from rigplanner.memory.trained_states import shards_of
from rigplanner.memory.training import LOGIT_BYTES, Demand
from rigplanner.memory.training_trace import FUSED_LOSS, NARROW_LOSS
from rigplanner.memory.usable_memory import process_gib
from rigplanner.rig.workload import Parallelism
from rigplanner.units import GIB
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.network import Network
from rigplanner.workload.preference import Preference
from rigplanner.workload.stacks import MemoryStack, memory_stack

LANGUAGE = ("llm", "moe", "vlm")
ANSWER_LOGIT_BYTES = 18.0
"""Bytes of one logit of an answer at the peak: in the model's type, in float, divided by the
temperature, its logarithm and its gradient (trl/trainer/grpo_trainer.py: _get_per_token_logps,
under autocast). Of 310 MB of logits the pass that only asks holds 858 MB in bf16 without it (trl
issue 3678)."""
WIDER = 1.5
"""How much wider the interval is than that of a training on texts: three published cards judge it
(trl issue 3456: Qwen3 0.6B 48.1 GiB; ms-swift issue 3848: Qwen2.5 3B with adapters about 12 GB;
simple_GRPO issue 21: Qwen2.5 7B 90 GB)."""
ROOM_FOR_WEIGHTS = 0.9
"""Of an engine's share, what its weights may take before they are split over more cards."""


def check_network(network: Network, split: Preference) -> None:
    """Raise WorkloadFault for a network that writes nothing, or whose layers are not known."""
    if network.kind not in LANGUAGE or network.config is None:
        raise WorkloadFault(
            f"task: {split.task} trains language models of known layers, found {network.slug} of"
            f" kind {network.kind}."
        )


def with_copies(
    demand: Demand, network: Network, job: Job, stack: MemoryStack, split: Preference
) -> Demand:
    """Return the demand of the policy's step with what stands beside it, sharded alike; logits are
    made of the answers alone where they are written and of all tokens in DPO."""
    ways = job.tensor * job.pipeline * shards_of(job, 3)
    waits = job.offload in ("all", "nvme")
    copies = 0.0 if waits else split.frozen * 2.0 * network.params / ways
    twice = 2.0 if split.critic else 1.0
    plain = stack.loss == "plain" and not job.flags & {*FUSED_LOSS, *NARROW_LOSS}
    per_token = float(job.batch) / job.context * network.vocab / job.tensor if plain else 0.0
    tokens = split.answer if split.sequences == 1 else job.length
    logits = per_token * (ANSWER_LOGIT_BYTES * tokens - LOGIT_BYTES * job.length)
    return msgspec.structs.replace(
        demand,
        weights=twice * demand.weights + copies,
        gradients=twice * demand.gradients,
        optimizer=twice * demand.optimizer,
        activations=max(0.1 * demand.activations, demand.activations + logits),
    )


def engine_gib(network: Network, split: Preference, card: GPU | None) -> tuple[float, float]:
    """GiB that the engine takes of each of its cards: its whole share, and the least that it runs
    with (weights, one step, one answer's cache). Weights too large for a card are split."""
    if split.rollout is None:
        return 0.0, 0.0
    found = process_gib(card) if card else None
    if split.own:
        return _cache_gib(network, split, card), 0.0
    room = ROOM_FOR_WEIGHTS * (split.rollout.memory_utilization or 1.0) * found if found else None
    ways = 1
    while room and 2.0 * network.params / ways / GIB > room and ways * 2 <= split.writers:
        ways *= 2
    rollout = msgspec.structs.replace(split.rollout, parallelism=Parallelism(tensor=ways))
    job = read_job(rollout, network, ways, card is not None)
    stack = memory_stack(job.stack)
    demand = infer(network, job, stack, card)
    least = demand.tensors / GIB + stack.spare("serve").fixed_gib
    if card is None or found is None:
        return least, least
    return max(least, pool(network, job, stack, card)[1]), least


def _cache_gib(network: Network, split: Preference, card: GPU | None) -> float:
    """GiB of the cache while the trainer's own network writes the answers of one batch."""
    assert split.rollout is not None
    asked = msgspec.structs.replace(
        split.rollout, task="inference", batch_per_gpu=split.training.batch_per_gpu
    )
    job = read_job(asked, network, 1, card is not None)
    demand = infer(network, job, memory_stack(job.stack), card)
    return (demand.tensors - demand.weights) / GIB


def beside_engine(
    told: MemoryEstimate, split: Preference, held_gib: tuple[float, float]
) -> MemoryEstimate:
    """Return the trainer's estimate with the engine beside it: on the same card, in turn with the
    step where it sleeps, or on cards of its own, of which the fuller kind is told."""
    whole, least = held_gib
    low = max(0.0, told.device_gib - WIDER * (told.device_gib - told.low_gib))
    high = told.device_gib + WIDER * (told.high_gib - told.device_gib)
    parts = told.parts
    states = parts.weights_gib + parts.gradients_gib + parts.optimizer_gib + parts.context_gib
    more, least_more = 0.0, 0.0
    if split.colocated and split.sleeps:
        more = max(0.0, states + whole - told.device_gib)
        least_more = max(0.0, states + least - low)
    elif split.colocated:
        more = least_more = whole
    elif split.rollout is not None:
        more = least_more = max(0.0, least + parts.context_gib - told.device_gib)
    detail = {**told.detail_gib, "rollout": whole} if split.rollout is not None else told.detail_gib
    cards: dict[str, float | str | None] = {
        "trainers": split.trainers,
        "writers": split.writers,
        "colocated": str(split.colocated).casefold(),
        "frozen_copies": split.frozen,
        "critics": int(split.critic),
    }
    step = Step(
        "rollout",
        "the engine's share of its card; beside the trainer, in turn with it, or on its own cards",
        cards,
        whole,
        "GiB",
        "trl/trainer/grpo_config.py; vLLM's reservation",
    )
    return msgspec.structs.replace(
        told,
        parts=msgspec.structs.replace(parts, kv_cache_gib=parts.kv_cache_gib + more),
        tensors_gib=told.tensors_gib + more,
        allocated_gib=told.allocated_gib + more,
        reserved_gib=told.reserved_gib + more,
        device_gib=told.device_gib + more,
        low_gib=low + least_more,
        high_gib=high + more,
        detail_gib=detail,
        evidence="never measured",
        assumed={**told.assumed, **split.assumed},
        steps=(*told.steps, step) if told.steps else (),
    )
