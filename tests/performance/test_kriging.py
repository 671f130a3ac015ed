"""Kriging on made-up rows with known answers."""

import itertools
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigplanner.performance.anchors.evidence import Evidence, placed_evidence
from rigplanner.performance.anchors.kriging import TERMS, Kernel, columns_of
from rigplanner.performance.anchors.points import NO_BATCH, Corrected, Placed, Point
from rigplanner.performance.constants import speed_model
from rigplanner.performance.measured import shipped_measured

BASE = Point(
    stack="pytorch-ngc",
    family="tuned",
    model="resnet-50",
    kind="cnn",
    task="train",
    precision="half",
    lane="none",
    release="",
    maker="nvidia",
    data="synthetic",
    silicon=(2.3, 4.0, 3.0, 8.0, 4.0, 3.0, 1.0, 1.5),
    count=0.0,
    tokens=0.0,
    written=0.0,
    year=2022.0,
    batch=5.0,
)
FAR = msgspec.structs.replace(
    BASE,
    stack="llama.cpp",
    family="local-llm",
    model="x",
    kind="llm",
    task="decode",
    precision="q4_k_m",
)
NAMED = msgspec.structs.replace(BASE, release="24.10")
VARIANCES = speed_model().variances
KERNEL = Kernel(speed_model())
SCATTER = speed_model().scattered(BASE.family, BASE.kind)
ROW = shipped_measured()[0]


def evidence(rows: list[Point], residuals: list[float]) -> Evidence:
    """Rows of which each is known by its place, with residuals in usual units."""
    return placed_evidence(
        [
            Placed(
                msgspec.structs.replace(ROW, id=str(n)),
                row,
                residual * speed_model().scattered(row.family, row.kind),
            )
            for n, (row, residual) in enumerate(zip(rows, residuals, strict=True))
        ]
    )


def krige(target: Point, rows: list[Point], residuals: list[float], own: float) -> Corrected:
    """The correction by all rows, their weights in the order of the rows."""
    codes: dict[str, int] = {}
    told, points = columns_of([target], codes), columns_of(rows, codes)
    return KERNEL.corrected(
        target,
        KERNEL.matrix(told, points)[0],
        KERNEL.neighbours(points, np.array(residuals)),
        own,
    )


def covariance(a: Point, b: Point) -> float:
    codes: dict[str, int] = {}
    return float(KERNEL.matrix(columns_of([a], codes), columns_of([b], codes))[0, 0])


def test_silicon_of_another_maker_shares_no_shape_of_the_silicon() -> None:
    other = msgspec.structs.replace(BASE, maker="amd")
    assert covariance(BASE, BASE) - covariance(BASE, other) == pytest.approx(
        VARIANCES["silicon_task"]
    )


def test_the_widest_interval_is_that_of_all_terms() -> None:
    stranger = krige(BASE, [FAR], [0.0], 1e-4)
    whole = sum(
        VARIANCES[name]
        for name, (_, factor) in TERMS.items()
        if factor != "m" and name != "release"
    )
    assert stranger.deviation == pytest.approx(math.sqrt(whole + 1e-4), rel=0.05)


def test_the_same_row_is_returned_almost_as_measured() -> None:
    found = krige(BASE, [BASE], [0.3], 1e-9)
    share = KERNEL.prior(BASE) / (covariance(BASE, BASE) + VARIANCES["noise"])
    assert found.mean == pytest.approx(0.3 * share, rel=1e-6)
    assert found.weights[0] == pytest.approx(share, rel=1e-6)
    assert found.factor == pytest.approx(math.exp(found.mean))


def test_the_nearer_row_weighs_more() -> None:
    near = msgspec.structs.replace(BASE, count=1.0, lane="pcie")
    far = msgspec.structs.replace(near, silicon=tuple(x + 0.5 for x in BASE.silicon))
    found = krige(BASE, [near, far], [0.0, 1.0], 1e-4)
    assert found.weights[0] > found.weights[1]


def test_the_nearest_rows_of_a_pool_are_those_of_the_largest_covariance() -> None:
    rows = [
        msgspec.structs.replace(
            NAMED,
            model=model,
            stack=stack,
            family=stack,
            year=2018.0 + number,
            silicon=tuple(x + step for x in BASE.silicon),
        )
        for number, (model, _, stack) in enumerate(
            itertools.product(("resnet-50", "vgg-16"), "abc", ("pytorch-ngc", "mxnet"))
        )
        for step in (0.0, 0.3 * number)
    ]
    near = [covariance(NAMED, row) for row in rows]
    known = evidence(rows, [0.0] * len(rows))
    for most in (1, 5, len(rows)):
        found = [int(item.row.id) for item in known.correct(NAMED, most).rows]
        assert [near[n] for n in found] == pytest.approx(sorted(near, reverse=True)[:most])


