"""Memory on cards that differ: what each holds, which one overflows, how llama.cpp splits layers
over them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate, fits_within
from rigplanner.memory.capacity.levers import room_gib
from rigplanner.memory.estimate import answered, estimate_memory
from rigplanner.memory.inference import infer
from rigplanner.memory.mig import partition_of
from rigplanner.memory.training import Demand
from rigplanner.memory.usable_memory import visible_gib
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import dense_layers
from rigplanner.workload.job import Job, read_job
from rigplanner.workload.limits import SHARED_LAYERS, split_of
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.stacks import memory_stack


class CardNeed(Struct, frozen=True, kw_only=True):
    """One card of a job: its room in GiB, the share of the layers it holds, what it needs. `fits`
    yes, no, or None where the interval holds the room; `over_gib` how far the expected need is
    beyond it."""

    gpu: str
    room_gib: float
    share: float
    need: MemoryEstimate
    fits: bool | None
    over_gib: float


class CardPlan(Struct, frozen=True, kw_only=True):
    """A job over its cards. `split`: equal, ratio (`tensor_split`) or free (by free memory).
    `overflows`: cards that surely do not hold their part, by index; `tight` those that may not."""

    cards: tuple[CardNeed, ...]
    split: str
    need_gib: float
    room_gib: float
    overflows: tuple[int, ...]
    tight: tuple[int, ...]

    @property
    def fullest(self) -> CardNeed:
        """The card that lacks most, or has least left."""
        return max(self.cards, key=lambda card: card.need.device_gib - card.room_gib)


def card_plan(
    workload: Workload, gpus: Sequence[GPU], zoo: Zoo, free_gib: Sequence[float] | None = None
) -> CardPlan:
    """What each of the cards of one job needs. `free_gib`: memory free on each, where something
    else runs (a display). Raises WorkloadFault for a job that cannot be, cards of unknown memory,
    and lists that do not match."""
    if not gpus:
        raise WorkloadFault("hardware.gpus: expected at least one GPU, found none.")
    if free_gib is not None and len(free_gib) != len(gpus):
        raise WorkloadFault(
            f"hardware.free_gib: expected {len(gpus)} values, one for each GPU, found"
            f" {len(free_gib)}."
        )
    seen = [partition_of(workload, gpu) for gpu in gpus]
    rooms = [
        room_gib(gpu) if free_gib is None else min(free, visible_gib(gpu) or free)
        for gpu, free in zip(seen, free_gib or [0.0] * len(seen), strict=True)
    ]
    network = resolve(workload, zoo)
    job = read_job(workload, network, len(gpus), True)
    if deals_layers(workload, job.stack) and len(gpus) > 1:
        split = "free" if workload.tensor_split is None else "ratio"
        shares, needs = _by_layers(workload, network, job, rooms)
    else:
        split, shares = "equal", [1 / len(gpus)] * len(gpus)
        needs = [estimate_memory(workload, gpu, len(gpus), zoo) for gpu in gpus]
    cards = tuple(
        CardNeed(
            gpu=gpu.name,
            room_gib=room,
            share=share,
            need=need,
            fits=fits_within(need, room),
            over_gib=max(0.0, need.device_gib - room),
        )
        for gpu, room, share, need in zip(seen, rooms, shares, needs, strict=True)
    )
    return CardPlan(
        cards=cards,
        split=split,
        need_gib=sum(card.need.device_gib for card in cards),
        room_gib=sum(rooms),
        overflows=tuple(at for at, card in enumerate(cards) if card.fits is False),
        tight=tuple(at for at, card in enumerate(cards) if card.fits is None),
    )


def deals_layers(workload: Workload, stack: str) -> bool:
    """Whether the stack deals out whole layers by itself, as llama.cpp and the programs around it
    (ollama, LM Studio) do unless the job names its degrees."""
    ways = workload.parallelism
    if split_of(workload) in SHARED_LAYERS:
        return False
    return memory_stack(stack).slug == "llama.cpp" and (
        ways is None or ways.tensor * ways.pipeline == 1
    )


def _by_layers(
    workload: Workload, network: Network, job: Job, rooms: list[float]
) -> tuple[list[float], list[MemoryEstimate]]:
    """llama.cpp's layer split: each card its layers with their weights and cache, one of them the
    output layer, all of them a compute buffer and a context."""
    ratios = list(workload.tensor_split or rooms)
    if len(ratios) != len(rooms):
        raise WorkloadFault(
            f"tensor_split: expected {len(rooms)} shares, one for each GPU, found {len(ratios)}."
        )
    stack = memory_stack(job.stack)
    whole = infer(network, replace(job, tensor=1, pipeline=1), stack)
    counts, output = layers_of(network.layers, job.gpu_layers, ratios)
    held = sum(counts)
    head = (
        whole.weights * network.vocab * network.hidden / max(1.0, network.params)
        if output is not None
        else 0.0
    )
    shares, needs = [], []
    known: dict[tuple[int, float, bool], MemoryEstimate] = {}  # equal cards ask the same
    weighed = _weights_dealt(network, job, whole.weights - head, counts)
    for at, layers in enumerate(counts):
        share = layers / held if held else 0.0
        shares.append(share)
        kind = layers, weighed[at], at == output
        if kind in known:
            needs.append(known[kind])
            continue
        demand = Demand(
            weights=weighed[at] + (head if at == output else 0.0),
            gradients=0.0,
            optimizer=0.0,
            activations=whole.activations if layers or at == output else 0.0,
            kv_cache=whole.kv_cache * share,
            host=whole.host,
        )
        known[kind] = answered(network, job, stack, demand, None, 1)
        needs.append(known[kind])
    return shares, needs


def _weights_dealt(
    network: Network, job: Job, weights: float, counts: Sequence[int]
) -> list[float]:
    """Bytes of the layers' weights on each card: the first layers are lighter where their experts
    stay in RAM."""
    held, experts = sum(counts), max(0.0, 1 - job.placement.experts)
    if not held:
        return [0.0] * len(counts)
    whole = network.expert_params / max(1.0, network.params)
    of_experts = weights * experts * whole / max(1e-9, experts * whole + (1 - whole))
    light = min(held, round(job.placement.expert_layers) + dense_layers(network))
    if not network.experts or not job.placement.expert_layers or light >= held:
        return [weights * count / held for count in counts]
    found, done = [], 0
    for count in counts:
        heavy = max(0, done + count - max(light, done))
        found.append((weights - of_experts) * count / held + of_experts * heavy / (held - light))
        done += count
    return found


def layers_of(
    layers: int, on_gpus: int | None, ratios: Sequence[float]
) -> tuple[list[int], int | None]:
    """How many layers each card holds, and which card the output layer, as llama.cpp deals them:
    the last `on_gpus` layers, the output layer as one more, by the sums of the ratios
    (llama-model.cpp, load_tensors)."""
    total = sum(ratios)
    if not total:
        raise WorkloadFault("tensor_split: expected shares above 0, found none.")
    ends = [part / total for part in accumulate(ratios)]
    dealt = min(layers + 1, layers + 1 if on_gpus is None else on_gpus)
    first = max(layers + 1 - dealt, 0)
    if not dealt:
        return [0] * len(ratios), None
    at = [
        min(bisect_right(ends, (layer - first) / dealt), len(ends) - 1)
        for layer in range(first, layers + 1)
    ]
    counts = Counter(at[:-1])
    return [counts[card] for card in range(len(ratios))], at[-1]
