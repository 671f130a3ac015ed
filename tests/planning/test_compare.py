"""Rigs side by side."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.planning.compare import CompareRow, compare
from rigplanner.report.comparison import FORMATS, comparison
from rigplanner.report.comparison_pdf import comparison_pdf
from rigplanner.rig.files import read_rig
from rigplanner.rules.assess import Assessment, assess


@pytest.fixture(scope="module")
def pair(samples: list[Path], catalog: Catalog) -> list[Assessment]:
    chosen = {path.stem: path for path in samples}
    return [assess(read_rig(chosen[stem]), catalog) for stem in ("gtx-1080-ti", "dual-rtx-3090")]


def _row(rows: tuple[CompareRow, ...], code: str) -> CompareRow:
    return next(row for row in rows if row.attribute.code == code)


def test_more_memory_and_less_power_are_better(pair: list[Assessment]) -> None:
    rows = compare(pair)
    assert _row(rows, "gpu_memory").best == (1,)
    assert _row(rows, "sustained").best == (0,)
    assert _row(rows, "gpus").best == ()


def test_deltas_refer_to_the_baseline(pair: list[Assessment]) -> None:
    memory = _row(compare(pair, baseline=1), "gpu_memory")
    assert memory.deltas[1] == 0
    assert memory.deltas[0] == pytest.approx(memory.values[0] / memory.values[1] - 1)  # type: ignore[operator]


def test_a_rig_equals_itself(pair: list[Assessment]) -> None:
    rows = compare([pair[0], pair[0]])
    assert not any(row.differs for row in rows)
    assert not any(row.best for row in rows)
    assert comparison(["a", "b"], rows, only_differences=True).rows == ()


def test_predictions_whose_intervals_overlap_are_both_ahead(pair: list[Assessment]) -> None:
    job = pair[0].jobs[0]
    assert job.speed is not None
    slower = replace(job.speed, value=job.speed.value * 0.99)
    other = replace(pair[0], jobs=(replace(job, speed=slower), *pair[0].jobs[1:]))
    row = next(row for row in compare([pair[0], other]) if row.attribute.code == "speed" and row.lows)
    assert row.best == (0, 1)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_form_names_rigs_and_attributes(pair: list[Assessment], form: str) -> None:
    text = FORMATS[form](comparison(["one", "two"], compare(pair)))
    assert "one" in text
    assert "GPU memory" in text


def test_the_comparison_prints_the_same_again(pair: list[Assessment]) -> None:
    made = comparison(["one", "<b>two"], compare(pair))
    first = comparison_pdf(made)
    assert first.startswith(b"%PDF-")
    assert first == comparison_pdf(made)
