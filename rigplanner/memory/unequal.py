"""Samples of unequal length: what the allocator keeps of shorter batches beside the longest one."""

from __future__ import annotations

from msgspec import Struct

from rigplanner.memory.training import LOGIT_BYTES
from rigplanner.memory.training_trace import FUSED_LOSS, NARROW_LOSS
from rigplanner.units import GIB
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.stacks import MemoryStack

LANGUAGE = ("llm", "moe", "vlm")
KEPT_SHARE, KEPT_OF_LOGITS = 0.3, 0.7
"""Of what moves in the longest step, and of its logits besides, what the allocator keeps in blocks
that shorter batches left. A block of logits is cut to one length: the next longer batch finds none
and asks the driver, the old one stays. Replays of PyTorch's caching allocator on log-normal lengths
keep 0.06 to 0.7 of steps whose layers are saved, 0.9 to 2.9 of recomputed ones with 150,000 words.
Qwen 1.8B to 14B took 0.7 to 1.15 of it at 4,096 and 8,192 tokens (ms-swift's benchmarks), Qwen2.5
1.5B 1.6 to 2.2 (yedhuk/text-to-sql-lora-qlora-finetuning)."""
NEEDED_SHARE = 0.2
"""Of what moves, what cannot be given back when memory ends: blocks of which a part is in use. The
replays ran on a card with 1.05 to 1.4 times the peak, in the middle 1.15."""
LONG_FROM = 2048
"""Tokens from which samples that nobody packs seldom fill the length: below, most are cut to it."""


EXPANDABLE = 0.1
"""Of what the allocator holds beyond what it has handed out, what segments that grow leave
(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True): a QLoRA of 7 billion parameters reserved 9.9 GiB
of which 9.8 were allocated, where such jobs hold a tenth more."""


def growing(job: Job) -> bool:
    """Whether PyTorch's segments grow instead of being joined by others."""
    return "expandable_segments" in job.flags


class Scattered(Struct, frozen=True):
    """GiB that lie idle between blocks in use: `kept` while the card has room, `needed` where it
    has none, and whether the samples are `told` to differ."""

    kept: float = 0.0
    needed: float = 0.0
    told: bool = False


def scattered(network: Network, job: Job, stack: MemoryStack, moving_gib: float) -> Scattered:
    """Return what unequal samples add to what the allocator holds; nothing where all are of one
    length. Samples that nobody tells of may be unequal: fine-tuning on text that is not packed."""
    if not job.task.startswith("train") or network.kind not in LANGUAGE or stack.slug == "trace":
        return Scattered()
    told = job.samples == "unequal"
    if growing(job):
        return Scattered()
    if not told and (job.samples or job.length < LONG_FROM or stack.own_networks):
        return Scattered()
    plain = stack.loss == "plain" and not job.flags & {*FUSED_LOSS, *NARROW_LOSS}
    tokens = float(job.batch * job.length) / job.context
    logits = min(moving_gib, LOGIT_BYTES * tokens * network.vocab / GIB) if plain else 0.0
    kept = KEPT_SHARE * moving_gib + KEPT_OF_LOGITS * logits
    return Scattered(kept, min(kept, NEEDED_SHARE * moving_gib), told)
