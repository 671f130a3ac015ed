"""Power limits: the published points come out, and nothing outside the driver's range is
answered."""

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.errors import WorkloadFault
from rigplanner.performance.limits.power_cap import speed_at_cap

RTX_3090 = msgspec.structs.replace(
    find_gpu("RTX 3090"), tdp_w=350.0, power_min_w=100.0, power_max_w=366.0
)


@pytest.mark.parametrize(
    ("cap_w", "published"),
    [
        (100, 0.14),
        (150, 0.26),
        (200, 0.60),
        (230, 0.80),
        (250, 0.85),
        (280, 0.95),
        (300, 0.94),
        (320, 0.95),
    ],
)
def test_published_points_lie_in_the_interval(cap_w: float, published: float) -> None:
    found = speed_at_cap(RTX_3090, cap_w)
    assert found.low <= published <= found.high
    assert found.value == pytest.approx(published, abs=0.04)


PUBLISHED = [
    ("RTX 4090", 450, 260, 0.0, (0.915, 0.929)),
    ("RTX 4090", 450, 300, 0.0, (0.934, 0.965)),
    ("RTX 4090", 450, 268, 1.0, (0.897,)),
    ("RTX 4090", 450, 315, 1.0, (0.956,)),
    ("RTX 5090", 600, 400, 1.0, (0.839,)),
    ("RTX 5090", 575, 400, 0.0, (0.952,)),
    ("V100-PCIE-16GB", 250, 175, 1.0, (0.881,)),
    ("V100-PCIE-16GB", 250, 200, 1.0, (0.929,)),
    ("RTX 3090", 370, 290, 0.0, (0.931,)),
    ("RTX 3090", 370, 250, 1.0, (0.863,)),
]
"""Card, its own limit, the cap, share of matrix work, what was kept (of games, the clock)."""


@pytest.mark.parametrize(("name", "limit_w", "cap_w", "matrix", "published"), PUBLISHED)
def test_other_generations_keep_what_was_published(
    name: str, limit_w: float, cap_w: float, matrix: float, published: tuple[float, ...]
) -> None:
    found = speed_at_cap(
        msgspec.structs.replace(find_gpu(name), tdp_w=float(limit_w)), cap_w, matrix
    )
    assert all(found.low - 0.005 <= share <= found.high + 0.005 for share in published)


def test_a_card_that_draws_less_than_its_limit_loses_nothing_near_it() -> None:
    assert speed_at_cap(find_gpu("RTX 4090"), 400).value == 1.0
    assert speed_at_cap(find_gpu("L40S"), 320).value < 1.0


def test_generations_nobody_measured_get_a_wider_range() -> None:
    hopper = msgspec.structs.replace(RTX_3090, architecture="Hopper")
    measured, carried_over = speed_at_cap(RTX_3090, 230), speed_at_cap(hopper, 230)
    assert carried_over.value == measured.value
    assert carried_over.high - carried_over.low > measured.high - measured.low


def test_no_cap_keeps_all() -> None:
    assert speed_at_cap(RTX_3090, 350).value == 1.0


def test_work_that_waits_for_memory_loses_less() -> None:
    assert speed_at_cap(RTX_3090, 280, 0.0).value > 0.95 > speed_at_cap(RTX_3090, 280, 1.0).value


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
