"""Lint bites: each complaint is provoked once, and the shipped catalog has none."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.lint.board import columns_of
from rigplanner.catalog.lint.completeness import compared_fields, completeness, evidence
from rigplanner.catalog.lint.lint import lint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Chassis,
    Doubt,
    DrivePort,
    Enclosure,
    LaneMode,
    Layout,
    MemoryChannels,
    MemoryKit,
    Motherboard,
    NetworkCard,
    Part,
    Plug,
    PowerSupply,
    Price,
    RadiatorPlace,
    Rates,
    Rating,
    Slot,
    Storage,
    Supply,
    System,
    When,
)
from rigplanner.evidence import Source

PAGE = Source(
    title="Maker's page", url="https://maker.test/card", read="2026-11-21", trust="vendor"
)
SOURCES = {"maker": PAGE}
CARD = GPU(
    id="nvidia.x.card",
    name="Card",
    vendor="NVIDIA",
    form_factor="pcie",
    chip="AD102",
    compute_capability="8.9",
    sms=128,
    sources={"maker": ("*",)},
    memory_bus_bits=384,
    memory_rate_gbps=21,
    bandwidth_gbs=1008,
    cores=16384,
    boost_mhz=2520,
    dense_tflops=Rates(
        fp32=82.58,
        fp64=1.29,
        fp16_vector=82.58,
        fp16=165.2,
        fp16_acc16=330.3,
        fp8=330.3,
        int8=660.6,
    ),
    tdp_w=450,
    connectors=(Plug("12vhpwr", 1),),
)
BOARD = Motherboard(
    id="a.b.board",
    name="Board",
    vendor="A",
    sources={"maker": ("*",)},
    layout=Layout(slots=(Slot(id="P1", origin="cpu0", mechanical=16, width=16),)),
)
DRIVE = Storage(
    id="a.b.drive",
    name="Drive",
    vendor="A",
    sources={"maker": ("*",)},
    form_factor="m2",
    interface="nvme",
    capacity_gb=1000,
    gen=3,
    width=4,
    read_gbs=3.5,
)
SUPPLY = PowerSupply(
    id="a.b.psu",
    name="Supply",
    vendor="A",
    sources={"maker": ("*",)},
    supply=Supply(ratings=(Rating(100, 1000),)),
)
STICKS = MemoryKit(
    id="a.b.kit",
    name="Kit",
    vendor="A",
    sources={"maker": ("*",)},
    type="DDR5",
    module="udimm",
    modules=2,
    module_gib=32,
    speed_mts=6000,
    cas=30,
    voltage_v=1.4,
    ecc=False,
)
NETWORK = NetworkCard(
    id="a.b.nic",
    name="NIC",
    vendor="A",
    sources={"maker": ("*",)},
    ports=2,
    port_gbps=100,
    edge_gen=3,
    edge_width=16,
)
CASE = Chassis(
    id="a.b.case",
    name="Case",
    vendor="A",
    sources={"maker": ("*",)},
    enclosure=Enclosure(
        board_form_factors=("ATX",), slot_columns=7, rack_units=4, gpu_height_mm=140
    ),
)
CHIP = CPU(
    id="a.b.cpu",
    name="CPU",
    vendor="A",
    sources={"maker": ("*",)},
    socket="AM5",
    cores=8,
    threads=16,
)


RADEON = GPU(
    id="amd.x.card",
    name="Card",
    vendor="AMD",
    form_factor="pcie",
    architecture="RDNA3",
    sources={"maker": ("*",)},
    sms=96,
    boost_mhz=2500,
    dense_tflops=Rates(fp32=61.44, fp16=122.9, fp16_acc16=122.9, int8=122.9),
    tdp_w=355,
    connectors=(Plug("pcie8", 2),),
)


def _codes(*parts: Part) -> list[str]:
    return [
        complaint.code
        for complaint in lint(
            Catalog({part.id: part for part in parts}, SOURCES, {"old.a.b": "new.a.b"})
        )
    ]


@pytest.mark.parametrize(
    "part",
    [CARD, RADEON, BOARD, DRIVE, SUPPLY, STICKS, NETWORK, CASE, CHIP],
    ids=lambda part: part.id,
)
def test_a_good_part_has_no_complaint(part: Part) -> None:
    assert _codes(part) == []


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (replace(CARD, id="Card"), "id-form"),
        (replace(RADEON, dense_tflops=Rates(fp32=61.44, fp16=245.8)), "unit-rate"),
        (
            replace(RADEON, dense_tflops=Rates(fp32=61.44, fp16=122.9, fp16_acc16=245.8)),
            "unit-rate",
        ),
        (replace(CARD, id="old.a.b"), "id-reused"),
        (replace(CARD, sources={}), "no-source"),
        (replace(CARD, sources={"nobody": ("*",)}), "source-missing"),
        (replace(CARD, sources={"maker": ("colour",)}), "field-unknown"),
        (
            replace(CARD, doubts={"tdp_w": Doubt(state="conflict", values=("450",))}),
            "conflict-values",
        ),
        (
            replace(CARD, prices=(Price(amount=0, currency="USD", day="2026-01-01", source="x"),)),
            "price",
        ),
        (replace(CARD, length_mm=0), "range"),
        (replace(CARD, bandwidth_gbs=1030), "bandwidth"),
        (replace(CARD, dense_tflops=Rates(fp32=330)), "fp32-rate"),
        (replace(CARD, connectors=(Plug("pcie8", 2),)), "connector-power"),
        (replace(CARD, unsupported=("fp32",)), "unsupported-rated"),
        (replace(BOARD, layout=Layout(slots=(Slot(id="P1", origin="cpu3"),))), "origin-unknown"),
        (
            replace(BOARD, layout=Layout(slots=(Slot(id="P1", mechanical=8, width=16),))),
            "wider-than-slot",
        ),
        (replace(BOARD, layout=Layout(slots=(Slot(id="P1"), Slot(id="P1")))), "place-twice"),
        (
            replace(BOARD, layout=Layout(lane_modes=(LaneMode(when=When(used=("P9",))),))),
            "place-unknown",
        ),
        (replace(CARD, cores=8192, dense_tflops=Rates(fp32=41.29)), "cores-per-sm"),
        (replace(CARD, dense_tflops=Rates(fp32=82.58, fp16_vector=330.3)), "vector-rate"),
        (replace(CARD, dense_tflops=Rates(fp32=82.58, fp64=41.3)), "vector-rate"),
        (replace(CARD, dense_tflops=Rates(fp32=82.58, fp16=660.6)), "matrix-rate"),
        (replace(CARD, dense_tflops=Rates(fp32=82.58, fp16=165.2, int8=1321)), "matrix-rate"),
        (replace(CARD, memory_type="GDDR5"), "memory-rate"),
        (replace(CARD, memory_type="GDDR6X", memory_gib=20), "memory-per-channel"),
        (replace(CARD, chip="AD103", memory_bus_bits=None), "beyond-die"),
        (replace(CARD, power_min_w=500), "power-limits"),
        (replace(CARD, power_max_w=700), "connector-power"),
        (
            replace(
                BOARD, layout=Layout(slots=(Slot(id="P1", position=2), Slot(id="P2", position=2)))
            ),
            "column-twice",
        ),
        (
            replace(BOARD, width_mm=244, layout=Layout(slots=(Slot(id="P1", position=5),))),
            "column-beyond-board",
        ),
        (
            replace(
                BOARD,
                layout=Layout(
                    memory_type="DDR4",
                    memory_modules=("udimm",),
                    memory_slots=4,
                    memory_max_gib=256,
                ),
            ),
            "memory-beyond-modules",
        ),
        (replace(DRIVE, random_read_kiops=1400), "faster-than-interface"),
        (replace(DRIVE, rotation_rpm=7200), "spinning-nvme"),
        (replace(DRIVE, interface="sata", read_gbs=0.55), "lanes-of-sata"),
        (replace(DRIVE, endurance_tbw=600_000), "endurance"),
        (replace(DRIVE, read_gbs=4.1), "faster-than-interface"),
        (replace(SUPPLY, supply=Supply()), "no-rating"),
        (
            replace(SUPPLY, supply=Supply(ratings=(Rating(100, 1000), Rating(200, 900)))),
            "rating-order",
        ),
        (
            replace(
                SUPPLY,
                supply=Supply(
                    ratings=(Rating(100, 1000),),
                    efficiency_label="80 PLUS Titanium",
                    efficiency_50=0.9,
                ),
            ),
            "efficiency",
        ),
        (
            replace(
                SUPPLY,
                form_factor="ATX",
                supply=Supply(
                    ratings=(Rating(100, 1000),), plugs=(Plug("pcie8", 2), Plug("eps8", 1))
                ),
            ),
            "plugs-below-rating",
        ),
        (
            replace(
                SUPPLY,
                supply=Supply(
                    ratings=(Rating(100, 1000),), standard="ATX 2.4", plugs=(Plug("12v-2x6", 2),)
                ),
            ),
            "plug-of-later-standard",
        ),
        (replace(STICKS, speed_mts=3000), "beyond-type"),
        (replace(STICKS, voltage_v=1.8), "beyond-type"),
        (replace(STICKS, cas=90), "latency"),
        (replace(STICKS, ecc=True), "ecc-of-module"),
        (replace(NETWORK, port_gbps=200), "faster-than-interface"),
        (
            replace(CASE, enclosure=Enclosure(rack_units=3, gpu_height_mm=140)),
            "higher-than-rack-units",
        ),
        (
            replace(CASE, enclosure=Enclosure(board_form_factors=("ATX",), slot_columns=4)),
            "columns-of-atx",
        ),
        (
            replace(
                CASE,
                enclosure=Enclosure(
                    radiators_mm=(240,), radiator_places=(RadiatorPlace(at="top", sizes_mm=(360,)),)
                ),
            ),
            "radiator-beyond-case",
        ),
        (
            replace(
                CASE,
                enclosure=Enclosure(
                    gpu_length_mm=300,
                    radiator_places=(
                        RadiatorPlace(at="front", sizes_mm=(240,), gpu_length_mm=320),
                    ),
                ),
            ),
            "more-beside-radiator",
        ),
        (
            replace(
                BOARD,
                layout=Layout(
                    sockets=("AM4",),
                    chipset="B550",
                    slots=(Slot(id="P1", origin="chipset", gen=4),),
                ),
            ),
            "generation-beyond-origin",
        ),
        (
            replace(
                BOARD,
                layout=Layout(
                    sockets=("SP3",), drives=(DrivePort(id="SATA", kind="sata", origin="chipset"),)
                ),
            ),
            "chipset-unnamed",
        ),
        (
            replace(BOARD, layout=Layout(remote_management=True, display_outputs=0)),
            "management-without-output",
        ),
        (
            replace(
                CARD,
                released="2021-05",
                connectors=(Plug("pcie8", 3),),
                architecture="Ada Lovelace",
            ),
            "before-technology",
        ),
        (replace(CHIP, released="2020"), "before-technology"),
        (
            replace(
                SUPPLY,
                released="2019",
                supply=Supply(ratings=(Rating(100, 1000),), standard="ATX 3.0"),
            ),
            "before-technology",
        ),
        (replace(BOARD, released="2019", layout=Layout(memory_type="DDR5")), "before-technology"),
        (
            replace(
                STICKS, prices=(Price(amount=17999, currency="USD", day="2026-01-01", source="x"),)
            ),
            "price-per-gb",
        ),
        (
            replace(
                DRIVE, prices=(Price(amount=899, currency="JPY", day="2026-01-01", source="x"),)
            ),
            "price-per-gb",
        ),
        (replace(STICKS, name="Kit DDR5-6000 2x48 GB"), "name-figures"),
        (replace(STICKS, name="Kit DDR5-5600 2x32 GB"), "name-figures"),
        (replace(DRIVE, name="Drive 2 TB"), "name-figures"),
        (replace(SUPPLY, name="Supply 850 W"), "name-figures"),
        (replace(CARD, name="Card 48GB", memory_gib=24), "name-figures"),
        (replace(CHIP, tdp_w=400), "watts-per-core"),
        (replace(CHIP, tdp_w=170, max_power_w=120), "power-below-tdp"),
        (replace(CHIP, boost_ghz=57.0, base_ghz=4.3), "boost-below-base"),
        (replace(CHIP, threads=4), "threads"),
        (replace(CHIP, lanes_by_gen={"5": 48, "4": 32}), "lanes-by-gen"),
        (replace(CHIP, base_ghz=4, boost_ghz=3), "boost-below-base"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fault_is_found(part: Part, code: str) -> None:
    assert _codes(part) == [code]


@pytest.mark.parametrize(
    "part",
    [
        replace(STICKS, name="Kit DDR5-6000 2 x 32 GB"),
        replace(DRIVE, name="Drive 0.96 TB", capacity_gb=960),
        replace(DRIVE, name="Drive 15.4 TB", capacity_gb=15_360),
        replace(SUPPLY, name="Supply 1000W 230V"),
        replace(CARD, name="Card 32GB", memory_gib=31.5),
    ],
    ids=lambda part: part.name,
)
def test_names_may_round(part: Part) -> None:
    assert _codes(part) == []


def test_connectors_at_exactly_the_power_are_enough() -> None:
    assert _codes(replace(CARD, tdp_w=375, connectors=(Plug("pcie8", 2),))) == []


def test_the_same_chip_is_the_same_everywhere() -> None:
    assert (
        _codes(
            CARD,
            replace(CARD, id="nvidia.x.other", architecture="Hopper"),
            replace(CARD, id="nvidia.x.third"),
        )
        == []
    )
    other = replace(CARD, id="nvidia.x.other", architecture="Hopper")
    assert _codes(replace(CARD, architecture="Ada"), other) == ["chip-family"]


def test_a_lane_class_means_the_same_lanes() -> None:
    first = replace(CHIP, lane_class="am5-24", lanes=24, pcie_gen=5)
    assert _codes(first, replace(first, id="a.b.other", lanes=28)) == ["lane-class"]


def test_a_board_never_needs_more_lanes_than_its_cpu_has() -> None:
    cpu = replace(CHIP, lane_class="am5-24", lanes=24, pcie_gen=5, peg_width=16)
    slots = tuple(
        Slot(id=name, origin="cpu0", mechanical=16, width=16, gen=5) for name in ("P1", "P2")
    )
    board = replace(BOARD, layout=Layout(sockets=("AM5",), slots=slots))
    assert _codes(cpu, board) == ["lanes-beyond-cpu"]
    split = replace(cpu, lanes=32, lanes_by_gen={"5": 16, "4": 16})
    assert _codes(split, board) == ["lanes-beyond-cpu"]
    slower = LaneMode(when=When(used=("P1", "P2")), gens={"P2": 4})
    assert _codes(split, replace(board, layout=replace(board.layout, lane_modes=(slower,)))) == []
    halved = LaneMode(when=When(used=("P1", "P2")), widths={"P1": 8, "P2": 8})
    assert _codes(cpu, replace(board, layout=replace(board.layout, lane_modes=(halved,)))) == []


def test_a_board_gives_no_more_than_the_cpus_that_fit() -> None:
    cpu = replace(
        CHIP, chipsets=("B850",), pcie_gen=4, memory=MemoryChannels(channels=2, types=("DDR5",))
    )
    slot = Slot(id="P1", origin="cpu0", gen=4)
    layout = Layout(
        sockets=("AM5",), chipset="B850", memory_type="DDR5", memory_channels=2, slots=(slot,)
    )
    board = replace(BOARD, layout=layout)
    assert _codes(cpu, board) == []
    faster = replace(layout, slots=(replace(slot, gen=5),))
    assert _codes(cpu, replace(board, layout=faster)) == ["generation-beyond-origin"]
    assert _codes(replace(cpu, chipsets=("X870",)), replace(board, layout=faster)) == []
    assert _codes(cpu, replace(board, layout=replace(layout, memory_type="DDR4"))) == [
        "memory-beyond-cpu"
    ]
    assert _codes(cpu, replace(board, layout=replace(layout, memory_channels=4))) == [
        "memory-beyond-cpu"
    ]


def test_another_cpu_changes_nothing_behind_the_chipset() -> None:
    mode = LaneMode(when=When(cpu_class=("am5-8000g",)), disabled=("M2_3",))
    drive = DrivePort(id="M2_3", kind="m2", origin="chipset", gen=4, width=4)
    layout = Layout(sockets=("AM5",), chipset="X870", drives=(drive,), lane_modes=(mode,))
    assert _codes(replace(BOARD, layout=layout)) == ["mode-beyond-origin"]
    assert (
        _codes(replace(BOARD, layout=replace(layout, drives=(replace(drive, origin="cpu0"),))))
        == []
    )


def test_a_place_that_firmware_moves_to_the_chipset_may_be_faster_before() -> None:
    moved = LaneMode(when=When(used=("M2_2",), bios="m2-chipset"), gens={"M2_2": 3})
    drives = (DrivePort(id="M2_2", kind="m2", origin="chipset", gen=4, width=4),)
    layout = Layout(sockets=("AM4",), chipset="B550", drives=drives)
    assert _codes(replace(BOARD, layout=layout)) == ["generation-beyond-origin"]
    assert _codes(replace(BOARD, layout=replace(layout, lane_modes=(moved,)))) == []


def test_a_price_in_a_currency_without_a_rate_is_not_judged() -> None:
    assert (
        _codes(
            replace(
                STICKS, prices=(Price(amount=17999, currency="TWD", day="2026-01-01", source="x"),)
            )
        )
        == []
    )


def test_what_is_in_doubt_is_not_judged() -> None:
    doubts = {"dense_tflops.fp16": Doubt(state="conflict", values=("165.2", "660.6"))}
    assert _codes(replace(CARD, dense_tflops=Rates(fp32=82.58, fp16=660.6), doubts=doubts)) == []


def test_a_second_source_counts_only_when_it_was_read() -> None:
    sources = {
        **SOURCES,
        "press": Source(title="Review", read="2026-11-21", trust="press"),
        "memory": Source(
            title="Commonly known", read="2026-11-21", trust="community", recalled=True
        ),
    }
    card = replace(
        CARD, sources={"maker": ("tdp_w", "slots"), "press": ("tdp_w",), "memory": ("slots",)}
    )
    catalog = Catalog({card.id: card}, sources)
    assert compared_fields(card, catalog) == ("tdp_w",)
    row = next(row for row in evidence(catalog) if row.kind == "gpu")
    assert (row.parts, row.read, row.compared) == (1, 1, (card.id,))


def test_completeness_counts_what_is_asked_of_a_part() -> None:
    sata = replace(DRIVE, id="a.b.sata", interface="sata", gen=None, width=None)
    rows = {
        row.field: row
        for row in completeness(Catalog({DRIVE.id: DRIVE, sata.id: sata}, SOURCES))
        if row.kind == "storage"
    }
    assert (rows["gen"].filled, rows["gen"].parts) == (1, 1)
    assert rows["random_read_kiops"].without == (DRIVE.id, sata.id)
    brick = replace(SUPPLY, id="a.b.brick", form_factor="brick", length_mm=None)
    rows = {
        row.field: row
        for row in completeness(Catalog({SUPPLY.id: SUPPLY, brick.id: brick}, SOURCES))
        if row.kind == "psu"
    }
    assert (rows["length_mm"].parts, rows["supply.ratings"].parts) == (1, 2)
    box = System(id="a.b.box", name="Box", vendor="A", sources={"maker": ("*",)}, role="complete")
    bare = replace(box, id="a.b.bare", role="barebone")
    rows = {
        row.field: row
        for row in completeness(Catalog({box.id: box, bare.id: bare}, SOURCES))
        if row.kind == "system"
    }
    assert rows["gpu_max_w"].without == (bare.id,)


def test_a_place_is_asked_only_where_a_rule_reads_it() -> None:
    mining = replace(
        BOARD,
        id="a.b.mining",
        width_mm=244,
        layout=Layout(slots=tuple(Slot(id=f"P{n}") for n in range(12))),
    )
    lone = replace(
        BOARD, id="a.b.lone", form_factor="proprietary", layout=Layout(slots=(Slot(id="P1"),))
    )
    frame = replace(
        BOARD,
        id="a.b.plain",
        width_mm=305,
        layout=Layout(slots=(Slot(id="P1"), Slot(id="P2", position=4))),
    )
    cage = System(
        id="a.b.cage",
        name="Box",
        vendor="A",
        sources={"maker": ("*",)},
        role="server",
        layout=Layout(slots=(Slot(id="P1"), Slot(id="G0", kind="sxm5"))),
    )
    tower = replace(cage, id="a.b.tower", enclosure=Enclosure(slot_columns=7))
    parts = {part.id: part for part in (mining, lone, frame, cage, tower)}
    rows = {(row.kind, row.field): row for row in completeness(Catalog(parts, SOURCES))}
    assert rows["motherboard", "layout.slots.position"].without == ("a.b.plain:P1",)
    assert rows["motherboard", "layout.slots.gen"].parts == 15
    assert rows["system", "layout.slots.position"].without == ("a.b.tower:P1",)
    assert rows["system", "layout.slots.gen"].parts == 4
    assert rows["system", "layout.slots.mechanical"].parts == 2


def test_room_for_a_supply_is_asked_of_cases_that_take_one_of_any_length() -> None:
    bay = replace(CASE, id="a.b.bay", enclosure=replace(CASE.enclosure, psu_form_factors=("CRPS",)))
    case = replace(CASE, enclosure=replace(CASE.enclosure, psu_form_factors=("ATX",)))
    rows = {
        row.field: row
        for row in completeness(Catalog({case.id: case, bay.id: bay}, SOURCES))
        if row.kind == "chassis"
    }
    assert rows["enclosure.psu_length_mm"].without == (case.id,)


def test_a_power_limit_is_asked_only_where_the_driver_takes_one_for_the_whole_card() -> None:
    card = replace(CARD, power_min_w=None)
    navi = replace(CARD, id="a.b.navi", architecture="RDNA3", power_min_w=None)
    rows = {
        row.field: row
        for row in completeness(Catalog({card.id: card, navi.id: navi}, SOURCES))
        if row.kind == "gpu"
    }
    assert (rows["power_min_w"].parts, rows["power_min_w"].without) == (1, (card.id,))
    assert rows["tdp_w"].parts == 2


def test_what_a_maker_leaves_out_is_counted_apart_from_what_nobody_looked_up() -> None:
    silent = replace(DRIVE, id="a.b.silent", unpublished={"maker": ("random_read_kiops",)})
    rows = {
        row.field: row
        for row in completeness(Catalog({DRIVE.id: DRIVE, silent.id: silent}, SOURCES))
        if row.kind == "storage"
    }
    row = rows["random_read_kiops"]
    assert (row.filled, row.unpublished, row.without) == (0, (silent.id,), (DRIVE.id,))
    board = replace(BOARD, unpublished={"maker": ("layout.slots.position",)})
    rows = {
        row.field: row
        for row in completeness(Catalog({board.id: board}, SOURCES))
        if row.kind == "motherboard"
    }
    assert (rows["layout.slots.position"].unpublished, rows["layout.slots.gen"].without) == (
        ("a.b.board:P1",),
        ("a.b.board:P1",),
    )


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (replace(DRIVE, unpublished={"nobody": ("power_w",)}), "unpublished-source"),
        (replace(DRIVE, unpublished={"press": ("power_w",)}), "unpublished-source"),
        (replace(DRIVE, unpublished={"memory": ("power_w",)}), "unpublished-source"),
        (replace(DRIVE, unpublished={"maker": ("thirst_w",)}), "field-unknown"),
        (replace(DRIVE, unpublished={"maker": ("read_gbs",)}), "unpublished-figure"),
        (replace(BOARD, unpublished={"maker": ("layout.slots.width",)}), "unpublished-figure"),
    ],
)
def test_only_a_page_of_the_maker_that_was_read_tells_that_a_figure_is_not_published(
    part: Part, code: str
) -> None:
    sources = {
        **SOURCES,
        "press": Source(title="Review", read="2026-11-21", trust="press"),
        "memory": Source(title="Commonly known", read="2026-11-21", trust="vendor", recalled=True),
    }
    assert [complaint.code for complaint in lint(Catalog({part.id: part}, sources))] == [code]


@pytest.mark.parametrize(
    ("width_mm", "columns"), [(170, 1), (203, 2), (244, 4), (305, 7), (321, 8)]
)
def test_the_columns_of_a_board_follow_from_its_length(width_mm: float, columns: int) -> None:
    assert columns_of(width_mm) == columns
    assert (
        _codes(
            replace(
                BOARD, width_mm=width_mm, layout=Layout(slots=(Slot(id="P1", position=columns),))
            )
        )
        == []
    )


def test_a_case_without_a_place_for_radiators_is_known() -> None:
    frame = replace(CASE, id="a.b.frame", enclosure=replace(CASE.enclosure, radiators_mm=()))
    rows = {
        row.field: row
        for row in completeness(Catalog({CASE.id: CASE, frame.id: frame}, SOURCES))
        if row.kind == "chassis"
    }
    assert rows["enclosure.radiators_mm"].without == (CASE.id,)
    assert rows["enclosure.psu_form_factors"].without == (CASE.id, frame.id)


def test_the_shipped_catalog_has_no_complaint(catalog: Catalog) -> None:
    assert lint(catalog) == []


def test_every_figure_shipped_names_its_source_itself(catalog: Catalog) -> None:
    blanket = [part.id for part in catalog.parts.values() if "*" in str(part.sources.values())]
    assert blanket == []


@pytest.mark.parametrize("address", [None, "https://hub.test/search?q=name&type=code"])
def test_a_rank_above_community_has_an_address_that_leads_to_what_was_read(
    address: str | None,
) -> None:
    def codes(source: Source) -> list[str]:
        catalog = Catalog({CARD.id: CARD}, {"maker": source}, {})
        return [complaint.code for complaint in lint(catalog) if complaint.part == CARD.id]

    unfound = replace(PAGE, url=address)
    assert codes(unfound) == ["rank-without-address"]
    assert codes(PAGE) == codes(replace(unfound, trust="community")) == []
    assert codes(replace(unfound, recalled=True)) == []


def test_a_turbo_power_is_asked_only_of_processors_whose_maker_rates_one() -> None:
    old = replace(CHIP, id="a.b.old-cpu", socket="LGA3647")
    rows = {
        row.field: row
        for row in completeness(Catalog({CHIP.id: CHIP, old.id: old}, SOURCES))
        if row.kind == "cpu"
    }
    assert (rows["max_power_w"].parts, rows["cores"].parts) == (1, 2)


@pytest.mark.parametrize(
    ("socket", "chipset", "splits", "codes"),
    [
        ("LGA1700", "Z790", ("x8x8",), []),
        ("LGA1700", "Z790", ("x4x4x4x4",), ["split-beyond-platform"]),
        ("LGA1700", "B760", ("x16",), []),
        ("LGA1700", "B760", ("x8x8",), ["split-beyond-platform"]),
        ("AM5", "B650", ("x8x4x4",), []),
    ],
)
def test_a_split_is_one_that_the_platform_has(
    socket: str, chipset: str, splits: tuple[str, ...], codes: list[str]
) -> None:
    slots = (Slot(id="P1", origin="cpu0", mechanical=16, width=16, bifurcation=splits),)
    assert (
        _codes(replace(BOARD, layout=Layout(sockets=(socket,), chipset=chipset, slots=slots)))
        == codes
    )
