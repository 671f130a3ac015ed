"""A small catalog made by hand, rigs from it, and cases of rules: one line says rule, kind and what
differs from a sound rig."""

from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Accessory,
    AnyPart,
    Bridge,
    Chassis,
    Cooler,
    DrivePort,
    Enclosure,
    LaneMode,
    Layout,
    MemoryChannels,
    MemoryKit,
    Motherboard,
    NetworkCard,
    NvlinkPort,
    Part,
    Plug,
    PowerSupply,
    Price,
    Rates,
    Rating,
    Riser,
    Slot,
    Storage,
    Supply,
    System,
    When,
)
from rigplanner.rig.document import Item, Rig, Settings, Site
from rigplanner.rig.workload import Workload


def _named(part_id: str) -> dict[str, Any]:
    return {"id": part_id, "name": part_id, "vendor": "Test"}


def _price(amount: float) -> tuple[Price, ...]:
    return (Price(amount=amount, currency="USD", day="2026-11-01", source="test"),)


DESK_SLOTS = (
    Slot(
        id="PCIE1",
        position=1,
        mechanical=16,
        origin="cpu0",
        gen=5,
        width=16,
        bifurcation=("x8x8", "x4x4x4x4"),
    ),
    Slot(id="PCIE2", position=5, mechanical=16, origin="cpu0", gen=5, width=8),
    Slot(id="PCIE3", position=7, mechanical=16, origin="chipset", gen=4, width=4),
)
DESK_DRIVES = (
    DrivePort(
        id="M2_1", kind="m2", origin="cpu0", gen=5, width=4, protocols=("nvme",), lengths_mm=(2280,)
    ),
    DrivePort(
        id="M2_2", kind="m2", origin="cpu0", gen=5, width=4, protocols=("nvme",), lengths_mm=(2280,)
    ),
    DrivePort(
        id="M2_3",
        kind="m2",
        origin="chipset",
        gen=3,
        width=4,
        protocols=("nvme", "sata"),
        lengths_mm=(2242, 2280),
    ),
    DrivePort(id="SATA", kind="sata", origin="chipset", protocols=("sata",), count=4),
)
DESK_MODES = (
    LaneMode(when=When(used=("PCIE2",)), widths={"PCIE1": 8, "PCIE2": 8}),
    LaneMode(when=When(used=("M2_2",)), widths={"PCIE1": 8}, disabled=("PCIE2",)),
)
DESK_LAYOUT = Layout(
    sockets=("AM5",),
    chipset="X870E",
    chipset_link="PCIe 4.0 x4",
    memory_type="DDR5",
    memory_modules=("udimm",),
    memory_slots=4,
    memory_max_gib=192,
    memory_channels=2,
    slots=DESK_SLOTS,
    drives=DESK_DRIVES,
    lane_modes=DESK_MODES,
    eps8=1,
    above_4g=True,
    resizable_bar=True,
    display_outputs=2,
    remote_management=False,
)
SERVER_LAYOUT = Layout(
    sockets=("SP3", "SP3"),
    memory_type="DDR4",
    memory_modules=("rdimm", "lrdimm"),
    memory_slots=16,
    memory_max_gib=4096,
    memory_channels=8,
    slots=tuple(
        Slot(
            id=f"SLOT{n}",
            position=2 * n - 1,
            mechanical=16,
            origin=f"cpu{(n - 1) // 2}",
            gen=4,
            width=16,
        )
        for n in (1, 2, 3, 4)
    ),
    drives=(
        DrivePort(
            id="NVME1",
            kind="m2",
            origin="cpu0",
            gen=4,
            width=4,
            protocols=("nvme",),
            lengths_mm=(2280,),
        ),
    ),
    eps8=2,
    above_4g=True,
    resizable_bar=True,
    display_outputs=1,
    remote_management=True,
)

