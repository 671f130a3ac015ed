"""Import of pc-part-dataset in its three forms."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.foreign import Cancelled, Import
from rigplanner.catalog.imports import foreign_pcpp
from rigplanner.catalog.imports.foreign_files import ForeignFault
from rigplanner.catalog.imports.foreign_pcpp import read_pc_part_dataset
from rigplanner.catalog.lint.lint import lint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.schema.parts import (
    CPU,
    GPU,
    Cooler,
    MemoryKit,
    Motherboard,
    PowerSupply,
    Storage,
)

DAY = "2025-07-01"
MEMORY = {
    "name": "Silicon Power Fast 32 GB",
    "price": 94.99,
    "speed": [5, 6000],
    "modules": [2, 16],
    "price_per_gb": 2.968,
    "color": "Black",
    "first_word_latency": 12,
    "cas_latency": 36,
}
CSV = """name,price,speed,modules,price_per_gb,color,first_word_latency,cas_latency
Silicon Power Fast 32 GB,94.99,"5,6000","2,16",2.968,Black,12,36
"""
ROWS = {
    "cpu": {
        "name": "AMD Ryzen 9 9950X",
        "price": 520,
        "core_count": 16,
        "core_clock": 4.3,
        "boost_clock": 5.7,
        "tdp": 170,
        "graphics": "Radeon",
    },
    "video-card": {
        "name": "MSI Storm",
        "price": None,
        "chipset": "GeForce RTX 4090",
        "memory": 24,
        "boost_clock": 2520,
        "length": 337,
    },
    "motherboard": {
        "name": "ASRock X",
        "price": 200,
        "socket": "AM5",
        "form_factor": "Micro ATX",
        "max_memory": 256,
        "memory_slots": 4,
    },
    "memory": MEMORY,
    "internal-hard-drive": {
        "name": "Samsung 990",
        "price": 169,
        "capacity": 2000,
        "type": "SSD",
        "form_factor": "M.2-2280",
        "interface": "M.2 PCIe 4.0 X4",
    },
    "power-supply": {
        "name": "Corsair RM",
        "price": 1,
        "type": "ATX",
        "efficiency": "gold",
        "wattage": 850,
        "modular": "Full",
    },
    "case": {
        "name": "Fractal Design North",
        "price": 1,
        "type": "ATX Mid Tower",
        "internal_35_bays": 2,
    },
    "cpu-cooler": {"name": "Arctic Freezer", "price": 1, "rpm": [200, 1800], "size": 360},
    "wired-network-card": {"name": "TP-Link", "price": 1, "interface": "PCIe x4"},
    "ups": {"name": "APC", "price": 1},
}


def _write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def _reasons(made: Import) -> list[tuple[str, str]]:
    return [(refusal.field, refusal.reason) for refusal in made.refused]


def test_every_kind_becomes_a_part_of_lower_trust(tmp_path: Path) -> None:
    for category, row in ROWS.items():
        _write(tmp_path, f"{category}.json", [row])
    made = read_pc_part_dataset(tmp_path, DAY)
    assert (made.seen, len(made.parts), made.refused) == (10, 10, ())
    assert all(part.id.startswith("pcpp.") for part in made.parts)
    assert {source.trust for source in made.sources.values()} == {"community"}
    assert lint(Catalog({part.id: part for part in made.parts}, made.sources)) == []
    parts = {type(part): part for part in made.parts}
    cpu, card, board, drive, supply, cooler = (
        parts[kind] for kind in (CPU, GPU, Motherboard, Storage, PowerSupply, Cooler)
    )
    assert isinstance(cpu, CPU)
    assert (cpu.socket, cpu.cores, cpu.vendor) == (None, 16, "AMD")
    assert isinstance(card, GPU)
    assert (card.tdp_w, card.connectors, card.prices) == (None, None, ())
    assert isinstance(board, Motherboard)
    assert (board.form_factor, board.layout.slots) == ("Micro-ATX", ())
    assert isinstance(drive, Storage)
    assert (drive.gen, drive.width, drive.interface) == (4, 4, "nvme")
    assert isinstance(supply, PowerSupply)
    assert (supply.supply.efficiency_label, supply.supply.plugs) == ("80 PLUS Gold", None)
    assert isinstance(cooler, Cooler)
    assert (cooler.type, cooler.radiator_mm) == ("liquid", 360)


def test_the_three_forms_say_the_same(tmp_path: Path) -> None:
    made = [
        read_pc_part_dataset(_write(tmp_path, "memory.json", [MEMORY]), DAY),
        read_pc_part_dataset(_write(tmp_path, "memory.jsonl", json.dumps(MEMORY).encode()), DAY),
        read_pc_part_dataset(_write(tmp_path, "memory.csv", CSV.encode()), DAY),
    ]
    (kit,) = made[0].parts
    assert isinstance(kit, MemoryKit)
    assert (kit.vendor, kit.type, kit.module, kit.modules, kit.module_gib, kit.speed_mts) == (
        "Silicon Power",
        "DDR5",
        None,
        2,
        16,
        6000,
    )
    (price,) = kit.prices
    assert (price.amount, price.currency, price.day, price.region) == (94.99, "USD", DAY, "US")
    facts = [
        (part.name, part.type, part.modules, part.cas)
        for one in made
        for part in one.parts
        if isinstance(part, MemoryKit)
    ]
    assert facts == [facts[0]] * 3


def test_the_price_does_not_change_the_id(tmp_path: Path) -> None:
    ids = [
        read_pc_part_dataset(
            _write(tmp_path, "memory.json", [{**MEMORY, "price": price, "price_per_gb": None}]), DAY
        )
        .parts[0]
        .id
        for price in (10, None)
    ]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("memory.json", b'{"name": "x"}', "not-object"),
        ("memory.json", b"[" * 100_000, "nested"),
        ("memory.json", "[]".encode("utf-16"), "encoding"),
        ("memory.csv", b"name\n\xff\xfe", "encoding"),
        ("memory.csv", b"\x80\x04.", "pickle"),
        ("memory.pkl", b"\x80\x04.", "pickle"),
        ("keyboard.json", b"[]", "kind"),
        ("memory.jsonl", b"{", "not-json"),
    ],
)
def test_a_file_that_is_none_is_named(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    made = read_pc_part_dataset(_write(tmp_path, name, content), DAY)
    assert (made.parts, _reasons(made)) == ((), [("", reason)])


def test_bad_rows_are_named_and_good_ones_come_in(tmp_path: Path) -> None:
    rows = [
        MEMORY,
        7,
        {**MEMORY, "name": "<b>bold</b>"},
        {**MEMORY, "speed": None},
        {**MEMORY, "modules": "2x16"},
        MEMORY,
        {**MEMORY, "name": "Other", "cas_latency": float("nan"), "price": float("inf")},
    ]
    made = read_pc_part_dataset(_write(tmp_path, "memory.json", rows), DAY)
    assert [part.name for part in made.parts] == ["Silicon Power Fast 32 GB", "Other"]
    assert _reasons(made) == [
        ("", "not-object"),
        ("name", "markup"),
        ("name", "missing"),
        ("speed", "missing"),
        ("modules", "type"),
        ("modules", "missing"),
        ("name", "duplicate"),
        ("cas_latency", "number"),
        ("price", "number"),
    ]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "memory.json").symlink_to(_write(tmp_path, "secret.json", [MEMORY]))
    made = read_pc_part_dataset(folder, DAY)
    assert (made.parts, _reasons(made)) == ((), [("", "symlink")])


def test_limits_progress_and_cancel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(
        tmp_path, "memory.json", [{**MEMORY, "name": f"Kit {number}"} for number in range(9)]
    )
    monkeypatch.setattr(foreign_pcpp, "MOST_ROWS", 5)
    made = read_pc_part_dataset(path, DAY)
    assert (len(made.parts), _reasons(made)) == (5, [("", "too-many")])
    monkeypatch.setattr(foreign_pcpp, "PROGRESS_EVERY", 2)
    with pytest.raises(Cancelled):
        read_pc_part_dataset(path, DAY, lambda done, total: False)
    with pytest.raises(ForeignFault, match="no such"):
        read_pc_part_dataset(tmp_path / "nowhere", DAY)
