"""The memory of a card that a job can use, and the largest size that it holds."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate, fits_within
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.rig.workload import Workload

LARGEST_BATCH, LONGEST_CONTEXT = 65_536, 16_777_216


def room_gib(gpu: GPU) -> float:
    """The memory of a card that a job can use, in GiB; raises WorkloadFault when the catalog does
    not know it."""
    room = usable_gib(gpu)
    if not room:
        raise WorkloadFault(f"hardware.gpu: the memory of {gpu.name} is not known.")
    return room


def largest_batch(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> int:
    """The largest batch per GPU that fits, 0 when not even one sample does."""
    return largest(
        lambda size: _need(msgspec.structs.replace(workload, batch_per_gpu=size), gpu, count, zoo),
        room_gib(gpu),
        LARGEST_BATCH,
    )


def with_context(workload: Workload, length: int) -> Workload:
    """The workload with sequences of `length` tokens, prompts where it generates."""
    if workload.output_tokens or workload.input_tokens:
        return msgspec.structs.replace(workload, input_tokens=length, seq_len=None)
    return msgspec.structs.replace(workload, seq_len=length)


def _need(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> float:
    return estimate_memory(workload, gpu, count, zoo, explained=False).device_gib


def largest(need: Callable[[int], float], room: float, most: int) -> int:
    """The largest size whose need is within `room`, by doubling and halving; needs grow with
    size."""
    if need(1) > room:
        return 0
    low, high = 1, 2
    while high <= most and need(high) <= room:
        low, high = high, 2 * high
    while high - low > max(1, low // 256):
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= room else (low, middle)
    return min(low, most)


def fits(estimate: MemoryEstimate, gpu: GPU) -> bool | None:
    """Whether it fits: yes, no, or None where the interval holds the card's memory."""
    return fits_within(estimate, room_gib(gpu))
