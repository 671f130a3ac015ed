"""What a line says beside a name is weighed: sizes, other models' words, makers; a guess is told, and
nothing of a line is lost. Lines are from lists that owners published."""

import pytest
from list_reading import entries, read

from rigplanner.report.words.importing import list_notes, taken_text
from rigplanner.rig.from_text.parts_list import by_figures


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Gigabyte X870E Aorus Master X3D Ice", "gigabyte.aorus.x870e-aorus-master"),
        (
            "Asus ROG Strix Z790-A Gaming WIFI II",
            "asus.rog-strix.rog-strix-z790-a-gaming-wifi",
        ),
        ("Case: Corsair 5000D", "corsair.5000d.5000d-airflow"),
        ("Power supply: Corsair RM1000x", "corsair.rmx.rm1000x-2021"),
        (
            "Asus ROG Strix B550-F Gaming (WIFI)",
            "asus.rog-strix.rog-strix-b550-f-gaming-wifi-ii",
        ),
        (
            "2x Lian Li riser cable 30cm gen 4",
            "cooler-master.riser.masteraccessory-pcie-4-0-riser-300-mm",
        ),
        ("2x RTX PRO 6000 Blackwell", "nvidia.rtx-pro.6000-blackwell-workstation"),
        ("UPS: APC Smart-UPS 3000VA", "apc.smart-ups.smt3000-ups-3000-va-2700-w"),
        ("CPU: XEON 2686", "intel.xeon.e5-2686-v4"),
        ("MSI PRO B660M-A", "msi.b660.pro-b660m-a-ddr4"),
        ("Samsung 970 Pro 500GB", "samsung.ssd-970-pro.512-gb"),
        ("Exos X16 16TB SAS (ST16000NM002G)", "seagate.exos-x16.st16000nm001g-16-tb"),
        ("Device-1: AMD Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]", "amd.radeon.rx-6800"),
        ("CPU: Intel Xeon Gold 6338 (2x32 cores)", "intel.xeon.gold-6338"),
        ("NVIDIA RTX A4000 16GB GPU\t4\t1450", "nvidia.rtx.a4000"),
        (
            "GIGABYTE GeForce RTX 3050 WINDFORCE OC 6G",
            "gigabyte.windforce.rtx-3050-6gb-windforce-oc-v2",
        ),
        ("Case: Lian Li PC 011 Dynamic", "lian-li.o11.o11-dynamic"),
        (
            "Motherboard: ASUS ROG STRIX B550-F Gaming + WiFi ATX AM4",
            "asus.rog-strix.rog-strix-b550-f-gaming",
        ),
        ("Case: Fractal Design POP mini silent", "fractal-design.pop.pop-silent"),
        ("PSU: Corsair SF600", "corsair.sf.sf600-platinum"),
        (
            "Crucial Ballistix Sport LT 16 GB (2 x 8 GB) DDR4-3200 Memory",
            "crucial.ballistix.bl2k8g32c16u4b",
        ),
        ("Hard drive: 2TB", "toshiba.p300.hdwd120"),
        ("CPU: AMD EPYC 7742 engineering sample", "amd.epyc.7742"),
    ],
)
def test_what_may_mean_another_part_is_told(line: str, part: str) -> None:
    (entry,) = entries(line)
    assert entry.wish.parts[0].id == part
    assert by_figures(entry.wish) and entry.wish.guessed
    assert entry.wish.parts[0].name in " ".join(list_notes([entry]))
    assert "Another model may be meant" in taken_text([entry])


