"""What the machine around the GPUs gives a job: its input pipeline and its power limits."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import MemoryKit
from rigplanner.errors import WorkloadFault
from rigplanner.machine.model import Machine
from rigplanner.performance.limits.input_pipeline import (
    NETWORK_FILE_READS_S,
    Dataset,
    Drives,
    Feed,
    feed,
    storage_samples_s,
)
from rigplanner.rig.workload import Workload

HARD_DISK_READS_S, SATA_READS_S, NVME_READS_S = 110.0, 10_000.0, 200_000.0
"""Random 4 KiB reads per second at the queue depth of a loader where the catalog does not list
them."""
PLACES, DECODERS = ("drives", "network"), ("cpu", "gpu")
"""Where a data set lies, and what decodes its images."""
PLAIN_NETWORK_GBPS, NETWORK_SHARE = 1.0, 0.8
"""Network port where none is known, and the share of its rate that files get (estimate)."""
USUAL_HOST_GHZ, FASTEST_HOST, SLOWEST_HOST = 3.5, 0.6, 1.5
"""Boost clock of the servers that most rows were measured on. Desktops with 5 GHz and more launch
faster: a 7B model in 16 bits on an RTX 4090 takes 0.5 ms a layer with transformers where servers
with A100s take 0.9 (mit-han-lab/llm-awq; Qwen2.5's speed benchmark)."""
HARD_DISK_MBS, SATA_MBS, NVME_MBS = 170.0, 500.0, 3000.0


def feed_of(workload: Workload, machine: Machine) -> Feed | None:
    """Return what storage, RAM and CPUs of the machine give a workload that names its data set, or
    None when it names none."""
    data = data_of(workload)
    if data is None:
        return None
    place = workload.dataset_place or "drives"
    if place not in PLACES:
        raise WorkloadFault(f"dataset_place: expected one of {', '.join(PLACES)}, found '{place}'.")
    kits = [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]
    ram_gib = sum(kit.modules * kit.module_gib for kit in kits) or None
    cores = sum(node.cpu.cores or 0 for node in machine.cpus) or None
    host = [node.host_gbs for node in machine.gpus if node.host_gbs]
    drives = network_share(machine) if place == "network" else fastest_drives(machine)
    return feed(data, drives, cores, ram_gib, sum(host) if host else None)


PACKED_FORMATS = (
    *("packed", "recordio", "tfrecord", "webdataset", "lmdb", "parquet", "mds", "arrow", "tokens"),
    *("bin", "hdf5"),
)
"""Formats that are read in long runs; anything else is one file per sample, or mapped pages."""


class Epoch(Struct, frozen=True, kw_only=True):
    """Hours in which the drives read a data set once, as it lies and packed into records; equal
    where it is packed."""

    hours: float
    packed_hours: float


def epoch_of(workload: Workload, machine: Machine) -> Epoch | None:
    """Return how long drives or network of a machine take to read the data set of a workload once,
    as for the first epoch; None without a data set or drives."""
    data = data_of(workload)
    on_network = workload.dataset_place == "network"
    drives = network_share(machine) if on_network else fastest_drives(machine)
    if data is None or drives is None:
        return None
    packed = replace(data, packed=True, mapped=False)
    hours = [each.samples / storage_samples_s(each, drives) / 3600 for each in (data, packed)]
    return Epoch(hours=hours[0], packed_hours=hours[1])


def data_of(workload: Workload) -> Dataset | None:
    """Return the data set that a workload names, or None."""
    if not workload.dataset_gb or not workload.dataset_samples:
        return None
    return Dataset(
        samples=float(workload.dataset_samples),
        bytes_total=workload.dataset_gb * 1e9,
        packed=(workload.dataset_format or "").casefold() in PACKED_FORMATS,
        mapped=workload.dataset_format == "mapped",
        decoded_by=_decoder(workload),
    )


def _decoder(workload: Workload) -> Literal["cpu", "gpu", "none"]:
    if workload.dataset_format in ("tokens", "arrays"):
        return "none"
    if workload.dataset_decoding not in (None, *DECODERS):
        raise WorkloadFault(
            f"dataset_decoding: expected one of {', '.join(DECODERS)}, found"
            f" '{workload.dataset_decoding}'."
        )
    return "gpu" if workload.dataset_decoding == "gpu" else "cpu"


def network_share(machine: Machine) -> Drives:
    """Return what a file server gives over the machine's fastest network port, 1 Gb/s where none is
    known."""
    fastest = max((nic.gbps for nic in machine.nics if nic.gbps), default=PLAIN_NETWORK_GBPS)
    return Drives(random_reads_s=NETWORK_FILE_READS_S, sequential_mbs=fastest * 125 * NETWORK_SHARE)


def fastest_drives(machine: Machine) -> Drives | None:
    """Return the quickest drive of the machine, striped with its equals; None when it has none."""
    parts = [node.storage for node in machine.storage]
    if not parts:
        return None
    rates = []
    for part in parts:
        spinning = bool(part.rotation_rpm)
        reads = (
            HARD_DISK_READS_S
            if spinning
            else NVME_READS_S
            if part.interface == "nvme"
            else SATA_READS_S
        )
        rate = HARD_DISK_MBS if spinning else NVME_MBS if part.interface == "nvme" else SATA_MBS
        rates.append(
            (
                part.read_gbs * 1e3 if part.read_gbs else rate,
                part.random_read_kiops * 1e3 if part.random_read_kiops else reads,
                part.id,
            )
        )
    best = max(rates)
    return Drives(
        random_reads_s=best[1],
        sequential_mbs=best[0],
        count=sum(rate[2] == best[2] for rate in rates),
    )


def host_pace(machine: Machine | None) -> float:
    """Return the host time of a launch over that of the hosts which measured rows come from: by the
    boost clock of the slowest CPU, 1 where no machine or no clock is known."""
    clocks = [node.cpu.boost_ghz for node in machine.cpus if node.cpu.boost_ghz] if machine else []
    return min(SLOWEST_HOST, max(FASTEST_HOST, USUAL_HOST_GHZ / min(clocks))) if clocks else 1.0


def cap_of(machine: Machine) -> float | None:
    """Return the lowest power limit set on the machine's GPUs in watts; None when none is set."""
    caps = [node.power_cap_w for node in machine.gpus if node.power_cap_w]
    return min(caps) if caps else None
