"""Kriging on made-up rows with known answers."""

import itertools
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.performance import kriging
from rigplanner.performance.constants import speed_model
from rigplanner.performance.kriging import Corrected, Field, Point, factorise

BASE = Point(
    stack="pytorch-ngc", family="tuned", model="resnet-50", kind="cnn", task="train", precision="half", metric="speed", gpu="a",
    link="none", source="", release="", silicon=(2.3, 4.0, 3.0, 8.0, 4.0, 3.0, 1.0, 1.5), batch=5.0, count=0.0,
    tokens=0.0, written=0.0,
)  # fmt: skip
FAR = msgspec.structs.replace(
    BASE, stack="llama.cpp", family="local-llm", model="x", kind="llm", task="decode", precision="q4_k_m", gpu="z"
)
FIELD = Field(speed_model())


def krige(target: Point, rows: list[Point], residuals: list[float], noise: float) -> Corrected:
    return kriging.krige(target, rows, residuals, factorise(rows, FIELD, noise), FIELD, noise)


def test_without_rows_nothing_is_corrected_and_the_interval_is_the_widest() -> None:
    alone = krige(BASE, [], [], 1e-4)
    assert alone.mean == 0 and alone.weights == ()
    assert alone.deviation == pytest.approx(math.sqrt(FIELD.covariance(BASE, BASE) + 1e-4))


def test_the_same_row_is_returned_almost_as_measured() -> None:
    found = krige(BASE, [BASE], [0.3], 1e-9)
    assert found.mean == pytest.approx(0.3, rel=1e-3)
    assert found.weights[0] == pytest.approx(1, rel=1e-3)
    assert found.factor == pytest.approx(math.exp(found.mean))


def test_the_nearer_row_weighs_more() -> None:
    near = msgspec.structs.replace(BASE, count=1.0, link="pcie")
    far = msgspec.structs.replace(near, gpu="b", silicon=tuple(x + 0.5 for x in BASE.silicon))
    found = krige(BASE, [near, far], [0.0, 1.0], 1e-4)
    assert found.weights[0] > found.weights[1]


def test_a_stranger_says_little() -> None:
    found = krige(BASE, [FAR], [1.0], 1e-4)
    assert abs(found.mean) < 0.5


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0, 9), st.floats(-1, 1)), min_size=1, max_size=8))
def test_more_rows_never_widen_the_interval(rows: list[tuple[float, float, float]]) -> None:
    points = [msgspec.structs.replace(BASE, count=count, batch=batch, gpu="b") for count, batch, _ in rows]
    residuals = [residual for _, _, residual in rows]
    deviations = [krige(BASE, points[:n], residuals[:n], 1e-3).deviation for n in range(len(points) + 1)]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(deviations))


def test_the_covariance_is_symmetric() -> None:
    other = msgspec.structs.replace(FAR, stack="pytorch-ngc", batch=None)
    assert FIELD.covariance(BASE, other) == FIELD.covariance(other, BASE)
