"""What software adds to the tensors, per stack: allocator slack, workspaces, the driver's context. One table, fitted by source."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from rigplanner.data import data_path
from rigplanner.evidence import Source
from rigplanner.workload.answer import WorkloadFault


class MemoryStack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stack. `context_gib`: the driver's context with the framework's kernels. `fixed_gib`: library workspaces. `slack`: share
    that the allocator holds beyond the live activations, `static_slack` beyond weights and states. `compiled`: the share of
    activations left when the graph is compiled. `selective`: how far selective recomputation lies from none (0) to full (1).
    `low` and `high` span the 80 % interval as factors of the estimate. `kv_growth`: the cache is joined anew each token (`copied`)
    or allocated once (`whole`). `loss` as in the walk; `prompt_logits`: the head sees the whole prompt. `unties_head`: a head
    tied to the embedding is stored once more. `fused_optimizer`: the step needs no copies of the gradients.
    `reduces_fp32`: sharded gradients are brought to fp32 before they are summed over the cards.
    `raises_rest`: beside a quantised base, embedding and head are kept in fp32."""

    slug: str = ""
    context_gib: float
    fixed_gib: float
    slack: float
    static_slack: float = 0.02
    compiled: float = 0.85
    selective: float = 0.5
    live_batch: float = 1.0
    kv_growth: Literal["copied", "whole"] = "whole"
    fixed_counts: bool = False
    growth: float = 1.0
    kept: float = 1.0
    text_tokens: int = 512
    loss: Literal["plain", "chunked", "fused"] = "plain"
    prompt_logits: bool = False
    fused_act: bool = False
    gathers_all: bool = False
    unties_head: bool = False
    unknown_checkpointing: Literal["none", "selective", "full"] = "none"
    train_fixed_gib: float | None = None
    train_static_slack: float | None = None
    quantised_activations: float = 1.0
    quantised_gib: float = 0.0
    activation_factor: float = 1.0
    fused_optimizer: bool = False
    reduces_fp32: bool = False
    raises_rest: bool = False
    adapters: Literal["fp32", "base"] = "base"
    low: float = 0.85
    high: float = 1.2
    note: str = ""


class _File(Struct, forbid_unknown_fields=True):
    sources: dict[str, Source]
    stacks: dict[str, MemoryStack]
    same_as: dict[str, str] = {}


@cache
def memory_stacks() -> dict[str, MemoryStack]:
    """Return the profiles by slug, aliases included, read once."""
    read = msgspec.json.decode((data_path("catalog") / "architectures" / "memory_stacks.json").read_bytes(), type=_File)
    found = {slug: msgspec.structs.replace(stack, slug=slug) for slug, stack in read.stacks.items()}
    return found | {alias: found[slug] for alias, slug in read.same_as.items()}


def memory_stack(slug: str) -> MemoryStack:
    """Return one profile; an unknown stack gets the plain PyTorch one under its own name."""
    stacks = memory_stacks()
    if not slug or len(slug) > 80:
        raise WorkloadFault(f"stack: expected a name of at most 80 letters, found {slug[:20]!r}.")
    return stacks.get(slug.casefold()) or msgspec.structs.replace(stacks["pytorch"], slug=slug)
