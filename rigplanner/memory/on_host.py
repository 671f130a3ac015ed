"""Memory of a job on a computer without a GPU: all of it lies in RAM."""

from __future__ import annotations

from msgspec.structs import replace

from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate, MemoryParts
from rigplanner.memory.estimate import estimate_memory
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.stored import formatted

CPU_STACKS = ("llama.cpp", "ollama", "lm-studio", "koboldcpp", "ik_llama.cpp")
"""Engines that run whole models on a CPU."""
LANGUAGE = ("llm", "moe", "vlm")


def writes_text(workload: Workload, zoo: Zoo) -> bool:
    """Whether a job is a language model that writes, as engines on CPUs run it."""
    if workload.task not in (None, "inference", "decode", "prefill", "serve"):
        return False
    network = resolve(formatted(workload, zoo).workload, zoo)
    return network.kind in LANGUAGE and bool(network.layers)


def as_on_cpu(workload: Workload, zoo: Zoo) -> Workload:
    """Return the text that a CPU writes as its engine runs it: llama.cpp and four bits where
    nothing is said. Raises WorkloadFault for an engine that needs a GPU."""
    stack = (formatted(workload, zoo).workload.stack or "llama.cpp").casefold()
    if stack not in CPU_STACKS:
        raise WorkloadFault(
            f"stack: {stack!r} is not known to run without a GPU; those known are "
            f"{', '.join(CPU_STACKS)}."
        )
    # In a format that this engine loads: DeepSeek's FP8 is none of llama.cpp's.
    workload = formatted(replace(workload, stack=stack), zoo).workload
    precision = workload.precision
    if precision is None and workload.quant is None and workload.weights_gib is None:
        precision = "q4_k_m"
    return replace(workload, stack=stack, precision=precision, gpu_layers=0)


def estimate_on_host(workload: Workload, zoo: Zoo, *, explained: bool = True) -> MemoryEstimate:
    """Return what a job without a GPU takes of the computer's memory, in `host_gib`; nothing on a
    device."""
    if not writes_text(workload, zoo):
        return _stepped(workload, zoo, explained)
    work = as_on_cpu(workload, zoo)
    whole = estimate_memory(replace(work, gpu_layers=None), None, 1, zoo, explained=False)
    found = estimate_memory(work, None, 1, zoo, explained=explained)
    told = (
        ("stack", workload.stack, work.stack),
        ("precision", workload.precision, work.precision),
    )
    assumed = found.assumed | {name: str(now) for name, was, now in told if was is None and now}
    return _in_ram(found, found.host_gib + whole.parts.activations_gib, assumed)


def _stepped(workload: Workload, zoo: Zoo, explained: bool) -> MemoryEstimate:
    """What a training or a forward pass takes of the computer's memory: the tensors that it would
    hold on a GPU, in FP32 where nothing is said."""
    work = replace(workload, stack=None, precision=workload.precision or "fp32")
    found = estimate_memory(work, None, 1, zoo, explained=explained)
    assumed = found.assumed if workload.precision else found.assumed | {"precision": "fp32"}
    return _in_ram(found, found.host_gib + found.tensors_gib, assumed)


def _in_ram(found: MemoryEstimate, host_gib: float, assumed: dict[str, str]) -> MemoryEstimate:
    """An estimate of which all lies in the computer's memory."""
    return replace(
        found,
        parts=MemoryParts(),
        tensors_gib=0.0,
        allocated_gib=0.0,
        reserved_gib=0.0,
        device_gib=0.0,
        low_gib=0.0,
        high_gib=0.0,
        detail_gib={},
        host_gib=host_gib,
        assumed=assumed,
    )
