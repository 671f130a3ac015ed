"""Lint bites: each complaint is provoked once, and the shipped catalog has none."""

import pytest
from msgspec.structs import replace

from rigplanner.catalog.lint import lint
from rigplanner.catalog.load import Catalog
from rigplanner.catalog.parts import (
    CPU,
    GPU,
    Doubt,
    LaneMode,
    Layout,
    Motherboard,
    Part,
    Plug,
    PowerSupply,
    Price,
    Rates,
    Rating,
    Slot,
    Storage,
    Supply,
    When,
)
from rigplanner.evidence import Source

SOURCES = {"maker": Source(title="Maker's page", read="2026-11-21", trust="vendor")}
CARD = GPU(
    id="nvidia.x.card", name="Card", vendor="NVIDIA", form_factor="pcie", chip="X1", compute_capability="9.0",
    sources={"maker": ("*",)},
    memory_bus_bits=384, memory_rate_gbps=21, bandwidth_gbs=1008, cores=16384, boost_mhz=2520, dense_tflops=Rates(fp32=82.58),
    tdp_w=450, connectors=(Plug("12vhpwr", 1),),
)  # fmt: skip
BOARD = Motherboard(id="a.b.board", name="Board", vendor="A", sources={"maker": ("*",)},
                    layout=Layout(slots=(Slot(id="P1", origin="cpu0", mechanical=16, width=16),)))  # fmt: skip
DRIVE = Storage(id="a.b.drive", name="Drive", vendor="A", sources={"maker": ("*",)}, form_factor="m2", interface="nvme",
                capacity_gb=1000, gen=3, width=4, read_gbs=3.5)  # fmt: skip
SUPPLY = PowerSupply(
    id="a.b.psu", name="Supply", vendor="A", sources={"maker": ("*",)}, supply=Supply(ratings=(Rating(100, 1000),))
)
CHIP = CPU(id="a.b.cpu", name="CPU", vendor="A", sources={"maker": ("*",)}, socket="AM5", cores=8, threads=16)


def _codes(*parts: Part) -> list[str]:
    return [complaint.code for complaint in lint(Catalog({part.id: part for part in parts}, SOURCES, {"old.a.b": "new.a.b"}))]


@pytest.mark.parametrize("part", [CARD, BOARD, DRIVE, SUPPLY, CHIP], ids=lambda part: part.id)
def test_a_good_part_has_no_complaint(part: Part) -> None:
    assert _codes(part) == []


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (replace(CARD, id="Card"), "id-form"),
        (replace(CARD, id="old.a.b"), "id-reused"),
        (replace(CARD, sources={}), "no-source"),
        (replace(CARD, sources={"nobody": ("*",)}), "source-missing"),
        (replace(CARD, sources={"maker": ("colour",)}), "field-unknown"),
        (replace(CARD, doubts={"tdp_w": Doubt(state="conflict", values=("450",))}), "conflict-values"),
        (replace(CARD, prices=(Price(amount=0, currency="USD", day="2026-01-01", source="x"),)), "price"),
        (replace(CARD, length_mm=0), "range"),
        (replace(CARD, bandwidth_gbs=1030), "bandwidth"),
        (replace(CARD, dense_tflops=Rates(fp32=330)), "fp32-rate"),
        (replace(CARD, connectors=(Plug("pcie8", 2),)), "connector-power"),
        (replace(CARD, unsupported=("fp32",)), "unsupported-rated"),
        (replace(BOARD, layout=Layout(slots=(Slot(id="P1", origin="cpu3"),))), "origin-unknown"),
        (replace(BOARD, layout=Layout(slots=(Slot(id="P1", mechanical=8, width=16),))), "wider-than-slot"),
        (replace(BOARD, layout=Layout(slots=(Slot(id="P1"), Slot(id="P1")))), "place-twice"),
        (replace(BOARD, layout=Layout(lane_modes=(LaneMode(when=When(used=("P9",))),))), "place-unknown"),
        (replace(DRIVE, read_gbs=4.1), "faster-than-interface"),
        (replace(SUPPLY, supply=Supply()), "no-rating"),
        (replace(SUPPLY, supply=Supply(ratings=(Rating(100, 1000), Rating(200, 900)))), "rating-order"),
        (replace(CHIP, threads=4), "threads"),
        (replace(CHIP, base_ghz=4, boost_ghz=3), "boost-below-base"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fault_is_found(part: Part, code: str) -> None:
    assert _codes(part) == [code]


def test_connectors_at_exactly_the_power_are_enough() -> None:
    assert _codes(replace(CARD, tdp_w=375, connectors=(Plug("pcie8", 2),))) == []


def test_the_same_chip_is_the_same_everywhere() -> None:
    assert _codes(CARD, replace(CARD, id="nvidia.x.other", compute_capability="8.9")) == ["chip-family"]


def test_the_shipped_catalog_has_no_complaint(catalog: Catalog) -> None:
    assert lint(catalog) == []
