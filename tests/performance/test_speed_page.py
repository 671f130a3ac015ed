"""The figures of docs/how-speed-is-predicted.md, recomputed."""

from pathlib import Path

import numpy as np
import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.anchors.evidence import shipped_evidence
from rigplanner.performance.host.constants import host_constants
from rigplanner.performance.host.judge import Judged, held_out, judged_rows
from rigplanner.performance.host.law import both, cores_of_prompt, prompt_time
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


@pytest.fixture(scope="module")
def hosted() -> Judged:
    return next(
        item
        for item in judged_rows()
        if item.row.host == "5700x-3000" and item.row.placement == "cpu_moe=20"
    )


def test_a_prompt_on_a_host_is_what_the_page_adds_up(hosted: Judged) -> None:
    text, known, reads, card = _text(), host_constants(), hosted.reads, hosted.card
    assert card is not None
    held, link = reads.held_gib * 2**30 / 1e9, card.link_gbs * known.link_share
    copied = hosted.host.ram_gbs * known.staged_share
    joined = both(link, copied)
    assert f"In RAM lie **{held:.2f} GB** of experts" in text
    assert f"{card.link_gbs:.2f} x {known.link_share:g} = {link:.2f} GB/s" in text
    assert f"48 x {known.staged_share:g} = {copied:.2f} GB/s" in text
    assert f"= **{joined:.2f} GB/s**: **{held / joined:.3f} seconds**" in text
    told = prompt_time(reads, 512, 512, hosted.host, card, "llama.cpp", known)
    each = reads.host_gflop + reads.card_gflop
    scores = 512 * reads.card_scores / 1e3 / (card.tflops * known.card_tflops_share)
    rate = 512 * each / 1e3 / (told.card_s - scores)
    assert f"Each token takes {each:.3f} GFLOP" in text and f"at **{rate:.1f} TFLOPS**" in text
    assert f"scores is **{told.card_s:.3f} seconds**" in text
    assert f"= **{512 / told.total_s:.0f} tokens/s**; {hosted.row.prefill:.0f} were" in text


def test_cores_alone_and_the_errors_of_prompts_are_as_the_page_says(hosted: Judged) -> None:
    text, known = _text(), host_constants()
    share = known.core_tflops["llama.cpp"]["avx2"]
    rate = share * cores_of_prompt(hosted.host, "llama.cpp", known)
    each = hosted.reads.host_gflop + hosted.reads.card_gflop
    assert f"do {share:g} x 8 x 4.6 / 5.2 = **{rate:.2f} TFLOPS**" in text
    assert f"**{1e3 * rate / each:.0f} tokens/s**" in text
    offs = np.array(list(held_out(judged_rows(), known, 12, prompts=True).values()))
    errors = np.abs(np.exp(offs) - 1)
    middle, tail = np.median(errors), np.quantile(errors, 0.9)
    assert f"off by {middle:.0%}".replace("%", " %") + " in the median" in text
    assert f"and {tail:.0%}".replace("%", " %") + " at the 90th percentile" in text
    assert f"a factor of {known.prompt_spread:g} either way" in text
