"""The figures of a group of predictions."""

import pytest

from rigplanner.error_figures import Errors, errors_of


def test_sizes_are_unsigned_and_the_bias_is_signed() -> None:
    found = errors_of("g", 5, [-0.1, 0.2, -0.3, 0.4], [True, True, False, True])
    assert (found.cases, found.covered) == (5, 4)
    assert (found.median, found.mean) == (pytest.approx(0.25), pytest.approx(0.25))
    assert (found.bias, found.inside) == (pytest.approx(0.05), 0.75)


def test_nine_of_ten_lie_below_the_ninetieth() -> None:
    assert errors_of("g", 100, [n / 100 for n in range(100)], []).p90 == 0.9
    assert errors_of("g", 1, [0.5], []).p90 == 0.5


def test_what_was_not_predicted_has_no_errors_and_what_states_no_interval_none_inside() -> None:
    assert errors_of("g", 3, [], []) == Errors(group="g", cases=3, covered=0)
    assert errors_of("g", 1, [0.1], []).inside is None
