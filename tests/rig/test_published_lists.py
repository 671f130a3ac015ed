"""Lists in the shapes and languages in which people publish them: what is read, how many, and what
is left unknown."""

import pytest
from list_reading import SHIPPED, read

from rigplanner.catalog.schema.parts import MemoryKit
from rigplanner.rig.from_text.from_words import read_wish
from rigplanner.rig.from_text.parts_list import by_figures, read_parts_list


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            (
                "| Part | Brand / Link | Quantity |\n|---|---|---|\n| Motherboard | [Asus X99-E"
                " WS](https://x.test) | 1 |\n| GPUs | 1080Ti | 4 |"
            ),
            [(1, "asus.x99.x99-e-ws"), (4, "nvidia.geforce.gtx-1080-ti")],
        ),
        (
            (
                "| 配件 | 商品 | 价格 |\n|--|--|--:|\n| CPU | 英特尔（Intel） i5 8400 酷睿六核 |"
                " 1269 |\n"
                "| 硬盘 | 希捷 酷鱼 4TB 机械硬盘 | 619 |"
            ),
            [(1, "intel.core.i5-8400"), (1, "seagate.barracuda.st4000dm004-4-tb")],
        ),
        (
            "|零件|型號|大略價位|\n|--|--|--|\n|CPU|AMD Ryzen 5 3600|2500|\n|MB |Nemo board|2000|",
            [(1, "amd.ryzen.5-3600"), (1, "?")],
        ),
        ("| Spec | Pro Tier |\n|---|---|\n| CPU | AMD EPYC 7252 |", [(1, "amd.epyc.7252")]),
        ("| CPU | AMD Ryzen 5 3600 | 2500 |", [(1, "amd.ryzen.5-3600")]),
        (
            "CPU：i9-10980XE\n电源：美商海盗船 额定1200W HX1200 台式机电源 ￥1899",
            [(1, "intel.core.i9-10980xe"), (1, "corsair.hx.hx1200-2017")],
        ),
        (
            "- CPU - Ryzen Threadripper 2950X\n- GPU 1 - RTX 2080 Ti\n- GPU 2 - Titan RTX",
            [
                (1, "amd.threadripper.2950x"),
                (1, "nvidia.geforce.rtx-2080-ti"),
                (1, "nvidia.titan.rtx"),
            ],
        ),
        (
            "1. 2x Crucial MX500 2TB\n2. Fractal Design Core 500 case",
            [(2, "crucial.mx500.2-tb"), (1, "fractal-design.core.core-500")],
        ),
        (
            "記憶體: G.Skill Ripjaws V 32G(16G*2) DDR4-3200\n硬碟*2: 威剛XPG SX8200Pro 2TB",
            [(1, "g-skill.ripjaws-v.f4-3200c16d-32gvk"), (2, "adata.xpg-sx8200-pro.2-tb")],
        ),
        (
            "**_Case:_**<br>\n**Fractal Design Define R6**\n\n**_Display:_**<br>\n",
            [(1, "fractal-design.define.r6")],
        ),
        (
            (
                "Component | Model | Notes\n--- | --- | ---\n**Storage** | <li>`Samsung SSD 970 Pro"
                " 512GB`</li><li>`Samsung 860 EVO 1TB`</li> | x"
            ),
            [(1, "samsung.ssd-970-pro.512-gb"), (1, "samsung.ssd-860-evo.1-tb")],
        ),
        (
            "GPU: Titan RTX\nNVIDIA GEFORCE NVLINK TITAN RTX 3-SLOT",
            [(1, "nvidia.titan.rtx"), (1, "nvidia.nvlink-bridge.geforce-rtx-3-slot")],
        ),
        (
            "G.Skill Trident Z RGB 4x8GB @ 4133MHz",
            [(1, "g-skill.trident-z-rgb.f4-4133c17q-32gtzr")],
        ),
        (
            "名称 | 京东报价 | 店铺报价\n--- | --- | ---\nCPU：i7 5930k | 4299 | 4850\n"
            "显卡 titan x pascal | 11100 | 14400",
            [(1, "intel.core.i7-5930k"), (1, "nvidia.titan.x-pascal")],
        ),
        (
            "Machine:\n  Type: Desktop Mobo: ASUSTeK model: ROG STRIX B450-F GAMING v: Rev 1.xx\n"
            "Memory:\n  System RAM: total: 16 GiB available: 15.28 GiB used: 1.28 GiB (8.3%)\n"
            "  Array-1: capacity: 128 GiB slots: 4 modules: 2 EC: None\n"
            "  Device-1: DIMM_A1 type: no module installed\n"
            "  Device-2: DIMM_A2 type: DDR4 size: 8 GiB speed: 2666 MT/s",
            [(1, "asus.rog-strix.rog-strix-b450-f-gaming"), (1, "crucial.ddr4.ct8g4dfra266")],
        ),
        (
            "Netzteil: be quiet! Pure Power 11 FM, 850 W, 80+ Gold",
            [(1, "be-quiet.pure-power.pure-power-11-fm-850w")],
        ),
        (
            "<li>VGA: &nbsp;GIGABYTE&nbsp;GTX 1660 SUPER&trade; OC 6GB GDDR6</li>",
            [(1, "nvidia.geforce.gtx-1660-super")],
        ),
        ("CPU topology: 1 socket(s) × 32 core(s) = 32 physical, 2 thread(s)/core", [(1, "?")]),
        ("显示器：小米 4k 显示器", [(1, "?")]),
        ("ROG Crosshair VIII Hero", [(1, "asus.x570.rog-crosshair-viii-hero-wi-fi")]),
        ("ROG Strix RTX 4090", [(1, "asus.rog-strix.rtx-4090-oc")]),
        ("2TB Samsung 990 Pro Internal SSD PCIe Gen 4x4 NVMe", [(1, "samsung.ssd-990-pro.2-tb")]),
        (
            'Samsung 850 Pro Series 512GB 2.5" Solid State Drive',
            [(1, "samsung.ssd-850-pro.512-gb")],
        ),
        (
            "Seagate ST2000DM008-2FR102 2TB SATA HDD",
            [(1, "seagate.barracuda.st2000dm008-2-tb")],
        ),
        (
            "### Memory\n- **Model**: Corsair Vengeance LPX\n- **Capacity**: 64GB (2x32GB)\n"
            "- **Speed**: 3200MHz DDR4\n- **Latency**: CL16\n\n### Cooling & Power\n"
            "- **PSU**: Corsair SF750",
            [
                (1, "corsair.vengeance-lpx.cmk64gx4m2e3200c16"),
                (1, "corsair.sf.sf750"),
            ],
        ),
        (
            "Процессор: i7-13700K, Материнская плата: ASUS Prime Z790-P, Корпус: NZXT H7 Flow",
            [
                (1, "intel.core.i7-13700k"),
                (1, "asus.z790.prime-z790-p"),
                (1, "nzxt.h7.h7-flow"),
            ],
        ),
        (
            "AMD Ryzen 7 7700X\nhttps://shop.test/amd-ryzen-7-7700x.html\nCrucial P3 Plus 2TB",
            [(1, "amd.ryzen.7-7700x"), (1, "crucial.p3-plus.2-tb")],
        ),
        ("https://shop.test/amd-ryzen-7-7700x/", [(1, "amd.ryzen.7-7700x")]),
        ("| GPU (x3) | RTX 3090 |", [(3, "nvidia.geforce.rtx-3090")]),
        ("OS disk: Crucial MX500 250GB ×2 → mirror", [(2, "crucial.mx500.250-gb")]),
        ("Obudowa: brak\nZasilacz: Corsair AX1600i", [(1, "corsair.axi.ax1600i")]),
        ("散热：大镰刀千石船单风扇版本", [(1, "?")]),
        ("Memory Support: DDR4, up to 128GB", [(1, "?")]),
        ("内存：三星 16G * 4 DDR4 REG ECC", [(4, "samsung.server.m393a2k43bb1-ctd")]),
        ("Processor: AMD Ryzen 5 7600X, 165", [(1, "amd.ryzen.5-7600x")]),
        ("GPU: NVIDIA RTX 5080 (MSI SHADOW 3X OC)", [(1, "msi.shadow.rtx-5080-shadow-3x-oc")]),
        ("GPU: GTX1660S", [(1, "nvidia.geforce.gtx-1660-super")]),
        (
            "7 PCIe 4.0 ports x16 (ROMED8-2T)",
            [(1, "asrock-rack.romed8.romed8-2t")],
        ),
        (
            "Ryzen 7 5800X3D auf MSI B550 Tomahawk, 32 GB Ballistix 3600, 6800 XT von XFX",
            [
                (1, "amd.ryzen.7-5800x3d"),
                (1, "msi.mag.mag-b550-tomahawk"),
                (1, "crucial.ballistix.bl2k16g36c16u4b"),
                (1, "amd.radeon.rx-6800-xt"),
            ],
        ),
        ("4x L4\nNVIDIA L4 24GB PCIe", [(4, "nvidia.datacenter.l4"), (1, "nvidia.datacenter.l4")]),
    ],
)
def test_shapes_of_published_lists(text: str, parts: list[tuple[int, str]]) -> None:
    assert read(text) == parts


