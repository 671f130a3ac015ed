"""Speeds with a spread, told below a limit."""

import math

import pytest

from rigplanner.performance.truncated_normal import below


def test_far_below_the_limit_nothing_changes() -> None:
    assert below(100.0, 0.2, math.inf) == pytest.approx(
        (100.0, 100 * math.exp(-0.2), 100 * math.exp(0.2))
    )
    assert below(100.0, 0.2, 1000.0) == below(100.0, 0.2, math.inf)


@pytest.mark.parametrize("mean", [50.0, 95.0, 100.0, 130.0, 400.0])
def test_the_interval_lies_below_the_limit_and_about_its_middle(mean: float) -> None:
    median, low, high = below(mean, 0.3, 100.0)
    assert low < median < high < 100.0
    assert median <= mean


def test_more_speed_is_never_told_as_less() -> None:
    medians = [
        below(mean, 0.3, 100.0)[0] for mean in (20.0, 40.0, 60.0, 80.0, 100.0, 150.0, 1000.0)
    ]
    assert medians == sorted(medians)


def test_at_the_limit_half_of_the_spread_is_left() -> None:
    median, low, _ = below(100.0, 1.2816 * 0.1, 100.0)
    assert median == pytest.approx(100 * math.exp(-0.0674), rel=0.01)
    assert low == pytest.approx(100 * math.exp(-0.1645), rel=0.01)


def test_no_spread_is_a_number() -> None:
    assert below(100.0, 0.0, 150.0) == (100.0, 100.0, 100.0)
