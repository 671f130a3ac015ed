"""The other way round: the largest batch, the longest context, the most users that a job's GPUs hold."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.rig.task import Workload
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.levers import LARGEST_BATCH, LONGEST_CONTEXT, largest, room_gib, with_context
from rigplanner.workload.memory import estimate_memory
from rigplanner.workload.mig import partition_of
from rigplanner.workload.users import Users, most_users

WHAT = ("batch", "context", "users")


class Reach(Struct, frozen=True, kw_only=True):
    """The largest `value` (samples, tokens or users) whose expected need fits in `room_gib`, `sure` the largest whose whole
    interval does, and the need at `value` (None when not even one fits)."""

    what: str
    value: int
    sure: int
    room_gib: float
    at: MemoryEstimate | None
    users: Users | None = None


def reach(what: str, workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> Reach:
    """How far a job goes on `count` of a GPU. Raises WorkloadFault for another word and a job that cannot be."""
    if what not in WHAT:
        raise WorkloadFault(f"largest: expected one of {', '.join(WHAT)}, found {what!r}.")
    seen = partition_of(workload, gpu)
    if what == "users":
        return _users(workload, seen, count, zoo)
    if workload.task == "serve" and workload.stack in (None, "vllm"):
        return _served(what, workload, seen, count, zoo)
    change, most = (
        (lambda size: replace(workload, batch_per_gpu=size, mig=None), LARGEST_BATCH)
        if what == "batch"
        else (lambda size: replace(with_context(workload, size), mig=None), LONGEST_CONTEXT)
    )
    return _found(what, change, most, seen, count, zoo)


def _found(what: str, change: Callable[[int], Workload], most: int, gpu: GPU, count: int, zoo: Zoo) -> Reach:
    room = room_gib(gpu)
    value = largest(lambda size: estimate_memory(change(size), gpu, count, zoo, explained=False).device_gib, room, most)
    sure = largest(lambda size: estimate_memory(change(size), gpu, count, zoo, explained=False).high_gib, room, most)
    at = estimate_memory(change(value), gpu, count, zoo, explained=False) if value else None
    return Reach(what=what, value=value, sure=min(sure, value), room_gib=room, at=at)


def _users(workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> Reach:
    plain = replace(workload, mig=None)
    found = most_users(plain, gpu, count, zoo)
    one_replica = replace(plain, batch_per_gpu=max(1, found.users // found.replicas))
    at = estimate_memory(one_replica, gpu, count, zoo, explained=False)
    if found.basis == "pool":
        beside = (at.high_gib / at.device_gib - 1) * max(0.0, at.device_gib - found.pool_gib)
        sure = int(max(0.0, found.pool_gib - beside) / found.per_user_gib) if found.per_user_gib else found.users
    else:
        sure = _found("batch", lambda size: replace(plain, batch_per_gpu=size), LARGEST_BATCH, gpu, count, zoo).sure
    sure *= found.replicas
    return Reach(what="users", value=found.users, sure=min(sure, found.users), room_gib=room_gib(gpu),
                 at=at if found.users else None, users=found)  # fmt: skip


def _served(what: str, workload: Workload, gpu: GPU, count: int, zoo: Zoo) -> Reach:
    """An engine's pool decides: as many sequences as users, or the longest context of the sequences that are asked for."""
    if what == "batch":
        return replace(_users(workload, gpu, count, zoo), what="batch")
    plain, wanted = replace(workload, mig=None), max(1, workload.batch_per_gpu or 1)

    def lacks(length: int) -> float:
        return float(wanted - most_users(with_context(plain, length), gpu, count, zoo).users)

    value = largest(lacks, 0.0, LONGEST_CONTEXT)
    at = estimate_memory(with_context(plain, value), gpu, count, zoo, explained=False) if value else None
    users = most_users(with_context(plain, value), gpu, count, zoo) if value else None
    return Reach(what=what, value=value, sure=value, room_gib=room_gib(gpu), at=at, users=users)
