"""Published memory of trainings of adapters, read after every constant was fitted."""

import statistics
from pathlib import Path

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.memory.measured.accuracy import compare, compare_first
from rigplanner.memory.measured.holdout import measured

LINES = Path(__file__).with_name("measured_adapters.jsonl").read_bytes().splitlines()


def card(name: str):
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


@pytest.mark.parametrize(
    ("collection", "rows", "refused", "median", "inside"),
    [
        (11, 131, 0, 0.197, 0.511),
        (12, 23, 0, 0.039, 1.0),
        (13, 51, 0, 0.112, 0.745),
        (14, 49, 7, 0.162, 0.551),
    ],
)
def test_the_first_look_stays_as_it_was_written_down(
    collection: int, rows: int, refused: int, median: float, inside: float
) -> None:
    first = compare_first([line for line in LINES if b'"collection": %d' % collection in line])
    errors = [abs(case.error) for case in first if case.error is not None]
    assert (len(first), len(first) - len(errors)) == (rows, refused)
    assert statistics.median(errors) == pytest.approx(median, abs=0.001)
    assert statistics.fmean(bool(case.inside) for case in first) == pytest.approx(inside, abs=0.001)


def test_adapters_of_models_that_draw_are_nearer_since() -> None:
    """In 16 bits, with and without blocks computed again; left aside are Krea 2, which was
    compiled, and Sana, where computing again was not heard (says the source)."""
    told = compare([line for line in LINES if b'"bf16"' in line and b'"diffusion"' in line], card,
                   shipped_zoo())  # fmt: skip
    errors = [abs(case.error) for case in told if case.error is not None]
    assert len(errors) == len(told) == 30
    assert statistics.median(errors) < 0.12


def test_pairs_are_judged_with_the_reference_beside_the_policy() -> None:
    """DPO of Llama 2 7B, ZeRO 2 with its states in RAM, two pairs: 36,989 MiB (ColossalChat)."""
    line = next(line for line in LINES if b'"M1507"' in line)
    case = measured(line, card, shipped_zoo())
    assert case is not None and case.tensors_gib == pytest.approx(36.1, rel=0.03)
    engine = line.replace(b'"task": "dpo"', b'"task": "grpo"')
    assert measured(engine, card, shipped_zoo()) is None, "an engine's share is not fitted"
