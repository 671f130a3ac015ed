"""The judge itself: what a scheme leaves out cannot be seen, and the tables add up."""

import pytest

from rigplanner.performance.accuracy import Judged, errors_by, judge, ranking, scaling, summarise
from rigplanner.performance.measured import Measured, shipped_measured
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload


def rows_of(stack: str) -> list[Measured]:
    return [row for row in shipped_measured() if row.workload.stack == stack]


def fake(gpu: str, value: float, predicted: float, count: int = 1) -> Judged:
    work = Workload(model="m", stack="s", task="train", precision="fp32", batch_per_gpu=1)
    row = Measured(
        id=f"{gpu}{count}",
        workload=work,
        gpu=gpu,
        count=count,
        nodes=1,
        link="pcie",
        metric="images/s",
        value=value,
        year=None,
        source="x/y",
    )
    return Judged(row, predicted, predicted * 0.9, predicted * 1.1)


def test_leaving_out_a_gpu_leaves_out_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def spy(*args: object, **more: object):  # type: ignore[no-untyped-def]
        found = predict_speed(*args, **more)  # type: ignore[arg-type]
        seen.append({anchor.gpu for anchor in found.anchors})
        return found

    monkeypatch.setattr("rigplanner.performance.accuracy.predict_speed", spy)
    rows = [row for row in rows_of("torch7") if row.gpu.endswith("gtx-1080")]
    judge(rows, "GPU")
    assert seen and all("nvidia.geforce.gtx-1080" not in gpus for gpus in seen)


def test_seeing_the_row_itself_is_nearest_to_it() -> None:
    rows = rows_of("torch7")
    with_it, without = (
        summarise(judge(rows, scheme), "all", len(rows)) for scheme in ("nothing", "GPU")
    )
    assert with_it.mean is not None and without.mean is not None and with_it.mean < without.mean


def test_a_table_has_a_line_per_group_and_counts_all_rows() -> None:
    rows = rows_of("diffusers")
    table = errors_by(judge(rows, "GPU"), rows, lambda row: row.gpu)
    assert len(rows) == sum(line.cases for line in table)
    assert all(
        line.covered <= line.cases and line.inside is not None and 0 <= line.inside <= 1
        for line in table
    )


def test_ranking_counts_only_clear_differences() -> None:
    judged = [fake("a", 100, 100), fake("b", 105, 90), fake("c", 200, 95)]
    found = ranking(judged)
    assert (found.pairs, found.right) == (2, 1)


def test_scaling_is_judged_against_the_single_gpu() -> None:
    judged = [fake("a", 100, 50), fake("a", 180, 95, 2)]
    found = scaling(judged)
    assert found.rows == 1 and found.mean == pytest.approx(0.05)
