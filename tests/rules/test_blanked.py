"""What is not known never makes a verdict better."""

import random

import pytest
from rule_bench import bench_catalog, bench_rig
from test_rule_cases import judge

from rigplanner.catalog.load import shipped_catalog
from rigplanner.data import data_path
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import assess
from tools.campaign.blanked import BETTER_THAN, catalog_of, edited, with_a_gap

RIGS = 40
"""Of 2,000 tried by `make campaign`, part "blanked"."""
SAMPLES = sorted((data_path("resources") / "samples").glob("*.rig"))


def test_no_verdict_gets_better_when_a_fact_is_blanked() -> None:
    dice, catalog = random.Random("gaps"), shipped_catalog()
    rigs = [read_rig(path) for path in SAMPLES]
    better, judged = [], 0
    while judged < RIGS:
        rig = edited(dice.choice(rigs), catalog, dice)
        less = with_a_gap(rig, catalog, dice)
        if less is None:
            continue
        judged += 1
        before = assess(rig, catalog).report.verdict()
        after = assess(less[0], catalog_of(catalog, less[0])).report.verdict()
        if after in BETTER_THAN[before]:
            better.append((before, after, less[1]))
    assert better == []


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("gpu.card", "length_mm", 900),
        ("case.tower", "enclosure.gpu_length_mm", 200),
        ("case.tower", "enclosure.cooler_height_mm", 100),
        ("cpu.desk", "socket", "LGA1"),
        ("board.desk", "layout.memory_type", "DDR4"),
        ("cooler.air", "height_mm", 500),
    ],
)
def test_a_fault_whose_fact_is_blanked_is_a_question(part: str, field: str, value: object) -> None:
    """With the fact an error; without it never sound."""
    rig = bench_rig(psu="psu.mid")
    assert judge(rig, bench_catalog({part: {field: value}})).verdict() == "error"
    assert judge(rig, bench_catalog({part: {field: None}})).verdict() != "ok"
