"""What of a work decides which cards come into question, and how it may lie on them."""

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.silicon import weight_bits
from rigplanner.planning.presets import WRITING_KINDS
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.network import Network, resolve

HOSTED_STACKS = ("llama.cpp", "ollama", "lm-studio", "koboldcpp", "ktransformers", "ik_llama.cpp")
"""Engines that keep in RAM what the cards do not hold; the first where none is named."""


def trains(work: Workload) -> bool:
    """Return whether a work trains."""
    return (work.task or "").startswith("train")


def asks_for_card(work: Workload) -> bool:
    """Return whether a work asks for a GPU: all do but language models that write with an engine
    that keeps layers in RAM, or for one person with none named."""
    if work.stack:
        return trains(work) or work.stack.casefold() not in HOSTED_STACKS
    return work.task not in (None, "inference") or not writes(work)


def from_ram(work: Workload) -> Workload:
    """Return a work with the engine that keeps layers in RAM, where none is named and it may."""
    free = not work.stack and work.parallelism is None
    return replace(work, stack=HOSTED_STACKS[0]) if free and not asks_for_card(work) else work


def overflows(work: Workload, gpu: GPU, count: int) -> bool:
    """Return whether the weights alone of a work that may lie in RAM are more than so many cards
    hold."""
    network = None if from_ram(work) is work else _writer(work)
    if network is None or gpu.memory_gib is None:
        return False
    weights = network.params * weight_bits(work.precision or "") / 8
    return weights > count * gpu.dies * gpu.memory_gib * GIB


def writes(work: Workload) -> bool:
    """Return whether a work's network is a language model that writes."""
    return _writer(work) is not None


def _writer(work: Workload) -> Network | None:
    """The network of a work, where that is a language model that writes."""
    try:
        network = resolve(work, shipped_zoo())
    except WorkloadFault:
        return None
    return network if network.kind in WRITING_KINDS else None
