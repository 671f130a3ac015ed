"""Cases of CPU, memory, slot and PCIe rules."""

from msgspec.structs import replace
from rule_bench import DESK_SLOTS, SERVER, bench_rig, case, named

from rigplanner.catalog.schema.parts import Inclusion, LaneMode, Slot, Switch, System, When
from rigplanner.rig.document import Rig, Settings

DESK_RIG = bench_rig()
SERVER_RIG = bench_rig(SERVER)
TWO_CARDS = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")))
BARE = {"board.desk": {"layout.slots": ()}}
POLARIS = {"gpu.other": {"vendor": "AMD", "compute_capability": "gfx803"}}
NAVI = {"gpu.other": {"vendor": "AMD", "compute_capability": "gfx1100"}}
NAMELESS = {"gpu.other": {"vendor": "AMD", "compute_capability": None}}
IN_CHIPSET = bench_rig(gpu=("gpu.other", 1, ("PCIE3",)))
PORTLESS = {"board.desk": {"layout.drives": ()}}

M2_PAIR = bench_rig(storage=("drive.nvme", 1, ("M2_2",)))
CHOOSING = {
    "board.desk": {
        "layout.lane_modes": (
            LaneMode(when=When(used=("M2_2",), bios="m2-cpu"), widths={"PCIE1": 8}),
            LaneMode(when=When(used=("M2_2",), bios="m2-chipset"), widths={"M2_2": 2}),
        ),
        "layout.bios_default": ("m2-chipset",),
    }
}

LOOP = System(
    id="system.loop",
    name="Loop",
    vendor="Test",
    role="server",
    includes=(Inclusion(part="system.loop"),),
)
TANGLED = (
    Switch(id="a", model="PEX", origin="b", gen=4, width=16),
    Switch(id="b", model="PEX", origin="a", gen=4, width=16),
)

HASWELL = {"board.desk": {"layout.sockets": ("LGA1150",)}}


LONG = bench_rig(riser="riser.fast")


def _listing(board: str, cpu: str, *generations: str) -> dict[str, dict[str, object]]:
    """A Ryzen 9 9950X and a board of these years, whose maker lists these generations."""
    return {
        "cpu.desk": {"name": "AMD Ryzen 9 9950X", "released": cpu},
        "board.desk": {"released": board, "layout.cpu_generations": generations},
    }


def _module(gib: float, **cpu: object) -> dict[str, dict[str, object]]:
    return {
        "cpu.server": {"name": "Intel Xeon Gold 6148", **cpu},
        "memory.server": {"module_gib": gib},
    }


def _of_no_kind(gib: float) -> dict[str, dict[str, object]]:
    return {
        "cpu.server": {"name": "Intel Xeon Gold 6148"},
        "memory.server": {"module_gib": gib, "module": None},
    }


OF_ITS_CLASS = {
    "cpu.desk": {"lane_class": "small"},
    "board.desk": {
        "layout.lane_modes": (LaneMode(when=When(cpu_class=("small",)), gens={"PCIE1": 3}),)
    },
}


def own_figure(part: str, name: str, value: object) -> Rig:
    """A sound rig with a figure of its owner."""
    return replace(bench_rig(psu="psu.mid"), facts={part: {name: value}})


