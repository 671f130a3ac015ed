"""Rows of errors from measured cases."""

import json
from pathlib import Path

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.measured.accuracy import Comparison, compare, error_table
from rigplanner.memory.measured.holdout import (
    ABOVE,
    BELOW,
    fitted,
    held_out,
    intervals,
    measured,
)
from rigplanner.memory.usable_memory import CUDA_SHARE
from rigplanner.workload.cases import BadCase, read_case
from rigplanner.workload.stacks import interval, memory_stack, memory_stacks


def case(number: int, predicted: float | None, measured: float, kind: str = "llm") -> Comparison:
    return Comparison(
        id=number,
        kind=kind,
        task="inference",
        model="m",
        source="s",
        stack="x",
        measured_gib=measured,
        predicted_gib=predicted,
        inside=None if predicted is None else abs(predicted / measured - 1) < 0.1,
    )


def test_rows_count_what_is_covered_and_how_far_off() -> None:
    rows = {
        row.group: row
        for row in error_table([case(1, 11, 10), case(2, 9.5, 10), case(3, None, 10, "cnn")])
    }
    whole = rows["all"]
    assert (whole.cases, whole.covered) == (3, 2)
    assert whole.median == pytest.approx(0.075) and whole.bias == pytest.approx(0.025)
    assert rows["kind: cnn"].covered == 0 and rows["kind: cnn"].median is None


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
        json.dumps(
            {"id": i, "workload": work, "hardware": {}, "figure": figure, "value_gib": 2.0}
        ).encode()
        for i, figure in enumerate(("allocated", "nvidia_smi"))
    ]
    small, large = compare(
        [*lines, b"", json.dumps({"id": 9, "part": "weights", "value_gib": 1}).encode()],
        lambda _: None,
        shipped_zoo(),
    )
    assert (
        small.predicted_gib is not None
        and large.predicted_gib is not None
        and small.predicted_gib < large.predicted_gib
    )


@pytest.mark.parametrize(
    ("capped", "value_gib", "inside"),
    [
        (None, 0.5, False),
        (False, 0.5, False),
        (True, 0.5, True),
        (True, 80.0, False),
        (None, 80.0, False),
    ],
)
def test_below_a_size_that_is_only_a_maximum_less_is_right(
    capped: bool | None, value_gib: float, inside: bool
) -> None:
    work = {
        "model": "gpt2",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "adamw",
        "batch_per_gpu": 1,
        "seq_len": 64,
        "stack": "pytorch",
        "size_is_cap": capped,
    }
    line = json.dumps({"id": 1, "workload": work, "hardware": {}, "value_gib": value_gib}).encode()
    (case,) = compare([line], lambda _: None, shipped_zoo())
    assert case.inside is inside
    assert case.size == ("only a maximum" if capped else "as told")
    assert case.error is not None and (case.error > 0) is (value_gib < 1)


def test_profiles_are_sane_and_unknown_stacks_are_plain_pytorch() -> None:
    for slug, stack in memory_stacks().items():
        for task in ("train_full", "inference", "serve"):
            low, high = interval((slug, task))
            assert 0 < low <= 1 <= high < 3, slug
            spare = stack.spare(task)
            assert stack.context_gib >= 0 and 0 <= spare.fixed_gib < 4, slug
            assert (
                spare.held_gib(1.0, 10.0)
                <= spare.held_gib(2.0, 20.0)
                < (11 if stack.stored_fp32 else 7)
            ), slug
    assert memory_stack("something-else").spare("train_full") == memory_stack("pytorch").spare(
        "train_full"
    )
    assert interval(("no such stack", "no such task")) == interval(("any",))


OWN = Path(__file__).with_name("measured_memory.jsonl")
OTHERS = Path(__file__).with_name("published_totals.jsonl")
"""The first and the last total of sixteen more sources, read in November 2026."""


