"""Whether memory lets a job run at all: what holds for sure of its weights, and what an estimate of
all its memory says."""

from collections.abc import Iterable

from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.model import Machine
from rigplanner.memory.answer import MemoryEstimate, fits_within
from rigplanner.memory.usable_memory import usable_gib
from rigplanner.performance.answer import Fits, SpeedEstimate
from rigplanner.performance.job import Job
from rigplanner.performance.silicon import weight_bits
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB

TABLES = "recommender"
"""Kind of net most of whose parameters may stay in RAM."""


def surely_exceeds(job: Job, workload: Workload, gpu: GPU, machine: Machine | None) -> bool:
    """Return whether the weights alone are more than the GPUs hold: the clear cases, told without
    an estimate. Gradients and states may be gone before the next layer's are there (torchtune
    trains 8B in 24 GB). Weights count as spread over all GPUs unless degrees are named; what the
    host may keep tells nothing."""
    needed, room = job.shape.params_m * 1e6 * weight_bits(job.precision) / 8, usable_gib(gpu)
    if room is None or (machine is None and needed <= room * GIB):
        return False
    hosted = (
        job.offload is not None
        or workload.gpu_layers is not None
        or any("cpu" in flag or "offload" in flag for flag in workload.flags)
    )
    rooms = [usable_gib(node.gpu) for node in machine.gpus] if machine else [room] * job.count
    if hosted or job.shape.kind == TABLES or not all(rooms):
        return False
    total, degrees = sum(room for room in rooms if room) * GIB, workload.parallelism
    if degrees is None or job.zero == 3:
        return needed > total
    return needed / (degrees.tensor * degrees.pipeline * degrees.expert) > total / len(rooms)


def within_memory(
    speed: SpeedEstimate, needs: Iterable[tuple[MemoryEstimate, GPU]]
) -> SpeedEstimate:
    """Return a speed with what estimates of memory say, one of each GPU: "no" where the low end of
    one is above what its card holds, which is then the limit; "unknown" where an interval holds the
    room, or nothing is known."""
    found = [
        fits_within(need, room) if (room := usable_gib(gpu)) is not None else None
        for need, gpu in needs
    ]
    if False in found:
        return exceeding(speed)
    told: Fits = "yes" if found and all(found) else "unknown"
    return speed if speed.fits == "no" else replace(speed, fits=told)


def exceeding(speed: SpeedEstimate) -> SpeedEstimate:
    """Return the speed that a job would have which its GPUs do not hold."""
    return replace(speed, fits="no", bound="memory capacity", lift="more-memory")