PARTS: tuple[AnyPart, ...] = (
    CPU(
        **_named("cpu.desk"),
        socket="AM5",
        cores=16,
        threads=32,
        tdp_w=170,
        max_power_w=200,
        lanes=24,
        pcie_gen=5,
        peg_width=16,
        chipsets=("X870E", "B650"),
        isa=("sse4.2", "avx", "avx2"),
        has_graphics=True,
        lane_class="am5-24",
        prices=_price(500),
        memory=MemoryChannels(
            channels=2,
            types=("DDR5",),
            modules=("udimm",),
            speeds_mts={"1": 5600, "2": 3600},
            max_gib=192,
        ),
    ),
    CPU(
        **_named("cpu.small"),
        socket="AM5",
        cores=2,
        threads=4,
        tdp_w=65,
        lanes=24,
        pcie_gen=5,
        peg_width=16,
        chipsets=("X870E",),
        isa=("sse4.2",),
        has_graphics=True,
        lane_class="am5-24",
        memory=MemoryChannels(
            channels=2,
            types=("DDR5",),
            modules=("udimm",),
            speeds_mts={"1": 5600, "2": 3600},
            max_gib=192,
        ),
    ),
    CPU(
        **_named("cpu.server"),
        socket="SP3",
        cores=32,
        threads=64,
        tdp_w=225,
        lanes=128,
        pcie_gen=4,
        sockets_max=2,
        isa=("sse4.2", "avx", "avx2"),
        has_graphics=False,
        lane_class="sp3-128",
        prices=_price(2000),
        memory=MemoryChannels(
            channels=8,
            types=("DDR4",),
            modules=("rdimm", "lrdimm"),
            speeds_mts={"1": 3200, "2": 2933},
            max_gib=4096,
        ),
    ),
    CPU(
        **_named("cpu.server-other"),
        socket="SP3",
        cores=24,
        threads=48,
        tdp_w=180,
        lanes=128,
        pcie_gen=4,
        sockets_max=1,
        isa=("sse4.2", "avx", "avx2"),
        has_graphics=False,
        lane_class="sp3-128",
        memory=MemoryChannels(
            channels=8,
            types=("DDR4",),
            modules=("rdimm", "lrdimm"),
            speeds_mts={"1": 3200, "2": 2933},
            max_gib=4096,
        ),
    ),
    Motherboard(
        **_named("board.desk"), form_factor="ATX", width_mm=244, depth_mm=305, layout=DESK_LAYOUT
    ),
    Motherboard(
        **_named("board.server"),
        form_factor="SSI-EEB",
        width_mm=330,
        depth_mm=305,
        layout=SERVER_LAYOUT,
    ),
    MemoryKit(
        **_named("memory.desk"),
        type="DDR5",
        module="udimm",
        modules=2,
        module_gib=32,
        speed_mts=5600,
        prices=_price(200),
    ),
    MemoryKit(
        **_named("memory.server"),
        type="DDR4",
        module="rdimm",
        modules=1,
        module_gib=32,
        speed_mts=3200,
        prices=_price(100),
    ),
    GPU(
        **_named("gpu.card"),
        chip="GA102",
        architecture="Ampere",
        compute_capability="8.6",
        form_factor="pcie",
        edge_gen=4,
        edge_width=16,
        memory_gib=24,
        bandwidth_gbs=936,
        sms=82,
        boost_mhz=1700,
        dense_tflops=Rates(fp32=35, fp16=71, bf16=71, tf32=35),
        tdp_w=300,
        power_min_w=100,
        power_max_w=400,
        connectors=(Plug("pcie8", 2),),
        slots=3,
        length_mm=300,
        height_mm=120,
        cooling="open",
        has_nvlink=True,
        nvlink=NvlinkPort(generation=3, links=4, link_gbs=14.0625, connector="geforce-30"),
        display_outputs=3,
        p2p="yes",
        prices=_price(1500),
    ),
    GPU(
        **_named("gpu.other"),
        chip="AD102",
        architecture="Ada",
        compute_capability="8.9",
        form_factor="pcie",
        edge_gen=4,
        edge_width=16,
        memory_gib=48,
        bandwidth_gbs=960,
        sms=142,
        boost_mhz=2500,
        dense_tflops=Rates(fp32=91, fp16=182, bf16=182, tf32=91, fp8=364),
        tdp_w=300,
        power_min_w=100,
        power_max_w=300,
        connectors=(Plug("12v-2x6", 1),),
        slots=2,
        length_mm=267,
        height_mm=111,
        cooling="blower",
        has_nvlink=False,
        display_outputs=4,
        p2p="yes",
        prices=_price(6800),
    ),
    GPU(
        **_named("gpu.passive"),
        chip="GP102",
        architecture="Pascal",
        compute_capability="6.1",
        form_factor="pcie",
        edge_gen=3,
        edge_width=16,
        memory_gib=24,
        bandwidth_gbs=347,
        sms=30,
        boost_mhz=1531,
        dense_tflops=Rates(fp32=11.8),
        unsupported=("bf16", "fp16"),
        tdp_w=250,
        power_min_w=125,
        power_max_w=250,
        connectors=(Plug("eps8", 1),),
        slots=2,
        length_mm=267,
        height_mm=111,
        cooling="passive",
        has_nvlink=False,
        display_outputs=0,
        p2p="yes",
    ),
    GPU(
        **_named("gpu.module"),
        chip="GV100",
        architecture="Volta",
        compute_capability="7.0",
        form_factor="sxm2",
        memory_gib=16,
        tdp_w=300,
        cooling="none",
        has_nvlink=True,
        display_outputs=0,
        p2p="yes",
        power_min_w=100,
        power_max_w=300,
    ),
    PowerSupply(
        **_named("psu.big"),
        form_factor="ATX",
        length_mm=160,
        prices=_price(400),
        supply=Supply(
            ratings=(Rating(100, 1600),),
            standard="ATX 3.1",
            efficiency_50=0.94,
            plugs=(
                Plug("pcie8", 8),
                Plug("eps8", 3),
                Plug("12v-2x6", 2),
                Plug("sata", 12),
                Plug("molex", 6),
            ),
        ),
    ),
    PowerSupply(
        **_named("psu.mid"),
        form_factor="ATX",
        length_mm=160,
        prices=_price(200),
        supply=Supply(
            ratings=(Rating(100, 1000),),
            standard="ATX 3.0",
            efficiency_50=0.92,
            plugs=(
                Plug("pcie8", 4),
                Plug("eps8", 2),
                Plug("12v-2x6", 1),
                Plug("sata", 8),
                Plug("molex", 4),
            ),
        ),
    ),
    Chassis(
        **_named("case.tower"),
        prices=_price(150),
        enclosure=Enclosure(
            board_form_factors=("ATX", "Micro-ATX"),
            board_max_width_mm=272,
            board_max_depth_mm=305,
            slot_columns=8,
            gpu_length_mm=400,
            gpu_height_mm=160,
            cooler_height_mm=170,
            radiators_mm=(240, 360),
            psu_form_factors=("ATX",),
            psu_length_mm=220,
            bays_25=2,
            bays_35=2,
            airflow="good",
        ),
    ),
    Chassis(
        **_named("case.server"),
        prices=_price(600),
        enclosure=Enclosure(
            board_form_factors=("SSI-EEB", "ATX"),
            board_max_width_mm=330,
            board_max_depth_mm=305,
            slot_columns=8,
            gpu_length_mm=400,
            gpu_height_mm=160,
            cooler_height_mm=170,
            radiators_mm=(360,),
            psu_form_factors=("ATX",),
            psu_length_mm=260,
            bays_25=8,
            bays_35=8,
            airflow="server",
        ),
    ),
    Cooler(
        **_named("cooler.air"),
        type="air",
        sockets=("AM5",),
        height_mm=160,
        rated_w=220,
        prices=_price(80),
    ),
    Cooler(
        **_named("cooler.liquid"),
        type="liquid",
        sockets=("AM5",),
        radiator_mm=360,
        rated_w=300,
        prices=_price(150),
    ),
    Cooler(**_named("cooler.server"), type="air", sockets=("SP3",), height_mm=120, rated_w=280),
    Storage(
        **_named("drive.nvme"),
        form_factor="m2",
        interface="nvme",
        capacity_gb=2000,
        gen=4,
        width=4,
        read_gbs=7.0,
        write_gbs=6.0,
        power_w=8,
        m2_length_mm=2280,
        prices=_price(150),
    ),
    Storage(
        **_named("drive.sata"),
        form_factor="2.5",
        interface="sata",
        capacity_gb=1000,
        read_gbs=0.55,
        power_w=3,
    ),
    Storage(
        **_named("drive.disk"),
        form_factor="3.5",
        interface="sata",
        capacity_gb=8000,
        read_gbs=0.25,
        power_w=8,
        rotation_rpm=7200,
    ),
    Bridge(
        **_named("bridge.four"),
        connector="geforce-30",
        generation=3,
        spacing_slots=4,
        links=4,
        proven_with={"gpu.card": "tested"},
    ),
    Bridge(
        **_named("bridge.three"),
        connector="geforce-30",
        generation=3,
        spacing_slots=3,
        links=4,
        proven_with={"gpu.card": "tested"},
    ),
    Bridge(
        **_named("bridge.old"),
        connector="turing",
        generation=2,
        spacing_slots=4,
        links=2,
        proven_with={"gpu.old": "tested"},
    ),
    Riser(**_named("riser.fast"), gen=5, width=16, length_mm=200),
    Riser(**_named("riser.slow"), gen=3, width=16, length_mm=200),
    Riser(**_named("riser.split"), gen=4, width=16, output="m2", outputs=4),
    Riser(**_named("dock.open"), gen=4, width=4, slot_kind="m2", card_supply="separate"),
    Riser(**_named("dock.box"), gen=4, width=4, slot_kind="m2", card_supply="included", card_w=400),
    NetworkCard(
        **_named("nic.fast"),
        ports=1,
        port_gbps=100,
        protocol="ethernet",
        edge_gen=4,
        edge_width=16,
        power_w=15,
        rdma=True,
    ),
    System(
        **_named("system.barebone"),
        role="barebone",
        layout=replace(DESK_LAYOUT, slots=(), drives=DESK_DRIVES),
    ),
    System(
        **_named("system.server"),
        role="server",
        layout=SERVER_LAYOUT,
        gpu_max_w=300,
        enclosure=Enclosure(
            slot_columns=8,
            gpu_length_mm=320,
            gpu_height_mm=130,
            airflow="server",
            bays_25=8,
            bays_35=0,
        ),
        supply=Supply(
            ratings=(Rating(200, 2000), Rating(100, 1000)),
            plugs=(Plug("pcie8", 8), Plug("eps8", 8)),
            redundant=True,
            efficiency_50=0.94,
        ),
    ),
    Accessory(**_named("cable.pigtail"), type="pigtail-cable"),
    Accessory(**_named("cable.psu"), type="psu-cable"),
    Accessory(**_named("fan.gpu"), type="gpu-fan"),
    Accessory(**_named("eps.cable"), type="eps-adapter"),
    Accessory(
        **_named("ups.mid"),
        type="ups",
        output_w=1000,
        output_va=1100,
        runtime_half_min=24,
        runtime_full_min=6,
    ),
    Accessory(
        **_named("ups.big"),
        type="ups",
        output_w=3000,
        output_va=3000,
        runtime_half_min=30,
        runtime_full_min=10,
    ),
)

