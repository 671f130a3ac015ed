"""What an hour of work costs on a machine that may be taken back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.economics.spot import spot_hour


def test_half_an_interval_and_the_restart_are_lost_each_time() -> None:
    found = spot_hour(1.0, interruptions_a_day=2, checkpoint_min=60, restart_min=10)
    assert found.lost_h == pytest.approx(2 * 40 / 60)
    assert found.hour_of_work == pytest.approx(24 / (24 - 80 / 60))
    assert found.useful_share == pytest.approx(1 - 80 / 60 / 24)


def test_without_interruptions_an_hour_costs_its_price() -> None:
    assert spot_hour(0.31, 0, 600, 600).hour_of_work == 0.31


def test_where_all_hours_are_lost_no_work_is_done() -> None:
    found = spot_hour(0.31, 24, 100, 10)
    assert found.hour_of_work is None and found.useful_share == 0


@given(*(st.floats(0, 30) for _ in range(2)), st.floats(0, 300), st.floats(0, 60))
def test_more_of_anything_never_makes_it_cheaper(
    price: float, times: float, checkpoint: float, restart: float
) -> None:
    less = spot_hour(price, times, checkpoint, restart).hour_of_work
    for more in (
        spot_hour(price, times + 1, checkpoint, restart),
        spot_hour(price, times, checkpoint + 1, restart),
        spot_hour(price, times, checkpoint, restart + 1),
    ):
        assert more.hour_of_work is None or (less is not None and more.hour_of_work >= less)
