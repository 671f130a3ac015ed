"""Measurements of one job by several sources."""

from typing import Any

import msgspec
import pytest

from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.anchors.points import Placed
from rigplanner.performance.noise_floor import median_of_others, same_job, same_network


@pytest.fixture
def placed() -> Placed:
    return next(
        item
        for item in shipped_evidence().placed
        if item.row.metric == "images/s" and item.row.count == 1
    )


def said(of: Placed, source: str, faster: float, **point: Any) -> Placed:
    """A measurement of the same job by a source whose machine was `faster` by this log."""
    row = msgspec.structs.replace(of.row, id=f"{of.row.id}-{source}", source=source)
    return Placed(row, msgspec.structs.replace(of.point, **point), of.residual + faster)


def test_the_middle_of_the_others_stands_in_for_a_prediction(placed: Placed) -> None:
    first, *_ = median_of_others(
        [placed, said(placed, "b", 0.1), said(placed, "c", 0.2), said(placed, "d", 0.7)], same_job
    )
    assert first.predicted == pytest.approx(placed.row.value * 2.718281828**0.2)
    assert (first.low, first.high) == pytest.approx(
        (placed.row.value * 2.718281828**0.1, placed.row.value * 2.718281828**0.7)
    )


def test_a_faster_machine_takes_less_time() -> None:
    timed = next(
        item for item in shipped_evidence().placed if item.row.metric == "time_to_train_min"
    )
    first, _ = median_of_others([timed, said(timed, "b", 0.5)], same_job)
    assert first.predicted == pytest.approx(timed.row.value * 2.718281828**-0.5)


def test_a_source_does_not_judge_itself(placed: Placed) -> None:
    assert median_of_others([placed, said(placed, placed.row.source, 0.5)], same_job) == []


def test_another_batch_is_another_job_of_the_same_network(placed: Placed) -> None:
    other = said(placed, "b", 0.5, batch=placed.point.batch + 1)
    assert median_of_others([placed, other], same_job) == []
    assert len(median_of_others([placed, other], same_network)) == 2


def test_several_gpus_are_another_job(placed: Placed) -> None:
    assert (
        median_of_others([placed, said(placed, "b", 0.5, count=placed.point.count + 1)], same_job)
        == []
    )


def test_published_measurements_of_one_job_do_disagree() -> None:
    told = median_of_others(shipped_evidence().placed, same_job)
    assert len(told) > 100
    assert sum(item.error > 0.02 for item in told) > len(told) / 2
