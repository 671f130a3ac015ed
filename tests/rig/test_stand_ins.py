"""What a pasted list means and the catalog lacks: another model is no match, memory that stands in
is told, a computer and its own parts are one machine; figures alone find what stands in."""

import pytest

from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.find.kits import of_another_rate
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import (
    Cooler,
    MemoryKit,
    NetworkCard,
    PowerSupply,
    Storage,
    kind_of,
)
from rigplanner.rig.from_text.from_words import read_wish
from rigplanner.rig.from_text.parts_list import by_figures, read_parts_list, rig_from_entries

SHIPPED = index_of(shipped_catalog())
DAY = "2026-11-23"


@pytest.mark.parametrize(
    ("words", "never"),
    [
        ("Asus Prime Z370-P", "ASUS PRIME Z370-A"),
        ("Prime Z370-P", "ASUS PRIME Z370-A"),
        ("MP44 1TB", "Teamgroup MP44L 1 TB"),
        ("Gigabyte B650 AORUS ELITE AX", "Gigabyte B650M AORUS ELITE AX (rev. 1.3)"),
        ("ProArt X870 Creator", "ASUS ProArt X870E-CREATOR WIFI"),
    ],
)
def test_a_model_beside_the_one_that_is_meant_is_no_match(words: str, never: str) -> None:
    assert never not in [part.name for part in read_wish(words, SHIPPED).parts]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Asus Prime Z370-A", "ASUS PRIME Z370-A"),
        ("MP44L 1TB", "Teamgroup MP44L 1 TB"),
        ("ProArt X870E Creator", "ASUS ProArt X870E-CREATOR WIFI"),
    ],
)
def test_the_model_itself_is_found(words: str, name: str) -> None:
    assert read_wish(words, SHIPPED).parts[0].name == name


@pytest.mark.parametrize(
    ("line", "gib", "modules"),
    [
        ("Memory: Patriot Viper Elite DDR4 32GB (2x16GB) 2666MHz", 32, 2),
        ("RAM: ADATA Lancer DDR5 32GB (2x16GB) 4800MHz CL40", 32, 2),
        ("4x Nobody 16GB DDR4-2933", 64, 4),
    ],
)
def test_memory_that_stands_in_has_the_size_and_is_told(line: str, gib: int, modules: int) -> None:
    (entry,) = read_parts_list(line, SHIPPED, DAY)
    kit = entry.wish.parts[0]
    assert isinstance(kit, MemoryKit)
    assert kit.modules * entry.wish.quantity == modules
    assert kit.modules * kit.module_gib * entry.wish.quantity == gib
    assert by_figures(entry.wish)
    assert of_another_rate(entry.wish.text, kit) or str(kit.speed_mts) in line


@pytest.mark.parametrize(
    ("line", "kind", "figures"),
    [
        ("PSU: Nobody Zeus 650 W 80+ Gold Fully Modular", "psu", ("ATX", 650, "Gold")),
        ("电源: 先马 金牌550W", "psu", ("ATX", 550, "Gold")),
        ("PSU: Nobody SFX 750W Gold", "psu", ("SFX", 750, "Gold")),
        ("Asus 850 W 80+ Platinum Power Supply", "psu", ("ATX", 850, "Platinum")),
        ("SSD: Nobody QX1 1 TB M.2-2280 PCIe 4.0 X4 NVME", "storage", ("m2", 1000, 4)),
        ('Storage: Nobody 4 TB 3.5" 5400 RPM Internal Hard Drive', "storage", ("3.5", 4000, None)),
        ('SSD: Nobody 480GB 2.5" SATA Solid State Drive', "storage", ("2.5", 500, None)),
        ("Cooler: Nobody Ice 360mm AIO", "cooler", (360,)),
        ("Network: Mellanox ConnectX-5 25GbE", "nic", (25,)),
    ],
)
def test_a_stand_in_has_the_figures_of_the_line_and_is_told(
    line: str, kind: str, figures: tuple[object, ...]
) -> None:
    (entry,) = read_parts_list(line, SHIPPED, DAY)
    part = entry.wish.parts[0]
    assert kind_of(part) == kind and by_figures(entry.wish)
    if isinstance(part, PowerSupply):
        label = (part.supply.efficiency_label or "").rpartition(" ")[2]
        watts = max(rating.watts for rating in part.supply.ratings)
        assert (part.form_factor, watts, label) == figures
    elif isinstance(part, Storage):
        gen = part.gen if part.interface == "nvme" else None
        near = round(part.capacity_gb / 500) * 500
        assert (part.form_factor, near, gen) == figures
    elif isinstance(part, Cooler):
        assert (part.radiator_mm,) == figures
    else:
        assert isinstance(part, NetworkCard) and (part.port_gbps,) == figures


@pytest.mark.parametrize(
    "line",
    [
        "Motherboard: Nobody Z790 Zeus",
        "Case: Nobody Zeus 5",
        "CPU: Nobody i9-19900K",
        "PSU: 2x Nobody server PSU 1200W",
        "SSD: Nobody 15.36TB U.2 NVMe",
        "Cooler: Nobody Zeus tower",
        "Storage: Nobody X1 4TB",
    ],
)
def test_without_the_figures_that_count_nothing_stands_in(line: str) -> None:
    assert not any(entry.wish.stands_in for entry in read_parts_list(line, SHIPPED, DAY))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Storage: 4 TB Gen5 NVMe (Samsung 9100 Pro or Crucial T705)", "samsung.ssd-9100-pro.4-tb"),
        ("GPU: any 24 GB card (e.g. RTX 3090, RTX 4090)", "nvidia.geforce.rtx-3090"),
    ],
)
def test_what_brackets_give_as_an_example_is_taken(line: str, wanted: str) -> None:
    (entry,) = read_parts_list(line, SHIPPED, DAY)
    assert entry.wish.parts[0].id == wanted


