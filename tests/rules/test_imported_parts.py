"""A rig of imported parts: what they do not say is unknown, never good and never an error."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.imports.foreign_opendb import read_opendb
from rigplanner.catalog.imports.foreign_pcpp import read_pc_part_dataset
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import kind_of
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import add_part
from rigplanner.rules.assess import Assessment, assess

CARD = {
    "metadata": {"name": "Card"},
    "tdp": 350,
    "length": 300,
    "memory": 24,
    "total_slot_width": 3,
    "interface": "PCIe 4.0 x16",
    "power_connectors": {"pcie_8_pin": 3},
}
OPENDB = {
    "CPU": {
        "metadata": {"name": "Processor"},
        "socket": "AM5",
        "cores": {"total": 16},
        "specifications": {"tdp": 170},
    },
    "Motherboard": {
        "metadata": {"name": "Board"},
        "socket": "AM5",
        "form_factor": "ATX",
        "memory": {"ram_type": "DDR5", "slots": 4},
        "pcie_slots": [{"gen": "5.0", "quantity": 2, "lanes": 16}],
        "m2_slots": [{"size": "2280", "key": "M"}],
    },
    "GPU": CARD,
    "PSU": {
        "metadata": {"name": "Supply"},
        "wattage": 1200,
        "connectors": {"eps_8_pin": 2, "pcie_6_plus_2_pin": 6},
    },
    "RAM": {
        "metadata": {"name": "Kit"},
        "ram_type": "DDR5",
        "registered": "Unbuffered",
        "modules": {"quantity": 2, "capacity_gb": 32},
    },
    "Storage": {
        "metadata": {"name": "Drive"},
        "capacity": 2000,
        "form_factor": "M.2-2280",
        "interface": "M.2 PCIe 4.0 x4",
        "nvme": True,
    },
    "PCCase": {"metadata": {"name": "Case"}, "max_video_card_length": 400, "expansion_slots": 8},
    "CPUCooler": {"metadata": {"name": "Cooler"}, "water_cooled": False, "cpu_sockets": ["AM5"]},
}
PCPP = {
    "cpu": {"name": "AMD Processor", "core_count": 16, "tdp": 170},
    "motherboard": {"name": "ASUS Board", "socket": "AM5", "form_factor": "ATX", "memory_slots": 4},
    "memory": {"name": "Maker Kit", "speed": [5, 6000], "modules": [2, 32]},
    "video-card": {"name": "Maker Card", "memory": 24, "length": 300},
    "power-supply": {"name": "Maker Supply", "wattage": 1200},
    "cpu-cooler": {"name": "Maker Cooler"},
}


@pytest.fixture
def opendb(tmp_path: Path) -> Assessment:
    for category, record in OPENDB.items():
        (tmp_path / category).mkdir()
        (tmp_path / category / "part.json").write_text(json.dumps(record))
    return _assessed(
        Catalog({part.id: part for part in read_opendb(tmp_path, "2026-11-21").parts}, {})
    )


@pytest.fixture
def pcpp(tmp_path: Path) -> Assessment:
    for category, record in PCPP.items():
        (tmp_path / f"{category}.json").write_text(json.dumps([record]))
    return _assessed(
        Catalog({part.id: part for part in read_pc_part_dataset(tmp_path, "2026-11-21").parts}, {})
    )


def _assessed(catalog: Catalog) -> Assessment:
    rig = Rig()
    for part in catalog.parts.values():
        rig = add_part(rig, part=part.id, stem=kind_of(part))
    return assess(rig, catalog, "2026-11-21")


def _codes(assessment: Assessment, severity: str) -> set[str]:
    """The rules that say so; one question is asked for all rules that wait for the same fact."""
    found = [finding for finding in assessment.report.findings if finding.severity == severity]
    return {code for finding in found for code in finding.values.get("rules", [finding.code])}


def test_what_opendb_does_not_know_is_unknown(opendb: Assessment) -> None:
    assert len(opendb.rig.items) == len(OPENDB)
    unknown = _codes(opendb, "unknown")
    assert {"CLG001", "MEM004"} <= unknown
    assert not unknown & {"PCI001", "PCI002", "PCI003", "PCI004"}, (
        "the first long slot of a desktop board has sixteen lanes of the CPU"
    )
    assert _codes(opendb, "error") == set()


def test_what_the_data_set_does_not_know_is_unknown(pcpp: Assessment) -> None:
    assert len(pcpp.rig.items) == len(PCPP)
    assert {"CPU001", "CLG003"} <= _codes(pcpp, "unknown")
    assert _codes(pcpp, "error") == set()