CARD = next(part for part in PARTS if part.id == "gpu.card")
_BRIDGE = next(part for part in PARTS if part.id == "bridge.four")
_PASSIVE = next(part for part in PARTS if part.id == "gpu.passive")
_DISK = next(part for part in PARTS if part.id == "drive.disk")
_BAREBONE = next(part for part in PARTS if part.id == "system.barebone")
MORE: tuple[Part, ...] = (
    replace(CARD, id="gpu.twin", name="gpu.twin", prices=()),
    replace(
        CARD,
        id="gpu.thin",
        name="gpu.thin",
        slots=2,
        cooling="blower",
        tdp_w=200,
        connectors=(Plug("pcie8", 1),),
        prices=(),
    ),
    replace(
        _BRIDGE,
        id="bridge.two",
        name="bridge.two",
        spacing_slots=2,
        proven_with={"gpu.thin": "tested"},
    ),
    replace(_DISK, id="drive.slow", name="drive.slow"),
    replace(
        _PASSIVE,
        id="nvidia.tesla.t4",
        name="Tesla T4",
        slots=1,
        tdp_w=70,
        connectors=(),
        compute_capability="7.5",
    ),
    replace(_BAREBONE, id="hp.elitedesk.800-g5", name="EliteDesk 800 G5", layout=DESK_LAYOUT),
)

