"""The other way round: the largest batch, the longest context, the most users that a job's GPUs
hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate
from rigplanner.memory.capacity.levers import (
    LARGEST_BATCH,
    LONGEST_CONTEXT,
    largest,
    room_gib,
    with_context,
)
from rigplanner.memory.capacity.mixed_gpus import card_plan, deals_layers
from rigplanner.memory.capacity.users import Users, most_users
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.mig import partition_of
from rigplanner.rig.workload import Workload
from rigplanner.workload.network import resolve
from rigplanner.workload.pictures import DRAWN, PICTURES
from rigplanner.workload.positions import positions_of
from rigplanner.workload.stacks import memory_stack

WHAT = ("batch", "context", "users")


class Reach(Struct, frozen=True, kw_only=True):
    """The largest `value` (samples, tokens or users) whose expected need fits in `room_gib`, `sure`
    the largest whose whole interval does, and the need at `value` (None when not even one fits).
    `positions`: tokens that the network was made for, of a context."""

    what: str
    value: int
    sure: int
    room_gib: float
    at: MemoryEstimate | None
    users: Users | None = None
    positions: int | None = None


def reach(
    what: str, workload: Workload, gpu: GPU, count: int, zoo: Zoo, gpus: Sequence[GPU] = ()
) -> Reach:
    """How far a job goes on `count` of a GPU, or on `gpus` that differ. Raises WorkloadFault for
    another word and a job that cannot be."""
    if what not in WHAT:
        raise WorkloadFault(f"largest: expected one of {', '.join(WHAT)}, found {what!r}.")
    plain = replace(workload, mig=None)
    kind = resolve(plain, zoo).kind
    if what == "context" and kind in (*PICTURES, *DRAWN):
        raise WorkloadFault(
            f"largest: expected batch or users of a network of pictures, found {what}; set"
            " image_size instead."
        )
    cards = tuple(
        partition_of(workload, one) for one in gpus or (gpu,) * min(count, MOST_LOOKED_AT)
    )
    seen = min(cards, key=lambda one: one.memory_gib or 0.0)
    if what == "users":
        return _users(plain, seen, count, cards, zoo)
    found = _of_size(what, plain, seen, count, cards, zoo)
    return found if what == "batch" else replace(found, positions=positions_of(resolve(plain, zoo)))


def _of_size(
    what: str, plain: Workload, seen: GPU, count: int, cards: tuple[GPU, ...], zoo: Zoo
) -> Reach:
    """A batch or a context, of an engine's pool or of all that a card has."""
    if plain.task == "serve" and memory_stack(plain.stack or "vllm").pool:
        return _served(what, plain, seen, count, cards, zoo)
    if what == "batch":
        return _found(
            what,
            lambda size: replace(plain, batch_per_gpu=size),
            LARGEST_BATCH,
            seen,
            count,
            cards,
            zoo,
        )
    return _found(
        what, lambda size: with_context(plain, size), LONGEST_CONTEXT, seen, count, cards, zoo
    )


MOST_LOOKED_AT = 64
"""Cards that are looked at one by one."""


def _found(
    what: str,
    change: Callable[[int], Workload],
    most: int,
    gpu: GPU,
    count: int,
    cards: tuple[GPU, ...],
    zoo: Zoo,
) -> Reach:
    """The largest size by doubling and halving; on several cards over which layers are dealt, the
    one that lacks most decides."""
    first = estimate_memory(change(1), gpu, count, zoo, explained=False)
    dealt = len(cards) > 1 and deals_layers(change(1), first.stack)

    def at(size: int) -> tuple[MemoryEstimate, float]:
        if dealt:
            card = card_plan(change(size), cards, zoo).fullest
            return card.need, card.room_gib
        return estimate_memory(change(size), gpu, count, zoo, explained=False), room_gib(gpu)

    def over(size: int, figure: str) -> float:
        need, room = at(size)
        return float(getattr(need, figure)) - room

    value = largest(lambda size: over(size, "device_gib"), 0.0, most)
    sure = largest(lambda size: over(size, "high_gib"), 0.0, most)
    need, room = at(max(1, value))
    return Reach(
        what=what, value=value, sure=min(sure, value), room_gib=room, at=need if value else None
    )


def _users(workload: Workload, gpu: GPU, count: int, cards: tuple[GPU, ...], zoo: Zoo) -> Reach:
    found = most_users(workload, gpu, count, zoo)
    if found.basis != "pool":
        return _slots(found, workload, gpu, count, cards, zoo)
    one_replica = replace(workload, batch_per_gpu=max(1, found.users // found.replicas))
    at = estimate_memory(one_replica, gpu, count, zoo, explained=False)
    beside = (at.high_gib / at.device_gib - 1) * max(0.0, at.device_gib - found.pool_gib)
    sure = (
        int(max(0.0, found.pool_gib - beside) / found.per_user_gib)
        if found.per_user_gib
        else found.users
    )
    return Reach(
        what="users",
        value=found.users,
        sure=min(sure * found.replicas, found.users),
        room_gib=room_gib(gpu),
        at=at if found.users else None,
        users=found,
    )


def _slots(
    found: Users, workload: Workload, gpu: GPU, count: int, cards: tuple[GPU, ...], zoo: Zoo
) -> Reach:
    """As many users as the largest batch, on every replica; a server that deals its layers over all
    cards is one."""
    batch = _found(
        "users",
        lambda size: replace(workload, batch_per_gpu=size),
        LARGEST_BATCH,
        gpu,
        count,
        cards,
        zoo,
    )
    stack = estimate_memory(workload, gpu, count, zoo, explained=False).stack
    replicas = 1 if deals_layers(workload, stack) else found.replicas
    users = replace(found, users=batch.value * replicas, replicas=replicas)
    return replace(batch, value=batch.value * replicas, sure=batch.sure * replicas, users=users)


def _served(
    what: str, workload: Workload, gpu: GPU, count: int, cards: tuple[GPU, ...], zoo: Zoo
) -> Reach:
    """An engine's pool decides: as many sequences as users, or the longest context of the sequences
    that are asked for."""
    if what == "batch":
        return replace(_users(workload, gpu, count, cards, zoo), what="batch")
    wanted = max(1, workload.batch_per_gpu or 1)

    def lacks(length: int) -> float:
        return float(wanted - most_users(with_context(workload, length), gpu, count, zoo).users)

    value = largest(lacks, 0.0, LONGEST_CONTEXT)
    at = (
        estimate_memory(with_context(workload, value), gpu, count, zoo, explained=False)
        if value
        else None
    )
    users = most_users(with_context(workload, value), gpu, count, zoo) if value else None
    return Reach(what=what, value=value, sure=value, room_gib=room_gib(gpu), at=at, users=users)