@pytest.mark.parametrize(
    "line",
    [
        "Areca ARC-1680 SAS controller",
        "Fractal Torrent XL",
        "Intel i7 (6+ cores)",
        "Samsung 970 EVO 4TB",
        "5600MHz Desktop Memory UDIMM 288-pin",
        "Samsung 870 EVO 8 TB",
        "MSI B360M PRO-VD",
        "Supermicro C9X299-GF",
        "ASRock B650E PG-ITX",
        "Ethernet: Intel Ethernet Controller I226-V (Built-in)",
        "• TPM 2.0 (fTPM): The Ryzen 9600X supports firmware-based TPM, required for Windows",
    ],
)
def test_what_names_another_part_takes_none(line: str) -> None:
    assert [part for _, part in read(line)] in ([], ["?"])


@pytest.mark.parametrize(
    ("line", "stands_in"),
    [
        ("G.Skill Ripjaws V 32 GB (2 x 16 GB) DDR4-3200 CL16", False),
        ("G.Skill Sniper X 32 GB (2 x 16 GB) DDR4-3200 CL16", True),
        ("Corsair 1500 W", True),
        ("Seagate FireCuda (2TB)", True),
        ("Seagate FireCuda 530 2TB", False),
        ("ASUS ROG STRIX Z370 GAMING", True),
        ("Gigabyte X670 AORUS ELITE", True),
        ("ASUS ProArt X670E-Creator", False),
        ("Fractal Design Meshify 2 RGB", True),
        ("MSI GeForce RTX 4090 SUPRIM X – 24GB", False),
        ("Thermalright Phantom Spirit 120SE: A high-value air cooler that boosts", False),
        ("ASUS B660M Wifi Plus", True),
        ("华硕 B550m TUF PLUS WIFI Ⅱ", False),
        ("Corsair Vengeance LPX 32 GB (4 x 8 GB) DDR4-3200", False),
        ("GPU: RTX 4090", False),
        ("GPU: RTX 4060 Ti", True),
        ("GPU: RTX 4060 Ti 16GB", False),
        ("显卡：影驰 RTX5080-16G 魔刃", True),
        ("GPU: PowerColor RX 6700 XT", True),
        ("Mobo: Gigabyte X570 Arous Eltie WiFi", True),
        ("Board: Asus Rog Strix B650E-E Gmaing Wifi", True),
        ("Board: MSI B550M PRO", True),
        ("Board: MSI B550M PRO-VDH", False),
        ("PSU: Seasonic Focus 850W", True),
        ("PSU: Seasonic Focus GX-850", False),
        ("PSU: Corsair HX1200i", True),
        ("SSD: Samsung 980 Pro", True),
        ("2 × Kingston FURY Beast 64 GB DDR5-5600, single modules (KF556C40BB-64)", True),
        ("RAM: Kingston Fury 32GB DDR4-3600", True),
        ("M.2 → SFP+ card (Intel X520-DA1)", True),
        ("Storage: 2x Seagate Exos - 1x 24TB", True),
    ],
)
def test_another_series_or_model_is_told_as_a_stand_in(line: str, stands_in: bool) -> None:
    (entry,) = read_parts_list(line, SHIPPED, "2026-11-22")
    assert entry.wish.parts and by_figures(entry.wish) is stands_in