def _judged(lines: list[bytes]) -> list[bytes]:
    """The first and the last total of each source; `make accuracy` judges all, of which more lie
    inside their intervals: sources of many rows are those whose kind of job is known best."""
    rows: dict[str, list[bytes]] = {}
    for row in lines:
        told = json.loads(row)
        if told.get("part", "total") == "total" and told.get("value_gib"):
            rows.setdefault("/".join(told["source"].split("/")[:2]), []).append(row)
    return [row for members in rows.values() for row in members[:: max(1, len(members) - 1)]]


def test_published_measurements_of_every_source_are_met() -> None:
    lines = _judged(OTHERS.read_bytes().splitlines() + OWN.read_bytes().splitlines())
    assert len(lines) >= 150
    as_shipped, apart = (
        compare(lines, lambda _: None, shipped_zoo()),
        held_out(lines, lambda _: None, shipped_zoo()),
    )
    for cases, least in ((as_shipped, 0.68), (apart, 0.74)):
        whole = error_table(cases)[0]
        assert whole.covered == whole.cases == len(lines)
        assert whole.median is not None and whole.median <= 0.085
        assert whole.p90 is not None and whole.p90 <= 0.34
        assert whole.inside is not None and least <= whole.inside <= 0.9


CARDS = (8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 80, 94, 141)
"""GiB of common cards."""


def test_few_jobs_are_said_to_fit_a_card_that_did_not_hold_them() -> None:
    """Of the first and the last row of each source 7 % (9 with a tenth on each side of the
    interval): ends of series, and of sources with few rows; of all rows 2.4 %."""
    lines, cards = _judged(OWN.read_bytes().splitlines()), shipped_zoo()
    wrong = failed = 0
    for line in lines:
        asked, measured_gib = read_case(line), json.loads(line)["value_gib"]
        smaller = [gib for gib in CARDS if CUDA_SHARE * gib < measured_gib]
        if smaller and not isinstance(asked, BadCase):
            told = estimate_memory(asked.workload, None, asked.hardware.count or 1, cards)
            failed += 1
            wrong += told.high_gib <= CUDA_SHARE * smaller[-1]
    assert failed > 80 and wrong <= 0.08 * failed, (wrong, failed)


def line(number: int, source: str, measured_gib: float) -> bytes:
    work = {
        "model": "gpt2",
        "task": "train_full",
        "precision": "fp32",
        "optimizer": "adamw",
        "batch_per_gpu": number + 1,
        "seq_len": 256,
        "stack": "pytorch",
    }
    return json.dumps(
        {
            "id": number,
            "workload": work,
            "hardware": {},
            "figure": "reserved",
            "source": source,
            "value_gib": measured_gib,
        }
    ).encode()


def test_a_source_held_out_does_not_tell_about_itself() -> None:
    zoo = shipped_zoo()
    shipped = [
        compare([line(number, "a", 1.0)], lambda _: None, zoo)[0].predicted_gib or 0.0
        for number in range(8)
    ]
    double = [
        line(number, "odd" if number % 2 else "even", 2 * size)
        for number, size in enumerate(shipped)
    ]
    held = held_out(double, lambda _: None, zoo)
    assert [case.source for case in held] == ["even"] * 4 + ["odd"] * 4
    alone = held_out(
        [
            line(number, "odd" if number % 2 else "even", 2 * size if number % 2 else size)
            for number, size in enumerate(shipped)
        ],
        lambda _: None,
        zoo,
    )
    errors = {case.id: case.error or 0.0 for case in alone}
    assert all(errors[number] < -0.3 for number in (1, 3, 5, 7)), (
        "the odd source measures double, and only itself says so"
    )


def test_constants_fitted_to_cases_and_their_interval() -> None:
    zoo = shipped_zoo()
    cases = [
        case
        for case in (
            measured(line(number, "a", 3.0 + number), lambda _: None, zoo) for number in range(6)
        )
        if case
    ]
    spares = fitted(cases)
    low, high = intervals(cases, spares)["any"]
    assert 0 < low <= 1 <= high
    assert (BELOW + ABOVE, BELOW > 2 * ABOVE) == (pytest.approx(0.2), True)
    assert measured(b'{"part": "weights", "value_gib": 1}', lambda _: None, zoo) is None