SITE = Site(country="DE", volts=230.0, breaker_a=16.0)


def changed(part: Part, fields: dict[str, Any]) -> Part:
    """Return a part with other fields; "enclosure.gpu_length_mm" reaches into its structs."""
    for path, value in fields.items():
        head, _, rest = path.partition(".")
        part = replace(
            part, **{head: changed(getattr(part, head), {rest: value}) if rest else value}
        )
    return part


def bench_catalog(
    changes: dict[str, dict[str, Any]] | None = None, extra: tuple[Part, ...] = ()
) -> Catalog:
    """Return the hand-made catalog with some fields of some parts changed."""
    parts: dict[str, Any] = {part.id: part for part in (*PARTS, *MORE, *extra)}
    for part_id, fields in (changes or {}).items():
        parts[part_id] = changed(parts[part_id], fields)
    return Catalog(parts, {}, {}, "bench")


Pick = str | tuple[Any, ...] | None
DESK: dict[str, Pick] = {
    "cpu": "cpu.desk",
    "motherboard": "board.desk",
    "memory": "memory.desk",
    "gpu": "gpu.card",
    "psu": "psu.big",
    "chassis": "case.tower",
    "cooler": "cooler.air",
    "storage": "drive.nvme",
}
SERVER: dict[str, Pick] = {
    "cpu": ("cpu.server", 2),
    "motherboard": "board.server",
    "memory": ("memory.server", 16),
    "gpu": ("gpu.other", 2),
    "psu": "psu.big",
    "chassis": "case.server",
    "cooler": ("cooler.server", 2),
    "storage": "drive.nvme",
}


