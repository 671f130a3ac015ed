"""Several parts in one line of a list: all are read, with their counts, and what is none of them is
told."""

import pytest
from list_reading import SHIPPED, entries, read

from rigplanner.catalog.schema.parts import MemoryKit
from rigplanner.report.words.importing import list_notes
from rigplanner.rig.from_text.line_parts import pieces_of
from rigplanner.rig.from_text.parts_list import by_figures, read_parts_list


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (
            "2x 3090 + NVLink bridge",
            [(2, "nvidia.geforce.rtx-3090"), (1, "nvidia.nvlink-bridge.geforce-rtx-3090-4-slot")],
        ),
        (
            "2x A6000, 3-slot NVLink bridge",
            [(2, "nvidia.rtx.a6000"), (1, "nvidia.nvlink-bridge.rtx-ampere-3-slot")],
        ),
        (
            "64GB (4x16) DDR4-3200 and 2TB 990 Pro",
            [(1, "g-skill.ripjaws-v.f4-3200c16q-64gvk"), (1, "samsung.ssd-990-pro.2-tb")],
        ),
        (
            "- **GPUs:** 2x RTX 5090 (32GB VRAM each) + 1x RTX 5070",
            [(2, "nvidia.geforce.rtx-5090"), (1, "nvidia.geforce.rtx-5070")],
        ),
        (
            "5 GPUs Total: 4× RTX 3090 (24GB each) + 1× RTX 5090 = 128GB",
            [(4, "nvidia.geforce.rtx-3090"), (1, "nvidia.geforce.rtx-5090")],
        ),
        (
            "AMD Ryzen 9 7950X3D / AMD Radeon RX 9070 XT",
            [(1, "amd.ryzen.9-7950x3d"), (1, "amd.radeon.rx-9070-xt")],
        ),
        (
            "ASRock B650D4U + Ryzen 7900",
            [(1, "asrock-rack.b650d4u.b650d4u"), (1, "amd.ryzen.9-7900")],
        ),
        (
            "Dell Precision T5820 workstation, 64GB RAM",
            [(1, "dell.precision.5820-tower"), (1, "?")],
        ),
        ("GPU: Quad Nvidia GTX 1080 (using a GTX 970 for now)", [(4, "nvidia.geforce.gtx-1080")]),
        (
            "RTX 4060 Ti 8GB ($399) or RTX 4060 Ti 16GB ($449)",
            [(1, "nvidia.geforce.rtx-4060-ti-8gb")],
        ),
        ("AMD Threadripper PRO 7975WX, 32C/64T, sTR5", [(1, "amd.threadripper-pro.7975wx")]),
        ("Corsair AX1600i, enough for 4x RTX 3090", [(1, "corsair.axi.ax1600i")]),
        (
            "Storage Samsung 850 EVO-Series 500GB 2.5” Solid State Drive $158.57 @ Shop",
            [(1, "samsung.ssd-850-evo.500-gb")],
        ),
    ],
)
def test_all_parts_of_a_line_are_read(line: str, parts: list[tuple[int, str]]) -> None:
    assert read(line) == parts


def test_a_price_beside_several_parts_is_theirs_together() -> None:
    told = entries(
        "| Part | Price |\n|---|---|\n| Threadripper 3970X + MSI TRX40 PRO 10G | $1,200 |"
    )
    assert [(entry.price, entry.together and entry.together.amount) for entry in told] == [
        (None, 1200.0)
    ] * 2
    assert [note for note in list_notes(told) if "1,200.00 USD" in note] and len(
        list_notes(told)
    ) == 1
    own = entries("RTX 3090 ($700) + Samsung 990 Pro 2TB ($150)")
    assert [(entry.price.amount if entry.price else None, entry.together) for entry in own] == [
        (700.0, None),
        (150.0, None),
    ]


@pytest.mark.parametrize(
    ("line", "stands_in"), [("PSU: 1000W Gold (modular)", True), ("Samsung 990 Pro 2TB", False)]
)
def test_what_matched_by_its_figures_alone_is_told(line: str, stands_in: bool) -> None:
    (entry,) = entries(line)
    assert (
        entry.wish.parts
        and by_figures(entry.wish) is stands_in
        and bool(list_notes([entry])) is stands_in
    )


@pytest.mark.parametrize("line", ["96GB", "| Case | $230 |", "2x M.2 NVMe", "a Threadripper"])
def test_figures_or_labels_without_a_part_match_none(line: str) -> None:
    assert [
        entry for entry in entries(line) if entry.wish.parts and not by_figures(entry.wish)
    ] == []


