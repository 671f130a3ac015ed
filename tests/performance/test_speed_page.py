"""The figures of docs/how-speed-is-predicted.md, recomputed."""

from pathlib import Path

import pytest

from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors.anchors import find_gpu
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.job import Job, read_job
from rigplanner.performance.predict import predict_speed
from rigplanner.performance.serving import DECODE_BANDWIDTH_SHARE, decode, decode_ceiling
from tools.page_pictures import CARD, PICTURES, WRITTEN, speed_svg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-speed-is-predicted.md"


def _text() -> str:
    return " ".join(PAGE.read_text("utf-8").split())


@pytest.fixture(scope="module")
def job() -> Job:
    return read_job(WRITTEN, find_gpu(CARD), 1, 1, "none", shipped_zoo())


def test_bytes_and_bandwidth_are_the_products_that_the_page_multiplies(job: Job) -> None:
    text, weights = _text(), round(job.shape.active_m * 1e6)
    cache = job.shape.kv_values * 2 * (512 + 64) / 1e9
    assert f"{weights:,} x 2 bytes = **{2 * weights / 1e9:.2f} GB**" in text
    assert f"{job.shape.kv_values:,.0f} x 2 bytes x (512 + 128 / 2) = **{cache:.3f} GB**" in text
    read = 2 * weights / 1e9 + cache
    seconds = read / (job.silicon.bandwidth_gbs * DECODE_BANDWIDTH_SHARE) * 1.023
    assert f"{read:.3f} / (936 x 0.8) x 1.023 = **{1e3 * seconds:.1f} ms**" in text
    assert decode(job).traffic_s == pytest.approx(seconds, rel=1e-4)


def test_ramps_and_launches_are_joined(job: Job) -> None:
    text, stream = _text(), decode(job)
    assert f"{job.shape.kernels:.0f} kernels ramp up" in text
    assert f"launch: **{1e3 * stream.other_s:.2f} ms**" in text
    assert f"Physics says 1 / (20.6 + 2.69) ms = **{stream.tokens_s:.1f} tokens/s**" in text


def test_the_rows_correct_it_as_the_page_says(job: Job) -> None:
    told, text = predict_speed(WRITTEN, find_gpu(CARD), 1, 1, "none", shipped_zoo()), _text()
    by_rows = told.steps[-1].inputs
    assert f"logarithm **{by_rows['correction']:.3f}**" in text
    assert f"deviation of **{by_rows['deviation']:.3f}**" in text
    assert f"would give **{decode_ceiling(job):.1f} tokens/s**" in text
    assert f"**{told.value:.1f} tokens/s**, and 80 % of it between" in text
    assert f"between {told.low:.1f} and {told.high:.1f}" in text
    assert "more than 5,000 published rows" in text and len(shipped_evidence().placed) > 5000


def test_the_picture_is_that_of_the_step() -> None:
    assert speed_svg() == (PICTURES / "speed-step.svg").read_text("utf-8")
