"""Cases of rules on data: RAID 0 sets, radiators against cards and bays, GPUDirect."""

from msgspec.structs import replace
from rule_bench import SERVER, bench_rig, case

from rigplanner.catalog.schema.parts import RadiatorPlace, Switch
from rigplanner.rig.document import Settings
from rigplanner.rig.workload import Workload

DESK_RIG = bench_rig()
BIG = Workload(task="train", flags=["gib:10"], dataset_gb=3000.0)
SET = Settings(raid0=("disk",))
PAIR = bench_rig(disk=("drive.disk", 2), settings=SET)
MIXED = bench_rig(
    disk="drive.disk", second="drive.slow", settings=Settings(raid0=("disk", "second"))
)
SLOW = {"drive.slow": {"capacity_gb": 8000, "read_gbs": 0.2}}
DIRECT = bench_rig(gpu="gpu.other", jobs=(Workload(task="train", flags=["gib:10", "gds"]),))
NIC = bench_rig(SERVER, gpu=("gpu.other", 1, ("SLOT1",)), nic=("nic.fast", 1, ("SLOT2",)))
LIQUID = bench_rig(cooler="cooler.liquid")
FRONT = RadiatorPlace(at="front", sizes_mm=(360,), gpu_length_mm=299, bays_35=1)
TOP = RadiatorPlace(at="top", sizes_mm=(240, 360))
LAYOUT = "layout.slots"
IMAGES = Workload(
    model="resnet50",
    task="train",
    precision="mixed",
    batch_per_gpu=64,
    dataset_gb=150.0,
    dataset_samples=1_281_167,
    flags=["timed"],
)
LOADED = bench_rig(jobs=(IMAGES,))
SERVED = bench_rig(jobs=(Workload(task="inference", stack="vllm"),))
SMALL = bench_rig(
    jobs=(
        Workload(
            model="resnet18", task="train", precision="mixed", batch_per_gpu=1, flags=["timed"]
        ),
    )
)
CHAT = Workload(
    model="gpt2", task="train", precision="mixed", batch_per_gpu=1, seq_len=1024, flags=["timed"]
)
PEERS = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE3")), jobs=(CHAT,))
DOCKED = bench_rig(dock="dock.open")
BOXED = bench_rig(dock="dock.box")


def _mounts(*places: RadiatorPlace | None) -> dict[str, dict[str, object]]:
    known = None if None in places else places
    return {"case.tower": {"enclosure.radiator_places": known, "enclosure.gpu_length_mm": 350}}


def _switched(width: int) -> dict[str, dict[str, object]]:
    from rule_bench import DESK_DRIVES, DESK_SLOTS, changed

    slots = tuple(
        changed(slot, {"origin": "sw"}) if slot.id == "PCIE1" else slot for slot in DESK_SLOTS
    )
    drives = tuple(
        changed(port, {"origin": "sw"}) if port.id == "M2_1" else port for port in DESK_DRIVES
    )
    switch = Switch(id="sw", model="PEX", origin="cpu0", gen=5, width=width)
    return {
        "board.desk": {"layout.slots": slots, "layout.drives": drives, "layout.switches": (switch,)}
    }


def _cores(count: int | None) -> dict[str, dict[str, object]]:
    return {"cpu.desk": {"cores": count}}


def _reads(kiops: float) -> dict[str, dict[str, object]]:
    return {"drive.nvme": {"random_read_kiops": kiops}}


