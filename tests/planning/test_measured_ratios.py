"""Measured ratios: pairs that differ in the device alone, of GPUs, CPUs, numbers and stacks."""

from collections import defaultdict
from itertools import combinations

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.accuracy import Judged, judge
from rigplanner.performance.measured import shipped_measured
from rigplanner.performance.predict import predict_speed
from rigplanner.planning.map.cards import same_kind
from rigplanner.planning.map.measured_ratios import (
    Ratios,
    Side,
    apart_measured,
    boards_of,
    ratios,
)

TABLE = "jcjohnson/cnn-benchmarks/README.md"
XEONS = Side(cpu="intel.xeon.e5-2630-v3", count=2, stack="torch7")


def side(name: str, count: int | None = None, stack: str = "torch7") -> Side:
    return Side(gpus=boards_of(find_gpu(name), same_kind), count=count, stack=stack)


def trained(one: Side, other: Side) -> Ratios:
    found = ratios(one, other, lambda pair: pair.task == "train" and pair.source == TABLE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other", "low", "high", "pairs"),
    [  # of the README itself: milliseconds of the slower card over those of the faster one
        (side("Titan X Pascal"), side("GTX 1080"), 43.94 / 31.54, 149.82 / 103.58, 8),
        (side("Titan X Pascal"), side("GTX Titan X"), 192.78 / 128.62, 553.42 / 296.51, 10),
        (side("GTX 1080"), side("GTX Titan X"), 21.85 / 20.74, 51.42 / 43.94, 8),
        (side("Titan X Pascal"), XEONS, 6627.25 / 103.58, 16872.78 / 217.91, 8),
        (
            side("GTX 1080"),
            side("GTX 1080", stack="torch7-nocudnn"),
            311.18 / 149.82,
            220.13 / 72.09,
            7,
        ),
    ],
)
def test_the_tables_own_ratios_of_2016(
    one: Side, other: Side, low: float, high: float, pairs: int
) -> None:
    found = trained(one, other)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-3)
    assert found.low <= found.median <= found.high and len(found.pairs) == pairs


def test_predicted_ratios_of_the_cards_of_2016_are_those_of_the_table() -> None:
    """Networks of Torch with cuDNN, every two cards of which the table has the same pass."""
    rows = [row for row in shipped_measured() if row.workload.stack == "torch7"]
    jobs: dict[object, list[Judged]] = defaultdict(list)
    for item in judge(rows, "nothing"):
        work = item.row.workload
        jobs[work.model, work.task, work.batch_per_gpu].append(item)
    told = [
        (one.predicted / other.predicted) / (one.row.value / other.row.value)
        for members in jobs.values()
        for one, other in combinations(members, 2)
        if one.row.gpu != other.row.gpu
    ]
    assert len(told) > 150 and all(0.95 < ratio < 1.05 for ratio in told)


def test_the_other_way_round_is_the_inverse_and_lists_are_compared() -> None:
    for names in (("RTX 4090", "RTX 3090"), ("Titan X Pascal", "GTX 1080")):
        one, other = (side(name, stack="") for name in names)
        there, back = ratios(one, other), ratios(other, one)
        assert there is not None and back is not None and len(there.pairs) == len(back.pairs)
        assert there.low * back.high == pytest.approx(1)
    assert ratios(side("RTX 4090"), side("GTX 580")) is None


def test_two_of_a_card_are_compared_with_one() -> None:
    found = ratios(side("RTX 3090", 2, ""), side("RTX 3090", None, ""))
    assert found is not None and len(found.pairs) > 5 and 1 < found.median < 2


def test_no_prediction_leans_on_the_rows_kept_apart() -> None:
    apart = {row.id for row in apart_measured()}
    assert len(apart) == 64 and apart.isdisjoint(row.id for row in shipped_measured())
    errors = []
    for row in apart_measured():
        gpu = find_gpu(row.gpu)
        told = predict_speed(row.workload, gpu, 1, 1, "none", shipped_zoo(), metric=row.metric)
        errors.append((abs(told.value / row.value - 1), told.low <= row.value <= told.high))
    errors.sort()
    assert errors[len(errors) // 2][0] < 0.12
    assert sum(inside for _, inside in errors) > 0.75 * len(errors)