def test_brackets_hold_together() -> None:
    assert [piece for piece, _ in pieces_of("A (b + c, d), e and f")] == ["A (b + c, d)", "e", "f"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "| Component | Pick | ~Price |\n|---|---|---|\n| GPU ×2 | RTX 5090 (new) | $6,000 |",
            [(2, "nvidia.geforce.rtx-5090")],
        ),
        (
            "| **Bifurcation cards** | ASUS Hyper M.2 x16 Gen5 (4× M.2 per card) | Mwave | 240 |",
            [(1, "asus.hyper-m-2.hyper-m-2-x16-gen-5-card")],
        ),
        (
            "| 6 | SSD (scratch) | Samsung 990 PRO 4 TB (Gen4) | ~$320–650 |",
            [(1, "samsung.ssd-990-pro.4-tb")],
        ),
        (
            (
                "**Video Card** | [Zotac - GeForce GTX 1060 6GB AMP!"
                ' **(X6)**](https://x.test/){:target="_blank"} | ₹1,51,200.00'
            ),
            [(6, "zotac.amp.gtx-1060-6gb-amp")],
        ),
        (
            "Storage: Samsung 970 Evo Plus 1 TB M.2-2280 NVME Solid State Drive",
            [(1, "samsung.ssd-970-evo-plus.1-tb")],
        ),
        ("2x Crucial T500 NVMe PCIe Gen4 SSD 2TB CT2000T500SSD8", [(2, "crucial.t500.2-tb")]),
        (
            "Corsair RMx 850W 80+ Gold Certified Fully-Modular ATX Power Supply",
            [(1, "corsair.rmx.rm850x-2021")],
        ),
        ("ASUS Strix 980 Ti GTX", [(1, "asus.strix.gtx-980-ti-strix-gaming-oc")]),
        (
            "Case: Phanteks Enthoo Pro 2, Corsair 7000D Airflow, or Fractal Define 7 XL",
            [(1, "phanteks.enthoo.enthoo-pro-2")],
        ),
        (
            "Chassis: Phanteks Enthoo Pro II Server Edition TG",
            [(1, "phanteks.enthoo.enthoo-pro-2-server-edition")],
        ),
        ("机箱: 先马平头哥m8", [(1, "?")]),
        ("显卡: 耕升3060ti g6x追风  2752", [(1, "nvidia.geforce.rtx-3060-ti-gddr6x")]),
        ("PSU: Corsair HX1500i (ATX 3.1, 12V-2×6)", [(1, "corsair.hxi.hx1500i-2025")]),
        ("2x Corsair HX1500i", [(2, "corsair.hxi.hx1500i-2022")]),
        ("The build:\n- 8x RTX 4090D\nGenerated at 2021-01-17", [(8, "nvidia.geforce.rtx-4090-d")]),
    ],
)
def test_lines_of_published_lists(text: str, parts: list[tuple[int, str]]) -> None:
    assert read(text) == parts


def test_a_price_in_rupees_is_read_and_a_range_is_none() -> None:
    assert [
        entry.price and (entry.price.amount, entry.price.currency)
        for entry in entries("RTX 3090 | ₹1,51,200.00")
    ] == [(151200.0, "INR")]
    assert [entry.price for entry in entries("RTX 3090 | ~$320–650")] == [None]


@pytest.mark.parametrize(
    ("line", "count", "part"),
    [
        ("128 GB RAM", 0, ""),
        (
            "Memory: 2x G.Skill Ripjaws V 16 GB (2 x 8 GB) DDR4-3200 CL16 Memory",
            2,
            "g-skill.ripjaws-v.f4-3200c16d-16gvkb",
        ),
        ("RAM 8x DDR4-3200 16GB ECC Reg. (128GB total)", 8, "samsung.server.m393a2k43db3-cwe"),
        ("ASUS X670E ProArt Creator motherboard", 1, "asus.proart.x670e-creator-wifi"),
        ("| Model SSD | WD Black SN850X 2TB |", 1, "western-digital.black-sn850x.2-tb"),
        ("ASRock X570 Phantom Gaming 4S ATX AM4 Motherboard", 0, ""),
    ],
)
def test_lines_as_people_paste_them(line: str, count: int, part: str) -> None:
    index = SHIPPED
    found = [entry.wish for entry in read_parts_list(line, index, "2026-11-23")]
    read = [(wish.quantity, wish.parts[0].id) for wish in found if wish.parts]
    assert read == ([(count, part)] if count else [])


def test_a_line_counts_all_its_modules() -> None:
    index = SHIPPED
    (entry,) = read_parts_list("RAM 4x DDR4-3200 16GB (64GB total)", index, "2026-11-23")
    kit = entry.wish.parts[0]
    assert isinstance(kit, MemoryKit)
    assert (entry.wish.quantity * kit.modules, kit.module_gib) == (4, 16)
