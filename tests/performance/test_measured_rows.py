"""The shipped rows: every one resolves, has a source and a sane value."""

from rigplanner.performance.anchors import find_gpu, shipped_evidence
from rigplanner.performance.measured import shipped_measured
from rigplanner.performance.metrics import METRICS
from rigplanner.performance.stacks import find_stack


def test_every_row_names_a_known_gpu_stack_metric_and_source() -> None:
    rows = shipped_measured()
    assert len(rows) > 2000
    for row in rows:
        assert find_gpu(row.gpu).id == row.gpu, row.id
        assert find_stack(row.workload.stack or "").slug == row.workload.stack
        assert row.metric in METRICS and row.value > 0 and row.source and row.count >= 1, row.id


def test_ids_are_unique() -> None:
    rows = shipped_measured()
    assert len({row.id for row in rows}) == len(rows)


def test_every_row_but_collectives_is_placed() -> None:
    placed = {item.row.id for item in shipped_evidence().placed}
    left = [row.id for row in shipped_measured() if row.id not in placed and row.workload.task != "collective"]
    assert not left


def test_physics_alone_is_within_a_factor_of_twelve_of_nearly_all_rows() -> None:
    residuals = sorted(abs(item.residual) for item in shipped_evidence().placed)
    assert residuals[int(0.98 * len(residuals))] < 2.5
