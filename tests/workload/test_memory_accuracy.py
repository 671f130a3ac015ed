"""Rows of errors from measured cases."""

import json
import os
from pathlib import Path

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.workload.accuracy import Comparison, compare, error_table
from rigplanner.workload.stacks import memory_stack, memory_stacks


def case(number: int, predicted: float | None, measured: float, kind: str = "llm") -> Comparison:
    return Comparison(id=number, kind=kind, task="inference", model="m", source="s", stack="x", measured_gib=measured,
        predicted_gib=predicted,
                      inside=None if predicted is None else abs(predicted / measured - 1) < 0.1)  # fmt: skip


def test_rows_count_what_is_covered_and_how_far_off() -> None:
    rows = {(row.field, row.name): row for row in error_table([case(1, 11, 10), case(2, 9.5, 10), case(3, None, 10, "cnn")])}
    whole = rows["all", "all"]
    assert (whole.cases, whole.covered) == (3, 2)
    assert whole.median == pytest.approx(0.075) and whole.bias == pytest.approx(0.025) and whole.too_low == 0.5
    assert rows["kind", "cnn"].covered == 0 and rows["kind", "cnn"].median is None


def test_a_measured_line_is_compared_with_the_figure_it_names() -> None:
    work = {
        "model": "gpt2",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "seq_len": 64,
        "stack": "pytorch",
    }
    lines = [
        json.dumps({"id": i, "workload": work, "hardware": {}, "figure": figure, "value_gib": 2.0}).encode()
        for i, figure in enumerate(("allocated", "nvidia_smi"))
    ]
    small, large = compare(
        [*lines, b"", json.dumps({"id": 9, "part": "weights", "value_gib": 1}).encode()], lambda _: None, shipped_zoo()
    )
    assert small.predicted_gib is not None and large.predicted_gib is not None and small.predicted_gib < large.predicted_gib


def test_profiles_are_sane_and_unknown_stacks_are_plain_pytorch() -> None:
    for slug, stack in memory_stacks().items():
        assert 0 < stack.low <= 1 <= stack.high < 3, slug
        assert stack.context_gib >= 0 and stack.fixed_gib >= 0 and 0 <= stack.slack < 1, slug
    assert memory_stack("something-else").slack == memory_stack("pytorch").slack


def test_published_measurements_are_met() -> None:
    shared = Path(os.environ.get("RIGPLANNER_SHARED") or Path(__file__).parents[3] / "shared")
    file = shared / "cases" / "memory" / "cases.jsonl"
    if not file.exists():
        pytest.skip("the shared cases are not here")
    whole = error_table(compare(file.read_bytes().splitlines(), lambda _: None, shipped_zoo()))[0]
    assert whole.covered >= 0.95 * whole.cases
    assert whole.median is not None and whole.median <= 0.08
    assert whole.p90 is not None and whole.p90 <= 0.25
