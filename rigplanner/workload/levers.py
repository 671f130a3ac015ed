"""The other way round: the largest batch, the longest context, the cheapest change that makes a workload fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.rig.task import Parallelism, Workload
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.memory import estimate_memory

DISPLAY_RESERVE_GIB = 0.3
"""What the driver and a small page table keep of a card's memory before any job (23.7 of 24 GiB on a 3090)."""
LARGEST_BATCH, LONGEST_CONTEXT = 65_536, 16_777_216


class Change(Struct, frozen=True, kw_only=True):
    """One change of a workload: `fields` to set, by their names in the workload, the memory it then needs per GPU, whether that
    fits, and the speed left as a share of the former one (1: none lost) with where that share comes from."""

    code: str
    fields: dict[str, Any]
    device_gib: float
    fits: bool
    speed_share: float
    source: str


def room_gib(gpu: GPU) -> float:
    """The memory of a card that a job can use, in GiB; raises WorkloadFault when the catalog does not know it."""
    if not gpu.memory_gib:
        raise WorkloadFault(f"hardware.gpu: the memory of {gpu.name} is not known.")
    return gpu.memory_gib - DISPLAY_RESERVE_GIB


def largest_batch(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> int:
    """The largest batch per GPU that fits, 0 when not even one sample does."""
    return _largest(
        lambda size: _need(msgspec.structs.replace(workload, batch_per_gpu=size), gpu, count, zoo), room_gib(gpu), LARGEST_BATCH
    )


def longest_context(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> int:
    """The longest sequence in tokens that fits (the prompt when the workload generates), 0 when not even one token does."""

    def need(length: int) -> float:
        if workload.output_tokens or workload.input_tokens:
            return _need(msgspec.structs.replace(workload, input_tokens=length, seq_len=None), gpu, count, zoo)
        return _need(msgspec.structs.replace(workload, seq_len=length), gpu, count, zoo)

    return _largest(need, room_gib(gpu), LONGEST_CONTEXT)


def _need(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> float:
    return estimate_memory(workload, gpu, count, zoo).device_gib


def _largest(need: Callable[[int], float], room: float, most: int) -> int:
    """The largest size whose need is within `room`, by doubling and halving; needs grow with size."""
    if need(1) > room:
        return 0
    low, high = 1, 2
    while high <= most and need(high) <= room:
        low, high = high, 2 * high
    while high - low > max(1, low // 256):
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= room else (low, middle)
    return min(low, most)


def cheapest_changes(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> tuple[Change, ...]:
    """Single changes that reduce the memory, those that fit first, then by the speed they leave."""
    now = estimate_memory(workload, gpu, count, zoo)
    room, found = room_gib(gpu), []
    for code, fields, share, source in _candidates(workload, count):
        try:
            then = estimate_memory(msgspec.structs.replace(workload, **fields), gpu, _count(code, count), zoo)
        except WorkloadFault:
            continue
        if then.device_gib < now.device_gib - 0.01:
            found.append(Change(code=code, fields=msgspec.to_builtins(fields), device_gib=then.device_gib,
                fits=then.device_gib <= room,
                                speed_share=share, source=source))  # fmt: skip
    return tuple(sorted(found, key=lambda change: (not change.fits, -change.speed_share, change.device_gib)))


def _count(code: str, count: int) -> int:
    return count + 1 if code == "one_more_gpu" else count


Candidate = tuple[str, dict[str, Any], float, str]


def _candidates(workload: Workload, count: int) -> list[Candidate]:
    """Changes worth trying: fields to set and the share of the speed that is left."""
    return (
        _training_candidates(workload, count)
        if (workload.task or "").startswith("train")
        else _inference_candidates(workload, count)
    )


RECOMPUTE = "one more forward pass in three (Chen et al. 2016, arXiv 1604.06174)"
SMALLER_BATCH = "the same samples in more, smaller steps"
QUANTISED = "weights are brought back to 16 bits for every product (Dettmers et al. 2023, arXiv 2305.14314)"
LOSSLESS = "the same arithmetic"


def _training_candidates(workload: Workload, count: int) -> list[Candidate]:
    ways, batch = workload.parallelism or Parallelism(), workload.batch_per_gpu or 1
    found: list[Candidate] = []
    if workload.gradient_checkpointing in (None, False, "none"):
        found.append(("checkpointing", {"gradient_checkpointing": "full"}, 0.75, RECOMPUTE))
    if workload.attention == "eager":
        found.append(("fused_attention", {"attention": "sdpa"}, 1.0, LOSSLESS))
    if workload.optimizer in (None, "adamw", "adam", "adamw_fused"):
        found.append(
            ("eight_bit_optimizer", {"optimizer": "adamw_8bit"}, 0.98, "8-bit states (Dettmers et al. 2021, arXiv 2110.02861)")
        )
    if batch > 1:
        found.append(("half_batch", {"batch_per_gpu": batch // 2}, 0.9, SMALLER_BATCH))
    if workload.task == "train_full":
        found.append(("lora", {"task": "train_lora", "lora_rank": 16}, 1.0, "Hu et al. 2021, arXiv 2106.09685"))
    if workload.task == "train_lora":
        found.append(("quantised_base", {"task": "train_qlora", "precision": "nf4"}, 0.7, QUANTISED))
    if count > 1 and ways.zero < 3:
        stages = {1: 1.0, 2: 1.0, 3: 0.85}
        for stage in range(ways.zero + 1, 4):
            sharded = msgspec.structs.replace(ways, zero=stage)
            found.append(
                (f"zero_{stage}", {"parallelism": sharded}, stages[stage], "ZeRO (Rajbhandari et al. 2019, arXiv 1910.02054)")
            )
    if ways.offload in (None, "none"):
        found.append(
            (
                "offload_optimizer",
                {"parallelism": msgspec.structs.replace(ways, offload="optimizer")},
                0.6,
                "ZeRO-Offload, arXiv 2101.06840",
            )
        )
    return found


def _inference_candidates(workload: Workload, count: int) -> list[Candidate]:
    ways = workload.parallelism or Parallelism()
    found: list[Candidate] = []
    if workload.precision in (None, "fp16", "bf16", "fp32"):
        found.append(("eight_bit_weights", {"precision": "int8"}, 0.95, QUANTISED))
        found.append(("four_bit_weights", {"precision": "int4", "quant": "awq"}, 0.9, QUANTISED))
    if workload.kv_precision in (None, "fp16", "bf16"):
        found.append(("eight_bit_cache", {"kv_precision": "fp8"}, 1.0, "half the cache is read"))
    if workload.batch_per_gpu and workload.batch_per_gpu > 1:
        found.append(("half_batch", {"batch_per_gpu": workload.batch_per_gpu // 2}, 0.6, SMALLER_BATCH))
    degree = ways.tensor * 2
    if count >= degree:
        found.append(("tensor_parallel", {"parallelism": msgspec.structs.replace(ways, tensor=degree)}, 1.0, LOSSLESS))
    return found


def fits(estimate: MemoryEstimate, gpu: GPU) -> bool | None:
    """Whether it fits: yes, no, or None where the interval holds the card's memory."""
    room = room_gib(gpu)
    if estimate.high_gib <= room:
        return True
    return False if estimate.low_gib > room else None
