"""Tables in GPU memory: what the memory's rate and the link leave, below which nothing comes."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.pcie import link_gbs
from rigplanner.performance.silicon import silicon_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.without_network import table_gb


class TableTimes(Struct, frozen=True):
    """Seconds at least of one pass over a table in the memory of all GPUs, and to bring it there
    from the host's memory (None: the link is not known)."""

    pass_s: float
    bring_s: float | None


def least_times(
    workload: Workload, gpu: GPU, count: int, host_gbs: tuple[float | None, ...] = ()
) -> TableTimes:
    """Return the least times of a table divided among `count` equal GPUs: bytes over listed
    bandwidth, and over each card's own link to the host in GB/s (`host_gbs`; none: that of its
    edge). What cuDF reaches of them has not been published in a form that could be read. Raises
    WorkloadFault where nobody says how large the table is."""
    share_gb = table_gb(workload) / count
    links = host_gbs or (link_gbs(gpu.edge_gen, gpu.edge_width),)
    known = [rate for rate in links if rate]
    slowest = min(known) if len(known) == len(links) else None
    return TableTimes(
        share_gb / silicon_of(gpu).bandwidth_gbs, share_gb / slowest if slowest else None
    )