@pytest.mark.parametrize(
    ("number", "part"),
    [
        ("BX8071512900K", "intel.core.i9-12900k"),
        ("BX80684I99900K", "intel.core.i9-9900k"),
        ("BX80768285K", "intel.core-ultra.9-285k"),
        ("100-100000589WOF", "amd.ryzen.9-7900x"),
        ("MZ-V9P2T0BW", "samsung.ssd-990-pro.2-tb"),
        ("MZ-V8P2T0B/AM", "samsung.ssd-980-pro.2-tb"),
        ("CP-9020087-NA", "corsair.axi.ax1600i"),
        ("220-T2-1600-X1", "evga.supernova.1600-t2"),
        ("WDS200T2X0E", "western-digital.black-sn850x.2-tb"),
        ("CMK64GX5M2B6000C30", "corsair.vengeance.cmk64gx5m2b6000c30"),
        ("ST16000NM001G", "seagate.exos-x16.st16000nm001g-16-tb"),
    ],
)
def test_a_part_number_names_its_part(number: str, part: str) -> None:
    assert [found.id for found in read_wish(number, SHIPPED).parts[:1]] == [part]


def test_sticks_of_a_sum_are_counted() -> None:
    assert [count for count, _ in read("RAM: 64GB DDR4 ECC RDIMM, 8GB sticks, 3200 MHz")] == [8]


@pytest.mark.parametrize(
    ("line", "modules"),
    [("32GB DDR5", 2), ("RAM: Crucial 16GB DDR4-3200", 1), ("DIMM 8GB DDR4", 1)],
)
def test_a_bare_sum_is_of_two_modules(line: str, modules: int) -> None:
    (entry,) = read_parts_list(line, SHIPPED, "2026-11-23")
    kit = entry.wish.parts[0]
    assert isinstance(kit, MemoryKit) and entry.wish.quantity * kit.modules == modules


def test_a_sum_of_memory_goes_into_the_slots_of_the_board() -> None:
    text = "Motherboard: ASRock H510 Pro BTC+\nCPU: Celeron G5905\nRAM: 16 GB DDR4 3200"
    memory = read_parts_list(text, SHIPPED, "2026-11-23")[-1].wish
    kit = memory.parts[0]
    assert isinstance(kit, MemoryKit)
    assert (memory.quantity * kit.modules, kit.module_gib) == (1, 16)
