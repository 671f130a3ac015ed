"""Speeds with a spread, told below a limit."""

import math

import pytest

from rigplanner.performance.truncated_normal import below


def test_far_below_the_limit_nothing_changes() -> None:
    assert below(100.0, 0.2, math.inf) == pytest.approx(
        (100.0, 100 * math.exp(-0.2), 100 * math.exp(0.2))
    )
    assert below(100.0, 0.2, 1000.0) == pytest.approx(below(100.0, 0.2, math.inf))


@pytest.mark.parametrize("mean", [50.0, 95.0, 100.0, 130.0, 400.0, 1e40])
def test_the_interval_lies_below_the_limit_and_about_its_middle(mean: float) -> None:
    middle, low, high = below(mean, 0.3, 100.0)
    assert low <= middle <= high <= 100.0
    assert low < high
    assert middle <= mean


@pytest.mark.parametrize("mean", [50.0, 95.0, 100.0, 130.0])
def test_the_middle_is_the_same_however_wide_the_interval(mean: float) -> None:
    middles = {below(mean, width, 100.0)[0] for width in (0.0, 0.05, 0.3, 1.5)}
    assert len(middles) == 1


def test_more_speed_is_never_told_as_less() -> None:
    means = (20.0, 40.0, 60.0, 80.0, 99.0, 100.0, 101.0, 150.0, 1000.0)
    for told in zip(*[below(mean, 0.3, 100.0) for mean in means], strict=True):
        assert list(told) == sorted(told)


def test_a_higher_limit_never_slows() -> None:
    middles = [below(100.0, 0.3, most)[0] for most in (50.0, 90.0, 100.0, 110.0, 200.0, math.inf)]
    assert middles == sorted(middles)


def test_at_the_limit_half_of_the_spread_is_left() -> None:
    middle, low, _ = below(100.0, 1.2816 * 0.1, 100.0)
    assert middle == pytest.approx(93.3, rel=0.01)
    assert low == pytest.approx(100 * math.exp(-0.1645), rel=0.01)


def test_no_spread_is_a_number() -> None:
    assert below(100.0, 0.0, 1000.0) == pytest.approx((100.0, 100.0, 100.0))
