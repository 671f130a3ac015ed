"""How llama.cpp and its kin place a model that the cards do not hold, where their user says
nothing: whole layers, or for networks of experts whole layers but their experts (common/fit.cpp,
on by default)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import msgspec
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.machine.cache import IdentityCache
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.mixed_gpus import card_plan
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import unified, usable_gib, visible_gib
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import stated_placement
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.releases import by_llama_server

FITS_BY_ITSELF = ("llama.cpp", "ollama", "lm-studio", "koboldcpp")
"""Engines that leave in RAM what their cards do not hold."""
BY_LAYERS = ("ollama", "lm-studio", "koboldcpp")
"""Of these, those that leave whole layers, experts or not (ollama issue 11688; not where a release
is named that runs llama.cpp's server)."""
MARGIN_GIB = 1.0
"""GiB of each card that the fit leaves free where something has to leave (--fit-target 1024). What
the cards hold whole stays whole, without it: of six jobs that fill a card to less than that, all
ran so (Llama 3 8B in f16 on a 4080, 40 tokens/s where 21 were told with one layer in RAM,
XiongjieDai/GPU-Benchmarks-on-LLM-Inference; Qwen3 14B at 16k on five cards of 12 GB, 1.6 to 2 times
as fast, topclanker.com), as llama-bench and -ngl 99 ask for."""


def fitted(workload: Workload, gpus: Sequence[GPU], zoo: Zoo) -> Workload:
    """Return the workload with the layers or experts that its engine leaves in RAM; itself where
    the cards hold it, its user says what stays, or the engine does not fit by itself. Raises
    WorkloadFault for what cannot be estimated."""
    stack = (workload.stack or "").casefold()
    if stack not in FITS_BY_ITSELF or not gpus or any(unified(gpu) for gpu in gpus):
        return workload
    sizes = tuple((visible_gib(gpu), usable_gib(gpu)) for gpu in gpus)
    key = (id(zoo), msgspec.msgpack.encode(workload), sizes)
    found = _fits.get(key, zoo, lambda: _fitted(workload, gpus, zoo, stack))
    return workload if found == workload else found


_fits: IdentityCache[Workload] = IdentityCache(64)


def _fitted(workload: Workload, gpus: Sequence[GPU], zoo: Zoo, stack: str) -> Workload:
    network = resolve(workload, zoo)
    if stated_placement(workload, network, stack).told or not network.layers:
        return workload
    room = room_of(gpus)
    if room is None or held_gib(workload, gpus, zoo) <= room + len(gpus) * MARGIN_GIB:
        return workload
    by_layers = stack in BY_LAYERS and not by_llama_server(workload)
    return placed(workload, gpus, zoo, network, by_layers)


def within_room(need: MemoryEstimate, gpu: GPU | None) -> MemoryEstimate:
    """Return what a job takes of a card that its engine fits itself: it looks at what is free, so
    that no doubt of the estimate reaches above the card's room."""
    room = usable_gib(gpu) if gpu is not None else None
    if room is None or not need.device_gib <= room < need.high_gib:
        return need
    return replace(need, high_gib=room)


def room_of(gpus: Sequence[GPU]) -> float | None:
    """Return the GiB of all cards that a fit fills; None where the memory of one is not known."""
    rooms = [usable_gib(gpu) for gpu in gpus]
    if any(room is None for room in rooms):
        return None
    return sum(max(0.0, (room or 0.0) - MARGIN_GIB) for room in rooms)


def held_gib(workload: Workload, gpus: Sequence[GPU], zoo: Zoo) -> float:
    """Return the GiB that a job takes of all its cards together, split by layers."""
    alone = replace(workload, parallelism=None, tensor_split=None)
    need = estimate_memory(alone, gpus[0], 1, zoo, explained=False)
    beside = need.parts.activations_gib + need.parts.context_gib
    return need.device_gib + (len(gpus) - 1) * beside


def placed(
    workload: Workload, gpus: Sequence[GPU], zoo: Zoo, network: Network, by_layers: bool
) -> Workload:
    """Return the workload with as much on the cards as they hold, each by itself: experts leave
    first, layers where that is not enough or the engine knows layers only. Several cards share the
    bytes by their room, layers whose experts are in RAM counting less (`tensor_split`)."""

    def holds(work: Workload) -> bool:
        return _holds(work, gpus, zoo)

    layers = network.layers
    if network.experts and not by_layers:
        with_experts = _dealer(workload, gpus, zoo, layers)
        if holds(with_experts(layers)):
            return with_experts(_first(0, layers, lambda n: holds(with_experts(n))))
        workload = replace(workload, n_cpu_moe=layers)
    away = _first(0, layers + 1, lambda n: holds(replace(workload, gpu_layers=layers + 1 - n)))
    return replace(workload, gpu_layers=layers + 1 - away)


def _holds(work: Workload, gpus: Sequence[GPU], zoo: Zoo) -> bool:
    if len(gpus) == 1:
        return held_gib(work, gpus, zoo) <= (room_of(gpus) or 0.0)
    cards = card_plan(work, gpus, zoo).cards
    return all(card.need.device_gib <= card.room_gib - MARGIN_GIB for card in cards)


def _dealer(
    workload: Workload, gpus: Sequence[GPU], zoo: Zoo, layers: int
) -> Callable[[int], Workload]:
    """Return how a job lies on its cards with the experts of the first n layers in RAM."""

    def plain(n: int) -> Workload:
        return replace(workload, n_cpu_moe=n)

    if len(gpus) == 1 or workload.tensor_split:
        return plain
    rooms = [max(0.0, (usable_gib(gpu) or 0.0) - MARGIN_GIB) for gpu in gpus]
    without = held_gib(plain(layers), gpus, zoo)
    experts = (held_gib(plain(0), gpus, zoo) - without) / layers
    beside = estimate_memory(plain(layers), gpus[0], 1, zoo, explained=False).parts
    rest = without - len(gpus) * (beside.activations_gib + beside.context_gib)

    def dealt(n: int) -> Workload:
        sizes = [max(0.0, rest) / layers + (experts if at >= n else 0.0) for at in range(layers)]
        return replace(plain(n), tensor_split=_shares(sizes, rooms))

    return dealt


def _shares(sizes: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """How many layers, the output as one more, each card takes in order so that the bytes of all
    are shared as their rooms are."""
    ends = [part * sum(sizes) / (sum(rooms) or 1.0) for part in accumulate(rooms)]
    counts, done, card = [0.0] * len(rooms), 0.0, 0
    for size in sizes:
        while card < len(rooms) - 1 and done + size / 2 > ends[card]:
            card += 1
        counts[card] += 1
        done += size
    counts[-1] += 1
    return counts


def _first(low: int, high: int, good: Callable[[int], bool]) -> int:
    """The least number from low to high that is good, where all above it are; high where none."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low
