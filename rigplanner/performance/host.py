"""What the machine around the GPUs gives a job: its input pipeline and its power limits."""

from rigplanner.catalog.parts import MemoryKit
from rigplanner.machine.machine import Machine
from rigplanner.performance.input_pipeline import Dataset, Drives, Feed, feed
from rigplanner.rig.task import Workload

HARD_DISK_READS_S, SATA_READS_S, NVME_READS_S = 110.0, 10_000.0, 200_000.0
"""Random 4 KiB reads per second at the queue depth of a loader where the catalog does not list them."""
HARD_DISK_MBS, SATA_MBS, NVME_MBS = 170.0, 500.0, 3000.0


def feed_of(workload: Workload, machine: Machine) -> Feed | None:
    """Return what storage, RAM and CPUs of the machine give a workload that names its data set, or None when it names none."""
    if not workload.dataset_gb or not workload.dataset_samples:
        return None
    data = Dataset(
        samples=float(workload.dataset_samples),
        bytes_total=workload.dataset_gb * 1e9,
        packed=workload.dataset_format in ("packed", "recordio", "tfrecord", "webdataset", "lmdb", "tokens"),
        decoded_by="none" if workload.dataset_format in ("tokens", "arrays") else "cpu",
    )
    kits = [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]
    ram_gib = sum(kit.modules * kit.module_gib for kit in kits) or None
    cores = sum(node.cpu.cores or 0 for node in machine.cpus) or None
    host = [node.host_gbs for node in machine.gpus if node.host_gbs]
    return feed(data, fastest_drives(machine), cores, ram_gib, sum(host) if host else None)


def fastest_drives(machine: Machine) -> Drives | None:
    """Return the quickest drive of the machine, striped with its equals; None when it has none."""
    parts = [node.storage for node in machine.storage]
    if not parts:
        return None
    rates = []
    for part in parts:
        spinning = bool(part.rotation_rpm)
        reads = HARD_DISK_READS_S if spinning else NVME_READS_S if part.interface == "nvme" else SATA_READS_S
        rate = HARD_DISK_MBS if spinning else NVME_MBS if part.interface == "nvme" else SATA_MBS
        rates.append(
            (
                part.read_gbs * 1e3 if part.read_gbs else rate,
                part.random_read_kiops * 1e3 if part.random_read_kiops else reads,
                part.id,
            )
        )
    best = max(rates)
    return Drives(random_reads_s=best[1], sequential_mbs=best[0], count=sum(rate[2] == best[2] for rate in rates))


def cap_of(machine: Machine) -> float | None:
    """Return the lowest power limit set on the machine's GPUs in watts; None when none is set."""
    caps = [node.power_cap_w for node in machine.gpus if node.power_cap_w]
    return min(caps) if caps else None
