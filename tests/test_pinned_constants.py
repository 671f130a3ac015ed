"""Fitted constants against published figures: one that moves by a tenth moves one of these.

`python -m tools.pin_constants` chose them: each figure is one that the constant moves most among
those that the model tells within 15 %, or else the one that it tells best."""

from pathlib import Path

import msgspec
import pytest

from rigplanner.performance.measured import shipped_measured
from tools.pin_constants import Figures, Pin, cases_of, exchanges, hosted, memories, prices, speeds

PINS = msgspec.json.decode(
    Path(__file__).with_name("pinned_constants.json").read_bytes(), type=list[Pin]
)
WITHIN = 0.001
"""Logarithm by which a figure may lie from where it was; a tenth of a constant moves it by four
times that at least."""


@pytest.fixture(scope="module")
def figures() -> Figures:
    wanted = {pin.figure for pin in PINS}
    rows = [row for row in shipped_measured() if f"speed {row.id}" in wanted]
    cases = memories(cases_of(wanted))
    return {**speeds(rows), **cases, **exchanges(), **hosted(), **prices()}


def test_no_fitted_constant_moves_unseen(figures: Figures) -> None:
    moved = [
        f"{pin.constant}: {pin.figure}, published {pin.published:g}"
        for pin in PINS
        if abs(figures[pin.figure][1] - pin.log_ratio) > WITHIN
    ]
    assert not moved, "run tools.pin_constants where that was meant"


def test_what_was_published_is_as_the_sources_say(figures: Figures) -> None:
    assert [pin for pin in PINS if figures[pin.figure][0] != pin.published] == []


def test_a_constant_that_tests_once_missed_is_held() -> None:
    """Others are: bytes of Q4_K_M by tests/workload/test_formats.py, links of GA102 by
    tests/machine/test_assembled_page.py, a four-way bridge by tests/machine/test_links.py."""
    assert "performance.serving.OTHER_MAKERS" in {pin.constant for pin in PINS}
