"""Which part does a shop's line name? Better none than a wrong one."""

import pytest

from rigplanner.catalog.find.find import PartIndex
from rigplanner.catalog.schema.parts import CPU, GPU, Layout, Motherboard, Storage


def _gpu(name: str, gib: float) -> GPU:
    part_id = f"nvidia.geforce.{name.casefold().replace(' ', '-')}"
    return GPU(
        id=part_id, name=f"GeForce {name}", vendor="NVIDIA", form_factor="pcie", memory_gib=gib
    )


PARTS = [
    _gpu("RTX 4070", 12),
    _gpu("RTX 4070 Ti", 12),
    _gpu("RTX 3060", 12),
    CPU(id="intel.core.i5-12400", name="Intel Core i5-12400", vendor="Intel", socket="LGA1700"),
    Motherboard(id="asus.prime.z690-p", name="ASUS PRIME Z690-P", vendor="ASUS", layout=Layout()),
    Storage(
        id="samsung.ssd-990-pro.4-tb",
        name="Samsung SSD 990 Pro 4 TB",
        vendor="Samsung",
        form_factor="m2",
        interface="nvme",
        capacity_gb=4000,
        gen=4,
    ),
]
INDEX = PartIndex(PARTS)


@pytest.mark.parametrize(
    ("text", "part", "confidence"),
    [
        ("技嘉 RTX4070 WINDFORCE OC 12G", "nvidia.geforce.rtx-4070", "exact"),
        ("RTX 4070Ti GAMING X TRIO", "nvidia.geforce.rtx-4070-ti", "exact"),
        ("ＲＴＸ４０７０ Ｔｉ", "nvidia.geforce.rtx-4070-ti", "exact"),
        ("Intel i5-12400 【6核/12緒】", "intel.core.i5-12400", "exact"),
        ("華碩 PRIME Z690-P D5(ATX)", "asus.prime.z690-p", "exact"),
        ("PRIME Z690-P", "asus.prime.z690-p", "words"),
        ("三星 990 PRO 4TB/M.2 2280", "samsung.ssd-990-pro.4-tb", "exact"),
    ],
)
def test_a_line_names_a_part(text: str, part: str, confidence: str) -> None:
    named = INDEX.named_in(text)
    assert named.part is not None
    assert (named.part.id, named.confidence) == (part, confidence)


@pytest.mark.parametrize(
    "text",
    [
        "RTX 4070 SUPER 12G",
        "RTX4070 Ti SUPER",
        "RTX40700",
        "Intel i5-12400F",
        "技嘉 RTX3060 8G",
        "PRIME Z690-P WIFI",
        "三星 990 PRO 2TB",
        "4070",
        "",
        "🖥",
    ],
)
def test_a_line_near_a_part_names_none(text: str) -> None:
    assert (INDEX.named_in(text).part, INDEX.named_in(text).confidence) == (None, "none")


def test_of_another_kind_is_none() -> None:
    assert INDEX.named_in("RTX 4070", "cpu").part is None


@pytest.mark.parametrize("words", ["4tb gen4", "gen4 990pro", "lga1700 12400", "4070ti"])
def test_words_of_the_data_sheet_find_parts(words: str) -> None:
    assert len(INDEX.find(words)) == 1
