"""What a training step waits for the host where optimizer states or weights are offloaded to its
memory or drives."""

import math

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, MemoryKit, Motherboard, System
from rigplanner.machine.model import Machine
from rigplanner.machine.pcie import link_gbs
from rigplanner.performance.limits.host import fastest_drives
from rigplanner.performance.silicon import weight_bits
from rigplanner.rig.workload import Workload
from rigplanner.workload.job import offload_word

STEP_S = 0.55e-9
"""Seconds of Adam on the host per trained parameter beside what its memory takes: geometric mean of
seven hosts, whole 0.25e-9 to 2.7e-9: ZeRO-Offload on two Xeons 8168 (arXiv 2101.06840, table 4, as
remembered, not read again) 0.25, Qwen-72B on four hosts of A100 0.55 (deepspeedai/DeepSpeed issue
6834), 11.6 billion parameters 0.71 (pull request 735), Qwen2.5-3B on two A100 less than 0.77
(7474), Falcon-7B on eight A100 1.06 (3901), 1.1 billion parameters on a Ryzen 5600 with DDR4 1.5
(pytorch/ao, low_bit_optim), LLaMA-7B on eight A800 and two Xeons 8358 2.7 (gist of chenyaofo)."""
STEP_BYTES = 38.0
"""Bytes that such a step moves in memory per parameter: weight and two moments in fp32 read and
written, the gradient written by the GPU, widened and read, the weight written in 16 bits and read
by the GPU."""
RAM_SHARE = 0.8
REGISTERED = ("rdimm", "lrdimm", "mrdimm")
"""Kinds of module that run at the rate of the CPU's memory controller, whatever their label bears.
"""
SPREAD = 2.4
"""Factor either way by which the host's part of a step may differ, in four of five cases: the
logarithms of those seven deviate by 0.69."""
USUAL_LINK_GBS, USUAL_DRIVE_GBS = 12.9, 3.0
"""One way to the host and of an NVMe drive where the machine does not tell: PCIe 3.0 x16 and a
drive of that generation."""
STATE_BYTES = 24.0
"""Bytes per parameter that a step reads from and writes to drives: weight and two moments in fp32
(arXiv 2104.07857)."""
ADAPTERS = 0.01
"""Share of the parameters that adapters train."""


class Offload(Struct, frozen=True):
    """What is offloaded (optimizer, all, nvme), and the host's rates in GB/s: one way to each GPU,
    of all memory (None: unknown, then it is not what a step waits for), of the drives. `copies`:
    each GPU has states of its own instead of a share."""

    word: str
    link_gbs: float
    ram_gbs: float | None
    drive_gbs: float
    copies: bool = False


