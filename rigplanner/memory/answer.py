"""What the memory model answers, per GPU."""

from msgspec import Struct

from rigplanner.evidence import Step


class MemoryParts(Struct, frozen=True, kw_only=True):
    """GiB by part. `workspace_gib`: library workspaces, communication buffers, allocator slack;
    `context_gib`: the driver's."""

    weights_gib: float = 0.0
    gradients_gib: float = 0.0
    optimizer_gib: float = 0.0
    activations_gib: float = 0.0
    kv_cache_gib: float = 0.0
    workspace_gib: float = 0.0
    context_gib: float = 0.0


class MemoryEstimate(Struct, frozen=True, kw_only=True):
    """Memory of one GPU in GiB: peak of live tensors, what the allocator hands out, what it holds,
    what nvidia-smi shows, and the 80 % interval of the last. `host_gib` and `nvme_gib` are RAM and
    drive space that offload needs for the whole job. `detail_gib` takes workspace and context
    apart: communication, buffers, library, fragmentation, driver, nccl; `pool`: what a serving
    engine reserves for its cache. `assumed` names settings that were absent; `evidence` says how
    many sources have measured such jobs."""

    parts: MemoryParts
    tensors_gib: float
    allocated_gib: float
    reserved_gib: float
    device_gib: float
    low_gib: float
    high_gib: float
    stack: str
    host_gib: float = 0.0
    nvme_gib: float = 0.0
    detail_gib: dict[str, float] = {}
    assumed: dict[str, str] = {}
    evidence: str = ""
    steps: tuple[Step, ...] = ()


def fits_within(need: MemoryEstimate, room_gib: float) -> bool | None:
    """Whether a need fits: yes, no, or None where its interval holds the room."""
    if need.high_gib <= room_gib:
        return True
    return False if need.low_gib > room_gib else None
