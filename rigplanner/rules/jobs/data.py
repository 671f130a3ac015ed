"""Data: room for the data set, the reads that it makes, drives striped into one volume, reads past
the host's memory."""

from collections.abc import Iterator

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Storage
from rigplanner.machine.topology.peer import drive_paths, has_direct_access
from rigplanner.performance.limits.host import PACKED_FORMATS, epoch_of
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context, Drive, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, item_of
from rigplanner.rules.core.registry import rule


class Stripe(Struct, frozen=True):
    """The drives of a RAID 0 set, and how many drives the rig has beside them."""

    names: tuple[str, ...]
    drives: tuple[Storage, ...]
    others: int

    @property
    def subjects(self) -> tuple[str, ...]:
        return self.names


def striped(context: Context) -> tuple[Drive, ...]:
    """Return the drives that the rig stripes into one volume."""
    chosen = set(context.rig.settings.raid0)
    return tuple(
        drive
        for drive in context.drives
        if drive.name.partition("/")[0].rpartition(".")[0] in chosen
    )


def stripes(context: Context) -> Iterator[Stripe]:
    """The RAID 0 set of the rig."""
    members = striped(context)
    if context.rig.settings.raid0:
        yield Stripe(
            tuple(drive.name for drive in members),
            tuple(drive.drive for drive in members),
            len(context.drives) - len(members),
        )


def volume_gb(drives: list[Storage]) -> float:
    """Return what a RAID 0 set holds in GB: as often the smallest member as there are members."""
    return min((drive.capacity_gb for drive in drives), default=0.0) * len(drives)


def _unstripe(context: Context) -> tuple[Fix, ...]:
    return (fix(context, "unstripe", Edit("set_raid0", {"uids": []})),)


@rule(
    "DSK005",
    "Drives of a RAID 0 set do not match",
    "warning",
    over=stripes,
    reason=(
        "A stripe takes as much of each drive as its smallest member has, and runs at the pace of"
        " its slowest; a set has two members at least."
    ),
    source="Linux mdadm manual, RAID 0 (an mdadm set of unequal drives is striped in zones)",
)
def stripe_members(context: Context, case: Stripe) -> Iterator[Finding]:
    """Compare capacity, protocol and read rate of the members, in GB; an unknown rate is named
    where all else is equal."""
    sizes = {drive.capacity_gb for drive in case.drives}
    kinds = {(drive.interface, rotates(drive)) for drive in case.drives}
    rates = {drive.id: drive.read_gbs for drive in case.drives}
    fixes = _unstripe(context)
    total = sum(drive.capacity_gb for drive in case.drives)
    if len(case.drives) < 2:
        yield stripe_members.finding(
            case, needed=2, actual=len(case.drives), unit="drives", variant="few", fixes=fixes
        )
    elif len(sizes) > 1 or len(kinds) > 1:
        yield stripe_members.finding(
            case, needed=total, actual=volume_gb(list(case.drives)), unit="GB", fixes=fixes
        )
    elif len(rates) > 1 and None in rates.values():
        missing = [f"{part}:read_gbs" for part, value in rates.items() if value is None]
        yield stripe_members.unknown(case, *missing)
    elif len(set(rates.values())) > 1:
        known = [value for value in rates.values() if value is not None]
        yield stripe_members.finding(
            case, needed=max(known), actual=min(known), unit="GB/s", variant="pace", fixes=fixes
        )


@rule(
    "DSK006",
    "RAID 0 loses all with one drive",
    "info",
    over=stripes,
    reason=(
        "Nothing is kept twice: when one member fails, the whole volume is gone. It suits data that"
        " can be fetched again, not checkpoints or the system."
    ),
    source="Linux mdadm manual, RAID 0",
)
def stripe_loss(context: Context, case: Stripe) -> Iterator[Finding]:
    """A remark; a warning where no drive stands beside the set, so that system and checkpoints are
    on it too."""
    if len(case.drives) > 1:
        yield stripe_loss.finding(
            case,
            "info" if case.others else "warning",
            needed=len(case.drives),
            actual=volume_gb(list(case.drives)),
            unit="GB",
            count=len(case.drives),
            fixes=() if case.others else _unstripe(context),
        )


class DataSet(Named, frozen=True):
    """A workload's data set beside the rig's drives: what all of them hold, and the largest volume
    among them."""

    gb: float
    capacity_gb: float
    volume_gb: float
    fastest: Storage
    random: bool
    job: JobFacts


WORTH = 0.9
"""Share of the time that reading a packed set may take at most to be worth packing."""


def rotates(drive: Storage) -> bool:
    """Say whether a drive is a hard disk: one that names its rotation, or fills a bay of 3.5
    inches."""
    return bool(drive.rotation_rpm) or (drive.rotation_rpm is None and drive.form_factor == "3.5")


def data_sets(context: Context) -> Iterator[DataSet]:
    """Workloads that name the size of their data set, on rigs with drives."""
    drives = [drive.drive for drive in context.drives]
    set_of = striped(context)
    loose = [drive.drive.capacity_gb for drive in context.drives if drive not in set_of]
    volume = volume_gb([drive.drive for drive in set_of])
    for job in context.jobs:
        if job.workload.dataset_gb is not None and drives:
            fastest = max(
                drives,
                key=lambda drive: (
                    drive.interface == "nvme",
                    not rotates(drive),
                    drive.read_gbs or 0.0,
                ),
            )
            room, largest = sum(loose) + volume, max([volume, *loose])
            gb = job.workload.dataset_gb
            yield DataSet(job.name, gb, room, largest, fastest, _is_random(job), job)


