"""MIG: how an NVIDIA GPU is partitioned, which jobs fit which partition, the best packing of several jobs on one card."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

import msgspec
from msgspec import Struct

from rigplanner.catalog.parts import GPU
from rigplanner.catalog.zoo import Zoo
from rigplanner.data import data_path
from rigplanner.evidence import Source
from rigplanner.rig.task import Workload
from rigplanner.workload.answer import MemoryEstimate, WorkloadFault
from rigplanner.workload.memory import estimate_memory

LEAST_USABLE = 0.91
"""Share of a slice's nominal memory that is left where no listing of the card was found: the least of those that were (1g.18gb of
an H200 shows 16.0 of 17.6 GiB)."""
MOST_JOBS = 64


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One partition: `compute` and `memory` slices, the memory slices it may begin at, `memory_gib` and `sms` as nvidia-smi lists
    them. `most`: how many there can be at once where that is less than its starts (media extensions: one)."""

    name: str
    compute: int
    memory: int
    starts: tuple[int, ...]
    copy_engines: int
    memory_gib: float | None = None
    sms: int | None = None
    most: int | None = None

    @property
    def count(self) -> int:
        """How many of it one card holds."""
        return self.most or len(self.starts)


class Geometry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The partitions of some GPUs (part ids). `source` of names, shares and placements, `listing` of memory and multiprocessors."""

    slug: str
    gpus: tuple[str, ...]
    compute_slices: int
    memory_slices: int
    profiles: tuple[Profile, ...]
    source: str
    listing: str | None = None


class Slice(Struct, frozen=True, kw_only=True):
    """What one partition of a card offers: memory in GiB (`listed`: as nvidia-smi shows it, else reckoned from its share), shares
    of the card's multiprocessors and memory bandwidth, and how many a card holds."""

    name: str
    count: int
    memory_gib: float
    listed: bool
    sms: int | None
    compute_share: float
    bandwidth_share: float
    copy_engines: int


class SliceFit(Struct, frozen=True, kw_only=True):
    """A job on one partition: the memory it needs with its interval; `fits` yes, no, or None where the interval holds the limit."""

    slice: Slice
    need: MemoryEstimate
    fits: bool | None


class Placement(Struct, frozen=True, kw_only=True):
    """One instance: the job on it ("" for none), its profile and the memory slices from `start` that it takes."""

    job: str
    profile: str
    start: int
    size: int
    memory_gib: float
    need_gib: float


class Packing(Struct, frozen=True, kw_only=True):
    """Jobs on one card. `left_out` found no place; `idle_memory_gib` and `idle_sms` are what no job can use: slices without an
    instance and what MIG mode itself keeps (`idle_sms` None where the multiprocessors of a profile are not listed);
    `free_slices` are memory slices without an instance, `room_for` the largest profile that still goes in."""

    placements: tuple[Placement, ...]
    left_out: tuple[str, ...]
    idle_memory_gib: float
    idle_sms: int | None
    free_slices: tuple[int, ...]
    room_for: str | None


class _File(Struct, forbid_unknown_fields=True):
    sources: dict[str, Source]
    geometries: tuple[Geometry, ...]


@cache
def _file() -> _File:
    return msgspec.json.decode((data_path("catalog") / "architectures" / "mig.json").read_bytes(), type=_File)


def mig_sources() -> dict[str, Source]:
    """The sources of the partitions."""
    return _file().sources


def geometry_of(gpu: GPU) -> Geometry | None:
    """The partitions of a GPU, or None where it has none that we know."""
    return next((geometry for geometry in _file().geometries if gpu.id in geometry.gpus), None)


def geometry(gpu: GPU) -> Geometry:
    """The partitions of a GPU; raises WorkloadFault where there are none."""
    found = geometry_of(gpu)
    if found is None:
        raise WorkloadFault(f"hardware.gpu: no MIG partitions are known of {gpu.name}.")
    return found


def slice_of(gpu: GPU, profile: Profile) -> Slice:
    """What a profile offers on a card; raises WorkloadFault when neither its memory nor the card's is known."""
    made = geometry(gpu)
    share = profile.memory / made.memory_slices
    memory = profile.memory_gib
    if memory is None:
        if gpu.memory_gib is None:
            raise WorkloadFault(f"hardware.gpu: the memory of {gpu.name} is not known.")
        memory = gpu.memory_gib * share * LEAST_USABLE
    counted = profile.sms / gpu.sms if profile.sms and gpu.sms else profile.compute / made.compute_slices
    return Slice(
        name=profile.name, count=profile.count, memory_gib=memory, listed=profile.memory_gib is not None, sms=profile.sms,
        compute_share=min(1.0, counted), bandwidth_share=share, copy_engines=profile.copy_engines,
    )  # fmt: skip


def slices(gpu: GPU) -> tuple[Slice, ...]:
    """All partitions of a card, smallest first."""
    return tuple(slice_of(gpu, profile) for profile in geometry(gpu).profiles)


def profile_named(gpu: GPU, name: str) -> Profile:
    """The profile of that name; raises WorkloadFault naming those there are."""
    made = geometry(gpu)
    bare = name.casefold().removeprefix("mig ").removeprefix("mig-").strip()
    for profile in made.profiles:
        if profile.name == bare:
            return profile
    raise WorkloadFault(f"mig: expected one of {', '.join(profile.name for profile in made.profiles)}, found {name!r}.")


