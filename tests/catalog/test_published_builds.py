"""Lines of machines that people published, as they wrote them: each names the part that was meant,
and how many."""

import pytest

from rigplanner.catalog.find.find import PartIndex, index_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.rig.from_text.from_words import read_wish

LINES = (
    ("ASRock Taichi TC-1650T", 1, "asrock.taichi.tc-1650t"),
    ("ASUS Pro WS WRX80E-SAGE SE WIFI II", 1, "asus.pro-ws.wrx80e-sage-se-wifi-ii"),
    ("KRAKEN Z73 RGB", 1, "nzxt.kraken.kraken-z73"),
    ("ROG Genesis GR701", 1, "asus.rog.rog-hyperion-gr701"),
    ("8x RTX 4090D", 8, "nvidia.geforce.rtx-4090-d"),
    ("ASRock Rack GENOA2D24G-2L+", 1, "asrock-rack.genoa2d24g.genoa2d24g-2l-plus"),
    ("ASRockRack TURIN2D24G-2L+/500W", 1, "asrock-rack.genoa2d24g.turin2d24g-2l-plus-500w"),
    ("8x 64 GB DDR5-5600 ECC RDIMM", 8, "samsung.server.m321r8ga0pb0-cwm"),
    ("24x 96 GB Samsung DDR5-6400", 24, "samsung.server.m321ryga0pb2-ccp"),
    ("24x 16GB DDR5 RDIMM 4800", 24, "samsung.server.m321r2ga3bb6-cqk"),
    ("Kingston 64GB DDR5-5600 ECC", 1, "kingston.server-premier.ksm56r46bd4pmi-64hai"),
    ("4x Kingston KF556R28-32", 4, "kingston.fury-renegade-pro.kf556r28-32"),
    (
        "G.Skill 192 Go DDR5-6000 ECC RDIMM (4 × 48 Go)",
        1,
        "g-skill.zeta-r5-neo.f5-6000r3036g48gq4-zr5nk",
    ),
    ("Samsung 990 PRO 4 To NVMe", 1, "samsung.ssd-990-pro.4-tb"),
    ("Micron 7500 Pro 3.8TB", 1, "micron.7500-pro.3-84-tb-u-3"),
    ("2x WD Black SN8100 4TB", 2, "western-digital.black-sn8100.4-tb"),
    ("K15PG-D24", 1, "asus.esc.esc8000a-e13p"),
    ("8x RTX 6000 Pro MaxQ", 8, "nvidia.rtx-pro.6000-blackwell-max-q"),
    ("3x c-payne Microchip Switchtec PM50100", 3, "c-payne.switch.pm50100-gen5-100-lane"),
    ("c-payne PCIe Gen4 switch", 1, "c-payne.switch.pm40100-gen4-5x-x16"),
    ("7x SlimSAS PCIe host adapter", 7, "c-payne.slimsas.slimsas-x16-host-adapter"),
    ("3x add2psu", 3, "generic.power.dual-psu-starter-add2psu"),
    ("ASUSTeK COMPUTER INC. Pro WS X570-ACE", 1, "asus.pro-ws.x570-ace"),
    ("Super Flower Leadex Titanium 2200W", 1, "super-flower.leadex-titanium.2200w"),
    ("ASUS Pro WS 3000W Platinum", 1, "asus.pro-ws.3000p"),
    ("Open-air mining rig frame", 1, "generic.open-frame.8-gpu"),
    ("EPYC 7663", 1, "amd.epyc.7663"),
    ("MSI X870E Gaming Plus WIFI (ATX, PCIe 5.0 x16)", 1, "msi.gaming-plus.x870e-gaming-plus-wifi"),
    (
        "Kingston FURY Beast DDR5-5600 64 GB CL40 (2x32 GB)",
        1,
        "kingston.fury-beast.kf556c40bbk2-64",
    ),
    ("ASRock Phantom Gaming PG-1600G 1600W", 1, "asrock.phantom-gaming.pg-1600g"),
    ("Fractal Design Define 7 Black (solid panel)", 1, "fractal-design.define-7.define-7"),
    (
        "2× Kingston Fury Beast 32GB DDR5-6400 CL32 (KF564C32BWEA-32)",
        2,
        "kingston.fury-beast.kf564c32bwea-32",
    ),
    ("WD SN7100 NVMe M.2 SSD 1TB", 1, "western-digital.black-sn7100.1-tb"),
    (
        "Asus ProArt Creator X870E (Crucial for supporting dual GPUs at PCIe 5 x8/x8)",
        1,
        "asus.proart.x870e-creator-wifi",
    ),
    ("Intel i5-12600KF", 1, "intel.core.i5-12600kf"),
    ("ASRock X870 Steel Legend WiFi", 1, "asrock.steel-legend.x870-steel-legend-wifi"),
    (
        "G.SKILL Trident Z5 Neo RGB 64GB DDR5-6000 CL30",
        1,
        "g-skill.trident-z5-neo-rgb.f5-6000j3036g32gx2-tz5nr",
    ),
)


@pytest.fixture(scope="module")
def index() -> PartIndex:
    return index_of(shipped_catalog())


@pytest.mark.parametrize(("text", "count", "part"), LINES, ids=[line[0] for line in LINES])
def test_a_line_names_its_part(text: str, count: int, part: str, index: PartIndex) -> None:
    wish = read_wish(text, index)
    assert (wish.quantity, [found.id for found in wish.parts[:1]]) == (count, [part])


def test_a_memory_rate_or_watts_are_no_processor(index: PartIndex) -> None:
    assert index.named_in("Acme 64GB DDR5 5600 ECC").part is None
    named = read_wish("EVGA SuperNOVA 1600 P+", index).parts
    assert [kind_of(part) for part in named] == ["psu"]
    assert index.named_in("Ryzen 5 5600 with DDR4 3200").part is not None


def test_m2_to_pcie_is_no_capacity(index: PartIndex) -> None:
    assert (
        read_wish("M.2 to PCIe x4 adapter", index).parts[0].id
        == "generic.adapter.m-2-to-pcie-x4-adapter"
    )
