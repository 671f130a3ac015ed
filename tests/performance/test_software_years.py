"""Releases of software have years, told by the measured rows."""

import pytest

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.performance.answer import SpeedEstimate
from rigplanner.performance.measured import USUAL_YEAR, release_of, release_years, year_of
from rigplanner.performance.predict import predict_speed
from rigplanner.rig.workload import Workload


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("PyTorch 1.13.0a0+d0d6b1f (NGC)", "1.13"),
        ("MLPerf Training v2.0 (hugectr)", "2.0"),
        ("PyTorch NGC", "pytorch ngc"),
        (None, ""),
    ],
)
def test_a_release_is_the_first_version_named(text: str | None, release: str) -> None:
    assert release_of(text) == release


def test_rounds_of_mlperf_have_their_years() -> None:
    assert year_of("mlperf-training", "1.0") == 2021
    assert year_of("mlperf-training", "4.1") == 2024
    assert year_of("mlperf-inference", "0.7") == 2020


def test_an_unknown_release_takes_the_nearest_and_none_the_newest() -> None:
    years = release_years()["mlperf-training"]
    assert year_of("mlperf-training", "9.9") == max(years.values())
    assert year_of("mlperf-training", "") == years[""] == max(years.values())
    assert year_of("no such stack", "1.0") == USUAL_YEAR


def test_versions_that_no_row_tells_have_the_year_they_came_out() -> None:
    assert year_of("tensorrt", "6.0") < 2020 < year_of("tensorrt", "7.2") < 2021
    assert year_of("tensorrt", release_of("TensorRT 7 (tkDNN)")) < 2021
    assert year_of("tensorflow-ngc", "1.10") < year_of("tensorflow-ngc", "1.13") < 2020


def test_containers_are_numbered_by_year_and_month() -> None:
    assert year_of("pytorch-ngc", "19.02") == pytest.approx(2019 + 1 / 12)


def test_software_that_tells_its_month_is_of_that_month() -> None:
    assert year_of("llama.cpp", "llama.cpp (june 2024)") == pytest.approx(2024 + 5 / 12)
    assert (
        year_of("llama.cpp", "llama.cpp (may 2024)")
        < year_of("llama.cpp", "llama.cpp (august 2024)")
        < 2025
    )


@pytest.mark.parametrize(
    ("network", "batch", "measured"), [("resnet-50", 256, 3_076.5), ("ssd300-resnet50", 128, 1_025)]
)
def test_convolutions_gain_nothing_from_16_bits_before_a_chip_has_kernels(
    network: str, batch: int, measured: float
) -> None:
    """One B200 under NGC 25.06 (lambdal/deeplearning-benchmark, pytorch/results_v2, LambdaOD_test
    1xB200): 3,076 images/s in mixed precision and 2,967 in TF32; one H100 gained as ever."""

    def told(gpu: str, precision: str, text: str) -> SpeedEstimate:
        work = Workload(
            model=network,
            task="train",
            precision=precision,
            stack="pytorch-ngc",
            batch_per_gpu=batch,
            framework_text=text,
        )
        return predict_speed(work, find_gpu(gpu), 1, 1, "none", shipped_zoo())

    early = told("B200", "amp_fp16", "PyTorch NGC 25.06")
    assert early.low <= measured <= early.high and early.assumed["precision"] == "tf32"
    assert early.value == told("B200", "tf32", "PyTorch NGC 25.06").value
    assert told("B200", "amp_fp16", "PyTorch NGC 26.05").value > 1.2 * early.value
    old, new = (told("H100-SXM5-80GB", word, "PyTorch NGC 25.06") for word in ("tf32", "amp_fp16"))
    assert new.value > 1.2 * old.value and "precision" not in new.assumed