def part_of(gpu: GPU, profile: Profile) -> GPU:
    """The partition as a GPU of its own: its memory, its share of multiprocessors, rates and bandwidth, no NVLink and no peers."""
    offered = slice_of(gpu, profile)
    rates = {
        field: None if value is None else value * offered.compute_share
        for field, value in msgspec.structs.asdict(gpu.dense_tflops).items()
    }
    return msgspec.structs.replace(
        gpu, name=f"{gpu.name} MIG {profile.name}", memory_gib=offered.memory_gib, sms=profile.sms,
        bandwidth_gbs=None if gpu.bandwidth_gbs is None else gpu.bandwidth_gbs * offered.bandwidth_share,
        dense_tflops=msgspec.structs.replace(gpu.dense_tflops, **rates), nvlink=None, has_nvlink=False, p2p="no",
    )  # fmt: skip


def fits_slices(workload: Workload, gpu: GPU, zoo: Zoo) -> tuple[SliceFit, ...]:
    """A job on every partition of a card, smallest first. Raises WorkloadFault for a card without MIG or a job that cannot be."""
    found = []
    for profile in geometry(gpu).profiles:
        if profile.most:
            continue
        offered = slice_of(gpu, profile)
        need = estimate_memory(workload, part_of(gpu, profile), 1, zoo)
        found.append(SliceFit(slice=offered, need=need, fits=_verdict(need, offered.memory_gib)))
    return tuple(found)


def _verdict(need: MemoryEstimate, have_gib: float) -> bool | None:
    if need.high_gib <= have_gib:
        return True
    return False if need.low_gib > have_gib else None


def pack(jobs: Sequence[tuple[str, Workload]], gpu: GPU, zoo: Zoo, *, tight: bool = False) -> Packing:
    """The best packing of jobs on one card: most jobs placed, then fewest memory slices taken, then the earlier jobs first. A
    job goes where its whole interval fits, with `tight` also where its expected need does. Every choice of profile and start is
    searched, so the answer is proven. Raises WorkloadFault for a card without MIG or a job that cannot be."""
    if len(jobs) > MOST_JOBS:
        raise WorkloadFault(f"jobs: expected at most {MOST_JOBS} on one card, found {len(jobs)}.")
    made = geometry(gpu)
    plain = tuple(profile for profile in made.profiles if not profile.most)
    needs = [{fit.slice.name: fit for fit in fits_slices(workload, gpu, zoo)} for _, workload in jobs]
    allowed = tuple(tuple(profile for profile in plain if _goes(by_name[profile.name], tight)) for by_name in needs)
    chosen = _search(allowed)
    placements = []
    for at, profile, start in chosen:
        fit = needs[at][profile.name]
        placements.append(
            Placement(job=jobs[at][0], profile=profile.name, start=start, size=profile.memory, memory_gib=fit.slice.memory_gib,
                      need_gib=fit.need.device_gib)
        )  # fmt: skip
    placed = {at for at, _, _ in chosen}
    left_out = tuple(name for at, (name, _) in enumerate(jobs) if at not in placed)
    return _counted(gpu, made, tuple(sorted(placements, key=lambda place: place.start)), left_out)


def _goes(fit: SliceFit, tight: bool) -> bool:
    return fit.fits is True or (tight and fit.fits is None and fit.need.device_gib <= fit.slice.memory_gib)


def layout(gpu: GPU, names: Sequence[str]) -> Packing | None:
    """The instances of these profiles placed on a card, or None when no placement holds them all. Raises WorkloadFault for a
    card without MIG or a name that it does not have."""
    wanted = [profile_named(gpu, name) for name in names]
    made = geometry(gpu)
    if len(wanted) > MOST_JOBS or any(
        profile.most and sum(one.name == profile.name for one in wanted) > profile.most for profile in wanted
    ):
        return None
    chosen = _search(tuple((profile,) for profile in wanted))
    if len(chosen) < len(wanted):
        return None
    placements = tuple(
        Placement(job="", profile=profile.name, start=start, size=profile.memory, memory_gib=slice_of(gpu, profile).memory_gib,
                  need_gib=0.0)
        for _, profile, start in sorted(chosen, key=lambda item: item[2])
    )  # fmt: skip
    return _counted(gpu, made, placements, ())


Choice = tuple[tuple[int, Profile, int], ...]


def _search(allowed: tuple[tuple[Profile, ...], ...]) -> Choice:
    """Jobs placed as (index, profile, start): by dynamic programming over jobs and the set of taken slices."""

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


def _counted(gpu: GPU, made: Geometry, placements: tuple[Placement, ...], left_out: tuple[str, ...]) -> Packing:
    taken = {at for place in placements for at in range(place.start, place.start + place.size)}
    by_name = {profile.name: profile for profile in made.profiles}
    used = [by_name[place.profile].sms for place in placements]
    idle_sms = gpu.sms - sum(sms for sms in used if sms) if gpu.sms and all(used) else None
    mask = sum(1 << at for at in taken)
    room = [
        profile.name
        for profile in made.profiles
        if not profile.most and any(not mask & (((1 << profile.memory) - 1) << start) for start in profile.starts)
    ]
    return Packing(
        placements=placements, left_out=left_out,
        idle_memory_gib=max(0.0, (gpu.memory_gib or 0.0) - sum(place.memory_gib for place in placements)), idle_sms=idle_sms,
        free_slices=tuple(at for at in range(made.memory_slices) if at not in taken), room_for=room[-1] if room else None,
    )  # fmt: skip