def test_what_jobs_of_a_cell_share_gives_the_same_as_the_whole_covariance() -> None:
    rows = [
        msgspec.structs.replace(
            NAMED,
            model=("resnet-50", "vgg-16")[n % 2],
            precision=("half", "single")[n // 2 % 2],
            lane=("none", "pcie", "nvlink")[n % 3],
            silicon=tuple(x + 0.1 * (n // 4) for x in BASE.silicon),
            count=float(n % 3),
            tokens=0.5 * n,
            batch=float(n % 5),
            year=2018.0 + n,
        )
        for n in range(12)
    ]
    residuals = [0.1 * (n % 4) - 0.2 for n in range(12)]
    for n, job in enumerate(rows):
        job = msgspec.structs.replace(job, written=0.3, batch=2.5)
        told = evidence(rows, residuals).correct(job, 12)
        whole = krige(job, rows, residuals, VARIANCES["noise"])
        ids = [int(item.row.id) for item in told.rows]
        assert told.correction.mean == pytest.approx(SCATTER * whole.mean), n
        assert told.correction.deviation == pytest.approx(SCATTER * whole.deviation)
        assert told.correction.weights == pytest.approx([whole.weights[m] for m in ids])


def test_releases_that_nobody_tells_are_shared_with_nobody() -> None:
    assert covariance(NAMED, NAMED) - covariance(BASE, BASE) == pytest.approx(VARIANCES["release"])
    assert KERNEL.prior(NAMED) - KERNEL.prior(BASE) == pytest.approx(VARIANCES["release"])


def test_weights_solve_the_covariance_of_the_rows() -> None:
    rows = [
        msgspec.structs.replace(NAMED, batch=float(n), count=float(n % 3), year=2020.0 + n)
        for n in range(5)
    ]
    weights = krige(NAMED, rows, [0.0] * 5, 1e-4).weights
    for n, row in enumerate(rows):
        told = sum(
            weight * covariance(row, other) for weight, other in zip(weights, rows, strict=True)
        )
        assert told + VARIANCES["noise"] * weights[n] == pytest.approx(covariance(row, NAMED))


def test_the_mean_alone_is_that_of_the_correction() -> None:
    rows = [msgspec.structs.replace(NAMED, batch=float(n)) for n in range(4)]
    known = evidence(rows, [0.1, 0.2, 0.3, 0.4])
    assert known.factor(NAMED, 4) == pytest.approx(known.correct(NAMED, 4).correction.factor)


def test_a_stranger_says_little() -> None:
    assert abs(krige(BASE, [FAR], [1.0], 1e-4).mean) < 0.5


@given(
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 9), st.floats(-1, 1)), min_size=2, max_size=8)
)
def test_more_rows_never_widen_the_interval(rows: list[tuple[float, float, float]]) -> None:
    points = [msgspec.structs.replace(BASE, count=count, batch=batch) for count, batch, _ in rows]
    residuals = [residual for _, _, residual in rows]
    deviations = [
        krige(BASE, points[:n], residuals[:n], 1e-3).deviation for n in range(1, len(points) + 1)
    ]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(deviations))


def test_the_covariance_is_symmetric_and_adds_the_terms_that_two_rows_share() -> None:
    other = msgspec.structs.replace(
        BASE, model="vgg-16", task="inference", year=2022.0, batch=NO_BATCH, silicon=BASE.silicon
    )
    assert covariance(BASE, other) == pytest.approx(covariance(other, BASE))
    shared = {"stack", "family", "precision", "lane"}
    expected = sum(
        VARIANCES[name]
        for name, (keys, factor) in TERMS.items()
        if shared.issuperset(keys) and factor in ("", "w", "n", "y", "t")
    )
    assert covariance(BASE, other) == pytest.approx(expected)


def test_rows_of_a_cell_share_more_the_nearer_their_batches() -> None:
    batches = [msgspec.structs.replace(BASE, batch=BASE.batch + step) for step in (0.0, 0.2, 1.0)]
    shares = [covariance(BASE, row) for row in batches]
    assert shares == sorted(shares, reverse=True) and shares[0] > shares[-1]


def test_scaling_is_shared_by_several_gpus_only() -> None:
    pair, eight = (msgspec.structs.replace(BASE, count=count, lane="pcie") for count in (1.0, 3.0))
    alone = msgspec.structs.replace(pair, count=0.0)
    assert covariance(eight, pair) - covariance(eight, alone) >= VARIANCES["scale_stack"]
