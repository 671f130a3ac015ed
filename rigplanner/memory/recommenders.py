"""Memory of recommenders: embedding tables, the dense layers above them, and the optimizer's states
of both."""

from rigplanner.catalog.zoo import recommender
from rigplanner.errors import WorkloadFault
from rigplanner.memory.training import Demand
from rigplanner.workload.job import Job
from rigplanner.workload.network import Network
from rigplanner.workload.optimizers import OPTIMIZERS
from rigplanner.workload.quant import weight_bytes

WIDE = 4.0
"""Bytes of a trained parameter: mixed precision narrows the products of the dense layers, not the
tables."""
KEPT = 2.0
"""Tensors kept for the backward pass per value that a dense layer writes: its output and what the
activation makes of it."""


def looked_up(network: Network, job: Job) -> Demand:
    """The demand of one GPU with its tables on it. Tables whose rows travel between GPUs are spread
    evenly over them and have gradients of the rows that a batch looks up alone; others are on every
    GPU, with gradients of all rows."""
    known = recommender(network.slug)
    if known is None or known.tables is None:
        raise WorkloadFault(
            f"model: how many rows the embedding tables of '{network.slug}' have is not known."
        )
    if job.offload != "none":
        raise WorkloadFault(
            f"parallelism.offload: how much of the tables of '{network.slug}' waits in RAM is not"
            " known."
        )
    tables = float(known.tables.rows * known.tables.width)
    dense = max(0.0, network.params - tables)
    held = tables / job.data if known.looked_up else tables
    values = 1e6 * known.activations_m * job.batch
    if not job.task.startswith("train"):
        weights = weight_bytes(job.precision.removeprefix("amp_"), job.quant, held + dense, 0.0)
        return Demand(weights=weights, gradients=0.0, optimizer=0.0, activations=values * WIDE)
    states = OPTIMIZERS[job.optimizer].state_fp32 * (held + dense)
    rows = known.looked_up * job.batch if known.looked_up else held
    return Demand(
        weights=WIDE * (held + dense),
        gradients=WIDE * (rows + dense),
        optimizer=states,
        activations=KEPT * WIDE * values,
    )
