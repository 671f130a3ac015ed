"""Cases of rules on several nodes."""

from rule_bench import SERVER, Pick, RuleCase, bench_rig, case

from rigplanner.rig.document import Rig
from rigplanner.rig.workload import Parallelism, Workload

JOB = Workload(name="job", task="train", flags=["gib:10"])
WIDE = Workload(name="wide", task="train", flags=["gib:10"], parallelism=Parallelism(tensor=4))
INSIDE = Workload(name="inside", task="train", flags=["gib:10"], parallelism=Parallelism(tensor=2))


def two(*jobs: Workload, **picks: Pick) -> Rig:
    """Two equal servers with two GPUs and a port each, and what is picked otherwise."""
    whole: dict[str, Pick] = {
        "motherboard": ("board.server", 2),
        "cpu": ("cpu.server", 4),
        "cooler": ("cooler.server", 4),
        "memory": ("memory.server", 32),
        "gpu": ("gpu.other", 4),
        "nic": ("nic.fast", 2),
        "storage": ("drive.nvme", 2),
    }
    return bench_rig(SERVER, jobs=jobs, **(whole | picks))


CASES: tuple[RuleCase, ...] = (
    case("NOD001", "fires", two(cpu=("cpu.server", 2), memory=("memory.server", 16))),
    case("NOD001", "fires", two(memory="memory.server")),
    case("NOD001", "fires", two(nic="nic.fast"), None, "warning"),
    case("NOD001", "limit", two()),
    case("NOD001", "limit", two(memory=("memory.server", 2))),
    case("NOD001", "limit", two(nic=None)),
    case("NOD001", "silent", bench_rig(SERVER)),
    case("NOD001", "silent", two(cpu=None, cooler=None, memory=None)),
    case("CPU003", "fires", two(cpu=("cpu.server", 5))),
    case("CPU003", "limit", two()),
    case("MEM003", "fires", two(memory=("memory.server", 33))),
    case("MEM003", "limit", two()),
    case("NOD002", "fires", two(), None, "info"),
    case("NOD002", "fires", two(JOB), None, "info"),
    case("NOD002", "fires", two(INSIDE), None, "info"),
    case("NOD002", "fires", two(WIDE), None, "warning"),
    case(
        "NOD002",
        "limit",
        two(gpu=("gpu.other", 2, ("SLOT1", "SLOT2")), nic=None, cpu=("cpu.server", 2)),
    ),
    case("NOD002", "silent", bench_rig(SERVER, jobs=(JOB,))),
    case("NOD002", "unknown", two(JOB, nic=None)),
    case("NOD002", "unknown", two(JOB, nic="nic.fast")),
    case("NOD002", "unknown", two(JOB), {"nic.fast": {"port_gbps": None}}),
)