CASES = (
    case("HST001", "fires", LOADED, _cores(2)),
    case("HST001", "fires", LOADED, _cores(4), "info"),
    case("HST001", "limit", LOADED, _cores(16)),
    case("HST001", "silent", bench_rig(jobs=(replace(IMAGES, dataset_decoding="gpu"),)), _cores(2)),
    case("HST001", "unknown", LOADED, _cores(None)),
    case("DSK009", "fires", LOADED, _reads(1)),
    case("DSK009", "limit", LOADED, _reads(60)),
    case("DSK009", "silent", DESK_RIG),
    case("HST002", "fires", SERVED, _cores(2)),
    case("HST002", "limit", SERVED, _cores(3)),
    case("HST002", "silent", DESK_RIG),
    case("HST002", "unknown", SERVED, _cores(None)),
    case("HST003", "fires", SMALL, {"cpu.desk": {"boost_ghz": 2.9}}),
    case("HST003", "limit", SMALL, {"cpu.desk": {"boost_ghz": 3.0}}),
    case("HST003", "silent", LOADED, {"cpu.desk": {"boost_ghz": 2.0}}),
    case("HST003", "unknown", SMALL, {"cpu.desk": {"boost_ghz": None}}),
    case("HST004", "fires", PEERS, None, "info"),
    case("HST004", "fires", PEERS, {"gpu.card": {"p2p": "no"}}),
    case("HST004", "limit", PEERS, {"gpu.card": {"edge_width": 4}}),
    case(
        "HST004",
        "limit",
        bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE3")), jobs=(replace(CHAT, batch_per_gpu=32),)),
    ),
    case("HST004", "silent", bench_rig(jobs=(CHAT,))),
    case("HST004", "unknown", PEERS, {"gpu.card": {"edge_gen": None}}),
    case("PWR018", "fires", DOCKED),
    case("PWR018", "limit", bench_rig(dock="dock.open", more="psu.mid")),
    case("PWR018", "silent", BOXED),
    case("PWR018", "unknown", DOCKED, {"gpu.card": {"tdp_w": None}}),
    case("PWR019", "fires", BOXED, {"dock.box": {"card_w": 299}}),
    case("PWR019", "limit", BOXED, {"dock.box": {"card_w": 300}}),
    case("PWR019", "silent", DESK_RIG),
    case("PWR019", "unknown", BOXED, {"dock.box": {"card_w": None}}),
    case("DSK005", "fires", MIXED, {"drive.slow": {"capacity_gb": 4000}}),
    case("DSK005", "fires", MIXED, SLOW),
    case("DSK005", "fires", bench_rig(disk="drive.disk", settings=SET)),
    case("DSK005", "fires", bench_rig(settings=Settings(raid0=("gpu", "nothing")))),
    case("DSK005", "limit", MIXED, {"drive.slow": {"capacity_gb": 8000, "read_gbs": 0.25}}),
    case("DSK005", "silent", PAIR),
    case("DSK005", "unknown", MIXED, {"drive.slow": {"read_gbs": None}}),
    case("DSK006", "fires", PAIR, None, "info"),
    case(
        "DSK006",
        "fires",
        bench_rig(storage=None, disk=("drive.disk", 2), settings=SET),
        None,
        "warning",
    ),
    case("DSK006", "limit", bench_rig(disk="drive.disk", settings=SET)),
    case("DSK006", "silent", bench_rig(disk=("drive.disk", 2))),
    case("DSK003", "fires", bench_rig(storage=("drive.nvme", 2), jobs=(BIG,)), None, "info"),
    case(
        "DSK003",
        "limit",
        bench_rig(storage=("drive.nvme", 2), jobs=(BIG,), settings=Settings(raid0=("storage",))),
    ),
    case("DSK007", "fires", DIRECT, {"gpu.other": {"p2p": "no"}}),
    case("DSK007", "fires", DIRECT, {"gpu.other": {"name": "GeForce RTX 2080"}}),
    case("DSK007", "fires", DIRECT, {"drive.nvme": {"interface": "sata"}}),
    case("DSK007", "fires", DIRECT, None, "info"),
    case("DSK007", "limit", DIRECT, _switched(16)),
    case("DSK007", "silent", DESK_RIG),
    case("DSK007", "unknown", DIRECT, {"gpu.other": {"p2p": None}}),
    case(
        "NIC001", "fires", bench_rig(SERVER, nic="nic.fast"), {"gpu.other": {"p2p": "no"}}, "info"
    ),
    case(
        "NIC001",
        "fires",
        bench_rig(SERVER, gpu=("gpu.other", 1, ("SLOT1",)), nic=("nic.fast", 1, ("SLOT3",))),
        None,
        "warning",
    ),
    case("NIC001", "limit", NIC),
    case("NIC001", "silent", DESK_RIG),
    case("NIC001", "limit", NIC, {"gpu.other": {"p2p": None}}),
    case(
        "NIC001",
        "unknown",
        bench_rig(SERVER, gpu=("gpu.other", 1, ("SLOT1",)), nic=("nic.fast", 1, ("SLOT3",))),
        {"gpu.other": {"p2p": None}},
    ),
    case("SPC001", "fires", LIQUID, _mounts(FRONT)),
    case(
        "SPC001",
        "limit",
        LIQUID,
        _mounts(RadiatorPlace(at="front", sizes_mm=(360,), gpu_length_mm=300)),
    ),
    case("SPC001", "limit", LIQUID, _mounts(FRONT, TOP)),
    case("SPC001", "silent", DESK_RIG, _mounts(FRONT)),
    case("SPC001", "unknown", LIQUID, _mounts(None)),
    case(
        "DSK002", "fires", bench_rig(cooler="cooler.liquid", disk=("drive.disk", 2)), _mounts(FRONT)
    ),
    case(
        "DSK002", "limit", bench_rig(cooler="cooler.liquid", disk=("drive.disk", 1)), _mounts(FRONT)
    ),
)
