"""Memory of models of which RAM holds a part, and of serving engines' caches, against published
logs: cards, RAM and cache each."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.estimate import estimate_memory
from rigplanner.memory.measured.accuracy import Comparison, compare_held, wrong_verdicts
from rigplanner.rig.workload import Workload

LINES = Path(__file__).with_name("held_memory.jsonl").read_bytes().splitlines()


@pytest.fixture(scope="module")
def told() -> list[Comparison]:
    return compare_held(LINES, find_gpu, shipped_zoo())


def _errors(told: list[Comparison], source: str = "") -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for case in told:
        assert case.error is not None, case
        if source in case.source:
            found[case.part].append(abs(case.error))
    return found


def test_ram_cards_and_caches_are_told_as_the_logs_have_them(told: list[Comparison]) -> None:
    errors = _errors(told)
    assert len(told) >= 36
    assert np.median(errors["cards"]) <= 0.06 and np.median(errors["ram"]) <= 0.04
    assert np.median(errors["pool"]) <= 0.09
    assert max(errors["ram"]) <= 0.08


def test_files_of_one_format_are_told_to_two_hundredths(told: list[Comparison]) -> None:
    whole = [case for case in told if case.id in ("HM003", "HM004", "HM005", "HM006")]
    assert [case.error for case in whole] == pytest.approx([0, 0, 0, 0], abs=0.02)


@pytest.mark.parametrize("source", ["msb-msb", "MoEArc"])
def test_cards_beside_experts_in_ram_hold_what_was_read_on_them(
    told: list[Comparison], source: str
) -> None:
    """None of these was looked at before the answer was written down: 4 % in the median."""
    errors = _errors(told, source)["cards"]
    assert len(errors) == 6 and np.median(errors) <= 0.06


def test_a_file_with_room_for_the_rest_in_eight_bits_keeps_it_so(told: list[Comparison]) -> None:
    """DeepSeek-R1 in Q2_K, 238.69 GiB: its experts have the types of the mix."""
    errors = {case.id: case.error for case in told}
    assert errors["HM011"] == pytest.approx(0, abs=0.03)
    assert errors["HM012"] == pytest.approx(0, abs=0.01)
    cards = sorted(_errors(told)["cards"])
    assert cards[int(0.9 * len(cards))] <= 0.20


def test_the_pool_of_a_serving_engine_stands_beside_its_cache() -> None:
    """Llama-3.1-8B on an RTX 3090 with vLLM 0.6 logs a pool of 3.81 GiB at 20,000 tokens (vllm
    issue 10517)."""
    work = Workload(
        model="llama-3.1-8b", task="serve", precision="bf16", stack="vllm", seq_len=20000,
        framework_text="vllm 0.6", memory_utilization=0.9,
    )  # fmt: skip
    need = estimate_memory(work, find_gpu("RTX 3090"), 1, shipped_zoo())
    assert need.detail_gib["pool"] == pytest.approx(3.81, rel=0.09)
    alone = estimate_memory(replace(work, task="inference"), find_gpu("RTX 3090"), 1, shipped_zoo())
    assert "pool" not in alone.detail_gib


@pytest.mark.parametrize(
    ("low", "high", "fits_wrongly", "refused_wrongly"),
    [(18.0, 23.0, 0.0, 0.0), (12.0, 15.5, 1.0, 0.0), (21.0, 25.0, 0.0, 1.0)],
)
def test_a_verdict_is_judged_on_the_cards_next_to_a_job(
    low: float, high: float, fits_wrongly: float, refused_wrongly: float
) -> None:
    """A job of 18.5 GiB: a card of 16 does not hold it, one of 20 does."""
    case = Comparison(
        id=1, kind="llm", task="train", model="m", source="s", stack="peft", measured_gib=18.5,
        low_gib=low, high_gib=high,
    )  # fmt: skip
    assert list(wrong_verdicts([case]).values()) == [fits_wrongly, refused_wrongly]
