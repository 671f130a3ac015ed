"""What a pasted list means and the catalog lacks: another model is no match, memory that stands in
is told, a computer and its own parts are one machine."""

import pytest

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.find.kits import of_another_rate
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import MemoryKit
from rigplanner.rig.from_text.from_words import read_wish
from rigplanner.rig.from_text.parts_list import by_figures, read_parts_list, rig_from_entries

SHIPPED = PartIndex(shipped_catalog().parts.values())
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
        ("RAM: Corsair Vengeance DDR5 32GB (2x16GB) 4800MHz CL40", 32, 2),
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