def bench_rig(
    base: dict[str, Pick] = DESK,
    *,
    site: Site = SITE,
    settings: Settings | None = None,
    jobs: tuple[Workload, ...] = (),
    **picks: Pick,
) -> Rig:
    """Return a sound rig with other picks by uid: a part id, or (part id, quantity, places, cap in
    W); None leaves the uid out."""
    items = []
    for uid, pick in {**base, **picks}.items():
        if pick is None:
            continue
        part, quantity, places, cap = _full((pick,) if isinstance(pick, str) else pick)
        items.append(
            Item(uid=uid, part=part, quantity=quantity, places=tuple(places), power_cap_w=cap)
        )
    return Rig(
        name="bench",
        items=tuple(items),
        site=site,
        settings=settings or Settings(),
        workloads=jobs,
        currency="USD",
    )


def _full(pick: tuple[Any, ...]) -> tuple[str, int, tuple[str, ...], float | None]:
    part, quantity, places, cap = (*pick, *(1, (), None)[len(pick) - 1 :])
    return part, quantity, places, cap


Kind = Literal["fires", "limit", "silent", "unknown"]


class RuleCase(Struct, frozen=True):
    """A rig on which a rule fires, just does not, is silent, or lacks a fact."""

    code: str
    kind: Kind
    rig: Rig
    changes: dict[str, dict[str, Any]] = {}
    severity: str | None = None
    extra: tuple[Any, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.code}-{self.kind}"


def case(
    code: str,
    kind: Kind,
    rig: Rig,
    changes: dict[str, dict[str, Any]] | None = None,
    severity: str | None = None,
    extra: tuple[Any, ...] = (),
) -> RuleCase:
    """Return a case; `severity` is what a firing rule must say when it is not the rule's own."""
    return RuleCase(code, kind, rig, changes or {}, severity, extra)


def named(**software: str) -> Settings:
    """Return settings that name software versions; `ngc_pytorch` stands for "ngc-pytorch"."""
    return Settings(software={key.replace("_", "-"): value for key, value in software.items()})


def decoded(text: str) -> Workload:
    """Return a workload from JSON."""
    return msgspec.json.decode(text, type=Workload)
