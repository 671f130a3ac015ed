"""What holds for any rig: more watts never help, a hundred homeless cards are one finding, memory
reads only a GPU's size."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rule_bench import bench_catalog, bench_rig
from test_rule_cases import found, judge

from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.usable_memory import visible_gib
from rigplanner.report.words.findings import finding_text
from rigplanner.rig.document import Item, Rig, Site
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess, link_of, machine_of
from rigplanner.rules.badges import fits
from rigplanner.rules.check import ORDER, check
from rigplanner.rules.core.context import Context

POWER = ("PWR002", "PWR003", "PWR004", "PWR012", "CLG005")
HOME = Site(volts=120.0, breaker_a=15.0)
PAIR = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), psu="psu.mid", site=HOME)


def _worst(watts: float) -> int:
    report = judge(PAIR, bench_catalog({"gpu.card": {"tdp_w": watts}}))
    return min(
        (ORDER[finding.severity] for finding in report.findings if finding.code in POWER), default=9
    )


@settings(max_examples=25, deadline=None)
@given(st.floats(50, 900), st.floats(0, 900))
def test_more_watts_never_make_power_better(watts: float, more: float) -> None:
    assert _worst(watts + more) <= _worst(watts)


def test_cards_without_a_slot_are_one_finding() -> None:
    (finding,) = found(judge(bench_rig(gpu=("gpu.card", 100)), bench_catalog()), "SLT001")
    assert len(finding.subjects) == 98
    assert finding.fixes[0].edits[0].args == {"uid": "gpu", "quantity": 2}


def test_a_search_that_was_cut_leaves_the_place_of_a_card_unknown() -> None:
    rig, catalog = bench_rig(gpu=("gpu.card", 4)), bench_catalog()
    machine = machine_of(rig, catalog)
    cut = replace(
        machine, problems=tuple(replace(problem, proven=False) for problem in machine.problems)
    )
    (finding,) = found(check(Context(rig=rig, catalog=catalog, machine=cut)), "SLT001")
    assert finding.severity == "unknown"
    assert "had tried everything" in finding_text(finding, rig, catalog)


@pytest.mark.parametrize("task", ["train", "train_lora", "inference", "serve"])
def test_memory_reads_of_a_gpu_what_its_driver_shows_and_nothing_else(task: str) -> None:
    from rigplanner.catalog.zoo import shipped_zoo

    workload = Workload(
        task=task, model="gpt2", batch_per_gpu=2, seq_len=128, input_tokens=64, output_tokens=64
    )
    cards = [
        card
        for card in shipped_catalog().of_kind("gpu")
        if isinstance(card, GPU) and visible_gib(card) == 24
    ]
    answers = [estimate_memory(workload, card, 1, shipped_zoo()) for card in cards[:6]]
    assert len(cards) > 3
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize(
    "rig",
    [
        Rig(),
        Rig(items=(Item(uid="x", part="no.such.part"),)),
        Rig(items=(Item(uid="g", part="gpu.card", quantity=3),)),
        Rig(items=(Item(uid="b", part="bridge.four", places=("zzz+", "x")),)),
        Rig(
            items=(
                Item(uid="b", part="board.desk", quantity=2),
                Item(uid="c", part="cpu.desk", quantity=9),
            )
        ),
    ],
)
def test_strange_rigs_get_an_answer(rig: Rig) -> None:
    catalog = bench_catalog()
    assert assess(rig, catalog).report.verdict() in ("ok", "unknown", "error", "warning")
    assert fits(rig, catalog, "gpu", [catalog.parts["gpu.card"]])[0].badge in (
        "fits",
        "warns",
        "no",
        "unknown",
    )


def test_the_link_of_a_machine_is_a_word_of_cases() -> None:
    catalog = bench_catalog()
    assert link_of(machine_of(bench_rig(), catalog)) == "none"
    assert link_of(machine_of(PAIR, catalog)) == "pcie"
    bridged = bench_rig(gpu=("gpu.card", 2, ("PCIE1", "PCIE2")), bridge="bridge.four")
    assert link_of(machine_of(bridged, catalog)) == "nvlink-bridge"


def test_a_price_edit_finds_the_former_machine() -> None:
    catalog = bench_catalog()
    rig = bench_rig()
    assert machine_of(replace(rig, name="other", currency="EUR"), catalog) is machine_of(
        rig, catalog
    )


def test_a_site_edit_changes_the_power_tree_alone() -> None:
    catalog = bench_catalog()
    here, there = machine_of(bench_rig(), catalog), machine_of(bench_rig(site=HOME), catalog)
    assert there.slots is here.slots
    assert there.power.circuit_peak_w == 1800