CASES = (
    case("MEM010", "fires", bench_rig(SERVER), _module(64.0)),
    case("MEM011", "fires", SERVER_RIG, {"memory.server": {"speed_mts": 3600}}),
    case("MEM011", "fires", SERVER_RIG, {"board.server": {"layout.memory_speed_mts": 2666}}),
    case("MEM011", "limit", SERVER_RIG, {"board.server": {"layout.memory_speed_mts": 3200}}),
    case("MEM011", "silent", DESK_RIG, {"memory.desk": {"speed_mts": 8000}}),
    case("MEM011", "unknown", SERVER_RIG, {"memory.server": {"speed_mts": None}}),
    case("MEM010", "limit", bench_rig(SERVER), _module(32.0)),
    case("MEM010", "unknown", bench_rig(SERVER), _of_no_kind(64.0)),
    case("MEM010", "limit", bench_rig(SERVER), _of_no_kind(32.0)),
    case("MEM010", "silent", bench_rig(SERVER), _module(64.0, name="Intel Xeon Gold 6248")),
    case("CPU001", "fires", bench_rig(cpu="cpu.server")),
    case("CPU001", "limit", DESK_RIG, {"board.desk": {"layout.sockets": ("AM4", "AM5")}}),
    case("CPU001", "silent", DESK_RIG),
    case("CPU001", "unknown", DESK_RIG, {"board.desk": {"layout.sockets": ()}}),
    case("CPU002", "fires", DESK_RIG, {"board.desk": {"layout.chipset": "B850"}}),
    case("CPU002", "limit", DESK_RIG, {"board.desk": {"layout.chipset": "B650"}}),
    case("CPU002", "silent", SERVER_RIG),
    case("CPU002", "unknown", DESK_RIG, {"cpu.desk": {"chipsets": ()}}),
    case(
        "CPU003",
        "fires",
        bench_rig(SERVER, cpu=("cpu.server-other", 2), memory=("memory.server", 8)),
    ),
    case("CPU003", "limit", SERVER_RIG),
    case(
        "CPU003", "silent", bench_rig(SERVER, cpu="cpu.server-other", memory=("memory.server", 8))
    ),
    case("CPU003", "unknown", DESK_RIG, {"board.desk": {"layout.sockets": ()}}),
    case(
        "CPU004",
        "fires",
        bench_rig(SERVER, cpu="cpu.server", memory=("memory.server", 8), cooler="cooler.server"),
    ),
    case("CPU004", "limit", SERVER_RIG),
    case("CPU004", "silent", DESK_RIG),
    case(
        "CPU004",
        "unknown",
        bench_rig(SERVER, cpu="cpu.server"),
        {"board.server": {"layout.slots": ()}},
    ),
    case("CPU005", "fires", bench_rig(SERVER, cpu="cpu.server", cpu2="cpu.server-other")),
    case("CPU005", "limit", SERVER_RIG),
    case("CPU005", "silent", DESK_RIG),
    case("CPU005", "unknown", SERVER_RIG, {"board.server": {"layout.sockets": ()}}),
    case("CPU006", "fires", DESK_RIG, {"cpu.desk": {"memory.channels": 4}}),
    case("CPU006", "limit", DESK_RIG),
    case("CPU006", "silent", DESK_RIG, {"board.desk": {"layout.memory_channels": 4}}),
    case("CPU006", "unknown", DESK_RIG, {"board.desk": {"layout.memory_channels": None}}),
    case(
        "CPU007", "fires", DESK_RIG, {"board.desk": {"layout.bios_minimum": {"cpu.desk": "1.40"}}}
    ),
    case(
        "CPU007",
        "fires",
        bench_rig(settings=named(bios="1.9")),
        {"board.desk": {"layout.bios_minimum": {"cpu.desk": "1.40"}}},
        "error",
    ),
    case(
        "CPU007",
        "limit",
        bench_rig(settings=named(bios="1.40")),
        {"board.desk": {"layout.bios_minimum": {"cpu.desk": "1.40"}}},
    ),
    case("CPU007", "silent", DESK_RIG),
    case(
        "CPU007",
        "unknown",
        DESK_RIG,
        {"board.desk": {"layout.sockets": (), "layout.bios_minimum": {"am5-24": "1.40"}}},
    ),
    case("CPU007", "fires", DESK_RIG, _listing("2022", "2024", "Ryzen 7000", "Ryzen 9000"), "info"),
    case("CPU007", "limit", DESK_RIG, _listing("2024", "2024", "Ryzen 7000", "Ryzen 9000")),
    case(
        "CPU007", "fires", DESK_RIG, _listing("2022", "2024")
    ),  # no list was read: the chipset serves the CPU
    case("CPU007", "limit", DESK_RIG, _listing("2024", "2024")),
    case(
        "CPU007",
        "silent",
        DESK_RIG,
        _listing("2022", "2024") | {"cpu.desk": {"chipsets": (), "released": "2024"}},
    ),
    case(
        "CPU007",
        "limit",
        DESK_RIG,
        _listing("2022", "2025", "Ryzen 7000", "Ryzen 9000")
        | {
            "cpu.desk": {"name": "AMD Ryzen 5 7500X3D", "released": "2025"},
        },
    ),  # a late CPU of a generation that the board was made for
    case(
        "CPU007",
        "limit",
        bench_rig(settings=named(bios="3.20")),
        _listing("2022", "2024", "Ryzen 7000", "Ryzen 9000"),
    ),
    case("CPU009", "fires", DESK_RIG, _listing("2024", "2024", "Ryzen 7000")),
    case("CPU009", "fires", DESK_RIG, _listing("2022", "2024", "Ryzen 7000"), "warning"),
    case("CPU009", "limit", DESK_RIG, _listing("2024", "2024", "Ryzen 7000", "Ryzen 9000")),
    case("CPU009", "silent", DESK_RIG),
    case("CPU009", "silent", DESK_RIG, _listing("2024", "2024")),  # every X870E board lists it
    case(
        "CPU009",
        "unknown",
        DESK_RIG,
        {
            "cpu.desk": {"name": "AMD Ryzen 9 9950X", "chipsets": ()},
            "board.desk": {"layout.chipset": "of no other board", "layout.cpu_generations": ()},
        },
    ),
    case("CPU008", "fires", bench_rig(settings=Settings(numa_per_socket=2))),
    case("CPU008", "limit", bench_rig(SERVER, settings=Settings(numa_per_socket=4))),
    case("CPU008", "silent", DESK_RIG),
    case(
        "CPU008",
        "unknown",
        bench_rig(settings=Settings(numa_per_socket=2)),
        {"cpu.desk": {"socket": None}},
    ),
    case("RIG004", "fires", bench_rig(loop="system.loop"), extra=(LOOP,)),
    case("RIG004", "fires", DESK_RIG, {"board.desk": {"layout.switches": TANGLED}}),
    case("RIG004", "limit", DESK_RIG, {"board.desk": {"layout.switches": TANGLED[:1]}}),
    case("RIG004", "silent", DESK_RIG),
    case("PCI013", "fires", DESK_RIG, {"cpu.desk": {"pcie_gen": 3}}),
    case("PCI013", "limit", DESK_RIG, {"cpu.desk": {"pcie_gen": 4}, "gpu.card": {"edge_gen": 4}}),
    case("PCI013", "fires", DESK_RIG, OF_ITS_CLASS),
    case("PCI013", "limit", DESK_RIG, {**OF_ITS_CLASS, "cpu.desk": {"lane_class": "other"}}),
    case("PCI013", "limit", IN_CHIPSET, {"cpu.desk": {"pcie_gen": 3}}),
    case("PCI013", "silent", DESK_RIG),
    case("RIG007", "fires", own_figure("psu.mid", "length_mm", -5)),
    case("RIG007", "fires", own_figure("psu.mid", "weight_kg", 2)),
    case("RIG007", "fires", own_figure("board.desk", "PCIE2.position", 1)),
    case("RIG007", "limit", own_figure("psu.mid", "length_mm", 1)),
    case("RIG007", "limit", own_figure("psu.absent", "length_mm", -5)),
    case("RIG007", "silent", DESK_RIG),
    case("MEM001", "fires", bench_rig(memory=("memory.server", 2))),
    case("MEM001", "limit", DESK_RIG),
    case("MEM001", "silent", SERVER_RIG),
    case("MEM001", "unknown", DESK_RIG, {"board.desk": {"layout.memory_type": None}}),
    case("MEM002", "fires", DESK_RIG, {"memory.desk": {"module": "rdimm"}}),
    case("MEM002", "limit", DESK_RIG, {"memory.desk": {"module": "ecc-udimm"}}),
    case("MEM002", "silent", DESK_RIG),
    case("MEM002", "unknown", DESK_RIG, {"board.desk": {"layout.memory_modules": ()}}),
    case(
        "MEM003", "fires", bench_rig(memory=("memory.desk", 3)), {"memory.desk": {"module_gib": 16}}
    ),
    case("MEM003", "limit", bench_rig(memory=("memory.desk", 2))),
    case("MEM003", "silent", DESK_RIG),
    case("MEM003", "unknown", DESK_RIG, {"board.desk": {"layout.memory_slots": None}}),
    case(
        "MEM004", "fires", bench_rig(memory=("memory.desk", 2)), {"memory.desk": {"module_gib": 64}}
    ),
    case(
        "MEM004", "limit", bench_rig(memory=("memory.desk", 2)), {"memory.desk": {"module_gib": 48}}
    ),
    case("MEM004", "silent", DESK_RIG),
    case("MEM004", "unknown", DESK_RIG, {"cpu.desk": {"memory.max_gib": None}}),
    case("MEM005", "fires", DESK_RIG, {"memory.desk": {"modules": 1}}),
    case(
        "MEM005",
        "fires",
        bench_rig(memory=("memory.desk", 1)),
        {"cpu.desk": {"memory.channels": 4}, "board.desk": {"layout.memory_channels": 4}},
        "info",
    ),
    case("MEM005", "limit", DESK_RIG),
    case("MEM005", "silent", bench_rig(memory=("memory.desk", 2))),
    case("MEM005", "unknown", DESK_RIG, {"cpu.desk": {"memory.channels": None}}),
    case("MEM006", "fires", bench_rig(memory=("memory.desk", 2))),
    case(
        "MEM006",
        "limit",
        bench_rig(memory=("memory.desk", 2)),
        {"memory.desk": {"speed_mts": 3600}},
    ),
    case("MEM006", "silent", DESK_RIG),
    case(
        "MEM006",
        "unknown",
        bench_rig(memory=("memory.desk", 2)),
        {"cpu.desk": {"memory.speeds_mts": {"1": 5600}}},
    ),
    case(
        "MEM007", "fires", bench_rig(memory="memory.desk", memory2="memory.server"), None, "error"
    ),
    case("MEM007", "limit", bench_rig(memory="memory.desk", memory2="memory.desk")),
    case("MEM007", "silent", DESK_RIG),
    case(
        "MEM007",
        "unknown",
        bench_rig(memory="memory.desk", memory2="memory.server"),
        {"memory.server": {"speed_mts": None}},
    ),
    case("MEM008", "fires", DESK_RIG, {"memory.desk": {"module_gib": 8}}),
    case("MEM008", "fires", TWO_CARDS, {"memory.desk": {"module_gib": 16}}, "info"),
    case("MEM008", "limit", DESK_RIG, {"memory.desk": {"module_gib": 12}}),
    case("MEM008", "silent", DESK_RIG),
    case("MEM008", "unknown", DESK_RIG, {"gpu.card": {"memory_gib": None}}),
    case("SLT001", "fires", bench_rig(gpu=("gpu.card", 4))),
    case("SLT001", "limit", TWO_CARDS),
    case("SLT001", "silent", DESK_RIG),
    case("SLT001", "unknown", DESK_RIG, BARE),
    case("SLT002", "fires", bench_rig(gpu=("gpu.card", 1, ("PCIE9",)))),
    case("SLT002", "limit", bench_rig(gpu=("gpu.card", 1, ("PCIE3",)))),
    case("SLT002", "silent", DESK_RIG),
    case("SLT002", "unknown", DESK_RIG, BARE),
    case("SLT003", "fires", bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE1")))),
    case("SLT003", "limit", TWO_CARDS),
    case("SLT003", "silent", DESK_RIG),
    case("SLT003", "unknown", DESK_RIG, BARE),
    case(
        "SLT004",
        "fires",
        bench_rig(gpu=("gpu.card", 1, ("PCIE2",)), gpu2=("gpu.other", 1, ("PCIE3",))),
    ),
    case("SLT004", "limit", bench_rig(gpu=("gpu.other", 2, ("PCIE2", "PCIE3")))),
    case("SLT004", "silent", DESK_RIG),
    case("SLT004", "unknown", DESK_RIG, BARE),
    case(
        "SLT005",
        "fires",
        bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), storage=("drive.nvme", 1, ("M2_2",))),
    ),
    case(
        "SLT005",
        "limit",
        bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), storage=("drive.nvme", 1, ("M2_1",))),
    ),
    case("SLT005", "silent", DESK_RIG),
    case("SLT005", "unknown", DESK_RIG, BARE),
    case(
        "SLT006",
        "fires",
        bench_rig(gpu=("gpu.card", 1, ("PCIE3",))),
        {
            "board.desk": {
                "layout.slots": (
                    *DESK_SLOTS[:2],
                    Slot(id="PCIE3", position=7, mechanical=4, origin="chipset", gen=4, width=4),
                )
            }
        },
    ),
    case("SLT006", "limit", bench_rig(gpu=("gpu.card", 1, ("PCIE3",)))),
    case("SLT006", "silent", DESK_RIG),
    case("SLT006", "unknown", DESK_RIG, BARE),
    case("GPU001", "fires", bench_rig(gpu="gpu.module")),
    case(
        "GPU001",
        "limit",
        bench_rig(gpu="gpu.module"),
        {"board.desk": {"layout.slots": (*DESK_SLOTS, Slot(id="SXM", kind="sxm2"))}},
    ),
    case("GPU001", "silent", DESK_RIG),
    case("GPU001", "unknown", DESK_RIG, BARE),
    case(
        "GPU002",
        "fires",
        bench_rig(gpu=("gpu.card", 1, ("PCIE1",)), gpu2=("gpu.other", 1, ("PCIE2",))),
    ),
    case(
        "GPU002",
        "fires",
        bench_rig(gpu=("gpu.card", 1, ("PCIE1",)), gpu2=("gpu.other", 1, ("PCIE2",))),
        {"gpu.other": {"compute_capability": "gfx1100", "vendor": "AMD"}},
        "warning",
    ),
    case("GPU002", "limit", TWO_CARDS),
    case("GPU002", "silent", DESK_RIG),
    case("PCI001", "fires", bench_rig(storage=("drive.nvme", 1, ("M2_2",)))),
    case(
        "PCI001",
        "limit",
        bench_rig(storage=("drive.nvme", 1, ("M2_2",))),
        {"gpu.card": {"edge_width": 8}},
    ),
    case("PCI001", "silent", bench_rig(storage=("drive.nvme", 1, ("M2_1",)))),
    case("PCI001", "unknown", DESK_RIG, {"gpu.card": {"edge_width": None}}),
    case("PCI002", "fires", TWO_CARDS),
    case(
        "PCI002",
        "fires",
        DESK_RIG,
        {
            "board.desk": {
                "layout.lane_modes": (
                    LaneMode(when=When(cpu_class=("am5-24",)), widths={"PCIE1": 8}),
                )
            }
        },
        "warning",
    ),
    case("PCI002", "limit", TWO_CARDS, {"gpu.card": {"edge_width": 8}}),
    case("PCI002", "silent", DESK_RIG),
    case("PCI002", "unknown", DESK_RIG, {"gpu.card": {"edge_width": None}}),
    case("PCI003", "fires", bench_rig(gpu=("gpu.other", 1, ("PCIE3",)))),
    case("PCI003", "limit", bench_rig(gpu=("gpu.card", 1, ("PCIE2",)))),
    case("PCI003", "silent", DESK_RIG),
    case(
        "PCI003",
        "silent",
        bench_rig(gpu=("gpu.card", 1, ("PCIE1",))),
        {
            "board.desk": {
                "layout.slots": (Slot(id="PCIE1", position=1, mechanical=16, gen=5, width=16),)
            }
        },
    ),  # no chipset gives a slot sixteen lanes
    case(
        "PCI003",
        "unknown",
        bench_rig(gpu=("gpu.card", 1, ("PCIE2",))),
        {
            "board.desk": {
                "layout.slots": (
                    Slot(id="PCIE1", position=1, mechanical=16, gen=5, width=16),
                    Slot(id="PCIE2", position=4, mechanical=16, gen=4),
                )
            }
        },
    ),
    case("PCI004", "fires", bench_rig(gpu=("gpu.other", 1, ("PCIE3",)))),
    case("PCI004", "limit", bench_rig(gpu=("gpu.card", 1, ("PCIE2",)))),
    case("PCI004", "silent", DESK_RIG),
    case("PCI004", "unknown", DESK_RIG, {"gpu.card": {"edge_gen": None}}),
    case(
        "PCI005",
        "fires",
        bench_rig(riser=("riser.split", 1, ("PCIE1",)), gpu=("gpu.card", 1, ("PCIE2",))),
    ),
    case(
        "PCI005",
        "fires",
        bench_rig(riser=("riser.split", 1, ("PCIE1",)), gpu=("gpu.card", 1, ("PCIE2",))),
        {
            "board.desk": {
                "layout.slots": (
                    Slot(
                        id="PCIE1",
                        position=1,
                        mechanical=16,
                        origin="cpu0",
                        gen=5,
                        width=16,
                        bifurcation=("x8x8",),
                    ),
                    *DESK_SLOTS[1:],
                )
            }
        },
        "error",
    ),
    case(
        "PCI005",
        "limit",
        bench_rig(riser=("riser.fast", 1, ("PCIE1",)), gpu=("gpu.card", 1, ("PCIE2",))),
    ),
    case("PCI005", "silent", DESK_RIG),
    case("PCI005", "unknown", bench_rig(riser=("riser.split", 1, ("PCIE2",)))),
    case(
        "PCI006",
        "fires",
        bench_rig(gpu="gpu.passive", chassis="case.server"),
        {"board.desk": {"layout.above_4g": False}},
    ),
    case("PCI006", "limit", DESK_RIG, {"board.desk": {"layout.above_4g": False}}),
    case("PCI006", "silent", bench_rig(gpu="gpu.passive", chassis="case.server")),
    case(
        "PCI006",
        "unknown",
        bench_rig(gpu="gpu.passive", chassis="case.server"),
        {"board.desk": {"layout.above_4g": None}},
    ),
    case(
        "PCI010",
        "fires",
        bench_rig(gpu="gpu.passive"),
        {"board.desk": {"layout.sockets": ("LGA1155",)}},
    ),
    case(
        "PCI010",
        "limit",
        bench_rig(gpu="gpu.passive"),
        {**HASWELL, "gpu.passive": {"memory_gib": 16}},
    ),
    case("PCI010", "silent", DESK_RIG, HASWELL),
    case(
        "PCI010",
        "unknown",
        bench_rig(gpu="gpu.passive"),
        {**HASWELL, "gpu.passive": {"memory_gib": None}},
    ),
    case("PCI011", "fires", IN_CHIPSET, POLARIS),
    case("PCI011", "fires", IN_CHIPSET, NAVI, "info"),
    case(
        "PCI011",
        "fires",
        bench_rig(gpu=("gpu.other", 1, ("PCIE1",))),
        {**POLARIS, "cpu.desk": {"pcie_gen": 2}},
    ),
    case(
        "PCI011",
        "limit",
        bench_rig(gpu=("gpu.other", 1, ("PCIE2",))),
        {**POLARIS, "cpu.desk": {"pcie_gen": 3}},
    ),
    case(
        "PCI011",
        "limit",
        bench_rig(gpu=("gpu.other", 1, ("PCIE3",)), settings=named(os="Windows 11")),
        POLARIS,
    ),
    case("PCI011", "silent", IN_CHIPSET),
    case("PCI011", "unknown", IN_CHIPSET, NAMELESS),
    case(
        "PCI007",
        "fires",
        DESK_RIG,
        {"gpu.card": {"vendor": "Intel"}, "board.desk": {"layout.resizable_bar": False}},
    ),
    case("PCI007", "limit", DESK_RIG, {"gpu.card": {"vendor": "Intel"}}),
    case("PCI007", "silent", DESK_RIG, {"board.desk": {"layout.resizable_bar": False}}),
    case(
        "PCI007",
        "fires",
        DESK_RIG,
        {"gpu.card": {"vendor": "Intel"}, "cpu.desk": {"name": "AMD Ryzen 7 2700X"}},
    ),
    case(
        "PCI007",
        "fires",
        DESK_RIG,
        {"gpu.card": {"vendor": "Intel"}, "cpu.desk": {"name": "AMD Ryzen 5 3400G"}},
    ),
    case(
        "PCI007",
        "limit",
        DESK_RIG,
        {"gpu.card": {"vendor": "Intel"}, "cpu.desk": {"name": "AMD Ryzen 5 3600"}},
    ),
    case(
        "PCI007",
        "unknown",
        DESK_RIG,
        {"gpu.card": {"vendor": "Intel"}, "board.desk": {"layout.resizable_bar": None}},
    ),
    case("PCI008", "fires", bench_rig(nic=("nic.fast", 1, ("PCIE3",)))),
    case(
        "PCI008",
        "limit",
        bench_rig(nic=("nic.fast", 1, ("PCIE2",))),
        {"nic.fast": {"port_gbps": 8 * 15.752}},
    ),
    case("PCI008", "silent", DESK_RIG),
    case(
        "PCI008",
        "unknown",
        bench_rig(nic=("nic.fast", 1, ("PCIE3",))),
        {"nic.fast": {"ports": None}},
    ),
    case("PCI012", "fires", DESK_RIG, {"cpu.desk": {"lanes_by_gen": {"5": 4, "4": 20}}}, "unknown"),
    case("PCI012", "unknown", DESK_RIG, {"cpu.desk": {"lanes": 8}}),
    case("PCI012", "limit", DESK_RIG, {"cpu.desk": {"lanes_by_gen": {"5": 20, "4": 4}}}),
    case("PCI012", "silent", DESK_RIG, {"cpu.desk": {"lanes": None}}),
    case("PCI009", "fires", M2_PAIR, CHOOSING),
    case(
        "PCI009",
        "fires",
        bench_rig(storage=("drive.nvme", 1, ("M2_2",)), settings=Settings(bios={"M2_2": "m2-cpu"})),
        CHOOSING,
        "info",
    ),
    case("PCI009", "limit", bench_rig(storage=("drive.nvme", 1, ("M2_1",))), CHOOSING),
    case("PCI009", "silent", DESK_RIG),
    case("RIS002", "fires", LONG, {"riser.fast": {"gen": 4, "length_mm": 401, "retimer": False}}),
    case("RIS002", "limit", LONG, {"riser.fast": {"gen": 4, "length_mm": 400, "retimer": False}}),
    case("RIS002", "limit", LONG, {"riser.fast": {"gen": 4, "length_mm": 900, "retimer": True}}),
    case("RIS002", "silent", bench_rig(riser="riser.slow"), {"riser.slow": {"length_mm": 900}}),
    case("RIS002", "unknown", LONG, {"riser.fast": {"length_mm": None}}),
    case("RIS002", "unknown", LONG, {"riser.fast": {"gen": 4, "length_mm": 900, "retimer": None}}),
    case("RIS001", "fires", bench_rig(riser="riser.slow")),
    case("RIS001", "limit", bench_rig(riser="riser.slow"), {"riser.slow": {"gen": 4}}),
    case("RIS001", "silent", bench_rig(riser="riser.fast")),
    case("RIS001", "unknown", bench_rig(riser="riser.slow"), {"riser.slow": {"gen": None}}),
)