def test_each_drive_of_a_line_is_one_even_if_unknown() -> None:
    line = "Storage: Samsung 990 PRO 2TB, Nobody Zeus 4TB, Nobody Q4000 4TB"
    entries = read_parts_list(line, SHIPPED, DAY)
    assert [len(entry.wish.parts) > 0 for entry in entries] == [True, False, False]


def test_a_supply_named_without_any_number_stands_for_others_of_its_sort() -> None:
    (entry,) = read_parts_list("PSU: 2x HP Server PSU", SHIPPED, DAY)
    assert entry.wish.parts and entry.wish.quantity == 2 and by_figures(entry.wish)


def test_a_computer_and_what_it_has_itself_are_one_machine() -> None:
    text = (
        "Lenovo ThinkStation P620\nMotherboard: Lenovo P620 board\nCPU: Threadripper PRO 5955WX\n"
        "PSU: Lenovo ThinkStation P620 1000W\nGPU: 2x RTX A6000"
    )
    entries = read_parts_list(text, SHIPPED, DAY)
    told = [entry.comes_with.id for entry in entries if entry.comes_with is not None]
    assert told == ["lenovo.thinkstation.p620"] * 2
    rig = rig_from_entries("one", entries)
    assert [(item.part, item.quantity) for item in rig.items] == [
        ("lenovo.thinkstation.p620", 1),
        ("amd.threadripper-pro.5955wx", 1),
        ("nvidia.rtx.a6000", 2),
    ]


def test_a_second_line_of_the_same_computer_is_no_second_one() -> None:
    entries = read_parts_list("Dell PowerEdge R7525\nChassis: Dell R7525", SHIPPED, DAY)
    rig = rig_from_entries("one", entries)
    assert [(item.part, item.quantity) for item in rig.items] == [("dell.poweredge.r7525", 1)]


def test_the_exact_card_of_a_partner_is_kept() -> None:
    (entry,) = read_parts_list("GPU: ASUS ROG Strix GeForce RTX 4090 OC", SHIPPED, DAY)
    assert entry.wish.parts[0].vendor == "ASUS" and not by_figures(entry.wish)


@pytest.mark.parametrize(
    ("line", "modules", "gib"),
    [
        ("RAM: Crucial 16GB DDR4-3200", 1, 16),
        ("RAM: Corsair Vengeance LPX (2x 16GB, total 32GB)", 2, 32),
        ("RAM Memory: 16* 16GB DDR4-2666MHz", 16, 256),
        ("内存: 金士顿 16G DDR4-2133", 1, 16),
    ],
)
def test_memory_comes_to_what_the_line_counts(line: str, modules: int, gib: int) -> None:
    (entry,) = read_parts_list(line, SHIPPED, DAY)
    kit = entry.wish.parts[0]
    assert isinstance(kit, MemoryKit) and kit.module != "sodimm"
    assert kit.modules * entry.wish.quantity == modules
    assert kit.modules * kit.module_gib * entry.wish.quantity == gib


@pytest.mark.parametrize(
    ("line", "part", "told"),
    [
        ("Motherboard: Asus Prime Z590-P WiFi", "asus.prime.prime-z590-p", True),
        ("Motherboard: Asus Prime Z590-P", "asus.prime.prime-z590-p", False),
        ("PSU: Seasonic Core V2 GX-650", "seasonic.core.core-gx-650", True),
        ("PSU: Seasonic Core GX-650", "seasonic.core.core-gx-650", False),
        (
            "PSU: Silverstone 1000 80+ Platinum SFX-L",
            "silverstone.sx.sx1000-platinum",
            True,
        ),
        (
            "RAM: Corsair Vengeance RGB 32GB (2x16GB) DDR5-6000 CL30",
            "corsair.vengeance-rgb.cmh32gx5m2b6000z30k",
            False,
        ),
        (
            "RAM: Corsair Vengeance RGB 32GB (2x16GB) DDR5-6000 CL28",
            "corsair.vengeance-rgb.cmh32gx5m2e6000z36",
            True,
        ),
    ],
)
def test_a_version_a_radio_or_lights_beside_the_model_are_told(
    line: str, part: str, told: bool
) -> None:
    (entry,) = read_parts_list(line, SHIPPED, DAY)
    assert (entry.wish.parts[0].id, by_figures(entry.wish)) == (part, told)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("Cooling system: Cooler Master ML360R RGB", ["masterliquid-ml360r-rgb"]),
        ("Case Cooler Master Elite 110 Mini ITX Tower Case", ["elite-110"]),
        ("Storage: Boot Drive (Samsung 990 PRO 2TB)", ["2-tb"]),
        ("Storage: 1 x WD_BLACK 1 TB M.2 SSD, 3 x Seagate 12 TB HDD", ["1-tb", "st12000nm002h"]),
        ("Case: Nobody 452; used in the benchmarked i7-8700K machine", ["?"]),
        ("Storage: Western Digital - SN750 500 GB M.2-2280 Solid State Drive", ["500-gb"]),
        ("CPU: x2 E5-2690 v4", ["e5-2690-v4"]),
        ("GPU: PowerColor Hellhound RX 7900 XT", ["rx-7900-xt-hellhound"]),
        ("GPU: PowerColor Hellhound RX 7900 XTX", ["rx-7900-xtx-hellhound"]),
        ("Computer: GMKtec EVO-X2", ["x2-128gb"]),
    ],
)
def test_labels_and_remarks_around_a_part(line: str, parts: list[str]) -> None:
    read = read_parts_list(line, SHIPPED, DAY)
    named = [e.wish.parts[0].id.rpartition(".")[2] if e.wish.parts else "?" for e in read]
    assert named == parts
