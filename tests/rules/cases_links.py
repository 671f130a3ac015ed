"""Cases of NVLink, exchange, drive and display rules."""

from msgspec.structs import replace
from rule_bench import DESK_SLOTS, SERVER, bench_rig, case, named

from rigplanner.catalog.schema.parts import LaneMode, NvlinkPort, Rates, When
from rigplanner.rig.document import Monitors
from rigplanner.rig.edits import set_role
from rigplanner.rig.workload import Parallelism, Workload

DESK_RIG = bench_rig()
PLACES = ("PCIE1", "PCIE2")
PAIR = bench_rig(gpu=("gpu.card", 2, PLACES))
REFUSED = {"gpu.other": {"p2p": "no"}}
JOB = Workload(name="job", task="train", flags=["gib:10"])
NVLINK = Workload(name="job", task="train", flags=["gib:10", "nvlink"])


def _bridged(
    bridge: str = "bridge.four",
    gpu: str = "gpu.card",
    count: int = 1,
    jobs: tuple[Workload, ...] = (),
):
    return bench_rig(gpu=(gpu, 2, PLACES), bridge=(bridge, count), jobs=jobs)


def _second_slot(position: int | None):
    """The desk's board with its second slot somewhere else."""
    first, second, *others = DESK_SLOTS
    return {"board.desk": {"layout.slots": (first, replace(second, position=position), *others)}}


OTHER_PORT = NvlinkPort(generation=2, links=2, link_gbs=25.0, connector="geforce-20")


def _unlike(second: str):
    """A bridge beside a card that has its connector and one that has not."""
    return bench_rig(
        gpu=("gpu.card", 1, ("PCIE1",)), gpu2=(second, 1, ("PCIE2",)), bridge="bridge.four"
    )


FOUR = bench_rig(SERVER, gpu=("gpu.thin", 4), bridge=("bridge.two", 2), psu="psu.big", jobs=(JOB,))
TWO_SLOT = {"bridge.four": {"spacing_slots": 2}, "gpu.card": {"slots": 2, "cooling": "blower"}}
BACKPLANE = bench_rig(
    motherboard=None,
    psu=None,
    chassis=None,
    cpu=("cpu.server", 2),
    memory=("memory.server", 16),
    gpu="gpu.thin",
    system="system.server",
    storage="drive.sata",
)

WORKING = bench_rig(jobs=(JOB,))
DOUBLED = bench_rig(jobs=(replace(JOB, precision="fp64"),))
CHECKED = bench_rig(jobs=(replace(JOB, flags=["ecc"]),))
GAME_CARD: dict[str, dict[str, object]] = {
    "gpu.card": {
        "name": "GeForce X",
        "released": "2020-01-01",
        "ecc": False,
        "dense_tflops": Rates(fp32=16.0, fp64=0.5),
    }
}
WORK_CARD = {
    "gpu.card": {"name": "Quadro X", "released": "2020-01-01"},
    "gpu.other": {
        "name": "GeForce X",
        "released": "2021-05-01",
        "memory_gib": 96.0,
        "bandwidth_gbs": 5000.0,
        "dense_tflops": Rates(fp32=900.0),
    },
}
SCREENS = replace(DESK_RIG.site, monitors=Monitors(count=2))


def _with_role(role: str | None, gpu: str = "gpu.card", monitors: int = 2, **picks):
    """The desk with monitors and a role of its card."""
    site = replace(DESK_RIG.site, monitors=Monitors(count=monitors))
    rig = bench_rig(site=site, gpu=gpu, **picks)
    return set_role(rig, "gpu", role)


def _two_cards(board: str = "board.desk", **places):
    """The desk with a second card, which drives the monitors."""
    rig = bench_rig(site=SCREENS, motherboard=board, gpu2=("gpu.thin", 1, places.get("gpu2", ())))
    return set_role(rig, "gpu2", "display")


