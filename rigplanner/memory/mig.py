"""MIG: how an NVIDIA GPU is partitioned, and what a partition offers."""

from __future__ import annotations

from functools import cache

import msgspec
from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.data import data_path
from rigplanner.decoding import read_json
from rigplanner.errors import WorkloadFault
from rigplanner.evidence import Source
from rigplanner.rig.workload import Workload

LEAST_USABLE = 0.91
"""Share of a slice's nominal memory that is left where no listing of the card was found: the least
of those that were (1g.18gb of an H200 shows 16.0 of 17.6 GiB)."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One partition: `compute` and `memory` slices, the memory slices it may begin at, `memory_gib`
    and `sms` as nvidia-smi lists them. `most`: how many there can be at once where that is less
    than its starts (media extensions: one)."""

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
    """The partitions of some GPUs (part ids). `source` of names, shares and placements, `listing`
    of memory and multiprocessors."""

    slug: str
    gpus: tuple[str, ...]
    compute_slices: int
    memory_slices: int
    profiles: tuple[Profile, ...]
    source: str
    listing: str | None = None


class Slice(Struct, frozen=True, kw_only=True):
    """What one partition of a card offers: memory in GiB (`listed`: as nvidia-smi shows it, else
    reckoned from its share), shares of the card's multiprocessors and memory bandwidth, and how
    many a card holds."""

    name: str
    count: int
    memory_gib: float
    listed: bool
    sms: int | None
    compute_share: float
    bandwidth_share: float
    copy_engines: int


class _File(Struct, forbid_unknown_fields=True):
    sources: dict[str, Source]
    geometries: tuple[Geometry, ...]


@cache
def _file() -> _File:
    return read_json((data_path("catalog") / "architectures" / "mig.json").read_bytes(), _File)


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
    """What a profile offers on a card; raises WorkloadFault when neither its memory nor the card's
    is known."""
    made = geometry(gpu)
    share = profile.memory / made.memory_slices
    memory = profile.memory_gib
    if memory is None:
        if gpu.memory_gib is None:
            raise WorkloadFault(f"hardware.gpu: the memory of {gpu.name} is not known.")
        memory = gpu.memory_gib * share * LEAST_USABLE
    counted = (
        profile.sms / gpu.sms if profile.sms and gpu.sms else profile.compute / made.compute_slices
    )
    return Slice(
        name=profile.name,
        count=profile.count,
        memory_gib=memory,
        listed=profile.memory_gib is not None,
        sms=profile.sms,
        compute_share=min(1.0, counted),
        bandwidth_share=share,
        copy_engines=profile.copy_engines,
    )


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
    raise WorkloadFault(
        f"mig: expected one of {', '.join(profile.name for profile in made.profiles)}, found"
        f" {name!r}."
    )


def part_of(gpu: GPU, profile: Profile) -> GPU:
    """The partition as a GPU of its own: its memory, its share of multiprocessors, rates and
    bandwidth, no NVLink and no peers."""
    offered = slice_of(gpu, profile)
    rates = {
        field: None if value is None else value * offered.compute_share
        for field, value in msgspec.structs.asdict(gpu.dense_tflops).items()
    }
    return msgspec.structs.replace(
        gpu,
        name=f"{gpu.name} MIG {profile.name}",
        memory_gib=offered.memory_gib,
        sms=profile.sms,
        bandwidth_gbs=(
            None if gpu.bandwidth_gbs is None else gpu.bandwidth_gbs * offered.bandwidth_share
        ),
        dense_tflops=msgspec.structs.replace(gpu.dense_tflops, **rates),
        nvlink=None,
        has_nvlink=False,
        p2p="no",
    )


def partition_of(workload: Workload, gpu: GPU) -> GPU:
    """The GPU that a job sees: the card, or the partition that the job names. Raises WorkloadFault
    for one it does not have."""
    return gpu if workload.mig is None else part_of(gpu, profile_named(gpu, workload.mig))
