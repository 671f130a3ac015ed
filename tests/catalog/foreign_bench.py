"""Foreign records as their publishers write them, for tests."""

import json
from pathlib import Path
from typing import Any

GPU = {
    "opendb_id": "3f2a9c10-0000-4000-8000-000000000001",
    "metadata": {
        "name": "ACME Storm GeForce RTX 4090 OC",
        "manufacturer": "ACME",
        "part_numbers": ["AC-4090-OC"],
        "releaseYear": 2023,
    },
    "chipset": "GeForce RTX 4090",
    "core_count": 16384,
    "memory": 24,
    "memory_type": "GDDR6X",
    "memory_bus": 384,
    "effective_memory_clock": 21000,
    "tdp": 450,
    "interface": "PCIe 4.0 x16",
    "length": 348.2,
    "total_slot_width": 3.5,
    "cooling": "3 Fans",
    "power_connectors": {"pcie_6_pin": 0, "pcie_8_pin": 0, "pcie_12VHPWR": 1, "pcie_12V_2x6": None},
    "video_outputs": {"hdmi_2_1": 2, "displayport_1_4a": 3, "vga": 0},
}
BOARD = {
    "opendb_id": "3f2a9c10-0000-4000-8000-000000000002",
    "metadata": {"name": "ACME X670E Creator", "manufacturer": "ACME"},
    "socket": "AM5",
    "form_factor": "ATX",
    "chipset": "AMD X670E",
    "memory": {"max": 192, "ram_type": "DDR5", "slots": 4},
    "pcie_slots": [
        {"gen": "4.0", "quantity": 3, "lanes": 16},
        {"gen": "4.0", "quantity": 1, "lanes": 0},
    ],
    "m2_slots": [
        {"size": "2280/22110", "key": "M", "interface": "PCIe 5.0 x4"},
        {"size": "2230", "key": "E", "interface": None},
    ],
    "storage_devices": {"sata_6_gb_s": 4, "u2": 0},
    "power_connectors": {"cpu_power": ["8-pin", "8-pin"]},
}
PSU = {
    "metadata": {"name": "ACME Volt 1600", "manufacturer": "ACME", "releaseYear": 2023},
    "wattage": 1600,
    "form_factor": "ATX",
    "efficiency_rating": "80+ Titanium",
    "modular": "Full",
    "length": 200,
    "connectors": {
        "atx_24_pin": 1,
        "eps_8_pin": 2,
        "pcie_12vhpwr": 2,
        "pcie_6_plus_2_pin": 8,
        "sata": 12,
        "molex_4_pin": 4,
    },
}
CPU = {
    "metadata": {"name": "ACME Core 9", "manufacturer": "ACME"},
    "socket": "LGA 1700",
    "cores": {"total": 24, "threads": 32},
    "clocks": {"performance": {"base": 3.2, "boost": 6.0}},
    "specifications": {
        "tdp": 125,
        "ppt": 253,
        "integratedGraphics": {"model": "UHD 770"},
        "memory": {"types": ["DDR5"], "channels": 2},
    },
}
RAM = {
    "metadata": {"name": "ACME Fast 32", "manufacturer": "ACME"},
    "ram_type": "DDR5",
    "speed": 6000,
    "form_factor": "288-pin DIMM",
    "modules": {"quantity": 2, "capacity_gb": 16},
    "ecc": "ECC",
    "registered": "Registered",
}
STORAGE = {
    "metadata": {"name": "ACME Drive 2 TB", "manufacturer": "ACME"},
    "capacity": 2000,
    "form_factor": "M.2-2280",
    "interface": "M.2 PCIe 4.0 x4",
    "nvme": True,
}
CASE = {
    "metadata": {"name": "ACME Tower", "manufacturer": "ACME"},
    "form_factor": "ATX Full Tower",
    "supported_motherboard_form_factors": ["EATX", "SSI EEB", "ATX"],
    "max_video_card_length": 420,
    "expansion_slots": 9,
    "max_psu_length": 0,
}
COOLER = {
    "metadata": {"name": "ACME Air", "manufacturer": "ACME"},
    "height": 165,
    "cpu_sockets": ["AM5", "LGA 1700", "2 x LGA 2011"],
    "water_cooled": False,
}
RECORDS: dict[str, dict[str, Any]] = {
    "GPU": GPU,
    "Motherboard": BOARD,
    "PSU": PSU,
    "CPU": CPU,
    "RAM": RAM,
    "Storage": STORAGE,
    "PCCase": CASE,
    "CPUCooler": COOLER,
}


def write_opendb(folder: Path, category: str, record: object, name: str = "part") -> Path:
    """Write one record as OpenDB lays it out; bytes are written as they are."""
    place = folder / "open-db" / category
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name}.json"
    path.write_bytes(record if isinstance(record, bytes) else json.dumps(record).encode())
    return path