@pytest.mark.parametrize(
    "line",
    [
        "Corsair 4000D airflow (white)",
        "MSI MAG X870E TOMAHAWK WIFI",
        "CORSAIR iCUE H150i ELITE CAPELLIX Liquid CPU Cooler",
        "Corsair HX1500i 2025 ATX 3.1 80+ Platinum",
        "Asus PRIME x570-PRO (AM4)",
        "Fractal Design Define 7 ATX Mid Tower Case",
        "2x E5-2690v2",
        "Intel X710-DA2",
        "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    ],
)
def test_a_name_in_full_is_no_guess(line: str) -> None:
    (entry,) = entries(line)
    assert entry.wish.parts and not by_figures(entry.wish)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            (
                "2x Seagate IronWolf Pro, 8 TB, Enterprise NAS Internal HDD CMR 3.5 Inch, SATA 6"
                " Gb/s, 7,200 RPM, 256 MB Cache"
            ),
            [(2, "seagate.ironwolf-pro.st8000ne001")],
        ),
        (
            "CPU: Ryzen 5 5600X - Noctua NH-U12S",
            [(1, "amd.ryzen.5-5600x"), (1, "noctua.nh-u12s.nh-u12s")],
        ),
        ("GPU: RTX 3090 - bought used", [(1, "nvidia.geforce.rtx-3090")]),
        (
            "主板+CPU：华南金牌 X99-8M 主板 E5 2673V3 套装",
            [(1, "?"), (1, "intel.xeon.e5-2673-v3")],
        ),
        (
            "MB: Gigabyte B360 M Aorus Pro | CPU: Core i5-9400 | GPU: GTX 1080 Ti",
            [(1, "?"), (1, "intel.core.i5-9400"), (1, "nvidia.geforce.gtx-1080-ti")],
        ),
        (
            "Dual RTX 3090; NVIDIA GeForce RTX 3090 Founders Edition; Gigabyte GeForce RTX 3090"
            " Turbo",
            [(1, "nvidia.geforce.rtx-3090"), (1, "gigabyte.turbo.rtx-3090")],
        ),
        ("HDD: Seagate BarraCuda 8TB (2x MIRROR)", [(2, "seagate.barracuda.st8000dm004-8-tb")]),
        (
            "- AMD Threadripper 2950X\n- CPU Cooler: Noctua NH-U14S",
            [(1, "amd.threadripper.2950x"), (1, "noctua.nh-u14s.nh-u14s-tr4-sp3")],
        ),
        (
            "Asus Pro WS X570-ACE | 5950X | 128GB ECC | 2x A4000",
            [
                (1, "asus.pro-ws.x570-ace"),
                (1, "amd.ryzen.9-5950x"),
                (1, "?"),
                (2, "nvidia.rtx.a4000"),
            ],
        ),
        (
            "`精粤 X99M GAMING D4` motherboard, X99 chipset, DDR4, LGA2011, PCIe 3.0 x16 - 275 yuan",
            [(1, "?")],
        ),
        (
            "Motherboard: Gigabyte Technology Co., Ltd. B850 AI TOP  (system: B850 AI TOP)",
            [(1, "gigabyte.ai-top.b850-ai-top")],
        ),
        (
            "Storage: Crucial P3 Plus 4TB, Samsung 980 Pro 1TB NVMe, PCIe 4.0",
            [(1, "crucial.p3-plus.4-tb"), (1, "samsung.ssd-980-pro.1-tb")],
        ),
        ("dGPU: NVIDIA GeForce RTX 2080 8GB", [(1, "nvidia.geforce.rtx-2080")]),
        (
            "Data (VM): Crucial MX500 SATA SSD 1TB",
            [(1, "crucial.mx500.1-tb")],
        ),
        (
            "ASUS ROG STRIX Z270E GAMING LGA1151 DDR4 M.2 ATX Motherboard and USB 3.1",
            [(1, "asus.rog-strix.z270e-gaming")],
        ),
        ("SSD: Kingston NV1 250GB NVMe PCIe Gen 3.0 x 4", [(1, "kingston.nv1.250-gb")]),
        ("CPU: Intel Core i3-19105F 4C/8T (3.6GHz, 6MB) - LGA 1200", [(1, "?")]),
        ("Speed: 1377 MHz min/max: 1550/3500 MHz Core speeds (MHz):", []),
        ("无线网卡：板载英特尔AX200", []),
        ("網路：固定公网 IP（Aussie Telecom，1000/50 Mbps）", [(1, "?")]),
        ("GPU: Zotac Geforce 3060 RTX OC 12GB VRAM", [(1, "nvidia.geforce.rtx-3060")]),
        (
            "Machine: Device: desktop System: Gigabyte product: X570 I AORUS PRO WIFI v: -CF\n"
            "Mobo: Gigabyte model: X570 I AORUS PRO WIFI v: x.x",
            [(1, "gigabyte.x570.x570-i-aorus-pro-wifi")],
        ),
        ("| Tản CPU | DeepCool AK620 | tốt |", [(1, "deepcool.ak.ak620")]),
        ("RAM: Crucial DDR5-6000 32GB (16×2)", [(1, "crucial.ddr5-pro.cp2k16g60c36u5b")]),
        ('GPU: "6x RX 580 8GB",', [(6, "amd.radeon.rx-580-8gb")]),
        ("2x AMD Radeon AI PRO R9700 (64GB Total VRAM)", [(2, "amd.radeon-ai-pro.r9700")]),
        ("NIC: Dual 10GbE Intel X710-DA2", [(1, "intel.ethernet.x710-da2")]),
        (
            "RAM: Samsung 32gb 2133MHz DDR4 ECC RAM - x8 (256gb)",
            [(8, "samsung.ddr4.m393a4k40bb0-cpb")],
        ),
        (
            "Type: Desktop Mobo: Micro-Star model: MEG X570 UNIFY (MS-7C35) v: 2.0\n"
            "Drives: Crucial model: CT2000MX500SSD1 size: 1.82 TiB",
            [(1, "msi.meg.x570-unify"), (1, "crucial.mx500.2-tb")],
        ),
        (
            "690€ - GPU1: used RTX 3090\n147€ - PSU: be quiet! Pure Power 12 M (1000 W)",
            [(1, "nvidia.geforce.rtx-3090"), (1, "be-quiet.pure-power-12-m.1000w")],
        ),
        (
            "304 - AMD Ryzen 7 3700X\n84 - MSI B450-A Pro MAX\n395 - KFA2 RTX 2060 SUPER",
            [
                (1, "amd.ryzen.7-3700x"),
                (1, "msi.pro.b450-a-pro-max"),
                (1, "nvidia.geforce.rtx-2060-super"),
            ],
        ),
        ("## CPUs (x2)\n- AMD EPYC 7742\n## GPUs", [(2, "amd.epyc.7742")]),
        ("Samsung 980 PRO with Heatsink 1TB", [(1, "samsung.ssd-980-pro.1-tb")]),
        (
            "Gskill Trident Z RGB 2x16GB DDR4-3600 CL18",
            [(1, "g-skill.trident-z-rgb.f4-3600c18d-32gtzr")],
        ),
        ("Storage NVME 4x Samsung 990 Pro 4 TB", [(4, "samsung.ssd-990-pro.4-tb")]),
        (
            "Memory | G.Skill - Ripjaws V Series 16GB (2 x 8GB) DDR4-3200 Memory (2) | $399.87",
            [(2, "g-skill.ripjaws-v.f4-3200c16d-16gvkb")],
        ),
        (
            "EVGA GeForce RTX 2070 Super Gaming, 08G-P4-3071-KR, 8GB GDDR6",
            [(1, "evga.xc.rtx-2070-super-xc-gaming")],
        ),
        (
            "Phanteks Eclipse P600S Hybrid Silent and Performance ATX Chassis, PWM hub, White",
            [(1, "phanteks.eclipse.eclipse-p600s")],
        ),
        (
            "Part | Name | Price | Amount\n---|---|---|---\nGPU | RTX 2080 Ti | 34.000.000 | 2",
            [(2, "nvidia.geforce.rtx-2080-ti")],
        ),
        (
            "ROMED8-2T\nEPYC 7302\n256 GB",
            [
                (1, "asrock-rack.romed8.romed8-2t"),
                (1, "amd.epyc.7302"),
                (8, "micron.server.mta36asf4g72pz-2g6"),
            ],
        ),
        (
            "Ryzen 5 5600\nstock cooler\n8 GPU open air mining case",
            [
                (1, "amd.ryzen.5-5600"),
                (1, "amd.wraith.wraith-stealth"),
                (1, "generic.open-frame.8-gpu"),
            ],
        ),
    ],
)
def test_nothing_of_a_line_is_lost_or_made_up(text: str, parts: list[tuple[int, str]]) -> None:
    assert read(text) == parts


def test_two_drives_that_a_plus_joins_are_two() -> None:
    found = entries("Storage: 256GB NVMe + 240GB SATA SSD for Ollama")
    assert len(found) == 2
    assert all(by_figures(entry.wish) for entry in found)


@pytest.mark.parametrize(
    ("line", "guessed"),
    [
        ("3090", False),
        ("7900 XTX", False),
        ("Fractal Meshify 2 XL", False),
        ("H100", True),
        ("RTX PRO 6000 Blackwell", True),
        ("Corsair RM1000x", True),
        ("Corsair RM1200x", True),
        ("Corsair RM1200x Shift", False),
    ],
)
def test_a_chip_by_its_number_and_a_case_by_its_makers_first_name_are_no_guess(
    line: str, guessed: bool
) -> None:
    """Cards of other makers with the same GPU are no other meaning of its name."""
    (entry,) = entries(line)
    assert entry.wish.parts and entry.wish.guessed is guessed
