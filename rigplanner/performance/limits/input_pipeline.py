"""Whether storage, memory and CPU feed the GPUs: samples per second of each stage, and the stage
that binds."""

import math
from typing import Literal

from msgspec import Struct

from rigplanner.evidence import Step
from rigplanner.performance.answer import Bound

READ_BYTES = 4096
"""One random read, as drives are rated."""
FILE_READS = 2.0
"""Random reads that opening and reading one scattered file takes: its entry and its data, whose
further pages the kernel reads ahead in sequence (ext4 and XFS, caches cold)."""
DECODE_PER_CORE_S = 250.0
"""Images of ImageNet's size that one core decodes and augments per second. Decoding alone: 360 to
860 per thread on five server CPUs of 2020 to 2025 (imread-benchmark, arXiv 2605.08731); resizing,
cropping and copying take about half of a loader's time (estimate)."""
DOUBTS: dict[Bound, float] = {"cpu": 1.55, "storage": 1.25, "link": 1.1}
"""Factor by which the rate of a stage may be off either way, 80 of 100 times: decoding as the 360
to 860 above spread about their middle; drives and buses by judgement."""
NETWORK_FILE_READS_S = 2000.0
"""Random reads per second that a network file system gives one client where nothing is known
(estimate)."""
PAGE_CACHE_SHARE = 0.7
"""Share of the RAM that the page cache may hold beside the training processes (estimate)."""


class Drives(Struct, frozen=True, kw_only=True):
    """Drives that hold the data set, striped (RAID 0) when `count` is above 1: random 4 KiB reads
    and sequential MB/s of one."""

    random_reads_s: float
    sequential_mbs: float
    count: int = 1


class Dataset(Struct, frozen=True, kw_only=True):
    """Samples and their size on storage; `packed` sets are read in sequence, others file by file,
    `mapped` ones page by page wherever the pages lie. `decoded_mb` goes to the GPU."""

    samples: float
    bytes_total: float
    packed: bool
    mapped: bool = False
    decoded_mb: float = 0.15
    decoded_by: Literal["cpu", "gpu", "none"] = "cpu"


class Feed(Struct, frozen=True, kw_only=True):
    """Samples per second that each stage can give (None: not in the way), what all give together,
    and the one that binds."""

    storage_s: float | None
    decode_s: float | None
    bus_s: float | None
    together_s: float
    bound: Bound
    cached: bool
    steps: tuple[Step, ...]


def storage_samples_s(data: Dataset, drives: Drives) -> float:
    """Return the samples per second from storage: in sequence when packed; else random reads first,
    a page each of a mapped set or of samples no larger than one, an entry and the data of a file,
    and then what is left of the file in sequence."""
    size, rate = data.bytes_total / data.samples, drives.sequential_mbs * 1e6
    if data.packed:
        return rate * drives.count / size
    pages = math.ceil(size / READ_BYTES)
    reads = pages if data.mapped else min(pages, FILE_READS)
    return drives.count / (
        reads / drives.random_reads_s + max(0.0, size - reads * READ_BYTES) / rate
    )


def feed(
    data: Dataset,
    drives: Drives | None,
    cores: int | None,
    ram_gib: float | None,
    bus_gbs: float | None,
) -> Feed:
    """Return what the pipeline gives after the first epoch; a set that fits in RAM comes from the
    page cache then."""
    cached = ram_gib is not None and data.bytes_total <= ram_gib * 2**30 * PAGE_CACHE_SHARE
    storage = None if cached or drives is None else storage_samples_s(data, drives)
    decode = cores * DECODE_PER_CORE_S if cores and data.decoded_by == "cpu" else None
    bus = bus_gbs * 1e3 / data.decoded_mb if bus_gbs else None
    offered: tuple[tuple[Bound, float | None], ...] = (
        ("storage", storage),
        ("cpu", decode),
        ("link", bus),
    )
    stages: dict[Bound, float] = {name: rate for name, rate in offered if rate is not None}
    steps = tuple(
        Step(name, "samples per second of the stage", {"cached": str(cached)}, rate, "samples/s")
        for name, rate in stages.items()
    )
    if not stages:
        return Feed(
            storage_s=None,
            decode_s=None,
            bus_s=None,
            together_s=math.inf,
            bound="unknown",
            cached=cached,
            steps=steps,
        )
    bound = min(stages, key=lambda name: stages[name])
    return Feed(
        storage_s=storage,
        decode_s=decode,
        bus_s=bus,
        together_s=stages[bound],
        bound=bound,
        cached=cached,
        steps=steps,
    )


def fed_range(fed: Feed, value: float, low: float, high: float) -> tuple[float, float, float]:
    """Return what becomes of a speed and its interval where the pipeline, which itself may be off,
    has to feed it."""
    doubt = DOUBTS.get(fed.bound, 1.0)
    return (
        fed_rate(value, fed.together_s),
        fed_rate(low, fed.together_s / doubt),
        fed_rate(high, fed.together_s * doubt),
    )


def fed_rate(wanted_s: float, given_s: float) -> float:
    """Return the speed of GPUs that want `wanted_s` samples per second and get `given_s`: the
    smaller, softened near balance (4-norm) because a shared host slows both."""
    if math.isinf(given_s):
        return wanted_s
    return float((wanted_s**-4 + given_s**-4) ** -0.25)
