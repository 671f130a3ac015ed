"""Lookup by words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import GPU, kind_of
from rigplanner.rig.from_text.from_words import read_wish, rig_from_wishes, untold_editions


@pytest.fixture(scope="module")
def index(catalog: Catalog) -> PartIndex:
    return index_of(catalog)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("3090", "nvidia.geforce.rtx-3090"),
        ("rtx 3090", "nvidia.geforce.rtx-3090"),
        ("3090 ti", "nvidia.geforce.rtx-3090-ti"),
        ("TI 1080", "nvidia.geforce.gtx-1080-ti"),
        ("epyc 7443p", "amd.epyc.7443p"),
        ("7443p", "amd.epyc.7443p"),
        ("i5 7500", "intel.core.i5-7500"),
        ("romed8", "asrock-rack.romed8.romed8-2t"),
        ("CP-9020200-NA", "corsair.rmx.rm850x-2021"),
        ("cp-9020252-eu", "corsair.rmx.rmx-shift-rm850x-shift"),
        ("BX8071512400", "intel.core.i5-12400"),
        ("BX80684I99900K", "intel.core.i9-9900k"),
        ("KF560C32RSK2-64", "kingston.fury-renegade.kf560c32rsk2-64"),
    ],
)
def test_the_words_of_the_trade_find_the_part(index: PartIndex, words: str, part: str) -> None:
    assert index.find(words)[0].id == part


def test_words_in_any_order_find_the_same_parts(index: PartIndex) -> None:
    assert {p.id for p in index.find("asus x99 ws")} == {p.id for p in index.find("ws asus x99")}


def test_nothing_matches_nonsense(index: PartIndex) -> None:
    assert index.find("zzzqqq") == []


def test_an_empty_query_returns_all_of_the_kind(index: PartIndex, catalog: Catalog) -> None:
    assert len(index.find("  ", kind="gpu")) == len(catalog.of_kind("gpu"))


@given(st.text(max_size=300))
def test_any_text_can_be_searched(words: str) -> None:
    PartIndex([]).find(words)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("2x RTX 3090", 2),
        ("2 x RTX 3090", 2),
        ("RTX 3090 x2", 2),
        ("RTX 3090 X 2", 2),
        ("RTX 3090", 1),
        ("4× 3090", 4),
        ("2 RTX 3090", 2),
        ("RTX 3090 (2)", 2),
        ("RTX 3090 (2x)", 2),
        ("two RTX 3090s", 2),
        ("3090 x 4", 4),
        ("4 x 3090", 4),
        ("4*3090", 4),
        ("4x3090", 4),
        ("3090s", 1),
    ],
)
def test_a_wish_has_a_quantity_and_words(index: PartIndex, text: str, quantity: int) -> None:
    wish = read_wish(text, index)
    assert (wish.quantity, wish.parts[0].id) == (quantity, "nvidia.geforce.rtx-3090")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Kraken X91", None),
        ("Supermicro 4029GP-TVRT", None),
        ("RTX A6000 Ada", "nvidia.rtx.6000-ada"),
        ("EVGA FTW3 ULTRA GAMING GeForce RTX 3090 24 GB Video Card", "evga.ftw3.rtx-3090-ultra"),
        ("MSI RTX3090-VENTUS-3X", "msi.ventus.rtx-3090-ventus-3x-oc"),
        ("Thermaltake CTE T500 Air", None),
        ("Thermaltake The Tower 800", None),
        ("Tesla M5", None),
        ("RX 560 16GB", None),
        ("iMac Pro", None),
        ("MSI Suprim X 4080", "msi.suprim.rtx-4080-suprim-x"),
        ("KFA2 4090 SG", "nvidia.geforce.rtx-4090"),
        ("ASUS ROG Strix SCAR 18 RTX 4050", None),
        ("DGX Spark", "nvidia.dgx.dgx-spark"),
        ("Thermaltake Level 20 HT", None),
        ("ASUS ROG Loki SFX-L 1000W Platinum", "asus.rog-loki.rog-loki-1000w-platinum"),
    ],
)
def test_a_wish_for_another_model_takes_no_near_one(
    index: PartIndex, text: str, part: str | None
) -> None:
    wish = read_wish(text, index)
    assert (wish.quantity, wish.parts[0].id if wish.parts else None) == (1, part)


@pytest.mark.parametrize(
    ("words", "part", "untold"),
    [
        (
            "MSI RTX 4070 Ti Super Gaming X Slim White",
            "MSI GAMING X SLIM GeForce RTX 4070 Ti SUPER",
            "white",
        ),
        (
            "Gigabyte GeForce RTX 3060 Ti LHR WINDFORCE OC",
            "Gigabyte WINDFORCE OC GeForce RTX 3060 Ti",
            "lhr",
        ),
        ("Fractal North XL Chalk White", "Fractal Design North XL", "chalk white"),
        ("Noctua NH-U12A chromax", "Noctua NH-U12A chromax.black", ""),
        ("Crucial T700 w/Heatsink 1 TB", "Crucial T700 1 TB", "w heatsink"),
        ("Sapphire Nitro+ RX 7900 XTX Vapor-X", "Sapphire Nitro+ Radeon RX 7900 XTX Vapor-X", ""),
        ("MBD-X11SSL-F-O", "Supermicro X11SSL-F", ""),
    ],
)
def test_a_colour_or_an_edition_is_the_part_of_its_family_and_told(
    index: PartIndex, words: str, part: str, untold: str
) -> None:
    wish = read_wish(words, index)
    assert (wish.parts[0].name, " ".join(untold_editions(wish))) == (part, untold)
    assert part in [found.name for found in index.search(words)] or "MBD" in words


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Noctua NH-D15 82.5 CFM CPU Cooler", "Noctua NH-D15"),
        ("Gigabyte RTX3090 Gaming OC 24G", "Gigabyte GAMING OC GeForce RTX 3090"),
        (
            "Gigabyte GeForce RTX 2070 Super Gaming OC 3X",
            "Gigabyte GAMING OC GeForce RTX 2070 SUPER",
        ),
        ("be quiet! Power Zone 2 Modular, 750W", "be quiet! Power Zone 2 750W"),
        ("ZOTAC GAMING GeForce RTX 5090 SOLID AMP CORE", None),
        ("ThinkStation P3 Tiny Gen 2", None),
        ("Intel Optane M10 16 GB", None),
    ],
)
def test_the_line_of_a_shop_finds_the_very_product(
    index: PartIndex, line: str, part: str | None
) -> None:
    assert next((found.name for found in index.search(line)), None) == part


def test_a_card_is_none_of_its_makers_with_another_chip(index: PartIndex) -> None:
    (part, *_) = read_wish("ASUS GeForce RTX 3060 8GB DUAL OC", index).parts
    assert isinstance(part, GPU) and (part.chip, part.memory_gib) == ("GA106", 8)


def test_a_number_is_not_found_in_the_end_of_a_longer_one(index: PartIndex) -> None:
    assert all("24 TB" not in part.name for part in index.find("4tb hdd"))
    assert index.find("24tb hdd")


def test_memory_is_memory_and_no_machine_that_holds_it(index: PartIndex) -> None:
    assert {kind_of(part) for part in read_wish("16GB DDR4", index).parts} == {"memory"}


def test_wishes_become_a_rig(index: PartIndex) -> None:
    rig = rig_from_wishes(
        "two", [read_wish(text, index) for text in ("2x RTX 3090", "Ryzen 9 5950X")]
    )
    assert [(item.uid, item.quantity) for item in rig.items] == [("gpu", 2), ("cpu", 1)]
    with pytest.raises(ValueError, match="quantity"):
        rig_from_wishes("many", [read_wish("999999x RTX 3090", index)])


def test_a_word_of_a_kind_and_a_product_come_first(index: PartIndex) -> None:
    for words, kind in (
        ("riser", "riser"),
        ("risers", "riser"),
        ("water cooler", "cooler"),
        ("dgx spark", "system"),
        ("mac studio", "system"),
        ("nas", "system"),
        ("laptop", "system"),
        ("cases", "chassis"),
        ("graphics card 24gb", "gpu"),
        ("motherboard am5", "motherboard"),
        ("DDR5 RAM 64GB", "memory"),
        ("power supply 1600w", "psu"),
    ):
        found = index.find(words, limit=2)
        assert {kind_of(part) for part in found} == {kind}, words


def test_letters_typed_wrong_are_read_and_numbers_never(index: PartIndex) -> None:
    named = [part.name for part in index.search("samsumg 990 pro 4tb")]
    assert named == ["Samsung SSD 990 Pro 4 TB"]
    assert index.search("corsiar rm1000x") == index.find("corsair rm1000x") != []
    assert index.search("samsung 991 pro 4tb") == []
    assert index.find("samsumg 990 pro 4tb") == []  # what takes the first part unseen mends nothing
    assert all("GN100" not in part.name for part in index.find("n100"))