def _is_random(job: JobFacts) -> bool:
    return (job.workload.dataset_format or "files").casefold() not in PACKED_FORMATS


@rule(
    "DSK003",
    "Data set does not fit the drives",
    "error",
    over=data_sets,
    needs=("capacity_gb",),
    reason="The data are read again in each epoch.",
    source="Arithmetic",
)
def data_room(context: Context, case: DataSet) -> Iterator[Finding]:
    """Compare the data set with the drives' sum, in GB; a remark where it fits only over several of
    them."""
    if case.gb > case.capacity_gb:
        yield data_room.finding(case, needed=case.gb, actual=case.capacity_gb, unit="GB")
    elif case.gb > case.volume_gb:
        fixes = _stripe_for(context, case.gb)
        yield data_room.finding(
            case, "info", needed=case.gb, actual=case.volume_gb, unit="GB", fixes=fixes
        )


def _stripe_for(context: Context, gb: float) -> tuple[Fix, ...]:
    """Offer to stripe the equal drives that hold the data together."""
    by_model: dict[str, list[Drive]] = {}
    for drive in context.drives:
        by_model.setdefault(drive.drive.id, []).append(drive)
    for members in by_model.values():
        found = [item_of(context, drive.name) for drive in members]
        uids = list(dict.fromkeys(entry[0].uid for entry in found if entry is not None))
        if (
            len(members) > 1
            and None not in found
            and volume_gb([drive.drive for drive in members]) >= gb
        ):
            return (
                fix(
                    context,
                    "stripe",
                    Edit("set_raid0", {"uids": uids}),
                    count=len(members),
                    drive=members[0].drive.id,
                ),
            )
    return ()


@rule(
    "DSK004",
    "Hard disk serves many small files",
    "warning",
    over=data_sets,
    needs=("fastest.interface",),
    reason=(
        "A hard disk makes about a hundred random reads a second; one file per sample then starves"
        " the GPUs."
    ),
    source="Drive makers' random-read figures",
)
def disk_random(context: Context, case: DataSet) -> Iterator[Finding]:
    """Warn when a data set of single files that host memory cannot hold comes from rotating disks
    only."""
    memory_gb = context.memory_gib * 2**30 / 1e9
    if not (case.random and rotates(case.fastest)):
        return
    if not context.memory:
        yield disk_random.unknown(case, "rig:memory")
    elif case.gb > memory_gb:
        yield disk_random.finding(
            case,
            needed=case.gb,
            actual=round(memory_gb, 1),
            unit="GB",
            fixes=pack_fixes(context, case.job),
        )


def pack_fixes(context: Context, job: JobFacts) -> tuple[Fix, ...]:
    """Offer to pack a job's data set into records, where the drives then read it faster."""
    epoch = epoch_of(job.workload, context.machine)
    if epoch is None or epoch.packed_hours > WORTH * epoch.hours:
        return ()
    return (
        fix(
            context,
            "pack",
            Edit("change_workload", {"index": job.index, "dataset_format": "packed"}),
            times=round(epoch.hours / epoch.packed_hours, 1),
        ),
    )


class Bypass(Struct, frozen=True):
    """A job that wants GPUDirect Storage, a GPU model, and the drives that speak NVMe."""

    name: str
    gpu_name: str
    card: GPU
    direct: bool | None
    drives: tuple[str, ...]
    letters: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.gpu_name)


ASKS_DIRECT = ("gds", "gpudirect-storage")


def bypasses(context: Context) -> Iterator[Bypass]:
    """Jobs whose flags ask for GPUDirect Storage, one case per GPU model."""
    for job in context.jobs:
        if not set(ASKS_DIRECT) & set(job.workload.flags):
            continue
        seen: set[str] = set()
        for node in context.machine.gpus:
            if node.gpu.id not in seen:
                seen.add(node.gpu.id)
                paths = [path for path in drive_paths(context.machine) if path.gpu == node.index]
                letters = tuple(path.letter for path in paths)
                drives = tuple(path.device for path in paths)
                yield Bypass(
                    job.name, node.piece, node.gpu, has_direct_access(node.gpu), drives, letters
                )


@rule(
    "DSK007",
    "Way of the data from the drives to the GPUs",
    "warning",
    over=bypasses,
    needs=("direct",),
    reason=(
        "Reads from NVMe drives straight into GPU memory want a data-centre or workstation card,"
        " Linux and an NVMe drive; they pay below one PCIe switch. Elsewhere the library falls back"
        " to copies through host memory."
    ),
    source="NVIDIA GPUDirect Storage documentation: overview and requirements",
)
def direct_storage(context: Context, case: Bypass) -> Iterator[Finding]:
    """A warning where card, drives or system rule it out; a remark where every path goes through
    the CPU."""
    windows = "windows" in context.rig.settings.software.get("os", "").casefold()
    if not case.direct or not case.drives or windows:
        variant = "card" if not case.direct else "system" if windows else "drive"
        yield direct_storage.finding(case, variant=variant)
    elif not any(letter in ("PIX", "PXB") for letter in case.letters):
        yield direct_storage.finding(case, "info")
