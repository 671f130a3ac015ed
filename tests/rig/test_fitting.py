"""What a line leaves open is settled by the other lines of its list, and what may mean another part
is told. Lines are from lists that owners published (labs' pages, notes of home servers, shops)."""

import pytest
from list_reading import SHIPPED, entries, read

from rigplanner.catalog.schema.parts import Cooler, MemoryKit, PowerSupply
from rigplanner.rig.from_text.parts_list import by_figures


@pytest.mark.parametrize(
    ("list_", "modules", "gib", "module", "type_"),
    [
        (
            "ASUS ROG Strix Z370-I\ni7-8700K\n32 GB G.Skill Trident Z",
            2,
            16.0,
            "udimm",
            "DDR4",
        ),
        ("CPU: EPYC 7282\nRAM: 128GB DDR4", 4, 32, "rdimm", "DDR4"),
        ("CPU: i7-9700F\nRAM: 128 GB DDR4", 4, 32, "udimm", "DDR4"),
        ("Supermicro X11SPi-TF\nXeon Platinum 8168\nRAM: 1x 64G RDIMM", 1, 64, "rdimm", "DDR4"),
        ("ASUS C621E Sage\nRAM: 4x Samsung 8GB RDIMM", 4, 8, "rdimm", "DDR4"),
        ("Threadripper 3970X\n256GB DDR4 (non-ECC)", 8, 32, "udimm", "DDR4"),
    ],
)
def test_memory_is_of_the_sort_that_board_and_cpu_take(
    list_: str, modules: int, gib: float, module: str, type_: str
) -> None:
    wish = entries(list_)[-1].wish
    kit = wish.parts[0]
    assert isinstance(kit, MemoryKit)
    assert (wish.quantity * kit.modules, kit.module_gib) == (modules, gib)
    assert (kit.module, kit.type) == (module, type_)
    assert by_figures(wish)


@pytest.mark.parametrize(
    "list_",
    [
        "Ryzen 9 5950X\nRAM: 128GB ECC",
        "Dell Precision T5820\n64GB RAM",
        "Ryzen 7 5700X\nRAM: 96GB DDR4",
    ],
)
def test_memory_that_nothing_settles_is_left_open(list_: str) -> None:
    assert read(list_)[-1] == (1, "?")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Case: Fractal Design Meshify 2 Mini", "fractal-design.meshify-2.meshify-2"),
        ("* Case: NZXT H510 Elite - Premium Mid-Tower ATX Case", "nzxt.h510.h510"),
        ("内存条: 金士顿 3200 频", "kingston.ddr4.kvr32n22s8-16"),
        ("3970X", "amd.threadripper.3970x"),
    ],
)
def test_a_longer_name_or_an_open_size_is_told(line: str, part: str) -> None:
    (entry,) = entries(line)
    assert entry.wish.parts[0].id == part
    assert by_figures(entry.wish) and entry.wish.guessed


def test_a_number_of_two_families_is_that_of_the_boards_socket() -> None:
    parts = read("MSI TRX40 PRO 10G\n3970X")
    assert parts == [(1, "msi.trx40.trx40-pro-10g"), (1, "amd.threadripper.3970x")]


@pytest.mark.parametrize(
    ("list_", "parts"),
    [
        (
            "Xeon W-2295 on ASUS WS C422 SAGE/10G",
            [(1, "intel.xeon-w.w-2295"), (1, "asus.boards.ws-c422-sage-10g")],
        ),
        (
            "  - SSD: 2x Intel SSD DC S3500 480GB | 2x 1TB Samsung 980 PRO SSD w/ Heatsink",
            [(2, "intel.ssd-dc-s3500.480-gb"), (2, "samsung.ssd-980-pro.1-tb")],
        ),
        (
            "* **HDD** 3 x 3.000GB Seagate RAID-Z1\n* **CPU:** Athlon, 2 Cores / 4 Threads",
            [(3, "?"), (1, "?")],
        ),
        (
            "|配件|型号|\n|--|--|\n|主板|华硕 x570|\n|CPU|AMD5800X3D|\n|显卡|华硕 N 卡 3060Ti|",
            [(1, "?"), (1, "amd.ryzen.7-5800x3d"), (1, "asus.dual.rtx-3060-ti-dual-oc")],
        ),
        ("mATX case 21L, support for 240mm water cooler (GPU)", [(1, "?")]),
        ("Networking: 192.168.0.95 - 1 Gb/s", [(1, "?")]),
    ],
)
def test_nothing_is_lost_or_counted_wrongly(list_: str, parts: list[tuple[int, str]]) -> None:
    assert read(list_) == parts


def test_details_and_totals_of_a_table_are_read() -> None:
    """A page of a home server, whose rows bear the same labels under several headings."""
    text = (
        "| Component | Details |\n|---|---|\n"
        "| Mobo | MSI PRO Z790-A MAX WIFI |\n"
        "| Model | Intel Core i9-14900K (24-core, 8P+16E) |\n"
        "| Total | 96.00 GB DDR5 5600MHz (2x48GB) |\n"
        "| Total | SK hynix Platinum P41 2TB PCIe NVMe |\n"
        "| Total | 1,234.00 EUR |"
    )
    assert read(text) == [
        (1, "msi.z790.pro-z790-a-max-wifi"),
        (1, "intel.core.i9-14900k"),
        (1, "crucial.ddr5.ct2k48g56c46u5"),
        (1, "sk-hynix.platinum-p41.2-tb"),
    ]


def test_watts_that_a_line_leaves_open_are_told() -> None:
    (entry,) = entries("PSU: be quiet! Pure Power 11 Gold")
    assert by_figures(entry.wish) and entry.wish.guessed


@pytest.mark.parametrize(
    ("list_", "fits"),
    [
        ("CPU: Threadripper 3970X\nCooling: Acme 360 mm AIO", "sTRX4"),
        ("Case: FormD T1\nPSU: Acme 750W Gold", "SFX"),
    ],
)
def test_what_stands_for_an_unknown_part_fits_the_list(list_: str, fits: str) -> None:
    part = entries(list_)[-1].wish.parts[0]
    assert isinstance(part, Cooler | PowerSupply)
    assert fits in (part.sockets if isinstance(part, Cooler) else (part.form_factor,))


def test_memory_beside_a_workstation_is_of_the_sort_that_board_and_cpu_take() -> None:
    """The CPU alone takes plain modules too; the computer's board does not."""
    modules = read("Dell Precision T7910 with 2x E5-2680 v3\n128GB RAM")[-1]
    kit = SHIPPED.by_id[modules[1]]
    assert isinstance(kit, MemoryKit) and kit.module in ("rdimm", "lrdimm")
    assert modules[0] * kit.modules * kit.module_gib == 128
