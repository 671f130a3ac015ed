"""The shipped table of errors with the constants refitted without the judged rows."""

import msgspec

from rigplanner.data import data_path

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