class Waits(Struct, frozen=True):
    """Seconds of a step: the optimizer on the CPU, gradients and weights over PCIe, drives; and
    weights that come up for every pass."""

    cpu_s: float = 0.0
    link_s: float = 0.0
    drive_s: float = 0.0
    fetch_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of them: the step ends when the weights are back."""
        return self.cpu_s + self.link_s + self.drive_s + self.fetch_s

    def over(self, steps: int) -> "Waits":
        """Return the part of one of `steps` passes that share an update."""
        return Waits(self.cpu_s / steps, self.link_s / steps, self.drive_s / steps, self.fetch_s)


def offload_of(
    workload: Workload, gpu: GPU, machine: Machine | None, sharded: bool
) -> Offload | None:
    """Return what a workload offloads and to what, on a stack that is `sharded` or not; None where
    it offloads nothing. Raises WorkloadFault for unknown words."""
    word = offload_word(workload.parallelism) if workload.parallelism else "none"
    if word == "none":
        return None
    links = [node.host_gbs for node in machine.gpus if node.host_gbs] if machine else []
    own = link_gbs(gpu.edge_gen, gpu.edge_width)
    drives = fastest_drives(machine) if machine else None
    return Offload(
        word,
        min(links) if links else own or USUAL_LINK_GBS,
        ram_gbs(machine) if machine else None,
        drives.sequential_mbs * drives.count / 1e3 if drives else USUAL_DRIVE_GBS,
        not sharded and (workload.parallelism is None or workload.parallelism.zero == 0),
    )


def ram_gbs(machine: Machine, *, as_labelled: bool = False) -> float | None:
    """Return the rate of all channels of host memory in GB/s, at what its population runs at, or
    what its modules are labelled with; None where CPU or modules do not tell."""
    kits = [piece.part for piece in machine.pieces if isinstance(piece.part, MemoryKit)]
    speeds = [kit.speed_mts for kit in kits if kit.speed_mts]
    channels = [
        node.cpu.memory.channels
        for node in machine.cpus
        if node.cpu.memory and node.cpu.memory.channels
    ]
    if not speeds or len(channels) != len(machine.cpus) or not channels:
        return None
    modules = sum(kit.modules for kit in kits)
    rate_mts = _running_mts(machine, min(speeds), kits[0].module, -(-modules // sum(channels)))
    if as_labelled and kits[0].module not in REGISTERED:
        rate_mts = float(min(speeds))
    return min(sum(channels), modules) * rate_mts * 8 / 1e3


def _running_mts(
    machine: Machine, labelled_mts: int, module: str | None, per_channel: int
) -> float:
    """The rate that memory runs at: registered modules, several on a channel and those whose clock
    driver is passed by at what the CPUs guarantee for so many, no module above the limit of its
    board (CPU makers' tables of memory speeds; others follow their profiles)."""
    bounds = [
        labelled_mts,
        *(
            board.layout.memory_speed_mts
            for board in _boards(machine)
            if board.layout.memory_speed_mts
        ),
    ]
    memories = [node.cpu.memory for node in machine.cpus if node.cpu.memory]
    passed_by = module == "cudimm" and any(
        memory.modules and module not in memory.modules for memory in memories
    )
    if module in REGISTERED or per_channel > 1 or passed_by:
        tables = [memory.speeds_mts for memory in memories]
        bounds += [speed for table in tables if (speed := table.get(str(per_channel)))]
    return min(bounds)


def _boards(machine: Machine) -> list[Motherboard | System]:
    return [piece.part for piece in machine.pieces if isinstance(piece.part, Motherboard | System)]


def waits(
    offload: Offload, params: float, precision: str, ranks: int, adapted: bool, passes: int = 2
) -> Waits:
    """Return what one step of `params` parameters over `ranks` GPUs waits for: gradients go down
    and weights come up in 16 bits, a share of each per GPU; offloaded weights come up as they are
    stored for each of the `passes` over the layers: forward, backward, and again where they are
    recomputed. The one table that takes these apart (Falcon-7B, deepspeedai/DeepSpeed issue 3901:
    2.86 s with nothing offloaded, 6.05 with the weights, 13.70 with all) has the weights come at a
    sixteenth of the link; one source makes no law."""
    held = params * ranks if offload.copies else params
    trained = held * (ADAPTERS if adapted else 1.0)
    moved, fetched = 4.0 * trained / ranks, 0.0
    if offload.word in ("all", "nvme"):
        fetched = passes * held / ranks * (weight_bits(precision) if adapted else 16.0) / 8
    of_memory = STEP_BYTES / (offload.ram_gbs * 1e9 * RAM_SHARE) if offload.ram_gbs else 0.0
    drive = trained * STATE_BYTES / (offload.drive_gbs * 1e9) if offload.word == "nvme" else 0.0
    link = offload.link_gbs * 1e9
    return Waits(trained * (STEP_S + of_memory), moved / link, drive, fetched / link)


def doubt(waited_s: float, step_s: float) -> float:
    """Return how far the logarithm of the speed may be off by the host's part of a step: what a
    host slower by its spread makes of it."""
    return math.log1p((SPREAD - 1) * min(1.0, waited_s / step_s))
