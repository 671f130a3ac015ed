"""The one resolved job: what memory, speed, rules, comparisons and quotes are asked of."""

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo, shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.performance.job import read_job
from rigplanner.rig.workload import Workload
from rigplanner.workload.resolved import resolved


class Settled(Struct, frozen=True):
    """A workload of which everything is said that memory and speed would otherwise each assume, and
    what of it was assumed, by field."""

    workload: Workload
    assumed: dict[str, str] = {}


def settle(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Settled:
    """Return a workload with the format of its weights, the stack and the precision that its speed
    is told for, where it names none: what else is asked of the job, its memory above all, is then
    asked of the same one. A job that cannot be timed stays as it is, but for its format."""
    made = resolved(workload, zoo or shipped_zoo())
    work, assumed = made.workload, dict(made.assumed)
    if work.stack and work.precision and not (work.task or "").startswith("train"):
        return Settled(work, assumed)
    try:
        job = read_job(work, gpu, count, nodes, link, zoo)
    except WorkloadFault:
        return Settled(work, assumed)
    stack = job.named.slug if "stack" in job.assumed or not work.stack else work.stack
    precision = work.precision or (None if work.quant else job.precision)
    if stack != work.stack:
        assumed["stack"] = stack
    if precision != work.precision:
        assumed["precision"] = str(precision)
    return Settled(replace(work, stack=stack, precision=precision), assumed)


def settled(
    workload: Workload, gpu: GPU, count: int, nodes: int, link: str, zoo: Zoo | None
) -> Workload:
    """Return only the workload of `settle`."""
    return settle(workload, gpu, count, nodes, link, zoo).workload
