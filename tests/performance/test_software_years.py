"""Releases of software have years, told by the measured rows."""

import pytest

from rigplanner.performance.measured import USUAL_YEAR, release_of, release_years, year_of


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
