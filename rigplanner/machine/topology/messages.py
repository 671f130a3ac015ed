"""How long an all-reduce over all GPUs of a machine takes, by the size of its message and by the
release of NCCL."""

import re

from msgspec import Struct

from rigplanner.evidence import Estimate
from rigplanner.machine.model import Machine
from rigplanner.machine.topology.collective_time import allreduce_time
from rigplanner.machine.topology.collectives import allreduce
from rigplanner.machine.topology.interconnect import nodes_of

MESSAGE_BYTES = (8, *(2**power for power in range(10, 34, 2)))
RELEASE = re.compile(r"v?(\d{1,2})\.(\d{1,3})(?!\d)")
FIRST_TREES = (2, 4)
"""The first release of NCCL with double binary trees between nodes (NVIDIA's blog on NCCL 2.4)."""


class MessageTime(Struct, frozen=True):
    """One size in bytes: the seconds that it takes, the way that NCCL picks ("tree, LL"), and the
    seconds of rings alone (None where there are no trees to do without)."""

    size_bytes: int
    taken: Estimate
    way: str
    rings_alone: Estimate | None


def nccl_release(text: str) -> tuple[int, int] | None:
    """Return a release of NCCL as numbers, "2.21.5" as (2, 21); None for a text that names none."""
    found = RELEASE.search(text)
    return (int(found.group(1)), int(found.group(2))) if found else None


def has_trees(release: tuple[int, int] | None) -> bool:
    """Whether a release builds trees between nodes; one that is not known is one of today."""
    return release is None or release >= FIRST_TREES


def message_times(machine: Machine, nccl: str = "") -> tuple[MessageTime, ...]:
    """Return the times by size, smallest first; none where the machine has fewer than two GPUs or
    nothing is known of their links. `nccl`: its release, "" for one of today."""
    count, estimate = len(machine.gpus), allreduce(machine)
    if estimate is None or count < 2:
        return ()
    nodes = len(nodes_of(machine, tuple(range(count)))) or 1
    trees = has_trees(nccl_release(nccl))
    return tuple(_of(size, estimate, count, nodes, trees) for size in MESSAGE_BYTES)


def _of(size: int, estimate: Estimate, count: int, nodes: int, trees: bool) -> MessageTime:
    taken = allreduce_time(size, estimate, count, nodes, trees)
    rings = allreduce_time(size, estimate, count, nodes, trees=False)
    way = str(taken.steps[-1].inputs["way"])
    return MessageTime(size, taken, way, rings if trees and nodes > 1 else None)
