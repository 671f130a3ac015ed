"""The shipped rows: every one resolves, has a source and a sane value."""

from pathlib import Path

import msgspec
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import CatalogFault
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.measured import Row, read_measured, shipped_measured
from rigplanner.performance.metrics import METRICS
from rigplanner.performance.software.stacks import find_stack


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
    known = shipped_evidence()
    placed = {item.row.id for item in known.placed} | {row.id for row in known.paired}
    left = [
        row.id
        for row in shipped_measured()
        if row.id not in placed and row.workload.task != "collective"
    ]
    assert not left


def test_physics_alone_is_within_a_factor_of_twelve_of_nearly_all_rows() -> None:
    residuals = sorted(abs(item.residual) for item in shipped_evidence().placed)
    assert residuals[int(0.98 * len(residuals))] < 2.5


@pytest.mark.parametrize(
    ("columns", "row", "said"),
    [
        ({}, {"source": "nowhere"}, "file.json: A-1: source: 'nowhere' is not among"),
        ({"columns": ["id"]}, {}, "file.json: columns: expected id, gpu, .* found id"),
        (
            {},
            {"count": "two"},
            r"file.json: Expected `int`, got `str` - at `\$.groups\[0\].rows\[0\]",
        ),
    ],
)
def test_a_fault_names_the_file_and_the_row(
    tmp_path: Path, columns: dict[str, list[str]], row: dict[str, str], said: str
) -> None:
    told = dict.fromkeys(Row.__struct_fields__)
    told |= {
        "id": "A-1",
        "gpu": "g",
        "count": 1,
        "nodes": 1,
        "link": "none",
        "source": "here",
        "value": 2.5,
    } | row
    source = {"title": "t", "url": "u", "read": "2026-11-22", "trust": "measured"}
    group = {
        "stack": "s",
        "model": "m",
        "task": "train",
        "metric": "images/s",
        "rows": [list(told.values())],
    }
    file = tmp_path / "file.json"
    file.write_bytes(
        msgspec.json.encode(
            {"columns": Row.__struct_fields__, "sources": {"here": source}, "groups": [group]}
            | columns
        )
    )
    with pytest.raises(CatalogFault, match=said):
        read_measured(file)