CASES = (
    case("NVL001", "fires", _bridged(gpu="gpu.other")),
    case("NVL001", "fires", _unlike("gpu.other")),
    case("NVL001", "limit", _bridged()),
    case("NVL001", "silent", PAIR),
    case("NVL001", "unknown", _bridged(), {"gpu.card": {"has_nvlink": None}}),
    case("NVL002", "fires", _bridged("bridge.old")),
    case("NVL002", "fires", _unlike("gpu.twin"), {"gpu.twin": {"nvlink": OTHER_PORT}}),
    case("NVL002", "limit", _bridged(), {"bridge.four": {"connector": "other"}}),
    case("NVL002", "silent", PAIR),
    case("NVL002", "unknown", _bridged(), {"gpu.card": {"nvlink": None}}),
    case("NVL003", "fires", _bridged("bridge.three")),
    case("NVL003", "limit", _bridged()),
    case("NVL003", "silent", PAIR),
    case("NVL003", "unknown", _bridged(), {"bridge.four": {"spacing_slots": None}}),
    case(
        "NVL004",
        "fires",
        bench_rig(
            gpu=("gpu.card", 1, ("PCIE1",)), gpu2=("gpu.twin", 1, ("PCIE2",)), bridge="bridge.four"
        ),
    ),
    case("NVL004", "limit", _bridged()),
    case("NVL004", "silent", PAIR),
    case("NVL004", "unknown", _bridged(), {"gpu.card": {"nvlink": None}}),
    case("NVL005", "fires", bench_rig(bridge="bridge.four")),
    case("NVL005", "limit", _bridged()),
    case("NVL005", "silent", PAIR),
    case("NVL005", "unknown", _bridged(), {"gpu.card": {"nvlink": None}}),
    case("NVL006", "fires", _bridged(), {"bridge.four": {"proven_with": {"gpu.card": "should"}}}),
    case(
        "NVL006",
        "fires",
        _bridged(),
        {"bridge.four": {"proven_with": {"gpu.old": "tested"}}},
        "info",
    ),
    case("NVL006", "limit", _bridged(), {"bridge.four": {"proven_with": {"gpu.card": "design"}}}),
    case("NVL006", "silent", _bridged()),
    case("NVL006", "unknown", _bridged(), {"bridge.four": {"proven_with": {}}}),
    case("NVL007", "fires", _bridged(), {"bridge.four": {"per_pair": 3}}),
    case("NVL007", "limit", _bridged(count=3), {"bridge.four": {"per_pair": 3}}),
    case("NVL007", "silent", _bridged()),
    case(
        "NVL007",
        "unknown",
        _bridged(),
        {"bridge.four": {"per_pair": 3}, "gpu.card": {"nvlink": None}},
    ),
    case("NVL008", "fires", FOUR),
    case(
        "NVL008",
        "fires",
        bench_rig(
            SERVER,
            gpu=("gpu.thin", 4),
            bridge=("bridge.two", 2),
            psu="psu.big",
            jobs=(
                Workload(
                    name="job", task="train", flags=["gib:10"], parallelism=Parallelism(tensor=2)
                ),
            ),
        ),
        None,
        "info",
    ),
    case("NVL008", "fires", replace(FOUR, workloads=())),
    case("NVL008", "limit", _bridged(jobs=(JOB,))),
    case("NVL008", "silent", bench_rig(SERVER, gpu=("gpu.other", 4), jobs=(JOB,))),
    case("NVL009", "fires", bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(NVLINK,))),
    case("NVL009", "limit", _bridged(jobs=(NVLINK,))),
    case("NVL009", "silent", bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(JOB,))),
    case(
        "NVL009",
        "unknown",
        bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(NVLINK,)),
        {"gpu.other": {"has_nvlink": None}},
    ),
    case("NVL010", "fires", PAIR),
    case("NVL010", "fires", PAIR, _second_slot(None)),
    case("NVL010", "limit", PAIR, _second_slot(6)),
    case("NVL010", "silent", _bridged()),
    case("NVL010", "silent", bench_rig(gpu=("gpu.other", 2, PLACES))),
    case(
        "P2P001",
        "fires",
        bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(JOB,)),
        {"gpu.other": {"p2p": "no"}},
    ),
    case("P2P001", "limit", _bridged(jobs=(JOB,)), {"gpu.card": {"p2p": "nvlink-only"}}),
    case("P2P001", "silent", bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(JOB,))),
    case("P2P002", "fires", bench_rig(gpu=("gpu.other", 2, PLACES))),
    case(
        "P2P002",
        "fires",
        bench_rig(gpu=("gpu.other", 2, PLACES)),
        {**REFUSED, "cpu.desk": {"vendor": "AMD"}},
    ),
    case("P2P002", "limit", bench_rig(gpu=("gpu.other", 2, PLACES), settings=named(iommu="pt"))),
    case("P2P002", "limit", bench_rig(gpu=("gpu.other", 2, PLACES)), REFUSED),
    case("P2P002", "limit", bench_rig(gpu=("gpu.other", 1, PLACES[:1]))),
    case("P2P002", "silent", DESK_RIG),
    case(
        "P2P002", "unknown", bench_rig(gpu=("gpu.other", 2, PLACES)), {"gpu.other": {"p2p": None}}
    ),
    case(
        "P2P001",
        "unknown",
        bench_rig(gpu=("gpu.other", 2, PLACES), jobs=(JOB,)),
        {"gpu.other": {"p2p": None}},
    ),
    case("M2001", "fires", bench_rig(storage=("drive.nvme", 4))),
    case("M2001", "limit", bench_rig(storage=("drive.nvme", 3))),
    case("M2001", "silent", DESK_RIG),
    case("M2001", "unknown", DESK_RIG, {"board.desk": {"layout.drives": ()}}),
    case("M2001", "unknown", BACKPLANE),
    case("M2001", "fires", BACKPLANE, {"system.server": {"enclosure.bays_25": 0}}),
    case("M2002", "fires", bench_rig(storage=("drive.nvme", 1, ("M2_9",)))),
    case("M2002", "limit", bench_rig(storage=("drive.nvme", 1, ("M2_3",)))),
    case("M2002", "silent", DESK_RIG),
    case("M2002", "unknown", DESK_RIG, {"board.desk": {"layout.drives": ()}}),
    case("M2003", "fires", bench_rig(storage=("drive.nvme", 2, ("M2_1", "M2_1")))),
    case(
        "M2003",
        "limit",
        bench_rig(sata=("drive.sata", 4, ("SATA", "SATA", "SATA", "SATA")), chassis=None),
    ),
    case("M2003", "silent", DESK_RIG),
    case("M2003", "unknown", DESK_RIG, {"board.desk": {"layout.drives": ()}}),
    case(
        "M2004",
        "fires",
        bench_rig(storage=("drive.nvme", 1, ("M2_3",)), gpu=("gpu.card", 2, PLACES)),
        {
            "board.desk": {
                "layout.lane_modes": (LaneMode(when=When(used=("PCIE2",)), disabled=("M2_3",)),)
            }
        },
    ),
    case(
        "M2004",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_1",)), gpu=("gpu.card", 2, PLACES)),
        {
            "board.desk": {
                "layout.lane_modes": (LaneMode(when=When(used=("PCIE2",)), disabled=("M2_3",)),)
            }
        },
    ),
    case("M2004", "silent", DESK_RIG),
    case("M2004", "unknown", DESK_RIG, {"board.desk": {"layout.drives": ()}}),
    case(
        "M2005",
        "fires",
        bench_rig(storage=("drive.nvme", 1, ("M2_1",))),
        {"drive.nvme": {"interface": "sata"}},
    ),
    case(
        "M2005",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_3",))),
        {"drive.nvme": {"interface": "sata"}},
    ),
    case("M2005", "silent", DESK_RIG),
    case("M2005", "unknown", DESK_RIG, {"board.desk": {"layout.drives": ()}}),
    case(
        "M2006",
        "fires",
        bench_rig(storage=("drive.nvme", 1, ("M2_1",))),
        {"drive.nvme": {"m2_length_mm": 2242}},
    ),
    case(
        "M2006",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_3",))),
        {"drive.nvme": {"m2_length_mm": 2242}},
    ),
    case("M2006", "silent", DESK_RIG),
    case("M2006", "unknown", DESK_RIG, {"drive.nvme": {"m2_length_mm": None}}),
    case("M2007", "fires", bench_rig(storage=("drive.nvme", 1, ("M2_3",)))),
    case(
        "M2007",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_3",))),
        {"drive.nvme": {"read_gbs": 32 / 8.125}},
    ),
    case("M2007", "silent", DESK_RIG),
    case(
        "DSK001",
        "fires",
        bench_rig(storage=("drive.nvme", 1, ("M2_3",))),
        {
            "board.desk": {
                "layout.lane_modes": (LaneMode(when=When(used=("M2_3",)), disabled=("SATA",)),)
            }
        },
    ),
    case(
        "DSK001",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_1",))),
        {
            "board.desk": {
                "layout.lane_modes": (LaneMode(when=When(used=("M2_3",)), disabled=("SATA",)),)
            }
        },
    ),
    case("DSK001", "silent", DESK_RIG),
    case("DSK002", "fires", bench_rig(disk=("drive.disk", 3))),
    case("DSK002", "limit", bench_rig(disk=("drive.disk", 2), sata=("drive.sata", 2))),
    case("DSK002", "silent", DESK_RIG),
    case(
        "DSK002",
        "silent",
        bench_rig(disk="drive.disk", sata="drive.sata"),
        {"case.tower": {"enclosure.bays_25": None}},
    ),
    case(
        "DSK002",
        "silent",
        bench_rig(disk="drive.disk"),
        {"case.tower": {"enclosure.bays_35": None}},
    ),  # every tower for such boards holds one
    case(
        "DSK002",
        "unknown",
        bench_rig(disk=("drive.disk", 4)),
        {"case.tower": {"enclosure.bays_35": None}},
    ),
    case(
        "DSK003",
        "fires",
        bench_rig(jobs=(Workload(task="train", flags=["gib:10"], dataset_gb=2001.0),)),
    ),
    case(
        "DSK003",
        "limit",
        bench_rig(jobs=(Workload(task="train", flags=["gib:10"], dataset_gb=2000.0),)),
    ),
    case("DSK003", "silent", DESK_RIG),
    case(
        "DSK004",
        "fires",
        bench_rig(
            storage="drive.disk", jobs=(Workload(task="train", flags=["gib:10"], dataset_gb=69.0),)
        ),
    ),
    case(
        "DSK004",
        "limit",
        bench_rig(
            storage="drive.disk", jobs=(Workload(task="train", flags=["gib:10"], dataset_gb=68.7),)
        ),
    ),
    case("DSK004", "silent", DESK_RIG),
    case(
        "DSK004",
        "unknown",
        bench_rig(
            storage="drive.disk",
            memory=None,
            jobs=(Workload(task="train", flags=["gib:10"], dataset_gb=69.0),),
        ),
    ),
    case(
        "DSP001",
        "fires",
        bench_rig(gpu="gpu.passive", chassis="case.server"),
        {"cpu.desk": {"has_graphics": False}},
    ),
    case("DSP001", "limit", bench_rig(gpu="gpu.passive", chassis="case.server")),
    case("GPU003", "fires", WORKING, WORK_CARD),
    case(
        "GPU003",
        "limit",
        WORKING,
        {**WORK_CARD, "gpu.other": {"name": "GeForce X", "memory_gib": 1}},
    ),
    case("GPU003", "silent", bench_rig(jobs=(replace(JOB, precision="fp64"),)), WORK_CARD),
    case("GPU004", "fires", DOUBLED, GAME_CARD),
    case("GPU004", "fires", CHECKED, GAME_CARD),
    case(
        "GPU004",
        "limit",
        DOUBLED,
        {"gpu.card": {**GAME_CARD["gpu.card"], "dense_tflops": Rates(fp32=16.0, fp64=2.0)}},
    ),
    case("GPU004", "silent", WORKING, GAME_CARD),
    case("DSP002", "fires", _with_role(None), {"gpu.card": {"display_outputs": 1}}),
    case("DSP002", "limit", _with_role(None), {"gpu.card": {"display_outputs": 2}}),
    case("DSP002", "silent", DESK_RIG),
    case("DSP002", "unknown", _with_role(None), {"gpu.card": {"display_outputs": None}}),
    case("DSP003", "fires", _with_role(None), {"gpu.card": {"memory_gib": 0.25}}),
    case("DSP003", "limit", _with_role(None), {"gpu.card": {"memory_gib": 0.5}}),
    case("DSP003", "silent", DESK_RIG),
    case("DSP003", "unknown", _with_role(None), {"gpu.card": {"memory_gib": None}}),
    case("DSP004", "fires", _with_role(None)),
    case("DSP004", "fires", _with_role("both")),
    case("DSP004", "limit", _with_role("display")),
    case("DSP004", "silent", DESK_RIG),
    case("DSP005", "fires", _two_cards()),
    case("DSP005", "limit", _with_role("both")),
    case("DSP005", "silent", DESK_RIG),
    case("DSP006", "fires", _with_role("compute"), {"cpu.desk": {"has_graphics": False}}),
    case("DSP006", "limit", _with_role("compute")),
    case("DSP006", "silent", DESK_RIG),
    case("DSP006", "unknown", _with_role("compute"), {"cpu.desk": {"has_graphics": None}}),
    case("DSP001", "silent", DESK_RIG),
    case(
        "DSP001",
        "unknown",
        bench_rig(gpu="gpu.passive", chassis="case.server"),
        {"cpu.desk": {"has_graphics": None}},
    ),
)
