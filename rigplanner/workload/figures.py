"""Memory of image networks that are known by published figures only: parameters, operations, values that layers write."""

from __future__ import annotations

from rigplanner.workload.answer import WorkloadFault
from rigplanner.workload.job import OPTIMIZERS, Job
from rigplanner.workload.network import Network, nearest_figures, pixels
from rigplanner.workload.quant import weight_bytes
from rigplanner.workload.stacks import MemoryStack
from rigplanner.workload.training import Demand


WRITTEN_SHARE = 14.0
"""activations_m = WRITTEN_SHARE x gmacs / sqrt(params_m) x ...: median over the networks of timm whose three figures are listed."""


def values_per_image(network: Network, job: Job) -> float:
    """Millions of values written by layers for one image of the job's size; scaled by area from the nearest listed size."""
    row = nearest_figures(network.figures, job.image if isinstance(job.image, int) else list(job.image))
    if row is None:
        raise WorkloadFault(f"activations_m: neither values nor operations per image are known of {network.slug}.")
    scale = pixels(job.image) / pixels(row.image_size)
    if row.activations_m:
        return row.activations_m * scale
    if not row.gmacs:
        raise WorkloadFault(f"gmacs: neither values nor operations per image are known of {network.slug}.")
    return written(row.gmacs, network.params / 1e6) * scale


def written(gmacs: float, params_m: float) -> float:
    """Values (millions) that a convolutional network of `gmacs` and `params_m` writes: width grows with the root of the
    parameters, and operations are values times width."""
    return WRITTEN_SHARE * gmacs / params_m**0.5 * 1.0


def figured(network: Network, job: Job, stack: MemoryStack) -> Demand:
    """The demand of a network known by figures."""
    values = 1e6 * values_per_image(network, job) * job.batch
    low = job.precision not in ("fp32", "tf32")
    width = 2.0 if low else 4.0
    if not job.task.startswith("train"):
        weights = weight_bytes(job.precision.removeprefix("amp_"), job.quant, network.params, 0.0)
        return Demand(weights=weights, gradients=0.0, optimizer=0.0, activations=0.35 * values * width)
    amp = job.precision.startswith("amp")
    parameter = 4.0 if amp or not low else 2.0
    state = network.params * (OPTIMIZERS[job.optimizer].state_fp32 if parameter == 4 else OPTIMIZERS[job.optimizer].state_16)
    weights = network.params * (parameter + (2.0 if amp else 0.0))
    kept = stack.kept * values * width
    if job.checkpointing == "full":
        kept *= 0.35
    return Demand(weights=weights, gradients=network.params * parameter, optimizer=state, activations=kept)
