"""How llama.cpp and its kin place a model that the cards do not hold, where their user says
nothing: whole layers, or for networks of experts whole layers but their experts (common/fit.cpp,
on by default)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import unified, usable_gib
from rigplanner.rig.workload import Workload
from rigplanner.workload.host_placement import told_placement
from rigplanner.workload.network import Network, resolve
from rigplanner.workload.releases import by_llama_server

FITS_BY_ITSELF = ("llama.cpp", "ollama", "lm-studio", "koboldcpp")
"""Engines that leave in RAM what their cards do not hold."""
BY_LAYERS = ("ollama", "lm-studio", "koboldcpp")
"""Of these, those that leave whole layers, experts or not (ollama issue 11688; not where a release
is named that runs llama.cpp's server)."""
MARGIN_GIB = 1.0
"""GiB of each card that the fit leaves free (--fit-target 1024)."""


def fitted(workload: Workload, gpus: Sequence[GPU], zoo: Zoo) -> Workload:
    """Return the workload with the layers or experts that its engine leaves in RAM; itself where
    the cards hold it, its user says what stays, or the engine does not fit by itself. Raises
    WorkloadFault for what cannot be estimated."""
    stack = (workload.stack or "").casefold()
    if stack not in FITS_BY_ITSELF or not gpus or any(unified(gpu) for gpu in gpus):
        return workload
    network = resolve(workload, zoo)
    if told_placement(workload, network, stack).told or not network.layers:
        return workload
    room = room_of(gpus)
    if room is None or held_gib(workload, gpus, zoo) <= room:
        return workload
    by_layers = stack in BY_LAYERS and not by_llama_server(workload.framework_text)
    return placed(workload, gpus, zoo, network, by_layers)


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
    """Return the workload with as much on the cards as they hold: experts leave first, layers where
    that is not enough or the engine knows layers only."""
    room = room_of(gpus) or 0.0

    def holds(work: Workload) -> bool:
        return held_gib(work, gpus, zoo) <= room

    layers = network.layers
    if network.experts and not by_layers:
        if holds(replace(workload, n_cpu_moe=layers)):
            fewest = _first(0, layers, lambda n: holds(replace(workload, n_cpu_moe=n)))
            return replace(workload, n_cpu_moe=fewest)
        workload = replace(workload, n_cpu_moe=layers)
    away = _first(0, layers + 1, lambda n: holds(replace(workload, gpu_layers=layers + 1 - n)))
    return replace(workload, gpu_layers=layers + 1 - away)


def _first(low: int, high: int, good: Callable[[int], bool]) -> int:
    """The least number from low to high that is good, where all above it are; high where none."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low
