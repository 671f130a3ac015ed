"""The shipped table of errors with the constants refitted without the judged rows."""

import math

import msgspec
import pytest

from rigplanner.data import data_path
from tools.speed_refitted import Left, widened

FIELDS = {"scheme", "group", "rows", "median", "mean", "p90", "inside"}


def test_refitted_tables_hold_both_schemes_with_every_row_together_first():
    read = msgspec.json.decode((data_path("catalog") / "benchmarks" / "refitted.json").read_bytes())
    for scheme in ("GPU", "source"):
        mine = [row for row in read if row["scheme"] == scheme]
        assert mine[0]["group"] == "all"
        assert all(
            set(row) >= FIELDS and 0 <= row["inside"] <= 1 and row["median"] <= row["p90"]
            for row in mine
        )
        assert mine[0]["rows"] == max(row["rows"] for row in mine) >= 2000


def test_widths_of_a_fold_come_from_the_others_at_the_same_level():
    rows = {
        f"{level} {fold} {n}": Left((10.0, 5.0, 20.0), fold, level, n / 100 * (1 + fold))
        for level in ("same job", "other GPU")
        for fold in range(2)
        for n in range(101)
    }
    rows["few"] = Left((10.0, 5.0, 20.0), 0, "other stack", 3.0)
    found = widened(rows)
    assert found["few"] == (10.0, 5.0, 20.0)
    for fold, other in ((0, 1.62), (1, 0.81)):
        _, low, high = found[f"other GPU {fold} 7"]
        assert math.log(high / 10) == pytest.approx(other * math.log(2), rel=0.02)
        assert low * high == pytest.approx(100)
