"""Power limits: the published points come out, and nothing outside the driver's range is answered."""

import msgspec
import pytest

from rigplanner.performance.anchors import find_gpu
from rigplanner.performance.power_cap import speed_at_cap
from rigplanner.workload.answer import WorkloadFault

RTX_3090 = msgspec.structs.replace(find_gpu("RTX 3090"), tdp_w=350.0, power_min_w=100.0, power_max_w=366.0)


@pytest.mark.parametrize(
    ("cap_w", "published"),
    [(100, 0.14), (150, 0.26), (200, 0.60), (230, 0.80), (250, 0.85), (280, 0.95), (300, 0.94), (320, 0.95)],
)
def test_published_points_lie_in_the_interval(cap_w: float, published: float) -> None:
    found = speed_at_cap(RTX_3090, cap_w)
    assert found.low <= published <= found.high
    assert found.value == pytest.approx(published, abs=0.04)


def test_other_generations_get_a_wider_range() -> None:
    ada = msgspec.structs.replace(RTX_3090, architecture="Ada Lovelace")
    measured, carried_over = speed_at_cap(RTX_3090, 230), speed_at_cap(ada, 230)
    assert carried_over.value == measured.value
    assert carried_over.high - carried_over.low > measured.high - measured.low


def test_no_cap_keeps_all() -> None:
    assert speed_at_cap(RTX_3090, 350).value == 1.0


def test_work_that_waits_for_memory_loses_less() -> None:
    assert speed_at_cap(RTX_3090, 280, 0.0).value > 0.975 > speed_at_cap(RTX_3090, 280, 1.0).value


def test_less_power_is_never_faster() -> None:
    kept = [speed_at_cap(RTX_3090, watts).value for watts in range(100, 351, 10)]
    assert kept == sorted(kept)
    assert kept[0] < 0.5


@pytest.mark.parametrize("cap_w", [99, 367])
def test_outside_the_range_of_the_driver(cap_w: float) -> None:
    with pytest.raises(WorkloadFault, match="power limit"):
        speed_at_cap(RTX_3090, cap_w)


def test_unknown_power_is_said() -> None:
    with pytest.raises(WorkloadFault, match="lacks the power"):
        speed_at_cap(msgspec.structs.replace(RTX_3090, tdp_w=None), 200)
