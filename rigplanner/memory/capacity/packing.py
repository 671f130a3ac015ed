"""Jobs on the partitions of one MIG card: which fit which, the best packing of several, what is
lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.answer import MemoryEstimate, fits_within
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.mig import Geometry, Profile, Slice, geometry, profile_named, slice_of
from rigplanner.rig.workload import Workload

MOST_JOBS = 64


class SliceFit(Struct, frozen=True, kw_only=True):
    """A job on one partition: the memory it needs with its interval; `fits` yes, no, or None where
    the interval holds the limit."""

    slice: Slice
    need: MemoryEstimate
    fits: bool | None


class Placement(Struct, frozen=True, kw_only=True):
    """One instance: the job on it ("" for none), its profile and the memory slices from `start`
    that it takes."""

    job: str
    profile: str
    start: int
    size: int
    memory_gib: float
    need_gib: float


class Packing(Struct, frozen=True, kw_only=True):
    """Jobs on one card. `left_out` found no place; `idle_memory_gib` and `idle_sms` are what no job
    can use: slices without an instance and what MIG mode itself keeps (`idle_sms` None where the
    multiprocessors of a profile are not listed); `free_slices` are memory slices without an
    instance, `room_for` the largest profile that still goes in."""

    placements: tuple[Placement, ...]
    left_out: tuple[str, ...]
    idle_memory_gib: float
    idle_sms: int | None
    free_slices: tuple[int, ...]
    room_for: str | None


def fits_slices(workload: Workload, gpu: GPU, zoo: Zoo) -> tuple[SliceFit, ...]:
    """A job on every partition of a card, smallest first. Raises WorkloadFault for a card without
    MIG or a job that cannot be."""
    found = []
    for profile in geometry(gpu).profiles:
        if profile.most:
            continue
        offered = slice_of(gpu, profile)
        need = estimate_memory(replace(workload, mig=profile.name), gpu, 1, zoo, explained=False)
        found.append(SliceFit(slice=offered, need=need, fits=fits_within(need, offered.memory_gib)))
    return tuple(found)


def pack(
    jobs: Sequence[tuple[str, Workload]], gpu: GPU, zoo: Zoo, *, tight: bool = False
) -> Packing:
    """The best packing of jobs on one card: most jobs placed, then fewest memory slices taken, then
    the earlier jobs first. A job goes where its whole interval fits, with `tight` also where its
    expected need does. Every choice of profile and start is searched, so the answer is proven.
    Raises WorkloadFault for a card without MIG or a job that cannot be."""
    if len(jobs) > MOST_JOBS:
        raise WorkloadFault(f"jobs: expected at most {MOST_JOBS} on one card, found {len(jobs)}.")
    made = geometry(gpu)
    plain = tuple(profile for profile in made.profiles if not profile.most)
    needs = [
        {fit.slice.name: fit for fit in fits_slices(workload, gpu, zoo)} for _, workload in jobs
    ]
    allowed = tuple(
        tuple(profile for profile in plain if _goes(by_name[profile.name], tight))
        for by_name in needs
    )
    chosen = _search(allowed)
    placements = []
    for at, profile, start in chosen:
        fit = needs[at][profile.name]
        placements.append(
            Placement(
                job=jobs[at][0],
                profile=profile.name,
                start=start,
                size=profile.memory,
                memory_gib=fit.slice.memory_gib,
                need_gib=fit.need.device_gib,
            )
        )
    placed = {at for at, _, _ in chosen}
    left_out = tuple(name for at, (name, _) in enumerate(jobs) if at not in placed)
    return _counted(gpu, made, tuple(sorted(placements, key=lambda place: place.start)), left_out)


def _goes(fit: SliceFit, tight: bool) -> bool:
    return fit.fits is True or (
        tight and fit.fits is None and fit.need.device_gib <= fit.slice.memory_gib
    )


def layout(gpu: GPU, names: Sequence[str]) -> Packing | None:
    """The instances of these profiles placed on a card, or None when no placement holds them all.
    Raises WorkloadFault for a card without MIG or a name that it does not have."""
    wanted = [profile_named(gpu, name) for name in names]
    made = geometry(gpu)
    if len(wanted) > MOST_JOBS or any(
        profile.most and sum(one.name == profile.name for one in wanted) > profile.most
        for profile in wanted
    ):
        return None
    chosen = _search(tuple((profile,) for profile in wanted))
    if len(chosen) < len(wanted):
        return None
    placements = tuple(
        Placement(
            job="",
            profile=profile.name,
            start=start,
            size=profile.memory,
            memory_gib=slice_of(gpu, profile).memory_gib,
            need_gib=0.0,
        )
        for _, profile, start in sorted(chosen, key=lambda item: item[2])
    )
    return _counted(gpu, made, placements, ())


Choice = tuple[tuple[int, Profile, int], ...]


def _search(allowed: tuple[tuple[Profile, ...], ...]) -> Choice:
    """Jobs placed as (index, profile, start): by dynamic programming over jobs and the set of taken
    slices."""

    @lru_cache(None)
    def best(at: int, taken: int) -> tuple[int, int, Choice]:
        """Jobs placed from `at` on, slices they take (negative), and where."""
        if at == len(allowed):
            return 0, 0, ()
        placed, cost, rest = best(at + 1, taken)
        found: tuple[int, int, Choice] | None = None
        for profile in allowed[at]:
            for start in profile.starts:
                mask = ((1 << profile.memory) - 1) << start
                if taken & mask:
                    continue
                further, paid, tail = best(at + 1, taken | mask)
                candidate = (further + 1, paid - profile.memory, ((at, profile, start), *tail))
                if found is None or candidate[:2] > found[:2]:
                    found = candidate
        if found is not None and found[:2] >= (placed, cost):
            return found
        return placed, cost, rest

    return best(0, 0)[2]


def _counted(
    gpu: GPU, made: Geometry, placements: tuple[Placement, ...], left_out: tuple[str, ...]
) -> Packing:
    taken = {at for place in placements for at in range(place.start, place.start + place.size)}
    by_name = {profile.name: profile for profile in made.profiles}
    used = [by_name[place.profile].sms for place in placements]
    idle_sms = gpu.sms - sum(sms for sms in used if sms) if gpu.sms and all(used) else None
    mask = sum(1 << at for at in taken)
    room = [
        profile.name
        for profile in made.profiles
        if not profile.most
        and any(not mask & (((1 << profile.memory) - 1) << start) for start in profile.starts)
    ]
    return Packing(
        placements=placements,
        left_out=left_out,
        idle_memory_gib=max(
            0.0, (gpu.memory_gib or 0.0) - sum(place.memory_gib for place in placements)
        ),
        idle_sms=idle_sms,
        free_slices=tuple(at for at in range(made.memory_slices) if at not in taken),
        room_for=room[-1] if room else None,
    )
